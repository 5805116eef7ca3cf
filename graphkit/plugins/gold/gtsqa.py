"""GTSQA and other data sets of SynthKGQA: the triples of the subgraph that answers a question."""

from __future__ import annotations

import re
from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow, UnusableRowError, triples
from graphkit.plugins.gold.triple_paths import outwards, path_of_triples

#: The Wikidata id after the label of an entity or a relation.
_ID = re.compile(r"\(([QP]\d+)\)\s*\Z")


def _id(text: str) -> str:
    found = _ID.search(text)
    return found[1] if found else text


def _label(text: str) -> str:
    found = _ID.search(text)
    return (text[: found.start()].strip() if found else "") or text


class Gtsqa(GoldFormat):
    """Reads ``answer_subgraph``, a set of triples; a text such as ``Italy (Q38)`` is named by its id."""

    name = "gtsqa"
    title = "GTSQA and SynthKGQA: answer_subgraph"
    told_by = ("answer_subgraph",)
    lacks = (
        "The triples are a set; they get the order of a traversal from the seed entities outwards.",
        "One answer and its subgraph are gold; further answers of the same question aren't read.",
    )

    def question(self, row: GoldRow) -> dict[str, Any]:
        found = triples(row.table("answer_subgraph", ("head", "relation", "tail")), "answer_subgraph")
        if not found:
            raise UnusableRowError("'answer_subgraph' holds no triples")
        seeds = row.texts("seed_entities")
        edges = [(_id(head), _id(relation), _id(tail)) for head, relation, tail in found]
        answer = row.optional_text("answer_node")
        return {
            "id": row.name("id"),
            "question": row.text("question"),
            "category": row.optional_text("graph_isomorphism"),
            "gold_answer": _label(answer) if answer else None,
            "relevant": {_id(answer): 1.0} if answer else {},
            "paths": [path_of_triples(outwards(edges, map(_id, seeds)))],
        }
