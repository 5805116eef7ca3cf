"""Bundled datasets by their names, and all runs of a dataset at once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import graphkit as package
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from tests.helpers.cli import ANSWERS, Done, inside, tiny, write_lines
from tests.helpers.datasets import SHOP_QUESTIONS, STOREFRONT

#: The runs of the storefront, by name.
RUNS = ["storefront-bm25", "storefront-graph", "storefront-graph-v2"]
MEASURES = ("--no-store", "-m", "EdgeRecall", "--json")


def evaluated(done: Done) -> list[str]:
    """Return the names of the runs that were evaluated."""
    return [one["run"] for one in done.objects() if "run" in one]


def test_a_bundled_dataset_and_its_run(tmp_path: Path) -> None:
    """The name stands for all runs, a path behind it for one of them, with or without its ending."""
    assert evaluated(inside("evaluate", "@storefront", *MEASURES, cwd=tmp_path, code=0)) == RUNS
    for run in ("@storefront/runs/storefront-bm25", "@storefront/runs/storefront-bm25.jsonl"):
        assert evaluated(inside("evaluate", run, *MEASURES, cwd=tmp_path, code=0)) == RUNS[:1]
    file = STOREFRONT / "runs" / "storefront-bm25.jsonl"
    assert evaluated(inside("evaluate", file, "-d", "@storefront", *MEASURES, cwd=tmp_path, code=0)) == RUNS[:1]
    done = inside("check", "@storefront", "--json", cwd=tmp_path, code=0)
    assert done.objects()
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_name(tmp_path: Path) -> None:
    """A mistyped name is refused with the closest one; a file of one's own that begins so is read."""
    done = inside("evaluate", "@storfront", *MEASURES, cwd=tmp_path, code=2)
    assert "no bundled dataset is called '@storfront'" in done.err
    assert "Did you mean @storefront?" in done.err
    tiny(tmp_path / "@mine")
    assert evaluated(inside("evaluate", "@mine", *MEASURES, cwd=tmp_path, code=0)) == ["r"]
    tiny(tmp_path / "@storefront")
    assert evaluated(inside("evaluate", tmp_path / "@storefront", *MEASURES, cwd=tmp_path, code=0)) == ["r"]


def test_in_python() -> None:
    """A function that takes a dataset or a run takes the names, too."""
    assert Dataset("@storefront").folder == STOREFRONT
    run = "@storefront/runs/storefront-bm25"
    assert package.evaluate(run, measures=["EdgeRecall"]).run == "storefront-bm25"
    records = [{"question_id": "sf-01", "retrieved": []}]
    assert package.evaluate(records, "@storefront", measures=["RR"]).questions == SHOP_QUESTIONS
    with pytest.raises(InputError, match="no bundled dataset"):
        Dataset("@none")


def test_a_bundled_dataset_is_not_written(tmp_path: Path) -> None:
    """Grades of its run lie in the working folder, where they are found again; a change is refused."""
    before = sorted(STOREFRONT.rglob("*"))
    run = "@storefront/runs/storefront-bm25"
    inside("grade", run, "--no-store", "-g", "rubric", cwd=tmp_path, code=0)
    assert (tmp_path / "storefront-bm25.grades" / "lexical.scores.jsonl").is_file()
    # The agency may read nothing that answers sf-39, so that it has no gold answer to judge by.
    assert f"{SHOP_QUESTIONS - 1} judged answers" in inside("report", run, cwd=tmp_path, code=0).out
    (tmp_path / "g.csv").write_text("source,relation,target\na,R,b\n")
    for words in (
        ("import", "graph", "g.csv", "-d", "@storefront", "--replace"),
        ("run", "@storefront", "--system", "plain=builtins:repr"),
    ):
        assert "a bundled dataset isn't changed" in inside(*words, cwd=tmp_path, code=2).err
    assert sorted(STOREFRONT.rglob("*")) == before


def test_all_runs_of_the_working_folder(tmp_path: Path) -> None:
    """Without arguments, `evaluate` and `report` take the runs of the dataset in this folder, by name."""
    tiny(tmp_path)
    write_lines(tmp_path / "runs" / "r-2.jsonl", [{**one, "run": "r-2"} for one in ANSWERS])
    (tmp_path / "runs" / "r.grades").mkdir()
    assert evaluated(inside("evaluate", *MEASURES, cwd=tmp_path, code=0)) == ["r", "r-2"]
    # A folder among files stands for its runs.
    other = tiny(tmp_path / "other", answers=[{**one, "run": "s"} for one in ANSWERS])
    assert evaluated(inside("evaluate", other, ".", *MEASURES, cwd=tmp_path, code=0)) == ["s", "r", "r-2"]
    done = inside("report", cwd=tmp_path, code=0)
    assert done.out.splitlines()[1].startswith("2 runs (r, r-2) over 2 questions of ")


def test_nothing_to_evaluate(tmp_path: Path) -> None:
    """A folder that is no dataset, and a dataset without runs, are refused with what to do."""
    assert "this folder is no dataset" in inside("evaluate", *MEASURES, cwd=tmp_path, code=2).err
    tiny(tmp_path)
    shutil.rmtree(tmp_path / "runs")
    done = inside("evaluate", *MEASURES, cwd=tmp_path, code=2)
    assert "the dataset has no run yet" in done.err
    assert json.dumps("graphkit run")[1:-1] in done.err
