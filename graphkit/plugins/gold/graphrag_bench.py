"""GraphRAG-Bench: the triples of an answer's evidence."""

from __future__ import annotations

import re
from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow
from graphkit.plugins.gold.triple_paths import Triple, chains, path_of_triples

#: The characters around a part of a triple.
_AROUND = " \t'\""

_BRACKETED = re.compile(r"\(([^()]*)\)")


class GraphRagBench(GoldFormat):
    """Reads ``evidence_triple`` or ``evidence_relations``: triples, or texts like ``(subject, relation, object)``."""

    name = "graphrag-bench"
    title = "GraphRAG-Bench: evidence_triple"
    told_by = ("question_type", "evidence_relations")
    lacks = (
        "Entities and relations are words of a model: your graph has them only if it was made from these words.",
        "Evidence in the form of a sentence, or of a triple with a comma in its parts, gives no path.",
        "Ids are unique only within a source, so a question is called SOURCE/ID.",
    )

    def question(self, row: GoldRow) -> dict[str, Any]:
        source, name = row.optional_text("source"), row.name("id")
        found = _triples(row.get("evidence_triple", "evidence_triples", "evidence_relations"))
        if found is None:
            row.notes.append("the evidence can't be read as triples: the question has no path")
        elif not found:
            row.notes.append("no evidence is given as triples: the question has no path")
        return {
            "id": f"{source}/{name}" if source else name,
            "question": row.text("question"),
            "group": source,
            "category": row.optional_text("question_type"),
            "gold_answer": row.optional_text("answer"),
            "paths": [path_of_triples(chain) for chain in chains(found or ())],
        }


def _triples(value: Any) -> list[Triple] | None:
    """Return the triples of the evidence, or None if a part isn't a triple, since half of the gold would mislead."""
    if value in (None, "", []):
        return []
    if isinstance(value, str):
        found = _all(value)
    elif not isinstance(value, list):
        return None
    elif len(value) == 3 and all(isinstance(one, str) and _is_part(one) for one in value):
        found = [_triple(value)]
    else:
        found = [triple for one in value for triple in (_all(one) if isinstance(one, str) else [_triple(one)])]
    return None if None in found else list(dict.fromkeys(triple for triple in found if triple))


def _is_part(text: str) -> bool:
    """Return whether a text is a part of a triple rather than a triple or a sentence."""
    return len(_split(text)[0]) == 1 and not text.rstrip().endswith((".", "!", "?"))


def _all(text: str) -> list[Triple | None]:
    return [_triple(one) for one in _split(text)]


def _split(text: str) -> list[list[str]]:
    """Return the parts of each ``(subject, relation, object)``, or of each line ``subject|relation|object``."""
    bracketed = _BRACKETED.findall(text)
    if bracketed and not _BRACKETED.sub("", text).strip(" \t\r\n,;.[]"):
        return [part.split(",") for part in bracketed]
    return [line.split("|") for line in text.splitlines() if line.strip()] or [[""]]


def _triple(parts: Any) -> Triple | None:
    if not isinstance(parts, list) or len(parts) != 3:
        return None
    if not all(isinstance(part, str) and part.strip(_AROUND) for part in parts):
        return None
    return parts[0].strip(_AROUND), parts[1].strip(_AROUND), parts[2].strip(_AROUND)
