"""Files of scores, whoever gave them: means, medians and accuracy by run, measure and group."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from graphkit.analysis.scales import Scale, scale_of
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.records.scores import Score


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """The scores of one run by one measure, of all questions or of one group of them.

    Attributes
    ----------
    group
        Such as ``"difficulty: hard"``; None for all questions.
    mean, median
        Over the scored questions; None where there is none.
    accuracy
        The share of right ones, where all scores of the measure are 0 or 1, or whole ones of 0 to 10
        (:mod:`graphkit.analysis.scales`); of others None.
    """

    run: str
    measure: str
    group: str | None
    mean: float | None
    median: float | None
    accuracy: float | None
    scored: int
    total: int


def summarize(files: Iterable[str | Path], problems: Problems | None = None) -> list[ScoreSummary]:
    """Summarise files of scores by run and measure, and by each category, difficulty and group that they name.

    Raises
    ------
    InputError
        A file or a record can't be used and problems aren't to be skipped.
    """
    cells: dict[tuple[str, str, str | None], list[float | None]] = {}
    scores = read_scores(files, problems if problems is not None else Problems())
    scales = score_scales(scores)
    for score in scores:
        for group in (None, *_groups(score)):
            cells.setdefault((score.run, score.measure, group), []).append(score.number)
    order = sorted(cells, key=lambda cell: (cell[2] is not None, cell[2] or "", cell[1], cell[0]))
    return [_summary(cell, cells[cell], scales[cell[1]]) for cell in order]


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


def _summary(cell: tuple[str, str, str | None], values: list[float | None], scale: Scale | None) -> ScoreSummary:
    run, measure, group = cell
    scored = [value for value in values if value is not None]
    return ScoreSummary(
        run=run,
        measure=measure,
        group=group,
        mean=statistics.fmean(scored) if scored else None,
        median=statistics.median(scored) if scored else None,
        accuracy=sum(map(scale.is_right, scored)) / len(scored) if scale is not None and scored else None,
        scored=len(scored),
        total=len(values),
    )
