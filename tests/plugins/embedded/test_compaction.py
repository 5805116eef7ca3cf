"""Compaction of the embedded database: the same graph in smaller files, or the former database."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import graphkit
from benchmarks.world import world
from graphkit.database.settings import Settings
from graphkit.errors import DatabaseError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.run_files import first_run
from graphkit.graph.datasets import load_dataset
from graphkit.graph.opening import open_store
from graphkit.graph.queries import schema_statements
from graphkit.graph.runs import load_run
from graphkit.plugins.bulk.bulk_load import bulk_load, embedded_importer
from graphkit.plugins.embedded.client import ensure_running, stop
from graphkit.plugins.embedded.compact_client import Compacted, compact
from graphkit.plugins.embedded.folder import bytes_by_kind
from graphkit.plugins.embedded.place import Layout
from graphkit.plugins.judging.grading.grade_run import grade
from graphkit.plugins.upkeep.removal import remove_run
from tests.helpers import ROOT
from tests.helpers.cli import inside
from tests.helpers.datasets import STOREFRONT
from tests.helpers.engines import child_environment
from tests.helpers.loading import RUN, whole
from tests.helpers.processes import children
from tests.plugins.bulk.test_bulk import odd_dataset


def compacted(folder: Path) -> Compacted:
    """Compact the embedded database in a folder."""
    return compact(folder, schema_statements(), lambda _: None)


@pytest.mark.slow("everything is loaded, copied and changed")
@pytest.mark.parametrize("graded", [False, True])
def test_compaction_keeps_everything(tmp_path: Path, graded: bool) -> None:
    """Each node and relationship is the same to the last property, times too; afterwards all of it can be changed."""
    dataset, odd = tmp_path / "shop", tmp_path / "odd"
    odd.mkdir()
    times = "MATCH (n) WHERE n.loaded_at IS NOT NULL RETURN n.loaded_at AS at ORDER BY at"
    with open_store(data=tmp_path / "db") as store:
        if graded:
            shutil.copytree(STOREFRONT, dataset)
            graphkit.evaluate(dataset / "runs" / f"{RUN}.jsonl", dataset, store=store)
            grade(dataset / "runs" / f"{RUN}.jsonl", dataset, store=store)
        runs = odd_dataset(odd)
        load_dataset(store, Dataset(odd), Problems())
        for run in runs:
            load_run(store, "odd", first_run(run) or "", run)
        before, loaded = whole(store), store.read(times)
    compacted(tmp_path / "db")
    with open_store(data=tmp_path / "db") as store:
        assert whole(store) == before
        assert store.read(times) == loaded
        with pytest.raises(DatabaseError):
            store.write("MATCH (q:Question) WITH q LIMIT 1 CREATE (:Question {dataset: q.dataset, id: q.id})")
        again = load_run(store, "odd", first_run(runs[0]) or "", runs[0])
        assert (again.written, again.unchanged) == (0, 5)
        remove_run(store, "two")
        load_run(store, "odd", "two", runs[1])
        assert whole(store) == before


@pytest.mark.slow("400 questions are loaded by the importer of a database, and copied")
def test_removed_records_give_their_space_back(tmp_path: Path) -> None:
    """After the removal of one of two runs the files of paths are smaller by a third at least; sizes are returned."""
    dataset = world(tmp_path, 400)
    bulk_load(embedded_importer(tmp_path / "db"), Dataset(dataset), sorted(dataset.glob("runs/*")), Problems())
    with open_store(data=tmp_path / "db") as store:
        remove_run(store, "walker")
        before, sizes = whole(store), store.bytes_by_kind()
    found = compacted(tmp_path / "db")
    assert sizes is not None
    assert bytes_by_kind(Layout(tmp_path / "db").database)["RetrievedPath"] < sizes["RetrievedPath"] * 2 / 3
    assert found.after < found.before
    assert found.after == sum(file.stat().st_size for file in Layout(tmp_path / "db").database.iterdir())
    assert not Layout(tmp_path / "db").partial.parent.exists()
    with open_store(data=tmp_path / "db") as store:
        assert whole(store) == before


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Counter[str]]:
    """The folder of a stopped database of 400 questions with a run, and what it holds."""
    folder = tmp_path_factory.mktemp("walked")
    dataset, data = world(folder, 400), folder / "db"
    bulk_load(embedded_importer(data), Dataset(dataset), [dataset / "runs/walker.jsonl"], Problems())
    with open_store(data=data) as store:
        content = whole(store)
    stop(data)
    return data, content


@pytest.mark.slow("400 questions are loaded by the importer of a database, and copied twice")
@pytest.mark.parametrize("victim", ["client", "copier"])
def test_killed_compaction_loses_nothing(walked: tuple[Path, Counter[str]], tmp_path: Path, victim: str) -> None:
    """After a kill -9 of either process in the middle the database is as it was, and the same command works."""
    loaded, before = walked
    data = shutil.copytree(loaded, tmp_path / "db")
    command = [sys.executable, "-m", "graphkit", "db", "compact"]
    environment = child_environment(Settings(data=data))
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while not list(Layout(data).partial.glob("Question*")):
        assert process.poll() is None, "the compaction ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    copier = children(process.pid)[0]
    os.kill(copier if victim == "copier" else process.pid, signal.SIGKILL)
    _, said = process.communicate(timeout=120)
    if victim == "copier":
        assert process.returncode == 3
        assert b"The database is as it was. Run the command again." in said
    with open_store(data=data) as store:
        assert whole(store) == before
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    with open_store(data=data) as store:
        assert whole(store) == before


@pytest.fixture(scope="module")
def two_databases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of two stopped databases, ``old`` and ``new``, each with its name in a node."""
    both = tmp_path_factory.mktemp("databases")
    for name in ("old", "new"):
        with open_store(data=both / name) as store:
            store.write("CREATE (:Repository {name: $name})", {"name": name})
        stop(both / name)
    return both


@pytest.mark.slow("two databases are made, and one is opened after each kind of kill")
@pytest.mark.parametrize("state", ["partial", "complete", "between", "in place"])
def test_kill_between_renames_is_settled(two_databases: Path, tmp_path: Path, state: str) -> None:
    """The next command finds one whole database and no leftovers, wherever a kill interrupted the exchange."""
    layout = Layout(tmp_path / "db")
    for name, folder in (("new", layout.directory), ("old", tmp_path / "other")):
        shutil.copytree(two_databases / name, folder)
    old = Layout(tmp_path / "other").database
    layout.partial.parent.mkdir()
    if state == "in place":
        old.rename(layout.former)
    else:
        layout.database.rename(layout.partial if state == "partial" else layout.complete)
        old.rename(layout.former if state == "between" else layout.database)
    with open_store(data=layout.directory) as store:
        expected = "old" if state == "partial" else "new"
        assert store.read("MATCH (r:Repository) RETURN r.name AS name") == [{"name": expected}]
    assert not layout.partial.parent.exists()


@pytest.mark.slow("the commands wait for a server that somebody keeps")
def test_running_database_is_neither_compacted_nor_filled(tmp_path: Path) -> None:
    """A server that somebody keeps is left alone, and the messages name the command that stops it."""
    data = tmp_path / "db"
    ensure_running(data, keep=True).release()
    works: list[Callable[[], object]] = [
        lambda: compacted(data),
        lambda: bulk_load(embedded_importer(data), Dataset(STOREFRONT), [], Problems()),
    ]
    try:
        with ThreadPoolExecutor(len(works)) as pool:
            for refused in [future.exception() for future in [pool.submit(work) for work in works]]:
                assert isinstance(refused, DatabaseError)
                assert "running" in refused.what
                assert "graphkit db stop" in str(refused.remedy)
    finally:
        stop(data)


@pytest.mark.slow("a database of its own starts twice")
def test_disk_without_room_is_refused(tmp_path: Path) -> None:
    """A copy that the disk couldn't hold isn't begun."""
    with open_store(data=tmp_path / "db") as store:
        store.write("CREATE (:Repository {name: 'api'})")
    large = Layout(tmp_path / "db").database / "large.tmp"
    large.touch()
    os.truncate(large, 1 << 43)  # a sparse file: 8 TiB that take no room
    with pytest.raises(DatabaseError, match="may need 8796") as refused:
        compacted(tmp_path / "db")
    assert "The database is as it was. Make room" in str(refused.value.remedy)
    large.unlink()
    with open_store(data=tmp_path / "db") as store:
        assert store.read("MATCH (r:Repository) RETURN r.name AS name") == [{"name": "api"}]


def test_command_compacts(tmp_path: Path) -> None:
    """``graphkit db compact`` prints the bytes before and after; of a Neo4j server it says what else to do."""
    new = {"GRAPHKIT_HOME": str(tmp_path / "new")}
    found = inside("db", "compact", "--json", cwd=tmp_path, env=new, code=0).object()
    assert found == {"before": 0, "after": 0}
    said = inside("db", "compact", cwd=tmp_path, env={"NEO4J_URI": "bolt://127.0.0.1:1"}, code=2).err
    assert "neo4j-admin database copy" in said
