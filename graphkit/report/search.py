"""The texts in which the page searches: of each question its words, and what any run answered, retrieved and walked."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from graphkit.measures.case import Case
from graphkit.report.data import ReportData, RunData
from graphkit.report.escaping import packed, page_json, visible, visible_text

#: Characters of an answer that are searched.
ANSWER_TEXT = 8000

#: Questions that share a block of texts; the page unpacks all of them before its first search.
TOGETHER = 500


def search_text(case: Case, gold: bool = True) -> str:
    """Return the lines in which a question of a run is found, in lower case.

    These are the question and its gold nodes, unless another run brings them, the answer or the error, the retrieved
    ids and the walked nodes: an id holds its repository, its file and its symbol.
    """
    answer = case.answer
    lines = [case.question.question] if gold else []
    lines += [node for path in case.gold for edge in path.edges for node in (edge[0], edge[2])] if gold else []
    if answer is not None:
        lines += [(answer.answer or "")[:ANSWER_TEXT], answer.error or ""]
    lines += [chunk.id for chunk in case.chunks]
    lines += [node for walk in case.walked_paths for edge in walk for node in (edge[0], edge[2])]
    known = dict.fromkeys(lines)
    return "\n".join(visible_text(line) if " " in line else visible(line) for line in known if line).lower()


def compressed_texts(texts: Mapping[int, str]) -> bytes:
    """Return texts by the places of their questions, compressed together."""
    return zlib.compress(msgspec.msgpack.encode(texts), level=1)


def _texts_at(run: RunData, places: range) -> dict[int, str]:
    """Return the texts of a run, of the questions at some places and of others in the same blocks."""
    found: dict[int, str] = {}
    for block in {run.outcomes[place].block for place in places}:
        found |= _decode_texts(zlib.decompress(run.texts[block]))
    return found


_decode_texts = msgspec.msgpack.Decoder(dict[int, str]).decode


def search_blocks(data: ReportData) -> Iterator[dict[str, Any]]:
    """Yield the packed blocks of texts: a JSON list of the text of each question over all runs, every line once."""
    total = len(data.questions)
    for number, start in enumerate(range(0, total, TOGETHER)):
        places = range(start, min(start + TOGETHER, total))
        runs = [_texts_at(run, places) for run in data.runs]
        texts = ["\n".join(dict.fromkeys("\n".join(run[place] for run in runs).split("\n"))) for place in places]
        yield {"id": f"t-{number}", "json": packed(page_json(texts))}
