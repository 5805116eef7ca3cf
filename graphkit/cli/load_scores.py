"""``graphkit load-scores``."""

from __future__ import annotations

from pathlib import Path

from graphkit.cli.base import argument, command, open_graph, present, print_problems
from graphkit.cli.options import ReadingOptions
from graphkit.records.words import counted


@command(graph=True)
def load_scores(
    *,
    files: list[Path] = argument(
        "FILE...",
        "Load scores (.jsonl, .csv, .parquet), verdicts (.verdicts.jsonl) and executions (.executions.jsonl).",
    ),
    reading: ReadingOptions,
) -> None:
    """Load scores and verdicts of others into the graph.

    Scores, verdicts and executions by others, a judge or a person are kept beside the answers of runs.
    """
    from graphkit.cli.progress import shown_progress
    from graphkit.graph.loaded_grades import Grades

    problems = reading.problems()
    grades = Grades.read(files, problems)
    with open_graph() as store, shown_progress("loading scores"):
        loaded = grades.load(store)
    print_problems(problems)
    facts = {f"{what}s": counts for what, counts in loaded.items()} if len(loaded) > 1 else loaded["score"]
    lines = [f"{run}: {counted(n, what)} loaded" for what, counts in loaded.items() for run, n in counts.items()]
    present(lines, facts)
