"""The lanes of a spine: runs that did the same on a question share a column of its table, and a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from graphkit.analysis.causes import RIGHTLY_DECLINED
from graphkit.records.words import counted
from graphkit.report.spine import Column, MarkKind, Node, Spine, SpinePath
from graphkit.report.spine_words import clauses, in_sequence, walked_of

#: The symbol, the word and the meaning of each mark, in the order of the legend.
MARKS: dict[MarkKind, tuple[str, str, str]] = {
    "walked": ("", "walked", "walked"),
    "missed": ("", "missed", "missed"),
    "reversed": ("⇄", "reversed", "walked in the other direction only"),
    "relation": ("≠", "other relation", "walked with another relation only"),
    "optional": ("○", "optional", "optional and not walked: no loss"),
    "alternative": ("–", "not needed", "of an alternative that doesn't count for the run: no loss"),
    "unlogged": ("?", "not logged", "the record has no traversal"),
    "unattempted": ("·", "not attempted", "the question failed or has no record"),
}

#: What is said of the first required step that the walk lacks: where nothing has an order, nothing breaks.
BROKE = {True: "broke here", False: "first missed edge"}

#: How a lane is drawn between two nodes: walked, not walked, or no step is there.
_Line = Literal["walked", "quiet", "none"]

#: How the runs of a lane did.
Kind = Literal["good", "bad", "open"]


@dataclass(frozen=True, slots=True)
class Lane:
    """Runs that did the same: their numbers, and the columns of the spine that they had."""

    runs: tuple[int, ...]
    columns: tuple[Column, ...]

    @property
    def column(self) -> Column:
        """The column of the first run; the others share its marks, not its ranks, clashes and edges off the path."""
        return self.columns[0]

    @property
    def broken(self) -> tuple[int, int] | None:
        """The places of the path and the step at which the lane first broke; None if it broke nowhere."""
        first = next(iter(self.column.breaks), None)
        return None if first is None else (first.path, first.step)

    def rank(self, node: int) -> str:
        """Return the rank of a node, or the lowest and the highest of the runs'; empty if it wasn't retrieved."""
        ranks = [column.ranks[node] for column in self.columns]
        low, high = min(ranks), max(ranks)
        if low <= 0:
            return ""
        return f"#{low}" if low == high else f"#{low}–{high}"


def lanes(spine: Spine) -> list[Lane]:
    """Return the lanes of a spine, in the order of their first runs.

    Runs share one if they have the same marks and retrieved the same nodes; their ranks and clashes may differ.
    """
    found: dict[Any, list[int]] = {}
    for number, column in enumerate(spine.columns):
        retrieved = tuple((rank > 0) - (rank < 0) for rank in column.ranks)
        same = (column.state, column.marks, column.counted, column.in_order, retrieved)
        found.setdefault(same, []).append(number)
    return [Lane(tuple(runs), tuple(spine.columns[run] for run in runs)) for runs in found.values()]


@dataclass(frozen=True, slots=True)
class Story:
    """What some runs did, in the same words.

    Attributes
    ----------
    walk
        Whether they walked well, badly, or whether that is open.
    kind
        The same with their answers: a wrong one isn't well.
    words
        A sentence for each cause, or for the walk, without a full stop; the first has no subject and begins small.
    share
        How many of the required steps they walked; empty if they walked all, or nobody knows.
    """

    runs: tuple[int, ...]
    walk: Kind
    kind: Kind
    words: tuple[str, ...]
    share: str


def stories(spine: Spine) -> list[Story]:
    """Return what the runs did, in the order of the first that share their words."""
    found: dict[tuple[tuple[str, ...], str], list[int]] = {}
    for run in range(len(spine.columns)):
        words = in_sequence(dict.fromkeys(told for _, told in clauses(spine, run)))
        found.setdefault((words, _share(spine, spine.columns[run])), []).append(run)
    return [_story(spine, runs, *told) for told, runs in found.items()]


def _story(spine: Spine, runs: Sequence[int], words: tuple[str, ...], share: str) -> Story:
    walk = _kind(spine.columns[runs[0]])
    wrong = walk == "good" and any(spine.right[run] is False for run in runs)
    return Story(tuple(runs), walk, "bad" if wrong else walk, words, share)


def _kind(column: Column) -> Kind:
    if column.breaks or column.state in ("failed", "absent"):
        return "bad"
    if any(cause.kind == "no answer" for cause in column.causes):
        return "bad"
    if column.whole.startswith(RIGHTLY_DECLINED):
        return "good"
    if column.state != "scored" or not column.counted:
        return "open"
    return "bad" if column.causes else "good"


def _share(spine: Spine, column: Column) -> str:
    if not column.breaks:
        return ""
    walked, required = walked_of(spine, column, column.counted)
    free = any(step.optional for place in column.counted for step in spine.backbone.paths[place].steps)
    return f"{walked} of {counted(required, 'required step' if free else 'step')}"


def remedies(spine: Spine) -> list[tuple[str, tuple[int, ...]]]:
    """Return what to do about the causes, each remedy once with its runs.

    The first causes come first, and among them those of the runs that came furthest.
    """
    columns = spine.columns
    order = sorted(range(len(columns)), key=lambda run: -walked_of(spine, columns[run], columns[run].counted)[0])
    causes = [(place, run, cause.remedy) for run in order for place, cause in enumerate(columns[run].causes)]
    found: dict[str, set[int]] = {}
    for _, run, words in sorted(causes, key=lambda one: one[0]):
        found.setdefault(words, set()).add(run)
    return [(words, tuple(sorted(runs))) for words, runs in found.items()]


def clashes_of(column: Column) -> list[str]:
    """Return why commits that a run read don't belong together, each reason once."""
    return [words for words in dict.fromkeys(column.clashes) if words]


class Cell(NamedTuple):
    """A node in a lane: both halves of the line, the dot, the rank, and the mark of the step that leads there.

    ``rank`` is empty where a node stands a second time, ``ranks`` are those of the lane's runs, and ``clashes`` the
    reasons with the places of the runs among them.
    """

    up: _Line
    down: _Line
    dot: Literal["walked", "retrieved", "passed"]
    after: bool
    broke: str
    symbol: str
    kind: MarkKind | Literal[""]
    word: str
    relation: str
    rank: str
    unknown: bool
    ranks: tuple[int, ...]
    clashes: tuple[tuple[int, str], ...]


def rows(spine: Spine, some: list[Lane], place: int) -> list[dict[str, Any]]:
    """Return a gold path as rows: its start, then each step with the node to which it leads.

    A step that begins elsewhere than the one before it ended has the row of its start before its own.
    """
    path = spine.backbone.paths[place]
    found: list[dict[str, Any]] = []
    seen: set[int] = set()
    at = -1
    drawn = [_DrawnLane(lane, path, place) for lane in some]
    for number, step in enumerate(path.steps):
        follows = number + 1 < len(path.steps) and path.steps[number + 1].source == step.target
        for node, arriving, leaving in (
            (step.source, None, number),
            (step.target, number, number + 1 if follows else None),
        ):
            if arriving is None and node == at:
                continue
            again = node in seen
            seen.add(node)
            cells = [lane.cell(node, arriving, leaving, again) for lane in drawn]
            gold = None if arriving is None else step
            found.append({"step": 0 if arriving is None else number + 1, "gold": gold, "again": again, "cells": cells})
            found[-1]["node"] = spine.backbone.nodes[node]
            found[-1]["instead"] = _instead(some, cells)
        at = step.target
    return found


def _instead(some: list[Lane], cells: list[Cell]) -> dict[str, tuple[int, ...]]:
    """Return the runs by the relation that they walked instead of the step's."""
    found: dict[str, tuple[int, ...]] = {}
    for lane, cell in zip(some, cells, strict=True):
        if cell.relation:
            found[cell.relation] = found.get(cell.relation, ()) + lane.runs
    return found


class _DrawnLane:
    """A lane beside one gold path: what all of its cells there need."""

    def __init__(self, lane: Lane, path: SpinePath, place: int) -> None:
        column, broken = lane.column, next((one for one in lane.column.breaks if one.path == place), None)
        self._lane, self._ranks, self._marks = lane, column.ranks, column.marks[place]
        self._lines: list[_Line] = ["walked" if mark.kind == "walked" else "quiet" for mark in self._marks]
        walked = [step for step, line in zip(path.steps, self._lines, strict=True) if line == "walked"]
        self._walked = {node for step in walked for node in (step.source, step.target)}
        self._clashes = any(any(one.clashes) for one in lane.columns)
        #: Behind this step the lane is off the path; at that one it first broke, in these words.
        self._after = len(self._marks) if broken is None or not broken.ordered else broken.step
        self._broke = -1 if broken is None or lane.broken != (place, broken.step) else broken.step
        self._words = BROKE[broken is not None and broken.ordered]

    def cell(self, node: int, arriving: int | None, leaving: int | None, again: bool) -> Cell:
        """Return the cell of a node, with the steps that lead there and away."""
        rank = self._ranks[node]
        reached = (len(self._marks) if leaving is None else leaving) - 1 if arriving is None else arriving
        kind: MarkKind | Literal[""] = ""
        symbol = word = relation = ""
        if arriving is not None:
            kind, relation = self._marks[arriving].kind, self._marks[arriving].relation
            symbol, word, _ = MARKS[kind]
        clashes = self._lane.columns if self._clashes and not again else ()
        return Cell(
            "none" if arriving is None else self._lines[arriving],
            "none" if leaving is None else self._lines[leaving],
            "walked" if node in self._walked else "retrieved" if rank > 0 else "passed",
            reached >= self._after,
            self._words if arriving == self._broke else "",
            symbol,
            kind,
            word,
            relation,
            "" if again else self._lane.rank(node),
            not again and rank < 0,
            tuple([column.ranks[node] for column in self._lane.columns]),
            tuple((run, one.clashes[node]) for run, one in enumerate(clashes) if one.clashes[node]),
        )


def file_of(node: Node) -> str:
    """Return the name of the file of a node without its folders; empty if the node is called so itself."""
    name = node.file.rpartition("/")[2]
    return "" if name == node.label else name
