"""Layers, targets, alerts and a diagnosis: from the means of a run's measures to the first things to improve.

A component that was not scored leaves its layer: the other weights are rescaled, and the coverage is the share of the
weights that is left. A layer without a scored component leaves the product, which is then partial.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphkit.analysis.config import Config
from graphkit.measures.base import Thresholds
from graphkit.measures.registry import bounds_of, is_judged, known_measure, lower_is_better
from graphkit.records.bounds import under
from graphkit.records.notebook_html import bar, block
from graphkit.records.words import counted, shown
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.measured import COLUMNS, Measured, worse
from graphkit.scoring.results import Evaluation, Row


@dataclass(frozen=True, slots=True)
class Rule:
    """Names a weakness if its layer is below ``layer_below`` and its measure is worse than ``bound``.

    With ``layer_below`` None the layer's score doesn't matter: the measure isn't one of its components.
    """

    layer: str
    layer_below: float | None
    measure: str
    bound: float
    weakness: str
    remedy: str


RULES = (
    Rule("retrieval", 0.7, "CrossRepoPrecision", 0.7, "weak repository targeting", "embeddings"),
    Rule("retrieval", 0.7, "EdgeRecall", 0.8, "missed relationships", "graph construction or query expansion"),
    # Below .5 most traversed edges are off the gold paths.
    Rule("retrieval", None, "EdgePrecision", 0.5, "noisy graph expansion", "hop limits or pruning of the expansion"),
    Rule("reasoning", 0.7, "Coherence", 0.9, "conflicting commits", "context order"),
    Rule("reasoning", 0.7, "Integration", 0.7, "single-source answers", "explicit relations in the context"),
    Rule("generation", 0.8, "HallucinationRate", 0.1, "hallucination", "prompts and grounding constraints"),
    Rule("generation", 0.8, "Attribution", 0.95, "wrong citations", "prompts and grounding constraints"),
)


@dataclass(frozen=True, slots=True)
class LayerComponent:
    """One measure of a layer.

    Attributes
    ----------
    mean
        Over the scored questions.
    held
        The mean that thresholds and the layer use: failed questions count as the worst value, unless the result says
        otherwise. ``in_words`` states both means.
    counts
        The number of scored questions, and how failed ones count, in words.
    met, severe
        None without a threshold, or if nothing was scored.
    bound
        The severe threshold.
    """

    measure: str
    weight: float
    mean: float | None
    scored: int
    total: int
    target: float | None
    met: bool | None
    severe: bool | None
    held: float | None
    in_words: str
    counts: str
    bound: float | None


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer: the weighted mean of its scored components, and the share of the weights that they carry."""

    name: str
    score: float | None
    coverage: float
    components: tuple[LayerComponent, ...]


@dataclass(frozen=True, slots=True)
class LayerFinding:
    """A weakness, the kind of remedy, and the questions that show it most."""

    layer: str
    weakness: str
    remedy: str
    measure: str
    mean: float
    questions: tuple[str, ...]


#: The note on a run in which no layer has a score.
NOT_JUDGED = "nothing could be judged: no measure of a layer was scored on any question"

#: The note on a layer without a score whose measures all come from a judge.
NOT_GRADED = "not scored: its measures come from a judge. Run `graphkit grade RUN.jsonl`, then add its --scores"


@dataclass(frozen=True, slots=True)
class Scorecard:
    """The layers of a run, their product (``partial`` if a layer is missing), severe alerts and findings.

    ``unscored`` is a sentence on the questions that failed, have no record or are invalid, or empty. ``unknown`` warns
    if the dataset knows hardly anything in the run; ``following`` are the measures whose alerts follow from that.
    ``samples`` are the values of each measure, if the result has rows.
    """

    run: str
    unscored: str
    layers: tuple[Layer, ...]
    overall: float | None
    partial: bool
    alerts: tuple[LayerComponent, ...]
    findings: tuple[LayerFinding, ...]
    unknown: str = ""
    following: tuple[str, ...] = ()
    samples: Mapping[str, Sequence[float]] = field(default_factory=dict, repr=False, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Return the fields without the samples."""
        return {name: value for name, value in dataclasses.asdict(self).items() if name != "samples"}

    @property
    def verdict(self) -> str:
        """A sentence: the overall score, the severe alerts and the first thing to improve."""
        if not self.judged:
            return f"{self.run}: {NOT_JUDGED}"
        whole = f"{shown(self.overall)}{' (partial)' if self.partial else ''}"
        severe = f"; severe: {', '.join(alert.measure for alert in self.alerts)}" if self.alerts else ""
        first = f"; first to improve: {self.findings[0].weakness}" if self.findings else ""
        return f"{self.run}: overall {whole}{severe}{first}"

    def __repr__(self) -> str:
        layers = ", ".join(f"{layer.name} {shown(layer.score)}" for layer in self.layers)
        return f"<Scorecard of {self.verdict}; {layers}>"

    def _repr_html_(self) -> str:
        """Draw the layers in a notebook: the verdict, each layer with its measures, intervals and targets."""
        rows: list[list[object]] = []
        for layer in self.layers:
            rows.append([layer.name, layer.score, bar(layer.score), "", f"{layer.coverage:.0%} of the weights"])
            for one in layer.components:
                sample, thresholds = self.samples.get(one.measure, ()), Thresholds(one.target, one.bound)
                rows.append(Measured(one.measure, one.held, one.counts, sample, thresholds).row())
        findings = [f"{one.weakness}: improve {one.remedy} ({', '.join(one.questions)})" for one in self.findings]
        return block(self.verdict, ("layer, measure", *COLUMNS[1:]), rows, [*findings, *filter(None, [self.unscored])])

    @property
    def own_alerts(self) -> tuple[LayerComponent, ...]:
        """The alerts that don't follow from unknown ids."""
        return tuple(alert for alert in self.alerts if alert.measure not in self.following)

    @property
    def following_alerts(self) -> tuple[LayerComponent, ...]:
        """The alerts that follow from unknown ids."""
        return tuple(alert for alert in self.alerts if alert.measure in self.following)

    @property
    def ungraded(self) -> list[str]:
        """The layers without a score whose measures all come from a judge."""
        return [
            layer.name
            for layer in self.layers
            if layer.score is None and all(is_judged(component.measure) for component in layer.components)
        ]

    @property
    def judged(self) -> bool:
        """Whether anything was scored: without a score, the absence of findings doesn't mean that all is well."""
        return self.overall is not None or bool(self.findings)


def score_layers(result: Evaluation, config: Config | None = None, shown: int = 3) -> Scorecard:
    """Score the layers of a run from the means of its measures.

    Parameters
    ----------
    result
        Its rows let the findings name questions.
    shown
        The number of questions that a finding names.
    """
    chosen = config if config is not None else Config()
    layers = tuple(_layer(name, weights, result, chosen) for name, weights in chosen.weights.items())
    scored = [layer.score for layer in layers if layer.score is not None]
    alerts = tuple(component for layer in layers for component in layer.components if component.severe)
    known = result.known
    return Scorecard(
        run=result.run,
        unscored=_unscored(result),
        layers=layers,
        overall=math.prod(scored) if scored else None,
        partial=len(scored) < len(layers),
        alerts=alerts,
        findings=tuple(_findings(layers, result, shown)),
        unknown=known.meaning.what if known is not None and known.meaning is not None else "",
        following=tuple(alert.measure for alert in alerts if known is not None and known.explains(alert.measure)),
        samples=_samples(result, layers),
    )


def _weighed(layers: Iterable[Layer]) -> set[str]:
    return {component.measure for layer in layers for component in layer.components}


def _samples(result: Evaluation, layers: Iterable[Layer]) -> dict[str, list[float]]:
    """Return the values that intervals rest on; none if these take questions as dependent."""
    if result.clustered is not None:
        return {}
    return {name: result.sample(name) for name in _weighed(layers) if name in result.measures}


def _unscored(result: Evaluation) -> str:
    counts = (
        (result.failed, "failed", "failed"),
        (result.missing, "has no record", "have no record"),
        (len(result.invalid), "is invalid for stale gold", "are invalid for stale gold"),
    )
    parts = [f"{count} {singular if count == 1 else plural}" for count, singular, plural in counts if count]
    return f"of {counted(result.questions, 'question')} {', '.join(parts)}" if parts else ""


def _layer(name: str, weights: Mapping[str, float], result: Evaluation, config: Config) -> Layer:
    components = []
    weighted: list[tuple[float, float]] = []
    for measure, weight in weights.items():
        summary = result.measures.get(measure) or Summary(None, 0, result.questions)
        held = result.held(measure)
        if held is not None:
            weighted.append((weight, _goodness(measure, held)))
        thresholds = config.thresholds(measure)
        target, severe = thresholds.target, thresholds.severe
        components.append(
            LayerComponent(
                measure=measure,
                weight=weight,
                mean=summary.mean,
                scored=summary.scored,
                total=summary.total,
                target=target,
                met=None if held is None or target is None else worse(measure, target, held),
                severe=None if held is None or severe is None else worse(measure, held, severe),
                held=held,
                in_words=summary.in_words(result.failed_as),
                counts=summary.counts(result.failed_as),
                bound=severe,
            )
        )
    covered = math.fsum(weight for weight, _ in weighted)
    total = math.fsum(weight * value for weight, value in weighted)
    return Layer(name, total / covered if covered else None, covered, tuple(components))


def _goodness(measure: str, mean: float) -> float:
    """Return a mean rescaled to 0 (worst) to 1 (best) by the bounds and the direction of its measure."""
    lowest, highest = bounds_of(measure)
    low, high = 0.0 if lowest is None else lowest, 1.0 if highest is None else highest
    return (high - mean if lower_is_better(measure) else mean - low) / (high - low)


def _findings(layers: Iterable[Layer], result: Evaluation, shown: int) -> Iterable[LayerFinding]:
    by_name = {layer.name: layer for layer in layers}
    # What isn't logged shows no weakness by a name of its own: it only counts as the worst value at bounds.
    logged = dataclasses.replace(result, failed_as="failed") if result.failed_as == "worst" else result
    for rule in RULES:
        measure = _as_compared(rule.measure, result)
        held = logged.held(measure)
        score = by_name[rule.layer].score
        applies = rule.layer_below is None or (score is not None and under(score, rule.layer_below))
        if held is not None and applies and worse(measure, held, rule.bound):
            questions = _worst(result, measure, rule.bound, shown)
            yield LayerFinding(rule.layer, rule.weakness, rule.remedy, measure, held, questions)


def _as_compared(measure: str, result: Evaluation) -> str:
    """Return a measure as the result has it: of one without it, the same without directions or without relations."""
    known = known_measure(measure)
    if measure in result.measures or known is None:
        return measure
    others = (known.undirected(), known.untyped(), known.undirected().untyped())
    return next((name for name in map(str, others) if name in result.measures), measure)


def _worst(result: Evaluation, measure: str, bound: float, shown: int) -> tuple[str, ...]:
    """Return the questions on which a measure is worse than its bound, worst first."""
    place = list(result.measures).index(measure)

    def value(row: Row) -> float | None:
        found = row.values[place]
        return found if isinstance(found, float) else None

    values = [(number, row.question) for row in result.rows if (number := value(row)) is not None]
    below = [(number, question) for number, question in values if worse(measure, number, bound)]
    below.sort(key=lambda pair: (-pair[0] if lower_is_better(measure) else pair[0], pair[1]))
    return tuple(question for _, question in below[:shown])
