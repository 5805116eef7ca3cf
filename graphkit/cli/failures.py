"""``graphkit failures``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphkit.cli.base import argument, as_json, command, open_graph, option, print_json, print_line, say
from graphkit.cli.briefs import FULL, print_brief
from graphkit.cli.tables import print_table

if TYPE_CHECKING:
    from graphkit.graph.failures import Failures

#: The columns that a narrow terminal drops first.
LEAST = (
    *("entered", "ordered", "path", "position", "category", "difficulty", "commit", "repo", "first_branch"),
    *("second_branch", "best_rank", "branch", "from_repo", "to_repo", "went_to", "went_by", "expected_by"),
)


@command(graph=True)
def failures(
    run: str = argument("RUN", "Explain this run in the graph."),
    kind: str | None = option("--kind", "Show only this kind, such as wrong-turns. [default: all]"),
    question: str | None = option("--question -q ID", "Show only this question. [default: all]"),
    other: str | None = option("--other RUN", "Compare with this run, for found-and-lost."),
    limit: int | None = option(
        "--limit", "Show so many rows of each kind, 0 for all. [default: 20; 5 of all kinds]", min=0
    ),
    full: bool = FULL,
) -> None:
    """Explain what a run did wrong: missed edges, wrong turns, wrong repositories, incoherent commits."""
    from graphkit.analysis.failure_findings import failures_brief
    from graphkit.cli.progress import shown_progress
    from graphkit.graph.failures import failures
    from graphkit.graph.queries import failure_queries, named_queries, named_query

    if kind is not None:
        kinds = [named_query(kind).name]
    else:
        kinds = [query.name for query in failure_queries() if other is not None or not query.takes("other")]
    default = 20 if kind is not None or question is not None else 5
    rows_of_each = default if limit is None else limit or None
    if not full and not as_json() and limit is None:
        rows_of_each = None  # the findings count all rows
    with shown_progress(f"reading the failures of {run}"), open_graph(read_only=True) as store:
        rows_of = {
            name: failures(store, run, name, question=question, limit=rows_of_each, other=other) for name in kinds
        }
    if as_json():
        for name, rows in rows_of.items():
            for row in rows:
                print_json({"kind": name, "of_kind": rows.total, **row})
            if len(rows) < rows.total:
                say(f"note: {name}: {_shown(rows)}, --limit 0 shows all")
        return
    given = (("question", question), ("other", other))
    asked = "".join(f" --{name} {value}" for name, value in given if value is not None)
    if not full and limit is None:
        print_brief(failures_brief(run, rows_of, question, kinds[0] if kind is not None else None))
        return
    for name, rows in rows_of.items():
        query = named_queries()[name]
        if rows:
            cut = len(rows) < rows.total
            more = f"{_shown(rows)}; all: graphkit failures {run} --kind {name}{asked} --limit 0" if cut else None
            cells = [[row[column] for column in query.columns] for row in rows]
            print_table(f"{query.title} ({name})", query.columns, cells, more, least=LEAST)
    empty = [name for name, rows in rows_of.items() if not rows]
    if len(empty) == len(rows_of):
        print_line("no such failure")
    elif empty:
        say(f"none: {', '.join(empty)}")


def _shown(rows: Failures) -> str:
    return f"{len(rows)} of {rows.total} shown"
