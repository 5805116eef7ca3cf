"""The databases that the tests run on: the embedded one, and a real Neo4j from wherever this machine can get one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from graphkit.database.dialects import dialects
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from tests.helpers import ROOT
from tests.helpers.guard.sitecustomize import guarded, is_local

if TYPE_CHECKING:
    import pytest

ENVIRONMENT: Mapping[str, str] = dict(os.environ)
"""The environment that the suite was started with; tests see one without settings, addresses and keys of services."""

SETTINGS_PREFIXES = (
    *("NEO4J_", "GRAPHKIT_", "ANTHROPIC_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_", "RAGAS_"),
    *("AZURE_OPENAI_", "GEMINI_", "MISTRAL_", "OLLAMA_", "VLLM_", "LLAMACPP_"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"),
)
#: One of each database that graphkit works with; a server of it is the fixture NAME_server.
ENGINES = tuple(dialect.engine for dialect in dialects())
#: The newest Neo4j, on which the tests run that are marked so.
NEWEST = "newest_neo4j"
#: The versions of Neo4j that the tests run on, and the Java that each needs.
LTS_VERSION, NEWEST_VERSION = "5.26.30", "2026.08.1"
_JAVA = {LTS_VERSION: 17, NEWEST_VERSION: 21}
#: What each version calls the time for which a server waits for requests after it has closed its port: ten seconds.
_QUIET_PERIOD = {
    LTS_VERSION: "internal.dbms.bolt.netty_server_shutdown_quiet_period",
    NEWEST_VERSION: "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration",
}
#: A server's first logs would take half a gigabyte, of memory where its files are kept there.
_LOGS_AS_NEEDED = ("db.tx_log.preallocate", "false")
#: How long a plan is kept, whatever the database holds by then: tests fill and empty it in seconds, and Neo4j would
#: plan a query anew whenever the counts have changed.
_PLANS_KEPT = ("dbms.cypher.min_replan_interval", "1h")

_FOLDER = Path(__file__).parent / "neo4j"
_MAVEN_SECONDS = 600
_START_SECONDS = 240


class Unavailable(Exception):
    """No real Neo4j can be had here; the text says why."""


@dataclass(frozen=True)
class Neo4jServer:
    """A running Neo4j that tests may empty. ``source`` says where it came from."""

    uri: str
    source: str
    username: str = "neo4j"
    password: str | None = field(default=None, repr=False)
    database: str = "neo4j"

    @property
    def settings(self) -> Settings:
        """The settings that open it."""
        return Settings(uri=self.uri, username=self.username, password=self.password, database=self.database)


@dataclass(frozen=True)
class EngineSettings:
    """One engine for tests that start processes: settings to open it, and the environment for a child."""

    engine: str
    settings: Settings
    env: dict[str, str] = field(repr=False)


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without settings and keys, in which a Python has this checkout, and loopback only."""
    kept = {name: value for name, value in environment.items() if not name.startswith(SETTINGS_PREFIXES)}
    return guarded({**kept, "PYTHONPATH": str(ROOT)})


def child_environment(settings: Settings) -> dict[str, str]:
    """Return an environment in which a graphkit process uses these settings."""
    environment = clean_environment(os.environ)
    if settings.uri is None:
        return {**environment, "GRAPHKIT_HOME": str(settings.data)}
    environment |= {
        "NEO4J_URI": settings.uri,
        "NEO4J_USERNAME": settings.username,
        "NEO4J_DATABASE": settings.database,
    }
    return environment | ({"NEO4J_PASSWORD": settings.password} if settings.password else {})


def running(engine: str, request: pytest.FixtureRequest) -> Settings:
    """Return the settings of an engine, whose server the fixtures of the suite start."""
    if engine == "embedded":
        return Settings(data=request.getfixturevalue("embedded_dir"))
    server: Neo4jServer = request.getfixturevalue(f"{engine}_server")
    return server.settings


def empty(store: Store) -> None:
    """Delete every node and relationship. Constraints and indexes stay."""
    # One transaction for all would outgrow a small test server's memory, as would the edges of 10 000 hubs.
    for some in ("MATCH ()-[one]->()", "MATCH (one)"):
        while store.write(f"{some} WITH one LIMIT 10000 DELETE one RETURN count(*) AS deleted") != [{"deleted": 0}]:
            pass


@contextlib.contextmanager
def folder_in_memory(prefix: str) -> Iterator[Path]:
    """Provide a new folder for a database, in memory where there is room: each commit waits for the disk elsewhere."""
    memory = Path("/dev/shm")
    roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 4 << 30
    with tempfile.TemporaryDirectory(
        prefix=prefix, dir=memory if roomy else None, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


@contextlib.contextmanager
def neo4j_server(heap: str = "1g", version: str = LTS_VERSION) -> Iterator[Neo4jServer]:
    """Provide a real Neo4j: the one that NEO4J_URI names, else a container, else one from Maven.

    ``heap`` is the memory of one that is started. NEO4J_URI doesn't count for the newest version.

    Raises
    ------
    Unavailable
        When none of them can be had.
    """
    if ENVIRONMENT.get("NEO4J_URI") and version == LTS_VERSION:
        yield _named_server()
    elif _docker_answers():
        with _container(heap, version) as server:
            yield server
    else:
        with _maven_server(heap, version) as server:
            yield server


def _named_server() -> Neo4jServer:
    host = urlsplit(ENVIRONMENT["NEO4J_URI"]).hostname
    if not is_local(host):
        raise Unavailable(
            f"NEO4J_URI names {host}, and the tests reach loopback only: forward its port to this machine"
        )
    server = Neo4jServer(
        uri=ENVIRONMENT["NEO4J_URI"],
        source="NEO4J_URI",
        username=ENVIRONMENT.get("NEO4J_USERNAME") or "neo4j",
        password=ENVIRONMENT.get("NEO4J_PASSWORD"),
        database=ENVIRONMENT.get("NEO4J_DATABASE") or "neo4j",
    )
    with Store.open(server.settings) as store:
        found = store.read("MATCH (n) RETURN count(n) AS n")[0]["n"]
    if found and ENVIRONMENT.get("GRAPHKIT_TEST_WIPE") != "1":
        raise Unavailable(
            f"NEO4J_URI names a database that holds {found} nodes, and the tests would delete them; name an empty "
            "one, or set GRAPHKIT_TEST_WIPE=1"
        )
    return server


def _docker_answers() -> bool:
    if not shutil.which("docker"):
        return False
    try:
        asked = subprocess.run(
            ["docker", "version", "--format", "{{.Server.Version}}"], capture_output=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0


@contextlib.contextmanager
def _container(heap: str, version: str) -> Iterator[Neo4jServer]:
    try:
        from testcontainers.neo4j import Neo4jContainer
    except ImportError as error:
        raise Unavailable("a Docker engine answers, but the package testcontainers isn't installed") from error
    try:
        container = Neo4jContainer(f"neo4j:{version}", password="tests-only-1")
        container.with_env("NEO4J_server_memory_heap_max__size", heap)
        container.with_env("NEO4J_dbms_cypher_min__replan__interval", _PLANS_KEPT[1]).start()
    except Exception as error:
        raise Unavailable(f"the container neo4j:{version} didn't start: {error}") from error
    try:
        yield Neo4jServer(container.get_connection_url(), "testcontainers", password="tests-only-1")
    finally:
        container.stop()


@contextlib.contextmanager
def _maven_server(heap: str, version: str) -> Iterator[Neo4jServer]:
    with folder_in_memory("graphkit-neo4j-") as home:
        port = free_port()
        process = start_neo4j(home, port, heap, version)
        try:
            yield Neo4jServer(f"bolt://127.0.0.1:{port}", "maven")
        finally:
            _end(process)


def start_neo4j(
    home: Path, port: int, heap: str = "1g", version: str = LTS_VERSION, settings: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a Neo4j from Maven over a folder, and return its process when it answers.

    ``settings`` are settings of Neo4j by their names.

    Raises
    ------
    Unavailable
        Java or Maven is missing, or the server doesn't start.
    """
    java, jars = _java(version), _maven_jars(version)
    log = home / "output.log"
    command = [sys.executable, str(_FOLDER / "server.py"), str(java), str(jars), heap, str(home / "home"), str(port)]
    given = dict([(_QUIET_PERIOD[version], "0"), _PLANS_KEPT, _LOGS_AS_NEEDED]) | dict(settings or {})
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, *(f"{name}={value}" for name, value in given.items())],
            stdin=subprocess.PIPE,  # its end, even by our sudden death, ends the server
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=clean_environment(os.environ),
        )
    try:
        _wait_until_ready(process, log)
    except BaseException:
        _end(process)
        raise
    return process


@dataclass(frozen=True)
class Neo4jInstallation:
    """A folder with a Neo4j from Maven of its own, which tests start and stop."""

    folder: Path
    version: str

    @classmethod
    def install(cls, folder: Path, version: str) -> Neo4jInstallation:
        """Write ``bin/neo4j-admin`` into a new folder; raise Unavailable if Java or Maven is missing."""
        found = cls(folder, version)
        program = found.home / "bin" / "neo4j-admin"
        for part in (program.parent, found.home / "conf"):
            part.mkdir(parents=True)
        (found.home / "conf" / "neo4j.conf").write_text("=".join(_LOGS_AS_NEEDED) + "\n")
        command = [sys.executable, str(_FOLDER / "admin.py"), str(_java(version)), str(_maven_jars(version))]
        program.write_text(f'#!/bin/sh\nNEO4J_HOME={shlex.quote(str(found.home))} exec {shlex.join(command)} "$@"\n')
        program.chmod(0o755)
        return found

    @property
    def home(self) -> Path:
        """The folder that holds bin, conf and data."""
        return self.folder / "home"

    @contextlib.contextmanager
    def running(self, heap: str = "1g", settings: Mapping[str, str] | None = None) -> Iterator[Neo4jServer]:
        """Run its server, with settings of Neo4j by their names."""
        port = free_port()
        process = start_neo4j(self.folder, port, heap, self.version, settings)
        try:
            yield Neo4jServer(f"bolt://127.0.0.1:{port}", "maven")
        finally:
            _end(process)


def _java(version: str) -> Path:
    """Return the folder of a Java that runs this Neo4j: of the machine, else the one of the embedded database."""
    least = _JAVA[version]
    found = {}
    for home in _java_homes():
        release = home / "release"
        if release.is_file() and (home / "lib/server/libjvm.so").is_file():
            number = re.search(r'^JAVA_VERSION="(\d+)', release.read_text("utf-8"), re.MULTILINE)
            found[home] = int(number.group(1)) if number is not None else 0
    fitting = [home for home, number in found.items() if number >= least]
    if not fitting:
        here = f"only Java {max(found.values())}" if found else "no Java"
        raise Unavailable(f"Neo4j {version} needs Java {least} or newer, and {here} is installed here")
    return fitting[0]


def _java_homes() -> Iterator[Path]:
    if ENVIRONMENT.get("JAVA_HOME"):
        yield Path(ENVIRONMENT["JAVA_HOME"])
    if program := shutil.which("java"):
        yield Path(program).resolve().parents[1]
    yield from sorted(Path("/usr/lib/jvm").glob("*"))
    embedded = find_spec("arcadedb_embedded")
    if embedded is not None and embedded.origin is not None:
        yield Path(embedded.origin).parent / "jre"


def _maven_jars(version: str = LTS_VERSION) -> Path:
    """Return the folder of Neo4j's jars, fetched once and kept between runs."""
    cache = Path(ENVIRONMENT.get("GRAPHKIT_TEST_CACHE") or _user_cache() / "graphkit-tests")
    jars = cache / f"neo4j-{version}"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not jars.is_dir():
            _fetch(jars, version)
    return jars


def _fetch(jars: Path, version: str) -> None:
    if not shutil.which("mvn"):
        raise Unavailable("there is no NEO4J_URI, no Docker engine and no Maven")
    partial = jars.with_name(f"{jars.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    given = [f"-DoutputDirectory={partial}", f"-Dneo4j.version={version}"]
    command = ["mvn", "-q", "-B", "-f", str(_FOLDER / "pom.xml"), "dependency:copy-dependencies", *given]
    try:
        # What the tests need is fetched in the machine's own environment, before they begin.
        fetched = subprocess.run(
            command, capture_output=True, text=True, timeout=_MAVEN_SECONDS, check=False, env=ENVIRONMENT
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"Maven didn't fetch Neo4j within {_MAVEN_SECONDS} seconds") from error
    if fetched.returncode != 0:
        lines = [line for line in fetched.stdout.splitlines() if "ERROR" in line]
        raise Unavailable(f"Maven couldn't fetch Neo4j: {lines[0] if lines else 'it said nothing'}")
    partial.rename(jars)


def _user_cache() -> Path:
    return Path(ENVIRONMENT.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while "ready" not in log.read_text("utf-8", "replace").splitlines():
        if process.poll() is not None or time.monotonic() > deadline:
            raise Unavailable(f"Neo4j from Maven didn't start: {log.read_text('utf-8', 'replace')[-500:]}")
        time.sleep(0.1)


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
