"""The tables of a GraphRAG search, in each of the forms in which they are logged.

They are pandas tables, which their user wrote as records, as columns, as CSV or in another of pandas' forms. Where they
weren't kept there is the context as text, which has their cells between ``|``, below headings such as
``-----Entities-----``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from graphkit.plugins.logs.payloads import json_within
from graphkit.readers.logged import UnreadableLogError

TABLES = ("entities", "relationships", "sources", "reports", "claims")

#: The column by which each table is known.
_KNOWN_BY = {"entities": "entity", "relationships": "source", "sources": "text", "reports": "title", "claims": "id"}

_HEADING = re.compile(r"^-----(Entities|Relationships|Sources|Reports|Claims)-----\r?\n(?=[\w ]+\|)", re.MULTILINE)
_ROW = re.compile(r"^\d+\|", re.MULTILINE)

CUT_NAMES = "the tables were read from the text of the context, where a name that holds | is cut at it"

Row = dict[str, Any]


def is_context(value: Any) -> bool:
    """Return whether a value is the tables of a search, or those of each question that a DRIFT search asked itself."""
    return is_tables(value) or (isinstance(value, dict) and bool(value) and all(map(is_tables, value.values())))


def is_tables(value: Any) -> bool:
    """Return whether a value is a search's tables, by their names and columns."""
    if not isinstance(value, dict) or not value.keys() & set(TABLES) or value.keys() & {"chunks", "references"}:
        return False
    first = {name: _first_row(value[name]) for name in TABLES if name in value}
    if any(row is not None and _KNOWN_BY[name] not in row for name, row in first.items()):
        return False
    # Five empty tables are those of a search that found nothing.
    return any(row is not None for row in first.values()) or len(first) >= 3


def is_text(value: Any) -> bool:
    """Return whether a value is a context as text, by its headings; a global search has a list of them."""
    texts = value if isinstance(value, list) else [value]
    return any(isinstance(one, str) and _HEADING.search(one) is not None for one in texts)


def rows_of(table: Any, where: str, place: str) -> Iterator[Row]:
    """Yield a table's rows, whichever of pandas' forms it was written in.

    Raises
    ------
    UnreadableLogError
        It was printed.
    """
    table = json_within(table)
    if isinstance(table, str) and table.strip() and not table.startswith("Empty DataFrame"):
        yield from _csv_rows(table, where, place)
    elif isinstance(table, list):
        yield from (row for row in table if isinstance(row, dict))
    elif isinstance(table, dict) and isinstance(table.get("data"), list):  # orient="split", "tight" or "table"
        columns = table.get("columns")
        for row in table["data"]:
            if isinstance(row, dict):
                yield row
            elif isinstance(row, list) and isinstance(columns, list):
                yield dict(zip(map(str, columns), row, strict=False))
    elif isinstance(table, dict) and table and all(isinstance(column, dict) for column in table.values()):
        if all(name.isdecimal() for name in table):  # orient="index"
            yield from table.values()
        else:
            for index in dict.fromkeys(chain.from_iterable(table.values())):
                yield {name: column.get(index) for name, column in table.items()}
    elif isinstance(table, dict) and all(isinstance(column, list) for column in table.values()):
        for place_in_table in range(max(map(len, table.values()), default=0)):
            yield {name: column[place_in_table] for name, column in table.items() if place_in_table < len(column)}


def tables_of_text(context: Any) -> dict[str, list[Row]]:
    """Return the tables of a context as text. The text of a source may hold lines; of a name a ``|`` is lost."""
    found: dict[str, list[Row]] = {}
    for one in context if isinstance(context, list) else [context]:
        if isinstance(one, str):
            headings = list(_HEADING.finditer(one))
            ends = [heading.start() for heading in headings[1:]] + [len(one)]
            for heading, end in zip(headings, ends, strict=True):
                rows = _piped_rows(one[heading.end() : end].strip("\n"))
                found.setdefault(heading[1].lower(), []).extend(rows)
    return found


def _piped_rows(body: str) -> Iterator[Row]:
    columns, _, rest = body.partition("\n")
    names = columns.split("|")
    starts = [match.start() for match in _ROW.finditer(rest)]
    for start, end in zip(starts, [*starts[1:], len(rest)], strict=True):
        # Read the prose last, since it may contain anything: everything behind it belongs to it.
        prose = next((place for place, name in enumerate(names) if name in ("description", "text", "content")), None)
        cells = rest[start:end].strip("\n").split("|", prose if prose is not None else -1)
        yield dict(zip(names, cells, strict=False))


def _csv_rows(table: str, where: str, place: str) -> Iterator[Row]:
    """Yield the rows of ``to_csv``, whose header has commas where a printed table has spaces."""
    columns, *rows = _csv_cells(table, where, place)
    if not set(columns) & {*_KNOWN_BY.values()} or len(columns) < 2:
        raise cut(where, place)
    for cells in rows:
        if len(cells) != len(columns):
            raise cut(where, place)
        yield {name: cell for name, cell in zip(columns, cells, strict=True) if name}


def _csv_cells(table: str, where: str, place: str) -> Iterable[list[str]]:
    try:
        return [cells for cells in csv.reader(io.StringIO(table.strip(), newline=""), strict=True) if cells] or [[]]
    except csv.Error:
        raise cut(where, place) from None


def cut(where: str, place: str) -> UnreadableLogError:
    """Return the refusal of a table that was printed."""
    return UnreadableLogError(
        f"{place} is a table that was printed, which cuts names and omits rows",
        where=where or None,
        remedy='Write each table with table.to_dict(orient="records") before json.dumps.',
    )


def _first_row(table: Any) -> Row | None:
    try:
        return next(rows_of(table, "", ""), None)
    except UnreadableLogError:
        return None
