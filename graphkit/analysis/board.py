"""The board of several runs: each measure against its target, with an interval, in the layers of the configuration."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from graphkit.analysis.config import BY_TEXT, Config
from graphkit.analysis.layers import NOT_GRADED, Layer, Scorecard
from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import find_file
from graphkit.measures.base import Thresholds
from graphkit.measures.edges import NO_BOUNDARY
from graphkit.measures.registry import bounds_of, is_judged, lower_is_better
from graphkit.measures.repositories import NO_REPOSITORY
from graphkit.records.bounds import under
from graphkit.scoring.intervals import RESAMPLES, mean_caution, mean_interval
from graphkit.scoring.measure_summaries import Summary, scored_in_words
from graphkit.scoring.measured import Measured
from graphkit.scoring.results import Evaluation

#: Measures without a weight that the board shows among the first; the others are folded unless someone asked for them.
SHOWN = ("BoundaryRecall", *BY_TEXT)


#: Measures of repositories and of commits, which aren't shown where the data has none.
OF_REPOSITORIES = ("CrossRepoPrecision", "CrossRepoRecall", "BoundaryRecall", "BoundaryPrecision")
OF_COMMITS = ("Coherence", "Incoherent", "OffPin")


def without_input(results: Sequence[Evaluation], dataset: Dataset) -> frozenset[str]:
    """Return the measures of repositories if no gold names one, and those of commits if nothing states any."""

    def reasons(names: Sequence[str]) -> set[str] | None:
        """Return why some measures have no value; None if one has."""
        if any(one.measures[name].scored for one in results for name in names if name in one.measures):
            return None
        return {reason for one in results for name in names for reason in one.unscored.get(name, ())}

    hidden: set[str] = set()
    found = reasons(OF_REPOSITORIES)
    if found is not None and NO_REPOSITORY in found and found <= {NO_REPOSITORY, NO_BOUNDARY}:
        hidden.update(OF_REPOSITORIES)
    stated = any(find_file(dataset.folder, name) is not None for name in ("commits", "compatibility"))
    if not stated and reasons(OF_COMMITS) is not None:
        hidden.update(OF_COMMITS)
    return frozenset(hidden)


@dataclass(frozen=True, slots=True)
class BoardCell:
    """The value of one run by one measure.

    Attributes
    ----------
    value
        The value that targets check: failed questions count as the worst value, unless the result says otherwise.
    low, high
        The 95% interval of the value; None if the questions are too few.
    counts
        The number of scored questions in words.
    whole
        Whether every question was scored, or counts as the worst value because the run failed on it.
    state
        ``"met"``, ``"missed"`` or ``"severe"``; empty without a target or a value.
    caution
        A sentence on why the interval may be too narrow, or rests on equal values; None if it isn't so.
    """

    value: float | None
    low: float | None
    high: float | None
    counts: str
    whole: bool
    state: str
    caution: str | None = None


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One measure of all runs, on a scale from ``lowest`` to ``highest`` that its cells share."""

    measure: str
    target: float | None
    lower: bool
    lowest: float
    highest: float
    cells: tuple[BoardCell, ...]

    @property
    def scored(self) -> bool:
        """Whether some run has a value."""
        return any(cell.value is not None for cell in self.cells)

    def place(self, value: float) -> float:
        """Return where a value lies on the scale, from 0 to 1."""
        share = (value - self.lowest) / (self.highest - self.lowest)
        return min(max(share, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class BoardLayer:
    """One layer of all runs.

    Attributes
    ----------
    scores, coverage
        The score of each run, and the share of the weights behind it.
    rows
        The measures that some run was scored by.
    unscored
        The names of its other measures.
    note
        Why nothing was scored; empty if something was.
    """

    name: str
    scores: tuple[float | None, ...]
    coverage: tuple[float, ...]
    rows: tuple[BoardRow, ...]
    unscored: tuple[str, ...]
    note: str

    def partial(self, run: int) -> bool:
        """Return whether the score of a run lacks a part of the weights."""
        return self.scores[run] is not None and under(self.coverage[run], 1.0)


@dataclass(frozen=True, slots=True)
class Board:
    """All measures of several runs: the layers, then the measures without a weight, the most telling first.

    ``more`` holds the others, which the page folds. ``overall`` is the product of each run's layers; ``partial`` says
    of which runs a layer is missing or incomplete.
    """

    layers: tuple[BoardLayer, ...]
    others: tuple[BoardRow, ...]
    more: tuple[BoardRow, ...]
    overall: tuple[float | None, ...]
    partial: tuple[bool, ...]

    @property
    def measures(self) -> list[str]:
        """The measures that aren't folded."""
        return [row.measure for row in (*(row for layer in self.layers for row in layer.rows), *self.others)]


def board(
    results: Sequence[Evaluation],
    cards: Sequence[Scorecard],
    config: Config,
    resamples: int = RESAMPLES,
    asked: Collection[str] = (),
    hidden: Collection[str] = (),
) -> Board:
    """Return the board of some results, which hold their rows, and of their scorecards.

    Of the measures without a weight those that someone ``asked`` for aren't folded. Others that are ``hidden``, since
    the data has nothing for them, aren't there.
    """
    hidden = {*hidden} - {*asked}
    layers, weighed = [], set()
    for layers_of in zip(*(card.layers for card in cards), strict=True):
        names = [component.measure for component in layers_of[0].components]
        weighed.update(names)
        names = [name for name in names if name not in hidden]
        layers.append(_layer(layers_of, [_row(name, results, config, resamples) for name in names]))
    every = dict.fromkeys(name for one in results for name in one.measures)
    names = [name for name in every if name not in {*weighed, *hidden}]
    rows = [_row(name, results, config, resamples) for name in names]
    shown = [row for row in rows if row.measure in asked or (row.scored and row.measure in SHOWN)]
    return Board(
        tuple(layers),
        tuple(shown),
        tuple(row for row in rows if row not in shown),
        tuple(card.overall for card in cards),
        tuple(card.partial or any(layer.partial(number) for layer in layers) for number, card in enumerate(cards)),
    )


def _layer(layers: Sequence[Layer], rows: Iterable[BoardRow]) -> BoardLayer:
    rows = list(rows)
    judged = all(is_judged(row.measure) for row in rows)
    scores = tuple(layer.score for layer in layers)
    note = "" if any(score is not None for score in scores) else NOT_GRADED if judged else "not scored"
    return BoardLayer(
        layers[0].name,
        scores,
        tuple(layer.coverage for layer in layers),
        tuple(row for row in rows if row.scored),
        tuple(row.measure for row in rows if not row.scored),
        note,
    )


def _row(name: str, results: Sequence[Evaluation], config: Config, resamples: int) -> BoardRow:
    thresholds = config.thresholds(name)
    cells = tuple(_cell(name, result, thresholds, resamples) for result in results)
    lowest, highest = bounds_of(name)
    found = [end for cell in cells for end in (cell.value, cell.low, cell.high) if end is not None]
    low = lowest if lowest is not None else min(found, default=0.0)
    high = highest if highest is not None else max(found, default=low)
    return BoardRow(name, thresholds.target, lower_is_better(name), low, high if high > low else low + 1, cells)


def _cell(name: str, result: Evaluation, thresholds: Thresholds, resamples: int) -> BoardCell:
    summary = result.measures.get(name) or Summary(None, 0, result.questions)
    held = result.held(name)
    sample = result.sample(name) if held is not None else []
    low, high = mean_interval(sample, *bounds_of(name), resamples=resamples) or (None, None)
    caution = None if low is None else mean_caution(sample, *bounds_of(name))
    one = Measured(name, held, thresholds=thresholds)
    state = "" if one.met is None else "met" if one.met else "severe" if one.severe else "missed"
    zeros = summary.zeros(result.failed_as)
    as_worst = 0 if zeros else summary.as_worst(result.failed_as)
    brief = zeros or summary.unanswered or summary.not_logged
    counts = summary.counts(result.failed_as) if brief else scored_in_words(summary, result.failed_as)
    return BoardCell(held, low, high, counts, summary.scored + zeros + as_worst == summary.total, state, caution)
