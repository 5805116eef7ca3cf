"""``graphkit why``."""

from __future__ import annotations

from pathlib import Path

from graphkit.cli.base import argument, command, open_graph, present, print_problems, say
from graphkit.cli.options import DATASET, UNDIRECTED, ReadingOptions


@command(graph=True)
def why(
    run: str = argument("RUN", "Explain this run: its name in the graph, or its file."),
    question: str = argument("QUESTION", "Explain what it did wrong with the question of this id."),
    dataset: Path | None = DATASET,
    undirected: bool = UNDIRECTED,
    *,
    reading: ReadingOptions,
) -> None:
    """Explain one failure in at most 2 KB.

    It says where and why the traversal left the gold path, and what follows from that.
    """
    from graphkit.analysis.explanations import why
    from graphkit.files.run_files import is_run_file
    from graphkit.graph.beside import unread_beside

    problems = reading.problems()
    if is_run_file(run):
        found = why(run, question, dataset=dataset, problems=problems, undirected=undirected)
        print_problems(problems)
        for message in unread_beside([Path(run)]):
            say(f"note: {message}")
    else:
        with open_graph(read_only=True) as store:
            found = why(run, question, store=store, dataset=dataset, undirected=undirected)
    present(found.lines(), found.as_json())
