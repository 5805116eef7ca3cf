"""Grading: a judge gives a verdict on each answer of a run by each grader, and the verdicts become scores.

Several answers are judged at a time, but the graders of one answer one after the other: they share most of their
prompt, and a model's server charges less for a prompt that it has just read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from graphkit.files.dataset import Dataset
from graphkit.measures.judged import TESTED
from graphkit.plugins.judging.grading.surroundings import surroundings_of
from graphkit.plugins.judging.judge_versions import JudgeVersion
from graphkit.plugins.judging.judges.citations import pattern_text
from graphkit.plugins.judging.judges.claims import CLAIMS, SEPARATE_QUESTIONS
from graphkit.plugins.judging.judges.contract import Finding, Grader, Judge, effort_of, model_of
from graphkit.plugins.judging.judges.forms import unscored
from graphkit.plugins.judging.judges.materials import CONTEXT_TOKENS, materials_of
from graphkit.plugins.judging.judges.verdict_request import ask, prompt_hash
from graphkit.plugins.judging.judges.walk_graders import TRAJECTORY
from graphkit.plugins.judging.judges.walks import Surroundings
from graphkit.plugins.judging.model_families import self_evaluation
from graphkit.plugins.judging.verdicts import Verdict
from graphkit.records.gold import gold_hash
from graphkit.records.progress import Progress, expect, quiet
from graphkit.records.scores import Score, answer_hash
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.run_pass import ReadRun
from graphkit.shards.event_loop import in_parallel

#: The default number of answers that are judged at the same time.
CONCURRENCY = 8

#: The default graders, which score the generation layer.
DEFAULT_GRADERS = ("claims", "rubric", "aggregation")


@dataclass(frozen=True)
class RunToGrade(ReadRun):
    """A run read for grading: a question with stale gold isn't judged.

    ``surroundings`` is the knowledge graph around the walk of each question, if a grader needs it.
    """

    surroundings: Mapping[str, Surroundings] = field(default_factory=dict, repr=False)

    def with_surroundings(self, source: Dataset, graders: Iterable[Grader]) -> Self:
        """Return the run with the knowledge graph of its dataset around each walk, if one of the graders needs it."""
        needing = [grader for grader in graders if grader.graph]
        if not needing:
            return self
        cases = {question: self.case(question) for question in self.questions}
        lengths = any(grader.name == TRAJECTORY.name for grader in needing)
        return replace(self, surroundings=surroundings_of(cases, source, lengths))

    def unscored_by(self, grader: Grader, question: str) -> str | None:
        """Return why a grader gives no score to a question without an answer; the question's own lack comes first."""
        case = self.case(question)
        if question in self.invalid or case.failure is None:
            return self.lacking(question)
        about = materials_of(case.unanswered, self.run, surroundings=self.surroundings.get(question))
        return grader.lacks(about) or case.failure


@dataclass(frozen=True)
class Graded:
    """The verdicts and scores of a judge on a run.

    Attributes
    ----------
    scores
        One for each question and measure of each grader, in the order of the questions; its value may be None with a
        reason. A question with tests has no score by FactualCorrectness, since its tests decide that.
    verdicts
        All verdicts, with the failed ones.
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
    """The calls and prompt tokens that were saved by not asking for each measure of claims separately.

    ``prompt_tokens`` is None if the judge counts none.
    """

    calls: int
    prompt_tokens: int | None

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> Saving:
        """Return the saving, assuming that a question with the same parts would have had the same length."""
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
        How much of the retrieved context a judge sees.
    citation_pattern
        Further citations, see :func:`graphkit.plugins.judging.judges.citations.citation_pattern`.
    answered_by
        The model that gave the answers, if known; each verdict states it.
    progress
        Counts the verdicts as they come, and the answers that are done.
    forget
        Called with the digest of each request with an unusable reply, so that the cache doesn't serve it again.
    reference
        The name by which a worker opens a judge without a model; None sends the judge itself.
    """

    judge: Judge
    graders: Sequence[Grader]
    concurrency: int = CONCURRENCY
    context_tokens: int = CONTEXT_TOKENS
    citation_pattern: re.Pattern[str] | None = None
    answered_by: str | None = None
    progress: Progress = quiet
    forget: Callable[[str], None] = lambda _: None
    reference: str | None = None

    async def grade(self, run: RunToGrade) -> Graded:
        """Have the judge grade the answers of a run.

        Raises
        ------
        InputError
            The judge can't be asked at all, such as without a key.
        """
        graded: dict[str, tuple[list[Score], list[Verdict]]] = {}

        async def work(question: str) -> None:
            graded[question] = await self.judged(run, question)
            self.progress("answers", 1)

        self.expect(run)
        await in_parallel(run.questions, work, max(1, min(self.concurrency, len(run.questions))))
        return self.whole(run, graded)

    def expect(self, run: RunToGrade) -> None:
        """Report how many answers there are."""
        expect(self.progress, "answers", len(run.questions))
        self.progress("answers", 0)

    def whole(self, run: RunToGrade, graded: Mapping[str, tuple[list[Score], list[Verdict]]]) -> Graded:
        """Return the grading of a run from the scores and verdicts of each question."""
        ordered = [graded[question] for question in run.questions]
        scores = tuple(score for some, _ in ordered for score in some)
        verdicts = tuple(verdict for _, some in ordered for verdict in some)
        return Graded(run.run, self.judge.name, scores, verdicts, model_of(self.judge), self.answered_by)

    async def judged(self, run: RunToGrade, question: str) -> tuple[list[Score], list[Verdict]]:
        """Return the scores of one answer, without those that its tests decide, and the verdicts behind them."""
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
            run.case(question),
            run.run,
            context_tokens=self.context_tokens,
            pattern=self.citation_pattern,
            surroundings=run.surroundings.get(question),
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
                self.progress("verdicts", 1)
            for digest in judged.requests:
                self.forget(digest)
            found = [one for one in judged.findings if one.measure not in tested]
            scores += [self._score(run, question, one, grader, verdict) for one in found]
        return scores, verdicts

    def _score(
        self, run: RunToGrade, question: str, finding: Finding, grader: Grader, verdict: Verdict | None = None
    ) -> Score:
        """Return a finding as a score; only the first score of a verdict states its cost and tokens."""
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
        """Return the judge's version with prompt and settings; scores of different versions aren't mixed."""
        return JudgeVersion(
            judge=self.judge.version,
            prompt=prompt_hash(grader)[:8],
            effort=effort_of(self.judge),
            context_tokens=None if self.context_tokens == CONTEXT_TOKENS else self.context_tokens,
            citations=None if self.citation_pattern is None else pattern_text(self.citation_pattern),
        )
