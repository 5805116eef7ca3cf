"""``graphkit db sizes``, ``remove``, ``rename`` and ``migrate``: care for what a graph holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from graphkit.cli.base import argument, command, open_graph, present, say
from graphkit.records.words import counted


@command(graph=True)
def sizes() -> None:
    """Show the nodes and relationships of each dataset and each run, and in the embedded database about their bytes."""
    import dataclasses

    from graphkit.cli.progress import shown_progress
    from graphkit.cli.tables import print_table
    from graphkit.plugins.upkeep.sizes import graph_sizes

    with open_graph(read_only=True) as store, shown_progress("counting"):
        found = graph_sizes(store)
    rows = [dataclasses.asdict(one) for one in found]
    columns = ["kind", "name", "nodes", "relationships"]
    caption = "a server shows no bytes over Bolt"
    if found[-1].bytes is not None:
        columns.append("bytes")
        caption = f"{found[-1].bytes} bytes on disk; those of datasets and runs are estimates"
    present(lambda: print_table(None, columns, [[row[column] for column in columns] for row in rows], caption), *rows)


@command(graph=True)
def remove(
    kind: Literal["run", "dataset"] = argument("run|dataset", "Remove a run, or a dataset."),
    name: str = argument("NAME", "Remove the one that `graphkit db status` calls NAME."),
) -> None:
    """Remove a run, or a dataset with its runs, from the graph; files stay as they are."""
    from graphkit.cli.progress import shown_progress
    from graphkit.plugins.upkeep.removal import remove_dataset, remove_run

    with open_graph() as store, shown_progress(f"removing the {kind} {name}") as progress:
        if kind == "run":
            remove_run(store, name, progress)
            runs = [name]
        else:
            runs = remove_dataset(store, name, progress)
    beside = f" with its runs {', '.join(runs)}" if kind == "dataset" and runs else ""
    present(f"removed the {kind} {name}{beside}", {"removed": name, "kind": kind, "runs": runs})


@command(graph=True)
def rename(
    kind: Literal["run"] = argument("run", "Rename a run."),
    old: str = argument("OLD", "Rename the run of this name; if only OLD@1, OLD@2, ... are there, all of them."),
    new: str = argument("NEW", "Give it this name."),
) -> None:
    """Give a run of the graph another name: its answers, scores, grades and executions stay, and so do all files."""
    from graphkit.cli.progress import shown_progress
    from graphkit.plugins.upkeep.renaming import rename_run

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


@command(graph=True)
def migrate() -> None:
    """Bring what an earlier graphkit loaded into the form of this one, from the files that the graph names."""
    import dataclasses

    from graphkit.cli.progress import shown_progress
    from graphkit.plugins.upkeep.schema_migration import migrate

    with open_graph() as store, shown_progress("migrating the graph") as progress:
        found = migrate(store, progress)
    lines = [f"migrated the dataset {name}" for name in found.datasets]
    lines += [f"migrated the run {name}" for name in found.runs]
    lines += [f"left: {one}" for one in found.left]
    lines += [f"note: {one}" for one in found.notes]
    present(lines or "everything is in the form of this version", dataclasses.asdict(found))
