"""Logs of Inspect: documents, archives, samples in parts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphkit.imports.sources import is_json, values_of
from graphkit.plugins.logs.inspect_logs import INVALID, LIMITED, OTHERS, InspectReader
from graphkit.plugins.logs.tool_calls import FAILED
from graphkit.readers.logged import LoggedAnswer, ReadOptions, UnreadableLogError
from tests.helpers.archives import deflated, zstandard_archive

MESSAGES: list[dict[str, Any]] = [
    {"id": "m1", "role": "user", "source": "input", "content": "Who calls f?"},
    {
        "id": "m2",
        "role": "assistant",
        "source": "generate",
        "model": "big",
        "content": [{"type": "reasoning", "reasoning": "..."}, {"type": "text", "text": "I read."}],
        "tool_calls": [{"id": "t1", "function": "read_file", "arguments": {"path": "a.py"}, "type": "function"}],
    },
    {"id": "m3", "role": "tool", "tool_call_id": "t1", "function": "read_file", "content": "def g(): f()"},
    {"id": "m4", "role": "assistant", "content": "g does.", "model": "big"},
]


def sample(name: Any = "n1", epoch: int = 1, **more: Any) -> dict[str, Any]:
    """One sample, that asked one model twice."""
    return {
        "id": name,
        "epoch": epoch,
        "input": "Who calls f?",
        "target": "g",
        "messages": MESSAGES,
        "output": {"model": "big-2026", "choices": [{"message": MESSAGES[3]}], "completion": "g does."},
        "model_usage": {
            "lab/big": {"input_tokens": 10, "output_tokens": 3, "total_tokens": 113, "input_tokens_cache_read": 100}
        },
        "total_time": 2.5,
        **more,
    }


def log(*samples: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A log as one document."""
    evaluation = {"task": "walks", "model": "lab/big", "created": "2026-01-02T10:00:00+00:00"}
    return {"version": 2, "status": "success", "eval": evaluation, "samples": list(samples), **more}


def read(*values: Any, options: ReadOptions | None = None, unread: Counter[str] | None = None) -> list[LoggedAnswer]:
    """Return the answers that the reader finds in the values of a file."""
    places = [("log.json:1", value) for value in values]
    return list(InspectReader().read(places, options or ReadOptions(), Counter() if unread is None else unread))


def test_a_log_is_an_answer_a_sample() -> None:
    """Ids, what was opened, the answer, and what it took."""
    first, second = read(log(sample(), sample(2)))
    assert (first.where, second.where) == ("log.json:1 samples[0]", "log.json:1 samples[1]")
    assert (first.question, second.question) == ("n1", "2")
    assert (first.question_text, first.answer) == ("Who calls f?", "g does.")
    assert first.opened == ["a.py"]
    assert first.retrieved is None
    # What a cache had is beside the input's tokens: 10 + 100. 2.5 s. Two messages of the model.
    assert (first.prompt_tokens, first.output_tokens, first.latency_ms, first.model_calls) == (110, 3, 2500.0, 2)
    assert (first.model, first.cost, first.error, first.notes) == ("lab/big", None, None, [])
    assert first.tool_calls is not None
    assert (first.tool_calls[0].name, first.tool_calls[0].result) == ("read_file", "def g(): f()")


@pytest.mark.parametrize("write", [deflated, zstandard_archive])
def test_an_archive_reads_as_the_document_does(tmp_path: Path, write: Any) -> None:
    """Its samples, also one whose id has a slash in it, and none of its summaries."""
    document = log()
    samples = document.pop("samples")
    assert samples == []
    path = write(
        tmp_path / "a.eval",
        {
            "_journal/start.json": b"{}",
            "samples/n1_epoch_1.json": json.dumps(sample()).encode(),
            "samples/org/repo-2_epoch_1.json": json.dumps(sample("org/repo-2")).encode(),
            "summaries.json": json.dumps([{"id": "n1", "epoch": 1, "input": "?", "target": "g"}]).encode(),
            "header.json": json.dumps(document).encode(),
        },
    )
    assert is_json(path)
    values = list(values_of(path))
    assert all(InspectReader().recognises(value) for _, value in values)
    answers = list(InspectReader().read(values, ReadOptions(), Counter()))
    assert [one.where for one in answers] == [
        f"{path}:samples/n1_epoch_1.json",
        f"{path}:samples/org/repo-2_epoch_1.json",
    ]
    (expected,) = read(log(sample()))
    expected.where = answers[0].where
    assert answers[0] == expected
    assert answers[1].question == "org/repo-2"


def test_a_sample_in_parts_reads_as_if_it_were_whole(tmp_path: Path) -> None:
    """Messages in two documents, of which the refs take some, and a text among the attachments."""
    shell = sample()
    del shell["messages"]
    shell["message_refs"] = [[0, 2], [3, 5]]
    messages = [MESSAGES[0], MESSAGES[1], {"role": "user", "content": "not part of it"}]
    more = [{**MESSAGES[2], "content": "attachment://1"}, MESSAGES[3]]
    folder = "samples/n1_epoch_1"
    parts: dict[str, Any] = {
        "header.json": {key: value for key, value in log().items() if key != "samples"},
        f"{folder}/sample.json": shell,
        f"{folder}/skeleton.json": {"spans": []},
        f"{folder}/metadata.json": {"question_id": "q9"},
        f"{folder}/messages/3.json": more,
        f"{folder}/messages/0.json": messages,
        f"{folder}/events/0.json": [],
        f"{folder}/events/stats.json": {},
        f"{folder}/attachments/0.json": ["x", "def g(): f()"],
    }
    path = deflated(tmp_path / "a.eval", {name: json.dumps(one).encode() for name, one in parts.items()})
    (answer,) = InspectReader().read(values_of(path), ReadOptions(), Counter())
    assert (answer.question, answer.answer, answer.opened) == ("q9", "g does.", ["a.py"])
    assert answer.tool_calls is not None
    assert answer.tool_calls[0].result == "def g(): f()"
    assert answer.notes == []


def test_spans_that_name_everything_again_and_again_end(tmp_path: Path) -> None:
    """A conversation isn't longer than what there is of it, however often a hostile sample names it."""
    shell = {**sample(), "message_refs": [[0, 10**9]] * 50_000, "messages": None}
    parts = {
        "header.json": {},
        "samples/n1_epoch_1/sample.json": shell,
        "samples/n1_epoch_1/messages/0.json": MESSAGES * 500,
    }
    path = deflated(tmp_path / "a.eval", {name: json.dumps(one).encode() for name, one in parts.items()})
    ((_, value),) = values_of(path)
    assert len(value["messages"]) == 2000


def test_another_archive_is_refused(tmp_path: Path) -> None:
    """Without a header it isn't Inspect's."""
    path = deflated(tmp_path / "a.zip", {"data.json": b"[]"})
    with pytest.raises(UnreadableLogError, match="no log of Inspect"):
        list(values_of(path))


def test_texts_that_are_kept_apart_are_put_back() -> None:
    """Arguments, contents and outputs name them by their digest; one that isn't there stays as it is."""
    call = {"id": "t", "function": "read", "arguments": {"path": "attachment://k1"}}
    messages = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "t", "content": [{"type": "text", "text": "attachment://gone"}]},
    ]
    (answer,) = read(sample(messages=messages, output={"completion": "tc://k2"}, attachments={"k1": "a.py", "k2": "g"}))
    assert (answer.opened, answer.answer) == (["a.py"], "g")
    assert answer.tool_calls is not None
    assert answer.tool_calls[0].result == "attachment://gone"


def test_epochs_are_trials() -> None:
    """Each epoch is a further answer to the question, which an import makes a repetition of the run."""
    assert [one.trial for one in read(log(sample(epoch=2), sample(), sample(epoch=3)))] == ["2", "1", "3"]


def test_errors_limits_and_marks_are_said() -> None:
    """A sample that failed has an error; what was cut short or marked is noted."""
    failed = sample(error={"message": "TimeoutError('x')", "traceback": "...", "traceback_ansi": "..."})
    assert read(failed)[0].error == "TimeoutError('x')"
    (answer,) = read(sample(limit={"type": "token", "limit": 10}, invalidation={"author": "me"}))
    assert (answer.error, answer.notes) == (None, [LIMITED, INVALID])


def test_a_call_that_failed_opened_nothing() -> None:
    """The error of a message of a tool."""
    gone = {**MESSAGES[2], "content": "", "error": {"type": "file_not_found", "message": "no a.py"}}
    (answer,) = read(sample(messages=[*MESSAGES[:2], gone, MESSAGES[3]]))
    assert (answer.opened, answer.notes) == ([], [FAILED])
    assert answer.tool_calls is not None
    assert (answer.tool_calls[0].failed, answer.tool_calls[0].result) == (True, "no a.py")


def test_an_answer_that_was_handed_in_is_believed() -> None:
    """The tool that ends an agent's loop has the answer alone; the completion has more around it."""
    call = {"id": "t", "function": "submit", "arguments": {"answer": "42"}}
    # The user's second text is the agent's loop, which asks to go on.
    messages = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": "Hm."},
        {"role": "user", "content": "Please proceed."},
        {"role": "assistant", "content": "So.", "tool_calls": [call]},
    ]
    (answer,) = read(sample(messages=messages, output={"completion": "So.\n\n42"}))
    assert (answer.answer, answer.notes) == ("42", [])


def test_a_graders_tokens_are_not_the_systems() -> None:
    """Only the tokens of the evaluated model count, with a note; costs are summed if all are known."""
    usage = {
        "lab/big": {"input_tokens": 10, "output_tokens": 3, "total_cost": 0.5},
        "lab/grader": {"input_tokens": 99, "output_tokens": 9, "total_cost": 7},
    }
    (answer,) = read(log(sample(model_usage=usage)))
    assert (answer.prompt_tokens, answer.output_tokens, answer.cost, answer.notes) == (10, 3, 0.5, [OTHERS])
    # A sample on its own doesn't say which of them was evaluated: all are counted.
    (answer,) = read(sample(model_usage=usage))
    assert (answer.prompt_tokens, answer.output_tokens, answer.cost, answer.model) == (109, 12, 7.5, "big-2026")


def test_the_question_is_named_by_metadata_or_the_users_key() -> None:
    """Samples are often numbered, and the question's id stands beside."""
    assert read(sample(1, metadata={"question_id": "n1"}))[0].question == "n1"
    keyed = ReadOptions(question_key="metadata.task.key")
    assert read(sample(1, metadata={"task": {"key": 7}}), options=keyed)[0].question == "7"
    with pytest.raises(UnreadableLogError, match=r"no question's id at 'metadata\.task\.key'"):
        read(sample(1), options=keyed)


def test_a_conversation_as_input_asks_its_last() -> None:
    """Examples stand before the question."""
    asked = [{"role": role, "content": text} for role, text in (("user", "A?"), ("assistant", "B"), ("user", "C?"))]
    assert read(sample(input=asked))[0].question_text == "C?"


def test_a_log_without_samples_is_refused() -> None:
    """A header alone has no answers."""
    document = log(status="started")
    del document["samples"]
    with pytest.raises(UnreadableLogError, match="holds no samples"):
        read(document)
    with pytest.raises(UnreadableLogError, match="neither a log"):
        read({"messages": []})


def test_what_is_not_used_is_counted() -> None:
    """Scores and metadata by their names."""
    unread: Counter[str] = Counter()
    more: dict[str, Any] = {
        "scores": {"match": {"value": "C"}},
        "metadata": {"question_id": "n1", "level": 3},
        "store": {"a": 1},
    }
    read(sample(**more), unread=unread)
    expected = ("samples.scores.match", "samples.metadata.level", "samples.store", "samples.target")
    assert unread == Counter(dict.fromkeys(expected, 1))


@pytest.mark.parametrize(
    "value", [{}, [], None, {"eval": {}, "samples": []}, {"id": 1, "messages": []}, {"version": 2}]
)
def test_other_values_are_not_recognised(value: Any) -> None:
    """A log has a task and a status, a sample an epoch."""
    assert not InspectReader().recognises(value)
    assert InspectReader().recognises(log())
    assert InspectReader().recognises(sample())
