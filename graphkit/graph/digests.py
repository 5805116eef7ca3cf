"""Digests of the files that a load reads: they show what the graph already holds, without reading a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path

from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import stored_blocks
from graphkit.graph import schema_version
from graphkit.graph.rows import digest


def content_digest(path: Path, beside: str = "") -> str:
    """Return a digest of a file's bytes, and of the text ``beside`` them."""
    return blocks_digest(stored_blocks(path), beside)


def blocks_digest(blocks: Iterable[bytes], beside: str = "") -> str:
    """Return the digest of a content in blocks, which that of a file with this content is."""
    hasher = blake2b(beside.encode(), digest_size=16)
    for block in blocks:
        hasher.update(block)
    return hasher.hexdigest()


def file_digests(dataset: Dataset, version: str | None = None) -> dict[Path, str]:
    """Return the digest of each file that loading a dataset reads, and of the schema version.

    That of the questions covers all their shards.
    """
    beside = schema_version.SCHEMA_VERSION if version is None else version
    questions, *others = dataset.files()
    # Who asks decides the gold.
    of_questions = blocks_digest(dataset.question_blocks(), f"{beside}{dataset.principal or ''}")
    return {questions: of_questions, **{path: content_digest(path, beside) for path in others}}


def dataset_digest(dataset: Dataset, digests: Mapping[Path, str] | None = None, version: str | None = None) -> str:
    """Return a digest of all files of a dataset.

    ``digests`` holds those of the files if they are known; ``version`` is that of the schema, by default this one.
    """
    known = file_digests(dataset, version) if digests is None else digests
    return digest([[path.name, content] for path, content in known.items()])


def run_digest(content: str, questions: Iterable[str], version: str | None = None) -> str:
    """Return the digest of a run from that of its file, and from the questions, which decide the records to load."""
    return digest([schema_version.SCHEMA_VERSION if version is None else version, content, sorted(questions)])
