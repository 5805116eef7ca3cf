"""The outcome of a gate for one run: what every output lists, and the error by which a build fails."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from graphkit.errors import GateError
from graphkit.measures.registry import lower_is_better
from graphkit.records.bounds import equal, over, under
from graphkit.records.words import counted

#: The number of questions that a sentence names.
NAMED = 5

#: The gate of a bound on each question.
FAIL_QUESTION = "fail-question"

#: The gate whose bound is the level of a test, and that whose bound is a share of the questions.
REGRESSION, MIN_SCORED = "fail-on-regression", "min-scored"

#: The gates by the side of their bound: a value may not be under it (False), or not over it (True). The bound of other
#: gates isn't a threshold for their value, or depends on the direction of the measure.
_UPPER = {
    **dict.fromkeys(("fail-under", MIN_SCORED, "min-kappa"), False),
    **dict.fromkeys(("fail-over", "max-failed", "fail-on-stale", "fail-on-drop", "rule-out-drop"), True),
}

#: The gates whose value is a number of questions.
_COUNTS = ("max-failed", "fail-on-stale")


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """The outcome of a gate for one run; ``str`` is a sentence.

    Attributes
    ----------
    gate
        The name, such as ``fail-under``.
    what
        The reason, in words.
    measure
        None if the gate isn't about one measure.
    bound, value
        The required and the actual number; None if there is none.
    interval
        The 95% interval of what the gate checks: of the mean, or of the difference of two runs.
    n, left_out
        The number of questions that the value rests on, those that count as the worst value included, and of the
        others.
    percentile
        The percentile of the measure's values that is bounded (``value``); None for any other figure.
    beyond
        The questions whose values lie beyond that percentile, on the side of the bound, the farthest first.
    """

    gate: str
    run: str
    passed: bool
    what: str
    measure: str | None = None
    bound: float | None = None
    value: float | None = None
    interval: tuple[float, float] | None = None
    n: int | None = None
    left_out: int | None = None
    percentile: float | None = None
    beyond: tuple[str, ...] = ()

    @property
    def _measured(self) -> str | None:
        return self.measure if self.percentile is None else f"{self.measure}_p{self.percentile:g}"

    @property
    def name(self) -> str:
        """The gate with its measure and bound, as a build shows it.

        >>> GateOutcome("fail-under", "mine", True, "", "EdgeRecall", 0.8).name
        'fail-under EdgeRecall=0.8'
        """
        measure = self._measured
        if self.gate == REGRESSION and self.bound is not None:  # a level, and no drop
            return " ".join(filter(None, (self.gate, measure, f"(p < {self.bound:g})")))
        bound = "" if self.bound is None else f"{self.bound:.12g}"
        return " ".join(filter(None, (self.gate, "=".join(filter(None, (measure, bound))))))

    @property
    def key(self) -> str:
        """The gate with its measure: a name that stays when the bound changes.

        >>> GateOutcome("fail-under", "mine", True, "", "EdgeRecall", 0.8).key
        'fail-under EdgeRecall'
        """
        return " ".join(filter(None, (self.gate, self._measured)))

    @property
    def margin(self) -> Margin | None:
        """How far the value of a passed gate lies on the safe side of its bound; None if there is no such bound."""
        upper = _UPPER.get(self.gate)
        if self.gate == FAIL_QUESTION and self.measure is not None:
            upper = lower_is_better(self.measure)
        if upper is None or not self.passed or self.value is None or self.bound is None:
            return None
        whole = self.gate in _COUNTS
        could = self.value if whole else _rounded(self.value, upper)
        if self.gate in ("fail-on-drop", "rule-out-drop"):
            could = max(could, 0.0)
        stricter = under(could, self.bound) if upper else over(could, self.bound)
        by = max(self.bound - self.value if upper else self.value - self.bound, 0.0)
        return Margin(self.value, by, upper, could if stricter else None, whole)

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name, with the margin of a passed gate and what its bound could be."""
        names = ("gate", "run", "measure", "bound", "value", "interval", "n", "left_out", "passed", "what")
        margin = self.margin
        of = {} if self.percentile is None else {"percentile": self.percentile, "beyond": [*self.beyond]}
        return {"name": self.name, **{name: getattr(self, name) for name in names}, **of} | {
            "margin": None if margin is None else margin.by,
            "could_be": None if margin is None else margin.could_be,
        }

    def __str__(self) -> str:
        return f"{self.run}: {self.what}"


@dataclass(frozen=True, slots=True)
class Margin:
    """How far a value lies above a lower bound, or below an upper one, and the stricter bound that it would still pass.

    ``could_be`` has two decimals, or two digits if it is small, rounded to the safe side; it is None if not stricter.
    The value of a ``whole`` gate is a number of questions.
    """

    value: float
    by: float
    upper: bool
    could_be: float | None
    whole: bool = False

    def __str__(self) -> str:
        """Return the margin in words.

        >>> str(Margin(0.8312, 0.0312, False, 0.83)), str(Margin(0.75, 0.0, False, None))
        ('0.8312, 0.0312 above; could be 0.83', '0.7500, at it')
        """
        value, by = (f"{one:.12g}" if self.whole else _figure(one) for one in (self.value, self.by))
        distance = f"{by} {'below' if self.upper else 'above'}" if self.by and not equal(self.by, 0) else "at it"
        return f"{value}, {distance}" + ("" if self.could_be is None else f"; could be {self.could_be:.12g}")


def _figure(value: float) -> str:
    return f"{value:.4f}" if not value or abs(value) >= 0.001 else f"{value:.2g}"


def _rounded(value: float, upper: bool) -> float:
    """Return a bound of few digits that a value passes: no higher than a lower bound, no lower than an upper one.

    >>> _rounded(0.8312, False), _rounded(0.8312, True), _rounded(0.83, False), _rounded(0.00456, True)
    (0.83, 0.84, 0.83, 0.0046)
    >>> _rounded(5331.2, True), _rounded(-0.236, True), _rounded(0.0, True)
    (5332.0, -0.23, 0.0)
    """
    if not value or not math.isfinite(value):
        return value
    size = math.floor(math.log10(abs(value)))
    digits = 2 if size in (-1, 0) else max(1 - size, 0) if size < 0 else max(2 - size, 0)
    steps = value * 10**digits
    whole = round(steps) if equal(steps, round(steps)) else math.ceil(steps) if upper else math.floor(steps)
    return float(whole / 10**digits)


def with_margins(outcomes: Iterable[GateOutcome]) -> list[GateOutcome]:
    """Return the passed outcomes whose margin tells something: a count of failures at its bound doesn't."""
    return [one for one in outcomes if one.margin is not None and (one.margin.by or not one.margin.whole)]


def hold(outcomes: Iterable[GateOutcome], *, brief: bool = False) -> None:
    """Raise a GateError with a sentence for each gate that failed; if ``brief``, for the first ``NAMED`` of them."""
    error = gate_error(outcomes, brief=brief)
    if error is not None:
        raise error


def gate_error(outcomes: Iterable[GateOutcome], *, brief: bool = False) -> GateError | None:
    """Return the error that :func:`hold` raises, or None if all gates passed."""
    sentences = [str(gate) for gate in outcomes if not gate.passed]
    if brief and len(sentences) > NAMED:
        sentences[NAMED:] = [f"and {counted(len(sentences) - NAMED, 'more gate')}"]
    return GateError("gate failed: " + "; ".join(sentences)) if sentences else None
