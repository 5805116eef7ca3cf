"""Takes the spans that an instrumented system sends over HTTP, on this machine only, and keeps them as they came.

Each export is a line of OTLP JSON in a file, which is a log like any other: it is read where a run is made of it.
"""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import socket
import sys
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedReader, RawIOBase
from pathlib import Path
from socketserver import TCPServer
from typing import Any, Self

from graphkit.errors import InputError
from graphkit.files.intake import Density
from graphkit.readers.logged import UnreadableLogError
from graphkit.readers.otlp_protobuf import export_of
from graphkit.readers.spans import span_ids
from graphkit.records.words import shortened

LOOPBACK = "127.0.0.1"

#: The port that exporters send to where they are told nothing.
PORT = 4318
PATH = "/v1/traces"

#: The longest body that is taken, as sent and as unpacked, in bytes; and the longest head of a request.
LONGEST = 32 << 20
LONGEST_HEAD = 1 << 16

#: How long a connection may wait for its next request, and how long a request may take until it is here, in seconds.
SILENCE = 30.0
DEADLINE = 10.0

#: What each sender may send at any time, in bytes, and how many may send more at once; the others wait. A sender that
#: is slow takes nobody's place until it has sent so much.
SMALL = 1 << 20
AT_ONCE = 4

#: How many connections are open at once; further ones are closed.
CONNECTIONS = 128

#: After how many quiet seconds a trace that ended is complete.
QUIET = 2.0

JSON, PROTOBUF = "application/json", "application/x-protobuf"
_HOSTS = ("127.0.0.1", "localhost", "[::1]")


class RefusedError(Exception):
    """A request that isn't taken: its status, and what to do otherwise."""

    def __init__(self, status: int, what: str) -> None:
        self.status = status
        super().__init__(what)


class TraceReceiver:
    """A server for OTLP over HTTP on loopback, which writes what it gets to a file.

    Parameters
    ----------
    spool
        The file of the spans, which mustn't be there yet.
    port
        0 takes a free one.
    refused
        Is told each reason for which a request was refused, the first time.

    Raises
    ------
    InputError
        The port is taken, or the file can't be made.
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
        try:
            self._server = _Server((LOOPBACK, port), self)
        except (OSError, OverflowError) as error:
            raise InputError(
                f"port {port} of {LOOPBACK} can't be listened at: {getattr(error, 'strerror', None) or error}",
                remedy="Give another by --port; 0 takes a free one.",
            ) from None
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
        """The address that exporters are told."""
        return f"http://{LOOPBACK}:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        with self._lock:
            self._file.close()
            if not self.spans and self.spool.is_file():
                self.spool.unlink()  # empty, it would only be in the way of the next time

    def ended(self) -> int | None:
        """Return how many traces have ended so far, or None while spans of one may still come."""
        with self._lock:
            return self._ended if time.monotonic() - self._last >= QUIET else None

    def take(self, kind: str, encoding: str, body: bytes | bytearray) -> None:
        """Keep the spans of a body.

        Raises
        ------
        RefusedError
            It isn't an export of spans.
        """
        with self._lock:  # one after the other: unpacked, a body is many times as large
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
        """Write a line, or nothing of it."""
        before = self._file.tell()
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            with suppress(OSError):  # a device has no end to cut at
                self._file.truncate(before)
                self._file.seek(before)
            raise RefusedError(503, f"the spans can't be written: {error.strerror or error}") from None

    def tell(self, why: str) -> None:
        """Count a refusal, and say its reason the first time."""
        with self._lock:
            self.refusals[why] += 1
            is_new = self.refusals[why] == 1 and len(self.refusals) <= 20
            if len(self.refusals) > 20:
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
                    raise _too_long()
                if kind == JSON and density.add(piece):
                    raise _too_dense()
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
            return json.loads(body)
        except (ValueError, RecursionError):
            raise RefusedError(400, "the body isn't JSON") from None
    raise RefusedError(
        415,
        f"the content type {shortened(kind)!r} isn't read: set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, "
        "or http/json where the SDK has it",
    )


def _too_dense() -> RefusedError:
    return RefusedError(413, "a body of millions of values isn't taken: send less at once")


def _too_late() -> str:
    return f"a request wasn't here within {DEADLINE:.0f} seconds"


def _too_long() -> RefusedError:
    return RefusedError(
        413, f"a body of more than {LONGEST >> 20} MiB isn't taken: set OTEL_BSP_MAX_EXPORT_BATCH_SIZE=64 to send less"
    )


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], receiver: TraceReceiver) -> None:
        self.receiver = receiver
        self._open = threading.BoundedSemaphore(CONNECTIONS)
        super().__init__(address, _Handler)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Take a connection unless too many are open."""
        if not self._open.acquire(blocking=False):
            self.receiver.tell(f"more than {CONNECTIONS} connections at once aren't taken")
            return False
        return True

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer the requests of a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._open.release()

    def server_bind(self) -> None:
        """Bind without asking for the name of this machine, as the base class does."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = LOOPBACK, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a sender that went away."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            self.receiver.tell(f"a request wasn't understood ({type(error).__name__}: {error})")


class _Late(RawIOBase):
    """What a sender sends, as long as its request is in time and its head isn't too long."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.begin()

    def begin(self) -> None:
        """Wait for the next request."""
        self._deadline: float | None = None
        self._left: int | None = LONGEST_HEAD

    def head_is_read(self) -> None:
        """Take any number of bytes from now on: those of the body are counted by who reads it."""
        self._left = None

    @property
    def is_late(self) -> bool:
        """Whether a request began, and wasn't here in time."""
        return self._deadline is not None

    def readable(self) -> bool:
        """Say that this is read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Take some bytes.

        Raises
        ------
        TimeoutError
            The sender is silent for too long, or its request takes too long.
        RefusedError
            The head of the request is too long.
        """
        wait = SILENCE if self._deadline is None else self._deadline - time.monotonic()
        if wait <= 0:
            raise TimeoutError
        self._connection.settimeout(wait)
        size = self._connection.recv_into(buffer)
        self._connection.settimeout(SILENCE)
        if self._deadline is None:
            self._deadline = time.monotonic() + DEADLINE
        if self._left is not None:
            self._left -= size
            if self._left < 0:
                raise RefusedError(431, f"a head of more than {LONGEST_HEAD >> 10} KiB isn't taken")
        return size


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SILENCE
    server: _Server

    def setup(self) -> None:
        """Read from a connection whose requests have a deadline."""
        super().setup()
        self._late = _Late(self.connection)
        self.rfile = BufferedReader(self._late)

    def handle_one_request(self) -> None:
        """Take one request, or tell that it came too late or with too long a head."""
        self._late.begin()
        try:
            super().handle_one_request()
        except RefusedError as refusal:
            self.requestline, self.request_version, self.command = "", self.protocol_version, "POST"
            self._refuse(refusal)

    def log_error(self, format: str, *args: Any) -> None:  # noqa: A002
        """Tell of a request that took too long: it is what the base class logs."""
        if self._late.is_late:
            self.server.receiver.tell(_too_late())

    def version_string(self) -> str:
        return "graphkit"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write nothing: what was refused is told once."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what isn't HTTP as it should be; also called by the base class."""
        if code == HTTPStatus.NOT_IMPLEMENTED:  # what the base class says of other methods
            code, message = HTTPStatus.METHOD_NOT_ALLOWED, f"only POST {PATH} is here"
        self._refuse(RefusedError(int(code), message or "this request isn't understood"))

    def do_POST(self) -> None:
        """Take an export of spans."""
        receiver = self.server.receiver
        try:
            self._check()
            self._late.head_is_read()
            kind = self.headers.get("Content-Type", "").split(";")[0].strip().lower()
            encoding = self.headers.get("Content-Encoding", "").strip().lower()
            self._density = Density() if kind == JSON and encoding in ("", "identity") else None
            with ExitStack() as self._place:
                receiver.take(kind, encoding, self._body())
        except TimeoutError:
            self._refuse(RefusedError(408, _too_late()))
        except RefusedError as refusal:
            self._refuse(refusal)
        else:
            self._answer(200, kind, b"{}" if kind == JSON else b"")

    def _check(self) -> None:
        """Refuse what isn't for this machine: a page in a browser may send requests here under another name."""
        host = self.headers.get("Host", "")
        if host.rpartition(":")[0] not in _HOSTS and host not in _HOSTS:
            raise RefusedError(403, f"the host {shortened(host)!r} isn't this machine")
        if self.headers.get("Origin") is not None:
            raise RefusedError(403, "requests of web pages aren't taken")
        if self.path != PATH:
            why = f"{shortened(self.path)} isn't here: spans go to {PATH}"
            if self.path in ("/v1/metrics", "/v1/logs"):
                why += "; set OTEL_METRICS_EXPORTER=none and OTEL_LOGS_EXPORTER=none"
            raise RefusedError(404, why)

    def _body(self) -> bytearray:
        """Return the body, whose length is told at its beginning or chunk by chunk."""
        if self.headers.get("Transfer-Encoding", "").strip().lower() == "chunked":
            return self._chunks()
        given = self.headers.get("Content-Length", "")
        if not (given.isascii() and given.isdecimal()):
            raise RefusedError(411, "the body's length isn't told")
        if len(given) > 12 or int(given) > LONGEST:
            raise _too_long()
        body = bytearray()
        self._read(int(given), body)
        return body

    def _chunks(self) -> bytearray:
        body = bytearray()
        while True:
            size = self.rfile.readline(64).split(b";")[0].strip()
            if not size or size.strip(b"0123456789abcdefABCDEF") or len(size) > 12:
                raise RefusedError(400, "a chunk of the body has no length")
            length = int(size, 16)
            if len(body) + length > LONGEST:
                raise _too_long()
            self._read(length, body)
            if self.rfile.readline(64 if length else 1024).strip():
                raise RefusedError(400, "a chunk of the body is longer than it says")
            if not length:
                return body

    def _read(self, length: int, body: bytearray) -> None:
        """Add so many bytes to a body; one that is no longer small waits for a place."""
        wanted = len(body) + length
        while len(body) < wanted:
            block = self.rfile.read(min(wanted - len(body), 1 << 16))
            if not block:
                raise RefusedError(400, "the body is shorter than it says")
            if len(body) <= SMALL < len(body) + len(block):
                self._place.enter_context(self.server.receiver.slots)
            body += block
            if self._density is not None and self._density.add(block):
                raise _too_dense()

    def _refuse(self, refusal: RefusedError) -> None:
        self.server.receiver.tell(str(refusal))
        self.close_connection = True  # what is left of the body is not the next request
        self._answer(refusal.status, "text/plain; charset=utf-8", f"{refusal}\n".encode(errors="replace"))

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
