"""``graphkit compare``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from graphkit.cli.base import as_json, command, open_graph, print_json, print_problems, say
from graphkit.cli.options import SEED, FailedAsOption, MeasureOption, OnError


@dataclass(frozen=True)
class ComparingOptions:
    """Options of the comparison."""

    measure: MeasureOption = None
    by: Annotated[
        Literal["category", "difficulty", "repo", "relation"] | None,
        typer.Option("--by", help="Also compare within each group."),
    ] = None
    resamples: Annotated[
        int, typer.Option("--resamples", min=100, help="Draw so many resamples for the interval and the test.")
    ] = 10_000
    seed: Annotated[int, typer.Option("--seed", help="Seed for the bootstrap and the permutation test.")] = SEED
    failed_as: FailedAsOption = "worst"
    engine: Annotated[
        Literal["cypher"] | None,
        typer.Option("--engine", help="Compute the measures now. [default: read the scores in the graph]"),
    ] = None


@dataclass(frozen=True)
class ComparisonGateOptions:
    """Gates for the second run; see :class:`graphkit.analysis.gates.ComparisonGates`."""

    regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Fail if B is significantly worse, or fails more often.")
    ] = False
    drop: Annotated[
        float | None,
        typer.Option(
            "--fail-on-drop", min=0, metavar="VALUE", help="Fail if B is worse by more than VALUE, or fails more often."
        ),
    ] = None
    max_failed: Annotated[
        int | None,
        typer.Option(
            "--max-failed",
            min=0,
            metavar="N",
            help="Fail if B failed on more than N questions. [default, at a gate: as many as A]",
        ),
    ] = None


@dataclass(frozen=True)
class ComparedReadingOptions:
    """Options for reading records and scores."""

    on_error: Annotated[
        OnError, typer.Option("--on-error", help="Refuse input with bad records, or skip and report these.")
    ] = "fail"
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse records with unknown fields, and scores by different gold.")
    ] = False


@command(graph=True)
def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="Compare with this run, such as the baseline.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Compare this run.")],
    how: ComparingOptions,
    gates: ComparisonGateOptions,
    reading: ComparedReadingOptions,
    scores: Annotated[
        list[Path] | None,
        typer.Option(
            "--scores", metavar="FILE", help="Compare the scores in files, without a database; may be repeated."
        ),
    ] = None,
) -> None:
    """Compare two runs question by question: intervals, tests, effect sizes, and what moved most."""
    from graphkit.analysis.comparison_plan import ComparisonPlan
    from graphkit.analysis.gates import ComparisonGates, hold
    from graphkit.cli.pair_tables import print_comparison
    from graphkit.files.problems import Problems

    problems = Problems(**vars(reading))
    plan = ComparisonPlan(
        first,
        second,
        measures=how.measure or (),
        by=how.by,
        engine=how.engine,
        resamples=how.resamples,
        seed=how.seed,
        failed_as=how.failed_as,
        gates=ComparisonGates(**vars(gates)),
    )
    if scores:
        compared = plan.of_files(scores, problems)
    else:
        with open_graph() as store:
            compared = plan.of_graph(store, problems)
    print_problems(problems)
    for message in plan.messages(compared):
        say(message)
    outcomes = plan.gates.outcomes(compared)
    if as_json():
        print_json(compared.as_json() | {"gates": [gate.as_json() for gate in outcomes]})
    else:
        print_comparison(compared)
    hold(outcomes)
