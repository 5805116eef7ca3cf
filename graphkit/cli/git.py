"""``graphkit git``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphkit.cli.base import as_json, command, open_graph, print_json, print_line
from graphkit.errors import InputError


@command(graph=True)
def git(
    repositories: Annotated[
        list[Path], typer.Argument(metavar="REPO_PATH...", help="Read these local git repositories.")
    ],
    name: Annotated[
        str | None,
        typer.Option("--name", help="Name the repository so in the graph. [default: as its folder]"),
    ] = None,
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
    with open_graph() as store, shown_progress("git") as progress:
        histories = [load_history(store, path, name, progress) for path in repositories]
    for history in histories:
        if as_json():
            print_json(dataclasses.asdict(history))
        else:
            print_line(f"{history.repository}: {history.written} commits loaded, {history.unchanged} there already")
