"""Declarations of options, and printing of results, for all commands."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from graphkit.cli.base import argument, command, option, present
from graphkit.errors import InputError


@dataclass(frozen=True)
class Group:
    """Options of a command."""

    out: Path | None = option("--out -o FILE", "Write to FILE.", writes="a page")
    quick: bool = option("--quick", "Be quick.")


def run(*words: str) -> list[str]:
    """Return the lines that a command with each kind of declaration prints."""
    app = typer.Typer()

    @app.command()
    @command()
    def shout(
        *,
        name: str = argument("NAME", "Shout this."),
        group: Group,
        times: int = option("--times N", "So often.", default=2),
    ) -> None:
        lines = [f"{name} {group.out} {group.quick}"] * times
        present(lines, *({"line": line} for line in lines))

    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


def test_defaults() -> None:
    """A flag is False by default, an option None or its own default, and an argument is required."""
    assert run("hi") == ["hi None False"] * 2


def test_names_and_values() -> None:
    """An option goes by each of its names, in a group or not."""
    assert run("hi", "-o", "page.html", "--quick", "--times", "1") == ["hi page.html True"]


def test_json() -> None:
    """--json prints the facts instead of the lines."""
    assert [json.loads(line) for line in run("hi", "--json")] == [{"line": "hi None False"}] * 2


def test_outputs_are_checked(tmp_path: Path) -> None:
    """A declared output doesn't replace a file of another kind, unless --force is given."""
    (tmp_path / "notes.html").write_text("notes of mine")
    with pytest.raises(InputError, match=r"notes\.html"):
        run("hi", "-o", str(tmp_path / "notes.html"))
    assert run("hi", "-o", str(tmp_path / "notes.html"), "--force", "--times", "1")
