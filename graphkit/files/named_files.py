"""The files that a dataset names: those that questions expect, and those of artifacts whose ids don't show them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from graphkit.files.jsonl import raw_lines
from graphkit.records.ids import listed_file, repo_of, split_node
from graphkit.records.structs import ArtifactStruct


class _Expected(msgspec.Struct):
    """The expected files of a question; its other fields aren't decoded."""

    expected_files: list[str] = []


class _Place(msgspec.Struct):
    """The repository, path and symbol of an artifact."""

    id: str
    repo: str | None = None
    path: str | None = None
    symbol: str | None = None


@dataclass(frozen=True)
class NamedFiles:
    """Reads the files that a dataset names. It skips unusable records, which loading the dataset reports.

    ``expected`` are those of the questions, if they were read before.
    """

    questions_file: Path
    artifact_files: tuple[Path, ...]
    expected: Collection[str] | None = None

    def all(self) -> Iterator[str]:
        """Yield the files as ``repo/path``, some more than once."""
        yield from files_expected(raw_lines(self.questions_file)) if self.expected is None else self.expected
        yield from self.of_artifacts()

    def of_artifacts(self) -> Iterator[str]:
        """Yield the files of artifacts whose ids aren't split at their last ``#``."""
        decoder = msgspec.json.Decoder(_Place)
        for path in self.artifact_files:
            for line in raw_lines(path):
                if b"#" in line and (b'"path"' in line or b'"symbol"' in line):
                    try:
                        found = file_of_artifact(decoder.decode(line))
                    except (msgspec.MsgspecError, UnicodeError):
                        continue
                    if found is not None:
                        yield found


def files_expected(lines: Iterable[bytes]) -> Iterator[str]:
    """Yield the files that questions expect as ``repo/path``, some more than once."""
    decoder = msgspec.json.Decoder(_Expected)
    for line in lines:
        if b'"expected_files"' in line:
            try:
                yield from map(listed_file, decoder.decode(line).expected_files)
            except (msgspec.MsgspecError, UnicodeError):
                continue


def file_of_artifact(artifact: _Place | ArtifactStruct) -> str | None:
    """Return the file of an artifact by its own path or symbol, as ``repo/path``; None if its id shows the same.

    An id with one ``#``, and a path without any, is always split there.
    """
    _, colon, rest = artifact.id.partition(":")
    path, symbol = artifact.path, artifact.symbol
    if path is None and symbol and rest.endswith(f"#{symbol}"):
        path = rest[: -len(symbol) - 1]
    if path is None or ("#" not in path and rest.count("#") < 2) or (colon and path == split_node(artifact.id)[0]):
        return None
    repo = artifact.repo or repo_of(artifact.id)
    return f"{repo}/{path}" if repo is not None else path
