"""networkx: a MultiDiGraph for the gold edges of a question and one for what was traversed.

The whole path family, with both files in memory, as the other peers take them; with the argument ``streamed`` one
record of the run at a time, and with ``edges`` recall, precision and F1 of the edges alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import networkx

from benchmarks.contenders.common import finish, folder, records

Step = dict[str, str]
Edge = tuple[str, str, str]
if TYPE_CHECKING:
    Graph = networkx.MultiDiGraph[str]
else:
    Graph = networkx.MultiDiGraph

EDGES = ("EdgeRecall", "EdgePrecision", "EdgeF1")
PATHS = ("BoundaryRecall", "BoundaryPrecision", "PathExact", "PathInOrder", "PathPrefix")


def graph(steps: Iterable[Step]) -> Graph:
    """Return a graph whose edges carry their relation as the key."""
    made = Graph()
    for step in steps:
        made.add_edge(step["source"], step["target"], key=step["relation"])
    return made


def of_edges(gold: Graph, walked: Graph) -> list[float | None]:
    """Return recall, precision and F1 of the edges."""
    common = sum(walked.has_edge(*edge) for edge in gold.edges(keys=True))
    recall, precision = common / gold.number_of_edges(), common / walked.number_of_edges()
    return [recall, precision, 2 * recall * precision / (recall + precision) if common else 0.0]


def crossing(edges: Iterable[Edge]) -> list[Edge]:
    """Return the edges between two repositories."""
    return [edge for edge in edges if edge[0].partition(":")[0] != edge[1].partition(":")[0]]


def of_paths(gold: Graph, walked: Graph, gold_steps: list[Step], steps: list[Step]) -> list[float | None]:
    """Return recall and precision of the boundary, and whether and how far one walk follows the gold path."""
    wanted, found = crossing(gold.edges(keys=True)), crossing(walked.edges(keys=True))
    common = sum(walked.has_edge(*edge) for edge in wanted)
    path = [(step["source"], step["target"], step["relation"]) for step in gold_steps]
    walks: dict[str, list[Edge]] = {}
    for step in steps:
        walks.setdefault(step["path"], []).append((step["source"], step["target"], step["relation"]))
    most = 0
    for walk in walks.values():
        reached = 0
        for edge in walk:
            if reached < len(path) and edge == path[reached]:
                reached += 1
        most = max(most, reached)
    return [
        common / len(wanted) if wanted else None,
        common / len(found) if wanted and found else None,
        float(path in walks.values()),
        float(most == len(path)),
        most / len(path),
    ]


def main() -> None:
    """Score every question, and print the means over those that have a value."""
    data, names = folder(), EDGES if "edges" in sys.argv[2:] else EDGES + PATHS
    questions = {one["id"]: one["paths"][0]["steps"] for one in records(data / "questions.jsonl")}
    sums, counts = [0.0] * len(names), [0] * len(names)
    answers: Iterable[dict[str, Any]] = records(data / "runs/a.jsonl")
    if "streamed" not in sys.argv[2:]:
        answers = list(answers)
    for answer in answers:
        gold_steps, steps = questions[answer["question_id"]], answer["traversal"]
        gold, walked = graph(gold_steps), graph(steps)
        values = of_edges(gold, walked)
        if names is not EDGES:
            values += of_paths(gold, walked, gold_steps, steps)
        for place, value in enumerate(values):
            if value is not None:
                sums[place] += value
                counts[place] += 1
    finish({name: total / count for name, total, count in zip(names, sums, counts, strict=True)})


if __name__ == "__main__":
    main()
