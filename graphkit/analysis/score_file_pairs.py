"""Two runs compared by the scores that files give them, whoever gave them; no graph is asked."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from graphkit.analysis.paired import RESAMPLES, SEED
from graphkit.analysis.run_pairs import (
    By,
    GoldComparison,
    RunComparison,
    groups_of,
    judged_results,
    left_out,
    movers_of,
    refuse_itself,
    unscored,
)
from graphkit.analysis.summaries import score_scales
from graphkit.errors import InputError, MeasureError, did_you_mean
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.measures.registry import parse_measure
from graphkit.records.scores import Score
from graphkit.records.unanswered import FailedAs, is_failure
from graphkit.scoring.results import NO_LABEL


def compare_scores(
    files: Iterable[str | Path],
    first: str,
    second: str,
    *,
    measures: Sequence[str] = (),
    by: By | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    movers: int = 5,
    problems: Problems | None = None,
    failed_as: FailedAs = "worst",
) -> RunComparison:
    """Compare two runs by the scores in files, whoever gave them, on the questions scored in both.

    A run failed on a question where a reason says so, and has no record for it where the other run has a score and it
    has none, by any measure. ``failed_as`` says how such a question counts, as in
    :func:`graphkit.analysis.compare_runs.compare_runs`.

    Raises
    ------
    InputError
        A file or score can't be used, a run or measure has no scores, the versions that scored the runs differ, or the
        gold did and the problems are strict.
    """
    refuse_itself(first, second)
    if by in ("repo", "relation"):
        raise InputError(f"scores don't tell the {by} of a question", remedy="Compare by category or difficulty.")
    every = read_scores(files, problems if problems is not None else Problems())
    for run in (first, second):
        _require(run, {score.run for score in every}, "no run with scores is called")
    scores = [score for score in every if score.run in (first, second)]
    names = list(dict.fromkeys(score.measure for score in scores))
    for name in measures:
        _require(name, names, "no score is by a measure called")
        with contextlib.suppress(MeasureError):  # of the user's own it is imported, so that its direction is known
            parse_measure(name)
    chosen = list(dict.fromkeys(measures)) or names
    before, after = ({name: _values_of(scores, run, name) for name in chosen} for run in (first, second))
    for name in chosen:
        _refuse_versions(name, [score for score in scores if score.measure == name])
    gold = tuple({name: _gold_of(scores, run, name) for name in chosen} for run in (first, second))
    strict = problems is not None and problems.strict
    check = GoldComparison.hold((first, second), (before, after), (gold[0], gold[1]), strict)
    members: dict[str, set[str]] = {}
    for score in scores if by is not None else ():
        members.setdefault(getattr(score, str(by)) or NO_LABEL, set()).add(score.question)
    asked = {name: {score.question for score in scores if score.measure == name} for name in chosen}
    scales = score_scales(every)
    groups = groups_of(before, after, scales, dict(sorted(members.items())), resamples, seed)
    failed = _failed(scores, first), _failed(scores, second)
    if not groups[0].results:
        raise InputError("no question was scored in both runs")
    return RunComparison(
        first=first,
        second=second,
        dataset=None,
        groups=groups,
        movers=movers_of(first, second, before, after, movers),
        questions=len({score.question for score in scores}),
        left_out=left_out(before, after),
        unscored=unscored(before, after, check.left(asked)),
        warnings=tuple(check.warnings((first, second))),
        different_gold=check.different,
        with_failed=judged_results(before, after, failed, failed_as, scales, resamples, seed),
        failed=(len(failed[0]), len(failed[1])),
        failed_as=failed_as,
    )


def _failed(scores: Iterable[Score], run: str) -> set[str]:
    """Return the questions that a run failed on, or has no record for though another run has scores of them."""
    asked: set[str] = set()
    own: set[str] = set()
    failed: set[str] = set()
    for score in scores:
        asked.add(score.question)
        if score.run == run:
            own.add(score.question)
            if is_failure(score.reason):
                failed.add(score.question)
    return failed | (asked - own)


def _refuse_versions(name: str, scores: Iterable[Score]) -> None:
    """Refuse scores by a measure that a grader gave in several versions, or that the runs have of different ones."""
    of_graders: dict[str | None, set[str | int | None]] = {}
    of_runs: dict[str, set[str | int | None]] = {}
    for score in scores:
        of_graders.setdefault(score.grader, set()).add(score.version)
        of_runs.setdefault(score.run, set()).add(score.version)
    one, *others = of_runs.values()
    if any(len(versions) > 1 for versions in of_graders.values()) or any(versions != one for versions in others):
        told = ", ".join(sorted("none" if one is None else str(one) for one in set().union(*of_runs.values())))
        raise InputError(
            f"the scores by {name} are of different versions: {told}", remedy="Score both runs by the same version."
        )


def _require(name: str, known: Iterable[str], what: str) -> None:
    names = sorted(known)
    if name not in names:
        raise InputError(f"{what} {name!r}", remedy=f"{did_you_mean(name, names)}There are: {', '.join(names)}.")


def _gold_of(scores: Iterable[Score], run: str, measure: str) -> dict[str, str | None]:
    return {
        one.question: one.gold_hash
        for one in scores
        if one.run == run and one.measure == measure and one.value is not None
    }


def _values_of(scores: Iterable[Score], run: str, measure: str) -> dict[str, float]:
    found = {one.question: one.number for one in scores if one.run == run and one.measure == measure}
    return {question: value for question, value in found.items() if value is not None}
