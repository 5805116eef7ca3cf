"""``graphkit compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphkit.cli.base import as_json, open_graph, print_json, print_problems, say, with_graph
from graphkit.cli.options import (
    FAILED_AS,
    ON_ERROR,
    SEED,
    FailedAsOption,
    MeasureOption,
    OnErrorOption,
    by_value,
    failed_as_value,
    on_error_value,
)
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.database.store import Store
    from graphkit.files.problems import Problems


@with_graph
def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="The run to compare with, such as the baseline.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The run that is compared.")],
    measure: MeasureOption = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="category|difficulty|repo|relation", help="Also compare within each group."),
    ] = None,
    resamples: Annotated[int, typer.Option("--resamples", min=100, help="Of the interval and the test.")] = 10_000,
    seed: Annotated[int, typer.Option("--seed", help="Of the resampling.")] = SEED,
    scores: Annotated[
        list[Path] | None,
        typer.Option(
            "--scores", metavar="FILE", help="Compare the scores in files, without a database; may be repeated."
        ),
    ] = None,
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit with 1 if B is significantly worse, or fails more often.")
    ] = False,
    fail_on_drop: Annotated[
        float | None,
        typer.Option(
            "--fail-on-drop", min=0, metavar="VALUE", help="Exit with 1 if B is worse by more, or fails more often."
        ),
    ] = None,
    max_failed: Annotated[
        int | None,
        typer.Option(
            "--max-failed",
            min=0,
            metavar="N",
            help="Exit with 1 if B failed on more questions. [default, at a gate: as many as A]",
        ),
    ] = None,
    failed_as: FailedAsOption = FAILED_AS,
    engine: Annotated[
        str | None,
        typer.Option("--engine", metavar="cypher", help="Compute the measures now. [default: read the scores kept]"),
    ] = None,
    on_error: OnErrorOption = ON_ERROR,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse fields that graphkit doesn't know, and scores by different gold.")
    ] = False,
) -> None:
    """Compare two runs question by question: intervals, tests, effect sizes, and what moved most."""
    from graphkit.analysis.compare_runs import compare_runs
    from graphkit.analysis.gates import ComparisonGates, hold
    from graphkit.analysis.score_file_pairs import compare_scores
    from graphkit.cli.pair_tables import print_comparison
    from graphkit.files.problems import Problems
    from graphkit.records.words import counted

    measures = measure or []
    grouping, problems = by_value(by), Problems(on_error_value(on_error), strict=strict)
    failures = failed_as_value(failed_as)
    if scores:
        compared = compare_scores(
            scores,
            first,
            second,
            measures=measures,
            by=grouping,
            resamples=resamples,
            seed=seed,
            problems=problems,
            failed_as=failures,
        )
    else:
        with open_graph() as store:
            compared = compare_runs(
                store,
                _run(store, first, measures, problems),
                _run(store, second, measures, problems),
                measures=measures,
                by=grouping,
                engine=_computing(engine),
                resamples=resamples,
                seed=seed,
                strict=strict,
                failed_as=failures,
            )
    print_problems(problems)
    for warning in compared.warnings:
        say(f"warning: {warning}")
    for counts, where in ((compared.left_out_unfailed(), "one run only"), (compared.unscored, "neither run")):
        for count in dict.fromkeys(counts.values()):
            names = ", ".join(name for name, number in counts.items() if number == count)
            was, them = ("was", "is") if count == 1 else ("were", "are")
            say(f"note: {names}: {counted(count, 'question')} {was} scored in {where}, and {them} not compared")
    gates = ComparisonGates(fail_on_regression, fail_on_drop, max_failed)
    held = gates.outcomes(compared)
    for note in gates.notes(compared):
        say(f"note: {note}")
    if as_json():
        print_json(compared.as_json() | {"gates": [gate.as_json() for gate in held]})
    else:
        print_comparison(compared)
    hold(held)


def _computing(engine: str | None) -> Literal["cypher"] | None:
    if engine not in (None, "cypher"):
        raise InputError(f"--engine is cypher, or the scores are read that the graph holds; not {engine!r}")
    return "cypher" if engine else None


def _run(store: Store, name: str, measures: list[str], problems: Problems) -> str:
    """Return the name of a run; one that is given as a file is scored and kept first."""
    from graphkit.analysis.shared_values import COMPARED, COMPARED_RANKING
    from graphkit.files.jsonl import is_file_name
    from graphkit.files.problems import Problems
    from graphkit.scoring.evaluate import evaluate

    if not is_file_name(name):
        return name
    of_run = Problems(problems.on_error, strict=problems.strict)
    kept = evaluate(Path(name), store=store, measures=measures or (*COMPARED, *COMPARED_RANKING), problems=of_run)
    problems.merge(of_run)
    return kept.run
