"""Fill a new Neo4j database by the import of ``neo4j-admin``: write its files, run it, and finish the import."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.errors import DatabaseError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.graph.datasets import reservation_of
from graphkit.graph.finishing import finish_import, refuse_unfinished_import, unfinished_import
from graphkit.plugins.bulk.bulk_load import BulkLoad, bulk_load
from graphkit.plugins.bulk.import_files import ARGUMENTS, holds_import, import_files, source_of
from graphkit.plugins.bulk.neo4j_admin import OVERWRITE, import_command, listens, run_import
from graphkit.records.progress import Progress, quiet


@dataclass(frozen=True, slots=True)
class Neo4jBulkLoad:
    """The result of a step of a bulk load into Neo4j.

    Attributes
    ----------
    finished
        Whether the server held the import, and the graph is complete now. Otherwise files were written.
    folder
        The folder of the files; None if the import is finished.
    loaded
        What was written; None if the folder held the files of the same input already.
    imported
        Whether the files were imported.
    command
        The command that imports the files, to be run in the folder.
    """

    finished: bool
    folder: Path | None = None
    loaded: BulkLoad | None = None
    imported: bool = False
    command: str | None = None


def finish_bulk_load(settings: Settings, dataset: Dataset, progress: Progress = quiet) -> bool | None:
    """Finish the import of a dataset if a server holds it, and return whether it did; None if no server listens.

    Raise DatabaseError if the server holds anything else, refuses, or fails.
    """
    if settings.uri is None or not listens(settings.uri):
        return None
    with _opened(settings) as store:
        found = unfinished_import(store)
        if found is not None and found.name == reservation_of(dataset.name):
            finish_import(store, found.name, progress)
            return True
        refuse_unfinished_import(store)
        if nodes := store.read("MATCH (n) WHERE NOT n:Graphkit RETURN count(n) AS nodes")[0]["nodes"]:
            raise DatabaseError(
                f"the database holds {nodes} nodes already, and --bulk fills only an empty one",
                where=store.uri,
                remedy="Load without --bulk, or name an empty database (--neo4j-database NAME).",
            )
    return False


def _opened(settings: Settings) -> Store:
    try:
        return Store.open(settings)
    except DatabaseError as error:
        if "isn't available" not in error.what:
            raise
        remedy = (
            f"{error.remedy} An interrupted import leaves such a database: stop the server, and import again with "
            f"{OVERWRITE}."
        )
        raise DatabaseError(error.what, where=error.where, remedy=remedy) from None


def bulk_load_neo4j(
    settings: Settings,
    dataset: Dataset,
    runs: Sequence[Path],
    problems: Problems,
    folder: Path,
    *,
    home: Path | None = None,
    overwrite: bool = False,
    progress: Progress = quiet,
) -> Neo4jBulkLoad:
    """Take the next step of a bulk load: finish the import that the server holds, else write its files.

    The graph is what :func:`load_dataset` and ``load_run`` write. Until the import is finished, every command refuses
    the database.

    Parameters
    ----------
    folder
        The folder for the files. If it holds those of the same input, they are used.
    home
        The folder of the stopped server: the files are imported at once.
    overwrite
        Whether the import may delete what the database holds.

    Raises
    ------
    InputError
        A record can't be used and ``problems`` doesn't skip it, a file doesn't hold exactly one run, or the folder
        holds something else.
    DatabaseError
        The database isn't empty, the server runs although ``home`` is given, or the import fails.
    """
    state = finish_bulk_load(settings, dataset, progress)
    if state:
        return Neo4jBulkLoad(finished=True)
    if state is not None and home is not None:
        raise DatabaseError(
            "the server runs, and the import needs its database for itself",
            where=settings.uri,
            remedy="Stop it and run this again" + ("." if overwrite else ", with --overwrite: its database is empty."),
        )
    source = source_of([*dataset.files(), *runs], problems.on_error)
    loaded = None
    if not holds_import(folder, source):
        finish = shlex.join(["graphkit", "load", str(dataset.folder.resolve()), "--bulk"])
        mark = {"name": reservation_of(dataset.name), "owner": "nobody", "heartbeat": 0, "finish": finish}
        loaded = bulk_load(lambda: import_files(folder, mark, source), dataset, runs, problems, progress)
    if home is not None:
        run_import(home, folder, ARGUMENTS, settings.database, overwrite=overwrite)
    command = import_command(ARGUMENTS, settings.database, overwrite=state is not None or overwrite)
    shown = f"cd {shlex.quote(str(folder.resolve()))} && {shlex.join(command)}"
    return Neo4jBulkLoad(False, folder, loaded, home is not None, shown)
