"""Replies without an end, from a real server over loopback to the real client."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from graphkit.plugins.judging.llm.requests import ModelError
from tests.helpers.api import Api, Response, message, refusal, served
from tests.helpers.models import asked, reply_to, with_client

#: 64 MiB of spaces by gzip: 64 KB.
BOMB = gzip.compress(b" " * (64 << 20))


def failure(api: Api, **options: float) -> ModelError:
    """Return why a request gets no reply."""
    with pytest.raises(ModelError) as raised:
        with_client(api, lambda model: model.ask(asked()), **options)
    return raised.value


@contextmanager
def sending(head: bytes, piece: bytes, pause: float) -> Iterator[Api]:
    """Serve the same piece over and over, with a pause after each."""
    server = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def answer(connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.recv(1 << 16)
            connection.sendall(head)
            while not ended.wait(pause):
                connection.sendall(piece)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=answer, args=[server.accept()[0]], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield Api(f"http://127.0.0.1:{server.getsockname()[1]}")
    finally:
        ended.set()
        server.close()


@pytest.mark.parametrize("status", [200, 500])
def test_a_reply_that_unpacks_to_too_much_is_refused_at_once(status: int) -> None:
    """64 MiB in 64 KB, as a reply and as an error: it is asked for once, and may have been charged."""
    packed = Response(status, BOMB, {"content-encoding": "gzip"})
    with served(lambda api, body: packed) as api:
        error = failure(api)
    assert "the reply of" in str(error)
    assert "is longer than 16 MiB" in str(error)
    assert (error.attempts, error.lost, len(api.requests)) == (1, 1, 1)


def test_a_plain_reply_without_an_end_is_refused() -> None:
    """A server that sends on and on is cut off at 16 MiB."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"
    with sending(head, b" " * (1 << 20), 0.0) as api:
        error = failure(api)
    assert "is longer than 16 MiB" in str(error)


def test_a_packed_reply_is_read() -> None:
    """A reply that came by gzip is the same reply; the client asks for nothing else."""
    plain = Response(200, message("fine")[1]).data
    with served(lambda api, body: Response(200, gzip.compress(plain), {"content-encoding": "gzip"})) as api:
        assert reply_to(api, asked()).text == "fine"


def test_a_packing_that_was_not_asked_for_is_refused() -> None:
    """Zstandard unpacks 32 000 times as much as it takes."""
    with served(lambda api, body: Response(200, b"x", {"content-encoding": "zstd"})) as api:
        assert "it is packed by 'zstd'" in str(failure(api))


def test_endless_slow_bodies_end() -> None:
    """A space every 20 ms, for ever: three attempts of 0.2 s end at the deadline, long before ten attempts would."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"
    with sending(head, b" ", 0.02) as api:
        error = failure(api, timeout=0.2, deadline=0.5, attempts=10)
    assert "no reply from" in str(error)
    assert f"(given up after {error.attempts} attempts in 0 s)" in str(error)
    assert 2 <= error.attempts <= 3


def test_the_number_of_attempts_is_reported() -> None:
    """A server that always fails is asked as often as is said."""
    with served(lambda api, body: refusal(500, "api_error", "broken")) as api:
        error = failure(api, attempts=3)
    assert str(error).endswith("api_error: broken (given up after 3 attempts)")
    assert error.attempts == 3
