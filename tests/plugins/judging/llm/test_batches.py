"""Batches: submitted once whatever is killed, read in any order, and kept in the cache."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.plugins.judging.llm.anthropic_model import AnthropicModel
from graphkit.plugins.judging.llm.budget import Budget
from graphkit.plugins.judging.llm.cache import ReplyCache
from graphkit.plugins.judging.llm.message_batches import Batches, BatchOutcome
from graphkit.plugins.judging.llm.prices import PriceTable
from graphkit.plugins.judging.llm.requests import ModelError, Request, Usage
from graphkit.records.usage import Prices
from tests.helpers import ROOT, forked
from tests.helpers.api import Api, Batch, BatchApi, Reply, Response, message, refusal, served
from tests.helpers.forked import Forked
from tests.helpers.models import asked, with_client

FIVE = [asked(f"number {number}") for number in range(5)]


def on(parameters: dict[str, Any]) -> Reply:
    """Answer with what was asked."""
    return message(f"on {parameters['messages'][0]['content']}", 100, 7)


def no_messages(api: Api, body: dict[str, Any]) -> Reply:
    """Refuse what isn't a batch: nothing may be asked at the full price."""
    return refusal(400, "invalid_request_error", "only batches")


def filled(api: Api, path: Path, requests: Sequence[Request], **options: Any) -> BatchOutcome:
    """Fill the cache of a file through batches."""

    async def work(model: AnthropicModel) -> BatchOutcome:
        with ReplyCache(path) as cache:
            return await Batches(model, cache, **{"interval": 0.02, "patience": 0.2, **options}).fill(requests)

    return with_client(api, work)


def kept(path: Path, requests: Sequence[Request]) -> list[str | None]:
    """Return the texts of the replies that are kept."""
    with ReplyCache(path) as cache:
        found = [cache.get(request.digest) for request in requests]
    return [reply.text if reply else None for reply in found]


def submitted(batches: BatchApi) -> Counter[str]:
    """Return how often each request was submitted."""
    return Counter(one["custom_id"] for batch in batches.batches.values() for one in batch.requests)


# Filling -----------------------------------------------------------------------------------------------------------


def test_cache_is_filled(tmp_path: Path) -> None:
    """Five requests go out in batches of at most two, come back in another order, and each has its own reply."""
    path, batches = tmp_path / "replies.sqlite", BatchApi(on, looks=2)
    with served(no_messages, batches) as api:
        outcome = filled(api, path, [*FIVE, FIVE[0]], max_requests=2)
        assert (outcome.submitted, outcome.succeeded, outcome.cached, outcome.failures) == (5, 5, 0, {})
        assert [len(batch.requests) for batch in batches.batches.values()] == [2, 2, 1]
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in submitted(batches))
        first = batches.batches["msgbatch_1"].requests[0]["params"]
        assert first == {
            "model": "claude-haiku-5-5",
            "max_tokens": 2048,
            "messages": [{"role": "user", "content": "number 0"}],
        }
        # All is there: nothing is submitted a second time.
        again = filled(api, path, FIVE)
        assert (again.submitted, again.cached, again.succeeded) == (0, 5, 0)
    assert kept(path, FIVE) == [f"on number {number}" for number in range(5)]
    with ReplyCache(path) as cache:
        reply = cache.get(FIVE[0].digest)
        assert reply is not None
        assert (reply.batch, reply.cached, reply.usage, reply.stop_reason) == (True, True, Usage(100, 7), "end_turn")
        assert cache.stats().batches == 0


def test_batches_have_a_size(tmp_path: Path) -> None:
    """A batch holds no more bytes than the API takes: requests of 1 kB each go by two where 2.5 kB are taken."""
    requests = [asked(f"{number}" + "x" * 1000) for number in range(4)]
    batches = BatchApi(on)
    with served(no_messages, batches) as api:
        filled(api, tmp_path / "replies.sqlite", requests, max_bytes=2500)
    assert [len(batch.requests) for batch in batches.batches.values()] == [2, 2]


def test_requests_without_a_reply_are_reported(tmp_path: Path) -> None:
    """Errored, canceled, expired and malformed results are reported with their reason, and may be submitted again."""
    bad: dict[str, Reply | str] = {
        "number 1": refusal(400, "invalid_request_error", "too long"),
        "number 2": "canceled",
        "number 3": "expired",
        "number 4": (200, {"type": "message"}),
    }
    path, batches = tmp_path / "replies.sqlite", BatchApi(lambda one: bad.get(one["messages"][0]["content"]) or on(one))
    with served(no_messages, batches) as api:
        outcome = filled(api, path, FIVE)
        assert (outcome.submitted, outcome.succeeded) == (5, 1)
        reported = {digest: str(error) for digest, error in outcome.failures.items()}
        assert reported[FIVE[1].digest].endswith("errored, invalid_request_error: too long")
        assert reported[FIVE[2].digest].endswith("canceled")
        assert reported[FIVE[3].digest].endswith("expired")
        assert "content or usage is missing" in reported[FIVE[4].digest]
        assert {error.label for error in outcome.failures.values()} == {"no_reply"}
        bad.clear()
        again = filled(api, path, FIVE)
        assert (again.submitted, again.cached, again.succeeded, again.failures) == (4, 1, 4, {})
    assert kept(path, FIVE) == [f"on number {number}" for number in range(5)]


def test_results_that_break_off_are_read_again(tmp_path: Path) -> None:
    """Results whose connection breaks, or that end too early, are read to their end; nothing is submitted again."""
    readings: list[bytes] = []

    def results(data: bytes) -> Response:
        readings.append(data)
        if len(readings) == 1:
            return Response(200, data, cut=len(data) // 2)
        if len(readings) == 2:
            return Response(200, b"".join(data.splitlines(keepends=True)[:2]))
        return Response(200, data)

    path, batches = tmp_path / "replies.sqlite", BatchApi(on, results=results)
    with served(no_messages, batches) as api:
        outcome = filled(api, path, FIVE)
    assert len(readings) == 3
    assert (outcome.succeeded, outcome.failures) == (5, {})
    assert set(submitted(batches).values()) == {1}


def test_results_that_can_not_be_read_stay_under_way(tmp_path: Path) -> None:
    """If results can't be read it is reported, and the next process reads them: they are paid."""
    broken = [True]
    path = tmp_path / "replies.sqlite"
    batches = BatchApi(on, results=lambda data: Response(200, b"<html>" if broken[0] else data))
    with served(no_messages, batches) as api:
        with pytest.raises(ModelError, match="another form: <html>"):
            filled(api, path, FIVE)
        broken[0] = False
        outcome = filled(api, path, FIVE)
    assert (outcome.submitted, outcome.joined, outcome.succeeded) == (0, 5, 5)


def test_budget_of_batches(tmp_path: Path) -> None:
    """Each request can cost 2048 x 0.5 in a batch: of 2500, two are sent, and what they cost is settled."""
    table = PriceTable({"claude-haiku-5-5": Prices(0.0, 1_000_000.0, batch=0.5)}, "2026-10-24")
    budget = Budget(2500, table, ["claude-haiku-5-5"])
    batches = BatchApi(on)
    with served(no_messages, batches) as api:
        outcome = filled(api, tmp_path / "replies.sqlite", FIVE, budget=budget)
    assert (outcome.submitted, outcome.succeeded) == (2, 2)
    assert {error.label for error in outcome.failures.values()} == {"over_budget"}
    # Two replies of 7 tokens, each at 0.5.
    assert (budget.spent, budget.reserved) == (7, 0)


def test_wrong_credentials_leave_nothing_under_way(tmp_path: Path) -> None:
    """A batch that is refused was not submitted: it is reported, and isn't looked for later."""
    path, refused = tmp_path / "replies.sqlite", [refusal(401, "authentication_error", "who are you")]

    def created(batch: Batch) -> Reply:
        del batches.batches[batch.id]
        return refused[0]

    batches = BatchApi(on, created=created)
    with served(no_messages, batches) as api:
        with pytest.raises(InputError, match="ANTHROPIC_API_KEY"):
            filled(api, path, FIVE)
        with ReplyCache(path) as cache:
            assert cache.stats().batches == 0
        refused[0] = refusal(400, "invalid_request_error", "no such thing")
        outcome = filled(api, path, FIVE)
        assert (outcome.submitted, len(outcome.failures)) == (0, 5)
        assert all("no such thing" in str(error) for error in outcome.failures.values())
        with ReplyCache(path) as cache:
            assert cache.stats().batches == 0


def test_batch_that_the_server_does_not_know(tmp_path: Path) -> None:
    """A batch of another account is reported with its id and what to do, and can be forgotten."""
    path = tmp_path / "replies.sqlite"
    batches = BatchApi(on, looks=10**9)
    with served(no_messages, batches) as api:
        with pytest.raises(TimeoutError):
            asyncio.run(_for_a_moment(api, path))
        assert len(batches.batches) == 1
        batches.batches.clear()
        with pytest.raises(InputError, match="msgbatch_1") as reported:
            filled(api, path, FIVE)
        assert "prune --batches" in str(reported.value)
        with ReplyCache(path) as cache:
            assert cache.forget_batches() == 1
        batches.looks = 0
        assert filled(api, path, FIVE).succeeded == 5


async def _for_a_moment(api: Api, path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch, ReplyCache(path) as cache:
        for name, value in api.env.items():
            patch.setenv(name, value)
        async with AnthropicModel() as model, asyncio.timeout(1):
            await Batches(model, cache, interval=0.1).fill(FIVE)


# Kills -------------------------------------------------------------------------------------------------------------

BATCHER = """
import asyncio, sys
from pathlib import Path
from graphkit.plugins.judging.llm.message_batches import Batches
from graphkit.plugins.judging.llm.cache import ReplyCache
from graphkit.plugins.judging.llm.anthropic_model import AnthropicModel
from tests.helpers.models import asked

FIVE = [asked(f"number {number}") for number in range(5)]

async def main():
    with ReplyCache(Path(sys.argv[1])) as cache:
        async with AnthropicModel(backoff=0.01) as model:
            found = await Batches(model, cache, interval=0.02, patience=0.2).fill(FIVE)
    print(found.submitted, found.joined, found.cached)

asyncio.run(main())
"""


def batcher(api: Api, path: Path) -> Forked:
    """Start a process that fills the cache of a file."""
    return forked.program(BATCHER, path, cwd=ROOT, env=api.env)


@pytest.mark.slow("a command is killed")
@pytest.mark.parametrize("arrives", [True, False])
@pytest.mark.parametrize("looks", [0, 3])
def test_killed_while_it_submits(arrives: bool, looks: int, tmp_path: Path) -> None:
    """Killed before the server's answer came: the next process finds the batch, or sees that it never arrived."""
    path, process = tmp_path / "replies.sqlite", list[Forked]()

    def created(batch: Batch) -> None:
        if len(batches.batches) == 1 and process[0].poll() is None:
            process[0].kill()
            process[0].wait()
            if not arrives:
                del batches.batches[batch.id]

    batches = BatchApi(on, looks=looks, created=created)
    with served(no_messages, batches) as api:
        process.append(batcher(api, path))
        process[0].communicate(timeout=60)
        assert process[0].returncode == -signal.SIGKILL
        with ReplyCache(path) as cache:
            assert cache.rows("SELECT id, requests FROM batches") == [(None, 5)]
        outcome = filled(api, path, FIVE)
    assert (outcome.submitted, outcome.joined) == ((0, 5) if arrives else (5, 0))
    assert outcome.succeeded == 5
    assert submitted(batches) == Counter(request.digest for request in FIVE)
    assert kept(path, FIVE) == [f"on number {number}" for number in range(5)]


@pytest.mark.slow("a command is killed while it waits for a batch")
def test_killed_while_it_waits(tmp_path: Path) -> None:
    """Killed after the batch was submitted: another process waits for the same batch, and reads it."""
    path = tmp_path / "replies.sqlite"
    batches = BatchApi(on, looks=10**9)
    with served(no_messages, batches) as api:
        process = batcher(api, path)
        while not any(request["path"].endswith("/msgbatch_1") for request in api.requests):
            assert process.poll() is None, process.communicate()
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
        batches.batches["msgbatch_1"].looks = 2
        outcome = filled(api, path, FIVE)
    assert (outcome.submitted, outcome.joined, outcome.succeeded) == (0, 5, 5)
    assert submitted(batches) == Counter(request.digest for request in FIVE)


@pytest.mark.slow("a command is killed")
def test_killed_while_it_reads(tmp_path: Path) -> None:
    """Killed in the middle of the results: the next process reads the rest, and nothing is submitted again."""
    path, process = tmp_path / "replies.sqlite", list[Forked]()

    def results(data: bytes) -> Response:
        if process[0].poll() is None:
            process[0].kill()
            process[0].wait()
        return Response(200, data)

    batches = BatchApi(on, results=results)
    with served(no_messages, batches) as api:
        process.append(batcher(api, path))
        process[0].communicate(timeout=60)
        assert process[0].returncode == -signal.SIGKILL
        outcome = filled(api, path, FIVE)
    assert (outcome.submitted, outcome.joined, outcome.succeeded) == (0, 5, 5)
    assert submitted(batches) == Counter(request.digest for request in FIVE)


@pytest.mark.parametrize("arrives", [True, False])
def test_answer_that_gets_lost(arrives: bool, tmp_path: Path) -> None:
    """The connection breaks while a batch is submitted: it is looked for, and sent again only if it isn't there."""
    path, lost = tmp_path / "replies.sqlite", [True]

    def created(batch: Batch) -> Response | None:
        if not lost.pop() if lost else True:
            return None
        if not arrives:
            del batches.batches[batch.id]
        return Response(200, {"id": batch.id}, cut=3)

    batches = BatchApi(on, created=created)
    with served(no_messages, batches) as api:
        outcome = filled(api, path, FIVE)
    assert (outcome.submitted, outcome.succeeded) == (5, 5)
    assert submitted(batches) == Counter(request.digest for request in FIVE)


def test_batches_of_others_are_not_taken(tmp_path: Path) -> None:
    """Batches of other requests, also of as many, lie between on several pages, and aren't taken for the lost one."""
    path, lost = tmp_path / "replies.sqlite", [True]

    def created(batch: Batch) -> Response | None:
        if len(batch.requests) == 5 and lost:
            lost.clear()
            for number in range(5):
                others = [{"custom_id": f"other-{number}-{one}", "params": {}} for one in range(5 if number else 2)]
                # The one of another size never ends: nobody waits for it.
                looks = 1 if number else 10**9
                batches.batches[f"other_{number}"] = Batch(f"other_{number}", others, looks, batch.created_at)
            return Response(500, refusal(500, "api_error", "oops")[1])
        return None

    batches = BatchApi(lambda one: on(one) if one else message("other"), created=created)
    with served(no_messages, batches) as api:
        outcome = filled(api, path, FIVE)
    assert (outcome.submitted, outcome.succeeded) == (5, 5)
    assert set(kept(path, FIVE)) == {f"on number {number}" for number in range(5)}
    assert all(submitted(batches)[request.digest] == 1 for request in FIVE)


@pytest.mark.slow("a race of two processes")
def test_two_processes_at_once(tmp_path: Path) -> None:
    """Two processes with the same requests submit them once, and both end with all replies in the cache."""
    path, batches = tmp_path / "replies.sqlite", BatchApi(on, looks=5)
    with served(no_messages, batches) as api:
        processes = [batcher(api, path) for _ in range(2)]
        outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    counts = [[int(number) for number in output.split()] for output, _ in outputs]
    assert sum(sent for sent, _, _ in counts) == 5
    assert all(sum(one) == 5 for one in counts)
    assert submitted(batches) == Counter(request.digest for request in FIVE)
    assert kept(path, FIVE) == [f"on number {number}" for number in range(5)]


@pytest.mark.slow("a race, and a batch that arrives after a second")
def test_nobody_takes_what_is_being_submitted_for_lost(tmp_path: Path) -> None:
    """While one submits, and its batch takes longer to arrive than a lost one would, another waits for it."""
    path, batches = tmp_path / "replies.sqlite", BatchApi(on, seconds=1.0)

    async def one(model: AnthropicModel) -> BatchOutcome:
        with ReplyCache(path) as cache:
            return await Batches(model, cache, interval=0.02, patience=0.1).fill(FIVE)

    async def both(model: AnthropicModel) -> list[BatchOutcome]:
        return list(await asyncio.gather(one(model), one(model)))

    with served(no_messages, batches) as api:
        outcomes = with_client(api, both)
    assert sorted(outcome.submitted for outcome in outcomes) == [0, 5]
    assert submitted(batches) == Counter(request.digest for request in FIVE)


def test_failures_are_reported_to_all_who_wait(tmp_path: Path) -> None:
    """Only one of two that wait for a batch reads a result; both report its failure."""
    path = tmp_path / "replies.sqlite"
    batches = BatchApi(lambda one: "expired" if one["messages"][0]["content"] == "number 1" else on(one), looks=4)

    async def both(model: AnthropicModel) -> list[BatchOutcome]:
        with ReplyCache(path) as cache:
            waiting = [Batches(model, cache, interval=0.05, patience=0.1) for _ in range(2)]
            return list(await asyncio.gather(*(one.fill(FIVE) for one in waiting)))

    with served(no_messages, batches) as api:
        outcomes = with_client(api, both)
    assert [set(outcome.failures) for outcome in outcomes] == [{FIVE[1].digest}] * 2
    assert sum(outcome.succeeded for outcome in outcomes) == 4
