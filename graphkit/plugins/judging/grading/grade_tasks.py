"""Grades in the workers of an executor: each task judges a chunk of answers, and each result goes to the driver.

A worker builds the prompts and reads the verdicts. A model is asked by the driver, whose rate limit, budget and file of
replies thus hold for all workers; any other judge runs in the worker. What was judged before a worker died is kept.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from typing import Any

from graphkit.plugins.judging.grading.unfinished import (
    KEEP_OPINION,
    OPINION,
    ContinuedJudge,
    KeptOpinions,
    RemoteOpinions,
)
from graphkit.plugins.judging.grading.verdict_job import Graded, GradingJob, RunToGrade
from graphkit.plugins.judging.judges.catalogue import GRADERS
from graphkit.plugins.judging.judges.contract import Grader, Judge
from graphkit.plugins.judging.judges.known_judges import open_judge
from graphkit.plugins.judging.judges.model_judge import ModelJudge
from graphkit.plugins.judging.judges.own_rubric import rubric_of
from graphkit.plugins.judging.llm.requests import ABOUT
from graphkit.plugins.judging.llm.shared_model import ASK, RemoteModel, SharedModel
from graphkit.plugins.judging.verdicts import Verdict
from graphkit.records.scores import Score
from graphkit.shards.chunks import chunk_size
from graphkit.shards.driver_link import DriverLink
from graphkit.shards.driver_service import Contact, Handler, serving
from graphkit.shards.event_loop import call_in_thread, in_parallel
from graphkit.shards.work import in_order

#: A grader on its way to a worker: the name of a built-in one, or the texts of a rubric.
SentGrader = str | tuple[str, str, str, str]


@dataclass(frozen=True)
class _GradingTask:
    """The work of one task; ``judge`` is a name or a judge, and a :class:`ModelJudge` comes without its model."""

    contact: Contact
    judge: str | Judge
    graders: tuple[SentGrader, ...]
    run: RunToGrade
    concurrency: int
    context_tokens: int
    citation_pattern: re.Pattern[str] | None
    answered_by: str | None
    continued: bool  # whether the driver keeps the judge's opinions


@dataclass(frozen=True)
class Workers:
    """The workers of a grading.

    Parameters
    ----------
    host
        The address at which they reach this process.
    notify
        Receives a sentence for each chunk that is repeated.
    """

    executor: Executor
    host: str
    notify: Callable[[str], None]

    async def grade(self, job: GradingJob, run: RunToGrade) -> Graded:
        """Have the workers do a grading, with the result of :meth:`GradingJob.grade`.

        Raises
        ------
        InputError
            The judge can't be asked at all.
        GraphkitError
            A worker of a chunk died again and again.
        """
        graded: dict[str, tuple[list[Score], list[Verdict]]] = {}
        model = job.judge.model if isinstance(job.judge, ModelJudge) else None
        shared = SharedModel(model) if model is not None else None

        async def left_of(value: list[str]) -> list[bool]:
            return [question not in graded for question in value]

        async def keep(value: Mapping[str, Any]) -> None:
            question = value["question"]
            if question not in graded:
                scores = [Score.model_validate(one) for one in value["scores"]]
                graded[question] = scores, [Verdict.model_validate(one) for one in value["verdicts"]]
                job.progress("verdicts", len(graded[question][1]))
                job.progress("answers", 1)
            if shared is not None:
                shared.done(question)

        async def forget(digest: str) -> None:
            job.forget(digest)

        job.expect(run)
        handlers: dict[str, Handler] = {"left": left_of, "keep": keep, "forget": forget}
        if shared is not None:
            handlers[ASK] = shared.ask
        if isinstance(job.judge, ContinuedJudge):
            handlers |= _of_opinions(job.judge.kept)
        async with serving(handlers, self.host, self.notify) as contact:
            tasks = [*_tasks(job, run, contact)]
            await call_in_thread(deque, in_order(self.executor, judge_answers, tasks, say=self.notify), 0)
        return job.whole(run, graded)


def _tasks(job: GradingJob, run: RunToGrade, contact: Contact) -> Iterator[tuple[str, _GradingTask]]:
    kept = isinstance(job.judge, ContinuedJudge)
    judge: str | Judge = job.judge.asked if isinstance(job.judge, ContinuedJudge) else job.judge
    if isinstance(judge, ModelJudge):
        judge = replace(judge, model=None)
    elif job.reference is not None:
        judge = job.reference
    graders = tuple(grader.rubric or grader.name for grader in job.graders)
    names = list(run.questions)
    size = chunk_size(len(names), job.concurrency)
    for begin in range(0, len(names), size):
        some = names[begin : begin + size]
        about = job.concurrency, job.context_tokens, job.citation_pattern, job.answered_by, kept
        yield f"answers {some[0]} to {some[-1]}", _GradingTask(contact, judge, graders, _part(run, some), *about)


def _of_opinions(kept: KeptOpinions) -> dict[str, Handler]:
    async def keep(value: list[str]) -> None:
        await kept.put(*value)

    return {OPINION: kept.get, KEEP_OPINION: keep}


def _part(run: RunToGrade, names: list[str]) -> RunToGrade:
    """Return the run with some of its questions, and nothing about the others."""
    return replace(
        run,
        questions={name: run.questions[name] for name in names},
        answers={name: run.answers[name] for name in names if name in run.answers},
        invalid={name: run.invalid[name] for name in names if name in run.invalid},
        surroundings={name: run.surroundings[name] for name in names if name in run.surroundings},
    )


def judge_answers(task: _GradingTask) -> None:
    """Judge the answers of a task that are left, and send each result to the driver; called in a worker."""
    run = task.run
    with DriverLink(task.contact) as link:
        names = list(run.questions)
        left = [name for name, is_left in zip(names, link.call("left", names), strict=True) if is_left]
        sent: deque[Future[Any]] = deque()
        judge = _opened(task.judge, link)
        job = GradingJob(
            judge=ContinuedJudge(judge, RemoteOpinions(link.send)) if task.continued else judge,
            graders=[_grader(one) for one in task.graders],
            concurrency=task.concurrency,
            context_tokens=task.context_tokens,
            citation_pattern=task.citation_pattern,
            answered_by=task.answered_by,
            forget=lambda digest: sent.append(link.send("forget", digest)),
        )

        async def work(question: str) -> None:
            ABOUT.set(question)
            scores, verdicts = await job.judged(run, question)
            found = {"scores": [one.model_dump() for one in scores], "verdicts": [one.model_dump() for one in verdicts]}
            sent.append(link.send("keep", {"question": question, **found}))
            while sent and sent[0].done():
                sent.popleft().result()

        link.run(in_parallel(left, work, max(1, min(task.concurrency, len(left)))))
        for future in sent:
            future.result()


def _opened(judge: str | Judge, link: DriverLink) -> Judge:
    if isinstance(judge, str):
        return open_judge(judge)
    return replace(judge, model=RemoteModel(link.send)) if isinstance(judge, ModelJudge) else judge


def _grader(sent: SentGrader) -> Grader:
    return GRADERS[sent] if isinstance(sent, str) else rubric_of(*sent)
