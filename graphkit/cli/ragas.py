"""``graphkit ragas`` with its commands: ``export``, ``import``, ``scores`` and ``evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphkit.cli.base import (
    Commands,
    Writes,
    as_json,
    print_json,
    print_line,
    print_problems,
    say,
    settings,
    with_home,
    with_json,
)
from graphkit.cli.options import ON_ERROR, DatasetOption, OnErrorOption, StrictOption, on_error_value

if TYPE_CHECKING:
    from graphkit.files.dataset import Dataset
    from graphkit.files.problems import Problems
    from graphkit.llm.prices import PriceTable
    from graphkit.llm.requests import Model
    from graphkit.records.scores import Score

#: What a metric asks where nobody names another model.
MODEL = "claude-haiku-5-5"

ragas = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Exchange data sets and scores with RAGAS, and run its metrics.",
)

RunArgument = Annotated[Path, typer.Argument(metavar="RUN.jsonl", help="A run log.")]
TextsOption = Annotated[
    list[Path] | None,
    typer.Option("--texts", metavar="FILE", help="Chunks with id and text (.jsonl), for gold that wasn't retrieved."),
]
MetricOption = Annotated[
    list[str] | None, typer.Option("--metric", "-m", metavar="COLUMN", help="Only this metric; may be repeated.")
]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="The scores. [default: RUN.grades/ragas.scores.jsonl]"),
    Writes("scores"),
]


@ragas.command()
@with_json
def export(
    run: RunArgument,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="The data set: .jsonl or .csv."),
        Writes("a RAGAS data set"),
    ],
    dataset: DatasetOption = None,
    texts: TextsOption = None,
    on_error: OnErrorOption = ON_ERROR,
    strict: StrictOption = False,
) -> None:
    """Write a run with its questions as a RAGAS data set."""
    from graphkit.adapters.ragas import check_samples_file, samples_of_run, write_samples
    from graphkit.files.problems import Problems
    from graphkit.records.words import counted

    check_samples_file(out)
    problems = Problems(on_error_value(on_error), strict=strict)
    found = samples_of_run(run, _dataset(run, dataset), problems, _texts(texts or [], problems))
    write_samples(out, found.samples)
    print_problems(problems)
    if as_json():
        counts = {"rows": len(found.samples), "failed": len(found.failed), "missing": len(found.missing)}
        print_json({"run": found.run, **counts, "out": str(out)})
        return
    print_line(f"{found.run}: {counted(len(found.samples), 'row')} in {out}")
    if found.failed or found.missing:
        print_line(f"without a row: {len(found.failed)} failed, {len(found.missing)} missing")


@ragas.command("import")
@with_json
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A RAGAS data set: .jsonl or .csv.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The new dataset.")],
    run: Annotated[str | None, typer.Option("--run", metavar="NAME", help="The run that its answers become.")] = None,
    metric: MetricOption = None,
    on_error: OnErrorOption = ON_ERROR,
) -> None:
    """Make a dataset with a run of a RAGAS data set, and scores of its results."""
    from graphkit.adapters.ragas import imported, write_dataset
    from graphkit.files.outputs import check_output
    from graphkit.files.problems import Problems
    from graphkit.files.score_files import write_scores
    from graphkit.records.words import counted

    problems = Problems(on_error_value(on_error))
    data = imported(file, problems, run, metric or [])
    written = write_dataset(out, data)
    if data.scores:
        scores = _scores_file(written[-1])
        check_output(scores, "scores", [file])
        scores.parent.mkdir(exist_ok=True)
        write_scores(scores, data.scores)
        written.append(scores)
    print_problems(problems)
    if as_json():
        counts = {"questions": len(data.questions), "scores": len(data.scores)}
        print_json({"run": data.run, **counts, "files": [str(path) for path in written]})
        return
    print_line(f"{data.run}: {counted(len(data.questions), 'question')}, {counted(len(data.scores), 'score')}")
    for path in written:
        print_line(f"  {path}")


@ragas.command()
@with_json
def scores(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Results of RAGAS: .jsonl or .csv.")],
    run: Annotated[Path, typer.Option("--run", metavar="RUN.jsonl", help="The run log that was scored.")],
    dataset: DatasetOption = None,
    metric: MetricOption = None,
    version: Annotated[
        str | None, typer.Option("--grader-version", metavar="TEXT", help="Of RAGAS and of the model that it asked.")
    ] = None,
    out: OutOption = None,
    on_error: OnErrorOption = ON_ERROR,
    strict: StrictOption = False,
) -> None:
    """Take the values of RAGAS's results as scores of a run."""
    from graphkit.adapters.ragas import scores_of_results
    from graphkit.files.problems import Problems

    problems = Problems(on_error_value(on_error), strict=strict)
    found = scores_of_results(file, run, _dataset(run, dataset), problems, metric or [], version)
    _keep(found, out, run, problems)


@ragas.command()
@with_home
def evaluate(
    run: RunArgument,
    metric: Annotated[
        list[str], typer.Option("--metric", "-m", metavar="NAME", help="Such as ExactMatch; may be repeated.")
    ],
    dataset: DatasetOption = None,
    texts: TextsOption = None,
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="What a metric asks that asks one.")] = MODEL,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", min=0, metavar="USD", help="Ask no more before this would be passed.")
    ] = None,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Answers and metrics at once.")] = 4,
    out: OutOption = None,
    on_error: OnErrorOption = ON_ERROR,
    strict: StrictOption = False,
) -> None:
    """Run metrics of RAGAS on a run (needs the extra ragas)."""
    from graphkit.adapters.ragas import samples_of_run
    from graphkit.adapters.ragas_metrics import asks_a_model, metrics_of, scores_of
    from graphkit.files.problems import Problems
    from graphkit.llm import event_loop
    from graphkit.llm.prices import PriceTable
    from graphkit.llm.requests import Reply

    prices = PriceTable.read()

    def cost(reply: Reply) -> float | None:
        return 0.0 if reply.cached else prices.cost(reply.model, reply.usage)

    asked = _model(model, max_cost, prices, concurrency) if asks_a_model(metric) else None
    metrics = metrics_of(metric, asked, model)
    problems = Problems(on_error_value(on_error), strict=strict)
    samples = samples_of_run(run, _dataset(run, dataset), problems, _texts(texts or [], problems))
    _keep(event_loop.run(scores_of(samples, metrics, concurrency, cost)), out, run, problems)


def _model(name: str, max_cost: float | None, prices: PriceTable, concurrency: int) -> Model:
    """Return the model, behind the cache and the budget."""
    from graphkit.llm.anthropic_model import AnthropicModel
    from graphkit.llm.budget import Budget, BudgetedModel
    from graphkit.llm.cache import CachedModel, ReplyCache, cache_path

    model: Model = AnthropicModel(concurrency=concurrency, user="this metric of RAGAS")
    if max_cost is not None:
        model = BudgetedModel(model, Budget(max_cost, prices, [name]))
    return CachedModel(model, ReplyCache(cache_path(settings().data)))


def _dataset(run: Path, folder: Path | None) -> Dataset:
    from graphkit.files.dataset import Dataset

    return Dataset.of_run(run, folder)


def _texts(files: list[Path], problems: Problems) -> dict[str, str]:
    from graphkit.files.reading import read_records
    from graphkit.records.models import Chunk

    chunks = [chunk for file in files for _, chunk in read_records(file, Chunk, problems)]
    return {chunk.id: chunk.text for chunk in chunks if chunk.text is not None}


def _scores_file(run: Path) -> Path:
    from graphkit.files.jsonl import stem_of

    return run.parent / f"{stem_of(run)}.grades" / "ragas.scores.jsonl"


def _keep(found: list[Score], out: Path | None, run: Path, problems: Problems) -> None:
    """Write scores beside those of other metrics that the file holds, and show their means."""
    from graphkit.files.outputs import check_output
    from graphkit.files.problems import Problems
    from graphkit.files.score_files import read_scores, write_scores
    from graphkit.records.words import counted, shown

    file = out or _scores_file(run)
    if out is None:
        check_output(file, "scores", [run])
        file.parent.mkdir(exist_ok=True)
    names = list(dict.fromkeys(score.measure for score in found))
    others = [score for score in read_scores([file], Problems()) if score.measure not in names] if file.exists() else []
    write_scores(file, [*others, *found])
    print_problems(problems)
    for name in names:
        values = [score.number for score in found if score.measure == name]
        known = [value for value in values if value is not None]
        mean = sum(known) / len(known) if known else None
        if as_json():
            print_json({"measure": name, "mean": mean, "scored": len(known), "total": len(values), "out": str(file)})
        else:
            print_line(f"{name}  {shown(mean)}  ({len(known)}/{len(values)})")
        if len(known) < len(values):
            first = next(score for score in found if score.measure == name and score.value is None)
            unscored = counted(len(values) - len(known), "answer")
            say(f"note: {name}: {unscored} without a score, the first: {first.question}: {first.reason}")
    if not as_json():
        print_line(f"{file}: `graphkit evaluate {run} --scores {file}` and `graphkit load-scores {file}` take it")
