"""``graphkit query`` and ``graphkit queries``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import as_json, print_json, settings
from graphkit.cli.options import assignment
from graphkit.cli.tables import print_table
from graphkit.errors import InputError
from graphkit.graph.queries import named_queries, named_query, parse_value, read_query

if TYPE_CHECKING:
    from graphkit.database.store import Store


def query_command(source: str | None, expression: str | None, parameters: list[str]) -> None:
    """Run one query as a reader and print its rows."""
    from graphkit.database.store import Store

    given = dict(assignment("-p", text) for text in parameters)
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
        print_table(None, columns, rows, f"{len(rows)} row(s)")


#: The parameters of the named queries that name something which the graph must hold.
_NAMES = ("run", "other", "question")


def _text(
    source: str | None, expression: str | None, given: dict[str, str]
) -> tuple[str, dict[str, object], dict[str, str]]:
    """Return a query's text, its parameters, and those among them that name something."""
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
            query = read_query(path)
        except UnicodeDecodeError:
            raise InputError("the file isn't text in UTF-8", where=source) from None
        return query.text, query.bind(values) if query.parameters else values, {}
    query = named_query(source)
    # A run may be called 2026, which is a text there.
    names = {name: value if isinstance(value := values[name], str) else given[name]
             for name in _NAMES if values.get(name) is not None}  # fmt: skip
    return query.text, query.bind({**values, **names}), names


def _require(store: Store, names: dict[str, str]) -> None:
    """Refuse names of runs and questions that the graph doesn't hold: no rows would look as if nothing were wrong."""
    if not names:
        return
    from graphkit.graph.failures import require_question, require_run

    for name, value in names.items():
        if name == "question":
            require_question(store, value)
        else:
            require_run(store, value)


def queries_command() -> None:
    """List the named queries."""
    found = list(named_queries().values())
    if as_json():
        for query in found:
            print_json(
                {
                    "name": query.name,
                    "title": query.title,
                    "answers": query.answers,
                    "parameters": {one.name: one.default for one in query.parameters},
                    "columns": list(query.columns),
                }
            )
        return
    rows = [
        [
            query.name,
            query.answers,
            " ".join(one.name if one.default is None else f"[{one.name}={one.default}]" for one in query.parameters),
        ]
        for query in found
    ]
    print_table(None, ["query", "answers", "parameters"], rows, "graphkit query NAME -p run=RUN")
