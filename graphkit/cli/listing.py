"""``graphkit measures`` and ``graphkit schema``."""

from __future__ import annotations

import dataclasses
import json

import typer

from graphkit.cli.base import as_json, print_json, say
from graphkit.cli.tables import print_table


def measures_command() -> None:
    """List the measures."""
    from graphkit.measures.registry import measure_kinds

    rows = []
    kinds, wrong = measure_kinds()
    for error in wrong:
        say(f"note: left out: {error}")
    for kind in kinds:
        parameters = [f"{field.name}={field.default!r}" for field in dataclasses.fields(kind) if field.name != "k"]
        cut = "@k" if any(field.name == "k" for field in dataclasses.fields(kind)) else ""
        name = kind.known_as + (f"({', '.join(parameters)})" if parameters else "") + cut
        rows.append(
            (name, kind.definition, kind.source, kind.layer, ", ".join(kind.engines()), ", ".join(kind.aliases))
        )
    columns = ("measure", "definition", "source", "layer", "engines", "aliases")
    if as_json():
        for row in rows:
            print_json(dict(zip(columns, row, strict=True)))
    else:
        print_table(None, columns, rows)


def schema_command(record: str | None) -> None:
    """Print the JSON Schema of one record, or of all by name."""
    from graphkit.errors import InputError
    from graphkit.records.models import RECORDS
    from graphkit.records.schemas import json_schema

    if record is not None and record not in RECORDS:
        raise InputError(f"no record is called {record!r}", remedy=f"There are: {', '.join(RECORDS)}.")
    chosen = [record] if record is not None else list(RECORDS)
    schemas = {name: json_schema(RECORDS[name]) for name in chosen}
    value = schemas[record] if record is not None else schemas
    typer.echo(json.dumps(value, indent=None if as_json() else 2))
