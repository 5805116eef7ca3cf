"""Zip archives of JSON documents."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.imports.sources import is_archive
from graphkit.plugins.logs import archives
from graphkit.plugins.logs.archives import Archive
from tests.helpers.archives import deflated, zstandard_archive

Write = Callable[[Path, Mapping[str, bytes]], Path]


@pytest.mark.parametrize("write", [deflated, zstandard_archive])
def test_documents_are_read_however_they_are_compressed(tmp_path: Path, write: Write) -> None:
    """Deflated, and in frames of Zstandard that this Python's own module may not know."""
    path = write(tmp_path / "a.eval", {"a.json": b'{"x": [1, NaN]}', "b/c.json": b'["\\u00e9"]'})
    assert is_archive(path)
    with Archive(path) as archive:
        assert archive.names() == ["a.json", "b/c.json"]
        assert archive.document("a.json")["x"][0] == 1
        assert archive.document("b/c.json") == ["é"]
        assert archive.where("b/c.json") == f"{path}:b/c.json"


def test_of_several_documents_of_a_name_the_last_counts(tmp_path: Path) -> None:
    """A document that was written again stands behind the former."""
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w") as written, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of what is meant here
        written.writestr("a.json", "1")
        written.writestr("a.json", "2")
    with Archive(path) as archive:
        assert archive.names() == ["a.json"]
        assert archive.document("a.json") == 2


def test_halves_of_characters_are_replaced(tmp_path: Path) -> None:
    """A half character, which UTF-8 can't encode, is replaced; a pair of halves is the character."""
    path = deflated(tmp_path / "a.eval", {"a.json": rb'["\ud83d", "\ud83d\ude00"]'})
    with Archive(path) as archive:
        assert archive.document("a.json") == ["?", "😀"]


@pytest.mark.parametrize("write", [deflated, zstandard_archive])
def test_a_document_that_decompresses_to_too_much_is_refused(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is stopped at the bound, whatever size the archive names."""
    monkeypatch.setattr(archives, "MAX_DOCUMENT", 1 << 20)
    path = write(tmp_path / "a.eval", {"a.json": b" " * (4 << 20) + b"1"})
    with Archive(path) as archive, pytest.raises(InputError, match="longer than 1 MiB"):
        archive.document("a.json")


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    """Missing, of another form, cut short, or without JSON in it: said with the place."""
    with pytest.raises(InputError, match="no such file"):
        Archive(tmp_path / "none.eval")
    text = tmp_path / "a.eval"
    text.write_text("{}")
    assert not is_archive(text)
    with pytest.raises(InputError, match=r"a\.eval: the archive is damaged"):
        Archive(text)
    with (
        Archive(deflated(text, {"a.json": b"{"})) as archive,
        pytest.raises(InputError, match=r"a\.json: .*isn't JSON"),
    ):
        archive.document("a.json")


@pytest.mark.parametrize("write", [deflated, zstandard_archive])
def test_damage_within_an_archive_is_said(tmp_path: Path, write: Write) -> None:
    """Compressed bytes that were overwritten."""
    path = write(tmp_path / "a.eval", {"a.json": b'{"key": "' + bytes(range(97, 122)) * 40 + b'"}'})
    data = bytearray(path.read_bytes())
    data[45:60] = bytes(15)
    path.write_bytes(data)
    with Archive(path) as archive, pytest.raises(InputError, match=r"a\.eval:a\.json: the archive is damaged"):
        archive.document("a.json")


def test_a_document_of_another_size_than_the_archive_says_is_damaged(tmp_path: Path) -> None:
    """Whole frames can be missing without a mistake in those that are there."""
    data = b'"' + b"a" * 998 + b'"'
    path = zstandard_archive(tmp_path / "a.eval", {"a.json": data})
    path.write_bytes(path.read_bytes().replace((1000).to_bytes(4, "little"), (1001).to_bytes(4, "little")))
    with Archive(path) as archive, pytest.raises(InputError, match="has 1000 bytes, not 1001"):
        archive.document("a.json")
