"""The repetitions of one system as one result: the value of each question is the mean over them, pass^k or pass@k."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graphkit.errors import InputError
from graphkit.measures.registry import bounds_of, lower_is_better, target_of, worst_of
from graphkit.records.bounds import equal
from graphkit.records.repetition_names import repetition_name, repetition_of, repetitions_by_name
from graphkit.records.unanswered import MISSING, CountedAs, counts_as_worst
from graphkit.records.usage import Spread
from graphkit.records.words import counted
from graphkit.scoring.clustered_intervals import ClusteredMeans
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.reason_counts import count_reasons, listed
from graphkit.scoring.relation_counts import RelationCounts
from graphkit.scoring.results import Evaluation, Row

#: The reason of a question by a measure without a value that passes.
NOTHING_PASSES = "nothing says which value passes"


@dataclass(frozen=True)
class Passing:
    """From which value on a repetition of a question passes: a stated one, else its target, else its best one.

    Attributes
    ----------
    at
        The least value (for a measure that is better low, the largest) by measure.
    target
        Returns the target of a measure, which a value must be better than; None if there is none.
    """

    at: Mapping[str, float] = field(default_factory=dict)
    target: Callable[[str], float | None] = target_of

    def bound(self, measure: str) -> tuple[float, bool] | None:
        """Return the bound of a measure, and whether it passes itself; None if nothing says what passes."""
        if measure in self.at:
            return self.at[measure], True
        target = self.target(measure)
        if target is not None:
            return target, False
        best = bounds_of(measure)[0 if lower_is_better(measure) else 1]
        return None if best is None else (best, True)

    def has_threshold(self, measure: str) -> bool:
        """Return whether a measure has another bound than its best value."""
        return measure in self.at or self.target(measure) is not None

    def passed(self, measure: str, values: Iterable[float]) -> int:
        """Return how many values pass.

        Raises
        ------
        InputError
            Nothing says which value of the measure passes.
        """
        found = self.bound(measure)
        if found is None:
            what = f"{measure} has no best value, by which a repetition could pass"
            raise InputError(what, where="--pass-k", remedy=f"State the least value: --pass-at {measure}=VALUE.")
        bound, itself = found
        sign = -1 if lower_is_better(measure) else 1
        return sum(
            (equal(one, bound) and itself) or (sign * (one - bound) > 0 and not equal(one, bound)) for one in values
        )

    def words(self, measure: str) -> str:
        """Return what passes by a measure.

        >>> Passing({"reward": 0.5}).words("reward"), Passing().words("EdgeRecall"), Passing().words("Success@5")
        ('at 0.5 or better', 'better than 0.8', 'with the best value')
        """
        if measure in self.at:
            return f"at {self.at[measure]:g} or better"
        target = self.target(measure)
        return "with the best value" if target is None else f"better than {target:g}"


def all_pass(passed: int, trials: int, k: int) -> float:
    """Return pass^k: the share of all choices of k of a question's trials in which all pass.

    >>> all_pass(3, 5, 2)
    0.3
    """
    return math.comb(passed, k) / math.comb(trials, k)


def any_passes(passed: int, trials: int, k: int) -> float:
    """Return pass@k: the share of all choices of k of a question's trials in which one passes.

    >>> any_passes(3, 5, 2)
    0.9
    """
    return 1 - math.comb(trials - passed, k) / math.comb(trials, k)


@dataclass(frozen=True)
class RepeatedSystem:
    """A system, the results of its repetitions, and the one result of both: see :func:`pooled`."""

    name: str
    repetitions: tuple[Evaluation, ...]
    result: Evaluation

    def spread(self, measure: str) -> str:
        """Return of how many repetitions the value is the mean, with theirs and how many of their answers failed."""
        return _mean_of(len(self.repetitions), self._held(measure), None, self._failed) + self._gap

    def sentence(self, measure: str | None) -> str:
        """Return that the system stands for its repetitions, with the spread of a measure."""
        held = [] if measure is None else self._held(measure)
        return repeated_in_words(self.name, len(self.repetitions), held, measure, self._failed) + self._gap

    @property
    def _gap(self) -> str:
        """That a number is missing, such as that of a repetition which crashed before its first record."""
        numbers = {found[1] for one in self.repetitions if (found := repetition_of(one.run)) is not None}
        first = next((one for one in range(1, max(numbers, default=0)) if one not in numbers), None)
        return "" if first is None else f"; there is no {repetition_name(self.name, first)}"

    def _held(self, measure: str) -> list[float]:
        return [value for one in self.repetitions if (value := one.held(measure)) is not None]

    @property
    def _failed(self) -> int:
        return sum(one.unanswered for one in self.repetitions)


def repeated_in_words(name: str, repetitions: int, means: Sequence[float], measure: str | None, failed: int) -> str:
    """Return that a system stands for its repetitions, with their means by a measure and their failed answers.

    >>> repeated_in_words("mine", 3, [0.5, 0.75, 0.7], "EdgeF1", 2)
    'mine is the mean of 3 repetitions (EdgeF1 0.5000 to 0.7500; 2 answers failed or missing)'
    """
    return f"{name} is {_mean_of(repetitions, means, measure, failed)}"


def _mean_of(repetitions: int, means: Sequence[float], measure: str | None, failed: int) -> str:
    parts = [f"{'' if measure is None else f'{measure} '}{min(means):.4f} to {max(means):.4f}"] if means else []
    parts += [f"{counted(failed, 'answer')} failed or missing"] if failed else []
    return f"the mean of {counted(repetitions, 'repetition')}" + (f" ({'; '.join(parts)})" if parts else "")


def repeated_systems(results: Sequence[Evaluation]) -> list[RepeatedSystem]:
    """Return the systems that several results repeat, by their names (``NAME@1``, ``NAME@2``, ...).

    Results without rows, or by other gold, aren't taken together.
    """
    by_run = {result.run: result for result in results}
    found = []
    for name, runs in repetitions_by_name(by_run).items():
        repeated = [by_run[run] for run in runs]
        if name not in by_run and all(one.rows for one in repeated) and len({one.gold_hash for one in repeated}) == 1:
            found.append(RepeatedSystem(name, tuple(repeated), pooled(name, repeated)))
    return found


def pooled(
    name: str,
    repetitions: Sequence[Evaluation],
    *,
    baseline: bool = False,
    pass_k: int | None = None,
    passing: Passing | None = None,
) -> Evaluation:
    """Return the one result of repetitions of a system, which have the same questions and gold.

    The value of a question is the mean over the repetitions that have one. A repetition that failed on it, or didn't
    log what a measure needs although another record of the system does, counts as the worst value, as ``failed_as``
    says; for a ``baseline`` it is left out. A question on which no repetition has a value keeps a reason.

    With ``pass_k`` the value is the share of all choices of so many repetitions that pass throughout: C(c, k) /
    C(n, k) where c of n repetitions pass, as ``passing`` says (pass^k; Yao et al. 2024, tau-bench).

    Raises
    ------
    InputError
        There are fewer repetitions than ``pass_k``.
    """
    first, relations = repetitions[0], RelationCounts.total(one.relations for one in repetitions)
    if pass_k is not None and len(repetitions) < pass_k:
        what = f"pass^{pass_k} needs {pass_k} repetitions, and {name} has {len(repetitions)}"
        raise InputError(what, where="--pass-k", remedy="Repeat it more often, or lower K.")
    named = [measure for measure in first.measures if all(measure in one.measures for one in repetitions)]
    columns, strict = {}, {}
    for measure in named:
        held = [_values(dataclasses.replace(one, relations=relations), measure) for one in repetitions]
        given = any(score.measure == measure for score in first.given)
        lenient, counts = (
            pooled_column(measure, [one[kind] for one in held], first.failed_as, baseline=baseline) for kind in (0, 1)
        )
        if pass_k is not None:
            columns_of_gates = [one[1] for one in held]
            counts = _pass_column(measure, columns_of_gates, first.failed_as, pass_k, passing or Passing())
        columns[measure] = counts if given or pass_k is not None else lenient
        strict[measure] = {
            one: value for one, value in counts.items() if isinstance(value, float) and columns[measure][one] != value
        }
    by_question = [{row.question: row for row in one.rows} for one in repetitions]
    rows = tuple(
        _row([held[row.question] for held in by_question if row.question in held], columns, strict, len(repetitions))
        for row in first.rows
    )
    measures, unscored = {}, {}
    for measure, column in columns.items():
        more = [value - was for one, value in strict[measure].items() if isinstance(was := column[one], float)]
        measures[measure] = Summary.of_values(measure, column.values(), strict=more)
        unscored[measure] = count_reasons(column.values())[0]
    invalid = {one: why for result in repetitions for one, why in result.invalid.items()}
    failures = [row.failure for row in rows if row.failure is not None]
    result = dataclasses.replace(
        first,
        run=name,
        failed=sum(one != MISSING for one in failures),
        missing=failures.count(MISSING),
        unanswered=sum(row.failure is not None and row.question not in invalid for row in rows),
        measures=measures,
        rows=rows,
        invalid=invalid,
        efficiency=_efficiency(repetitions),
        given=tuple(
            score.model_copy(update={"strict_value": None})
            for one in repetitions
            for score in one.given
            if score.untyped
        ),
        warnings=(),
        unscored=listed(unscored),
        relations=relations,
        clustered=None,
        intervals={},
        squares={},
    )
    if first.clustered is None:
        return result
    clustered = ClusteredMeans.of(first.clustered.clusters, measures, result.held_values)
    return dataclasses.replace(result, clustered=clustered)


def pooled_column(
    measure: str,
    columns: Sequence[Mapping[str, float | str]],
    counted_as: CountedAs = "worst",
    *,
    baseline: bool = False,
) -> dict[str, float | str]:
    """Return the mean of each question over the columns of some repetitions, or the reason why it has none.

    >>> columns = [{"q": 1.0, "r": 0.5}, {"q": "failed: timeout", "r": "no gold"}]
    >>> pooled_column("EdgeRecall", columns), pooled_column("EdgeRecall", columns, baseline=True)
    ({'q': 0.5, 'r': 0.5}, {'q': 1.0, 'r': 0.5})
    """
    found: dict[str, float | str] = {}
    for question in dict.fromkeys(one for column in columns for one in column):
        values = [column[question] for column in columns if question in column]
        numbers = _numbers(measure, values, "unscored" if baseline else counted_as)
        found[question] = math.fsum(numbers) / len(numbers) if numbers else _reason(values, counted_as)
    return found


def _pass_column(
    measure: str, columns: Sequence[Mapping[str, float | str]], counted_as: CountedAs, k: int, passing: Passing
) -> dict[str, float | str]:
    if passing.bound(measure) is None:  # which matters only if it is bounded
        return dict.fromkeys(columns[0], NOTHING_PASSES)
    found: dict[str, float | str] = {}
    for question in columns[0]:
        values = [column[question] for column in columns]
        numbers = _numbers(measure, values, counted_as)
        if len(numbers) < k:
            found[question] = _reason(values, counted_as)
        else:
            found[question] = all_pass(passing.passed(measure, numbers), len(numbers), k)
    return found


def _numbers(measure: str, values: Iterable[float | str], counted_as: CountedAs) -> list[float]:
    """Return the values of one question that count; none if no repetition has one."""
    values = list(values)
    worst = worst_of(measure)
    if all(isinstance(one, str) for one in values):
        return []
    zeros = counted_as == "zero" and worst == 0
    found = []
    for one in values:
        if not isinstance(one, str):
            found.append(float(one))
        elif worst is not None and (zeros or counts_as_worst(one, counted_as)):
            found.append(worst)
    return found


def _reason(values: Sequence[float | str], counted_as: CountedAs) -> str:
    """Return why a question has no value: a reason of the system before one of the question."""
    reasons = [one for one in values if isinstance(one, str)]
    if not reasons:
        return "too few repetitions have a value"
    return min(reasons, key=lambda one: not counts_as_worst(one, counted_as))


def _values(result: Evaluation, measure: str) -> tuple[dict[str, float | str], dict[str, float | str]]:
    """Return what a result holds by a measure for each question, and the same as gates take relations."""
    place = [*result.measures].index(measure)
    held = {row.question: row.values[place] for row in result.rows}
    return held, held | result.strict_values(measure)


def _row(
    rows: Sequence[Row],
    columns: Mapping[str, Mapping[str, float | str]],
    strict: Mapping[str, Mapping[str, float | str]],
    repetitions: int,
) -> Row:
    question = rows[0].question
    failures = [row.failure for row in rows if row.failure is not None]
    times = [row.latency_ms for row in rows if row.latency_ms is not None]
    return dataclasses.replace(
        rows[0],
        values=tuple(column[question] for column in columns.values()),
        outcome=None,
        failure=min(failures, key=lambda one: one == MISSING) if len(failures) == repetitions else None,
        strict=tuple((name, value) for name, held in strict.items() if isinstance(value := held.get(question), float)),
        latency_ms=math.fsum(times) / len(times) if times else None,
    )


def _efficiency(repetitions: Sequence[Evaluation]) -> dict[str, Spread]:
    """Return what a repetition takes: the mean of each figure over those that state it."""
    found = {}
    for name in repetitions[0].efficiency:
        stated = [one.efficiency[name] for one in repetitions if one.efficiency.get(name) is not None]
        known = [one for one in stated if one.total is not None]
        found[name] = Spread(
            mean=_mean(one.mean for one in known),
            median=_mean(one.median for one in known),
            p95=_mean(one.p95 for one in known),
            total=_mean(one.total for one in known),
            known=sum(one.known for one in stated),
        )
    return found


def _mean(values: Iterable[float | None]) -> float | None:
    known = [one for one in values if one is not None]
    return math.fsum(known) / len(known) if known else None
