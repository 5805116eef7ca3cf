"""KILT: the pages any one set of which suffices as evidence."""

from __future__ import annotations

from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow, UnusableRowError


class Kilt(GoldFormat):
    """Reads ``output``: each answer, and the pages of its provenance as an evidence set."""

    name = "kilt"
    title = "KILT: output with provenance"
    lacks = (
        "There are no paths: pages are relevant, by their Wikipedia ids, and those of one output are an evidence set.",
        "Paragraphs and sections within a page aren't kept.",
    )

    def question(self, row: GoldRow) -> dict[str, Any]:
        outputs = row.get("output")
        if not isinstance(outputs, list) or not all(isinstance(one, dict) for one in outputs) or not outputs:
            raise UnusableRowError("the field 'output' must be a list of objects that isn't empty")
        answers = [answer for one in outputs if isinstance(answer := one.get("answer"), str) and answer.strip()]
        sets = [pages for one in outputs if (pages := _pages(one.get("provenance")))]
        if not sets:
            row.notes.append("no output has a provenance: there is no evidence")
        return {
            "id": row.name("id"),
            "question": row.text("input"),
            "gold_answer": answers[0] if answers else None,
            "gold_answers": list(dict.fromkeys(answers)) if answers[1:] else [],
            "relevant": {page: 1.0 for pages in sets for page in pages},
            "evidence_sets": list(map(list, dict.fromkeys(map(tuple, sets)))),
        }


def _pages(provenance: Any) -> list[str]:
    """Return the ids of the pages, each once."""
    given = [one.get("wikipedia_id") for one in provenance or () if isinstance(one, dict)]
    return list(dict.fromkeys(str(one) for one in given if isinstance(one, str | int) and str(one)))
