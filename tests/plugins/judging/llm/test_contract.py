"""The contract of every client of a model API, whatever its protocol, against a real server on this machine."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.plugins.judging.llm.requests import ModelError, Reply
from tests.helpers.api import Api, Response, in_turn, served, with_faults
from tests.helpers.api import Reply as Sent
from tests.helpers.chat import CHAT, MESSAGES, OWN, PROTOCOLS, Protocol, completion, last_text
from tests.helpers.models import asked

each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda one: one.name)


@each_protocol
def test_reply(protocol: Protocol) -> None:
    """A reply has its text, the model that gave it, why it ended, and its tokens."""
    with served(lambda api, body: protocol.message(f"on {last_text(body)}", 7, 3)) as api:
        reply = protocol.reply(api, asked("hello", "m"))
    assert (reply.text, reply.stop_reason, reply.attempts, reply.lost) == ("on hello", "end_turn", 1, 0)
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (7, 3)
    assert reply.model == protocol.message("")[1]["model"]
    assert (api.requests[0]["model"], len(api.requests)) == ("m", 1)


def broken(protocol: Protocol, name: str) -> tuple[list[Sent | Response], int]:
    """Return what a broken server sends before a whole reply, and how many of these may have been charged."""
    whole = protocol.message("at last")[1]
    faults: dict[str, tuple[list[Sent | Response], int]] = {
        "rate": ([protocol.refusal(429, "rate_limit_error", "slow")], 0),
        "pause": ([protocol.limited(0.01)], 0),
        "500": ([protocol.refusal(500, "api_error", "oops"), protocol.refusal(503, "api_error", "oops")], 0),
        "gateway": ([Response(502, b"<html>bad gateway</html>", {"content-type": "text/html"})], 1),
        "half of the JSON": ([Response(200, b'{"id": "mess')], 1),
        "no JSON": ([Response(200, b"fine", {"content-type": "text/plain"})], 1),
        "cut in the body": ([Response(200, whole, cut=40)] * 2, 2),
        "cut after the head": ([Response(200, whole, cut=0)], 1),
        "busy": ([protocol.refusal(529, "overloaded_error", "busy")], 0),
    }
    return faults[name]


@each_protocol
@pytest.mark.parametrize(
    "fault",
    ["rate", "pause", "busy", "500", "gateway", "half of the JSON", "no JSON", "cut in the body", "cut after the head"],
)
def test_what_passes_is_sent_again(protocol: Protocol, fault: str) -> None:
    """What a server may not do again is sent again; the attempts count, and those that may have been charged."""
    failures, lost = broken(protocol, fault)
    with served(in_turn(*failures, protocol.message("at last"))) as api:
        reply = protocol.reply(api, asked())
    assert reply.text == "at last"
    assert reply.attempts == len(api.requests) == len(failures) + 1
    assert reply.lost == lost


@each_protocol
@pytest.mark.parametrize("fault", ["500", "half of the JSON", "cut in the body"])
def test_what_stays_broken_ends(protocol: Protocol, fault: str) -> None:
    """A server that fails for ever is left after so many attempts; the message names it, and says how often."""
    failure = broken(protocol, fault)[0][0]
    with (
        served(lambda api, body: failure) as api,
        pytest.raises(ModelError, match=r"127\.0\.0\.1.*given up after 3 attempts") as failed,
    ):
        protocol.reply(api, asked(), attempts=3)
    assert (failed.value.label, failed.value.attempts, len(api.requests)) == ("no_reply", 3, 3)
    assert failed.value.lost == (0 if fault == "500" else 3)


@each_protocol
def test_slow_beyond_the_time_out(protocol: Protocol) -> None:
    """A reply that doesn't come in time is given up and asked for again; it may have been charged."""

    def script(api: Api, body: dict[str, Any]) -> Sent:
        if len(api.requests) == 1:
            api.released.wait(20)
        return protocol.message("at last")

    with served(script) as api:
        reply = protocol.reply(api, asked(), timeout=1.0)
    assert (reply.text, reply.attempts, reply.lost) == ("at last", 2, 1)


@each_protocol
@pytest.mark.parametrize("body", [[], {}, {"choices": [], "content": [], "usage": {}}, {"error": "no"}, "fine", 3])
def test_json_of_another_form(protocol: Protocol, body: Any) -> None:
    """JSON that is no message fails its request, and isn't asked for again: it may have been charged."""
    with (
        served(lambda api, _: Response(200, body)) as api,
        pytest.raises(ModelError, match=r"sent no (message|usable reply)") as failed,
    ):
        protocol.reply(api, asked())
    assert (failed.value.attempts, failed.value.lost, len(api.requests)) == (1, 1, 1)


@each_protocol
@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (400, ModelError, "not like this"),
        (413, ModelError, "not like this"),
        (401, InputError, "KEY"),
        (402, InputError, "KEY"),
        (403, InputError, "KEY"),
        (404, InputError, "--model"),
    ],
)
def test_what_stays_wrong_is_sent_once(protocol: Protocol, status: int, error: type[Exception], words: str) -> None:
    """A request that is wrong fails alone; a wrong key, model or address ends everything, and says what to set."""
    with (
        served(lambda api, body: protocol.refusal(status, "some_error", "not like this")) as api,
        pytest.raises(error, match=protocol.key if words == "KEY" else words) as failed,
    ):
        protocol.reply(api, asked())
    assert "not like this" in str(failed.value)
    assert len(api.requests) == 1


@each_protocol
def test_pause_that_is_too_long(protocol: Protocol) -> None:
    """Nobody waits an hour in silence: the request has no reply, and says why."""
    with served(lambda api, body: protocol.limited(3600)) as api, pytest.raises(ModelError, match="pause of 3600 s"):
        protocol.reply(api, asked())
    assert len(api.requests) == 1


@each_protocol
def test_faults_lose_nothing(protocol: Protocol) -> None:
    """With refusals for the rate and errors of the server, each of 150 requests gets its own reply."""
    script = with_faults(lambda api, body: protocol.message(last_text(body)))

    async def work(model: Any) -> list[Reply]:
        return list(await asyncio.gather(*(model.ask(asked(f"number {number}")) for number in range(150))))

    with served(script) as api:
        replies = protocol.asking(api, work, concurrency=16)
    assert [reply.text for reply in replies] == [f"number {number}" for number in range(150)]
    assert sum(reply.attempts for reply in replies) == len(api.requests) > 150


@each_protocol
def test_key_is_never_shown(protocol: Protocol, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that repeats the key doesn't bring it into a message."""
    monkeypatch.setenv(protocol.key, "sk-hidden-123456")
    with (
        served(lambda api, body: protocol.refusal(400, "some_error", f"no: {api.headers[0]}")) as api,
        pytest.raises(ModelError) as failed,
    ):
        asyncio.run(_ask(protocol, api, monkeypatch))
    assert "sk-hidden-123456" in str(api.headers[0])
    assert "hidden" not in str(failed.value)


async def _ask(protocol: Protocol, api: Api, patch: pytest.MonkeyPatch) -> Reply:
    for name, value in protocol.env(api).items():
        if name != protocol.key:
            patch.setenv(name, value)
    async with protocol.client() as model:
        return await model.ask(asked())


@pytest.mark.parametrize(("protocol", "error"), [(MESSAGES, ModelError), (CHAT, InputError), (OWN, InputError)])
def test_nobody_listens(protocol: Protocol, error: type[Exception]) -> None:
    """If no server is at an address of this machine, it is named, and a chat server isn't tried again and again."""
    with served(lambda api, body: protocol.message("fine")) as api:
        pass
    with pytest.raises(error, match=api.url):
        protocol.reply(api, asked(), attempts=2)


def test_server_that_ends_between_requests() -> None:
    """A chat server that has answered and is gone fails the request alone: it may be back soon."""

    async def work(model: Any) -> None:
        assert (await model.ask(asked())).text == "fine"
        server.close()
        await model.ask(asked())

    with contextlib.ExitStack() as server:
        api = server.enter_context(served(lambda api, body: completion("fine")))
        with pytest.raises(ModelError, match="given up after 2 attempts") as failed:
            OWN.asking(api, work, attempts=2)
    # The first attempt goes over the open connection, and so may have arrived; the second reaches nobody.
    assert (failed.value.attempts, failed.value.lost) in {(2, 0), (2, 1)}
