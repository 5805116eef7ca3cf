"""The embedded database: its server starts on demand, ends after its last client, and loses nothing."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.errors import DatabaseError, InputError
from graphkit.plugins.embedded import client as embedded
from graphkit.plugins.embedded.client import ensure_running, status, stop
from graphkit.plugins.embedded.folder import os_error
from graphkit.plugins.embedded.locks import held_lock
from graphkit.plugins.embedded.place import Layout
from tests.helpers import ROOT
from tests.helpers.engines import clean_environment
from tests.helpers.processes import running

ON_LINUX = pytest.mark.skipif(not Path("/proc/locks").exists(), reason="reads /proc")


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A database folder for one test; its server is stopped at the end."""
    folder = tmp_path / "db"
    yield folder
    if folder.is_dir():
        with contextlib.suppress(DatabaseError):
            stop(folder)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a running server, for the tests that only look at it."""
    folder = tmp_path_factory.mktemp("shared") / "db"
    endpoint = ensure_running(folder)
    yield folder
    endpoint.release()
    stop(folder)


def opened(data: Path) -> Store:
    """Open the embedded database in a folder."""
    return Store.open(Settings(data=data))


def server_pid(data: Path) -> int:
    """Return the process id of the folder's running server."""
    pid = status(data).pid
    assert pid is not None
    return pid


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Wait for a condition, long enough for a slow machine."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.05)


def client(script: str, *arguments: object, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    """Start a process that uses the database, with its arguments in ``sys.argv``."""
    prelude = "import sys\nfrom pathlib import Path\nfrom graphkit.plugins.embedded.client import *\n"
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", prelude + script, *map(str, arguments)],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=clean_environment(os.environ),
    )


# Surroundings --------------------------------------------------------------------------------------------------------


@pytest.mark.slow("a server of its own in each locale")
@pytest.mark.parametrize("locale", ["C", "de_DE.ISO-8859-1"])
def test_home_of_other_letters_in_any_locale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locale: str) -> None:
    """A folder with other letters than ASCII works in a locale that lacks them.

    The server leaves nothing in the folder for temporary files: its Java made a socket there at each start, and a file
    of counters, which a kill left.
    """
    monkeypatch.setenv("LC_ALL", locale)
    data = tmp_path / "hömé" / "db"
    data.mkdir(parents=True)
    (data / "server.json.4711.tmp").touch()  # what a server leaves that is killed while it writes
    with opened(data) as store:
        assert not list(data.glob("*.tmp"))
        assert store.write("CREATE (n:Kept {v: 'é'}) RETURN n.v AS v") == [{"v": "é"}]
        pid = server_pid(data)
        assert not Path(f"/tmp/.java_pid{pid}").exists()
        assert not list(Path("/tmp").glob(f"hsperfdata_*/{pid}"))
    stop(data)


def test_path_that_is_not_utf8(tmp_path: Path) -> None:
    """A folder whose name no Java process could open is refused with the reason, before anything starts."""
    data = tmp_path / os.fsdecode(b"h\xf6m")
    with pytest.raises(DatabaseError, match="isn't UTF-8") as refused:
        ensure_running(data)
    assert "GRAPHKIT_HOME" in str(refused.value.remedy)
    assert not data.exists()


def test_few_open_files_are_named(data: Path) -> None:
    """With a hard limit of 64 open files the database can't start, and the message says why and what to do."""
    script = (
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
        "try:\n    ensure_running(Path(sys.argv[1]))\nexcept Exception as error:\n    print(error)"
    )
    said, _ = client(script, data).communicate(timeout=120)
    assert "at most 64 files may be open" in said
    assert "ulimit -n" in said


def test_folder_of_another_user(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal in another user's folder names that user, and one in the user's own folder doesn't."""
    data.mkdir()
    refused = PermissionError(errno.EACCES, "Permission denied", str(data / "start.lock"))
    assert "can't be used" in os_error(refused, data).what
    owner = pwd.getpwuid(os.getuid()).pw_name
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    told = os_error(refused, data)
    assert told.what == f"the embedded database in this folder belongs to {owner}: Permission denied"
    assert f"as {owner}" in str(told.remedy)
    # Where there is no folder yet, there is no database, whoever owns the folder above.
    data.rmdir()
    assert "can't be used: Permission denied" in os_error(refused, data).what


@ON_LINUX
def test_server_of_another_user_is_not_stopped(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that this user may not end is named with the way to end it, and stays kept."""

    def kill(pid: int, number: int) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    data.mkdir()
    Layout(data).keep.touch()
    lock = held_lock(Layout(data).server_lock, 1)
    assert lock is not None
    monkeypatch.setattr(os, "kill", kill)
    with pytest.raises(DatabaseError, match=f"process {os.getpid()}\\) runs as another user"):
        stop(data)
    assert Layout(data).keep.exists()
    os.close(lock)


@pytest.mark.slow("another command waits")
def test_compaction_is_named_and_awaited(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a compaction has the folder, a command says since when and waits for its end, and nobody ends it."""
    data.mkdir()
    lock = held_lock(Layout(data).server_lock, 1, "compaction")
    assert lock is not None
    named = rf"a compaction is running since \d+-\d+-\d+ \d+:\d+:\d+ \(process {os.getpid()}\)"
    assert re.fullmatch(named, str(status(data).work))
    shown: list[str] = []

    @contextlib.contextmanager
    def waiting(sentence: str) -> Iterator[None]:
        shown.append(sentence)
        if len(shown) == 2:
            threading.Timer(0.3, os.close, [lock]).start()
        yield

    monkeypatch.setattr(embedded, "WORK_SECONDS", 0.1)
    for refused in (lambda: stop(data), lambda: ensure_running(data, waiting=waiting)):
        with pytest.raises(DatabaseError, match=named) as told:
            refused()
        assert "wait for it" in str(told.value)
        assert "kill" not in str(told.value)
    monkeypatch.setattr(embedded, "WORK_SECONDS", 60.0)
    ensure_running(data, waiting=waiting).release()
    assert len(shown) == 2
    assert re.fullmatch(named + ", waiting for its end", shown[1])
    assert status(data).work is None
    stop(data)


# Life --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow("the server waits for further clients before it stops")
def test_server_stops_after_its_last_client(data: Path) -> None:
    """The server runs while a store is open, and ends soon after the last one; the data stay."""
    first, second = opened(data), opened(data)
    assert first.uri == second.uri
    pid = server_pid(data)
    first.write("CREATE (:Kept {v: 1})")
    first.close()
    time.sleep(3)  # longer than the server's time of grace
    assert second.read("MATCH (n:Kept) RETURN n.v AS v") == [{"v": 1}]
    assert server_pid(data) == pid
    second.close()
    wait_until(lambda: not status(data).running, "the server has gone")
    assert not Layout(data).state.exists()
    with opened(data) as store:
        assert store.read("MATCH (n:Kept) RETURN n.v AS v") == [{"v": 1}]


@pytest.mark.slow("a server of its own, opened again and again")
def test_reopening_at_once_finds_the_same_server(data: Path) -> None:
    """Two commands in a row share one server."""
    with opened(data) as store:
        uri = store.uri
    with opened(data) as store:
        assert store.uri == uri


def test_second_process_uses_the_first_ones_server(shared: Path) -> None:
    """Another process finds the running server, and its end doesn't end the server."""
    with opened(shared) as store:
        other = client("print(ensure_running(Path(sys.argv[1])).uri)", shared)
        output, errors = other.communicate(timeout=60)
        assert (output.strip(), errors) == (store.uri, "")
        assert store.read("RETURN 1 AS one") == [{"one": 1}]


@pytest.mark.slow("a race of many processes")
def test_many_processes_start_at_once(data: Path) -> None:
    """Several processes that find no server start exactly one."""
    script = "print(ensure_running(Path(sys.argv[1])).uri, flush=True)\nsys.stdin.read()"
    processes = [client(script, data, stdin=subprocess.PIPE) for _ in range(4)]
    uris = {process.stdout.readline().strip() for process in processes if process.stdout}
    assert uris == {status(data).uri}
    for process in processes:
        assert process.communicate(timeout=60)[1] == ""


@pytest.mark.slow("the server notices the end of its client, and stops")
def test_killed_client_frees_the_server(data: Path) -> None:
    """A client that is killed without warning doesn't keep the server alive."""
    script = "print(ensure_running(Path(sys.argv[1])).uri, flush=True)\nsys.stdin.read()"
    process = client(script, data, stdin=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("bolt://127.0.0.1:")
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: not status(data).running, "the server has gone")


@pytest.mark.slow("the server starts twice")
def test_committed_data_survive_a_kill_of_the_server(data: Path) -> None:
    """After kill -9 of the server, open stores report it, and the next one finds all committed data."""
    with opened(data) as store:
        store.write("UNWIND range(0, 999) AS i CREATE (:Kept {i: i})")
        os.kill(server_pid(data), signal.SIGKILL)
        wait_until(lambda: not status(data).running, "the server is dead")
        assert Layout(data).state.exists(), "a killed server leaves its state behind"
        with pytest.raises(DatabaseError, match="stopped answering") as caught:
            store.read("RETURN 1")
        assert "Run the command again" in str(caught.value)
        assert str(Layout(data).log) in str(caught.value)
        with opened(data) as again:
            assert again.read("MATCH (n:Kept) RETURN count(n) AS n, sum(n.i) AS s") == [{"n": 1000, "s": 499500}]


@pytest.mark.slow("the server starts, is kept, and stops")
def test_keep_mode(data: Path) -> None:
    """A kept server outlives its clients until it is stopped."""
    ensure_running(data, keep=True).release()
    pid = server_pid(data)
    time.sleep(4)  # longer than the server's time of grace
    assert (status(data).pid, status(data).keep) == (pid, True)
    assert stop(data) is True
    assert (status(data).running, status(data).keep) == (False, False)
    assert stop(data) is False


@pytest.mark.slow("the server starts twice")
def test_terminated_server_ends_cleanly(data: Path) -> None:
    """SIGTERM is a clean stop: the state is removed and the data stay."""
    with opened(data) as store:
        store.write("CREATE (:Kept)")
        os.kill(server_pid(data), signal.SIGTERM)
        wait_until(lambda: not status(data).running, "the server has gone")
        assert not Layout(data).state.exists()
        with opened(data) as again:
            assert again.read("MATCH (n:Kept) RETURN count(n) AS n") == [{"n": 1}]


@pytest.mark.slow("a server of its own, which notices")
def test_server_ends_when_its_folder_is_deleted(data: Path) -> None:
    """A deleted folder ends its server, even a kept one."""
    ensure_running(data, keep=True).release()
    pid = server_pid(data)
    shutil.rmtree(data, ignore_errors=True)
    wait_until(lambda: running(pid) is None, "the server has gone")


def test_server_is_out_of_reach_of_ctrl_c(shared: Path) -> None:
    """The server is in a session of its own and isn't a child of ours: Ctrl-C in a terminal doesn't reach it."""
    with opened(shared):
        assert os.getsid(server_pid(shared)) != os.getsid(0)


def test_status_starts_nothing(data: Path) -> None:
    """``status`` and ``stop`` neither start a server nor create the folder."""
    assert status(data) == embedded.Status(data, running=False)
    assert stop(data) is False
    assert not data.exists()


def test_status_of_a_running_server(shared: Path) -> None:
    """The status holds process, address, version and time of the start."""
    with opened(shared) as store:
        found = status(shared)
        assert (found.running, found.uri, found.keep) == (True, store.uri, False)
        assert found.version is not None
        assert found.version.startswith(store.version)
        assert found.started_at is not None
        assert found.started_at.endswith("+00:00")


@pytest.mark.slow("a server of its own")
def test_prints_nothing(data: Path) -> None:
    """Starting, using and stopping the server prints nothing in the client's process."""
    process = client("ensure_running(Path(sys.argv[1])).release()\nstop(Path(sys.argv[1]))", data)
    assert (*process.communicate(timeout=60), process.returncode) == ("", "", 0)
    assert "ArcadeDB Server" in Layout(data).log.read_text("utf-8")


# Privacy -----------------------------------------------------------------------------------------------------------


def test_everything_is_private(shared: Path) -> None:
    """Only the owner may read folder and passwords, and the passwords are long and different."""
    with opened(shared):
        assert mode(shared) == 0o700
        for path in (Layout(shared).credentials, Layout(shared).state):
            assert mode(path) == 0o600
        passwords = json.loads(Layout(shared).credentials.read_text("utf-8"))
        assert len({*passwords.values()}) == 2
        assert all(len(password) >= 24 for password in passwords.values())
        command = Path(f"/proc/{server_pid(shared)}/cmdline")
        if command.exists():
            shown = command.read_text("utf-8")
            assert not any(password in shown for password in passwords.values())


def test_endpoint_hides_its_passwords(shared: Path) -> None:
    """The passwords aren't in the text of an endpoint."""
    endpoint = ensure_running(shared)
    assert endpoint.password not in repr(endpoint)
    assert endpoint.reader_password not in repr(endpoint)
    endpoint.release()


@ON_LINUX
def test_server_listens_on_loopback_only(shared: Path) -> None:
    """The server opens at most two ports, on the loopback interface only."""
    with opened(shared):
        addresses = listening_addresses(server_pid(shared))
    assert 1 <= len(addresses) <= 2
    assert all(address in LOOPBACK for address in addresses), addresses


@pytest.mark.slow("the server starts twice")
def test_lost_passwords_are_made_anew(data: Path) -> None:
    """A stopped database without its passwords gets new ones, and keeps its data."""
    with opened(data) as store:
        store.write("CREATE (:Kept)")
    stop(data)
    before = Layout(data).credentials.read_text("utf-8")
    Layout(data).credentials.unlink()
    with opened(data) as store:
        assert store.read("MATCH (n:Kept) RETURN count(n) AS n") == [{"n": 1}]
        assert store.query_readonly("MATCH (n:Kept) RETURN count(n) AS n") == (["n"], [[1]])
    assert Layout(data).credentials.read_text("utf-8") != before


def test_unreadable_passwords_of_a_running_server(shared: Path) -> None:
    """If the passwords of a running server are damaged, the message names the file and a remedy."""
    credentials = Layout(shared).credentials
    before = credentials.read_bytes()
    credentials.write_text("{", "utf-8")
    try:
        with pytest.raises(DatabaseError, match="passwords") as caught:
            opened(shared)
    finally:
        credentials.write_bytes(before)
    assert caught.value.where == str(Layout(shared).credentials)
    assert "db stop" in str(caught.value.remedy)


# Trouble -----------------------------------------------------------------------------------------------------------


def test_folder_that_is_a_file(tmp_path: Path) -> None:
    """A file at the folder's path is reported and stays unchanged."""
    file = tmp_path / "file"
    file.write_text("mine", "utf-8")
    with pytest.raises(DatabaseError, match="is a file") as caught:
        ensure_running(file)
    assert caught.value.where == str(file)
    assert file.read_text("utf-8") == "mine"


def test_folder_of_a_dataset(tmp_path: Path) -> None:
    """A dataset given as the database's folder (--data for --dataset) stays unchanged."""
    (tmp_path / "questions.jsonl").write_text("", "utf-8")
    with pytest.raises(DatabaseError, match="folder of a dataset") as caught:
        opened(tmp_path)
    assert "--dataset" in str(caught.value)
    assert [one.name for one in tmp_path.iterdir()] == ["questions.jsonl"]


def test_folder_below_a_file(tmp_path: Path) -> None:
    """A folder that can't be created is reported with the reason and a remedy."""
    (tmp_path / "file").write_text("mine", "utf-8")
    with pytest.raises(DatabaseError, match="can't be used: Not a directory") as caught:
        ensure_running(tmp_path / "file" / "db")
    assert "GRAPHKIT_HOME" in str(caught.value.remedy)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_permission(tmp_path: Path) -> None:
    """A folder without write access is reported with the reason."""
    tmp_path.chmod(0o500)
    with pytest.raises(DatabaseError, match="Permission denied"):
        ensure_running(tmp_path / "db")
    tmp_path.chmod(0o700)


def test_full_disk_is_named() -> None:
    """A full disk is reported with the folder."""
    error = os_error(OSError(28, "No space left on device", "x"), Path("/data"))
    assert "disk is full" in error.what
    assert error.where == "/data"


@ON_LINUX
def test_foreign_holder_is_named(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If another process holds the folder and no server answers, the message names the process."""
    monkeypatch.setattr(embedded, "HOLDER_SECONDS", 0.3)
    data.mkdir()
    script = "import fcntl\nf = open(sys.argv[1], 'w')\nfcntl.flock(f, fcntl.LOCK_EX)\nprint('held', flush=True)\n"
    process = client(script + "sys.stdin.read()", data / "server.lock", stdin=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    with pytest.raises(DatabaseError, match=f"process {process.pid} holds the folder") as caught:
        ensure_running(data)
    assert f"kill {process.pid}" in str(caught.value.remedy)
    assert status(data).running is False
    process.kill()
    process.communicate(timeout=60)


@pytest.mark.slow("the server stops and starts again")
def test_client_waits_for_a_server_that_is_stopping(data: Path) -> None:
    """A client that meets a stopping server waits for its end and starts a new one."""
    endpoint = ensure_running(data)
    stopping = threading.Thread(target=stop, args=(data,))
    stopping.start()
    wait_until(lambda: not Layout(data).state.exists(), "the server has begun to stop")
    again = ensure_running(data)
    stopping.join()
    assert status(data).running
    assert again.uri == status(data).uri
    again.release()
    endpoint.release()


@pytest.mark.slow("a server of its own")
def test_server_that_can_not_start(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the server dies at its start, the message has the reason and the path of its log."""
    monkeypatch.setenv("GRAPHKIT_JVM_HEAP", "1k")
    with pytest.raises(DatabaseError, match=r"didn't start: .*heap") as caught:
        ensure_running(data)
    assert str(Layout(data).log) in str(caught.value)
    assert "GRAPHKIT_JVM_HEAP" in str(caught.value.remedy)
    monkeypatch.delenv("GRAPHKIT_JVM_HEAP")
    ensure_running(data).release()


@pytest.mark.slow("the server starts twice")
def test_damaged_database_can_not_start(data: Path) -> None:
    """A damaged database is reported, not opened as if it were empty."""
    with opened(data) as store:
        store.write("CREATE (:Kept)")
    stop(data)
    for file in (data / "databases" / "neo4j").glob("dictionary.*"):
        file.write_bytes(b"\xff" * 100_000)
    (data / "databases" / "neo4j" / "schema.json").write_text("{ nonsense", "utf-8")
    with pytest.raises(DatabaseError) as caught:
        opened(data)
    assert str(Layout(data).log) in str(caught.value)


@pytest.mark.parametrize("heap", ["lots", "2", "0g", "-1g", "1g -XX:Whatever"])
def test_wrong_size_of_memory(heap: str, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An invalid heap size is refused before anything is started."""
    monkeypatch.setenv("GRAPHKIT_JVM_HEAP", heap)
    with pytest.raises(InputError, match="GRAPHKIT_JVM_HEAP"):
        ensure_running(data)


def test_windows_is_reported_what_to_do(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without POSIX locks, the message explains how to use a Neo4j server."""
    monkeypatch.setattr(sys, "platform", "win32")
    for function in (ensure_running, status, stop):
        with pytest.raises(DatabaseError, match="NEO4J_URI"):
            function(data)


# Helpers -----------------------------------------------------------------------------------------------------------

LOOPBACK = ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")


def mode(path: Path) -> int:
    """Return the permission bits of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def listening_addresses(pid: int) -> list[str]:
    """Return the local addresses, as the kernel's hexadecimal text, on which a process listens."""
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            inodes.add(str(link.readlink()))
    found = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text("ascii").splitlines()[1:]:
            words = line.split()
            if (words[3] == "0A" or table.startswith("udp")) and f"socket:[{words[9]}]" in inodes:
                found.append(words[1].partition(":")[0])
    return found
