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
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Scores that others gave (.jsonl, .csv, .parquet), and verdicts (.verdicts.jsonl)."
        ),
    ],
    on_error: OnErrorOption = ON_ERROR,
) -> None:
    """Put scores and verdicts of another tool, a judge or a person beside the answers of runs in the graph."""
    from graphkit.files.problems import Problems
    from graphkit.files.score_files import read_scores
    from graphkit.files.verdict_files import holds_verdicts, read_verdicts
    from graphkit.graph.gradings import load_scores
    from graphkit.graph.judgements import check_verdicts, load_verdicts
    from graphkit.records.words import counted

    problems = Problems(on_error_value(on_error))
    judged = [file for file in files if holds_verdicts(file)]
    scored = [file for file in files if not holds_verdicts(file)]
    scores = read_scores(scored, problems) if scored else []
    verdicts = read_verdicts(judged, problems) if judged else []
    with open_graph() as store:
        check_verdicts(store, verdicts)  # before a score is written, which may be of the same former answers
        stored = load_scores(store, scores)
        kept = load_verdicts(store, verdicts)
    tell(problems)
    if as_json():
        print_json(stored if not judged else {"scores": stored, "verdicts": kept})
        return
    for what, counts in (("score", stored), ("verdict", kept)):
        for run, count in counts.items():
            print_line(f"{run}: {counted(count, what)} loaded")
