"""Results as files, by the ending of their name: for programs, spreadsheets, CI and people.

``.jsonl`` has one line per run, question and measure. ``.csv`` and ``.parquet`` have the same rows as a table.
``.summary.json`` has the means, also by category, difficulty and group, and the efficiency; ``.json`` adds every value.
``.xml`` is JUnit for CI, ``.md`` a table for a pull request. Each file appears complete, or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol
from xml.etree import ElementTree

from graphkit.errors import InputError, one_line
from graphkit.files.atomic import written
from graphkit.files.tables import write_table
from graphkit.measures.registry import known_measure
from graphkit.records.unanswered import FAILED
from graphkit.records.words import counted
from graphkit.scoring.measure_summaries import NOTES, scored_in_words, shown_mean
from graphkit.scoring.results import Evaluation

COLUMNS = (
    *("run", "question", "measure", "value", "reason", "version", "computed", "parameters"),
    *("grader", "grade", "label", "explanation", "confidence", "cost", "prompt_tokens", "output_tokens"),
    "gold_hash",
)

Records = Iterable[dict[str, Any]]


class HeldGate(Protocol):
    """The outcome of a gate: :class:`graphkit.analysis.gates.GateOutcome`."""

    @property
    def run(self) -> str:
        """The name of the run."""

    @property
    def passed(self) -> bool:
        """Whether the run passed the gate."""

    @property
    def what(self) -> str:
        """The reason in words."""

    @property
    def name(self) -> str:
        """The gate with its measure and bound."""

    @property
    def margin(self) -> object:
        """How far a passed gate is from its bound, whose ``str`` says it in words; None if there is none."""

    def as_json(self) -> dict[str, Any]:
        """Return the gate with its bound, its value and its outcome."""


Writer = Callable[[Path, Sequence[Evaluation], Sequence[HeldGate]], None]


def records(results: Iterable[Evaluation]) -> Iterator[dict[str, Any]]:
    """Yield one record per run, question and measure: the score, and the parameters of a measure of graphkit.

    They are those that the question was scored by, so its own cut-off if it has one.
    """

    @cache
    def parameters(name: str) -> dict[str, object]:
        measure = known_measure(name)
        return {} if measure is None else measure.settings()

    for result in results:
        for score in result.records():
            plain = score.model_dump()
            plain["parameters"] = (
                parameters(score.computed or score.measure) if score.measure in result.measures else {}
            )
            yield {name: plain[name] for name in COLUMNS}


def write_results(path: Path, results: Sequence[Evaluation], gates: Sequence[HeldGate] = ()) -> None:
    """Write results with their rows to one file, in the format of its ending.

    Parameters
    ----------
    gates
        The outcomes of the gates, which JUnit, JSON and Markdown contain.

    Raises
    ------
    InputError
        The ending is unknown, the file can't be written, or Parquet is requested and pyarrow isn't installed.
    """
    writer = check_output(path)
    with written(path) as temporary:
        writer(temporary, results, gates)


def check_output(path: Path) -> Writer:
    """Return the function that writes a file of this name; call it early, so that a mistake costs no work.

    Raises
    ------
    InputError
        The ending is unknown, or there is no such folder.
    """
    ending = next((ending for ending in FORMATS if path.name.endswith(ending)), None)
    writer = FORMATS[ending] if ending is not None else None
    if writer is None:
        raise InputError(
            f"results can't be written as {path.suffix or 'a file without an ending'}",
            where=str(path),
            remedy=f"Use one of: {', '.join(FORMATS)}.",
        )
    if not path.parent.is_dir():
        raise InputError("the file can't be written: there is no such folder", where=str(path), remedy="Make it first.")
    return writer


def _jsonl(path: Path, results: Sequence[Evaluation], gates: Sequence[HeldGate]) -> None:
    with path.open("w", encoding="utf-8") as stream:
        for record in records(results):
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")


def _summary(result: Evaluation, gates: Sequence[HeldGate]) -> dict[str, Any]:
    held = {"gates": [gate.as_json() for gate in gates if gate.run == result.run]}
    return {**result.as_json(), **held, "groups": result.groups_as_json(), **result.outcomes_as_json()}


def _summary_json(path: Path, results: Sequence[Evaluation], gates: Sequence[HeldGate]) -> None:
    _write_json(path, [_summary(result, gates) for result in results])


def _json(path: Path, results: Sequence[Evaluation], gates: Sequence[HeldGate]) -> None:
    detailed = []
    for result in results:
        values = {row.question: dict(zip(result.measures, row.values, strict=True)) for row in result.rows}
        stages = {row.question: row.outcome.stage.name for row in result.rows if row.outcome is not None}
        gold = {row.question: row.gold_hash for row in result.rows}
        detailed.append({**_summary(result, gates), "values": values, "gold_hash_of": gold})
        detailed[-1] |= {"stage_of": stages} if stages else {}
    _write_json(path, detailed)


def _write_json(path: Path, runs: list[dict[str, Any]]) -> None:
    path.write_text(json.dumps({"runs": runs}, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def _flat(results: Sequence[Evaluation]) -> Records:
    return ({**record, "parameters": json.dumps(record["parameters"])} for record in records(results))


def _csv(path: Path, results: Sequence[Evaluation], gates: Sequence[HeldGate]) -> None:
    write_table(path, COLUMNS, _flat(results))


def _parquet(path: Path, results: Sequence[Evaluation], gates: Sequence[HeldGate]) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            "Parquet needs pyarrow", remedy="pip install 'graphkit-eval[parquet]', or write .csv."
        ) from None
    kinds = dict.fromkeys(("value", "confidence", "cost"), pyarrow.float64())
    kinds |= dict.fromkeys(("prompt_tokens", "output_tokens"), pyarrow.int64())
    fields = [(name, kinds.get(name, pyarrow.string())) for name in COLUMNS]
    rows = [{**row, "version": str(row["version"] or "")} for row in _flat(results)]
    parquet.write_table(pyarrow.Table.from_pylist(rows, pyarrow.schema(fields)), path)


def _junit(path: Path, results: Sequence[Evaluation], gates: Sequence[HeldGate]) -> None:
    """Write one suite per run, with one case per question and one per gate.

    A failed question is an error, one without a record is skipped, and a failed gate is a failure.
    """
    root = ElementTree.Element("testsuites", name="graphkit")
    for result in results:
        suite = ElementTree.SubElement(root, "testsuite", name=_xml(result.run))
        properties = ElementTree.SubElement(suite, "properties")
        ElementTree.SubElement(properties, "property", name="failed_as", value=result.failed_as)
        for name, summary in result.measures.items():
            if not (between := result.interval_in_words(name)):
                continue
            held = f"{summary.in_words(result.failed_as)}{between}"
            ElementTree.SubElement(properties, "property", name=_xml(f"mean {name}"), value=_xml(held))
        if result.clustered is not None:
            sentence = _xml(result.clustered.sentence)
            ElementTree.SubElement(properties, "property", name="clustered", value=sentence)
        if result.relations.without:
            ElementTree.SubElement(properties, "property", name="relations", value=result.relations.sentence)
        if result.gold_hash is not None:
            ElementTree.SubElement(properties, "property", name="gold_hash", value=result.gold_hash)
        for row in result.rows:
            case = ElementTree.SubElement(suite, "testcase", classname=_xml(result.run), name=_xml(row.question))
            reasons = {value for value in row.values if isinstance(value, str)}
            if any(reason.startswith(FAILED) for reason in reasons):
                ElementTree.SubElement(case, "error", message=_xml(row.failure or max(reasons)))
            elif row.values and len(reasons) == 1 and all(isinstance(value, str) for value in row.values):
                ElementTree.SubElement(case, "skipped", message=_xml(reasons.pop()))
            lines = [f"{name}: {value}" for name, value in zip(result.measures, row.values, strict=True)]
            ElementTree.SubElement(case, "system-out").text = "\n".join(map(_xml, lines))
        for gate in gates:
            if gate.run == result.run:
                _gate_case(suite, gate)
        suite.set("tests", str(len(suite.findall("testcase"))))
        # Count the written errors: a question with stale gold is skipped, even if the run failed on it.
        for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(name, str(len(suite.findall(f"testcase/{kind}"))))
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _gate_case(suite: ElementTree.Element, gate: HeldGate) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=_xml(f"{gate.run} gates"), name=_xml(gate.name))
    if not gate.passed:
        ElementTree.SubElement(case, "failure", message=_xml(gate.what))
    ElementTree.SubElement(case, "system-out").text = _xml(gate.what)


def _xml(text: str) -> str:
    """Return text on one line, without the characters that XML can't hold."""
    return one_line(text)


def _markdown(path: Path, results: Sequence[Evaluation], gates: Sequence[HeldGate]) -> None:
    path.write_text(markdown(results, gates), encoding="utf-8")


def markdown(results: Sequence[Evaluation], gates: Sequence[HeldGate] = ()) -> str:
    """Return the scoreboard as a Markdown table with one column per run, and below it the outcomes of the gates."""
    names = list(dict.fromkeys(name for result in results for name in result.measures))
    header = ["measure", *(_cell(result.run) for result in results)]
    lines = [f"| {' | '.join(header)} |", f"|---|{'---:|' * len(results)}"]
    for name in names:
        cells = [_cell(name)]
        for result in results:
            summary = result.measures.get(name)
            cells.append(
                f"{shown_mean(summary, result.failed_as)} ({scored_in_words(summary, result.failed_as)})"
                if summary
                else "–"
            )
        lines.append(f"| {' | '.join(cells)} |")
    for result in results:
        counts = [counted(result.questions, "question"), f"{result.failed} failed", f"{result.missing} missing"]
        counts += [f"{len(result.invalid)} invalid (stale gold, not scored)"] if result.invalid else []
        counts += [NOTES[result.failed_as]] if result.failed_as in NOTES else []
        counts += [f"gold {result.gold_hash}"] if result.gold_hash is not None else []
        lines.append(f"\n{_cell(result.run)}: {', '.join(counts)}")
        lines += [f"\n{_cell(result.run)}: {_cell(line)}" for line in _clustered(result)]
        lines += [f"\n{_cell(result.run)}: {_cell(reason)}" for reason in result.reasons()]
        lines += [f"\n{_cell(result.run)}: warning: {_cell(warning)}" for warning in result.warnings]
    for gate in gates:
        outcome = "passed" if gate.passed else "**failed**"
        margin = "" if gate.margin is None else f" ({gate.margin})"
        lines.append(f"\n{_cell(gate.run)}: gate {_cell(gate.name)} {outcome}: {_cell(gate.what)}{margin}")
    return "\n".join(lines) + "\n"


def _clustered(result: Evaluation) -> Iterator[str]:
    """Yield the clusters of a result, and each measure with its interval over them."""
    if result.clustered is not None:
        yield result.clustered.sentence
        yield "95% intervals over clusters: " + ", ".join(
            f"{name} {one}" for name, one in result.clustered.measures.items()
        )


def _cell(text: str) -> str:
    """Return text that can't leave its cell or its line, or become markup."""
    text = one_line(text)
    for char in "\\`*_{}[]<>|#!":
        text = text.replace(char, f"\\{char}" if char not in "<>" else {"<": "&lt;", ">": "&gt;"}[char])
    return " ".join(text.split())


FORMATS: dict[str, Writer] = {
    ".jsonl": _jsonl,
    ".summary.json": _summary_json,
    ".json": _json,
    ".csv": _csv,
    ".parquet": _parquet,
    ".xml": _junit,
    ".md": _markdown,
}
