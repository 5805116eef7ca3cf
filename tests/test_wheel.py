"""The built wheel, not the checkout: what it holds, and that it works from another folder."""

from __future__ import annotations

import re
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import ROOT
from tests.helpers.cli import tiny
from tests.helpers.wheels import build_wheel, installed_wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which graphkit comes from the wheel, and the libraries from where they are."""
    return installed_wheel(wheel, tmp_path_factory.mktemp("installed") / "environment")


def files(folder: str) -> Iterator[str]:
    """Yield the files of the checkout below a folder that git knows, by their path from there."""
    listed = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True)
    yield from (name for name in listed.stdout.splitlines() if (ROOT / name).exists())


def test_what_the_wheel_holds(wheel: Path) -> None:
    """All of the package, the queries and the fixtures, the marker of types and the licence; no tests."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {f"graphkit/{name}" for folder in ("cypher", "fixtures") for name in files(folder)} <= names
    assert set(files("graphkit")) <= names
    assert "graphkit/py.typed" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"graphkit", "graphkit_eval"}
    assert not [name for name in names if name.rpartition("/")[2].startswith(("test_", "conftest"))]
    assert not [name for name in names if "__pycache__" in name]


def test_metadata(wheel: Path) -> None:
    """The wheel names the command and the Python that it needs, and carries the README."""
    with zipfile.ZipFile(wheel) as archive:
        [info] = {name.partition("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        metadata = archive.read(f"{info}/METADATA").decode()
        points = archive.read(f"{info}/entry_points.txt").decode()
    assert "\nName: graphkit-eval\n" in metadata
    assert "Requires-Python: >=3.11" in metadata
    assert "# graphkit" in metadata
    assert "graphkit = graphkit.cli:main" in points
    assert "[pytest11]\ngraphkit = graphkit.plugins.testing.pytest_plugin" in points


@pytest.mark.slow("an environment of the built wheel")
def test_pytest_finds_the_plugin(installed: dict[str, str], tmp_path: Path) -> None:
    """pytest knows the mark of an installed wheel without a setting."""
    command = [f"{installed['VIRTUAL_ENV']}/bin/python", "-m", "pytest", "--markers"]
    done = subprocess.run(command, cwd=tmp_path, env=installed, capture_output=True, text=True, check=False)
    assert "@pytest.mark.graphkit(dataset, system=callable)" in done.stdout, done.stderr


@pytest.mark.slow("the demo, with a database of its own, from the built wheel")
def test_wheel_works_elsewhere(installed: dict[str, str], tmp_path: Path) -> None:
    """Installed and run from another folder, the demo tells its story, from the queries and data in the wheel."""

    def run(*command: object) -> str:
        words = [*map(str, command)]
        done = subprocess.run(words, cwd=tmp_path, env=installed, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    program = f"{installed['VIRTUAL_ENV']}/bin/graphkit"
    home = run(f"{installed['VIRTUAL_ENV']}/bin/python", "-c", "import graphkit; print(graphkit.__file__)")
    assert home.startswith(installed["VIRTUAL_ENV"])
    run(program, "db", "start")
    reported = run(program, "demo")
    assert "storefront-graph" in reported
    assert "storefront-graph beats storefront-bm25" in reported
    assert re.search(r"^EdgeRecall +0\.00 +0\.44 ", reported, re.MULTILINE)
    assert "graphkit why storefront-graph sf-04" in reported
    assert '"EdgeRecall": {"mean": 0.75' in run(program, "evaluate", "--json", "--no-store", tiny(tmp_path / "data"))
    run(program, "db", "stop")
