"""The client of the Anthropic API, against a local server that speaks its protocol."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.plugins.judging.llm.anthropic_model import AnthropicModel, parameters, sendable
from graphkit.plugins.judging.llm.gate import Gate
from graphkit.plugins.judging.llm.requests import Block, ModelError, Reply, Request, Turn, Usage
from tests.helpers import ROOT
from tests.helpers.api import Api, Response, Script, in_turn, limited, message, refusal, served
from tests.helpers.api import Reply as Sent
from tests.helpers.cli import environment
from tests.helpers.models import asked, reply_to, with_client

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 10}},
    "required": ["score"],
}


# What is sent ------------------------------------------------------------------------------------------------------


def test_request_as_the_api_takes_it() -> None:
    """System, turns, schema and effort stand in their places; no limit on numbers is left that the API refuses."""
    request = Request(
        "some-model",
        (Block("Judge.", shared=True),),
        (Turn("user", (Block("The answer.", shared=True), Block("Grade it."))),),
        schema=SCHEMA,
        max_tokens=77,
        effort="low",
    )
    with served(lambda api, body: message('{"score": 3}', 1000, 20)) as api:
        reply = reply_to(api, request)
    [sent] = api.requests
    marked = {"type": "ephemeral"}
    assert sent["model"] == "some-model"
    assert sent["max_tokens"] == 77
    assert sent["system"] == [{"type": "text", "text": "Judge.", "cache_control": marked}]
    first, second = sent["messages"][0]["content"]
    assert first == {"type": "text", "text": "The answer.", "cache_control": marked}
    assert second == {"type": "text", "text": "Grade it."}
    output = sent["output_config"]
    assert output["effort"] == "low"
    assert output["format"]["type"] == "json_schema"
    score = output["format"]["schema"]["properties"]["score"]
    assert score["type"] == "integer"
    assert not {"minimum", "maximum"} & score.keys()
    assert not {"temperature", "top_p", "top_k"} & sent.keys()
    assert reply == Reply('{"score": 3}', "claude-haiku-5-5", "end_turn", Usage(1000, 20), attempts=1)


def test_only_the_last_prefixes_are_marked() -> None:
    """The server keeps the last four of six shared blocks; one without text passes its mark to the one before."""
    blocks = tuple(Block(f"part {number}", shared=True) for number in range(6))
    request = Request("m", (), (Turn("user", (*blocks, Block("asked"), Block(" \n", shared=True))),))
    content = parameters(request)["messages"][0]["content"]
    # Marks: parts 0 to 5, and "asked" for the empty block: of these seven the last four.
    assert [part["text"] for part in content if "cache_control" in part] == ["part 3", "part 4", "part 5", "asked"]
    assert [part["text"] for part in content] == [*(f"part {number}" for number in range(6)), "asked"]


def test_one_block_is_plain_text() -> None:
    """A request of one block without a mark is a text, and nothing that wasn't asked for is sent."""
    assert parameters(asked("Hi", "m", max_tokens=5)) == {
        "model": "m",
        "max_tokens": 5,
        "messages": [{"role": "user", "content": "Hi"}],
    }


def test_schema_of_several_types() -> None:
    """A value that may be null is sent as one of two types, and a schema without a type is refused in words."""
    found = sendable({"type": "object", "properties": {"label": {"type": ["string", "null"]}}, "required": ["label"]})
    assert found["properties"]["label"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    with pytest.raises(InputError, match="can't accept this schema"):
        sendable({"type": "object", "properties": {"label": {}}})


def test_half_a_character_is_sent_as_a_mark() -> None:
    """Half a pair of surrogates, which JSON can hold and UTF-8 can't, breaks no request and no digest."""
    request = asked("a\ud800b")
    assert len(request.digest) == 64
    with served(lambda api, body: message(body["messages"][0]["content"])) as api:
        assert reply_to(api, request).text == "a?b"


def test_digest_is_of_what_determines_the_reply() -> None:
    """A mark for the server's cache changes no digest; text, schema, room and effort do."""
    plain = asked("x")
    assert Request("claude-haiku-5-5", (), (Turn("user", (Block("x", shared=True),)),)).digest == plain.digest
    others = [
        asked("y"),
        asked("x", "m"),
        asked("x", schema=SCHEMA),
        asked("x", max_tokens=9),
        asked("x", effort="low"),
    ]
    assert len({plain.digest, *(one.digest for one in others)}) == 6
    assert all(Request.from_json(one.as_json()).digest == one.digest for one in others)


# What comes back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("stop", "text"), [("refusal", ""), ("refusal", "I can't"), ("max_tokens", '{"score": ')])
def test_refusal_and_truncation_are_replies(stop: str, text: str) -> None:
    """A reply that is refused or cut off is one, with its stop reason and what it took."""
    with served(lambda api, body: message(text, 50, 7, stop_reason=stop)) as api:
        reply = reply_to(api, asked())
    assert (reply.text, reply.stop_reason, reply.usage) == (text, stop, Usage(50, 7))
    assert len(api.requests) == 1


def test_usage_and_thinking() -> None:
    """Tokens read from the server's cache and written to it are counted apart, and thinking is no part of the text."""
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    usage = {"input_tokens": 5, "output_tokens": 9, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 30}
    with served(lambda api, body: message("", content=content, usage=usage)) as api:
        reply = reply_to(api, asked())
    assert reply.text == "ab"
    assert reply.usage == Usage(5, 9, 100, 30)
    assert reply.usage.prompt_tokens == 135


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"type": "message"},
        {"content": [], "usage": {}},
        {"content": [], "usage": {"input_tokens": -1}},
        {
            "content": [],
            "usage": {"input_tokens": 10**30, "output_tokens": 1},
        },  # more than the file of replies can hold
    ],
)
def test_json_that_is_no_message(body: Any) -> None:
    """JSON of another form is no reply, and isn't asked for again: it may have been charged."""
    with (
        served(lambda api, _: Response(200, body)) as api,
        pytest.raises(ModelError, match="sent no message") as reported,
    ):
        reply_to(api, asked())
    assert (reported.value.label, reported.value.attempts, reported.value.lost) == ("no_reply", 1, 1)
    assert len(api.requests) == 1


# What goes wrong ---------------------------------------------------------------------------------------------------

MESSAGE = message("at last")


def test_server_that_forbids_a_repetition() -> None:
    """A request isn't repeated if the server forbids it."""
    reported = Response(500, refusal(500, "api_error", "never")[1], {"x-should-retry": "false"})
    with served(lambda api, body: reported) as api, pytest.raises(ModelError, match="never"):
        reply_to(api, asked())
    assert len(api.requests) == 1


# Many at once ------------------------------------------------------------------------------------------------------


class Watched:
    """A script that counts how many requests are inside at once, and when each begins."""

    def __init__(self, script: Script, seconds: float = 0.02) -> None:
        self.script, self.seconds = script, seconds
        self.lock = threading.Lock()
        self.inside = self.most = 0
        self.begun: list[float] = []

    def __call__(self, api: Api, body: dict[str, Any]) -> Sent | Response:
        with self.lock:
            self.begun.append(time.monotonic())
            self.inside += 1
            self.most = max(self.most, self.inside)
        time.sleep(self.seconds)
        with self.lock:
            self.inside -= 1
        return self.script(api, body)


def many(api: Api, count: int, **options: Any) -> list[Reply]:
    """Ask many requests at once."""

    async def work(model: AnthropicModel) -> list[Reply]:
        return list(await asyncio.gather(*(model.ask(asked(f"number {number}")) for number in range(count))))

    return with_client(api, work, **options)


def test_no_more_at_once_than_allowed() -> None:
    """At most three of twenty requests are under way, and more than one is."""
    watched = Watched(lambda api, body: message(body["messages"][0]["content"]))
    with served(watched) as api:
        replies = many(api, 20, concurrency=3)
    assert [reply.text for reply in replies] == [f"number {number}" for number in range(20)]
    assert 2 <= watched.most <= 3


def test_pause_is_everybodys() -> None:
    """A refusal with retry-after holds all requests back for so long, and not only the refused one."""
    watched = Watched(in_turn(limited(0.7), message("fine")), seconds=0.0)
    with served(watched) as api:
        replies = many(api, 6, concurrency=1)
    assert sum(reply.attempts for reply in replies) == len(watched.begun) == 7
    # The first is refused; whoever is next comes 0.7 s later at the earliest.
    assert watched.begun[1] - watched.begun[0] >= 0.69


def test_fewer_at_once_after_a_refusal() -> None:
    """A server that serves two at once and refuses the rest for the rate serves all of forty in the end."""
    lock, inside = threading.Lock(), 0

    def script(api: Api, body: dict[str, Any]) -> Sent | Response:
        nonlocal inside
        with lock:
            inside += 1
            refused = inside > 2
        time.sleep(0.02)
        with lock:
            inside -= 1
        return limited(0.05) if refused else message("fine")

    with served(script) as api:
        replies = many(api, 40, concurrency=16)
    assert all(reply.text == "fine" for reply in replies)
    # Sixteen at once from first to last would be refused many times over: 14 of 16 each time.
    assert len(api.requests) < 120


def test_server_that_asks_for_no_pause_gets_one() -> None:
    """A server that refuses with retry-after 0 again and again isn't asked as fast as it goes: 0.1, 0.2, 0.4 s."""
    watched = Watched(in_turn(*[limited(0)] * 4, MESSAGE), seconds=0.0)
    with served(watched) as api:
        reply = reply_to(api, asked(), backoff=0.1)
    assert reply.attempts == 5
    # The first is obeyed as it is; then at least half of 0.1, 0.2 and 0.4 s.
    assert watched.begun[-1] - watched.begun[0] >= 0.35


def test_one_model_in_several_event_loops() -> None:
    """A model may be used by one event loop after the other."""
    with served(lambda api, body: MESSAGE) as api, pytest.MonkeyPatch.context() as patch:
        for name, value in api.env.items():
            patch.setenv(name, value)
        model = AnthropicModel()

        async def work() -> str:
            async with model:
                return (await model.ask(asked())).text

        assert [asyncio.run(work()), asyncio.run(work())] == ["at last", "at last"]


def test_cancelled_requests_give_their_place_back() -> None:
    """Requests that are given up while they wait or are under way leave room for others."""

    def script(api: Api, body: dict[str, Any]) -> Sent:
        if body["messages"][0]["content"] == "slow":
            api.released.wait(20)
        return MESSAGE

    async def work(model: AnthropicModel) -> str:
        slow = [asyncio.create_task(model.ask(asked("slow"))) for _ in range(4)]
        await asyncio.sleep(0.3)
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        return (await asyncio.wait_for(model.ask(asked("quick")), 10)).text

    with served(script) as api:
        assert with_client(api, work, concurrency=2) == "at last"


def test_place_that_comes_at_the_moment_of_the_cancellation() -> None:
    """A request that is cancelled at the moment of getting a place passes it on."""

    async def take(gate: Gate) -> None:
        async with gate.place():
            pass

    async def work() -> None:
        gate = Gate(1)
        async with gate.place():
            waiting = asyncio.create_task(take(gate))
            await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.wait_for(take(gate), 5)

    asyncio.run(work())


# Credentials -------------------------------------------------------------------------------------------------------


def test_no_credentials(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without credentials it is said what to set, and that the rest works without."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(InputError, match=r"Set ANTHROPIC_API_KEY\. .*lexical"):
        AnthropicModel()


@pytest.mark.parametrize("key", ["sk-hidden\r", "sk-hidden\n", " sk-hidden", "“sk-hidden”"])
def test_key_that_can_not_be_sent(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is reported at once, without the key; the network would repeat it in an error that is kept beside the run."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    with pytest.raises(InputError, match="ANTHROPIC_API_KEY holds") as reported:
        AnthropicModel()
    assert "hidden" not in str(reported.value)


def test_header_that_can_not_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A header of the user's own may be a secret as well: it ends everything, and isn't shown."""
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Key: hid\rden")
    with served(lambda api, body: MESSAGE) as api, pytest.raises(InputError, match="CUSTOM_HEADERS") as reported:
        reply_to(api, asked())
    assert "den" not in str(reported.value)
    assert api.requests == []


@pytest.mark.parametrize("address", ["api.example.org", "http://me:hid:den@[::bad", "ftp://me:hidden@a.org", "http://"])
def test_address_that_is_none(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is reported at once what to write, and nothing of what stood there."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    with pytest.raises(InputError, match="ANTHROPIC_BASE_URL is no address") as reported:
        AnthropicModel()
    assert "hid" not in str(reported.value)


def test_password_in_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """The messages, which verdicts keep, show the address without it."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    with served(lambda api, body: refusal(400, "invalid_request_error", "no")) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url.replace("//", "//me:hidden@") + "?key=hidden")

        async def work() -> Reply:
            async with AnthropicModel() as model:
                return await model.ask(asked())

        with pytest.raises(ModelError, match=r"127\.0\.0\.1.* answers 400") as reported:
            asyncio.run(work())
    assert "hidden" not in str(reported.value)


def test_no_package() -> None:
    """Without the package it is said what to install."""
    program = (
        "import sys; sys.modules['anthropic'] = None\n"
        "from graphkit.errors import InputError\n"
        "from graphkit.plugins.judging.llm.anthropic_model import AnthropicModel\n"
        "try: AnthropicModel()\n"
        "except InputError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment(), cwd=ROOT, check=True
    )
    assert "pip install 'graphkit-eval[anthropic]'" in done.stdout


def test_server_of_its_own_process() -> None:
    """The local server serves processes that start it, until their end of the pipe is closed."""
    command = [sys.executable, "-m", "tests.helpers.api", "tests.plugins.judging.llm.test_client:scripted"]
    server = subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        api = Api(server.stdout.readline().strip())
        assert reply_to(api, asked("hello")).text == "on hello"
    finally:
        server.stdin.close()
        assert server.wait(60) == 0
        server.stdout.close()


def scripted(body: dict[str, Any]) -> Sent:
    """Answer with what was asked."""
    return message(f"on {body['messages'][0]['content']}")
