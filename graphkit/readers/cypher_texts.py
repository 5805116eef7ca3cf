"""Rows of Cypher as LlamaIndex's retrievers hand them to a model: as text that Python printed."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from graphkit.readers.graph_values import Gathered
from graphkit.readers.logged import LoggedAnswer, ReadOptions
from graphkit.readers.payloads import text

#: How a text begins that holds a query and its rows, and what stands between the two.
CYPHER = "Generated Cypher query:"
_ROWS_BELOW = "Cypher Response:"
_LONGEST_ROWS = 1_000_000


def rows_in(content: str) -> tuple[str | None, list[Any] | None]:
    """Return the query and the rows of a text; None where they hold more than plain values.

    >>> rows_in("Generated Cypher query:\\nMATCH (n) RETURN n.id AS id\\n\\nCypher Response:\\n[{'id': 'a'}]")
    ('MATCH (n) RETURN n.id AS id', [{'id': 'a'}])
    """
    asked, below, gave = content.partition(_ROWS_BELOW)
    rows = printed(gave if below else content, _LONGEST_ROWS)
    return text(asked.removeprefix(CYPHER).strip()) if below else None, rows if isinstance(rows, list) else None


def printed(value: Any, longest: int) -> Any:
    """Return a value of plain types that Python printed, or None."""
    if not isinstance(value, str) or len(value) > longest:
        return None
    try:
        return ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def content_of_rows(rows: list[Any], query: str | None, options: ReadOptions) -> LoggedAnswer:
    """Return the content of the rows of a query: retrieved names, edges, and doubts about them."""
    gathered, found = Gathered(options, query=query, asked=True), LoggedAnswer("")
    for row in rows:
        if isinstance(row, Mapping):
            gathered.row(row)
        else:
            gathered.nameless()
    gathered.add_to(found)
    return found
