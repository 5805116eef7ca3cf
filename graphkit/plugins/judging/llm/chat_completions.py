"""The client of servers that speak OpenAI's chat completions: services, and servers of your own.

Nothing is imported for it until it is made; then it needs ``httpx2``.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit, urlunsplit

from graphkit.errors import InputError
from graphkit.plugins.judging.llm import bodies
from graphkit.plugins.judging.llm.api_client import (
    ApiClient,
    FailedAttempt,
    NotThereError,
    check_key,
    is_metered,
    is_of_network,
    lost_attempt,
    token_count,
    without_surrogates,
)
from graphkit.plugins.judging.llm.requests import Block, ModelError, Reply, Request, Usage
from graphkit.records.secrets import masked, masked_message
from graphkit.records.words import shortened

if TYPE_CHECKING:
    import httpx2

#: Seconds for a reply of a service, and of a server of one's own: a long prompt takes a minute on a few cores, and
#: waits there for those before it.
_SECONDS, _OWN_SECONDS = 600.0, 3600.0

#: Seconds for a connection.
_CONNECT = 15.0

#: The fewest bytes of a prompt per token that no tokenizer reaches, and the shortest prompt to which that applies.
_BYTES_PER_TOKEN, _LONG_PROMPT = 12, 8_000

#: The reasons for the end of a reply, in the words of :class:`Reply`.
_STOPS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}

#: Words of a server that doesn't know a parameter or a value of it.
_UNKNOWN = re.compile(
    r"support|unrecogni[sz]ed|unknown|expected|not permitted|not allowed|extra|invalid|validation|(should|must) be",
    re.IGNORECASE,
)
_OF_FORM = re.compile(r"response_format|json_schema|json_object|schema|grammar|structured", re.IGNORECASE)

_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)

_SCHEMA = "Reply with one JSON object of this JSON Schema, and with nothing else:\n{schema}"

#: Keywords of JSON Schema that services refuse, or some of them; graphkit checks a reply by them itself.
_BOUNDS = (
    *("minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("multipleOf", "minItems", "maxItems", "uniqueItems", "default"),
)


@dataclass(frozen=True, slots=True)
class ChatService:
    """A service, or a kind of server, that speaks chat completions.

    ``own``: users run it themselves. It needs no key, and may take minutes for a reply.
    """

    name: str
    key: str  # the environment variable of the key
    variable: str  # the environment variable of the address
    address: str | None = None  # None if each customer has another
    own: bool = False
    domain: str | None = None  # the key may be sent to any host of this domain
    path: str = ""  # what follows an address without a path
    header: str = "authorization"
    room: str = "max_tokens"  # the parameter that limits a reply

    def reached(self, base_url: str | None = None) -> tuple[SplitResult, str | None]:
        """Return the address to ask at, and the key to send there.

        A key is sent to the service's own host, and to the one that its environment variable names. An address on the
        command line gets none, since a command may be copied from anywhere; a server of one's own has its key from the
        same hands.

        Raise an InputError if there is no address, or none that can be asked, or a key is needed and missing.
        """
        given = os.environ.get(self.variable) or None
        source, text = ("--base-url", base_url) if base_url is not None else (self.variable, given or self.address)
        if text is None:
            remedy = f"Set {self.variable}=https://HOST, or give --base-url."
            raise InputError(f"{self.name} has another address for each customer", remedy=remedy)
        found = self._parsed(source, text)
        key = os.environ.get(self.key) or None
        check_key(self.key, key)
        here = _is_loopback(found.hostname)
        if self.own or (key is None and here):
            return found, key
        if base_url is not None and not self._is_home(found, given):
            if here:
                return found, None
            remedy = f"If the key is for that server, set {self.variable} instead of --base-url."
            raise InputError(f"{self.key} isn't sent to {found.hostname}, which --base-url names", remedy=remedy)
        if key is None:
            remedy = (
                f"Set {self.key}. A model on this machine needs no key (--model ollama:NAME), and the judge lexical"
            )
            raise InputError(f"{self.name} needs a key", remedy=f"{remedy} no model.")
        return found, key

    def _is_home(self, address: SplitResult, given: str | None) -> bool:
        """Return whether the key may be sent to an address; over http only if its variable or the service says so."""
        homes = [urlsplit(one) for one in (given, self.address) if one]
        if any(home.hostname == address.hostname and address.scheme in ("https", home.scheme) for home in homes):
            return True
        inside = self.domain is not None and (address.hostname or "").endswith(f".{self.domain}")
        return inside and address.scheme == "https"

    def _parsed(self, source: str, text: str) -> SplitResult:
        remedy = "Write it as https://HOST/v1."
        try:
            found = urlsplit(text)
            usable = found.scheme in ("http", "https") and bool(found.hostname) and found.port != 0
            usable = usable and re.search(r"[\s\x00-\x1f\\]", text) is None
        except ValueError:
            usable = False
        if not usable:
            raise InputError(f"{source} is no address", remedy=remedy)
        if found.username is not None or found.password is not None:
            raise InputError(f"{source} holds a name or a password", remedy=f"Leave it out, and set {self.key}.")
        path = found.path.rstrip("/") or self.path
        return found._replace(path=path, fragment="")


#: The services and servers by the names of their judges.
SERVICES = {
    service.name: service
    for service in (
        ChatService(
            *("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1"), room="max_completion_tokens"
        ),
        ChatService(
            *("azure", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"),
            domain="azure.com",
            path="/openai/v1",
            header="api-key",
            room="max_completion_tokens",
        ),
        ChatService(
            *("gemini", "GEMINI_API_KEY", "GEMINI_BASE_URL"),
            address="https://generativelanguage.googleapis.com/v1beta/openai",
        ),
        ChatService("mistral", "MISTRAL_API_KEY", "MISTRAL_BASE_URL", "https://api.mistral.ai/v1"),
        ChatService("ollama", "OLLAMA_API_KEY", "OLLAMA_BASE_URL", "http://127.0.0.1:11434/v1", own=True, path="/v1"),
        ChatService("vllm", "VLLM_API_KEY", "VLLM_BASE_URL", "http://127.0.0.1:8000/v1", own=True, path="/v1"),
        ChatService(
            *("llamacpp", "LLAMACPP_API_KEY", "LLAMACPP_BASE_URL", "http://127.0.0.1:8080/v1"), own=True, path="/v1"
        ),
    )
}


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


class ChatStatusError(Exception):
    """A server answered with a status other than 200."""

    def __init__(self, response: httpx2.Response) -> None:
        self.status = response.status_code
        self.headers = response.headers
        try:
            body = json.loads(response.content)
        except (ValueError, RecursionError):
            body = None
        self.codes, self.message = _error_in(body) if body is not None else ((), "")
        self.message = self.message or " ".join(response.text.split())[:300]
        super().__init__(f"{self.status}: {self.message}")

    @property
    def is_about_request(self) -> bool:
        """Whether the server may accept a plainer request; some answer 500 to a parameter that they don't know."""
        named = self.status in (400, 415, 422) or (self.status in (500, 501) and _OF_FORM.search(self.message))
        return bool(named) and _UNKNOWN.search(self.message) is not None


class ChatContentError(Exception):
    """A server answered with a page instead of JSON."""


@dataclass(frozen=True, slots=True)
class _Dialect:
    """The parameters that a server accepts, as learned from its refusals."""

    form: int = 0  # the place in `_FORMS`
    room: str = "max_tokens"
    swapped: bool = False  # whether the other parameter was refused
    temperature: bool = False  # whether to send the temperature 0


def _by_schema(schema: Mapping[str, Any], own: bool) -> dict[str, Any]:
    sent = schema if own else strict_schema(schema)
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": sent}}


#: How the form of a reply is asked for, the strictest first; ``shown`` if the prompt holds the schema.
@dataclass(frozen=True, slots=True)
class _Form:
    name: str
    format: Callable[[Mapping[str, Any], bool], dict[str, Any]] | None
    shown: bool = False


_FORMS = (
    _Form("json_schema", _by_schema),
    _Form("json_object with a schema", lambda schema, _: {"type": "json_object", "schema": schema}),  # llama-cpp-python
    _Form("json_object", lambda _, __: {"type": "json_object"}, shown=True),
    _Form("text", None, shown=True),
)


class ChatModel(ApiClient):
    """Any model of a server that speaks chat completions.

    Raise an InputError if ``httpx2`` isn't installed, or the server has no address, or a key is missing.

    Parameters
    ----------
    base_url
        The address of the server, in place of the service's own.
    user
        The name of the feature that asks, for messages.
    limits
        Those of :class:`ApiClient`.
    """

    def __init__(
        self,
        service: ChatService,
        base_url: str | None = None,
        *,
        user: str | None = None,
        **limits: Any,
    ) -> None:
        seconds = _OWN_SECONDS if service.own else _SECONDS
        super().__init__(**{"timeout": seconds, "deadline": max(seconds, limits.get("timeout", 0.0)), **limits})
        try:
            import httpx2  # noqa: F401
        except ImportError:
            remedy = "pip install 'graphkit-eval[openai]'. The judge lexical works without a model."
            raise InputError(f"{user or f'the judge {service.name}'} needs httpx2", remedy=remedy) from None
        self._service = service
        self._place, self._key = service.reached(base_url)
        self._address = urlunsplit(self._place._replace(query=""))
        self._url = urlunsplit(self._place._replace(path=f"{self._place.path}/chat/completions"))
        self._dialect = _Dialect(room=service.room, temperature=service.own)
        self._replied = False  # whether the server has ever answered
        # A client's connections belong to the event loop in which they were made.
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx2.AsyncClient] = (
            weakref.WeakKeyDictionary()
        )

    @property
    def _client(self) -> httpx2.AsyncClient:
        import httpx2

        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            headers = {"content-type": "application/json", "accept-encoding": bodies.ENCODING}
            if self._key is not None:
                bearer = self._service.header == "authorization"
                headers[self._service.header] = f"Bearer {self._key}" if bearer else self._key
            self._clients[loop] = httpx2.AsyncClient(
                headers=headers,
                timeout=httpx2.Timeout(None, connect=_CONNECT),
                limits=httpx2.Limits(max_connections=None),
                event_hooks={"response": [bodies.bound]},
                follow_redirects=False,  # the key is for one host
                trust_env=not _is_loopback(self._place.hostname),  # a proxy elsewhere doesn't know this machine
            )
        return self._clients[loop]

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    async def ask(self, request: Request) -> Reply:
        """Return the reply, even a refused or truncated one; its stop reason says so.

        If the server refuses how the form of the reply is asked for, it is asked in the next plainer way, from then on.

        Raise a ModelError if no attempt got a reply, the server rejects the request, or it read only a part of the
        prompt. Raise an InputError if no request can get a reply: the key, the address or the name of the model are
        wrong.
        """
        attempts = lost = 0
        while True:
            dialect = self._dialect
            content = json.dumps(_parameters(request, dialect, self._service.own)).encode()
            try:
                got = await self.call(partial(self._send, content))
            except ModelError as error:
                attempts, lost = attempts + error.attempts, lost + error.lost
                cause = error.__cause__
                plainer = self._plainer(cause, request, dialect) if isinstance(cause, ChatStatusError) else None
                if plainer is None:
                    raise ModelError(str(error), error.label, attempts=attempts, lost=lost) from cause
                self._learn(dialect, plainer)
                continue
            break
        try:
            reply = self._noted(_reply_of(got.value, attempts + got.attempts, lost + got.lost))
            _check_prompt(request, reply)
        except ValueError as error:
            what = f"{self._address} sent no usable reply: {error}"
            raise ModelError(what, attempts=attempts + got.attempts, lost=lost + got.lost + 1) from None
        if request.schema is None or reply.stop_reason != "end_turn":
            return reply
        text = _object_in(reply.text)
        form = _FORMS[dialect.form]
        if text is None and not form.shown:
            # The server took the form and doesn't keep to it, so the model never saw it.
            self._learn(dialect, replace(dialect, form=2))
        return reply if text is None else replace(reply, text=text)

    async def _send(self, content: bytes) -> bytes:
        response = await self._client.post(self._url, content=content)
        self._replied = True
        if response.status_code != 200:
            raise ChatStatusError(response)
        if "html" in response.headers.get("content-type", "").lower():
            raise ChatContentError("a web page")
        return response.content

    def _plainer(self, error: ChatStatusError, request: Request, sent: _Dialect) -> _Dialect | None:
        """Return a dialect without what a server refuses; None if the refusal is about something else."""
        if not error.is_about_request:
            return None
        if request.effort is not None and "reasoning_effort" in error.message:
            what = f"{self._address} takes no --effort: {error.message}"
            raise InputError(what, remedy="Leave it out, or name a model that reasons.") from None
        if "temperature" in error.message and sent.temperature:
            return replace(sent, temperature=False)
        if (
            re.search(rf"\b{sent.room}\b", error.message)
            and not sent.swapped
            and "response_format" not in error.message
        ):
            other = "max_tokens" if sent.room != "max_tokens" else "max_completion_tokens"
            return replace(sent, room=other, swapped=True)
        if request.schema is not None and sent.form + 1 < len(_FORMS) and _OF_FORM.search(error.message):
            # Services know no schema beside `json_object`.
            return replace(sent, form=2 if sent.form == 0 and not self._service.own else sent.form + 1)
        return None

    def _learn(self, sent: _Dialect, plainer: _Dialect) -> None:
        """Ask by another dialect from now on, unless a request that was sent at the same time has found one."""
        if self._dialect != sent:
            return
        self._dialect = plainer
        if plainer.form != sent.form:
            one, other = _FORMS[sent.form].name, _FORMS[plainer.form].name
            self._notify(f"note: {self._address} doesn't keep to {one}; verdicts are asked for as {other}")

    def _failure(self, error: Exception) -> FailedAttempt:
        import httpx2

        if isinstance(error, ChatStatusError):
            return self._answered(error)
        if isinstance(error, bodies.ReplyTooLongError):
            return self._too_long(error)
        if isinstance(error, ChatContentError):
            return replace(lost_attempt(f"{self._address} sent {error} instead of JSON"), again=False)
        if isinstance(error, TimeoutError):
            return lost_attempt(f"no reply from {self._address} in time")
        if isinstance(error, httpx2.ConnectError) and not self._replied and _is_loopback(self._place.hostname):
            remedy = f"Start the server, or name its address: --base-url or {self._service.variable}."
            raise InputError(f"nothing listens at {self._address}", remedy=remedy) from None
        if isinstance(error, httpx2.TransportError):
            return self._unreachable(error, "")
        if isinstance(error, ValueError | RecursionError):  # also a UnicodeError
            return lost_attempt(f"{self._address} sent invalid JSON: {bodies.json_fault(error)}")
        if is_of_network(error):
            return lost_attempt(f"{self._address}: {type(error).__name__}: {error}")
        raise error

    def _answered(self, error: ChatStatusError) -> FailedAttempt:
        what = f"{self._address} answers {error.status}: {shortened(error.message, 500)}"
        service, status = self._service, error.status
        if 300 <= status < 400:
            there = masked_message(shortened(error.headers.get("location", ""), 200))
            remedy = (
                f"If that is right, name the address by --base-url or {service.variable}; a key follows no redirect."
            )
            raise InputError(f"{self._address} answers {status}: it redirects to {there!r}", remedy=remedy) from None
        if status in (401, 402, 403) or "insufficient_quota" in error.codes:
            known = "Check" if self._key is not None else "Set"
            raise InputError(
                what, remedy=f"{known} {service.key}, its permissions and its account, and {service.variable}."
            ) from None
        if status in (404, 405) or {"model_not_found", "invalid_model"} & set(error.codes):
            remedy = f"Name a model that the server has (--model {service.name}:NAME), and check its address, which"
            remedy += f" usually ends in /v1 (--base-url, {service.variable})."
            raise NotThereError(what, remedy=remedy) from None
        found = self._refused(what, status, error.headers)
        return replace(found, again=False) if error.is_about_request else found


# Requests and replies as the protocol writes them --------------------------------------------------------------------


def _parameters(request: Request, dialect: _Dialect, own: bool) -> dict[str, Any]:
    """Return a request as the body of a chat completion."""
    turns = [(turn.role, _joined(turn.blocks)) for turn in request.turns]
    output: dict[str, Any] = {}
    if request.schema is not None:
        form = _FORMS[dialect.form]
        if form.format is not None:
            output["response_format"] = form.format(request.schema, own)
        if form.shown:
            role, text = turns[-1]
            turns[-1] = role, f"{text}\n\n{_SCHEMA.format(schema=json.dumps(request.schema, ensure_ascii=False))}"
    if request.effort is not None:
        output["reasoning_effort"] = request.effort
    if dialect.temperature and request.trial == 1:  # later trials are sampled, or they would repeat the first
        output["temperature"] = 0
    system = _joined(request.system)
    return {
        "model": request.model,
        "messages": [
            *([{"role": "system", "content": system}] if system else []),
            *({"role": role, "content": text} for role, text in turns),
        ],
        dialect.room: request.max_tokens,
        **output,
    }


def _joined(blocks: Sequence[Block]) -> str:
    return without_surrogates("\n\n".join(block.text for block in blocks if block.text.strip()))


def strict_schema(schema: Any) -> Any:
    """Return a JSON Schema as services take it in strict mode: each property required, no other one, and no bounds.

    Bounds move to the description.

    >>> strict_schema({"type": "object", "properties": {"score": {"type": "integer", "minimum": 0}}})["properties"]
    {'score': {'type': 'integer', 'description': '(minimum: 0)'}}
    """
    if isinstance(schema, list):
        return [strict_schema(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {
        name: {key: strict_schema(one) for key, one in value.items()}
        if name in ("properties", "$defs") and isinstance(value, Mapping)
        else (value if name in ("enum", "const") else strict_schema(value))
        for name, value in schema.items()
        if name not in _BOUNDS
    }
    bounds = ", ".join(f"{name}: {schema[name]}" for name in _BOUNDS if name in schema)
    if bounds:
        found["description"] = f"{found.get('description', '')} ({bounds})".strip()
    if "properties" in found:
        found |= {"additionalProperties": False, "required": list(found["properties"])}
    return found


def _reply_of(message: Any, attempts: int, lost: int) -> Reply:
    """Return the reply in a chat completion; raise a ValueError if it has another form."""
    if not isinstance(message, Mapping):
        raise ValueError(f"it has another form: {json.dumps(message)[:200]}")
    choices, usage = message.get("choices"), message.get("usage")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        words = _error_in(message)[1]
        raise ValueError(f"it holds no choice: {words or json.dumps(message)[:200]}")
    said = choices[0].get("message")
    if not isinstance(said, Mapping):
        raise ValueError(f"it holds no message: {json.dumps(message)[:200]}")
    stop, model = choices[0].get("finish_reason"), message.get("model")
    stop = _STOPS.get(stop, stop) if isinstance(stop, str) else None
    text = _text(said.get("content"))
    return Reply(
        text=masked(without_surrogates(_THOUGHTS.sub("", text).strip())),
        model=masked(model) if isinstance(model, str) else "",
        stop_reason="refusal" if said.get("refusal") else (masked(stop) if stop is not None else None),
        usage=_usage(usage, bool(text)),
        attempts=attempts,
        lost=lost,
    )


def _text(content: Any) -> str:
    """Return the text of a message, which may come in parts, without thoughts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping) and part.get("type") == "text")
    return "".join(text for text in texts if isinstance(text, str))


def _usage(usage: Any, written: bool) -> Usage | None:
    """Return the tokens of a reply; None if the server doesn't state them.

    Some servers count thoughts in the total alone, and state no output where there is none.
    """
    if not is_metered(usage, "prompt_tokens", *(("completion_tokens",) if written else ())):
        return None
    prompt = token_count(usage, "prompt_tokens")
    output = token_count(usage, "completion_tokens", None if written else 0)
    total = token_count(usage, "total_tokens", prompt + output)
    details = usage.get("prompt_tokens_details")
    cached = token_count(details, "cached_tokens", 0) if isinstance(details, Mapping) else 0
    if cached > prompt:
        raise ValueError(f"usage counts {cached} cached tokens of {prompt}")
    return Usage(prompt - cached, max(output, total - prompt), cached)


def _check_prompt(request: Request, reply: Reply) -> None:
    """Raise a ValueError if a server has read only a part of the prompt, as Ollama does without saying so."""
    blocks = (*request.system, *(block for turn in request.turns for block in turn.blocks))
    size = sum(len(block.text.encode(errors="replace")) for block in blocks)
    tokens = reply.usage.prompt_tokens if reply.usage is not None else 0
    if tokens and size > max(_LONG_PROMPT, tokens * _BYTES_PER_TOKEN):
        raise ValueError(f"it read only {tokens} tokens of a prompt of {size} bytes: give it a longer context")


def _object_in(text: str) -> str | None:
    """Return the JSON object in a text.

    Return None if there is none, or any other brace: one of two objects may be quoted from the judged answer.

    >>> _object_in('Sure: {"grade": "wrong"}.'), _object_in('{"a": 1} or {"a": 2}'), _object_in("no")
    ('{"grade": "wrong"}', None, None)
    """
    begin = text.find("{")
    try:
        _, end = json.JSONDecoder().raw_decode(text, begin) if begin >= 0 else (None, 0)
    except (ValueError, RecursionError):
        return None
    return text[begin:end] if begin >= 0 and "{" not in text[end:] else None


def _error_in(body: Any) -> tuple[tuple[str, ...], str]:
    """Return the codes and the words of an error, in any of the forms that servers write."""
    body = body[0] if isinstance(body, list) and body else body
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(inner, str):
        return (), inner
    if not isinstance(inner, Mapping):
        return (), ""
    codes = tuple(str(inner[name]) for name in ("code", "type", "status") if inner.get(name) is not None)
    said = inner.get("message", inner.get("detail", ""))
    return codes, said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
