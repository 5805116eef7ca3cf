"""``graphkit queries``."""

from __future__ import annotations

from graphkit.cli.base import as_json, command, print_json


@command()
def queries() -> None:
    """List the named queries with their parameters."""
    from graphkit.cli.tables import print_table
    from graphkit.graph.queries import named_queries

    known = list(named_queries().values())
    if as_json():
        for query in known:
            print_json(
                {
                    "name": query.name,
                    "title": query.title,
                    "answers": query.answers,
                    "parameters": {parameter.name: parameter.default for parameter in query.parameters},
                    "columns": list(query.columns),
                }
            )
        return
    rows = [
        [
            query.name,
            query.answers,
            " ".join(
                parameter.name if parameter.default is None else f"[{parameter.name}={parameter.default}]"
                for parameter in query.parameters
            ),
        ]
        for query in known
    ]
    print_table(None, ["query", "answers", "parameters"], rows, "graphkit query NAME -p run=RUN")
