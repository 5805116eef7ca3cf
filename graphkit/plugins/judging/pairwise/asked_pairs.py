"""Runs whose answers are compared two by two: what a judge is asked, in both orders, and what is kept of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from graphkit.errors import InputError
from graphkit.files.assets import located
from graphkit.files.atomic import write_records
from graphkit.files.dataset import Dataset
from graphkit.files.file_locks import locked
from graphkit.files.grades_beside import file_beside, grading_lock
from graphkit.files.problems import Problems
from graphkit.files.run_files import answering_model
from graphkit.measures.case import Case
from graphkit.plugins.judging.grading.judge_setup import (
    GradingEstimate,
    JudgeOptions,
    OpenedJudge,
    estimated,
    opened,
    unfinished,
)
from graphkit.plugins.judging.grading.unfinished import until_kept
from graphkit.plugins.judging.grading.verdict_job import RunToGrade
from graphkit.plugins.judging.judge_versions import JudgeVersion
from graphkit.plugins.judging.judges.contract import effort_of, model_of
from graphkit.plugins.judging.judges.materials import Materials, ShownPair
from graphkit.plugins.judging.judges.pairwise import DIFFERENTIAL, PAIRWISE, PairwiseCriterion, differences
from graphkit.plugins.judging.judges.verdict_request import ask, prompt_hash
from graphkit.plugins.judging.model_families import self_evaluations
from graphkit.plugins.judging.pairwise.comparisons import (
    BOTH_LACK,
    COMPARISONS,
    PLACE,
    UNANSWERED,
    AnswerComparison,
    read_comparisons,
)
from graphkit.plugins.judging.verdicts import Verdict
from graphkit.records.progress import Progress, expect, quiet
from graphkit.records.scores import answer_hash
from graphkit.records.words import counted
from graphkit.scoring.chosen_questions import ChosenQuestions
from graphkit.scoring.run_pass import lacking_answer
from graphkit.shards import event_loop
from graphkit.shards.event_loop import in_parallel

Side = Literal["first", "second", "both"]

_OTHER: dict[Side, Side] = {"first": "second", "second": "first", "both": "both"}


@dataclass(frozen=True)
class _AskedPair:
    """One comparison to ask for: the runs in the order in which their answers are shown."""

    question: str
    first: str
    second: str
    criterion: PairwiseCriterion
    trial: int
    pair: ShownPair
    hashes: tuple[str | None, str | None]  # of the whole answers
    lacks: Side | None = None  # which run has no answer, so that no judge is asked

    def key(self, version: str, judge: str, differential: bool) -> tuple[Any, ...]:
        """Return what a kept comparison must share to stand for this one."""
        shown = _shown_hash(self.question, self.pair)
        return (
            self.question,
            self.criterion.name,
            self.first,
            self.second,
            self.trial,
            differential,
            judge,
            version,
            shown,
        )


def _key(one: AnswerComparison) -> tuple[Any, ...]:
    about = one.question, one.criterion, one.first, one.second, one.trial, one.differential
    return *about, one.grader, one.version, one.shown_hash


def _shown_hash(question: str, pair: ShownPair) -> str:
    texts = json.dumps([question, pair.criterion, pair.text, pair.first, pair.second])
    return hashlib.sha256(texts.encode()).hexdigest()


@dataclass(frozen=True)
class PairsToJudge:
    """Some runs of one dataset whose answers are to be compared.

    Attributes
    ----------
    runs
        In the order given: the first is what the others are held against.
    trials
        How often each comparison is asked in each order.
    differential
        Whether the judge sees only what the other answer lacks.
    place
        A name beside the runs' files, by which those of comparisons are found.
    """

    source: Dataset
    files: tuple[Path, ...]
    runs: tuple[RunToGrade, ...] = field(repr=False)
    criteria: tuple[PairwiseCriterion, ...]
    trials: int
    differential: bool
    chosen: ChosenQuestions | None
    place: Path

    @classmethod
    def read(
        cls,
        run_files: Sequence[str | Path],
        dataset: str | Path | None,
        criteria: Sequence[PairwiseCriterion],
        *,
        trials: int = 1,
        differential: bool = False,
        where: str | None = None,
        problems: Problems | None = None,
    ) -> PairsToJudge:
        """Read the runs.

        Raises
        ------
        InputError
            A file can't be used, fewer than two runs are named, two share a name, they lie in several datasets, one of
            them holds no answer, or no question has gold that isn't stale.
        """
        problems = problems if problems is not None else Problems()
        files = tuple(located(one) for one in run_files)
        if len(files) < 2:
            raise InputError("one run can't be compared", remedy="Name two runs, or more.")
        source = Dataset.of_run(files[0], dataset) if dataset is not None else Dataset.of_runs(files)
        runs = [RunToGrade.read(file, source, problems) for file in files]
        if len({run.run for run in runs}) < len(runs):
            raise InputError("two of the runs have the same name", remedy="Name each run once.")
        chosen = None if where is None else ChosenQuestions.of(source, where)
        if chosen is not None:
            runs = [run.only(chosen.ids) for run in runs]
        for file, run in zip(files, runs, strict=True):
            if all(lacking_answer(run.case(question)) is not None for question in run.questions):
                raise InputError(f"{run.run} has no answer to compare", where=str(file), remedy="Log `answer`.")
        place = files[0].with_name(PLACE)
        given = cls(source, files, tuple(runs), tuple(criteria), trials, differential, chosen, place)
        if not given.questions:
            what = f"there is nothing to compare: the gold of each question is stale ({len(runs[0].questions)})"
            raise InputError(what, remedy="Renew the gold.")
        return given

    def __str__(self) -> str:
        asked = counted(len(self.questions), "question")
        by = f"{counted(len(self.criteria), 'criterion', 'criteria')}"
        times = f" {self.trials} times" if self.trials > 1 else ""
        what = ", what only one of them says" if self.differential else ""
        stale = len(self.runs[0].questions) - len(self.questions)
        left = f" ({stale} more have stale gold)" if stale else ""
        part = f", {self.chosen}" if self.chosen is not None else ""
        return f"{counted(len(self.runs), 'run')} on {asked}{left}{part}: by {by}, in both orders{times}{what}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(run.run for run in self.runs)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The runs two by two."""
        return [*combinations(self.names, 2)]

    @property
    def questions(self) -> list[str]:
        """The questions that count: all but those with stale gold."""
        return [one for one in self.runs[0].questions if one not in self.runs[0].invalid]

    @cached_property
    def _by_name(self) -> dict[str, RunToGrade]:
        return {run.run: run for run in self.runs}

    def _hash(self, run: str, question: str) -> str | None:
        """Return the hash of an answer; None without one."""
        answer = self._by_name[run].answers.get(question)
        return None if answer is None or answer.answer is None else answer_hash(answer.answer)

    def _texts(self, first: str, second: str, question: str) -> tuple[str, str, Side | None]:
        """Return the texts of two answers as a judge sees them, and which of the runs has none: a blank one is none."""
        by_name = self._by_name
        lack = [not _said(by_name[run].case(question)) for run in (first, second)]
        if any(lack):
            return "", "", "both" if all(lack) else "first" if lack[0] else "second"
        one, two = (by_name[run].answers[question].answer or "" for run in (first, second))
        return (*(differences(one, two) if self.differential else (one, two)), None)

    def file_of(self, judge: JudgeOptions) -> Path:
        """Return the file that keeps the comparisons of a judge."""
        return file_beside(self.place, judge.judge, COMPARISONS, judge.model)

    def warnings(self, judge: str, model: str | None) -> tuple[str, ...]:
        """Return the warnings that the judge is of the family of a model that answered."""
        return self_evaluations([model or judge], [answering_model(file, None) for file in self.files])

    def estimate(self, judge: JudgeOptions) -> GradingEstimate:
        """Return what a model would be asked; a kept comparison isn't asked for again.

        Raises
        ------
        InputError
            The judge asks no model, or a file can't be used.
        """
        kept = kept_comparisons(self.file_of(judge), Problems())

        async def asking(opened_judge: OpenedJudge) -> None:
            await _compared(self, opened_judge, judge.concurrency, kept, quiet)

        return estimated(judge, asking)

    def _asked(self) -> Iterable[list[_AskedPair]]:
        """Yield what is asked about two answers in one order: their prompts begin alike, which servers cache."""
        for question in self.questions:
            for one, two in self.pairs:
                first, second, lacks = self._texts(one, two, question)
                for names, shown, lack in (
                    ((one, two), (first, second), lacks),
                    ((two, one), (second, first), None if lacks is None else _OTHER[lacks]),
                ):
                    hashes = self._hash(names[0], question), self._hash(names[1], question)
                    yield [
                        _AskedPair(question, *names, by, trial, ShownPair(*shown, by.name, by.text), hashes, lack)
                        for by in self.criteria
                        for trial in range(1, 2 if lack is not None else self.trials + 1)
                    ]


@dataclass(frozen=True)
class JudgedPairs:
    """The comparisons of some runs, and the verdicts that were asked for now.

    ``warnings`` say that the judge is of the family of a model that answered.
    """

    given: PairsToJudge
    judge: str
    model: str | None
    version: str
    comparisons: Sequence[AnswerComparison] = field(repr=False)
    verdicts: Sequence[Verdict] = field(repr=False)
    file: Path
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return what was asked, and where it is kept."""
        given = self.given
        return {
            "judge": self.judge,
            "model": self.model,
            "version": self.version,
            "criteria": {one.name: one.text for one in given.criteria},
            "trials": given.trials,
            "differential": given.differential,
            "stale": len(given.runs[0].questions) - len(given.questions),
            "where": None if given.chosen is None else given.chosen.as_json(),
            "asked": len(self.verdicts),
            "file": str(self.file),
        }


def judge_pairs(
    given: PairsToJudge,
    judge: JudgeOptions,
    *,
    problems: Problems | None = None,
    notify: Callable[[str], None] | None = None,
    progress: Progress = quiet,
) -> JudgedPairs:
    """Have a judge compare the answers of some runs two by two, and keep the comparisons beside the runs.

    A kept comparison of the same judge, version and texts isn't asked for again, unless it failed.

    Parameters
    ----------
    notify
        Called with each note about the judge.

    Raises
    ------
    InputError
        A file can't be used or written, or the judge can't be asked.
    """
    file = given.file_of(judge)
    kept = kept_comparisons(file, problems if problems is not None else Problems())
    opinions = unfinished(judge, given.place)

    async def asking() -> tuple[OpenedJudge, list[AnswerComparison], list[Verdict]]:
        async with opened(judge, notify=notify, opinions=opinions) as one:
            return one, *await _compared(given, one, judge.concurrency, kept, progress)

    with until_kept(opinions, notify):
        one, found, verdicts = event_loop.run(asking())
        if found:
            file.parent.mkdir(exist_ok=True)
            with locked(grading_lock(given.place)):  # another judging may have kept its comparisons meanwhile
                write_records(file, _with_former(kept_comparisons(file, Problems("skip")), found))
    warnings = given.warnings(judge.judge, model_of(one.judge))
    version = _version(given, one)
    return JudgedPairs(given, one.judge.name, model_of(one.judge), version, found, verdicts, file, warnings)


def _with_former(former: Iterable[AnswerComparison], found: Sequence[AnswerComparison]) -> list[AnswerComparison]:
    """Return comparisons with the former ones that they don't replace, as those of texts that have changed."""
    shown = {(_key(one)[:4], *_key(one)[5:8]): one.shown_hash for one in found}
    same = {_key(one) for one in found}
    kept = (one for one in former if shown.get((_key(one)[:4], *_key(one)[5:8]), one.shown_hash) == one.shown_hash)
    return [*(one for one in kept if _key(one) not in same), *found]


def kept_comparisons(file: Path, problems: Problems) -> list[AnswerComparison]:
    """Return the comparisons in a file; none if there is no such file."""
    return read_comparisons([file], problems) if file.is_file() else []


def _version(given: PairsToJudge, judge: OpenedJudge) -> str:
    prompt = prompt_hash(DIFFERENTIAL if given.differential else PAIRWISE)[:8]
    return str(JudgeVersion(judge.judge.version, prompt, effort_of(judge.judge)))


async def _compared(
    given: PairsToJudge,
    judge: OpenedJudge,
    concurrency: int,
    kept: Iterable[AnswerComparison],
    progress: Progress,
) -> tuple[list[AnswerComparison], list[Verdict]]:
    """Return each comparison, kept or asked for now, in order, and the verdicts of those that were asked for."""
    name, version = judge.judge.name, _version(given, judge)
    known = {_key(one): one for one in kept if one.failure is None and one.unanswered is None}
    groups = [*given._asked()]
    found: dict[int, list[AnswerComparison]] = {}
    verdicts: dict[int, list[Verdict]] = {}
    grader = DIFFERENTIAL if given.differential else PAIRWISE
    questions = given.runs[0].questions

    async def work(number: int) -> None:
        found[number], verdicts[number] = [], []
        for one in groups[number]:
            there = known.get(one.key(version, name, given.differential))
            if one.lacks is not None:
                there = _unanswered(one, one.lacks, name, version, given.differential)
            if there is None:
                materials = Materials(
                    run=f"{one.first} and {one.second}",
                    question_id=one.question,
                    question=questions[one.question].question,
                    answer="",
                    pair=one.pair,
                    trial=one.trial,
                )
                judged = await ask(grader, materials, judge.judge)
                assert judged.verdict is not None
                for digest in judged.requests:
                    judge.forget(digest)
                if judged.verdict.attempts or judged.verdict.failure is not None:  # else the answers are the same
                    verdicts[number].append(judged.verdict)
                there = _comparison(one, judged.verdict, version, given.differential)
            found[number].append(there)
            progress("verdicts", 1)
        progress("answers", 1)

    expect(progress, "answers", len(groups))
    progress("answers", 0)
    await in_parallel(range(len(groups)), work, max(1, min(concurrency, len(groups))))
    every = range(len(groups))
    return [one for number in every for one in found[number]], [one for number in every for one in verdicts[number]]


def _said(case: Case) -> bool:
    return lacking_answer(case) is None and case.answer is not None and bool((case.answer.answer or "").strip())


def _unanswered(one: _AskedPair, lacks: Side, judge: str, version: str, differential: bool) -> AnswerComparison:
    """Return the comparison of two runs of which one or both have no answer."""
    both = lacks == "both"
    return AnswerComparison(
        question=one.question,
        criterion=one.criterion.name,
        first=one.first,
        second=one.second,
        differential=differential,
        winner=None if both else "second" if lacks == "first" else "first",
        unanswered=lacks,
        failure=UNANSWERED if both else None,
        reason=BOTH_LACK if both else None,
        explanation=None if both else "the other run has no answer",
        grader=judge,
        version=version,
        shown_hash=_shown_hash(one.question, one.pair),
        first_hash=one.hashes[0],
        second_hash=one.hashes[1],
        first_length=0,
        second_length=0,
    )


def _comparison(one: _AskedPair, verdict: Verdict, version: str, differential: bool) -> AnswerComparison:
    failed = verdict.failure is not None
    return AnswerComparison(
        question=one.question,
        criterion=one.criterion.name,
        first=one.first,
        second=one.second,
        trial=one.trial,
        differential=differential,
        winner=None if failed else verdict.grade,  # type: ignore[arg-type]
        failure=verdict.failure,
        reason=verdict.reason,
        explanation=verdict.explanation,
        grader=verdict.judge,
        model=verdict.model,
        version=version,
        shown_hash=_shown_hash(one.question, one.pair),
        first_hash=one.hashes[0],
        second_hash=one.hashes[1],
        first_length=len(one.pair.first),
        second_length=len(one.pair.second),
        prompt_tokens=verdict.prompt_tokens,
        output_tokens=verdict.output_tokens,
        cost=verdict.cost,
        cached=verdict.cached,
        attempts=verdict.attempts,
    )
