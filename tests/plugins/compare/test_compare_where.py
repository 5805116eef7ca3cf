"""Two runs compared on a part of their questions."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.helpers.cli import inside, tiny


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    """Eight questions of dev and two of test: b walks nothing of dev, and all of test; a the other way round."""
    gold = [["a:m.py#x", "CALLS", "a:m.py#y"]]
    splits = ["dev"] * 8 + ["test"] * 2
    questions = [
        {"id": f"q{place}", "question": "?", "paths": [gold], "split": split} for place, split in enumerate(splits)
    ]
    runs = []
    for name, walked in (("a", "dev"), ("b", "test")):
        answers = [
            {"run": name, "question_id": one["id"], "traversal": gold if one["split"] == walked else []}
            | {"latency_ms": 100 if one["split"] == "dev" else 900}
            for one in questions
        ]
        runs.append(tiny(tmp_path, questions, answers).rename(tmp_path / "runs" / f"{name}.jsonl"))
    return runs


@pytest.mark.parametrize(("split", "count", "difference", "code"), [("dev", 8, -1, 1), ("test", 2, 1, 0)])
def test_a_part_decides(two: list[Path], tmp_path: Path, split: str, count: int, difference: int, code: int) -> None:
    """On dev b is worse by 1, on test better by 1; the gate and JSON say which part it is."""
    where = f"split == '{split}'"
    arguments = ("compare", *two, "-m", "EdgeRecall", "--where", where, "--fail-on-drop", "0.1", "--json", "--cost")
    done = inside(*arguments, cwd=tmp_path, code=code)
    found = done.object()
    assert found["where"] == {"filter": where, "questions": count, "of": 10}
    [measure] = found["groups"][0]["measures"]
    assert (found["questions"], measure["second"] - measure["first"]) == (count, difference)
    assert f"note: over {count} of 10 questions, {where}" in done.err
    assert all(gate["what"].endswith(f"; over {count} of 10 questions, {where}") for gate in found["gates"])
    assert found["gates"]


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (("--where", "EdgeRecall > 0"), "EdgeRecall is known once answers are scored"),
        (("--where", "split == 'x'"), "the filter holds for none of 10 questions"),
        (("--where", "split == 'dev'", "--engine", "cypher"), "--where picks questions of run files"),
    ],
)
def test_mistakes(two: list[Path], tmp_path: Path, arguments: tuple[str, ...], reported: str) -> None:
    """What isn't known before scoring, or can't be filtered, is refused."""
    assert reported in inside("compare", *two, *arguments, cwd=tmp_path, code=2).err


def test_tables_of_several_runs_state_the_part(two: list[Path], tmp_path: Path) -> None:
    """On dev b walks nothing: c, whose answers are those of a, beats it there. Tables, gates and JSON say the part."""
    third = two[0].with_name("c.jsonl")
    third.write_text(two[0].read_text("utf-8").replace('"run": "a"', '"run": "c"').replace('"run":"a"', '"run":"c"'))
    where = "split == 'dev'"
    tables = [word for ending in ("tex", "csv", "md") for word in ("-o", f"t.{ending}")]
    asked = ("compare", *two, third, "--against", two[0], "-m", "EdgeRecall", "--where", where, *tables)
    done = inside(*asked, "--fail-on-drop", "0.1", "--json", cwd=tmp_path, code=1)
    found, part = done.object(), f"over 8 of 10 questions, {where}"
    assert found["where"] == {"filter": where, "questions": 8, "of": 10}
    assert [(one["run"], one["mean"], one["compared"]) for one in found["means"]] == [
        ("a", 1, 8),
        ("b", 0, 8),
        ("c", 1, 8),
    ]
    assert {(gate["run"], gate["passed"]) for gate in found["gates"]} >= {("b", False), ("c", True)}
    assert all(gate["what"].endswith(f"; {part}") for gate in found["gates"])
    assert done.err.count(f"note: {part}") == 1
    assert f"Compared {part}" in (tmp_path / "t.md").read_text("utf-8")
    assert "Compared over 8 of 10 questions, split ==" in (tmp_path / "t.tex").read_text("utf-8")
    assert {one["where"] for one in csv.DictReader((tmp_path / "t.csv").read_text("utf-8").splitlines())} == {where}
