"""Fixtures for every test: a clean environment, and the two database engines."""

from __future__ import annotations

import atexit
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphkit.database.embedded import client as embedded
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.files.reading import RecordReader
from graphkit.measures import registry
from tests.helpers import engines
from tests.helpers.cli import Graph
from tests.helpers.engines import ENGINES, ENVIRONMENT, SETTINGS_PREFIXES, EngineSettings, Neo4jServer, Unavailable
from tests.helpers.guard import sitecustomize as guard

# A job of a script starts with interrupts ignored, and hands that on: the tests that interrupt need them as usual.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Nothing of the suite, nor of what it starts, reaches beyond loopback; what tried is written to a file.
_refusals = Path(tempfile.mkstemp(prefix="graphkit-refused-")[1])
os.environ[guard.LOG] = str(_refusals)
os.environ.update(guard.guarded(os.environ))
guard.install()
atexit.register(_refusals.unlink)

_tests_run: Counter[str] = Counter()
_names: dict[str, str] = {}
_missing: dict[str, str] = {}


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # What the suite was started with, and what a test before left: RAGAS is told by a variable not to be tracked.
    for name in {*ENVIRONMENT, *os.environ}:
        if name.startswith(SETTINGS_PREFIXES):
            monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _known_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    # A measure that a test defines is known in this process from then on; the next test must not see it.
    monkeypatch.setattr(registry, "_BY_NAME", {**registry._BY_NAME})


@pytest.fixture(autouse=True)
def refused(_clean_environment: None) -> Iterator[Callable[[], list[str]]]:
    """What reached beyond loopback since it was asked last: a test that doesn't ask fails by it, caught or not."""
    seen = _refusals.stat().st_size

    def since() -> list[str]:
        nonlocal seen
        data = _refusals.read_bytes()[seen:]
        seen += len(data)
        return data.decode().splitlines()

    yield since
    if reached := since():
        pytest.fail(f"the test reached beyond loopback: {'; '.join(reached)}", pytrace=False)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, int]]:
    """How often each line, by file and number, is decoded from now on in this process."""
    counted: Counter[tuple[str, int]] = Counter()
    parse = RecordReader.parse

    def counting(reader: RecordReader[Any], number: int, line: bytes) -> Any:
        counted[reader.path.name, number] += 1
        return parse(reader, number, line)

    monkeypatch.setattr(RecordReader, "parse", counting)
    return counted


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Neo4jServer]:
    """A real Neo4j that tests may empty; skips where there is none, and fails under GRAPHKIT_REQUIRE_NEO4J=1."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name in ENVIRONMENT:
                if name.startswith(SETTINGS_PREFIXES):
                    patch.delenv(name, raising=False)
            with engines.neo4j_server() as server:
                with Store.open(server.settings) as store:
                    _names["neo4j"] = f"Neo4j {store.version} ({server.source})"
                yield server
                with Store.open(server.settings) as store:
                    engines.empty(store)
    except Unavailable as error:
        _missing["neo4j"] = str(error)
        if ENVIRONMENT.get("GRAPHKIT_REQUIRE_NEO4J") == "1":
            pytest.fail(f"GRAPHKIT_REQUIRE_NEO4J=1, but {error}", pytrace=False)
        pytest.skip(f"no Neo4j: {error}")


@pytest.fixture(scope="session")
def embedded_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a running embedded database that tests may empty."""
    directory = tmp_path_factory.mktemp("embedded")
    endpoint = embedded.ensure_running(directory)
    _names["embedded"] = f"embedded ArcadeDB {endpoint.version}"
    yield directory
    endpoint.release()
    embedded.stop(directory)


@pytest.fixture(params=ENGINES)
def engine_settings(request: pytest.FixtureRequest) -> EngineSettings:
    """Each engine in turn, its database emptied."""
    engine: str = request.param
    if engine == "embedded":
        settings = Settings(data=request.getfixturevalue("embedded_dir"))
    else:
        settings = request.getfixturevalue(f"{engine}_server").settings
    with Store.open(settings) as store:
        engines.empty(store)
    _tests_run[engine] += 1
    return EngineSettings(engine, settings, engines.child_environment(settings))


@pytest.fixture
def store(engine_settings: EngineSettings) -> Iterator[Store]:
    """An open, empty store on each engine in turn."""
    with Store.open(engine_settings.settings) as opened:
        yield opened


@pytest.fixture(scope="module")
def graph(embedded_dir: Path) -> Iterator[Graph]:
    """One running embedded database for the commands of a module, empty at first."""
    settings = Settings(data=embedded_dir)
    with Store.open(settings) as opened:
        engines.empty(opened)
        _tests_run["embedded"] += 1
        yield Graph(engines.child_environment(settings), opened)


@pytest.fixture
def any_graph(engine_settings: EngineSettings) -> Iterator[Graph]:
    """An empty database for commands on each engine in turn."""
    with Store.open(engine_settings.settings) as opened:
        yield Graph(engine_settings.env, opened)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end which engines the tests ran on, and why one was left out."""
    parts = [f"{_names[engine]}: {_tests_run[engine]} tests" for engine in ENGINES if engine in _names]
    parts += [f"{engine}: NOT RUN, because {reason}" for engine, reason in _missing.items()]
    if parts:
        terminalreporter.write_sep("-", "engines")
        terminalreporter.write_line(f"engines: {'; '.join(parts)}")
