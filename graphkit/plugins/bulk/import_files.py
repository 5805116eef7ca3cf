"""The files of ``neo4j-admin database import full``: an importer of a bulk load that writes them into a folder.

CSV has no empty lists, and no list of one empty text. A node or relationship with such values has ``set_apart``, the
number of an ``(:ImportedValues {number, json})`` node that holds them, and a node has the label ``SetApart``. What
says that a dataset or a run is complete is set apart, too. :mod:`graphkit.graph.finishing` puts these values back.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from graphkit.errors import InputError
from graphkit.files.atomic import written
from graphkit.files.file_locks import locked
from graphkit.graph import schema_version
from graphkit.plugins.bulk.bulk_elements import TIMES, Kind, Properties
from graphkit.plugins.bulk.import_sheets import SEPARATOR, Apart, Sheet

#: The argument file of neo4j-admin, and the file that describes the folder.
ARGUMENTS = "import.args"
_NOTE = "import.json"

#: The properties that say that something is complete, by label.
_MARKS: Mapping[str, Sequence[str]] = {"Dataset": ("digest",), "Run": ("digest", "complete")}

#: The types of relationships whose values ``load/put_back_listed`` puts back.
_SET_APART = ("LISTS",)

#: The values set apart whose numbers are kept in memory.
_KNOWN = 100_000
#: The size in bytes that the importer's buffer has at least.
_BUFFER = 4 << 20

#: What decides the content of the files.
Source = Mapping[str, Any]


class ImportFiles:
    """An importer that writes the files of a folder.

    Parameters
    ----------
    mark
        The properties of the ``:Load`` node that marks the graph as incomplete until the import is finished.
    """

    def __init__(self, folder: Path, mark: Properties) -> None:
        self._folder = folder
        self._mark = mark
        self._nodes: dict[str, Sheet] = {}
        self._relationships: dict[Kind, Sheet] = {}
        self._counts: Counter[str] = Counter()
        self._values: dict[bytes, int] = {}
        self._numbers = count()
        self._fresh: list[Properties] = []

    def send(
        self,
        nodes: Mapping[str, Sequence[Properties]],
        relationships: Mapping[Kind, Sequence[tuple[int, int, Properties]]],
    ) -> None:
        """Write nodes by label, and relationships between these and former ones."""
        for label, rows in nodes.items():
            sheet = self._nodes.get(label)
            if sheet is None:
                sheet = self._nodes[label] = Sheet(self._folder, label, (f":ID({label})",), TIMES.get(label, ()))
            apart: Apart = {}
            if label in _MARKS:
                rows = [_without_marks(number, row, _MARKS[label], apart) for number, row in enumerate(rows)]
            cells = sheet.cells(rows, apart)
            numbers = self._set_apart(apart, len(rows))
            labels = ["SetApart" if number else "" for number in numbers]
            first = self._counts[label]
            self._counts[label] += len(rows)
            sheet.write([str(number) for number in range(first, first + len(rows))], labels, numbers, *cells)
        for kind, edges in relationships.items():
            edge_sheet = self._relationships.get(kind)
            if edge_sheet is None:
                name, source, target = kind
                keys = (f":START_ID({source})", f":END_ID({target})")
                edge_sheet = self._relationships[kind] = Sheet(self._folder, "-".join(kind), keys, TIMES.get(name, ()))
            apart = {}
            cells = edge_sheet.cells([properties for _, _, properties in edges], apart)
            if apart and kind[0] not in _SET_APART:
                raise TypeError(f"{kind[0]} holds a list that CSV can't express: {apart}")
            starts, ends = [str(start) for start, _, _ in edges], [str(end) for _, end, _ in edges]
            edge_sheet.write(starts, ends, self._set_apart(apart, len(edges)), *cells)
        if self._fresh:
            fresh, self._fresh = self._fresh, []
            self.send({"ImportedValues": fresh}, {})

    def complete(self, schema: Sequence[str]) -> None:
        """Write the headers and the arguments; the finishing creates the constraints and indexes."""
        self.send({"Load": [self._mark]}, {})
        self.close()
        for sheet in self._nodes.values():
            sheet.write_header(":LABEL", "set_apart:long")
        for sheet in self._relationships.values():
            sheet.write_header("set_apart:long")
        sheets = [*self._nodes.values(), *self._relationships.values()]
        lines = [f"--nodes={label}={_files(sheet)}" for label, sheet in self._nodes.items()]
        lines += [f"--relationships={kind[0]}={_files(sheet)}" for kind, sheet in self._relationships.items()]
        lines += ["--id-type=integer", f"--array-delimiter=U+{ord(SEPARATOR):04X}", "--bad-tolerance=0"]
        if several := [f"./{sheet.file.name}" for sheet in sheets if sheet.multiline]:
            lines += ["--multiline-fields-format=v2", f"--multiline-fields={','.join(several)}"]
        if (longest := 8 * max(sheet.longest for sheet in sheets)) > _BUFFER:
            lines.append(f"--read-buffer-size={longest}")
        (self._folder / ARGUMENTS).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def close(self) -> None:
        """Close the files."""
        for sheet in (*self._nodes.values(), *self._relationships.values()):
            sheet.close()

    def _set_apart(self, apart: Apart, rows: int) -> list[str]:
        """Return the number of the values set apart for each row, as text; empty for none."""
        numbers = [""] * rows
        for row, values in apart.items():
            key = msgspec.json.encode(values)
            number = self._values.get(key)
            if number is None:
                number = next(self._numbers)
                if len(self._values) >= _KNOWN:
                    self._values.clear()
                self._values[key] = number
                self._fresh.append({"number": number, "json": key.decode()})
            numbers[row] = str(number)
        return numbers


def _without_marks(number: int, row: Properties, marks: Sequence[str], apart: Apart) -> Properties:
    apart[number] = {name: row[name] for name in marks}
    return {name: value for name, value in row.items() if name not in marks}


def _files(sheet: Sheet) -> str:
    return f"./{sheet.header.name},./{sheet.file.name}"


@contextmanager
def import_files(folder: Path, mark: Properties, source: Source) -> Iterator[ImportFiles]:
    """Provide an importer that writes into a folder, which counts as complete only after the block.

    Raise InputError if the folder holds something else, or can't be written.
    """
    with locked(folder / ".lock"):
        if any(path.name != ".lock" for path in folder.iterdir()) and not (folder / _NOTE).is_file():
            what = "the folder holds something that graphkit didn't write"
            raise InputError(what, where=str(folder), remedy="Name another folder (--out FOLDER).")
        _note(folder, {})
        for former in (folder / ARGUMENTS, *folder.glob("*.csv")):
            former.unlink(missing_ok=True)
        files = ImportFiles(folder, mark)
        try:
            yield files
        finally:
            files.close()
        _note(folder, source)


def source_of(paths: Sequence[Path], on_error: str) -> dict[str, Any]:
    """Return what decides the content of the files: the size and the time of each input, what is skipped, the form."""
    found = {str(path.resolve()): path.stat() for path in paths if path.exists()}
    inputs = {path: [one.st_size, one.st_mtime_ns] for path, one in found.items()}
    return {"inputs": inputs, "on_error": on_error, "schema": schema_version.SCHEMA_VERSION}


def holds_import(folder: Path, source: Source) -> bool:
    """Return whether a folder holds all files of an import of the same source."""
    try:
        return bool(source == json.loads((folder / _NOTE).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return False


def _note(folder: Path, source: Source) -> None:
    with written(folder / _NOTE) as temporary:
        temporary.write_text(json.dumps(source), encoding="utf-8")
