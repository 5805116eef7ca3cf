"""Files that are read several times within one command are opened once."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO

import pytest

from graphkit.files import jsonl
from graphkit.files.jsonl import raw_lines, read_once


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the files that are opened from here on."""
    names: list[str] = []
    open_binary = jsonl.open_binary

    def watched(path: Path) -> IO[bytes]:
        names.append(path.name)
        return open_binary(path)

    monkeypatch.setattr(jsonl, "open_binary", watched)
    return names


def test_small_file_is_opened_once(tmp_path: Path, opened: list[str]) -> None:
    """A small file is opened once within the block, and again after it."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"1\n2\n\n3")
    with read_once():
        with read_once():
            assert list(raw_lines(path)) == list(raw_lines(path)) == [b"1", b"2", b"", b"3"]
        assert list(raw_lines(path)) == [b"1", b"2", b"", b"3"]
        assert opened == ["a.jsonl"]
    list(raw_lines(path))
    assert opened == ["a.jsonl"] * 2


def test_changed_file_is_read_again(tmp_path: Path) -> None:
    """A file that grew in between is read again."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"1\n")
    with read_once():
        assert list(raw_lines(path)) == [b"1"]
        path.write_bytes(b"1\n2\n")
        assert list(raw_lines(path)) == [b"1", b"2"]


def test_part_of_a_file_is_not_held(tmp_path: Path, opened: list[str]) -> None:
    """A file that was not read to its end is read again from its beginning."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"1\n" * 100_000)
    with read_once():
        assert next(raw_lines(path)) == b"1"
        assert len(list(raw_lines(path))) == 100_000
    assert len(opened) == 2


def test_large_and_compressed_files_are_streamed(
    tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines of large files, and of compressed ones, are never held."""
    monkeypatch.setattr(jsonl, "HELD_FILE", 3)
    large, packed = tmp_path / "large.jsonl", tmp_path / "packed.jsonl.gz"
    large.write_bytes(b"1\n2\n")
    packed.write_bytes(gzip.compress(b"1\n"))
    with read_once():
        for path in (large, packed, large, packed):
            list(raw_lines(path))
    assert opened == ["large.jsonl", "packed.jsonl.gz"] * 2
