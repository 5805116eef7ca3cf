"""The skill for coding agents: its commands run as they stand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.helpers import ROOT
from tests.helpers.cli import inside

SKILL = ROOT / "skills" / "graphkit" / "SKILL.md"
TEXT = SKILL.read_text("utf-8")
COMMANDS = [
    line.strip()
    for block in re.findall(r"^ *```sh\n(.*?)^ *```", TEXT, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]


def test_skill_is_short_and_described() -> None:
    """It has at most 150 lines, and the front matter by which agents choose it."""
    assert len(TEXT.splitlines()) <= 150
    head = yaml.safe_load(TEXT.split("---")[1])
    assert head["name"] == SKILL.parent.name
    assert 0 < len(head["description"]) <= 1024
    assert len(COMMANDS) >= 8


@pytest.mark.parametrize("command", COMMANDS)
def test_command_runs(command: str, tmp_path: Path) -> None:
    """It ends without an error, in an empty folder."""
    program, *words = shlex.split(command)
    assert program == "graphkit"
    done = inside(*words, cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.out
    assert not [*tmp_path.iterdir()], "a command of the skill leaves nothing behind"


def test_inline_commands_exist(tmp_path: Path) -> None:
    """Each command that a sentence names has a help."""
    named = {match.split()[0] for match in re.findall(r"`graphkit ([a-z][^`]*)`", TEXT)}
    for name in sorted(named):
        assert inside(name, "--help", cwd=tmp_path).code == 0, name
