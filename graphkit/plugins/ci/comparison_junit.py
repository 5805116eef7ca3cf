"""A comparison as JUnit: a case for each gate and measure, and for each question and measure that both runs have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from graphkit.analysis.gate_outcomes import GateOutcome
from graphkit.plugins.ci.junit import JUnitCase, JUnitSuite, case_name, class_of, gate_suite, properties
from graphkit.plugins.compare.run_comparisons import RunComparison


def comparison_suites(
    compared: RunComparison, gates: Sequence[GateOutcome], facts: Mapping[str, str] | None = None
) -> Iterator[JUnitSuite]:
    """Yield the suite of the compared questions, and that of the gates if there are any.

    No name holds a run or a bound, and none is that of an evaluation. ``facts`` are further properties of each suite.
    """
    of = f"{compared.dataset or 'scores'} compared"
    known = properties(compared.second, compared.dataset, None, {"baseline": compared.first, **(facts or {})})
    known["failed_as"] = compared.failed_as
    figures = {
        f"difference {one.measure}": f"{one.delta:+.4f}"
        + ("" if one.low is None or one.high is None else f" [{one.low:+.4f}, {one.high:+.4f}]")
        for one in compared.with_failed
    }
    yield JUnitSuite(of, [*_question_cases(compared, gates, of)], known | figures)
    if gates:
        yield gate_suite(gates, of, known)


def _question_cases(compared: RunComparison, gates: Sequence[GateOutcome], of: str) -> Iterator[JUnitCase]:
    """Yield the cases of questions: one fails if the second run is worse on it by a measure whose gate failed."""
    failed = {gate.measure for gate in gates if not gate.passed}
    for measure, pairs in compared.values().items():
        lost = {one.question for one in compared.losses_by(measure)} if measure in failed else set()
        for question, (first, second) in sorted(pairs.items()):
            words = f"{measure} {first:.4f} to {second:.4f}"
            yield JUnitCase(
                class_of(of, compared.source.categories.get(question)),
                case_name(question, measure),
                failure=f"{words}, and the gate on {measure} failed" if question in lost else None,
                lines=[words],
            )
