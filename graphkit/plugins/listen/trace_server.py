"""The HTTP server of the trace receiver: its limits, its checks, and how it reads the body of a request."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import Protocol

from graphkit.files.intake import Density
from graphkit.files.loopback import LoopbackHandler, LoopbackServer, RefusedError, too_late
from graphkit.records.words import shortened

PATH = "/v1/traces"
JSON = "application/json"

#: The longest body, as sent and as unpacked, in bytes.
LONGEST = 32 << 20

#: The number of bytes that each sender may send at any time, and the number of senders that may send more at once.
#: A slow sender occupies no place until it has sent so many.
SMALL = 1 << 20
AT_ONCE = 4


def too_dense() -> RefusedError:
    """Return the refusal of a body with too many values."""
    return RefusedError(413, "the body holds millions of values: send less at once")


def too_long() -> RefusedError:
    """Return the refusal of a body with too many bytes."""
    return RefusedError(
        413, f"the body is longer than {LONGEST >> 20} MiB: set OTEL_BSP_MAX_EXPORT_BATCH_SIZE=64 to send less"
    )


class Receiver(Protocol):
    """The owner of a server: it keeps the bodies and counts the refusals."""

    slots: threading.BoundedSemaphore

    def keep(self, kind: str, encoding: str, body: bytes | bytearray) -> None:
        """Keep the body of a request, or raise :class:`RefusedError`."""

    def report(self, why: str) -> None:
        """Count a refusal."""


class TraceServer(LoopbackServer):
    """A server on loopback that hands the bodies of requests to a receiver."""

    def __init__(self, port: int, receiver: Receiver) -> None:
        self.receiver = receiver
        super().__init__(port, _TraceHandler, receiver.report)


class _TraceHandler(LoopbackHandler):
    server: TraceServer
    accepts = f"the server accepts only POST {PATH}"

    def do_POST(self) -> None:  # noqa: N802 - so the base class calls it
        """Accept an export of spans."""
        receiver = self.server.receiver
        try:
            self._check()
            self.end_head()
            kind = self.content_type()
            encoding = self.headers.get("Content-Encoding", "").strip().lower()
            self._density = Density() if kind == JSON and encoding in ("", "identity") else None
            with ExitStack() as self._place:
                receiver.keep(kind, encoding, self._body())
        except TimeoutError:
            self.refuse(RefusedError(408, too_late()))
        except RefusedError as refusal:
            self.refuse(refusal)
        else:
            self.answer(200, kind, b"{}" if kind == JSON else b"")

    def _check(self) -> None:
        """Refuse requests for other hosts, other paths, and of web pages, which a browser may send here."""
        self.check_host()
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
        body = bytearray()
        self._read(self.body_length(LONGEST, too_long()), body)
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
            block = self.read_some(min(wanted - len(body), 1 << 16))
            if len(body) <= SMALL < len(body) + len(block):
                self._place.enter_context(self.server.receiver.slots)
            body += block
            if self._density is not None and self._density.add(block):
                raise too_dense()
