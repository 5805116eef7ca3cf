"""Writes small workbooks by hand: XLSX and ODS with nothing but what a reader needs."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from xml.sax.saxutils import escape

#: A cell: a text, a number, a day or nothing.
Cell = str | float | date | None
Sheets = Mapping[str, Sequence[Sequence[Cell]]]

#: The texts that are written as errors of formulas.
ERRORS = ("#N/A", "#REF!")

#: The rows of a sheet that has 2^34 cells between its two.
FAR = (
    '<sheetData><row r="1"><c r="A1"><v>1</v></c></row>'
    '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
)

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PARTS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"


def write_workbook(path: Path, sheets: Sheets) -> Path:
    """Write the sheets of a workbook, in the form that the ending of its name says."""
    return write_parts(path, _ods(sheets) if path.suffix == ".ods" else _xlsx(sheets))


def write_parts(path: Path, parts: Mapping[str, str]) -> Path:
    """Write the parts of a workbook."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return path


def sheet_of_xlsx(rows: str) -> dict[str, str]:
    """Return the parts of a workbook of one sheet, whose rows are XML."""
    return {**_xlsx({"S": []}), "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}">{rows}</worksheet>'}


def sheet_of_ods(rows: str) -> dict[str, str]:
    """Return the parts of an OpenDocument of one sheet, whose rows are XML."""
    return _document(f'<table:table table:name="S">{rows}</table:table>')


def _xlsx(sheets: Sheets) -> dict[str, str]:
    numbers = range(1, len(sheets) + 1)
    kinds = "".join(
        f'<Override PartName="/xl/{name}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.'
        f'{kind}+xml"/>'
        for name, kind in [
            ("workbook", "sheet.main"),
            ("styles", "styles"),
            *((f"worksheets/sheet{number}", "worksheet") for number in numbers),
        ]
    )
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{number}" r:id="r{number}"/>' for number, name in enumerate(sheets, 1)
    )
    links = "".join(
        f'<Relationship Id="r{number}" Type="{_PARTS}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        for number in numbers
    )
    office = f'<Relationship Id="r1" Type="{_PARTS}/officeDocument" Target="xl/workbook.xml"/>'
    return {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{kinds}'
        "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}">{office}</Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_PARTS}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_RELATIONS}">{links}'
        f'<Relationship Id="s" Type="{_PARTS}/styles" Target="styles.xml"/></Relationships>',
        # The second format of cells is that of days.
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/>'
        "</cellXfs></styleSheet>",
        **{
            f"xl/worksheets/sheet{number}.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>'
            + "".join(
                f'<row r="{at}">' + "".join(_xlsx_cell(cell, at, column) for column, cell in enumerate(row)) + "</row>"
                for at, row in enumerate(rows, 1)
            )
            + "</sheetData></worksheet>"
            for number, rows in enumerate(sheets.values(), 1)
        },
    }


def _xlsx_cell(cell: Cell, row: int, column: int) -> str:
    at = f'r="{chr(65 + column)}{row}"'
    if cell is None:
        return ""
    if isinstance(cell, date):
        return f'<c {at} s="1"><v>{(cell - date(1899, 12, 30)).days}</v></c>'
    if isinstance(cell, str) and cell in ERRORS:
        return f'<c {at} t="e"><f>X</f><v>{cell}</v></c>'
    if isinstance(cell, str):
        return f'<c {at} t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>'
    return f"<c {at}><v>{cell}</v></c>"


def _ods(sheets: Sheets) -> dict[str, str]:
    return _document(
        "".join(
            f'<table:table table:name="{escape(name)}">'
            + "".join(f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows)
            + "</table:table>"
            for name, rows in sheets.items()
        )
    )


def _document(tables: str) -> dict[str, str]:
    names = " ".join(f'xmlns:{name}="{_ODF}:{name}:1.0"' for name in ("office", "table", "text", "calcext"))
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return {
        "mimetype": kind,
        "META-INF/manifest.xml": f'<manifest:manifest xmlns:manifest="{_ODF}:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>',
        "content.xml": f"<office:document-content {names}><office:body><office:spreadsheet>{tables}"
        "</office:spreadsheet></office:body></office:document-content>",
    }


def _ods_cell(cell: Cell) -> str:
    if cell is None:
        return "<table:table-cell/>"
    if isinstance(cell, date):
        return f'<table:table-cell office:value-type="date" office:date-value="{cell.isoformat()}"/>'
    if isinstance(cell, str) and cell in ERRORS:
        kinds = 'office:value-type="string" office:string-value="" calcext:value-type="error"'
        return f"<table:table-cell {kinds}><text:p>{cell}</text:p></table:table-cell>"
    if isinstance(cell, str):
        shown = f"<text:p>{escape(cell)}</text:p>"
        return f'<table:table-cell office:value-type="string">{shown}</table:table-cell>'
    return f'<table:table-cell office:value-type="float" office:value="{cell}"/>'
