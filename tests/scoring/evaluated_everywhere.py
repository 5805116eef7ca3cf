"""Three runs with scores by others, and everything that one evaluation of them writes, whoever computes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphkit.shards.inputs import shards_of
from tests.helpers.cli import inside
from tests.helpers.datasets import generate, read_jsonl, write_jsonl

#: A file of each kind of results, besides the folder ``results``.
FILES = ("a.jsonl", "a.json", "a.summary.json", "a.csv", "a.parquet", "a.xml", "a.md", "j.xml")

#: The files of three results folders of up to 50,000 questions each.
PARTS = ("manifest.json", "part-00000.parquet", "problems.jsonl", "summary.json")


def three_runs(folder: Path) -> Path:
    """Write a dataset with three runs in any order, and scores by others on every third answer; return its folder."""
    made = generate(folder, 5)
    asked = read_jsonl(made / "questions.jsonl")
    write_jsonl(made / "questions.jsonl", [{**one, "category": f"c{place % 9}"} for place, one in enumerate(asked)])
    records = read_jsonl(made / "runs" / "gen5-a.jsonl")
    write_jsonl(made / "runs" / "gen5-c.jsonl", [{**one, "run": "gen5-c"} for one in records[5:]])
    answers = [one for run in sorted((made / "runs").glob("*.jsonl")) for one in read_jsonl(run)[::3]]
    given = [{"run": one["run"], "question": one["question_id"], "measure": "Taste", "value": 0.25} for one in answers]
    write_jsonl(folder / "scores.jsonl", given)
    return made


def everything(dataset: Path, out: Path, *more: str, folder: bool = True) -> dict[str, bytes]:
    """Evaluate the runs of a dataset as logs, with scores and clusters, in shards of seven lines; return each file
    that is written by its place.
    """
    out.mkdir()
    files = [*FILES[:-1], *(["results"] if folder else [])]
    written = [word for name in files for word in ("--out", name)]
    options = ("--format", "graphkit", "--scores", dataset.parent / "scores.jsonl", "--cluster", "category")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(shards_of.__kwdefaults__ or {}, "lines", 7)
        runs = sorted((dataset / "runs").glob("*.jsonl"))
        wanted = ("--dataset", dataset, "--no-store", "--junit", FILES[-1], *written, *more)
        inside("evaluate", *runs, *options, *wanted, cwd=out, env={"SOURCE_DATE_EPOCH": "1"}, code=0)
    found = (path for path in sorted(out.rglob("*")) if path.is_file() and not path.name.startswith("."))
    return {str(path.relative_to(out)): path.read_bytes() for path in found}
