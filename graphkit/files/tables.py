"""Tables: CSV, Parquet and what plug-ins read; CSV is written so that no spreadsheet takes a cell for a formula."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphkit.errors import InputError
from graphkit.files.intake import is_pipe
from graphkit.files.jsonl import MAX_LINE, open_binary, read_block
from graphkit.files.parquet import parquet_columns, parquet_rows
from graphkit.records.plugins import called_with, installed, load
from graphkit.records.words import shortened

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The entry points of kinds of tables, by the endings of their files: functions of a file and of the name of a table in
#: it, None for the only one, that yield its rows as texts (:class:`UnusableCell`, :class:`SeveralTablesError`).
KINDS = "graphkit.tables"

#: The endings for which no plug-in is asked.
_OWN = (".csv", ".jsonl", ".parquet")

#: Returns whether a row is the header of a table.
Header = Callable[[Sequence[str]], bool]

#: What may separate the cells of a row.
_DELIMITERS = (",", ";", "\t", "|")

#: A first line by which spreadsheets say what separates the cells.
_STATED = re.compile(r"sep=(?P<sign>[^\s\w\"]|\t)\s*\Z", re.IGNORECASE)

#: The bytes by which the encoding of a text is known.
_MARKS = 400

#: The number of rows among which the header is looked for.
_ABOVE = 10

#: The beginning of a cell that a spreadsheet mistakes for a formula, also behind the quotes that prevent it.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


class _OtherTable(NamedTuple):
    """A table of another kind: what reads it, its file, and its name in the file, None for the only one."""

    point: EntryPoint
    file: Path
    name: str | None

    def rows(self) -> Iterator[list[str]]:
        """Yield the rows."""
        read = load(self.point, InputError, f"reading {self.file.name}", called_with(2))
        rows: Iterator[list[str]] = read(self.file, self.name)
        return rows


def _other(path: Path) -> _OtherTable | None:
    """Return the table of another kind that a path such as ``questions.xlsx#Sheet`` names; None for any other file."""
    text = str(path)
    if path.suffix.lower() in _OWN and "#" not in text:
        return None
    places = [] if path.exists() else [at for at, char in enumerate(text[:-1]) if char == "#"]
    for at in (*reversed(places), len(text)):
        file = Path(text[:at])
        if (point := installed(KINDS).get(file.suffix[1:].casefold())) is not None:
            return _OtherTable(point, file, text[at + 1 :] or None)
    return None


class SeveralTablesError(InputError):
    """A file holds several tables, and its path names none of them."""

    def __init__(self, what: str, names: Sequence[str], *, where: str, remedy: str) -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.names = tuple(names)


class UnusableCell(str):
    """The text of a cell that holds no value, or no longer the one that was entered.

    Attributes
    ----------
    why, remedy
        What is wrong, after the name of the cell, and what to do.
    """

    why: str
    remedy: str

    def __new__(cls, text: str, why: str, remedy: str) -> UnusableCell:  # noqa: D102 - its attributes are above
        cell = super().__new__(cls, text)
        cell.why, cell.remedy = why, remedy
        return cell


def shown(cell: Any) -> str:
    """Return a cell as a spreadsheet shows it without a format of its own.

    >>> shown(7.0), shown(datetime(2026, 1, 2)), shown(True), shown("007"), shown(1e-7)
    ('7', '2026-01-02', 'TRUE', '007', '0.0000001')
    """
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and math.isfinite(cell):
        return str(int(cell)) if cell.is_integer() else f"{Decimal(repr(cell)):f}"
    if isinstance(cell, datetime):
        return cell.isoformat(" ") if cell.time() != time() else cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)


def escape_formula(value: Any) -> Any:
    """Return a cell that a spreadsheet doesn't mistake for a formula: put a quote before text that looks like one.

    >>> escape_formula("=1+1"), escape_formula(-1), meant(escape_formula("'=1+1"))
    ("'=1+1", -1, "'=1+1")
    """
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def meant(text: str) -> str:
    """Return the text of a cell without the quote that :func:`escape_formula` puts before it."""
    return text[1:] if text[:1] == "'" and _FORMULA.match(text) else text


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows under a line of column names."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, columns)
        table.writeheader()
        table.writerows({name: escape_formula(value) for name, value in row.items()} for row in rows)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""Return rows under a line of column names, without an end of line; what isn't text is JSON.

    >>> csv_text(["a", "b"], [["=1", [1]], [None, "x,y"]])
    'a,b\n\'=1,[1]\n,"x,y"'
    """
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    table.writerow([escape_formula(name) for name in columns])
    for row in rows:
        texts = [one if isinstance(one, str | None) else json.dumps(one, ensure_ascii=False) for one in row]
        table.writerow(map(escape_formula, texts))
    return stream.getvalue().removesuffix("\n")


def is_table(path: Path) -> bool:
    """Return whether a file holds a table that isn't CSV in UTF-8: Parquet, text in UTF-16 or UTF-32, or another kind.

    Raises
    ------
    InputError
        The file is missing or can't be read.
    """
    if path.suffix.lower() == ".parquet" or _other(path) is not None:
        return True
    return path.is_file() and not is_pipe(path) and _encoding(path) != "utf-8-sig"


def read_table(path: Path, header: Header | None = None) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (number of its last line, cells by column) of each row that isn't blank; skip columns without a name.

    A table is CSV in UTF-8, UTF-16 or UTF-32, whose cells commas, semicolons, tabs or bars separate, as its header
    or a first line ``sep=;`` says; Parquet; or of a kind that a plug-in reads, such as a sheet of a workbook
    (``questions.xlsx#Sheet``). A title above the
    header is skipped.

    Parameters
    ----------
    header
        Returns whether a row is the header, and so which sheet of several is meant. By default it is the first row, or
        the second if the first is one cell.

    Raises
    ------
    InputError
        The file can't be read, has no columns, or one twice; or a row has more cells than columns, or one with an
        error or with a number whose digits a spreadsheet has cut.
    """
    if path.suffix.lower() == ".parquet":
        for number, row in enumerate(parquet_rows(path), 2):
            yield number, {name: _text(cell) for name, cell in row.items() if cell is not None}
        return
    if header is not None:
        path = _with_header(path, header)
    delimiter, skipped, columns = _layout(path, header)
    if not any(columns):
        for _ in _rows(path, delimiter):  # it may be no CSV
            pass
        raise InputError("the file is empty", where=str(path), remedy="Its first line must name the columns.")
    twice = [name for name, count in Counter(columns).items() if name and count > 1]
    if twice:
        further = "; `path 2` is a further column of paths" if "path" in twice[0].casefold() else ""
        remedy = f"Rename or remove one of them{further}."
        raise InputError(f"the column {twice[0]!r} stands twice", where=str(path), remedy=remedy)
    for number, cells in islice(_rows(path, delimiter), skipped + 1, None):
        if not any(cell.strip() for cell in cells):
            continue
        if any(cells[len(columns) :]):
            what = "the row has more cells than there are columns"
            remedy = "Put text with a comma between quotes."
            raise InputError(what, where=f"{path}:{number}", remedy=remedy)
        row = {name: cell for name, cell in zip(columns, cells, strict=False) if name}
        for name, cell in row.items():
            if isinstance(cell, UnusableCell):
                where = f"{path}:{number}: column {shortened(name)}"
                raise InputError(f"the cell {cell.why}", where=where, remedy=cell.remedy)
        yield number, row


def columns_of(path: Path) -> list[str]:
    """Return the columns of a table; raise the errors of :func:`read_table`."""
    return parquet_columns(path) if path.suffix.lower() == ".parquet" else _layout(path, None)[2]


def _with_header(path: Path, header: Header) -> Path:
    """Return the path of a table; of a file that holds several, that of the only one that has the header."""
    other = _other(path)
    if other is None:
        return path
    try:
        next(other.rows(), None)
    except SeveralTablesError as error:
        tables = [Path(f"{path}#{name}") for name in error.names]
        fit = [one for one in tables if any(header(cells) for _, cells in islice(_rows(one, ""), _ABOVE))]
        if len(fit) == 1:
            return fit[0]
        raise
    return path


def _layout(path: Path, header: Header | None) -> tuple[str, int, list[str]]:
    """Return what separates cells, the number of rows above the header, and the columns in it.

    Of the signs that may separate cells it is the one that gives the most columns, if possible in the first row.
    """
    best: tuple[tuple[bool, bool, bool, int], str, int, list[str]] | None = None
    for delimiter in _DELIMITERS[:1] if _other(path) is not None else _DELIMITERS:
        rows: list[list[str]] = []
        with contextlib.suppress(_NoTableError):  # what comes after the header is refused when it is read
            for _, cells in islice(_rows(path, delimiter), _ABOVE):
                rows.append(cells)
        filled = [place for place, cells in enumerate(rows) if _width(cells)]
        known = [place for place in filled if header is not None and header(rows[place])]
        at = (known or filled or [0])[0]
        if header is None and len(filled) > 1 and _width(rows[at]) == 1 < _width(rows[filled[1]]):
            at = filled[1]
        columns = [cell.strip() for cell in rows[at]] if filled else []
        rank = bool(known), _width(columns) > 1, at in filled[:1], _width(columns)
        if best is None or rank > best[0]:
            best = rank, delimiter, at, columns
    assert best is not None
    return best[1:]


def _width(cells: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in cells)


class _NoTableError(InputError):
    """The file can't be read as CSV with this sign between its cells."""


def _rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of its last line, cells) of each row of CSV, without a line ``sep=;``, or of another kind."""
    if (other := _other(path)) is not None:
        yield from enumerate(other.rows(), 1)
        return
    limit = csv.field_size_limit(MAX_LINE)
    with _text_of(path) as lines:
        done = 0
        try:
            first = lines.readline()
            if (stated := _STATED.match(first)) is not None:
                delimiter, done = stated["sign"], 1
            # Without `strict` an open quote would include all following rows.
            table = csv.reader(
                lines if stated else chain([first] * bool(first), lines), strict=True, delimiter=delimiter
            )
            begin = done
            for row in table:
                if any("\0" in cell for cell in row):
                    what, remedy = "the row holds a null character, as no text does", "Save it again as text in UTF-8."
                    raise InputError(what, where=f"{path}:{done + 1}", remedy=remedy)
                done = begin + table.line_num
                yield done, row
        except UnicodeError:
            remedy = "Save it as UTF-8 or UTF-16."
            raise InputError("the file isn't text in UTF-8", where=f"{path}:{done + 1}", remedy=remedy) from None
        except csv.Error as error:
            unclosed = "unexpected end" in str(error)
            what = f"the file can't be read as CSV: {'a quote that opens here has no end' if unclosed else error}"
            remedy = "Close each quote, and write a quote within a text twice."
            at = done + 1 if unclosed else begin + table.line_num
            raise _NoTableError(what, where=f"{path}:{at}", remedy=remedy) from None
        finally:
            csv.field_size_limit(limit)


def _text(cell: Any) -> str:
    """Return a cell of Parquet as text; lists and maps are JSON."""
    return json.dumps(cell, ensure_ascii=False, default=shown) if isinstance(cell, list | dict) else shown(cell)


def _text_of(path: Path) -> io.TextIOWrapper:
    """Open a file as text, decompressed by its suffix, with unchanged line ends."""
    return io.TextIOWrapper(io.BufferedReader(_Blocks(path)), _encoding(path), newline="")


def _encoding(path: Path) -> str:
    """Return the encoding of a file by its first bytes: a mark, or letters of ASCII with a null beside each."""
    with open_binary(path) as stream:
        begin = read_block(stream, path, 0)[:_MARKS]
    if begin[:4] in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
        return "utf-32"
    if begin[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    first, second = begin[::2], begin[1::2]
    if len(begin) >= 8 and min(first.count(0), second.count(0)) == 0:
        for zeros, name in ((second, "utf-16-le"), (first, "utf-16-be")):
            if zeros.count(0) > len(zeros) / 2:
                return name
    return "utf-8-sig"


class _Blocks(io.RawIOBase):
    """The bytes of a file for Python's own streams."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stream = open_binary(path)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._rest or read_block(self._stream, self._path, 0)
        size = min(len(buffer), len(block))
        buffer[:size], self._rest = block[:size], block[size:]
        return size

    def close(self) -> None:
        with contextlib.suppress(AttributeError):
            self._stream.close()
        super().close()
