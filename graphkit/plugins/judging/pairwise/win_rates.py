"""Win rates of runs whose answers a judge compared, with intervals, tests and verdicts like those of ``compare``.

A verdict is worth 1 to the winner, 0.5 to both in a tie, and 0 to the loser. Within a question it is averaged over the
trials of each order and then over both orders, so that a judge that prefers a place gives 0.5; the win rate is the mean
over questions. A question without a verdict in one of the orders has no value: the other order alone would be biased.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

from graphkit.analysis.estimates import Estimate, fields_of, rounded
from graphkit.analysis.gate_outcomes import GateOutcome
from graphkit.analysis.multiple_testing import DifferenceColumn, corrected
from graphkit.analysis.pair_verdict import PairVerdict, family_in_words, in_family
from graphkit.analysis.paired import Draws, PairedResult, compare_pairs
from graphkit.errors import InputError, did_you_mean
from graphkit.plugins.judging.judges.pairwise import WIN_RATE
from graphkit.plugins.judging.pairwise.comparisons import BOTH_LACK, AnswerComparison
from graphkit.plugins.judging.pairwise.strengths import Strengths, strengths
from graphkit.plugins.judging.trust.agreement import kappa
from graphkit.records.bounds import equal, under
from graphkit.records.scores import Score
from graphkit.records.words import counted
from graphkit.scoring.clustered_intervals import ClusterSums, clustered_mean_interval, without_interval
from graphkit.scoring.intervals import RESAMPLES, SEED, mean_interval
from graphkit.scoring.question_clusters import QuestionClusters

NO_VERDICT = "the judge gave no verdict in one of the orders"

_NO_QUESTION = "no question has a verdict"
_NOT_ASKED = "the judge was asked about no question"
_ONE_ORDER = "no question has a verdict in both orders"
_EQUALLY_LONG = "the answers to each question are equally long"
_FEW = "too few questions"


@dataclass(frozen=True, slots=True)
class QuestionWin:
    """The value of the comparisons on one question to the second run of a pair.

    Attributes
    ----------
    value
        None without a verdict in both orders, or if both runs lack an answer; ``reason`` then says so.
    as_first, as_second
        Its mean worth where its answer was shown first, and second; None if one of the runs has no answer.
    weights
        The weights of the verdicts, as :func:`~graphkit.plugins.judging.pairwise.strengths.strengths` takes them.
    """

    value: float | None
    as_first: float | None = None
    as_second: float | None = None
    reason: str | None = None
    weights: tuple[float, ...] = ()
    asked: bool = False  # whether a judge was asked in both orders

    @property
    def disagree(self) -> bool:
        """Whether the two orders have different winners."""
        one, two = self.as_first, self.as_second
        return one is not None and two is not None and _side(one) != _side(two)


def _pair(first: str, second: str) -> tuple[str, str]:
    """Return two runs in either order as the same pair."""
    return (first, second) if first < second else (second, first)


def _linked(runs: Sequence[str], pairs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the most runs that pairs link to each other, at one or more removes: others can't be ranked with them."""
    groups = [{run} for run in runs]
    for pair in pairs:
        apart = [one for one in groups if one.isdisjoint(pair)]
        groups = [set().union(*(one for one in groups if not one.isdisjoint(pair))), *apart]
    most = max(groups, key=lambda one: (len(one), runs[0] in one))
    return tuple(run for run in runs if run in most)


def _worth(first: str, second: str, some: Sequence[AnswerComparison]) -> QuestionWin:
    """Return what comparisons on one question are worth to the second of two runs."""
    verdicts = [(one.first == first, worth) for one in some if (worth := one.worth(second)) is not None]
    orders = [[worth for behind, worth in verdicts if behind is order] for order in (True, False)]
    if not all(orders):
        return QuestionWin(None, reason=BOTH_LACK if some[0].unanswered is not None else NO_VERDICT)
    behind, ahead = (math.fsum(worths) / len(worths) for worths in orders)
    weights = tuple(worths.count(worth) / (2 * len(worths)) for worths in orders for worth in (0.0, 1.0, 0.5))
    if some[0].unanswered is not None:
        return QuestionWin(ahead, weights=weights)
    asked = any(one.asked for one in some)
    return QuestionWin((ahead + behind) / 2, ahead, behind, weights=weights, asked=asked)


def _side(worth: float) -> int:
    return 0 if equal(worth, 0.5) else 1 if worth > 0.5 else -1


@dataclass(frozen=True, slots=True)
class WinRate:
    """The win rate of the second run of a pair against the first by one criterion.

    Attributes
    ----------
    rate
        With its interval; over the questions that have a value.
    result
        The same as a paired comparison of both runs' win rates, with its corrected p-value; None without a value.
    verdict
        In the words of ``graphkit compare``.
    won, lost, drawn
        On how many questions its value is over, under and at 0.5.
    unanswered
        On how many of them one of the runs has no answer, and so lost without a judge.
    without
        The number of questions without a value, by reason.
    disagreeing
        The questions on which the two orders have different winners.
    """

    first: str
    second: str
    criterion: str
    rate: Estimate
    result: PairedResult | None
    verdict: PairVerdict
    won: int
    lost: int
    drawn: int
    unanswered: int
    without: Mapping[str, int]
    disagreeing: tuple[str, ...]
    held: float = field(default=0.0, repr=False)

    @property
    def in_words(self) -> str:
        """The rate with its interval, or with the reason why it has none."""
        if self.rate.value is None or self.rate.low is not None:
            return str(self.rate)
        return f"{rounded(self.rate.value)} ({self.rate.reason})"

    def as_json(self) -> dict[str, Any]:
        """Return all figures."""
        own = ("first", "second", "criterion", "won", "lost", "drawn", "unanswered")
        result = self.result
        return {name: getattr(self, name) for name in own} | {
            "win_rate": self.rate.as_json(),
            "p_value": None if result is None else result.p_value,
            "p_corrected": None if result is None else result.p_corrected,
            "verdict": self.verdict.as_json(),
            "without": dict(self.without),
            "disagreeing": list(self.disagreeing),
        }


@dataclass(frozen=True, slots=True)
class JudgeBias:
    """The bias of a judge towards a place, or towards the longer answer, whichever run gave it.

    Answers that are the same, of which no judge was asked, don't count.

    Attributes
    ----------
    position
        The mean worth of the answer that was shown first, less 0.5.
    length
        The mean worth of the longer answer, less 0.5: it holds what longer answers deserve, too.
    disagree
        The share of the questions, pairs and criteria on which the two orders have different winners.
    """

    position: Estimate
    length: Estimate
    disagree: Estimate

    def warnings(self) -> list[str]:
        """Return what the figures show against the judge."""
        found = []
        position = self.position
        if position.low is not None and position.high is not None and not position.low <= 0 <= position.high:
            assert position.value is not None
            place = "first" if position.value > 0 else "second"
            always = "always " if equal(abs(position.value), 0.5) else ""
            found.append(
                f"the judge {always}prefers the answer that it is shown {place} (position bias {position}): both "
                "orders cancel that, and leave fewer verdicts that tell the runs apart"
            )
        return found

    def as_json(self) -> dict[str, Any]:
        """Return all figures."""
        return fields_of(self)


@dataclass(frozen=True, slots=True)
class PersonAgreement:
    """The agreement of a judge with a person: its preference for answers graded higher, by one criterion.

    Attributes
    ----------
    preferred
        The mean worth of the answer with the higher grade: a coin has 0.5. Equal grades don't count.
    kappa
        Cohen's kappa of judge and person over better, equal and worse.
    """

    criterion: str
    measure: str
    preferred: Estimate
    kappa: Estimate

    def as_json(self) -> dict[str, Any]:
        """Return all figures."""
        return fields_of(self)


@dataclass(frozen=True)
class HeadToHead:
    """The comparisons of some runs by a judge, and what they show.

    Parameters
    ----------
    runs
        In the order given: the first is what the others are held against.
    criteria
        Their names.
    clusters
        The clusters of questions, if questions aren't independent.
    persons
        A person's scores of the runs, if there are any.
    """

    runs: tuple[str, ...]
    criteria: tuple[str, ...]
    comparisons: Sequence[AnswerComparison] = field(repr=False)
    clusters: QuestionClusters | None = field(default=None, repr=False)
    persons: Sequence[Score] = field(default=(), repr=False)
    resamples: int = RESAMPLES
    seed: int = SEED

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """The runs two by two, as far as they were compared."""
        compared = {_pair(one.first, one.second) for one in self.comparisons}
        return [pair for pair in combinations(self.runs, 2) if _pair(*pair) in compared]

    @cached_property
    def questions(self) -> list[str]:
        """The questions that were asked, in order."""
        return [*dict.fromkeys(one.question for one in self.comparisons)]

    @cached_property
    def by_question(self) -> dict[tuple[str, str, str], dict[str, QuestionWin]]:
        """The value of each question to the second run, by pair and criterion."""
        found: dict[tuple[tuple[str, str], str, str], list[AnswerComparison]] = {}
        for one in self.comparisons:
            found.setdefault((_pair(one.first, one.second), one.criterion, one.question), []).append(one)
        return {
            (first, second, criterion): {
                question: _worth(first, second, some)
                for question in self.questions
                if (some := found.get((_pair(first, second), criterion, question)))
            }
            for first, second in self.pairs
            for criterion in self.criteria
        }

    @property
    def failed(self) -> list[AnswerComparison]:
        """The comparisons that the judge was asked for without a usable verdict."""
        return [one for one in self.comparisons if one.failure is not None and one.unanswered is None]

    @cached_property
    def rates(self) -> list[WinRate]:
        """The win rate of the second run of each pair by each criterion, p-values corrected over all of them."""
        return [rate for pair in self.pairs for rate in self._of_pair(*pair)]

    def _of_pair(self, first: str, second: str) -> list[WinRate]:
        """Return the win rates of a pair, with p-values by max-T over the criteria, times the number of pairs."""
        asked = self.questions
        places = {question: place for place, question in enumerate(asked)}
        codes = dict(zip(asked, self.clusters.codes(asked), strict=True)) if self.clusters is not None else places
        drawn = Draws(self.resamples, self.seed)
        results, columns, tables = [], [], []
        for criterion in self.criteria:
            table = self.by_question[first, second, criterion]
            values = {question: one.value for question, one in table.items() if one.value is not None}
            tables.append(table)
            if not values:
                continue
            clusters = None if self.clusters is None else [codes[one] for one in values]
            won, lost = [*values.values()], [1 - value for value in values.values()]
            name = win_rate_of(criterion)
            results.append(compare_pairs(name, lost, won, span=1.0, clusters=clusters, **drawn._asdict()))
            differences = [one - two for one, two in zip(won, lost, strict=True)]
            columns.append(DifferenceColumn([codes[one] for one in values], differences))
        pairs = len(self.pairs)
        tested = {one.measure: one for one in corrected(results, columns, pairs=pairs, **drawn._asdict())}
        tests = family_in_words(in_family(results)) + (f" and {counted(pairs, 'pair')}" if pairs > 1 else "")
        return [
            self._rate(first, second, criterion, table, tested.get(win_rate_of(criterion)), tests)
            for criterion, table in zip(self.criteria, tables, strict=True)
        ]

    def _rate(
        self,
        first: str,
        second: str,
        criterion: str,
        table: Mapping[str, QuestionWin],
        result: PairedResult | None,
        tests: str,
    ) -> WinRate:
        values = [one.value for one in table.values() if one.value is not None]
        sides = [_side(value) for value in values]
        without: dict[str, int] = {}
        for one in table.values():
            if one.reason is not None:
                without[one.reason] = without.get(one.reason, 0) + 1
        rate = Estimate(None, reason=_NO_QUESTION)
        if result is not None:
            low, high = (None if end is None else (1 + end) / 2 for end in (result.low, result.high))
            rate = Estimate(result.second, low, high, result.caution or result.reason, len(values))
        return WinRate(
            first,
            second,
            criterion,
            rate,
            result,
            PairVerdict.of(first, second, result, len(table), tests),
            won=sides.count(1),
            lost=sides.count(-1),
            drawn=sides.count(0),
            unanswered=sum(one.value is not None and one.as_first is None for one in table.values()),
            without=without,
            disagreeing=tuple(question for question, one in table.items() if one.disagree),
            held=math.fsum(values) / len(table) if table else 0.0,
        )

    @cached_property
    def strengths(self) -> dict[str, Strengths]:
        """The strengths of three runs or more by each criterion, of those that comparisons link; empty for two."""
        found = {}
        for criterion in self.criteria:
            rows = {
                question: {
                    pair: one.weights
                    for pair in self.pairs
                    if (one := self.by_question[(*pair, criterion)].get(question)) is not None and one.value is not None
                }
                for question in self.questions
            }
            runs = _linked(self.runs, {pair for some in rows.values() for pair in some})
            rows = {question: {pair: some[pair] for pair in some if pair[0] in runs} for question, some in rows.items()}
            rows = {question: some for question, some in rows.items() if some}
            if len(runs) > 2:
                codes = None
                if self.clusters is not None:
                    codes = dict(zip(rows, self.clusters.codes([*rows]), strict=True))
                found[criterion] = strengths(runs, rows, codes, seed=self.seed)
        return found

    @cached_property
    def bias(self) -> JudgeBias:
        """The judge's bias over all pairs and criteria: first averaged within a question."""
        place: dict[str, list[float]] = {}
        length: dict[str, list[float]] = {}
        apart: dict[str, list[float]] = {}
        for one in self.comparisons:
            if one.asked and (worth := one.worth(one.first)) is not None:
                place.setdefault(one.question, []).append(worth - 0.5)
                if one.first_length != one.second_length:
                    longer = worth if one.first_length > one.second_length else 1 - worth
                    length.setdefault(one.question, []).append(longer - 0.5)
        for table in self.by_question.values():
            for question, win in table.items():
                if win.asked:
                    apart.setdefault(question, []).append(float(win.disagree))
        halves = (-0.5, 0.5)
        none = _NO_QUESTION if any(one.asked for one in self.comparisons) else _NOT_ASKED
        return JudgeBias(
            self._mean(place, *halves, none),
            self._mean(length, *halves, _EQUALLY_LONG if place else none),
            self._mean(apart, 0.0, 1.0, _ONE_ORDER if place else none),
        )

    def _mean(self, values: Mapping[str, Sequence[float]], lowest: float, highest: float, none: str) -> Estimate:
        """Return the mean over questions of their means, with its interval; without any, ``none`` is the reason."""
        if not values:
            return Estimate(None, reason=none)
        means = [math.fsum(some) / len(some) for some in values.values()]
        value, why = math.fsum(means) / len(means), _FEW
        if self.clusters is None:
            ends = mean_interval(means, lowest, highest, resamples=self.resamples, seed=self.seed)
        else:
            codes = self.clusters.codes([*values])
            ends = clustered_mean_interval(means, codes, lowest, highest, resamples=self.resamples, seed=self.seed)
            why = without_interval(ClusterSums.of(means, codes)) if ends is None else ""
        low, high = ends or (None, None)
        return Estimate(value, low, high, why if ends is None else None, len(means))

    @cached_property
    def agreement(self) -> list[PersonAgreement]:
        """The agreement of the judge with a person's grades, by criterion; empty without grades of both runs."""
        grades: dict[str, dict[tuple[str, str], list[float]]] = {}
        for one in self.persons:
            if one.number is not None:
                grades.setdefault(one.measure, {}).setdefault((one.run, one.question), []).append(one.number)
        found = []
        for measure, given in grades.items():
            some = {answer: math.fsum(numbers) / len(numbers) for answer, numbers in given.items()}
            for criterion in self.criteria:
                worth: dict[str, list[float]] = {}
                person, judge = [], []
                for first, second in self.pairs:
                    for question, win in self.by_question[first, second, criterion].items():
                        pair = [some.get((run, question)) for run in (first, second)]
                        if win.value is None or win.as_first is None or None in pair:
                            continue
                        better = _side(0.5 + (pair[1] or 0.0) - (pair[0] or 0.0))
                        person.append(_WORDS[better])
                        judge.append(_WORDS[_side(win.value)])
                        if better:
                            worth.setdefault(question, []).append(win.value if better > 0 else 1 - win.value)
                if person:
                    preferred = self._mean(worth, 0.0, 1.0, "the person graded no two answers differently")
                    agreed = kappa(person, judge, [*_WORDS.values()])
                    found.append(PersonAgreement(criterion, measure, preferred, agreed))
        return found

    def gates(self, bounds: Iterable[tuple[str, float]]) -> list[GateOutcome]:
        """Hold the win rates of each run against the first one to lower bounds.

        A question on which the run has no answer, or the judge gave no verdict, counts as lost.

        Raises
        ------
        InputError
            A bound names neither ``win_rate`` nor a criterion, or isn't between 0 and 1.
        """
        bounds = [*bounds]
        check_bounds(bounds, self.criteria)
        return [
            _outcome(rate, bound)
            for name, bound in bounds
            for rate in self.rates
            if rate.first == self.runs[0] and name in (WIN_RATE, rate.criterion)
        ]

    def as_json(self) -> dict[str, Any]:
        """Return all figures."""
        return {
            "runs": list(self.runs),
            "questions": len(self.questions),
            "clusters": None if self.clusters is None else self.clusters.as_json(),
            "win_rates": [one.as_json() for one in self.rates],
            "strengths": {name: one.as_json() for name, one in self.strengths.items()},
            "bias": self.bias.as_json(),
            "agreement": [one.as_json() for one in self.agreement],
            "comparisons": sum(one.unanswered is None for one in self.comparisons),
            "failures": dict(Counter(one.failure for one in self.failed)),
        }


_WORDS = {1: "better", 0: "equal", -1: "worse"}


def check_bounds(bounds: Iterable[tuple[str, float]], criteria: Sequence[str]) -> None:
    """Check bounds on win rates.

    Raises
    ------
    InputError
        A bound names neither ``win_rate`` nor a criterion, or isn't between 0 and 1.
    """
    known = (WIN_RATE, *criteria)
    for name, bound in bounds:
        if name not in known:
            what = f"--fail-under: {name!r} is neither {WIN_RATE} nor a criterion that is asked for"
            raise InputError(what, remedy=f"{did_you_mean(name, known)}There are: {', '.join(known)}.")
        if not 0 <= bound <= 1:
            raise InputError(f"--fail-under {name}: a win rate lies between 0 and 1, not at {bound:.12g}")


def unclear(rate: WinRate) -> str:
    """Return why a verdict is unclear although its interval excludes 0, behind a space; empty if it isn't so."""
    return "" if rate.verdict.why_unclear is None else f" It is {rate.verdict.why_unclear}."


def win_rate_of(criterion: str) -> str:
    """Return the name of the win rate by a criterion, as a measure has one."""
    return f"win rate by {criterion}"


def _outcome(rate: WinRate, bound: float) -> GateOutcome:
    name, about = win_rate_of(rate.criterion), f"against {rate.first}"
    asked = rate.rate.size + sum(rate.without.values())
    ends = None if rate.rate.low is None or rate.rate.high is None else (rate.rate.low, rate.rate.high)
    left = sum(rate.without.values())
    rest = f", {left} of {counted(asked, 'question')} without a verdict counted as lost" if left else ""
    if rate.rate.value is None:
        return GateOutcome(
            "fail-under", rate.second, False, f"{name} {about} is unknown: no question has a verdict{rest}", name, bound
        )
    passed = not under(rate.held, bound)
    shown = f"{rate.held:.4f}" if passed or under(float(f"{rate.held:.4f}"), bound) else f"{rate.held:.12g}"
    what = f"{name} {about} is {shown}{rest}" if passed else f"{name} {about} is {shown}, under {bound:.12g}{rest}"
    return GateOutcome("fail-under", rate.second, passed, what, name, bound, rate.held, ends, asked, 0)
