"""Spines as HTML: written piece by piece by functions, since a page holds thousands of them.

What a function here returns as text is HTML. Each text of data passes :func:`escaped`, or :func:`breakable`,
:func:`in_code` or ``isolated``, which escape it themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from graphkit.analysis.causes import RIGHT_ANSWER, WRONG_ANSWER
from graphkit.analysis.explain import OVER_THE_LINE
from graphkit.files.assets import command_text
from graphkit.report.board_view import shared_beginning
from graphkit.report.data import letter_of
from graphkit.report.escaping import apart, isolated, middle, visible
from graphkit.report.spine import Node, Spine, SpineStep
from graphkit.report.spine_lanes import MARKS, Cell, Story, clashes_of, file_of, lanes, remedies, rows, stories

#: The sign before the sentence of a lane, by its kind.
SIGNS = {"good": "✓", "bad": "✕", "open": "?"}

#: What is said of the answer of a run, by :meth:`_SpineWriter._answer`.
ANSWERS = {
    "right": RIGHT_ANSWER.capitalize(),
    "wrong": WRONG_ANSWER.capitalize(),
    "luck": "Right answer over a missed path: luck",
    "open": "Answer undecided",
}

#: The longest part of a name that fits into the head of a lane on a narrow window, in letters.
WORD = 6

#: How many parts of each kind are kept: most cells are alike, and hubs are in many questions.
KEPT = 20_000

#: Where a line of a name may break: behind a separator, and before a capital letter that follows a small one.
_BREAK = re.compile(r"(?<=[./_#-])(?![./_#-])|(?<=[a-z])(?=[A-Z])")

#: What the legend says of every spine, what it says of commits, and what stands before a node that was there before.
_SIGNS = (
    '<li><i class="knot walked"></i> walked</li><li><i class="knot retrieved"></i> retrieved, not walked</li>'
    '<li><i class="knot passed"></i> neither</li><li>#1 rank among the retrieved chunks</li>'
    '<li><b class="broke">✕</b> the first required step that the walk lacks</li>'
)
_CLASH = '<li><b class="clash">conflict</b> read at conflicting commits: one doesn\'t belong with another</li>'

_AGAIN = '<span class="dim">again </span>'


@lru_cache(KEPT)
def escaped(text: str) -> str:
    """Return a text of data as HTML."""
    return str(escape(text))


@lru_cache(KEPT)
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


class _ShownRun(NamedTuple):
    """A run as a spine shows it: ``short`` is its name without the common beginning of all."""

    number: int
    letter: str
    name: str
    short: str


_Runs = tuple[_ShownRun, ...]


@lru_cache(100)
def _shown(names: tuple[str, ...]) -> tuple[str, _Runs]:
    """Return how the names of all runs begin, and the runs."""
    beginning = shared_beginning(names)
    runs = (_ShownRun(place, letter_of(place), name, name[len(beginning) :]) for place, name in enumerate(names))
    return beginning, tuple(runs)


def fragment(spine: Spine, question: str, commands: Sequence[str] = ()) -> Markup:
    """Return the spine of a question as HTML, with every text escaped.

    ``commands`` explain the question in each run; by default they name runs in the graph.
    """
    commands = commands or [command_text("why", name, question) for name in spine.runs]
    return Markup(_SpineWriter(spine).html(question, commands))  # noqa: S704 - escaped by the writer


class _SpineWriter:
    """Writes one spine."""

    def __init__(self, spine: Spine) -> None:
        self._spine, self._paths = spine, spine.backbone.paths
        self._beginning, self._runs = _shown(tuple(map(visible, spine.runs)))
        self._lanes = lanes(spine)
        self._lane_runs = tuple(self._of(lane.runs) for lane in self._lanes)
        self._numbers = [_numbers(lane.runs) for lane in self._lanes]

    def html(self, question: str, commands: Sequence[str]) -> str:
        """Return the whole spine; ``commands`` explain the question in each run."""
        shown = self._spine.shown
        others = [place for place in range(len(self._paths)) if place not in shown]
        todo = [self._remedy(words, who) for words, who in remedies(self._spine)]
        clashes = self._clashes()
        many = " many" if len(self._lanes) > 6 else " some" if len(self._lanes) > 3 else ""
        wordy = " wordy" if _is_wordy(self._runs) else ""
        parts = [f'<div class="spine{many}{wordy}">\n<ul class="told">\n', *map(self._told, stories(self._spine))]
        parts.append("</ul>\n" + (f'<ul class="told todo">{todo[0]}</ul>\n' if todo else ""))
        if shown:
            caption = "The gold path step by step: what each run did at each step, and the rank of each node"
            parts.append(self._table("Gold path, step by step", caption, shown, headed=len(self._paths) > 1))
            more = f'<details class="remedies"><summary>More to do</summary><ul>{"".join(todo[1:])}</ul></details>\n'
            parts += ['<div class="folds">\n', self._off(), more if todo[1:] else ""]
            parts.append(self._others(others) if others else "")
        else:
            none = self._spine.backbone.no_answer
            parts += [f'<p>{none or "The question has no gold path"}.</p>\n<div class="folds">\n', none and self._off()]
        if clashes:
            parts.append(f'<details class="commits"><summary>Commits</summary>\n<ul>{clashes}</ul></details>\n')
        parts.append(self._commands(question, commands, bool(shown), bool(clashes)))
        return "".join([*parts, "</div>\n</div>"])

    def _of(self, numbers: Iterable[int]) -> _Runs:
        return tuple(self._runs[number] for number in numbers)

    def _who(self, numbers: Iterable[int]) -> str:
        return _who(self._of(numbers), len(self._runs) > 1)

    def _told(self, story: Story) -> str:
        """Return a story with its runs, and what is said of their answers: without names if it is the same for all."""
        of_answers: dict[str, list[int]] = {}
        for run in story.runs:
            if word := self._answer(run):
                of_answers.setdefault(word, []).append(run)
        walk = f' data-walk="{story.walk}"' if story.walk != story.kind else ""
        sign = f'<i class="sign" aria-hidden="true">{SIGNS[story.kind]}</i>'
        told = [f'<li class="{story.kind}"{walk} data-runs="{_numbers(story.runs)}">{sign}<span>']
        told += [self._who(story.runs), " ", ". ".join(map(in_code, story.words))]
        told.append(f'. <span class="share">{story.share}.</span>' if story.share else ".")
        for word, some in of_answers.items():
            of = f" of {self._who(some)}" if len(of_answers) > 1 else ""
            told.append(f' <span class="answer {word}">{ANSWERS[word]}{of}.</span>')
        return "".join(told) + "</span></li>\n"

    def _answer(self, run: int) -> str:
        """Return whether the answer of a run is right, wrong, luck or open; empty if that is decided for no run."""
        right = self._spine.right
        if all(one is None for one in right):
            return ""
        return "luck" if self._spine.lucky[run] else {True: "right", False: "wrong", None: "open"}[right[run]]

    def _remedy(self, words: str, who: Sequence[int]) -> str:
        of = f"{self._who(who)}: " if len(who) < len(self._runs) else ""
        sign = '<i class="sign" aria-hidden="true">→</i>'
        return f'<li class="remedy" data-runs="{_numbers(who)}">{sign}<span>{of}{in_code(words)}</span></li>'

    def _table(self, label: str, caption: str, places: Iterable[int], headed: bool) -> str:
        return (
            f'<div class="scroll" tabindex="0" role="group" aria-label="{label}">\n<table>\n'
            f'<caption class="vh">{caption}</caption>\n{_head(self._beginning, self._lane_runs)}\n'
            f"{''.join(self._body(place, headed) for place in places)}</table>\n</div>\n"
        )

    def _body(self, place: int, headed: bool) -> str:
        head = ""
        if headed:
            name, note = escaped(self._paths[place].name), self._note(place)
            said = f' <span class="dim">{note}</span>' if note else ""
            kind, columns = "alternative" if note else "path", len(self._lanes) + 3
            head = (
                f'<tr class="path"><th scope="rowgroup" colspan="{columns}">{kind} <bdi>{name}</bdi>{said}</th></tr>\n'
            )
        return f"<tbody>\n{head}{''.join(map(self._row, rows(self._spine, self._lanes, place)))}</tbody>\n"

    def _row(self, row: dict[str, Any]) -> str:
        gold, again, cells = row["gold"], row["again"], row["cells"]
        crosses = " crossing" if gold is not None and gold.crosses else ""
        step = f'<span class="vh">step </span>{row["step"]}' if row["step"] else ""
        in_lanes = "".join(map(_cell, self._lane_runs, cells, (again,) * len(cells)))
        return (
            f'<tr class="at{crosses}{" again" if again else ""}"><td class="number">{step}</td>'
            f"{_stop(row['node'], gold, again)}{in_lanes}</tr>\n"
            f"{self._instead(row['instead'], cells) if row['instead'] else ''}"
        )

    def _instead(self, instead: dict[str, Sequence[int]], cells: Sequence[Cell]) -> str:
        """Return the row of the relations that runs walked instead of the step's."""
        walked = []
        for relation, who in instead.items():
            by = f" by {', '.join(_named(run, 'span') for run in self._of(who))}" if len(self._lanes) > 1 else ""
            how = f'<span class="how by-relation"><i aria-hidden="true">≠</i> <bdi>{breakable(relation)}</bdi></span>'
            walked.append(f'<span data-runs="{_numbers(who)}"><span class="vh">walked instead: </span>{how}{by}</span>')
        in_lanes = "".join(
            f'<td class="lane down-{cell.down}{" after" if cell.after else ""}" data-runs="{numbers}"></td>'
            for cell, numbers in zip(cells, self._numbers, strict=True)
        )
        return (
            '<tr class="instead"><td class="number"></td>'
            f'<td class="walked" colspan="2">{"".join(walked)}</td>\n{in_lanes}</tr>\n'
        )

    def _note(self, place: int) -> str:
        """Return for which runs an alternative counts; empty if a path has no alternatives."""
        if not self._spine.alternatives(place):
            return ""
        if not self._paths[place].required:
            return "requires nothing"
        some = [run for run, column in zip(self._runs, self._spine.columns, strict=True) if place in column.counted]
        if not some:
            return "counts for no run"
        if len(some) == len(self._runs):
            return "counts for every run"
        return f"counts for {', '.join(f'<bdi>{escaped(run.short)}</bdi>' for run in some)}"

    def _off(self) -> str:
        """Return how many edges each run walked off the path."""
        off, over = ([getattr(column, name) for column in self._spine.columns] for name in ("off", "over"))
        known = ['?<span class="vh"> not logged</span>' if count is None else f"+{count}" for count in off]
        marks = [f' <b class="how by-crossed">✗ {count} {OVER_THE_LINE}</b>' if count else "" for count in over]
        commas = [", "] * (len(off) - 1) + [""]  # a run that is hidden takes its comma along
        counts = "".join(
            f'<span data-run="{run.number}"><bdi>{escaped(run.short)}</bdi> {count}{mark}{comma}</span>'
            for run, count, mark, comma in zip(self._runs, known, marks, commas, strict=True)
        )
        unknown = "; ? is a record without a traversal" if None in off else ""
        unknown += f"; ✗ is {OVER_THE_LINE}: the principal may not follow these" if any(over) else ""
        return (
            f'<details class="off"><summary>Off the path: {counts} {"edge" if off == [1] else "edges"}</summary>\n'
            f'<p class="dim">Distinct edges walked that no step of a gold path shows{unknown}.</p></details>\n'
        )

    def _others(self, places: Sequence[int]) -> str:
        """Return the alternatives that count for no run, folded."""
        named = "; ".join(f"<bdi>{escaped(self._paths[place].name)}</bdi> {self._note(place)}" for place in places)
        summary = f"{len(places)} other alternative{'s' if len(places) > 1 else ''}: {named}"
        table = self._table("Other alternatives, step by step", "Other alternatives step by step", places, headed=True)
        return f'<details class="others"><summary>{summary}</summary>\n{table}</details>\n'

    def _clashes(self) -> str:
        found = []
        for run, column in zip(self._runs, self._spine.columns, strict=True):
            if words := clashes_of(column):
                name = f"<bdi>{escaped(run.name)}</bdi>: " if len(self._runs) > 1 else ""
                why = "; ".join(map(isolated, words))
                found.append(f'<li data-run="{run.number}"><b class="clash">conflict</b> {name}{why}</li>')
        return "".join(found)

    def _commands(self, question: str, commands: Sequence[str], signs: bool, clashes: bool) -> str:
        """Return the legend of the signs, and what a reader may copy: Cypher, commands and ids."""
        used = {mark.kind for column in self._spine.columns for marks in column.marks for mark in marks}
        key = "".join(
            f'<li><i class="how by-{kind}">{symbol}</i> {escaped(meaning)}</li>'
            for kind, (symbol, _, meaning) in MARKS.items()
            if symbol and kind in used
        )
        legend = f'<ul class="key">{_SIGNS}{key}{_CLASH if clashes else ""}</ul>\n' if signs else ""
        copied = []
        for place, (command, run) in enumerate(zip(commands, self._spine.runs, strict=True)):
            texts = visible(command), _both_subgraphs(run, question)
            copied += [f'<li data-run="{place}">{_copied(text)}</li>' for text in texts]
        ids = "".join(f"<li>{_copied(node.id)}</li>" for node in self._spine.backbone.nodes)
        return (
            f'<details class="commands"><summary>Cypher, commands, ids{", signs" if signs else ""}</summary>\n{legend}'
            f"<ul>{''.join(copied)}</ul>\n{f'<ul>{ids}</ul>' if ids else ''}</details>\n"
        )


def _numbers(runs: Iterable[int]) -> str:
    """Return the numbers of runs as the page's script reads them."""
    return " ".join(map(str, runs))


def _copied(text: str) -> str:
    return f'<code>{escape(text)}</code> <button type="button" class="copy" hidden>copy</button>'


def _both_subgraphs(run: str, question: str) -> str:
    """Return the Cypher that shows the gold paths of a question and the traversal of a run, as Neo4j Browser draws it.

    A reader copies it as one text, so names stand in it; JSON strings are strings of Cypher, too.
    """
    name, asked = json.dumps(run, ensure_ascii=False), json.dumps(question, ensure_ascii=False)
    return visible(
        f"MATCH (r:Run {{id: {name}}}) MATCH p = ()-[:GOLD {{dataset: r.dataset, question: {asked}}}]->() RETURN p "
        f"UNION MATCH p = ()-[:TRAVERSED {{run: {name}, question: {asked}}}]->() RETURN p"
    )


@lru_cache(KEPT)
def _named(run: _ShownRun, tag: str) -> str:
    title = f' title="{escaped(run.name)}"' if run.short != run.name else ""
    letter = f'<i class="letter">{run.letter}</i>'
    return f'<{tag} class="name" data-run="{run.number}"{title}>{letter} <bdi>{escaped(run.short)}</bdi></{tag}>'


@lru_cache(KEPT)
def _who(runs: _Runs, linked: bool) -> str:
    """Return the names of runs in a sentence, as links if a reader can choose among several."""
    *first, last = (_named(run, "a" if linked else "b") for run in runs)
    return f'<span class="who">{" and ".join([", ".join(first), last] if first else [last])}</span>'


@lru_cache(KEPT)
def _is_wordy(runs: _Runs) -> bool:
    """Return whether a part of a name is too long for the head of a narrow lane."""
    return any(len(part) > WORD for run in runs for part in _BREAK.split(middle(run.short, 24)))


@lru_cache(KEPT)
def _head(beginning: str, in_lanes: tuple[_Runs, ...]) -> str:
    """Return the head of a table with the names of the runs of each lane."""
    said = f' <span class="beginning" title="how the names of all runs begin"><bdi>{escaped(beginning)}</bdi>…</span>'
    found = [
        f'<colgroup><col class="number"><col class="way"><col><col class="lanes" span="{len(in_lanes)}"></colgroup>\n'
        '<thead><tr><th scope="colgroup" colspan="3">gold path<span class="vh">, step by step</span>'
        f"{said if beginning else ''}</th>\n"
    ]
    for runs in in_lanes:
        found.append(f'<th scope="col" data-runs="{_numbers(run.number for run in runs)}">')
        for run in runs:
            name = f"<bdi>{breakable(middle(run.short, 24))}</bdi>"
            title = f'title="{escaped(run.name)}"><i class="letter">{run.letter}</i>{name}'
            found.append(f'<span class="name" data-run="{run.number}" {title}</span> ')
        found.append("</th>\n")
    return "".join([*found, "</tr></thead>\n"])


def _stop(node: Node, step: SpineStep | None, again: bool) -> str:
    """Return the cells of a node with the step that arrived there, if one did."""
    title = relation = crosses = absent = optional = ""
    if step is not None:
        if len(step.relation + node.repo) > 20:
            title = f' title="{escaped(step.relation)} {escaped(node.repo)}"'
        relation = str(breakable(step.relation or "any relation"))
        crosses = '<span class="vh">crosses into </span>' if step.crosses else ""
        absent = '<span class="tag turn">not in the graph</span> ' if step.absent else ""
        optional = ' <span class="tag opt">optional</span>' if step.optional else ""
    way = f'<bdi class="relation">{relation}</bdi>' if step is not None else '<span class="relation"></span>'
    file = "" if again else file_of(node)
    where = f' <bdi class="where">{breakable(file)}</bdi>' if file else ""
    return (
        f'<td class="way"{title}>{way} <bdi class="repo">{crosses}{breakable(node.repo)}</bdi></td>\n'
        f'<th scope="row" title="{escaped(node.id)}">{absent}{_AGAIN if again else ""}'
        f"<bdi>{breakable(node.label)}</bdi>{optional}{where}</th>\n"
    )


@lru_cache(KEPT)
def _cell(runs: _Runs, one: Cell, again: bool) -> str:
    """Return the cell of a lane at a node."""
    broke = how = rank = clash = ""
    if one.broke:
        cross = '<span aria-hidden="true">✕</span>'
        broke = f'<b class="broke" title="{one.broke}">{cross}<span class="vh">{one.broke}: </span></b>'
    if one.symbol:
        symbol = f'<i aria-hidden="true">{one.symbol}</i><span class="vh">{one.word}</span>'
        how = f'<span class="how by-{one.kind}" title="{one.word}">{symbol}</span> '
    elif one.word:
        how = f'<span class="vh">{one.word}, </span>'
    if one.rank:
        each = ", ".join(f"{escaped(apart(run.name))} #{at}" for run, at in zip(runs, one.ranks, strict=True))
        title = f' title="{each}"' if len(set(one.ranks)) > 1 else ""
        rank = f'<span class="place"{title}><span class="vh">rank </span>{one.rank}</span>'
    elif one.unknown:
        rank = '<span class="vh">ranks not logged</span>'
    elif not again:
        rank = '<span class="vh">not retrieved</span>'
    if one.clashes:
        names = [f"{escaped(apart(runs[run].name))}: " if len(runs) > 1 else "" for run, _ in one.clashes]
        why = "; ".join(f"{name}{escaped(words)}" for name, (_, words) in zip(names, one.clashes, strict=True))
        share = f' <span class="vh">in </span>{len(one.clashes)}/{len(runs)}<span class="vh"> runs</span>'
        clash = f' <b class="clash" title="{why}">conflict{share if len(one.clashes) < len(runs) else ""}</b>'
    return (
        f'<td class="lane up-{one.up} down-{one.down}{" after" if one.after else ""}" '
        f'data-runs="{_numbers(run.number for run in runs)}">{broke}<i class="knot {one.dot}" aria-hidden="true"></i>'
        f'<span class="side">{how}{rank}{clash}</span></td>\n'
    )
