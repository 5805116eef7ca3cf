"""Grades a run: reads it, asks a judge, and keeps the grades beside its file and in the graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.assets import located
from graphkit.files.dataset import Dataset
from graphkit.files.file_locks import locked
from graphkit.files.grades_beside import grading_lock
from graphkit.files.problems import OnError, Problems
from graphkit.files.reading import RecordReader
from graphkit.files.run_files import answering_model
from graphkit.graph.runs import refuse_other_run
from graphkit.plugins.judging.grading.judge_setup import (
    Collecting,
    GradingEstimate,
    JudgeOptions,
    OpenedJudge,
    estimated,
    model_judge,
    opened,
    opened_batches,
    unfinished,
)
from graphkit.plugins.judging.grading.unfinished import continued, unfinished_file, until_kept
from graphkit.plugins.judging.grading.verdict_job import CONCURRENCY, DEFAULT_GRADERS, Graded, GradingJob, RunToGrade
from graphkit.plugins.judging.grading.verdict_store import keep_beside, with_other_models
from graphkit.plugins.judging.judges.catalogue import graders_named
from graphkit.plugins.judging.judges.contract import Grader, Judge
from graphkit.plugins.judging.judges.examples import Examples
from graphkit.plugins.judging.judges.known_judges import LEXICAL
from graphkit.plugins.judging.judges.materials import CONTEXT_TOKENS
from graphkit.plugins.judging.judges.own_rubric import load_rubric
from graphkit.plugins.judging.judges.verdict_request import TRIES
from graphkit.plugins.judging.llm.requests import ModelError
from graphkit.records.progress import Progress, quiet
from graphkit.records.structs import AnswerStruct
from graphkit.records.usage import Spread, figures_of, summarised
from graphkit.scoring.chosen_questions import ChosenQuestions
from graphkit.shards import event_loop

if TYPE_CHECKING:
    from graphkit.plugins.judging.llm.budget import Budget

WAITING = "note: another grading of this run is being kept; this one waits for it"


@dataclass(frozen=True)
class GradingOptions:
    """The options of :func:`graphkit.grade`, whichever judge is asked.

    Attributes
    ----------
    graders, rubrics
        Names of graphkit's graders, and folders of the user's own rubrics.
    context_tokens
        How much of the retrieved context the judge sees, in tokens.
    citation_pattern
        Further citations, see :func:`graphkit.plugins.judging.judges.citations.citation_pattern`.
    answered_by
        The model that gave the answers; by default as `graphkit run` noted beside the run.
    progress
        Counts the verdicts as they come, and the answers that are done.
    batch
        Ask a model by batches: within a day, at half the price.
    keep
        Keep scores and verdicts in files beside the run, as ``verdict_store.keep_beside`` does.
    name
        The name of the run, whatever its records say.
    where
        Judge only the answers to the questions that a filter picks (:mod:`graphkit.scoring.chosen_questions`).
    executor
        Workers that build the prompts and read the verdicts: an executor, or its name as in ``--on``. A model is asked
        from here, by the same limits; another judge is opened in each worker, and judges ``concurrency`` answers there.
    resources
        What each task needs of the cluster, such as ``{"gpu": 1}``.
    budget
        A limit of the cost that several judges share; by default each has its own.
    examples
        A person's grades that the prompt of one measure shows.
    forgets
        With ``keep``: whether the opinions of a judge without a model, kept for a grading that is killed, are forgotten
        at the end. A jury forgets those of all its members at its own end.
    """

    graders: Sequence[str] = DEFAULT_GRADERS
    rubrics: Sequence[Path] = ()
    context_tokens: int = CONTEXT_TOKENS
    citation_pattern: re.Pattern[str] | None = None
    answered_by: str | None = None
    progress: Progress = field(default=quiet, repr=False)
    batch: bool = False
    keep: bool = False
    name: str | None = None
    where: str | None = None
    executor: str | Executor | None = None
    resources: Mapping[str, float] | None = None
    budget: Budget | None = field(default=None, repr=False)
    examples: Examples | None = None
    forgets: bool = True

    def of_run(self, run_file: Path) -> GradingOptions:
        """Return the options with the answering model that `graphkit run` noted, unless the user named one."""
        return replace(self, answered_by=answering_model(run_file, self.answered_by))

    def part(self, dataset: Dataset, run: RunToGrade) -> tuple[frozenset[str] | None, RunToGrade]:
        """Return the ids of the questions to judge, None for all, and the run with these alone."""
        if self.where is None:
            return None, run
        only = ChosenQuestions.of(dataset, self.where).ids
        return only, run.only(only)

    def job(self, opened_judge: OpenedJudge, concurrency: int = CONCURRENCY) -> GradingJob:
        """Return the job of a judge."""
        return GradingJob(
            judge=opened_judge.judge,
            graders=self.chosen,
            concurrency=concurrency,
            context_tokens=self.context_tokens,
            citation_pattern=self.citation_pattern,
            answered_by=self.answered_by,
            progress=self.progress,
            forget=opened_judge.forget,
            reference=opened_judge.reference,
        )

    @cached_property
    def chosen(self) -> tuple[Grader, ...]:
        """The graders, read once.

        Raises
        ------
        InputError
            A grader is unknown, a rubric can't be used, two rubrics have one name, or no grader is named.
        """
        own = [load_rubric(folder) for folder in self.rubrics]
        names = [grader.name for grader in own]
        if twice := {name for name in names if names.count(name) > 1}:
            raise InputError(f"two rubrics are called {min(twice)!r}", remedy="Rename a folder.")
        both = (*graders_named(self.graders), *own)
        if not both:
            raise InputError("no grader is named", remedy="Name one by --grader or --rubric.")
        return both if self.examples is None else self.examples.shown_to(both)


DEFAULTS = GradingOptions()


def grade(
    run: str | Path,
    dataset: str | Path | Dataset | None = None,
    options: GradingOptions = DEFAULTS,
    *,
    judge: str | JudgeOptions | Judge = LEXICAL,
    store: Store | None = None,
    problems: Problems | None = None,
    notify: Callable[[str], None] = lambda _: None,
    **changes: Any,
) -> Graded:
    """Have a judge grade the answers of a run.

    Parameters
    ----------
    options
        Graders, material and other options.
    judge
        Its name (``"lexical"``, ``"anthropic"``, ``"package.module:callable"``), its options, or a judge. A model of
        another maker is named by the options: ``JudgeOptions(model="openai:NAME")``.
    store
        Keeps scores and verdicts in the graph, beside the answers. A missing dataset or run is loaded.
    problems
        Collects what is wrong with the files.
    notify
        Called with each note before the result is there.
    changes
        Single options by name, such as ``keep=True``, instead of those in ``options``.

    Raises
    ------
    InputError
        A file can't be used, a grader is unknown, the judge can't be asked, or the store holds another run of the
        name.
    """
    run_file = located(run)
    source = Dataset.of_run(run_file, dataset)
    options = replace(options, **changes).of_run(run_file)
    graders = options.chosen  # mistakes in them are reported before the judge is asked
    problems = problems if problems is not None else Problems()
    whole_run = RunToGrade.read(run_file, source, problems, options.name).with_surroundings(source, graders)
    only, to_grade = options.part(source, whole_run)
    if store is not None:
        refuse_other_run(store, source.name, to_grade.run, run_file)
    settings = JudgeOptions(judge) if isinstance(judge, str) else judge
    refuse_unread(options, settings)
    if not options.keep:
        opinions = None
    elif isinstance(settings, JudgeOptions):
        opinions = unfinished(settings, run_file)
    else:
        opinions = unfinished_file(run_file, settings.name)
    with until_kept(opinions, notify, options.forgets):
        with _grading(options, notify) as grading:
            if not isinstance(settings, JudgeOptions):
                if options.batch:
                    raise InputError(f"batches ask a model, which the judge {settings.name!r} doesn't")
                job = options.job(OpenedJudge(continued(settings, opinions)))
                graded = event_loop.run(grading(job, to_grade))
            elif options.batch:
                graded = event_loop.run(_by_batches(to_grade, settings, options, notify, grading))
            else:
                graded = event_loop.run(_at_once(to_grade, settings, options, grading, notify, opinions))
        # Another process may grade the same run: its files are read before anything is written, here and in the graph.
        with locked(grading_lock(run_file), lambda: notify(WAITING)) if options.keep else nullcontext():
            whole = keep_beside(run_file, whole_run, graded, graders, notify, only) if options.keep else graded
            if store is not None:
                both = with_other_models(run_file, whole_run, whole) if options.keep else whole
                _into_graph(store, run_file, source, both, problems.on_error)
    return graded


def refuse_unread(options: GradingOptions, judge: JudgeOptions | Judge) -> None:
    """Raise an InputError if there are examples, and the judge or the workers wouldn't read them."""
    if options.examples is not None and options.executor is not None:
        raise InputError("--examples are shown by this process", remedy="Leave --on out.")
    if options.examples is not None and isinstance(judge, JudgeOptions) and judge.judge == LEXICAL:
        what = f"the rules of {LEXICAL} read no examples"
        raise InputError(what, remedy="Name the judge that they are for, by --judge or --model.")


def estimate_grading(
    run: str | Path,
    dataset: str | Path | Dataset | None,
    judge: JudgeOptions,
    options: GradingOptions,
    *,
    problems: Problems | None = None,
) -> GradingEstimate:
    """Return what a grading by a model takes, as :func:`~graphkit.plugins.judging.grading.judge_setup.estimated` does.

    Raises
    ------
    InputError
        A file can't be used, a grader is unknown, or the judge asks no model.
    """
    refuse_unread(options, judge)
    run_file = located(run)
    problems = problems if problems is not None else Problems()
    source = Dataset.of_run(run_file, dataset)
    whole_run = RunToGrade.read(run_file, source, problems).with_surroundings(source, options.chosen)
    _, to_grade = options.part(source, whole_run)
    return estimated(judge, lambda one: options.job(one, judge.concurrency).grade(to_grade), options.batch)


#: Grades a run by a job: in this process, or in workers.
_Grading = Callable[[GradingJob, RunToGrade], Coroutine[Any, Any, Graded]]


@contextmanager
def _grading(options: GradingOptions, notify: Callable[[str], None]) -> Iterator[_Grading]:
    if options.executor is None:
        yield GradingJob.grade
        return
    from graphkit.plugins.judging.grading.grade_tasks import Workers
    from graphkit.shards.driver_service import driver_host
    from graphkit.shards.executors import opened_executor

    host = driver_host(options.executor)
    with opened_executor(options.executor, resources=options.resources) as executor:
        yield Workers(executor, host, notify).grade


async def _at_once(
    run: RunToGrade,
    judge: JudgeOptions,
    options: GradingOptions,
    grading: _Grading,
    notify: Callable[[str], None],
    opinions: Path | None,
) -> Graded:
    async with opened(judge, options.budget, notify, opinions) as opened_judge:
        return await grading(options.job(opened_judge, judge.concurrency), run)


async def _by_batches(
    run: RunToGrade,
    judge: JudgeOptions,
    options: GradingOptions,
    notify: Callable[[str], None],
    grading: _Grading,
) -> Graded:
    """Collect the requests of a grading, have a batch answer them, and repeat until no request is left.

    The batches after the first contain only unusable verdicts, each once more.
    """
    async with opened_batches(judge, notify) as (batches, replies, prices):
        asked = Collecting(replies)
        unusable: list[str] = []
        job = options.job(OpenedJudge(model_judge(asked, judge, prices), unusable.append), judge.concurrency)
        job = replace(job, progress=quiet)
        for _ in range(TRIES + 1):
            unusable.clear()
            graded = await grading(job, run)
            if not asked.wanted:
                break
            try:
                outcome = await batches.fill(asked.asking())
            except ModelError as error:
                raise InputError(
                    f"the batches can't be read: {error}",
                    remedy="What was submitted stays under way: the same command reads it when the server lets it.",
                ) from None
            asked.failures |= outcome.failures
        for digest in unusable:
            replies.forget(digest)
        replies.note_use(len(asked.kept), len(asked.asked))
        options.progress("verdicts", len(graded.verdicts))
        return graded


def cost_of_run(run_file: Path) -> Spread:
    """Return the cost of the answers of a run, over the records that state one."""
    figures = (figures_of(answer) for _, answer in RecordReader(run_file, AnswerStruct, Problems("skip")))
    return summarised(figures)["cost"]


def loaded_part(store: Store, run_file: Path, source: Dataset, run: str, on_error: OnError) -> set[str] | None:
    """Return the questions of a run that the graph stores, None for all; load the run first if it is missing."""
    from graphkit.graph.runs import stored_part
    from graphkit.scoring.evaluate import evaluate

    part = stored_part(store, run, run_file)
    if part is None:
        # Problems of the files were reported when they were read for grading.
        evaluate(run_file, source, measures=["EdgeRecall"], store=store, on_error=on_error, keep_rows=False, name=run)
    return part


def _into_graph(store: Store, run_file: Path, source: Dataset, graded: Graded, on_error: OnError) -> None:
    """Put scores and verdicts beside the answers in the graph; load the run first if it is missing.

    A run that the graph stores in part stays so, and gets those of its stored questions; files have them all.
    """
    from graphkit.graph.score_nodes import load_scores
    from graphkit.plugins.judging.verdict_nodes import keep_verdicts

    part = loaded_part(store, run_file, source, graded.run, on_error)
    load_scores(store, [score for score in graded.scores if part is None or score.question in part])
    # Without new verdicts, too, the former ones of the judge are removed.
    kept = [verdict for verdict in graded.verdicts if part is None or verdict.question in part]
    keep_verdicts(store, graded.run, graded.judge, kept)
