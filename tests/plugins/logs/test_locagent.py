"""LocAgent's outputs, with rows made by hand as its code writes them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.plugins.logs.locagent import LocAgentReader
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, ReadOptions, UnreadableLogError
from tests.helpers.cli import write_lines

ROW: dict[str, Any] = {
    "instance_id": "o__r-1",
    "found_files": ["pkg/m.py", "pkg/n.py", "pkg/m.py"],
    "found_modules": ["pkg/n.py:top", "pkg/m.py:Store"],
    "found_entities": ["pkg/m.py:Store.load", "pkg/n.py:top"],
    "raw_output_loc": ["pkg/m.py"],
    "meta_data": {
        "repo": "o/r",
        "base_commit": "c0ffee",
        "problem_statement": "It fails.",
        "gt_file_changes": [
            {"file": "pkg/m.py", "changes": {"edited_entities": ["pkg/m.py:Store.load"]}},
            {"file": "pkg/n.py", "changes": {}},
        ],
    },
}


def read(value: Any, unread: Counter[str] | None = None) -> LoggedAnswer:
    """Return the answer of a row."""
    (answer,) = LocAgentReader().read([("log:1", value)], ReadOptions(), Counter() if unread is None else unread)
    return answer


def test_an_output_is_three_rankings() -> None:
    """Entities are retrieved at the commit that was read; files and modules are rankings of their own."""
    unread = Counter[str]()
    answer = read(ROW, unread)
    assert (answer.question, answer.traversal, answer.answer) == ("o__r-1", None, None)
    assert answer.retrieved == [
        LoggedChunk("o/r:pkg/m.py#Store.load", commit="c0ffee"),
        LoggedChunk("o/r:pkg/n.py#top", commit="c0ffee"),
    ]
    assert answer.rankings == {
        "file": ["o/r:pkg/m.py", "o/r:pkg/n.py"],
        "module": ["o/r:pkg/n.py#top", "o/r:pkg/m.py#Store"],
    }
    assert unread == {"raw_output_loc": 1}


def test_what_is_missing_is_unknown_and_what_is_empty_is_nothing() -> None:
    """A list that isn't there isn't an empty one; without a repository, ids are paths."""
    answer = read({"instance_id": "i", "found_files": [], "found_entities": None})
    assert (answer.retrieved, answer.rankings) == (None, {"file": []})
    answer = read({"instance_id": "i", "found_entities": ["m.py:f"]})
    assert (answer.retrieved, answer.rankings) == ([LoggedChunk("m.py#f")], {})


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"instance_id": "i"}, "this isn't an output of LocAgent"),
        ({"instance_id": "i", "found_files": "m.py"}, "'found_files' must be a list of strings"),
    ],
)
def test_other_values_are_refused(value: Any, said: str) -> None:
    """The message names the field."""
    with pytest.raises(UnreadableLogError, match=said):
        read(value)


def test_a_run_is_judged_at_each_level(tmp_path: Path) -> None:
    """From the file to the values: gold and run come from the same rows, recognised by their content."""
    from graphkit.files.problems import Problems
    from graphkit.plugins.gold.conversion import import_gold
    from graphkit.plugins.gold.formats import gold_format

    rows = tmp_path / "loc_outputs.jsonl"
    write_lines(rows, [ROW])
    import_gold(gold_format("locagent"), [rows], tmp_path / "data", Problems())
    run = tmp_path / "data" / "runs" / "mine.jsonl"
    graphkit.import_log(rows, "auto", tmp_path / "data", out=run)
    # Relevant are Store.load and, as a file without an edited entity, n.py. Files: both in the top 2. Modules: only
    # m.py has one, at rank 2. Symbols: Store.load, at rank 1.
    names = ["Acc(level='file')@1", "Acc(level='file')@2", "Acc(level='module')@1", "Acc(level='symbol')@1"]
    result = graphkit.evaluate(run, measures=names)
    assert [result.measures[name].mean for name in names] == [0.0, 1.0, 0.0, 1.0]
