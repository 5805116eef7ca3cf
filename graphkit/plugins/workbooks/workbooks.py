"""Sheets of workbooks (Excel and OpenDocument) as rows of texts, read by python-calamine.

A small file may claim a sheet of a billion cells, which the library makes room for, so that a process of its own reads
it, whose memory and time are limited. Formulas aren't computed, and links to other files aren't followed: a cell has
the value that was saved.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import IO, Any, cast
from xml.etree import ElementTree

from graphkit.errors import InputError, did_you_mean, missing_file
from graphkit.files.intake import SizeMeter, are_lifted, too_much
from graphkit.files.tables import SeveralTablesError, UnusableCell, shown

#: The most memory in bytes and processor time in seconds that reading a workbook may take.
MEMORY = 640 << 20
SECONDS = 60

#: Spreadsheets keep 15 digits of a number.
EXACT = 10**15

_BLOCK = 1 << 20


def sheet_rows(file: Path, sheet: str | None) -> Iterator[list[str]]:
    """Yield the rows of a sheet, without a name of the only one that isn't empty, as their cells show them.

    Raises
    ------
    InputError
        The file can't be read as a workbook, unpacks to implausibly much, lacks the sheet, or has several.
    """
    if not file.is_file():
        raise missing_file(file)
    _weigh(file)
    limits = ["0", "0"] if are_lifted() else [str(MEMORY), str(SECONDS)]
    command = [sys.executable, "-P", "-m", __name__, str(file.resolve()), sheet or "", *limits]
    meter = SizeMeter(str(file), file.stat().st_size)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = cast(IO[bytes], process.stdout)
    last: Any = None
    try:
        for line in output:
            meter.unpacked(len(line))
            last = json.loads(line)
            if isinstance(last, list):
                yield [UnusableCell(*cell) if isinstance(cell, list) else cell for cell in last]
        if process.wait() != 0 or not isinstance(last, dict):
            what = f"reading the workbook takes more than {MEMORY >> 20} MiB of memory or {SECONDS} seconds"
            raise too_much(what, str(file))
        if "sheets" in last:
            raise _several(file, sheet, last["sheets"])
        if "error" in last:
            remedy = "Save it again as .xlsx, .ods or .csv, without a password."
            raise InputError(f"the file can't be read as a workbook: {last['error']}", where=str(file), remedy=remedy)
    finally:
        process.kill()
        process.wait()
        output.close()


def _weigh(file: Path) -> None:
    """Refuse a workbook whose parts unpack to implausibly much."""
    if not zipfile.is_zipfile(file):
        return  # older forms, and files that the library refuses
    meter = SizeMeter(str(file), file.stat().st_size)
    # What the archive can't unpack, the library refuses, too.
    broken = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, ValueError)
    with suppress(*broken), zipfile.ZipFile(file) as parts:
        for info in parts.infolist():
            with parts.open(info) as part:
                while block := part.read(_BLOCK):
                    meter.unpacked(len(block))


def _several(file: Path, sheet: str | None, sheets: list[str]) -> InputError:
    """Return the error of a workbook that has several sheets of which none is named, or lacks the one that is."""
    listed = f"There are: {', '.join(sheets)}."
    if sheet is not None:
        what = f"there is no sheet {sheet!r}"
        return InputError(what, where=str(file), remedy=f"{did_you_mean(sheet, sheets)}{listed}")
    advice = f"Name one of them, such as '{file.name}#{sheets[0]}'. {listed}"
    return SeveralTablesError("the workbook has several sheets", sheets, where=str(file), remedy=advice)


# In the process that reads ------------------------------------------------------------------------------------------


def _read(file: str, sheet: str) -> Iterator[Any]:
    """Yield the rows of a sheet, and in the end an object: an error, or the sheets among which to choose."""
    from python_calamine import CalamineWorkbook, SheetVisibleEnum

    with CalamineWorkbook.from_path(file) as workbook:
        names = list(workbook.sheet_names)
        visible = [one.name for one in workbook.sheets_metadata if one.visible == SheetVisibleEnum.Visible]
        if sheet and sheet not in names:
            yield {"sheets": names}
            return
        held = {name: workbook.get_sheet_by_name(name) for name in ([sheet] if sheet else visible)}
        filled = [name for name in held if sheet or held[name].height]
        if len(filled) > 1:
            yield {"sheets": filled}
            return
        for name in filled:
            errors = _errors(file, name)
            for number, row in enumerate(held[name].to_python(skip_empty_area=False)):
                yield [_cell(cell, errors.get((number, column))) for column, cell in enumerate(row)]
    yield {}


def _cell(cell: Any, error: str | None) -> str | tuple[str, str, str]:
    """Return the text of a cell; of an unusable one also what is wrong, and what to do."""
    if error is not None:
        return error, f"is an error of the spreadsheet, {error}", "Correct it there, or clear the cell."
    text = shown(cell)
    if isinstance(cell, int | float) and not isinstance(cell, bool) and abs(cell) >= EXACT:
        remedy = "Make the column one of text, and enter it again."
        return text, f"is a number of {len(text.lstrip('-'))} digits, of which a spreadsheet keeps 15", remedy
    return text


def _errors(file: str, sheet: str) -> dict[tuple[int, int], str]:
    """Return the errors in a sheet of XLSX or ODS by row and column, from 0 on."""
    if not zipfile.is_zipfile(file):
        return {}
    with zipfile.ZipFile(file) as parts:
        names = set(parts.namelist())
        if "content.xml" in names:
            with parts.open("content.xml") as content:
                return dict(_errors_of_ods(content, sheet)) if _holds(parts, "content.xml", b"error") else {}
        part = _part(parts, sheet) if "xl/workbook.xml" in names else None
        if part not in names or not _holds(parts, part, b"e"):
            return {}
        with parts.open(part) as content:
            return dict(_errors_of_xlsx(content))


def _holds(parts: zipfile.ZipFile, name: str, value: bytes) -> bool:
    """Return whether an attribute of a part may have a value."""
    data = parts.read(name)
    return b'"%s"' % value in data or b"'%s'" % value in data


def _part(parts: zipfile.ZipFile, sheet: str) -> str | None:
    """Return the part of an XLSX file that holds a sheet."""
    # Here and below, entities can't fill the memory: this process is limited.
    listed, book = (
        ElementTree.fromstring(parts.read(f"xl/{name}"))  # noqa: S314
        for name in ("_rels/workbook.xml.rels", "workbook.xml")
    )
    links = {one.get("Id"): one.get("Target", "") for one in listed}
    for one in book.iter():
        if _tag(one) == "sheet" and one.get("name") == sheet:
            link = next((value for name, value in one.attrib.items() if name.endswith("}id")), None)
            target = links.get(link, "")
            return target[1:] if target[:1] == "/" else f"xl/{target}"
    return None


def _errors_of_xlsx(content: IO[bytes]) -> Iterator[tuple[tuple[int, int], str]]:
    row = column = -1
    for event, element in ElementTree.iterparse(content, ("start", "end")):  # noqa: S314
        tag = _tag(element)
        if event == "start" and tag == "row":
            row, column = int(element.get("r") or row + 2) - 1, -1
        elif event == "start" and tag == "c":
            letters = re.match("[A-Z]+", element.get("r", ""))
            column = _column(letters[0]) if letters else column + 1
        elif tag == "c" and element.get("t") == "e":
            yield (row, column), next((one.text or "" for one in element if _tag(one) == "v"), "") or "#ERROR"
        elif tag == "row":
            element.clear()


def _errors_of_ods(content: IO[bytes], sheet: str) -> Iterator[tuple[tuple[int, int], str]]:
    row = column = 0
    inside = False
    for event, element in ElementTree.iterparse(content, ("start", "end")):  # noqa: S314
        tag = _tag(element)
        if tag == "table":
            inside, row = event == "start" and _attribute(element, "name") == sheet, 0
        elif event == "end" and tag == "table-row":
            row, column = row + int(_attribute(element, "number-rows-repeated") or 1), 0
            element.clear()
        elif event == "end" and tag in ("table-cell", "covered-table-cell"):
            if inside and "error" in (value for name, value in element.attrib.items() if name.endswith("value-type")):
                yield (row, column), "".join(element.itertext()).strip() or "#ERROR"
            column += int(_attribute(element, "number-columns-repeated") or 1)


def _tag(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _attribute(element: Any, name: str) -> str | None:
    return next((value for key, value in element.attrib.items() if key.endswith(f"}}{name}")), None)


def _column(letters: str) -> int:
    """Return the number of a column, from 0 on.

    >>> _column("A"), _column("AB")
    (0, 27)
    """
    return reduce(lambda number, letter: 26 * number + ord(letter) - 64, letters, 0) - 1


def _main(file: str, sheet: str, memory: str, seconds: str) -> None:
    import resource

    for kind, most in ((resource.RLIMIT_AS, int(memory)), (resource.RLIMIT_CPU, int(seconds))):
        if most:
            resource.setrlimit(kind, (most, most))
    try:
        for part in _read(file, sheet):
            sys.stdout.write(json.dumps(part) + "\n")
    except MemoryError:
        sys.exit(1)
    except BaseException as error:  # a panic of the library is no Exception
        what = next(iter(str(error).splitlines()), type(error).__name__)
        sys.stdout.write(json.dumps({"error": what[:200]}) + "\n")


if __name__ == "__main__":
    _main(*sys.argv[1:])
