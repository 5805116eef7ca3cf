"""HotpotQA: the titles of the paragraphs that support an answer."""

from __future__ import annotations

from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow, UnusableRowError

_LEVELS = ("easy", "medium", "hard")


class HotpotQA(GoldFormat):
    """Reads ``supporting_facts``, titles with numbers of sentences: the titles are relevant, the sentences evidence.

    The answer is also in ``gold_answers``, whose length doesn't matter: it is a span of the text, or yes or no.
    """

    name = "hotpotqa"
    title = "HotpotQA: supporting_facts"
    told_by = ("supporting_facts",)
    lacks = (
        "There are no paths: the gold is what has to be retrieved, not the way between.",
        "A paragraph is relevant as a whole, by its title; its supporting sentences (`title#3`) are an evidence set.",
    )

    def question(self, row: GoldRow) -> dict[str, Any]:
        level = row.optional_text("level")
        titles, sentences = supporting_facts(row)
        answer = row.optional_text("answer")
        if not titles:
            row.notes.append("no supporting facts are given: nothing is gold but the answer")
        return {
            "id": row.name("_id", "id"),
            "question": row.text("question"),
            "category": row.optional_text("type"),
            "difficulty": level if level in _LEVELS else None,
            "gold_answer": answer,
            "gold_answers": [answer] if answer else [],
            "relevant": dict.fromkeys(titles, 1.0),
            "evidence_sets": [sentences] if sentences else [],
        }


def supporting_facts(row: GoldRow) -> tuple[list[str], list[str]]:
    """Return the distinct titles of the supporting paragraphs, and their supporting sentences as ``title#number``.

    Raise UnusableRowError if a supporting fact has no title.
    """
    facts = row.table("supporting_facts", ("title", "sent_id"))
    if not all(isinstance(title, str) and title for title, _ in facts):
        raise UnusableRowError("each of 'supporting_facts' must have a title and the number of a sentence")
    sentences = [f"{title}#{number}" for title, number in facts if isinstance(number, int)]
    return list(dict.fromkeys(title for title, _ in facts)), list(dict.fromkeys(sentences))
