"""A run from its dataset to its files: which questions, what is left to do, and what it took."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.outputs import check_output
from graphkit.files.problems import Problems
from graphkit.llm import event_loop
from graphkit.records.models import Answer, Question
from graphkit.records.structs import QuestionStruct
from graphkit.records.usage import Prices, Spread, projected, summarised
from graphkit.systems.context import Context
from graphkit.systems.importing import System, run_name, system_of
from graphkit.systems.runfile import RunFile
from graphkit.systems.runner import Limits, Runner, Task
from graphkit.systems.sampling import margin, sample

#: ImportReport of each new record.
Advance = Callable[[Answer], None]

DEFAULT_K = 5
DEFAULT_SEED = 20_251


@dataclass(frozen=True)
class Plan:
    """The questions of a run: all of a dataset, or a sample of them. They hold no gold."""

    questions: tuple[Question, ...]
    order: tuple[str, ...]

    @property
    def margin(self) -> float:
        """How far a share over the sample may lie from that over all questions."""
        return margin(len(self.questions), len(self.order))

    @property
    def difficulties(self) -> dict[str, int]:
        """How many questions there are of each difficulty."""
        found = Counter(question.difficulty or "unknown" for question in self.questions)
        return {name: found[name] for name in ("easy", "medium", "hard", "unknown") if found[name]}

    def as_json(self) -> dict[str, Any]:
        """Return the sample as JSON."""
        return {
            "questions": len(self.questions),
            "of": len(self.order),
            "difficulties": self.difficulties,
            "margin": self.margin,
        }


@dataclass(frozen=True)
class RunSummary:
    """What a run holds for the questions of its plan.

    Attributes
    ----------
    missing
        Questions without a record: those that a stopped run did not come to.
    cost, cost_planned, cost_dataset
        So far; and for the questions of the plan and for all of the dataset, at the mean cost so far.
    errors
        How many failed, by the type of the error.
    """

    run: str
    file: Path
    questions: int
    answered: int
    failed: int
    missing: int
    figures: dict[str, Spread]
    cost: float | None
    cost_planned: float | None
    cost_dataset: float | None
    errors: dict[str, int]
    dropped: bool
    first_error: str | None

    def as_json(self) -> dict[str, Any]:
        """Return the summary as JSON."""
        return {
            "run": self.run,
            "file": str(self.file),
            "questions": self.questions,
            "answered": self.answered,
            "failed": self.failed,
            "missing": self.missing,
            "errors": self.errors,
            "efficiency": {name: asdict(spread) for name, spread in self.figures.items()},
            "cost": {"so_far": self.cost, "projected": self.cost_planned, "projected_dataset": self.cost_dataset},
        }


def plan(dataset: Dataset, problems: Problems, size: int | None = None, seed: int = DEFAULT_SEED) -> Plan:
    """Return the questions to run, without their gold; ``size`` draws a sample stratified by difficulty.

    Raises
    ------
    InputError
        A question can't be used, and none is to be left out.
    """
    questions = [_without_gold(question) for _, question in dataset.questions(problems)]
    problems.raise_if_refused(len(questions))
    drawn = questions if size is None else sample(questions, size, seed)
    return Plan(tuple(drawn), tuple(question.id for question in questions))


def _without_gold(question: QuestionStruct) -> Question:
    """Return what a system may see of a question: nothing that tells the answer."""
    return Question(
        id=question.id,
        question=question.question,
        category=question.category,
        difficulty=question.difficulty,
        group=question.group,
        stack=question.stack,
        commits=dict(question.commits),
        k=question.k,
    )


@dataclass
class Session:
    """Systems over the questions of a plan, each into a file of its own, open from :meth:`open` to its end."""

    dataset: Dataset
    plan: Plan
    systems: Sequence[System]
    out: Path
    limits: Limits = field(default_factory=Limits)
    prices: Prices | None = None
    k: int = DEFAULT_K
    retry_failed: bool = False
    problems: Problems = field(default_factory=Problems)
    files: dict[str, RunFile] = field(default_factory=dict)
    _stacks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Open the files, and take over what they hold.

        Raises
        ------
        InputError
            A file holds what can't be used, another run, or is being written by another process.
        """
        problems = Problems()
        rows = self.dataset.compatibility(problems)
        problems.raise_if_refused()
        self._stacks = {row.id: row.commits for row in rows if row.compatible}
        with contextlib.ExitStack() as stack:
            for system in self.systems:
                path = self.out / f"{system.name}.jsonl"
                check_output(path, "a run", [self.dataset.folder])
                check_output(path.with_suffix(".made-by"), "a run", [self.dataset.folder], force=True)
                self.files[system.name] = stack.enter_context(RunFile(path, system.name, system.source))
            yield

    def left(self) -> Counter[str]:
        """Return how many questions are still to be asked, by the run."""
        return Counter(job.system.name for job in self._jobs())

    def run(self, advance: Advance) -> bool:
        """Ask what is left, and put the files in order. Returns False where Ctrl-C stopped it; what is done is kept.

        Raises
        ------
        InputError
            A record can't be written; those before it are kept.
        """

        def keep(job: Task, answer: Answer) -> None:
            self.files[job.system.name].append(answer)
            advance(answer)

        runner = Runner(keep, self.limits, self.prices, self.problems)
        done = True
        try:
            event_loop.run(runner.run(list(self._jobs())))
        except KeyboardInterrupt:
            done = False
        except InputError:
            # The disk is full: the files may stay out of order, their records are all there.
            with contextlib.suppress(InputError):
                self._settle()
            raise
        self._settle()
        return done

    def _settle(self) -> None:
        for file in self.files.values():
            file.settle(self.plan.order)

    def _jobs(self) -> Iterator[Task]:
        """Yield what is left, question by question, so that a stopped run has the same questions of each system."""
        for question in self.plan.questions:
            for system in self.systems:
                if not self.files[system.name].finished(question.id, self.retry_failed):
                    yield Task(system, question, partial(self._context, question, system.name))

    def _context(self, question: Question, run: str) -> Context:
        commits = {**self._stacks.get(question.stack or "", {}), **question.commits}
        return Context(self.dataset.folder, run, commits, question.k or self.k)

    def summaries(self) -> list[RunSummary]:
        """Return what each run holds for the questions of the plan, also what earlier commands wrote."""
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
            figures=figures,
            cost=figures["cost"].total,
            cost_planned=projected(kept, len(self.plan.questions)),
            cost_dataset=projected(kept, len(self.plan.order)),
            errors=dict(Counter(record.failed for record in failed if record.failed).most_common()),
            dropped=file.dropped,
            first_error=file.first_error,
        )


def run_systems(
    dataset: str | Path,
    systems: Mapping[str, Callable[..., Any]],
    *,
    out: str | Path | None = None,
    sample: int | None = None,
    seed: int = DEFAULT_SEED,
    limits: Limits | None = None,
    prices: Prices | None = None,
    k: int = DEFAULT_K,
    retry_failed: bool = False,
    strict: bool = False,
) -> list[RunSummary]:
    """Ask systems the questions of a dataset and keep their answers as runs; called again, it goes on where it stopped.

    Parameters
    ----------
    systems
        Each takes a question (and a context) and returns a text or an answer; by the name of its run.
    out
        The folder of the runs, each ``NAME.jsonl``; by default ``runs`` of the dataset, where ``evaluate`` finds them.
    sample, seed
        Ask only this many questions, stratified by difficulty.
    limits
        How many questions at once, and how long and how often each is tried.
    strict
        Refuse questions with fields that graphkit doesn't know; an answer with one is a failed one.

    Returns
    -------
    list[RunSummary]
        What each run holds now: how many answered and failed, what they took, and its file.

    Raises
    ------
    InputError
        A question or a system can't be used, or a record can't be written.
    KeyboardInterrupt
        It was stopped; what is done is kept.
    """
    source, problems = Dataset(dataset), Problems(strict=strict)
    chosen = [system_of(run_name(name), call, _source_of(call)) for name, call in systems.items()]
    session = Session(
        source,
        plan(source, problems, sample, seed),
        chosen,
        Path(out) if out is not None else source.folder / "runs",
        limits if limits is not None else Limits(),
        prices,
        k,
        retry_failed,
        problems,
    )
    with session.open():
        if not session.run(lambda answer: None):
            raise KeyboardInterrupt
        return session.summaries()


def _source_of(call: Callable[..., Any]) -> str:
    """Return where a callable comes from, as the command line names it."""
    named = call if hasattr(call, "__qualname__") else type(call)
    return f"{named.__module__}:{named.__qualname__}"
