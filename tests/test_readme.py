"""The README: short, and each of its blocks runs in an empty folder with nothing but the wheel."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import ROOT
from tests.helpers.readme import README, Shell, run_blocks
from tests.helpers.wheels import build_wheel, installed_wheel


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """The wheel of this checkout."""
    return build_wheel(tmp_path / "wheel")


@pytest.fixture
def shell(wheel: Path, tmp_path: Path) -> Iterator[Shell]:
    """A shell in an empty folder, and in an environment with the wheel."""
    folder = tmp_path / "empty"
    folder.mkdir()
    opened = Shell(folder, installed_wheel(wheel, tmp_path / "environment"))
    yield opened
    opened("graphkit db stop")


def test_readme_is_short() -> None:
    """At most 80 lines of at most 120 characters."""
    lines = README.splitlines()
    assert len(lines) <= 80
    assert [line for line in lines if len(line) > 120] == []


def test_targets_of_make_exist() -> None:
    """Each target that the README names is one of the Makefile."""
    targets = set(re.findall(r"`make ([\w-]+)`", README))
    assert {"demo", "test", "test-all", "dist", "docs"} <= targets
    for target in targets:
        subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, check=True)


@pytest.mark.slow("an environment with the wheel, and ten commands with a database of their own")
def test_each_block_runs(shell: Shell, wheel: Path) -> None:
    """The blocks run one after another, as they stand, and do what the text beside them says."""
    run_blocks(shell, wheel)
