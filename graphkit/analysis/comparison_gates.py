"""Gates of comparisons: conditions on how the second of two runs differs from the first, for a build to pass."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from graphkit.analysis.gates import LEAST_SCORED, GateOutcome, beside_recall, stale_outcome
from graphkit.analysis.pair_verdict import WORSE, judged
from graphkit.analysis.paired import PairedResult, questions_needed
from graphkit.analysis.power import LEVEL
from graphkit.analysis.run_comparisons import RunComparison
from graphkit.errors import InputError, did_you_mean
from graphkit.measures.registry import known_measure, worst_of
from graphkit.records.bounds import over, under
from graphkit.records.words import counted


def regressions(compared: RunComparison) -> list[GateOutcome]:
    """Check that no measure of the second run is significantly worse than of the first, over all questions.

    The bound is the level, and the value the corrected p-value. If the questions are too few for any significant
    difference, the gate fails: it could never have found one.
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
    """Return the measures with so few questions that no difference could be significant."""
    results = compared.with_failed
    return [one for one in results if one.smallest_p * len(results) >= LEVEL]


def _too_few(results: Sequence[PairedResult]) -> str:
    most = max((one.units for one in results), default=0)
    unit = _unit(results[0]) if results else "question"
    measures = counted(len(results), "measure")
    needed = questions_needed(len(results), LEVEL)
    instead = "use a plain bound instead, such as --fail-on-drop 0.1"
    if most >= needed:
        return f"no regression can be significant for {measures} with so few resamples: raise --resamples, or {instead}"
    need = "needs" if len(results) == 1 else "need"
    fewer = f" ({questions_needed(1, LEVEL)} for one)" if len(results) > 1 else ""
    return (
        f"no regression can be significant on {counted(most, unit)}: {measures} {need} {needed}{fewer}; "
        f"compare more {unit}s, or {instead}"
    )


def _unit(result: PairedResult) -> str:
    return "question" if result.clusters is None else "cluster"


def _changed(compared: RunComparison, result: PairedResult) -> str:
    """Return how a measure changed, with the effect of failures."""
    text = f"{result.measure} {result.delta:+.4f} (corrected p {result.p_holm:.4f})"
    if judged(result) == WORSE:
        text += f", significantly worse than {compared.first}"
    if not (failures := compared.failures(result)):
        return text
    paired = next((one for one in compared.overall if one.measure == result.measure), None)
    both = "" if paired is None else f"; {paired.delta:+.4f} over the {paired.questions} answered by both"
    unlogged = min(compared.not_logged.get(result.measure, 0), failures)
    parts = [f"{count} {what}" for count, what in ((failures - unlogged, "failed"), (unlogged, "not logged")) if count]
    return f"{text}, with {' and '.join(parts)} as {worst_of(result.measure):g}{both}"


def drops(compared: RunComparison, bound: float) -> list[GateOutcome]:
    """Check that no measure of the second run is worse by more than a bound, in units of the measure."""
    outcomes = []
    for result in compared.with_failed:
        drop = -compared.gain(result)
        passed = not over(drop, bound)
        what = _changed(compared, result) + ("" if passed else f", worse than {compared.first} by more than {bound:g}")
        outcomes.append(GateOutcome("fail-on-drop", compared.second, passed, what, result.measure, bound, drop))
    return outcomes


def uncovered(gate: str, compared: RunComparison) -> list[GateOutcome]:
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
            outcomes.append(GateOutcome(gate, compared.second, False, what, one.measure, LEAST_SCORED, share))
    return outcomes


def lost(gate: str, compared: RunComparison, allowed: Collection[str] = ()) -> list[GateOutcome]:
    """Check that the second run was scored by each measure by which the first was, except for the allowed ones.

    Raises
    ------
    InputError
        An allowed measure isn't among those that were compared or lost.
    """
    names = {one.measure for one in compared.lost}
    known = names.union(compared.left_out, compared.unscored, (one.measure for one in compared.with_failed))
    accepted = {_named_measure(one, known) for one in allowed}
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


def _named_measure(given: str, known: Collection[str]) -> str:
    """Return the measure that a user names, as results write it."""
    own = known_measure(given)
    found = next((name for name in (given, str(own)) if name in known), None)
    if found is None and own is not None:  # a cut-off that the user left out
        found = next((name for name in known if name.partition("@")[0] == str(own)), None)
    if found is None:
        what = f"--allow-lost names {given!r}, which isn't compared"
        raise InputError(what, remedy=f"{did_you_mean(given, sorted(known))}There are: {', '.join(sorted(known))}.")
    return found


def more_failed(compared: RunComparison, allowed: int | None = None) -> list[GateOutcome]:
    """Check how many questions the second run failed on or has no record for: by default no more than the first."""
    before, after = compared.failed
    most = before if allowed is None else allowed
    what = f"{counted(after, 'question')} failed or missing, " + (
        f"{before} of {compared.first}" if allowed is None else f"{allowed} allowed"
    )
    return [GateOutcome("max-failed", compared.second, after <= most, what, None, most, after)]


@dataclass(frozen=True, slots=True)
class ComparisonGates:
    """The gates of the second of two compared runs.

    Attributes
    ----------
    regression
        Whether to check :func:`regressions`.
    drop
        The bound of :func:`drops`.
    max_failed
        How many questions it may fail on; beside another gate, by default as many as the first run.
    allow_lost
        The measures by which it needn't be scored although the first run is; see :func:`lost`.
    allow_stale
        Of how many questions the gold may be stale.
    """

    regression: bool = False
    drop: float | None = None
    max_failed: int | None = None
    allow_lost: Sequence[str] = ()
    allow_stale: int = 0

    @property
    def asked(self) -> bool:
        """Whether there is any gate."""
        return self.regression or self.drop is not None or self.max_failed is not None

    def outcomes(self, compared: RunComparison) -> list[GateOutcome]:
        """Return the outcomes of all gates."""
        quality = self.regression or self.drop is not None
        failures = compared.failed_as != "unscored" and quality
        gate = "fail-on-regression" if self.regression else "fail-on-drop"
        return [
            *(lost(gate, compared, self.allow_lost) if quality else ()),
            *(uncovered(gate, compared) if quality else ()),
            *(
                [stale_outcome(compared.second, compared.stale, compared.questions, self.allow_stale)]
                if self.asked and compared.stale
                else ()
            ),
            *(regressions(compared) if self.regression else ()),
            *(drops(compared, self.drop) if self.drop is not None else ()),
            *(more_failed(compared, self.max_failed) if failures or self.max_failed is not None else ()),
        ]

    def notes(self, compared: RunComparison) -> list[str]:
        """Return a note for each measure that can't show a regression, if others can."""
        unable = blind(compared) if self.regression else []
        if len(unable) == len(compared.with_failed):
            return []
        needed = questions_needed(len(compared.with_failed), LEVEL)
        return [
            f"{one.measure}: {counted(one.units, _unit(one))} can't show a significant regression, {needed} can"
            for one in unable
        ]
