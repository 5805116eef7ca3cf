"""The thresholds of a run, each a test: the gates of ``graphkit evaluate``, and those in a ``graphkit.toml``."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphkit.analysis.config import Config, load_config
from graphkit.analysis.evaluation_plan import EvaluationPlan
from graphkit.analysis.gate_outcomes import GateOutcome
from graphkit.analysis.gates import stale
from graphkit.analysis.layers import NOT_JUDGED, Scorecard
from graphkit.analysis.run_gates import RunGates
from graphkit.measures.registry import lower_is_better, parse_measure
from graphkit.records.option_values import measures_of
from graphkit.records.scores import Score
from graphkit.records.unanswered import FailedAs
from graphkit.scoring.options import EvaluationOptions
from graphkit.scoring.results import Evaluation


@dataclass(frozen=True)
class Threshold:
    """A threshold with the name of its test.

    ``check`` returns the outcomes of a run, which all must pass; none means that nothing could be checked.
    """

    name: str
    check: Callable[[Evaluation, Scorecard], list[GateOutcome]]


@dataclass(frozen=True, kw_only=True)
class GivenThresholds:
    """Thresholds as their user gave them.

    Attributes
    ----------
    under, over
        Bounds of means by the text of the measure.
    max_failed, min_scored, severe, stale, allow_stale
        As in :class:`graphkit.analysis.run_gates.RunGates`. Severe thresholds are those of the layers.
    config
        A ``graphkit.toml``. Each of its targets and severe thresholds is a test.
    failed_as
        How failed and missing questions count.
    untyped
        Whether edges are compared without their relations.
    sure
        Whether the nearer end of the 95% interval is held to ``under`` and ``over``, and not the mean.
    """

    under: Mapping[str, float] = field(default_factory=dict)
    over: Mapping[str, float] = field(default_factory=dict)
    max_failed: int | None = None
    min_scored: float | None = None
    severe: bool = False
    stale: bool = False
    config: Path | None = None
    failed_as: FailedAs = "worst"
    allow_stale: int = 0
    untyped: bool = False
    sure: bool = False

    def plan(self, scores: Sequence[Score] = (), score_files: Sequence[Path] = ()) -> EvaluationPlan:
        """Return the plan of the evaluation, with scores by a judge.

        Raises
        ------
        InputError
            A measure is unknown, or the configuration can't be used.
        """
        config = load_config(self.config)
        # The gates decide which measures are computed beside the usual ones.
        written = [name for name in {**config.targets, **config.severe} if parse_measure(name).computed]
        plan = EvaluationPlan(
            EvaluationOptions(keep_rows=True, failed_as=self.failed_as),
            config=config,
            gates=RunGates((*self.under.items(), *((name, 0.0) for name in written)), tuple(self.over.items())),
            scores=scores,
            score_files=score_files,
            untyped=self.untyped,
        )
        _ = plan.gated
        return plan

    def tests(self, plan: EvaluationPlan) -> list[Threshold]:
        """Return the thresholds in the order of their options, then those of the configuration.

        Each also fails on stale gold of more questions than allowed.
        """
        return list({one.name: self._with_stale(one) for one in self._tests(plan)}.values())

    def _with_stale(self, threshold: Threshold) -> Threshold:
        def check(result: Evaluation, card: Scorecard) -> list[GateOutcome]:
            outcomes = threshold.check(result, card)
            named = any(one.gate == "fail-on-stale" for one in outcomes)
            if outcomes and not named and result.invalid:
                outcomes = [*outcomes, *stale([result], self.allow_stale)]
            return [dataclasses.replace(one, what=_OPTION.sub(r"--graphkit-\1", one.what)) for one in outcomes]

        return Threshold(threshold.name, check)

    def _tests(self, plan: EvaluationPlan) -> Iterator[Threshold]:
        under = [(plan.gated[text], float(bound)) for text, bound in self.under.items()]
        over = [(plan.gated[text], float(bound)) for text, bound in self.over.items()]
        names = [one for name, _ in (*under, *over) for one in measures_of(name)]

        def scored(measure: str) -> dict[str, Any]:
            if self.min_scored is None:
                return {"beside": names}
            return {"min_scored": self.min_scored, "measures": [*measures_of(measure)]}

        for one in under:
            yield _of_gates(_named("fail-under", *one), RunGates(under=[one], sure=self.sure, **scored(one[0])))
        for one in over:
            yield _of_gates(_named("fail-over", *one), RunGates(over=[one], sure=self.sure, **scored(one[0])))
        if self.max_failed is not None:
            yield _of_gates(_named("max-failed", "", self.max_failed), RunGates(max_failed=self.max_failed))
        if self.min_scored is not None:
            bounded = [one for text in (*self.under, *self.over) for one in measures_of(plan.gated[text])]
            gates = RunGates(min_scored=self.min_scored, measures=bounded or None)
            yield _of_gates(_named("min-scored", "", self.min_scored), gates)
        if self.stale:
            yield Threshold("fail-on-stale", lambda result, _: stale([result], self.allow_stale))
        if self.severe:
            for measure in dict.fromkeys(name for weights in plan.config.weights.values() for name in weights):
                if (severe := plan.config.thresholds(measure).severe) is not None:
                    yield Threshold(_named("fail-on-severe", measure, severe), _Severe(measure, severe))
        yield from _of_config(plan.config)


#: Options of gates, which pytest has under other names.
_OPTION = re.compile(r"(?<![\w-])--(allow-stale|max-failed|untyped|sure)\b")


def _named(gate: str, measure: str, bound: float) -> str:
    return GateOutcome(gate, "", True, "", measure or None, bound).name


def _of_gates(name: str, gates: RunGates) -> Threshold:
    def check(result: Evaluation, card: Scorecard) -> list[GateOutcome]:
        # Stale gold is checked by each threshold, as its user allows.
        return [one for one in gates.outcomes([result], [card]) if one.gate != "fail-on-stale"]

    return Threshold(name, check)


@dataclass(frozen=True)
class _Bounded:
    """Checks a mean against a bound by the direction of the measure; nothing if it was scored on no question."""

    measure: str
    bound: float

    def __call__(self, result: Evaluation, card: Scorecard) -> list[GateOutcome]:
        summary = result.measures.get(self.measure)
        if summary is None or (summary.mean is None and not summary.never_logged):
            return []
        bounds = [(self.measure, self.bound)]
        gates = RunGates(over=bounds) if lower_is_better(self.measure) else RunGates(under=bounds)
        return [one for one in gates.outcomes([result]) if one.gate != "fail-on-stale"]


@dataclass(frozen=True)
class _Severe(_Bounded):
    """The same for a severe threshold; it fails if no measure of any layer was scored."""

    def __call__(self, result: Evaluation, card: Scorecard) -> list[GateOutcome]:
        if not card.judged:
            return [GateOutcome("fail-on-severe", result.run, False, NOT_JUDGED)]
        return super().__call__(result, card)


def _of_config(config: Config) -> Iterator[Threshold]:
    for gate, bounds, check in (("target", config.targets, _Bounded), ("fail-on-severe", config.severe, _Severe)):
        for measure, bound in bounds.items():
            yield Threshold(_named(gate, measure, bound), check(measure, bound))
