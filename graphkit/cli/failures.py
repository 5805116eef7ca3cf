"""``graphkit failures``."""

from __future__ import annotations

from graphkit.cli.base import as_json, open_graph, print_json, print_line, say
from graphkit.cli.tables import print_table
from graphkit.graph.failures import failures
from graphkit.graph.queries import named_queries, named_query

#: The order in which all kinds are shown: from the whole to the detail.
ORDER = (
    "questions-by-score",
    "failed-questions",
    "stale-gold",
    "wrong-turns",
    "missed-edges",
    "missed-boundaries",
    "relations-missed",
    "right-files-wrong-path",
    "wrong-repositories",
    "incoherent-pairs",
    "unknown-commits",
    "extra-edges",
    "found-and-lost",
)


def failures_command(run: str, *, kind: str | None, question: str | None, other: str | None, limit: int | None) -> None:
    """Show one kind of failure, or a few rows of each."""
    if kind is not None:
        kinds = [named_query(kind).name]
    else:
        kinds = [name for name in ORDER if name != "found-and-lost" or other is not None]
    rows_of_each = limit if limit is not None else 20 if kind is not None or question is not None else 5
    with open_graph(read_only=True) as store:
        found = {
            name: failures(store, run, name, question=question, limit=rows_of_each + 1, other=other) for name in kinds
        }
    if as_json():
        for name, rows in found.items():
            for row in rows[:rows_of_each]:
                print_json({"kind": name, **row})
        return
    for name, rows in found.items():
        query = named_queries()[name]
        if rows:
            more = f"More: graphkit failures {run} --kind {name} --limit N" if len(rows) > rows_of_each else None
            columns = query.columns
            print_table(
                f"{query.title} ({name})",
                columns,
                [[row[column] for column in columns] for row in rows[:rows_of_each]],
                more,
            )
    empty = [name for name, rows in found.items() if not rows]
    if len(empty) == len(found):
        print_line("no such failure")
    elif empty:
        say(f"none: {', '.join(empty)}")
