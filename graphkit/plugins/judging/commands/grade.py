"""``graphkit grade``."""

from __future__ import annotations

import dataclasses
import math
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.cli.base import argument, command, open_graph, option, present, print_line, print_problems, say, settings
from graphkit.cli.options import (
    ANSWERED_BY,
    CHANGED_REPLIES,
    DATASET,
    MAX_COST,
    MIN_KAPPA,
    NO_STORE,
    PRICES,
    RUN_NAME,
    WHERE,
    ExecutorOptions,
    ReadingOptions,
)
from graphkit.cli.tables import print_table
from graphkit.errors import InputError
from graphkit.records.words import counted, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphkit.plugins.judging.grading.grade_run import GradingOptions
    from graphkit.plugins.judging.grading.judge_setup import GradingEstimate, JudgeOptions
    from graphkit.plugins.judging.grading.juries import JuryGraded
    from graphkit.plugins.judging.grading.verdict_job import Graded
    from graphkit.plugins.judging.judge_cost import JudgeCost
    from graphkit.plugins.judging.verdicts import Verdict
    from graphkit.records.progress import Progress

# Defaults repeat those of the library, because importing it would make help slow; a test compares both.
JUDGE = "lexical"
CONCURRENCY = 8
CONTEXT_TOKENS = 24_000

BASE_URL = option("--base-url URL", "Ask the model's server at this address, such as http://127.0.0.1:8080/v1.")
TEXTS = option("--texts FILE", "Read the text of chunks (.jsonl with id and text) that weren't retrieved.")
DRY_RUN = option("--dry-run", "Print the calls, tokens and cost to expect; send nothing.")

#: How many failed verdicts are printed one by one.
_FAILURES = 5


@dataclass(frozen=True)
class ModelOptions:
    """The judge to ask, and its settings; see :class:`graphkit.plugins.judging.grading.judge_setup.JudgeOptions`."""

    judge: list[str] | None = option(
        "--judge -j NAME",
        f"Ask rules (lexical), a model's provider, or module:callable. [default: {JUDGE}, or as in --model]",
    )
    model: list[str] | None = option("--model PROVIDER:NAME", "Let this model judge, such as ollama:NAME.")
    base_url: str | None = BASE_URL
    effort: str | None = option("--effort low|medium|high", "Limit how much the model thinks.")
    concurrency: int = option("--concurrency", "Judge so many answers at the same time.", default=CONCURRENCY, min=1)
    cache: Path | None = CHANGED_REPLIES
    no_cache: bool = option("--no-cache", "Keep no replies, and read none, also of a judging that was killed.")
    replay: bool = option("--replay", "Serve recorded replies only; ask nobody.")
    batch: bool = option("--batch", "Ask in batches: within a day, at half the price.")
    max_cost: float | None = MAX_COST
    prices: Path | None = PRICES

    def for_library(self) -> JudgeOptions:
        """Return the options of the library, with the file of replies; raise an InputError for several judges."""
        judges = self.members()
        if len(judges) > 1:
            raise InputError("this asks one judge", remedy="Name one; `graphkit grade` takes several.")
        return judges[0]

    def members(self) -> list[JudgeOptions]:
        """Return the options of each judge.

        One judge and any number of models are models of this judge, if it asks models; else each name is a judge.
        """
        from graphkit.plugins.judging.judges.known_judges import backend_of

        judges, models = self.judge or [], self.model or []
        if len(judges) <= 1 and len(models) <= 1:
            return [self._one(next(iter(judges), None), next(iter(models), None))]
        if len(judges) == 1 and ":" not in judges[0] and backend_of(judges[0]) is not None:
            return [self._one(judges[0], model) for model in models]
        both = [*((name, None) for name in judges), *((None, name) for name in models)]
        return [self._one(judge, model, several=True) for judge, model in both]

    def _one(self, judge: str | None, model: str | None, several: bool = False) -> JudgeOptions:
        """Return the options of one judge; of several, those that ask no model have no options of models."""
        from graphkit.plugins.judging.grading.judge_setup import JudgeOptions
        from graphkit.plugins.judging.judges.known_judges import backend_of
        from graphkit.plugins.judging.llm.cache import cache_path

        if self.no_cache and self.cache is not None:
            raise InputError("--cache names a file of replies, and --no-cache keeps none")
        if several and model is None and backend_of(judge or JUDGE) is None:
            return JudgeOptions(judge or "", concurrency=self.concurrency, continues=not self.no_cache)
        chosen = JudgeOptions(
            judge or "",
            model,
            self.effort,
            self.concurrency,
            self.cache,
            self.replay,
            self.max_cost,
            self.prices,
            self.base_url,
            continues=not self.no_cache,
        )
        if self.no_cache or backend_of(chosen.judge) is None:
            return chosen
        return dataclasses.replace(chosen, cache=cache_path(settings().data, self.cache))


@dataclass(frozen=True)
class AskedOptions:
    """The prompts, and the material that the judge sees, as in ``graphkit.GradingOptions``."""

    grader: list[str] | None = option(
        "--grader -g NAME", "Ask by this grader; may be repeated. [default: claims, rubric, aggregation]"
    )
    rubric: list[Path] | None = option("--rubric DIR", "Ask by your own rubric: prompt.txt and schema.json in DIR.")
    examples: Path | None = option("--examples FILE", "Show a person's grades, as `judge calibrate` wrote them.")
    citations: str | None = option("--citations REGEX", "Recognise further citations, by the group `target`.")
    context_tokens: int = option(
        "--context-tokens", "Show the judge at most so many tokens of context.", default=CONTEXT_TOKENS, min=0
    )

    def for_library(self, **more: Any) -> GradingOptions:
        """Return the options of the library, with those that aren't about prompts."""
        from graphkit.plugins.judging.grading.grade_run import GradingOptions
        from graphkit.plugins.judging.grading.verdict_job import DEFAULT_GRADERS
        from graphkit.plugins.judging.judges.citations import citation_pattern
        from graphkit.plugins.judging.judges.examples import Examples

        return GradingOptions(
            examples=Examples.read(self.examples) if self.examples is not None else None,
            graders=self.grader or (() if self.rubric else DEFAULT_GRADERS),
            rubrics=self.rubric or (),
            context_tokens=self.context_tokens,
            citation_pattern=citation_pattern(self.citations) if self.citations is not None else None,
            **more,
        )


@dataclass(frozen=True)
class AboutOptions:
    """The run to grade, and the place of its grades."""

    run: Path = argument("RUN.jsonl", "Judge the answers of this run.")
    dataset: Path | None = DATASET
    answered_by: str | None = ANSWERED_BY
    run_name: str | None = RUN_NAME
    where: str | None = WHERE
    no_store: bool = NO_STORE


@command(graph=True)
def grade(
    about: AboutOptions,
    model: ModelOptions,
    asked: AskedOptions,
    reading: ReadingOptions,
    workers: ExecutorOptions,
    dry_run: bool = DRY_RUN,
    min_kappa: float | None = MIN_KAPPA,
) -> None:
    """Have a judge grade the answers of a run.

    Scores and verdicts are kept beside the run and in the graph. Several judges, by --judge or --model repeated, are a
    jury: the majority or the mean counts. `graphkit judge pairwise` compares the answers of two runs and more.
    """
    from graphkit.analysis import gate_outcomes
    from graphkit.plugins.judging.grading.grade_run import cost_of_run, estimate_grading
    from graphkit.plugins.judging.judge_cost import judge_cost, require_verdicts
    from graphkit.plugins.judging.judges.known_judges import backend_of
    from graphkit.plugins.judging.trust.kappa_gate import min_kappa as kappa_held
    from graphkit.plugins.judging.trust.spot_check_files import kept_checks

    run, judges = about.run, model.members()
    options = asked.for_library(
        answered_by=about.answered_by,
        batch=model.batch,
        keep=True,
        name=about.run_name,
        where=about.where,
        executor=workers.on,
        resources=workers.reserved(),
    )
    if dry_run:
        problems = reading.problems()
        asking = judges if len(judges) == 1 else [one for one in judges if backend_of(one.judge) is not None]
        _show_estimates([estimate_grading(run, about.dataset, one, options, problems=problems) for one in asking])
        return
    if len(judges) > 1:
        _grade_by_jury(about, judges, options, reading, min_kappa)
        return
    [judge] = judges
    graded = _graded(about, judge, options, reading)
    cost = judge_cost(graded.verdicts, cost_of_run(run))
    spent = {"cost": cost.as_json(), "saving": dataclasses.asdict(graded.saving)}
    present(lambda: _show(run, graded, cost), graded.as_json() | spent | {"warning": graded.warning})
    print_failures(graded.verdicts)
    if graded.warning:
        say(f"warning: {graded.warning}")
    if min_kappa is not None:
        gate_outcomes.hold(kappa_held([graded.run], graded.scores, kept_checks([run]), min_kappa))
    require_verdicts(graded.verdicts, judge.max_cost)


def _graded(about: AboutOptions, judge: JudgeOptions, options: GradingOptions, reading: ReadingOptions) -> Graded:
    """Grade the run, show the progress, and print the problems."""
    from graphkit.plugins.judging.grading.grade_run import grade

    problems = reading.problems()
    with (
        nullcontext() if about.no_store else open_graph() as store,
        judge_progress(f"grading {about.run.name}", judge) as progress,
    ):
        graded = grade(
            about.run,
            about.dataset,
            options,
            judge=judge,
            store=store,
            problems=problems,
            notify=say,
            progress=progress,
        )
    print_problems(problems)
    return graded


@contextmanager
def judge_progress(title: str, judge: JudgeOptions) -> Iterator[Progress]:
    """Show how far a judge is, which may take hours; Ctrl-C says where its replies are kept."""
    from graphkit.cli.progress import shown_progress

    with shown_progress(title) as progress:
        progress.repeats = True
        try:
            yield progress
        except KeyboardInterrupt:
            if judge.cache is not None:
                say(f"stopped: the replies so far are kept in {judge.cache}; the same command continues from there")
            raise


def _grade_by_jury(
    about: AboutOptions,
    judges: list[JudgeOptions],
    options: GradingOptions,
    reading: ReadingOptions,
    min_kappa: float | None,
) -> None:
    """Grade the run by a jury, show its scores and the agreement of its members, and hold the gate."""
    from graphkit.analysis import gate_outcomes
    from graphkit.plugins.judging.grading.grade_run import cost_of_run
    from graphkit.plugins.judging.grading.juries import grade_by_jury
    from graphkit.plugins.judging.judge_cost import judge_cost, require_verdicts
    from graphkit.plugins.judging.trust.kappa_gate import min_kappa as kappa_held
    from graphkit.plugins.judging.trust.spot_check_files import kept_checks

    problems = reading.problems()
    asked = next((one for one in judges if one.cache is not None), judges[0])
    with (
        nullcontext() if about.no_store else open_graph() as store,
        judge_progress(f"grading {about.run.name}", asked) as progress,
    ):
        options = dataclasses.replace(options, progress=progress)
        found = grade_by_jury(about.run, about.dataset, judges, options, store=store, problems=problems, notify=say)
    print_problems(problems)
    verdicts = [verdict for one in found.members.values() for verdict in one.verdicts]
    cost = judge_cost(verdicts, cost_of_run(about.run))
    present(lambda: _show_jury(about.run, found, cost), found.as_json() | {"cost": cost.as_json()})
    for name, graded in found.members.items():
        print_failures(graded.verdicts, name)
        if graded.warning:
            say(f"warning: {name}: {graded.warning}")
    if min_kappa is not None:
        run = next(iter(found.members.values())).run
        gate_outcomes.hold(kappa_held([run], found.scores, kept_checks([about.run]), min_kappa))
    for (name, graded), judge in zip(found.members.items(), judges, strict=True):
        require_verdicts(graded.verdicts, judge.max_cost, name)


def _show_jury(run: Path, found: JuryGraded, cost: JudgeCost) -> None:
    from graphkit.plugins.judging.grading.juries import file_of_jury
    from graphkit.scoring.measure_summaries import scored_in_words

    rows = [
        [name, shown(summary.mean), scored_in_words(summary, "worst"), str(found.agreement[name])]
        for name, summary in found.summaries().items()
    ]
    run_name = next(iter(found.members.values())).run
    columns = ("measure", "mean", "scored", "Krippendorff's alpha of the judges")
    print_table(f"{run_name}, judged by {found.name}", columns, rows)
    print_line(str(cost))
    print_line(f"kept in {file_of_jury(run, found.members)}, and each judge's beside it")


def _show_estimates(found: list[GradingEstimate]) -> None:
    """Print the sum of some estimates; a cost that one of them doesn't know is unknown."""
    if not found:
        raise InputError("--dry-run counts what a model is asked, and none of the judges asks one")
    first, costs, most = found[0], [one.cost for one in found], [one.most for one in found]
    whole = dataclasses.replace(
        first,
        calls=sum(one.calls for one in found),
        kept=sum(one.kept for one in found),
        prompt_tokens=sum(one.prompt_tokens for one in found),
        cost=None if None in costs else math.fsum(cost or 0.0 for cost in costs),
        most=None if None in most else math.fsum(cost or 0.0 for cost in most),
    )
    present(estimate_in_words(whole), dataclasses.asdict(whole))


def estimate_in_words(found: GradingEstimate) -> list[str]:
    """Return the lines that say what a judging takes."""
    from graphkit.plugins.judging.llm.prices import GIVE_A_PRICE

    kept = f" ({found.kept} more {'is' if found.kept == 1 else 'are'} answered by kept replies)" if found.kept else ""
    calls = f"{counted(found.calls, 'call')}{kept}, about {counted(found.prompt_tokens, 'token')} of prompts"
    cost = f"their cost is unknown. {GIVE_A_PRICE}"
    if found.cost is not None:
        price = f"about {found.cost:.4f} {found.currency}, and no more than {found.most or 0:.4f}"
        whose = "your prices" if found.as_of is None else f"prices of {found.as_of}"
        cost = f"{price} ({whose}; a verdict that can't be used is asked for once more)"
    return [calls, cost]


def _show(run: Path, graded: Graded, cost: JudgeCost) -> None:
    from graphkit.files.grades_beside import grades_folder
    from graphkit.scoring.measure_summaries import scored_in_words

    rows = [
        [name, shown(summary.mean), scored_in_words(summary, "worst")] for name, summary in graded.summaries().items()
    ]
    print_table(f"{graded.run}, judged by {graded.judge}", ("measure", "mean", "scored"), rows)
    print_line(str(cost))
    saving = graded.saving
    if saving.calls:
        tokens = f" and about {counted(saving.prompt_tokens, 'token')}" if saving.prompt_tokens else ""
        print_line(f"claims were judged once: {counted(saving.calls, 'call')}{tokens} fewer than one call per measure")
    print_line(f"kept in {grades_folder(run)}")


def print_failures(verdicts: Sequence[Verdict], member: str | None = None) -> None:
    """Print why some verdicts failed: the first of them, and the number of the others."""
    failed = [one for one in verdicts if one.failure is not None]
    none = "no verdict" if member is None else f"no verdict of {member}"
    for verdict in failed[:_FAILURES]:
        say(f"{none} on {verdict.question} by {verdict.grader}: {verdict.failure}: {verdict.reason}")
    if len(failed) > _FAILURES:
        say(f"{none}: ... and {counted(len(failed) - _FAILURES, 'more failure')}")
