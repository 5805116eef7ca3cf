"""Gold from the graph of a query over a knowledge base, whose entities are known and whose variable is the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphkit.gold.public_rows import GoldRow
from graphkit.gold.triple_paths import Triple, outwards, path_of_triples

LACKS = (
    "A query through an unnamed node (a variable, or a node that a function compares) gives no path: only the "
    "knowledge base knows which node it is.",
    "The edges are a set; they get the order of a traversal from the entities of the question outwards.",
    "A question with several answers has a path to each, and all are required.",
)


def query_paths(
    row: GoldRow, edges: Sequence[tuple[str, str, str]], known: Mapping[str, str], asked: str | None, answers: list[str]
) -> list[dict[str, Any]]:
    """Return one path per answer of a query graph; none, with a note, if a node is unknown.

    ``known`` maps nodes to their ids, and ``asked`` is the node that stands for the answers.
    """
    within = {node for source, _, target in edges for node in (source, target)}
    nodes = set(known) | ({asked} if asked is not None and answers else set())
    if not edges or not within <= nodes:
        row.notes.append("the query goes through an unnamed node: the question has no path")
        return []
    paths: dict[tuple[Triple, ...], None] = {}
    for answer in answers if asked in within else [""]:
        ids = {**known, **({asked: answer} if asked is not None else {})}
        named: list[Triple] = [(ids[source], relation, ids[target]) for source, relation, target in edges]
        starts = [known[node] for node in known if node in within]
        paths[tuple(outwards(list(dict.fromkeys(named)), starts))] = None
    return [path_of_triples(path) for path in paths]
