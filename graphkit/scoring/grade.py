"""Grading: judges say what a run's answers are worth, a verdict a grader, and what they say becomes scores.

Answers are judged side by side, the graders of one answer one after the other: they share most of their prompt, which
a model's server reads again for less.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problem, Problems
from graphkit.files.reading import RecordReader
from graphkit.judges.base import Finding, Grader, Judge
from graphkit.judges.materials import CONTEXT_TOKENS, materials_of
from graphkit.judges.verdicts import ask
from graphkit.measures.base import MISSING, failed
from graphkit.measures.case import Case
from graphkit.measures.integration import NO_ANSWER
from graphkit.records.scores import Score
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.records.verdicts import Verdict

#: How many answers are judged at the same time where nobody says otherwise.
CONCURRENCY = 8

#: Called after each answer with the verdicts on it.
Progress = Callable[[Sequence[Verdict]], None]


def _quiet(_: Sequence[Verdict]) -> None:
    """Tell nothing."""


@dataclass(frozen=True)
class Graded:
    """What a judge said of a run.

    Attributes
    ----------
    scores
        A score a question and measure of each grader, in the order of the questions; None with its reason where
        there is none.
    verdicts
        What was said, failures too.
    """

    run: str
    judge: str
    scores: tuple[Score, ...] = field(repr=False)
    verdicts: tuple[Verdict, ...] = field(repr=False)


@dataclass(frozen=True)
class RunToGrade:
    """A run read for grading: the questions of its dataset in their order, and its records.

    ``invalid`` holds the questions whose gold is stale, and why: they aren't judged.
    """

    run: str
    questions: Mapping[str, QuestionStruct] = field(repr=False)
    answers: Mapping[str, AnswerStruct] = field(repr=False)
    invalid: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, run_file: Path, source: Dataset, problems: Problems) -> RunToGrade:
        """Read a run and its questions.

        Raises
        ------
        InputError
            A record can't be used, or the file holds records of several runs, or none.
        """
        from graphkit.scoring.evaluate import known_from_files

        _, invalid = known_from_files(source, (), problems)
        questions = {question.id: question for _, question in source.questions(problems)}
        answers: dict[str, AnswerStruct] = {}
        for number, answer in RecordReader(run_file, AnswerStruct, problems):
            where = f"{run_file}:{number}"
            if answer.question_id not in questions:
                what = "the question id is not in the dataset"
                problems.add(Problem(where, what, record=answer.question_id, remedy="Check --dataset."))
            elif answers.setdefault(answer.question_id, answer) is not answer:
                problems.add(Problem(where, "the question already has a record", record=answer.question_id))
        problems.settle(usable=len(answers))
        runs = sorted({answer.run for answer in answers.values()})
        if len(runs) != 1:
            what = f"the file holds records of {len(runs)} runs: {', '.join(runs[:5])}" if runs else "no record"
            raise InputError(what, where=str(run_file), remedy="Write each run into a file of its own.")
        return cls(runs[0], questions, answers, invalid)

    def unjudged(self, question: str) -> str | None:
        """Return why there is nothing to judge of a question, or None."""
        if question in self.invalid:
            return self.invalid[question]
        answer = self.answers.get(question)
        if answer is None:
            return MISSING
        if answer.error is not None:
            return failed(answer.error)
        return NO_ANSWER if answer.answer is None else None


async def grade_answers(
    run: RunToGrade,
    judge: Judge,
    graders: Sequence[Grader],
    *,
    concurrency: int = CONCURRENCY,
    context_tokens: int = CONTEXT_TOKENS,
    progress: Progress = _quiet,
) -> Graded:
    """Have a judge say what the answers of a run are worth.

    Raises
    ------
    InputError
        The judge can't be asked at all, such as without a key.
    """
    graded: dict[str, tuple[list[Score], list[Verdict]]] = {}
    waiting = iter(run.questions)

    async def work() -> None:
        for question in waiting:
            graded[question] = await _judged(run, question, judge, graders, context_tokens)
            progress(graded[question][1])

    async with asyncio.TaskGroup() as group:
        for _ in range(max(1, min(concurrency, len(run.questions)))):
            group.create_task(work())
    ordered = [graded[question] for question in run.questions]
    return Graded(
        run.run,
        judge.name,
        tuple(score for scores, _ in ordered for score in scores),
        tuple(verdict for _, verdicts in ordered for verdict in verdicts),
    )


async def _judged(
    run: RunToGrade, question: str, judge: Judge, graders: Sequence[Grader], context_tokens: int
) -> tuple[list[Score], list[Verdict]]:
    """Return the scores of one answer and the verdicts behind them."""
    scores: list[Score] = []
    verdicts: list[Verdict] = []
    unjudged = run.unjudged(question)
    case = Case(run.questions[question], run.answers.get(question))
    materials = None if unjudged else materials_of(case, run.run, context_tokens=context_tokens)
    for grader in graders:
        lacking = unjudged if materials is None else grader.lacks(materials)
        if lacking or materials is None:
            found = [Finding(measure, None, lacking) for measure in grader.measures]
            scores += [_score(run, question, finding, judge, grader) for finding in found]
            continue
        verdict, findings = await ask(grader, materials, judge)
        verdicts.append(verdict)
        scores += [_score(run, question, finding, judge, grader, verdict) for finding in findings]
    return scores, verdicts


def _score(
    run: RunToGrade, question: str, finding: Finding, judge: Judge, grader: Grader, verdict: Verdict | None = None
) -> Score:
    """Return the score that a finding is; what the verdict took stands beside its first score alone."""
    labels = run.questions[question]
    first = verdict is not None and finding.measure == grader.measures[0]
    return Score(
        run=run.run,
        question=question,
        measure=finding.measure,
        value=finding.value,
        reason=finding.reason,
        grade=finding.grade,
        label=finding.label,
        explanation=finding.explanation,
        confidence=finding.confidence,
        grader=judge.name,
        version=version_of(judge, grader),
        cost=verdict.cost if first and verdict else None,
        prompt_tokens=verdict.prompt_tokens if first and verdict else None,
        output_tokens=verdict.output_tokens if first and verdict else None,
        category=labels.category,
        difficulty=labels.difficulty,
        group=labels.group,
    )


def version_of(judge: Judge, grader: Grader) -> str:
    """Return what tells the scores of one judge and wording from those of another: its version, and the prompt's."""
    return " ".join(part for part in (judge.version, f"prompt {grader.digest[:8]}") if part)
