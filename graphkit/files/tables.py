"""Tables as CSV: cells that no spreadsheet mistakes for a formula, and cells of any length."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.jsonl import MAX_LINE, open_binary, read_block

#: The beginning of a cell that a spreadsheet mistakes for a formula, also behind the quotes that prevent it.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


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


def read_table(path: Path, delimiter: str = ",") -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (number of its last line, cells by column) of each row; skip columns without a name.

    Raises
    ------
    InputError
        The file can't be read, isn't UTF-8, has no columns, or is no CSV; or a row has more cells than columns.
    """
    limit = csv.field_size_limit(MAX_LINE)
    with _text_of(path) as lines:
        table = csv.DictReader(
            lines, strict=True, delimiter=delimiter
        )  # otherwise an open quote would include all following rows
        try:
            if not table.fieldnames:
                raise InputError("the file is empty", where=str(path), remedy="Its first line must name the columns.")
            for row in table:
                if any(row.get(None) or ()):
                    what = "the row has more cells than there are columns"
                    remedy = "Put text with a comma between quotes."
                    raise InputError(what, where=f"{path}:{table.line_num}", remedy=remedy)
                yield table.line_num, {name: cell for name, cell in row.items() if name and cell is not None}
        except UnicodeDecodeError:
            where = f"{path}:{table.line_num + 1}"
            raise InputError("the file isn't text in UTF-8", where=where, remedy="Save it as UTF-8.") from None
        except csv.Error as error:
            raise InputError(f"the file can't be read as CSV: {error}", where=f"{path}:{table.line_num}") from None
        finally:
            csv.field_size_limit(limit)


def columns_of(path: Path, delimiter: str = ",") -> list[str]:
    """Return the columns in the first line of a table; raise the errors of :func:`read_table`."""
    with _text_of(path) as lines:
        try:
            return next(csv.reader(lines, strict=True, delimiter=delimiter), [])
        except UnicodeDecodeError:
            raise InputError("the file isn't text in UTF-8", where=str(path), remedy="Save it as UTF-8.") from None
        except csv.Error as error:
            raise InputError(f"the file can't be read as CSV: {error}", where=f"{path}:1") from None


def _text_of(path: Path) -> io.TextIOWrapper:
    """Open a file as text, decompressed by its suffix, with unchanged line ends."""
    return io.TextIOWrapper(io.BufferedReader(_Blocks(path)), "utf-8-sig", newline="")


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
