"""Sheets of workbooks as tables: cells as they are shown, unusable ones, and hostile files."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.files.tables import columns_of, is_table, read_table
from tests.helpers.workbooks import FAR, Cell, sheet_of_ods, sheet_of_xlsx, write_parts, write_workbook

#: A title, an empty row, the columns, and ids of each kind.
ROWS: list[list[Cell]] = [
    ["Our questions"],
    [None],
    ["id", "question"],
    [7, "A?"],
    [date(2026, 1, 2), "B?"],
    [None, None],
    ["007", "C?"],
    [1.5, "D?"],
]
IDS = [(4, "7"), (5, "2026-01-02"), (7, "007"), (8, "1.5")]


def ids(path: Path) -> list[tuple[int, str]]:
    """Return the row and the id of each question of a table."""
    return [(number, row["id"]) for number, row in read_table(path)]


@pytest.mark.parametrize("suffix", [".xlsx", ".ods"])
def test_sheets_of_workbooks(suffix: str, tmp_path: Path) -> None:
    """Numbers and days are read as they are shown, with the row in the sheet; the sheet is the only one or is named."""
    one = write_workbook(tmp_path / f"one{suffix}", {"Questions": ROWS, "Empty": []})
    assert is_table(one)
    assert columns_of(one) == ["id", "question"]
    assert ids(one) == IDS
    two = write_workbook(tmp_path / f"two{suffix}", {"Questions": ROWS, "Notes": [["x"]]})
    with pytest.raises(InputError, match=r"several sheets\n.*#Questions'. There are: Questions, Notes"):
        ids(two)
    assert ids(tmp_path / f"two{suffix}#Questions") == IDS
    with pytest.raises(InputError, match=r"no sheet 'Question'\n.*Did you mean Questions?"):
        ids(tmp_path / f"two{suffix}#Question")


@pytest.mark.parametrize("suffix", [".xlsx", ".ods"])
def test_cells_that_hold_no_value(suffix: str, tmp_path: Path) -> None:
    """Errors and numbers whose digits a spreadsheet has cut are refused with their place, in columns with a name."""
    refused: tuple[tuple[list[Cell], str], ...] = (
        ([1, "#N/A"], ":3: column question: the cell is an error of the spreadsheet, #N/A"),
        (["#REF!", "A?"], ":3: column id: the cell is an error of the spreadsheet, #REF!"),
        ([123456789012345678, "A?"], ":3: column id: the cell is a number of 18 digits, of which a spreadsheet keeps"),
    )
    for row, what in refused:
        rows: list[list[Cell]] = [["id", "question", None], [0, "Z?", "#N/A"], row]
        write_workbook(tmp_path / f"q{suffix}", {"Other": [["#N/A"] * 3] * 3, "S": rows})
        with pytest.raises(InputError, match=what):
            ids(tmp_path / f"q{suffix}#S")
    plain: list[list[Cell]] = [["id", "question"], [1e-7, "A?"], [123456789012345, "B?"], [-1.5, "C?"]]
    found = ids(write_workbook(tmp_path / f"n{suffix}", {"S": plain}))
    assert found == [(2, "0.0000001"), (3, "123456789012345"), (4, "-1.5")]


#: A row that stands for all rows of a sheet, with all of its columns.
MANY = (
    '<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384" '
    'office:value-type="float" office:value="1"/></table:table-row>'
)
BOMBS = {
    "far.xlsx": (sheet_of_xlsx(FAR), "takes more than"),
    "many.ods": (sheet_of_ods(MANY), "takes more than|can't be read as a workbook"),
    "long.xlsx": (sheet_of_xlsx(" " * (16 << 20)), "compressed implausibly well"),
    "entity.xlsx": (sheet_of_xlsx("&x;"), "can't be read as a workbook|is empty"),
    "torn.xlsx": ({"xl/workbook.xml": "<"}, "can't be read as a workbook"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_hostile_workbooks(name: str, tmp_path: Path) -> None:
    """A sheet beyond all memory and one that unpacks implausibly are refused in words."""
    parts, what = BOMBS[name]
    with pytest.raises(InputError, match=what):
        list(read_table(write_parts(tmp_path / name, parts)))


def test_other_files_as_workbooks(tmp_path: Path) -> None:
    """A missing file, a folder and a text under the name of a workbook are refused."""
    (tmp_path / "q.xlsx").write_text("question\n")
    (tmp_path / "d.ods").mkdir()
    for name, what in (
        ("q.xlsx", "can't be read as a workbook"),
        ("d.ods", "no such file"),
        ("n.xlsx", "no such file"),
    ):
        with pytest.raises(InputError, match=what):
            list(read_table(tmp_path / name))
