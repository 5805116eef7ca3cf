"""Installs the built wheel into empty environments and runs the demo there: ``make test-wheel``.

An environment is made for the oldest and for the newest Python that ``pyproject.toml`` names, with the locked libraries
and nothing else. What the machine lacks is skipped with a message. On the newest the README runs, too; the suite runs
it on its own Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.helpers import ROOT, cli
from tests.helpers.readme import Shell, run_blocks
from tests.versions import environment, interpreters, named, say, supported


def chosen() -> Iterator[tuple[str, Path]]:
    """Yield the oldest and the newest of the supported interpreters here, and print which are missing."""
    here, versions = interpreters(), supported()
    for version in versions:
        if version not in here:
            say(f"skipped: there is no working Python {named(version)} on this machine")
    present = [version for version in versions if version in here]
    for version in sorted({*present[:1], *present[-1:]}):
        yield named(version), here[version]


def made(name: str, python: Path, wheel: Path) -> Path:
    """Return an environment with the locked libraries and the wheel; one with these libraries is used again."""
    folder = ROOT / f".venv-wheel-{name}"
    environment(folder, python, [ROOT / "requirements" / "run.txt"])
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run([*pip, "--no-index", "--no-deps", "--force-reinstall", str(wheel)], check=True)
    return folder


def demo(shell: Shell, wheel: Path) -> None:
    """Run the demo, which writes its page."""
    assert "storefront-graph" in shell("graphkit demo")
    assert (shell.folder / "graphkit-demo.html").exists(), wheel


def tried(folder: Path, run: Callable[[Shell, Path], None], wheel: Path) -> None:
    """Run something in an empty folder with nothing but an environment, and stop its database."""
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = cli.environment({"PYTHONPATH": "", "PATH": path, "VIRTUAL_ENV": str(folder), "COLUMNS": "80"})
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
        say(f"Python {name}: {wheel.name} runs the demo in an empty environment")
    if not versions:
        sys.exit("no supported Python was found")
    tried(folder, run_blocks, wheel)
    say(f"Python {name}: {wheel.name} runs the README in an empty folder")


if __name__ == "__main__":
    main()
