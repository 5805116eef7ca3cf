"""Reading: logs in each format of others, beside merely parsing their JSON, or decoding their lines.

Logs of real libraries are repeated, each time as other questions and traces, where the team's data is there; of the
formats that it lacks, small records are made here. Bare is the least that reading can be: each line through the
decoder that the readers use, and the value thrown away.
"""

from __future__ import annotations

import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from benchmarks.results import Line, write
from graphkit.imports.sources import text_of, values_of
from graphkit.readers.known_formats import formats, reader_of
from graphkit.readers.logged import ReadOptions
from tests.helpers.datasets import find_data

#: How long each log is made.
BYTES = 20_000_000

#: The logs of real libraries that are read, by their format.
REAL = {
    "openinference": "llama-index/openinference_spans.jsonl.gz",
    "graphrag": "ms-graphrag/local_search.jsonl.gz",
    "lightrag": "lightrag/query_data_mix.jsonl.gz",
    "neo4j-graphrag": "neo4j-graphrag/vector_cypher_formatter.jsonl.gz",
    "llama-index": "llama-index/vector_context_with_text.jsonl.gz",
    "langchain": "langchain/chain_output.jsonl.gz",
}

CODE = "def total(lines):\n    return sum(line.price for line in lines)\n" * 8
_QUESTION = re.compile(r'(?<=")n([1-8])(?=\\?")')
_TRACE = re.compile(r'(?<="trace_id": "0x)[0-9a-f]{8}')


def _repeated(log: Path) -> Iterator[str]:
    """Yield the lines of a log again and again, each time of other questions, and of other traces."""
    with gzip.open(log, "rt", encoding="utf-8") as file:
        lines = list(file)
    for turn in count():
        for line in lines:
            yield _TRACE.sub(f"{turn:08x}", _QUESTION.sub(rf"n\1-{turn}", line))


def _messages(number: int) -> dict[str, Any]:
    """Return a conversation that opened four files, as chat completions have it."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Who calls f{number}?"}]
    for call in range(4):
        function = {"name": "read_file", "arguments": json.dumps({"path": f"src/module_{number + call}.py"})}
        called = {"id": f"c{call}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [called]})
        messages.append({"role": "tool", "tool_call_id": f"c{call}", "content": CODE})
    return {"question_id": f"q{number}", "messages": [*messages, {"role": "assistant", "content": "It is total."}]}


def _inspect(number: int) -> dict[str, Any]:
    """Return a log of ten samples."""
    samples = []
    for sample in range(10 * number, 10 * number + 10):
        messages = _messages(sample)["messages"]
        for message in messages:
            for call in message.get("tool_calls", ()):
                call |= {"function": "read_file", "arguments": json.loads(call["function"]["arguments"])}
        usage = {"m": {"input_tokens": 10, "output_tokens": 3, "total_tokens": 13}}
        output = {"model": "m", "choices": [{"message": messages[-1]}], "completion": messages[-1]["content"]}
        asked = {"id": f"q{sample}", "epoch": 1, "input": messages[0]["content"], "target": "total"}
        samples.append({**asked, "messages": messages, "output": output, "model_usage": usage, "total_time": 2.5})
    evaluation = {"task": "walks", "model": "m", "created": "2026-01-02T10:00:00+00:00"}
    return {"version": 2, "status": "success", "eval": evaluation, "samples": samples}


def _atif(number: int) -> dict[str, Any]:
    """Return a trajectory that opened four files."""
    steps: list[dict[str, Any]] = [{"source": "user", "message": f"Who calls f{number}?"}]
    for call in range(4):
        called = {
            "tool_call_id": f"c{call}",
            "function_name": "view",
            "arguments": {"path": f"src/module_{number + call}.py"},
        }
        results = {"results": [{"source_call_id": f"c{call}", "content": CODE}]}
        metrics = {"prompt_tokens": 100, "completion_tokens": 10, "cost_usd": 0.25}
        step = {"source": "agent", "message": "I look.", "tool_calls": [called], "observation": results}
        steps.append({**step, "metrics": metrics, "timestamp": f"2026-01-02T10:00:0{call}Z"})
    steps.append({"source": "agent", "message": "It is total."})
    return {
        "schema_version": "ATIF-v1.7",
        "session_id": f"q{number}",
        "agent": {"name": "walker", "version": "1", "model_name": "m"},
        "steps": [{"step_id": place, **step} for place, step in enumerate(steps, 1)],
    }


def _otel(number: int) -> dict[str, Any]:
    """Return one of the two spans of a question: a retrieval of ten within an agent."""
    question, is_retrieval = divmod(number, 2)
    documents = json.dumps([{"id": f"src/module_{question + rank}.py", "score": 1 / (rank + 1)} for rank in range(10)])
    retrieval = {"gen_ai.retrieval.query.text": f"who calls f{question}", "gen_ai.retrieval.documents": documents}
    agent = {"gen_ai.usage.input_tokens": 30, "gen_ai.usage.output_tokens": 3, "gen_ai.request.model": "m"}
    return {
        "name": "span",
        "context": {"trace_id": f"0x{question + 1:032x}", "span_id": f"0x{is_retrieval + 1:016x}", "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": f"0x{1:016x}" if is_retrieval else None,
        "start_time": "2026-01-02T10:00:00.000000Z",
        "end_time": "2026-01-02T10:00:01.000000Z",
        "status": {"status_code": "OK"},
        "attributes": {
            "gen_ai.operation.name": "retrieval" if is_retrieval else "invoke_agent",
            **(retrieval if is_retrieval else agent),
        },
        "events": [],
        "links": [],
        "resource": {"attributes": {"service.name": "bench"}, "schema_url": ""},
    }


def _ragas(number: int) -> dict[str, Any]:
    """Return a row with five contexts."""
    ids = [f"src/module_{number + rank}.py" for rank in range(5)]
    row = {"id": f"q{number}", "user_input": f"Who calls f{number}?", "response": "It is total."}
    return {**row, "retrieved_contexts": [CODE] * 5, "retrieved_context_ids": ids}


def _beir(number: int) -> dict[str, Any]:
    """Return the results of a hundred questions, ten documents each."""
    return {
        f"q{question}": {f"src/module_{question + rank}.py": 1 / (rank + 1) for rank in range(10)}
        for question in range(100 * number, 100 * number + 100)
    }


def _trec(number: int) -> str:
    """Return a line; ten are a question."""
    question, rank = divmod(number, 10)
    return f"q{question} Q0 src/module_{question + rank}.py {rank + 1} {1 / (rank + 1):.6f} bench\n"


#: What makes a line, or a record, of the formats of which there is no real log.
MADE: dict[str, Callable[[int], Any]] = {
    "inspect": _inspect,
    "atif": _atif,
    "otel": _otel,
    "ragas": _ragas,
    "messages": _messages,
    "beir": _beir,
    "trec": _trec,
}


def _written(name: str, logs: Path | None, folder: Path) -> Path | None:
    """Write a log of a format into the folder, and return its path; None where only its real one would do."""
    if name in MADE:
        make = MADE[name]
        records = map(make, count())
        lines: Iterator[str] = (record if isinstance(record, str) else f"{json.dumps(record)}\n" for record in records)
    elif logs is not None:
        lines = _repeated(logs / REAL[name])
    else:
        return None
    path, size = folder / f"reading-{name}.{'txt' if reader_of(name).lines else 'jsonl'}", 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        while size < BYTES:
            size += file.write(next(lines))
    return path


def _read(name: str, path: Path) -> int:
    """Read a log, and return how many answers it has."""
    reader = reader_of(name)
    values = text_of(path) if reader.lines else values_of(path)
    return sum(1 for _ in reader.read(values, ReadOptions(), Counter()))


def _parsed(path: Path, decode: Callable[[bytes], Any]) -> int:
    """Decode each line, and return how many there are."""
    with path.open("rb") as file:
        return sum(1 for line in file if decode(line) is not None)


def main(folder: Path, repeats: int, large: bool, save: bool) -> list[Line]:
    """Measure each format, in turns with parsing the same file."""
    logs = find_data("logs")
    lines = []
    for name in formats():
        path = _written(name, logs, folder)
        if path is None:
            lines.append(Line(name, "its real log isn't here", "", "", ""))
            continue
        is_text = reader_of(name).lines
        decode: Callable[[bytes], Any] = bytes.decode if is_text else msgspec.json.Decoder().decode
        read, parsed = [], []
        for _ in range(repeats):
            parsed.append(_seconds(_parsed, path, decode))
            read.append(_seconds(_read, name, path))
        size = path.stat().st_size / 1e6
        beside = "decoding its lines" if is_text else "parsing its JSON"
        speeds = [f"{size / median(taken):.0f} MB/s" for taken in (read, parsed)]
        lines.append(Line(name, speeds[0], beside, speeds[1], f"{median(read) / median(parsed):.1f} times"))
        path.unlink()
    if save:
        text = (
            f"Logs of {BYTES // 1_000_000} MB into what a reader says of each question, median of {repeats}; names are "
            f"not looked up. Real logs, repeated: {', '.join(REAL)}; the others are made. Bare is msgspec, a line at a "
            "time, and bytes.decode for lines of text."
        )
        write("Reading logs of others", text, lines)
    return lines


def _seconds(work: Callable[..., int], *arguments: Any) -> float:
    begin = time.perf_counter()
    found = work(*arguments)
    taken = time.perf_counter() - begin
    assert found > 0, arguments
    return taken
