"""Two runs by their values on the same questions: each measure with its interval and test, by group, and what moved."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal

from graphkit.analysis.paired import (
    Accuracy,
    PairedResult,
    compare_pairs,
    differences_of,
    holm,
    interval,
)
from graphkit.analysis.scales import Scale
from graphkit.errors import InputError
from graphkit.measures.registry import bounds_of, lower_is_better, worst_of
from graphkit.records.bounds import equal, over, under
from graphkit.records.gold import different_gold
from graphkit.records.unanswered import FailedAs
from graphkit.records.words import counted

By = Literal["category", "difficulty", "repo", "relation"]

#: A difference is called significant below this corrected p-value.
LEVEL = 0.05

Values = Mapping[str, float]

#: Returns the gold edges of a question that one run walked and another did not.
Edges = Callable[[str, str, str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Group:
    """The measures of both runs over the questions of one group; ``name`` is None for all questions."""

    name: str | None
    results: tuple[PairedResult, ...]


@dataclass(frozen=True, slots=True)
class Mover:
    """A question that moved, with the gold edges that only the second run walked, and those that only the first did."""

    question: str
    measure: str
    first: float
    second: float
    found: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def delta(self) -> float:
        """How far it moved, second minus first."""
        return self.second - self.first


@dataclass(frozen=True)
class RunComparison:
    """Two runs over the same questions; every difference is second minus first.

    Attributes
    ----------
    dataset
        None where scores were compared.
    questions
        How many questions there are: of the dataset, or with a score of either run.
    left_out, unscored
        For each measure, how many questions only one of the runs was scored on, and how many neither was: they are not
        compared. A measure that has no question in common is in no group.
    warnings
        What else the comparison lacks, in sentences: records, or the newest form of the dataset.
    different_gold
        The questions whose gold isn't the same in both: by measures that were given for it they are not compared.
    with_failed
        The measures over all questions, with the pairs of which one run failed and the other was scored: the failed one
        counts as the worst value of the measure. Verdict and gates rest on these.
    failed
        How many questions each run failed on or has no record for; those with stale gold don't count.
    failed_as
        ``"unscored"`` where failures don't count: ``with_failed`` are then the measures over all questions.
    """

    first: str
    second: str
    dataset: str | None
    groups: tuple[Group, ...]
    movers: tuple[Mover, ...]
    questions: int
    left_out: Mapping[str, int]
    unscored: Mapping[str, int]
    warnings: tuple[str, ...] = ()
    different_gold: tuple[str, ...] = ()
    with_failed: tuple[PairedResult, ...] = ()
    failed: tuple[int, int] = (0, 0)
    failed_as: FailedAs = "worst"

    @property
    def overall(self) -> tuple[PairedResult, ...]:
        """The measures over all questions."""
        return self.groups[0].results

    def regressions(self) -> list[PairedResult]:
        """Return the measures on which the second run is significantly worse, over all questions, failed ones too."""
        return [one for one in self.with_failed if one.p_holm < LEVEL and self.gain(one) < 0]

    @staticmethod
    def gain(result: PairedResult) -> float:
        """Return by how much the second run is better: the difference, with its sign turned where less is better."""
        return result.delta * (-1 if lower_is_better(result.measure) else 1)

    def failures(self, result: PairedResult) -> int:
        """Return how many pairs of a result of ``with_failed`` count a failed question."""
        return result.questions - next((one.questions for one in self.overall if one.measure == result.measure), 0)

    def left_out_unfailed(self) -> dict[str, int]:
        """Return ``left_out`` without the questions that one run failed on, which ``with_failed`` counts."""
        counted = {one.measure: self.failures(one) for one in self.with_failed}
        return {name: rest for name, count in self.left_out.items() if (rest := count - counted.get(name, 0)) > 0}

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``graphkit compare --json`` prints."""
        return {
            "first": self.first,
            "second": self.second,
            "dataset": self.dataset,
            "groups": [
                {"name": group.name, "measures": [dataclasses.asdict(one) for one in group.results]}
                for group in self.groups
            ],
            "movers": [{**dataclasses.asdict(one), "delta": one.delta} for one in self.movers],
            "questions": self.questions,
            "left_out": dict(self.left_out),
            "unscored": dict(self.unscored),
            "warnings": list(self.warnings),
            "different_gold": list(self.different_gold),
            "failed": {self.first: self.failed[0], self.second: self.failed[1]},
            "failed_as": self.failed_as,
            "with_failed": [{**dataclasses.asdict(one), "failures": self.failures(one)} for one in self.with_failed],
            "regressions": [one.measure for one in self.regressions()],
        }


@dataclass(frozen=True, slots=True)
class GoldComparison:
    """By what gold two runs were scored: the questions of which it differs, and those of which one side alone tells it.

    The values of the first are taken out: a difference there may be that of the gold.
    """

    taken_out: dict[str, set[str]]
    untold: dict[str, int]

    @classmethod
    def hold(
        cls,
        runs: tuple[str, str],
        values: tuple[Mapping[str, dict[str, float]], Mapping[str, dict[str, float]]],
        gold: tuple[Mapping[str, Mapping[str, str | None]], Mapping[str, Mapping[str, str | None]]],
        strict: bool,
    ) -> GoldComparison:
        """Take out of both values what is of different gold.

        Raises
        ------
        InputError
            Something is, and ``strict`` refuses it; or nothing is left.
        """
        before, after = values
        taken_out: dict[str, set[str]] = {}
        untold: dict[str, set[str]] = {run: set() for run in runs}
        for name in gold[0].keys() & gold[1].keys():
            first, second = gold[0][name], gold[1][name]
            for question in different_gold(first, second):
                if question in before[name] and question in after[name]:
                    taken_out.setdefault(name, set()).add(question)
                    del before[name][question], after[name][question]
            for question in first.keys() & second.keys():
                if (first[question] is None) != (second[question] is None):
                    untold[runs[first[question] is not None]].add(question)
        found = cls(taken_out, {run: len(some) for run, some in untold.items() if some})
        nothing_left = not any(before[name].keys() & after[name].keys() for name in before)
        if found.different and (strict or nothing_left):
            remedy = "Score both runs by the same gold"
            raise InputError(
                f"{found.told(runs)}, which {'strict reading refuses' if strict else 'leaves nothing to compare'}",
                remedy=f"{remedy}, or compare without --strict what is of the same." if strict else f"{remedy}.",
            )
        return found

    @property
    def different(self) -> tuple[str, ...]:
        """The questions of which the gold differs, by whichever measure."""
        return tuple(sorted(set().union(*self.taken_out.values())))

    def left(self, questions: Mapping[str, set[str]]) -> dict[str, set[str]]:
        """Return the questions of each measure without those that were taken out."""
        return {name: some - self.taken_out.get(name, set()) for name, some in questions.items()}

    def told(self, runs: tuple[str, str]) -> str:
        """Return in words what differs."""
        count = len(self.different)
        return (
            f"{runs[0]} and {runs[1]} were scored by different gold of {counted(count, 'question')}, such as "
            + repr(self.different[0])
        )

    def warnings(self, runs: tuple[str, str]) -> Iterator[str]:
        """Yield a sentence for what differs, and for what can't be told."""
        if self.different:
            yield f"{self.told(runs)}: {'it is' if len(self.different) == 1 else 'they are'} not compared there"
        for run, count in self.untold.items():
            yield f"by what gold {run} was scored isn't told of {counted(count, 'question')}: it may be other gold"


def refuse_itself(first: str, second: str) -> None:
    """Refuse to compare a run with itself."""
    if first == second:
        raise InputError(f"{first!r} is compared with itself: every difference would be 0", remedy="Name two runs.")


def left_out(before: Mapping[str, Values], after: Mapping[str, Values]) -> dict[str, int]:
    """Return by each measure on how many questions only one of the runs was scored."""
    return {name: count for name in before if (count := len(before[name].keys() ^ after[name].keys()))}


def unscored(
    before: Mapping[str, Values], after: Mapping[str, Values], asked: Mapping[str, set[str]]
) -> dict[str, int]:
    """Return by each measure on how many of the questions asked neither run was scored."""
    counts = {name: len(asked[name] - before[name].keys() - after[name].keys()) for name in before}
    return {name: count for name, count in counts.items() if count}


def with_failures(
    before: Mapping[str, Values], after: Mapping[str, Values], failures: tuple[Set[str], Set[str]]
) -> tuple[dict[str, Values], dict[str, Values]]:
    """Return the values of both runs, with the worst value of its measure where one failed and the other was scored.

    A measure without a worst value keeps its values.

    Parameters
    ----------
    failures
        The questions that each run failed on or has no record for.
    """

    def completed(values: Mapping[str, Values], failed: Set[str], other: Mapping[str, Values]) -> dict[str, Values]:
        found: dict[str, Values] = {}
        for name, column in values.items():
            worst = worst_of(name)
            found[name] = column if worst is None else {**column, **dict.fromkeys(failed & other[name].keys(), worst)}
        return found

    return completed(before, failures[0], after), completed(after, failures[1], before)


def judged_results(
    before: Mapping[str, Values],
    after: Mapping[str, Values],
    failures: tuple[Set[str], Set[str]],
    failed_as: FailedAs,
    scales: Mapping[str, Scale | None],
    resamples: int,
    seed: int,
) -> tuple[PairedResult, ...]:
    """Compare over all questions, those that one run failed on as ``failed_as`` says."""
    both = with_failures(before, after, failures) if failed_as == "worst" else (before, after)
    return _results(*both, scales, None, resamples, seed)


def groups_of(
    before: Mapping[str, Values],
    after: Mapping[str, Values],
    scales: Mapping[str, Scale | None],
    members: Mapping[str, set[str]],
    resamples: int,
    seed: int,
) -> tuple[Group, ...]:
    """Compare over all questions, and within each group that has something to compare."""
    groups = [Group(name, _results(before, after, scales, some, resamples, seed)) for name, some in members.items()]
    overall = Group(None, _results(before, after, scales, None, resamples, seed))
    return overall, *(group for group in groups if group.results)


def _results(
    before: Mapping[str, Values],
    after: Mapping[str, Values],
    scales: Mapping[str, Scale | None],
    members: set[str] | None,
    resamples: int,
    seed: int,
) -> tuple[PairedResult, ...]:
    """Compare each measure over the questions that both runs were scored on; Holm's correction is over the measures."""
    results = []
    for name, values in before.items():
        both = sorted(values.keys() & after[name].keys() & (members if members is not None else values.keys()))
        if both:
            pairs = [values[question] for question in both], [after[name][question] for question in both]
            scale = scales[name]
            result = compare_pairs(name, *pairs, resamples=resamples, seed=seed, span=_span(name, scale))
            if scale is not None:
                result = dataclasses.replace(result, accuracy=_accuracy(*pairs, scale, result, resamples, seed))
            results.append(result)
    corrected = holm([result.p_value for result in results])
    return tuple(
        dataclasses.replace(result, p_holm=p_value) for result, p_value in zip(results, corrected, strict=True)
    )


def _span(measure: str, scale: Scale | None) -> float | None:
    """Return how far two values of a measure can lie apart; None where nothing bounds them."""
    lowest, highest = bounds_of(measure)
    if lowest is not None and highest is not None:
        return highest - lowest
    return None if scale is None else float(scale.top)


def movers_of(
    first: str,
    second: str,
    before: Mapping[str, Values],
    after: Mapping[str, Values],
    count: int,
    edges: Edges = lambda run, other, question: (),
) -> tuple[Mover, ...]:
    """Return the questions that moved most by the first measure, at most ``count`` of them."""
    name = next(iter(before))
    both = before[name].keys() & after[name].keys()
    moved = [question for question in both if not equal(before[name][question], after[name][question])]
    moved.sort(key=lambda question: (-abs(after[name][question] - before[name][question]), question))
    return tuple(
        Mover(
            question,
            name,
            before[name][question],
            after[name][question],
            found=edges(second, first, question),
            lost=edges(first, second, question),
        )
        for question in moved[:count]
    )


def _accuracy(
    first: Sequence[float], second: Sequence[float], scale: Scale, result: PairedResult, resamples: int, seed: int
) -> Accuracy:
    """Return the shares of right answers, and their difference with the interval of right and wrong, not of scores."""
    one, two = ([1.0 if scale.is_right(value) else 0.0 for value in values] for values in (first, second))
    count = len(first)
    # Of the counts: a difference of rounded shares would fall short of 5 points where it is 5.
    points = 100 * (sum(two) - sum(one)) / count
    if (one, two) == (first, second):
        bounds = result.low, result.high
    else:
        bounds = interval(differences_of(one, two), resamples=resamples, seed=seed, span=1.0)
    low, high = (None if bound is None else 100 * bound for bound in bounds)
    return Accuracy(sum(one) / count, sum(two) / count, points, low, high, reading(points, low, high))


def reading(points: float, low: float | None, high: float | None) -> str:
    """Return how a difference of accuracy, in percentage points, reads; one whose 95% interval holds 0 is neutral.

    >>> reading(5.0, 1.0, 9.0), reading(5.0, -1.0, 11.0)
    ('strong', 'neutral: the interval holds 0')
    """
    if -1 < points < 1:
        return "neutral"
    if low is None or high is None:
        return "neutral: too few questions for an interval"
    if not (over(low, 0) or under(high, 0)):
        return "neutral: the interval holds 0"
    if points > 0:
        return "strong" if points >= 5 else "moderate"
    return "slight regression" if points > -5 else "significant regression"
