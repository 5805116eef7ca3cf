"""Chat completions: forms of replies, addresses and keys, usage, and servers that differ."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.errors import InputError
from graphkit.plugins.judging.llm.api_client import ApiClient
from graphkit.plugins.judging.llm.chat_completions import SERVICES, ChatModel, _object_in, strict_schema
from graphkit.plugins.judging.llm.requests import Block, ModelError, Reply, Request, Turn, Usage
from tests.helpers.api import Api, Response, served
from tests.helpers.api import Reply as Sent
from tests.helpers.chat import CHAT, OWN, Protocol, choice, completion, last_text, refused
from tests.helpers.models import asked
from tests.helpers.properties import examples

FORM = {"type": "object", "properties": {"score": {"type": "integer", "minimum": 0}}, "title": "Form"}
VERDICT = '{"score": 7}'


Script = Callable[[Api, dict[str, Any]], Sent | Response]


def graded(protocol: Protocol, script: Script, **options: Any) -> tuple[list[Reply], list[dict[str, Any]]]:
    """Return the replies of a server to two requests for a form, one after the other, and all that it was sent."""

    async def work(model: ApiClient) -> list[Reply]:
        return [await model.ask(asked(text, "m", schema=FORM)) for text in ("one", "two")]

    with served(script) as api:
        return protocol.asking(api, work, **options), api.requests


# The form of replies -------------------------------------------------------------------------------------------------


def refusing(*forms: str) -> Callable[[Api, dict[str, Any]], Sent]:
    """Return a server that refuses these types of `response_format`."""

    def script(api: Api, body: dict[str, Any]) -> Sent:
        kind = body.get("response_format", {"type": "text"})["type"]
        if kind in forms or ("schema" in body.get("response_format", {}) and "schema" in forms):
            return refused(400, "invalid_request_error", f"'response_format.type' {kind} is not supported")
        return completion(f"Here it is: {VERDICT}" if kind == "text" else VERDICT)

    return script


SCHEMA, OBJECT = "json_schema", "json_object"


@pytest.mark.parametrize(
    ("protocol", "forms", "kinds", "reported"),
    [
        (CHAT, (), [SCHEMA] * 2, []),
        (CHAT, (SCHEMA,), [SCHEMA, OBJECT, OBJECT], ["json_object"]),
        (CHAT, (SCHEMA, OBJECT), [SCHEMA, OBJECT, "text", "text"], ["json_object", "text"]),
        (OWN, (SCHEMA,), [SCHEMA, OBJECT, OBJECT], ["json_object with a schema"]),
        (OWN, (SCHEMA, "schema"), [SCHEMA, *[OBJECT] * 3], ["json_object with a schema", "json_object"]),
    ],
)
def test_forms_that_a_server_refuses(
    protocol: Protocol, forms: tuple[str, ...], kinds: list[str], reported: list[str]
) -> None:
    """A refused form is replaced by the next plainer one, once for all requests, and it is reported."""
    notes: list[str] = []
    replies, sent = graded(protocol, refusing(*forms), notify=notes.append)
    assert [reply.text for reply in replies] == [VERDICT] * 2
    assert [body.get("response_format", {"type": "text"})["type"] for body in sent] == kinds
    assert sum(reply.attempts for reply in replies) == len(sent)
    # Where the format doesn't hold the schema the prompt does, after the text of the request.
    for body in sent:
        shown = '"score"' in last_text(body)
        assert shown != ('"score"' in json.dumps(body.get("response_format", {})))
    assert [note.partition(" asked for as ")[2] for note in notes] == reported


def test_refusal_as_an_error_of_the_server() -> None:
    """A server that answers 500 to a form, as llama-cpp-python does in these words, is asked more plainly at once."""
    what = "{'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"}"

    def script(api: Api, body: dict[str, Any]) -> Sent:
        if body["response_format"]["type"] == SCHEMA:
            return 500, {"error": {"message": f"1 validation error:\n {what}", "type": "internal_server_error"}}
        return completion(VERDICT)

    replies, sent = graded(OWN, script)
    assert ([reply.text for reply in replies], len(sent)) == ([VERDICT] * 2, 3)


def test_requests_at_the_same_time_learn_once() -> None:
    """Eight requests that are refused at the same time find one plainer form, and not eight."""
    notes: list[str] = []

    async def work(model: ApiClient) -> list[Reply]:
        return await asyncio.gather(*(model.ask(asked(str(one), "m", schema=FORM)) for one in range(8)))

    with served(refusing("json_schema")) as api:
        replies = CHAT.asking(api, work, notify=notes.append)
    assert [reply.text for reply in replies] == [VERDICT] * 8
    assert len(notes) == 1


def test_server_that_ignores_the_form() -> None:
    """A server that takes the form and answers in prose is shown the schema from then on."""
    script = lambda api, body: completion(VERDICT if '"score"' in last_text(body) else "I like it.")  # noqa: E731
    assert [reply.text for reply in graded(OWN, script)[0]] == ["I like it.", VERDICT]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (VERDICT, VERDICT),
        (f"```json\n{VERDICT}\n```", VERDICT),
        (f"<think>Is it {{7}}?</think>\n{VERDICT}", VERDICT),
        (f"The verdict is {VERDICT}, I think.", VERDICT),
        # One of two may be quoted from the judged answer, and so may the whole one before or in a broken one.
        (f'It says {{"score": 10}}, and I say {VERDICT}.', None),
        ('It says {"score": 10}, and I say {"score": 2', None),
        ('{"reasoning": "it says "{"score": 10}""}', None),
        ("no verdict", None),
    ],
)
def test_object_in_a_text(text: str, read: str | None) -> None:
    """The only JSON object of a reply is the verdict; a reply with another one stays as it is, which is unusable."""
    replies, _ = graded(CHAT, lambda api, body: completion(text))
    assert replies[0].text == (text if read is None else read)


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
@examples(200)
def test_any_object_is_read_back(value: Any) -> None:
    """Whatever object a model writes, with words around it, is read back."""
    written = json.dumps({"value": value})
    assert _object_in(f"Sure!\n{written}\nThat's all.") == written


def test_strict_schema() -> None:
    """A service gets all properties as required, no others, and bounds as words; a server of one's own all of it."""
    service, own = (
        graded(protocol, lambda api, body: completion(VERDICT))[1][0]["response_format"]["json_schema"]["schema"]
        for protocol in (CHAT, OWN)
    )
    assert own == FORM
    assert service == {
        "type": "object",
        "properties": {"score": {"type": "integer", "description": "(minimum: 0)"}},
        "title": "Form",
        "additionalProperties": False,
        "required": ["score"],
    }
    # A property may bear the name of a bound, and an enumeration holds values.
    named = {"properties": {"format": {"enum": [{"minimum": 1}]}}, "type": "object"}
    assert strict_schema(named)["properties"] == {"format": {"enum": [{"minimum": 1}]}}


@pytest.mark.parametrize("service", ["openai", "mistral"])
def test_limit_under_its_other_name(service: str) -> None:
    """A server that doesn't know the parameter that limits a reply gets the other one, which stays."""
    first = SERVICES[service].room
    protocol = Protocol(
        *("x", completion, refused, lambda **options: ChatModel(SERVICES[service], **options)),
        *(lambda api: {SERVICES[service].variable: api.url, SERVICES[service].key: "test"}, "", lambda api: ()),
    )

    def script(api: Api, body: dict[str, Any]) -> Sent:
        if first in body:
            return refused(400, "unsupported_parameter", f"Unsupported parameter: '{first}' with this model.")
        return completion(VERDICT)

    _, sent = graded(protocol, script)
    rooms = [{name for name in body if name.startswith("max_")} for body in sent]
    other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}[first]
    assert rooms == [{first}, {other}, {other}]


def test_temperature() -> None:
    """Servers of one's own are asked at temperature 0, until they refuse it; services at their default."""

    def script(api: Api, body: dict[str, Any]) -> Sent:
        if "temperature" in body:
            return refused(400, "invalid_request_error", "Unsupported value: 'temperature' does not support 0")
        return completion(VERDICT)

    assert [body.get("temperature") for body in graded(OWN, script)[1]] == [0, None, None]
    assert ["temperature" in body for body in graded(CHAT, script)[1]] == [False, False]


def test_effort() -> None:
    """The effort is sent where it is given; a server that refuses it ends everything, and it isn't dropped."""
    with served(lambda api, body: completion("fine")) as api:
        CHAT.reply(api, asked(effort="low"))
        CHAT.reply(api, asked())
    assert [body.get("reasoning_effort") for body in api.requests] == ["low", None]
    refusal = refused(400, "unsupported_parameter", "Unknown parameter: 'reasoning_effort'")
    with served(lambda api, body: refusal) as api, pytest.raises(InputError, match="takes no --effort"):
        CHAT.reply(api, asked(effort="low"))


def test_words_of_a_request() -> None:
    """The system's words come first; blocks are paragraphs of one text, and empty ones are left out."""
    turns = (
        Turn("user", (Block("data", shared=True), Block(" "), Block("question \ud800"))),
        Turn("assistant", (Block("no"),)),
        Turn("user", (Block("again"),)),
    )
    with served(lambda api, body: completion("fine")) as api:
        CHAT.reply(api, Request("m", (Block("rules"),), turns, max_tokens=9))
    assert api.requests[0] == {
        "path": "/v1/chat/completions",
        "model": "m",
        "messages": [
            {"role": "system", "content": "rules"},
            {"role": "user", "content": "data\n\nquestion ?"},
            {"role": "assistant", "content": "no"},
            {"role": "user", "content": "again"},
        ],
        "max_completion_tokens": 9,
    }


# Replies -------------------------------------------------------------------------------------------------------------


def of_choice(**fields: Any) -> Sent:
    """Return a completion of a choice."""
    return completion("", choices=[choice(fields.pop("text", ""), fields.pop("reason", "stop"), **fields)])


@pytest.mark.parametrize(
    ("sent", "stop", "text"),
    [
        (of_choice(text="fine"), "end_turn", "fine"),
        (of_choice(text="fi", reason="length"), "max_tokens", "fi"),
        (of_choice(text=None, reason="content_filter"), "refusal", ""),
        (of_choice(text=None, refusal="I can't."), "refusal", ""),
        (of_choice(text=[{"type": "thinking", "thinking": []}, {"type": "text", "text": "fine"}]), "end_turn", "fine"),
        (of_choice(text="fine", reason=None), None, "fine"),
    ],
)
def test_why_a_reply_ended(sent: Sent, stop: str | None, text: str) -> None:
    """A cut reply, a filtered one and a refusal are told apart, by the words that the Anthropic API has for them."""
    with served(lambda api, body: sent) as api:
        reply = CHAT.reply(api, asked())
    assert (reply.stop_reason, reply.text) == (stop, text)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 2}, Usage(10, 2)),
        # Tokens read from the server's cache are part of the prompt's.
        ({"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 8}}, Usage(2, 2, 8)),
        ({"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": None}, Usage(10, 2)),
        # Thoughts that are counted in the total alone are paid as output: 50 - 10.
        ({"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 50}, Usage(10, 40)),
        # What isn't stated, or only in part, is unknown.
        ({"prompt_tokens": 10}, None),
        ({"completion_tokens": 2}, None),
        ({}, None),
        (None, None),
    ],
)
def test_usage(usage: Any, tokens: Usage | None) -> None:
    """Tokens are counted as they are charged; a reply without them stays a reply, whose usage is unknown."""
    with served(lambda api, body: completion("fine", usage=usage)) as api:
        assert CHAT.reply(api, asked()) == Reply("fine", "m-2026", "end_turn", tokens)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 11}},
        {"prompt_tokens": True, "completion_tokens": 2},
        {"prompt_tokens": -1, "completion_tokens": 2},
        [10, 2],
    ],
)
def test_wrong_usage(usage: Any) -> None:
    """Tokens that can't be right are no usage, and the reply is refused: what it cost would be made up."""
    with (
        served(lambda api, body: completion("fine", usage=usage)) as api,
        pytest.raises(ModelError, match="usage"),
    ):
        CHAT.reply(api, asked())


def test_prompt_that_was_cut() -> None:
    """A server that has read a small part of the prompt gives no verdict on it; a long one read whole does.

    Of 60,000 bytes it has read 4,096 tokens, which would be 14.6 bytes each; 5,000 tokens are 12.
    """
    for tokens in (4096, 5000):
        with served(lambda api, body: completion("fine", tokens)) as api:  # noqa: B023
            if tokens == 5000:
                assert OWN.reply(api, asked("x" * 60_000)).text == "fine"
                continue
            with pytest.raises(ModelError, match=r"read only 4096 tokens of a prompt of 60000 bytes"):
                OWN.reply(api, asked("x" * 60_000))


# Errors as servers write them ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "no luck", "type": "x"}}, "no luck"),
        ([{"error": {"code": 400, "message": "no luck", "status": "INVALID_ARGUMENT"}}], "no luck"),
        ({"object": "error", "message": "no luck", "type": "x"}, "no luck"),
        ({"detail": [{"loc": ["body"], "msg": "no luck"}]}, "no luck"),
        ({"error": "no luck"}, "no luck"),
        (b"no\n luck", "no luck"),
    ],
)
def test_words_of_an_error(body: Any, words: str) -> None:
    """The message of an error is shown, in whichever form the server writes it."""
    with served(lambda api, _: Response(400, body)) as api, pytest.raises(ModelError, match=f"answers 400: .*{words}"):
        CHAT.reply(api, asked())


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (refused(429, "insufficient_quota", "You exceeded your quota"), "its account"),
        (refused(400, "invalid_model", "Invalid model: m"), "--model openai:NAME"),
        (Response(301, b"", {"location": "https://a.example/v1?key=sk-hidden"}), "redirects to .*a.example"),
        (Response(405, b"Method Not Allowed"), "/v1"),
    ],
)
def test_what_no_request_escapes(response: Sent | Response, words: str) -> None:
    """An empty account, an unknown model and an address that leads elsewhere end everything, after one request."""
    with served(lambda api, body: response) as api, pytest.raises(InputError, match=words) as failed:
        CHAT.reply(api, asked())
    assert len(api.requests) == 1
    assert "hidden" not in str(failed.value)


def test_page_instead_of_json() -> None:
    """A web page, as of a portal that wants a name, fails the request at once, and says what it is."""
    page = Response(200, b"<html>Sign in</html>", {"content-type": "text/html; charset=utf-8"})
    with served(lambda api, body: page) as api, pytest.raises(ModelError, match="a web page instead of JSON") as failed:
        CHAT.reply(api, asked())
    assert (len(api.requests), failed.value.lost) == (1, 1)


# Addresses and keys --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("service", "env", "base_url", "address", "key"),
    [
        ("openai", {"OPENAI_API_KEY": "k"}, None, "https://api.openai.com/v1", "k"),
        ("gemini", {"GEMINI_API_KEY": "k"}, None, "https://generativelanguage.googleapis.com/v1beta/openai", "k"),
        ("mistral", {"MISTRAL_API_KEY": "k"}, None, "https://api.mistral.ai/v1", "k"),
        ("ollama", {}, None, "http://127.0.0.1:11434/v1", None),
        ("vllm", {}, "http://gpu:8000/", "http://gpu:8000/v1", None),
        ("vllm", {"VLLM_API_KEY": "k"}, "http://gpu:8000/v1", "http://gpu:8000/v1", "k"),
        # Who sets the address beside the key means both.
        (
            "openai",
            {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://a.example/v1"},
            None,
            "https://a.example/v1",
            "k",
        ),
        (
            *("openai", {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://a.example/v1"}),
            *("https://a.example/v2", "https://a.example/v2", "k"),
        ),
        ("openai", {"OPENAI_API_KEY": "k"}, "https://api.openai.com/v2/", "https://api.openai.com/v2", "k"),
        # A server on this machine needs no key, and gets none that isn't for it.
        ("openai", {"OPENAI_API_KEY": "k"}, "http://localhost:1/v1", "http://localhost:1/v1", None),
        ("openai", {}, "http://[::1]:1/v1", "http://[::1]:1/v1", None),
        (
            *("azure", {"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://r.openai.azure.com/"}),
            *(None, "https://r.openai.azure.com/openai/v1", "k"),
        ),
        (
            *("azure", {"AZURE_OPENAI_API_KEY": "k"}, "https://r.openai.azure.com/openai/deployments/d?api-version=1"),
            *("https://r.openai.azure.com/openai/deployments/d?api-version=1", "k"),
        ),
    ],
)
def test_address_and_key(
    service: str,
    env: dict[str, str],
    base_url: str | None,
    address: str,
    key: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each provider is asked at its own address or the given one, and gets its own key or none."""
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    found, sent = SERVICES[service].reached(base_url)
    assert (found.geturl(), sent) == (address, key)


@pytest.mark.parametrize(
    ("service", "env", "base_url", "words"),
    [
        ("openai", {}, None, r"openai needs a key\s+Set OPENAI_API_KEY.*ollama:NAME.*lexical"),
        ("openai", {"OPENAI_API_KEY": ""}, None, "Set OPENAI_API_KEY"),
        (
            "openai",
            {"OPENAI_API_KEY": "k"},
            "https://a.example/v1",
            r"isn't sent to a.example,.*\s.*OPENAI_BASE_URL",
        ),
        ("openai", {"OPENAI_API_KEY": "k"}, "https://api.openai.com.a.example/v1", "isn't sent to"),
        ("openai", {}, "https://a.example/v1", "isn't sent to"),
        ("openai", {"OPENAI_API_KEY": "k"}, "http://api.openai.com/v1", "isn't sent to"),
        (
            "azure",
            {"AZURE_OPENAI_API_KEY": "k"},
            None,
            r"another address .*\s+Set AZURE_OPENAI_ENDPOINT",
        ),
        ("azure", {"AZURE_OPENAI_API_KEY": "k"}, "https://azure.com.a.example/v1", "isn't sent to"),
        ("azure", {"AZURE_OPENAI_API_KEY": "k"}, "http://r.openai.azure.com/v1", "isn't sent to"),
        ("ollama", {}, "127.0.0.1:11434", "--base-url is no address"),
        ("ollama", {}, "ftp://a.example/v1", "--base-url is no address"),
        ("ollama", {}, "http:///v1", "--base-url is no address"),
        ("ollama", {}, "http://a b/v1", "--base-url is no address"),
        ("ollama", {"OLLAMA_BASE_URL": "http://[::bad"}, None, "OLLAMA_BASE_URL is no address"),
        ("ollama", {}, "http://me:hidden@a.example/v1", "holds a name or a password"),
        ("ollama", {"OLLAMA_API_KEY": "hid\nden"}, None, "OLLAMA_API_KEY holds"),
    ],
)
def test_address_that_can_not_be_asked(
    service: str, env: dict[str, str], base_url: str | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing key, a key for another server and a text that is no address are refused before anything is sent."""
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=words) as refused_:
        ChatModel(SERVICES[service], base_url)
    assert "hidden" not in str(refused_.value)


@pytest.mark.parametrize(("service", "header"), [("openai", "authorization"), ("azure", "api-key")])
def test_header_of_the_key(service: str, header: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key stands in the header that the service reads."""
    known = SERVICES[service]

    async def work() -> Reply:
        async with ChatModel(known) as model:
            return await model.ask(asked())

    with served(lambda api, body: completion("fine")) as api:
        monkeypatch.setenv(known.variable, f"{api.url}/v1?api-version=1")
        monkeypatch.setenv(known.key, "sk-test")
        asyncio.run(work())
    assert api.headers[0][header].removeprefix("Bearer ") == "sk-test"
    assert api.requests[0]["path"] == "/v1/chat/completions?api-version=1"


def test_proxy_is_not_asked_about_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server on this machine is reached without the proxy that the environment names."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with served(lambda api, body: completion("fine")) as api:
        assert OWN.reply(api, asked()).text == "fine"
