"""Start the server of a folder, wait until it is ready, and explain why it didn't start."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from graphkit.database.settings import TIMEOUT_VARIABLE
from graphkit.errors import DatabaseError, InputError
from graphkit.plugins.embedded.folder import disk_is_full
from graphkit.plugins.embedded.place import HEAP_VARIABLE, Layout, ServerLimits

START_SECONDS = 90.0  # a cold start takes about one second, on an overloaded machine many
_HIDDEN_FROM_SERVER = (
    *("ANTHROPIC_", "NEO4J_", "OPENAI_", "AZURE_OPENAI_", "GEMINI_", "MISTRAL_", "OLLAMA_", "VLLM_", "LLAMACPP_"),
)


@dataclass(frozen=True)
class State:
    """The state that a running server reports."""

    pid: int
    bolt_port: int
    started_at: str
    version: str

    @property
    def uri(self) -> str:
        """The address of the server."""
        return f"bolt://127.0.0.1:{self.bolt_port}"


def read_state(layout: Layout) -> State | None:
    """Return the state that the last server of a folder reported, whether it still runs or not."""
    try:
        content = json.loads(layout.state.read_text("utf-8"))
        return State(
            int(content["pid"]), int(content["bolt_port"]), str(content["started_at"]), str(content["version"])
        )
    except PermissionError:
        raise  # the database of another user, which may well be running
    except (OSError, ValueError, KeyError, TypeError):
        return None


_ANY = ServerLimits()

#: The message for a server that ended without one.
_STOPPED = "stopped"


def start(layout: Layout, limits: ServerLimits = _ANY) -> State:
    """Start the server and wait until it answers; try once more if something stopped it meanwhile.

    The caller holds ``start.lock``.

    Raise DatabaseError with the reason if the server didn't start.
    """
    _check_heap()
    state, message = _started(layout, limits)
    if state is None and message == _STOPPED:
        state, message = _started(layout, limits)
    if state is None:
        raise _start_error(layout, message)
    return state


def _started(layout: Layout, limits: ServerLimits) -> tuple[State | None, str]:
    """Start the server; return its state and its first message."""
    layout.state.unlink(missing_ok=True)
    layout.log_directory.mkdir(mode=0o700, exist_ok=True)
    if layout.log.exists():
        layout.log.replace(layout.log.with_suffix(".log.1"))
    reader, writer = os.pipe()
    try:
        try:
            with layout.log.open("wb") as log:
                _spawn(layout, writer, log.fileno(), limits)
        finally:
            os.close(writer)
        message = _first_message(reader, START_SECONDS)
    finally:
        os.close(reader)
    if not message and not _own_reason(layout.log):
        message = _STOPPED
    return (read_state(layout) if message == "ready" else None), message


def _spawn(layout: Layout, ready: int, log: int, limits: ServerLimits) -> None:
    """Run the server's program, which detaches itself, so that ``subprocess.run`` returns."""
    # -P keeps Python from importing modules of the working folder, which is the database folder.
    command = [
        sys.executable,
        "-P",
        "-m",
        "graphkit.plugins.embedded.server",
        str(layout.directory),
        "--port",
        str(limits.port),
        "--detach",
        str(ready),
    ]
    subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        cwd=layout.directory,
        env=server_environment() | ({} if limits.timeout is None else {TIMEOUT_VARIABLE: str(limits.timeout)}),
        pass_fds=(ready,),
        start_new_session=True,  # Ctrl-C in the terminal must reach only the client
        check=False,
    )


def server_environment() -> dict[str, str]:
    """Return the environment of the server: this package, UTF-8, and no keys and addresses of services."""
    package_root = str(Path(__file__).resolve().parents[3])
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_HIDDEN_FROM_SERVER)}
    # Java reads the names of files by the locale, and finds none with other letters in that of C.
    environment |= {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [package_root, os.environ.get("PYTHONPATH")]))
    return environment


def _first_message(descriptor: int, seconds: float) -> str:
    """Read the first message of the server: "ready" or a reason why not; "timeout"; empty if it died."""
    deadline = time.monotonic() + seconds
    chunks: list[bytes] = []
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([descriptor], [], [], left)[0]:
            return "timeout"
        chunk = os.read(descriptor, 65536)
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks).decode("utf-8", "replace").strip()


def _start_error(layout: Layout, message: str) -> DatabaseError:
    if message == "timeout":
        what = f"the embedded database wasn't ready within {START_SECONDS:.0f} seconds"
    elif message == _STOPPED:
        what = "the embedded database was stopped twice while it started, by a signal or for lack of memory"
        remedy = f"Run the command again, and free memory if it is short. Its log: {layout.log}"
        return DatabaseError(what, where=str(layout.directory), remedy=remedy)
    else:
        what = f"the embedded database didn't start: {message or _own_reason(layout.log)}"
    remedy = f"Its log: {layout.log}"
    if "no space left" in what.lower() or disk_is_full(layout.directory):
        what = f"{what} (the disk is full)"
        remedy = f"Make room, or name a folder on another disk (--data or GRAPHKIT_HOME). {remedy}"
    elif "heap" in what.lower() or "memory" in what.lower():
        remedy = f"Set {HEAP_VARIABLE} to the memory that the database may use, such as 1g. {remedy}"
    return DatabaseError(what, where=str(layout.directory), remedy=remedy)


def _check_heap() -> None:
    heap = os.environ.get(HEAP_VARIABLE)
    if heap and not re.fullmatch(r"[1-9][0-9]*[kKmMgG]", heap):
        raise InputError(f"{HEAP_VARIABLE} is {heap!r}, which isn't a memory size", remedy="Write it as 512m or 4g.")


def _own_reason(log: Path) -> str | None:
    """Return the reason that the virtual machine logged for its end; None if it logged none, as after a kill."""
    try:
        lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    except OSError:
        return None
    for number, line in enumerate(lines):
        if line.startswith("Error occurred during initialization"):
            # The reason is on the next line.
            return lines[number + 1][:500] if number + 1 < len(lines) else line[:500]
    return next((line[:500] for line in reversed(lines) if _FATAL.search(line)), None)


_FATAL = re.compile(r"OutOfMemoryError|Terminating due to|fatal error|^Error: |No space left|Traceback|Error: ")
