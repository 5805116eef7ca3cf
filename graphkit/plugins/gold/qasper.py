"""QASPER: questions on a paper, answered by several people, who may say that the paper doesn't answer them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphkit.files.problems import Problems
from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow, UnusableRowError, table

#: The beginning of evidence that is a figure or a table, whose text isn't given.
_FLOAT = "FLOAT SELECTED"


class Qasper(GoldFormat):
    """Reads ``qas`` of each paper: each answer is a gold answer, and the evidence of the first one texts of evidence.

    A question that every person calls unanswerable has no answer.
    """

    name = "qasper"
    title = "QASPER: qas with answers"
    told_by = ("question_id", "answers", "paper")
    member = "papers"
    lacks = (
        "There are no paths: the gold is the text of the evidence, and the paper is the question's group.",
        "Evidence that is a figure or a table has no text, and is left out.",
    )

    def rows(self, path: Path, problems: Problems) -> Iterator[GoldRow]:
        for row in super().rows(path, problems):
            named = {name: paper for name in row.names() if isinstance(paper := row.get(name), dict) and "qas" in paper}
            papers = {row.get("id"): {"qas": row.get("qas")}} if row.get("qas") is not None else named
            if not papers:
                yield row
            for name, paper in papers.items():
                where = f"{row.where}, paper {name}"
                try:
                    asked = table(paper["qas"], "qas", ("question", "question_id", "answers"))
                except UnusableRowError as error:
                    asked = [(None, f"{name}: {error}", None)]
                for number, one in enumerate(asked, 1):
                    fields = dict(zip(("question", "question_id", "answers"), one, strict=True))
                    yield GoldRow(f"{where}, question {number}", row.stem, number, {**fields, "paper": name})

    def question(self, row: GoldRow) -> dict[str, Any]:
        answers = _answers(row)
        question = {
            "id": row.name("question_id"),
            "question": row.text("question"),
            "group": row.optional_text("paper"),
        }
        given = [one for one in answers if one.get("unanswerable") is not True]
        if not given:
            return question | {"answerable": False, "why_not": "not in the set"}
        if len(given) < len(answers):
            row.notes.append("people differ on whether there is an answer: the question counts as answerable")
        texts = list(dict.fromkeys(filter(None, map(_text, given))))
        if not texts:
            raise UnusableRowError("none of 'answers' has a span, a text, or yes or no")
        evidence = _strings(given[0].get("evidence"))
        return question | {
            "gold_answer": texts[0],
            "gold_answers": texts,
            "relevant_texts": [one for one in dict.fromkeys(evidence) if one.strip() and not one.startswith(_FLOAT)],
        }


def _answers(row: GoldRow) -> list[dict[str, Any]]:
    """Return the answer of each person; raise UnusableRowError if there is none."""
    given = row.get("answers")
    given = given.get("answer") if isinstance(given, dict) else given
    found = (
        [one.get("answer", one) if isinstance(one, dict) else one for one in given] if isinstance(given, list) else []
    )
    if not found or not all(isinstance(one, dict) for one in found):
        raise UnusableRowError("the field 'answers' must be a list of answers that isn't empty")
    return found


def _text(answer: dict[str, Any]) -> str | None:
    """Return an answer as the authors' script compares it; None if it has none."""
    if spans := _strings(answer.get("extractive_spans")):
        return ", ".join(spans)
    if isinstance(text := answer.get("free_form_answer"), str) and text.strip():
        return text
    yes = answer.get("yes_no")
    return None if not isinstance(yes, bool) else "Yes" if yes else "No"


def _strings(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
