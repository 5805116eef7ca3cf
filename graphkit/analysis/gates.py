"""Gates: what must hold of results for a build to pass. Each takes results, and returns what it came to for each run.

A value that equals its bound passes, to within :data:`graphkit.records.bounds.TOLERANCE`. A question that the run
failed on, or has no record for, counts as the worst value of its measure, so that no gate is passed by failing;
questions without gold, or with stale gold, don't count. Whoever asks decides what follows; :func:`hold` raises, as the
command line does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphkit.analysis.layers import NOT_JUDGED, Scorecard
from graphkit.analysis.paired import PairedResult, questions_needed
from graphkit.analysis.run_pairs import LEVEL, RunComparison
from graphkit.errors import GateError
from graphkit.measures.registry import worst_of
from graphkit.records.bounds import equal, over, under
from graphkit.records.scores import Score
from graphkit.records.words import counted
from graphkit.scoring.results import Evaluation, Summary

if TYPE_CHECKING:
    from graphkit.analysis.spot_check_files import KeptCheck

#: How many questions a sentence names.
NAMED = 5


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """The outcome of a gate for one run; ``str`` is a sentence.

    Attributes
    ----------
    gate
        Its name, such as ``fail-under``.
    passed
        Whether the run passed it.
    what
        Why it was passed or not, in words.
    measure
        None where it isn't about one measure.
    bound, value
        What was asked for, and what was found: None where that is no number.
    """

    gate: str
    run: str
    passed: bool
    what: str
    measure: str | None = None
    bound: float | None = None
    value: float | None = None

    @property
    def name(self) -> str:
        """The gate with its measure and bound, as a build shows it.

        >>> GateOutcome("fail-under", "mine", True, "", "EdgeRecall", 0.8).name
        'fail-under EdgeRecall=0.8'
        """
        bound = "" if self.bound is None else f"{self.bound:.12g}"
        return " ".join(filter(None, (self.gate, "=".join(filter(None, (self.measure, bound))))))

    def as_json(self) -> dict[str, Any]:
        """Return the gate with its bound, its value and its outcome."""
        return {
            "gate": self.gate,
            "run": self.run,
            "measure": self.measure,
            "bound": self.bound,
            "value": self.value,
            "passed": self.passed,
            "what": self.what,
        }

    def __str__(self) -> str:
        return f"{self.run}: {self.what}"


def fail_under(results: Iterable[Evaluation], bounds: Iterable[tuple[str, float]]) -> list[GateOutcome]:
    """Hold means to lower bounds; a measure that was scored on no question passes no gate."""
    return _held("fail-under", results, bounds, under)


def fail_over(results: Iterable[Evaluation], bounds: Iterable[tuple[str, float]]) -> list[GateOutcome]:
    """Hold means to upper bounds; a measure that was scored on no question passes no gate."""
    return _held("fail-over", results, bounds, over)


def _held(
    gate: str,
    results: Iterable[Evaluation],
    bounds: Iterable[tuple[str, float]],
    beyond: Callable[[float, float], bool],
) -> list[GateOutcome]:
    bounds = list(bounds)
    return [_one_held(gate, result, measure, bound, beyond) for result in results for measure, bound in bounds]


def _one_held(
    gate: str, result: Evaluation, measure: str, bound: float, beyond: Callable[[float, float], bool]
) -> GateOutcome:
    summary = _summary(result, measure)
    if summary.mean is None:
        what = f"{measure} was scored on no question"
        what += f" ({summary.failures})" if summary.unanswered else ""
        return GateOutcome(gate, result.run, False, what, measure, bound)
    held = summary.held(result.failed_as)
    assert held is not None  # there is a mean
    # Failing must not help where the bound lies on the other side of the worst value, either.
    value = summary.mean if beyond(summary.mean, bound) and not beyond(held, bound) else held
    text = summary.in_words(result.failed_as)
    if not beyond(value, bound):
        return GateOutcome(gate, result.run, True, f"{measure} is {text}", measure, bound, value)
    if not beyond(float(f"{value:.4f}"), bound):
        text = f"{value:.12g}"  # "0.8000, under 0.8" says nothing
    return GateOutcome(
        gate, result.run, False, f"{measure} is {text}, {beyond.__name__} {bound:.12g}", measure, bound, value
    )


def max_failed(
    results: Iterable[Evaluation], allowed: int | None = None, measures: Iterable[str] = ()
) -> list[GateOutcome]:
    """Hold the number of questions that a run failed on, or has no record for; stale ones don't count.

    Parameters
    ----------
    allowed
        How many may fail. None allows any number where failures count as the worst value of the measures that are
        gated, and none for a measure that has no worst value.
    measures
        The measures that other gates hold.
    """
    outcomes = []
    for result in results:
        count = result.unanswered
        if allowed is not None:
            what = f"{counted(count, 'question')} failed or missing, {allowed} allowed"
            outcomes.append(GateOutcome("max-failed", result.run, count <= allowed, what, None, allowed, count))
            continue
        for measure in dict.fromkeys(measures):
            summary = _summary(result, measure)
            if result.failed_as == "worst" and summary.unanswered and summary.worst is None:
                what = f"{measure} has no worst value that {summary.failures} could count as: --max-failed allows them"
                outcomes.append(GateOutcome("max-failed", result.run, False, what, measure, 0, summary.unanswered))
    return outcomes


def min_scored(results: Iterable[Evaluation], share: float, measures: Sequence[str] | None = None) -> list[GateOutcome]:
    """Hold the share of all questions of the dataset that each measure was scored on.

    A question counts as not scored whatever the reason: it failed, has no record or stale gold, or holds nothing that
    the measure could be taken of.

    Parameters
    ----------
    measures
        The measures that are held, by their text; by default each of the result.
    """
    outcomes = []
    for result in results:
        for measure in result.measures if measures is None else measures:
            summary = _summary(result, measure)
            part = summary.scored / summary.total if summary.total else 0.0
            passed = not under(summary.scored, share * summary.total)
            what = f"{measure} was scored on {summary.scored} of {counted(summary.total, 'question')}"
            what += f" ({100 * part:.4g}%)" + ("" if passed else f", fewer than {100 * share:.12g}%")
            outcomes.append(GateOutcome("min-scored", result.run, passed, what, measure, share, part))
    return outcomes


def severe(cards: Iterable[Scorecard]) -> list[GateOutcome]:
    """Return the severe alerts of runs; a run of which nothing could be judged passes no gate."""
    outcomes = []
    for card in cards:
        broken = [
            GateOutcome(
                "fail-on-severe",
                card.run,
                False,
                f"{alert.measure} is {alert.in_words}, severe",
                alert.measure,
                alert.bound,
                alert.held,
            )
            for alert in card.alerts
        ]
        if not card.judged:
            broken.insert(0, GateOutcome("fail-on-severe", card.run, False, NOT_JUDGED))
        outcomes += broken or [GateOutcome("fail-on-severe", card.run, True, "nothing is severe")]
    return outcomes


def min_kappa(
    runs: Iterable[str],
    scores: Iterable[Score],
    checks: Iterable[KeptCheck],
    floor: float,
    measures: Collection[str] = (),
) -> list[GateOutcome]:
    """Hold each judge's kappa with a person to a floor, by the lower end of its interval.

    A judge that nobody checked passes no gate, nor one that was checked in another version only, since another model or
    another prompt is another judge; nor a run that no judge gave a score. A judge is who has a name, and neither
    computes the score (graphkit) nor runs tests.

    Parameters
    ----------
    measures
        Those that must be checked, such as the judged measures that another gate names. Of each judge, those that a
        spot check of it was made of are held in any case, and it must have one at least.
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
    """Return why a judge's grades by a measure don't pass, or None, and the lower end of its kappa.

    ``checks`` are those of the measure by version.
    """
    if not checks:
        return "nobody checked it: run `graphkit judge spot-check`", None
    check = checks.get(next(iter(versions))) if len(versions) == 1 else None
    if check is None:
        checked, others = (", ".join(sorted(map(str, some))) for some in (checks, versions))
        return f"the spot check is of version {checked}, the scores are of {others}: check it anew", None
    low = check.kappa_low
    if check.kappa is None or low is None:
        return f"the spot check has no interval of kappa ({check.reason})", None
    if over(low, floor) or equal(low, floor):  # NaN is neither, and passes no gate
        return None, low
    figure = f"{check.kappa:.3f}, its interval over {counted(check.n, 'answer')} begins at {low:.3f}"
    return f"kappa is {figure}, under {floor:.12g}", low


def stale(results: Iterable[Evaluation]) -> list[GateOutcome]:
    """Hold that the knowledge graph has the gold of every question."""
    return [
        GateOutcome(
            "fail-on-stale",
            result.run,
            not result.invalid,
            f"the gold of {_stale_questions(result.invalid)}" if result.invalid else "no gold is stale",
            None,
            0,
            len(result.invalid),
        )
        for result in results
    ]


def regressions(compared: RunComparison) -> list[GateOutcome]:
    """Hold that the second run is on no measure significantly worse than the first, over all questions.

    The bound is the level, and the value the corrected p-value. Where the questions are too few for any difference to
    be significant, the gate isn't passed: it could not have fired.
    """
    gate, results = "fail-on-regression", compared.with_failed
    if len(blind(compared)) == len(results):
        return [GateOutcome(gate, compared.second, False, _too_few(results), None, LEVEL)]
    worse = {one.measure for one in compared.regressions()}
    return [
        GateOutcome(
            gate, compared.second, one.measure not in worse, _changed(compared, one), one.measure, LEVEL, one.p_holm
        )
        for one in results
    ]


def blind(compared: RunComparison) -> list[PairedResult]:
    """Return the measures by which so few questions are compared that no difference could have been significant."""
    results = compared.with_failed
    return [one for one in results if one.smallest_p * len(results) >= LEVEL]


def _too_few(results: Sequence[PairedResult]) -> str:
    most = max((one.questions for one in results), default=0)
    measures = counted(len(results), "measure")
    needed = questions_needed(len(results), LEVEL)
    instead = "hold a plain bound instead, such as --fail-on-drop 0.1"
    if most >= needed:
        return f"no regression can be significant for {measures} with so few resamples: raise --resamples, or {instead}"
    need = "needs" if len(results) == 1 else "need"
    fewer = f" ({questions_needed(1, LEVEL)} for one)" if len(results) > 1 else ""
    return (
        f"no regression can be significant on {counted(most, 'question')}: {measures} {need} {needed}{fewer}; "
        f"compare more questions, or {instead}"
    )


def _changed(compared: RunComparison, result: PairedResult) -> str:
    """Return how a measure changed, with what failures do to it."""
    text = f"{result.measure} {result.delta:+.4f} (corrected p {result.p_holm:.4f})"
    if compared.gain(result) < 0 and result.p_holm < LEVEL:
        text += f", significantly worse than {compared.first}"
    if not (failures := compared.failures(result)):
        return text
    paired = next((one for one in compared.overall if one.measure == result.measure), None)
    both = "" if paired is None else f"; {paired.delta:+.4f} over the {paired.questions} answered by both"
    return f"{text}, with {failures} failed as {worst_of(result.measure):g}{both}"


def drops(compared: RunComparison, bound: float) -> list[GateOutcome]:
    """Hold that the second run is on no measure worse than the first by more than a bound, in units of the measure."""
    outcomes = []
    for result in compared.with_failed:
        drop = -compared.gain(result)
        passed = not over(drop, bound)
        what = _changed(compared, result) + ("" if passed else f", worse than {compared.first} by more than {bound:g}")
        outcomes.append(GateOutcome("fail-on-drop", compared.second, passed, what, result.measure, bound, drop))
    return outcomes


def more_failed(compared: RunComparison, allowed: int | None = None) -> list[GateOutcome]:
    """Hold how many questions the second run failed on or has no record for: by default no more than the first."""
    before, after = compared.failed
    most = before if allowed is None else allowed
    what = f"{counted(after, 'question')} failed or missing, " + (
        f"{before} of {compared.first}" if allowed is None else f"{allowed} allowed"
    )
    return [GateOutcome("max-failed", compared.second, after <= most, what, None, most, after)]


@dataclass(frozen=True, slots=True)
class RunGates:
    """What runs are held to.

    Attributes
    ----------
    under, over
        Measures by their text, with the bounds of :func:`fail_under` and :func:`fail_over`.
    severe, stale
        Whether severe alerts and stale gold fail a run.
    min_scored, measures
        The share of :func:`min_scored`, and the measures that it holds: None holds each of the result.
    max_failed
        How many questions may fail, see :func:`max_failed`.
    """

    under: Sequence[tuple[str, float]] = ()
    over: Sequence[tuple[str, float]] = ()
    severe: bool = False
    stale: bool = False
    min_scored: float | None = None
    measures: Sequence[str] | None = None
    max_failed: int | None = None

    def outcomes(self, results: Sequence[Evaluation], cards: Sequence[Scorecard] = ()) -> list[GateOutcome]:
        """Return what each gate comes to for each result; ``cards`` are their scorecards, as far as there are any."""
        held = [name for name, _ in (*self.under, *self.over)]
        weighed = [one.measure for card in cards for layer in card.layers for one in layer.components]
        return [
            *(severe(cards) if self.severe else ()),
            *(stale(results) if self.stale else ()),
            *fail_under(results, self.under),
            *fail_over(results, self.over),
            *max_failed(results, self.max_failed, [*held, *(weighed if self.severe else ())]),
            *(min_scored(results, self.min_scored, self.measures) if self.min_scored else ()),
        ]


@dataclass(frozen=True, slots=True)
class ComparisonGates:
    """What the second of two compared runs is held to.

    Attributes
    ----------
    regression
        Whether a significant regression fails it, see :func:`regressions`.
    drop
        By how much it may be worse, without a test, see :func:`drops`.
    max_failed
        How many questions it may fail on; where another gate is held, by default as many as the first run.
    """

    regression: bool = False
    drop: float | None = None
    max_failed: int | None = None

    def outcomes(self, compared: RunComparison) -> list[GateOutcome]:
        """Return what each gate comes to."""
        failures = compared.failed_as == "worst" and (self.regression or self.drop is not None)
        return [
            *(regressions(compared) if self.regression else ()),
            *(drops(compared, self.drop) if self.drop is not None else ()),
            *(more_failed(compared, self.max_failed) if failures or self.max_failed is not None else ()),
        ]

    def notes(self, compared: RunComparison) -> list[str]:
        """Return what can't be shown by some measures, where others can show a regression."""
        unable = blind(compared) if self.regression else []
        if len(unable) == len(compared.with_failed):
            return []
        needed = questions_needed(len(compared.with_failed), LEVEL)
        return [
            f"{one.measure}: {counted(one.questions, 'question')} can't show a significant regression, {needed} can"
            for one in unable
        ]


def hold(outcomes: Iterable[GateOutcome]) -> None:
    """Raise where a gate isn't passed.

    Raises
    ------
    GateError
        With a sentence for each.
    """
    sentences = [str(gate) for gate in outcomes if not gate.passed]
    if sentences:
        raise GateError("gate failed: " + "; ".join(sentences))


def _summary(result: Evaluation, measure: str) -> Summary:
    """Return the summary of a measure; one that the result doesn't have was scored on no question."""
    return result.measures.get(measure) or Summary(None, 0, result.questions)


def _stale_questions(invalid: Mapping[str, str]) -> str:
    names = sorted(invalid)
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    verb = "is" if len(names) == 1 else "are"
    return f"{counted(len(names), 'question')} {verb} stale: {', '.join(names[:NAMED])}{more}"
