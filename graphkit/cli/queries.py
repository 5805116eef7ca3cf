"""``graphkit queries``."""

from __future__ import annotations

from typing import Protocol

from graphkit.cli.base import added, command, present
from graphkit.cli.tables import print_table


class Guide(Protocol):
    """A guide through the queries, with its options, by a plug-in (entry points of ``graphkit.options.queries``)."""

    def written(self) -> bool:
        """Write the guide if it is asked for, and return whether it was."""
        ...


@command(graph=True)
def queries(
    *,
    guides: dict[str, Guide] = added("graphkit.options.queries"),
) -> None:
    """List the named queries with their parameters.

    It can also write a guide through them for Neo4j Browser.
    """
    if any(one.written() for one in guides.values()):
        return
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
