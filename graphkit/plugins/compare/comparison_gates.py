"""Gates of comparisons: conditions on how the second of two runs differs from the first, for a build to pass."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from graphkit.analysis.findings import listed
from graphkit.analysis.gate_outcomes import MIN_SCORED, NAMED, REGRESSION, GateOutcome
from graphkit.analysis.gates import LEAST_SCORED, ask_again, beside_recall, stale_outcome
from graphkit.analysis.pair_verdict import WORSE, judged
from graphkit.analysis.paired import PairedResult, smallest_p
from graphkit.analysis.power import LEVEL
from graphkit.analysis.scales import largest_difference
from graphkit.measures.registry import lower_is_better, worst_of
from graphkit.plugins.compare.run_comparisons import UNLOGGED, RunComparison
from graphkit.plugins.compare.run_pairs import measure_among
from graphkit.plugins.compare.sample_plans import questions_needed, smallest
from graphkit.records.bounds import over, under
from graphkit.records.unanswered import is_failure
from graphkit.records.words import counted
from graphkit.scoring.intervals import FEWEST_EQUAL, around_equal

#: A bound of a measure; of any other measure if that is None.
Bound = tuple[str | None, float]


def regressions(compared: RunComparison) -> list[GateOutcome]:
    """Check that no measure of the second run is significantly worse than of the first, over all questions.

    The bound is the level, and the value the corrected p-value. With a ``primary`` measure it alone decides. If the
    questions are too few for any significant difference, the gate fails: it could never have found one.
    """
    results = deciding(compared)
    if not results:
        what = f"{compared.primary}, which alone decides, has no value in both runs"
        return [GateOutcome(REGRESSION, compared.second, False, what, compared.primary, LEVEL)]
    if len(blind(compared)) == len(results):
        return [GateOutcome(REGRESSION, compared.second, False, _too_few(results), None, LEVEL)]
    worse = {one.measure for one in compared.regressions()}
    return [
        GateOutcome(
            REGRESSION,
            compared.second,
            one.measure not in worse,
            _changed(compared, one),
            one.measure,
            LEVEL,
            one.p_corrected,
        )
        for one in results
    ]


def deciding(compared: RunComparison) -> list[PairedResult]:
    """Return the measures that the gate on regressions checks: all that were compared, or the primary one."""
    primary = compared.primary
    return [one for one in compared.with_failed if primary is None or one.measure == primary]


def blind(compared: RunComparison) -> list[PairedResult]:
    """Return the measures with so few questions that no difference could be significant."""
    return [one for one in deciding(compared) if one.smallest_p >= LEVEL]


def _too_few(results: Sequence[PairedResult]) -> str:
    most = max((one.units for one in results), default=0)
    unit = _unit(results[0]) if results else "question"
    needed, instead = questions_needed(LEVEL), "use a plain bound instead, such as --fail-on-drop 0.1"
    if most >= needed:
        return f"no regression can be significant with so few resamples: raise --resamples, or {instead}"
    what = f"no regression can be significant on {counted(most, unit)}: it needs {needed}"
    return f"{what}; compare more {unit}s, or {instead}"


def _unit(result: PairedResult) -> str:
    return "question" if result.clusters is None else "cluster"


def _changed(compared: RunComparison, result: PairedResult) -> str:
    """Return how a measure changed, with the effect of failures."""
    text = f"{result.measure} {result.delta:+.4f} (corrected p {result.p_corrected:.4f})"
    if judged(result) == WORSE:
        text += f", significantly worse than {compared.first}"
    if not (failures := compared.failures(result)):
        return text
    paired = next((one for one in compared.overall if one.measure == result.measure), None)
    both = "" if paired is None else f"; {paired.delta:+.4f} over the {paired.questions} answered by both"
    unlogged = min(compared.not_logged.get(result.measure, 0), failures)
    parts = [f"{count} {what}" for count, what in ((failures - unlogged, "failed"), (unlogged, "not logged")) if count]
    return f"{text}, with {' and '.join(parts)} as {worst_of(result.measure):g}{both}"


def drops(compared: RunComparison, bounds: Iterable[Bound]) -> list[GateOutcome]:
    """Check that no measure of the second run is worse by more than its bound, in units of the measure.

    A bound of no measure is for each that has none of its own.

    Raises
    ------
    InputError
        A bound names a measure that isn't compared.
    """
    outcomes = []
    for result, bound in _bounded(compared, bounds, "--fail-on-drop"):
        drop = 0.0 - compared.gain(result)  # never -0
        passed = not over(drop, bound)
        what = _changed(compared, result) + ("" if passed else f", worse than {compared.first} by more than {bound:g}")
        outcomes.append(GateOutcome("fail-on-drop", compared.second, passed, what, result.measure, bound, drop))
    return outcomes


def ruled_out(compared: RunComparison, bounds: Iterable[Bound]) -> list[GateOutcome]:
    """Check that a drop of its bound is excluded by each measure's 95% interval (non-inferiority).

    The value is the largest drop that the interval doesn't exclude. A measure without an interval fails.

    Raises
    ------
    InputError
        A bound names a measure that isn't compared.
    """
    outcomes = []
    for result, bound in _bounded(compared, bounds, "--rule-out-drop"):
        end = result.high if lower_is_better(result.measure) else result.low
        drop = None if end is None else 0.0 + end * (1 if lower_is_better(result.measure) else -1)
        passed = drop is not None and not over(drop, bound)
        what = _changed(compared, result)
        what += "; no interval: too few questions" if drop is None else f"; a drop of {drop:.4g} isn't excluded"
        if not passed and (fewest := fewest_to_rule_out(result.measure, bound)) is not None:
            what += f", and {bound:g} must be: from {counted(fewest, _unit(result))} on it can be, if none differs"
        outcomes.append(GateOutcome("rule-out-drop", compared.second, passed, what, result.measure, bound, drop))
    return outcomes


def fewest_to_rule_out(measure: str, drop: float) -> int | None:
    """Return the smallest set of questions that can exclude a drop: without any difference its interval does.

    None if the measure is unbounded, or the drop 0.

    >>> fewest_to_rule_out("EdgeRecall", 0.05), fewest_to_rule_out("StepsToGold", 0.05)
    (72, None)
    """
    span = largest_difference(measure, None)
    if span is None or drop <= 0:
        return None

    def enough(questions: int) -> bool:
        return not under(around_equal(0.0, questions, span)[0], -drop)

    return smallest(enough, FEWEST_EQUAL)


def _bounded(compared: RunComparison, bounds: Iterable[Bound], option: str) -> Iterator[tuple[PairedResult, float]]:
    """Yield each compared measure with each bound for it: those of its own, else those of any measure.

    A bound may also name a lost measure, which fails by itself.
    """
    names = [*(one.measure for one in compared.with_failed), *(one.measure for one in compared.lost)]
    named = [(None if one is None else measure_among(one, names, option), bound) for one, bound in bounds]
    others = {one.measure for one in deciding(compared)}
    for one in compared.with_failed:
        own = [bound for name, bound in named if name == one.measure]
        of_any = [bound for name, bound in named if name is None and one.measure in others]
        for bound in dict.fromkeys(own or of_any):
            yield one, bound


def same_gold(compared: RunComparison, meant: bool = False) -> list[GateOutcome]:
    """Check that no gold of the baseline was removed which the second run misses; no outcome if the gold is the same.

    Where only scores are at hand, and not by which gold, any difference fails: questions with other gold aren't
    compared, and a loss can hide there.
    """
    change, gate = compared.gold_change, "gold"
    if compared.different_gold:
        names = listed(compared.different_gold, NAMED)
        what = f"gold of {counted(len(compared.different_gold), 'question')} differs, not compared: {names}"
        what += ", which is meant" if meant else "; compare the run files, with --baseline-dataset for that of "
        what += "" if meant else f"{compared.first}, or accept it by --gold-changed"
        return [GateOutcome(gate, compared.second, meant, what)]
    if not change:
        return []
    what, missed = change.sentence, change.missed
    if missed and not meant:
        what += f"; gold that {compared.second} misses was removed: {listed(missed, NAMED)}"
        what += "; accept it by --gold-changed if the new gold is meant"
        if any(one.removed and one.added for one in change.changed):
            what += ", or record new names by `graphkit gold migrate`"
    return [GateOutcome(gate, compared.second, meant or not missed, what, None, None, len(missed))]


def partial_baseline(compared: RunComparison, allowed: bool = False) -> list[GateOutcome]:
    """Check that the baseline has values for four fifths of what it was asked; there is no outcome if it has all.

    A question that it failed on, has no record for or didn't log the input of is incomplete, and isn't compared: with
    fewer questions a loss can hide. The value is the share that it answered, or the smallest share of a measure.
    """
    asked, failed = compared.asked, compared.failed[0]
    outcomes = []
    if failed:
        # What it answered by names that are gone can't be scored either.
        gone = any(not is_failure(one.reason) for one in compared.incomplete if not one.reason.startswith(UNLOGGED))
        what = f"the baseline {'can be scored on' if gone else 'answered'} {asked - failed} of {asked}"
        outcomes.append(_part(compared, what, asked - failed, asked, None, allowed))
    for one in compared.with_failed:
        lacking = len(compared.lacking.get(one.measure, ()))
        could = one.questions + lacking
        if under(one.questions, LEAST_SCORED * could):
            what = f"the baseline logs what {one.measure} needs for {one.questions} of {could}"
            outcomes.append(_part(compared, what, one.questions, could, one.measure, allowed))
    return outcomes


def _part(compared: RunComparison, what: str, have: int, could: int, measure: str | None, allowed: bool) -> GateOutcome:
    share = have / could if could else 0.0
    enough = not under(have, LEAST_SCORED * could)
    names = listed([one.question for one in compared.incomplete], NAMED)
    what += f"; not compared: {names}"
    if not enough:
        what += ", which is allowed" if allowed else "; record it again, or accept it by --partial-baseline"
    return GateOutcome("baseline", compared.second, enough or allowed, what, measure, LEAST_SCORED, share)


def unstated(compared: RunComparison, allowed: Collection[str] = ()) -> list[GateOutcome]:
    """Check that the second run states cost, tokens and latency where the first one does, if they are compared.

    Each that it states for some questions only has an outcome. It needs four fifths of the questions that both answered
    and the first run states it for, unless it is among the ``allowed``: nothing can stand for the others.
    """
    outcomes = []
    for one in compared.cost.figures if compared.cost is not None else ():
        if (what := one.silence(compared.first, compared.second)) is None:
            continue
        share = 1 - len(one.silent) / one.could
        passed = not under(share, LEAST_SCORED)
        what += "" if passed else f", so for fewer than {100 * LEAST_SCORED:g}%"
        if not passed and one.name in allowed:
            passed, what = True, f"{what}, which is allowed"
        elif not passed:
            what += f"; accept it by --allow-lost {one.name}"
        outcomes.append(GateOutcome(MIN_SCORED, compared.second, passed, what, one.name, LEAST_SCORED, share))
    return outcomes


def uncovered(compared: RunComparison) -> list[GateOutcome]:
    """Return a failure for each measure by which the second run has too few values where the first one has some.

    It needs a value, worst ones included, on four fifths of the questions that the first run was scored on: an answer
    without claims, or chunks without a text, would be another way to keep silent. A precision beside its recall or F1
    is exempt, since these fall. What is left out on request (``failed_as``) needs no value.
    """
    if compared.failed_as != "worst":
        return []
    names = [one.measure for one in compared.with_failed]
    outcomes = []
    for one in compared.with_failed:
        scored = compared.scored.get(one.measure, 0)
        if under(one.questions, LEAST_SCORED * scored) and not beside_recall(one.measure, names):
            what = (
                f"{one.measure} has a value on {one.questions} of {counted(scored, 'question')} that {compared.first} "
            )
            what += f"was scored on, fewer than {100 * LEAST_SCORED:g}%"
            share = one.questions / scored
            outcomes.append(GateOutcome(MIN_SCORED, compared.second, False, what, one.measure, LEAST_SCORED, share))
    return outcomes


def lost(gate: str, compared: RunComparison, allowed: Collection[str] = ()) -> list[GateOutcome]:
    """Check that the second run was scored by each measure by which the first was, except for the allowed ones.

    Raises
    ------
    InputError
        An allowed measure isn't among those that were compared or lost.
    """
    names = {one.measure for one in compared.lost}
    names.update(one.name for one in (() if compared.cost is None else compared.cost.figures))
    known = names.union(compared.left_out, compared.unscored, (one.measure for one in compared.with_failed))
    accepted = {measure_among(one, known, "--allow-lost") for one in allowed}
    return [
        GateOutcome(
            gate,
            compared.second,
            one.measure in accepted,
            one.in_words(compared.first, compared.second)
            + (", which is allowed" if one.measure in accepted else f"; accept it by --allow-lost '{one.measure}'"),
            one.measure,
        )
        for one in compared.lost
    ]


def nothing_compared(gate: str, compared: RunComparison, allowed: bool) -> GateOutcome:
    """Return the outcome of a gate on differences where there are none, since the second run lost all measures."""
    what = f"nothing was compared: no measure has a value in both {compared.first} and {compared.second}"
    return GateOutcome(gate, compared.second, allowed, what)


def more_failed(compared: RunComparison, allowed: int | None = None) -> list[GateOutcome]:
    """Check how many questions the second run failed on or has no record for, in the repetition that failed on most.

    Without a limit it fails if they are significantly more than those of the first run (the exact sign test over the
    questions that one run alone failed on): each counts as the worst value, but a run that is bad where it fails loses
    nothing by it. Where a compared measure has no worst value, no more may fail than of the first run.
    """
    before, after = compared.most_failed
    lacking = [one.measure for one in compared.with_failed if worst_of(one.measure) is None]
    if allowed is None and compared.failed_as == "unscored":
        return []
    what = f"{counted(after, 'question')} failed or missing, "
    what += f"{before} of {compared.first}" if allowed is None else f"{allowed} allowed"
    passed = after <= (before if allowed is None else allowed)
    if allowed is None and not passed:
        if lacking:
            what += f"; {listed(lacking)} has no worst value that they could count as"
        else:
            p_value = sign_test(*compared.failed_alone)
            passed = p_value >= LEVEL
            what += f" (sign test: p {p_value:.4f}); each counts as the worst value"
    if not passed:
        what += f"; {ask_again(after)}"
    return [GateOutcome("max-failed", compared.second, passed, what, None, allowed, after)]


def _with_figures(outcome: GateOutcome, compared: RunComparison) -> GateOutcome:
    """Return an outcome with the interval of its difference, or of its drop, and the number of pairs."""
    result = next((one for one in compared.with_failed if one.measure == outcome.measure), None)
    if result is None:
        return outcome
    bounds = None if result.low is None or result.high is None else (result.low, result.high)
    if bounds is not None and outcome.gate != REGRESSION and not lower_is_better(result.measure):
        bounds = -bounds[1], -bounds[0]
    return dataclasses.replace(
        outcome, interval=bounds, n=result.questions, left_out=compared.questions - result.questions
    )


@dataclass(frozen=True, slots=True)
class ComparisonGates:
    """The gates of the second of two compared runs.

    Attributes
    ----------
    regression
        Whether to check :func:`regressions`.
    drop, rule_out
        The bounds of :func:`drops` and of :func:`ruled_out`, by measure; None is any other.
    max_failed
        How many questions it may fail on; see :func:`more_failed`.
    allow_lost
        The measures by which it needn't be scored although the first run is; see :func:`lost`.
    allow_stale
        Of how many questions the gold may be stale.
    gold_changed
        Whether gold may differ from the baseline's: the change is meant.
    partial_baseline
        Whether the first run may have values for fewer than four fifths of what it was asked.
    """

    regression: bool = False
    drop: Sequence[Bound] = ()
    rule_out: Sequence[Bound] = ()
    max_failed: int | None = None
    allow_lost: Sequence[str] = ()
    allow_stale: int = 0
    gold_changed: bool = False
    partial_baseline: bool = False

    @property
    def quality(self) -> bool:
        """Whether a gate is about the values of measures."""
        return self.regression or bool(self.drop) or bool(self.rule_out)

    @property
    def asked(self) -> bool:
        """Whether there is any gate."""
        return self.quality or self.max_failed is not None

    @property
    def first(self) -> str:
        """The name of the first gate on quality, under which a lost measure fails."""
        return REGRESSION if self.regression else "fail-on-drop" if self.drop else "rule-out-drop"

    def outcomes(self, compared: RunComparison) -> list[GateOutcome]:
        """Return the outcomes of all gates."""
        found: list[GateOutcome] = []
        empty = self.quality and not compared.with_failed
        if self.quality:
            found += same_gold(compared, self.gold_changed)
            found += partial_baseline(compared, self.partial_baseline)
            found += lost(self.first, compared, self.allow_lost)
            if empty:
                found.append(
                    nothing_compared(self.first, compared, bool(compared.lost) and all(one.passed for one in found))
                )
            found += uncovered(compared)
            found += unstated(compared, self.allow_lost)
        if self.asked and compared.stale:
            found.append(stale_outcome(compared.second, compared.stale, compared.questions, self.allow_stale))
        if not empty:
            differences = regressions(compared) if self.regression else []
            differences += drops(compared, self.drop) + ruled_out(compared, self.rule_out)
            found += [_with_figures(one, compared) for one in differences]
        return [*found, *(more_failed(compared, self.max_failed) if self.asked else ())]

    def notes(self, compared: RunComparison) -> list[str]:
        """Return which measures can't show a regression, if others can, and which don't decide."""
        if not self.regression:
            return []
        found, unable = [], blind(compared)
        if len(unable) < len(deciding(compared)):
            needed = questions_needed(LEVEL)
            found += [
                f"{one.measure}: {counted(one.units, _unit(one))} can't show a significant regression, {needed} can"
                for one in unable
            ]
        few: dict[int, list[str]] = {}
        for one in deciding(compared):
            if one not in unable and compared.gain(one) < 0 and one.clusters is None and _few_differ(one):
                few.setdefault(one.wins + one.losses, []).append(one.measure)
        found += [
            f"{listed(names, NAMED)}: worse, and {counted(count, 'question')} that differ{'s' if count == 1 else ''} "
            f"can't show a significant regression, {questions_needed(LEVEL)} can"
            for count, names in few.items()
        ]
        if compared.primary is not None:
            others = [one.measure for one in compared.with_failed if one.measure != compared.primary]
            found += [f"{compared.primary} alone decides, not {listed(others, NAMED)}"] if others else []
        return found


def _few_differ(result: PairedResult) -> bool:
    return smallest_p(result.wins + result.losses) >= LEVEL


def sign_test(one: int, other: int) -> float:
    """Return the two-sided p-value of the exact sign test: so many questions went one way, and so many the other.

    >>> sign_test(0, 6), sign_test(3, 3)
    (0.03125, 1.0)
    """
    from scipy import stats

    return float(stats.binomtest(one, one + other).pvalue) if one + other else 1.0
