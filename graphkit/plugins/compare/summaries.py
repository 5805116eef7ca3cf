"""Summarises files of scores, whoever gave them: means, medians and accuracy by run, measure and group."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from graphkit.analysis.scales import Scale, scale_of
from graphkit.errors import InputError
from graphkit.files.problems import Problem, Problems
from graphkit.files.score_files import read_scores
from graphkit.measures.owners import confirmed, known_reasons
from graphkit.records.gold import gold_hash_of
from graphkit.records.notebook_html import block
from graphkit.records.scores import GRAPHKIT, Score
from graphkit.records.words import counted, shown
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.measured import Measured, own_thresholds

#: A run, a measure and a group.
_Cell = tuple[str, str, str | None]


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """The scores of one run by one measure, of all questions or of one group of them.

    Attributes
    ----------
    group
        Such as ``"difficulty: hard"``; None for all questions.
    mean, median
        Over the scored questions; None if there are none.
    accuracy
        The share of right scores, if all are 0 or 1 or whole grades of 0 to 10 (:mod:`graphkit.analysis.scales`); else
        None.
    failed, missing
        The number of scores without a value because the record carries an error, or is missing.
    with_failed, accuracy_with_failed
        The mean and the accuracy with each of these as the worst value and as wrong; None without a worst value or an
        accuracy.
    failures
        A text on the failures, or empty.
    strict
        In a run that logs some relations, the mean with edges without one matching nothing, as gates count it, if that
        is another mean: ``with_failed`` rests on it.
    untyped
        Whether the run never logs the relations that the measure compares, so that a gate on it fails.
    gold_hash
        The gold of its questions, if known for all.
    different_gold
        The number of questions that another run was scored on by the same measure and different gold.
    """

    run: str
    measure: str
    group: str | None
    mean: float | None
    median: float | None
    accuracy: float | None
    scored: int
    total: int
    gold_hash: str | None = None
    different_gold: int = 0
    failed: int = 0
    missing: int = 0
    with_failed: float | None = None
    accuracy_with_failed: float | None = None
    failures: str = ""
    strict: float | None = None
    untyped: bool = False

    @property
    def verdict(self) -> str:
        """A sentence: the mean of a measure, and of how many questions it is."""
        within = f" ({self.group})" if self.group is not None else ""
        return f"{self.run}{within}: {self.measure} {shown(self.mean)} over {self.scored} of {self.total}"

    def __repr__(self) -> str:
        return f"<{self.verdict}>"

    def _repr_html_(self) -> str:
        return ScoreSummaries([self])._repr_html_()


class ScoreSummaries(list[ScoreSummary]):
    """Summaries of scores, which a notebook draws as a table."""

    @property
    def verdict(self) -> str:
        """A sentence: how many runs and measures were summarised, and how many scores lack a value."""
        every = [one for one in self if one.group is None]
        runs, measures = ({getattr(one, name) for one in every} for name in ("run", "measure"))
        lacking = sum(one.total - one.scored for one in every)
        unscored = f"; {counted(lacking, 'score')} without a value" if lacking else ""
        return f"{counted(len(runs), 'run')} by {counted(len(measures), 'measure')}{unscored}"

    def __repr__(self) -> str:
        return f"<{len(self)} summaries: {self.verdict}>"

    def _repr_html_(self) -> str:
        """Draw the summaries in a notebook: the verdict, then each mean with its target."""
        columns = ("run", "group", "measure", "mean", "", "target", "median", "scored")
        return block(self.verdict, columns, [_drawn(one) for one in self])


def _drawn(one: ScoreSummary) -> list[object]:
    """Return the row of a summary in a notebook."""
    measured = Measured(one.measure, one.mean, f"{one.scored}/{one.total}", thresholds=own_thresholds(one.measure))
    name, mean, drawn, target, scored = measured.row()
    return [one.run, one.group or "all", name, mean, drawn, target, one.median, scored]


def summarize(files: Iterable[str | Path], problems: Problems | None = None) -> ScoreSummaries:
    """Summarise files of scores by run and measure, and by category, difficulty and group.

    Raises
    ------
    InputError
        A file or a record can't be used and problems aren't skipped, or runs were scored by different gold and the
        problems are strict.
    """
    problems = problems if problems is not None else Problems()
    cells: dict[_Cell, list[Score]] = {}
    scores = read_confirmed(files, problems)
    different = _different_gold(scores, problems)
    scales = score_scales(scores)
    for score in scores:
        for group in (None, *_groups(score)):
            cells.setdefault((score.run, score.measure, group), []).append(score)
    order = sorted(cells, key=lambda cell: (cell[2] is not None, cell[2] or "", cell[1], cell[0]))
    return ScoreSummaries(_summary(cell, cells[cell], scales[cell[1]], different) for cell in order)


def read_confirmed(files: Iterable[str | Path], problems: Problems) -> list[Score]:
    """Return the scores of some files, of which graphkit's own confirm the reasons of the question in others."""
    scores = read_scores(files, problems)
    own = ((one.question, one.reason) for one in scores if one.grader == GRAPHKIT and one.reason is not None)
    return confirmed(scores, known_reasons((question, reason) for question, reason in own if reason is not None))


def score_scales(scores: Iterable[Score]) -> dict[str, Scale | None]:
    """Return the scale of each measure, decided over all of its scores."""
    values: dict[str, set[float]] = defaultdict(set)
    for score in scores:
        values[score.measure].update(() if score.number is None else (score.number,))
    return {measure: scale_of(measure, some) for measure, some in values.items()}


def _groups(score: Score) -> Iterable[str]:
    for name in ("category", "difficulty", "group"):
        value = getattr(score, name)
        if value is not None:
            yield f"{name}: {value}"


def _different_gold(scores: Iterable[Score], problems: Problems) -> set[tuple[str, str]]:
    """Return the (measure, question) pairs that runs were scored on by different gold; note or refuse them."""
    gold: dict[tuple[str, str], dict[str, Score]] = defaultdict(dict)
    for score in scores:
        if score.gold_hash is not None:
            gold[score.measure, score.question].setdefault(score.gold_hash, score)
    different = {key: [*some.values()] for key, some in gold.items() if len(some) > 1}
    questions = {question for _, question in different}
    if questions and problems.strict:
        raise InputError(
            f"runs were scored by different gold of {counted(len(questions), 'question')}, such as {min(questions)!r}, "
            "which strict reading refuses",
            remedy="Score all runs by the same gold, or read without --strict.",
        )
    for question in sorted(questions):
        runs = {score.run for (_, of), some in different.items() if of == question for score in some}
        problems.note(
            Problem("scores of", "runs were scored by different gold", f"{question}: {', '.join(sorted(runs))}")
        )
    return {*different}


def _summary(cell: _Cell, scores: list[Score], scale: Scale | None, different: set[tuple[str, str]]) -> ScoreSummary:
    run, measure, group = cell
    scored = [value for score in scores if (value := score.number) is not None]
    both = ((score.strict_value, score.number) for score in scores)
    strict = (value - number for value, number in both if value is not None and number is not None)
    values = (score.reason if score.number is None else score.number for score in scores)
    summary = Summary.of_values(measure, values, strict=strict)
    right = None if scale is None or not scored else sum(map(scale.is_right, scored))
    return ScoreSummary(
        run=run,
        measure=measure,
        group=group,
        mean=statistics.fmean(scored) if scored else None,
        median=statistics.median(scored) if scored else None,
        accuracy=None if right is None else right / len(scored),
        scored=len(scored),
        total=len(scores),
        failed=summary.failed,
        missing=summary.missing,
        with_failed=summary.with_failed,
        accuracy_with_failed=None if right is None else right / (len(scored) + summary.unanswered),
        failures=summary.failures,
        strict=summary.strict,
        untyped=any(score.untyped for score in scores),
        gold_hash=gold_hash_of((score.question, score.gold_hash) for score in scores),
        different_gold=sum((measure, score.question) in different for score in scores),
    )
