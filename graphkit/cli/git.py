"""``graphkit git``."""

from __future__ import annotations

from pathlib import Path

from graphkit.cli.base import argument, command, open_graph, option, present, say
from graphkit.errors import InputError
from graphkit.records.words import counted


@command(graph=True)
def git(
    repositories: list[Path] = argument("REPO_PATH...", "Read these local git repositories."),
    name: str | None = option("--name", "Name the repository so. [default: as its folder]"),
    out: Path | None = option("--out -o FILE", "Write commits.jsonl, and use no database.", writes="commits"),
) -> None:
    """Read git history into commits.

    Commits, parents, branches, tags and times become nodes, or go into a file.
    """
    import dataclasses

    from graphkit.cli.progress import shown_progress
    from graphkit.files.git import open_repository
    from graphkit.graph.history import load_history, write_histories

    if name is not None and len(repositories) > 1:
        raise InputError("--name names one repository, but several are given", remedy="Run the command once for each.")
    for path in repositories:
        open_repository(path).close()  # a mistake is reported before anything is written

    if out is None:
        with open_graph() as store, shown_progress("reading git history") as progress:
            histories = [load_history(store, path, name, progress) for path in repositories]
    else:
        with shown_progress("reading git history"):
            histories = write_histories(out, repositories, name)
    for path, history in zip(repositories, histories, strict=True):
        if history.shallow:
            say(f"note: {path} is a shallow clone, so its history is cut; `git fetch --unshallow` brings the rest")
        done = f"loaded, {history.unchanged} there already" if out is None else f"written to {out}"
        present(f"{history.repository}: {counted(history.written, 'commit')} {done}", dataclasses.asdict(history))
