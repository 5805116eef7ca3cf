"""Fill a new embedded database by its batch importer: the client of ``embedded.bulk_server``."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import msgspec

from graphkit.errors import DatabaseError
from graphkit.plugins.embedded.folder import os_errors, prepared
from graphkit.plugins.embedded.import_batches import TOGETHER
from graphkit.plugins.embedded.leases import work_error
from graphkit.plugins.embedded.place import Layout
from graphkit.plugins.embedded.starting import server_environment

#: Relationships of one kind: their ends by label and number, and their properties.
Kind = tuple[str, str, str]
Ends = tuple[int, int, Mapping[str, Any]]

_STOP_SECONDS = 30.0

#: Frames that wait for the importer: about one pack, so that it works while the next one is made.
_AHEAD = 24


class BulkImport:
    """A database that is being filled. Nodes of a label are numbered from 0 in the order in which they are sent.

    Use it as a context manager: without :meth:`complete`, nothing of it remains.

    Raises
    ------
    DatabaseError
        The folder's database isn't empty, a server uses it, or the importer fails.
    """

    def __init__(self, directory: Path, times: Mapping[str, Sequence[str]], together: int = TOGETHER) -> None:
        self._layout = Layout(prepared(directory))
        self._times = times
        self._places: dict[str, tuple[str, array[int]]] = {}
        self._sent: list[str] = []
        self._waiting: Mapping[Kind, Sequence[Ends]] = {}
        self._queue: queue.Queue[bytes | None] = queue.Queue(_AHEAD)
        self._stopped = threading.Event()
        self._encode = msgspec.json.Encoder().encode
        with os_errors(self._layout.directory):
            self._layout.log_directory.mkdir(mode=0o700, exist_ok=True)
            self._process, frames, replies = self._start(together)
        # Frames are written and replies are read all the time, so that neither process waits for the other one to read.
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(replies,), daemon=True).start()
        threading.Thread(target=self._write, args=(frames,), daemon=True).start()
        try:
            self._refuse(json.loads(self._reply()))
        except BaseException:
            self._end()
            raise

    def _start(self, together: int) -> tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]:
        theirs, ours = os.pipe()
        replies, answering = os.pipe()
        module = "graphkit.plugins.embedded.bulk_server"
        arguments = [str(self._layout.directory), str(theirs), str(answering), str(together)]
        command = [sys.executable, "-P", "-m", module, *arguments]
        try:
            with self._layout.bulk_log.open("wb") as log:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self._layout.directory,
                    env=server_environment(),
                    pass_fds=(theirs, answering),
                    start_new_session=True,  # Ctrl-C in the terminal must reach only the client
                )
        finally:
            os.close(theirs)
            os.close(answering)
        return process, os.fdopen(ours, "wb"), os.fdopen(replies, "rb")

    def _read(self, replies: IO[bytes]) -> None:
        with replies:
            for line in replies:
                self._replies.put(line)
        self._replies.put(b"")

    def _reply(self) -> bytes:
        line = self._replies.get()
        if not line or line.startswith(b'{"error'):
            reason = json.loads(line)["error"] if line else "its process ended"
            raise DatabaseError(
                f"the embedded database's importer failed: {reason}",
                where=str(self._layout.directory),
                remedy=f"Nothing was stored. Run the command again. Its log: {self._layout.bulk_log}",
            )
        return line

    def _refuse(self, state: Mapping[str, Any]) -> None:
        if isinstance(state.get("held"), str):
            raise work_error(self._layout, state["held"])
        if state.get("held"):
            raise DatabaseError(
                "the embedded database is running, and its batch importer needs it for itself",
                where=str(self._layout.directory),
                remedy="Stop it (graphkit db stop), or name another folder (--data DIR).",
            )
        if nodes := state.get("nodes"):
            raise DatabaseError(
                f"the database holds {nodes} nodes already, and --bulk fills only an empty one",
                where=str(self._layout.directory),
                remedy="Load without --bulk, or name a folder for a new database (--data DIR).",
            )

    def send(
        self, nodes: Mapping[str, Sequence[Mapping[str, Any]]], relationships: Mapping[Kind, Sequence[Ends]]
    ) -> None:
        """Send some nodes by label, and the relationships between these and former ones."""
        for label, rows in nodes.items():
            self._frame({"label": label}, label, rows)
        # The importer creates these nodes while the next ones are made, so their relationships wait for their places.
        self._relate_former()
        self._sent, self._waiting = list(nodes), relationships

    def complete(self, schema: Sequence[str]) -> None:
        """Send the rest, create the constraints and indexes, and put the database into its place."""
        self._relate_former()
        self._queue.put(json.dumps({"schema": schema}).encode() + b"\n")
        self._reply()

    def _relate_former(self) -> None:
        """Send the relationships of the pack before, when the importer has told the places of its nodes."""
        self._place()
        self._relate(self._waiting)

    def _place(self) -> None:
        """Read where the importer put the nodes of the pack before."""
        for label in self._sent:
            created = self._reply().decode().strip().split(";")
            bucket = created[0].partition(":")[0]
            _, places = self._places.setdefault(label, (bucket, array("q")))
            places.extend(int(rid.partition(":")[2]) for rid in created)

    def _relate(self, relationships: Mapping[Kind, Sequence[Ends]]) -> None:
        for (name, source, target), rows in relationships.items():
            (first, sources), (second, targets) = self._places[source], self._places[target]
            edges = (
                {"_src": f"{first}:{sources[start]}", "_dst": f"{second}:{targets[end]}", **properties}
                for start, end, properties in rows
            )
            self._frame({"type": name}, name, edges)

    def _frame(self, header: Mapping[str, str], name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        stored = [
            {key: one for key, one in row.items() if one is not None} if None in row.values() else row for row in rows
        ]
        encoded = self._encode(stored)
        times = list(self._times.get(name, ()))
        sizes = {"rows": len(stored), "bytes": len(encoded)}
        self._queue.put(json.dumps({**header, "times": times, **sizes}).encode() + b"\n" + encoded)

    def _write(self, frames: IO[bytes]) -> None:
        """Write frames until the end, or until the importer ends, whose last reply says why."""
        # Closing the pipe ends the importer; it fails if the importer has ended.
        with contextlib.suppress(OSError), frames:
            while (frame := self._queue.get()) is not None and not self._stopped.is_set():
                frames.write(frame)
                frames.flush()
        while frame is not None and not self._stopped.is_set():
            frame = self._queue.get()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        """End the importer, which forgets what isn't complete, and wait for it."""
        self._stopped.set()
        with contextlib.suppress(queue.Full):
            self._queue.put_nowait(None)
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
