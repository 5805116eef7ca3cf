"""The verdict on two runs: which one is better, how sure that is, and in which words. Every output takes it from here.

One run beats another by a measure if both agree: the corrected p-value is below the level, and the 95% interval of the
difference excludes 0. Both rest on the questions that the two runs have a value for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from graphkit.analysis.findings import listed
from graphkit.analysis.paired import ALL_EQUAL, PairedResult
from graphkit.analysis.power import LEVEL
from graphkit.measures.registry import lower_is_better
from graphkit.records.words import counted, two

BETTER, WORSE, UNCLEAR = "better", "worse", "unclear"


def sure(result: PairedResult) -> int:
    """Return 1 or -1, the sign of a difference that corrected p-value and interval both show; 0 if one of them doesn't.

    The sign is that of the second run minus the first.
    """
    if result.p_corrected >= LEVEL or not excludes_zero(result):
        return 0
    return 1 if result.delta > 0 else -1


def in_family(results: Iterable[PairedResult]) -> int:
    """Return over how many measures p-values are corrected: those that differ on any question."""
    return sum(bool(one.wins or one.losses) for one in results)


def family_in_words(measures: int) -> str:
    """Return over how many measures p-values are corrected, in words."""
    return f"{counted(measures, 'measure')} that differ{'s' if measures == 1 else ''}"


def judged(result: PairedResult) -> str:
    """Return whether the second run is better or worse by a measure, or that this is unclear."""
    gain = sure(result) * (-1 if lower_is_better(result.measure) else 1)
    return UNCLEAR if not gain else BETTER if gain > 0 else WORSE


def interval_in_words(result: PairedResult, mark: bool = True) -> str:
    """Return the interval of a difference, marked if it may be too narrow, or why there is none."""
    if result.low is None or result.high is None:
        if result.clusters is not None:
            return f"({'1 cluster' if result.clusters == 1 else 'too few clusters'})"
        return "" if result.delta == 0 else "(too few questions)"
    marked = "*" if result.caution and mark else ""
    return f"[{two(result.low, sign=True)}, {two(result.high, sign=True)}]{marked}"


def change(result: PairedResult, mark: bool = True) -> str:
    """Return the difference of a measure with its interval, and the clusters behind it."""
    over = f" over {counted(result.clusters, 'cluster')}" if result.clusters is not None and result.clusters > 1 else ""
    return f"{two(result.delta, sign=True)} {interval_in_words(result, mark)}".rstrip() + over


def mirrored(result: PairedResult) -> PairedResult:
    """Return a comparison with its runs swapped: the differences change their sign, the p-values stay."""
    return dataclasses.replace(
        result,
        first=result.second,
        second=result.first,
        delta=0.0 - result.delta,
        low=None if result.high is None else 0.0 - result.high,
        high=None if result.low is None else 0.0 - result.low,
        effect=None if result.effect is None else 0.0 - result.effect,
        wins=result.losses,
        losses=result.wins,
        accuracy=None,
    )


def unanswered_in_words(unanswered: Mapping[str, int], asked: int, baseline: str | None = None) -> str:
    """Return how the questions count that runs failed on or have no record for, and how they count elsewhere.

    ``unanswered`` are their numbers by run; a ``baseline`` is compared on what it answered alone. Empty if each run
    answered all.

    >>> print(unanswered_in_words({"a": 2, "b": 0}, 30))
    Of 30 questions, 2 that a didn't answer count as the worst value; graphkit compare leaves out those of its baseline
    >>> print(unanswered_in_words({"a": 2, "b": 0}, 30, "a"))
    Of 30 questions, 2 that a didn't answer are left out; the page and graphkit evaluate count them as the worst value
    """
    left = unanswered.get(baseline, 0) if baseline is not None else 0
    worst = [f"{count} that {run} didn't answer" for run, count in unanswered.items() if count and run != baseline]
    parts = [f"{left} that {baseline} didn't answer {'is' if left == 1 else 'are'} left out"] if left else []
    if worst:
        one = len(worst) == 1 and worst[0].startswith("1 ")
        parts.append(f"{listed(worst)} {'counts' if one else 'count'} as the worst value")
    if not parts:
        return ""
    if baseline is None:
        parts.append("graphkit compare leaves out those of its baseline")
    elif left:
        them = "it" if left == 1 else "them"
        parts.append(f"the page and graphkit evaluate count {them} as the worst value")
    return f"Of {counted(asked, 'question')}, {'; '.join(parts)}"


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The verdict on two runs by one measure.

    Attributes
    ----------
    leader, other
        The run with the better mean over the questions of both, and the other one. Of equal ones the first by name
        leads. That alone says nothing: see ``winner``.
    result
        The difference, leader minus other; None if no question has a value in both runs.
    asked
        The number of questions, with those that aren't compared.
    tests
        What the p-value is corrected over, in words.
    """

    leader: str
    other: str
    result: PairedResult | None
    asked: int
    tests: str = ""

    @classmethod
    def of(cls, first: str, second: str, result: PairedResult | None, asked: int, tests: str = "") -> PairVerdict:
        """Return the verdict on a difference, second minus first."""
        if result is None:
            return cls(min(first, second), max(first, second), None, asked)
        gain = result.delta * (-1 if lower_is_better(result.measure) else 1)
        if gain > 0 or (gain == 0 and second < first):
            return cls(second, first, result, asked, tests)
        return cls(first, second, mirrored(result), asked, tests)

    @property
    def winner(self) -> str | None:
        """The run that beats the other one; None if that isn't sure."""
        return self.leader if self.result is not None and judged(self.result) == BETTER else None

    def claim(self, shown: Callable[[str], str] = str) -> str:
        """Return what the values show; names are ``shown``."""
        leader, other = shown(self.leader), shown(self.other)
        if self.result is None:
            return f"{leader} and {other} can't be compared: no question was scored in both"
        if self.result.low is None and not self.winner:
            return f"nothing shows whether {leader} and {other} differ ({self.result.reason})"
        return f"{leader} beats {other}" if self.winner else f"{leader} and {other} don't clearly differ"

    def values(self, shown: Callable[[str], str] = str) -> str:
        """Return the measure with the means of both runs over the questions of both; empty without such questions."""
        one = self.result
        return "" if one is None else f"{shown(one.measure)} {two(one.second)} to {two(one.first)}"

    @property
    def change(self) -> str:
        """The difference with its interval and, if not all questions are compared, their number."""
        if self.result is None:
            return ""
        some = self.result.questions
        over = f" over {some} of {counted(self.asked, 'question')}" if some < self.asked else ""
        shown = two(self.result.delta, sign=True) if self.result.low is None else change(self.result, mark=False)
        return f"{shown}{over}"

    def sentence(self, shown: Callable[[str], str] = str) -> str:
        """Return the verdict in one sentence, the same in every output."""
        if self.result is None:
            return self.claim(shown)
        return f"{self.claim(shown)}: {self.values(shown)}, {self.change}"

    @property
    def why_unclear(self) -> str | None:
        """Why the runs don't clearly differ although the interval excludes 0; None if that isn't so."""
        one = self.result
        if one is None or judged(one) != UNCLEAR or not excludes_zero(one):
            return None
        if one.p_value >= LEVEL:
            return f"unclear by the randomisation test (p {one.p_value:.2f}), though the interval excludes 0"
        over = f" over {self.tests}" if self.tests else ""
        return f"unclear after correction{over} (p {one.p_corrected:.2f}), though the interval excludes 0"

    @property
    def caution(self) -> str | None:
        """Why the interval may be too narrow; None if it isn't doubtful."""
        return None if self.result is None else self.result.caution

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as JSON."""
        return {
            "sentence": self.sentence(),
            "winner": self.winner,
            "measure": None if self.result is None else self.result.measure,
            "reason": self.why_unclear,
        }


def excludes_zero(result: PairedResult) -> bool:
    """Return whether the interval of a difference excludes 0."""
    if result.reason == ALL_EQUAL:  # each question differs by the same, on a scale without an end
        return result.delta != 0
    return result.low is not None and result.high is not None and not result.low <= 0 <= result.high
