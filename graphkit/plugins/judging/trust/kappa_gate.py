"""The gate on kappa: the judges of the scores of an evaluation agree with a person, as far as a spot check shows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from graphkit.analysis.gate_outcomes import GateOutcome
from graphkit.plugins.judging.trust.spot_check_files import KeptCheck, kept_checks
from graphkit.records.bounds import equal, over
from graphkit.records.scores import Score
from graphkit.records.words import counted


def kappa_gate(
    run_files: Iterable[Path], runs: Iterable[str], scores: Iterable[Score], floor: float, measures: Collection[str]
) -> list[GateOutcome]:
    """Hold the judges of some scores of runs to a kappa, by the spot checks beside the runs; see :func:`min_kappa`."""
    return min_kappa(runs, scores, kept_checks(run_files), floor, measures)


def min_kappa(
    runs: Iterable[str],
    scores: Iterable[Score],
    checks: Iterable[KeptCheck],
    floor: float,
    measures: Collection[str] = (),
) -> list[GateOutcome]:
    """Check the lower bound of each judge's kappa with a person.

    A judge fails if nobody checked it, or only in another version: another model or prompt is another judge. A run
    fails if no judge scored it.

    Parameters
    ----------
    measures
        The measures that need a spot check, such as the judged measures of other gates. Each judge needs at least one
        checked measure, and all of its checked measures count.
    """
    runs = list(runs)
    given: dict[tuple[str, str], dict[str, set[str | None]]] = {}
    for score in scores:
        if score.run in runs and score.judged and score.number is not None:
            versions = given.setdefault((score.run, str(score.grader)), {}).setdefault(score.measure, set())
            versions.add(None if score.version is None else str(score.version))
    known: dict[tuple[str, str, str], dict[str | None, KeptCheck]] = {}
    for check in checks:
        run, judge, measure, version = check.about
        known.setdefault((run, judge, measure), {})[version] = check
    outcomes = []
    for run in runs:
        of_run = {measure for (name, _), graded in given.items() if name == run for measure in graded}
        for lacking in (None,) if not measures and not of_run else [one for one in measures if one not in of_run]:
            by = "" if lacking is None else f" by {lacking}"
            outcomes.append(GateOutcome("min-kappa", run, False, f"no judge gave it a score{by}", lacking, floor))
    for (run, judge), graded in given.items():
        held = [one for one in graded if (run, judge, one) in known or one in measures]
        if not held:
            what = f"nobody checked the judge {judge}: run `graphkit judge spot-check`"
            outcomes.append(GateOutcome("min-kappa", run, False, what, None, floor))
        for measure in held:
            why, low = _untrusted(known.get((run, judge, measure), {}), graded[measure], floor)
            what = f"{judge} by {measure}: {why or 'its kappa is high enough'}"
            outcomes.append(GateOutcome("min-kappa", run, why is None, what, measure, floor, low))
    return outcomes


def _untrusted(
    checks: Mapping[str | None, KeptCheck], versions: set[str | None], floor: float
) -> tuple[str | None, float | None]:
    """Return why a judge's scores by a measure fail, or None, and the lower bound of kappa; checks are by version."""
    if not checks:
        return "nobody checked it: run `graphkit judge spot-check`", None
    check = checks.get(next(iter(versions))) if len(versions) == 1 else None
    if check is None:
        checked, others = (", ".join(sorted(map(str, some))) for some in (checks, versions))
        return f"the spot check is of version {checked}, the scores are of {others}: repeat the check", None
    low = check.kappa_low
    if check.kappa is None or low is None:
        return f"the spot check has no interval of kappa ({check.reason})", None
    if over(low, floor) or equal(low, floor):  # NaN is neither, and passes no gate
        return None, low
    figure = f"{check.kappa:.3f}, its interval over {counted(check.n, 'answer')} begins at {low:.3f}"
    return f"kappa is {figure}, under {floor:.12g}", low
