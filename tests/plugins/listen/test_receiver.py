"""The receiver of traces, by real requests over loopback."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.files import loopback
from graphkit.plugins.listen import receiver as module
from graphkit.plugins.listen.receiver import TraceReceiver
from graphkit.plugins.listen.trace_server import LONGEST
from tests.plugins.logs.test_otlp_protobuf import REAL
from tests.plugins.logs.test_spans import OTLP_ATTRIBUTES, TRACE, otlp

EXPORT = otlp(OTLP_ATTRIBUTES, TRACE, f"{1:016x}")
BODY = json.dumps(EXPORT).encode()
JSON = {"Content-Type": "application/json"}
GZIP = {**JSON, "Content-Encoding": "gzip"}


@pytest.fixture
def reported() -> list[str]:
    """Collect what is reported of refusals."""
    return []


@pytest.fixture
def receiver(tmp_path: Path, reported: list[str]) -> Iterator[TraceReceiver]:
    """Listen on a free port."""
    with TraceReceiver(tmp_path / "live.spans", 0, reported.append) as opened:
        yield opened


def address(receiver: TraceReceiver) -> tuple[str, int]:
    """Return where it listens."""
    host, _, port = receiver.endpoint.removeprefix("http://").partition(":")
    return host, int(port)


def send(
    receiver: TraceReceiver,
    body: Any = BODY,
    headers: dict[str, str] = JSON,
    path: str = "/v1/traces",
    method: str = "POST",
) -> tuple[int, str, bytes]:
    """Send a request, and return the status, the content type and the body of the answer."""
    connection = http.client.HTTPConnection(*address(receiver), timeout=60)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read()
    finally:
        connection.close()


def kept(receiver: TraceReceiver) -> list[Any]:
    """Return what was written."""
    return [json.loads(line) for line in receiver.spool.read_text().splitlines()]


def test_json_is_kept_as_it_came(receiver: TraceReceiver) -> None:
    """Plain, packed, and sent in chunks as some exporters do: three lines of the same export."""
    assert send(receiver) == (200, "application/json", b"{}")
    assert send(receiver, gzip.compress(BODY), GZIP)[0] == 200
    halves = iter([BODY[:100], BODY[100:]])  # without a length http.client sends chunks
    assert send(receiver, halves)[0] == 200
    assert kept(receiver) == [EXPORT] * 3
    assert receiver.spans == 3


def test_the_binary_form_is_kept_as_json(receiver: TraceReceiver) -> None:
    """A real exporter's message becomes a line of OTLP JSON with two spans; the answer is an empty message."""
    assert send(receiver, REAL, {"Content-Type": "application/x-protobuf"}) == (200, "application/x-protobuf", b"")
    [export] = kept(receiver)
    assert [one["name"] for one in export["resourceSpans"][0]["scopeSpans"][0]["spans"]] == ["retrieve", "ask"]
    assert receiver.spans == 2


def test_one_connection_serves_many_exports(receiver: TraceReceiver) -> None:
    """An exporter keeps its connection."""
    connection = http.client.HTTPConnection(*address(receiver), timeout=60)
    for _ in range(3):
        connection.request("POST", "/v1/traces", BODY, JSON)
        assert connection.getresponse().read() == b"{}"
    connection.close()
    assert receiver.spans == 3


@pytest.mark.parametrize(
    ("request_", "status", "words"),
    [
        ({"headers": {"Content-Type": "text/plain"}}, 415, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"),
        ({"headers": {}}, 415, "the content type ''"),
        ({"headers": {**JSON, "Content-Encoding": "br"}}, 415, "OTEL_EXPORTER_OTLP_COMPRESSION=gzip"),
        ({"body": b"{"}, 400, "isn't JSON"),
        ({"body": b"[" * 100_000}, 400, "isn't JSON"),
        ({"body": b'{"a": ' + b"9" * 10_000 + b"}"}, 400, "isn't JSON"),
        ({"body": b"\xff"}, 400, "isn't JSON"),
        ({"body": b"[]"}, 400, "no list of resourceSpans"),
        ({"body": b"7"}, 400, "no list of resourceSpans"),
        ({"body": b'{"resourceSpans": [7]}'}, 400, "isn't a list of objects"),
        ({"body": json.dumps(otlp([], "", "1")).encode()}, 400, "no trace id or no span id"),
        (
            {"body": b"\x0a\x05", "headers": {"Content-Type": "application/x-protobuf"}},
            400,
            "longer than what holds it",
        ),
        ({"body": BODY, "headers": GZIP}, 400, "isn't whole gzip"),
        ({"body": gzip.compress(BODY)[:-9], "headers": GZIP}, 400, "isn't whole gzip"),
        ({"body": gzip.compress(bytes(LONGEST + 1), 1), "headers": GZIP}, 413, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"),
        ({"headers": {**JSON, "Content-Length": str(LONGEST + 1)}, "body": b""}, 413, "32 MiB"),
        ({"headers": {**JSON, "Content-Length": "9" * 5000}, "body": b""}, 413, "32 MiB"),
        ({"headers": {**JSON, "Content-Length": "-1"}, "body": b""}, 411, "length of the body is missing"),
        ({"body": iter([])}, 400, "isn't JSON"),
        ({"path": "/v1/metrics"}, 404, "OTEL_METRICS_EXPORTER=none"),
        ({"path": "/"}, 404, "send spans to /v1/traces"),
        ({"method": "GET", "body": None}, 405, "only POST"),
        ({"method": "BREW"}, 405, "only POST"),
        ({"headers": {**JSON, "Host": "evil.example:4318"}}, 403, "isn't this machine"),
        ({"headers": {**JSON, "Origin": "https://evil.example"}}, 403, "web pages"),
    ],
)
def test_what_is_refused(
    receiver: TraceReceiver, reported: list[str], request_: dict[str, Any], status: int, words: str
) -> None:
    """Each has its status and says what to do, to the sender and here; nothing is kept, and the next is taken."""
    answer = send(receiver, **request_)
    assert (answer[0], answer[1]) == (status, "text/plain; charset=utf-8")
    assert words in answer[2].decode()
    assert [words in why for why in reported] == [True]
    assert receiver.spool.read_bytes() == b""
    assert send(receiver)[0] == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n",
        b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n",
        b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"POST /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused(receiver: TraceReceiver, capfd: pytest.CaptureFixture[str], sent: bytes) -> None:
    """gRPC, TLS and broken requests are answered or cut off; no traceback is printed, and the next is taken."""
    with socket.create_connection(address(receiver), timeout=60) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        try:
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
        except ConnectionResetError:
            answer = b""
    assert b"200 OK" not in answer
    assert send(receiver)[0] == 200
    assert capfd.readouterr() == ("", "")


def test_a_reason_is_reported_once(receiver: TraceReceiver, reported: list[str]) -> None:
    """An exporter that tries again and again says it once, and it is counted."""
    for _ in range(3):
        send(receiver, b"{")
    assert reported == ["the body isn't JSON"]
    assert receiver.refusals == {"the body isn't JSON": 3}


def test_it_knows_when_a_trace_has_ended(receiver: TraceReceiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its outermost span has come, and for a while no other."""
    monkeypatch.setattr(module, "QUIET", 60.0)
    inner = otlp(OTLP_ATTRIBUTES, TRACE, f"{2:016x}", parentSpanId=f"{1:016x}")
    send(receiver, json.dumps(inner).encode())
    assert receiver.ended() is None
    monkeypatch.setattr(module, "QUIET", 0.0)
    assert receiver.ended() == 0
    send(receiver)
    assert receiver.ended() == 1


def test_only_this_machine_is_listened_to(receiver: TraceReceiver) -> None:
    """It is bound to the loopback address alone."""
    assert address(receiver)[0] == "127.0.0.1"


def test_a_port_that_is_taken_and_a_file_that_is_there(receiver: TraceReceiver, tmp_path: Path) -> None:
    """Both are reported before anything is listened for; what is there is kept unless it is to be replaced."""
    with pytest.raises(InputError, match=r"port \d+ of 127.0.0.1 can't be opened"):
        TraceReceiver(tmp_path / "other.spans", address(receiver)[1])
    assert not (tmp_path / "other.spans").exists()
    with pytest.raises(InputError, match="there is a file already"):
        TraceReceiver(receiver.spool, 0)
    with pytest.raises(InputError, match="can't be written"):
        TraceReceiver(tmp_path / "nowhere" / "live.spans", 0)


def test_a_full_disk_leaves_no_half_line(tmp_path: Path) -> None:
    """A message that can't be written is refused, so that the exporter tries again."""
    with TraceReceiver(Path("/dev/full"), 0, force=True) as opened:
        status, _, why = send(opened)
    assert (status, b"No space left" in why) == (503, True)


def drip(receiver: TraceReceiver, begin: bytes) -> bytes:
    """Send a byte every 20 ms behind a beginning, until the receiver answers or hangs up; return what it says."""
    with socket.create_connection(address(receiver), 20) as sender:
        sender.sendall(begin)
        sender.settimeout(0.02)
        while True:
            try:
                return sender.recv(1 << 16)
            except TimeoutError:
                try:
                    sender.sendall(b"1")
                except ConnectionError:
                    return b""


HEAD = b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    "begin", [HEAD + b"Content-Length: 999999\r\n\r\n", HEAD + b"Transfer-Encoding: chunked\r\n\r\n"]
)
def test_a_request_has_a_deadline(
    receiver: TraceReceiver, reported: list[str], monkeypatch: pytest.MonkeyPatch, begin: bytes
) -> None:
    """A body that goes on without an end used to be read for ever: a sender that is never silent had no limit."""
    monkeypatch.setattr(loopback, "DEADLINE", 0.2)
    answer = drip(receiver, begin)
    assert answer.startswith((b"HTTP/1.1 408 ", b"HTTP/1.1 400 "))
    assert reported in ([loopback.too_late()], ["a chunk of the body has no length"])


def test_a_head_without_an_end_is_cut_off(receiver: TraceReceiver, reported: list[str], monkeypatch: Any) -> None:
    """The head of a request has the same deadline."""
    monkeypatch.setattr(loopback, "DEADLINE", 0.2)
    assert drip(receiver, HEAD + b"X: ") == b""
    assert reported == [loopback.too_late()]


def test_a_long_head_is_refused(receiver: TraceReceiver, reported: list[str]) -> None:
    """More than 64 KiB of headers aren't held: 3 of 30 KB are."""
    headers = {**JSON, **{f"X-{number}": "a" * 30_000 for number in range(3)}}
    with pytest.raises((ConnectionError, http.client.HTTPException, AssertionError)):
        assert send(receiver, headers=headers)[0] == 200
    assert reported == ["the head is longer than 64 KiB"]


def test_slow_senders_take_nobodys_place(receiver: TraceReceiver) -> None:
    """40 senders that have begun and say nothing more, and a quick one that is answered at once."""
    slow = [socket.create_connection(address(receiver), 20) for _ in range(40)]
    try:
        for sender in slow:
            sender.sendall(HEAD + b"Content-Length: 999999\r\n\r\n1")
        assert send(receiver)[0] == 200
    finally:
        for sender in slow:
            sender.close()


def test_a_body_of_millions_of_values_is_refused(receiver: TraceReceiver) -> None:
    """24 MB of empty lists would take 650 MB."""
    body = b'{"resourceSpans": [' + b"[]," * (8 << 20) + b"[]]}"
    status, _, said = send(receiver, gzip.compress(body), GZIP)
    assert (status, said) == (413, b"the body holds millions of values: send less at once\n")
