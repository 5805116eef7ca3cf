"""Judging: our own work a verdict, step by step in microseconds, beside the network that a model is asked through.

The cases are the answers of the storefront's runs, each by every grader that has something to judge in them. The
network is the shortest there is: a local server, in a process of its own, that replies at once.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.results import Line, write
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.measures.case import Case
from graphkit.plugins.judging.judges.catalogue import GRADERS
from graphkit.plugins.judging.judges.contract import Grader, Judge, Opinion
from graphkit.plugins.judging.judges.lexical import LexicalJudge
from graphkit.plugins.judging.judges.materials import Materials, materials_of
from graphkit.plugins.judging.judges.model_judge import ModelJudge
from graphkit.plugins.judging.judges.prompts import Prompt
from graphkit.plugins.judging.judges.verdict_request import ask, prompt_of, read, schema_of
from graphkit.plugins.judging.llm.anthropic_model import AnthropicModel
from graphkit.plugins.judging.llm.cache import CachedModel, ReplyCache
from graphkit.plugins.judging.llm.requests import Reply, Request, Usage
from graphkit.records.structs import AnswerStruct
from tests.helpers.api import message

ROOT = Path(__file__).parent.parent
STOREFRONT = ROOT / "fixtures" / "storefront"
MODEL = "claude-haiku-5-5"

#: The most of our own work beside one round trip of the shortest network.
BAR = 1.0

#: What the local server replies, whatever it is asked: a verdict of the grader ``scale``.
GRADER = "scale"
_REPLY = "GRAPHKIT_BENCHMARK_REPLY"


def reply(_: dict[str, Any]) -> Any:
    """Return the reply of the local server, which runs in a process of its own."""
    return message(os.environ[_REPLY], 2000, 100)


@dataclass(frozen=True)
class Asked:
    """One question to a judge, in each form that it takes on its way."""

    grader: Grader
    materials: Materials
    prompt: Prompt
    request: Request
    opinion: Opinion
    reply: Reply


def _cases() -> list[tuple[Case, str]]:
    questions = {question.id: question for _, question in Dataset(STOREFRONT).questions(Problems())}
    cases = []
    for file in sorted((STOREFRONT / "runs").glob("*.jsonl")):
        for _, answer in RecordReader(file, AnswerStruct, Problems()):
            if answer.error is None and answer.answer is not None:
                cases.append((Case(questions[answer.question_id], answer), answer.run))
    return cases


async def _asked(cases: Sequence[tuple[Case, str]], judge: ModelJudge) -> list[Asked]:
    """Return what the graders ask, with what the rule-based judge says of it."""
    found = []
    for case, run in cases:
        materials = materials_of(case, run)
        for grader in GRADERS.values():
            if grader.lacks(materials) is not None or grader.unasked(materials) is not None:
                continue
            prompt = prompt_of(grader, materials)
            opinion = await LexicalJudge().judge(prompt, schema_of(grader))
            request = judge.request(prompt, schema_of(grader))
            answered = Reply(opinion.text, MODEL, "end_turn", Usage(2000, 100))
            found.append(Asked(grader, materials, prompt, request, opinion, answered))
    return found


def _timed(work: Callable[[], object], count: int, repeats: int) -> float:
    """Return the median of some rounds, in microseconds of each of ``count``."""
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        taken.append((time.perf_counter() - begin) / count * 1e6)
    return median(taken)


def _fresh(request: Request) -> Request:
    """Return the request without the digest that it remembers."""
    return Request(request.model, request.system, request.turns, request.schema, request.max_tokens, request.effort)


def _keep(cache: ReplyCache, asked: Sequence[Asked]) -> None:
    for one in asked:
        cache.put(one.request, one.reply)


def _steps(
    cases: Sequence[tuple[Case, str]], asked: Sequence[Asked], judge: ModelJudge, folder: Path, repeats: int
) -> dict[str, float]:
    """Return what each step of our own takes for a verdict."""

    def afresh() -> list[Materials]:
        return [materials_of(Case(case.question, case.answer), run) for case, run in cases]

    def rules() -> None:
        async def all_of_them() -> None:
            lexical = LexicalJudge()
            for one in asked:
                await lexical.judge(one.prompt, schema_of(one.grader))

        asyncio.run(all_of_them())

    count = len(asked)
    steps = {"materials (each serves all graders of its answer)": _timed(afresh, count, repeats)}
    steps["prompt"] = _timed(lambda: [prompt_of(one.grader, one.materials) for one in asked], count, repeats)
    build = _timed(lambda: [judge.request(one.prompt, schema_of(one.grader)) for one in asked], count, repeats)
    steps["request"] = build
    steps["digest"] = _timed(lambda: [_fresh(one.request).digest for one in asked], count, repeats)
    taken = []
    for number in range(repeats):
        with ReplyCache(folder / f"{number}.sqlite") as cache:
            taken.append(_timed(partial(_keep, cache, asked), count, 1))
            if not number:
                steps["cache, a reply found"] = _timed(
                    lambda: [cache.get(one.request.digest) for one in asked], count, repeats
                )
    steps["cache, a reply kept"] = median(taken)
    steps["verdict checked and read"] = _timed(
        lambda: [read(one.grader, one.materials, one.opinion) for one in asked], count, repeats
    )
    verdicts = [asyncio.run(ask(one.grader, one.materials, LexicalJudge())).verdict for one in asked]
    with (folder / "verdicts.jsonl").open("w") as stream:
        lines = lambda: [stream.write(f"{one.model_dump_json()}\n") for one in verdicts if one is not None]  # noqa: E731
        steps["verdict written"] = _timed(lines, count, repeats)
    steps["rules of the judge lexical"] = _timed(rules, count, repeats)
    return steps


@contextmanager
def _server(text: str) -> Iterator[None]:
    """Run a local server in a process of its own, and let the client ask it."""
    command = [sys.executable, "-m", "tests.helpers.api", "benchmarks.judging:reply"]
    environment = {**os.environ, _REPLY: text, "PYTHONPATH": str(ROOT)}
    before = dict(os.environ)
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        os.environ |= {"ANTHROPIC_BASE_URL": process.stdout.readline().strip(), "ANTHROPIC_API_KEY": "benchmark"}
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
            process.stdin.close()


async def _through_network(asked: Sequence[Asked], repeats: int) -> tuple[float, float]:
    """Return what a bare request takes, and a whole verdict, one after the other: in microseconds each."""
    bare, whole = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder, ReplyCache(Path(folder) / "cache.sqlite") as cache:
            async with AnthropicModel() as model:
                await model.ask(asked[0].request)  # which opens the connection
                begin = time.perf_counter()
                for one in asked:
                    await model.ask(one.request)
                bare.append((time.perf_counter() - begin) / len(asked) * 1e6)
                judge: Judge = ModelJudge(CachedModel(model, cache), "anthropic", MODEL)
                begin = time.perf_counter()
                for one in asked:
                    judged = await ask(one.grader, one.materials, judge)
                    assert judged.verdict is not None
                    assert judged.verdict.failure is None, judged.verdict.reason
                whole.append((time.perf_counter() - begin) / len(asked) * 1e6)
    return median(bare), median(whole)


def main(folder: Path, repeats: int, large: bool, save: bool) -> list[Line]:
    """Measure the steps, and a whole verdict beside the network."""
    cases = _cases()
    judge = ModelJudge(_Nobody(), "anthropic", MODEL)
    asked = asyncio.run(_asked(cases, judge))
    with tempfile.TemporaryDirectory(dir=folder) as kept:
        steps = _steps(cases, asked, judge, Path(kept), repeats)
    shared = [one for one in asked if one.grader.name == GRADER]
    with _server(shared[0].opinion.text):
        bare, whole = asyncio.run(_through_network(shared, repeats))
    lines = [
        Line(name, f"{taken:.0f} us/verdict", "a local server's reply", f"{bare:.0f} us", f"{taken / bare:.1%}")
        for name, taken in steps.items()
    ]
    own = whole - bare
    told = f"grader {GRADER}: asked, kept, read, less the network"
    share = own / bare
    bar = f"at most {BAR:g} times"
    lines.append(
        Line(
            told, f"{own:.0f} us/verdict", "a local server's reply", f"{bare:.0f} us", f"{share:.2f}", bar, share <= BAR
        )
    )
    if save:
        text = (
            f"Our own work a verdict: {len(cases)} answers of the storefront, {len(asked)} verdicts of "
            f"{len(GRADERS)} graders, median of {repeats}. A real model takes a second or more."
        )
        write("Judging", text, lines)
    return lines


class _Nobody:
    """A model that nobody asks: only its requests are made."""

    async def ask(self, request: Request) -> Reply:
        raise AssertionError
