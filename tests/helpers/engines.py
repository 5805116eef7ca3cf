"""The databases that the tests run on: the embedded one, and a real Neo4j from wherever this machine can get one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from graphkit.database.dialects import dialects
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from tests.helpers import ROOT
from tests.helpers.guard.sitecustomize import guarded, is_local

ENVIRONMENT: Mapping[str, str] = dict(os.environ)
"""The environment that the suite was started with; tests see one without settings, addresses and keys of services."""

SETTINGS_PREFIXES = (
    *("NEO4J_", "GRAPHKIT_", "ANTHROPIC_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_", "RAGAS_"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"),
)
#: One of each database that graphkit works with; a server of it is the fixture NAME_server.
ENGINES = tuple(dialect.engine for dialect in dialects())

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


def empty(store: Store) -> None:
    """Delete every node and relationship. Constraints and indexes stay."""
    # One transaction for all would outgrow a small test server's memory, as would the edges of 10 000 hubs.
    for some in ("MATCH ()-[one]->()", "MATCH (one)"):
        while store.write(f"{some} WITH one LIMIT 10000 DELETE one RETURN count(*) AS deleted") != [{"deleted": 0}]:
            pass


@contextlib.contextmanager
def neo4j_server(heap: str = "1g") -> Iterator[Neo4jServer]:
    """Provide a real Neo4j: the one that NEO4J_URI names, else a container, else one from Maven.

    ``heap`` is the memory of one that is started.

    Raises
    ------
    Unavailable
        When none of them can be had.
    """
    if ENVIRONMENT.get("NEO4J_URI"):
        yield _named_server()
    elif _docker_answers():
        with _container(heap) as server:
            yield server
    else:
        with _maven_server(heap) as server:
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
def _container(heap: str) -> Iterator[Neo4jServer]:
    try:
        from testcontainers.neo4j import Neo4jContainer
    except ImportError as error:
        raise Unavailable("a Docker engine answers, but the package testcontainers isn't installed") from error
    version = _version()
    try:
        container = Neo4jContainer(f"neo4j:{version}", password="tests-only-1")
        container.with_env("NEO4J_server_memory_heap_max__size", heap).start()
    except Exception as error:
        raise Unavailable(f"the container neo4j:{version} didn't start: {error}") from error
    try:
        yield Neo4jServer(container.get_connection_url(), "testcontainers", password="tests-only-1")
    finally:
        container.stop()


@contextlib.contextmanager
def _maven_server(heap: str) -> Iterator[Neo4jServer]:
    with tempfile.TemporaryDirectory(prefix="graphkit-neo4j-", ignore_cleanup_errors=True) as home:
        port = free_port()
        process = start_neo4j(Path(home), port, heap)
        try:
            yield Neo4jServer(f"bolt://127.0.0.1:{port}", "maven")
        finally:
            _end(process)


def start_neo4j(home: Path, port: int, heap: str = "1g") -> subprocess.Popen[bytes]:
    """Start a Neo4j from Maven over a folder, and return its process when it answers.

    Raises
    ------
    Unavailable
        Java or Maven is missing, or the server doesn't start.
    """
    jars = _maven_jars()
    log = home / "output.log"
    # The folder of jars as a whole: the launcher for single source files doesn't know the "*" in every version.
    command = ["java", f"-Xmx{heap}", "-XX:+UseSerialGC", "-cp", f"{jars}/*", str(_FOLDER / "Neo4jServer.java")]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, str(home / "home"), str(port)],
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


def _maven_jars() -> Path:
    """Return the folder of Neo4j's jars, fetched once and kept between runs."""
    if not shutil.which("java"):
        raise Unavailable("there is no NEO4J_URI, no Docker engine and no Java (17 or newer)")
    cache = Path(ENVIRONMENT.get("GRAPHKIT_TEST_CACHE") or _user_cache() / "graphkit-tests")
    jars = cache / f"neo4j-{_version()}"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not jars.is_dir():
            _fetch(jars)
    return jars


def _fetch(jars: Path) -> None:
    if not shutil.which("mvn"):
        raise Unavailable("there is no NEO4J_URI, no Docker engine and no Maven")
    partial = jars.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    goal = "dependency:copy-dependencies"
    command = ["mvn", "-q", "-B", "-f", str(_FOLDER / "pom.xml"), goal, f"-DoutputDirectory={partial}"]
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


def _version() -> str:
    found = re.search(r"<artifactId>neo4j</artifactId>\s*<version>([\d.]{3,})<", (_FOLDER / "pom.xml").read_text())
    assert found is not None
    return found.group(1)


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
