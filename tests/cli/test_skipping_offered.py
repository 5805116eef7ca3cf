"""``--on-error skip``: every message that recommends it is of a command that has it, and there it works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.cli import ANSWERS, inside, tiny, write_lines
from tests.helpers.invocations import DISTINCT, GIVEN, SERVING, Words, arguments, commands, write_world

#: Those that the fast suite calls: of each way to read records one.
FAST = {("evaluate",), ("import", "auto"), ("compare",), ("grade",), ("check",)}

SKIP = ("--on-error", "skip")


def test_the_fast_ones_are_commands() -> None:
    """Each command that the fast suite calls is there."""
    assert DISTINCT.keys() >= FAST


#: Commands that skip bad records of runs, but ask a graph that is made whole or not at all.
OF_WHOLE_GRAPHS = {("cypher",)}


def broken_world(folder: Path) -> None:
    """Write every file that the commands take, each with a last line that is no record."""
    write_world(folder)
    for file in folder.rglob("*.jsonl"):
        with file.open("a") as stream:
            stream.write('{"id": 1, "question_id": 1}\n')


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, marks=() if words in FAST else pytest.mark.slow("every command runs, many twice"))
        for words in sorted(DISTINCT.keys() - SERVING)
    ],
    ids=" ".join,
)
def test_a_command_offers_what_it_has(words: Words, tmp_path: Path) -> None:
    """A command that refuses bad records recommends to skip them only if it can; then it doesn't refuse them."""
    broken_world(tmp_path)
    call = arguments(words, GIVEN.get(words, {}))
    options = {name for one in commands()[words].params for name in one.opts}
    done = inside(*call, cwd=tmp_path)
    if "--on-error" not in options:
        assert "--on-error" not in done.err
        assert "--on-error" not in done.out
    elif "--on-error skip" in done.err:
        again = inside(*call[: len(words)], *SKIP, *call[len(words) :], cwd=tmp_path)
        if words in OF_WHOLE_GRAPHS:
            assert "artifacts.jsonl:2" in again.err
            assert "--on-error" not in again.err
        else:
            assert "can't be used, so none was read" not in again.err


@pytest.mark.parametrize("workers", [(), ("--json",)])
def test_names_that_are_looked_up(workers: tuple[str, ...], tmp_path: Path) -> None:
    """With --ids the records are imported first: a bad one is refused with its line, or skipped and reported."""
    run = tiny(tmp_path, answers=[*ANSWERS, '{"run": "r", "question_id": 1, "traversal": 3}'])
    ids = write_lines(tmp_path / "ids.jsonl", [{"name": "x", "id": "a:m.py#x"}])
    asked = ("evaluate", run, "--no-store", "-m", "EdgeRecall", "--ids", ids, *workers)
    done = inside(*asked, cwd=tmp_path, code=2)
    assert f"{run}:3" in done.err
    assert "--on-error skip" in done.err
    done = inside(*asked, *SKIP, cwd=tmp_path, code=0)
    assert f"skipped: {run}:3" in done.err
    assert "0.75" in done.out


def test_nothing_that_can_be_used(tmp_path: Path) -> None:
    """A run of which every record is skipped is refused."""
    run = tiny(tmp_path, answers=['{"run": "r", "question_id": 1, "traversal": 3}'])
    ids = write_lines(tmp_path / "ids.jsonl", [{"name": "x", "id": "a:m.py#x"}])
    done = inside("evaluate", run, "--no-store", "--ids", ids, *SKIP, cwd=tmp_path, code=2)
    assert "nothing usable is left" in done.err
    assert "Traceback" not in done.err


def test_an_import_skips_what_it_is_told_to(tmp_path: Path) -> None:
    """A bad record and a line that a killed process has cut refuse an import, or are skipped and reported."""
    run = tiny(tmp_path, answers=[*ANSWERS, '{"run": "r", "question_id": 1, "traversal": 3}', '{"run": "r", "quest'])
    asked = ("import", "graphkit", run, "-d", tmp_path, "-o", tmp_path / "runs" / "s.jsonl")
    done = inside(*asked, cwd=tmp_path, code=2)
    assert f"{run}:3" in done.err
    assert "--on-error skip" in done.err
    done = inside(*asked, *SKIP, cwd=tmp_path, code=0)
    assert f"skipped: {run}:3" in done.err
    assert f"skipped: {run}:4" in done.err
    assert len((tmp_path / "runs" / "s.jsonl").read_text().splitlines()) == 2
