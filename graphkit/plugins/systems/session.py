"""Runs systems over a dataset: plans the questions, asks those that are left, and summarises the files."""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypedDict, Unpack

from graphkit.errors import GraphkitError, InputError
from graphkit.files.assets import refuse_bundled
from graphkit.files.dataset import Dataset
from graphkit.files.outputs import check_output
from graphkit.files.problems import Problems
from graphkit.plugins.systems.context import Context
from graphkit.plugins.systems.importing import System, repeated, run_name, system_of
from graphkit.plugins.systems.runfile import RunFile
from graphkit.plugins.systems.runner import CallBudget, Limits, Runner, Task
from graphkit.plugins.systems.sampling import margin, sample
from graphkit.records.models import Answer, Question
from graphkit.records.notebook_html import block
from graphkit.records.sessions import walked_before
from graphkit.records.structs import QuestionStruct
from graphkit.records.usage import Prices, Spread, projected, summarised
from graphkit.records.words import counted
from graphkit.shards import event_loop

#: A function to call with each new record.
Advance = Callable[[Answer], None]
#: Finds the record of a question.
Recorded = Callable[[str], Answer | None]

DEFAULT_K = 5
DEFAULT_SEED = 20_251


@dataclass(frozen=True)
class Plan:
    """The questions of a run, without gold: all of a dataset, or some.

    Attributes
    ----------
    of
        The number of questions that they are a sample of.
    dataset
        All questions of the dataset, in its order.
    """

    questions: tuple[Question, ...]
    of: int
    dataset: tuple[Question, ...]

    @property
    def margin(self) -> float:
        """The margin of error of a share over the sample, see :func:`~graphkit.plugins.systems.sampling.margin`."""
        return margin(len(self.questions), self.of)

    @property
    def difficulties(self) -> dict[str, int]:
        """The number of questions of each difficulty."""
        found = Counter(question.difficulty or "unknown" for question in self.questions)
        return {name: found[name] for name in ("easy", "medium", "hard", "unknown") if found[name]}

    def as_json(self) -> dict[str, Any]:
        """Return the sample as JSON."""
        return {
            "questions": len(self.questions),
            "of": self.of,
            "difficulties": self.difficulties,
            "margin": self.margin,
        }


@dataclass(frozen=True)
class RunSummary:
    """A summary of a run over the questions of its plan.

    Attributes
    ----------
    missing
        Questions without a record, because the run was stopped.
    cut_short
        Questions that failed at each try so far, and whose next try a limit refused; they keep no record of it.
    cost, cost_planned, cost_dataset
        The cost so far, and the projections to the plan and to the dataset at the mean cost so far.
    errors
        The number of failures by the type of the error.
    """

    run: str
    file: Path
    questions: int
    answered: int
    failed: int
    missing: int
    cut_short: int
    figures: dict[str, Spread]
    cost: float | None
    cost_planned: float | None
    cost_dataset: float | None
    errors: dict[str, int]
    dropped: bool
    first_error: str | None

    @property
    def all_failed(self) -> bool:
        """Whether the run has no answer at all: then the system is wrong, not its answers."""
        return 0 < self.questions == self.failed

    def known_figures(self) -> dict[str, Spread]:
        """Return the efficiency figures that some record has."""
        return {name: spread for name, spread in self.figures.items() if spread.total is not None}

    @property
    def verdict(self) -> str:
        """A sentence: how many questions the run answered, failed on and left."""
        counts = f"{self.answered} of {counted(self.questions, 'question')} answered"
        return f"{self.run}: {counts}, {self.failed} failed, {self.missing} missing"

    def __repr__(self) -> str:
        return f"<{self.verdict}; {self.file}>"

    def _repr_html_(self) -> str:
        """Draw the summary in a notebook: the verdict, the figures, and the errors."""
        rows = [[name, spread.total, spread.mean] for name, spread in self.figures.items()]
        errors = [f"{count} failed with {name}" for name, count in self.errors.items()]
        return block(self.verdict, ("figure", "total", "mean"), rows, errors)

    def as_json(self) -> dict[str, Any]:
        """Return the summary as JSON."""
        return {
            "run": self.run,
            "file": str(self.file),
            "questions": self.questions,
            "answered": self.answered,
            "failed": self.failed,
            "missing": self.missing,
            "cut_short": self.cut_short,
            "errors": self.errors,
            "efficiency": {name: asdict(spread) for name, spread in self.figures.items()},
            "cost": {"so_far": self.cost, "projected": self.cost_planned, "projected_dataset": self.cost_dataset},
        }


def plan(
    dataset: Dataset,
    problems: Problems,
    size: int | None = None,
    seed: int = DEFAULT_SEED,
    only: Collection[str] | None = None,
) -> Plan:
    """Return the questions to run, without their gold: all, or ``only`` those with these ids.

    ``size`` draws a sample of them, stratified by difficulty.

    Raise an InputError if a question can't be used, and the problems mode allows no skipping.
    """
    questions = [_without_gold(question) for _, question in dataset.questions(problems)]
    problems.raise_if_refused(len(questions))
    picked = [one for one in questions if only is None or one.id in only]
    return Plan(tuple(sample(picked, len(picked) if size is None else size, seed)), len(picked), tuple(questions))


def require_answers(summaries: Iterable[RunSummary]) -> None:
    """Raise an InputError with the first error of each run of which every question failed."""
    if broken := [summary for summary in summaries if summary.all_failed]:
        errors = "; ".join(f"{summary.run}: {summary.first_error}" for summary in broken)
        raise InputError(
            f"every question failed ({errors})", remedy="Correct the system, and run again with --retry-failed."
        )


def _without_gold(question: QuestionStruct) -> Question:
    """Return a question with only the fields that a system may see."""
    return Question(
        id=question.id,
        question=question.question,
        category=question.category,
        difficulty=question.difficulty,
        group=question.group,
        session=question.session,
        turn=question.turn,
        stack=question.stack,
        commits=dict(question.commits),
        k=question.k,
        principal=question.principal,
    )


@dataclass
class Session:
    """Systems that answer the questions of a plan, each into its own file. Use it within :meth:`open`."""

    dataset: Dataset
    plan: Plan
    systems: Sequence[System]
    out: Path
    limits: Limits = field(default_factory=Limits)
    prices: Prices | None = None
    k: int = DEFAULT_K
    retry_failed: bool = False
    problems: Problems = field(default_factory=Problems)
    notify: Callable[[str], None] = lambda _: None
    budget: CallBudget | None = None
    files: dict[str, RunFile] = field(default_factory=dict)
    _stacks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Open the files, and resume from their records.

        Raise an InputError if a file is unusable, holds another run, or is being written by another process.
        """
        refuse_bundled(self.out)
        self.read_stacks()
        with contextlib.ExitStack() as stack:
            for system in self.systems:
                path = self.out / f"{system.name}.jsonl"
                check_output(path, "a run", [self.dataset.folder])
                check_output(path.with_suffix(".made-by"), "a run", [self.dataset.folder], force=True)
                self.files[system.name] = stack.enter_context(RunFile(path, system.name, system.source))
            yield

    def read_stacks(self) -> None:
        """Read the stacks, whose commits systems get; raise an InputError if one can't be used."""
        problems = Problems(self.problems.on_error)
        rows = self.dataset.compatibility(problems)
        problems.raise_if_refused()
        self.problems.merge(problems)
        self._stacks = {row.id: row.commits for row in rows if row.compatible}

    def left(self) -> Counter[str]:
        """Return the number of questions that each run still has to ask."""
        return Counter(job.system.name for job in self._jobs())

    def run(
        self, advance: Advance, on: str | Executor | None = None, resources: Mapping[str, float] | None = None
    ) -> bool:
        """Ask the questions that are left, and sort the files. Return False if Ctrl-C stopped it; records are kept.

        A ``budget`` may end it before: it says so then (:attr:`CallBudget.stopped`).

        ``on`` names the executor whose workers ask them, see :func:`graphkit.shards.executors.opened_executor`.

        Raise an InputError if a record can't be written, or the executor can't be used; the earlier ones are kept.
        """

        def keep(job: Task, answer: Answer) -> None:
            if earlier := self._earlier(job.question, self.files[answer.run].record):
                walks = walked_before((one.turn, made and made.traversal) for one, made in earlier)
                answer = answer.model_copy(update={"walked_before": walks})
            self.files[job.system.name].append(answer)
            advance(answer)
            if self.budget is not None:
                self.budget.end(job.system.name, job.question.id, answer)

        done = True
        try:
            if on is None:
                begin = None if self.budget is None else self.budget.begin
                event_loop.run(Runner(keep, self.limits, self.prices, self.problems, begin).run(list(self._jobs())))
            else:
                self._run_on(on, resources or {}, keep)
        except KeyboardInterrupt:
            done = False
        except GraphkitError:
            # The disk is full: the files may stay unsorted, but keep all their records.
            with contextlib.suppress(InputError):
                self._sort_files()
            raise
        self._sort_files()
        return done

    def _run_on(self, on: str | Executor, resources: Mapping[str, float], keep: Callable[[Task, Answer], None]) -> None:
        from graphkit.plugins.systems.run_tasks import RunnerOnExecutor
        from graphkit.shards.driver_service import driver_host
        from graphkit.shards.executors import opened_executor

        host = driver_host(on)
        with opened_executor(on, resources=resources) as executor:
            folder = self.dataset.folder.resolve()
            runner = RunnerOnExecutor(
                executor, keep, folder, self.limits, self.prices, self.problems, host, self.notify, self.budget
            )
            event_loop.run(runner.run(list(self._jobs())))

    def _sort_files(self) -> None:
        for file in self.files.values():
            file.sort(one.id for one in self.plan.dataset)

    def _jobs(self) -> Iterator[Task]:
        """Yield the tasks question by question, so that a stopped run has the same questions of each system."""
        for question in self.plan.questions:
            for system in self.systems:
                if not self.files[system.name].finished(question.id, self.retry_failed):
                    yield Task(system, question, partial(self.context, question, system.name))

    def context(self, question: Question, run: str, record: Recorded | None = None) -> Context:
        """Return what a system gets beside a question; ``record`` finds earlier turns, by default in the run's file."""
        commits = {**self._stacks.get(question.stack or "", {}), **question.commits}
        history = tuple(
            (one, made) for one, made in self._earlier(question, record or self.files[run].record) if made is not None
        )
        return Context(self.dataset.folder, run, commits, question.k or self.k, history)

    def _earlier(self, question: Question, record: Recorded) -> list[tuple[Question, Answer | None]]:
        """Return the earlier turns of a question's session in order, each with its record."""
        turns = self._sessions[question.session] if question.turn is not None else []
        return [(one, record(one.id)) for one in turns if 0 < (one.turn or 0) < (question.turn or 0)]

    @cached_property
    def _sessions(self) -> dict[str | None, list[Question]]:
        found: dict[str | None, list[Question]] = defaultdict(list)
        for question in sorted(self.plan.dataset, key=lambda one: one.turn or 0):
            found[question.session].append(question)
        return found

    def summaries(self) -> list[RunSummary]:
        """Return a summary of each run, with the records of earlier commands."""
        return [self._summary(file) for file in self.files.values()]

    def _summary(self, file: RunFile) -> RunSummary:
        kept = [file.figures[question.id] for question in self.plan.questions if question.id in file.figures]
        figures = summarised(kept)
        failed = [record for record in kept if record.failed is not None]
        return RunSummary(
            run=file.run,
            file=file.path,
            questions=len(self.plan.questions),
            answered=len(kept) - len(failed),
            failed=len(failed),
            missing=len(self.plan.questions) - len(kept),
            cut_short=0 if self.budget is None else sum(run == file.run for run, _ in self.budget.cut_short),
            figures=figures,
            cost=figures["cost"].total,
            cost_planned=projected(kept, len(self.plan.questions)),
            cost_dataset=projected(kept, len(self.plan.dataset)),
            errors=dict(Counter(record.failed for record in failed if record.failed).most_common()),
            dropped=file.dropped,
            first_error=file.first_error,
        )


class RunOptions(TypedDict, total=False):
    """The options of :func:`run_systems`, all optional.

    Attributes
    ----------
    out
        The folder of the runs, each ``NAME.jsonl``; by default ``runs`` of the dataset, where ``evaluate`` finds them.
    sample, seed
        Ask only this many questions, stratified by difficulty.
    limits
        How many questions run at once, and how long and how often each is tried.
    prices
        Prices of tokens, for answers without a cost of their own.
    k
        The number of chunks to retrieve for a question without its own ``k``.
    repeat
        Ask each system so many times, as the runs ``NAME@1``, ``NAME@2`` and so on, of which ``evaluate`` shows the
        variance within and between questions.
    retry_failed
        Ask failed questions again.
    strict
        Refuse questions with unknown fields; an answer with one counts as failed.
    executor
        Workers that ask the questions: an executor, or its name as in ``--on``. Each imports or unpickles the systems,
        and the limits are those of each.
    resources
        What each task needs of the cluster, such as ``{"gpu": 1}``.
    budget
        What the calls may take. A run that it stopped has questions that are ``missing``.
    """

    out: str | Path | None
    sample: int | None
    seed: int
    limits: Limits | None
    prices: Prices | None
    k: int
    repeat: int | None
    retry_failed: bool
    strict: bool
    executor: str | Executor | None
    resources: Mapping[str, float]
    budget: CallBudget | None


def run_systems(
    dataset: str | Path | Dataset, systems: Mapping[str, Callable[..., Any]], **options: Unpack[RunOptions]
) -> list[RunSummary]:
    """Ask systems the questions of a dataset and keep their answers as runs. A second call resumes where it stopped.

    Parameters
    ----------
    systems
        Callables by the name of their run. Each gets a question (and a context), and returns a text or an answer.
    options
        See :class:`RunOptions`.

    Returns
    -------
    list[RunSummary]
        The state of each run: the numbers of answers and failures, the efficiency, and the file. A run may have no
        answer at all; :func:`require_answers` refuses that, as the command does.

    Raises
    ------
    InputError
        A question or a system can't be used, or a record can't be written.
    KeyboardInterrupt
        The run was stopped; its records are kept.
    """
    if unknown := options.keys() - RunOptions.__annotations__.keys():
        raise TypeError(f"run_systems() got an unexpected keyword argument {min(unknown)!r}")
    source, problems = Dataset.of(dataset), Problems(strict=options.get("strict", False))
    out, repeat = options.get("out"), options.get("repeat")
    if repeat is not None and repeat < 1:
        raise InputError("repeat must be at least 1")
    chosen = [system_of(run_name(name), call, source_of(call)) for name, call in systems.items()]
    session = Session(
        source,
        plan(source, problems, options.get("sample"), options.get("seed", DEFAULT_SEED)),
        repeated(chosen, repeat),
        Path(out) if out is not None else source.folder / "runs",
        options.get("limits") or Limits(),
        options.get("prices"),
        options.get("k", DEFAULT_K),
        options.get("retry_failed", False),
        problems,
        budget=options.get("budget"),
    )
    with session.open():
        if not session.run(lambda answer: None, options.get("executor"), options.get("resources")):
            raise KeyboardInterrupt
        return session.summaries()


def source_of(call: Callable[..., Any]) -> str:
    """Return the origin of a callable, in the notation of the command line."""
    named = call if hasattr(call, "__qualname__") else type(call)
    return f"{named.__module__}:{named.__qualname__}"
