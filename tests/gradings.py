"""Grades a long run against a local server that fails now and then, kills gradings on the way, and counts.

    python -m tests.gradings                              # 1 000 records at concurrency 16, ten kills
    python -m tests.gradings --records 200 --kills 3

First a run is graded from beginning to end, while the server refuses 5% of what it is asked for the rate and answers
1% with an error: each question must have its verdicts. Then the same run is graded from nothing, and the process is
killed (kill -9) at random moments and started again, until one ends. The server counts how often it answered each
request: what was kept at a kill must never be asked for again, and what is answered twice can only be what was under
way at a kill.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphkit.plugins.judging.grading.judge_setup import JUDGE_MODEL
from graphkit.plugins.judging.llm.anthropic_model import parameters
from graphkit.plugins.judging.llm.cache import ReplyCache
from graphkit.plugins.judging.llm.requests import Request
from tests.helpers.api import Api, Reply, message, served, with_faults
from tests.helpers.cli import COMMAND, environment
from tests.helpers.grading import many, scores_beside, verdict_on, verdicts_beside

GRADERS = ("claims", "rubric")
#: How long the server takes for a reply, in seconds.
LATENCY = 0.02


def key_of(body: Mapping[str, Any]) -> str:
    """Return a digest of what a request says, wherever a prefix of it is shared."""

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return "\0".join(part["text"] for part in value)
        return value

    turns = [[turn["role"], plain(turn["content"])] for turn in body["messages"]]
    said = [body["model"], plain(body.get("system")), turns, body.get("output_config"), body["max_tokens"]]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


@dataclass
class Server:
    """The requests that a server received, and those that it answered with a verdict."""

    api: Api
    answered: Counter[str] = field(default_factory=Counter)

    def asked(self) -> Counter[str]:
        """Return how often each request came, those that were refused included."""
        return Counter(key_of(body) for body in list(self.api.requests))


@contextmanager
def judging_server() -> Iterator[Server]:
    """Serve verdicts, with 5% refusals for the rate and 1% errors."""
    answered: Counter[str] = Counter()
    lock = threading.Lock()

    def script(api: Api, body: dict[str, Any]) -> Reply:
        time.sleep(LATENCY)
        with lock:
            answered[key_of(body)] += 1
        return message(verdict_on(body), 900, 80)

    with served(with_faults(script)) as api:
        yield Server(api, answered)


def grading(server: Server, run: Path, home: Path, concurrency: int) -> subprocess.Popen[bytes]:
    """Start a process that grades a run."""
    graders = [word for name in GRADERS for word in ("--grader", name)]
    options = ["--judge", "anthropic", "--no-store", "--concurrency", str(concurrency), *graders]
    with (home.parent / f"{home.name}.log").open("ab") as log:
        return subprocess.Popen(
            [*COMMAND, "grade", str(run), *options],
            env=environment({**server.api.env, "GRAPHKIT_HOME": str(home)}),
            stdout=subprocess.DEVNULL,
            stderr=log,
        )


@dataclass(frozen=True)
class Whole:
    """The result of an undisturbed grading."""

    records: int
    verdicts: int
    failed: int
    unscored: int
    requests: int
    answered: int
    attempts: int
    seconds: float

    @property
    def bad(self) -> bool:
        """Whether anything was lost, or asked for more often than it took."""
        wanted = self.records * len(GRADERS)
        complete = self.verdicts == self.answered == wanted and not self.failed and not self.unscored
        return not complete or self.attempts != self.requests

    def __str__(self) -> str:
        return (
            f"undisturbed: {self.records} records, {self.verdicts} verdicts, {self.failed} failed, {self.unscored} "
            f"without a score; {self.requests} requests ({self.requests - self.answered} refused or failed), "
            f"{self.attempts} attempts told by the verdicts, {self.seconds:.1f} s"
        )


def graded_whole(folder: Path, records: int, concurrency: int) -> Whole:
    """Grade a run from beginning to end, and return what came of it."""
    run = many(folder / "whole", records)
    with judging_server() as server:
        begin = time.monotonic()
        process = grading(server, run, folder / "whole-home", concurrency)
        code = process.wait()
        seconds = time.monotonic() - begin
        assert code == 0, (folder / "whole-home.log").read_text()
        requests, answered = len(server.api.requests), sum(server.answered.values())
    verdicts = verdicts_beside(run, "anthropic", JUDGE_MODEL).values()
    grades = [
        score for (_, name), score in scores_beside(run, "anthropic", JUDGE_MODEL).items() if name == "RubricGrade"
    ]
    return Whole(
        records,
        len(verdicts),
        sum(one.failure is not None for one in verdicts),
        records - sum(score.number is not None for score in grades),
        requests,
        answered,
        sum(one.attempts for one in verdicts),
        seconds,
    )


@dataclass
class Killed:
    """The results of gradings that were killed and started again."""

    records: int
    concurrency: int
    kills: int = 0
    kept: list[int] = field(default_factory=list)
    asked_again: int = 0
    under_way: int = 0
    answered: int = 0
    distinct: int = 0
    verdicts: int = 0
    failed: int = 0

    @property
    def bad(self) -> bool:
        """Whether a verdict that was kept was asked for again, or more was paid twice than was under way."""
        wanted = self.records * len(GRADERS)
        complete = self.verdicts == self.distinct == wanted and not self.failed
        paid_twice = self.answered - self.distinct
        return not complete or self.asked_again > 0 or paid_twice > min(self.under_way, self.kills * self.concurrency)

    def __str__(self) -> str:
        return (
            f"killed: {self.kills} kills with {', '.join(map(str, self.kept))} verdicts kept; kept verdicts asked for "
            f"again: {self.asked_again}; answered twice: {self.answered - self.distinct}, of {self.under_way} answers "
            f"under way at a kill; at the end {self.verdicts} verdicts, {self.failed} failed"
        )


def kept_in(home: Path) -> set[str]:
    """Return what a file of replies holds, as the server knows the requests."""
    with ReplyCache(home / "replies.sqlite") as replies:
        return {
            key_of(parameters(Request.from_json(json.loads(text))))
            for (text,) in replies.rows("SELECT request FROM replies")
        }


def graded_with_kills(folder: Path, records: int, concurrency: int, kills: int, seed: int = 1) -> Killed:
    """Grade a run in processes that are killed on the way, until one ends, and return what came of it."""
    run, home = many(folder / "killed", records), folder / "killed-home"
    draw, found = random.Random(seed), Killed(records, concurrency)
    wanted = records * len(GRADERS)
    before: list[tuple[set[str], Counter[str]]] = []
    with judging_server() as server:
        while True:
            left = wanted - len(server.answered)
            until = sum(server.answered.values()) + draw.randint(1, max(1, int(1.6 * left / (kills - found.kills + 1))))
            answered = sum(server.answered.values())
            process = grading(server, run, home, concurrency)
            while process.poll() is None and (found.kills == kills or sum(server.answered.values()) < until):
                time.sleep(0.002)
            if process.poll() is not None:
                break
            process.kill()
            process.wait()
            time.sleep(5 * LATENCY)  # what the server was about is answered to nobody
            found.kills += 1
            kept = kept_in(home)
            found.kept.append(len(kept))
            found.under_way += (
                sum(server.answered.values()) - answered - (len(kept) - len(before[-1][0] if before else ()))
            )
            before.append((kept, server.asked()))
        assert process.returncode == 0, (folder / "killed-home.log").read_text()
        asked = server.asked()
        found.asked_again = sum(asked[key] - then[key] for kept, then in before for key in kept)
        found.answered, found.distinct = sum(server.answered.values()), len(server.answered)
    verdicts = verdicts_beside(run, "anthropic", JUDGE_MODEL).values()
    found.verdicts, found.failed = len(verdicts), sum(one.failure is not None for one in verdicts)
    return found


def main() -> None:
    """Grade and kill, and print what came of it; exit with 1 where anything was lost or paid twice."""
    parser = argparse.ArgumentParser(prog="python -m tests.gradings", description=__doc__)
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="graphkit-gradings-") as folder:
        whole = graded_whole(Path(folder), given.records, given.concurrency)
        sys.stdout.write(f"{whole}\n")
        killed = graded_with_kills(Path(folder), given.records, given.concurrency, given.kills, given.seed)
        sys.stdout.write(f"{killed}\n")
    sys.exit(whole.bad or killed.bad)


if __name__ == "__main__":
    main()
