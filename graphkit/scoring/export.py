"""Results as files, by the ending of their name: for programs, spreadsheets, CI and people.

``.jsonl`` has one line per run, question and measure. ``.csv`` and ``.parquet`` have the same rows as a table.
``.summary.json`` has the means, also by category, difficulty and group, and the efficiency; ``.json`` adds every value.
Plug-ins add others, such as JUnit for CI (``.xml``) and a table for a pull request (``.md``). Each file appears
complete, or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from graphkit.errors import InputError
from graphkit.files.atomic import written
from graphkit.files.made import stamp
from graphkit.files.tables import write_table
from graphkit.measures.matching import Edge
from graphkit.measures.outcome import Outcome
from graphkit.measures.registry import known_measure
from graphkit.records.plugins import called_with, installed, load
from graphkit.records.repetition_names import system_of
from graphkit.scoring.results import Evaluation


class RunsVerdict(NamedTuple):
    """The verdict over several runs: a sentence, the run that beats the next best one, and by which measure.

    ``winner`` is None if no run clearly does, and ``reason`` says why although the interval excludes 0.
    """

    sentence: str
    winner: str | None = None
    measure: str | None = None
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return self._asdict()

    def lines(self) -> list[str]:
        """Return the sentence, and the reason."""
        return [one for one in (self.sentence, self.reason) if one is not None]


COLUMNS = (
    *("run", "question", "measure", "value", "reason", "version", "computed", "parameters"),
    *("grader", "grade", "label", "explanation", "confidence", "cost", "prompt_tokens", "output_tokens"),
    *("gold_hash", "strict_value", "untyped", "missed_edges", "absent_edges"),
)

#: The measure whose rows hold the edges that a question misses, and those that its knowledge graph lacks.
WITH_EDGES = "EdgeRecall"

Records = Iterable[dict[str, Any]]


class HeldGate(Protocol):
    """The outcome of a gate: :class:`graphkit.analysis.gate_outcomes.GateOutcome`."""

    @property
    def run(self) -> str:
        """The name of the run."""

    def as_json(self) -> dict[str, Any]:
        """Return the gate with its bound, its value and its outcome."""


#: What the results were made of, by name.
Facts = Mapping[str, str]


class About(NamedTuple):
    """What a file says beside the results and gates: facts on how they came about, and the verdict over several.

    ``held`` are the results that the gates hold, one for each repeated system; empty if they are the others.
    """

    facts: Facts
    verdict: RunsVerdict | None
    made: Mapping[str, Any] = {}
    held: Sequence[Evaluation] = ()


#: Writes results to a file; further ones are entry points, by the endings of their files.
Writer = Callable[[Path, Sequence[Evaluation], Sequence[HeldGate], About], None]
WRITERS = "graphkit.outputs"


def records(results: Iterable[Evaluation]) -> Iterator[dict[str, Any]]:
    """Yield one record per run, question and measure: the score, and the parameters of a measure of graphkit.

    They are those that the question was scored by, so its own cut-off if it has one. A record of EdgeRecall holds the
    required edges that the run missed, and the gold edges that the knowledge graph lacks, as far as they are known.
    """

    @cache
    def parameters(name: str) -> dict[str, object]:
        measure = known_measure(name)
        return {} if measure is None else measure.settings()

    for result in results:
        edges = {row.question: _edges(row.outcome) for row in result.rows if row.outcome is not None}
        for score in result.records():
            plain = score.model_dump() | (
                edges.get(score.question, _NO_EDGES) if score.measure == WITH_EDGES else _NO_EDGES
            )
            plain["parameters"] = (
                parameters(score.computed or score.measure) if score.measure in result.measures else {}
            )
            yield {name: plain[name] for name in COLUMNS}


_NO_EDGES: dict[str, Any] = {"missed_edges": None, "absent_edges": None}


def _edges(outcome: Outcome) -> dict[str, Any]:
    known = outcome.path is not None and len(outcome.missed) == outcome.missed_edges
    missed = outcome.missed if known else None
    return {"missed_edges": _as_records(missed), "absent_edges": _as_records(outcome.absent)}


def _as_records(edges: Sequence[Edge] | None) -> list[dict[str, str | None]] | None:
    return None if edges is None else [dict(zip(("source", "relation", "target"), edge, strict=True)) for edge in edges]


def write_results(
    path: Path,
    results: Sequence[Evaluation],
    gates: Sequence[HeldGate] = (),
    facts: Facts | None = None,
    verdict: RunsVerdict | None = None,
    *,
    held: Sequence[Evaluation] = (),
    ending: str | None = None,
    run_files: Mapping[str, Path] | None = None,
) -> None:
    """Write results with their rows to one file, in the format of its ending.

    Parameters
    ----------
    gates
        The outcomes of the gates, which JSON, JUnit and Markdown contain.
    facts
        What the results were made of, which JUnit contains.
    verdict
        The verdict over several runs, which JSON, JUnit and Markdown contain.
    held
        The results that the gates hold, if they are others; JUnit has these.
    ending
        The format, whatever the file is called.
    run_files
        The files of runs, beside which `graphkit run` noted when they ran; JSON holds it.

    Raises
    ------
    InputError
        The ending is unknown, the file can't be written, or Parquet is requested and pyarrow isn't installed.
    """
    writer = check_output(path, ending)
    with written(path) as temporary:
        made = stamp(run_files) if writer in DATED else {}
        writer(temporary, results, gates, About(facts or {}, verdict, made, held))


def check_output(path: Path, ending: str | None = None) -> Writer:
    """Return the function that writes a file of this name; call it early, so that a mistake costs no work.

    Raises
    ------
    InputError
        The ending is unknown, its plug-in isn't there, or there is no such folder.
    """
    endings = [*FORMATS, *(f".{name}" for name in installed(WRITERS))]
    ending = ending or next((one for one in endings if path.name.endswith(one)), None)
    if ending is None:
        raise InputError(
            f"results can't be written as {path.suffix or 'a file without an ending'}",
            where=str(path),
            remedy=f"Use one of: {', '.join(endings)}.",
        )
    if not path.parent.is_dir():
        raise InputError("the file can't be written: there is no such folder", where=str(path), remedy="Make it first.")
    if ending in FORMATS:
        return FORMATS[ending]
    writer: Writer = load(installed(WRITERS)[ending[1:]], InputError, f"writing {ending}", called_with(4))
    return writer


def _jsonl(path: Path, results: Sequence[Evaluation], gates: Sequence[HeldGate], about: About) -> None:
    with path.open("w", encoding="utf-8") as stream:
        for record in records(results):
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")


Gate = TypeVar("Gate", bound=HeldGate)


def gates_of(result: Evaluation, results: Iterable[Evaluation], gates: Iterable[Gate]) -> list[Gate]:
    """Return the gates of one of several results, with those of the system that it repeats."""
    names, system = {one.run for one in results}, system_of(result.run)
    return [gate for gate in gates if gate.run == result.run or (gate.run == system and system not in names)]


def _summary(result: Evaluation, results: Sequence[Evaluation], gates: Sequence[HeldGate]) -> dict[str, Any]:
    held = {"gates": [gate.as_json() for gate in gates_of(result, results, gates)]}
    return {**result.as_json(), **held, "groups": result.groups_as_json(), **result.outcomes_as_json()}


def _summary_json(path: Path, results: Sequence[Evaluation], gates: Sequence[HeldGate], about: About) -> None:
    _write_json(path, [_summary(result, results, gates) for result in results], about)


def _json(path: Path, results: Sequence[Evaluation], gates: Sequence[HeldGate], about: About) -> None:
    detailed = []
    for result in results:
        values = {row.question: dict(zip(result.measures, row.values, strict=True)) for row in result.rows}
        stages = {row.question: row.outcome.stage.name for row in result.rows if row.outcome is not None}
        gold = {row.question: row.gold_hash for row in result.rows}
        detailed.append({**_summary(result, results, gates), "values": values, "gold_hash_of": gold})
        detailed[-1] |= {"stage_of": stages} if stages else {}
    _write_json(path, detailed, about)


def _write_json(path: Path, runs: list[dict[str, Any]], about: About) -> None:
    whole = {"runs": runs, "made": about.made}
    whole |= {} if about.verdict is None else {"verdict": about.verdict.as_json()}
    path.write_text(json.dumps(whole, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def _flat(results: Sequence[Evaluation]) -> Records:
    for record in records(results):
        lists = {name: json.dumps(found, ensure_ascii=False) for name in _LISTS if (found := record[name]) is not None}
        yield {**record, "parameters": json.dumps(record["parameters"]), **lists}


#: The columns with lists, which a table holds as JSON.
_LISTS = ("missed_edges", "absent_edges")


def _csv(path: Path, results: Sequence[Evaluation], gates: Sequence[HeldGate], about: About) -> None:
    write_table(path, COLUMNS, _flat(results))


def _parquet(path: Path, results: Sequence[Evaluation], gates: Sequence[HeldGate], about: About) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            "Parquet needs pyarrow", remedy="pip install 'graphkit-eval[parquet]', or write .csv."
        ) from None
    kinds = dict.fromkeys(("value", "confidence", "cost", "strict_value"), pyarrow.float64())
    kinds |= dict.fromkeys(("prompt_tokens", "output_tokens"), pyarrow.int64())
    kinds["untyped"] = pyarrow.bool_()
    fields = [(name, kinds.get(name, pyarrow.string())) for name in COLUMNS]
    rows = [{**row, "version": str(row["version"] or "")} for row in _flat(results)]
    parquet.write_table(pyarrow.Table.from_pylist(rows, pyarrow.schema(fields)), path)


FORMATS: dict[str, Writer] = {
    ".jsonl": _jsonl,
    ".summary.json": _summary_json,
    ".json": _json,
    ".csv": _csv,
    ".parquet": _parquet,
}


def summaries_last(paths: Iterable[Path]) -> list[Path]:
    """Return the paths of results in the order of writing: a summary appears when the rows that it is of are there."""
    return sorted(paths, key=lambda path: path.name.endswith(".summary.json"))


#: The writers of files that say when they were made.
DATED = (_summary_json, _json)
