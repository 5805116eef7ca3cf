"""``graphkit query``."""

from __future__ import annotations

from graphkit.cli.base import argument, as_json, command, open_graph, option, present, say, say_text
from graphkit.cli.options import ALLOW_LOAD_CSV
from graphkit.cli.tables import print_table
from graphkit.records.option_values import assignment
from graphkit.records.words import counted


@command(graph=True)
def query(
    source: str | None = argument(
        "NAME|FILE.cypher|CYPHER", "Run a named query, the one in a file, or this text.", default=None, long=True
    ),
    expression: str | None = option("-e CYPHER", "Run this Cypher query."),
    parameter: list[str] | None = option("-p NAME=VALUE", "Set a parameter, to JSON or else text; may be repeated."),
    allow_load_csv: bool = ALLOW_LOAD_CSV,
) -> None:
    """Ask the graph in Cypher. Read-only: the server refuses writes."""
    from graphkit.cli.progress import shown_progress
    from graphkit.graph.user_queries import user_query

    asked = user_query(source, expression, dict(assignment("-p", text) for text in parameter or []))
    with open_graph(read_only=True) as store:
        for error in asked.unknown_names(store):
            if asked.named:
                raise error
            say_text(f"note: {error}")
        for note in asked.notes(store):
            say_text(f"note: {note}")
        with shown_progress("asking the graph"):
            found = asked.run(store, allow_load_csv=allow_load_csv)
    shown, total = len(found.rows), found.total
    more = f"{shown} of {counted(total, 'row')}, -p limit={total} shows all"
    caption = more if shown < total else counted(total, "row")
    facts = (dict(zip(found.columns, row, strict=True)) for row in found.rows)
    present(lambda: print_table(None, found.columns, found.rows, caption), *facts)
    if as_json() and shown < total:
        say(f"note: {more}")
