"""Alerts and diagnosis of all runs at once: what several runs share is said once, with the runs it holds for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphkit.analysis.board import without_input
from graphkit.analysis.layers import NOT_JUDGED, LayerFinding
from graphkit.measures.registry import lower_is_better
from graphkit.records.words import two
from graphkit.report.data import ReportData, RunData
from graphkit.report.escaping import visible


@dataclass(frozen=True, slots=True)
class SharedLine:
    """A sentence and the numbers of the runs that it holds for."""

    text: str
    runs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SevereCell:
    """The value of a run by a measure that is severe for some run; ``exact`` has its decimals and counts."""

    value: float | None
    severe: bool
    exact: str


@dataclass(frozen=True, slots=True)
class SevereRow:
    """A measure that is severe for some run, with its target and a cell for each run."""

    measure: str
    target: str
    cells: tuple[SevereCell, ...]


@dataclass(frozen=True, slots=True)
class Weakness:
    """A weakness with its remedy, and for each run that has it the finding."""

    layer: str
    name: str
    measure: str
    remedy: str
    found: tuple[tuple[int, LayerFinding], ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why questions aren't scored, and for each measure how many there are: one number if all runs have as many."""

    text: str
    counts: tuple[tuple[str, str], ...]


class Diagnosis:
    """The content of the template of the alerts, computed once."""

    def __init__(self, data: ReportData, letters: Sequence[str]) -> None:
        self._runs, self._letters = data.runs, letters
        self._hidden = without_input([run.evaluation for run in data.runs], data.dataset) - {*data.asked}

    @property
    def gaps(self) -> list[SharedLine]:
        """The questions that the runs failed on, or have no record or valid gold for."""
        return _shared(enumerate(run.card.unscored for run in self._runs))

    @property
    def unjudged(self) -> list[SharedLine]:
        """The runs without any score."""
        return _shared(enumerate("" if run.card.judged else NOT_JUDGED for run in self._runs))

    @property
    def warnings(self) -> list[SharedLine]:
        """Why the dataset knows hardly anything of a run."""
        known = enumerate(run.evaluation.known for run in self._runs)
        return _shared((place, str(one.meaning)) for place, one in known if one is not None and one.meaning is not None)

    @property
    def borrowed(self) -> list[SharedLine]:
        """The number of chunks that take the commit of their artifact."""
        return _shared(enumerate(run.evaluation.borrowed_commits() for run in self._runs))

    @property
    def shares(self) -> list[SharedLine]:
        """On how many questions something forbidden happened, with the upper bounds of these shares."""
        return _shared(enumerate(run.evaluation.shares() for run in self._runs))

    @property
    def fine(self) -> tuple[int, ...]:
        """The runs that were judged, and of which nothing is severe or weak."""
        cards = [run.card for run in self._runs]
        return tuple(place for place, card in enumerate(cards) if card.judged and not card.alerts and not card.findings)

    @cached_property
    def severe(self) -> list[SevereRow]:
        """The measures that are severe for some run."""
        rows = {one.measure: one for run in self._runs for one in run.card.alerts}
        return [
            SevereRow(
                visible(name),
                f"{'≤' if lower_is_better(name) else '≥'} {two(one.target)}" if one.target is not None else "",
                tuple(_cell(run, name) for run in self._runs),
            )
            for name, one in rows.items()
        ]

    @property
    def answered(self) -> list[SharedLine]:
        """For each run with severe measures in which failed questions count: its means without these."""
        return _shared(enumerate(_answered(run) for run in self._runs))

    @property
    def weaknesses(self) -> list[Weakness]:
        """The weaknesses that the rules name, those of the most runs first."""
        found: dict[tuple[str, str, str, str], list[tuple[int, LayerFinding]]] = {}
        for place, run in enumerate(self._runs):
            for one in run.card.findings:
                found.setdefault((one.layer, one.weakness, one.measure, one.remedy), []).append((place, one))
        rows = [Weakness(*key, tuple(some)) for key, some in found.items()]
        return sorted(rows, key=lambda one: -len(one.found))

    @cached_property
    def reasons(self) -> list[Reason]:
        """The reasons of unscored questions, the most frequent first, but for measures that the board hides."""
        found: dict[str, dict[str, list[int]]] = {}
        for place, run in enumerate(self._runs):
            for measure, reasons in run.evaluation.unscored.items():
                if measure in self._hidden:
                    continue
                for reason, count in reasons.items():
                    found.setdefault(reason, {}).setdefault(measure, [0] * len(self._runs))[place] = count
        often = sorted(found.items(), key=lambda one: -sum(map(sum, one[1].values())))
        return [
            Reason(visible(text), tuple((visible(name), self._spread(some)) for name, some in counts.items()))
            for text, counts in often
        ]

    @cached_property
    def judges(self) -> list[tuple[dict[str, Any], list[int]]]:
        """The judges, those of whom the same is said in several runs once with these runs."""
        found: list[tuple[dict[str, Any], list[int]]] = []
        for place, run in enumerate(self._runs):
            for judge in run.overview("verdicts") or ():
                runs = next((some for known, some in found if known == judge), None)
                if runs is None:
                    found.append((judge, [place]))
                else:
                    runs.append(place)
        return found

    def warned(self, *kinds: str) -> list[SharedLine]:
        """Return the warnings about what lies beside the runs, by its kinds."""
        each = ((place, run.warnings.get(kind, ())) for kind in kinds for place, run in enumerate(self._runs))
        return _shared((place, text) for place, texts in each for text in texts)

    def _spread(self, counts: Sequence[int]) -> str:
        if len(set(counts)) == 1:
            return str(counts[0])
        return ", ".join(f"{count} in {one}" for count, one in zip(counts, self._letters, strict=True) if count)


def _shared(texts: Iterable[tuple[int, str]]) -> list[SharedLine]:
    """Return each text once, with the numbers of the runs that have it; empty texts are left out."""
    found: dict[str, list[int]] = {}
    for place, text in texts:
        if text:
            found.setdefault(visible(text), []).append(place)
    return [SharedLine(text, tuple(runs)) for text, runs in found.items()]


def _cell(run: RunData, measure: str) -> SevereCell:
    component = next(one for layer in run.card.layers for one in layer.components if one.measure == measure)
    exact = f"{component.in_words}, scored on {component.scored} of {component.total}"
    return SevereCell(component.held, bool(component.severe), exact)


def _answered(run: RunData) -> str:
    """Return the severe means over the answered questions where failed ones count as well; empty if none do."""
    found: dict[int, list[str]] = {}
    for alert in run.card.alerts:
        summary = run.evaluation.measures[alert.measure]
        if summary.unanswered and summary.mean != alert.held:
            found.setdefault(summary.scored, []).append(f"{alert.measure} {two(summary.mean)}")
    return "; ".join(f"{', '.join(means)} over the {scored} answered" for scored, means in found.items())
