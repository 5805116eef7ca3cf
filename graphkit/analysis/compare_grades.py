"""Two runs compared by the grades that graded files give them, whoever graded; no graph is asked."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from graphkit.analysis.comparison import By, RunComparison, groups_of, left_out, movers_of, refuse_itself, unscored
from graphkit.analysis.paired import RESAMPLES, SEED
from graphkit.analysis.summaries import grade_scales
from graphkit.errors import InputError, MeasureError, did_you_mean
from graphkit.files.problems import Report
from graphkit.files.scores import read_scores
from graphkit.measures.registry import parse_measure
from graphkit.records.scores import Score
from graphkit.scoring.results import NO_LABEL


def compare_grades(
    files: Iterable[str | Path],
    first: str,
    second: str,
    *,
    measures: Sequence[str] = (),
    by: By | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    movers: int = 5,
    report: Report | None = None,
) -> RunComparison:
    """Compare two runs by their grades in graded files, whoever graded them, on the questions graded in both.

    Raises
    ------
    InputError
        A file or grade can't be used, a run or measure isn't graded, or the two runs were graded by different versions.
    """
    refuse_itself(first, second)
    if by in ("repo", "relation"):
        raise InputError(f"grades don't tell the {by} of a question", remedy="Compare by category or difficulty.")
    every = read_scores(files, report if report is not None else Report())
    for run in (first, second):
        _require(run, {grade.run for grade in every}, "no run that is graded is called")
    grades = [grade for grade in every if grade.run in (first, second)]
    names = list(dict.fromkeys(grade.measure for grade in grades))
    for name in measures:
        _require(name, names, "no grade is by a measure called")
        with contextlib.suppress(MeasureError):  # of the user's own it is imported, so that its direction is known
            parse_measure(name)
    chosen = list(dict.fromkeys(measures)) or names
    before, after = ({name: _graded(grades, run, name) for name in chosen} for run in (first, second))
    for name in chosen:
        versions = {grade.version for grade in grades if grade.measure == name}
        if len(versions) > 1:
            told = ", ".join(sorted("none" if one is None else str(one) for one in versions))
            raise InputError(
                f"the grades by {name} are of different versions: {told}", remedy="Grade both runs by the same version."
            )
    members: dict[str, set[str]] = {}
    for grade in grades if by is not None else ():
        members.setdefault(getattr(grade, str(by)) or NO_LABEL, set()).add(grade.question)
    asked = {name: {grade.question for grade in grades if grade.measure == name} for name in chosen}
    groups = groups_of(before, after, grade_scales(every), dict(sorted(members.items())), resamples, seed)
    if not groups[0].results:
        raise InputError("no question was graded in both runs")
    return RunComparison(
        first=first,
        second=second,
        dataset=None,
        groups=groups,
        movers=movers_of(first, second, before, after, movers),
        questions=len({grade.question for grade in grades}),
        left_out=left_out(before, after),
        unscored=unscored(before, after, asked),
    )


def _require(name: str, known: Iterable[str], what: str) -> None:
    names = sorted(known)
    if name not in names:
        raise InputError(f"{what} {name!r}", remedy=f"{did_you_mean(name, names)}There are: {', '.join(names)}.")


def _graded(grades: Iterable[Score], run: str, measure: str) -> dict[str, float]:
    found = {one.question: one.number for one in grades if one.run == run and one.measure == measure}
    return {question: value for question, value in found.items() if value is not None}
