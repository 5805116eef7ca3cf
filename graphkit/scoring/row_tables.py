"""The rows of questions as tables of Arrow: of parts on their way from a worker, and of a results folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Self

import msgspec

from graphkit.errors import InputError
from graphkit.measures.matching import Edge
from graphkit.measures.outcome import Decision, Outcome, Stage
from graphkit.measures.registry import compares_relations
from graphkit.measures.seeds import LostEdge
from graphkit.scoring.results import LABELS, Row
from graphkit.scoring.scorer import Job

#: The column with the values under strict comparison of relations, where they differ: a JSON object by measure.
STRICT = "strict"

#: The column with what a results folder doesn't hold of a row.
HIDDEN = "hidden"


def arrow() -> Any:
    """Return pyarrow.

    Raises
    ------
    InputError
        It isn't installed.
    """
    try:
        import pyarrow
    except ImportError:
        remedy = "pip install 'graphkit-eval[parquet]', or write .jsonl without --on."
        raise InputError("a results folder needs pyarrow", remedy=remedy) from None
    return pyarrow


class Unwritten(msgspec.Struct, array_like=True):
    """What a results folder doesn't hold of a row: the latency, the missing gold of its stage, and absent edges."""

    latency_ms: float | None = None
    missing: tuple[str, ...] = ()
    absent: tuple[Edge, ...] | None = None

    @classmethod
    def of(cls, row: Row) -> Self:
        """Return that of a row."""
        judged = row.outcome
        return cls(row.latency_ms) if judged is None else cls(row.latency_ms, judged.stage.missing, judged.absent)


def reason_of(measure: str) -> str:
    """Return the name of the column with the reasons why a measure has no value."""
    return f"{measure}.reason"


def _columns(measures: Sequence[str], job: Job) -> Iterator[tuple[str, str, Callable[[Row], Any]]]:
    """Yield the name, the type of Arrow and the value of each column of the rows of a job."""
    yield "id", "string", attrgetter("question")
    for place, label in enumerate(LABELS):
        yield label, "string", partial(_label, place)
    yield "gold_hash", "string", attrgetter("gold_hash")
    yield "failure", "string", attrgetter("failure")
    yield "k", "int64", attrgetter("k")
    if job.decides:
        yield "right_answer", "bool_", attrgetter("decision.right")
        yield "decided_by", "string", attrgetter("decision.by")
    if job.detailed is not None:
        yield "details", "string", lambda row: json.dumps(row.details) if row.details else None
    if job.outcomes:
        yield "right_path", "bool_", attrgetter("outcome.path")
        yield "undecided", "string", attrgetter("outcome.undecided")
        yield "stage", "string", attrgetter("outcome.stage.name")
        yield "stage_reason", "string", attrgetter("outcome.stage.reason")
        yield "missed_edges", "int64", attrgetter("outcome.missed_edges")
        yield "missed_ids", "int64", attrgetter("outcome.missed_ids")
    if job.outcomes or job.undirected:
        yield "missed", "string", _missed
        yield "unlinked", "string", lambda row: msgspec.json.encode(row.unlinked).decode() if row.unlinked else None
    for place, name in enumerate(measures):
        yield name, "float64", partial(_value, place)
        yield reason_of(name), "string", partial(_reason, place)
    if any(map(compares_relations, measures)):
        yield STRICT, "string", lambda row: json.dumps(dict(row.strict)) if row.strict else None
    yield HIDDEN, "binary", lambda row: msgspec.msgpack.encode(Unwritten.of(row))


def _label(place: int, row: Row) -> str | None:
    return row.labels[place]


def _value(place: int, row: Row) -> float | None:
    value = row.values[place]
    return None if isinstance(value, str) else float(value)


def _reason(place: int, row: Row) -> str | None:
    value = row.values[place]
    return value if isinstance(value, str) else None


def _missed(row: Row) -> str | None:
    edges = row.missed or (row.outcome.missed if row.outcome else ())
    return json.dumps(edges) if edges else None


def as_table(rows: Sequence[Row], measures: Sequence[str], job: Job) -> Any:
    """Return the rows of a job as a table of Arrow."""
    pa = arrow()
    columns = [*_columns(measures, job)]
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind, _ in columns])
    arrays = [pa.array([*map(value, rows)], field.type) for (*_, value), field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def packed_table(table: Any) -> bytes:
    """Return a table as bytes."""
    pa = arrow()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpacked_table(packed: bytes) -> Any:
    """Return the table in some bytes."""
    return arrow().ipc.open_stream(packed).read_all()


def rows_of(batch: Any, measures: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a table of Arrow, or of a batch of one; folders of earlier versions lack some columns."""
    columns = [(name, reason_of(name)) for name in measures]
    for one in batch.to_pylist():
        judged, by_text, missed = None, None, None
        more = msgspec.msgpack.decode(one[HIDDEN], type=Unwritten) if HIDDEN in one else Unwritten()
        if "missed" in one:
            missed = tuple((edge[0], edge[1], edge[2]) for edge in json.loads(one["missed"] or "[]"))
        if "stage" in one:
            stage = Stage(one["id"], one["stage"], one["stage_reason"], more.missing)
            counts = one.get("missed_edges", 0), one.get("missed_ids", 0)
            right = one["right_answer"], one["right_path"]
            judged = Outcome(*right, stage, one["undecided"], *counts, missed or (), more.absent)
        if "decided_by" in one:
            by_text = Decision(one["right_answer"], one["decided_by"])
        yield Row(
            one["id"],
            tuple([one[reason] if one[name] is None else one[name] for name, reason in columns]),
            tuple(one.get(label) for label in LABELS),
            judged,
            one["gold_hash"],
            one["failure"],
            one.get("k"),
            tuple(json.loads(one.get(STRICT) or "{}").items()),
            latency_ms=more.latency_ms,
            by_text=by_text,
            details=json.loads(one["details"] or "{}") if "details" in one else None,
            missed=missed if judged is None else None,
            unlinked=msgspec.json.decode(one.get("unlinked") or "[]", type=tuple[LostEdge, ...]),
        )
