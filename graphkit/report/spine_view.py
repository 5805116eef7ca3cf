"""Spines as HTML: the fragments of all questions, and which of them the page holds open."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from graphkit.files.assets import command_text
from graphkit.records.progress import Progress, expect
from graphkit.report.data import ReportData, letter_of
from graphkit.report.escaping import middle, packed, visible
from graphkit.report.spine import MarkKind, Spine, SpinePath
from graphkit.report.spine_words import sentences

#: Questions whose spines the page holds open, so that they need no script.
WORST = 20

#: Questions that share a block of fragments; the page unpacks a block when one of them is opened.
TOGETHER = 25

#: Runs up to which a column is headed by its name on a wide window; more have letters.
NAMED = 6

#: The symbol, the word and the meaning of each mark, in the order of the legend.
MARKS: dict[MarkKind, tuple[str, str, str]] = {
    "walked": ("✓", "walked", "walked"),
    "missed": ("✗", "missed", "missed"),
    "reversed": ("⇄", "reversed", "walked in the other direction only"),
    "relation": ("≠", "other relation", "walked with another relation only"),
    "optional": ("○", "optional", "optional and not walked: no loss"),
    "alternative": ("–", "not needed", "of an alternative that doesn't count for the run: no loss"),
    "unlogged": ("?", "not logged", "the record has no traversal"),
    "unattempted": ("·", "not attempted", "the question failed or has no record"),
}

#: Whether an answer is right, by the word of its outcome; an undecided one has none.
_WORDS = {"right": True, "wrong": False}

#: A piece of a name and what separates it from the next.
_PARTS = re.compile(r"[^./_#-]*[./_#-]+|[^./_#-]+")

_TEMPLATES = Path(__file__).parent / "templates"


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["breakable"] = breakable
    environment.filters["middle"] = middle
    environment.filters["in_code"] = in_code
    return environment.from_string((_TEMPLATES / "spine.html").read_text(encoding="utf-8"))


def breakable(name: str) -> Markup:
    """Return a name escaped, with places where a line may break behind its dots, dashes, slashes and underscores.

    >>> breakable("a.b<c>")
    Markup('a.<wbr>b&lt;c&gt;')
    """
    return Markup("<wbr>").join(_PARTS.findall(name))


def in_code(sentence: str) -> Markup:
    """Return a sentence escaped, with what stands between backticks as code.

    >>> in_code("did not retrieve `<b>`")
    Markup('did not retrieve <code><bdi>&lt;b&gt;</bdi></code>')
    """
    named = Markup("<code><bdi>{}</bdi></code>")
    parts = enumerate(sentence.split("`"))
    return Markup("").join(named.format(part) if place % 2 else part for place, part in parts)


def fragment(spine: Spine, question: str, commands: Sequence[str] = ()) -> Markup:
    """Return the spine of a question as HTML, with every text escaped.

    ``commands`` explain the question in each run; by default they name runs in the graph.
    """
    commands = commands or [command_text("why", name, question) for name in spine.runs]
    shown = spine.shown
    runs = [
        {
            "letter": letter_of(number),
            "name": visible(name),
            "sentences": sentences(spine, number),
            "lucky": spine.lucky[number],
            "clashes": [words for words in dict.fromkeys(spine.columns[number].clashes) if words],
            "command": visible(commands[number]),
            "cypher": _both_subgraphs(name, question),
        }
        for number, name in enumerate(spine.runs)
    ]
    text = _template().render(
        runs=runs,
        many=len(runs) > NAMED,
        several=len(spine.backbone.paths) > 1,
        paths=[_path(spine, place) for place in shown],
        others=[_path(spine, place) for place in range(len(spine.backbone.paths)) if place not in shown],
        off=[column.off for column in spine.columns],
        answers=_answers(spine),
        legend=_legend(spine),
        nodes=[node.id for node in spine.backbone.nodes],
    )
    return Markup(text)  # noqa: S704 - escaped by the template


def _both_subgraphs(run: str, question: str) -> str:
    """Return the Cypher that shows the gold paths of a question and the traversal of a run, as Neo4j Browser draws it.

    A reader copies it as one text, so names stand in it; JSON strings are strings of Cypher, too.
    """
    name, asked = json.dumps(run, ensure_ascii=False), json.dumps(question, ensure_ascii=False)
    return visible(
        f"MATCH (r:Run {{id: {name}}}) MATCH p = ()-[:GOLD {{dataset: r.dataset, question: {asked}}}]->() RETURN p "
        f"UNION MATCH p = ()-[:TRAVERSED {{run: {name}, question: {asked}}}]->() RETURN p"
    )


def _path(spine: Spine, place: int) -> dict[str, Any]:
    """Return a path as rows: each step and its end; the start stands before it unless the last step led there."""
    path = spine.backbone.paths[place]
    rows: list[dict[str, Any]] = []
    seen: set[int] = set()
    at = -1
    for number, step in enumerate(path.steps):
        if step.source != at:
            rows.append(_node_row(spine, step.source, seen))
        marks = [
            {"kind": mark.kind, "symbol": MARKS[mark.kind][0], "word": MARKS[mark.kind][1], "relation": mark.relation}
            for mark in (column.marks[place][number] for column in spine.columns)
        ]
        target = spine.backbone.nodes[step.target]
        rows.append({"step": number + 1, "gold": step, "into": target.repo if step.crosses else "", "marks": marks})
        rows.append(_node_row(spine, step.target, seen))
        at = step.target
    return {"name": path.name, "rows": rows, "note": _chosen(spine, place, path)}


def _node_row(spine: Spine, number: int, seen: set[int]) -> dict[str, Any]:
    """Return the row of a node; its ranks stand where it first occurs."""
    again = number in seen
    seen.add(number)
    cells = [{"rank": column.ranks[number], "clash": column.clashes[number]} for column in spine.columns]
    return {"step": 0, "node": spine.backbone.nodes[number], "again": again, "cells": cells}


def _chosen(spine: Spine, place: int, path: SpinePath) -> str:
    """Return for which runs an alternative counts; empty if a path has no alternatives."""
    if not spine.alternatives(place):
        return ""
    letters = [letter_of(number) for number, column in enumerate(spine.columns) if place in column.counted]
    if not path.required:
        return "requires nothing"
    if not letters:
        return "counts for no run"
    return "counts for every run" if len(letters) == len(spine.columns) else f"counts for {', '.join(letters)}"


def _answers(spine: Spine) -> list[str]:
    """Return the word for each run's answer; nothing if none is decided."""
    if all(right is None for right in spine.right):
        return []
    words = {True: "right", False: "wrong", None: "?"}
    return ["luck" if lucky else words[right] for right, lucky in zip(spine.right, spine.lucky, strict=True)]


def _legend(spine: Spine) -> list[tuple[MarkKind, str, str]]:
    used = {mark.kind for column in spine.columns for marks in column.marks for mark in marks}
    return [(kind, symbol, meaning) for kind, (symbol, _, meaning) in MARKS.items() if kind in used]


class Fragments:
    """The spines of the questions of a page, each beside all runs."""

    def __init__(self, data: ReportData) -> None:
        self._data = data

    def at(self, place: int) -> Markup:
        """Return the spine of the question at a place as HTML."""
        data, question = self._data, self._data.questions[place]["id"]
        outcomes = [run.outcomes[place] for run in data.runs]
        right = [_WORDS.get(outcome.answer) for outcome in outcomes]
        lucky = [one is True and outcome.path == "wrong" for one, outcome in zip(right, outcomes, strict=True)]
        columns = [run.columns[place] for run in data.runs]
        names = [run.evaluation.run for run in data.runs]
        commands = [command_text("why", run.source, question, options=run.options) for run in data.runs]
        return fragment(Spine.unpacked(data.backbones[place], columns, names, right, lucky), question, commands)

    def worst(self) -> Iterator[dict[str, Any]]:
        """Yield the questions of which the runs walk the least, with their spines."""
        for place in worst(self._data):
            yield {**self._data.questions[place], "spine": self.at(place)}

    def blocks(self, progress: Progress) -> Iterator[dict[str, Any]]:
        """Yield the packed blocks of all fragments: JSON by place, compressed by gzip, in base64."""
        total = len(self._data.questions)
        expect(progress, "questions written", total)
        for number, start in enumerate(range(0, total, TOGETHER)):
            places = range(start, min(start + TOGETHER, total))
            text = json.dumps({place: self.at(place) for place in places}, ensure_ascii=False)
            progress("questions written", len(places))
            yield {"id": f"s-{number}", "questions": TOGETHER, "json": packed(text)}


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
