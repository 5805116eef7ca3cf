"""``graphkit query``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from graphkit.cli.base import (
    added,
    argument,
    as_json,
    command,
    open_graph,
    option,
    present,
    print_text,
    say,
    say_text,
)
from graphkit.cli.options import ALLOW_LOAD_CSV
from graphkit.cli.tables import print_table
from graphkit.errors import InputError
from graphkit.records.option_values import assignment
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.graph.user_queries import QueryRows, UserQuery


class Drawing(Protocol):
    """A plug-in's drawing of the rows of a query, with its options (entry points of ``graphkit.options.query``)."""

    def asked(self) -> bool:
        """Return whether it is asked for, and with it the nodes and relationships of the rows."""
        ...

    def show(self, found: QueryRows, asked: UserQuery, source: str | None) -> None:
        """Show the rows of a query, in place of the table; ``source`` is its name or file, None for a text."""
        ...


@command(graph=True)
def query(
    source: str | None = argument(
        "NAME|FILE.cypher|CYPHER", "Run a named query, the one in a file, or this text.", default=None, long=True
    ),
    expression: str | None = option("-e CYPHER", "Run this Cypher query."),
    parameter: list[str] | None = option("-p NAME=VALUE", "Set a parameter, to JSON or else text; may be repeated."),
    as_csv: bool = option("--csv", "Print CSV: nodes, relationships and paths as Cypher writes them."),
    drawings: dict[str, Drawing] = added("graphkit.options.query"),
    allow_load_csv: bool = ALLOW_LOAD_CSV,
) -> None:
    """Ask the graph in Cypher. Read-only: the server refuses writes."""
    from graphkit.cli.progress import shown_progress
    from graphkit.files.tables import csv_text
    from graphkit.graph.user_queries import user_query

    drawing = next((one for one in drawings.values() if one.asked()), None)
    if as_csv and (drawing is not None or as_json()):
        raise InputError("--csv is one form of output", remedy="Leave --json, --open and --out out.")
    asked = user_query(source, expression, dict(assignment("-p", text) for text in parameter or []))
    with open_graph(read_only=True) as store:
        for error in asked.unknown_names(store):
            if asked.named:
                raise error
            say_text(f"note: {error}")
        for note in asked.notes(store):
            say_text(f"note: {note}")
        with shown_progress("asking the graph"):
            found = asked.run(store, allow_load_csv=allow_load_csv, draw=drawing is not None)
    if drawing is not None:
        drawing.show(found, asked, source)
        return
    shown, total = len(found.rows), found.total
    more = f"{shown} of {counted(total, 'row')}, -p limit={total} shows all"
    caption = more if shown < total else counted(total, "row")
    facts = (dict(zip(found.columns, row, strict=True)) for row in found.rows)
    if as_csv:
        print_text(csv_text(found.columns, found.texts))
    else:
        present(lambda: print_table(None, found.columns, found.texts, caption), *facts)
    if (as_csv or as_json()) and shown < total:
        say(f"note: {more}")
