"""Keeps the spans that an instrumented system sends over HTTP on this machine, and writes runs of them.

Each export becomes a line of OTLP JSON in a file, which is a log like any other.
"""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from io import RawIOBase
from pathlib import Path
from typing import Any, Self

from graphkit.errors import InputError
from graphkit.files.intake import Density
from graphkit.files.loopback import RefusedError
from graphkit.imports.importer import ImportedLog
from graphkit.plugins.listen.trace_server import AT_ONCE, JSON, LONGEST, TraceServer, too_dense, too_long
from graphkit.plugins.logs.otlp_protobuf import export_of
from graphkit.plugins.logs.spans import span_ids
from graphkit.readers.logged import UnreadableLogError
from graphkit.records.json_once import each_key_once
from graphkit.records.words import shortened

#: The default port of OTLP exporters.
PORT = 4318

#: A finished trace is complete after this many seconds without spans.
QUIET = 2.0

#: The interval between checks for new spans, in seconds.
LOOK = 0.2

#: The wait after a run was written, as a multiple of the time it took, which grows with the number of traces.
REST = 10.0

#: The largest number of different refusals that are counted.
REFUSALS = 20

PROTOBUF = "application/x-protobuf"


class TraceReceiver:
    """A server for OTLP over HTTP on loopback, which writes the spans to a file.

    Parameters
    ----------
    spool
        The file of the spans, which mustn't exist without ``force``.
    port
        The port; 0 chooses a free one.
    refused
        Called with each new reason to refuse a request.

    Raises
    ------
    InputError
        The port is in use, or the file can't be created.
    """

    def __init__(
        self, spool: Path, port: int = PORT, refused: Callable[[str], None] = lambda why: None, force: bool = False
    ) -> None:
        self.spool = spool
        self.spans = 0
        self.refusals: Counter[str] = Counter()
        self._refused = refused
        self._lock = threading.Lock()
        self.slots = threading.BoundedSemaphore(AT_ONCE)
        self._ended = 0
        self._last = 0.0
        self._server = TraceServer(port, self)
        try:
            self._file: RawIOBase = spool.open("wb" if force else "xb", buffering=0)
        except OSError as error:
            self._server.server_close()
            there = isinstance(error, FileExistsError)
            raise InputError(
                "there is a file already" if there else f"the file can't be written: {error.strerror or error}",
                where=str(spool),
                remedy="Name another, or replace it by --force." if there else "Choose another place.",
            ) from None

    @property
    def endpoint(self) -> str:
        """The address for exporters."""
        return self._server.address

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.stop()
        with self._lock:
            self._file.close()
            if not self.spans and self.spool.is_file():
                self.spool.unlink()  # an empty file would only block the next start

    def ended(self) -> int | None:
        """Return the number of finished traces, or None while more of their spans may come."""
        with self._lock:
            return self._ended if time.monotonic() - self._last >= QUIET else None

    def keep(self, kind: str, encoding: str, body: bytes | bytearray) -> None:
        """Write the spans of a body to the file.

        Raises
        ------
        RefusedError
            The body isn't an export of spans.
        """
        with self._lock:  # one at a time, since an unpacked body may be many times as large
            export = _export(kind, _unpacked(kind, encoding, body))
            try:
                ids = span_ids(export)
            except UnreadableLogError as error:
                raise RefusedError(400, str(error)) from None
            if self._file.closed:
                raise RefusedError(503, "graphkit is no longer listening")
            self._write(json.dumps(export).encode() + b"\n")
            self.spans += len(ids)
            self._ended += sum(is_outermost for _, is_outermost in ids)
            self._last = time.monotonic()

    def _write(self, line: bytes) -> None:
        """Write a line as a whole, or nothing."""
        before = self._file.tell()
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            with suppress(OSError):  # a device can't be truncated
                self._file.truncate(before)
                self._file.seek(before)
            raise RefusedError(503, f"the spans can't be written: {error.strerror or error}") from None

    def report(self, why: str) -> None:
        """Count a refusal, and report a new reason."""
        with self._lock:
            self.refusals[why] += 1
            is_new = self.refusals[why] == 1 and len(self.refusals) <= REFUSALS
            if len(self.refusals) > REFUSALS:
                self.refusals.pop(why)
        if is_new:
            self._refused(why)


def _unpacked(kind: str, encoding: str, body: bytes | bytearray) -> bytes | bytearray:
    if encoding in ("", "identity"):
        return body
    if encoding != "gzip":
        raise RefusedError(
            415, f"the encoding {shortened(encoding)!r} isn't read: set OTEL_EXPORTER_OTLP_COMPRESSION=gzip"
        )
    try:
        plain, density = bytearray(), Density()
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as stream:
            while piece := stream.read(1 << 16):
                plain += piece
                if len(plain) > LONGEST:
                    raise too_long()
                if kind == JSON and density.add(piece):
                    raise too_dense()
    except (OSError, EOFError, zlib.error):
        raise RefusedError(400, "the body isn't whole gzip") from None
    return plain


def _export(kind: str, body: bytes | bytearray) -> Any:
    if kind == PROTOBUF:
        try:
            return export_of(bytes(body))
        except UnreadableLogError as error:
            raise RefusedError(400, str(error)) from None
    if kind == JSON:
        try:
            return json.loads(body, object_pairs_hook=each_key_once)
        except (ValueError, RecursionError):
            raise RefusedError(400, "the body isn't JSON") from None
    raise RefusedError(
        415,
        f"the content type {shortened(kind)!r} isn't read: set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, "
        "or http/json where the SDK has it",
    )


def listen(
    receiver: TraceReceiver,
    stop: threading.Event,
    make: Callable[[], ImportedLog],
    written: Callable[[ImportedLog], None],
    failed: Callable[[InputError], None],
) -> ImportedLog | None:
    """Write the run whenever traces have ended, and once more at the end.

    Parameters
    ----------
    stop
        Ends the loop when set. Unlike an interrupt, it never comes amid the writing of a run.
    make
        Makes the run from the receiver's file.
    written, failed
        Called with each run, or with the reason why there is none yet.

    Returns
    -------
    ImportedLog | None
        The last run; None if no span came.

    Raises
    ------
    InputError
        No span belongs to an answer to the dataset's questions.
    """
    done = 0
    rest_until = 0.0
    with receiver:
        while not stop.wait(LOOK):
            ended = receiver.ended()
            if ended is None or ended == done or time.monotonic() < rest_until:
                continue
            started = time.monotonic()
            try:
                written(make())
            except InputError as error:
                failed(error)
            done, rest_until = ended, time.monotonic() + REST * (time.monotonic() - started)
    return make() if receiver.spans else None
