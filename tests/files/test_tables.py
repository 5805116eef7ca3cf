"""Tables: CSV as spreadsheets write it, and Parquet."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.files.tables import columns_of, read_table


@pytest.mark.parametrize(
    "content",
    [
        "id;question\n1;A, b?\n".encode("utf-16"),
        "id;question\n1;A, b?\n".encode("utf-16-le"),
        "id;question\n1;A, b?\n".encode("utf-16-be"),
        "id;question\n1;A, b?\n".encode("utf-32"),
        b"sep=;\nid;question\n1;A, b?\n",
        b'\xef\xbb\xbfsep=,\r\nid,question\r\n1,"A, b?"\r\n',
        b"Our questions;\n;;;\nid;question\n;\n1;A, b?;;\n;;;\n",
        b"id|question\n1|A, b?\n",
        b"id\tquestion\n1\tA, b?\n",
    ],
)
def test_what_spreadsheets_write(content: bytes, tmp_path: Path) -> None:
    """UTF-16, a line that names the separator, a title, rows of separators alone, and each separator."""
    (tmp_path / "q.csv").write_bytes(content)
    assert [row for _, row in read_table(tmp_path / "q.csv")] == [{"id": "1", "question": "A, b?"}]


def test_parquet(tmp_path: Path) -> None:
    """Numbers and days are texts as typed, and lists are JSON."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({"id": [7.0, None], "day": [date(2026, 1, 2)] * 2, "path": [["a", "b"], None]})
    parquet.write_table(table, tmp_path / "q.parquet")
    assert columns_of(tmp_path / "q.parquet") == ["id", "day", "path"]
    assert list(read_table(tmp_path / "q.parquet")) == [
        (2, {"id": "7", "day": "2026-01-02", "path": '["a", "b"]'}),
        (3, {"day": "2026-01-02"}),
    ]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"id,path,path\n1,a,b\n", "'path' stands twice\n.*`path 2` is a further column"),
        (b"id,question\n1,a,b\n", ":2: the row has more cells"),
        (b'id,question\n1,"a\n', ":2: the file can't be read as CSV"),
        (b'id,question\n1,"a\n2,b\n3,c\n', r":2: .*: a quote that opens here has no end\n  Close each quote"),
        (b"id,question\n1,a\0b\n", r":2: the row holds a null character.*\n  Save it again"),
        (b"value,value\n1,2\n", r"'value' stands twice\n  Rename or remove one of them\.$"),
        (b"path,path\n1,2\n", r"'path' stands twice\n.*`path 2` is a further column of paths"),
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"id\xff\n", "isn't text in UTF-8"),
        ("id,question\n1,a".encode("utf-16")[:-1], "isn't text in UTF-8"),
    ],
)
def test_no_table(content: bytes, what: str, tmp_path: Path) -> None:
    """A column that stands twice, and what isn't a table, is refused with its line."""
    (tmp_path / "q.csv").write_bytes(content)
    with pytest.raises(InputError, match=what):
        list(read_table(tmp_path / "q.csv"))
