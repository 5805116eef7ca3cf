"""SQuAD 2: spans of a paragraph, and questions that it doesn't answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphkit.files.problems import Problems
from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow, UnusableRowError


class Squad(GoldFormat):
    """Reads ``data`` with its articles, or a table of questions: the paragraph is relevant, by the hash of its text.

    A question that ``is_impossible``, or in a table one without ``answers``, has no answer.
    """

    name = "squad2"
    title = "SQuAD 2: context, answers, is_impossible"
    told_by = ("context", "answers", "is_impossible")
    member = "data"
    lacks = (
        "There are no paths: the gold is a paragraph, whose id is the hash of its text.",
        "Plausible answers to questions without one aren't kept: they are wrong.",
    )

    def rows(self, path: Path, problems: Problems) -> Iterator[GoldRow]:
        for row in super().rows(path, problems):
            paragraphs, title = row.get("paragraphs"), row.get("title")
            if not isinstance(paragraphs, list) or not paragraphs:
                yield row
                continue
            number = 0
            for paragraph in paragraphs:
                held = paragraph if isinstance(paragraph, dict) else {}
                given = held.get("qas")
                for asked in given if isinstance(given, list) else [{}]:
                    number += 1
                    fields = asked if isinstance(asked, dict) else {}
                    fields = {"title": title, "context": held.get("context"), **fields}
                    yield GoldRow(f"{row.where}, question {number}", row.stem, number, fields)

    def question(self, row: GoldRow) -> dict[str, Any]:
        context, impossible = row.text("context"), row.get("is_impossible")
        given = row.get("answers")
        texts = given.get("text") if isinstance(given, dict) else given if given is not None else []
        if not isinstance(texts, list):
            raise UnusableRowError("the field 'answers' must be a list of answers, or an object with their texts")
        answers = [one.get("text") if isinstance(one, dict) else one for one in texts]
        if not all(isinstance(one, str) and one for one in answers):
            raise UnusableRowError("each of 'answers' must have a text")
        row.get("plausible_answers")
        question = {"id": row.name("id"), "question": row.text("question"), "group": row.optional_text("title")}
        if impossible is True or (impossible is None and not answers):
            return question | {"answerable": False, "why_not": "not in the set"}
        if not answers:
            raise UnusableRowError("the question has an answer, and 'answers' is empty")
        return question | {
            "gold_answer": answers[0],
            "gold_answers": list(dict.fromkeys(answers)),
            "relevant": [{"text": context}],
        }
