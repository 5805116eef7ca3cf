"""The columns of the board and of the list of questions: those of the script, of the data and of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

from graphkit.report import write_report
from graphkit.report.data import UNLISTED, QuestionOutcome
from graphkit.report.rendering import TEMPLATES
from tests.helpers import ROOT, cli
from tests.helpers.datasets import write_jsonl

#: The columns of the list beside the runs and the measures: each by its name in addresses and its heading.
COLUMNS = {"category": "category", "moved": "change", "tests": "tests passed", "stage": "ended"}

DOCUMENTED = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")


def offered() -> str:
    """Return the script that offers the columns of the list."""
    script = (TEMPLATES / "list.js").read_text(encoding="utf-8")
    return script[script.index("const offered = ") : script.index("const columns = ")]


def test_each_column_of_the_list_is_known_and_documented() -> None:
    """The list offers four columns beside those of measures; addresses know them, and the documentation names each."""
    named = dict(re.findall(r'\{ name: "([^"]+)", words: "([^"]+)"', offered()))
    assert named == COLUMNS
    assert re.findall(r"\bname: `(\w+):", offered()) == ["value"]
    known = re.search(r"^const COLUMNS = \[(.*)\];$", (TEMPLATES / "model.js").read_text("utf-8"), re.MULTILINE)
    assert known is not None
    assert known[1] == ", ".join(f'"{name}"' for name in COLUMNS)
    said = re.search(r"\*Columns\* chooses what the list shows beside the marks: (.*?), and any measure\.", DOCUMENTED)
    assert said is not None
    assert said[1] == ", ".join(f"*{words}*" for words in COLUMNS.values())


def test_the_cells_of_the_list_read_what_the_data_hold() -> None:
    """What a cell of the list reads of a question, the row of each question or the outcome of each run has."""
    listed = {*re.findall(r"data\.questions\[n\]\.(\w+)", offered())}
    outcomes = {*re.findall(r"own\.questions\[n\]\.(\w+)", offered())}
    assert listed == {"category", "difficulty"} <= {*UNLISTED}
    assert outcomes == {"stage"} <= {*QuestionOutcome.__struct_fields__}


def test_the_board_has_a_column_for_the_measures_and_one_for_each_run(tmp_path: Path) -> None:
    """Of two runs, each table of the board has three headings, and each of its measures a cell of each run."""
    first = cli.tiny(tmp_path)
    other = write_jsonl(tmp_path / "runs" / "s.jsonl", [{**one, "run": "s"} for one in cli.ANSWERS])
    text = write_report([first, other], tmp_path / "page.html").read_text("utf-8")
    boards = re.findall(r'<table class="board">.*?</table>', text, re.DOTALL)
    assert boards
    for board in boards:
        head, _, body = board.partition("</thead>")
        assert re.findall(r'<th scope="col"(?: data-run="(\d)")?[^>]*>(measure)?', head) == [
            ("", "measure"),
            ("0", ""),
            ("1", ""),
        ]
        rows = [row for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL) if 'class="cell"' in row]
        assert rows
        assert {tuple(re.findall(r'<td(?: data-run="(\d)")?', row)) for row in rows} == {("0", "1")}
    assert "- **Board**: the layers with their measures, one column per run." in DOCUMENTED
