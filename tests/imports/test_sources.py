"""The values of a log's files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from graphkit.errors import InputError
from graphkit.imports.sources import is_json, text_of, values_of, whole_text

A, B = {"question_id": "a", "nodes": [1, {"x": "ü"}]}, {"question_id": "b", "nodes": []}


def write(folder: Path, text: str, name: str = "log.json") -> Path:
    """Write a file."""
    path = folder / name
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (f"{json.dumps(A)}\n\n{json.dumps(B)}\n", ["1", "3"]),
        (json.dumps([A, B]), ["1 (item 1)", "1 (item 2)"]),
        (f"[{json.dumps(A)},\n{json.dumps(B)}]\n", ["1 (item 1)", "2 (item 2)"]),
        # Indented by 1, A is 9 lines long, its array's bracket another.
        (json.dumps([A, B], indent=1), ["2 (item 1)", "11 (item 2)"]),
        (f"{json.dumps(A, indent=1)}\n{json.dumps(B, indent=1)}", ["1", "10"]),
        (f"\ufeff\n{json.dumps(A)}\n{json.dumps(B)}", ["2", "3"]),
    ],
)
def test_layouts(text: str, places: list[str], tmp_path: Path) -> None:
    """JSON Lines, documents one after the other, and arrays of any layout hold the same values, each with its place."""
    path = write(tmp_path, text)
    assert list(values_of(path)) == [(f"{path}:{place}", value) for place, value in zip(places, (A, B), strict=True)]


@pytest.mark.parametrize("value", [A, ["a text", A], [], ["x"], [1, [2]]])
def test_one_value(value: Any, tmp_path: Path) -> None:
    """One document is one value, and so is an array whose first item is no object; an empty one holds none."""
    path = write(tmp_path, json.dumps(value, indent=2))
    assert [found for _, found in values_of(path)] == ([value] if value else [])
    lines = write(tmp_path, f"{json.dumps(value)}\n" * 2)
    assert [found for _, found in values_of(lines)] == [value, value]


def test_compressed(tmp_path: Path) -> None:
    """gzip and Zstandard are seen through by their suffix."""
    text = json.dumps([A, B], indent=1).encode()
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(text))
    (tmp_path / "a.json.zst").write_bytes(zstandard.compress(text))
    for name in ("a.json.gz", "a.json.zst"):
        assert [value for _, value in values_of(tmp_path / name)] == [A, B]


def test_values_larger_than_a_block(tmp_path: Path) -> None:
    """A value that is read in several blocks, with characters of several bytes across their borders, is whole."""
    large = [{"text": "€" * 70_000, "n": number} for number in range(4)]
    for text in (
        json.dumps(large, ensure_ascii=False),
        "\n".join(json.dumps(one, ensure_ascii=False) for one in large),
    ):
        assert [value for _, value in values_of(write(tmp_path, text))] == large
    assert next(values_of(write(tmp_path, json.dumps(large[0], indent=1))))[1] == large[0]


def test_what_python_writes(tmp_path: Path) -> None:
    """NaN, which Python writes, is read; half of a character, which nothing can store, becomes a question mark."""
    path = write(tmp_path, '{"score": NaN, "text": "a\\ud83d"}\n{"score": 1}')
    (_, first), (_, second) = values_of(path)
    assert (first["score"] != first["score"], first["text"], second) == (True, "a?", {"score": 1})
    assert next(values_of(write(tmp_path, '{\n"text": "\\ud83d\\ude00 \\ud83d"\n}')))[1] == {"text": "😀 ?"}


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (f"{json.dumps(A)}\n{{oops\n", 2, "the line isn't JSON"),
        ('{\n"a": 1,\n"b" 2}\n', 3, "this isn't JSON: Expecting ':' delimiter"),
        ('{\n"a": 1,\n}\n', 2, "this isn't JSON: Illegal trailing comma before end of object"),
        ('[{"a": 1}\n{"a": 2}]', 2, "a comma is missing in the array"),
        ('[{"a": 1},\n', 2, "this isn't JSON"),
        ('[{"a": 1}\n', 2, "the array has no end"),
        ('{"a": ' * 100_000, 1, "nested too deeply"),
        ("{'a': 1}\n", 1, "this is how Python prints an object"),
        ('{"a": 1}\n{"a": None}\n', 2, "this is how Python prints an object"),
        ('{"a": 1}\n{"a": ' + "1" * 5000 + "}", 2, "too many digits"),
    ],
)
def test_mistakes(text: str, line: int, what: str, tmp_path: Path) -> None:
    """Text that isn't JSON is reported with its line."""
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=f"log.json:{line}: .*{what}"):
        list(values_of(path))


def test_lines_of_text(tmp_path: Path) -> None:
    """Text is read line by line, and distinguished from JSON by its first character."""
    path = write(tmp_path, "q1 Q0 d1 1 0.5 run\r\n\nq1 Q0 d2 2 0.4 run\n", "a.run")
    assert not is_json(path)
    assert list(text_of(path)) == [(f"{path}:1", "q1 Q0 d1 1 0.5 run"), (f"{path}:3", "q1 Q0 d2 2 0.4 run")]
    assert is_json(write(tmp_path, "\n [1]"))
    path.write_bytes(b"a\n\xff\n")
    with pytest.raises(InputError, match=r"a\.run:2: the line isn't UTF-8 at byte 1"):
        list(text_of(path))


def test_whole_texts(tmp_path: Path) -> None:
    """A text that is no lines is one value, named by its first line."""
    path = write(tmp_path, "\ufeffEntities:\n\n{}\n", "context.txt")
    assert list(whole_text(path)) == [(f"{path}:1", "Entities:\n\n{}\n")]
    path.write_bytes(b"a\nb\xff\n")
    with pytest.raises(InputError, match=r"context\.txt:2: the file isn't UTF-8"):
        list(whole_text(path))
