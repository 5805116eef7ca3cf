"""The client of the Anthropic API, with many requests at once, retries, and the server's rate limits.

Nothing else in graphkit imports the package ``anthropic``, and this module does so only when it makes a client.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import random
import re
import time
import weakref
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from graphkit.errors import InputError
from graphkit.files.intake import is_too_dense
from graphkit.plugins.judging.llm import bodies
from graphkit.plugins.judging.llm.gate import Gate
from graphkit.plugins.judging.llm.requests import BEFORE_REPEAT, Block, ModelError, Reply, Request, Usage
from graphkit.records.secrets import masked

if TYPE_CHECKING:
    import anthropic

#: The most prefixes of one request that a server can cache.
_BREAKPOINTS = 4

#: The longest pause, in seconds, that a server may ask for.
_LONGEST_WAIT = 300.0

#: The longest pause, in seconds, before a retry if the server names none.
_LONGEST_PAUSE = 60.0

#: Statuses after which to retry, besides those from 500 up.
_AGAIN = (408, 409, 429)

#: Statuses that mean that the server did nothing, so that even an unrepeatable request may be sent again.
_NOT_DONE = (429, 529)

#: Statuses of a proxy, which doesn't know what the server did and charged. The server never charges for its own.
_IN_BETWEEN = (408, 502, 504)

#: The characters of a key; with another one, the request fails, or the network's message repeats the key.
_SENDABLE = re.compile(r"[!-~]*")

#: More tokens than any reply has.
_TOO_MANY = 10**12

#: The network's errors before anything was sent, and so charged.
_UNSENT = ("ConnectError", "ConnectTimeout", "PoolTimeout")


class NotThereError(InputError):
    """The server doesn't know a model, a batch, or the whole address."""


@dataclass(frozen=True)
class Received:
    """The JSON of a server, the number of attempts, and how many lost ones may have been charged."""

    value: Any
    attempts: int = 1
    lost: int = 0


class AnthropicModel:
    """Any model of the Anthropic API. The client reads its key and address from its own environment variables.

    Raise an InputError if the client isn't installed, or has no credentials.

    Parameters
    ----------
    concurrency
        The most requests at once. A refusal by the rate limit halves it; it grows by one after as many replies.
    attempts
        How often to send a request: a refusal by the rate limit, an error of the server, a time-out and a broken
        connection lead to a retry. Pauses double from ``backoff`` seconds, with some jitter (``seed``).
    timeout
        Seconds for each attempt.
    deadline
        Seconds for all attempts at one request with their pauses, except those that the rate limit asks for.
    user
        The name of the feature that asks, for messages.
    """

    def __init__(
        self,
        *,
        concurrency: int = 8,
        attempts: int = 8,
        timeout: float = 120.0,
        deadline: float = 600.0,
        backoff: float = 0.5,
        seed: int = 0,
        user: str = "the judge anthropic",
    ) -> None:
        self._timeout = timeout
        self._deadline = deadline
        self._attempts = max(1, attempts)
        self._backoff = backoff
        self._chance = random.Random(seed)  # noqa: S311 - jitter of pauses
        self._gate = Gate(max(1, concurrency))
        # A client's connections belong to the event loop in which they were made.
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, anthropic.AsyncAnthropic] = (
            weakref.WeakKeyDictionary()
        )
        self._user = user
        # For messages, which runs keep: without a password in the address.
        self._address = str(self._made().base_url.copy_with(userinfo=b"", query=None))

    def _made(self) -> anthropic.AsyncAnthropic:
        try:
            import anthropic
        except ImportError:
            remedy = "pip install 'graphkit-eval[anthropic]'. The judge lexical works without a model."
            raise InputError(f"{self._user} needs the Anthropic client", remedy=remedy) from None
        try:
            headers = {"accept-encoding": bodies.ENCODING}
            network = anthropic.DefaultAsyncHttpxClient(event_hooks={"response": [bodies.bound]}, headers=headers)
            client = anthropic.AsyncAnthropic(timeout=self._timeout, max_retries=0, http_client=network)
        except (anthropic.AnthropicError, ValueError, OSError) as error:
            raise InputError(f"the Anthropic client can't be made: {error}") from None
        except Exception as error:
            if not _of_network(error):
                raise
            raise _no_address() from None  # a message on an address may contain a part of a password
        if client.base_url.scheme not in ("http", "https") or not client.base_url.host:
            raise _no_address()
        if client.api_key is None and client.auth_token is None and client.credentials is None:
            remedy = "Set ANTHROPIC_API_KEY. The judge lexical works without a model."
            raise InputError(f"{self._user} has no credentials for the Anthropic API", remedy=remedy)
        for name, secret in (("ANTHROPIC_API_KEY", client.api_key), ("ANTHROPIC_AUTH_TOKEN", client.auth_token)):
            if secret is not None and not _SENDABLE.fullmatch(secret):
                what = f"{name} holds a space, a line end or another character that no key has"
                raise InputError(what, remedy="Set it again, without quotes, spaces or line ends around it.")
        return client

    @property
    def client(self) -> anthropic.AsyncAnthropic:
        """The client of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = self._made()
        return self._clients[loop]

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    async def __aenter__(self) -> AnthropicModel:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def ask(self, request: Request) -> Reply:
        """Return the reply, even a refused or truncated one; its stop reason says so.

        Raise a ModelError if no attempt got a reply, or the server rejects the request. Raise an InputError if no
        request can get a reply: the credentials, the address or the name of the model are wrong.
        """
        body = parameters(request)

        async def send() -> Any:
            response = await self.client.messages.with_raw_response.create(**body)
            return response.http_response.content

        got = await self.call(send)
        try:
            return reply_of(got.value, got.attempts, got.lost)
        except ValueError as error:
            raise ModelError(
                f"{self._address} sent no message: {error}", attempts=got.attempts, lost=got.lost + 1
            ) from None

    async def call(
        self, send: Callable[[], Awaitable[bytes]], *, repeatable: bool = True, timeout: float | None = None
    ) -> Received:
        """Return the JSON of the server, with retries.

        Unless ``repeatable``, nothing is sent twice that the server may have done: such a failure raises an error at
        once, with ``lost`` 1. ``timeout`` is for calls that take longer than a reply.

        Raise a ModelError if the server sent none, with its message or that of the network; the error of the client is
        the cause. Raise an InputError as :meth:`ask`.
        """
        attempt = lost = 0
        left = max(self._deadline, timeout or 0.0)
        while True:
            attempt += 1
            began = time.monotonic()
            try:
                async with self._gate.place() as sent:
                    began = time.monotonic()  # the gate may have admitted others before
                    async with asyncio.timeout(min(timeout or self._timeout, left)):
                        value = _value(await send())
                self._gate.widen()
            except Exception as error:
                failure = self._failure(error)
                left -= time.monotonic() - began
                lost += failure.lost
                if failure.limited:
                    self._gate.narrow(sent)
                pause = self._pause(failure.wait, attempt)
                doubled = failure.unsure and not repeatable
                final = doubled or not failure.again
                left -= 0.0 if failure.limited else pause
                if final or attempt == self._attempts or pause > _LONGEST_WAIT or left <= 0:
                    waits = "" if final else self._why_no_retry(attempt, pause)
                    lost = max(lost, int(doubled))
                    raise ModelError(f"{failure.what}{waits}", attempts=attempt, lost=lost) from error
                if failure.lost and (before_repeat := BEFORE_REPEAT.get()) is not None:
                    try:
                        await before_repeat()
                    except ModelError as refusal:
                        what = f"{failure.what}; {refusal}"
                        raise ModelError(what, refusal.label, attempts=attempt, lost=lost) from error
                if failure.limited:
                    self._gate.shut(pause)
                else:
                    await asyncio.sleep(pause)
            else:
                return Received(value, attempt, lost)

    def _why_no_retry(self, attempt: int, pause: float) -> str:
        """Return why there is no further retry."""
        if attempt == self._attempts:
            return f" (given up after {attempt} attempts)" if attempt > 1 else ""
        if pause > _LONGEST_WAIT:
            return f"; it asks for a pause of {pause:.0f} s"
        return f" (given up after {attempt} attempts in {self._deadline:.0f} s)"

    def _pause(self, wait: float | None, attempt: int) -> float:
        """Return the pause before a retry, with jitter: the one that the server asks for, or else a doubling one.

        If the server refuses again after its pause, that doubles, too.
        """
        if wait is not None and attempt == 1:
            return wait * (1 + 0.1 * self._chance.random())
        doublings = attempt - 1 if wait is None else attempt - 2
        own = min(self._backoff * 2.0**doublings, _LONGEST_PAUSE) * (0.5 + 0.5 * self._chance.random())
        return own if wait is None else max(own, wait * (1 + 0.1 * self._chance.random()))

    def failure(self, error: Exception) -> ModelError:
        """Return the failure of a request for an error of the client or the network.

        Raise an InputError as :meth:`ask`.
        """
        found = self._failure(error)
        return ModelError(found.what, lost=found.lost)

    def _failure(self, error: Exception) -> _Failure:
        """Return the failure for an error of the network or the server; raise any other error again."""
        import anthropic

        if isinstance(error, anthropic.APIStatusError):
            return self._refused(error)
        if isinstance(error, bodies.ReplyTooLongError):  # while reading a stream
            return replace(_lost(f"the reply of {self._address} is refused: {error}"), again=False)
        if isinstance(error, TimeoutError):
            return _lost(f"no reply from {self._address} in time")
        if isinstance(error, anthropic.APIConnectionError):  # or a time-out of the client
            cause = error.__cause__
            if isinstance(cause, bodies.ReplyTooLongError):
                return replace(_lost(f"the reply of {self._address} is refused: {cause}"), again=False)
            if type(cause).__name__ == "LocalProtocolError" and "header" in str(cause):
                # The network's message repeats the header, which may be a secret.
                raise InputError(
                    "a request can't be sent: one of its headers holds a line end or a space at its end",
                    remedy="Look at ANTHROPIC_CUSTOM_HEADERS.",
                ) from None
            message = f"{type(cause).__name__} {cause}".strip() if cause is not None else str(error)
            what = f"no reply from {self._address}: {message}"
            return _Failure(what, again=True) if type(cause).__name__ in _UNSENT else _lost(what)
        if isinstance(error, ValueError | RecursionError):  # also a UnicodeError
            return _lost(f"{self._address} sent invalid JSON: {error}")
        if isinstance(error, anthropic.AnthropicError) or _of_network(error):
            return _lost(f"{self._address}: {type(error).__name__}: {error}")
        raise error

    def _refused(self, error: anthropic.APIStatusError) -> _Failure:
        status = error.status_code
        what = f"{self._address} answers {status}: {_message(error)}"
        if status in (401, 402, 403):
            raise InputError(
                what, remedy="Check ANTHROPIC_API_KEY and its permissions, and ANTHROPIC_BASE_URL."
            ) from None
        if status == 404:
            raise NotThereError(
                what, remedy="Name a model that the API has (--model), and check ANTHROPIC_BASE_URL."
            ) from None
        advice = error.response.headers.get("x-should-retry")
        again = advice != "false" and (advice == "true" or status in _AGAIN or status >= 500)
        return _Failure(
            what,
            again=again,
            lost=int(status in _IN_BETWEEN),
            unsure=status in _IN_BETWEEN or (status >= 500 and status not in _NOT_DONE),
            limited=status == 429,
            wait=_wait(error.response.headers),
        )


@dataclass(frozen=True)
class _Failure:
    """The failure of an attempt.

    ``again``: a retry may succeed; ``lost``: 1 if this attempt may have been charged; ``unsure``: the server may have
    done the request; ``limited``: the rate limit refused it; ``wait``: the pause that the server asks for.
    """

    what: str
    again: bool
    lost: int = 0
    unsure: bool = False
    limited: bool = False
    wait: float | None = None


def _value(body: bytes) -> Any:
    """Return the JSON of a reply."""
    if is_too_dense(body):
        raise bodies.ReplyTooLongError("it holds millions of values")
    return json.loads(body)


def _of_network(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] == "httpx2"


def _no_address() -> InputError:
    return InputError("ANTHROPIC_BASE_URL is no address", remedy="Write it as https://HOST, or leave it unset.")


def _lost(what: str) -> _Failure:
    """Return the failure of an attempt that was sent, with an unknown outcome."""
    return _Failure(what, again=True, lost=1, unsure=True)


def _message(error: anthropic.APIStatusError) -> str:
    """Return the server's message, or the beginning of its body."""
    body = error.body
    inner = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(inner, Mapping) and isinstance(inner.get("message"), str):
        return f"{inner.get('type')}: {inner['message']}"
    return " ".join(str(body if body is not None else error).split())[:300]


def _wait(headers: Mapping[str, str]) -> float | None:
    """Return the pause in seconds that a server asks for (in milliseconds, seconds or as a date), or None."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
        if seconds >= 0:  # neither negative nor NaN
            return seconds
    try:
        moment = email.utils.parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return max(0.0, moment.timestamp() - time.time())


# Requests and replies as the API writes them ------------------------------------------------------------------------


def parameters(request: Request) -> dict[str, Any]:
    """Return a request as the parameters of ``messages.create``.

    Raise an InputError if the API can't accept the schema.
    """
    breakpoints = _breakpoints(request)
    system = _content(request.system, breakpoints)
    turns = [(turn.role, _content(turn.blocks, breakpoints)) for turn in request.turns]
    output: dict[str, Any] = {}
    if request.schema is not None:
        output["format"] = {"type": "json_schema", "schema": sendable(request.schema)}
    if request.effort is not None:
        output["effort"] = request.effort
    return {
        "model": request.model,
        "max_tokens": request.max_tokens,
        **({"system": system} if system else {}),
        "messages": [{"role": role, "content": content} for role, content in turns],
        **({"output_config": output} if output else {}),
    }


def _breakpoints(request: Request) -> set[int]:
    """Return the ids of the blocks after which the server shall cache the prompt: the last shared ones.

    The API accepts no empty block, so the block before an empty one counts instead.
    """
    found: list[Block] = []
    before: Block | None = None
    for block in (*request.system, *(block for turn in request.turns for block in turn.blocks)):
        before = block if block.text.strip() else before
        if block.shared and before is not None and (not found or found[-1] is not before):
            found.append(before)
    return {id(block) for block in found[-_BREAKPOINTS:]}


def _content(blocks: tuple[Block, ...], breakpoints: set[int]) -> str | list[dict[str, Any]]:
    """Return blocks with their breakpoints; a single block without one is plain text."""
    kept = [block for block in blocks if block.text.strip()]
    if len(kept) == 1 and id(kept[0]) not in breakpoints:
        return _clean(kept[0].text)
    return [
        {
            "type": "text",
            "text": _clean(block.text),
            **({"cache_control": {"type": "ephemeral"}} if id(block) in breakpoints else {}),
        }
        for block in kept
    ]


def _clean(text: str) -> str:
    """Return text that UTF-8 can hold: a lone surrogate, which JSON allows, becomes a question mark."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text


def sendable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema that the API accepts: limits that it refuses (such as minimum) move to the description.

    Raise an InputError if a value in the schema has no type.
    """
    import anthropic

    try:
        return anthropic.transform_schema(_with_one_type(dict(schema)))
    except (ValueError, TypeError, AttributeError, AssertionError) as error:
        raise InputError(f"the API can't accept this schema: {error}", remedy="Give each value a type.") from None


def _with_one_type(schema: Any) -> Any:
    """Return a schema that writes several types of a value with ``anyOf``."""
    if isinstance(schema, list):
        return [_with_one_type(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        name: {key: _with_one_type(one) for key, one in value.items()}
        if name in ("properties", "$defs") and isinstance(value, dict)
        else (value if name in ("enum", "const", "default", "examples") else _with_one_type(value))
        for name, value in schema.items()
    }
    types = found.get("type")
    if isinstance(types, list) and all(isinstance(one, str) for one in types) and "enum" not in found:
        shared = {name: found.pop(name) for name in ("title", "description") if name in found}
        return {**shared, "anyOf": [{**found, "type": one} if one != "null" else {"type": "null"} for one in types]}
    return found


def reply_of(message: Any, attempts: int = 1, lost: int = 0, batch: bool = False) -> Reply:
    """Return the reply in a message of the API; raise a ValueError if the message has another form."""
    if not isinstance(message, Mapping) or message.get("type", "message") != "message":
        raise ValueError(f"it has another form: {json.dumps(message)[:200]}")
    content, usage = message.get("content"), message.get("usage")
    if not isinstance(content, list) or not isinstance(usage, Mapping):
        raise ValueError(f"content or usage is missing: {json.dumps(message)[:200]}")
    texts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
    stop, model = message.get("stop_reason"), message.get("model")
    return Reply(
        text=masked(_clean("".join(text for text in texts if isinstance(text, str)))),
        model=masked(model) if isinstance(model, str) else "",
        stop_reason=masked(stop) if isinstance(stop, str) else None,
        usage=Usage(
            _count(usage, "input_tokens"),
            _count(usage, "output_tokens"),
            _count(usage, "cache_read_input_tokens"),
            _count(usage, "cache_creation_input_tokens"),
        ),
        attempts=attempts,
        lost=lost,
        batch=batch,
    )


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    if value is None and name.startswith("cache"):
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _TOO_MANY:
        raise ValueError(f"usage.{name} is {value!r}")
    return value
