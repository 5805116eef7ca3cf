"""OTLP's binary form: what a real exporter sent, and bytes that are no message."""

from __future__ import annotations

import base64
from collections import Counter

import pytest

from graphkit.plugins.logs.openinference import OpenInferenceReader
from graphkit.plugins.logs.otlp_protobuf import export_of
from graphkit.readers.logged import ReadOptions, UnreadableLogError

#: What opentelemetry-exporter-otlp-proto-common 1.45.2 made of a question's span of 250 ms, which failed, and of a
#: retrieval within it with two documents, an event and an attribute of each type.
REAL = base64.b64decode(
    "Ct0EChUKEwoMc2VydmljZS5uYW1lEgMKAXMSwwQKCgoFc2NvcGUSATES/wIKEKsAAAAAAAAAAAAAAAAAAAESCAAAAAAAAAACIggAAAAAAAAAAS"
    "oIcmV0cmlldmUwATkAot9vk0XqGEEAg9V1k0XqGEomChdvcGVuaW5mZXJlbmNlLnNwYW4ua2luZBILCglSRVRSSUVWRVJKKAohcmV0cmlldmFs"
    "LmRvY3VtZW50cy4wLmRvY3VtZW50LmlkEgMKAWFKMQokcmV0cmlldmFsLmRvY3VtZW50cy4wLmRvY3VtZW50LnNjb3JlEgkhAAAAAAAA4D9KKA"
    "ohcmV0cmlldmFsLmRvY3VtZW50cy4xLmRvY3VtZW50LmlkEgMKAWJKMQokcmV0cmlldmFsLmRvY3VtZW50cy4xLmRvY3VtZW50LnNjb3JlEgkh"
    "AAAAAAAA0L9KEAoBbhILGPn//////////wFKCAoCb2sSAhABShEKAWwSDCoKCgMKAXgKAwoBeUoJCgFiEgQ6AgD/WhUJAKLfb5NF6hgSAWUaBw"
    "oBaxICGAF6AIUBAAEAABKyAQoQqwAAAAAAAAAAAAAAAAAAARIIAAAAAAAAAAEqA2FzazABOQCi32+TReoYQYBUxn6TReoYSiIKF29wZW5pbmZl"
    "cmVuY2Uuc3Bhbi5raW5kEgcKBUNIQUlOShMKC3F1ZXN0aW9uX2lkEgQKAnExShUKC2lucHV0LnZhbHVlEgYKBFdobz9KFwoMb3V0cHV0LnZhbH"
    "VlEgcKBcOEbm4uegwSCG5vIGluZGV4GAKFAQABAAA="
)


def test_what_an_exporter_sent() -> None:
    """Ids in hex, times and whole numbers as text, values by their type: the JSON form of the same spans."""
    [resource] = export_of(REAL)["resourceSpans"]
    [scope] = resource["scopeSpans"]
    retrieval, question = scope["spans"]
    assert (retrieval["traceId"], retrieval["spanId"]) == ("ab" + "0" * 29 + "1", "0" * 15 + "2")
    assert retrieval["parentSpanId"] == question["spanId"] == "0" * 15 + "1"
    assert "parentSpanId" not in question
    assert question["status"] == {"message": "no index", "code": 2}
    assert (question["startTimeUnixNano"], question["endTimeUnixNano"]) == (
        "1795323901000000000",
        "1795323901250000000",
    )
    values = {pair["key"]: pair["value"] for pair in retrieval["attributes"]}
    assert values["retrieval.documents.1.document.score"] == {"doubleValue": -0.25}
    assert (values["n"], values["ok"], values["b"]) == ({"intValue": "-7"}, {"boolValue": True}, {"bytesValue": "AP8="})
    assert values["l"] == {"arrayValue": {"values": [{"stringValue": "x"}, {"stringValue": "y"}]}}
    assert retrieval["events"][0]["name"] == "e"


def test_it_is_read_like_any_other_form() -> None:
    """The reader gets question, ranking, answer, latency and error from it."""
    [answer] = OpenInferenceReader().read([("sent:1", export_of(REAL))], ReadOptions(), Counter())
    assert (answer.question, answer.question_text, answer.answer) == ("q1", "Who?", "Änn.")
    assert (answer.latency_ms, answer.error) == (250.0, "no index")
    assert answer.retrieved is not None
    assert [(chunk.name, chunk.score) for chunk in answer.retrieved] == [("a", 0.5), ("b", -0.25)]


def nested(depth: int) -> bytes:
    """Return an attribute's value that is a list in a list, so often: each list is two messages."""
    value = b""
    for _ in range(depth):
        value = _part(5, _part(1, value))
    return _part(1, _part(2, _part(2, _part(9, _part(2, value)))))


def _part(number: int, body: bytes) -> bytes:
    length, size = len(body), b""
    while length > 0x7F:
        size += bytes([length & 0x7F | 0x80])
        length >>= 7
    return bytes([number << 3 | 2]) + size + bytes([length]) + body


def test_what_is_not_known_is_skipped() -> None:
    """Fields of later versions, of each type, change nothing."""
    later = b"\x78\x05" + b"\x79" + bytes(8) + b"\x7d" + bytes(4) + _part(15, b"later")
    assert export_of(later) == {}
    assert export_of(later + REAL) == export_of(REAL)
    assert export_of(nested(20))["resourceSpans"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"\x0a\x05ab", "longer than what holds it"),
        (b"\x0a", "ends within a number"),
        (b"\xff" * 11, "is too long"),
        (b"\x08\x01", "resourceSpans at byte 1 is of another type"),
        (b"\x0b", "byte 1 has no type of a field"),
        (_part(1, _part(2, _part(2, _part(5, b"\xff")))), "isn't UTF-8"),
        (nested(200), "nested more than 100 deep"),
        (b'{"resourceSpans": []}', "isn't an export of spans"),
        (REAL[:300], "longer than what holds it"),
    ],
)
def test_what_is_no_export_is_refused(body: bytes, words: str) -> None:
    """Hostile or damaged bytes end in an error that says what is wrong."""
    with pytest.raises(UnreadableLogError, match=words):
        export_of(body)


@pytest.mark.slow("a million messages")
def test_many_small_messages_are_bounded() -> None:
    """Two bytes make a message: of a body with more than a million of them nothing is kept."""
    with pytest.raises(UnreadableLogError, match="more than 1,000,000 messages"):
        export_of(b"\x0a\x00" * 1_000_001)
