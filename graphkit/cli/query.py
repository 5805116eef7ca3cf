"""``graphkit query``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import argument, as_json, command, open_graph, option, present, say, say_text
from graphkit.cli.options import assignment
from graphkit.cli.tables import print_table
from graphkit.errors import InputError
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.database.store import Store

#: The parameters that name something which the graph must hold: in the named queries, and by custom in any other.
_NAMES = ("run", "other", "question")


@command(graph=True)
def query(
    source: str | None = argument("NAME|FILE.cypher", "Run a named query, or the query in a file.", default=None),
    expression: str | None = option("-e CYPHER", "Run this Cypher query."),
    parameter: list[str] | None = option("-p NAME=VALUE", "Set a parameter, to JSON or else text; may be repeated."),
) -> None:
    """Ask the graph in Cypher. Read-only: the server refuses writes."""
    from graphkit.graph.queries import NO_LIMIT

    given = dict(assignment("-p", text) for text in parameter or [])
    text, bound, named = _text(source, expression, given)
    names = _names(bound, given, named)
    if named:  # a run may be called 2026, which is a text there
        bound = {**bound, **names}
    limit = _limit(bound) if named else None
    with open_graph(read_only=True) as store:
        for error in _unknown(store, names):
            if named:
                raise error
            say_text(f"note: {error}")
        try:
            columns, rows = store.query_readonly(text, bound if limit is None else {**bound, "limit": NO_LIMIT})
        except (OverflowError, UnicodeEncodeError):
            raise InputError(
                "a parameter holds what the database can't",
                remedy="Whole numbers have at most 64 bits, and text holds no half characters (\\ud800 to \\udfff).",
            ) from None
    total = len(rows)
    rows = rows[:limit]
    more = f"{len(rows)} of {counted(total, 'row')}, -p limit={total} shows all"
    caption = more if len(rows) < total else counted(total, "row")
    present(lambda: print_table(None, columns, rows, caption), *(dict(zip(columns, row, strict=True)) for row in rows))
    if as_json() and len(rows) < total:
        say(f"note: {more}")


def _text(source: str | None, expression: str | None, given: dict[str, str]) -> tuple[str, dict[str, object], bool]:
    """Return a query's text, its parameters, and whether it is a named one."""
    from graphkit.graph.queries import named_query, parse_value, read_query

    if (source is None) == (expression is None):
        raise InputError(
            "give either a query's name or file, or its text by -e", remedy="`graphkit queries` lists the named ones."
        )
    values = {name: parse_value(value) for name, value in given.items()}
    if expression is not None:
        return expression, values, False
    assert source is not None
    path = Path(source)
    if path.suffix in {".cypher", ".cql"} or path.is_file():
        if not path.is_file():
            raise InputError("there is no such file", where=source)
        own = read_query(path)
        return own.text, own.bind(values) if own.parameters else values, False
    named = named_query(source)
    return named.text, named.bind(values), True


def _limit(bound: dict[str, object]) -> int | None:
    """Return the limit of a named query, or None if it has no usable limit."""
    limit = bound.get("limit")
    return limit if isinstance(limit, int) and not isinstance(limit, bool) and limit >= 0 else None


def _names(bound: dict[str, object], given: dict[str, str], named: bool) -> dict[str, str]:
    """Return the parameters that name something, as texts; in a query of the user's own a list may be of several."""
    values = {name: value for name in _NAMES if (value := bound.get(name)) is not None}
    return {
        name: value if isinstance(value, str) else given.get(name, str(value))
        for name, value in values.items()
        if named or isinstance(value, str | int | float)
    }


def _unknown(store: Store, names: dict[str, str]) -> Iterator[InputError]:
    """Yield what is wrong with names of runs and questions: no rows would look as if nothing were wrong."""
    if not names:
        return
    from graphkit.graph.known_names import require_question, require_run

    for name, value in names.items():
        try:
            (require_question if name == "question" else require_run)(store, value)
        except InputError as error:
            yield error
