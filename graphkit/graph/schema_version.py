"""The version of what graphkit writes into the graph, and the form that a database states once, as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphkit.database.store import Store
from graphkit.errors import DatabaseError
from graphkit.graph.queries import cypher, schema_statements

#: The version number. Data that another version wrote counts as changed, and is loaded again.
SCHEMA_VERSION = "24"

#: Digest of cypher/schema.cypher, cypher/load/ and the code of rows.py; tests/graph/test_schema_version.py checks it.
SCHEMA_DIGEST = "caf6d7f9b2a68617b0582a77ff888512"

#: What to do about a form that only a later graphkit knows.
UPGRADE = "Install the graphkit-eval that wrote it, or a newer one (pip install -U graphkit-eval)"


@dataclass(frozen=True, slots=True)
class DatabaseForm:
    """The form that a database states: the version of the schema, and the graphkit that stated it."""

    schema: str
    version: str

    def __str__(self) -> str:
        later = f"; this graphkit is older (schema {SCHEMA_VERSION}), and only reads it" if self.is_newer else ""
        return f"schema {self.schema}, stated by graphkit {self.version}{later}"

    @property
    def is_newer(self) -> bool:
        """Whether a later graphkit than this one writes this form."""
        return is_newer(self.schema)


def is_older(row: Mapping[str, Any]) -> bool:
    """Return whether a dataset or a run is in another form than this graphkit writes."""
    return bool(row["schema"] != SCHEMA_VERSION)


def names_no_dataset(row: Mapping[str, Any]) -> bool:
    """Return whether a dataset or a run is in a form before 15: its artifacts, chunks and gold name no dataset."""
    schema = row["schema"]
    return schema is None or (str(schema).isdecimal() and int(schema) < 15)


def is_newer(schema: object) -> bool:
    """Return whether a later graphkit than this one writes a version of the schema."""
    given, own = str(schema), SCHEMA_VERSION
    return given.isdigit() and own.isdigit() and int(given) > int(own)


def database_form(store: Store) -> DatabaseForm | None:
    """Return the form that a database states; None before its first write."""
    rows = store.read(cypher("read/form"))
    return DatabaseForm(str(rows[0]["schema"]), str(rows[0]["version"])) if rows else None


def prepare_writing(store: Store) -> None:
    """Create the constraints and indexes, and state the form of the database.

    Raise DatabaseError if a later graphkit has written it in a form that this one doesn't know.
    """
    from graphkit import __version__

    found = database_form(store)
    if found is not None and found.is_newer:
        raise DatabaseError(
            f"the database is in the form of graphkit {found.version} (schema {found.schema}), and this older graphkit "
            f"{__version__} (schema {SCHEMA_VERSION}) would mix it with its own",
            where=store.uri,
            remedy=f"{UPGRADE}, or write into another database; this one can still be read.",
        )
    store.schema(schema_statements())
    own = DatabaseForm(SCHEMA_VERSION, __version__)
    if found != own:
        store.write(cypher("load/form"), {"schema": own.schema, "version": own.version})
