"""``graphkit failures``."""

from __future__ import annotations

from typing import Annotated

import typer

from graphkit.cli.base import as_json, open_graph, print_json, print_line, say, with_graph


@with_graph
def failures(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The name of a run in the graph.")],
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="One kind, such as wrong-turns. [default: all]"),
    ] = None,
    question: Annotated[
        str | None,
        typer.Option("--question", "-q", metavar="ID", help="One question. [default: all]"),
    ] = None,
    other: Annotated[
        str | None,
        typer.Option("--other", metavar="RUN", help="The run to compare with, for found-and-lost."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="Rows of each kind. [default: 20, of all kinds 5]"),
    ] = None,
) -> None:
    """Explain what a run did wrong: missed edges, wrong turns, wrong repositories, incoherent commits."""
    from graphkit.cli.tables import print_table
    from graphkit.graph.failures import failures
    from graphkit.graph.queries import failure_queries, named_queries, named_query

    if kind is not None:
        kinds = [named_query(kind).name]
    else:
        kinds = [query.name for query in failure_queries() if other is not None or not query.takes("other")]
    rows_of_each = limit if limit is not None else 20 if kind is not None or question is not None else 5
    with open_graph(read_only=True) as store:
        rows_of = {
            name: failures(store, run, name, question=question, limit=rows_of_each + 1, other=other) for name in kinds
        }
    if as_json():
        for name, rows in rows_of.items():
            for row in rows[:rows_of_each]:
                print_json({"kind": name, **row})
        return
    for name, rows in rows_of.items():
        query = named_queries()[name]
        if rows:
            more = f"More: graphkit failures {run} --kind {name} --limit N" if len(rows) > rows_of_each else None
            cells = [[row[column] for column in query.columns] for row in rows[:rows_of_each]]
            print_table(f"{query.title} ({name})", query.columns, cells, more)
    empty = [name for name, rows in rows_of.items() if not rows]
    if len(empty) == len(rows_of):
        print_line("no such failure")
    elif empty:
        say(f"none: {', '.join(empty)}")
