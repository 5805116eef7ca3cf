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
    """Load scores, verdicts and executions by others, a judge or a person beside the answers of runs in the graph."""
    from graphkit.cli.progress import shown_progress
    from graphkit.files.execution_files import holds_executions, read_executions
    from graphkit.files.score_files import read_scores
    from graphkit.files.verdict_files import holds_verdicts, read_verdicts
    from graphkit.graph.execution_nodes import check_executions, load_executions
    from graphkit.graph.score_nodes import load_scores
    from graphkit.graph.verdict_nodes import check_verdicts, load_verdicts

    problems = reading.problems()
    judged = [file for file in files if holds_verdicts(file)]
    ran = [file for file in files if holds_executions(file)]
    scored = [file for file in files if file not in judged and file not in ran]
    scores = read_scores(scored, problems) if scored else []
    verdicts = read_verdicts(judged, problems) if judged else []
    executions = read_executions(ran, problems) if ran else []
    with open_graph() as store, shown_progress("loading scores"):
        # before a score is written, which may belong to the same outdated answers
        check_verdicts(store, verdicts)
        check_executions(store, executions)
        loaded = {"score": load_scores(store, scores)}
        if judged:
            loaded["verdict"] = load_verdicts(store, verdicts)
        if ran:
            loaded["execution"] = load_executions(store, executions)
    print_problems(problems)
    facts = {f"{what}s": counts for what, counts in loaded.items()} if len(loaded) > 1 else loaded["score"]
    lines = [f"{run}: {counted(n, what)} loaded" for what, counts in loaded.items() for run, n in counts.items()]
    present(lines, facts)
