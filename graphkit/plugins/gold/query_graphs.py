"""Gold from the graph of a query over a knowledge base, and from the graph around a question and its answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from graphkit.plugins.gold.answer_graphs import MOST_PATHS, AnswerGraph, Edge, TooManyPathsError
from graphkit.plugins.gold.public_rows import GoldRow
from graphkit.plugins.gold.triple_paths import Triple, outwards, path_of_triples

LACKS = (
    "Only a graph knows the nodes that a query doesn't name (variables, and nodes that a function compares). In the "
    "graph of --graph, or of the row, each path of the query that leads to an answer is an alternative; without one, "
    "such a question has no path.",
    "The edges are a set; they get the order of a traversal from the entities of the question outwards.",
    "A question with several answers has a path to each, and all are required.",
)

#: What a question without a path loses.
UNSCORED = "the question has no path, so measures of edges and paths don't score it"

_UNNAMED = f"the query goes through an unnamed node, which only a graph knows (--graph FILE): {UNSCORED}"
_NOT_REACHED = f"the graph doesn't hold a path to each answer: {UNSCORED}"
_TOO_MANY = f"the graph holds more than {MOST_PATHS:,} paths to the answers, or too many beginnings to try: {UNSCORED}"


def query_paths(
    row: GoldRow,
    graph: AnswerGraph | None,
    edges: Sequence[Edge],
    known: Mapping[str, str],
    asked: str | None,
    answers: Sequence[str],
    absent: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Return the paths of a query to each answer; none, with a note, if a node is unknown.

    ``known`` maps nodes to their ids, and ``asked`` is the node that stands for the answers. The ``absent`` nodes are
    entities that the graph knows by other names.
    """
    within = {node for source, _, target in edges for node in (source, target)}
    fixed = {node: name for node, name in known.items() if node in within}
    unknown = within - set(fixed) - ({asked} if answers else set())
    if not edges or (unknown and (graph is None or asked not in within or not answers)):
        row.notes.append(_UNNAMED)
        return []
    starts = [*fixed.values(), *(graph.topics if graph is not None and absent else ())]

    def leading(end: Mapping[str, str]) -> list[list[Triple]]:
        chosen = {**fixed, **end}
        if graph is not None:
            found = graph.bindings(edges, chosen, [node for node in absent if node in within])
        else:
            found = [[(chosen[source], relation, chosen[target]) for source, relation, target in edges]]
        return [outwards(list(dict.fromkeys(path)), starts) for path in found]

    if asked is None or asked not in within:
        ends: dict[str, dict[str, str]] = {"the path": {}}
    else:
        ends = {answer: {asked: answer} for answer in answers}
    return _alternatives(row, ((label, leading(end)) for label, end in ends.items()))


def shortest_paths(
    row: GoldRow, graph: AnswerGraph | None, topics: Sequence[str], answers: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the shortest paths from each topic to each answer as alternatives; none, with a note, if one has none."""
    if graph is None:
        row.notes.append(f"the row has no graph: {UNSCORED}")
        return []
    return _alternatives(row, _between(graph, topics, answers))


def _between(
    graph: AnswerGraph, topics: Sequence[str], answers: Sequence[str]
) -> Iterator[tuple[str, Sequence[Sequence[Triple]]]]:
    for topic in dict.fromkeys(topics):
        for answer, paths in graph.shortest(topic, [one for one in answers if one != topic]).items():
            yield f"{topic} to {answer}", paths


def _alternatives(row: GoldRow, groups: Iterable[tuple[str, Sequence[Sequence[Triple]]]]) -> list[dict[str, Any]]:
    """Return a gold path for each path of each group, of which one is enough.

    None, with a note, if a group has no path, or there are too many.
    """
    found: list[dict[str, Any]] = []
    note = None
    try:
        for label, paths in groups:
            group = {"group": label} if len(paths) > 1 else {}
            found += [group | path_of_triples(path) for path in paths]
            if not paths or len(found) > MOST_PATHS:
                note = _TOO_MANY if paths else _NOT_REACHED
                break
        if not found:
            note = note or _NOT_REACHED
    except TooManyPathsError:
        note = _TOO_MANY
    if note is None:
        return found
    row.notes.append(note)
    return []
