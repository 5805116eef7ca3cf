"""``graphkit compare``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from graphkit.cli.base import (
    Declared,
    added,
    argument,
    as_json,
    command,
    open_graph,
    option,
    present,
    print_drawn,
    print_line,
    print_problems,
    say,
)
from graphkit.cli.briefs import FULL, lines_of_error, print_brief, say_briefly
from graphkit.cli.options import (
    ALLOW_STALE,
    BY,
    DATASET,
    FAILED_AS,
    MEASURE,
    SEED,
    UNTYPED,
    WHERE,
    ExecutorOptions,
    FailedAs,
    ReadingOptions,
)
from graphkit.errors import InputError
from graphkit.records.option_values import By, Drop
from graphkit.records.option_values import drop as read_drop

if TYPE_CHECKING:
    from graphkit.analysis.findings import Brief
    from graphkit.analysis.gate_outcomes import GateOutcome
    from graphkit.files.problems import Problems
    from graphkit.plugins.compare.comparison_plan import ComparisonPlan
    from graphkit.plugins.compare.run_comparisons import RunComparison
    from graphkit.plugins.compare.several_runs import SeveralPlan, SeveralRuns


@dataclass(frozen=True)
class ComparingOptions:
    """Options of the comparison."""

    measure: list[str] | None = MEASURE
    primary: str | None = option("--first MEASURE", "Test this measure alone: the others are shown, and don't decide.")
    by: By | None = BY
    where: str | None = WHERE
    cluster: Literal["repo", "repo-set", "session", "category", "group"] | None = option(
        "--cluster", "Take questions of one repository, set of repositories, session, category or group as dependent."
    )
    plan: float | None = option(
        "--plan DIFFERENCE", "Also say how many questions a difference of so much needs, with 80% power at 5%.", min=0
    )
    cost: bool = option(
        "--cost",
        "Also compare tokens, latency and cost a question, and say whether the dearer run pays.",
    )
    against: str | None = option("--against RUN", "Compare each other run with this one alone, as the baseline.")
    out: list[Path] | None = option(
        "--out -o FILE",
        "Write the means of all runs for a paper (.tex, .csv, .md); may be repeated.",
        writes="results",
    )
    resamples: int = option(
        "--resamples", "Draw so many resamples for the interval and the test.", default=10_000, min=100
    )
    seed: int = option("--seed", "Seed for the bootstrap and the permutation test.", default=SEED)
    failed_as: FailedAs = FAILED_AS
    config: Path | None = option("--config FILE", "Read from FILE by which measure the verdict is (TOML).")
    untyped: bool = UNTYPED
    engine: Literal["cypher"] | None = option(
        "--engine", "Compute the measures now. [default: read the scores in the graph]"
    )
    scores: list[Path] | None = option(
        "--scores FILE", "Compare the scores in files, without a database; may be repeated."
    )


@dataclass(frozen=True)
class ComparisonGateOptions:
    """Gates for the second run; see :class:`graphkit.plugins.compare.comparison_gates.ComparisonGates`."""

    regression: bool = option("--fail-on-regression", "Fail if B is significantly worse by any measure.")
    drop: list[Drop] = option(
        "--fail-on-drop [MEASURE=]VALUE",
        "Fail if the mean of B is worse by more than VALUE, by this measure or by any; may be repeated.",
        default=[],
        parser=read_drop("--fail-on-drop"),
    )
    rule_out: list[Drop] = option(
        "--rule-out-drop [MEASURE=]VALUE",
        "Fail unless the 95% interval excludes that B is worse by more than VALUE; may be repeated.",
        default=[],
        parser=read_drop("--rule-out-drop"),
    )
    max_failed: int | None = option(
        "--max-failed N",
        "Fail if B failed on more than N questions. [default: a failed question counts as the worst value]",
        min=0,
    )
    gold_changed: bool = option(
        "--gold-changed", "The gold of B differs from that of A on purpose: score both by that of B."
    )
    partial_baseline: bool = option(
        "--partial-baseline", "Accept that A has values for fewer than four fifths of what it was asked."
    )
    allow_lost: list[str] | None = option(
        "--allow-lost MEASURE", "Accept that A was scored by MEASURE and B never; may be repeated."
    )
    allow_stale: int = ALLOW_STALE


@dataclass(frozen=True)
class ComparedReadingOptions(ReadingOptions):
    """Options for reading records and scores."""

    strict: bool = option("--strict", "Refuse records with unknown fields, and scores by different gold.")


class ComparisonAddition(Protocol):
    """Options that a plug-in adds to comparisons (entry points of ``graphkit.options.compare``)."""

    def check(self, full: bool) -> None:
        """Raise InputError for options that exclude each other or the ``full`` tables."""
        ...

    def baseline(self, first: str, dataset: Path | None) -> tuple[str, Path | None]:
        """Return the first run and its dataset: those of a kept baseline if the first run names one, else as given."""
        ...

    def write(self, plan: ComparisonPlan, compared: RunComparison, outcomes: list[GateOutcome]) -> list[str]:
        """Write what is asked for, and return the lines that are printed in place of the tables, if any."""
        ...


@command(graph=True)
def compare(
    *,
    first: str = argument("A", "Compare with this run, such as the baseline."),
    second: str = argument("B", "Compare this run."),
    others: list[str] = argument(
        "C", "Compare these runs, too: each pair, or each run with that of --against.", default=[]
    ),
    dataset: Path | None = DATASET,
    baseline_dataset: Path | None = option(
        "--baseline-dataset DIR", "What A was asked, and by which gold. [default: as B]"
    ),
    how: ComparingOptions,
    gates: ComparisonGateOptions,
    reading: ComparedReadingOptions,
    workers: ExecutorOptions,
    additions: dict[str, ComparisonAddition] = added("graphkit.options.compare"),
    full: bool = FULL,
) -> None:
    """Compare runs question by question.

    It prints intervals, tests, effect sizes, and what moved most. Of more than two runs it prints their means, and
    p-values are corrected over the pairs.
    """
    from graphkit.cli.progress import shown_progress
    from graphkit.plugins.compare.paper_tables import check_tables
    from graphkit.plugins.compare.several_runs import SeveralPlan, runs_to_compare

    if how.scores and dataset is not None:
        raise InputError("--scores compares scores, which need no dataset", remedy="Leave out --dataset.")
    check_tables(how.out or [])
    first, second, *more_runs = runs_to_compare(first, second, others, how.against)
    title = f"comparing {', '.join(Path(one).name for one in (first, second, *more_runs))}"
    for one in additions.values():
        one.check(full)
        first, baseline_dataset = one.baseline(first, baseline_dataset)
    with shown_progress(title):  # the imports take a moment
        plan = planned(first, second, (dataset, baseline_dataset), how, gates, workers)
        several = None
        if more_runs:
            _refuse_given(additions)
            several = SeveralPlan(plan, (first, second, *more_runs), how.against is not None)
    if several is not None:
        _compare_several(several, reading.problems(), how.out or [], title, full)
    else:
        _compare_two(plan, reading.problems(), how.out or [], additions, title, full)


def _compare_two(
    plan: ComparisonPlan,
    problems: Problems,
    out: list[Path],
    additions: dict[str, ComparisonAddition],
    title: str,
    full: bool,
) -> None:
    from graphkit.analysis.gate_outcomes import hold
    from graphkit.cli.progress import shown_progress
    from graphkit.files.assets import option_text
    from graphkit.plugins.compare.comparison_findings import comparison_brief
    from graphkit.plugins.compare.paper_tables import write_tables
    from graphkit.plugins.compare.run_means import RunMeans
    from graphkit.plugins.compare.run_pairs import draws_of

    more = "" if plan.dataset is None else option_text("dataset", plan.dataset)
    with shown_progress(title) as progress, open_graph() if plan.of_graph_runs else nullcontext() as store:
        compared = plan.compared(problems, store, progress)
        outcomes = plan.stated(plan.gates.outcomes(compared))
        if out:
            means = RunMeans.of({(0, 1): compared}, draws_of(plan.pairing), plan.chosen)
            write_tables(out, means, [compared.verdict])
        lines = [line for one in additions.values() for line in one.write(plan, compared, outcomes)]
        whole = bool(lines) or full or as_json()
        brief = None if whole else comparison_brief(compared, outcomes, plan.second, more, _explains(compared))
    print_problems(problems)
    taken = _print_messages(plan, compared, whole)
    shown = partial(print_drawn, lines) if lines else partial(_print_whole, compared, outcomes)
    if brief is not None:
        shown = partial(_print_brief, brief, outcomes, taken)
    present(shown, compared.as_json() | plan.part_as_json() | {"gates": [gate.as_json() for gate in outcomes]})
    hold(outcomes, brief=not full)


def _refuse_given(additions: dict[str, ComparisonAddition]) -> None:
    """Refuse options of plug-ins, which compare two runs."""
    for family in additions.values():
        for one in fields(family):  # type: ignore[arg-type]
            if getattr(family, one.name) and isinstance(one.default, Declared):
                given = max(filter(None, (one.default.info.default, *(one.default.info.param_decls or ()))), key=len)
                raise InputError(f"{given} is for a comparison of two runs", remedy="Leave it out, or name two runs.")


def _compare_several(plan: SeveralPlan, problems: Problems, out: list[Path], title: str, full: bool) -> None:
    from graphkit.analysis.gate_outcomes import hold
    from graphkit.cli.progress import shown_progress
    from graphkit.plugins.compare.paper_tables import write_tables

    with shown_progress(title) as progress, open_graph() if plan.of_graph_runs else nullcontext() as store:
        compared = plan.compared(problems, store, progress)
        write_tables(out, compared.means, [one.verdict for one in compared.pairs])
    print_problems(problems)
    whole = full or as_json()
    shown = partial(_print_several, compared)
    if whole:
        for message in compared.messages(brief=False):
            say(message)
    else:
        taken = say_briefly(compared.messages(brief=True))
        shown = partial(_print_brief, compared.brief(), compared.outcomes, taken)
    present(shown, compared.as_json())
    hold(compared.outcomes, brief=not full)


def planned(
    first: str,
    second: str,
    datasets: tuple[Path | None, Path | None],
    how: ComparingOptions,
    gates: ComparisonGateOptions,
    workers: ExecutorOptions,
) -> ComparisonPlan:
    """Return the comparison that the options ask for."""
    from graphkit.analysis.config import load_config
    from graphkit.plugins.compare.comparison_gates import ComparisonGates
    from graphkit.plugins.compare.comparison_plan import ComparisonPlan
    from graphkit.plugins.compare.run_pairs import PairingOptions

    return ComparisonPlan(
        first,
        second,
        *datasets,
        gates.gold_changed,
        measures=how.measure or (),
        pairing=PairingOptions(
            by=how.by,
            cluster=how.cluster,
            resamples=how.resamples,
            seed=how.seed,
            failed_as=how.failed_as,
            primary=how.primary,
            config=load_config(how.config),
            executor=workers.on,
            resources=workers.reserved(),
        ),
        difference=how.plan,
        cost=how.cost,
        engine=how.engine,
        untyped=how.untyped,
        gates=ComparisonGates(**vars(gates) | {"allow_lost": gates.allow_lost or ()}),
        scores=how.scores or (),
        where=how.where,
    )


def _explains(compared: RunComparison) -> Callable[[str], bool]:
    """Return a function that tells whether ``graphkit why`` finds something wrong in a question of the second run.

    The run is read when it is first called. Without records, each question is taken to be explained.
    """
    explain = compared.explainer
    return lambda question: explain is None or explain(question).wrong


def _print_several(compared: SeveralRuns) -> None:
    from graphkit.cli.tables import print_gates
    from graphkit.plugins.compare.pair_tables import print_comparison, print_means

    print_means(compared.means)
    for one in compared.pairs:
        print_line()
        print_comparison(one)
    print_gates(compared.outcomes)
    print_line(f"{compared.verdict}.")


def _print_whole(compared: RunComparison, outcomes: list[GateOutcome]) -> None:
    from graphkit.cli.tables import print_gates
    from graphkit.plugins.compare.pair_tables import print_comparison

    print_comparison(compared)
    print_gates(outcomes)


def _print_brief(brief: Brief, outcomes: list[GateOutcome], taken: int) -> None:
    from graphkit.analysis.gate_outcomes import gate_error

    print_brief(brief, taken + lines_of_error(gate_error(outcomes, brief=True)))


def _print_messages(plan: ComparisonPlan, compared: RunComparison, whole: bool) -> int:
    """Print the warnings and notes on standard error, and return how many lines count towards the brief."""
    if not whole:
        return say_briefly(plan.brief_messages(compared))
    for message in plan.messages(compared):
        say(message)
    return 0
