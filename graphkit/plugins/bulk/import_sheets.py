"""Sheets of ``neo4j-admin database import``: the CSV files of one label or one kind of relationships."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

#: Between the items of a list; names can't hold it, and a text that does is written apart.
SEPARATOR = "\x1e"

_BOOLEANS = {True: "true", False: "false"}
_SCALARS = {str: "string", bool: "boolean", int: "long", float: "double"}

#: The values that a sheet can't express, by row and name.
Apart = dict[int, dict[str, Any]]


def _texts(values: Iterable[str | None]) -> list[str]:
    """Return cells of texts: quotes tell the empty text from none."""
    return ["" if value is None else '"' + value.replace('"', '""') + '"' for value in values]


def _numbers(values: Iterable[float | None]) -> list[str]:
    return ["" if value is None else repr(value) for value in values]


def _booleans(values: Iterable[bool | None]) -> list[str]:
    return ["" if value is None else _BOOLEANS[value] for value in values]


_CELLS: Mapping[str, Callable[[Iterable[Any]], list[str]]] = {
    "string": _texts,
    "datetime": _texts,
    "boolean": _booleans,
    "long": _numbers,
    "double": _numbers,
}
_ITEMS: Mapping[str, Callable[[Any], str]] = {"boolean": _BOOLEANS.__getitem__, "long": repr, "double": repr}


class Sheet:
    """A CSV file whose columns are found while it is written, and the file of its header.

    Attributes
    ----------
    name
        The name of the file without its suffix.
    file
        The path of the file, and ``header`` that of its header.
    longest
        The length of its longest line in characters.
    multiline
        Whether a text holds a line break.
    """

    def __init__(self, folder: Path, name: str, keys: Sequence[str], times: Iterable[str]) -> None:
        self.name = name
        self.file = folder / f"{name}.csv"
        self.header = folder / f"{name}-header.csv"
        self.longest = 0
        self.multiline = False
        self._keys = keys
        self._times = frozenset(times)
        self._kinds: dict[str, str] = {}
        self._stream = self.file.open("wb")

    def cells(self, rows: Sequence[Mapping[str, Any]], apart: Apart) -> list[list[str]]:
        """Return the cells of each column, and add to ``apart`` what CSV can't express: mostly empty lists."""
        columns = {name: [row.get(name) for row in rows] for name in dict.fromkeys(chain.from_iterable(rows))}
        for name in [one for one in columns if one not in self._kinds]:
            if kind := self._kind(name, columns[name]):
                self._kinds[name] = kind
            else:
                _set_apart(name, columns.pop(name), apart)
        return [
            self._column(name, kind, columns[name], apart) if name in columns else [""] * len(rows)
            for name, kind in self._kinds.items()
        ]

    def write(self, *columns: Sequence[str]) -> None:
        """Append rows, given by the columns of the header; later rows may have more of them."""
        lines = list(map(",".join, zip(*columns, strict=True)))
        text = "\n".join(lines) + "\n"
        self.longest = max(self.longest, max(map(len, lines)))
        self.multiline = self.multiline or text.count("\n") > len(lines) or "\r" in text
        self._stream.write(text.encode())

    def close(self) -> None:
        """End the file."""
        self._stream.close()

    def write_header(self, *more: str) -> None:
        """Write the header; ``more`` are columns between the keys and the properties."""
        names = [*self._keys, *more, *(f"{name}:{kind}" for name, kind in self._kinds.items())]
        self.header.write_text(",".join(names) + "\n", encoding="utf-8")

    def _kind(self, name: str, values: Iterable[Any]) -> str | None:
        """Return the type of a new column; None if no value tells."""
        if name in self._times:
            return "datetime"
        first = next((value for value in values if value is not None and value != []), None)
        if isinstance(first, list):
            return f"{_SCALARS[type(first[0])]}[]"
        return None if first is None else _SCALARS[type(first)]

    def _column(self, name: str, kind: str, values: list[Any], apart: Apart) -> list[str]:
        if kind.endswith("[]"):
            return _list_cells(name, kind.removesuffix("[]"), values, apart)
        found = set(map(type, values)) - {type(None)}
        if any(_SCALARS.get(one) != kind and kind != "datetime" for one in found):
            raise TypeError(f"{self.name}.{name} holds {found}, and {kind} before")
        return _CELLS[kind](values)


def _list_cells(name: str, kind: str, values: Iterable[Any], apart: Apart) -> list[str]:
    """Return cells of lists: those without items, with one empty text, or with a separator in an item are set apart."""
    cells = []
    item = _ITEMS.get(kind)
    for number, value in enumerate(values):
        if value is None:
            cells.append("")
            continue
        text = SEPARATOR.join(map(item, value) if item is not None else value)
        if not text or text.count(SEPARATOR) != len(value) - 1:
            apart.setdefault(number, {})[name] = value
            cells.append("")
        else:
            cells.append('"' + text.replace('"', '""') + '"')
    return cells


def _set_apart(name: str, values: Iterable[Any], apart: Apart) -> None:
    for number, value in enumerate(values):
        if value is not None:
            apart.setdefault(number, {})[name] = value
