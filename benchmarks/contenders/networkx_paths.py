"""networkx: a MultiDiGraph for the gold edges of a question and one for what was traversed; three measures of eight."""

from __future__ import annotations

import networkx

from benchmarks.contenders.common import finish, folder, records

Steps = list[dict[str, str]]


def graph(steps: Steps) -> networkx.MultiDiGraph[str]:
    """Return a graph whose edges carry their relation as the key."""
    made: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    for step in steps:
        made.add_edge(step["source"], step["target"], key=step["relation"])
    return made


def score(gold_steps: Steps, walked_steps: Steps) -> tuple[float, float, float]:
    """Return recall, precision and F1 of the edges."""
    gold, walked = graph(gold_steps), graph(walked_steps)
    common = sum(walked.has_edge(*edge) for edge in gold.edges(keys=True))
    recall, precision = common / gold.number_of_edges(), common / walked.number_of_edges()
    return recall, precision, 2 * recall * precision / (recall + precision) if common else 0.0


if __name__ == "__main__":
    data = folder()
    questions = {
        one["id"]: [step for path in one["paths"] for step in path["steps"]]
        for one in records(data / "questions.jsonl")
    }
    sums = [0.0, 0.0, 0.0]
    for answer in records(data / "runs/a.jsonl"):
        values = score(questions[answer["question_id"]], answer["traversal"])
        sums = [total + value for total, value in zip(sums, values, strict=True)]
    names = ("EdgeRecall", "EdgePrecision", "EdgeF1")
    finish({name: total / len(questions) for name, total in zip(names, sums, strict=True)})
