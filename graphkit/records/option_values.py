"""Values of options as a user writes them, on a command line or in the settings of a test run."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import PurePath
from typing import Literal, NamedTuple

from graphkit.errors import InputError

#: What questions are grouped by: their own fields, and what their gold has in the graph.
By = Literal[  # noqa: RUF041 - a list on two lines
    Literal["category", "difficulty", "group", "split", "session"],
    Literal["repo", "repositories", "hops", "boundary", "relation", "commit"],
]

#: The longest name or path among arguments, and the longest text, such as a query, in characters.
LONGEST_ARGUMENT, LONGEST_TEXT = 4096, 1 << 16


def check_given(where: str, value: object, longest: int = LONGEST_TEXT) -> None:
    """Refuse the value of an option or argument that nothing could use: too long a text, or a number without end.

    Commands and the tools of agents pass each value through here before they begin.

    Raises
    ------
    InputError
        A text, or one of a list, is longer than ``longest``; or a number is NaN or infinite.
    """
    for one in value if isinstance(value, list | tuple) else [value]:
        if isinstance(one, float) and not math.isfinite(one):
            raise InputError(f"{where} takes a finite number, not {one}")
        size = len(str(one)) if isinstance(one, str | PurePath) else 0
        if size > longest:
            raise InputError(
                f"{where} has {size} characters, and may have {longest}", remedy="Put long input in a file."
            )


def assignment(option: str, text: str) -> tuple[str, str]:
    """Split ``NAME=VALUE``; a name may contain ``=`` inside brackets, as in ``EdgeRecall(relation=False)=0.8``."""
    name, equals, value = text.rpartition("=") if option != "-p" else text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"{option} takes NAME=VALUE, not {text!r}")
    return name.strip(), value.strip()


class Bound(NamedTuple):
    """A measure by its text, and the bound of a gate."""

    measure: str
    value: float


class Seconds(float):
    """A number that was written with a unit of time."""


_UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}


def timed(text: str) -> float:
    """Return the number of a text, as :class:`Seconds` if it has a unit of time; NaN if it is no number.

    >>> timed("250ms"), timed("1.5 min"), timed("2"), timed("soon")
    (0.25, 90.0, 2.0, nan)
    """
    number, unit = re.fullmatch(r"(.*?)\s*(ms|s|min|h)?", text.strip(), re.DOTALL).groups()  # type: ignore[union-attr]
    try:
        return float(number) if unit is None else Seconds(float(number) * _UNITS[unit])
    except ValueError:
        return math.nan


def bound(option: str) -> Callable[[str], Bound]:
    """Return a function that reads ``MEASURE=VALUE``; a bound on ``latency_ms`` without a unit is in milliseconds."""

    def read(text: str) -> Bound:
        name, value = assignment(option, text)
        own = re.sub(r"(?i)latency_ms(?=_p[\d.]+\Z|\Z)", "Latency", name)
        number = timed(value)
        if own != name and not isinstance(number, Seconds):
            number = Seconds(number / 1000)
        if not math.isfinite(number):
            raise InputError(f"{option} takes MEASURE=VALUE with a number, of Latency also 900ms or 2min, not {text!r}")
        return Bound(own, number)

    return read


_PERCENTILE = re.compile(r"(?P<measure>.+)_p(?P<percent>\d{1,9}(?:\.\d{1,9})?)", re.IGNORECASE | re.DOTALL)


class PercentileName(str):
    """The name of a percentile in results, such as ``Latency_p95``, with its measure and its percentage."""

    measure: str
    percent: Fraction

    @classmethod
    def of(cls, measure: str, percent: Fraction) -> PercentileName:
        """Return the name of a percentile of a measure."""
        name = cls(f"{measure}_p{repr(float(percent)).removesuffix('.0')}")
        name.measure, name.percent = measure, percent
        return name


class FigureName(str):
    """The name of a figure of a whole run in results, such as ``AURC``, with the measures of whose values it is made.

    No mean over questions is such a figure; a plug-in computes it (entry points of ``graphkit.figures``).
    """

    measures: tuple[str, ...]

    @classmethod
    def of(cls, name: str, measures: tuple[str, ...]) -> FigureName:
        """Return the name of a figure of these measures."""
        found = cls(name)
        found.measures = measures
        return found


def percentile_in(text: str) -> tuple[str, Fraction] | None:
    """Return the measure and the percentage in the text of a percentile; None for any other text.

    Raise an InputError unless the percentage lies between 0 and 100.

    >>> percentile_in("latency_p95"), percentile_in("nDCG@10_p99.9"), percentile_in("RR")
    (('latency', Fraction(95, 1)), ('nDCG@10', Fraction(999, 10)), None)
    """
    if (found := _PERCENTILE.fullmatch(text)) is None:
        return None
    if not 0 < (percent := Fraction(found["percent"])) < 100:
        raise InputError(
            f"{text} is no percentile: p{found['percent']} doesn't lie between p0 and p100",
            remedy="--fail-question bounds every question.",
        )
    return found["measure"], percent


def measures_of(name: str) -> tuple[str, ...]:
    """Return the measure of a percentile's name, those of a figure's, or the name of a measure as it is."""
    if isinstance(name, FigureName):
        return name.measures
    return (name.measure if isinstance(name, PercentileName) else name,)


class Share(NamedTuple):
    """A share, of one measure or of all (None)."""

    measure: str | None
    value: float


def share(option: str) -> Callable[[str], Share]:
    """Return a function that reads ``SHARE`` or ``MEASURE=SHARE``."""
    number = number_between(option, "a share of the questions,", 0, 1)

    def read(text: str) -> Share:
        name, value = assignment(option, text) if "=" in text else (None, text)
        try:
            return Share(name, number(value))
        except ValueError:
            raise InputError(f"{option} takes [MEASURE=]SHARE with a number, not {text!r}") from None

    return read


class Drop(NamedTuple):
    """The largest accepted drop of one measure, or of any that has none of its own (None)."""

    measure: str | None
    value: float


def drop(option: str) -> Callable[[str], Drop]:
    """Return a function that reads ``VALUE`` or ``MEASURE=VALUE``, at least 0."""

    def read(text: str) -> Drop:
        name, value = assignment(option, text) if "=" in text else (None, text)
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise InputError(f"{option} takes [MEASURE=]VALUE with a number, not {text!r}")
        if number < 0:
            raise InputError(f"{option} must be at least 0, not {number:g}")
        return Drop(name, number)

    return read


def number_between(option: str, what: str, low: float, high: float) -> Callable[[str], float]:
    """Return a function that reads a number of a range."""

    def read(text: str) -> float:
        number = float(text)
        if not low <= number <= high:  # NaN is refused as well
            raise InputError(f"{option} must be {what} from {low:g} to {high:g}, not {number:g}")
        return number

    return read
