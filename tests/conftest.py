"""Fixtures for every test, its marks, and how tests are shared out among processes.

``make test`` runs the fast suite (``GRAPHKIT_TESTS=fast``), ``make test-all`` everything. Marks follow from fixtures.
Each module runs in one process, except that all tests on one version of Neo4j run in a single one, which starts it, and
so do those of browsers.
"""

from __future__ import annotations

import atexit
import builtins
import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from graphkit.cli import progress
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.files.reading import RecordReader
from graphkit.graph.queries import schema_statements
from graphkit.measures import registry
from graphkit.plugins.embedded import client as embedded
from graphkit.plugins.sandbox.languages import JAVASCRIPT
from graphkit.plugins.sandbox.walls import NO_WALL, Wall
from tests.helpers import FAST, engines
from tests.helpers.absent import absent
from tests.helpers.cli import Graph, Process, graphkit
from tests.helpers.datasets import SharedLog, find_data
from tests.helpers.engines import (
    ENGINES,
    ENVIRONMENT,
    NEWEST,
    SETTINGS_PREFIXES,
    EngineSettings,
    Neo4jServer,
    Unavailable,
)
from tests.helpers.guard import sitecustomize as guard
from tests.helpers.sandboxes import WALL_NAMES, wall_here

# The fixture that runs pytest inside a test, for the tests of the plugin; those of browsers; quick collecting.
pytest_plugins = ["pytester", "tests.helpers.browsers", "tests.helpers.collecting"]

# Without its compiled files, collecting the suite takes three times as long, and so does each command that it starts.
sys.dont_write_bytecode = False

# On a busy machine commands take longer than others, and print lines of progress that are no part of what tests expect.
# Those about progress set how often.
progress.LINE_EVERY = 3600.0

# A job of a script starts with interrupts ignored, and hands that on: the tests that interrupt need them as usual.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Nothing of the suite, nor of what it starts, reaches beyond loopback; what tried is written to a file.
_refusals = Path(tempfile.mkstemp(prefix="graphkit-refused-")[1])
os.environ[guard.LOG] = str(_refusals)
os.environ.update(guard.guarded(os.environ))
# Results say when they were made: the same results are the same bytes.
os.environ["SOURCE_DATE_EPOCH"] = "1790000000"
guard.install()
atexit.register(_refusals.unlink)

# Nothing beyond loopback is asked, so clients of models read one certificate: the whole bundle takes 0.1 s each time.
if find_spec("certifi"):
    import certifi

    _last = b"-----END CERTIFICATE-----\n"
    _certificate = Path(tempfile.mkstemp(prefix="graphkit-certificate-", suffix=".pem")[1])
    _certificate.write_bytes(b"".join(Path(certifi.where()).read_bytes().partition(_last)[:2]))
    os.environ["SSL_CERT_FILE"] = str(_certificate)
    atexit.register(_certificate.unlink)

# The built-in sum of fractions has other last digits from Python 3.12 on: results are summed by math.fsum.
_sum = builtins.sum


def _whole_sum(values: Any, /, start: Any = 0) -> Any:
    total = _sum(values, start)
    if type(total) is float and sys._getframe(1).f_globals["__name__"].startswith("graphkit."):
        raise AssertionError("graphkit sums fractions by the built-in sum, which differs between versions of Python")
    return total


builtins.sum = _whole_sum

# The servers of the tests live for seconds: optimising their code costs a third of all their time.
os.environ["JAVA_TOOL_OPTIONS"] = "-XX:TieredStopAtLevel=1"

#: The marks that fixtures give a test.
_MARKS = {
    "database": {"embedded_dir", "graph", "store", "any_graph", "engine_settings", "full_store", "compared_store"},
    "process": {"process"},
    "neo4j": {"neo4j_server", "neo4j_store", "newest_neo4j_server"},
    "browser": {"browsers"},
    "libraries": {"ragas"},
    "data": {"pallets", "limits_data", "real_logs", "live_logs", "traced_packages", "shared_log", "published"},
    "sandbox": {"sandbox", "wall", "bubblewrap", "landlock"},
    "node": {"node"},
}
#: The marks that the fast suite excludes, each with the name that its last line gives it.
_NOT_FAST = {
    "neo4j": "Neo4j",
    "browser": "browser",
    "data": "data sets",
    "sandbox": "sandbox",
    "node": "Node",
    "libraries": "RAGAS, live libraries and clusters",
    "slow": "slow",
}

# The environments of RAGAS, of the live libraries and of the clusters have no Hypothesis, and run no test that uses it.
if find_spec("hypothesis"):
    import tests.helpers.properties  # noqa: F401 - loads the profile

_tests_run: Counter[str] = Counter()
_names: dict[str, str] = {}
_missing: dict[str, str] = {}
_not_run: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # Variables of the suite's environment, and of tests before: one of them forbids RAGAS to track its use.
    for name in {*ENVIRONMENT, *os.environ}:
        if name.startswith(SETTINGS_PREFIXES):
            monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _known_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    # A measure that a test defines is known in this process from then on; the next test must not see it.
    monkeypatch.setattr(registry, "_BY_NAME", {**registry._BY_NAME})


@pytest.fixture(autouse=True)
def refused(_clean_environment: None) -> Iterator[Callable[[], list[str]]]:
    """Return the refused connections since the last call; a test fails if it doesn't ask for all of its own."""
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
    """The number of times that each line, by file and number, is taken as a record from now on in this process."""
    counted: Counter[tuple[str, int]] = Counter()
    parse = RecordReader.parse

    def counting(reader: RecordReader[Any], number: int, line: bytes) -> Any:
        counted[reader.path.name, number] += 1
        return parse(reader, number, line)

    def one_by_one(reader: RecordReader[Any], numbers: Iterable[int], lines: Iterable[bytes]) -> Iterable[Any]:
        return map(reader.parse, numbers, lines)

    monkeypatch.setattr(RecordReader, "parse", counting)
    monkeypatch.setattr(RecordReader, "_records", one_by_one)
    return counted


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Neo4jServer]:
    """A real Neo4j that tests may empty; skips where there is none, and fails under GRAPHKIT_REQUIRE_NEO4J=1."""
    yield from _neo4j("neo4j", engines.LTS_VERSION)


@pytest.fixture(scope="session")
def newest_neo4j_server() -> Iterator[Neo4jServer]:
    """A real Neo4j of the newest version, likewise."""
    yield from _neo4j(NEWEST, engines.NEWEST_VERSION)


def _neo4j(name: str, version: str) -> Iterator[Neo4jServer]:
    try:
        with pytest.MonkeyPatch.context() as patch:
            for variable in ENVIRONMENT:
                if variable.startswith(SETTINGS_PREFIXES):
                    patch.delenv(variable, raising=False)
            with engines.neo4j_server(version=version) as server:
                with Store.open(server.settings) as store:
                    store.schema(schema_statements())
                    _names[name] = f"Neo4j {store.version} ({server.source})"
                yield server
                with Store.open(server.settings) as store:
                    engines.empty(store)
    except Unavailable as error:
        _missing[name] = str(error)
        absent("GRAPHKIT_REQUIRE_NEO4J", f"no Neo4j: {error}")


@pytest.fixture(scope="session")
def embedded_dir() -> Iterator[Path]:
    """A folder with a running embedded database that tests may empty."""
    with engines.folder_in_memory("graphkit-embedded-") as directory:
        endpoint = embedded.ensure_running(directory)
        _names["embedded"] = f"embedded ArcadeDB {endpoint.version}"
        with Store.open(Settings(data=directory)) as store:
            store.schema(schema_statements())
        yield directory
        endpoint.release()
        embedded.stop(directory)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what uses a database on each engine in turn, and what is marked ``newest`` on the newest Neo4j as well."""
    if "engine_settings" in metafunc.fixturenames:
        also = [NEWEST] if metafunc.definition.get_closest_marker("newest") else []
        metafunc.parametrize("engine_settings", [*ENGINES, *also], indirect=True)


@pytest.fixture
def engine_settings(request: pytest.FixtureRequest) -> EngineSettings:
    """Each engine in turn, its database emptied."""
    engine: str = request.param
    settings = engines.running(engine, request)
    with Store.open(settings) as store:
        engines.empty(store)
    _tests_run[engine] += 1
    engine = "neo4j" if engine == NEWEST else engine
    return EngineSettings(engine, settings, engines.child_environment(settings))


@pytest.fixture
def store(engine_settings: EngineSettings) -> Iterator[Store]:
    """An open, empty store on each engine in turn."""
    with Store.open(engine_settings.settings) as opened:
        yield opened


@pytest.fixture
def empty_store(store: Store) -> Store:
    """Each database in turn, empty, with its constraints and indexes."""
    store.schema(schema_statements())
    return store


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


@pytest.fixture
def process() -> Process:
    """Run graphkit as a process: for what the application object can't show, and once for each command."""
    return graphkit


def _data(name: str) -> Path:
    found = find_data(name)
    if found is None:
        absent(
            "GRAPHKIT_REQUIRE_DATA",
            f"the data set {name} is in neither ../shared/data nor the folder that GRAPHKIT_DATA names",
        )
    return found


@pytest.fixture(scope="session")
def pallets() -> Path:
    """The folder of the pallets data: 40 questions, four runs, and what each scores by other tools."""
    return _data("pallets")


@pytest.fixture(scope="session")
def limits_data() -> Path:
    """The folder of questions without an answer, over two versions, and with places that one may not enter."""
    return _data("limits")


@pytest.fixture(scope="session")
def ci_data() -> Path:
    """The folder of a team's first CI: 12 questions, and runs made by hand."""
    return _data("ci")


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of small cases, each with what is right of it."""
    return _data("cases")


@pytest.fixture(scope="session")
def texts() -> Path:
    """The folder of graphs of documents: small inputs made by hand, with what is right of each."""
    return _data("text")


@pytest.fixture(scope="session")
def forms_data() -> Path:
    """The folder of small files in the forms that published write-ups use."""
    return _data("forms")


@pytest.fixture(scope="session")
def real_logs() -> Path:
    """The folder of logs that real libraries wrote, with the dataset that they are about."""
    return _data("logs")


@pytest.fixture(scope="session")
def live_logs() -> Path:
    """The folder of logs that real libraries wrote with a real model about the storefront, with their right values."""
    return _data("live")


@pytest.fixture(scope="session")
def traced_packages() -> Path:
    """The folder of the traced packages."""
    return _data("traced")


@pytest.fixture(scope="session")
def published() -> Path:
    """The folder of the public files from which docs/published.md reproduces tables."""
    folder = ENVIRONMENT.get("GRAPHKIT_PUBLISHED")
    if not folder or not Path(folder).is_dir():
        absent(
            "GRAPHKIT_REQUIRE_PUBLISHED", "the files of published tables: GRAPHKIT_PUBLISHED names no folder of them"
        )
    return Path(folder)


@pytest.fixture(scope="session")
def shared_log(real_logs: Path) -> SharedLog:
    """A function that returns the JSON values of a real log, one per line."""

    def values(name: str) -> list[Any]:
        with gzip.open(real_logs / name, "rt", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    return values


@pytest.fixture(params=WALL_NAMES)
def wall(request: pytest.FixtureRequest) -> Wall:
    """Each wall of the sandbox in turn; ``none`` as an indirect parameter is no wall."""
    return NO_WALL if request.param == "none" else wall_here(request.param)


@pytest.fixture
def bubblewrap() -> Wall:
    """The wall of namespaces."""
    return wall_here("bubblewrap")


@pytest.fixture
def landlock() -> Wall:
    """The wall of Landlock and seccomp."""
    return wall_here("landlock")


@pytest.fixture(scope="session")
def node() -> Path:
    """The program of Node."""
    program = JAVASCRIPT.program()
    if program is None:
        pytest.skip("there is no Node on this machine")
    return program


# Choosing and sharing out -------------------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test by its fixtures and its engine, and drop those that the fast suite doesn't run."""
    kept, dropped = [], []
    for item in items:
        for mark in sorted(_marks(item)):
            item.add_marker(mark)
        excluded = next((mark for mark in _NOT_FAST if FAST and item.get_closest_marker(mark)), None)
        if excluded is not None:
            _not_run[_NOT_FAST[excluded]] += 1
            dropped.append(item)
            continue
        kept.append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
    if hasattr(config, "workerinput"):
        # What takes longest begins first, so that the processes end at about the same time.
        seconds = defaultdict(float, _LONG)
        for item in kept:
            known = [_SECONDS[mark.name] for mark in item.iter_markers() if mark.name in _SECONDS]
            seconds[_scope(item.nodeid)] += max(known, default=0.1)
        kept.sort(key=lambda item: -seconds[_scope(item.nodeid)])
    items[:] = kept


def _marks(item: pytest.Item) -> set[str]:
    """Return the marks that the fixtures of a test, their parameters and its folder give it."""
    fixtures = {*getattr(item, "fixturenames", ())}
    values = item.callspec.params if hasattr(item, "callspec") else {}
    marks = {mark for mark, names in _MARKS.items() if fixtures & names}
    if values.get("wall") == "none":
        marks.discard("sandbox")
    named = {value for value in values.values() if isinstance(value, str)}
    if named & {"neo4j", NEWEST}:
        marks.add("neo4j")
    if named & _MARKS["data"]:  # fixtures that the test asks for by the parameter
        marks.add("data")
    if item.path.parent.name in ("live", "cluster"):
        marks.add("libraries")
    return marks


#: Modules with tests on Neo4j whose ids don't say so.
_ON_NEO4J = (
    "tests/database/test_connection.py",
    "tests/scoring/test_engines.py",
    "tests/scoring/test_named_queries.py",
)


#: A module whose tests start each Neo4j that they use.
_OWN_NEO4J = "tests/plugins/bulk/test_bulk_neo4j.py"

#: About how long a test takes by its marks; one without them takes a tenth of a second.
_SECONDS = {"slow": 3.0, "browser": 1.5, "neo4j": 0.7, "sandbox": 0.3}
#: About how long modules take whose few tests take far longer.
_LONG = {
    _OWN_NEO4J: 250.0,
    "tests/graph/test_figures.py": 60.0,
    "tests/plugins/bulk/test_bulk.py": 60.0,
    "tests/plugins/embedded/test_compaction.py": 60.0,
    "tests/test_kills.py": 60.0,
}


def _scope(nodeid: str) -> str:
    """Return a name for the tests that run in one process: of a version of Neo4j, of browsers, else of a module."""
    module = nodeid.partition("::")[0]
    if module == _OWN_NEO4J:
        return module
    if NEWEST in nodeid:
        return NEWEST
    if "neo4j" in nodeid or module in _ON_NEO4J:
        return "neo4j"
    return "browser" if module.endswith("_browser.py") else module


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each process whole modules, and one of them all tests on a version of Neo4j, so that each is started once.

    The groups of xdist's own scheduler are part of a test's id, which pytest 9.2 no longer lets plugins change.
    """
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

    class ByDatabase(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return _scope(nodeid)

    config.option.loadscopereorder = False  # the tests are in the order of what their modules take
    return ByDatabase(config, log)


#: What serves other tests than that which started it.
_SHARED = ("graphkit.plugins.embedded.server", "tests.helpers.warm")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None]:
    """End the processes that a failing test started: one that stays would disturb the tests after it."""
    started: list[subprocess.Popen[Any]] = []
    start = subprocess.Popen.__init__

    def noting(process: subprocess.Popen[Any], *arguments: Any, **options: Any) -> None:
        start(process, *arguments, **options)
        started.append(process)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "__init__", noting)
        try:
            yield
        except BaseException:
            for process in started:
                # What serves other tests ends by itself.
                words = str(process.args)
                if process.poll() is None and not any(name in words for name in _SHARED):
                    _end(process)
            raise


def _end(process: subprocess.Popen[Any]) -> None:
    """Kill a process, with its group where it has one of its own."""
    if os.getpgid(process.pid) == process.pid:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


# What the run says at its end ---------------------------------------------------------------------------------------


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what a worker counted to the process that started it."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["graphkit"] = [dict(_tests_run), dict(_not_run), _names, _missing]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker counted. Each worker drops the same tests, but runs tests of its own."""
    if "graphkit" in getattr(node, "workeroutput", {}):
        tests, dropped, names, missing = node.workeroutput["graphkit"]
        _tests_run.update(tests)
        _not_run.update({name: count for name, count in dropped.items() if name not in _not_run})
        _names.update(names)
        _missing.update(missing)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in a line which engines the tests ran on, and in another what wasn't run."""
    parts = [f"{_names[engine]}: {_tests_run[engine]} tests" for engine in (*ENGINES, NEWEST) if engine in _names]
    if parts:
        terminalreporter.write_line(f"engines: {'; '.join(parts)}")
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[reason.removeprefix("Skipped: ")] += 1
    said = [f"{count} {name}" for name, count in _not_run.items()]
    said += [f"{count} ({reason})" for reason, count in reasons.most_common()]
    if said:
        hint = "; `make test-all` runs them" if FAST else ""
        terminalreporter.write_line(f"not run: {', '.join(said)}{hint}")
