"""``graphkit db`` with its commands, such as ``status``, ``sizes``, ``rename`` and ``remove``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from graphkit.cli.base import ExtendedCommands, argument, command, group, open_graph, present, say, settings
from graphkit.cli.tables import cell
from graphkit.records.words import counted

db = group("Keep the database running; look into it.", ExtendedCommands)


@db.command()
@command(graph=True)
def status() -> None:
    """Show which database is used, whether it runs, and what it contains."""
    import dataclasses

    from graphkit.database.access import embedded_database
    from graphkit.database.store import Store
    from graphkit.graph.content import graph_content

    chosen = settings()
    facts: dict[str, Any] = {}
    running = True
    if chosen.uri is None:
        facts = embedded_database().status(chosen.data)
        running = facts["running"]
    if running:
        with Store.open(chosen) as store:
            facts |= dataclasses.asdict(graph_content(store))
    lines = [f"{name}: {_text(value) or 'none'}" for name, value in facts.items() if value != []]
    present(lines, facts)


@db.command()
@command(graph=True)
def sizes() -> None:
    """Show the nodes and relationships of each dataset and each run, and in the embedded database about their bytes."""
    import dataclasses

    from graphkit.cli.progress import shown_progress
    from graphkit.cli.tables import print_table
    from graphkit.graph.sizes import graph_sizes

    with open_graph(read_only=True) as store, shown_progress("counting"):
        found = graph_sizes(store)
    rows = [dataclasses.asdict(one) for one in found]
    columns = ["kind", "name", "nodes", "relationships"]
    caption = "a server shows no bytes over Bolt"
    if found[-1].bytes is not None:
        columns.append("bytes")
        caption = f"{found[-1].bytes} bytes on disk; those of datasets and runs are estimates"
    present(lambda: print_table(None, columns, [[row[column] for column in columns] for row in rows], caption), *rows)


@db.command()
@command(graph=True)
def path() -> None:
    """Print the folder of the embedded database."""
    folder = str(settings().data.resolve())
    present(folder, {"path": folder})


@db.command()
@command(graph=True)
def remove(
    kind: Literal["run", "dataset"] = argument("run|dataset", "Remove a run, or a dataset."),
    name: str = argument("NAME", "Remove the one that `graphkit db status` calls NAME."),
) -> None:
    """Remove a run, or a dataset with its runs, from the graph; files stay as they are."""
    from graphkit.cli.progress import shown_progress
    from graphkit.graph.removal import remove_dataset, remove_run

    with open_graph() as store, shown_progress(f"removing the {kind} {name}") as progress:
        if kind == "run":
            remove_run(store, name, progress)
            runs = [name]
        else:
            runs = remove_dataset(store, name, progress)
    beside = f" with its runs {', '.join(runs)}" if kind == "dataset" and runs else ""
    present(f"removed the {kind} {name}{beside}", {"removed": name, "kind": kind, "runs": runs})


@db.command()
@command(graph=True)
def rename(
    kind: Literal["run"] = argument("run", "Rename a run."),
    old: str = argument("OLD", "Rename the run of this name; if only OLD@1, OLD@2, ... are there, all of them."),
    new: str = argument("NEW", "Give it this name."),
) -> None:
    """Give a run of the graph another name: its answers, scores, grades and executions stay, and so do all files."""
    from graphkit.cli.progress import shown_progress
    from graphkit.graph.renaming import rename_run

    with open_graph() as store, shown_progress(f"renaming the run {old}") as progress:
        found = rename_run(store, old, new, progress)
    what = "the run" if old in found.runs else f"{counted(len(found.runs), 'repetition')} of"
    parts = [counted(count, name.removesuffix("s")) for name, count in found.counts.items()]
    present(f"renamed {what} {old} to {new}: {', '.join(parts)}", {"renamed": found.runs, **found.counts})
    _note_records(found.files)


def _note_records(files: Mapping[str, Path]) -> None:
    """Say how files whose records have another name than their run are evaluated again."""
    from graphkit.files.assets import command_text, option_text
    from graphkit.files.run_files import first_run

    found = [(name, file, first_run(file)) for name, file in files.items()]
    other = [(name, file, former) for name, file, former in found if former not in (None, name)]
    for name, file, former in other[:1]:
        again = f"`{command_text('evaluate', file, options=option_text('run', name))}`"
        more = f"; {len(other) - 1} more in the same way" if len(other) > 1 else ""
        say(f"note: {file} still calls the run {former}; {again} evaluates it as {name}{more}")


@db.command()
@command(graph=True)
def migrate() -> None:
    """Bring what an earlier graphkit loaded into the form of this one, from the files that the graph names."""
    import dataclasses

    from graphkit.cli.progress import shown_progress
    from graphkit.graph.schema_migration import migrate

    with open_graph() as store, shown_progress("migrating the graph") as progress:
        found = migrate(store, progress)
    lines = [f"migrated the dataset {name}" for name in found.datasets]
    lines += [f"migrated the run {name}" for name in found.runs]
    lines += [f"left: {one}" for one in found.left]
    lines += [f"note: {one}" for one in found.notes]
    present(lines or "everything is in the form of this version", dataclasses.asdict(found))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} ({count})" for name, count in value.items())
    return "; ".join(value) if isinstance(value, list) else cell(value)
