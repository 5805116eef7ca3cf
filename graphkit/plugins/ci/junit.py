"""JUnit files that a dashboard can follow: test cases whose names stay, whatever the run is called and a gate requires.

A question and a measure are a case: its name is both, its class the dataset and the category. So are a gate and its
measure, in a suite of their own. A rename of the run, another threshold and a new question leave the names of the other
cases as they are. Only where one file holds several runs do classes begin with the run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from xml.etree import ElementTree

from graphkit.analysis.gate_outcomes import FAIL_QUESTION, GateOutcome
from graphkit.analysis.gates import broken
from graphkit.errors import one_line
from graphkit.scoring.export import About
from graphkit.scoring.results import Evaluation

#: The longest name and the longest message, in characters.
NAME, MESSAGE = 200, 2_000


@dataclass(frozen=True, slots=True)
class JUnitCase:
    """A test case: it passed unless it has a failure or was skipped. ``lines`` is what it prints, ``time`` seconds."""

    classname: str
    name: str
    failure: str | None = None
    skipped: str | None = None
    lines: Sequence[str] = ()
    time: float | None = None


@dataclass(frozen=True, slots=True)
class JUnitSuite:
    """Test cases with what holds for all of them."""

    name: str
    cases: Sequence[JUnitCase]
    properties: Mapping[str, str] = field(default_factory=dict)
    time: float | None = None


def write_results_as_junit(
    path: Path, results: Sequence[Evaluation], gates: Sequence[GateOutcome], about: About
) -> None:
    """Write results to a file: those that gates hold, with the outcomes of these."""
    verdict = {} if about.verdict is None else {"verdict": "; ".join(about.verdict.lines())}
    write_junit(path, suites_of(about.held or results, gates, {**about.facts, **verdict}))


def write_junit(path: Path, suites: Iterable[JUnitSuite]) -> None:
    """Write suites to a file."""
    root = ElementTree.Element("testsuites", name="graphkit")
    for suite in suites:
        _add(root, suite)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def suites_of(
    results: Sequence[Evaluation], gates: Sequence[GateOutcome] = (), facts: Mapping[str, str] | None = None
) -> Iterator[JUnitSuite]:
    """Yield for each run the suite of its questions, and that of its gates if there are any.

    ``facts`` are further properties of each suite.
    """
    for result in results:
        prefix = f"{result.run}." if len(results) > 1 else ""
        own = [gate for gate in gates if gate.run == result.run]
        known = properties(result.run, result.dataset, result.gold_hash, facts or {})
        held = known | {"failed_as": result.failed_as} | dict(_figures(result))
        cases = [*_question_cases(result, own, prefix)]
        times = [row.latency_ms / 1000 for row in result.rows if row.latency_ms is not None]
        yield JUnitSuite(f"{prefix}{result.dataset}", cases, held, math.fsum(times) if times else None)
        if own:
            yield gate_suite(own, f"{prefix}{result.dataset}", known)


def properties(run: str, dataset: str | None, gold_hash: str | None, facts: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that each suite has: what the cases were made of."""
    from graphkit import __version__

    known = {"graphkit": __version__, "run": run, "dataset": dataset, "gold_hash": gold_hash}
    return {name: value for name, value in known.items() if value is not None} | dict(facts)


def gate_suite(gates: Sequence[GateOutcome], of: str, properties: Mapping[str, str]) -> JUnitSuite:
    """Return the suite of gates on a dataset: a case for each gate and measure, which fails if any such gate did.

    Bounds, values and intervals stand in what the case prints, since its name stays when they change.
    """
    by_key: dict[str, list[GateOutcome]] = {}
    for gate in gates:
        by_key.setdefault(gate.key, []).append(gate)
    name = f"{of} gates"
    cases = []
    for key, same in by_key.items():
        failed = [gate.what for gate in same if not gate.passed]
        lines = [line for gate in same for line in _gate_lines(gate)]
        cases.append(JUnitCase(name, key, failure="; ".join(failed) if failed else None, lines=lines))
    return JUnitSuite(name, cases, properties)


def _gate_lines(gate: GateOutcome) -> Iterator[str]:
    yield gate.what
    if gate.margin is not None:
        yield f"from the bound: {gate.margin}"
    for name, value in (("bound", gate.bound), ("value", gate.value)):
        if value is not None:
            yield f"{name}: {value:.12g}"
    if gate.interval is not None:
        yield f"95% interval: [{gate.interval[0]:.4f}, {gate.interval[1]:.4f}]"
    if gate.n is not None:
        yield f"questions: {gate.n}, left out: {gate.left_out or 0}"


def class_of(dataset: str, category: str | None) -> str:
    """Return the class of a question's cases."""
    return dataset if category is None else f"{dataset}.{category}"


def case_name(question: str, measure: str) -> str:
    """Return the name of a question's case by a measure."""
    return f"{question}: {measure}"


def _figures(result: Evaluation) -> Iterator[tuple[str, str]]:
    """Yield the means with their intervals, and what else a reader of the values should know."""
    for name, summary in result.measures.items():
        if between := result.interval_in_words(name):
            yield f"mean {name}", summary.in_words(result.failed_as, between)
    if result.clustered is not None:
        yield "clustered", result.clustered.sentence
    for sentence in result.relations.sentences:
        yield "relations" if sentence == result.relations.sentence else "directions", sentence


def _question_cases(result: Evaluation, gates: Sequence[GateOutcome], prefix: str) -> Iterator[JUnitCase]:
    failures: dict[tuple[str, str], list[str]] = {}
    for gate in gates:
        if gate.gate == FAIL_QUESTION and gate.measure in result.measures and gate.bound is not None:
            for question, why in broken(result, gate.measure, gate.bound).items():
                failures.setdefault((question, gate.measure), []).append(f"{gate.measure} is {why}")
    for row in result.rows:
        for measure, value in zip(result.measures, row.values, strict=True):
            beyond = failures.get((row.question, measure))
            # Without a bound of its own a question never fails, and one without a value is skipped with its reason.
            yield JUnitCase(
                f"{prefix}{class_of(result.dataset, row.labels[0])}",
                case_name(row.question, measure),
                failure=None if beyond is None else "; ".join(beyond),
                skipped=value if isinstance(value, str) and beyond is None else None,
                lines=[str(value)],
                time=None if row.latency_ms is None else row.latency_ms / 1000,
            )


def _add(root: ElementTree.Element, suite: JUnitSuite) -> None:
    """Add a suite with its counts to a document; what a text may not hold is written out, and a long one cut."""
    counts = Counter("failures" if case.failure is not None else "skipped" for case in suite.cases if _marked(case))
    numbers = {"tests": len(suite.cases), "failures": counts["failures"], "errors": 0, "skipped": counts["skipped"]}
    element = ElementTree.SubElement(root, "testsuite", name=_name(suite.name))
    for name, number in numbers.items():
        element.set(name, str(number))
    if suite.time is not None:
        element.set("time", f"{suite.time:.6f}")
    if suite.properties:
        listed = ElementTree.SubElement(element, "properties")
        for name, value in suite.properties.items():
            ElementTree.SubElement(listed, "property", name=_name(name), value=_text(value))
    for case in suite.cases:
        one = ElementTree.SubElement(element, "testcase", classname=_name(case.classname), name=_name(case.name))
        if case.time is not None:
            one.set("time", f"{case.time:.6f}")
        for kind, message in (("failure", case.failure), ("skipped", case.skipped)):
            if message is not None:
                ElementTree.SubElement(one, kind, message=_text(message))
        if case.lines:
            ElementTree.SubElement(one, "system-out").text = "\n".join(map(_text, case.lines))


def _marked(case: JUnitCase) -> bool:
    return case.failure is not None or case.skipped is not None


def _name(text: str) -> str:
    """Return a name on one line; one that had to be changed ends with a digest, so that no two become the same."""
    shown = one_line(text)
    if shown == text and len(shown) <= NAME:
        return shown
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return f"{shown[:NAME]} [{digest}]"


def _text(text: str) -> str:
    shown = one_line(text)
    return shown if len(shown) <= MESSAGE else f"{shown[:MESSAGE]} ..."
