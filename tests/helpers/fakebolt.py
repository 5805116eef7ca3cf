"""A server that speaks just enough Bolt 5.4 to greet a driver: as an old Neo4j, or one that wants other credentials."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator

_HELLO, _LOGON, _ROUTE, _GOODBYE = 0x01, 0x6A, 0x66, 0x02
_SUCCESS, _FAILURE = 0x70, 0x7F


@contextlib.contextmanager
def bolt_server(agent: str, refusal: str | None = None) -> Iterator[str]:
    """Serve on a free port and yield the address. ``refusal``: the code of the failure that answers every login."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_accept, args=(server, agent, refusal), daemon=True).start()
        yield f"bolt://127.0.0.1:{server.getsockname()[1]}"


@contextlib.contextmanager
def silent_server() -> Iterator[str]:
    """Accept connections, and never say a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"bolt://127.0.0.1:{server.getsockname()[1]}"


def _accept(server: socket.socket, agent: str, refusal: str | None) -> None:
    with contextlib.suppress(OSError):
        while True:
            client, _ = server.accept()
            threading.Thread(target=_serve, args=(client, agent, refusal), daemon=True).start()


def _serve(client: socket.socket, agent: str, refusal: str | None) -> None:
    with client, contextlib.suppress(OSError, EOFError):
        _exactly(client, 20)  # the magic number, and four ranges of versions
        client.sendall(bytes((0, 0, 4, 5)))
        while (tag := _message(client)) != _GOODBYE:
            if tag == _LOGON and refusal is not None:
                _send(client, _FAILURE, {"code": refusal, "message": "no"})
            elif tag == _ROUTE:
                _send(client, _FAILURE, {"code": "Neo.ClientError.Procedure.ProcedureNotFound", "message": "no"})
            else:
                _send(client, _SUCCESS, {"server": agent, "connection_id": "bolt-1"} if tag == _HELLO else {})


def _exactly(client: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = client.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def _message(client: socket.socket) -> int:
    """Read one message in its chunks, and return the tag of its structure."""
    content = b""
    while (size := struct.unpack(">H", _exactly(client, 2))[0]) or not content:
        content += _exactly(client, size)
    return content[1]


def _send(client: socket.socket, tag: int, fields: dict[str, str]) -> None:
    """Send a structure of one small map of short texts."""
    content = bytes((0xB1, tag, 0xA0 + len(fields))) + b"".join(_text(part) for pair in fields.items() for part in pair)
    client.sendall(struct.pack(">H", len(content)) + content + b"\0\0")


def _text(text: str) -> bytes:
    data = text.encode()
    return bytes((0xD0, len(data))) + data
