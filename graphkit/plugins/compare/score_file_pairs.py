"""Compares two runs by scores in files, whoever gave them, without a graph."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Unpack

from graphkit.errors import InputError, MeasureError, did_you_mean
from graphkit.files.problems import Problems
from graphkit.measures.registry import parse_measure
from graphkit.plugins.compare.compared_runs import (
    ComparedRun,
    ComparisonSource,
    RunFacts,
    refuse_itself,
    refuse_repositories,
)
from graphkit.plugins.compare.run_comparisons import RunComparison
from graphkit.plugins.compare.run_pairs import PairingOptions, compare
from graphkit.plugins.compare.summaries import read_confirmed, score_scales
from graphkit.records.scores import Score
from graphkit.records.unanswered import MISSING, is_failure, is_stale, is_unlogged
from graphkit.records.words import NO_LABEL
from graphkit.scoring.options import check_choices
from graphkit.scoring.question_clusters import QuestionClusters
from graphkit.scoring.reason_counts import count_reasons, listed
from graphkit.scoring.results import LABELS, NOT_GIVEN


def compare_scores(
    files: Iterable[str | Path],
    first: str,
    second: str,
    *,
    measures: Sequence[str] = (),
    problems: Problems | None = None,
    **options: Unpack[PairingOptions],
) -> RunComparison:
    """Compare two runs by the scores in files, whoever gave them, on the questions scored in both.

    A run failed on a question if a reason says so, and has no record for it if the other run has a score and it has
    none, by any measure. ``options`` are those of :class:`~graphkit.plugins.compare.run_pairs.PairingOptions`.

    Raises
    ------
    InputError
        A file or score can't be used, a run or measure has no scores, different versions scored the runs, or the gold
        differs and the problems are strict.
    """
    strict = problems is not None and problems.strict
    return compare(_scores_source(files, first, second, measures, problems, options), strict=strict, **options)


def _scores_source(
    files: Iterable[str | Path],
    first: str,
    second: str,
    measures: Sequence[str],
    problems: Problems | None,
    options: PairingOptions,
) -> ComparisonSource:
    """Return the scores of two runs as a comparison sees them; see :func:`compare_scores`."""
    check_choices(options)
    refuse_itself(first, second)
    by, cluster = options.get("by"), options.get("cluster")
    if by is not None and by not in LABELS:
        raise InputError(f"scores don't say the {by} of a question", remedy=f"Compare by {', '.join(LABELS)}.")
    refuse_repositories("scores", cluster)
    every = read_confirmed(files, problems if problems is not None else Problems())
    for run in (first, second):
        _require(run, {score.run for score in every}, "no run with scores is called")
    scores = [score for score in every if score.run in (first, second)]
    by_name = _by_measure(scores, measures)
    members: dict[str, set[str]] = {}
    for score in scores if by is not None else ():
        members.setdefault(getattr(score, str(by)) or NO_LABEL, set()).add(score.question)
    clusters = None
    if cluster is not None:
        # Of several scores of a question, one may leave its label out.
        labels: dict[str, str | None] = {}
        for score in scores:
            labels[score.question] = labels.get(score.question) or getattr(score, cluster)
        clusters = QuestionClusters.by_label(cluster, labels)
    return ComparisonSource(
        _compared_run(first, by_name, _failed(scores, first)),
        _compared_run(second, by_name, _failed(scores, second)),
        len({score.question for score in scores}),
        {name: {score.question for score in some} for name, some in by_name.items()},
        members=dict(sorted(members.items())),
        clusters=clusters,
        scales=score_scales(every),
        stale={score.question for score in scores if is_stale(score.reason)},
    )


def _by_measure(scores: Sequence[Score], measures: Sequence[str]) -> dict[str, list[Score]]:
    """Return the scores by each of some measures, or of all; refuse unknown ones, and scores by several versions."""
    names = list(dict.fromkeys(score.measure for score in scores))
    for name in measures:
        _require(name, names, "no score is by a measure called")
        with contextlib.suppress(MeasureError):  # a user's measure is imported, so that its direction is known
            parse_measure(name)
    chosen = list(dict.fromkeys(measures)) or names
    by_name = {name: [score for score in scores if score.measure == name] for name in chosen}
    for name, some in by_name.items():
        _refuse_versions(name, some)
    return by_name


def _compared_run(run: str, by_name: Mapping[str, Sequence[Score]], failed: set[str]) -> ComparedRun:
    own = {name: [one for one in some if one.run == run] for name, some in by_name.items()}
    return ComparedRun(
        run,
        {name: _values_of(some) for name, some in own.items()},
        _facts(own, failed),
        gold={
            name: {one.question: one.gold_hash for one in some if one.value is not None} for name, some in own.items()
        },
        unlogged={name: {one.question for one in some if is_unlogged(one.reason)} for name, some in own.items()},
        strict={
            name: {one.question: one.strict_value for one in some if one.strict_value is not None}
            for name, some in own.items()
        },
        untyped={name for name, some in own.items() if any(one.untyped for one in some)},
    )


def _failed(scores: Iterable[Score], run: str) -> set[str]:
    """Return the questions that a run failed on, or has no record for although another run has a score."""
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


def _facts(by_name: Mapping[str, Sequence[Score]], failed: Iterable[str]) -> RunFacts:
    reasons: dict[str, str | None] = dict.fromkeys(failed, MISSING)
    unscored = {}
    for name, own in by_name.items():
        reasons |= {one.question: one.reason for one in own if is_failure(one.reason)}
        unscored[name], _ = count_reasons(one.reason or NOT_GIVEN for one in own if one.number is None)
    return RunFacts(reasons, listed(unscored), unknown="scores state what a judge took, not what the run took")


def _refuse_versions(name: str, scores: Iterable[Score]) -> None:
    """Refuse scores by a measure that several versions of a grader gave, in one run or in both."""
    of_graders: dict[str | None, set[str | int | None]] = {}
    of_runs: dict[str, set[str | int | None]] = {}
    for score in scores:
        of_graders.setdefault(score.grader, set()).add(score.version)
        of_runs.setdefault(score.run, set()).add(score.version)
    one, *others = of_runs.values()
    if any(len(versions) > 1 for versions in of_graders.values()) or any(versions != one for versions in others):
        listed = ", ".join(sorted("none" if one is None else str(one) for one in set().union(*of_runs.values())))
        raise InputError(
            f"the scores by {name} are of different versions: {listed}", remedy="Score both runs by the same version."
        )


def _require(name: str, known: Iterable[str], what: str) -> None:
    names = sorted(known)
    if name not in names:
        raise InputError(f"{what} {name!r}", remedy=f"{did_you_mean(name, names)}There are: {', '.join(names)}.")


def _values_of(scores: Iterable[Score]) -> dict[str, float]:
    """Return the value of the last score of each question that has one there."""
    found = {one.question: one.number for one in scores}
    return {question: value for question, value in found.items() if value is not None}
