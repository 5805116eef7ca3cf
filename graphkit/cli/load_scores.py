"""``graphkit load-scores``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphkit.cli.base import as_json, open_graph, print_json, print_line, tell, with_graph
from graphkit.cli.options import ON_ERROR, OnErrorOption, on_error_value


@with_graph
def load_scores(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Scores that others gave (.jsonl, .csv, .parquet).")
    ],
    on_error: OnErrorOption = ON_ERROR,
) -> None:
    """Put scores of another tool, a judge or a person beside the answers of runs in the graph."""
    from graphkit.files.problems import Problems
    from graphkit.files.score_files import read_scores
    from graphkit.graph.gradings import load_scores
    from graphkit.records.words import counted

    problems = Problems(on_error_value(on_error))
    scores = read_scores(files, problems)
    with open_graph() as store:
        stored = load_scores(store, scores)
    tell(problems)
    if as_json():
        print_json(stored)
        return
    for run, count in stored.items():
        print_line(f"{run}: {counted(count, 'score')} loaded")
