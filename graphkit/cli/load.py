"""``graphkit load`` and ``graphkit git``."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from graphkit.cli.base import as_json, open_graph, print_json, print_line, say, tell
from graphkit.cli.options import on_error_value
from graphkit.cli.progress import shown_progress
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Report
from graphkit.files.scores import read_scores
from graphkit.graph.datasets import LoadSummary, load_dataset
from graphkit.graph.scores import load_scores
from graphkit.records.words import counted


def load_command(folder: Path, on_error: str) -> None:
    """Load a dataset and tell what was written."""
    dataset, report = Dataset(folder), Report(on_error_value(on_error))
    with open_graph() as store, shown_progress("load") as progress:
        summary = load_dataset(store, dataset, report, progress)
    tell(report)
    show_load(summary)


def show_load(summary: LoadSummary) -> None:
    """Tell what a load wrote, what was there already, and which artifacts were made from gold paths alone."""
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
        say(f"note: {len(summary.created_artifacts)} artifact(s) made from the ids that edges name: {shown}{more}")


def load_scores_command(files: list[Path], on_error: str) -> None:
    """Put scores that others gave into the graph, and tell how many of which run."""
    report = Report(on_error_value(on_error))
    scores = read_scores(files, report)
    with open_graph() as store:
        stored = load_scores(store, scores)
    tell(report)
    if as_json():
        print_json(stored)
        return
    for run, count in stored.items():
        print_line(f"{run}: {counted(count, 'score')} loaded")


def git_command(repositories: list[Path], name: str | None) -> None:
    """Read the history of repositories into the graph."""
    from graphkit.errors import InputError
    from graphkit.graph.history import load_history, open_repository

    if name is not None and len(repositories) > 1:
        raise InputError("--name names one repository, but several are given", remedy="Run the command once for each.")
    for path in repositories:
        open_repository(path).close()  # a mistake is told before anything is written
    loaded = []
    with open_graph() as store, shown_progress("git") as progress:
        for path in repositories:
            loaded.append(load_history(store, path, name, progress))
    for one in loaded:
        if as_json():
            print_json(dataclasses.asdict(one))
        else:
            print_line(f"{one.repository}: {one.written} commits loaded, {one.unchanged} there already")
