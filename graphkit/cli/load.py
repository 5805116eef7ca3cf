"""``graphkit load``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from graphkit.cli.base import added, command, open_graph, present, print_line, print_problems, say
from graphkit.cli.options import DATASET_FOLDER, ReadingOptions
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.files.dataset import Dataset
    from graphkit.graph.datasets import LoadSummary


class Filling(Protocol):
    """A way to fill a new database, with its options, by a plug-in (entry points of ``graphkit.options.load``)."""

    def asked(self) -> bool:
        """Return whether it is asked for; raise InputError if options that need it are given without it."""
        ...

    def fill(self, source: Dataset, reading: ReadingOptions) -> None:
        """Fill a new database with a dataset, and print what was loaded."""
        ...


@command(graph=True)
def load(
    *,
    dataset: Path = DATASET_FOLDER,
    fillings: dict[str, Filling] = added("graphkit.options.load"),
    reading: ReadingOptions,
) -> None:
    """Load a dataset into the graph.

    It holds questions with gold paths, commits, compatibility and knowledge graphs.
    """
    import dataclasses

    from graphkit.cli.progress import shown_progress
    from graphkit.files.dataset import Dataset
    from graphkit.graph.datasets import load_dataset

    source = Dataset(dataset)
    for filling in fillings.values():
        if filling.asked():
            filling.fill(source, reading)
            return
    problems = reading.problems()
    with open_graph() as store, shown_progress(f"loading {source.name}") as progress:
        summary = load_dataset(store, source, problems, progress)
    print_problems(problems)
    present(lambda: print_loaded(summary), dataclasses.asdict(summary))


def print_loaded(summary: LoadSummary) -> None:
    """Print what a load wrote, what was there already, and which artifacts only edges name."""
    for kind in summary.written:
        written, unchanged = summary.written[kind], summary.unchanged[kind]
        there = f", {unchanged} there already" if unchanged else ""
        done = "" if kind.endswith(" removed") else " loaded"
        print_line(f"{summary.dataset}: {written} {kind}{done}{there}")
    for note in summary.notes:
        say(f"note: {note}")
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
