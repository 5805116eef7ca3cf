"""MuSiQue: the supporting paragraphs of a decomposed question."""

from __future__ import annotations

from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow, UnusableRowError


class MuSiQue(GoldFormat):
    """Reads the titles of paragraphs that support the answer or a step of ``question_decomposition``.

    A question of the full set that isn't ``answerable`` has no answer.
    """

    name = "musique"
    title = "MuSiQue: question_decomposition and supporting paragraphs"
    told_by = ("question_decomposition", "paragraphs")
    lacks = (
        "There are no paths: the gold is what has to be retrieved, not the way between.",
        "A paragraph is identified by its title: of several with one title, each counts as relevant.",
    )

    def question(self, row: GoldRow) -> dict[str, Any]:
        name = row.name("id")
        question = {"id": name, "question": row.text("question"), "category": name.partition("__")[0]}
        if row.get("answerable") is False:
            row.get("paragraphs", "question_decomposition", "answer", "answer_aliases")
            return question | {"answerable": False, "why_not": "not in the set"}
        titles, supporting = _paragraphs(row)
        steps = row.table("question_decomposition", ("id", "question", "answer", "paragraph_support_idx"))
        order = [index for *_, index in steps if index is not None]
        if unknown := [index for index in order if not isinstance(index, int) or index not in titles]:
            raise UnusableRowError(f"'question_decomposition' names a paragraph that isn't there: {unknown[0]!r}")
        if order and set(order) != set(supporting):
            row.notes.append("the decomposition and 'is_supporting' name other paragraphs: those of both are relevant")
        answer, aliases = row.optional_text("answer"), row.get("answer_aliases")
        spellings = [one for one in (answer, *(aliases if isinstance(aliases, list) else ())) if isinstance(one, str)]
        return question | {
            "gold_answer": answer,
            "gold_answers": list(dict.fromkeys(filter(None, spellings))) if aliases else [],
            "relevant": {titles[index]: 1.0 for index in dict.fromkeys([*order, *supporting])},
        }


def _paragraphs(row: GoldRow) -> tuple[dict[int, str], list[int]]:
    """Return the titles of the paragraphs by number, and the numbers of the supporting ones."""
    titles: dict[int, str] = {}
    supporting = []
    for index, title, supports in row.table("paragraphs", ("idx", "title", "is_supporting")):
        if not isinstance(index, int) or not isinstance(title, str) or not title:
            raise UnusableRowError("each of 'paragraphs' must have a number 'idx' and a 'title'")
        titles[index] = title
        if supports is True:
            supporting.append(index)
    return titles, supporting
