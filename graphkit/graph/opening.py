"""Open a graph: connect to the database, and create its constraints and indexes."""

from __future__ import annotations

from pathlib import Path

from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.graph.finishing import refuse_unfinished_import
from graphkit.graph.schema_version import prepare_writing


def open_store(
    uri: str | None = None,
    *,
    username: str | None = None,
    password: str | None = None,
    database: str | None = None,
    data: str | Path | None = None,
) -> Store:
    """Open the graph database: that of ``uri`` or ``NEO4J_URI``, else the embedded one.

    Parameters
    ----------
    data
        The folder of the embedded database; ``.graphkit`` of the working folder by default.

    Returns
    -------
    Store
        A context manager, with its constraints and indexes.

    Raises
    ------
    DatabaseError
        The database can't be reached, refuses the credentials, is older than Neo4j 5.23, holds an unfinished import,
        or is in the form of a later graphkit.
    """
    settings = Settings.resolve(uri, username, password, database, Path(data) if data is not None else None)
    return prepared(Store.open(settings))


def prepared(store: Store, *, read_only: bool = False) -> Store:
    """Prepare an open store that is to be written (:func:`prepare_writing`), and return it; close it on an error.

    Raise DatabaseError if it holds an import that isn't finished, or a form that only a later graphkit writes.
    """
    try:
        refuse_unfinished_import(store)
        if not read_only:
            prepare_writing(store)
    except BaseException:
        store.close()
        raise
    return store
