"""``graphkit listen``: a run from what a system sends, as a process with real requests and signals."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.cli import COMMAND, QUESTIONS, environment, inside, write_lines
from tests.plugins.logs.test_spans import TRACE, otlp


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Write the two questions of the tests."""
    write_lines(tmp_path / "data" / "questions.jsonl", QUESTIONS)
    return tmp_path / "data"


def retrieval(question: str, document: str, trace: str) -> bytes:
    """Return an export of one retrieval."""
    texts = {
        "openinference.span.kind": "RETRIEVER",
        "metadata": json.dumps({"question_id": question}),
        "retrieval.documents.0.document.id": document,
    }
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in texts.items()]
    return json.dumps(otlp(pairs, trace, f"{1:016x}")).encode()


def send(endpoint: str, body: bytes) -> None:
    """Send an export as an exporter does."""
    request = urllib.request.Request(f"{endpoint}/v1/traces", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 200


def listening(dataset: Path, *more: str, stop: int, meanwhile: Callable[[str], None]) -> tuple[int, str, str]:
    """Listen on a free port, do something with the address that it prints, interrupt it, and return how it ended."""
    arguments = ("listen", "-d", str(dataset), "-o", str(dataset / "live.jsonl"), "--port", "0", *more)
    with subprocess.Popen(
        [*COMMAND, *arguments], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            first = process.stderr.readline()
            found = re.match(r"OTEL_EXPORTER_OTLP_ENDPOINT=(http://127\.0\.0\.1:\d+)\n", first)
            assert found
            meanwhile(found[1])
            process.send_signal(stop)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert "Traceback" not in out + err
    return process.returncode, out, err


def records(file: Path) -> list[dict[str, Any]]:
    """Return the records of a run, of each its question and what was retrieved."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_the_run_is_there_before_the_end(dataset: Path) -> None:
    """A complete trace is in the run while the system goes on; what comes later is in it at the end."""
    run = dataset / "live.jsonl"

    def meanwhile(endpoint: str) -> None:
        send(endpoint, retrieval("q1", "a:m.py#x", TRACE))
        until = time.monotonic() + 60
        while not run.exists() and time.monotonic() < until:
            time.sleep(0.1)
        assert [one["question_id"] for one in records(run)] == ["q1"]
        send(endpoint, retrieval("q2", "a:m.py#w", "b" * 32))

    code, _, err = listening(dataset, stop=signal.SIGINT, meanwhile=meanwhile)
    assert code == 0
    assert "1 answer so far" in err
    assert [(one["question_id"], one["retrieved"][0]["id"]) for one in records(run)] == [
        ("q1", "a:m.py#x"),
        ("q2", "a:m.py#w"),
    ]
    assert len((dataset / "live.spans").read_text().splitlines()) == 2
    # The spans are a log like any other.
    inside("import", "openinference", dataset / "live.spans", "-d", dataset, "-o", "again.jsonl", cwd=dataset, code=0)
    assert [{**one, "run": "live"} for one in records(dataset / "again.jsonl")] == records(run)


def test_json_at_the_end(dataset: Path) -> None:
    """The address is on standard error, and standard output has one object; SIGTERM ends it as well."""
    code, out, err = listening(
        dataset,
        "--json",
        stop=signal.SIGTERM,
        meanwhile=lambda endpoint: send(endpoint, retrieval("q1", "a:m.py#x", TRACE)),
    )
    assert code == 0, err
    reported = json.loads(out)
    assert (reported["run"], reported["spans"], reported["refused"]) == ("live", 1, {})
    assert reported["file"].endswith("live.jsonl")


def test_the_format_is_given(dataset: Path) -> None:
    """Spans may follow two conventions: auto takes the more specific, --format the one that the user means.

    By OpenInference the span found x, by OpenTelemetry's own conventions y.
    """
    export = json.loads(retrieval("q1", "a:m.py#x", TRACE))
    span = export["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    documents = json.dumps([{"id": "a:m.py#y", "score": 1.0}])
    for key, value in (("gen_ai.operation.name", "retrieval"), ("gen_ai.retrieval.documents", documents)):
        span["attributes"].append({"key": key, "value": {"stringValue": value}})
    for given, found in ((), "a:m.py#x"), (("--format", "otel"), "a:m.py#y"):
        code, _, err = listening(
            dataset,
            "--force",
            *given,
            stop=signal.SIGINT,
            meanwhile=lambda endpoint: send(endpoint, json.dumps(export).encode()),
        )
        assert code == 0, err
        assert [one["retrieved"][0]["id"] for one in records(dataset / "live.jsonl")] == [found]
    words = ("listen", "-d", dataset, "-o", "x.jsonl", "--port", "0", "--format")
    other = inside(*words, "opentelemetry", cwd=dataset, code=2)
    assert "'opentelemetry' is not one of 'auto', 'openinference', 'otel'" in other.err
    assert "Did you mean otel?" in inside(*words, "opentel", cwd=dataset, code=2).err


def test_nothing_came(dataset: Path) -> None:
    """Without a span there is no run, and what may be wrong is said."""
    code, out, _ = listening(dataset, stop=signal.SIGINT, meanwhile=lambda endpoint: None)
    assert (code, "no spans came" in out) == (0, True)
    assert sorted(path.name for path in dataset.iterdir()) == ["questions.jsonl"]


def test_nothing_of_the_dataset_came(dataset: Path) -> None:
    """Traces of other questions are refused at the end as an import of them is, and the spans are kept."""
    code, _, err = listening(
        dataset,
        stop=signal.SIGINT,
        meanwhile=lambda endpoint: send(endpoint, retrieval("q9", "a:m.py#x", TRACE)),
    )
    assert (code, "no answer to a question of the dataset" in err) == (2, True)
    assert (dataset / "live.spans").exists()


def test_what_is_there_is_not_replaced(dataset: Path) -> None:
    """A run that exists is refused before anything is listened for."""
    write_lines(dataset / "live.jsonl", [{}])
    done = inside("listen", "-d", dataset, "-o", dataset / "live.jsonl", cwd=dataset, code=2)
    assert "the file holds something that graphkit didn't write" in done.err
    assert not (dataset / "live.spans").exists()
