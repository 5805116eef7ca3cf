"""Finish an import into Neo4j: indexes, the values that the files couldn't hold, and the marks of completeness.

Until its end, a ``:Load`` node with the command that finishes the import keeps every other command away. Each step may
be repeated, so that the same command continues after a kill.
"""

from __future__ import annotations

import json
import time
from itertools import count

from graphkit.database.store import Store
from graphkit.errors import DatabaseError
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import UnfinishedLoad, unfinished_loads
from graphkit.graph.schema_version import prepare_writing
from graphkit.graph.writing import clear
from graphkit.records.progress import Progress, quiet

#: Values set apart that a statement is given.
_VALUES = 1_000


def unfinished_import(store: Store) -> UnfinishedLoad | None:
    """Return the import that fills the database and isn't finished; None if there is none."""
    return next((load for load in unfinished_loads(store) if load.finish is not None), None)


def refuse_unfinished_import(store: Store) -> None:
    """Raise DatabaseError if the database holds an import that isn't finished."""
    if (found := unfinished_import(store)) is not None:
        raise DatabaseError(
            f"the database holds an import that isn't finished, of the {found.name}",
            where=store.uri,
            remedy=f"Finish it: {found.finish}",
        )


def finish_import(store: Store, name: str, progress: Progress = quiet) -> None:
    """Finish the import of a name, as :func:`unfinished_import` returns it.

    Raise DatabaseError if the database fails.
    """
    prepare_writing(store)
    _await_indexes(store)
    for marks in (False, True):
        for start in count(0, _VALUES):
            span = {"start": start, "end": start + _VALUES}
            values = [json.loads(str(row["json"])) for row in store.read(cypher("load/imported_values"), span)]
            if not values:
                break
            given = {**span, "values": values}
            clear(store, "load/put_back", {**given, "marks": marks}, lambda done: progress("nodes completed", done))
            if not marks:
                clear(store, "load/put_back_listed", given)
    clear(store, "load/clear_imported", {})
    store.write(cypher("load/finish_import"), {"name": name})


def _await_indexes(store: Store) -> None:
    """Wait until all indexes are built."""
    while unbuilt := store.read(cypher("read/unbuilt_indexes")):
        if failed := [str(row["name"]) for row in unbuilt if row["state"] == "FAILED"]:
            raise DatabaseError(
                f"Neo4j couldn't build the indexes {', '.join(failed)}",
                where=store.uri,
                remedy="Its log says why. Drop them and run this again.",
            )
        time.sleep(0.2)
