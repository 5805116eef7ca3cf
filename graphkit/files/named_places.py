"""Reads the files and the repositories that a dataset names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import msgspec

from graphkit.files.jsonl import raw_lines, stem_of
from graphkit.records.ids import Places, RepositoryRules, Stated, StatedArtifact
from graphkit.records.structs import ArtifactStruct, QuestionStruct

#: How many questions decide whether ids contain repositories.
LOOKED_AT = 1000


class _Expected(msgspec.Struct):
    """The expected files of a question; its other fields aren't decoded."""

    expected_files: list[str] = []


class _PathCommits(msgspec.Struct):
    """The commits of a gold path."""

    commits: dict[str, str] = {}


class _OfPaths(msgspec.Struct):
    """The gold paths of a question; its other fields aren't decoded."""

    paths: list[_PathCommits] = []


class _Place(msgspec.Struct):
    """The fields of an artifact that tell where it lies."""

    id: str
    repo: str | None = None
    path: str | None = None
    symbol: str | None = None
    kind: str | None = None
    line: int | None = None
    end_line: int | None = None
    aliases: tuple[str, ...] = ()


class _Commits(msgspec.Struct):
    """The repository of a commit, or those of the commits of a row of compatibility."""

    repo: str | None = None
    commits: dict[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class NamedPlaces:
    """Reads the files and the repositories that a dataset names. It skips unusable records, which loading reports.

    Attributes
    ----------
    questions
        Returns the questions.
    setting
        The setting of the dataset for repositories (see :meth:`RepositoryRules.inferred`).
    expected
        The files that questions expect, if they were read before.
    """

    questions_file: Path
    artifact_files: tuple[Path, ...]
    commit_files: tuple[Path, ...]
    questions: Callable[[], Iterable[QuestionStruct]]
    setting: str | None = None
    expected: Collection[str] | None = None

    def places(self) -> Places:
        """Return the places of nodes; what they need is read when it is first asked for."""
        return Places(self.files, self.repositories, self.stated)

    def files(self, places: Places) -> Iterator[str]:
        """Yield the files as ``repo/path``, some more than once."""
        yield from self.expected_files(places)
        yield from self.of_artifacts(places)

    def expected_files(self, places: Places) -> Iterator[str]:
        """Yield the files that questions expect as ``repo/path``, some more than once."""
        listed = files_expected(raw_lines(self.questions_file)) if self.expected is None else self.expected
        return map(places.listed_file, listed)

    def of_artifacts(self, places: Places) -> Iterator[str]:
        """Yield the files of artifacts whose ids aren't split at their last ``#``."""
        for artifact in self._artifacts(lambda line: b"#" in line and (b'"path"' in line or b'"symbol"' in line)):
            if (found := file_of_artifact(artifact, places)) is not None:
                yield found

    def repositories(self) -> RepositoryRules:
        """Return the rules for the repositories of the dataset."""
        ids: set[str] = set()
        kinds: set[str] = set()
        stated: dict[str, str] = {}
        for artifact in self._artifacts(lambda _: True):
            ids.add(artifact.id)
            if artifact.repo:
                stated[artifact.id] = artifact.repo
            if artifact.kind:
                kinds.update(artifact.kind.split(":"))
        names = {repo for row in self._commits() for repo in (row.repo, *row.commits) if repo}
        for question in islice(self.questions(), LOOKED_AT):
            ids.update(question.relevant, *question.evidence_sets)
            ids.update(node for path in question.paths for step in path.steps for node in (step.source, step.target))
            names.update(question.commits)
        return RepositoryRules.inferred(ids, stated, names, kinds, self.setting)

    def stated(self) -> Stated:
        """Return what the knowledge graphs state of their artifacts; an artifact's first record counts."""
        found: dict[str, dict[str, StatedArtifact]] = {}
        for path in self.artifact_files:
            read = found[stem_of(path).removeprefix("artifacts").removeprefix("-")] = {}
            for one in self._artifacts(lambda line: b'"end_line"' in line or b'"aliases"' in line, [path]):
                lines = (one.line, one.end_line) if one.line and one.end_line and one.line <= one.end_line else None
                read.setdefault(one.id, StatedArtifact(lines, one.aliases))
        return found

    def _artifacts(self, wanted: Callable[[bytes], bool], files: Iterable[Path] | None = None) -> Iterator[_Place]:
        decoder = msgspec.json.Decoder(_Place)
        for path in self.artifact_files if files is None else files:
            for line in filter(wanted, raw_lines(path)):
                try:
                    yield decoder.decode(line)
                except (msgspec.MsgspecError, UnicodeError):
                    continue

    def _commits(self) -> Iterator[_Commits]:
        decoder = msgspec.json.Decoder(_Commits)
        for path in self.commit_files:
            for line in raw_lines(path):
                try:
                    yield decoder.decode(line)
                except (msgspec.MsgspecError, UnicodeError):
                    continue


def files_expected(lines: Iterable[bytes]) -> Iterator[str]:
    """Yield the files that questions expect as they are written, some more than once."""
    decoder = msgspec.json.Decoder(_Expected)
    for line in lines:
        if b'"expected_files"' in line:
            try:
                yield from decoder.decode(line).expected_files
            except (msgspec.MsgspecError, UnicodeError):
                continue


def has_sides(lines: Iterable[bytes]) -> bool:
    """Return whether a gold path of a question has commits of its own."""
    decoder = msgspec.json.Decoder(_OfPaths)
    for line in lines:
        if b'"commits"' in line and b'"paths"' in line:
            try:
                if any(path.commits for path in decoder.decode(line).paths):
                    return True
            except (msgspec.MsgspecError, UnicodeError):  # another form, which says no less
                return True
    return False


def file_of_artifact(artifact: _Place | ArtifactStruct, places: Places) -> str | None:
    """Return the file of an artifact by its own path or symbol, as ``repo/path``; None if its id shows the same.

    An id with one ``#``, and a path without any, is always split there.
    """
    _, colon, rest = artifact.id.partition(":")
    path, symbol = artifact.path, artifact.symbol
    if path is None and symbol and rest.endswith(f"#{symbol}"):
        path = rest[: -len(symbol) - 1]
    # Without the files: they are what is read here.
    shown = places.without_files.path(artifact.id) if colon else None
    if path is None or ("#" not in path and rest.count("#") < 2) or path == shown:
        return None
    repo = artifact.repo or places.repo(artifact.id)
    return f"{repo}/{path}" if repo is not None else path
