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
from datetime import date, datetime, time
from pathlib import Path
from typing import IO, Any, cast

from graphkit.errors import InputError, did_you_mean, missing_file
from graphkit.files.intake import SizeMeter, are_lifted, too_much

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

#: The most memory in bytes and processor time in seconds that reading a workbook may take.
MEMORY = 640 << 20
SECONDS = 60

_BLOCK = 1 << 20
_NAMED = re.compile(rf"(?P<file>.+(?:{'|'.join(map(re.escape, SUFFIXES))}))#(?P<sheet>.+)", re.IGNORECASE | re.DOTALL)


def sheet_of(path: Path) -> tuple[Path, str | None]:
    """Return the file and the sheet that a path such as ``questions.xlsx#Sheet`` names.

    >>> sheet_of(Path("a/q.xlsx#Answers"))[1], sheet_of(Path("a/q#1.xlsx"))[1]
    ('Answers', None)
    """
    match = _NAMED.fullmatch(str(path))
    return (Path(match["file"]), match["sheet"]) if match is not None and not path.exists() else (path, None)


def is_workbook(path: Path) -> bool:
    """Return whether a path names a workbook or a sheet of one, by the ending of its file."""
    return sheet_of(path)[0].suffix.lower() in SUFFIXES


def sheet_rows(path: Path) -> Iterator[list[str]]:
    """Yield the rows of the sheet that a path names, else of the only one that isn't empty, as their cells show them.

    Raises
    ------
    InputError
        The file can't be read as a workbook, unpacks to implausibly much, lacks the sheet, or has several.
    """
    file, sheet = sheet_of(path)
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
                yield last
        if process.wait() != 0 or not isinstance(last, dict):
            what = f"reading the workbook takes more than {MEMORY >> 20} MiB of memory or {SECONDS} seconds"
            raise too_much(what, str(file))
        if "sheets" in last:
            raise SheetsError(file, sheet, last["sheets"])
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


class SheetsError(InputError):
    """A workbook has several sheets and none is named, or it lacks the one that is named."""

    def __init__(self, file: Path, sheet: str | None, sheets: list[str]) -> None:
        self.sheets = [] if sheet is not None else sheets
        what, advice = "the workbook has several sheets", f"Name one of them, such as '{file.name}#{sheets[0]}'. "
        if sheet is not None:
            what, advice = f"there is no sheet {sheet!r}", did_you_mean(sheet, sheets)
        super().__init__(what, where=str(file), remedy=f"{advice}There are: {', '.join(sheets)}.")


def shown(cell: Any) -> str:
    """Return a cell as a spreadsheet shows it.

    >>> shown(7.0), shown(datetime(2026, 1, 2)), shown(True), shown("007")
    ('7', '2026-01-02', 'TRUE', '007')
    """
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e16:
        return str(int(cell))
    if isinstance(cell, datetime):
        return cell.isoformat(" ") if cell.time() != time() else cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)


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
            for row in held[name].to_python(skip_empty_area=False):
                yield [shown(cell) for cell in row]
    yield {}


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
