"""Running a system over the questions: the runner with its run file, beside a bare asyncio loop."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.files import dataset
from benchmarks.results import Line, spaced, write
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.plugins.systems.importing import system_of
from graphkit.plugins.systems.runner import Limits
from graphkit.plugins.systems.session import Plan, Session, plan
from graphkit.records.models import Question

CONCURRENCY = Limits().concurrency
WAIT = 0.001
CHUNKS = [{"id": f"r{number % 6}:src/m{number}.py#f", "score": 20.0 - number} for number in range(20)]

Call = Callable[[Question], Awaitable[object]]


async def text(question: Question) -> str:
    """Answer at once with a text."""
    return question.id


async def chunks(question: Question) -> dict[str, object]:
    """Answer at once with a text and twenty chunks."""
    return {"answer": question.id, "retrieved": CHUNKS}


async def waits(question: Question) -> str:
    """Answer with a text after a while."""
    await asyncio.sleep(WAIT)
    return question.id


SYSTEMS: dict[str, Call] = {
    "a text at once": text,
    "20 chunks at once": chunks,
    f"a text after {1000 * WAIT:.0f} ms": waits,
}


@dataclass
class Times:
    """The seconds that the runner and the bare loop took."""

    count: int
    ours: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)

    @property
    def overhead(self) -> str:
        """Return the overhead of the runner per question."""
        return f"{1e6 * (median(self.ours) - median(self.bare)) / self.count:+.0f} us/question"


async def looped(call: Call, questions: tuple[Question, ...]) -> dict[str, object]:
    """Ask every question, as many at a time as the runner does."""
    answers: dict[str, object] = {}
    source: Iterator[Question] = iter(questions)

    async def work() -> None:
        for question in source:
            answers[question.id] = await call(question)

    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
    return answers


def ran(data: Dataset, planned: Plan, call: Call, out: Path) -> float:
    """Run a system into a new file, check its records, and return how long it took."""
    system = system_of("a", call, __name__)
    started = time.perf_counter()
    session = Session(data, planned, [system], out, Limits(CONCURRENCY))
    with session.open():
        session.run(lambda _: None)
    seconds = time.perf_counter() - started
    with (out / f"{system.name}.jsonl").open("rb") as stream:
        answers = [(record["question_id"], record.get("answer")) for record in map(json.loads, stream)]
    if answers != [(question.id, question.id) for question in planned.questions]:
        raise RuntimeError(f"{system.name}: the run file holds other records than were asked for")
    return seconds


def measured(folder: Path, count: int, repeats: int) -> dict[str, Times]:
    """Run each system by the runner and by the loop, in turns."""
    data = Dataset(dataset(folder, "ranking", count))
    planned = plan(data, Problems())
    times = {title: Times(count) for title in SYSTEMS}
    for _ in range(repeats):
        for title, call in SYSTEMS.items():
            with tempfile.TemporaryDirectory(prefix="run-", dir=folder) as out:
                times[title].ours.append(ran(data, planned, call, Path(out)))
            started = time.perf_counter()
            answers = asyncio.run(looped(call, planned.questions))
            times[title].bare.append(time.perf_counter() - started)
            if len(answers) != count:
                raise RuntimeError(f"the loop asked {len(answers)} of {count} questions")
    return times


def line(title: str, times: Times) -> Line:
    """Return the line of one system; where it answers at once the loop takes no time, and a ratio says nothing."""
    ours, bare = median(times.ours), median(times.bare)
    ratio = times.overhead
    if bare / times.count > WAIT / CONCURRENCY:
        ratio += f", {ours / bare:.2f} times the cost"
    what = f"{spaced(times.count)} questions, {title}"
    return Line(what, f"{ours:.2f} s", f"asyncio loop, {CONCURRENCY} at a time", f"{bare:.3f} s", ratio)


def main(folder: Path, repeats: int, large: bool, save: bool) -> list[Line]:
    """Measure systems that take next to nothing."""
    lines = []
    for count in (2_000, 10_000):
        lines += [line(title, times) for title, times in measured(folder, count, repeats).items()]
    if save:
        note = f"Async systems, {CONCURRENCY} questions at a time, records written; median of {repeats} in turns."
        write("Running", note, lines)
    return lines
