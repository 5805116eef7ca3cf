"""Select the questions of a run that the graph keeps: failures, a sample, or those with certain values of a measure.

A question is a *failure* if the run failed on it or has no record of it, if its answer or its path is wrong, or if a
measure with a target is worse than that. An undecided answer or path is not wrong.
"""

from __future__ import annotations

import heapq
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from graphkit.errors import InputError
from graphkit.measures.base import Measure
from graphkit.scoring.measured import own_thresholds, worse
from graphkit.scoring.results import Row

FAILURES = "failures"

#: Seeds the sample, which is then the same for every run, order and number of processes.
_SEED = b"graphkit sample"

_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}

_SAMPLE = re.compile(r"sample=(\d+)")
_FILTER = re.compile(r"(?P<measure>.*?)\s*(?P<sign><=|>=|<|>|=)\s*(?P<bound>[^<>=]+)")


@dataclass(frozen=True, slots=True)
class Filter:
    """Selects questions by their values of a measure; those without a value aren't selected."""

    measure: str
    sign: str
    bound: float

    def __str__(self) -> str:
        return f"{self.measure}{self.sign}{self.bound!r}"


@dataclass(frozen=True, slots=True)
class Selection:
    """The rule by which questions are kept: each question that any of its parts selects.

    Attributes
    ----------
    failures
        Whether failures are kept.
    sample
        The number of questions in a seeded sample; 0 for none.
    filters
        Filters on measures.
    """

    failures: bool = False
    sample: int = 0
    filters: tuple[Filter, ...] = ()

    @classmethod
    def parse(cls, texts: str | Sequence[str]) -> Selection:
        """Return the rule of texts such as ``failures``, ``sample=1000`` and ``EdgeRecall<0.5``.

        Raises
        ------
        InputError
            A text is none of these.
        """
        failures, sample, filters = False, 0, []
        for text in [texts] if isinstance(texts, str) else texts:
            if text == FAILURES:
                failures = True
            elif (sized := _SAMPLE.fullmatch(text)) and int(sized[1]):
                sample = max(sample, int(sized[1]))
            elif not text.startswith("sample=") and (found := _FILTER.fullmatch(text)) and found["measure"]:
                filters.append(Filter(found["measure"], found["sign"], _bound(found["bound"], text)))
            else:
                raise _unclear(text)
        return cls(failures, sample, tuple(dict.fromkeys(filters)))

    def named(self, name: Callable[[str], str]) -> Selection:
        """Return the rule with other names of its measures."""
        return Selection(
            self.failures, self.sample, tuple(Filter(name(one.measure), one.sign, one.bound) for one in self.filters)
        )

    @property
    def texts(self) -> list[str]:
        """The texts of its parts, which :meth:`parse` reads."""
        parts = [FAILURES] if self.failures else []
        parts += [f"sample={self.sample}"] if self.sample else []
        return [*parts, *map(str, self.filters)]

    def __str__(self) -> str:
        return " or ".join(self.texts)

    def chooser(self, measures: Iterable[str | Measure]) -> Chooser:
        """Return what selects among rows whose values are in the order of these measures.

        Raises
        ------
        InputError
            A filter names a measure that isn't among them.
        """
        return Chooser(self, [str(measure) for measure in measures])


class Chooser:
    """Selects questions row by row. Choosers of parts of a run are merged in any order, with the same result."""

    def __init__(self, selection: Selection, measures: Sequence[str]) -> None:
        places = {name: place for place, name in enumerate(measures)}
        if lacking := [one for one in selection.filters if one.measure not in places]:
            raise InputError(
                f"no value of {lacking[0].measure} decides which questions to keep",
                where=f"--keep {lacking[0]}",
                remedy=f"Compute it (-m {lacking[0].measure}), or give its scores (--scores).",
            )
        self._filters = [(places[one.measure], _COMPARED[one.sign], one.bound) for one in selection.filters]
        targets = [(place, name, own_thresholds(name).target) for place, name in enumerate(measures)]
        self._targets = [(place, name, target) for place, name, target in targets if target is not None]
        self._failures = selection.failures
        self._size = selection.sample
        self._by_rule: set[str] = set()
        self._sampled: list[tuple[int, str]] = []

    def see(self, row: Row) -> None:
        """Select a row, or don't; ``row.outcome`` says whether its answer and its path are right."""
        if (self._failures and self._failed(row)) or self._filtered(row):
            self._by_rule.add(row.question)
        if self._size:
            self._draw((-_rank(row.question), row.question))

    def merge(self, other: Chooser) -> None:
        """Add what the chooser of another part of the run has seen."""
        self._by_rule |= other._by_rule
        for drawn in other._sampled:
            self._draw(drawn)

    @property
    def chosen(self) -> set[str]:
        """The ids of the selected questions."""
        return self._by_rule.union(name for _, name in self._sampled)

    def _draw(self, drawn: tuple[int, str]) -> None:
        """Keep the questions of the lowest ranks, which the heap holds as negative numbers."""
        if len(self._sampled) < self._size:
            heapq.heappush(self._sampled, drawn)
        else:
            heapq.heappushpop(self._sampled, drawn)

    def _filtered(self, row: Row) -> bool:
        return any(
            not isinstance(value := row.values[place], str) and compared(value, bound)
            for place, compared, bound in self._filters
        )

    def _failed(self, row: Row) -> bool:
        if row.failure is not None:
            return True
        if row.outcome is not None and (row.outcome.answer is False or row.outcome.path is False):
            return True
        return any(
            not isinstance(value := row.values[place], str) and worse(name, value, target)
            for place, name, target in self._targets
        )


def _rank(question: str) -> int:
    raw = blake2b(question.encode("utf-8", "surrogatepass"), digest_size=8, key=_SEED).digest()
    return int.from_bytes(raw, "big")


def _bound(text: str, whole: str) -> float:
    try:
        bound = float(text)
    except ValueError:
        raise _unclear(whole) from None
    if bound != bound:
        raise _unclear(whole)
    return bound


def _unclear(text: str) -> InputError:
    return InputError(
        f"{text!r} doesn't say which questions to keep",
        where="--keep",
        remedy="Give failures, sample=N with N of at least 1, or a filter on a measure such as 'EdgeRecall<0.5'.",
    )
