"""``graphkit ragas`` with its commands: ``export``, ``import``, ``scores`` and ``evaluate``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import (
    argument,
    command,
    group,
    option,
    present,
    print_problems,
    say,
    settings,
)
from graphkit.cli.options import DATASET, MAX_COST, ON_ERROR, PRICES, OnError, ReadingOptions
from graphkit.errors import InputError
from graphkit.plugins.judging.commands.grade import BASE_URL, TEXTS
from graphkit.records.words import counted, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphkit.files.problems import Problems
    from graphkit.plugins.ragas.ragas_samples import RunSamples
    from graphkit.records.scores import Score

#: The model that metrics ask by default.
MODEL = "claude-haiku-5-5"

ragas = group("Exchange data and scores with RAGAS; run metrics.")

RUN = argument("RUN.jsonl", "Read this run log.")
METRIC = option("--metric -m COLUMN", "Use only this metric; may be repeated.")
OUT = option("--out -o FILE", "Write the scores to FILE. [default: RUN.grades/ragas.scores.jsonl]", writes="scores")


@dataclass(frozen=True)
class RagasRowOptions:
    """A run as the rows of a RAGAS data set."""

    run: Path = RUN
    dataset: Path | None = DATASET
    texts: list[Path] | None = TEXTS

    def read(self, problems: Problems) -> RunSamples:
        """Return the rows."""
        from graphkit.files.dataset import Dataset
        from graphkit.plugins.judging.grading.surroundings import texts_in
        from graphkit.plugins.ragas.ragas_samples import samples_of_run

        dataset = Dataset.of_run(self.run, self.dataset)
        return samples_of_run(self.run, dataset, problems, texts_in(self.texts or [], problems))


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
    from graphkit.plugins.ragas.ragas_samples import check_samples_file, write_samples

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
    on_error: OnError = ON_ERROR,
) -> None:
    """Make a dataset with a run from a RAGAS data set, and scores from its results."""
    from graphkit.files.problems import Problems
    from graphkit.plugins.ragas.ragas_samples import imported, keep_scores, write_dataset

    problems = Problems(on_error)
    data = imported(file, problems, run, metric or [])
    written = write_dataset(out, data)
    if data.scores:
        written.append(keep_scores(data.scores, written[-1], source=file)[0])
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
    from graphkit.files.dataset import Dataset
    from graphkit.plugins.ragas.ragas_samples import scores_of_results

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
    model: str = option("--model PROVIDER:NAME", "Ask this model, if a metric asks one.", default=MODEL),
    base_url: str | None = BASE_URL,
    max_cost: float | None = MAX_COST,
    prices: Path | None = PRICES,
    concurrency: int = option("--concurrency", "Score so many answers by metrics at once.", default=4, min=1),
    out: Path | None = OUT,
) -> None:
    """Run metrics of RAGAS on a run (needs the extra ragas)."""
    from graphkit.plugins.judging.grading.judge_setup import ANTHROPIC, JudgeOptions
    from graphkit.plugins.judging.judges.known_judges import split_model
    from graphkit.plugins.judging.llm.cache import cache_path
    from graphkit.plugins.ragas.ragas_metrics import asks_a_model, scores_by_model
    from graphkit.shards import event_loop

    provider, name = split_model(model, None)
    asked = JudgeOptions(
        provider or ANTHROPIC,
        name,
        concurrency=concurrency,
        cache=cache_path(settings().data),
        max_cost=max_cost,
        prices=prices,
        base_url=base_url,
    )
    if base_url is not None and not asks_a_model(metric):
        raise InputError("--base-url: none of these metrics asks a model", remedy="Leave it out.")
    problems = reading.problems()
    samples = about.read(problems)
    _keep(event_loop.run(scores_by_model(samples, metric, asked, say)), out, about.run, problems)


def _keep(found: Sequence[Score], out: Path | None, run: Path, problems: Problems) -> None:
    """Keep scores in a file, and print their means."""
    from graphkit.files.assets import command_text, option_text
    from graphkit.plugins.ragas.ragas_samples import keep_scores

    file, means = keep_scores(found, run, out)
    print_problems(problems)
    lines = [f"{one.measure}  {shown(one.mean)}  ({one.scored}/{one.total})" for one in means]
    gated = command_text("evaluate", run, options=option_text("scores", file))
    lines.append(f"{file}: `{gated}` and `{command_text('load-scores', file)}` read it")
    facts = [{**asdict(one), "out": str(file)} for one in means]
    for one, fact in zip(means, facts, strict=True):
        if first := fact.pop("first_unscored"):
            unscored = counted(one.total - one.scored, "answer")
            say(f"note: {one.measure}: {unscored} without a score, the first: {first}")
    present(lines, *facts)
