"""``graphkit queries``."""

from __future__ import annotations

from graphkit.cli.base import command, present
from graphkit.cli.tables import print_table


@command()
def queries() -> None:
    """List the named queries with their parameters."""
    from graphkit.graph.queries import named_queries

    known = list(named_queries().values())
    facts = [
        {
            "name": query.name,
            "title": query.title,
            "answers": query.answers,
            "parameters": {one.name: one.default for one in query.parameters},
            "columns": list(query.columns),
        }
        for query in known
    ]
    rows = []
    for query in known:
        words = [one.name if one.default is None else f"[{one.name}={one.default}]" for one in query.parameters]
        rows.append([query.name, query.answers, " ".join(words)])
    columns = ("query", "answers", "parameters")
    present(lambda: print_table(None, columns, rows, "graphkit query NAME -p run=RUN"), *facts)
