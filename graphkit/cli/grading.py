"""Having a judge grade a run anew: what the commands about trust compose, in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.records.scores import Score
    from graphkit.scoring.grade import RunToGrade
    from graphkit.trust.regrading import Regrade, Variant
    from graphkit.trust.subjects import Subject


def regrading(run_file: Path, dataset: Path | None, subject: Subject, model: str | None) -> Regrade:
    """Return what has the judge of some grades grade the run again, by the same graders, without its cache.

    Parameters
    ----------
    model
        By default the one that gave these grades.

    Raises
    ------
    InputError
        The judge can't be asked from here, or gave no measure of graphkit's graders.
    """
    from graphkit.files.dataset import Dataset
    from graphkit.files.problems import Problems
    from graphkit.judges.graders import GRADERS
    from graphkit.scoring.grade import RunToGrade
    from graphkit.scoring.graded_runs import GradingOptions
    from graphkit.scoring.opened_judges import ANTHROPIC, JudgeOptions, opened
    from graphkit.trust.bias import Swapped

    measures = {score.measure for score in subject.scores}
    graders = [name for name, grader in GRADERS.items() if measures >= set(grader.measures)]
    if not graders:
        raise InputError(
            f"{subject.judge} gave no measure of graphkit's graders",
            where=str(run_file),
            remedy="Have the run graded again by its own means, and name the scores by --graded.",
        )
    if subject.judge == ANTHROPIC and model is None:
        model = next((str(score.version).partition(" prompt ")[0] for score in subject.scores if score.version), None)
    judge = JudgeOptions(subject.judge, model=model)
    run = RunToGrade.read(run_file, Dataset.of_run(run_file, dataset), Problems())

    async def regrade(questions: Sequence[str] | None, *, variant: Variant) -> Sequence[Score]:
        chosen = run if questions is None else run.only(questions)
        async with opened(judge) as opened_judge:
            if variant == "padded":
                chosen = _padded(chosen)
            if variant == "swapped":
                opened_judge = replace(opened_judge, judge=Swapped(opened_judge.judge))
            graded = await GradingOptions(graders).job(opened_judge, judge.concurrency).grade(chosen)
        return [score for score in graded.scores if score.measure in measures]

    return regrade


def _padded(run: RunToGrade) -> RunToGrade:
    """Return a run whose answers are longer, and say nothing else."""
    from msgspec.structs import replace as with_fields

    from graphkit.trust.bias import padded

    answers = {
        name: with_fields(answer, answer=padded(answer.answer)) if answer.answer is not None else answer
        for name, answer in run.answers.items()
    }
    return replace(run, answers=answers)
