"""A database that is down, silent, too old, read-only or full, or refuses the account: exit code 3 and a remedy."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphkit.database import access, driver
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.errors import DatabaseError
from graphkit.plugins.embedded.place import Layout
from tests.helpers import ROOT
from tests.helpers.cli import Graph, Process, inside, tiny
from tests.helpers.fakebolt import bolt_server, silent_server


def refused(tmp_path: Path, env: dict[str, str], *commands: tuple[object, ...]) -> list[str]:
    """Run commands that must end with 3, print nothing, and start no embedded database; return their errors."""
    reported = []
    with pytest.MonkeyPatch.context() as patch:
        # A short patience for servers that don't answer.
        patch.setattr(driver, "ANSWER_SECONDS", 0.5)
        patch.setattr(access, "DIRECT_RETRY_SECONDS", 0.5)
        for command in commands:
            done = inside(*command, cwd=tmp_path, env=env, code=3)
            assert done.out == ""
            assert done.err.startswith("error: ")
            reported.append(done.err)
    assert not (tmp_path / ".graphkit").exists()
    return reported


def repository(tmp_path: Path) -> Path:
    """Make an empty git repository."""
    subprocess.run(["git", "init", "-q", "repository"], cwd=tmp_path, check=True)
    return tmp_path / "repository"


def commands(tmp_path: Path) -> tuple[tuple[object, ...], ...]:
    """Return commands that write and that read."""
    run = tiny(tmp_path / "data")
    return ("load", tmp_path / "data"), ("evaluate", run), ("query", "-e", "RETURN 1"), ("failures", "r")


def test_closed_port(tmp_path: Path) -> None:
    """A server that is down is reported with its address without the password, and with a remedy."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    env = {"NEO4J_URI": f"bolt://me:secret@127.0.0.1:{port}"}
    for err in refused(tmp_path, env, *commands(tmp_path), ("db", "status"), ("git", repository(tmp_path))):
        assert f"bolt://127.0.0.1:{port}: " in err
        assert "connection was refused" in err
        assert "NEO4J_URI" in err
        assert "secret" not in err


def test_silent_server(tmp_path: Path) -> None:
    """A server that accepts and never answers times out."""
    with silent_server() as uri:
        [err] = refused(tmp_path, {"NEO4J_URI": uri}, ("query", "-e", "RETURN 1"))
    assert "didn't answer in time" in err
    assert uri in err


def test_other_credentials(tmp_path: Path) -> None:
    """A server that refuses the login names the variables that hold it, and never shows the password."""
    with bolt_server("Neo4j/5.26.0", "Neo.ClientError.Security.Unauthorized") as uri:
        env = {"NEO4J_URI": uri, "NEO4J_PASSWORD": "not-the-one"}
        for err in refused(tmp_path, env, *commands(tmp_path)):
            assert "refused the user name or the password" in err
            assert "NEO4J_USERNAME and NEO4J_PASSWORD" in err
            assert "not-the-one" not in err


def test_other_credentials_of_the_embedded_database(graph: Graph, tmp_path: Path) -> None:
    """A real server refuses a wrong password in the same way."""
    env = {"NEO4J_URI": graph.store.uri, "NEO4J_USERNAME": "root", "NEO4J_PASSWORD": "wrong-password"}
    [err] = refused(tmp_path, env, ("query", "-e", "RETURN 1"))
    assert "refused the user name or the password" in err


@pytest.mark.parametrize(
    ("agent", "reported"), [("Neo4j/5.10.0", "graphkit needs Neo4j 5.23 or newer"), ("Cypher/1.0", "calls itself")]
)
def test_wrong_version(agent: str, reported: str, tmp_path: Path) -> None:
    """A server that is too old or unknown is reported with its own text and a remedy."""
    with bolt_server(agent) as uri:
        [err] = refused(tmp_path, {"NEO4J_URI": uri}, ("load", tiny(tmp_path / "data").parent.parent))
    assert agent in err
    assert reported in err
    assert "unset" in err


def test_read_only_account(graph: Graph, tmp_path: Path) -> None:
    """With a read-only account, reading works, and load, evaluate and git are refused and write nothing."""
    password = json.loads(Layout(Path(graph.env["GRAPHKIT_HOME"])).credentials.read_text())["reader"]
    env = {"NEO4J_URI": graph.store.uri, "NEO4J_USERNAME": "reader", "NEO4J_PASSWORD": password}
    run = tiny(tmp_path / "data")
    inside("evaluate", run, cwd=tmp_path, env=graph.env, code=0)
    before = graph.content()
    writing = (("load", tmp_path / "data"), ("evaluate", run), ("git", repository(tmp_path)))
    for err in refused(tmp_path, env, *writing):
        assert "may only read" in err
        assert password not in err
    assert graph.content() == before
    done = inside("failures", "r", "--kind", "missed-edges", "--json", cwd=tmp_path, env=env, code=0)
    assert [row["question"] for row in done.objects()] == ["q1"]


def test_a_server_that_cannot_refuse_writes(graph: Graph) -> None:
    """ArcadeDB by its address has one account, whose read sessions write: queries of others don't run there at all."""
    password = json.loads(Layout(Path(graph.env["GRAPHKIT_HOME"])).credentials.read_text())["root"]
    settings = Settings(graph.store.uri, "root", password, graph.store.database)
    before = graph.content()
    with Store.open(settings, read_only=True) as store:
        for text in ("CREATE (:Sneaked)", "MATCH (n) RETURN n"):
            with pytest.raises(DatabaseError, match="can't refuse writes"):
                store.query_readonly(text)
            with pytest.raises(DatabaseError, match="can't refuse writes"):
                store.query_within(text, {}, 10, lambda _: None)
    assert graph.content() == before


@pytest.mark.parametrize("uri", ["http://127.0.0.1:7474", "localhost:7687", "bolt://", "bolt://h:port"])
def test_address_of_no_database(uri: str, tmp_path: Path) -> None:
    """An address that isn't of a Bolt server is a usage error, reported before anything is opened."""
    done = inside("query", "-e", "RETURN 1", cwd=tmp_path, env={"NEO4J_URI": uri}, code=2)
    assert uri in done.err
    assert "bolt://HOST:7687" in done.err


def test_wrong_time_limit(graph: Graph, tmp_path: Path) -> None:
    """A wrong time limit is reported before anything is started."""
    env = {**graph.env, "GRAPHKIT_QUERY_TIMEOUT": "soon"}
    done = inside("query", "-e", "RETURN 1", cwd=tmp_path, env=env, code=2)
    assert "GRAPHKIT_QUERY_TIMEOUT is 'soon'" in done.err


# Disk --------------------------------------------------------------------------------------------------------------


def full_disk() -> None:
    """Let no file grow beyond 64 bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))


def test_out_on_a_full_disk(process: Process, tmp_path: Path) -> None:
    """Results that don't fit on the disk are reported with their file, and nothing of them remains."""
    run = tiny(tmp_path / "data")
    out = tmp_path / "results.jsonl"
    done = process("evaluate", "--no-store", "--out", out, run, cwd=tmp_path, code=2, preexec=full_disk)
    assert f"error: {out}: the file can't be written: File too large" in done.err
    assert "Choose another place." in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_out_on_a_full_device(tmp_path: Path) -> None:
    """A device is written directly, and a full one is reported."""
    out = tmp_path / "full.jsonl"
    out.symlink_to("/dev/full")
    done = inside("evaluate", "--no-store", "--out", out, tiny(tmp_path / "data"), cwd=tmp_path, code=2)
    assert f"error: {out}: the file can't be written: No space left on device" in done.err
    assert Path("/dev/full").is_char_device()


@pytest.mark.slow("a device without room")
@pytest.mark.process
def test_output_on_a_full_device(tmp_path: Path) -> None:
    """A full standard output is an error."""
    with Path("/dev/full").open("w") as full:
        for command in (("measures",), ("measures", "--json"), ("evaluate", "--no-store", str(tiny(tmp_path)))):
            done = subprocess.run(
                [sys.executable, "-m", "graphkit", *command],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                cwd=ROOT,
            )
            assert done.returncode == 2
            # What is known of a run goes to standard error, before the scores.
            reported = [line for line in done.stderr.splitlines(keepends=True) if not line.startswith("known: ")]
            assert reported == ["error: No space left on device\n"]


@pytest.mark.parametrize("place", ["file/below.jsonl", "no/where.jsonl", "folder.jsonl", "results.doc"])
def test_out_where_none_can_be(place: str, tmp_path: Path) -> None:
    """A path below a file, in a missing folder, of a folder, or with an unknown ending is reported by name."""
    (tmp_path / "file").write_text("kept")
    (tmp_path / "folder.jsonl").mkdir()
    done = inside("evaluate", "--no-store", "--out", tmp_path / place, tiny(tmp_path / "data"), cwd=tmp_path, code=2)
    assert f"error: {tmp_path / place}: " in done.err
    assert "written" in done.err
    assert (tmp_path / "file").read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "file", "folder.jsonl"]


def test_data_folder_that_can_not_be_made(tmp_path: Path) -> None:
    """A database folder below a file is reported with its name and a remedy."""
    (tmp_path / "file").write_text("kept")
    run = tiny(tmp_path / "data")
    done = inside("evaluate", "--data", tmp_path / "file" / "db", run, cwd=tmp_path, code=3)
    assert str(tmp_path / "file" / "db") in done.err
    assert "--data" in done.err


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """Mount a small disk, if the user may."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.slow("one database after the other is filled until its disk is full")
def test_database_on_a_full_disk(tmp_path: Path) -> None:
    """A disk that fills up during a load is reported, and the load continues once there is room."""
    questions = [
        {"id": f"q{number}", "question": 400 * "long ", "paths": [[["a:x", "CALLS", f"a:y{number}"]]]}
        for number in range(800)
    ]
    tiny(tmp_path / "data", questions)
    with small_disk(tmp_path / "disk", "8m") as disk:
        load = ("load", tmp_path / "data", "--data", disk / "db")
        done = inside(*load, cwd=tmp_path, code=3)
        assert "full" in done.err
        assert str(disk) in done.err
        inside("db", "stop", "--data", disk / "db", cwd=tmp_path)
        subprocess.run(["mount", "-o", "remount,size=400m", disk], check=True)
        done = inside(*load, cwd=tmp_path, code=0)
        asked = inside(
            *("query", "-e", "MATCH (q:Question) RETURN count(q) AS n", "--json", "--data", disk / "db"), cwd=tmp_path
        )
        assert asked.object() == {"n": 800}
        inside("db", "stop", "--data", disk / "db", cwd=tmp_path, code=0)
