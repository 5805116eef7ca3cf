"""Scores of Inspect and promptfoo: what was judged keeps its value, and what wasn't has none.

``recorded/promptfoo.json`` is what promptfoo 0.121.20 wrote of its provider ``echo``, which repeats the prompt, without
counts of tokens and the lines of stack traces. Its tests are: q1 contains "calls", and a script gives 0.25; q2 should
equal "w"; the script of q3 throws; the last asserts nothing. Each ran with two prompts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.plugins.exports.score_logs import import_scores
from graphkit.records.scores import Score
from tests.helpers.cli import QUESTIONS, inside, tiny
from tests.helpers.datasets import write_jsonl

PROMPTFOO = Path(__file__).parent / "recorded" / "promptfoo.json"
ONE = "{{question}}"


def by_name(scores: list[Score]) -> dict[tuple[str, str], Score]:
    """Return scores by question and measure."""
    return {(one.question, one.measure): one for one in scores}


def sample(name: str, scores: Any, **more: Any) -> dict[str, Any]:
    """Return a sample of Inspect."""
    return {"id": name, "epoch": 1, "input": "Who calls z?", "messages": [], "output": {}, "scores": scores, **more}


def inspect_log(folder: Path, *samples: Any) -> Path:
    """Write a log of Inspect, which has NaN in it as Python writes it."""
    log = {"version": 2, "status": "success", "eval": {"packages": {"inspect_ai": "0.3"}}, "samples": samples}
    path = folder / "log.json"
    path.write_text(json.dumps(log))
    return path


def test_results_of_promptfoo() -> None:
    """The test's score and each metric; a script that threw and a test without assertions have judged nothing."""
    found = import_scores([PROMPTFOO], "r", only=[ONE], problems=Problems("skip"))
    scores = by_name(found.scores)
    assert {name for name, _ in scores} == {"q1", "q2", "q3"}
    values = {key: one.number for key, one in scores.items()}
    assert [values["q1", name] for name in ("promptfoo", "Containment", "Partial")] == [0.625, 1, 0.25]
    assert [values["q2", name] for name in ("promptfoo", "Containment", "Partial")] == [0, 0, None]
    assert [values["q3", name] for name in ("promptfoo", "Broken", "Containment")] == [None, None, None]
    broken = scores["q3", "Broken"]
    assert broken.reason == "an assertion failed to judge: Custom function threw error: Unexpected token 'throw'"
    assert (broken.grader, broken.version) == ("promptfoo", "0.121.20")
    assert scores["q2", "Containment"].explanation == 'Expected output "What does x call?" to equal "w"'


def test_a_test_without_assertions(tmp_path: Path) -> None:
    """It is found by its text, and isn't the 1 that promptfoo gives it."""
    asked = {"id": "q4", "question": "Nothing asked", "paths": []}
    data = tmp_path / "data"
    tiny(data, questions=[*QUESTIONS, {**QUESTIONS[1], "id": "q3", "question": "Who?"}, asked])
    scores = by_name(import_scores([PROMPTFOO], "r", dataset=data, only=[ONE]).scores)
    assert (scores["q4", "promptfoo"].value, scores["q4", "promptfoo"].reason) == (None, "the test asserts nothing")


def test_several_systems_are_refused() -> None:
    """A run has one answer to a question; the names to choose from are in the message."""
    with pytest.raises(InputError, match="of 2 pairs of provider and prompt") as refused:
        import_scores([PROMPTFOO], "r")
    assert "'echo', '{{question}}', 'Answer shortly: {{question}}'" in str(refused.value)
    with pytest.raises(InputError, match="no result is of 'other'"):
        import_scores([PROMPTFOO], "r", only=["other"])


def test_a_provider_that_failed(tmp_path: Path) -> None:
    """Failure reason 2 is an error, whatever scores stand beside it; a grader's own failure is flagged."""
    flagged = {"reason": "Could not grade", "assertion": {"metric": "Tone"}, "metadata": {"graderError": True}}
    results = [
        {"vars": {"question_id": "q1"}, "failureReason": 2, "error": "API error", "score": 0, "namedScores": {}},
        {
            "vars": {"question_id": "q2"},
            "score": 0,
            "namedScores": {"Tone": 0, "Length": 0.5},
            "gradingResult": {"componentResults": [flagged]},
        },
    ]
    path = write_jsonl(tmp_path / "out.json", [{"results": {"results": results}}])
    scores = by_name(import_scores([path], "r").scores)
    assert {scores["q1", name].reason for name in ("promptfoo", "Tone", "Length")} == {"failed: API error"}
    assert scores["q2", "Tone"].reason == "an assertion failed to judge: Could not grade"
    assert scores["q2", "Length"].number == 0.5


def test_letters_numbers_and_what_is_neither(tmp_path: Path) -> None:
    """Inspect's accuracy counts C, P, I and N as 1, 0.5, 0 and 0; NaN, lists and other texts are no numbers."""
    values = {"C": 1, "P": 0.5, "I": 0, "N": 0, "yes": 1, "0.75": 0.75, "good": None}
    given: dict[str, dict[str, Any]] = {f"s{place}": {"value": value} for place, value in enumerate(values)}
    given |= {"nan": {"value": float("nan")}, "list": {"value": [1, 2]}, "true": {"value": True}, "none": {}}
    path = inspect_log(tmp_path, sample("q1", given))
    scores = by_name(import_scores([path], "r").scores)
    assert [scores["q1", f"s{place}"].number for place in range(len(values))] == [*values.values()]
    assert [scores["q1", f"s{place}"].grade for place in (0, 3, 6)] == ["correct", "no answer", "good"]
    reasons = [scores["q1", name].reason for name in ("s6", "nan", "list", "none")]
    assert reasons == [
        "the value isn't a number: good",
        "the scorer gave no number (NaN)",
        "the value isn't a number: [1, 2]",
        "the log holds no value",
    ]
    assert scores["q1", "true"].number == 1
    assert (scores["q1", "s0"].grader, scores["q1", "s0"].version) == ("inspect/s0", "0.3")


def test_parts_epochs_and_errors(tmp_path: Path) -> None:
    """A scorer of two values is two measures; the second epoch is left out; a sample that failed is no zero."""
    parts = {"style": {"value": {"tone": 0.5, "length": 1}, "explanation": "short"}}
    path = inspect_log(
        tmp_path,
        sample("s-1", parts, metadata={"question_id": "q1"}),
        sample("q2", {}, error={"message": "limit"}),
        {**sample("q1", parts), "epoch": 2},
    )
    found = import_scores([path], "r")
    scores = by_name(found.scores)
    assert found.left_out == ("samples of epoch 2 and later: a run has one answer to a question",)
    assert [(scores["q1", f"style.{name}"].number) for name in ("tone", "length")] == [0.5, 1]
    assert scores["q1", "style.tone"].explanation == "short"
    assert {scores["q2", f"style.{name}"].reason for name in ("tone", "length")} == {"failed: limit"}


def test_the_command(tmp_path: Path) -> None:
    """Its file is what evaluate reads; a question that the dataset lacks is refused by its place."""
    run = tiny(tmp_path / "data")
    log = inspect_log(tmp_path, sample("q1", {"match": {"value": "C"}}), sample("q2", {"match": {"value": "I"}}))
    out = tmp_path / "scores.jsonl"
    done = inside("import", "scores", log, "--run", "r", "-o", out, "-d", tmp_path / "data", cwd=tmp_path, code=0)
    assert "match: 2/2 scored" in done.out
    judged = inside("evaluate", run, "--no-store", "--scores", out, "-m", "EdgeRecall", "--json", cwd=tmp_path, code=0)
    assert judged.object()["measures"]["match"]["mean"] == 0.5
    other = inspect_log(tmp_path, sample("q9", {"match": {"value": "C"}}, input="What?"))
    refused = inside("import", "scores", other, "--run", "r", "-o", out, "-d", "data", cwd=tmp_path, code=2)
    assert "samples[0]: record 'q9': no question of the dataset has this id or text" in refused.err
    foreign = write_jsonl(tmp_path / "foreign.json", [{"a": 1}])
    refused = inside("import", "scores", foreign, "--run", "r", "-o", out, cwd=tmp_path, code=2)
    assert "this is no log with scores" in refused.err
