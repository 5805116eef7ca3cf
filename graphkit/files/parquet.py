"""Rows of Parquet files, which need pyarrow: it is only imported here, and where results are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from graphkit.errors import InputError

#: How many rows are held at once.
_BATCH = 256


def parquet_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, one after the other.

    Parameters
    ----------
    columns
        Those that are wanted, of which the file may lack some; by default all.

    Raises
    ------
    InputError
        The file is missing or no Parquet, or pyarrow isn't installed.
    """
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        remedy = "pip install 'graphkit[parquet]', or write .jsonl."
        raise InputError("Parquet needs pyarrow", where=str(path), remedy=remedy) from None
    try:
        with parquet.ParquetFile(path) as file:
            held = None if columns is None else [name for name in columns if name in file.schema_arrow.names]
            for batch in file.iter_batches(batch_size=_BATCH, columns=held):
                yield from batch.to_pylist()
    except FileNotFoundError:
        raise InputError("there is no such file", where=str(path), remedy="Check the path and its spelling.") from None
    except (ArrowException, OSError) as error:
        raise InputError(f"the file can't be read as Parquet: {error}", where=str(path)) from None
