"""Replies in one file: kept through kills and by two processes at once, asked for once, replayed."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.plugins.judging.llm.cache import CachedModel, ReplyCache, cache_path
from graphkit.plugins.judging.llm.replay import RecordedModel
from graphkit.plugins.judging.llm.requests import Block, ModelError, Reply, Request, Turn, Usage
from tests.helpers import ROOT
from tests.helpers.api import Api, message, served, with_faults
from tests.helpers.api import Reply as Sent
from tests.helpers.cli import environment
from tests.helpers.models import Counting, asked

REPLY = Reply("fine", "claude-haiku-5-5-20261007", "end_turn", Usage(10, 2, 3, 4), attempts=2, lost=1)


def file_in(folder: Path) -> Path:
    """Return the file of a test."""
    return folder / "deep" / "replies.sqlite"


# Keeping -----------------------------------------------------------------------------------------------------------


def test_round_trip(tmp_path: Path) -> None:
    """A reply comes back as it was kept, marked as cached, also from another connection; its request as well."""
    request = asked("Who? \ud800 é \x00", schema={"type": "object"}, effort="low")
    with ReplyCache(file_in(tmp_path)) as cache:
        assert cache.get(request.digest) is None
        cache.put(request, REPLY)
    with ReplyCache(file_in(tmp_path)) as cache:
        assert cache.get(request.digest) == Reply(
            "fine", "claude-haiku-5-5-20261007", "end_turn", Usage(10, 2, 3, 4), attempts=2, lost=1, cached=True
        )
        assert cache.request(request.digest) == request
        assert cache.get(asked("other").digest) is None


def test_unknown_usage(tmp_path: Path) -> None:
    """A reply without usage comes back without; statistics sum the known tokens, and count the others' replies.

    Of "m" two replies have 10 + 2 tokens each and one none; of "n" none has any.
    """
    without = replace(REPLY, usage=None)
    with ReplyCache(file_in(tmp_path)) as cache:
        for number, reply in enumerate((REPLY, REPLY, without)):
            cache.put(asked(f"{number}", "m"), reply)
        cache.put(asked("3", "n"), without)
        assert cache.get(asked("2", "m").digest) == replace(without, cached=True)
        stats = cache.stats()
    m, n = stats.models["m"], stats.models["n"]
    assert (m.usage, m.unmetered, n.usage, n.unmetered) == (Usage(20, 4, 6, 8), 1, None, 1)
    assert stats.as_json()["models"]["n"]["input_tokens"] is None


def test_file_of_the_first_form(tmp_path: Path) -> None:
    """A file that a former graphkit wrote keeps its replies, whose tokens are known, and takes replies without."""
    path = tmp_path / "replies.sqlite"
    with ReplyCache(path) as cache:
        cache.put(asked(), REPLY)
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE replies DROP COLUMN metered")
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    with ReplyCache(path) as cache:
        assert cache.get(asked().digest) == replace(REPLY, cached=True)
        cache.put(asked("other"), replace(REPLY, usage=None))
        assert cache.get(asked("other").digest) == replace(REPLY, usage=None, cached=True)


def test_first_reply_stays(tmp_path: Path) -> None:
    """A second reply to one request doesn't change what others may have used."""
    with ReplyCache(file_in(tmp_path)) as cache:
        cache.put(asked(), REPLY)
        cache.put(asked(), Reply("other", "m", None, Usage()))
        found = cache.get(asked().digest)
        assert found is not None
        assert found.text == "fine"


def test_forgotten(tmp_path: Path) -> None:
    """A reply that couldn't be used is asked for again."""
    model = Counting()

    async def work(cache: ReplyCache) -> None:
        cached = CachedModel(model, cache)
        await cached.ask(asked("a"))
        await cached.ask(asked("a"))
        assert model.asked == ["a"]
        cached.forget(asked("a").digest)
        await cached.ask(asked("a"))
        assert model.asked == ["a", "a"]

    with ReplyCache(file_in(tmp_path)) as cache:
        asyncio.run(work(cache))


def test_place_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """A given file has priority over the variable, and that over graphkit's folder."""
    home = Path("home")
    assert cache_path(home) == home / "replies.sqlite"
    monkeypatch.setenv("GRAPHKIT_REPLIES", "other.sqlite")
    assert cache_path(home) == Path("other.sqlite")
    assert cache_path(home, Path("mine.sqlite")) == Path("mine.sqlite")


# In front of a model -----------------------------------------------------------------------------------------------


def test_same_request_at_once_is_asked_once(tmp_path: Path) -> None:
    """One of ten same requests at a time is sent and paid, the others read its reply; different ones are sent."""
    model = Counting(seconds=0.05)

    async def work(cache: ReplyCache) -> None:
        cached = CachedModel(model, cache)
        replies = await asyncio.gather(*(cached.ask(asked("a")) for _ in range(10)), cached.ask(asked("b")))
        assert sorted(model.asked) == ["a", "b"]
        assert [reply.cached for reply in replies] == [False, *[True] * 9, False]
        assert {reply.text for reply in replies[:10]} == {"on a"}
        assert (cached.hits, cached.misses) == (9, 2)

    with ReplyCache(file_in(tmp_path)) as cache:
        asyncio.run(work(cache))


def test_failure_is_shared_and_not_kept(tmp_path: Path) -> None:
    """Same requests under way at once fail together; the next one is asked again."""

    class Failing(Counting):
        async def ask(self, request: Request) -> Reply:
            await super().ask(request)
            raise ModelError("no luck")

    model = Failing(seconds=0.05)

    async def work(cache: ReplyCache) -> None:
        cached = CachedModel(model, cache)
        found = await asyncio.gather(*(cached.ask(asked("a")) for _ in range(3)), return_exceptions=True)
        assert [str(one) for one in found] == ["no luck"] * 3
        assert len(model.asked) == 1
        with pytest.raises(ModelError):
            await cached.ask(asked("a"))
        assert len(model.asked) == 2
        assert (cached.hits, cached.misses) == (0, 2)  # who waited for what failed read nothing

    with ReplyCache(file_in(tmp_path)) as cache:
        asyncio.run(work(cache))


def test_who_waits_asks_where_the_first_is_cancelled(tmp_path: Path) -> None:
    """If the one that asks is given up, one of those that wait asks in its place."""
    model = Counting(seconds=0.1)

    async def work(cache: ReplyCache) -> None:
        cached = CachedModel(model, cache)
        first, second = (asyncio.create_task(cached.ask(asked("a"))) for _ in range(2))
        await asyncio.sleep(0.03)
        first.cancel()
        assert (await second).text == "on a"
        assert first.cancelled()
        assert len(model.asked) == 2

    with ReplyCache(file_in(tmp_path)) as cache:
        asyncio.run(work(cache))


# Kills and other processes -----------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from graphkit.plugins.judging.llm.cache import ReplyCache
from graphkit.plugins.judging.llm.requests import Reply, Usage
from tests.helpers.models import asked
path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with ReplyCache(path) as cache:
    for number in range(count):
        request = asked(f"{name} {number} " + "x" * 3000)
        cache.put(request, Reply(f"reply {name} {number}", "m", "end_turn", Usage(1, 1)))
        print(number, flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    """Start a process that keeps replies, and tells each once it is kept."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, path, name, str(count)],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow("a process is killed")
@pytest.mark.parametrize("reported", [1, 40, 300])
def test_killed_process_loses_nothing(reported: int, tmp_path: Path) -> None:
    """Whatever was reported as kept before a kill -9 is there afterwards, and the file is sound."""
    path = file_in(tmp_path)
    process = writer(path, "a", 1_000_000)
    assert process.stdout is not None
    for _ in range(reported):
        last = int(process.stdout.readline())
    os.kill(process.pid, signal.SIGKILL)
    rest = process.stdout.read().split()  # what was reported before the kill came
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL
    last = int(rest[-1]) if rest else last
    with ReplyCache(path) as cache:
        for number in range(last + 1):
            found = cache.get(asked(f"a {number} " + "x" * 3000).digest)
            assert found is not None, number
            assert found.text == f"reply a {number}"
        # At most the one that was being written when the kill came isn't reported.
        assert last + 1 <= cache.stats().entries <= last + 2
        assert cache.rows("PRAGMA integrity_check") == [("ok",)]


@pytest.mark.slow("a race of processes")
def test_processes_at_once(tmp_path: Path) -> None:
    """Four processes that make the file together and write at once lose no reply of any."""
    path = file_in(tmp_path)
    processes = [writer(path, name, 200) for name in "abcd"]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert [len(output.split()) for output in outputs] == [200] * 4
    with ReplyCache(path) as cache:
        assert cache.stats().entries == 800
        for name in "abcd":
            assert all(cache.get(asked(f"{name} {number} " + "x" * 3000).digest) for number in range(200))


def test_waits_for_a_writer(tmp_path: Path) -> None:
    """While another process holds the file for a moment, a reply waits and is kept."""
    path = file_in(tmp_path)
    with ReplyCache(path) as cache:
        program = (
            "import sqlite3, sys\n"
            "c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN IMMEDIATE')\n"
            "print('held', flush=True); sys.stdin.read(); c.execute('COMMIT')"
        )
        command, pipe = [sys.executable, "-c", program, str(path)], subprocess.PIPE
        holder = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with ThreadPoolExecutor(1) as putting:
            put = putting.submit(cache.put, asked(), REPLY)
            assert wait([put], 0.3).not_done
            holder.communicate(timeout=60)
            assert put.result(60) is None
        assert cache.get(asked().digest) is not None


ASKER = """
import asyncio, sys
from pathlib import Path
from graphkit.plugins.judging.llm.cache import CachedModel, ReplyCache
from graphkit.plugins.judging.llm.anthropic_model import AnthropicModel
from tests.helpers.models import asked

async def main():
    with ReplyCache(Path(sys.argv[1])) as cache:
        async with AnthropicModel(concurrency=8, backoff=0.01) as model:
            cached = CachedModel(model, cache)

            async def one(number):
                reply = await cached.ask(asked(f"number {number}"))
                print(f"number {number}: {reply.text}", flush=True)

            await asyncio.gather(*(one(number) for number in range(200)))

asyncio.run(main())
"""


@pytest.mark.slow("a command is killed and run again several times")
def test_killed_and_run_again_pays_once(tmp_path: Path) -> None:
    """Killed four times in the middle, then run to its end: what was kept before a kill is never asked for again."""
    path, draw = file_in(tmp_path), random.Random(3)
    answered: Counter[str] = Counter()
    lock = threading.Lock()

    def script(api: Api, body: dict[str, Any]) -> Sent:
        text = body["messages"][0]["content"]
        time.sleep(0.01)
        with lock:
            answered[text] += 1
        return message(f"on {text}")

    reported: dict[str, str] = {}
    before: list[dict[str, int]] = []
    with served(with_faults(script)) as api:
        for more in (*(draw.randint(15, 45) for _ in range(4)), 1000):
            process = subprocess.Popen(
                [sys.executable, "-c", ASKER, path],
                cwd=ROOT,
                env=environment(api.env),
                stdout=subprocess.PIPE,
                text=True,
            )
            assert process.stdout is not None
            until = len(reported) + more  # those that are kept are reported at once, then come those that are asked
            for count, line in enumerate(process.stdout, 1):
                name, _, text = line.strip().partition(": ")
                reported[name] = text
                if count == until:
                    os.kill(process.pid, signal.SIGKILL)
                    break
            process.stdout.close()
            process.wait()
            with lock:
                before.append({name: answered[name] for name in reported})
    assert process.returncode == 0
    assert reported == {f"number {number}": f"on number {number}" for number in range(200)}
    assert [len(one) for one in before] == sorted({len(one) for one in before})
    for then in before:
        assert {name: answered[name] for name in then} == then
    # Only what was under way at a kill, of at most eight at once, was paid a second time.
    assert sum(answered.values()) <= 200 + 4 * 8


# What is wrong with a file -----------------------------------------------------------------------------------------


def test_damaged_file(tmp_path: Path) -> None:
    """A file that is no database, or a torn one, is reported in words, with what to do."""
    path = tmp_path / "replies.sqlite"
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(InputError, match="damaged") as reported:
        ReplyCache(path)
    assert str(path) in str(reported.value)
    assert "Move it away" in str(reported.value)
    path.unlink()
    with ReplyCache(path) as cache:
        for number in range(200):
            cache.put(asked(f"{number}" + "x" * 2000), REPLY)
        cache.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    data[8192:-4096] = b"\xff" * (len(data) - 8192 - 4096)
    path.write_bytes(data)
    with pytest.raises(InputError, match="damaged"), ReplyCache(path) as cache:
        cache.stats()


def test_files_that_are_not_ours(tmp_path: Path) -> None:
    """A database of something else and one of a later form are left as they are."""
    other = tmp_path / "other.sqlite"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    with pytest.raises(InputError, match="some other database"):
        ReplyCache(other)
    connection = sqlite3.connect(other)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("t",)]
    connection.close()
    later = tmp_path / "later.sqlite"
    ReplyCache(later).close()
    connection = sqlite3.connect(later)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(InputError, match="later graphkit"):
        ReplyCache(later)


def test_places_that_take_no_file(tmp_path: Path) -> None:
    """A folder in the file's place, and a file in the folder's, are reported in words."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "folder", tmp_path / "file" / "replies.sqlite"):
        with pytest.raises(InputError, match="can't be used"):
            ReplyCache(path)
    with pytest.raises(InputError, match="no file of recorded replies"):
        ReplyCache(tmp_path / "absent", must_exist=True)
    assert not (tmp_path / "absent").exists()


# Stats and pruning -------------------------------------------------------------------------------------------------


def test_stats_and_pruning(tmp_path: Path) -> None:
    """Counts, tokens and times are summed by model; pruning drops what fits all that is given, the oldest first."""
    with ReplyCache(file_in(tmp_path)) as cache:
        for number in range(4):
            cache.put(asked(f"{number}"), Reply("x", "m", None, Usage(10, 1, 2, 3)))
        cache.put(asked("0", "other"), Reply("x", "m", None, Usage(5, 5)))
        cache.note_use(3, 2)
        cache.note_use(7, 1)
        # Kept 10, 9, 8, 7 days ago, and the other one now.
        for number in range(4):
            cache.rows(
                "UPDATE replies SET kept_at = kept_at - ? WHERE digest = ?",
                ((10 - number) * 86_400, asked(f"{number}").digest),
            )
        stats = cache.stats()
        assert (stats.entries, stats.hits, stats.misses) == (5, 7, 1)
        one = stats.models["claude-haiku-5-5"]
        assert (one.entries, one.usage) == (4, Usage(40, 4, 8, 12))
        assert stats.models["other"].usage == Usage(5, 5)
        assert stats.oldest is not None
        assert stats.newest is not None
        assert 9.9 * 86_400 < stats.newest - stats.oldest < 10.1 * 86_400
        assert cache.prune() == 0
        # Older than 8.5 days: the first two; of the other model none is.
        assert cache.prune(older_than=8.5 * 86_400, model="other") == 0
        assert cache.prune(older_than=8.5 * 86_400) == 2
        assert cache.get(asked("1").digest) is None
        assert cache.get(asked("2").digest) is not None
        # Three are left, of about one size each: room for two of them drops the oldest.
        sizes = sum(model.bytes for model in cache.stats().models.values())
        assert cache.prune(to_bytes=sizes - 1) == 1
        assert cache.get(asked("2").digest) is None
        assert cache.get(asked("3").digest) is not None
        assert cache.prune(model="other") == 1
        assert cache.prune(everything=True) == 1
        assert cache.stats().entries == 0


def test_pruning_gives_room_back(tmp_path: Path) -> None:
    """Ten megabytes that are dropped are free again on the disk."""
    with ReplyCache(file_in(tmp_path)) as cache:
        for number in range(10):
            cache.put(asked(f"{number}" + "x" * 1_000_000), REPLY)
        assert cache.size() > 10_000_000
        cache.prune(everything=True)
        assert cache.size() < 200_000


# Replay ------------------------------------------------------------------------------------------------------------


def judged(answer: str, instruction: str, system: str = "You judge.") -> Request:
    """Return a request as a grader makes one."""
    return Request(
        "claude-haiku-5-5",
        (Block(system),),
        (Turn("user", (Block(f"Question: who?\nAnswer: {answer}"), Block(instruction))),),
    )


def test_replay_serves_what_is_recorded(tmp_path: Path) -> None:
    """A recorded request has its reply, without a model."""
    with ReplyCache(file_in(tmp_path)) as cache:
        cache.put(judged("x calls y", "Grade it."), REPLY)
        reply = asyncio.run(RecordedModel(cache).ask(judged("x calls y", "Grade it.")))
        assert (reply.text, reply.cached) == ("fine", True)


def test_replay_meets_what_could_not_be_used(tmp_path: Path) -> None:
    """A reply that was forgotten is asked for again, and a replay still has it, until a better one is kept."""
    request = judged("x calls y", "Grade it.")
    with ReplyCache(file_in(tmp_path)) as cache:
        cache.put(request, Reply("no JSON", "m", "end_turn", Usage(1, 1)))
        cache.forget(request.digest)
        assert cache.get(request.digest) is None
        assert asyncio.run(RecordedModel(cache).ask(request)).text == "no JSON"
        cache.put(request, REPLY)
        found = cache.get(request.digest)
        assert found is not None
        assert found.text == asyncio.run(RecordedModel(cache).ask(request)).text == "fine"
        assert cache.stats().entries == 1


def test_replay_names_the_nearest(tmp_path: Path) -> None:
    """For a request that isn't there, the one with the same instruction and the most similar answer is named."""
    recorded = [
        judged("the gateway calls the billing service", "Grade it."),
        judged("x calls y", "Grade it."),
        judged("x calls z", "List the claims."),
        judged("nothing of the kind", "Grade it."),
    ]
    with ReplyCache(file_in(tmp_path)) as cache:
        for request in recorded:
            cache.put(request, REPLY)
        with pytest.raises(InputError) as reported:
            asyncio.run(RecordedModel(cache).ask(judged("x calls z", "Grade it.")))
    text = str(reported.value)
    # The third has the same answer but another instruction; the second shares system and instruction, and all of the
    # answer but a letter. Both share two of three pieces; the texts of the second are closer.
    assert recorded[1].digest[:12] in text
    assert "- user 1.1: Answer: x calls y\n" in text
    assert "+ user 1.1: Answer: x calls z\n" in text
    assert "Question" not in text
    assert str(file_in(tmp_path)) in text


def test_replay_shows_where_a_long_line_differs(tmp_path: Path) -> None:
    """The message shows the place where a long line differs, and stays short."""
    long = "word " * 200
    with ReplyCache(file_in(tmp_path)) as cache:
        cache.put(judged(f"{long}then left {long}", "Grade it."), REPLY)
        with pytest.raises(InputError) as reported:
            asyncio.run(RecordedModel(cache).ask(judged(f"{long}then right {long}", "Grade it.")))
    assert "then left" in str(reported.value)
    assert "then right" in str(reported.value)
    assert len(str(reported.value)) < 1200


def test_replay_of_an_empty_record(tmp_path: Path) -> None:
    """If nothing is recorded, that is said."""
    with ReplyCache(file_in(tmp_path)) as cache, pytest.raises(InputError, match="nothing at all is recorded"):
        asyncio.run(RecordedModel(cache).ask(asked()))
