"""Values that no command can use are refused at the one door of all commands, in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.cli import inside
from tests.helpers.invocations import Words, arguments, commands, usual, write_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file for each parameter of each command, and two links that lead to each other."""
    folder = write_world(tmp_path_factory.mktemp("world"))
    for name, other in (("loop", "pool"), ("pool", "loop")):
        (folder / f"{name}.jsonl").symlink_to(folder / f"{other}.jsonl")
    return folder


def refused(given: list[str], world: Path) -> str:
    """Run a command that must refuse what it was given, and return its message without line breaks."""
    done = inside(*given, cwd=world, code=2)
    assert "bug" not in done.err
    assert len(done.err) < 1000
    return " ".join(done.err.split())


def test_every_command_has_the_door() -> None:
    """Each command is declared by the decorator that checks what it is given."""
    for words, command in commands().items():
        assert hasattr(command.callback.__wrapped__, "outputs"), words  # set by graphkit.cli.base.command


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("evaluate",), "--out"),
        (("evaluate",), "runs"),
        (("report",), "runs"),
        (("report",), "--config"),
        (("check",), "dataset"),
        (("git",), "--out"),
        (("summarize",), "files"),
        (("import", "auto"), "--out"),
        (("ci",), "--settings"),
    ],
)
def test_paths_that_lead_nowhere(words: Words, name: str, world: Path) -> None:
    """A loop of links, and a name of 100 000 characters, is refused as an input and as an output."""
    assert "loop.jsonl: these links form a loop" in refused(arguments(words, {name: "loop.jsonl"}), world)
    long = refused(arguments(words, {name: "x" * 99_994 + ".jsonl"}), world)
    assert "has 100000 characters, and may have" in long
    assert "the name is too long for a file" in refused(arguments(words, {name: "x" * 300 + ".jsonl"}), world)


def test_texts_that_are_too_long(world: Path) -> None:
    """The name of a question has no 100 000 characters; a query may have more than a name, but not these."""
    for command in (
        ["why", "r", "x" * 100_000],
        ["evaluate", "r.jsonl", "--run", "x" * 100_000],
        ["query", "(" * 100_000],
    ):
        assert "has 100000 characters, and may have" in refused(command, world)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("grade",), "--max-cost"),
        (("evaluate",), "--fail-under"),
        (("cache", "prune"), "--older-than"),
        (("run",), "--price-in"),
    ],
)
@pytest.mark.parametrize("number", ["nan", "inf"])
def test_numbers_without_end(words: Words, name: str, number: str, world: Path) -> None:
    """NaN and the infinities are no numbers of options."""
    command, *rest = usual(words)
    value = f"EdgeRecall={number}" if name == "--fail-under" else number
    message = refused([command, *rest[: len(words) - 1], name, value, *rest[len(words) - 1 :]], world)
    assert name in message
