"""``graphkit git``."""

from __future__ import annotations

from pathlib import Path

from graphkit.cli.base import argument, command, open_graph, option, present
from graphkit.errors import InputError


@command(graph=True)
def git(
    repositories: list[Path] = argument("REPO_PATH...", "Read these local git repositories."),
    name: str | None = option("--name", "Name the repository so in the graph. [default: as its folder]"),
) -> None:
    """Read git history into commit nodes: commits, parents, branches, tags and times."""
    import dataclasses

    from graphkit.cli.progress import shown_progress
    from graphkit.files.git import open_repository
    from graphkit.graph.history import load_history

    if name is not None and len(repositories) > 1:
        raise InputError("--name names one repository, but several are given", remedy="Run the command once for each.")
    for path in repositories:
        open_repository(path).close()  # a mistake is reported before anything is written
    with open_graph() as store, shown_progress("reading git history") as progress:
        histories = [load_history(store, path, name, progress) for path in repositories]
    for history in histories:
        text = f"{history.repository}: {history.written} commits loaded, {history.unchanged} there already"
        present(text, dataclasses.asdict(history))
