"""``graphkit load``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import command, open_graph, present, print_line, print_problems, say
from graphkit.cli.options import DATASET_FOLDER, ReadingOptions
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.graph.datasets import LoadSummary


@command(graph=True)
def load(*, dataset: Path = DATASET_FOLDER, reading: ReadingOptions) -> None:
    """Load a dataset: questions with gold paths, commits, compatibility, knowledge graphs."""
    import dataclasses

    from graphkit.cli.progress import shown_progress
    from graphkit.files.dataset import Dataset
    from graphkit.graph.datasets import load_dataset

    source, problems = Dataset(dataset), reading.problems()
    with open_graph() as store, shown_progress(f"loading {source.name}") as progress:
        summary = load_dataset(store, source, problems, progress)
    print_problems(problems)
    present(lambda: _show(summary), dataclasses.asdict(summary))


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
