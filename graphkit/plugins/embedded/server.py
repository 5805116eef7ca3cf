"""The embedded database's server process: ``python -m graphkit.plugins.embedded.server FOLDER``.

Only this module imports ``arcadedb_embedded``. It runs in a separate process because a Java virtual machine breaks
fork, writes to standard output, catches signals and can't start twice. ``embedded.client`` explains its locks.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import re
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graphkit.database.settings import DATABASE, TIMEOUT_VARIABLE
from graphkit.plugins.embedded.exchange import settle
from graphkit.plugins.embedded.folder import few_files
from graphkit.plugins.embedded.locks import held_lock, lock_file, lock_within
from graphkit.plugins.embedded.place import ADMIN, HEAP_VARIABLE, READER, Layout

GRACE_SECONDS = 1.5  # without a client; bridges the gap between two commands of a script
POLL_SECONDS = 0.5
_HOST = "127.0.0.1"
_LOCK_SECONDS = 5.0  # others only look at the lock, for an instant
_PORT_ATTEMPTS = 5
_LARGEST_MESSAGE = 256 * 1024 * 1024  # bytes; one batch of rows is one message

# Parts of ArcadeDB that graphkit doesn't use: a server for language models, other protocols, a console.
_UNUSED_JARS = ("arcadedb-mcp-", "arcadedb-graphql-", "arcadedb-postgresw-", "arcadedb-redisw-", "arcadedb-console-")

_JVM_OPTIONS = (
    "-Xrs",  # leaves SIGTERM to Python
    # Without these, each start leaves a socket in the folder for temporary files, and a killed one a file of counters.
    "-XX:+DisableAttachMechanism",
    "-XX:-UsePerfData",
    "-XX:+UseSerialGC",
    "-XX:+UseCompactObjectHeaders",
    "-XX:+ExitOnOutOfMemoryError",  # what was committed is safe; a server without memory would only hang its clients
    "-Djava.awt.headless=true",
    "-Dfile.encoding=UTF8",
    "-Darcadedb.txWalFlush=1",  # a commit is on the disk when it returns
    # A query is limited by memory (half of the heap), not by the 500 000 values that a comparison soon collects.
    "-Darcadedb.queryMaxHeapElementsAllowedPerOp=-1",
    # LOAD CSV would read files and send data to any address, from whoever's query.
    "-Darcadedb.opencypher.loadCsv.allowFileUrls=false",
    "-Darcadedb.opencypher.loadCsv.allowRemoteUrls=false",
    "-Dpolyglot.engine.WarnInterpreterOnly=false",
    "--add-modules=jdk.incubator.vector",
    "--enable-native-access=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
    "--add-opens=java.base/java.nio.channels.spi=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
)


def main(arguments: list[str] | None = None) -> int:
    """Run the server until it gets a signal or has no clients."""
    parser = argparse.ArgumentParser(
        prog="graphkit.plugins.embedded.server", description="The embedded database's server."
    )
    parser.add_argument("directory", type=Path)
    parser.add_argument("--detach", type=int, metavar="FD", help="leave the parent; report the start to this pipe")
    parser.add_argument("--port", type=int, default=0, help="the Bolt port; 0 chooses a free one")
    options = parser.parse_args(arguments)
    if options.detach is not None and os.fork() > 0:
        os._exit(0)
    os.umask(0o077)
    try:
        return _run(Layout(options.directory.absolute()), options.port, _reporter(options.detach))
    except Exception as error:
        _reporter(options.detach)(reason(error))
        raise


def _run(layout: Layout, port: int, report: Callable[[str], None]) -> int:
    lock = held_lock(layout.server_lock, _LOCK_SECONDS)
    if lock is None:
        report("another process holds the folder")
        return 1
    settle(layout)
    for left in (*layout.directory.glob("*.json.*.tmp"), *layout.directory.glob("config/*.json.*.tmp")):
        left.unlink(missing_ok=True)  # of a server that was killed while it wrote; this one holds the lock
    passwords = _passwords(layout)
    _write_groups(layout)
    server, ports, version = _start_server(layout, port, passwords)
    wanted = _until_signal()
    _write_json(
        layout.state,
        {
            "pid": os.getpid(),
            "bolt_port": ports[0],
            "http_port": ports[1],
            "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "version": version,
        },
    )
    report("ready")
    _wait_for_the_end(layout, lock, wanted)
    layout.state.unlink(missing_ok=True)
    server.stop()
    sys.stdout.flush()
    # The databases are closed, so the virtual machine needs no orderly shutdown.
    os._exit(0)


def _reporter(descriptor: int | None) -> Callable[[str], None]:
    def report(message: str) -> None:
        if descriptor is None:
            print(message, flush=True)  # noqa: T201 - run by hand, in a terminal
            return
        try:
            os.write(descriptor, message.encode("utf-8", "replace"))
            os.close(descriptor)
        except OSError:
            pass  # the client is gone or already informed; the next client may use the server

    return report


def reason(error: BaseException) -> str:
    """Return the message of an error and of its first cause, if that adds something, on one line."""
    if isinstance(error, ImportError):
        return f"the package arcadedb-embedded can't be used ({error})"
    messages = [_first_line(str(error)) or type(error).__name__]
    cause = error
    while (earlier := _cause(cause)) is not None:
        cause = earlier
    if cause is not error and (first := _first_line(str(cause))) and first not in messages[0]:
        messages.append(first)
    return ": ".join(messages) + few_files()


def _cause(error: Any) -> Any:
    # A Java exception has its own chain of causes.
    return error.getCause() if hasattr(error, "getCause") else error.__cause__


def _first_line(text: str) -> str:
    line = (text.strip().splitlines() or [""])[0]
    return re.sub(r"^(?:[a-z]\w*\.)+[A-Z]\w*: ", "", line)[:300]  # without the name of a Java class


# Accounts ----------------------------------------------------------------------------------------------------------


def _passwords(layout: Layout) -> dict[str, str]:
    """Read the passwords, or make new ones and delete the accounts with the old ones."""
    try:
        content = json.loads(layout.credentials.read_text("utf-8"))
        return {name: str(content[name]) for name in (ADMIN, READER)}
    except (OSError, ValueError, KeyError, TypeError):
        passwords = {name: secrets.token_urlsafe(24) for name in (ADMIN, READER)}
        _write_json(layout.credentials, passwords)
        (layout.directory / "config" / "server-users.jsonl").unlink(missing_ok=True)
        return passwords


def _write_groups(layout: Layout) -> None:
    """Define the groups: ArcadeDB's own, and that of the reader, which may only read records."""

    def group(access: list[str], records: list[str]) -> dict[str, object]:
        return {"resultSetLimit": -1, "readTimeout": -1, "access": access, "types": {"*": {"access": records}}}

    groups = {
        "admin": group(
            ["updateSecurity", "updateSchema", "updateDatabaseSettings"],
            ["createRecord", "readRecord", "updateRecord", "deleteRecord"],
        ),
        READER: group([], ["readRecord"]),
        "*": group([], []),
    }
    config = layout.directory / "config"
    config.mkdir(mode=0o700, exist_ok=True)
    _write_json(config / "server-groups.json", {"databases": {"*": {"groups": groups}}, "version": 2})


def _write_json(path: Path, content: object) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


# The Java server ---------------------------------------------------------------------------------------------------


def _start_server(layout: Layout, port: int, passwords: dict[str, str]) -> tuple[Any, tuple[int, int], str]:
    """Start ArcadeDB on the loopback interface; return the server, (Bolt, HTTP) ports and the version.

    The ports are free ones, but for Bolt's if it is given.
    """
    jpype, version = start_jvm(layout)
    for attempt in range(_PORT_ATTEMPTS):
        bolt, http = _free_ports()
        ports = port or bolt, http
        server = _new_server(jpype, layout, passwords, ports)
        try:
            server.start()
        except Exception as error:
            server.stop()
            # Another process may have bound a port since we chose it: that of Bolt, or that of HTTP.
            said = reason(error).lower()
            taken = any(sign in said for sign in ("bind", "already in use", "unable to listen"))
            if not taken or attempt == _PORT_ATTEMPTS - 1:
                raise
        else:
            break
    return server, ports, version


def start_jvm(layout: Layout) -> tuple[Any, str]:
    """Start the Java virtual machine; return the bridge to it, and the version of the engine."""
    import arcadedb_embedded
    import jpype
    from arcadedb_embedded.jvm import get_bundled_jre_lib_path, get_jar_path

    jars = [str(jar) for jar in sorted(Path(get_jar_path()).glob("*.jar")) if not jar.name.startswith(_UNUSED_JARS)]
    jpype.startJVM(
        get_bundled_jre_lib_path(),
        *_JVM_OPTIONS,
        *_memory_limit(),
        *_time_limit(),
        f"-XX:ErrorFile={layout.log_directory}/hs_err_pid%p.log",
        classpath=os.pathsep.join(jars),
        interrupt=False,
    )
    return jpype, arcadedb_embedded.__version__


def _memory_limit() -> list[str]:
    heap = os.environ.get(HEAP_VARIABLE)
    return [f"-Xmx{heap}"] if heap else []


def _time_limit() -> list[str]:
    """Return the time limit of a query, which the engine sets for the whole server, not per client."""
    try:
        milliseconds = int(float(os.environ.get(TIMEOUT_VARIABLE) or 0) * 1000)
    except ValueError:
        return []
    return [f"-Darcadedb.command.timeout={milliseconds}"] if milliseconds > 0 else []


def _new_server(jpype: Any, layout: Layout, passwords: dict[str, str], ports: tuple[int, int]) -> Any:
    settings = {
        "server.rootPath": str(layout.directory),
        "server.logsDirectory": str(layout.log_directory),
        # "production" would hide why a query is refused; its other settings are made here and in _JVM_OPTIONS.
        "server.mode": "development",
        "server.rootPassword": passwords[ADMIN],
        # The server creates them at its start: the database, and the reader's account in the reader's group.
        "server.defaultDatabases": f"{DATABASE}[{READER}:{passwords[READER]}:{READER}]",
        "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
        "server.httpIncomingHost": _HOST,
        "server.httpIncomingPort": str(ports[1]),
        "server.httpWorkerThreads": 4,
        "server.healthCheck.enabled": False,
        "serverMetrics": False,
        "bolt.host": _HOST,
        "bolt.port": ports[0],
        "bolt.defaultDatabase": DATABASE,
        "bolt.maxMessageSize": _LARGEST_MESSAGE,
        "bolt.packstream.maxValueLength": _LARGEST_MESSAGE,
        "opencypher.loadCsv.allowFileUrls": False,
        "opencypher.loadCsv.allowRemoteUrls": False,
    }
    configuration = jpype.JClass("com.arcadedb.ContextConfiguration")()
    for name, value in settings.items():
        configuration.setValue(f"arcadedb.{name}", value)
    return jpype.JClass("com.arcadedb.server.ArcadeDBServer")(configuration)


def _free_ports() -> tuple[int, int]:
    with socket.socket() as first, socket.socket() as second:
        first.bind((_HOST, 0))
        second.bind((_HOST, 0))
        return first.getsockname()[1], second.getsockname()[1]


# The end -----------------------------------------------------------------------------------------------------------


def _until_signal() -> Callable[[], bool]:
    """Return a function that returns True until SIGTERM or SIGINT."""
    signals: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: signals.append(received))
    return lambda: not signals


def _wait_for_the_end(layout: Layout, lock: int, wanted: Callable[[], bool]) -> None:
    """Return after a signal, when the folder is gone, or when there was no client for GRACE_SECONDS.

    In the last case ``clients.lock`` stays locked until the process ends: a new client waits, and then starts a new
    server.
    """
    clients = lock_file(layout.clients_lock)
    alone_since: float | None = None
    while wanted():
        if not _is_same_file(layout.server_lock, lock):
            return
        if layout.keep.exists() or not lock_within(clients, fcntl.LOCK_EX, 0):
            alone_since = None
        elif alone_since is None:
            alone_since = time.monotonic()
            fcntl.flock(clients, fcntl.LOCK_UN)
        elif time.monotonic() - alone_since >= GRACE_SECONDS:
            return
        else:
            fcntl.flock(clients, fcntl.LOCK_UN)
        time.sleep(POLL_SECONDS)


def _is_same_file(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
