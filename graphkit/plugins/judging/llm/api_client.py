"""The base of all clients of model APIs: concurrent requests, retries, and the server's rate limits."""

from __future__ import annotations

import asyncio
import email.utils
import json
import random
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeGuard

from graphkit.errors import InputError
from graphkit.files.intake import is_too_dense
from graphkit.plugins.judging.llm import bodies
from graphkit.plugins.judging.llm.gate import Gate
from graphkit.plugins.judging.llm.requests import BEFORE_REPEAT, ModelError, Reply, Request
from graphkit.records.words import shortened

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

#: The network's errors before anything was sent, and so charged.
_UNSENT = ("ConnectError", "ConnectTimeout", "PoolTimeout")

#: The characters of a key; with another one, the request fails, or the network's message repeats the key.
_SENDABLE = re.compile(r"[!-~]*")

#: More tokens than any reply has.
_TOO_MANY = 10**12


class NotThereError(InputError):
    """The server doesn't know a model, a batch, or the whole address."""


@dataclass(frozen=True)
class Received:
    """The JSON of a server, the number of attempts, and how many lost ones may have been charged."""

    value: Any
    attempts: int = 1
    lost: int = 0


@dataclass(frozen=True)
class FailedAttempt:
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


class ApiClient(ABC):
    """A client of a model API, without what is the API's own.

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
    notify
        Called once with each thing that the server lacks.
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
        notify: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._notify = notify
        self._unmetered = False  # whether the server was reported to state no usage
        self._timeout = timeout
        self._deadline = deadline
        self._attempts = max(1, attempts)
        self._backoff = backoff
        self._chance = random.Random(seed)  # noqa: S311 - jitter of pauses
        self._gate = Gate(max(1, concurrency))
        self._address = ""  # for messages, which runs keep: without secrets

    @abstractmethod
    async def ask(self, request: Request) -> Reply:
        """Return the reply; raise a ModelError if there is none, and an InputError if no request can get one."""

    @abstractmethod
    async def close(self) -> None:
        """Close the connections of the running event loop."""

    @abstractmethod
    def _failure(self, error: Exception) -> FailedAttempt:
        """Return the failure for an error of the network or the server; raise any other error again.

        Raise an InputError if no request can get a reply.
        """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _noted(self, reply: Reply) -> Reply:
        """Return a reply; report once that the server states no usage."""
        if reply.usage is None and not self._unmetered:
            self._unmetered = True
            self._notify(
                f"note: {self._address} doesn't state its tokens: their number and cost are unknown, and --max-cost "
                "counts each reply as the most that it can cost"
            )
        return reply

    async def call(
        self, send: Callable[[], Awaitable[bytes]], *, repeatable: bool = True, timeout: float | None = None
    ) -> Received:
        """Return the JSON of the server, with retries.

        Unless ``repeatable``, nothing is sent twice that the server may have done: such a failure raises an error at
        once, with ``lost`` 1. ``timeout`` is for calls that take longer than a reply.

        Raise a ModelError if the server sent none, with its message or that of the network; the error of the client is
        the cause. Raise an InputError if no request can get a reply.
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
                        value = _json(await send())
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
                    waits = "" if final else self._why_no_retry(attempt, pause, failure.wait)
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

    def _why_no_retry(self, attempt: int, pause: float, wait: float | None) -> str:
        """Return why there is no further retry."""
        if attempt == self._attempts:
            return f" (given up after {attempt} attempts)" if attempt > 1 else ""
        if pause > _LONGEST_WAIT:
            return f"; it asks for a pause of {pause if wait is None else wait:.0f} s"
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

    def _refused(self, what: str, status: int, headers: Mapping[str, str]) -> FailedAttempt:
        """Return the failure for a status by which the server answers, with its message."""
        advice = headers.get("x-should-retry")
        again = advice != "false" and (advice == "true" or status in _AGAIN or status >= 500)
        return FailedAttempt(
            what,
            again=again,
            lost=int(status in _IN_BETWEEN),
            unsure=status in _IN_BETWEEN or (status >= 500 and status not in _NOT_DONE),
            limited=status == 429,
            wait=_wait(headers),
        )

    def _unreachable(self, cause: BaseException | None, what: str) -> FailedAttempt:
        """Return the failure for an error of the network; ``what`` describes it if there is no cause."""
        if isinstance(cause, bodies.ReplyTooLongError):
            return self._too_long(cause)
        message = f"{type(cause).__name__} {cause}".strip() if cause is not None else what
        what = f"no reply from {self._address}: {message}"
        return FailedAttempt(what, again=True) if type(cause).__name__ in _UNSENT else lost_attempt(what)

    def _too_long(self, error: BaseException) -> FailedAttempt:
        return FailedAttempt(f"the reply of {self._address} is refused: {error}", again=False, lost=1, unsure=True)


def lost_attempt(what: str) -> FailedAttempt:
    """Return the failure of an attempt that was sent, with an unknown outcome."""
    return FailedAttempt(what, again=True, lost=1, unsure=True)


def check_key(name: str, key: str | None) -> None:
    """Raise an InputError, without the key, if a header can't hold the key in an environment variable."""
    if key is not None and not _SENDABLE.fullmatch(key):
        what = f"{name} holds a space, a line end or another character that no key has"
        raise InputError(what, remedy="Set it again, without quotes, spaces or line ends around it.")


def is_of_network(error: BaseException) -> bool:
    """Return whether an error comes from the network's library."""
    return type(error).__module__.partition(".")[0] == "httpx2"


def _json(body: bytes) -> Any:
    """Return the JSON of a reply."""
    if is_too_dense(body):
        raise bodies.ReplyTooLongError("it holds millions of values")
    return json.loads(body)


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


def without_surrogates(text: str) -> str:
    """Return text that UTF-8 can hold: a lone surrogate, which JSON allows, becomes a question mark."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text


def is_metered(usage: Any, *names: str) -> TypeGuard[Mapping[str, Any]]:
    """Return whether a server states these numbers of tokens; else the usage of its reply is unknown.

    Raise a ValueError if it states something else as its usage.
    """
    if usage is not None and not isinstance(usage, Mapping):
        raise ValueError(f"usage is {shortened(repr(usage))}")
    return usage is not None and all(usage.get(name) is not None for name in names)


def token_count(usage: Mapping[str, Any], name: str, otherwise: int | None = None) -> int:
    """Return a number of tokens that a server states; ``otherwise`` if it states none and that isn't None.

    Raise a ValueError if it is no number of tokens.
    """
    value = usage.get(name)
    if value is None and otherwise is not None:
        return otherwise
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _TOO_MANY:
        raise ValueError(f"usage.{name} is {value!r}")
    return value
