"""The client of the Anthropic API: many requests at once, as fast as the server lets them through, each till it ends.

Nothing else in graphkit imports the package ``anthropic``, and this module does so only when a client is made.
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
from graphkit.llm import bodies
from graphkit.llm.gate import Gate
from graphkit.llm.requests import BEFORE_REPEAT, Block, ModelError, Reply, Request, Usage
from graphkit.records.secrets import masked

if TYPE_CHECKING:
    import anthropic

#: How many prefixes of one request a server can keep.
_BREAKPOINTS = 4

#: A server that asks for a longer pause than this many seconds isn't waited for.
_LONGEST_WAIT = 300.0

#: The longest pause, in seconds, before a request is sent again when the server names none.
_LONGEST_PAUSE = 60.0

#: Statuses after which a request is sent again, besides every one of 500 and more.
_AGAIN = (408, 409, 429)

#: Statuses that say that nothing was done: what must not be done twice may be sent again.
_NOT_DONE = (429, 529)

#: Statuses of something in between, which knows nothing of what the server did, and charged; one that the server sends
#: itself is never charged.
_IN_BETWEEN = (408, 502, 504)

#: What a key is made of; another character can't be sent, or makes the network repeat the key in its message.
_SENDABLE = re.compile(r"[!-~]*")

#: More tokens than any reply has: such a number is none, and can't be kept.
_TOO_MANY = 10**12

#: The network's errors by which nothing was sent yet, and so nothing charged.
_UNSENT = ("ConnectError", "ConnectTimeout", "PoolTimeout")


class NotThereError(InputError):
    """The server doesn't know what a request names: a model, a batch, or the whole address."""


@dataclass(frozen=True)
class Received:
    """What a server sent: JSON, after how many attempts, of which some may have been charged without a reply."""

    value: Any
    attempts: int = 1
    lost: int = 0


class AnthropicModel:
    """Any model of the Anthropic API. The key and the address come from the client's own environment variables.

    Parameters
    ----------
    concurrency
        The most requests at once. After a refusal for the rate there are half as many, and one more each time that
        as many replies have come.
    attempts
        How often a request is sent before it has no reply: after a refusal for the rate, an error of the server, a
        time-out and a broken connection. Pauses double from ``backoff`` seconds, with some chance in them (``seed``).
    timeout
        Seconds for each attempt.
    deadline
        Seconds for all attempts at one request together, with the pauses between them; what a server asks to wait for
        because of its rate isn't counted.
    user
        Who wants to ask, for the messages.

    Raises
    ------
    InputError
        The client isn't installed, or has no credentials.
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
        self._chance = random.Random(seed)  # noqa: S311 - it spreads pauses
        self._gate = Gate(max(1, concurrency))
        # A client's connections belong to the event loop in which they were made.
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, anthropic.AsyncAnthropic] = (
            weakref.WeakKeyDictionary()
        )
        self._user = user
        # As messages show it, which are kept beside runs: without what an address may hold of a password.
        self._address = str(self._made().base_url.copy_with(userinfo=b"", query=None))

    def _made(self) -> anthropic.AsyncAnthropic:
        try:
            import anthropic
        except ImportError:
            raise InputError(
                f"{self._user} needs the Anthropic client",
                remedy="pip install 'graphkit[anthropic]'. All that asks no model works without, as the judge lexical.",
            ) from None
        try:
            headers = {"accept-encoding": bodies.ENCODING}
            network = anthropic.DefaultAsyncHttpxClient(event_hooks={"response": [bodies.bound]}, headers=headers)
            client = anthropic.AsyncAnthropic(timeout=self._timeout, max_retries=0, http_client=network)
        except (anthropic.AnthropicError, ValueError, OSError) as error:
            raise InputError(f"the Anthropic client can't be made: {error}") from None
        except Exception as error:
            if not _of_network(error):
                raise
            raise _no_address() from None  # what is said of an address may hold a part of a password
        if client.base_url.scheme not in ("http", "https") or not client.base_url.host:
            raise _no_address()
        if client.api_key is None and client.auth_token is None and client.credentials is None:
            raise InputError(
                f"{self._user} has no credentials for the Anthropic API",
                remedy="Set ANTHROPIC_API_KEY. All that asks no model works without, the judge lexical too.",
            )
        for name, secret in (("ANTHROPIC_API_KEY", client.api_key), ("ANTHROPIC_AUTH_TOKEN", client.auth_token)):
            if secret is not None and not _SENDABLE.fullmatch(secret):
                raise InputError(
                    f"{name} holds a space, a line end or another character that no key has",
                    remedy="Set it again, without quotes and what stands around it: a file's line may end in one.",
                )
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
        """Return the reply; one that is refused or cut off is a reply as well, and says so by its stop reason.

        Raises
        ------
        ModelError
            None came, as often as it was asked for, or the server refuses the request as it is.
        InputError
            No request can have a reply: the credentials, the address or the name of the model are wrong.
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
        """Return the JSON that the server sends, and send again what can be sent again.

        With ``repeatable`` false, nothing is sent twice that the server may have done: such a failure is raised at
        once, with ``lost`` 1. ``timeout`` is for what takes longer than a reply.

        Raises
        ------
        ModelError
            The server didn't send any, with what it or the network said; the error of the client is its cause.
        InputError
            As :meth:`ask`.
        """
        attempt = lost = 0
        left = max(self._deadline, timeout or 0.0)
        while True:
            attempt += 1
            began = time.monotonic()
            try:
                async with self._gate.passed() as sent:
                    began = time.monotonic()  # others may have been let through before
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
                    waits = "" if final else self._given_up(attempt, pause)
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

    def _given_up(self, attempt: int, pause: float) -> str:
        """Return why a request isn't sent again that could be."""
        if attempt == self._attempts:
            return f" (given up after {attempt} attempts)" if attempt > 1 else ""
        if pause > _LONGEST_WAIT:
            return f"; it asks for a pause of {pause:.0f} s"
        return f" (given up after {attempt} attempts in {self._deadline:.0f} s)"

    def _pause(self, wait: float | None, attempt: int) -> float:
        """Return how long to pause: what the server asks for, else twice as long each time; never all at one moment.

        A server that keeps refusing though it got its pause gets twice as long, too.
        """
        if wait is not None and attempt == 1:
            return wait * (1 + 0.1 * self._chance.random())
        doublings = attempt - 1 if wait is None else attempt - 2
        own = min(self._backoff * 2.0**doublings, _LONGEST_PAUSE) * (0.5 + 0.5 * self._chance.random())
        return own if wait is None else max(own, wait * (1 + 0.1 * self._chance.random()))

    def failure(self, error: Exception) -> ModelError:
        """Return what an error of the client or the network means for a request.

        Raises
        ------
        InputError
            As :meth:`ask`.
        """
        found = self._failure(error)
        return ModelError(found.what, lost=found.lost)

    def _failure(self, error: Exception) -> _Failure:
        """Return what an error means for the request; what isn't of the network or the server is raised again."""
        import anthropic

        if isinstance(error, anthropic.APIStatusError):
            return self._refused(error)
        if isinstance(error, bodies.ReplyTooLongError):  # also while it was read as a stream
            return replace(_lost(f"the reply of {self._address} isn't taken: {error}"), again=False)
        if isinstance(error, TimeoutError):
            return _lost(f"no reply from {self._address} in time")
        if isinstance(error, anthropic.APIConnectionError):  # also one that took too long
            cause = error.__cause__
            if isinstance(cause, bodies.ReplyTooLongError):
                return replace(_lost(f"the reply of {self._address} isn't taken: {cause}"), again=False)
            if type(cause).__name__ == "LocalProtocolError" and "header" in str(cause):
                # The network's own words repeat the header, and that may be a secret.
                raise InputError(
                    "a request can't be sent: one of its headers holds a line end or a space at its end",
                    remedy="Look at ANTHROPIC_CUSTOM_HEADERS.",
                ) from None
            said = f"{type(cause).__name__} {cause}".strip() if cause is not None else str(error)
            what = f"no reply from {self._address}: {said}"
            return _Failure(what, again=True) if type(cause).__name__ in _UNSENT else _lost(what)
        if isinstance(error, ValueError | RecursionError):  # also a UnicodeError
            return _lost(f"{self._address} sent what is no JSON: {error}")
        if isinstance(error, anthropic.AnthropicError) or _of_network(error):
            return _lost(f"{self._address}: {type(error).__name__}: {error}")
        raise error

    def _refused(self, error: anthropic.APIStatusError) -> _Failure:
        status, said = error.status_code, _said(error)
        what = f"{self._address} answers {status}: {said}"
        if status in (401, 402, 403):
            raise InputError(
                what, remedy="Look at ANTHROPIC_API_KEY and at what it may do, and whether ANTHROPIC_BASE_URL is meant."
            ) from None
        if status == 404:
            raise NotThereError(
                what, remedy="Name a model that the API has (--model), and see whether ANTHROPIC_BASE_URL is meant."
            ) from None
        told = error.response.headers.get("x-should-retry")
        again = told != "false" and (told == "true" or status in _AGAIN or status >= 500)
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
    """Why an attempt gave nothing.

    ``again``: another may; ``lost``: whether this one may have been charged, as 0 or 1; ``unsure``: the server may have
    done what it was asked; ``limited``: it was refused for the rate; ``wait``: the pause that the server asks for.
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
    """Return the failure of an attempt that was sent, and of which nobody knows what became."""
    return _Failure(what, again=True, lost=1, unsure=True)


def _said(error: anthropic.APIStatusError) -> str:
    """Return the server's own words, or the beginning of whatever it sent."""
    body = error.body
    inner = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(inner, Mapping) and isinstance(inner.get("message"), str):
        return f"{inner.get('type')}: {inner['message']}"
    return " ".join(str(body if body is not None else error).split())[:300]


def _wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds for which a server asks, as milliseconds, seconds or a date; None where it says nothing."""
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

    Raises
    ------
    InputError
        The schema is one that the API can't take.
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
    """Return the ids of the blocks after which a server is told to keep what it read: the last ones that are shared.

    The API takes no block without text. Where such a one ends what is shared, the one before it does.
    """
    found: list[Block] = []
    before: Block | None = None
    for block in (*request.system, *(block for turn in request.turns for block in turn.blocks)):
        before = block if block.text.strip() else before
        if block.shared and before is not None and (not found or found[-1] is not before):
            found.append(before)
    return {id(block) for block in found[-_BREAKPOINTS:]}


def _content(blocks: tuple[Block, ...], breakpoints: set[int]) -> str | list[dict[str, Any]]:
    """Return blocks with their breakpoints; a single one without is plain text."""
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
    """Return text that can be written as UTF-8: half a pair of surrogates, which JSON can hold, becomes a mark."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text


def sendable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema as the API takes it: limits that it refuses (such as minimum) go into the description.

    Raises
    ------
    InputError
        It says of some value not what type that has.
    """
    import anthropic

    try:
        return anthropic.transform_schema(_with_one_type(dict(schema)))
    except (ValueError, TypeError, AttributeError, AssertionError) as error:
        raise InputError(f"the API can't take this schema: {error}", remedy="Give each value a type.") from None


def _with_one_type(schema: Any) -> Any:
    """Return a schema in which a value of one of several types is written with ``anyOf``."""
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
    """Return the reply that a message of the API is.

    Raises
    ------
    ValueError
        It is none; with what it lacks.
    """
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
