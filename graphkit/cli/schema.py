"""``graphkit schema``."""

from __future__ import annotations

import json

from graphkit.cli.base import argument, as_json, command, print_text
from graphkit.errors import InputError


@command()
def schema(
    record: str | None = argument(
        "RECORD", "Print this record, such as question or answer. [default: all]", default=None
    ),
) -> None:
    """Print the JSON Schema of the records."""
    from graphkit.records.schemas import RECORDS, json_schema

    if record is not None and record not in RECORDS:
        raise InputError(f"no record is called {record!r}", remedy=f"There are: {', '.join(RECORDS)}.")
    chosen = [record] if record is not None else list(RECORDS)
    schemas = {name: json_schema(RECORDS[name]) for name in chosen}
    value = schemas[record] if record is not None else schemas
    print_text(json.dumps(value, indent=None if as_json() else 2))
