"""``graphkit load``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphkit.cli.base import as_json, open_graph, print_json, print_line, print_problems, say, with_graph
from graphkit.cli.options import ON_ERROR, DatasetArgument, OnErrorOption, StrictOption, on_error_value

if TYPE_CHECKING:
    from graphkit.graph.datasets import LoadSummary


@with_graph
def load(dataset: DatasetArgument, on_error: OnErrorOption = ON_ERROR, strict: StrictOption = False) -> None:
    """Load a dataset: questions with gold paths, commits, compatibility, knowledge graphs."""
    from graphkit.cli.progress import shown_progress
    from graphkit.files.dataset import Dataset
    from graphkit.files.problems import Problems
    from graphkit.graph.datasets import load_dataset

    source, problems = Dataset(dataset), Problems(on_error_value(on_error), strict=strict)
    with open_graph() as store, shown_progress("load") as progress:
        summary = load_dataset(store, source, problems, progress)
    print_problems(problems)
    _show(summary)


def _show(summary: LoadSummary) -> None:
    from graphkit.records.words import counted

    """Show what a load wrote, what was there already, and which artifacts were made from gold paths alone."""
    import dataclasses

    if as_json():
        print_json(dataclasses.asdict(summary))
        return
    for kind in summary.written:
        written, unchanged = summary.written[kind], summary.unchanged[kind]
        there = f", {unchanged} there already" if unchanged else ""
        print_line(f"{summary.dataset}: {written} {kind} loaded{there}")
    if summary.created_artifacts:
        shown = ", ".join(summary.created_artifacts[:5])
        more = ", ..." if len(summary.created_artifacts) > 5 else ""
        say(
            f"note: {counted(len(summary.created_artifacts), 'artifact')} made from the ids that edges name: "
            f"{shown}{more}"
        )
