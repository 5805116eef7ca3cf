"""The commands and their options."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from graphkit.cli.base import Group, with_graph, with_json

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Evaluate GraphRAG traversals over many repositories in a graph.\n\n"
    "Exit codes: 0 done, 1 a gate failed, 2 usage or bad input, 3 database.",
)
db = typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode=None, help="Keep the embedded database running.")
app.add_typer(db, name="db")

OnErrorOption = Annotated[
    str, typer.Option("--on-error", metavar="fail|skip", help="Refuse bad records, or leave them out and report them.")
]
DatasetOption = Annotated[
    Path | None,
    typer.Option("--dataset", "-d", metavar="DIR", help="The run's dataset. [default: the folder above its runs/]"),
]


def _version(value: bool) -> None:
    if value:
        from graphkit import __version__

        typer.echo(f"graphkit {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    """Evaluate GraphRAG traversals over many repositories in a graph."""


@app.command()
@with_graph
def demo() -> None:
    """Load the storefront fixture, evaluate two runs, and explain their worst failures."""
    from graphkit.cli.demo import run_demo

    run_demo()


@app.command()
@with_graph
def load(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="The folder that holds questions.jsonl.")],
    on_error: OnErrorOption = "fail",
) -> None:
    """Load a dataset: questions with gold paths, commits, compatibility, knowledge graphs."""
    from graphkit.cli.load import load_command

    load_command(dataset, on_error)


@app.command()
@with_graph
def git(
    repositories: Annotated[list[Path], typer.Argument(metavar="REPO_PATH...", help="Local git repositories.")],
    name: Annotated[
        str | None,
        typer.Option("--name", help="The repository's name in the graph. [default: its folder's]"),
    ] = None,
) -> None:
    """Read git history into commit nodes: commits, parents, branches, tags and times."""
    from graphkit.cli.load import git_command

    git_command(repositories, name)


@app.command()
@with_graph
def evaluate(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN.jsonl...", help="Run logs.")],
    dataset: DatasetOption = None,
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", metavar="NAME", help="Such as nDCG@10; may be repeated."),
    ] = None,
    k: Annotated[int | None, typer.Option("--k", min=1, help="Cut-off of measures that name none.")] = None,
    engine: Annotated[str, typer.Option("--engine", metavar="python|cypher", help="What computes.")] = "python",
    no_store: Annotated[bool, typer.Option("--no-store", help="Score without a database.")] = False,
    fail_under: Annotated[
        list[str] | None,
        typer.Option("--fail-under", metavar="MEASURE=VALUE", help="Exit with 1 where a mean is lower."),
    ] = None,
    fail_over: Annotated[
        list[str] | None,
        typer.Option("--fail-over", metavar="MEASURE=VALUE", help="Exit with 1 where a mean is higher."),
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write results as .jsonl, .json, .csv, .parquet, .xml (JUnit) or .md."
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Weights, targets and severe thresholds of the layers (TOML)."),
    ] = None,
    fail_on_severe: Annotated[
        bool, typer.Option("--fail-on-severe", help="Exit with 1 where a layer's component is severely low.")
    ] = False,
    fail_on_stale: Annotated[
        bool, typer.Option("--fail-on-stale", help="Exit with 1 where the gold of a question is stale.")
    ] = False,
    min_scored: Annotated[
        float | None,
        typer.Option(
            "--min-scored",
            metavar="SHARE",
            help="Exit with 1 where a measure was scored on a smaller share of all questions (0 to 1): "
            "each that --measure or a gate names, else every one.",
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="WHAT", help="Also the means by category, difficulty or group.")
    ] = None,
    on_error: OnErrorOption = "fail",
) -> None:
    """Score run logs against their dataset, and keep them in the graph."""
    from graphkit.cli.evaluate import evaluate_command

    evaluate_command(
        runs,
        dataset=dataset,
        measures=measure or [],
        k=k,
        engine=engine,
        no_store=no_store,
        fail_under=fail_under or [],
        fail_over=fail_over or [],
        out=out or [],
        config=config,
        fail_on_severe=fail_on_severe,
        fail_on_stale=fail_on_stale,
        min_scored=min_scored,
        by=by,
        on_error=on_error,
    )


@app.command()
@with_json
def run(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="The folder that holds questions.jsonl.")],
    system: Annotated[
        list[str] | None,
        typer.Option("--system", metavar="[NAME=]MODULE:CALLABLE", help="What to run; may be repeated."),
    ] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(
            "--condition",
            metavar="training|NAME=MODULE:CALLABLE",
            help="A system, or the baseline without retrieval: a model alone. May be repeated.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where NAME.jsonl goes. [default: DATASET/runs]")
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, metavar="N", help="N questions, stratified by difficulty.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the sample.")] = 20_251,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Questions at once.")] = 4,
    timeout: Annotated[float, typer.Option("--timeout", min=0.001, help="Seconds for each try of a question.")] = 120.0,
    retries: Annotated[int, typer.Option("--retries", min=0, help="More tries after an error or time-out.")] = 0,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask again what failed in an earlier command.")
    ] = False,
    k: Annotated[int, typer.Option("--k", min=1, help="How many chunks a system is told will be looked at.")] = 5,
    model: Annotated[str, typer.Option("--model", help="Of the condition training.")] = "claude-haiku-5-5",
    prompt: Annotated[
        Path | None,
        typer.Option("--prompt", metavar="FILE", help="Of the condition training, with {question} in it."),
    ] = None,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Of an answer of the model.")] = 1024,
    price_in: Annotated[
        float | None, typer.Option("--price-in", metavar="PRICE", help="Of a million prompt tokens.")
    ] = None,
    price_out: Annotated[
        float | None, typer.Option("--price-out", metavar="PRICE", help="Of a million output tokens.")
    ] = None,
    on_error: OnErrorOption = "fail",
) -> None:
    """Ask systems the questions of a dataset and keep their answers as runs. Run it again to go on after a stop.

    Exit codes: 0 also where questions failed (they are kept and counted), 2 where all of a run did, 130 after Ctrl-C.
    """
    from graphkit.cli.run import run_command
    from graphkit.systems.runner import Limits

    run_command(
        dataset,
        systems=system or [],
        conditions=condition or [],
        out=out,
        sample=sample,
        seed=seed,
        limits=Limits(concurrency, timeout, retries),
        retry_failed=retry_failed,
        k=k,
        model=model,
        prompt=prompt,
        max_tokens=max_tokens,
        prices=(price_in, price_out),
        on_error=on_error,
    )


@app.command()
@with_json
def check(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="The folder that holds questions.jsonl.")],
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", metavar="RUN.jsonl", help="A run without retrieval: what it already answers."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 also for a warning.")] = False,
) -> None:
    """Check a set of questions: fields, difficulty, duplicates, stale gold, room to improve.

    Exit codes: 0 where each question is valid, 1 where one is not, 2 where there is no dataset.
    """
    from graphkit.cli.check import check_command

    check_command(dataset, baseline, strict)


@app.command()
@with_graph
def failures(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The name of a run in the graph.")],
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="One kind, such as wrong-turns. [default: all]"),
    ] = None,
    question: Annotated[
        str | None,
        typer.Option("--question", "-q", metavar="ID", help="One question. [default: all]"),
    ] = None,
    other: Annotated[
        str | None,
        typer.Option("--other", metavar="RUN", help="The run to compare with, for found-and-lost."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="Rows of each kind. [default: 20, of all kinds 5]"),
    ] = None,
) -> None:
    """Explain what a run did wrong: missed edges, wrong turns, wrong repositories, incoherent commits."""
    from graphkit.cli.failures import failures_command

    failures_command(run, kind=kind, question=question, other=other, limit=limit)


@app.command()
@with_graph
def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="The run to compare with, such as the baseline.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The run that is compared.")],
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", metavar="NAME", help="Such as nDCG@10; may be repeated."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="category|difficulty|repo|relation", help="Also compare within each group."),
    ] = None,
    resamples: Annotated[int, typer.Option("--resamples", min=100, help="Of the interval and the test.")] = 10_000,
    seed: Annotated[int, typer.Option("--seed", help="Of the resampling.")] = 20_251,
    grades: Annotated[
        list[Path] | None,
        typer.Option("--grades", metavar="FILE", help="Compare the grades of a graded file; may be repeated."),
    ] = None,
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit with 1 where B is significantly worse.")
    ] = False,
    on_error: OnErrorOption = "fail",
) -> None:
    """Compare two runs question by question: intervals, tests, effect sizes, and what moved most."""
    from graphkit.cli.compare import compare_command

    compare_command(
        first,
        second,
        measures=measure or [],
        by=by,
        resamples=resamples,
        seed=seed,
        grades=grades or [],
        fail_on_regression=fail_on_regression,
        on_error=on_error,
    )


@app.command()
@with_graph
def report(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Run logs of one dataset, or names of runs in the graph.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE.html", help="Where the page is written.")],
    dataset: DatasetOption = None,
    title: Annotated[str | None, typer.Option("--title", help="The heading. [default: the dataset's name]")] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Weights, targets and severe thresholds of the layers (TOML)."),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", metavar="NAME", help="Also show this one; may be repeated."),
    ] = None,
    on_error: OnErrorOption = "fail",
) -> None:
    """Write one self-contained page: scores, and each gold path with the walk drawn over it."""
    from graphkit.cli.report import report_command

    report_command(
        runs, dataset=dataset, out=out, title=title, config=config, measures=measure or [], on_error=on_error
    )


@app.command()
@with_graph
def query(
    source: Annotated[
        str | None,
        typer.Argument(metavar="NAME|FILE.cypher", help="A named query, or a file."),
    ] = None,
    expression: Annotated[
        str | None,
        typer.Option("-e", metavar="CYPHER", help="Cypher text."),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("-p", metavar="NAME=VALUE", help="A parameter: JSON, else text. May be repeated."),
    ] = None,
) -> None:
    """Ask the graph in Cypher. Read-only: the server refuses writes."""
    from graphkit.cli.query import query_command

    query_command(source, expression, parameter or [])


@app.command()
@with_json
def summarize(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Graded results in JSON Lines.")],
    on_error: OnErrorOption = "fail",
) -> None:
    """Summarise graded results, whoever graded them, by run, measure and group."""
    from graphkit.cli.summarize import summarize_command

    summarize_command(files, on_error)


@app.command()
@with_json
def queries() -> None:
    """List the named queries with their parameters."""
    from graphkit.cli.query import queries_command

    queries_command()


@app.command()
@with_json
def measures() -> None:
    """List the measures with their definition and source."""
    from graphkit.cli.listing import measures_command

    measures_command()


@app.command()
@with_json
def schema(
    record: Annotated[
        str | None,
        typer.Argument(metavar="RECORD", help="Such as question or answer. [default: all]"),
    ] = None,
) -> None:
    """Print the JSON Schema of the records."""
    from graphkit.cli.listing import schema_command

    schema_command(record)


@db.command("start")
@with_graph
def db_start() -> None:
    """Start the embedded database and keep it running, so that each command answers at once."""
    from graphkit.cli.db import start_command

    start_command()


@db.command("stop")
@with_graph
def db_stop() -> None:
    """Stop the embedded database."""
    from graphkit.cli.db import stop_command

    stop_command()


@db.command("status")
@with_graph
def db_status() -> None:
    """Tell which database is used, whether it runs, and what it holds."""
    from graphkit.cli.db import status_command

    status_command()


@db.command("path")
@with_graph
def db_path() -> None:
    """Print the folder of the embedded database."""
    from graphkit.cli.db import path_command

    path_command()


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # What the terminal's character set lacks is shown as \\u2013.
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except Exception:
        # A bug of ours: its traceback is for the report, its exit code no other's (1 would be a failed gate).
        import traceback

        traceback.print_exc()
        sys.exit(70)
