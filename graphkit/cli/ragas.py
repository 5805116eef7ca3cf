"""``graphkit ragas`` with its commands: ``export``, ``import``, ``scores`` and ``evaluate``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import (
    argument,
    as_json,
    command,
    group,
    option,
    present,
    print_json,
    print_line,
    print_problems,
    say,
    settings,
)
from graphkit.cli.options import DATASET, OnError, ReadingOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphkit.adapters.ragas import RunSamples
    from graphkit.files.problems import Problems
    from graphkit.llm.prices import PriceTable
    from graphkit.llm.requests import Model
    from graphkit.records.scores import Score

#: The model that metrics ask by default.
MODEL = "claude-haiku-5-5"

ragas = group("Exchange data sets and scores with RAGAS, and run its metrics.")

RUN = argument("RUN.jsonl", "Read this run log.")
METRIC = option("--metric -m COLUMN", "Use only this metric; may be repeated.")
OUT = option("--out -o FILE", "Write the scores to FILE. [default: RUN.grades/ragas.scores.jsonl]", writes="scores")


@dataclass(frozen=True)
class RagasRowOptions:
    """A run as the rows of a RAGAS data set."""

    run: Path = RUN
    dataset: Path | None = DATASET
    texts: list[Path] | None = option(
        "--texts FILE", "Read the text of chunks (.jsonl with id and text) that weren't retrieved."
    )

    def read(self, problems: Problems) -> RunSamples:
        """Return the rows."""
        from graphkit.adapters.ragas import samples_of_run
        from graphkit.files.dataset import Dataset
        from graphkit.files.reading import read_records
        from graphkit.records.models import Chunk

        dataset = Dataset.of_run(self.run, self.dataset)
        chunks = [chunk for file in self.texts or [] for _, chunk in read_records(file, Chunk, problems)]
        texts = {chunk.id: chunk.text for chunk in chunks if chunk.text is not None}
        return samples_of_run(self.run, dataset, problems, texts)


@ragas.command()
@command()
def export(
    *,
    about: RagasRowOptions,
    out: Path = option(
        "--out -o FILE", "Write the data set to FILE (.jsonl or .csv).", required=True, writes="a RAGAS data set"
    ),
    reading: ReadingOptions,
) -> None:
    """Write a run with its questions as a RAGAS data set."""
    from graphkit.adapters.ragas import check_samples_file, write_samples
    from graphkit.records.words import counted

    check_samples_file(out)
    problems = reading.problems()
    found = about.read(problems)
    write_samples(out, found.samples)
    print_problems(problems)
    lines = [f"{found.run}: {counted(len(found.samples), 'row')} in {out}"]
    if found.failed or found.missing:
        lines.append(f"without a row: {len(found.failed)} failed, {len(found.missing)} missing")
    counts = {"rows": len(found.samples), "failed": len(found.failed), "missing": len(found.missing)}
    present(lines, {"run": found.run, **counts, "out": str(out)})


@ragas.command("import")
@command()
def import_(
    file: Path = argument("FILE", "Read this RAGAS data set (.jsonl or .csv)."),
    out: Path = option("--out -o DIR", "Write the new dataset to DIR.", required=True),
    run: str | None = option("--run NAME", "Name the run that the answers become."),
    metric: list[str] | None = METRIC,
    on_error: OnError = option(
        "--on-error", "Refuse input with bad records, or skip and report these.", default="fail"
    ),
) -> None:
    """Make a dataset with a run from a RAGAS data set, and scores from its results."""
    from graphkit.adapters.ragas import imported, write_dataset
    from graphkit.files.outputs import check_output
    from graphkit.files.problems import Problems
    from graphkit.files.score_files import write_scores
    from graphkit.records.words import counted

    problems = Problems(on_error)
    data = imported(file, problems, run, metric or [])
    written = write_dataset(out, data)
    if data.scores:
        scores = _scores_file(written[-1])
        check_output(scores, "scores", [file])
        scores.parent.mkdir(exist_ok=True)
        write_scores(scores, data.scores)
        written.append(scores)
    print_problems(problems)
    counts = {"questions": len(data.questions), "scores": len(data.scores)}
    head = f"{data.run}: {counted(len(data.questions), 'question')}, {counted(len(data.scores), 'score')}"
    lines = [head, *(f"  {path}" for path in written)]
    present(lines, {"run": data.run, **counts, "files": list(map(str, written))})


@ragas.command()
@command()
def scores(
    *,
    file: Path = argument("FILE", "Read these results of RAGAS (.jsonl or .csv)."),
    run: Path = option("--run RUN.jsonl", "Give the scores to this run log.", required=True),
    reading: ReadingOptions,
    dataset: Path | None = DATASET,
    metric: list[str] | None = METRIC,
    version: str | None = option("--grader-version TEXT", "Note the version of RAGAS and of the model it asked."),
    out: Path | None = OUT,
) -> None:
    """Read the results of RAGAS as scores of a run."""
    from graphkit.adapters.ragas import scores_of_results
    from graphkit.files.dataset import Dataset

    problems = reading.problems()
    found = scores_of_results(file, run, Dataset.of_run(run, dataset), problems, metric or [], version)
    _keep(found, out, run, problems)


@ragas.command()
@command(home=True)
def evaluate(
    *,
    about: RagasRowOptions,
    metric: list[str] = option("--metric -m NAME", "Run this metric, such as ExactMatch; repeatable.", required=True),
    reading: ReadingOptions,
    model: str = option("--model NAME", "Ask this model, if a metric asks one.", default=MODEL),
    max_cost: float | None = option("--max-cost USD", "Stop before more than USD is spent.", min=0),
    concurrency: int = option("--concurrency", "Score so many answers by metrics at once.", default=4, min=1),
    out: Path | None = OUT,
) -> None:
    """Run metrics of RAGAS on a run (needs the extra ragas)."""
    from graphkit.adapters.ragas_metrics import asks_a_model, metrics_of, scores_of
    from graphkit.llm import event_loop
    from graphkit.llm.prices import PriceTable
    from graphkit.llm.requests import Reply

    prices = PriceTable.read()

    def cost(reply: Reply) -> float | None:
        return 0.0 if reply.cached else prices.cost(reply.model, reply.usage)

    asked = _model(model, max_cost, prices, concurrency) if asks_a_model(metric) else None
    metrics = metrics_of(metric, asked, model)
    problems = reading.problems()
    samples = about.read(problems)
    _keep(event_loop.run(scores_of(samples, metrics, concurrency, cost)), out, about.run, problems)


def _model(name: str, max_cost: float | None, prices: PriceTable, concurrency: int) -> Model:
    """Return the model, behind the cache and the budget."""
    from graphkit.llm.anthropic_model import AnthropicModel
    from graphkit.llm.budget import Budget, BudgetedModel
    from graphkit.llm.cache import CachedModel, ReplyCache, cache_path

    model: Model = AnthropicModel(concurrency=concurrency, user="this metric of RAGAS")
    if max_cost is not None:
        model = BudgetedModel(model, Budget(max_cost, prices, [name]))
    return CachedModel(model, ReplyCache(cache_path(settings().data)))


def _scores_file(run: Path) -> Path:
    from graphkit.files.verdict_files import grades_folder

    return grades_folder(run) / "ragas.scores.jsonl"


def _keep(found: Sequence[Score], out: Path | None, run: Path, problems: Problems) -> None:
    """Write scores beside those of other metrics in the file, and print their means."""
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
        print_line(f"{file}: `graphkit evaluate {run} --scores {file}` and `graphkit load-scores {file}` read it")
