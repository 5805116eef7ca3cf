"""The built wheel, not the checkout: what it holds, and that it works from another folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphkit
from tests.cli import ROOT, environment, tiny

#: What the measures and the scorer have to hold, without a database.
CONTRACT = (
    "test_cascade",
    "test_coherence",
    "test_completeness",
    "test_edges",
    "test_files_symbols",
    "test_integration",
    "test_parallel",
    "test_paths",
    "test_properties",
    "test_ranking",
    "test_registry",
)


def built(folder: Path, **variables: str) -> Path:
    """Build the wheel of this checkout into a folder."""
    pytest.importorskip("hatchling", reason="hatchling builds the wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    [found] = folder.glob("*.whl")
    return found


def modules(wheel: Path) -> set[str]:
    """Return the compiled modules of a wheel, by the path of their source."""
    with zipfile.ZipFile(wheel) as archive:
        return {re.sub(r"\..*$", ".py", name) for name in archive.namelist() if name.endswith((".so", ".pyd"))}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, compiled where there is a compiler."""
    return built(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which graphkit comes from the wheel, and the libraries from where they are."""
    target = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return environment({"PYTHONPATH": str(target)})


def files(folder: str) -> Iterator[str]:
    """Yield the files of the checkout below a folder that git knows, by their path from there."""
    listed = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True)
    yield from (name for name in listed.stdout.splitlines() if (ROOT / name).exists())


def test_what_the_wheel_holds(wheel: Path) -> None:
    """All of the package, the queries and the fixture, the marker of types and the licence; no tests."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {f"graphkit/{name}" for folder in ("cypher", "fixtures/storefront") for name in files(folder)} <= names
    assert set(files("graphkit")) <= names
    assert "graphkit/py.typed" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"graphkit"}
    assert not [name for name in names if "test" in name.rpartition("/")[2] or "__pycache__" in name]


def test_metadata(wheel: Path) -> None:
    """The wheel names the command and the Python that it needs, and carries the README."""
    with zipfile.ZipFile(wheel) as archive:
        [info] = {name.partition("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        metadata = archive.read(f"{info}/METADATA").decode()
        points = archive.read(f"{info}/entry_points.txt").decode()
    assert "Requires-Python: >=3.11" in metadata
    assert "# graphkit" in metadata
    assert "graphkit = graphkit.cli:main" in points


def test_wheel_works_elsewhere(installed: dict[str, str], tmp_path: Path) -> None:
    """Installed and run from another folder, the demo tells its story, from the queries and data in the wheel."""

    def run(*arguments: object) -> str:
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(command, cwd=tmp_path, env=installed, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    home = run("-c", "import graphkit; print(graphkit.__file__)").strip()
    assert Path(home).parent.parent == Path(installed["PYTHONPATH"])
    run("-m", "graphkit", "db", "start")
    told = run("-m", "graphkit", "demo")
    assert "storefront-graph" in told
    assert "0.5163" in told
    assert "What to type next" in told
    assert '"EdgeRecall": {"mean": 0.75' in run(
        "-m", "graphkit", "evaluate", "--json", "--no-store", tiny(tmp_path / "data")
    )
    run("-m", "graphkit", "db", "stop")


def test_version_says_whether_it_is_compiled(wheel: Path, installed: dict[str, str], tmp_path: Path) -> None:
    """``--version`` of an installed wheel tells whether its modules are compiled."""
    command = [sys.executable, "-m", "graphkit", "--version"]
    told = subprocess.run(command, cwd=tmp_path, env=installed, capture_output=True, text=True, check=True).stdout
    assert told == f"graphkit {graphkit.__version__}{' (compiled)' if modules(wheel) else ''}\n"


def test_compiled_modules_hold_the_contract(wheel: Path, installed: dict[str, str]) -> None:
    """The measures and the scorer of a compiled wheel pass the tests that their sources pass."""
    if not modules(wheel):
        if os.environ.get("GRAPHKIT_REQUIRE_COMPILER") == "1":
            pytest.fail("GRAPHKIT_REQUIRE_COMPILER=1, but the wheel holds no compiled module", pytrace=False)
        pytest.skip("there is no C compiler")
    assert modules(wheel) == {
        "graphkit/engines/scorer.py",
        *(name for name in files("graphkit/measures") if not name.endswith("__init__.py")),
    }
    # The wheel comes before the checkout, which holds the tests.
    environment = {
        **installed,
        "PYTHONSAFEPATH": "1",
        "PYTHONPATH": os.pathsep.join([installed["PYTHONPATH"], str(ROOT)]),
    }
    which = "from graphkit.measures import case; from graphkit.engines import scorer; print(case, scorer, sep='\\n')"
    told = subprocess.run(
        [sys.executable, "-c", which], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert told.count(f"from '{installed['PYTHONPATH']}/graphkit/") == 2
    assert ".py'" not in told
    tests = [f"tests/{name}.py" for name in CONTRACT]
    command = [sys.executable, "-m", "pytest", "-q", "--import-mode=append", "-p", "no:cacheprovider", "-o", "addopts="]
    done = subprocess.run([*command, *tests], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert re.search(r"^\d{3,} passed", done.stdout, re.MULTILINE), done.stdout[-500:]


@pytest.mark.parametrize("variables", [{"CC": "/nowhere/cc"}, {"GRAPHKIT_COMPILE": "0"}])
def test_without_a_compiler(variables: dict[str, str], tmp_path: Path) -> None:
    """Where nothing can be compiled, or nothing is to be, the wheel holds Python alone and fits every machine."""
    found = built(tmp_path, **variables)
    assert found.name.endswith("-py3-none-any.whl")
    assert not modules(found)


def test_compiler_wanted_but_missing(tmp_path: Path) -> None:
    """``GRAPHKIT_COMPILE=1`` fails rather than build a slower wheel."""
    with pytest.raises(AssertionError, match="/nowhere/cc"):
        built(tmp_path, CC="/nowhere/cc", GRAPHKIT_COMPILE="1")
    assert not list(tmp_path.iterdir())
