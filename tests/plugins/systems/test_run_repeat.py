"""``graphkit run --repeat``: each repetition is a run."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphkit
from graphkit.errors import InputError
from tests.helpers.systems import asked, records, run


def test_each_repetition_is_a_run(folder: Path) -> None:
    """A system that is asked three times leaves three runs, and sees the name of each."""
    done = run(folder, "--system", "mine=systems:full", "--repeat", 3, "--json")
    assert [line["run"] for line in done.objects()] == ["mine@1", "mine@2", "mine@3"]
    assert records(folder, "mine@2")["q1"]["answer"].startswith("q1 mine@2 ")


def test_a_repetition_more_asks_only_that(folder: Path) -> None:
    """Earlier repetitions are kept: a third repetition after two asks the two questions once more."""
    run(folder, "--system", "systems:counted", "--repeat", 2)
    assert asked(folder) == ["q1", "q1", "q2", "q2"]
    run(folder, "--system", "systems:counted", "--repeat", 3)
    assert asked(folder) == ["q1"] * 3 + ["q2"] * 3


def test_two_systems_of_one_name_are_refused(folder: Path) -> None:
    """Two systems of one name would be repeated in the same files."""
    clash = run(folder, "--system", "a=systems:plain", "--system", "a=systems:full", "--repeat", 2, code=2)
    assert "two systems are called 'a'" in clash.err


def test_no_repetition_is_refused(folder: Path) -> None:
    """0 repetitions are a mistake, in the library as in the command."""
    with pytest.raises(InputError, match="repeat must be at least 1"):
        graphkit.run_systems(folder / "data", {"mine": lambda question: "x"}, repeat=0)
    run(folder, "--system", "systems:plain", "--repeat", 0, code=2)


def test_library_repeats_too(folder: Path) -> None:
    """run_systems(repeat=2) returns a summary a repetition."""
    found = graphkit.run_systems(folder / "data", {"mine": lambda question: "x"}, repeat=2)
    assert [one.run for one in found] == ["mine@1", "mine@2"]
