"""Sends requests in batches, at half the price and within a day, and keeps the replies in the cache.

The cache records each batch twice: as an intent before it is sent, and with its id once the server has replied. A
process that is killed in between leaves an intent without an id. The next process then searches the server's batches
for one with just these requests, and sends them again only if there is none.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.plugins.judging.llm.anthropic_model import AnthropicModel, parameters, reply_of
from graphkit.plugins.judging.llm.api_client import NotThereError
from graphkit.plugins.judging.llm.budget import Budget
from graphkit.plugins.judging.llm.cache import ReplyCache
from graphkit.plugins.judging.llm.requests import ModelError, Reply, Request
from graphkit.records.words import counted

#: The API's limits on one batch, with room for the JSON around the requests.
MAX_REQUESTS = 100_000
MAX_BYTES = 240_000_000

#: The most seconds by which the server's clock may differ.
_CLOCKS = 300.0

#: Seconds for sending a whole batch.
_UPLOAD = 900.0

#: How often to send a batch that doesn't arrive.
_SUBMISSIONS = 3

#: How often to read results that break off.
_READINGS = 4


@dataclass
class BatchOutcome:
    """The outcome of requests in batches."""

    cached: int = 0  # the number of requests with an earlier reply
    joined: int = 0  # the number of requests that were already under way, in a batch of an earlier or another process
    submitted: int = 0  # the number of requests sent now
    succeeded: int = 0  # the number of replies read, including those to other requests in the same batches
    #: The errors of requests, by digest. Each wanted request has a reply in the cache or an error here, and may then be
    #: submitted again.
    failures: dict[str, ModelError] = field(default_factory=dict)


@dataclass(frozen=True)
class _Intent:
    number: int
    id: str | None
    intended_at: float
    requests: int


@dataclass
class Batches:
    """The Message Batches API in front of a cache."""

    model: AnthropicModel
    cache: ReplyCache
    _: KW_ONLY
    #: The spending limit; requests that don't fit are not sent, and fail as ``over_budget``.
    budget: Budget | None = None
    interval: float = 30.0  # seconds between two checks of the batches under way
    patience: float = 60.0  # seconds after which the server lists a batch that a killed process has sent
    report: Callable[[str], None] = lambda _: None  # called with a line about each event
    max_requests: int = MAX_REQUESTS
    max_bytes: int = MAX_BYTES
    _reserved: dict[str, float] = field(default_factory=dict, init=False)  # reserves of the budget, by digest

    async def fill(self, requests: Iterable[Request]) -> BatchOutcome:
        """Get a reply or an error for each request; wait until all batches end.

        After a kill at any moment, a second call with the same requests resumes.

        Raise an InputError if no request can get a reply: the credentials or the address are wrong. Raise a ModelError
        if the server is unreachable; the batches stay under way, and the next call reads them.
        """
        outcome = BatchOutcome()
        wanted = {request.digest: request for request in requests}
        async with self._alone():
            await self._resolve()
            await self._submit(wanted, outcome)
        await self._finish(outcome)
        for digest in wanted:
            if digest not in outcome.failures and self.cache.get(digest) is None:
                outcome.failures[digest] = ModelError("the batch gave no reply, as another process read")
        return outcome

    # Submitting

    @contextlib.asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Let no other process submit from the same file; a killed process loses its lock."""
        with Path(f"{self.cache.path}.submitting").open("w") as file:
            reported = False
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if not reported:
                        self.report("another process submits batches; waiting for it")
                        reported = True
                    await asyncio.sleep(0.2)
            yield

    async def _submit(self, wanted: Mapping[str, Request], outcome: BatchOutcome) -> None:
        new: list[Request] = []
        for digest, request in wanted.items():
            # In this order, since another process may move a result from the batch to the replies meanwhile.
            if self.cache.rows("SELECT 1 FROM batched WHERE digest = ?", (digest,)):
                outcome.joined += 1
            elif self.cache.get(digest) is not None:
                outcome.cached += 1
            else:
                new.append(request)
        for part in self._parts(self._payable(new, outcome)):
            intent = self._intend([request for request, _ in part])
            if await self._send(intent, [body for _, body in part], outcome):
                outcome.submitted += len(part)

    def _payable(self, requests: Iterable[Request], outcome: BatchOutcome) -> Iterable[Request]:
        """Reserve and yield the requests that the budget can pay for."""
        for request in requests:
            if self.budget is not None:
                cost = self.budget.maximum_cost(request, batch=True)
                if not self.budget.reserve(cost):
                    error = ModelError(self.budget.refusal(cost), label="over_budget", attempts=0)
                    outcome.failures[request.digest] = error
                    continue
                self._reserved[request.digest] = cost
            yield request

    def _charge(self, digest: str, request: Request | None = None, reply: Reply | None = None) -> None:
        """Charge the cost of a reply, the reserve if it is unknown, unless another process submitted the request."""
        reserved = self._reserved.pop(digest, None)
        if self.budget is None or reserved is None:
            return
        cost: float | None = 0.0
        if request is not None and reply is not None:
            cost = self.budget.prices.cost(request.model, reply.usage, batch=True)
        self.budget.charge(reserved, reserved if cost is None else cost)

    def _parts(self, requests: Iterable[Request]) -> Iterable[list[tuple[Request, dict[str, Any]]]]:
        """Yield requests with their bodies, in parts within the API's limits."""
        part: list[tuple[Request, dict[str, Any]]] = []
        size = 0
        for request in requests:
            body = {"custom_id": request.digest, "params": parameters(request)}
            length = len(json.dumps(body)) + 2
            if part and (len(part) == self.max_requests or size + length > self.max_bytes):
                yield part
                part, size = [], 0
            part.append((request, body))
            size += length
        if part:
            yield part

    def _intend(self, requests: list[Request]) -> _Intent:
        """Record the intent to submit requests."""
        now = time.time()
        with self.cache.transaction(durable=True) as connection:
            values = (now, len(requests))
            number = connection.execute("INSERT INTO batches (intended_at, requests) VALUES (?, ?)", values).lastrowid
            connection.executemany(
                "INSERT INTO batched (digest, batch, request) VALUES (?, ?, ?)",
                [(request.digest, number, request.text) for request in requests],
            )
        assert number is not None
        return _Intent(number, None, now, len(requests))

    async def _send(self, intent: _Intent, bodies: list[dict[str, Any]], outcome: BatchOutcome) -> bool:
        """Submit a batch, and return whether that succeeded; if it may have arrived, search for it before a retry."""

        async def send() -> bytes:
            batches = self.model.client.messages.batches.with_raw_response
            created = await batches.create(requests=bodies, timeout=_UPLOAD)  # type: ignore[arg-type]
            return created.http_response.content

        failure: ModelError | None = None
        for _ in range(_SUBMISSIONS):
            try:
                batch = _batch((await self.model.call(send, repeatable=False, timeout=_UPLOAD)).value)
            except InputError:
                self._drop(intent)
                raise
            except ModelError as error:
                failure = error
                if not error.lost:
                    break
                self.report(f"a batch may not have arrived ({error}); looking for it")
                if await self._found(intent):
                    return True
            else:
                self._confirm(intent, batch["id"])
                self.report(f"batch {batch['id']}: {counted(intent.requests, 'request')} submitted")
                return True
        self._drop(intent)
        assert failure is not None
        self._fail([body["custom_id"] for body in bodies], failure, outcome)
        return False

    def _confirm(self, intent: _Intent, batch: str) -> None:
        with self.cache.transaction(durable=True) as connection:
            connection.execute("UPDATE batches SET id = ? WHERE number = ?", (batch, intent.number))

    def _drop(self, intent: _Intent) -> None:
        with self.cache.transaction(durable=True) as connection:
            connection.execute("DELETE FROM batched WHERE batch = ?", (intent.number,))
            connection.execute("DELETE FROM batches WHERE number = ?", (intent.number,))

    def _fail(self, digests: Iterable[str], error: ModelError, outcome: BatchOutcome) -> None:
        for digest in digests:
            outcome.failures[digest] = error
            self._charge(digest)

    # Intents without an id

    async def _resolve(self) -> None:
        """Search for the batch of each intent without an id; forget the intents without a batch."""
        for intent in self._intents("id IS NULL"):
            self.report(
                f"{counted(intent.requests, 'request')} may have been submitted by a process that was ended; looking"
            )
            if not await self._found(intent):
                self._drop(intent)

    async def _found(self, intent: _Intent) -> bool:
        """Return whether the server has the batch of an intent, and confirm it then.

        Only its results show which requests a batch has. So this waits for each unknown batch with the same number of
        requests that is newer than the intent.
        """
        arrived = max(0.0, intent.intended_at + self.patience - time.time())
        await asyncio.sleep(min(arrived, self.patience))
        rows = self.cache.rows("SELECT digest FROM batched WHERE batch = ?", (intent.number,))
        digests = {digest for (digest,) in rows}
        known = {batch for (batch,) in self.cache.rows("SELECT id FROM batches WHERE id IS NOT NULL")}
        for batch in await self._listed(intent.intended_at - _CLOCKS):
            if batch["id"] in known or sum(batch["request_counts"].values()) != intent.requests:
                continue
            while batch["processing_status"] != "ended":
                self.report(f"batch {batch['id']} may be the one; waiting until it ends")
                await asyncio.sleep(self.interval)
                batch = await self._retrieved(batch["id"])
            if {line["custom_id"] async for line in self._results(batch)} == digests:
                self._confirm(intent, batch["id"])
                self.report(f"batch {batch['id']} is the one")
                return True
        return False

    async def _listed(self, since: float) -> list[dict[str, Any]]:
        """Return the server's batches since a time, the newest first."""
        found: list[dict[str, Any]] = []
        after: dict[str, str] = {}
        while True:

            async def send(after: dict[str, str] = after) -> bytes:
                page = await self.model.client.messages.batches.with_raw_response.list(limit=100, extra_query=after)
                return page.http_response.content

            page = (await self.model.call(send)).value
            if not isinstance(page, Mapping) or not isinstance(page.get("data"), list):
                raise ModelError(f"the server's list of batches has another form: {json.dumps(page)[:200]}")
            batches = [_batch(one) for one in page["data"]]
            recent = [one for one in batches if _moment(one) >= since]
            found += recent
            if not page.get("has_more") or not batches or len(recent) < len(batches):
                return found
            after = {"after_id": batches[-1]["id"]}

    # Waiting and reading

    def _intents(self, condition: str) -> list[_Intent]:
        query = f"SELECT number, id, intended_at, requests FROM batches WHERE {condition} ORDER BY number"  # noqa: S608
        return [_Intent(*row) for row in self.cache.rows(query)]

    async def _finish(self, outcome: BatchOutcome) -> None:
        """Read each batch when it has ended, until none is under way."""
        while under_way := self._intents("id IS NOT NULL AND ended_at IS NULL"):
            for intent in under_way:
                assert intent.id is not None
                batch = await self._retrieved(intent.id)
                if batch["processing_status"] == "ended":
                    await self._read(intent, batch, outcome)
            if left := self._intents("id IS NOT NULL AND ended_at IS NULL"):
                requests = sum(intent.requests for intent in left)
                self.report(f"{counted(len(left), 'batch', 'batches')} under way, {counted(requests, 'request')}")
                await asyncio.sleep(self.interval)

    async def _retrieved(self, batch: str) -> dict[str, Any]:
        async def send() -> bytes:
            found = await self.model.client.messages.batches.with_raw_response.retrieve(batch)
            return found.http_response.content

        try:
            return _batch((await self.model.call(send)).value)
        except NotThereError as error:
            what = f"the server doesn't know batch {batch}, which is under way here ({error.what})"
            remedy = "Use the account that submitted it; or forget it with `graphkit cache prune --batches`."
            raise InputError(what, where=str(self.cache.path), remedy=remedy) from None

    async def _read(self, intent: _Intent, batch: Mapping[str, Any], outcome: BatchOutcome) -> None:
        """Keep the results of a batch, in any order, and mark the batch as ended after all of them."""
        read: set[str] = set()
        async for line in self._results(batch):
            digest = line["custom_id"]
            if digest not in read:
                read.add(digest)
                self._keep(digest, line["result"], outcome)
        with self.cache.transaction(durable=True) as connection:
            left = connection.execute("SELECT digest FROM batched WHERE batch = ?", (intent.number,)).fetchall()
            connection.execute("DELETE FROM batched WHERE batch = ?", (intent.number,))
            connection.execute("UPDATE batches SET ended_at = ? WHERE number = ?", (time.time(), intent.number))
        missing = ModelError(f"batch {intent.id} has no result for the request")
        self._fail((digest for (digest,) in left), missing, outcome)
        self.report(f"batch {intent.id}: {counted(len(read), 'result')} read")

    def _keep(self, digest: str, result: Mapping[str, Any], outcome: BatchOutcome) -> None:
        rows = self.cache.rows("SELECT request FROM batched WHERE digest = ?", (digest,))
        if not rows:
            return  # another process has read it, or it isn't one of ours
        request = Request.from_json(json.loads(rows[0][0]))
        reply, failure = None, ModelError(f"the batch gave no reply: {_reason(result)}")
        if result.get("type") == "succeeded":
            try:
                reply = reply_of(result.get("message"), batch=True)
            except ValueError as error:
                failure = ModelError(f"the batch gave no message: {error}", lost=1)
        with self.cache.transaction() as connection:
            if reply is not None:
                self.cache.insert(connection, digest, request.model, rows[0][0], reply)
            connection.execute("DELETE FROM batched WHERE digest = ?", (digest,))
        if reply is None:
            outcome.failures[digest] = failure
            self._charge(digest)
            return
        outcome.succeeded += 1
        self._charge(digest, request, reply)

    async def _results(self, batch: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Yield all results of a batch that has ended. If they break off, read them again, so some come twice.

        Raise a ModelError if the results break off each time.
        """
        if not batch.get("results_url"):
            return  # the server keeps results for some weeks
        expected = sum(batch["request_counts"].values())
        for reading in range(1, _READINGS + 1):
            count = 0
            try:
                async with self.model.client.messages.batches.with_streaming_response.results(batch["id"]) as response:
                    async for text in response.iter_lines():
                        if text.strip():
                            yield _result(text)
                            count += 1
                if count >= expected:
                    return
                raise ModelError(f"the results of batch {batch['id']} end after {count} of {expected}")
            except ModelError as error:
                failure = error
            except Exception as error:
                failure = self.model.failure(error)
            if reading < _READINGS:
                await asyncio.sleep(min(self.interval, 2.0**reading))
        raise failure


def _batch(value: Any) -> dict[str, Any]:
    """Check and return a batch of the API."""
    counts = value.get("request_counts") if isinstance(value, dict) else None
    if (
        not isinstance(counts, dict)
        or not all(isinstance(count, int) for count in counts.values())
        or not isinstance(value.get("id"), str)
        or not isinstance(value.get("processing_status"), str)
    ):
        raise ModelError(f"the server sent no batch: {json.dumps(value)[:200]}", lost=1)
    return dict(value)


def _moment(batch: Mapping[str, Any]) -> float:
    try:
        return datetime.fromisoformat(str(batch.get("created_at"))).timestamp()
    except ValueError:
        return time.time()  # a date of another form hides no batch


def _result(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if (
        not isinstance(value, dict)
        or not isinstance(value.get("custom_id"), str)
        or not isinstance(value.get("result"), dict)
    ):
        raise ModelError(f"a line of the results has another form: {text[:200]}")
    return value


def _reason(result: Mapping[str, Any]) -> str:
    """Return why a request of a batch has no reply."""
    error = result.get("error")
    inner = error.get("error") if isinstance(error, Mapping) else None
    details = inner if isinstance(inner, Mapping) else error
    if isinstance(details, Mapping) and details.get("message"):
        return f"{result.get('type')}, {details.get('type')}: {details['message']}"
    return str(result.get("type"))
