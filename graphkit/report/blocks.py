"""The blocks of a page, which its script unpacks when it needs them: details, searched texts and spines of questions.

A block is JSON, compressed by gzip, of some questions that follow one another.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

import msgspec
from markupsafe import Markup

from graphkit.files.assets import command_text
from graphkit.graph.beside import kinds_beside
from graphkit.measures.case import Case
from graphkit.records.progress import Progress, expect
from graphkit.report.data import ReportData, RunData
from graphkit.report.escaping import packed, page_json, visible, visible_text
from graphkit.report.spine import Spine
from graphkit.report.spine_view import fragment

#: Questions that share a block of spines; the page unpacks a block when one of them is opened.
SPINES = 25

#: Questions that share a block of texts; the page unpacks all of them before its first search.
TEXTS = 500

#: Characters of an answer that are searched.
ANSWER_TEXT = 8000

#: Questions whose spines the page holds open, so that they need no script.
WORST = 20

#: Whether an answer is right, by the word of its outcome; an undecided one has none.
_WORDS = {"right": True, "wrong": False}


class Blocks:
    """The blocks of a page, and the spines that it shows without them."""

    def __init__(self, data: ReportData) -> None:
        self._data, self._escaped = data, data.escaped_ids()
        self._names = [run.evaluation.run for run in data.runs]

    def all(self, progress: Progress) -> Iterator[dict[str, Any]]:
        """Yield the packed blocks of everything; ``progress`` receives the number of written spines."""
        yield from chain(_details(self._data), _texts(self._data), self._spines(progress))

    def spine(self, place: int) -> Markup:
        """Return the spine of the question at a place as HTML."""
        data, question = self._data, self._escaped.get(place, self._data.questions[place]["id"])
        outcomes = [run.outcomes[place] for run in data.runs]
        right = [_WORDS.get(outcome.answer) for outcome in outcomes]
        lucky = [one is True and outcome.path == "wrong" for one, outcome in zip(right, outcomes, strict=True)]
        columns = [run.columns[place] for run in data.runs]
        more = " --undirected" if data.undirected else ""
        commands = [command_text("why", run.source, question, options=run.options + more) for run in data.runs]
        return fragment(Spine.unpacked(data.backbones[place], columns, self._names, right, lucky), question, commands)

    def worst(self) -> Iterator[dict[str, Any]]:
        """Yield the questions of which the runs walk the least, with their spines."""
        for place in worst(self._data):
            yield {**self._data.questions[place], "spine": self.spine(place)}

    def _spines(self, progress: Progress) -> Iterator[dict[str, Any]]:
        total = len(self._data.questions)
        expect(progress, "questions written", total)
        for number, start in enumerate(range(0, total, SPINES)):
            places = range(start, min(start + SPINES, total))
            text = page_json({place: str(self.spine(place)) for place in places})
            progress("questions written", len(places))
            yield {"id": f"s-{number}", "questions": SPINES, "json": packed(text)}


def worst(data: ReportData) -> list[int]:
    """Return the places of the questions of which the runs walk the least, at most ``WORST``.

    The share of required edges walked, over all runs that are scored on the question, decides; then how many are
    missed. Questions without required edges, and those of which every run walks all, aren't among them.
    """
    found = []
    for place in range(len(data.questions)):
        outcomes = [run.outcomes[place] for run in data.runs]
        walked, required = sum(one.found for one in outcomes), sum(one.required for one in outcomes)
        if walked < required:
            found.append((walked / required, walked - required, place))
    return [place for _, _, place in sorted(found)[:WORST]]


def _details(data: ReportData) -> Iterator[dict[str, Any]]:
    """Yield the packed blocks with details of questions and with what lies beside the runs."""
    places = {listed["id"]: place for place, listed in enumerate(data.questions)}
    for number, run in enumerate(data.runs):
        for block in run.details:
            yield {"id": f"d-{number}-{block.number}", "json": packed(block.json)}
        for name, kind in kinds_beside().items():
            for block_number, text in _beside_details(run, run.beside[name], kind.shown, places):
                yield {"id": f"{kind.letter}-{number}-{block_number}", "json": packed(text)}


def _beside_details(
    run: RunData, found: Mapping[str, list[Any]], shown: Callable[[list[Any]], object], places: Mapping[str, int]
) -> Iterator[tuple[int, str]]:
    """Yield the JSON of records by question id, in blocks of the same questions as the blocks of details."""
    members: dict[int, list[tuple[int, str]]] = {}
    for question in found:
        place = places[visible(question)]
        members.setdefault(run.outcomes[place].block, []).append((place, question))
    for number, some in sorted(members.items()):
        texts = (f'"{place}":{page_json(shown(found[name]))}' for place, name in sorted(some))
        yield number, "{" + ",".join(texts) + "}"


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


def _texts(data: ReportData) -> Iterator[dict[str, Any]]:
    """Yield the packed blocks of texts: a JSON list of the text of each question over all runs, every line once."""
    total = len(data.questions)
    for number, start in enumerate(range(0, total, TEXTS)):
        places = range(start, min(start + TEXTS, total))
        runs = [_texts_at(run, places) for run in data.runs]
        texts = ["\n".join(dict.fromkeys("\n".join(run[place] for run in runs).split("\n"))) for place in places]
        yield {"id": f"t-{number}", "json": packed(page_json(texts))}
