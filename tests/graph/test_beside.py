"""The kinds of records that lie beside a run: their files, their options, and what the page knows them by."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from graphkit.cli.report import GradeFilesOptions
from graphkit.graph.beside import kind_of_file, kinds_beside, of_each_kind
from graphkit.records.scores import Score
from tests.helpers.executions import execution
from tests.helpers.verdicts import verdict


def test_kinds_are_told_apart() -> None:
    """Each kind has a letter and a class of its own, and an option of the report that chooses its files."""
    kinds = kinds_beside()
    assert [*kinds] == ["verdicts", "executions"]
    assert len({kind.letter for kind in kinds.values()} - {"d", "s", "t"}) == len(kinds)
    assert len({kind.record for kind in kinds.values()}) == len(kinds)
    assert kinds.keys() <= {one.name for one in dataclasses.fields(GradeFilesOptions)}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("lexical.verdicts.jsonl", "verdicts"),
        ("execution.executions.jsonl.zst", "executions"),
        ("verdicts.scores.jsonl", None),
        ("scores.csv", None),
    ],
)
def test_a_file_is_of_a_kind_by_its_ending(name: str, kind: str | None) -> None:
    """The name of a kind is the ending of its files; everything else holds scores."""
    assert kind_of_file(Path(name)) == kind


def test_records_of_several_kinds_are_told_apart() -> None:
    """A page gets all records in one list; those of no kind, such as scores, are none of them."""
    said, ran = verdict("q1"), execution("q1")
    found = of_each_kind([ran, Score(run="r", question="q1", value=1.0), said])
    assert found == {"verdicts": [said], "executions": [ran]}
