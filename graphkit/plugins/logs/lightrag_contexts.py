"""LightRAG's contexts as text, from ``only_need_context`` and ``only_need_prompt``, in the form of each version.

The tables of a context stand below headings, between fences: as JSON since the later releases of 1.3, which keeps names
whole, and as CSV before. A hybrid or mixed context of the latter has its cells joined without quotes.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

#: How a context begins, newest form first. A prompt has a role first, and the context within it.
_STARTS = (
    "Knowledge Graph Data (Entity)",
    "Document Chunks (Each entry",
    "Entities Data From Knowledge Graph",
    "Original Texts From Document Chunks",
    "-----Entities(KG)-----",
    "-----Relationships(KG)-----",
    "-----Document Chunks(DC)-----",
    "---Document Chunks---",
    "---Document Chunks(DC)---",
    "-----Entities-----",
)
_START = re.compile(rf"^[ ]*(?:{'|'.join(map(re.escape, _STARTS))})", re.MULTILINE)
_HEADINGS = (
    ("reference document list", "references"),
    ("document chunks", "chunks"),
    ("relation", "relationships"),
    ("entit", "entities"),
)
_PROMPT_START = "---Role---"
_REFUSED = "[no-context]"  # the end of the message of aquery() instead of an answer or a context
_REFERENCE = re.compile(r"\[(\d{1,6})\][ \t]*(\S.*)")

#: The tables of a context before 1.3. A text in one may hold fences, so that each ends where the next begins.
_CSV_OPENING = re.compile(r"-----Entities-----\s*```csv\r?\n")
_CSV_NEXT = tuple(re.compile(rf"```\s*-----{name}-----\s*```csv\r?\n") for name in ("Relationships", "Sources"))
_CSV_TABLES = ("entities", "relationships", "chunks")
_RENAMED = {"source": "entity1", "target": "entity2"}
_NEXT_CHUNK = "\n--New Chunk--\n"
_CREATED = re.compile(r"\[Created at: [^\]\n]{0,40}\]\n")

UNQUOTED = "a hybrid context that is CSV (LightRAG until 1.3) has no quotes: a name that holds a comma is cut at it"

Row = dict[str, Any]
Tables = dict[str, list[Row]]


def is_context(value: Any) -> bool:
    """Return whether a value is a context as text, a prompt that holds one, or the refusal in its place."""
    if not isinstance(value, str):
        return False
    begins = value[:200].lstrip().startswith(_STARTS) or (is_prompt(value) and _START.search(value) is not None)
    return (begins and "```" in value) or _NEXT_CHUNK in value or is_refusal(value)


def is_prompt(value: str) -> bool:
    """Return whether a value is the prompt that ``only_need_prompt`` gives."""
    return value.startswith(_PROMPT_START)


def is_refusal(value: str | None) -> bool:
    """Return whether a text replaces an answer or a context because nothing was found."""
    return value is not None and value[-200:].rstrip().endswith(_REFUSED)


def tables_of(context: str, unread: Counter[str], notes: list[str]) -> Tables:
    """Return the tables of a context by their names; a naive one has no tables of the graph."""
    begin = _START.search(context)
    if begin is None:
        return {"chunks": chunks_of(context)}
    context = context[begin.start() :]
    bodies = _csv_tables(context.lstrip())
    if bodies is None:
        return _tables_of_json(context, unread)
    return {name: list(_csv_rows(name, body, unread, notes)) for name, body in zip(_CSV_TABLES, bodies, strict=True)}


def _csv_tables(context: str) -> tuple[str, ...] | None:
    """Return the three tables of a context before 1.3, or None. The last table ends with the last fence."""
    opening = _CSV_OPENING.match(context)
    if opening is None:
        return None
    bodies, start = [], opening.end()
    for following in _CSV_NEXT:
        body = next((found for found in _fences(following, context, start)), None)
        if body is None:
            return None
        bodies.append(context[start : body[0]])
        start = body[1]
    last = None
    at = len(context)
    while last is None and (at := context.rfind("```", start, at)) >= 0:
        if _line_end_before(context, at, start) is not None:
            last = context.rfind("\n", start, at)
    return None if last is None else (*bodies, context[start:last])


def _fences(following: re.Pattern[str], context: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the end of each table whose fence has its own line, and the beginning of the next table."""
    for found in following.finditer(context, start):
        end = _line_end_before(context, found.start(), start)
        if end is not None:
            yield end, found.end()


def _line_end_before(context: str, fence: int, start: int) -> int | None:
    """Return the place of the first line end in the white space before a fence, or None."""
    begin = fence
    while begin > start and context[begin - 1].isspace():
        begin -= 1
    end = context.find("\n", begin, fence)
    return end if end >= 0 else None


def chunks_of(text: str) -> list[Row]:
    """Return the chunks of a naive context before 1.3, which has nothing but them."""
    return [{"content": _CREATED.sub("", chunk, count=1).strip()} for chunk in text.split(_NEXT_CHUNK)]


def _tables_of_json(context: str, unread: Counter[str]) -> Tables:
    """Return the tables of lines of JSON, or of one array each; no line of JSON can be a fence."""
    tables: Tables = {}
    table: str | None = None
    fenced = False
    for line in map(str.strip, context.split("\n")):
        if line.startswith("```"):
            fenced = not fenced
            if fenced and table is not None:
                tables.setdefault(table, [])
        elif table == "references" and (found := _REFERENCE.fullmatch(line)):
            tables.setdefault(table, []).append({"reference_id": found[1], "file_path": found[2]})
        elif fenced and table is not None and table != "references":
            rows = _json_rows(line)
            tables[table].extend(rows or ())
            if rows is None and line:
                unread[f"lines of {table} that aren't JSON"] += 1
        elif not fenced and line:
            heading = line.lower()
            table = next((name for word, name in _HEADINGS if heading.lstrip("-").find(word) in range(60)), table)
    return tables


def _json_rows(line: str) -> list[Row] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return [row for row in (value if isinstance(value, list) else [value]) if isinstance(row, dict)]


def _csv_rows(table: str, body: str, unread: Counter[str], notes: list[str]) -> Iterator[Row]:
    """Yield the rows of a table; its first line has the columns."""
    first, _, rest = body.lstrip().partition("\n")
    if ",\t" in first:
        if table != "chunks" and rest.strip() and UNQUOTED not in notes:
            notes.append(UNQUOTED)
        yield from _unquoted_rows([column.strip() for column in first.split(",")], rest)
        return
    escape = "\\" if first.startswith('"') else None
    rows = csv.reader(io.StringIO(body.strip(), newline=""), escapechar=escape)
    try:
        columns = next(rows, [])
        for cells in rows:
            if cells:
                yield _named(columns, cells)
    except csv.Error:  # a cell that is too long, or was cut
        unread[f"rows of {table} that aren't CSV"] += 1


def _unquoted_rows(columns: list[str], body: str) -> Iterator[Row]:
    """Yield the rows of cells that were joined without quotes, by their numbers: a text may hold commas and lines."""
    prose = next((name for name in ("description", "content") if name in columns), columns[-1])
    before, after = columns.index(prose) - 1, len(columns) - columns.index(prose) - 1
    starts: list[tuple[int, int]] = []
    at = 0
    while (begin := _numbered(body, len(starts) + 1, at)) is not None:
        at = begin + len(f"{len(starts) + 1},\t")
        starts.append((begin, at))
    for (_, start), (end, _) in zip(starts, [*starts[1:], (len(body), 0)], strict=True):
        cells, rest = [], body[start:end].strip("\n")
        for _ in range(before):
            cell, rest = _first_cell(rest)
            cells.append(cell)
        ends = rest.rsplit(",", after) if after else [rest]
        yield _named(columns, ["", *cells, *ends])


def _numbered(body: str, number: int, at: int) -> int | None:
    """Return the place of the row with a number, which begins a line, or None."""
    mark = f"{number},\t"
    if at == 0 and body.startswith(mark):
        return 0
    found = body.find(f"\n{mark}", at)
    return None if found < 0 else found + 1


def _first_cell(rest: str) -> tuple[str, str]:
    """Return the first cell and the rest; names of version 1.0 are themselves in quotes."""
    if rest.startswith('"') and (end := rest.find('",', 1)) > 0:
        return rest[: end + 1], rest[end + 2 :]
    cell, _, rest = rest.partition(",")
    return cell, rest


def _named(columns: list[str], cells: list[str]) -> Row:
    """Return a row by the columns that later versions have; version 1.0 wrote its names in quotes."""
    row = dict(zip((_RENAMED.get(column, column) for column in columns), cells, strict=False))
    return {
        name: cell[1:-1] if name.startswith("entity") and len(cell) > 1 and cell[0] == cell[-1] == '"' else cell
        for name, cell in row.items()
        if name != "id"
    }
