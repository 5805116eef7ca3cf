"""Bad input through the command line: reported with file, line, record and remedy, and nothing of it is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphkit as graphkit_library
from graphkit.errors import InputError
from tests.files.mistakes import A1, A2, MISTAKES, Q1, Q2, SCORE, SHAS, STEP, WHOLE, Lines, commit
from tests.helpers.cli import ANSWERS, QUESTIONS, inside, tiny, without_intervals, write_lines
from tests.helpers.cli import inside as graphkit


@pytest.mark.parametrize("name", MISTAKES)
def test_evaluate_refuses(name: str, tmp_path: Path) -> None:
    """A record that can't be used is reported with its file, line, id and remedy, and nothing is scored."""
    mistake = MISTAKES[name]
    done = inside(*SCORE, mistake.write(tmp_path), cwd=tmp_path, code=2)
    assert done.out == ""
    [line] = [line for line in done.err.splitlines() if f"{tmp_path / mistake.place}: " in line]
    assert mistake.reported in line
    assert mistake.record is None or f"record {mistake.record!r}: " in line
    assert mistake.remedy in done.err
    assert "--on-error skip" in done.err


@pytest.mark.parametrize("name", MISTAKES)
def test_evaluate_skips(name: str, tmp_path: Path) -> None:
    """With --on-error skip the record is reported and left out, and the rest is scored."""
    mistake = MISTAKES[name]
    done = inside(*SCORE, "--on-error", "skip", mistake.write(tmp_path), cwd=tmp_path, code=0)
    found = done.object()["measures"]["EdgeRecall"]
    low, high = found.pop("interval") or (0, 1)  # one value shows no spread
    assert low <= found.pop("held") <= high
    assert found == mistake.left
    told = [line for line in done.err.splitlines() if line.startswith(f"skipped: {tmp_path / mistake.place}: ")]
    assert len(told) == 1
    assert mistake.reported in told[0]


def test_every_cycle_is_reported(tmp_path: Path) -> None:
    """If the parents form two cycles, both are reported."""
    run = tiny(tmp_path, commits=(commit(0, 1), commit(1, 0), commit(2, 2)))
    err = graphkit(*SCORE, run, cwd=tmp_path, code=2).err
    assert "commits.jsonl:1" in err
    assert "commits.jsonl:3" in err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        # The comma is the 12th character of the first line, and the 24th of the second.
        ('{"run": "r",}', "Illegal trailing comma before end of object at character 12"),
        ('{"run": "r", "x": [1, 2, ]}', "Illegal trailing comma before end of array at character 24"),
        ('{"run" "r"}', "Expecting ':' delimiter at character 8"),
    ],
)
def test_json_is_refused_in_the_same_words(line: str, said: str, tmp_path: Path) -> None:
    """What is wrong in a line of JSON has one description under every Python, whose own words differ."""
    assert said in inside(*SCORE, tiny(tmp_path, answers=(line,)), cwd=tmp_path, code=2).err


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ({"criteria": "must"}, 'criteria: a list is wanted (found "must")'),
        ({"criteria": ["must"]}, 'criteria.0: an object is wanted (found "must")'),
        ({"paths": ["a"]}, 'paths.0: an object is wanted (found "a")'),
        ({"commits": "abc"}, 'commits: an object is wanted (found "abc")'),
    ],
)
def test_shapes_are_said_in_words_of_json(field: dict[str, Any], said: str, tmp_path: Path) -> None:
    """A file of JSON has lists and objects, neither tuples and dictionaries nor instances of a class."""
    done = inside(*SCORE, tiny(tmp_path, questions=(Q1, {**Q2, **field})), cwd=tmp_path, code=2)
    assert f"record 'q2': {said}\n" in done.err


def test_many_mistakes_are_counted(tmp_path: Path) -> None:
    """Ten of twelve mistakes are shown, with the count of all."""
    err = graphkit(*SCORE, tiny(tmp_path, answers=(*ANSWERS, *(12 * ["{"]))), cwd=tmp_path, code=2).err
    assert "12 records can't be used, so" in err
    assert "runs/r.jsonl:12:" in err
    assert "runs/r.jsonl:13:" not in err
    assert "and 2 more" in err


def test_records_and_faults_are_counted(tmp_path: Path) -> None:
    """Two records that can't be used, one with two faults and one with six, are two records and eight faults."""
    two = {**A1, "answer": 1, "latency_ms": -1}
    six = {**A2, "answer": 1, "cost": -1, "error": 1, "model_calls": -1, "prompt_tokens": -1, "output_tokens": -1}
    done = graphkit(*SCORE, tiny(tmp_path, answers=(two, six)), cwd=tmp_path, code=2)
    assert "error: 2 records (8 faults) can't be used, so none was read:" in done.err
    # Three of a record's faults are reported, and the last one says how many more there are.
    told = [line for line in done.err.splitlines() if "runs/r.jsonl:2: record 'q2': " in line]
    assert len(told) == 3
    assert told[2].endswith(" and 3 more faults")
    one = graphkit(*SCORE, tiny(tmp_path, answers=(two, A2)), cwd=tmp_path, code=2)
    assert "error: 1 record (2 faults) can't be used" in one.err


@pytest.mark.parametrize("questions", [QUESTIONS, ("x", "y")], ids=["run", "both"])
def test_nothing_usable(questions: Lines, tmp_path: Path) -> None:
    """Skipping doesn't help where nothing usable is left: that ends with 2."""
    run = tiny(tmp_path, questions, ("{", "["))
    done = inside(*SCORE, "--on-error", "skip", run, cwd=tmp_path, code=2)
    assert "nothing usable is left" in done.err
    assert f"{run}:1: " in done.err


def test_records_of_two_runs(tmp_path: Path) -> None:
    """A file holds one run: which two it holds is reported."""
    done = graphkit(*SCORE, tiny(tmp_path, answers=(A1, {**A2, "run": "s"})), cwd=tmp_path, code=2)
    assert "2 runs: r, s" in done.err
    assert "file of its own" in done.err


@pytest.mark.parametrize(
    ("positions", "told"),
    [((0, 2), "the positions have a gap"), ((0, 0), "a position repeats"), ((0, 1), None), ((None, None), None)],
)
def test_positions(positions: tuple[int | None, int | None], told: str | None, tmp_path: Path) -> None:
    """A gap or a repeat in positions is reported with its record; the steps are scored in the order kept."""
    second = {"source": "a:m.py#y", "relation": "CALLS", "target": "b:n.py#z"}
    steps = [
        {**step, "position": position} if position is not None else {k: v for k, v in step.items() if k != "position"}
        for step, position in zip((STEP, second), positions, strict=True)
    ]
    run = tiny(tmp_path, answers=({**A1, "traversal": steps}, A2))
    done = inside("evaluate", "--no-store", "--json", "-m", "PathInOrder", run, cwd=tmp_path, code=0)
    # Both gold paths are walked in their order.
    found = done.object()["measures"]["PathInOrder"]
    assert (found["mean"], found["scored"], found["total"]) == (1.0, 2, 2)
    if told is None:
        assert done.unasked == ""
    else:
        assert told in done.err
        assert f"{run}:1 q1, path 0" in done.err


COMMITS = (commit(0), {**commit(1, 0), "comitted_at": "2025-01-01T00:00:00Z"})
#: Records with a field that isn't known: the files of the dataset, where the field is first, its name, the closest one.
UNKNOWN: dict[str, tuple[dict[str, Any], str, str, str | None]] = {
    "run": ({"answers": (A1, {**A2, "retreived": []})}, "runs/r.jsonl:2", "retreived", "retrieved"),
    "part of a run": (
        {"answers": ({**A1, "traversal": [{**STEP, "weight": 1}]}, A2)},
        "runs/r.jsonl:1",
        "traversal.weight",
        None,
    ),
    "questions": ({"questions": (Q1, {**Q2, "relevent": []})}, "questions.jsonl:2", "relevent", "relevant"),
    "commits": ({"commits": COMMITS}, "commits.jsonl:2", "comitted_at", "committed_at"),
    "compatibility": (
        {"commits": COMMITS[:1], "compatibility": ({"id": "c", "commits": {"a": SHAS[0]}, "enviroment": "live"},)},
        "compatibility.jsonl:1",
        "enviroment",
        "environment",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_fields(name: str, tmp_path: Path) -> None:
    """An unknown field is reported once with the closest known one, and the rest is scored; --strict refuses it."""
    files, place, field, close = UNKNOWN[name]
    run = tiny(tmp_path, **files)
    hint = "" if close is None else f"; did you mean {close}?"
    done = inside(*SCORE, run, cwd=tmp_path, code=0)
    [told] = [line for line in done.err.splitlines() if "isn't used" in line]
    assert told == f"note: {Path(place).name.partition(':')[0]}: the field {field!r} isn't used (1 record{hint})"
    assert without_intervals(done.object())["measures"]["EdgeRecall"] == WHOLE
    for on_error in ("fail", "skip"):
        done = inside(*SCORE, "--strict", "--on-error", on_error, run, cwd=tmp_path, code=2)
        assert done.out == ""
        hint = "" if close is None else f" (Did you mean {close}?)"
        assert f"{tmp_path / place}: the field {field!r} isn't known, in 1 record{hint}" in done.err.splitlines()[1]
        assert "without --strict" in done.err


def test_strict_takes_what_is_known(tmp_path: Path) -> None:
    """A dataset and a run without any unknown field score as ever."""
    done = inside(*SCORE, "--strict", tiny(tmp_path), cwd=tmp_path, code=0)
    assert without_intervals(done.object())["measures"]["EdgeRecall"] == WHOLE
    assert done.unasked == ""


def test_unknown_fields_of_scores(tmp_path: Path) -> None:
    """The scores that others gave are read as strictly as the run."""
    run = tiny(tmp_path)
    scores = write_lines(
        tmp_path / "s.jsonl", [{"run": "r", "question": "q1", "measure": "X", "value": 1, "colour": "j"}]
    )
    done = inside(*SCORE, "--scores", scores, run, cwd=tmp_path, code=0)
    assert "note: s.jsonl: the field 'colour' isn't used (1 record)" in done.err
    done = inside(*SCORE, "--strict", "--scores", scores, run, cwd=tmp_path, code=2)
    assert f"{scores}:1: the field 'colour' isn't known, in 1 record" in done.err


def test_many_unknown_fields_are_counted(tmp_path: Path) -> None:
    """Ten of twelve unknown fields of a file are shown, with the count of the others."""
    run = tiny(tmp_path, answers=({**A1, **{f"x{number}": 1 for number in range(12)}}, A2))
    done = inside(*SCORE, run, cwd=tmp_path, code=0)
    assert done.err.count("isn't used") == 10
    assert "note: r.jsonl: 2 more fields that graphkit doesn't use" in done.err
    done = inside(*SCORE, "--strict", run, cwd=tmp_path, code=2)
    assert "error: 12 fields not known" in done.err
    assert "... and 2 more" in done.err


def test_unknown_fields_through_the_library(tmp_path: Path) -> None:
    """They are warnings of the result, of files and of records in memory; what is strict refuses them."""
    answers = ({**A1, "retreived": []}, {**A2, "retreived": []})
    run = tiny(tmp_path, answers=answers)
    for given, file in ((run, "r.jsonl"), (answers, "records.jsonl")):
        result = graphkit_library.evaluate(given, tmp_path, measures=["EdgeRecall"])
        assert result.warnings == (f"{file}: the field 'retreived' isn't used (2 records; did you mean retrieved?)",)
        with pytest.raises(InputError, match=rf"{file}:1: the field 'retreived' isn't known, in 2 records"):
            graphkit_library.evaluate(given, tmp_path, measures=["EdgeRecall"], strict=True)


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ('{"run": "r", "question_id": "q1", "answer": "café"}'.encode("latin-1"), "not UTF-8"),
        (b'{"run": "r", "question_id": "q1", "output": ' + b"[" * 100_000, "nested too deeply"),
    ],
    ids=["Latin-1", "deep"],
)
def test_a_first_line_that_can_not_be_decoded(first: bytes, said: str, tmp_path: Path) -> None:
    """The look at a run's first record, which tells logs of other tools, leaves the report to the reader of the run."""
    run = tiny(tmp_path)
    run.write_bytes(first + b"\n" + run.read_bytes())
    done = inside(*SCORE, run, cwd=tmp_path, code=2)
    assert f"{run}:1: " in done.err
    assert said in done.err
