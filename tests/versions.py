"""Runs the suite on every Python that ``pyproject.toml`` names, and compares their results: ``make test-versions``.

``python -m tests.versions [--newest] [ARGUMENTS OF PYTEST...]``. Each version that this machine has, or that uv can
install, gets an environment of the locked libraries; the others are named. In each the fast suite runs, or what the
arguments choose of it, and every command writes its results, which must be the same bytes on all. ``--newest`` runs
the suite on the newest version of this machine alone, and compares its results with those of the Python that runs this.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.helpers import ROOT

Version = tuple[int, int]
#: What each version writes: the exit code and the streams of each command, and its files, by name.
Results = dict[str, bytes]


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def named(version: Version) -> str:
    """Return a version as people write it."""
    return f"{version[0]}.{version[1]}"


def supported() -> list[Version]:
    """Return the versions of Python that the classifiers name, the oldest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = re.findall(r"Python :: (\d+)\.(\d+)", "\n".join(project["classifiers"]))
    return sorted((int(major), int(minor)) for major, minor in found)


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
    needed = "venv" if shutil.which("uv") else "ensurepip, venv"
    return subprocess.run([str(program), "-c", f"import {needed}"], capture_output=True, check=False).returncode == 0


def found_or_installed() -> dict[Version, Path]:
    """Return the supported interpreters, having asked uv for those that are missing; print which can't be had."""
    here = interpreters()
    missing = [version for version in supported() if version not in here]
    if missing and shutil.which("uv"):
        for version in missing:
            subprocess.run(["uv", "python", "install", "--quiet", named(version)], capture_output=True, check=False)
        here = interpreters()
    for version in missing:
        if version not in here:
            say(f"Python {named(version)}: not run, it is neither on this machine nor to be had by uv")
    return {version: here[version] for version in supported() if version in here}


def environment(folder: Path, python: Path, requirements: Sequence[Path]) -> bool:
    """Make an environment of locked libraries unless the folder holds it, and return whether it is new."""
    mark = folder / "locked.txt"
    locked = b"".join(path.read_bytes() for path in requirements)
    if mark.exists() and mark.read_bytes() == locked:
        return False
    say(f"Making {folder.name} (once)")
    uv = shutil.which("uv")
    options = [text for path in requirements for text in ("-r", str(path))]
    if uv:
        subprocess.run([uv, "venv", "--quiet", "--clear", "--seed", "--python", str(python), str(folder)], check=True)
        install = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(folder / "bin" / "python")]
    else:
        subprocess.run([str(python), "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run([*install, "--no-deps", "--require-hashes", *options], check=True)
    mark.write_bytes(locked)
    return True


def with_checkout(version: Version, python: Path) -> Path:
    """Return the Python of an environment with the checkout and what its tests need."""
    folder = ROOT / f".venv-python-{named(version)}"
    environment(folder, python, [ROOT / "requirements" / f"{name}.txt" for name in ("run", "test")])
    own = folder / "bin" / "python"
    # Each time: what it is called and which plug-ins it has may have changed.
    options = ["--disable-pip-version-check", "--quiet", "install", "--no-deps", "--no-build-isolation", "--editable"]
    subprocess.run([str(own), "-m", "pip", *options, str(ROOT)], check=True)
    return own


def results_of(python: Path) -> Results:
    """Return what every command writes under a Python."""
    # A folder of one name for all: some of what is written names it.
    folder = Path(tempfile.gettempdir()) / "graphkit-versions"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    started = datetime.now(UTC)
    try:
        subprocess.run([str(python), "-m", "tests.helpers.results", str(folder)], cwd=ROOT, check=True)
        # The graph of a dataset is kept in files of the database, which are as old as its last start.
        files = sorted(path for path in folder.rglob("*") if path.is_file() and "graphs" not in path.parts)
        return {str(path.relative_to(folder)): without_moments(_content(path), started) for path in files}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _content(path: Path) -> bytes:
    """Return what a file holds; of a database its statements, since its bytes name the library that wrote it."""
    if path.suffix != ".sqlite":
        return path.read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        return "\n".join(connection.iterdump()).encode()


def without_moments(content: bytes, started: datetime) -> bytes:
    """Return a content with one word for every moment since a start: only some runs share their minutes."""
    # By minutes, in UTC and in local time, as far as moments are written.
    minutes = {
        moment.strftime(form).encode()
        for minute in range(int((datetime.now(UTC) - started).total_seconds() // 60) + 2)
        for moment in (started + timedelta(minutes=minute), started.astimezone() + timedelta(minutes=minute))
        for form in ("%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M")
    }
    return re.sub(b"(?:" + b"|".join(sorted(minutes)) + rb")(?::\d\d(?:\.\d+)?)?", b"(a moment of the run)", content)


def different(first: Results, second: Results) -> Iterator[str]:
    """Yield the names of what two results don't share, byte for byte."""
    yield from (name for name in sorted({*first, *second}) if first.get(name) != second.get(name))


def compared(pythons: dict[str, Path]) -> bool:
    """Compare the results of each Python with those of the first, print what differs, and return whether none does.

    What differs between two runs of the first, such as times, is left out.
    """
    (first, python), *others = pythons.items()
    expected = results_of(python)
    unsteady = {*different(expected, results_of(python))}
    say(f"Python {first}: {len(expected)} results, of which {len(unsteady)} change from run to run")
    same = True
    for name, other in others:
        found = results_of(other)
        apart = [one for one in different(expected, found) if one not in unsteady]
        same = same and not apart
        say(f"Python {name}: {len(apart)} results differ from those of {first}")
        for one in apart:
            wanted, got = (results.get(one, b"").splitlines() for results in (expected, found))
            line = next((number for number, pair in enumerate(zip(wanted, got, strict=False)) if len({*pair}) > 1), -1)
            shown = [lines[line][:300] if line >= 0 else b"(more lines)" for lines in (wanted, got)]
            say(f"  {one}, line {line + 1}:\n    {shown[0]!r}\n    {shown[1]!r}")
    return same


def main(arguments: Sequence[str]) -> int:
    """Run the suite on each version, compare the results, and return the exit code."""
    own = (sys.version_info.major, sys.version_info.minor)
    newest = "--newest" in arguments
    here = interpreters() if newest else found_or_installed()
    if newest:
        here = {version: python for version, python in here.items() if version in supported()}
        here = {version: python for version, python in here.items() if version == max(here) and version != own}
        if not here:
            say(f"Python {named(own)} is the newest here")
            return 0
    chosen = [one for one in arguments if one != "--newest"] or ["-n", os.environ.get("WORKERS", "2")]
    pythons, failed = {named(own): Path(sys.executable)} if newest else {}, []
    for version, python in here.items():
        pythons[named(version)] = with_checkout(version, python)
        say(f"Python {named(version)}: the fast suite")
        command = [str(pythons[named(version)]), "-m", "pytest", "-q", *chosen]
        if subprocess.run(command, cwd=ROOT, env={**os.environ, "GRAPHKIT_TESTS": "fast"}, check=False).returncode:
            failed.append(named(version))
    same = compared(pythons)
    if failed:
        say(f"The suite failed on Python {', '.join(failed)}")
    return int(bool(failed) or not same)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
