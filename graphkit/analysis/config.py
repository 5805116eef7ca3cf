"""The weights, targets and severe thresholds of layers, from a ``graphkit.toml`` or the defaults."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from graphkit.errors import InputError, MeasureError, did_you_mean
from graphkit.files.texts import read_toml
from graphkit.measures.base import Thresholds
from graphkit.measures.registry import DEFAULT_MEASURES, bounds_of, known_measure, measure_class, parse_measure

WEIGHTS: Mapping[str, Mapping[str, float]] = {
    "retrieval": {"nDCG@10": 0.30, "Recall@20": 0.25, "RR": 0.15, "CrossRepoPrecision": 0.15, "EdgeRecall": 0.15},
    "reasoning": {"Coherence": 0.40, "Integration": 0.35, "Completeness": 0.25},
    "generation": {"FactualCorrectness": 0.35, "Groundedness": 0.35, "HallucinationRate": 0.15, "Attribution": 0.15},
}

#: The measures that two runs are compared by: one for each question that a team asks, so that Holm's correction stays
#: mild.
COMPARED = (
    *("EdgeRecall", "EdgePrecision", "EdgeF1", "BoundaryRecall", "PathPrefix", "CrossRepoPrecision", "Coherence"),
    *("nDCG@10", "Recall@20", "RR", "Success@5"),
)

#: What two runs are compared by beside these where gold is text: answers by which right is decided, and evidence; and
#: where questions have no answer.
BY_TEXT = ("AnswerHit", "EvidenceRecall@5", "RightDecision")


def family_of(names: Iterable[str]) -> list[str]:
    """Return the measures over which p-values are corrected: the compared ones if all are there, else all that are."""
    given = list(dict.fromkeys(names))
    return _by_default(given) or given


def _by_default(names: Iterable[str]) -> list[str]:
    """Return the measures compared by default, perhaps without direction, if all are there; else nothing."""
    given = set(names)
    families = (COMPARED, [str(parse_measure(name).undirected()) for name in COMPARED])
    by_text = [name for name in BY_TEXT if name in given]
    return next(([*family, *by_text] for family in families if given.issuperset(family)), [])


@dataclass(frozen=True)
class Config:
    """Weights, targets and severe thresholds, from a ``graphkit.toml`` or the defaults.

    Attributes
    ----------
    targets, severe
        Replacements for a measure's own thresholds.
    k
        The cut-off of measures that name none.
    """

    weights: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: WEIGHTS)
    targets: Mapping[str, float] = field(default_factory=dict)
    severe: Mapping[str, float] = field(default_factory=dict)
    source: str = "defaults"
    k: int | None = None

    @property
    def digest(self) -> str:
        """A digest of weights, targets and severe thresholds, whichever file they are from."""
        content = json.dumps([self.weights, self.targets, self.severe], sort_keys=True, default=dict)
        return blake2b(content.encode(), digest_size=8).hexdigest()

    def measures(self) -> list[str]:
        """Return the measures of all layers that graphkit computes itself, in order."""
        names = [name for weights in self.weights.values() for name in weights]
        return [name for name in names if (kind := measure_class(name)) is not None and kind.computed]

    def default_measures(self) -> list[str]:
        """Return the default measures of an evaluation, and the computed ones that only these weights weigh."""
        return list(dict.fromkeys([*DEFAULT_MEASURES, *self.measures()]))

    def deciding(self, names: Iterable[str]) -> list[str]:
        """Return measures in the order in which they decide between runs: the first that both have a value by does.

        Where the names hold all that are compared by default, that is the order of the weights: layer by layer, the
        heaviest first, and of equal weights in the order of display; then the others, but none that is weighed with 0.
        Else someone chose the measures, and their order stands.
        """
        given = list(dict.fromkeys(names))
        if not _by_default(given):
            return given
        given = [name for name in given if name not in self.weightless]
        weighed = [
            sorted((name for name in given if name in weights), key=lambda name: -weights[name])
            for weights in self.weights.values()
        ]
        return list(dict.fromkeys([*itertools.chain(*weighed), *given]))

    @property
    def weightless(self) -> frozenset[str]:
        """The measures that every layer which names them weighs with 0."""
        weights = list(self.weights.values())
        named = {name for of_layer in weights for name in of_layer}
        return frozenset(name for name in named if not any(of_layer.get(name) for of_layer in weights))

    def renamed(self, name: Callable[[str], str]) -> Config:
        """Return a copy with the computed measures of the layers renamed."""
        computed = set(self.measures())
        weights = {
            layer: {name(one) if one in computed else one: weight for one, weight in weighed.items()}
            for layer, weighed in self.weights.items()
        }
        return dataclasses.replace(self, weights=weights)

    def thresholds(self, measure: str) -> Thresholds:
        """Return the thresholds of a measure by its text: the file's, else its own."""
        known = known_measure(measure)
        own = known.thresholds() if known is not None else Thresholds()
        return Thresholds(self.targets.get(measure, own.target), self.severe.get(measure, own.severe))


#: The cut-off and the sections of a file; ``[ci]`` is read by ``graphkit ci``.
SECTIONS = ("k", "weights", "targets", "severe", "ci")


def load_config(path: Path | None) -> Config:
    """Read ``k``, ``[weights.LAYER]``, ``[targets]`` and ``[severe]``; missing entries keep their defaults.

    Raises
    ------
    InputError
        The file can't be read, a name is unknown (the closest is suggested), a value is out of bounds, a weighed
        measure has no bounds, or the weights of a layer don't add up to 1.
    """
    if path is None:
        return Config()
    content = read_toml(path)
    for name in content:
        if name not in SECTIONS:
            _unknown(path, name, SECTIONS, "section")
    k = content.get("k")
    if k is not None and (type(k) is not int or k < 1):
        remedy = "Write it before the sections, such as `k = 10`."
        raise InputError(f"k must be a whole number of at least 1, not {k!r}", where=str(path), remedy=remedy)
    weights: dict[str, Mapping[str, float]] = dict(WEIGHTS)
    for layer, values in _table(path, content, "weights").items():
        if layer not in WEIGHTS:
            _unknown(path, layer, WEIGHTS, "layer")
        weights[layer] = _numbers(path, f"weights.{layer}", values, weights=True)
        total = math.fsum(weights[layer].values())
        if abs(total - 1) > 1e-6:
            raise InputError(
                f"the weights of {layer} add up to {total:g}, not to 1",
                where=str(path),
                remedy="Change them so that they add up to 1.",
            )
    targets = _numbers(path, "targets", _table(path, content, "targets"))
    severe = _numbers(path, "severe", _table(path, content, "severe"))
    return Config(weights, targets, severe, str(path), k)


def _table(path: Path, content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = content.get(name, {})
    if not isinstance(value, dict):
        raise InputError(f"[{name}] must be a table", where=str(path))
    return value


def _within(lowest: float | None, highest: float | None) -> str:
    if lowest is None:
        return "" if highest is None else f" of at most {highest:g}"
    return f" of at least {lowest:g}" if highest is None else f" from {lowest:g} to {highest:g}"


def _numbers(path: Path, section: str, values: Any, *, weights: bool = False) -> dict[str, float]:
    """Return the numbers of a section by measure: weights from 0 to 1, or thresholds within the measure's bounds."""
    if not isinstance(values, dict):
        raise InputError(f"[{section}] must be a table", where=str(path))
    found: dict[str, float] = {}
    for name, value in values.items():
        measure = _measure_name(path, name)
        lowest, highest = bounds_of(measure)
        if weights:
            if lowest is None or highest is None:
                raise InputError(
                    f"{measure} has no bounds, so it can't be weighed",
                    where=str(path),
                    remedy="Give the class of the measure a `lowest` and a `highest` value.",
                )
            lowest, highest = 0.0, 1.0
        within = _within(lowest, highest)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not (-math.inf if lowest is None else lowest) <= value <= (math.inf if highest is None else highest)
        ):
            raise InputError(f"{section}.{name} must be a number{within}, not {value!r}", where=str(path))
        found[measure] = float(value)
    return found


def _measure_name(path: Path, name: str) -> str:
    """Return the canonical text of a measure."""
    try:
        return str(parse_measure(name))
    except MeasureError as error:
        raise InputError(error.what, where=str(path), remedy=error.remedy) from None


def _unknown(path: Path, name: str, known: Iterable[str], kind: str) -> None:
    names = list(known)
    hint = did_you_mean(name, names)
    raise InputError(f"no {kind} is called {name!r}", where=str(path), remedy=f"{hint}There are: {', '.join(names)}.")
