"""Grading a run again with the judge that graded it: by the same graders and settings, without its cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from msgspec.structs import replace as with_fields

from graphkit.errors import GateError, InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.plugins.judging.grading.grade_run import GradingOptions
from graphkit.plugins.judging.grading.judge_setup import JudgeOptions, opened, prices_and_budget
from graphkit.plugins.judging.grading.verdict_job import RunToGrade
from graphkit.plugins.judging.judge_cost import require_verdicts
from graphkit.plugins.judging.judge_versions import JudgeVersion
from graphkit.plugins.judging.judges.catalogue import GRADERS
from graphkit.plugins.judging.judges.citations import citation_pattern
from graphkit.plugins.judging.judges.examples import Examples
from graphkit.plugins.judging.judges.known_judges import backend_of
from graphkit.plugins.judging.judges.materials import CONTEXT_TOKENS
from graphkit.plugins.judging.judges.verdict_request import prompt_hash
from graphkit.plugins.judging.llm.budget import Budget
from graphkit.plugins.judging.trust.bias import Swapped, padded
from graphkit.plugins.judging.trust.rejudge_contract import Variant
from graphkit.plugins.judging.trust.subjects import Subject
from graphkit.plugins.judging.verdicts import Verdict
from graphkit.records.progress import Progress, quiet
from graphkit.records.scores import Score
from graphkit.records.words import counted


@dataclass(frozen=True)
class RejudgeOptions:
    """Settings for asking a judge again; None means as in the first grading."""

    model: str | None = None
    effort: str | None = None
    context_tokens: int | None = None
    citations: str | None = None
    max_cost: float | None = None
    prices: Path | None = None
    base_url: str | None = None


@dataclass
class Rejudging:
    """The judge of some scores, asked again; see :class:`graphkit.plugins.judging.trust.rejudge_contract.Rejudge`."""

    run: RunToGrade
    measures: set[str]
    #: How the judge is asked, and by which graders; several if scores were given with different settings.
    gradings: Sequence[tuple[JudgeOptions, GradingOptions]]
    budget: Budget | None = None  # what all gradings together may spend; None without a limit
    progress: Progress = quiet
    notify: Callable[[str], None] = lambda _: None  # called with each note about the model
    verdicts: list[Verdict] = field(default_factory=list, init=False)  # those of all gradings so far

    async def __call__(self, questions: Sequence[str] | None, *, variant: Variant) -> Sequence[Score]:
        """Return the scores of these questions, or of all if there is None."""
        run = self.run if questions is None else self.run.only(questions)
        run = _padded(run) if variant == "padded" else run
        found: list[Score] = []
        for judge, options in self.gradings:
            async with opened(judge, self.budget, self.notify) as one:
                if variant == "swapped":
                    one = replace(one, judge=Swapped(one.judge))
                graded = await replace(options.job(one, judge.concurrency), progress=self.progress).grade(run)
            self.verdicts += graded.verdicts
            found += [score for score in graded.scores if score.measure in self.measures]
        return found

    def with_examples(self, examples: Examples) -> Rejudging:
        """Return what asks by the grader of the examples' measure alone, and shows them."""
        named = (
            (judge, [name for name in options.graders if examples.measure in GRADERS[name].measures], options)
            for judge, options in self.gradings
        )
        gradings = [
            (judge, replace(options, graders=names, examples=examples)) for judge, names, options in named if names
        ]
        self.gradings = gradings
        return self

    def require_verdicts(self) -> None:
        """Raise a GateError if the budget has refused verdicts, or an InputError if every verdict failed."""
        unpaid = sum(verdict.failure == "over_budget" for verdict in self.verdicts)
        if self.budget is not None and unpaid:
            raise GateError(
                f"stopped at --max-cost {self.budget.limit:g}: {counted(unpaid, 'verdict')} not asked for",
                remedy="The figures are of the verdicts that were paid for. Give a higher limit for the rest.",
            )
        require_verdicts(self.verdicts, None)


def by_other_prompts(scores: Sequence[Score]) -> list[str]:
    """Return the measures of a judge's scores whose prompt isn't the one that is asked today without examples."""
    found = dict.fromkeys((one.measure, JudgeVersion.parse(one.version)) for one in scores)
    graders = {measure: [one for one in GRADERS.values() if measure in one.measures] for measure, _ in found}
    return [
        measure
        for measure, version in found
        if version is not None
        and graders[measure]
        and not any(prompt_hash(one).startswith(version.prompt) for one in graders[measure])
    ]


def rejudging(
    run_file: Path,
    dataset: Path | None,
    subject: Subject,
    options: RejudgeOptions,
    notify: Callable[[str], None] = lambda _: None,
) -> Rejudging:
    """Return what has the judge of some scores grade the run again.

    ``notify`` is called once with each note about the model, however often the run is graded.

    Raise an InputError if the judge can't be asked from here, or gave no measure of graphkit's graders.
    """
    measures = {score.measure for score in subject.scores}
    graders = {name: grader.measures for name, grader in GRADERS.items() if measures >= set(grader.measures)}
    if not graders:
        remedy = "Have the run graded again by its own means, and name the scores by --graded."
        raise InputError(f"{subject.judge} gave no measure of graphkit's graders", where=str(run_file), remedy=remedy)
    gradings = _gradings(subject, graders, options)
    budgets = [budget for judge, _ in gradings if (budget := prices_and_budget(judge)[1]) is not None]
    source = Dataset.of_run(run_file, dataset)
    run = RunToGrade.read(run_file, source, Problems()).with_surroundings(source, [GRADERS[name] for name in graders])
    return Rejudging(run, measures, gradings, budgets[0] if budgets else None, notify=cache(notify))


def _gradings(
    subject: Subject, graders: Mapping[str, Sequence[str]], options: RejudgeOptions
) -> list[tuple[JudgeOptions, GradingOptions]]:
    """Return how the judge is asked, and by which graders, for each of the settings of its scores."""
    asked: dict[tuple[JudgeOptions, int, str | None], list[str]] = {}
    for grader, measures in graders.items():
        versions = (one.version for one in subject.scores if one.measure in measures and one.version is not None)
        text = next(versions, None)
        then = JudgeVersion.parse(text) or JudgeVersion(None if text is None else str(text), "")
        judge = JudgeOptions(
            subject.judge,
            options.model or (None if backend_of(subject.judge) is None else then.judge),
            options.effort or then.effort,
            max_cost=options.max_cost,
            prices=options.prices,
            base_url=options.base_url,
        )
        tokens = then.context_tokens if options.context_tokens is None else options.context_tokens
        settings = (judge, CONTEXT_TOKENS if tokens is None else tokens, options.citations or then.citations)
        asked.setdefault(settings, []).append(grader)
    return [
        (judge, GradingOptions(names, (), tokens, None if pattern is None else citation_pattern(pattern)))
        for (judge, tokens, pattern), names in asked.items()
    ]


def _padded(run: RunToGrade) -> RunToGrade:
    """Return a run whose answers are longer but say nothing else."""
    answers = {
        name: with_fields(answer, answer=padded(answer.answer)) if answer.answer is not None else answer
        for name, answer in run.answers.items()
    }
    return replace(run, answers=answers)
