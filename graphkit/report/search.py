"""The texts in which the page searches: of each question its words, and what any run answered, retrieved and walked."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from graphkit.measures.case import Case
from graphkit.report.data import ReportData
from graphkit.report.escaping import packed, page_json, visible, visible_text

#: Characters of an answer that are searched.
ANSWER_TEXT = 8000

#: Questions that share a block of texts; the page unpacks all of them before its first search.
TOGETHER = 500


def search_text(case: Case) -> bytes:
    """Return the lines in which a question of a run is found, in lower case and compressed.

    These are the question and its gold nodes, the answer or the error, the retrieved ids and the walked nodes: an id
    holds its repository, its file and its symbol.
    """
    question, answer = case.question, case.answer
    lines = [question.question, *(node for gold in case.gold for edge in gold.edges for node in (edge[0], edge[2]))]
    if answer is not None:
        lines += [(answer.answer or "")[:ANSWER_TEXT], answer.error or ""]
    lines += [chunk.id for chunk in case.chunks]
    lines += [node for source, _, target in sorted(case.walked, key=str) for node in (source, target)]
    known = dict.fromkeys(visible_text(line) if " " in line else visible(line) for line in lines if line)
    return zlib.compress("\n".join(known).lower().encode(), level=1)


def search_blocks(data: ReportData) -> Iterator[dict[str, Any]]:
    """Yield the packed blocks of texts: a JSON list of the text of each question over all runs, every line once."""
    total = len(data.questions)
    for number, start in enumerate(range(0, total, TOGETHER)):
        texts = []
        for place in range(start, min(start + TOGETHER, total)):
            runs = (zlib.decompress(run.texts[place]).decode() for run in data.runs)
            texts.append("\n".join(dict.fromkeys(line for text in runs for line in text.split("\n"))))
        yield {"id": f"t-{number}", "json": packed(page_json(texts))}
