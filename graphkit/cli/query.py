"""``graphkit query``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import (
    argument,
    as_json,
    command,
    open_graph,
    open_in_browser,
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


@command(graph=True)
def query(
    source: str | None = argument(
        "NAME|FILE.cypher|CYPHER", "Run a named query, the one in a file, or this text.", default=None, long=True
    ),
    expression: str | None = option("-e CYPHER", "Run this Cypher query."),
    parameter: list[str] | None = option("-p NAME=VALUE", "Set a parameter, to JSON or else text; may be repeated."),
    as_csv: bool = option("--csv", "Print CSV: nodes, relationships and paths as Cypher writes them."),
    in_browser: bool = option("--open", "Open a page that draws the nodes and relationships of the rows."),
    out: Path | None = option(
        "--out -o FILE.html", "Write that page to this file. [default with --open: query-NAME.html]", writes="a page"
    ),
    allow_load_csv: bool = ALLOW_LOAD_CSV,
) -> None:
    """Ask the graph in Cypher. Read-only: the server refuses writes."""
    from graphkit.cli.progress import shown_progress
    from graphkit.files.tables import csv_text
    from graphkit.graph.user_queries import user_query

    page = in_browser or out is not None
    if as_csv and (page or as_json()):
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
            found = asked.run(store, allow_load_csv=allow_load_csv, draw=page)
    if page:
        _page(found, asked, source, out, in_browser)
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


def _page(found: QueryRows, asked: UserQuery, source: str | None, out: Path | None, in_browser: bool) -> None:
    """Write the page of a query, and open it if that is asked for."""
    from graphkit.report.contents import free_page
    from graphkit.report.query_page import write_query_page

    stem = source if source is not None and asked.title else "cypher"
    out = free_page([stem], "", "query") if out is None else out
    write_query_page(out, found, asked.text, asked.title or "A query", asked.answers, asked.parameters)
    present(str(out), {"page": str(out), "rows": found.total, "nodes": len(found.subgraph.nodes)})
    if in_browser:
        open_in_browser(out.resolve().as_uri())
