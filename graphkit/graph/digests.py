"""Digests of the files that a load reads: they show what the graph already holds, without reading a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.intake import is_pipe
from graphkit.files.jsonl import open_binary
from graphkit.graph import schema_version
from graphkit.graph.rows import digest


def content_digest(path: Path, beside: str = "") -> str:
    """Return a digest of a file's bytes, and of the text ``beside`` them."""
    hasher = blake2b(beside.encode(), digest_size=16)
    with open_binary(path):
        pass  # raises InputError with a remedy if the file can't be read
    if is_pipe(path):
        what = "this is a pipe or a device, but a load reads the file more than once"
        raise InputError(what, where=str(path), remedy="Write it into a file first.")
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            hasher.update(block)
    return hasher.hexdigest()


def file_digests(dataset: Dataset, version: str | None = None) -> dict[Path, str]:
    """Return the digest of each file that loading a dataset reads, and of the schema version."""
    beside = schema_version.SCHEMA_VERSION if version is None else version
    return {path: content_digest(path, beside) for path in dataset.files()}


def dataset_digest(dataset: Dataset, digests: Mapping[Path, str] | None = None, version: str | None = None) -> str:
    """Return a digest of all files of a dataset.

    ``digests`` holds those of the files if they are known; ``version`` is that of the schema, by default this one.
    """
    known = file_digests(dataset, version) if digests is None else digests
    return digest([[path.name, content] for path, content in known.items()])


def run_digest(content: str, questions: Iterable[str], version: str | None = None) -> str:
    """Return the digest of a run from that of its file, and from the questions, which decide the records to load."""
    return digest([schema_version.SCHEMA_VERSION if version is None else version, content, sorted(questions)])
