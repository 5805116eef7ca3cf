"""Zip archives of JSON documents: stored, deflated, or compressed with Zstandard (in Python since 3.14)."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Self, cast

from graphkit.errors import InputError, missing_file
from graphkit.files.intake import SizeMeter
from graphkit.records.json_once import each_key_once

#: The longest accepted document in bytes; a small archive may hold a very large one.
MAX_DOCUMENT = 1 << 30

_BLOCK = 1 << 20
_ZSTANDARD = 93
_LOCAL_HEADER = 30
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


class Archive:
    """The JSON documents of a zip archive.

    Raises
    ------
    InputError
        The file can't be read, or is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise missing_file(path) from None
        except (OSError, zipfile.BadZipFile) as error:
            raise self._damaged(str(path), error) from None
        self._meter = SizeMeter(str(path), path.stat().st_size)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._zip.close()

    def names(self) -> list[str]:
        """Return the names of the documents, each once; the last one of a name counts."""
        return list(dict.fromkeys(self._zip.namelist()))

    def where(self, name: str) -> str:
        """Return the place of a document, as messages name it."""
        return f"{self._path}:{name}"

    def document(self, name: str) -> Any:
        """Return a document.

        Raises
        ------
        InputError
            It isn't JSON, is damaged or longer than ``MAX_DOCUMENT`` bytes, or unpacks to implausibly much.
        """
        parts = []
        size = 0
        try:
            for block in self._blocks(self._zip.getinfo(name)):
                size += len(block)
                self._meter.unpacked(len(block))
                if size > MAX_DOCUMENT:
                    what = f"the document is longer than {MAX_DOCUMENT >> 20} MiB"
                    raise InputError(what, where=self.where(name), remedy="Split it, or leave out what isn't needed.")
                parts.append(block)
        except InputError:
            raise
        except Exception as error:  # zlib and zstandard raise their own errors
            raise self._damaged(self.where(name), error) from None
        data = b"".join(parts)
        try:
            value = json.loads(data, object_pairs_hook=each_key_once)
            # Halves of characters, which no UTF-8 has, become "?".
            return (
                json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
                if _HALF.search(data)
                else value
            )
        except (ValueError, RecursionError) as error:
            raise InputError(f"the document isn't JSON: {error}", where=self.where(name)) from None

    def _blocks(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        if info.compress_type != _ZSTANDARD:
            with self._zip.open(info) as stream:
                while block := stream.read(_BLOCK):
                    yield block
            return
        with self._path.open("rb") as file:
            yield from _zstandard(file, info)

    def _damaged(self, where: str, error: Exception) -> InputError:
        return InputError(f"the archive is damaged or can't be read: {error}", where=where, remedy="Make it anew.")


def _zstandard(file: IO[bytes], info: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the blocks of a member that consists of Zstandard's frames."""
    import zstandard

    file.seek(info.header_offset)
    header = file.read(_LOCAL_HEADER)
    if header[:4] != b"PK\x03\x04":
        raise ValueError(f"{info.filename} isn't where the archive says")
    # The lengths of the name and of what follows it, which may differ from those in the archive's list.
    file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
    part = cast(IO[bytes], _Member(file, info.compress_size))
    reader = zstandard.ZstdDecompressor().stream_reader(part, read_across_frames=True)
    done = 0
    while block := reader.read(_BLOCK):
        done += len(block)
        yield block
    if done != info.file_size:
        raise ValueError(f"{info.filename} has {done} bytes, not {info.file_size}")


class _Member:
    """A part of a file: so many bytes from its current position."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._left = size

    def read(self, size: int = -1) -> bytes:
        """Return at most so many bytes, or all that are left."""
        data = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data
