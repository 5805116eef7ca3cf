"""A knowledge graph of two exports, read at two commits: its edges say since and until which commit they exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import create_binary
from graphkit.files.problems import Problems
from graphkit.records.structs import ArtifactStruct, EdgeStruct
from graphkit.records.words import counted

_Edge = tuple[str, str, str]


@dataclass
class MergedGraph:
    """Merges a new export into the graph that a dataset has.

    An edge that only the new one has exists since its commit, and one that only the former has until the commit at
    which that was read; one that both have exists since the first commit at which it was read. Of a repository that the
    former one lacks altogether nothing is dated. An artifact whose commit the new export doesn't state keeps its own.

    Parameters
    ----------
    dataset, former
        The dataset, and its files of artifacts and of edges.
    commits
        The commit of the new export by repository.
    """

    dataset: Dataset
    former: Mapping[str, Path]
    commits: Mapping[str, str]
    kept: int = 0
    ended: int = 0
    begun: int = 0
    _problems: Problems = field(default_factory=Problems)
    _before: Mapping[str, str] = field(default_factory=dict)
    _formerly: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._history = self.dataset.commit_graph(Problems("skip"))

    def lines(self) -> list[str]:
        """Return what was merged in words."""
        return [
            f"merged: {counted(self.kept, 'edge')} of both, {self.ended} until the former commit, "
            f"{self.begun} since the new one"
        ]

    def merge(self, artifacts: Path, edges: Path) -> None:
        """Write the merged graph over the files of the new export.

        Raises
        ------
        InputError
            A record of the former graph can't be used, a new commit lies before a former one, or an edge differs in a
            repository whose former or new commit nothing states, or that was read at the same commit.
        """
        former = {one.id: one for one in self.dataset.artifacts(self.former["artifacts"], self._problems)}
        new = {one.id: one for one in self.dataset.artifacts(artifacts, self._problems)}
        before = self._before = self._last_read(former)
        self._formerly = {self._repo(one, former) for one in former}
        for one in new.values():
            if one.commit is None and one.id in former:
                one.commit = former[one.id].commit
        held = [*self.dataset.edges(self.former["edges"], self._problems)]
        there = {(one.source, one.relation, one.target): one for one in self.dataset.edges(edges, self._problems)}
        self._problems.raise_if_refused()
        merged = [*self._merged(held, there, before, {**former, **new})]
        for path, records in ((artifacts, {**former, **new}.values()), (edges, merged)):
            with create_binary(path) as stream:
                for record in records:
                    line = {
                        name: value for name, value in msgspec.structs.asdict(record).items() if value not in (None, [])
                    }
                    stream.write(msgspec.json.encode(line) + b"\n")

    def _merged(
        self,
        held: list[EdgeStruct],
        there: dict[_Edge, EdgeStruct],
        before: Mapping[str, str],
        artifacts: Mapping[str, ArtifactStruct],
    ) -> Iterator[EdgeStruct]:
        still: set[_Edge] = set()
        for edge in held:
            named = (edge.source, edge.relation, edge.target)
            repo = self._repo(edge.source, artifacts)
            if edge.until is None:
                self.kept += named in there
                self.ended += named not in there
                still.add(named)
                if named not in there or (repo in before and repo in self.commits and not self._is_same(repo)):
                    edge.since = edge.since or self._commit(named, repo, before, "former")
                if named not in there:
                    edge.until = self._commit(named, repo, before, "former")
                    self._commit(named, repo, self.commits, "new")
            yield edge
        for named, edge in there.items():
            if named not in still:
                self.begun += 1
                repo = self._repo(edge.source, artifacts)
                if repo in self._formerly or repo not in self.commits:
                    self._commit(named, repo, before, "former")
                    edge.since = self._commit(named, repo, self.commits, "new")
                yield edge

    def _repo(self, node: str, artifacts: Mapping[str, ArtifactStruct]) -> str:
        one = artifacts.get(node)
        return (one.repo if one is not None else None) or self.dataset.places().repo(node) or ""

    def _is_same(self, repo: str) -> bool:
        """Return whether both exports read a repository at the same commit, by whatever names."""
        names = (self.commits.get(repo), self._before.get(repo))
        shas = {None if name is None else self._history.meant(repo, name).sha for name in names}
        return len(shas) == 1 and None not in shas

    def _commit(self, edge: _Edge, repo: str, commits: Mapping[str, str], which: str) -> str:
        if self._is_same(repo):
            what = f"the exports differ in {' '.join(edge)}, although both were read at {repo}@{self.commits[repo]}"
            raise InputError(what, where="--merge", remedy="Replace the former export by --replace.")
        if repo not in commits:
            source, relation, target = edge
            what = f"the exports differ in {source} -{relation}-> {target}, and nothing states the {which} commit of "
            remedy = "Import both by --commit REPO=SHA, the former anew by --replace."
            raise InputError(what + (repo or "its source, which lies in no repository"), where="--merge", remedy=remedy)
        return commits[repo]

    def _last_read(self, artifacts: Mapping[str, ArtifactStruct]) -> dict[str, str]:
        """Return the last commit at which the former graph read each repository."""
        every: dict[str, set[str]] = {}
        for one in artifacts.values():
            if one.commit is not None:
                every.setdefault(self._repo(one.id, artifacts), set()).add(one.commit)
        history, found = self._history, dict[str, str]()
        for repo, names in every.items():
            last = [
                name
                for name in sorted(names)
                if all(history.within(repo, history.meant(repo, name).sha, other, None) for other in names)
            ]
            if not last:
                what = f"which of the commits {', '.join(sorted(names))} of {repo!r} the graph read last isn't known"
                remedy = "List them with their parents in commits.jsonl (graphkit git -o commits.jsonl)."
                raise InputError(what, where="--merge", remedy=remedy)
            found[repo] = last[0]
            new = self.commits.get(repo)
            if new is not None and history.within(repo, history.meant(repo, new).sha, last[0], None) is False:
                what = f"{repo}@{new} doesn't follow {last[0]}, at which the graph was read"
                raise InputError(what, where="--merge", remedy="Import the earliest export first, by --replace.")
        return found
