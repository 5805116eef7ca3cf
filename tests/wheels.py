"""Installs the built wheel into empty environments and runs the demo there: ``make test-wheel``.

An environment is made for the oldest and for the newest Python that ``pyproject.toml`` names, with the locked libraries
and nothing else. What the machine lacks is skipped with a message. On the newest the README runs, too; the suite runs
it on its own Python.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.helpers import ROOT
from tests.helpers.cli import environment
from tests.helpers.readme import Shell, run_blocks

Version = tuple[int, int]


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def supported() -> list[Version]:
    """Return the versions of Python that the classifiers name, the oldest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (\d+)\.(\d+)", "\n".join(project["classifiers"]))
    return sorted((int(major), int(minor)) for major, minor in named)


def interpreters() -> dict[Version, Path]:
    """Return the working interpreters on this machine by version: on the path, of pyenv and of uv."""
    home = Path.home()
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    folders += sorted(Path(os.environ.get("PYENV_ROOT", home / ".pyenv")).glob("versions/*/bin"))
    folders += sorted((home / ".local" / "share" / "uv" / "python").glob("*/bin"))
    found: dict[Version, Path] = {}
    for program in (path for folder in folders for path in sorted(folder.glob("python3.*"))):
        version = re.fullmatch(r"python(\d+)\.(\d+)", program.name)
        key = (int(version[1]), int(version[2])) if version else None
        if key is not None and key not in found and _works(program):
            found[key] = program
    return found


def _works(program: Path) -> bool:
    """Return whether an interpreter can make environments; a shim of pyenv may have no interpreter behind it."""
    command = [str(program), "-c", "import ensurepip, venv"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def chosen() -> Iterator[tuple[str, Path]]:
    """Yield the oldest and the newest of the supported interpreters here, and print which are missing."""
    here, versions = interpreters(), supported()
    for version in versions:
        if version not in here:
            _say(f"skipped: there is no working Python {version[0]}.{version[1]} on this machine")
    present = [version for version in versions if version in here]
    for version in sorted({*present[:1], *present[-1:]}):
        yield f"{version[0]}.{version[1]}", here[version]


def made(name: str, python: Path, wheel: Path) -> Path:
    """Return an environment with the locked libraries and the wheel; one with these libraries is used again."""
    folder = ROOT / f".venv-wheel-{name}"
    locked = (ROOT / "requirements" / "run.txt").read_bytes()
    mark = folder / "run.txt"
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    if not mark.exists() or mark.read_bytes() != locked:
        _say(f"Making {folder.name} (once)")
        subprocess.run([str(python), "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "requirements" / "run.txt")], check=True)
        mark.write_bytes(locked)
    subprocess.run([*pip, "--no-index", "--no-deps", "--force-reinstall", str(wheel)], check=True)
    return folder


def demo(shell: Shell, wheel: Path) -> None:
    """Run the demo, which writes its page."""
    assert "storefront-graph" in shell("graphkit demo")
    assert (shell.folder / "graphkit-demo.html").exists(), wheel


def tried(folder: Path, run: Callable[[Shell, Path], None], wheel: Path) -> None:
    """Run something in an empty folder with nothing but an environment, and stop its database."""
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = environment({"PYTHONPATH": "", "PATH": path, "VIRTUAL_ENV": str(folder), "COLUMNS": "80"})
    with tempfile.TemporaryDirectory() as place:
        shell = Shell(Path(place), env)
        try:
            run(shell, wheel)
        finally:
            shell("graphkit db stop")


def main() -> None:
    """Try the wheel of the folder that the command line names."""
    [wheel] = Path(sys.argv[1]).resolve().glob("*.whl")
    versions = [*chosen()]
    for name, python in versions:
        folder = made(name, python, wheel)
        tried(folder, demo, wheel)
        _say(f"Python {name}: {wheel.name} runs the demo in an empty environment")
    if not versions:
        sys.exit("no supported Python was found")
    tried(folder, run_blocks, wheel)
    _say(f"Python {name}: {wheel.name} runs the README in an empty folder")


if __name__ == "__main__":
    main()
