"""Rows of Parquet files. Only this module and the export of results import pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from graphkit.errors import InputError, missing_file
from graphkit.files.intake import SizeMeter, are_lifted

#: The maximum number of rows in memory, and their maximum size in bytes.
_BATCH = 256
_TOGETHER = 64 << 20


def parquet_rows(
    path: Path | str,
    columns: Sequence[str] | None = None,
    *,
    groups: Sequence[int] | None = None,
    stream: IO[bytes] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, one after the other.

    Parameters
    ----------
    path
        The file; beside a stream, only its name in messages.
    columns
        The columns to read, by default all; the file may lack some.
    groups
        The numbers of the row groups to read, by default all.
    stream
        The file, opened.

    Raises
    ------
    InputError
        The file is missing or no Parquet, or pyarrow isn't installed.
    """
    with _opened(path, stream) as file:
        held = None if columns is None else [name for name in columns if name in file.schema_arrow.names]
        for group in range(file.metadata.num_row_groups) if groups is None else groups:
            size = _batch_size(file.metadata.row_group(group))
            for batch in file.iter_batches(batch_size=size, row_groups=[group], columns=held):
                yield from batch.to_pylist()


def parquet_columns(path: Path) -> list[str]:
    """Return the columns of a file; raise what :func:`parquet_rows` raises."""
    with _opened(path, None) as file:
        return list(file.schema_arrow.names)


def group_sizes(path: Path | str, stream: IO[bytes] | None = None) -> list[int]:
    """Return the number of rows in each row group of a file; it takes and raises what :func:`parquet_rows` does."""
    with _opened(path, stream) as file:
        return [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]


@contextmanager
def _opened(path: Path | str, stream: IO[bytes] | None) -> Iterator[Any]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        remedy = "pip install 'graphkit-eval[parquet]', or write .jsonl."
        raise InputError("Parquet needs pyarrow", where=str(path), remedy=remedy) from None
    try:
        with parquet.ParquetFile(path if stream is None else stream) as file:
            _weigh(
                file.metadata, str(path), Path(path).stat().st_size if stream is None else stream.seek(0, os.SEEK_END)
            )
            yield file
    except FileNotFoundError:
        raise missing_file(path) from None
    except (ArrowException, OSError) as error:
        raise InputError(f"the file can't be read as Parquet: {error}", where=str(path)) from None


def _weigh(metadata: Any, where: str, size: int) -> None:
    """Refuse a file that declares an implausible size in bytes or rows."""
    meter = SizeMeter(where, size)
    unpacked = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    # A value that all rows share is stored once, and each row of it takes less than a bit.
    meter.unpacked(max(unpacked, metadata.num_rows * metadata.num_columns))


def _batch_size(group: Any) -> int:
    """Return the number of rows to unpack at once: each may repeat the largest value of a dictionary."""
    chunks = [group.column(number) for number in range(group.num_columns)]
    largest = max((chunk.total_uncompressed_size for chunk in chunks if chunk.has_dictionary_page), default=0)
    return _BATCH if are_lifted() else max(1, min(_BATCH, _TOGETHER // max(largest, 1)))
