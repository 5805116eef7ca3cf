"""A rubric of the user's own: a folder with a prompt and a schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from graphkit.errors import InputError
from graphkit.plugins.judging.judges.own_rubric import load_rubric
from graphkit.plugins.judging.judges.verdict_request import prompt_of, schema_of
from tests.helpers.judging import judged, materials, read, values

SHOWN = materials("It calls.")
TONE = {"type": "number", "minimum": 0, "maximum": 1, "description": "how calm it is"}


def rubric(folder: Path, properties: Any, prompt: str = "Judge the tone.", **more: Any) -> Path:
    """Write a rubric."""
    folder.mkdir()
    (folder / "prompt.txt").write_text(prompt)
    (folder / "schema.json").write_text(json.dumps({"type": "object", "properties": properties, **more}))
    return folder


def test_one_measure(tmp_path: Path) -> None:
    """A form with one number is the measure of the folder's name; its reasoning explains it."""
    grader = load_rubric(rubric(tmp_path / "tone", {"reasoning": {"type": "string"}, "calm": TONE}))
    assert (grader.name, grader.measures) == ("tone", ("tone",))
    prompt = prompt_of(grader, SHOWN)
    assert prompt.text.endswith("Judge the tone.")
    assert schema_of(grader)["properties"]["calm"]["description"] == "how calm it is"
    done = judged(grader, SHOWN, {"reasoning": "r", "calm": 2}, {"reasoning": "r", "calm": 0.5})
    assert [(one.measure, one.value, one.explanation) for one in done.findings] == [("tone", 0.5, "r")]
    assert done.verdict is not None
    assert done.verdict.verdict == {"reasoning": "r", "calm": 0.5}


def test_several_measures(tmp_path: Path) -> None:
    """Each number and boolean is a measure of its own; texts are kept, and none is one."""
    properties = {
        "calm": TONE,
        "stars": {"type": "integer", "minimum": 1, "maximum": 5},
        "polite": {"type": "boolean"},
        "kind": {"type": "string", "enum": ["a", "b"]},
    }
    grader = load_rubric(rubric(tmp_path / "tone", properties))
    good = {"calm": 0, "stars": 5, "polite": True, "kind": "a"}
    found = read(grader, SHOWN, good)
    assert values(found.findings) == {"tone.calm": 0.0, "tone.stars": 5.0, "tone.polite": 1.0}
    wrong: list[dict[str, Any]] = [{"stars": 6}, {"stars": 1.5}, {"polite": 1}, {"kind": "c"}, {"calm": "1"}, {"x": 1}]
    for one in wrong:
        with pytest.raises(ValidationError):
            read(grader, SHOWN, {**good, **one})


@pytest.mark.parametrize(("kind", "number"), [("integer", 10**400), ("number", -1e101)])
def test_number_that_no_score_holds(tmp_path: Path, kind: str, number: float) -> None:
    """A number beyond the largest value of a score, 1e30, is a failure, and ends no grading."""
    grader = load_rubric(rubric(tmp_path / "tone", {"a": {"type": kind}}))
    done = judged(grader, SHOWN, {"a": number}, {"a": number})
    assert [(one.value, one.reason) for one in done.findings] == [(None, "out_of_range: a is beyond 1e+30")]


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({}, "no object with properties"),
        ({"a": {"type": "string"}}, "nothing would be scored"),
        ({"a": {"type": "array"}}, "must be of the type number"),
        ({"a": 3}, "must be of the type number"),
        ({"a": {"type": "number", "multipleOf": 2}}, "multipleOf isn't supported"),
        ({"a": {"type": "number", "minimum": "0"}}, "a bound must be a number"),
        ({"a": {"type": "number", "minimum": float("nan")}}, "NaN isn't a number of JSON"),
        ({"a": {"type": "number", "maximum": 10**400}}, "a bound must be a number of at most"),
        ({"a": {"type": "integer", "minimum": 0.5}}, "must be a whole number, not 0.5"),
        ({"a": TONE, "b": {"type": "string", "enum": []}}, "enum must be a list"),
        ({"a": {**TONE, "description": "\ud83d"}}, "half a character"),
        ({"a b": TONE}, "can't be called"),
        ({"model_dump": TONE}, "can't be called"),
    ],
)
def test_schemas_that_can_not_be_used(tmp_path: Path, properties: Any, message: str) -> None:
    """The file and the property are named."""
    folder = rubric(tmp_path / "tone", properties)
    with pytest.raises(InputError, match=message) as caught:
        load_rubric(folder)
    assert str(caught.value).startswith(str(folder / "schema.json"))


def test_folders_that_can_not_be_used(tmp_path: Path) -> None:
    """A folder or file that isn't there, no text, no JSON, and names that are taken."""
    with pytest.raises(InputError, match="no such folder"):
        load_rubric(tmp_path / "tone")
    folder = rubric(tmp_path / "tone", {"a": TONE}, prompt=" \n")
    with pytest.raises(InputError, match=r"prompt\.txt: the file is empty"):
        load_rubric(folder)
    (folder / "prompt.txt").unlink()
    with pytest.raises(InputError, match=r"prompt\.txt: there is no such file"):
        load_rubric(folder)
    (folder / "prompt.txt").write_bytes(b"\xff")
    with pytest.raises(InputError, match="UTF-8"):
        load_rubric(folder)
    (folder / "prompt.txt").write_text("x")
    (folder / "schema.json").write_text('{\n"type": }')
    with pytest.raises(InputError, match=r"schema\.json:2: the file isn't JSON"):
        load_rubric(folder)
    (folder / "schema.json").write_text('{"type": "object", "properties": {"a": {"type": "number"}}, "oneOf": []}')
    with pytest.raises(InputError, match="uses oneOf"):
        load_rubric(folder)
    for name, message in {
        "rubric": "a built-in grader",
        "EdgeRecall": "a measure",
        "a-b": "name of a measure",
    }.items():
        with pytest.raises(InputError, match=message):
            load_rubric(rubric(tmp_path / name, {"a": TONE}))
