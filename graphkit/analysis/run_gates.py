"""The gates of runs together: which of them are asked for, and the list of their outcomes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from graphkit.analysis.findings import listed
from graphkit.analysis.gate_outcomes import FAIL_QUESTION, NAMED, GateOutcome
from graphkit.analysis.gates import (
    LEAST_SCORED,
    beside_recall,
    fail_over,
    fail_question,
    fail_under,
    max_failed,
    min_scored,
    severe,
    stale,
    summary_of,
)
from graphkit.analysis.layers import Scorecard
from graphkit.errors import InputError
from graphkit.records.option_values import FigureName, PercentileName, Seconds, measures_of
from graphkit.records.plugins import installed, load
from graphkit.scoring.repeated_systems import Passing, RepeatedSystem, pooled
from graphkit.scoring.results import Evaluation

#: The gates whose bound is for values of a measure.
BOUNDS = ("fail-under", "fail-over", FAIL_QUESTION)


class RunFigure(Protocol):
    """A figure of a whole run that no mean is, by a plug-in: an entry point of ``graphkit.figures`` names it."""

    name: str
    #: The measures of whose values it is made.
    measures: tuple[str, ...]

    def outcome(self, gate: str, name: str, bound: float, run: str, results: Sequence[Evaluation]) -> GateOutcome:
        """Return the outcome of ``fail-under`` or ``fail-over`` for a run, or for all repetitions of a system."""


def figure_named(text: str) -> RunFigure | None:
    """Return the figure of a name, None if there is none."""
    point = installed("graphkit.figures").get(text.casefold())
    found: RunFigure | None = None if point is None else load(point, InputError, f"a gate on {text}")
    return found


@dataclass(frozen=True, slots=True)
class RunGates:
    """The gates of runs.

    Attributes
    ----------
    under, over, each
        The bounds of :func:`fail_under`, :func:`fail_over` and :func:`fail_question`, by the text of the measure; those
        on means may be on percentiles, such as ``Latency_p95`` (:mod:`graphkit.plugins.limits.percentile_gates`), or on
        figures of whole runs, such as ``AURC`` (:class:`RunFigure`).
    max_failed
        The limit of :func:`max_failed`.
    severe
        Whether severe alerts fail a run.
    stale, allow_stale
        Whether stale gold is checked although no other gate is, and of how many questions the gold may be stale. Beside
        another gate it is always checked: a mean without the questions whose gold went stale is another mean.
    min_scored, measures
        The share of :func:`min_scored`, or shares by measure, of which None stands for the others, and the measures;
        None means all of the result. Without a share, each bounded measure must have a value on ``LEAST_SCORED`` of the
        questions that it could score, except a precision beside a bound on its recall or F1.
    min_kappa
        The limit of :func:`min_kappa`, which isn't among these outcomes.
    sure
        Whether the ends of intervals are held to the bounds, and not the means.
    pass_k, passing
        Of repeated systems, hold pass^k to the bounds on means (:func:`graphkit.scoring.repeated_systems.pooled`), and
        what passes.
    pass_at, per_repetition
        The value at which a trial passes, by measure, and whether each repetition is held to the bounds.
    beside
        Measures that other gates of the same runs bound.
    """

    under: Sequence[tuple[str, float]] = ()
    over: Sequence[tuple[str, float]] = ()
    max_failed: int | None = None
    severe: bool = False
    stale: bool = False
    min_scored: float | Sequence[tuple[str | None, float]] | None = None
    min_kappa: float | None = None
    sure: bool = False
    allow_stale: int = 0
    each: Sequence[tuple[str, float]] = ()
    pass_k: int | None = None
    pass_at: Sequence[tuple[str, float]] = ()
    per_repetition: bool = False
    measures: Sequence[str] | None = None
    beside: Sequence[str] = ()
    passing: Passing = field(default_factory=Passing)

    @property
    def shares(self) -> dict[str | None, float]:
        """The share that single measures must be scored on, and under None that of the others."""
        given = self.min_scored
        if isinstance(given, int | float):
            return {None: given}
        return dict(sorted(given or (), key=lambda one: one[0] is not None))

    @property
    def texts(self) -> list[str]:
        """The measures that the gates name."""
        named = (*self.under, *self.over, *self.each, *self.pass_at, *self.shares.items())
        return [*dict.fromkeys(text for text, _ in named if text is not None)]

    def named(self, names: Mapping[str, str]) -> RunGates:
        """Return the gates with the names that their measures have in results."""

        def of(bounds: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
            return [(names[text], float(bound)) for text, bound in bounds]

        return dataclasses.replace(
            self,
            under=of(self.under),
            over=of(self.over),
            each=of(self.each),
            pass_at=of(self.pass_at),
            min_scored=[(None if text is None else names[text], share) for text, share in self.shares.items()],
        )

    def refuse(self, names: Mapping[str, str]) -> None:
        """Refuse bounds that don't fit what the texts name: a time for no latency, or a percentile where none is meant.

        Raises
        ------
        InputError
            The error names the option.
        """
        options = {"--fail-question": self.each, "--pass-at": self.pass_at, "--min-scored": [*self.shares.items()]}
        for option, bounds in {"--fail-under": self.under, "--fail-over": self.over, **options}.items():
            for text, bound in bounds:
                name = names.get(text or "", "")
                if isinstance(bound, Seconds) and (measured := " and ".join(measures_of(name))) != "Latency":
                    what = f"{measured} isn't measured in time"
                    raise InputError(what, where=f"{option} {text}", remedy="Give a number: only Latency takes a unit.")
                if isinstance(name, PercentileName | FigureName) and (
                    option in options or self.sure or self.pass_k is not None
                ):
                    kind = "a percentile" if isinstance(name, PercentileName) else "a figure of a whole run"
                    what = f"{kind} is bounded by --fail-under or --fail-over, without --sure and --pass-k"
                    remedy = f"Name the measure: {measures_of(name)[0]}."
                    raise InputError(what, where=f"{option} {text}", remedy=remedy)

    @property
    def asked(self) -> bool:
        """Whether there is any gate beside that of stale gold."""
        given = self.under, self.over, self.each, self.severe, self.shares
        return any(given) or self.max_failed is not None or self.min_kappa is not None

    def outcomes(
        self, results: Sequence[Evaluation], cards: Sequence[Scorecard] = (), systems: Sequence[RepeatedSystem] = ()
    ) -> list[GateOutcome]:
        """Return the outcomes of all gates; ``cards`` are the scorecards of the results, if there are any.

        Of repeated ``systems``, whose results are among these, each repetition must be whole: failed questions and
        those with a value are counted in each.

        Raises
        ------
        InputError
            There are fewer repetitions than ``pass_k``, or it is asked of a run without repetitions.
        """
        repeated = {one.name: one for one in systems}
        whole = [some for one in results for some in (repeated[one.run].repetitions if one.run in repeated else [one])]
        bounds = *self.under, *self.over, *self.each
        means = [(name, bound) for name, bound in bounds if not isinstance(name, PercentileName | FigureName)]
        held = [name for name, _ in means]
        under, over = ([one for one in some if one in means] for some in (self.under, self.over))
        singly = {one.run: repeated[one.run].repetitions if one.run in repeated else [one] for one in results}
        weighed = [one.measure for card in cards for layer in card.layers for one in layer.components]
        bounded = [self._passing(one, repeated) for one in results]
        outcomes = [
            *(severe(cards) if self.severe else ()),
            *stale([one for one in results if self.stale or (self.asked and one.invalid)], self.allow_stale),
            *fail_under(bounded, under, sure=self.sure),
            *fail_over(bounded, over, sure=self.sure),
            *self._of_percentiles(singly),
            *fail_question(results, self.each),
            *max_failed(whole, self.max_failed, [*held, *(weighed if self.severe else ())]),
            *self._scored(whole, dict.fromkeys(one for name, _ in bounds for one in measures_of(name))),
        ]
        of_run = {one.run: one for one in (*whole, *results)} | {one.run: one for one in bounded}
        figures = [_with_figures(one, of_run[one.run]) for one in outcomes]
        both = (("fail-under", self.under), ("fail-over", self.over))
        return [
            *(
                self._of_system(one, repeated[one.run]) if one.run in repeated and one.percentile is None else one
                for one in figures
            ),
            *(
                figure.outcome(gate, name, bound, run, some)
                for run, some in singly.items()
                for gate, bounds in both
                for name, bound in bounds
                if isinstance(name, FigureName) and (figure := figure_named(name)) is not None
            ),
        ]

    def _of_percentiles(self, runs: Mapping[str, Sequence[Evaluation]]) -> list[GateOutcome]:
        """Return the outcomes of bounds on percentiles, which a plug-in holds."""
        both = (("fail-under", self.under), ("fail-over", self.over))
        bounds = [(gate, *one) for gate, some in both for one in some if isinstance(one[0], PercentileName)]
        if not bounds:
            return []
        gates = load(installed("graphkit.gates")["percentile"], InputError, "a gate on a percentile")
        found: list[GateOutcome] = gates(bounds, runs)
        return found

    def _passing(self, result: Evaluation, systems: Mapping[str, RepeatedSystem]) -> Evaluation:
        """Return the result whose means the bounds hold: that of pass^k if it is asked for."""
        if self.pass_k is None:
            return result
        if result.run not in systems:
            what = f"pass^{self.pass_k} is of a system that several runs repeat, and {result.run} is one run"
            raise InputError(what, where="--pass-k", remedy="Name its repetitions: NAME@1, NAME@2 and so on.")
        if self.over:
            raise InputError(
                "--pass-k holds a share of right repetitions, of which more is better, and --fail-over is for less",
                where=f"--fail-over {self.over[0][0]}",
                remedy=f"Give the least share: --fail-under {self.over[0][0]}=0.8. --pass-at says what is right.",
            )
        for measure, _ in self.under:
            self.passing.passed(measure, ())  # refuses a measure of which nothing says what passes
        return pooled(result.run, systems[result.run].repetitions, pass_k=self.pass_k, passing=self.passing)

    def _of_system(self, outcome: GateOutcome, system: RepeatedSystem) -> GateOutcome:
        """Return an outcome that says of how many repetitions its value is the mean."""
        if outcome.measure is None:
            return outcome
        without = [one.run for one in system.repetitions if outcome.measure not in one.measures]
        if without and outcome.gate in BOUNDS:
            return dataclasses.replace(outcome, what=f"{outcome.measure} has no score in {listed(without, NAMED)}")
        how = system.spread(outcome.measure)
        if self.pass_k is not None and outcome.gate in ("fail-under", "fail-over"):
            passes = self.passing.words(outcome.measure)
            how = f"pass^{self.pass_k}, where a repetition passes {passes}; their means: {how}"
        return dataclasses.replace(outcome, what=f"{outcome.what}; {how}")

    def _scored(self, results: Sequence[Evaluation], bounded: Iterable[str]) -> Iterator[GateOutcome]:
        """Check the shares that are asked for, and yield what fails of those that bounds need anyway."""
        shares = self.shares
        for measure, share in shares.items():
            measures = self.measures if measure is None else [measure]
            if measure is None and len(shares) > 1 and measures is not None:
                measures = [one for one in measures if one not in shares]
            yield from min_scored(results, share, measures)
        if None not in shares:
            names = list(bounded)
            held = [one for one in names if one not in shares and not beside_recall(one, [*names, *self.beside])]
            known = [one for one in results if any(summary_of(one, name).scored for name in held)]
            for outcome in min_scored(known, LEAST_SCORED, held):
                if not outcome.passed and any(
                    summary_of(one, outcome.measure or "").scored for one in known if one.run == outcome.run
                ):
                    yield outcome


def _with_figures(outcome: GateOutcome, result: Evaluation) -> GateOutcome:
    """Return an outcome with the interval of the mean that it checks, and the questions that this rests on."""
    if outcome.gate == "max-failed":
        left = len(result.invalid)
        return dataclasses.replace(outcome, n=result.questions - left, left_out=left)
    if outcome.measure is None or outcome.percentile is not None:
        return outcome
    summary = summary_of(result, outcome.measure)
    n = summary.held_on(result.failed_as)
    means = outcome.gate in ("fail-under", "fail-over", "fail-on-severe") and outcome.measure in result.measures
    interval = result.interval(outcome.measure) if means else None
    return dataclasses.replace(outcome, interval=interval, n=n, left_out=summary.total - n)
