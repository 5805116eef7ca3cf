"""Grading: judges say what a run's answers are worth, a verdict a grader, and what they say becomes scores.

Answers are judged side by side, the graders of one answer one after the other: they share most of their prompt, which
a model's server reads again for less.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from graphkit.files.dataset import Dataset, given_run_name
from graphkit.files.problems import Problems
from graphkit.files.run_files import read_run
from graphkit.judges.citations import pattern_text
from graphkit.judges.claims import CLAIMS, SEPARATE_QUESTIONS
from graphkit.judges.contract import Finding, Grader, Judge, effort_of, model_of
from graphkit.judges.forms import unscored
from graphkit.judges.materials import CONTEXT_TOKENS, materials_of, unjudged
from graphkit.judges.verdict_request import ask, prompt_hash
from graphkit.measures.case import Case
from graphkit.measures.judged import TESTED
from graphkit.records.gold import gold_hash
from graphkit.records.judge_versions import JudgeVersion
from graphkit.records.model_families import self_evaluation
from graphkit.records.scores import Score
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.records.verdicts import Verdict, answer_hash
from graphkit.scoring.results import Summary
from graphkit.scoring.run_pass import known_from_files

#: How many answers are judged at the same time where nobody says otherwise.
CONCURRENCY = 8

#: The graders that are asked where nobody names others: with them the generation layer is scored.
DEFAULT_GRADERS = ("claims", "rubric", "aggregation")


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
    def read(cls, run_file: Path, source: Dataset, problems: Problems, name: str | None = None) -> RunToGrade:
        """Read a run and its questions; ``name`` is what the run goes by, whatever its records say.

        Raises
        ------
        InputError
            A record can't be used, or the file holds records of several runs, or none.
        """
        if name is not None:
            given_run_name(name)
        _, invalid = known_from_files(source, (), problems)
        questions = {question.id: question for _, question in source.questions(problems)}
        run, answers = read_run(run_file, problems, questions, name)
        return cls(run, questions, answers, invalid)

    def only(self, questions: Iterable[str]) -> RunToGrade:
        """Return the run with some of its questions."""
        chosen = set(questions)
        return replace(self, questions={name: one for name, one in self.questions.items() if name in chosen})

    def case(self, question: str) -> Case:
        """Return a question with what the run did with it."""
        return Case(self.questions[question], self.answers.get(question))

    def lacking(self, question: str) -> str | None:
        """Return why there is nothing to judge of a question, whatever is asked; None where there is."""
        return self.invalid.get(question) or unjudged(self.case(question))

    def unscored_by(self, grader: Grader, question: str) -> str | None:
        """Return why a grader gives a question without an answer no score: what the question lacks comes first."""
        case = self.case(question)
        if question in self.invalid or case.failure is None:
            return self.lacking(question)
        return grader.lacks(materials_of(case.unanswered, self.run)) or case.failure


@dataclass(frozen=True)
class Graded:
    """The verdicts and scores of a judge on a run.

    Attributes
    ----------
    scores
        A score a question and measure of each grader, in the order of the questions; None with its reason where
        there is none. What tests say of an answer no judge does: by FactualCorrectness a question with tests has none.
    verdicts
        What was said, failures too.
    model
        The model that the judge asked; None for a judge that asks none.
    answered_by
        The model that gave the answers; None if unknown.
    """

    run: str
    judge: str
    scores: tuple[Score, ...] = field(repr=False)
    verdicts: tuple[Verdict, ...] = field(repr=False)
    model: str | None = None
    answered_by: str | None = None

    @property
    def failed(self) -> list[Verdict]:
        """The verdicts that are missing or unusable."""
        return [verdict for verdict in self.verdicts if verdict.failure is not None]

    @property
    def warning(self) -> str | None:
        """The warning that judge and answering model are of one family, or None."""
        return self_evaluation(self.model or self.judge, self.answered_by)

    def as_json(self) -> dict[str, Any]:
        """Return the summaries as JSON, without the single scores and verdicts."""
        return {
            "run": self.run,
            "judge": self.judge,
            "measures": {name: asdict(summary) for name, summary in self.summaries().items()},
            "verdicts": len(self.verdicts),
            "failures": dict(Counter(str(verdict.failure) for verdict in self.failed)),
        }

    def summaries(self) -> dict[str, Summary]:
        """Return the summary of each measure."""
        by_measure: dict[str, list[float | str | None]] = {}
        for score in self.scores:
            by_measure.setdefault(score.measure, []).append(score.reason if score.number is None else score.number)
        return {name: Summary.of_values(name, values) for name, values in by_measure.items()}

    @property
    def saving(self) -> Saving:
        """The calls and tokens saved by judging claims once."""
        return Saving.of(self.verdicts)


@dataclass(frozen=True, slots=True)
class Saving:
    """The calls, and the tokens of prompts, that it would have taken more to ask for each measure of claims by itself.

    ``prompt_tokens`` is None where a judge doesn't count any.
    """

    calls: int
    prompt_tokens: int | None

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> Saving:
        """Return what was saved: a question with the same parts would have been as long as the one that was asked."""
        claims = [verdict for verdict in verdicts if verdict.grader == CLAIMS.name and verdict.failure is None]
        tokens = [verdict.prompt_tokens for verdict in claims if verdict.prompt_tokens is not None]
        more = SEPARATE_QUESTIONS - 1
        return cls(more * len(claims), more * sum(tokens) if tokens else None)


@dataclass(frozen=True)
class GradingJob:
    """The questions to a judge, and the options of asking.

    Attributes
    ----------
    context_tokens
        How much of the retrieved context a judge is shown.
    citation_pattern
        What else is a citation, see :func:`graphkit.judges.citations.citation_pattern`.
    answered_by
        The model that gave the answers, as far as that is known: kept with each verdict.
    progress
        Called after each answer with the verdicts on it.
    forget
        Called with the digest of each request whose reply couldn't be used, so that it isn't served again.
    """

    judge: Judge
    graders: Sequence[Grader]
    concurrency: int = CONCURRENCY
    context_tokens: int = CONTEXT_TOKENS
    citation_pattern: re.Pattern[str] | None = None
    answered_by: str | None = None
    progress: Callable[[Sequence[Verdict]], None] = lambda _: None
    forget: Callable[[str], None] = lambda _: None

    async def grade(self, run: RunToGrade) -> Graded:
        """Have the judge say what the answers of a run are worth.

        Raises
        ------
        InputError
            The judge can't be asked at all, such as without a key.
        """
        graded: dict[str, tuple[list[Score], list[Verdict]]] = {}
        waiting = iter(run.questions)

        async def work() -> None:
            for question in waiting:
                graded[question] = await self._judged(run, question)
                self.progress(graded[question][1])

        workers = [asyncio.create_task(work()) for _ in range(max(1, min(self.concurrency, len(run.questions))))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        ordered = [graded[question] for question in run.questions]
        scores = tuple(score for some, _ in ordered for score in some)
        verdicts = tuple(verdict for _, some in ordered for verdict in some)
        return Graded(run.run, self.judge.name, scores, verdicts, model_of(self.judge), self.answered_by)

    async def _judged(self, run: RunToGrade, question: str) -> tuple[list[Score], list[Verdict]]:
        """Return the scores of one answer, none where tests say it, and the verdicts behind them."""
        tested = {TESTED} if run.questions[question].test_cases else set()
        scores: list[Score] = []
        verdicts: list[Verdict] = []
        lacking = run.lacking(question)
        if lacking is not None:
            for grader in self.graders:
                asked = [measure for measure in grader.measures if measure not in tested]
                reason = run.unscored_by(grader, question) or lacking
                scores += [self._score(run, question, one, grader) for one in unscored(asked, reason)]
            return scores, verdicts
        materials = materials_of(
            run.case(question), run.run, context_tokens=self.context_tokens, pattern=self.citation_pattern
        )
        for grader in self.graders:
            judged = await ask(grader, materials, self.judge)
            verdict = judged.verdict
            if verdict is not None:
                kin = self_evaluation(verdict.model or self.judge.name, self.answered_by)
                about = {"answered_by": self.answered_by, "answer_hash": answer_hash(materials.answer)}
                verdict = verdict.model_copy(update=about)
                if kin is not None:
                    verdict = verdict.model_copy(update={"notes": (*verdict.notes, kin)})
                verdicts.append(verdict)
            for digest in judged.requests:
                self.forget(digest)
            found = [one for one in judged.findings if one.measure not in tested]
            scores += [self._score(run, question, one, grader, verdict) for one in found]
        return scores, verdicts

    def _score(
        self, run: RunToGrade, question: str, finding: Finding, grader: Grader, verdict: Verdict | None = None
    ) -> Score:
        """Return the score that a finding is; what the verdict took stands beside its first score alone."""
        about = run.questions[question]
        paid = verdict if verdict is not None and finding.measure == grader.measures[0] else None
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
            grader=self.judge.name,
            version=str(self.version(grader)),
            cost=paid.cost if paid else None,
            prompt_tokens=paid.prompt_tokens if paid else None,
            output_tokens=paid.output_tokens if paid else None,
            category=about.category,
            difficulty=about.difficulty,
            group=about.group,
            gold_hash=gold_hash(about),
        )

    def version(self, grader: Grader) -> JudgeVersion:
        """Return a text that differs for another judge, wording or setting, to keep the scores of a grader apart."""
        return JudgeVersion(
            judge=self.judge.version,
            prompt=prompt_hash(grader)[:8],
            effort=effort_of(self.judge),
            context_tokens=None if self.context_tokens == CONTEXT_TOKENS else self.context_tokens,
            citations=None if self.citation_pattern is None else pattern_text(self.citation_pattern),
        )
