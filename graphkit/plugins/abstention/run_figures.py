"""Gates on figures of whole runs: ``--fail-under AbstentionF1=0.8`` and ``--fail-over AURC=0.2``.

They are the figures of ``graphkit abstention``, but as at every gate, failing and logging less don't help: a failed,
missing or unlogged question without an answer counts as answered, one with an answer as declined, and in AURC each
counts as answered wrong with more confidence than any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from graphkit.analysis.estimates import Estimate
from graphkit.analysis.gate_outcomes import GateOutcome
from graphkit.analysis.gates import left_out
from graphkit.measures.outcome import Decision, decided
from graphkit.measures.owners import RIGHTLY_DECLINED
from graphkit.plugins.abstention.decision_measures import ANSWERED, DECLINED
from graphkit.plugins.abstention.risk_coverage import (
    NO_CONFIDENCE,
    NONE_UNANSWERABLE,
    Answered,
    abstention_f1,
    aurc,
    estimated,
    without_confidence,
)
from graphkit.records.bounds import over, under
from graphkit.records.unanswered import CountedAs, counted_value, counts_as_worst
from graphkit.records.words import counted
from graphkit.scoring.results import Evaluation

#: Returns a figure of some runs, or why there is none.
_Figure = Callable[[Sequence[Evaluation]], Estimate]


@dataclass(frozen=True)
class AbstentionFigure:
    """A figure of abstention that a bound may name; see :class:`graphkit.analysis.run_gates.RunFigure`."""

    name: str
    measures: tuple[str, ...]
    of: _Figure

    def outcome(self, gate: str, name: str, bound: float, run: str, results: Sequence[Evaluation]) -> GateOutcome:
        """Return the outcome of a gate; a figure without a value fails."""
        refused = (why for one in results for measure in self.measures if (why := one.refused(measure)))
        if (reason := next(refused, None)) is not None:
            return GateOutcome(gate, run, False, f"{name}: {reason}", name, bound)
        found = self.of(results)
        left = sum(one.questions for one in results) - found.size
        if found.value is None:
            why = f"{name}: {found.reason}"
            return GateOutcome(gate, run, False, why, name, bound, n=found.size, left_out=left)
        beyond = under if gate == "fail-under" else over
        passed = not beyond(found.value, bound)
        shown = f"{found.value:.4f}" if passed or beyond(round(found.value, 4), bound) else f"{found.value:.12g}"
        ends = "" if found.low is None or found.high is None else f" [{found.low:.4f}, {found.high:.4f}]"
        what = f"{name} of {counted(found.size, 'question')} is {shown}{ends}"
        what += "" if passed else f", {beyond.__name__} {bound:.12g}"
        what += left_out(results[0], "RightDecision")  # what is doubtful of decisions; of others it knows nothing
        interval = None if found.low is None or found.high is None else (found.low, found.high)
        return GateOutcome(gate, run, passed, what, name, bound, found.value, interval, found.size, left)


def _f1(results: Sequence[Evaluation]) -> Estimate:
    pairs, units = [], []
    for unit, row, how in _rows(results):
        recall, precision = row["AbstentionRecall"], row["AbstentionPrecision"]
        rightly, wrongly = counted_value(recall, 0.0, how), counted_value(precision, 0.0, how)
        if rightly is None and wrongly is None and precision != ANSWERED:
            continue  # a failed or unlogged one that isn't to count
        pairs.append((True, rightly == 1) if rightly is not None else (False, wrongly is not None))
        units.append(unit)
    return estimated(pairs, abstention_f1, NONE_UNANSWERABLE, _codes(units, results))


def _area(results: Sequence[Evaluation]) -> Estimate:
    answers, units, unsure = [], [], 0
    for unit, row, how in _rows(results):
        wrong, confidence = row["SelectiveRisk"], row["Confidence"]
        if wrong in (DECLINED, RIGHTLY_DECLINED):
            continue
        by_text = Decision(None if isinstance(wrong, str) else wrong == 0, "")
        right = decided(by_text, row.grades).right
        if right is None and not counts_as_worst(str(wrong), how):
            continue
        unsure += right is not None and isinstance(confidence, str)
        confident = math.inf if right is None or isinstance(confidence, str) else confidence
        answers.append(Answered(confident, not right))
        units.append(unit)
    if unsure or not answers:
        why = without_confidence(unsure) if unsure else NO_CONFIDENCE
        return Estimate(None, reason=why, size=len(answers))
    return estimated(answers, aurc, NO_CONFIDENCE, _codes(units, results))


class _Values(dict[str, float | str]):
    """The values of a question by measure, and what its grades say."""

    grades: Sequence[Decision] = ()


def _rows(results: Sequence[Evaluation]) -> Iterator[tuple[str, _Values, CountedAs]]:
    """Yield each question with valid gold: what it is drawn with, its values, and how failed ones count."""
    for result in results:
        how: CountedAs = "worst" if result.failed_as == "zero" else result.failed_as
        for row in result.rows:
            if row.question not in result.invalid:
                values = _Values(zip(result.measures, row.values, strict=True))
                values.grades = row.grades
                clusters = result.clustered
                yield row.question if clusters is None else clusters.clusters.of[row.question], values, how


def _codes(units: Sequence[str], results: Sequence[Evaluation]) -> list[int] | None:
    """Return numbers of what is drawn together: clusters, and the repetitions of a question; None for neither."""
    if len(results) == 1 and results[0].clustered is None:
        return None
    numbers: dict[str, int] = {}
    return [numbers.setdefault(one, len(numbers)) for one in units]


ABSTENTION_F1 = AbstentionFigure("AbstentionF1", ("AbstentionRecall", "AbstentionPrecision"), _f1)
AREA = AbstentionFigure("AURC", ("SelectiveRisk", "Confidence"), _area)
