"""``graphkit evaluate``."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphkit.cli.base import Writes, as_json, command, open_graph, print_json, print_problems, say
from graphkit.cli.options import (
    AnsweredByOption,
    ConfigOption,
    DatasetOption,
    FailedAsOption,
    LogOptions,
    MeasureOption,
    NoStoreOption,
    ReadingOptions,
    RunGateOptions,
    RunNameOption,
    ScoresOption,
    UndirectedOption,
    UnorderedOption,
    one_run,
)
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.analysis.evaluation_plan import EvaluatedRuns, EvaluationPlan
    from graphkit.scoring.results import Evaluation


@dataclass(frozen=True)
class InputOptions:
    """The runs to evaluate, and their dataset."""

    runs: Annotated[list[Path], typer.Argument(metavar="RUN.jsonl...", help="Evaluate these run logs.")]
    dataset: DatasetOption = None
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="Read logs of another tool; `graphkit import` lists formats."),
    ] = None
    scores: ScoresOption = None
    answered_by: AnsweredByOption = None


@dataclass(frozen=True)
class ScoringOptions:
    """The measures to compute, and their options."""

    measure: MeasureOption = None
    k: Annotated[int | None, typer.Option("--k", min=1, help="Cut off measures that name no cut-off at K.")] = None
    engine: Annotated[
        Literal["python", "cypher"], typer.Option("--engine", help="Engine that computes the measures.")
    ] = "python"
    config: ConfigOption = None
    by: Annotated[
        Literal["category", "difficulty", "group"] | None,
        typer.Option("--by", help="Also print the means within each category, difficulty or group."),
    ] = None
    undirected: UndirectedOption = False
    unordered: UnorderedOption = False
    failed_as: FailedAsOption = "worst"


@dataclass(frozen=True)
class StoringOptions:
    """Where results go."""

    no_store: NoStoreOption = False
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write results as .jsonl, .json, .csv, .parquet, .xml (JUnit) or .md."
        ),
        Writes("results"),
    ] = None
    run_name: RunNameOption = None
    replace: Annotated[bool, typer.Option("--replace", help="Replace a run of this name from another file.")] = False


@command(graph=True)
def evaluate(
    given: InputOptions,
    scoring: ScoringOptions,
    gates: RunGateOptions,
    storing: StoringOptions,
    logs: LogOptions,
    reading: ReadingOptions,
) -> None:
    """Score run logs against their dataset, and keep the scores in the graph."""
    from graphkit.analysis.gates import hold
    from graphkit.cli.imports import as_runs, dataset_of
    from graphkit.cli.progress import shown_progress
    from graphkit.files.jsonl import read_once
    from graphkit.graph.writing import quiet
    from graphkit.scoring.export import check_output, write_results
    from graphkit.trust.families import own_kind

    out = storing.out or []
    for path in out:
        check_output(path)
    if storing.no_store and scoring.engine == "cypher":
        raise InputError("--engine cypher computes in a database, and --no-store uses none")
    one_run(storing.run_name, given.runs, "Evaluate")
    plan = _plan(given, scoring, gates, storing, reading)

    def warn(run: Path, result: Evaluation) -> tuple[str, ...]:
        return own_kind(run, result.given, given.answered_by, given.scores or [])

    dataset = given.dataset if given.format is not None else dataset_of(given.runs, given.dataset, logs)
    with (
        read_once(),
        as_runs(given.runs, given.format, dataset, logs) as sources,
        nullcontext() if storing.no_store else open_graph() as store,
        nullcontext(quiet) if store is None else shown_progress("evaluate") as progress,
    ):
        evaluated = plan.evaluate(
            sources, dataset, store=store, progress=progress, notify=say, on_problems=print_problems, warn=warn
        )
    for message in evaluated.messages(imported=given.format is not None or bool(logs.given())):
        say(message)
    for path in out:
        write_results(path, evaluated.results, evaluated.gates)
    _print(evaluated)
    hold(evaluated.gates)


def _plan(
    given: InputOptions,
    scoring: ScoringOptions,
    gates: RunGateOptions,
    storing: StoringOptions,
    reading: ReadingOptions,
) -> EvaluationPlan:
    from graphkit.analysis.config import load_config
    from graphkit.analysis.evaluation_plan import EvaluationPlan, PlannedGates
    from graphkit.files.score_files import read_scores
    from graphkit.scoring.options import EvaluationOptions

    options = EvaluationOptions(
        measures=scoring.measure or (),
        k=scoring.k,
        engine=scoring.engine,
        on_error=reading.on_error,
        strict=reading.strict,
        keep_rows=bool(storing.out),
        unordered=scoring.unordered,
        name=storing.run_name,
        replace=storing.replace,
        failed_as=scoring.failed_as,
        hash_gold=as_json(),
    )
    return EvaluationPlan(
        options,
        config=load_config(scoring.config),
        gates=PlannedGates(**vars(gates)),
        scores=reading.read(read_scores, given.scores or []),
        undirected=scoring.undirected,
        by=scoring.by,
    )


def _print(evaluated: EvaluatedRuns) -> None:
    from graphkit.cli.scorecards import print_outcomes, print_scorecard
    from graphkit.cli.tables import print_groups, print_scoreboard

    if as_json():
        for one in evaluated.as_json():
            print_json(one)
        return
    print_scoreboard(evaluated.results)
    if evaluated.plan.by:
        print_groups(evaluated.results, evaluated.plan.by)
    for card, result in zip(evaluated.cards, evaluated.results, strict=False):
        print_scorecard(card)
        print_outcomes(result)
