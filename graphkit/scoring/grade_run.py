"""A run graded from beginning to end: read, judged, and kept beside its file and in the graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.file_locks import locked
from graphkit.files.problems import OnError, Problems
from graphkit.files.reading import RecordReader
from graphkit.files.verdict_files import grading_lock
from graphkit.graph.runs import refuse_other_run
from graphkit.judges.catalogue import graders_named
from graphkit.judges.contract import Grader, Judge
from graphkit.judges.materials import CONTEXT_TOKENS
from graphkit.judges.own_rubric import load_rubric
from graphkit.judges.verdict_request import TRIES
from graphkit.llm import event_loop
from graphkit.llm.requests import ModelError
from graphkit.records.structs import AnswerStruct
from graphkit.records.usage import Spread, figures_of, summarised
from graphkit.records.verdicts import Verdict
from graphkit.scoring.judge_setup import (
    ANTHROPIC,
    LEXICAL,
    Collecting,
    GradingEstimate,
    JudgeOptions,
    OpenedJudge,
    estimate,
    kept_replies,
    model_judge,
    opened,
    opened_batches,
)
from graphkit.scoring.verdict_job import CONCURRENCY, DEFAULT_GRADERS, Graded, GradingJob, RunToGrade
from graphkit.scoring.verdict_store import keep_beside, with_other_models

WAITING = "note: another grading of this run is being kept; this one waits for it"


@dataclass(frozen=True)
class GradingOptions:
    """The prompts about the answers of a run, and the material that the judge sees.

    Attributes
    ----------
    graders, rubrics
        Names of graphkit's graders, and folders of the user's own rubrics.
    answered_by
        The model that gave the answers, as far as that is known.
    """

    graders: Sequence[str] = DEFAULT_GRADERS
    rubrics: Sequence[Path] = ()
    context_tokens: int = CONTEXT_TOKENS
    citation_pattern: re.Pattern[str] | None = None
    answered_by: str | None = None
    progress: Callable[[Sequence[Verdict]], None] = field(default=lambda _: None, repr=False)

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
        )

    @cached_property
    def chosen(self) -> tuple[Grader, ...]:
        """The graders, read once.

        Raises
        ------
        InputError
            A grader isn't known, a rubric can't be used, two rubrics have one name, or nothing is asked.
        """
        own = [load_rubric(folder) for folder in self.rubrics]
        names = [grader.name for grader in own]
        if twice := {name for name in names if names.count(name) > 1}:
            raise InputError(f"two rubrics are called {min(twice)!r}", remedy="Rename a folder.")
        both = (*graders_named(self.graders), *own)
        if not both:
            raise InputError("no grader is named", remedy="Name one by --grader or --rubric.")
        return both


def grade(
    run: str | Path,
    dataset: str | Path | Dataset | None = None,
    *,
    judge: str | JudgeOptions | Judge = LEXICAL,
    options: GradingOptions | None = None,
    batch: bool = False,
    store: Store | None = None,
    keep: bool = False,
    name: str | None = None,
    problems: Problems | None = None,
    notify: Callable[[str], None] = lambda _: None,
) -> Graded:
    """Have a judge say what the answers of a run are worth.

    Parameters
    ----------
    judge
        Its name (``"lexical"``, ``"anthropic"``, ``"package.module:callable"``), how it is asked, or a judge.
    batch
        Ask a model by batches: within a day, at half the price.
    store
        Keeps scores and verdicts in the graph, beside the answers; dataset and run are loaded where they aren't there.
    keep
        Keep them in files beside the run, see :func:`graphkit.scoring.verdict_store.keep_beside`.
    name
        The name that the run goes by, whatever its records say.
    notify
        Called with messages on the way.

    Raises
    ------
    InputError
        A file can't be used, a grader isn't known, the judge can't be asked, or the store holds another run of the
        name.
    """
    run_file = Path(run)
    source = Dataset.of_run(run_file, dataset)
    options = options or GradingOptions()
    graders = options.chosen  # mistakes in them are reported before anybody is asked
    problems = problems if problems is not None else Problems()
    to_grade = RunToGrade.read(run_file, source, problems, name)
    if store is not None:
        refuse_other_run(store, source.name, to_grade.run, run_file)
    how = JudgeOptions(judge) if isinstance(judge, str) else judge
    if not isinstance(how, JudgeOptions):
        if batch:
            raise InputError(f"batches ask a model, which the judge {how.name!r} doesn't")
        graded = event_loop.run(options.job(OpenedJudge(how)).grade(to_grade))
    elif batch:
        graded = event_loop.run(_by_batches(to_grade, how, options, notify))
    else:
        graded = event_loop.run(_at_once(to_grade, how, options))
    # Another process may grade the same run: what it keeps is read before anything is written, here and in the graph.
    with locked(grading_lock(run_file), lambda: notify(WAITING)) if keep else nullcontext():
        whole = keep_beside(run_file, to_grade, graded, graders, notify) if keep else graded
        if store is not None:
            both = with_other_models(run_file, to_grade, whole) if keep else whole
            _into_graph(store, run_file, source, both, problems.on_error)
    return graded


def estimate_grading(
    run: str | Path,
    dataset: str | Path | Dataset | None,
    judge: JudgeOptions,
    options: GradingOptions,
    *,
    batch: bool = False,
    problems: Problems | None = None,
) -> GradingEstimate:
    """Return what a grading by a model would take, without sending anything.

    A verdict that can't be used is asked for once more: that isn't foreseen.

    Raises
    ------
    InputError
        A file can't be used, a grader isn't known, or the judge asks no model.
    """
    from graphkit.llm.prices import PriceTable

    if judge.judge != ANTHROPIC:
        raise InputError(f"--dry-run counts what a model is asked, and the judge {judge.judge!r} asks none")
    run_file = Path(run)
    problems = problems if problems is not None else Problems()
    to_grade = RunToGrade.read(run_file, Dataset.of_run(run_file, dataset), problems)
    prices = PriceTable.read(judge.prices)
    with kept_replies(judge) as replies:
        asked = Collecting(replies)
        event_loop.run(options.job(OpenedJudge(model_judge(asked, judge, prices)), judge.concurrency).grade(to_grade))
    return estimate(asked, prices, batch)


async def _at_once(run: RunToGrade, judge: JudgeOptions, options: GradingOptions) -> Graded:
    async with opened(judge) as opened_judge:
        return await options.job(opened_judge, judge.concurrency).grade(run)


async def _by_batches(
    run: RunToGrade, judge: JudgeOptions, options: GradingOptions, notify: Callable[[str], None]
) -> Graded:
    """Grade by batches: what a grading would ask is collected, answered in a batch, and so on until nothing is left.

    After the first batch only verdicts that couldn't be used are asked for once more.
    """
    async with opened_batches(judge, notify) as (batches, replies, prices):
        asked = Collecting(replies)
        unusable: list[str] = []
        job = options.job(OpenedJudge(model_judge(asked, judge, prices), unusable.append), judge.concurrency)
        job = replace(job, progress=lambda _: None)
        for _ in range(TRIES + 1):
            unusable.clear()
            graded = await job.grade(run)
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
        options.progress(graded.verdicts)
        return graded


def cost_of_run(run_file: Path) -> Spread:
    """Return what the answers of a run cost, as far as its records say."""
    figures = (figures_of(answer) for _, answer in RecordReader(run_file, AnswerStruct, Problems("skip")))
    return summarised(figures)["cost"]


def _into_graph(store: Store, run_file: Path, source: Dataset, graded: Graded, on_error: OnError) -> None:
    """Put scores and verdicts beside the answers, after the run itself where it isn't there."""
    from graphkit.graph.score_nodes import load_scores
    from graphkit.graph.verdict_nodes import keep_verdicts
    from graphkit.scoring.evaluate import evaluate

    # Problems of the files were reported when they were read for grading.
    evaluate(
        run_file, source, measures=["EdgeRecall"], store=store, on_error=on_error, keep_rows=False, name=graded.run
    )
    load_scores(store, graded.scores)
    # Also where there is none: what the judge said before goes.
    keep_verdicts(store, graded.run, graded.judge, graded.verdicts)
