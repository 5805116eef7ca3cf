"""``graphkit query``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphkit.cli.base import as_json, print_json, settings, with_graph
from graphkit.cli.options import assignment
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.database.store import Store

#: The parameters of the named queries that name something which the graph must hold.
_NAMES = ("run", "other", "question")


@with_graph
def query(
    source: Annotated[
        str | None,
        typer.Argument(metavar="NAME|FILE.cypher", help="A named query, or a file."),
    ] = None,
    expression: Annotated[
        str | None,
        typer.Option("-e", metavar="CYPHER", help="Cypher text."),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("-p", metavar="NAME=VALUE", help="A parameter: JSON, else text. May be repeated."),
    ] = None,
) -> None:
    """Ask the graph in Cypher. Read-only: the server refuses writes."""
    from graphkit.cli.tables import print_table
    from graphkit.database.store import Store
    from graphkit.records.words import counted

    given = dict(assignment("-p", text) for text in parameter or [])
    text, bound, names = _text(source, expression, given)
    with Store.open(settings(), read_only=True) as store:
        _require(store, names)
        try:
            columns, rows = store.query_readonly(text, bound)
        except (OverflowError, UnicodeEncodeError):
            raise InputError(
                "a parameter holds what the database can't",
                remedy="Whole numbers have at most 64 bits, and text holds no half characters (\\ud800 to \\udfff).",
            ) from None
    if as_json():
        for row in rows:
            print_json(dict(zip(columns, row, strict=True)))
    else:
        print_table(None, columns, rows, counted(len(rows), "row"))


def _text(
    source: str | None, expression: str | None, given: dict[str, str]
) -> tuple[str, dict[str, object], dict[str, str]]:
    """Return a query's text, its parameters, and those among them that name something."""
    from graphkit.graph.queries import named_query, parse_value, read_query

    if (source is None) == (expression is None):
        raise InputError(
            "give either a query's name or file, or its text by -e", remedy="`graphkit queries` lists the named ones."
        )
    values = {name: parse_value(value) for name, value in given.items()}
    if expression is not None:
        return expression, values, {}
    assert source is not None
    path = Path(source)
    if path.suffix in {".cypher", ".cql"} or path.is_file():
        if not path.is_file():
            raise InputError("there is no such file", where=source)
        try:
            own = read_query(path)
        except UnicodeDecodeError:
            raise InputError("the file isn't text in UTF-8", where=source) from None
        return own.text, own.bind(values) if own.parameters else values, {}
    named = named_query(source)
    # A run may be called 2026, which is a text there.
    names = {name: value if isinstance(value := values[name], str) else given[name]
             for name in _NAMES if values.get(name) is not None}  # fmt: skip
    return named.text, named.bind({**values, **names}), names


def _require(store: Store, names: dict[str, str]) -> None:
    """Refuse names of runs and questions that the graph doesn't hold: no rows would look as if nothing were wrong."""
    if not names:
        return
    from graphkit.graph.knowledge import require_question, require_run

    for name, value in names.items():
        if name == "question":
            require_question(store, value)
        else:
            require_run(store, value)
