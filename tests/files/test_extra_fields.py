"""The fields that a data set adds for itself: one list silences them, and no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems

STEP = {"source": "a:x.py", "relation": "CALLS", "target": "b:y.py", "observed": True, "count": 3}
QUESTION = {"id": "q1", "question": "?", "paths": [{"steps": [STEP]}], "scenario": "s", "colour": "red"}
ANSWER = {"run": "r", "question_id": "q1", "traversal": [STEP], "colour": "red"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set with fields of its own in its question and its run, and no list of them."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "questions.jsonl").write_text(json.dumps(QUESTION) + "\n")
    (tmp_path / "runs" / "r.jsonl").write_text(json.dumps(ANSWER) + "\n")
    return tmp_path


def listed(folder: Path, content: Any) -> None:
    """Write its list."""
    (folder / "dataset.json").write_text(content if isinstance(content, str) else json.dumps(content))


def reported(folder: Path) -> set[str]:
    """The fields that evaluating the run reports, with the file."""
    result = graphkit.evaluate(folder / "runs" / "r.jsonl", measures=["EdgeRecall"])
    return {warning.partition(" isn't used")[0].replace(": the field", "") for warning in result.warnings}


def test_a_list_silences_its_fields_and_no_others(folder: Path) -> None:
    """A name is silenced wherever it stands, one with the way to it only there; `colour` isn't listed."""
    every = {f"questions.jsonl '{name}'" for name in ("paths.steps.observed", "paths.steps.count", "scenario")}
    every |= {"r.jsonl 'traversal.observed'", "r.jsonl 'traversal.count'"}
    colours = {"questions.jsonl 'colour'", "r.jsonl 'colour'"}
    assert reported(folder) == every | colours
    listed(folder, {"name": "mine", "extra_fields": ["observed", "scenario", "count"]})
    assert reported(folder) == colours
    listed(folder, {"extra_fields": ["observed", "scenario", "paths.steps.count", "colour"]})
    assert reported(folder) == {"r.jsonl 'traversal.count'"}


def test_strict_reading_takes_what_is_listed(folder: Path) -> None:
    """A listed field is known: strict reading refuses the others alone."""
    listed(folder, {"extra_fields": ["observed", "scenario", "count"]})
    with pytest.raises(InputError, match="2 fields not known"):
        graphkit.evaluate(folder / "runs" / "r.jsonl", strict=True)
    listed(folder, {"extra_fields": ["observed", "scenario", "count", "colour"]})
    result = graphkit.evaluate(folder / "runs" / "r.jsonl", measures=["EdgeRecall"], strict=True)
    assert result.measures["EdgeRecall"].mean == 1.0


def test_a_list_beside_another_file_is_none_of_a_dataset(folder: Path, tmp_path: Path) -> None:
    """A dataset.json in a folder without questions belongs to something else, and isn't read."""
    other = tmp_path / "other"
    other.mkdir()
    listed(other, "no JSON")
    problems = Problems()
    problems.ignore(f"{other / 'scores.jsonl'}:1", "scenario")
    assert [name for _, name in problems.ignored_fields] == ["scenario"]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON: nested too deeply"),
        ("[]", "must hold one JSON object"),
        ({"extra_fields": "count"}, "must be a list of names"),
        ({"extra_fields": [1]}, "must be a list of names"),
        ({"extra_field": ["count"]}, "the key 'extra_field' isn't known"),
    ],
)
def test_a_mistake_in_the_list_is_refused_with_its_file(folder: Path, content: Any, what: str) -> None:
    """Whatever is wrong with it, the message names the file and what to write."""
    listed(folder, content)
    with pytest.raises(InputError, match=what) as refused:
        Dataset(folder)
    assert refused.value.where == str(folder / "dataset.json")
    assert "extra_fields" in str(refused.value)


def test_a_data_set_with_a_list_scores_as_it_did(traced_packages: Path, tmp_path: Path) -> None:
    """The four traced runs, with a list beside them: no warning of a field, and the figures of their reference."""
    for name in ("questions.jsonl", "commits.jsonl", "compatibility.jsonl"):
        (tmp_path / name).symlink_to(traced_packages / name)
    for kind in ("artifacts", "edges", "artifacts-observed", "edges-observed"):
        (tmp_path / f"{kind}.jsonl.gz").symlink_to(traced_packages / f"{kind}.jsonl.gz")
    (tmp_path / "runs").symlink_to(traced_packages / "runs")
    listed(tmp_path, {"extra_fields": ["observed", "scenario", "count", "ordered", "tags", "tool_calls.step"]})
    reference = json.loads((traced_packages / "reference.json").read_text())["runs"]
    for name, figures in reference.items():
        expected = {measure: (one["mean"], one["scored"]) for measure, one in figures["graphkit"].items()}
        result = graphkit.evaluate(
            tmp_path / "runs" / f"{name}.jsonl.gz",
            tmp_path,
            measures=[*expected, "EdgeRecall(static=True)"],
        )
        assert all(one.startswith("no equal id, but ") for one in result.warnings)
        found = {
            name: (round(one.mean, 6), one.scored) for name, one in result.measures.items() if one.mean is not None
        }
        static = found.pop("EdgeRecall(static=True)")
        assert found == expected
        # Counted by other code: the required steps of the static graph that were walked, over these.
        assert static[0] == figures["own_count"]["edge_recall_static_steps"]
