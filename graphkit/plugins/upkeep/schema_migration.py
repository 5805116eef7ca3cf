"""Migrate what an earlier graphkit wrote: load it again from the files that the graph names, if they are unchanged.

Scores, verdicts and executions stay, also those that nothing but the graph holds: only questions and answers are
written anew, and these are linked to them again. What can't be read again stays as it is, with the command that helps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.assets import command_text, option_text
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.graph import schema_version
from graphkit.graph.datasets import load_dataset
from graphkit.graph.digests import content_digest, dataset_digest, run_digest
from graphkit.graph.knowledge import question_ids
from graphkit.graph.known_names import kept_questions
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import renaming_command
from graphkit.graph.runs import RunPart, RunRecords, is_unordered, load_run, order_run
from graphkit.graph.schema_version import is_older
from graphkit.graph.score_nodes import outdated_scores
from graphkit.graph.writing import clear, clear_former
from graphkit.records.progress import Progress, quiet


@dataclass
class GraphMigration:
    """The result of a migration.

    Attributes
    ----------
    datasets, runs
        The names of those that were loaded again.
    left
        A sentence on each dataset and run that stays in its old form: why, and which command helps.
    notes
        A sentence on each run whose scores only another evaluation brings into today's form.
    """

    datasets: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def migrate(store: Store, progress: Progress = quiet) -> GraphMigration:
    """Bring everything in the graph into the form of this graphkit, as far as its files are there, unchanged.

    An interrupted migration is continued by the next one. Raise DatabaseError if the database fails.
    """
    found = GraphMigration()
    former = {str(row["name"]): str(row["former"]) for row in store.read(cypher("read/former_datasets"))}
    for row in store.read(cypher("read/datasets")):
        if is_older(row) or row["name"] in former:
            _migrate_dataset(store, row, former.get(str(row["name"])) or row["digest"], found, progress)
    older = {str(row["name"]) for row in store.read(cypher("read/datasets")) if is_older(row)}
    for row in store.read(cypher("read/runs")):
        if is_older(row) or not row["complete"]:
            _migrate_run(store, row, older, found, progress)
    # Also what a killed migration left.
    clear_former(store)
    found.notes = outdated_scores(store)
    return found


def _migrate_dataset(
    store: Store, row: Mapping[str, Any], former: object, found: GraphMigration, progress: Progress
) -> None:
    name, folder = str(row["name"]), str(row["folder"])
    remove = f"`{command_text('db remove dataset', name)}` removes it with its runs"
    what = f"the dataset {name}"
    if former is None or row["folder"] is None:
        found.left.append(f"{what} was not loaded to its end: `graphkit load` its folder, or {remove}")
        return
    try:
        dataset = Dataset(folder)
        same = dataset.name == name and any(former == dataset_digest(dataset, version=one) for one in _versions())
    except (InputError, OSError):
        again = "put them back and migrate again, `graphkit evaluate` a run of it, which also reads shards"
        found.left.append(f"{what}: its files in {folder} can't be read; {again}, or {remove}")
        return
    if not same:
        load = f"`{command_text('load', folder)}`"
        found.left.append(f"{what}: its files have changed since it was loaded; {load} loads it as it is now")
        return
    store.write(cypher("load/former_digest"), {"name": name, "former": str(former)})
    load_dataset(store, dataset, Problems("skip"), progress, partial=bool(row["partial"]))
    store.write(cypher("load/migrated_dataset"), {"name": name, "former": str(former)})
    found.datasets.append(name)


def _versions() -> Iterator[str]:
    """Yield the versions that may have written something, the latest first."""
    current = schema_version.SCHEMA_VERSION
    yield current
    yield from map(str, range(int(current) - 1 if current.isdigit() else 0, 0, -1))


def _migrate_run(
    store: Store, row: Mapping[str, Any], older: set[str], found: GraphMigration, progress: Progress
) -> None:
    run, dataset = str(row["id"]), str(row["dataset"])
    what, remove = f"the run {run}", f"`{command_text('db remove run', run)}` removes it"
    if row["renaming"] is not None:
        found.left.append(
            f"{what}: its renaming isn't finished; `{renaming_command(*row['renaming'])}`, then this again"
        )
        return
    if dataset in older:
        found.left.append(f"{what}: its dataset {dataset} comes first")
        return
    if not row["file"]:
        found.left.append(
            f"{what}: it was loaded from {row['origin']}, no file of a run; evaluate it again, or {remove}"
        )
        return
    file = Path(str(row["file"]))
    if not file.is_file():
        found.left.append(f"{what}: {file} is gone; put it back and migrate again, or {remove}")
        return
    again = command_text("evaluate", file)
    content = content_digest(file)
    asked = question_ids(store, dataset)
    if row["content"] is None and any(row["digest"] == run_digest(content, asked, one) for one in _versions()):
        store.write(cypher("load/run_content"), {"id": run, "content": content})
    elif row["content"] != content:
        found.left.append(f"{what}: {file} has changed since it was loaded; `{again}` loads it as it is now")
        return
    part = None
    if row["kept"] is not None:
        kept = kept_questions(store, run)
        if row["kept_of"] is None or len(kept) != row["kept_questions"]:
            rules = "".join(option_text("keep", rule) for rule in str(row["kept"]).split(" or "))
            whole = command_text("evaluate", file, options=rules)
            found.left.append(f"{what}: which questions of it are stored is no longer known; `{whole}`")
            return
        part = RunPart(str(row["kept"]), kept, row["kept_of"], row["questions"], row["failed"])
    unordered = is_unordered(store, run)
    records = RunRecords.of_file(store, dataset, run, file)
    if part is not None:
        records = records.in_part(part, file, run)
    origin = str(row["origin"]) if row["origin"] != str(file) else None
    load_run(store, dataset, run, file, progress, records, origin=origin)
    order_run(store, run, unordered)
    clear(store, "load/part_models", {"run": run})
    found.runs.append(run)
