"""The first screen of a page: verdict, what to mend first, board, where the runs break; readable without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any
from urllib.parse import urlencode

from graphkit import __version__
from graphkit.analysis.board import without_input
from graphkit.analysis.broken_edges import COUNTED, BrokenEdges, BrokenRow, Kind, broken_edges, place_name, weakest
from graphkit.analysis.causes import questions_by_cause
from graphkit.analysis.evaluation_findings import unanswered_findings
from graphkit.analysis.findings import digits, listed
from graphkit.analysis.mending import MendingPlace, first_to_mend, missed_by_question
from graphkit.measures.outcome import STAGES
from graphkit.records.ids import distinct_names
from graphkit.records.words import counted, two
from graphkit.report.board_view import BoardView
from graphkit.report.data import QuestionOutcome, ReportData
from graphkit.report.escaping import middle, visible
from graphkit.report.tradeoffs import FIGURES, Dot, Figure, Panel, Tradeoffs, tradeoffs

#: How many rows of a kind are shown; the others are folded. And how many single edges and nodes are listed.
UNFOLDED = 5
SINGLE = 24

#: Characters of a part of a name that are shown: of one end of an edge, of its relation, of a node or a repository.
PART = 60

#: What a cell counts.
_COUNTED_WORDS: dict[Kind, str] = {
    "boundary": "{walked} of {required} required edges walked",
    "relation": "{walked} of {required} required edges walked",
    "edge": "walked for {walked} of {required} questions that require it",
    "node": "reached for {walked} of {required} questions that require an edge of it",
}

#: The cells of the table of answers by path: what the page calls them, and the answer and path of each.
CELLS = (
    ("sound", "right", "right"),
    ("luck", "right", "wrong"),
    ("misread", "wrong", "right"),
    ("lost", "wrong", "wrong"),
)


@dataclass(frozen=True, slots=True)
class CountRow:
    """A stage, or a kind of answer by path: its name, and for each run the number of questions and their address."""

    name: str
    counts: tuple[tuple[int, str], ...]


class FirstScreen(BoardView):
    """What the template of the first screen shows, computed once."""

    counted_edges = COUNTED
    unfolded = UNFOLDED

    def __init__(self, data: ReportData) -> None:
        cards = [run.card for run in data.runs]
        results = [run.evaluation for run in data.runs]
        hidden = without_input(results, data.dataset)
        super().__init__(results, cards, data.config, choose=True, asked=data.asked, hidden=hidden)
        self._data = data

    @cached_property
    def broken(self) -> BrokenEdges:
        """The boundaries, relations, edges and nodes; those to mend are listed whatever they lose."""
        return broken_edges([run.edges for run in self._data.runs], SINGLE, [one.key for one in self._places])

    @cached_property
    def _places(self) -> tuple[MendingPlace, ...]:
        names = [question["id"] for question in self._data.questions]
        runs = [run.edges for run in self._data.runs]
        lost = [{name: one.unlinked for name, one in zip(names, run, strict=True) if one} for run in runs]
        return first_to_mend([missed_by_question(names, run) for run in runs], self._data.places, lost=lost)

    @property
    def mending(self) -> list[dict[str, str]]:
        """The places to mend first: their names, their counts, and the address of the questions that miss an edge."""
        return [
            {
                "name": visible(one.label),
                "title": visible(one.name),
                "kind": one.suffix,
                "counts": one.counts,
                "address": _address(
                    **{one.kind: visible(one.name)}, missed=1, **({"any": 1} if len(self.runs) > 1 else {})
                ),
            }
            for one in self._places
        ]

    @property
    def causes(self) -> list[tuple[str, int, str]]:
        """The groups of questions by their first cause in some run: it, their number, and the address of their list."""
        found = questions_by_cause([[one.cause for one in run.outcomes] for run in self._data.runs])
        some = "any(cause == {})" if len(self.runs) > 1 else "cause == {}"
        return [(kind, count, _address(keep=some.format(f'"{kind}"'))) for kind, count in found.items()]

    def verdicts(self) -> list[dict[str, Any]]:
        """Return the verdict against each baseline, its runs called as beside their letters."""
        return [{**one, **{name: self._called(one[name]) for name in ("text", "more")}} for one in super().verdicts()]

    def _called(self, sentence: str) -> str:
        """Return a sentence with what is left of the names of runs; the head of the page says how all begin."""
        names = sorted((run["name"] for run in self.runs), key=len, reverse=True)
        return re.sub("|".join(map(re.escape, names)), lambda name: name[0][len(self.beginning) :], sentence)

    def row_label(self, row: BrokenRow) -> str:
        """Return the name of a row as it is shown: nodes by the shortest names that tell those of the page apart.

        Only a very long part is cut, in its middle, so both ends of an edge and its relation stay.
        """
        names = row.names
        if row.kind == "edge":
            names = (self._short[names[0]], names[1], self._short[names[2]])
        elif row.kind == "node":
            names = (self._short[names[0]],)
        return visible(place_name(row.kind, tuple(middle(name, PART) for name in names)))

    @cached_property
    def _short(self) -> dict[str, str]:
        rows = [(row.kind, row.names) for row in self.broken.rows] + [one.key for one in self._places]
        nodes = {node for kind, names in rows if kind in ("edge", "node") for node in (names[0], names[-1])}
        return distinct_names({node: self._data.places.names(node) for node in sorted(nodes)})

    @property
    def single_edges(self) -> str:
        """Sentences on the edges and nodes that some run missed, listed or not; empty if there are none."""
        found = self.broken
        if not found.missed_edges:
            return ""
        edges, nodes = counted(found.missed_edges, "single edge"), counted(found.missed_nodes, "node")
        text = f"{edges} and {nodes} were missed by some run; those missed most are listed."
        text += " A node is reached if a traversed edge has it."
        if absent := sum(row.absent > 0 for row in found.edges):
            verb, them = ("isn't", "it") if absent == 1 else ("aren't", "them")
            text += f" {absent} of the listed edges {verb} in the knowledge graph"
            text += f": no walk over it alone takes {them}."
        return text

    @property
    def weakest(self) -> str:
        """The sentence on the boundaries and relations of which no required edge was walked."""
        return visible(weakest(self.broken))

    def broken_cells(self, row: BrokenRow) -> Iterator[dict[str, Any]]:
        """Yield the cells of a boundary or a relation: its words, its address, and how bad it is from 0 to 4."""
        for number, run in enumerate(self.runs):
            share = row.share(number)
            missed = {"missed": 1} if row.walked[number] < row.required[number] else {}
            yield {
                "walked": None if share is None else row.walked[number],
                "required": row.required[number],
                "words": _COUNTED_WORDS[row.kind].format(walked=row.walked[number], required=row.required[number]),
                "left_out": row.left_out(number),
                "heat": 0 if share is None else 4 - int(4 * share) if share else 5,
                "address": _address(run=run["name"], **{row.kind: visible(row.name)}, **missed),
            }

    def row_address(self, row: BrokenRow) -> str:
        """Return the address of all questions that need a boundary or a relation."""
        return _address(**{row.kind: visible(row.name)})

    @cached_property
    def stages(self) -> list[CountRow]:
        """The stages at which questions ended, those of no run left out."""
        found = [
            self._counts(name, f"stage-{place}", lambda one, name=name: one.stage == name)
            for place, name in enumerate(STAGES)
        ]
        return [row for row in found if any(count for count, _ in row.counts)]

    @cached_property
    def cells(self) -> list[CountRow]:
        """The answers by path, of which no path is decided alone; empty if no answer is."""
        found = [
            self._counts(name, name, lambda one, judged=(answer, path): (one.answer, one.path) == judged)
            for name, answer, path in CELLS
        ]
        if not any(count for row in found for count, _ in row.counts):
            found = [
                self._counts(f"{name} answer", name, lambda one, name=name: one.answer == name)
                for name in ("right", "wrong")
            ]
        return found if any(count for row in found for count, _ in row.counts) else []

    def _counts(self, name: str, what: str, holds: Any) -> CountRow:
        def count(outcomes: list[QuestionOutcome]) -> int:
            return sum(bool(holds(one)) for one in outcomes)

        return CountRow(
            name,
            tuple(
                (count(run.outcomes), _address(run=shown["name"], what=what))
                for run, shown in zip(self._data.runs, self.runs, strict=True)
            ),
        )

    @cached_property
    def tradeoffs(self) -> Tradeoffs | None:
        """The measure of the verdict against latency, tokens and cost."""
        quality = next((row for row in self.rows if row.measure == self.standings.headline), None)
        return tradeoffs(quality, self.results)

    def over(self, figure: Figure, run: int) -> str:
        """Return how many questions of a run state a figure, if some don't; else an empty text."""
        known, questions = figure.known[run], self.results[run].questions
        return "" if known in (0, questions) else f"over {known} of {counted(questions, 'question')}"

    def dot_words(self, found: Tradeoffs, panel: Panel, dot: Dot) -> str:
        """Return what a dot shows."""
        figure, value = panel.figure, two(found.quality.cells[dot.run].value)
        price = f"{figure.name} {digits(figure.values[dot.run])} ({figure.unit})"
        beaten = "; another run is at least as good for no more" if dot.beaten else ""
        return f"{self.runs[dot.run]['name']}: {visible(found.quality.measure)} {value}, {price}{beaten}"

    @property
    def about_figures(self) -> list[str]:
        """Sentences on the questions behind the figures, and on the figures that runs lack."""
        if self.tradeoffs is None:
            return []
        figures = self.tradeoffs.figures
        failed = any(one.failed for one in self.results) and self.results[0].failed_as == "worst"
        alone = f"; a failed one counts in {visible(self.tradeoffs.quality.measure)} alone" if failed else ""
        verb = "is" if len(figures) == 1 and figures[0].name != FIGURES[1] else "are"
        found = [f"{self.tradeoffs.names.capitalize()} {verb} per answered question{alone}."]
        if any(self.over(figure, run) for figure in figures for run in figure.stated):
            found.append("† not every question states it.")
        lacking: dict[tuple[str, ...], list[str]] = {}
        for name in FIGURES:
            stated = next((one.stated for one in figures if one.name == name), [])
            without = tuple(run["short"] for number, run in enumerate(self.runs) if number not in stated)
            lacking.setdefault(without, []).append(name)
        for without, names in lacking.items():
            if len(without) == len(self.runs):
                found.append(f"No run states {' or '.join(names)}.")
            elif without:
                found.append(f"{listed(without)} {'states' if len(without) == 1 else 'state'} no {' or '.join(names)}.")
        return found

    @property
    def gaps(self) -> str:
        """A line on failed questions and on measures that weren't scored on every question."""
        found = [line.text for line in unanswered_findings(self.results)]
        some = sum(any(not cell.whole for cell in row.cells) for row in self.rows)
        failed = self._called(visible(found[0])) if found else "none"
        return f"Failed questions: {failed}. Measures not scored on every question: {some} of {len(self.rows)}."

    @property
    def configuration(self) -> str:
        """The name of the file with weights and targets."""
        return visible(PurePath(self._data.config.source).name)

    @property
    def version(self) -> str:
        """The version of graphkit that wrote the page."""
        return __version__

    def costs(self, run: int) -> str:
        """Return latency, calls, tokens and cost of a run in words; empty if its records state none."""
        found = self.results[run].known_efficiency()
        return ", ".join(
            f"{name.replace('_', ' ')} {one.total:g} in all"
            + ("" if one.median is None else f" (median {one.median:g})")
            for name, one in found.items()
        )


def _address(**state: object) -> str:
    """Return the address of the questions by a filter, as the script reads it."""
    return f"#questions?{urlencode(state)}"
