"""An HTTP server for this machine alone: its limits, its checks, and how it reads and answers requests."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedReader, RawIOBase
from socketserver import TCPServer
from typing import Any

from graphkit.errors import InputError
from graphkit.records.words import shortened

LOOPBACK = "127.0.0.1"
_HOSTS = (LOOPBACK, "localhost", "[::1]")

#: The longest head of a request, in bytes.
LONGEST_HEAD = 1 << 16
#: How much is read at once.
BUFFER = 1 << 13

#: How long a connection may wait for its next request, and how long a request may take to arrive, in seconds.
SILENCE = 30.0
DEADLINE = 10.0

#: The largest number of open connections.
CONNECTIONS = 128


class RefusedError(Exception):
    """A refused request, with its status and the advice for the sender."""

    def __init__(self, status: int, what: str) -> None:
        self.status = status
        super().__init__(what)


def too_late() -> str:
    """Return the reason to refuse a request that takes too long."""
    return f"a request didn't arrive within {DEADLINE:.0f} seconds"


class LoopbackServer(ThreadingHTTPServer):
    """A server on loopback, with a thread for each connection.

    Parameters
    ----------
    port
        The port; 0 chooses a free one.
    report
        Called with the reason of each refusal, from any thread.

    Raises
    ------
    InputError
        The port can't be opened, such as one that is in use.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(
        self, port: int, handler: type[LoopbackHandler], report: Callable[[str], None] = lambda why: None
    ) -> None:
        self.report = report
        self._open = threading.BoundedSemaphore(CONNECTIONS)
        #: The connections whose next request isn't there yet, the one that waits longest first.
        self._waiting: dict[socket.socket, None] = {}
        self._guard = threading.Lock()
        try:
            super().__init__((LOOPBACK, port), handler)
        except (OSError, OverflowError) as error:
            raise InputError(
                f"port {port} of {LOOPBACK} can't be opened: {getattr(error, 'strerror', None) or error}",
                remedy="Give another by --port; 0 chooses a free one.",
            ) from None

    def waits(self, connection: socket.socket) -> None:
        """Note that a connection waits for its next request, or for the rest of it."""
        with self._guard:
            self._waiting.pop(connection, None)
            self._waiting[connection] = None

    def waits_no_more(self, connection: socket.socket) -> None:
        """Note that the request of a connection is there, or that the connection ends."""
        with self._guard:
            self._waiting.pop(connection, None)

    def _make_room(self) -> bool:
        """End the connection that waits longest for a request, such as one that was sent by half."""
        with self._guard:
            oldest = next(iter(self._waiting), None)
            if oldest is None:
                return False
            del self._waiting[oldest]
        with contextlib.suppress(OSError):
            oldest.shutdown(socket.SHUT_RDWR)
        return self._open.acquire(timeout=1.0)

    @property
    def address(self) -> str:
        """The address of the server, without a path."""
        return f"http://{LOOPBACK}:{self.server_port}"

    def start(self) -> None:
        """Answer requests from now on, in other threads."""
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()

    def stop(self) -> None:
        """Answer no more requests, and close the port."""
        self.shutdown()
        self.server_close()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Accept a connection; of too many, end one that waits for a request, or else accept none."""
        if not self._open.acquire(blocking=False) and not self._make_room():
            self.report(f"more than {CONNECTIONS} connections at once aren't accepted")
            return False
        return True

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer the requests of a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.waits_no_more(request)
            self._open.release()

    def server_bind(self) -> None:
        """Bind without the look-up of this machine's name that the base class makes."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = LOOPBACK, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an unexpected error; ignore a sender that disconnected."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            self.report(f"a request caused an error ({type(error).__name__}: {error})")


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


class LoopbackHandler(BaseHTTPRequestHandler):
    """Answers the requests of a connection; a subclass has the methods, and says what it ``accepts``."""

    protocol_version = "HTTP/1.1"
    timeout = SILENCE
    server: LoopbackServer
    #: The reason to refuse any other method.
    accepts = "the server doesn't accept this method"

    def setup(self) -> None:
        """Read the connection with deadlines."""
        super().setup()
        self._bytes = _TimedBytes(self.connection)
        # Without a size it would be Python's own: 128 KiB from 3.14 on, of which much may belong to the body.
        self.rfile = BufferedReader(self._bytes, BUFFER)

    def handle_one_request(self) -> None:
        """Handle a request, and refuse one with too long a head."""
        self._bytes.begin()
        self.server.waits(self.connection)
        try:
            super().handle_one_request()
        except RefusedError as refusal:
            self.requestline, self.request_version, self.command = "", self.protocol_version, "POST"
            self.refuse(refusal)

    def log_error(self, format: str, *args: Any) -> None:  # noqa: A002
        """Report a request that took too long, which the base class logs here."""
        if self._bytes.is_late:
            self.server.report(too_late())

    def version_string(self) -> str:
        """Return the name of the server, without the version of Python."""
        return "graphkit"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write nothing; refusals are reported."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse a malformed request; the base class calls this too."""
        if code == HTTPStatus.NOT_IMPLEMENTED:
            code, message = HTTPStatus.METHOD_NOT_ALLOWED, self.accepts
        self.refuse(RefusedError(int(code), message or "the request is malformed"))

    def parse_request(self) -> bool:
        """Read the head of a request, which then is there."""
        whole = super().parse_request()
        self.server.waits_no_more(self.connection)
        return whole

    def check_host(self) -> None:
        """Refuse a request for another host, such as a name that a web page points to this machine."""
        host = self.headers.get("Host", "")
        if host.rpartition(":")[0] not in _HOSTS and host not in _HOSTS:
            raise RefusedError(403, f"the host {shortened(host)!r} isn't this machine")

    def content_type(self) -> str:
        """Return the type of the body, without its parameters."""
        return self.headers.get("Content-Type", "").split(";")[0].strip().lower()

    def body_length(self, longest: int, too_long: RefusedError) -> int:
        """Return the stated length of the body; refuse a body without one, or one that is longer than ``longest``."""
        given = self.headers.get("Content-Length", "")
        if not (given.isascii() and given.isdecimal()):
            raise RefusedError(411, "the length of the body is missing")
        if len(given) > 12 or int(given) > longest:
            raise too_long
        return int(given)

    def end_head(self) -> None:
        """Read the body from here on."""
        self.server.waits(self.connection)
        self._bytes.end_head()

    def read_some(self, most: int) -> bytes:
        """Return the next bytes of the body; refuse one that is shorter than it says."""
        block = self.rfile.read(most)
        if not block:
            raise RefusedError(400, "the body is shorter than it says")
        return block

    def refuse(self, refusal: RefusedError) -> None:
        """Report and answer a refusal, and close the connection: the rest of the body isn't another request."""
        self.server.report(str(refusal))
        self.close_connection = True
        self.answer(refusal.status, "text/plain; charset=utf-8", f"{refusal}\n".encode(errors="replace"))

    def answer(self, status: int, kind: str, body: bytes) -> None:
        """Answer with a body of a type."""
        self.answer_head(status, {"Content-Type": kind, "Content-Length": str(len(body))})
        if self.command != "HEAD":
            self.wfile.write(body)

    def answer_head(self, status: int, headers: Mapping[str, str]) -> None:
        """Answer with a status and headers; the body follows."""
        self.server.waits_no_more(self.connection)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
