"""Served pages as tests see them: a real server on a free port, and requests to it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import threading
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphkit.plugins.view.page_server import PageServer
from graphkit.plugins.view.served_page import ServedPage
from graphkit.report import PageOptions, write_described
from graphkit.report.contents import PageContents
from graphkit.report.page_inputs import RunFiles, page_sources

JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Reply:
    """The answer to a request."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the body as JSON."""
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The reason of a refusal."""
        return str(self.json()["error"])


def ask(address: str, place: str = "", body: Any = None, method: str | None = None, **headers: str) -> Reply:
    """Send a request to a place below an address: GET, or POST of an object as JSON, or of bytes as they are."""
    parts = urllib.parse.urlsplit(address)
    sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    given = (JSON if body is not None else {}) | {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=60)
    try:
        connection.request(method or ("GET" if body is None else "POST"), f"{parts.path}{place}", sent, given)
        reply = connection.getresponse()
        return Reply(reply.status, dict(reply.headers), reply.read())
    finally:
        connection.close()


def served_page(*runs: Path) -> ServedPage:
    """Return the page of some runs, which follows their files."""
    found = RunFiles(runs, [None] * len(runs))

    def write(out: Path, version: str) -> PageContents:
        return write_described(runs, out, PageOptions(), served=version)

    return ServedPage(lambda: page_sources(found, None, ()), write)


@contextmanager
def serving(page: ServedPage, grader: str = "person") -> Iterator[str]:
    """Serve a page, and yield its address."""
    reported: list[str] = []
    server = PageServer(page, grader, 0, reported.append)
    server.start()
    try:
        yield server.page_address
    finally:
        server.stop()
    assert reported == []


@contextmanager
def served(runs: Sequence[Path], grader: str = "person") -> Iterator[tuple[ServedPage, str]]:
    """Serve the page of some runs; yield it with its address."""
    with closing(served_page(*runs)) as page, serving(page, grader) as address:
        yield page, address


@contextmanager
def ended_at_once() -> Iterator[None]:
    """End a command that serves within this process, as soon as it waits to be ended by SIGTERM."""
    former = signal.signal(signal.SIGTERM, lambda number, frame: None)
    ended = threading.Event()

    def tell() -> None:
        while not ended.wait(0.1):
            os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=tell)
    thread.start()
    interrupted = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        ended.set()
        thread.join()
        signal.signal(signal.SIGTERM, former)
        signal.signal(signal.SIGINT, interrupted)
