"""HotpotQA: the titles of the paragraphs that support an answer."""

from __future__ import annotations

from typing import Any

from graphkit.gold.formats import GoldFormat
from graphkit.gold.public_rows import GoldRow
from graphkit.gold.supporting_facts import supporting_titles

_LEVELS = ("easy", "medium", "hard")


class HotpotQA(GoldFormat):
    """``supporting_facts`` are titles with numbers of sentences: the titles are relevant."""

    name = "hotpotqa"
    title = "HotpotQA: supporting_facts"
    lacks = (
        "There are no paths: only what has to be retrieved is gold, not the way from one to the other.",
        "A paragraph is relevant as a whole, by its title; which of its sentences support the answer isn't kept.",
    )

    def question(self, row: GoldRow) -> dict[str, Any]:
        level = row.optional_text("level")
        titles = supporting_titles(row)
        if not titles:
            row.notes.append("no supporting facts are given: nothing is gold but the answer")
        return {
            "id": row.name("_id", "id"),
            "question": row.text("question"),
            "category": row.optional_text("type"),
            "difficulty": level if level in _LEVELS else None,
            "gold_answer": row.optional_text("answer"),
            "relevant": dict.fromkeys(titles, 1.0),
        }
