"""Select the questions of a run that the graph keeps: failures, a sample, or those of which a filter holds.

A question is a *failure* if the run failed on it or has no record of it, if its answer or its path is wrong, or if a
measure with a target is worse than that. An undecided answer or path is not wrong.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import get_args

from graphkit.errors import InputError
from graphkit.measures.outcome import STAGES, UNDECIDED, Outcome
from graphkit.measures.registry import measure_kinds
from graphkit.records.models import Difficulty
from graphkit.records.unanswered import MISSING
from graphkit.scoring.filter_expressions import (
    ELSEWHERE,
    FLAG,
    NUMBER,
    PAGE,
    TEXT,
    FilterError,
    FilterExpression,
    NameKind,
    Value,
)
from graphkit.scoring.measured import own_thresholds, worse
from graphkit.scoring.results import LABELS, Row

FAILURES = "failures"

#: Seeds the sample, which is then the same for every run, order and number of processes.
_SEED = b"graphkit sample"

_SAMPLE = re.compile(r"\s*sample\s*=(?!=)\s*(.*)", re.DOTALL)

_TEXTS = ("question", *LABELS, "run", "answer", "path", "stage")
_FLAGS = (FAILURES, "failed", "absent", "invalid", "complete", "luck", "incoherent", "off_pin")

#: What a filter may name beside measures.
FIELDS: Mapping[str, NameKind] = {**dict.fromkeys(_TEXTS, TEXT), "missed": NUMBER, **dict.fromkeys(_FLAGS, FLAG)}

_DECISIONS = ("right", "wrong", UNDECIDED)

#: The values of the texts that can't have others.
_CLOSED: Mapping[str, Sequence[str]] = {
    "answer": _DECISIONS,
    "path": _DECISIONS,
    "stage": STAGES,
    "difficulty": get_args(Difficulty),
}

#: The fields that the outcome of a question decides.
_OF_OUTCOME = frozenset({FAILURES, "answer", "path", "stage", "missed", "complete", "luck"})

#: The flags that a measure decides.
_OF_MEASURE = {"incoherent": "Coherence", "off_pin": "OffPin"}

#: What a filter of the page may name, and a run's scores don't hold, with what to do.
_IN_PAGE = {
    "cause": "`graphkit report RUN` filters by it, and `graphkit why RUN QUESTION` names it.",
    "text": "Name the question's id, or its category.",
    "session": "`graphkit report RUN` filters by it, and `graphkit evaluate RUN --where FILTER` picks by it.",
    "turn": "`graphkit failures RUN --kind wrong-turns` lists these questions.",
    "unlogged": "EdgeRecall == none holds of these questions, too.",
}

_FORMS = (
    "Give failures, sample=N with N of at least 1, or a filter such as 'EdgeRecall < 0.5 and category == \"imports\"'."
)


@dataclass(frozen=True, slots=True)
class Selection:
    """The rule by which questions are kept: each question that any of its parts selects.

    Attributes
    ----------
    sample
        The number of questions in a seeded sample; 0 for none.
    filters
        Filters on measures, fields and flags (:mod:`graphkit.scoring.filter_expressions`); ``failures`` is one.
    """

    sample: int = 0
    filters: tuple[FilterExpression, ...] = ()

    @classmethod
    def parse(cls, texts: str | Sequence[str]) -> Selection:
        """Return the rule of texts such as ``failures``, ``sample=1000`` and ``EdgeRecall < 0.5``.

        Raises
        ------
        InputError
            A text is none of these; for a filter, the error says where it is wrong.
        """
        sample, filters = 0, []
        for text in [texts] if isinstance(texts, str) else texts:
            if (sized := _SAMPLE.match(text)) is not None:
                sample = max(sample, _size(text, sized[1]))
            else:
                filters.append(_filter(text))
        return cls(sample, tuple(dict.fromkeys(filters)))

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that its filters name, or that decide a flag which they name."""
        names = (_OF_MEASURE.get(name, name) for one in self.filters for name in one.names)
        return tuple(dict.fromkeys(name for name in names if name not in FIELDS))

    @property
    def by_outcome(self) -> bool:
        """Whether it asks for what the outcome of a question decides, such as whether its answer is right."""
        return any(name in _OF_OUTCOME for one in self.filters for name in one.names)

    def named(self, name: Callable[[str], str]) -> Selection:
        """Return the rule with other names of its measures."""
        return Selection(
            self.sample,
            tuple(one.renamed(lambda known: known if known in FIELDS else name(known)) for one in self.filters),
        )

    @property
    def texts(self) -> list[str]:
        """The texts of its parts, which :meth:`parse` reads."""
        parts = [str(one) for one in self.filters if str(one) == FAILURES]
        parts += [f"sample={self.sample}"] if self.sample else []
        return [*parts, *(str(one) for one in self.filters if str(one) != FAILURES)]

    def __str__(self) -> str:
        return " or ".join(self.texts)

    def chosen(
        self, measures: Iterable[str], rows: Iterable[Row], run: str = "", invalid: Collection[str] = ()
    ) -> set[str]:
        """Return the ids of the questions that it selects, in one pass over rows in any order.

        Parameters
        ----------
        measures
            The measures in the order of the rows' values.
        rows
            Their outcomes say whether answer and path are right.
        run
            The name of the run.
        invalid
            The questions with stale gold.

        Raises
        ------
        InputError
            A filter names a measure that isn't among them.
        """
        values = _RowValues([*measures], run, invalid)
        if lacking := [name for name in self.measures if name not in values.places]:
            raise InputError(
                f"no value of {lacking[0]} decides which questions to keep",
                where=f"--keep {self}",
                remedy=f"Compute it (-m {lacking[0]}), or give its scores (--scores).",
            )
        found: set[str] = set()
        sampled: list[tuple[int, str]] = []  # a heap of the lowest ranks, which it holds as negative numbers
        for row in rows:
            if any(one.holds(partial(values.of, row)) for one in self.filters):
                found.add(row.question)
            if self.sample:
                push = heapq.heappush if len(sampled) < self.sample else heapq.heappushpop
                push(sampled, (-_rank(row.question), row.question))
        return found.union(name for _, name in sampled)


class _RowValues:
    """What a filter may name of a row."""

    def __init__(self, measures: Sequence[str], run: str, invalid: Collection[str]) -> None:
        self.places = {name: place for place, name in enumerate(measures)}
        targets = [(place, name, own_thresholds(name).target) for place, name in enumerate(measures)]
        self._targets = [(place, name, target) for place, name, target in targets if target is not None]
        self._run, self._invalid = run, invalid

    def of(self, row: Row, name: str) -> Value:
        """Return the value of a measure, field or flag; None for one that isn't scored or empty."""
        if name not in FIELDS:
            value = row.values[self.places[name]]
            return None if isinstance(value, str) else value
        if name in LABELS:
            return row.labels[LABELS.index(name)]
        if name in _OF_OUTCOME:
            return self._failed(row) if name == FAILURES else _judged(row.outcome, name)
        if name == "failed":
            return row.failure not in (None, MISSING)
        if name in _OF_MEASURE:
            value = row.values[self.places[_OF_MEASURE[name]]]
            return not isinstance(value, str) and (value > 0 if name == "off_pin" else value < 1)
        if name == "absent":
            return row.failure == MISSING
        if name == "invalid":
            return row.question in self._invalid
        return row.question if name == "question" else self._run

    def _failed(self, row: Row) -> bool:
        if row.failure is not None:
            return True
        if row.outcome is not None and (row.outcome.answer is False or row.outcome.path is False):
            return True
        return any(
            not isinstance(value := row.values[place], str) and worse(name, value, target)
            for place, name, target in self._targets
        )


def _size(text: str, number: str) -> int:
    """Return the N of ``sample=N``."""
    if (size := number.strip()).isdecimal() and int(size):
        return int(size)
    what = "sample=N stands alone, with N of at least 1: it isn't part of a filter"
    raise InputError(what, where=f"--keep {text}", remedy=f"{_FORMS} Several --keep add up.")


def _rank(question: str) -> int:
    raw = blake2b(question.encode("utf-8", "surrogatepass"), digest_size=8, key=_SEED).digest()
    return int.from_bytes(raw, "big")


def _judged(outcome: Outcome | None, name: str) -> Value:
    """Return what the outcome of a question decides, as the page says it; without one nothing is decided."""
    answer, path = (None, None) if outcome is None else (outcome.answer, outcome.path)
    if name == "stage":
        return UNDECIDED if outcome is None else outcome.stage.name
    if name == "missed":
        return None if outcome is None or path is None else outcome.missed_edges
    if name == "complete":
        return path is True
    if name == "luck":
        return answer is True and path is False
    decided = answer if name == "answer" else path
    return UNDECIDED if decided is None else "right" if decided else "wrong"


def _filter(text: str) -> FilterExpression:
    """Return the filter of a text, its fields as they are known. A measure's parameters are checked by who computes it.

    A name that isn't known and is compared with a number counts as a measure: scores of other tools have any name.
    """
    try:
        expression = FilterExpression.parse(text)
        if expression.asks_other_runs:
            raise InputError("any(...) asks several runs, and --keep looks at one at a time", where=f"--keep {text}")
        measures = [*(kind.name for kind in measure_kinds()[0]), *expression.compared_with_numbers]
        kinds: dict[str, NameKind] = {**dict.fromkeys(measures, NUMBER), **FIELDS, **dict.fromkeys(_IN_PAGE, PAGE)}
        return expression.bound(kinds, _CLOSED)
    except FilterError as error:
        remedy = _IN_PAGE.get(error.problem.removesuffix(f" is {ELSEWHERE[PAGE]}"), _FORMS)
        raise FilterError(error.problem, text, error.at, where="--keep", remedy=remedy) from None
