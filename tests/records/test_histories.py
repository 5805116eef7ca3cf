"""Whether a commit lies between two others, by the parents that are known."""

from __future__ import annotations

import pytest

from graphkit.records.commits import CommitGraph
from graphkit.records.models import Commit

#: one - two - four, and two - three beside four; five's parent is listed nowhere, six has none and no child.
PARENTS = {"one": (), "two": ("one",), "three": ("two",), "four": ("two",), "five": ("lost",), "six": ()}


@pytest.fixture(scope="module")
def known() -> CommitGraph:
    """Return the commits of the history above; four has a tag."""
    rows = [Commit(repo="r", sha=sha, parents=parents) for sha, parents in PARENTS.items()]
    return CommitGraph.build([*rows[:3], rows[3].model_copy(update={"tag": "v4"}), *rows[4:]])


@pytest.mark.parametrize(
    ("sha", "since", "until", "expected"),
    [
        ("two", None, None, True),
        ("two", "two", "two", True),  # both ends are included
        ("two", "one", "v4", True),
        ("two", "v4", None, False),
        ("two", None, "one", False),
        ("three", "v4", None, False),  # a branch beside it, from two
        ("three", None, "v4", False),
        ("three", "one", "v4", False),
        ("five", "one", None, None),  # one may be an ancestor of the lost parent
        ("lost", None, "five", True),  # a parent needs no record
        ("six", "one", None, None),  # nothing joins them: a parent may have been left out
        ("one", None, "nowhere", None),
        ("two", "v4", "nowhere", False),  # whatever lies after it
    ],
)
def test_between_two_commits(
    known: CommitGraph, sha: str, since: str | None, until: str | None, expected: bool | None
) -> None:
    """Descendants of `since` that are ancestors of `until`, if the parents tell."""
    assert known.within("r", sha, since, until) is expected


def test_of_another_repository(known: CommitGraph) -> None:
    """Parents are those of the repository's own commits."""
    assert known.within("s", "two", "one", None) is None
