"""Spines as HTML: the fragments of all questions, and which of them the page holds open."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup, escape

from graphkit.analysis.causes import RIGHT_ANSWER, WRONG_ANSWER
from graphkit.files.assets import command_text
from graphkit.records.progress import Progress, expect
from graphkit.report.board_view import shared_beginning
from graphkit.report.data import ReportData, letter_of
from graphkit.report.escaping import apart, isolated, middle, packed, visible
from graphkit.report.spine import MarkKind, Node, Spine, SpinePath
from graphkit.report.spine_lanes import MARKS, Lane, Story, clashes_of, file_of, lanes, remedies, rows, stories

#: Questions whose spines the page holds open, so that they need no script.
WORST = 20

#: Questions that share a block of fragments; the page unpacks a block when one of them is opened.
TOGETHER = 25

#: The sign before the sentence of a lane, by its kind.
SIGNS = {"good": "✓", "bad": "✕", "open": "?"}

#: What is said of the answer of a run, by :func:`_answer`.
ANSWERS = {
    "right": RIGHT_ANSWER.capitalize(),
    "wrong": WRONG_ANSWER.capitalize(),
    "luck": "Right answer over a missed path: luck",
    "open": "Answer undecided",
}

#: The longest part of a name that fits into the head of a lane on a narrow window, in letters.
WORD = 6

#: Whether an answer is right, by the word of its outcome; an undecided one has none.
_WORDS = {"right": True, "wrong": False}

#: Where a line of a name may break: behind a separator, and before a capital letter that follows a small one.
_BREAK = re.compile(r"(?<=[./_#-])(?![./_#-])|(?<=[a-z])(?=[A-Z])")

_TEMPLATES = Path(__file__).parent / "templates"


class _Environment(Environment):
    """An environment that looks up the keys of a mapping first: asking for an attribute would raise an error."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return an item or attribute of a value of the template."""
        try:
            return obj[attribute] if type(obj) is dict else getattr(obj, attribute)
        except (AttributeError, KeyError):
            return super().getattr(obj, attribute)


@cache
def _template() -> Template:
    environment = _Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.globals["drawn"] = _drawn
    environment.filters["breakable"] = breakable
    environment.filters["in_code"] = in_code
    environment.filters["middle"] = middle
    environment.filters["isolated"] = isolated
    environment.filters["apart"] = apart
    return environment.from_string((_TEMPLATES / "spine.html").read_text(encoding="utf-8"))


#: Parts of spines as HTML, by their macro and what it was given. Most cells are alike, and hubs are in many questions.
_parts: dict[tuple[Hashable, ...], Markup] = {}

#: How many parts are kept.
PARTS = 20_000


def _drawn(macro: Callable[..., Markup], *given: Hashable) -> Markup:
    """Return what a macro makes of some values, which decide all of it: drawn once, however often it is shown."""
    key = macro.name, *given  # type: ignore[attr-defined]
    found = _parts.get(key)
    if found is None:
        if len(_parts) == PARTS:
            _parts.clear()
        found = _parts[key] = macro(*given)
    return found


class _ShownRun(NamedTuple):
    """A run as a spine shows it: ``short`` is its name without the common beginning of all."""

    number: int
    letter: str
    name: str
    short: str


class _ShownLane(NamedTuple):
    """The runs of a lane, and their numbers as the page's script reads them."""

    runs: tuple[_ShownRun, ...]
    numbers: str


class _Stop(NamedTuple):
    """A node of a gold path with the step that arrived there, if one did, and the name of its file."""

    node: Node
    file: str
    again: bool
    arrived: bool = False
    relation: str = ""
    crosses: bool = False
    optional: bool = False
    absent: bool = False

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> _Stop:
        """Return that of a row of :func:`graphkit.report.spine_lanes.rows`."""
        node, gold = row["node"], row["gold"]
        step = () if gold is None else (True, gold.relation, gold.crosses, gold.optional, gold.absent)
        return cls(node, file_of(node), row["again"], *step)


@lru_cache(10_000)  # hubs are in many questions
def breakable(name: str) -> Markup:
    """Return a name escaped, with places where a line may break: between its words.

    >>> breakable("a.b<c>"), breakable("NotFound")
    (Markup('a.<wbr>b&lt;c&gt;'), Markup('Not<wbr>Found'))
    """
    return Markup("<wbr>").join(_BREAK.split(name))


def in_code(sentence: str) -> Markup:
    """Return a sentence escaped, with what stands between backticks as code.

    >>> in_code("did not retrieve `<b>`")
    Markup('did not retrieve <code><bdi>&lt;b&gt;</bdi></code>')
    """
    parts = enumerate(str(escape(sentence)).split("`"))
    text = "".join(f"<code><bdi>{part}</bdi></code>" if place % 2 else part for place, part in parts)
    return Markup(text)  # noqa: S704 - escaped before


def fragment(spine: Spine, question: str, commands: Sequence[str] = ()) -> Markup:
    """Return the spine of a question as HTML, with every text escaped.

    ``commands`` explain the question in each run; by default they name runs in the graph.
    """
    commands = commands or [command_text("why", name, question) for name in spine.runs]
    shown, some = spine.shown, lanes(spine)
    names = [visible(name) for name in spine.runs]
    beginning = shared_beginning(names)
    runs = [_ShownRun(place, letter_of(place), name, name[len(beginning) :]) for place, name in enumerate(names)]
    clashes = [(run, clashes_of(column)) for run, column in zip(runs, spine.columns, strict=True)]
    text = _rendered(
        runs=runs,
        commands=[
            (visible(command), _both_subgraphs(name, question))
            for command, name in zip(commands, spine.runs, strict=True)
        ],
        lanes=[_ShownLane(tuple(runs[run] for run in lane.runs), _numbers(lane.runs)) for lane in some],
        stories=[_told(spine, one, runs) for one in stories(spine)],
        signs=SIGNS,
        wordy=any(len(part) > WORD for name in names for part in _BREAK.split(middle(name[len(beginning) :], 24))),
        beginning=beginning,
        remedies=[
            {
                "words": words,
                "numbers": _numbers(who),
                "runs": tuple(runs[run] for run in who) if len(who) < len(runs) else (),
            }
            for words, who in remedies(spine)
        ],
        several=len(spine.backbone.paths) > 1,
        paths=[_path(spine, some, runs, place) for place in shown],
        others=[_path(spine, some, runs, place) for place in range(len(spine.backbone.paths)) if place not in shown],
        off=[column.off for column in spine.columns],
        clashes=[(run, words) for run, words in clashes if words],
        legend=_legend(spine),
        nodes=[node.id for node in spine.backbone.nodes],
    )
    return Markup(text)  # noqa: S704 - escaped by the template


def _rendered(**values: Any) -> str:
    """Return the template with values; its macros then forget them, so that no garbage waits to be collected."""
    context = _template().new_context(values)
    text = "".join(_template().root_render_func(context))
    context.vars.clear()
    return text


def _both_subgraphs(run: str, question: str) -> str:
    """Return the Cypher that shows the gold paths of a question and the traversal of a run, as Neo4j Browser draws it.

    A reader copies it as one text, so names stand in it; JSON strings are strings of Cypher, too.
    """
    name, asked = json.dumps(run, ensure_ascii=False), json.dumps(question, ensure_ascii=False)
    return visible(
        f"MATCH (r:Run {{id: {name}}}) MATCH p = ()-[:GOLD {{dataset: r.dataset, question: {asked}}}]->() RETURN p "
        f"UNION MATCH p = ()-[:TRAVERSED {{run: {name}, question: {asked}}}]->() RETURN p"
    )


def _told(spine: Spine, story: Story, runs: Sequence[_ShownRun]) -> dict[str, Any]:
    """Return a story with its runs, and what is said of their answers: without names if that is the same for all."""
    of_answers: dict[str, list[int]] = {}
    for run in story.runs:
        if word := _answer(spine, run):
            of_answers.setdefault(word, []).append(run)
    return {
        "runs": tuple(runs[run] for run in story.runs),
        "numbers": _numbers(story.runs),
        "story": story,
        "answers": [
            {
                "kind": word,
                "words": ANSWERS[word],
                "runs": tuple(runs[run] for run in some) if len(of_answers) > 1 else (),
            }
            for word, some in of_answers.items()
        ],
    }


def _numbers(runs: Sequence[int]) -> str:
    return " ".join(map(str, runs))


def _answer(spine: Spine, run: int) -> str:
    """Return whether the answer of a run is right, wrong, luck or open; empty if that is decided for no run."""
    if all(right is None for right in spine.right):
        return ""
    return "luck" if spine.lucky[run] else {True: "right", False: "wrong", None: "open"}[spine.right[run]]


def _path(spine: Spine, some: list[Lane], runs: Sequence[_ShownRun], place: int) -> dict[str, Any]:
    path = spine.backbone.paths[place]
    found = [
        {
            "step": row["step"],
            "stop": _Stop.of(row),
            "cells": row["cells"],
            "instead": [(by, [runs[one] for one in who], _numbers(who)) for by, who in row["instead"].items()],
        }
        for row in rows(spine, some, place)
    ]
    return {
        "name": path.name,
        "rows": found,
        "note": _chosen(spine, runs, place, path),
    }


def _listed(runs: Iterable[_ShownRun]) -> Markup:
    """Return the names of runs within a sentence, each isolated, so that none reorders what is around it."""
    return Markup(", ").join(Markup("<bdi>{}</bdi>").format(run.short) for run in runs)


def _chosen(spine: Spine, runs: Sequence[_ShownRun], place: int, path: SpinePath) -> str | Markup:
    """Return for which runs an alternative counts; empty if a path has no alternatives."""
    if not spine.alternatives(place):
        return ""
    if not path.required:
        return "requires nothing"
    some = [run for run, column in zip(runs, spine.columns, strict=True) if place in column.counted]
    if not some:
        return "counts for no run"
    return "counts for every run" if len(some) == len(runs) else Markup("counts for {}").format(_listed(some))


def _legend(spine: Spine) -> list[tuple[MarkKind, str, str]]:
    used = {mark.kind for column in spine.columns for marks in column.marks for mark in marks}
    return [(kind, symbol, meaning) for kind, (symbol, _, meaning) in MARKS.items() if symbol and kind in used]


class Fragments:
    """The spines of the questions of a page, each beside all runs."""

    def __init__(self, data: ReportData) -> None:
        self._data, self._escaped = data, data.escaped_ids()

    def at(self, place: int) -> Markup:
        """Return the spine of the question at a place as HTML."""
        data, question = self._data, self._escaped.get(place, self._data.questions[place]["id"])
        outcomes = [run.outcomes[place] for run in data.runs]
        right = [_WORDS.get(outcome.answer) for outcome in outcomes]
        lucky = [one is True and outcome.path == "wrong" for one, outcome in zip(right, outcomes, strict=True)]
        columns = [run.columns[place] for run in data.runs]
        names = [run.evaluation.run for run in data.runs]
        more = " --undirected" if data.undirected else ""
        commands = [command_text("why", run.source, question, options=run.options + more) for run in data.runs]
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
