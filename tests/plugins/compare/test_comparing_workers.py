"""``graphkit compare --on``: the figures of one process to the last bit."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from graphkit.files.problems import Problems
from graphkit.plugins.compare.score_file_pairs import compare_scores
from tests.helpers.cli import inside
from tests.helpers.datasets import write_jsonl


def scores(folder: Path) -> Path:
    """Write three measures of two runs over 100 questions in two groups, drawn with a seed."""
    drawn = random.Random(4)
    rows = [
        {"run": run, "question": f"q{number}", "measure": measure, "value": drawn.random() + 0.05 * (run == "b")}
        | {"category": "odd" if number % 2 else "even"}
        for run in "ab"
        for measure in ("m1", "m2", "m3")
        for number in range(100)
    ]
    return write_jsonl(folder / "scores.jsonl", rows)


@pytest.mark.slow("workers start")
def test_workers_draw_the_same_figures(tmp_path: Path) -> None:
    """Intervals, p-values and groups are equal, whatever draws them, and however many there are."""
    file = scores(tmp_path)
    known = ("compare", "a", "b", "--scores", file, "--by", "category", "--resamples", 500, "--json")
    one = inside(*known, cwd=tmp_path, code=0)
    two = inside(*known, "--on", "processes=2", cwd=tmp_path, code=0)
    assert one.out == two.out
    found = one.object()
    assert [group["name"] for group in found["groups"]] == [None, "even", "odd"]
    assert all(len(group["measures"]) == 3 for group in found["groups"])
    with ThreadPoolExecutor(3) as executor:
        compared = compare_scores(
            [file], "a", "b", by="category", resamples=500, problems=Problems(), executor=executor
        )
    assert json.loads(json.dumps(compared.as_json()))["groups"] == found["groups"]
