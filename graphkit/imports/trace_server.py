"""The HTTP server of the trace receiver: its limits, its checks, and how it reads the body of a request."""

from __future__ import annotations

import socket
import sys
import threading
import time
from contextlib import ExitStack
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedReader, RawIOBase
from socketserver import TCPServer
from typing import Any, Protocol

from graphkit.files.intake import Density
from graphkit.records.words import shortened

LOOPBACK = "127.0.0.1"
PATH = "/v1/traces"
JSON = "application/json"
_HOSTS = ("127.0.0.1", "localhost", "[::1]")

#: The longest body, as sent and as unpacked, and the longest head of a request, in bytes.
LONGEST = 32 << 20
LONGEST_HEAD = 1 << 16

#: How long a connection may wait for its next request, and how long a request may take to arrive, in seconds.
SILENCE = 30.0
DEADLINE = 10.0

#: The number of bytes that each sender may send at any time, and the number of senders that may send more at once.
#: A slow sender occupies no place until it has sent so many.
SMALL = 1 << 20
AT_ONCE = 4

#: The largest number of open connections.
CONNECTIONS = 128


class RefusedError(Exception):
    """A refused request, with its status and the advice for the sender."""

    def __init__(self, status: int, what: str) -> None:
        self.status = status
        super().__init__(what)


def too_dense() -> RefusedError:
    """Return the refusal of a body with too many values."""
    return RefusedError(413, "the body holds millions of values: send less at once")


def too_long() -> RefusedError:
    """Return the refusal of a body with too many bytes."""
    return RefusedError(
        413, f"the body is longer than {LONGEST >> 20} MiB: set OTEL_BSP_MAX_EXPORT_BATCH_SIZE=64 to send less"
    )


def _too_late() -> str:
    return f"a request didn't arrive within {DEADLINE:.0f} seconds"


class Receiver(Protocol):
    """The owner of a server: it keeps the bodies and counts the refusals."""

    slots: threading.BoundedSemaphore

    def keep(self, kind: str, encoding: str, body: bytes | bytearray) -> None:
        """Keep the body of a request, or raise :class:`RefusedError`."""

    def report(self, why: str) -> None:
        """Count a refusal."""


class TraceServer(ThreadingHTTPServer):
    """A server on loopback, with a thread for each connection."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, port: int, receiver: Receiver) -> None:
        self.receiver = receiver
        self._open = threading.BoundedSemaphore(CONNECTIONS)
        super().__init__((LOOPBACK, port), _Handler)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Accept a connection unless too many are open."""
        if not self._open.acquire(blocking=False):
            self.receiver.report(f"more than {CONNECTIONS} connections at once aren't accepted")
            return False
        return True

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer the requests of a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._open.release()

    def server_bind(self) -> None:
        """Bind without the look-up of this machine's name that the base class makes."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = LOOPBACK, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an unexpected error; ignore a sender that disconnected."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            self.receiver.report(f"a request caused an error ({type(error).__name__}: {error})")


class _TimedBytes(RawIOBase):
    """The bytes of a sender, with a deadline for its request and a limit for its head."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.begin()

    def begin(self) -> None:
        """Wait for the next request."""
        self._deadline: float | None = None
        self._left: int | None = LONGEST_HEAD

    def end_head(self) -> None:
        """Lift the limit of the head; the reader of the body counts its own bytes."""
        self._left = None

    @property
    def is_late(self) -> bool:
        """Whether a request began and didn't arrive in time."""
        return self._deadline is not None

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes.

        Raises
        ------
        TimeoutError
            The sender is silent, or its request takes, for too long.
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
                raise RefusedError(431, f"the head is longer than {LONGEST_HEAD >> 10} KiB")
        return size


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SILENCE
    server: TraceServer

    def setup(self) -> None:
        """Read the connection with deadlines."""
        super().setup()
        self._bytes = _TimedBytes(self.connection)
        self.rfile = BufferedReader(self._bytes)

    def handle_one_request(self) -> None:
        """Handle a request, and refuse one with too long a head."""
        self._bytes.begin()
        try:
            super().handle_one_request()
        except RefusedError as refusal:
            self.requestline, self.request_version, self.command = "", self.protocol_version, "POST"
            self._refuse(refusal)

    def log_error(self, format: str, *args: Any) -> None:  # noqa: A002
        """Report a request that took too long, which the base class logs here."""
        if self._bytes.is_late:
            self.server.receiver.report(_too_late())

    def version_string(self) -> str:
        return "graphkit"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write nothing; refusals are reported once."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse a malformed request; the base class calls this too."""
        if code == HTTPStatus.NOT_IMPLEMENTED:  # for any method but POST
            code, message = HTTPStatus.METHOD_NOT_ALLOWED, f"the server accepts only POST {PATH}"
        self._refuse(RefusedError(int(code), message or "the request is malformed"))

    def do_POST(self) -> None:
        """Accept an export of spans."""
        receiver = self.server.receiver
        try:
            self._check()
            self._bytes.end_head()
            kind = self.headers.get("Content-Type", "").split(";")[0].strip().lower()
            encoding = self.headers.get("Content-Encoding", "").strip().lower()
            self._density = Density() if kind == JSON and encoding in ("", "identity") else None
            with ExitStack() as self._place:
                receiver.keep(kind, encoding, self._body())
        except TimeoutError:
            self._refuse(RefusedError(408, _too_late()))
        except RefusedError as refusal:
            self._refuse(refusal)
        else:
            self._answer(200, kind, b"{}" if kind == JSON else b"")

    def _check(self) -> None:
        """Refuse requests for other hosts, other paths, and of web pages, which a browser may send here."""
        host = self.headers.get("Host", "")
        if host.rpartition(":")[0] not in _HOSTS and host not in _HOSTS:
            raise RefusedError(403, f"the host {shortened(host)!r} isn't this machine")
        if self.headers.get("Origin") is not None:
            raise RefusedError(403, "requests of web pages aren't accepted")
        if self.path != PATH:
            why = f"{shortened(self.path)} doesn't exist: send spans to {PATH}"
            if self.path in ("/v1/metrics", "/v1/logs"):
                why += "; set OTEL_METRICS_EXPORTER=none and OTEL_LOGS_EXPORTER=none"
            raise RefusedError(404, why)

    def _body(self) -> bytearray:
        """Return the body, whose length is given at its beginning or chunk by chunk."""
        if self.headers.get("Transfer-Encoding", "").strip().lower() == "chunked":
            return self._chunks()
        given = self.headers.get("Content-Length", "")
        if not (given.isascii() and given.isdecimal()):
            raise RefusedError(411, "the length of the body is missing")
        if len(given) > 12 or int(given) > LONGEST:
            raise too_long()
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
                raise too_long()
            self._read(length, body)
            if self.rfile.readline(64 if length else 1024).strip():
                raise RefusedError(400, "a chunk of the body is longer than it says")
            if not length:
                return body

    def _read(self, length: int, body: bytearray) -> None:
        """Add bytes to a body; wait for a place once it isn't small."""
        wanted = len(body) + length
        while len(body) < wanted:
            block = self.rfile.read(min(wanted - len(body), 1 << 16))
            if not block:
                raise RefusedError(400, "the body is shorter than it says")
            if len(body) <= SMALL < len(body) + len(block):
                self._place.enter_context(self.server.receiver.slots)
            body += block
            if self._density is not None and self._density.add(block):
                raise too_dense()

    def _refuse(self, refusal: RefusedError) -> None:
        self.server.receiver.report(str(refusal))
        self.close_connection = True  # the rest of the body isn't another request
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
