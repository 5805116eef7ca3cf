"""``graphkit load``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import command, open_graph, option, present, print_line, print_problems, say, settings
from graphkit.cli.options import DATASET_FOLDER, ReadingOptions
from graphkit.errors import InputError
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.files.dataset import Dataset
    from graphkit.graph.bulk import BulkLoad
    from graphkit.graph.datasets import LoadSummary


@dataclass(frozen=True)
class BulkOptions:
    """Options for filling a new database."""

    bulk: bool = option("--bulk", "Fill a new embedded database by its batch importer, which is faster than Bolt.")
    runs: list[Path] | None = option("--runs RUN.jsonl", "With --bulk, load this run, too; may be repeated.")


@command(graph=True)
def load(*, dataset: Path = DATASET_FOLDER, filling: BulkOptions, reading: ReadingOptions) -> None:
    """Load a dataset: questions with gold paths, commits, compatibility, knowledge graphs."""
    import dataclasses

    from graphkit.cli.progress import shown_progress
    from graphkit.files.dataset import Dataset
    from graphkit.graph.datasets import load_dataset

    source = Dataset(dataset)
    if filling.bulk:
        _fill(source, filling.runs or [], reading)
        return
    if filling.runs:
        remedy = "Add --bulk to fill a new database; `graphkit evaluate RUN.jsonl` loads and scores a run."
        raise InputError("--runs needs --bulk", remedy=remedy)
    problems = reading.problems()
    with open_graph() as store, shown_progress(f"loading {source.name}") as progress:
        summary = load_dataset(store, source, problems, progress)
    print_problems(problems)
    present(lambda: _show(summary), dataclasses.asdict(summary))


def _fill(source: Dataset, runs: list[Path], reading: ReadingOptions) -> None:
    """Fill a new embedded database with a dataset and runs."""
    import dataclasses

    from graphkit.cli.progress import shown_progress
    from graphkit.graph.bulk import bulk_load, embedded_importer

    chosen, problems = settings(), reading.problems()
    if chosen.uri is not None:
        remedy = "Unset NEO4J_URI to fill the embedded database, or load without --bulk."
        raise InputError("--bulk fills the embedded database only", remedy=remedy)
    with shown_progress(f"filling the database in {chosen.data}") as progress:
        loaded = bulk_load(embedded_importer(chosen.data), source, runs, problems, progress)
    print_problems(problems)
    present(lambda: _show_filled(loaded), dataclasses.asdict(loaded))


def _show_filled(loaded: BulkLoad) -> None:
    _show(loaded.dataset)
    for run in loaded.runs:
        print_line(f"{run.run}: {counted(run.written, 'answer')} loaded")


def _show(summary: LoadSummary) -> None:
    """Print what a load wrote, what was there already, and which artifacts only edges name."""
    for kind in summary.written:
        written, unchanged = summary.written[kind], summary.unchanged[kind]
        there = f", {unchanged} there already" if unchanged else ""
        print_line(f"{summary.dataset}: {written} {kind} loaded{there}")
    if summary.retried_writes:
        from graphkit.graph.writing import retried_writes

        say(f"note: {retried_writes(summary.retried_writes)}")
    if summary.created_artifacts:
        shown = ", ".join(summary.created_artifacts[:5])
        more = ", ..." if len(summary.created_artifacts) > 5 else ""
        say(
            f"note: {counted(len(summary.created_artifacts), 'artifact')} made from the ids that edges name: "
            f"{shown}{more}"
        )
