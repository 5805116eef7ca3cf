"""Bulk loading into Neo4j: the import leaves the graph of the ordinary loaders, and counts only after its finish."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import graphkit
from benchmarks.world import RUNS, world
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.errors import DatabaseError, InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.graph.datasets import load_dataset
from graphkit.graph.opening import open_store, prepared
from graphkit.plugins.bulk.bulk_neo4j import Neo4jBulkLoad, bulk_load_neo4j
from tests.helpers import ROOT
from tests.helpers.absent import absent
from tests.helpers.engines import (
    LTS_VERSION,
    NEWEST,
    NEWEST_VERSION,
    Neo4jInstallation,
    Neo4jServer,
    Unavailable,
    child_environment,
    empty,
    folder_in_memory,
)
from tests.helpers.loading import whole
from tests.helpers.processes import children
from tests.plugins.bulk.test_bulk import mixed_dataset, odd_dataset, through_bolt

COMMAND = [sys.executable, "-m", "graphkit"]

#: Nobody listens here.
STOPPED = Settings(uri="bolt://127.0.0.1:1")


@pytest.fixture
def installation(request: pytest.FixtureRequest) -> Iterator[Neo4jInstallation]:
    """A Neo4j of its own, without a database: of the long-term release, unless a test names the newest."""
    version = NEWEST_VERSION if getattr(request, "param", "") == NEWEST else LTS_VERSION
    with folder_in_memory("graphkit-neo4j-") as folder:
        try:
            installed = Neo4jInstallation.install(folder / "installed", version)
        except Unavailable as error:
            absent("GRAPHKIT_REQUIRE_NEO4J", f"no Neo4j: {error}")
        yield installed


def imported(installation: Neo4jInstallation, dataset: Path, runs: list[Path], out: Path) -> Neo4jBulkLoad:
    """Write the files of an import, and import them."""
    return bulk_load_neo4j(STOPPED, Dataset(dataset), runs, Problems(), out, home=installation.home)


def finished(server: Neo4jServer, dataset: Path, out: Path) -> Neo4jBulkLoad:
    """Finish the import that a server holds."""
    return bulk_load_neo4j(server.settings, Dataset(dataset), [], Problems(), out)


@pytest.mark.slow("an import and the start of a server take fifteen seconds")
@pytest.mark.parametrize(
    ("installation", "write"),
    [("neo4j", mixed_dataset), (NEWEST, odd_dataset)],
    indirect=["installation"],
    ids=["neo4j-mixed", f"{NEWEST}-odd"],
)
def test_import_writes_what_the_loaders_write(
    installation: Neo4jInstallation, tmp_path: Path, write: Callable[[Path], list[Path]]
) -> None:
    """Each node and relationship is the same to the last property and type, and a later load finds nothing to do."""
    dataset = tmp_path / "mixed"
    dataset.mkdir()
    runs = write(dataset)
    step = imported(installation, dataset, runs, tmp_path / "out")
    assert step.loaded is not None
    with installation.running() as server:
        assert finished(server, dataset, tmp_path / "out").finished
        with Store.open(server.settings) as store:
            found, times = whole(store), times_of(store)
            assert not load_dataset(prepared(store), Dataset(dataset), Problems()).written.get("questions")
            assert {row["complete"] for row in store.read("MATCH (r:Run) RETURN r.complete AS complete")} == {True}
            empty(store)
            assert found == through_bolt(prepared(store), dataset, runs)
            assert times == times_of(store)


def times_of(store: Store) -> list[dict[str, object]]:
    """Return the labels with properties that are times with a zone; a text has no part ``timezone``."""
    return [
        *store.read("MATCH (c:Commit) WHERE c.committed_at.timezone IS NOT NULL RETURN count(*) AS commits"),
        *store.read("MATCH ()-[l:LISTS]->() WHERE l.committed_at.timezone IS NOT NULL RETURN count(*) AS listed"),
        *store.read("MATCH (d:Deployment) WHERE d.at.timezone IS NOT NULL RETURN count(*) AS deployments"),
        *store.read("MATCH (n) WHERE n.loaded_at.timezone IS NOT NULL RETURN count(*) AS loaded"),
    ]


@pytest.mark.slow("two imports and two starts of a server take thirty seconds")
@pytest.mark.parametrize("installation", ["neo4j"], indirect=True)
def test_killed_imports_are_refused_until_they_are_repaired(installation: Neo4jInstallation, tmp_path: Path) -> None:
    """An import that was killed, then one that isn't finished, is refused with what ends it, and no kill prevents that.

    After a kill -9 in the middle of neo4j-admin neither it nor the server takes the database for one; the option that
    overwrites it repairs it. Every command then refuses the unfinished import, also after each kill in the middle of
    its finish; the next ends it.
    """
    dataset, out = world(tmp_path, 5_100), tmp_path / "out"
    load = ["load", str(dataset), "--bulk", "--out", str(out)]
    importing = [*load, "--runs", str(dataset / f"runs/{RUNS[0]}.jsonl"), "--neo4j-home", str(installation.home)]
    environment = child_environment(STOPPED)
    process = subprocess.Popen([*COMMAND, *importing], cwd=ROOT, env=environment, stderr=subprocess.PIPE)
    log = out / "import.log"
    tool = killed_when(
        process, lambda: log.exists() and "Node import COMPLETED" in log.read_text(), lambda: children(process.pid)[0]
    )
    os.kill(tool, signal.SIGKILL)
    refused = run(importing, environment)
    assert (refused.returncode, "--overwrite" in refused.stderr) == (3, True)
    with installation.running() as server:
        with pytest.raises(DatabaseError, match="isn't available") as unavailable:
            finished(server, dataset, out)
        assert "--overwrite-destination=true" in str(unavailable.value.remedy)
    assert "imported" in run([*importing, "--overwrite"], environment).stdout
    with installation.running() as server, Store.open(server.settings) as store:
        environment = child_environment(server.settings)
        apart = "MATCH (n:SetApart) RETURN count(n) AS n"
        whole_count = store.read(apart)[0]["n"]
        middle = {
            "the indexes": lambda: bool(store.read("SHOW CONSTRAINTS YIELD name RETURN name")),
            "the values": lambda: store.read(apart)[0]["n"] != whole_count,
        }
        for reached in middle.values():
            with pytest.raises(DatabaseError, match="isn't finished") as unfinished:
                open_store(server.uri)
            assert unfinished.value.remedy == f"Finish it: graphkit load {dataset} --bulk"
            failures = run(["failures", "walker"], environment)
            assert (failures.returncode, "isn't finished" in failures.stderr) == (3, True)
            process = subprocess.Popen([*COMMAND, *load], cwd=ROOT, env=environment, stderr=subprocess.PIPE)
            killed_when(process, reached)
        assert store.read(apart)[0]["n"], "it was killed too late"
        assert "the import is finished" in run(load, environment).stdout
        found = store.read("MATCH (r:Run)-[:PRODUCED]->(a) RETURN r.complete AS complete, count(a) AS answers")
        assert found == [{"complete": True, "answers": 5_100}]
        assert store.read("MATCH (q:Question) RETURN count(q) AS n") == [{"n": 5_100}]
        assert not store.read("MATCH (n) WHERE n:SetApart OR n:ImportedValues OR n:Load RETURN n")
        again = run(load, environment)
        assert (again.returncode, "nodes already" in again.stderr) == (3, True)


def killed_when(process: subprocess.Popen[bytes], reached: Callable[[], bool], noted: Callable[[], int] = int) -> int:
    """Kill a process with -9 when something is reached, and return what is noted just before."""
    deadline = time.monotonic() + 300
    while not reached():
        if process.poll() is not None:
            pytest.fail(f"the process ended before it could be killed: {process.communicate()[1].decode()}")
        assert time.monotonic() < deadline
        time.sleep(0.01)
    found = noted()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return found


def run(arguments: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, env=environment, check=False, capture_output=True, encoding="utf-8"
    )


def test_files_of_unchanged_input_are_kept(tmp_path: Path) -> None:
    """The same command writes nothing again, but does after a change of a file or a kill in the middle."""
    dataset = tmp_path / "odd"
    dataset.mkdir()
    runs = odd_dataset(dataset)

    def written() -> bool:
        out = tmp_path / "out"
        return bulk_load_neo4j(STOPPED, Dataset(dataset), runs, Problems(), out).loaded is not None

    assert [written(), written()] == [True, False]
    with runs[0].open("a") as stream:
        stream.write("\n")
    assert [written(), written()] == [True, False]


@pytest.mark.slow("a command is killed")
def test_killed_writing_counts_for_nothing(tmp_path: Path) -> None:
    """After a kill -9 in the middle of the writing there is no file to import with, and the same command writes all."""
    dataset, out = world(tmp_path, 2_000), tmp_path / "out"
    environment = child_environment(STOPPED)
    arguments = ["load", str(dataset), "--bulk", "--out", str(out)]
    process = subprocess.Popen([*COMMAND, *arguments], cwd=ROOT, env=environment, stderr=subprocess.PIPE)
    killed_when(process, (out / "Artifact.csv").exists)
    assert not (out / "import.args").exists()
    done = run(arguments, environment)
    assert "2000 questions loaded" in done.stdout
    assert f"cd {out} && neo4j-admin database import full neo4j @import.args" in done.stdout
    assert "--nodes=Question=./Question-header.csv,./Question.csv" in (out / "import.args").read_text().splitlines()


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    """Nothing is written beside files that graphkit didn't write."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.csv").write_text("a,b\n")
    with pytest.raises(InputError, match="didn't write") as refused:
        bulk_load_neo4j(STOPPED, Dataset(graphkit.storefront_folder()), [], Problems(), tmp_path / "out")
    assert "--out" in str(refused.value.remedy)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.csv"]


def test_home_without_the_tool_is_refused(tmp_path: Path) -> None:
    """A folder without bin/neo4j-admin is refused."""
    with pytest.raises(InputError, match="no bin/neo4j-admin"):
        imported(Neo4jInstallation(tmp_path, LTS_VERSION), graphkit.storefront_folder(), [], tmp_path / "out")
