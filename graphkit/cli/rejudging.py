"""Having a judge grade a run anew: what the commands about trust compose, in one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.errors import GateError, InputError

if TYPE_CHECKING:
    from graphkit.cli.options import AskOptions
    from graphkit.llm.budget import Budget
    from graphkit.records.scores import Score
    from graphkit.scoring.grade_run import GradingOptions
    from graphkit.scoring.judge_setup import JudgeOptions
    from graphkit.scoring.verdict_job import Graded, RunToGrade
    from graphkit.trust.rejudge_contract import Variant
    from graphkit.trust.subjects import Subject


@dataclass
class Regrading:
    """Has the judge of some grades grade the run again, by the same graders and settings, without its cache.

    Attributes
    ----------
    gradings
        How the judge is asked, and what; several where grades were given with different settings.
    budget
        What may be spent by all gradings together; None where that isn't limited.
    unpaid
        How many verdicts the budget has refused so far.
    """

    run: RunToGrade
    measures: set[str]
    gradings: Sequence[tuple[JudgeOptions, GradingOptions]]
    budget: Budget | None = None
    unpaid: int = field(default=0, init=False)

    async def __call__(self, questions: Sequence[str] | None, *, variant: Variant) -> Sequence[Score]:
        """Return the scores of these questions, of all where there is None."""
        run = self.run if questions is None else self.run.only(questions)
        found: list[Score] = []
        for judge, options in self.gradings:
            graded = await self._graded(run, judge, options, variant)
            self.unpaid += sum(verdict.failure == "over_budget" for verdict in graded.failed)
            found += [score for score in graded.scores if score.measure in self.measures]
        return found

    async def _graded(self, run: RunToGrade, judge: JudgeOptions, options: GradingOptions, variant: Variant) -> Graded:
        from graphkit.scoring.judge_setup import opened
        from graphkit.trust.bias import Swapped

        async with opened(judge, self.budget) as opened_judge:
            if variant == "padded":
                run = _padded(run)
            if variant == "swapped":
                opened_judge = replace(opened_judge, judge=Swapped(opened_judge.judge))
            return await options.job(opened_judge, judge.concurrency).grade(run)

    def hold(self) -> None:
        """Refuse to pass where the budget left verdicts out.

        Raises
        ------
        GateError
            With how many.
        """
        from graphkit.records.words import counted

        if self.budget is not None and self.unpaid:
            raise GateError(
                f"stopped at --max-cost {self.budget.limit:g}: {counted(self.unpaid, 'verdict')} not asked for",
                remedy="The figures are of the verdicts that were paid for. Give a higher limit for the rest.",
            )


def regrading(run_file: Path, dataset: Path | None, subject: Subject, how: AskOptions) -> Regrading:
    """Return what has the judge of some grades grade the run again.

    Parameters
    ----------
    how
        What isn't given here is as it was when these grades were given.

    Raises
    ------
    InputError
        The judge can't be asked from here, or gave no measure of graphkit's graders.
    """
    from graphkit.files.dataset import Dataset
    from graphkit.files.problems import Problems
    from graphkit.judges.catalogue import GRADERS
    from graphkit.scoring.verdict_job import RunToGrade

    measures = {score.measure for score in subject.scores}
    graders = {name: grader.measures for name, grader in GRADERS.items() if measures >= set(grader.measures)}
    if not graders:
        raise InputError(
            f"{subject.judge} gave no measure of graphkit's graders",
            where=str(run_file),
            remedy="Have the run graded again by its own means, and name the scores by --graded.",
        )
    gradings = _gradings(subject, graders, how)
    run = RunToGrade.read(run_file, Dataset.of_run(run_file, dataset), Problems())
    return Regrading(run, measures, gradings, _budget([judge for judge, _ in gradings]))


def _gradings(
    subject: Subject, graders: Mapping[str, Sequence[str]], how: AskOptions
) -> list[tuple[JudgeOptions, GradingOptions]]:
    """Return how the judge is asked, and by which graders, for each of the settings with which grades were given."""
    from graphkit.judges.citations import citation_pattern
    from graphkit.judges.materials import CONTEXT_TOKENS
    from graphkit.records.judge_versions import JudgeVersion
    from graphkit.scoring.grade_run import GradingOptions
    from graphkit.scoring.judge_setup import ANTHROPIC, JudgeOptions

    asked: dict[tuple[JudgeOptions, int, str | None], list[str]] = {}
    for grader, measures in graders.items():
        versions = (one.version for one in subject.scores if one.measure in measures and one.version is not None)
        text = next(versions, None)
        given = JudgeVersion.parse(text) or JudgeVersion(None if text is None else str(text), "")
        model = how.model or (given.judge if subject.judge == ANTHROPIC else None)
        judge = JudgeOptions(subject.judge, model, how.effort or given.effort, max_cost=how.max_cost, prices=how.prices)
        tokens = given.context_tokens if how.context_tokens is None else how.context_tokens
        settings = (judge, CONTEXT_TOKENS if tokens is None else tokens, how.citations or given.citations)
        asked.setdefault(settings, []).append(grader)
    return [
        (judge, GradingOptions(names, (), tokens, None if pattern is None else citation_pattern(pattern)))
        for (judge, tokens, pattern), names in asked.items()
    ]


def _budget(judges: Iterable[JudgeOptions]) -> Budget | None:
    """Return what some judges may spend together."""
    from graphkit.scoring.judge_setup import prices_and_budget

    budgets = [budget for judge in judges if (budget := prices_and_budget(judge)[1]) is not None]
    return budgets[0] if budgets else None


def _padded(run: RunToGrade) -> RunToGrade:
    """Return a run whose answers are longer, and say nothing else."""
    from msgspec.structs import replace as with_fields

    from graphkit.trust.bias import padded

    answers = {
        name: with_fields(answer, answer=padded(answer.answer)) if answer.answer is not None else answer
        for name, answer in run.answers.items()
    }
    return replace(run, answers=answers)
