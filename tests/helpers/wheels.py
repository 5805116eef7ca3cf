"""The built wheel, and an environment in which graphkit comes from it alone."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.helpers import ROOT
from tests.helpers.cli import environment


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout into a folder."""
    pytest.importorskip("hatchling", reason="hatchling builds the wheel")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    [found] = folder.glob("*.whl")
    return found


def installed_wheel(wheel: Path, folder: Path) -> dict[str, str]:
    """Install a wheel into a new environment, and return the variables of a process that uses it.

    The tests have no network, so the libraries come from the environment of the tests. graphkit doesn't: of the
    folder that a .pth file adds, the .pth files aren't read.
    """
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "--python", python, "install", "--no-index", "--no-deps", wheel],
        check=True,
    )
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    path = f"{python.parent}:{environment()['PATH']}"
    return environment({"PYTHONPATH": "", "PATH": path, "VIRTUAL_ENV": str(folder), "COLUMNS": "80"})
