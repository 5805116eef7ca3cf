"""Qrels of TREC, BEIR and MS MARCO: the judged documents of each query."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphkit.files.problems import Problems
from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow
from graphkit.plugins.logs.judgements import judged_questions


class Qrels(GoldFormat):
    """Reads judgements, a question for each query that has any; its text is in a file of queries beside them."""

    name = "qrels"
    title = "qrels of TREC, BEIR and MS MARCO, with the queries beside them"
    lacks = (
        "There are no paths and no answers: the gold is what has to be retrieved.",
        "A query without judgements isn't a question, and a document with a gain of 0 or less isn't relevant.",
    )

    def rows(self, path: Path, problems: Problems) -> Iterator[GoldRow]:
        stem = path.name.partition(".")[0]
        for number, (where, fields) in enumerate(judged_questions(path, problems), 1):
            yield GoldRow(where, stem, number, fields)

    def question(self, row: GoldRow) -> dict[str, Any]:
        return {"id": row.name("id"), "question": row.text("question"), "relevant": row.get("relevant")}
