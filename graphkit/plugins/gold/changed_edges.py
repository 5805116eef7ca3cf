"""Edges that exist at one of two versions only, as candidates for questions about what has changed.

The versions are two knowledge graphs of the dataset, or two commits of a repository whose edges say since and until
which commit they exist. A person accepts, in a sheet.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from graphkit.errors import InputError, did_you_mean
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.plugins.gold.sheets import decided, write_sheet
from graphkit.records.words import counted

#: The columns of a sheet: a person fills in the last one, and may put the question better.
COLUMNS = (
    *("question_id", "question", "source", "relation", "target", "stack", "repository", "commit", "proof", "decision"),
)

Edge = tuple[str, str, str]


class ChangedEdge(NamedTuple):
    """An edge that one version has and the other lacks: the version is a stack, or a commit of a repository."""

    kind: str
    question: str
    edge: Edge
    proof: str
    stack: str | None = None
    repository: str | None = None
    commit: str | None = None


@dataclass(frozen=True)
class ChangedEdges:
    """The edges that exist at one of two versions only.

    Attributes
    ----------
    found
        Those that only the first has (``removed``), and only the second (``added``), each in the order of their names.
    undated
        How many edges the known parents of commits don't place at a version.
    """

    found: Sequence[ChangedEdge]
    undated: int = 0

    @classmethod
    def between(cls, dataset: Dataset, versions: str, problems: Problems) -> ChangedEdges:
        """Compare two versions, ``GRAPH..GRAPH`` or ``REPO@COMMIT..COMMIT``.

        Raises
        ------
        InputError
            The text names neither two graphs with edges, nor two commits of a repository of which an edge says since
            or until which commit it exists.
        """
        first, dots, second = versions.partition("..")
        graphs = {name: edges for name, (_, edges) in dataset.graphs.items() if name and edges is not None}
        repo, at, since = first.rpartition("@")
        if first in graphs and second in graphs and first != second:
            both = [
                {(one.source, one.relation, one.target) for one in dataset.edges(graphs[name], problems)}
                for name in (first, second)
            ]
            sizes = [f"none of the {counted(len(edges), 'edge')}" for edges in both]
            return cls(
                [
                    *_changed(both[0] - both[1], "removed", (first, second), sizes[1], stack=first),
                    *_changed(both[1] - both[0], "added", (first, second), sizes[0], stack=second),
                ]
            )
        if not (dots and at and repo and since and second):
            remedy = "Name two knowledge graphs, stack-1..stack-2, or two commits of a repository, api@v1.0.0..v2.0.0."
            remedy += f" {did_you_mean(first, graphs)}The graphs with a name and edges: {', '.join(graphs) or 'none'}."
            raise InputError(f"{versions!r} names no two versions", where="--changed", remedy=remedy)
        return cls._of_commits(dataset, repo, (since, second.removeprefix(f"{repo}@")), problems)

    @classmethod
    def _of_commits(cls, dataset: Dataset, repo: str, names: tuple[str, str], problems: Problems) -> ChangedEdges:
        commits, spans = dataset.commit_graph(problems), _spans(dataset, repo, problems)
        if not spans:
            what = f"no edge from {repo!r} says since or until which commit it exists"
            raise InputError(what, where="--changed", remedy="Write it into edges.jsonl, see docs/data.md.")
        meant = [commits.meant(repo, name) for name in names]
        shas = [one.sha for one in meant]
        listed = {sha for of, sha in commits.commits if of == repo}
        for name, one in zip(names, meant, strict=True):
            if one.ambiguous or (listed and one.sha not in listed):
                what = one.ambiguous or f"commits.jsonl lists no commit {name!r} of {repo!r}"
                tags = [tag for of in commits.commits.values() if of and of.repo == repo for tag in of.all_tags]
                raise InputError(
                    what, where="--changed", remedy=f"{did_you_mean(name, [*tags, *listed])}Name a listed one."
                )
        only: tuple[set[Edge], set[Edge]] = (set(), set())
        undated = 0
        for edge, found in spans.items():
            every = [{commits.within(repo, sha, *span) for span in found} for sha in shas]
            held = [True if True in one else None if None in one else False for one in every]
            undated += None in held
            if held in ([True, False], [False, True]):
                only[held.index(True)].add(edge)
        proof = f"by since and until of {counted(len(spans), 'edge')} from {repo} none"
        return cls(
            [
                *_changed(only[0], "removed", names, proof, repository=repo, commit=names[0]),
                *_changed(only[1], "added", names, proof, repository=repo, commit=names[1]),
            ],
            undated,
        )

    def drawn(self, count: int, seed: int) -> list[ChangedEdge]:
        """Return at most so many, removed and added ones in turn; a seed gives the same ones again."""
        dice = random.Random(seed)  # noqa: S311 - a sample, not a secret
        kinds = [[one for one in self.found if one.kind == kind] for kind in ("removed", "added")]
        for some in kinds:
            dice.shuffle(some)
        return [one for pair in zip_longest(*kinds) for one in pair if one is not None][:count]


def _spans(dataset: Dataset, repo: str, problems: Problems) -> dict[Edge, list[tuple[str | None, str | None]]]:
    """Return since and until which commits the edges from a repository exist, if one of them says so."""
    found: dict[Edge, list[tuple[str | None, str | None]]] = {}
    places = dataset.places()
    for _, path in dataset.graphs.values():
        for one in dataset.edges(path, problems) if path is not None else ():
            if places.repo(one.source) == repo:
                found.setdefault((one.source, one.relation, one.target), []).append((one.since, one.until))
    return found if any(span != (None, None) for some in found.values() for span in some) else {}


def _changed(
    edges: set[Edge], kind: str, names: tuple[str, str], none: str, **version: str | None
) -> Iterator[ChangedEdge]:
    has, lacks = names if kind == "removed" else names[::-1]
    when = "but no longer" if kind == "removed" else "but not yet"
    for source, relation, target in sorted(edges):
        question = f"To what does {source} have the relation {relation} at {has}, {when} at {lacks}?"
        proof = f"{none} at {lacks} is {source} -{relation}-> {target}; {has} has it"
        yield ChangedEdge(kind, question, (source, relation, target), proof, **version)


def write_changes(path: Path, changes: Sequence[ChangedEdge], taken: set[str]) -> None:
    """Write a sheet with a row for each edge, whose decisions are to be filled in.

    ``taken`` are the ids of questions that there are. Raise InputError if the file can't be written.
    """
    cells = [
        (one.question, *one.edge, one.stack or "", one.repository or "", one.commit or "", one.proof) for one in changes
    ]
    write_sheet(path, COLUMNS, cells, "changed", taken)


def changes_in(path: Path, known: set[str]) -> tuple[list[dict[str, Any]], int, int]:
    """Return the questions that a sheet accepts, how many it rejects, and how many are open.

    A question whose id is ``known`` was accepted before, and is left out: a sheet may be read twice. Gold is the edge,
    at the commit or in the stack that has it.

    Raises
    ------
    InputError
        A column is missing, or a decision isn't understood.
    """
    accepted, rejected, undecided = decided(path, COLUMNS, known)
    found = []
    for cells in accepted:
        steps = [[cells["source"], cells["relation"], cells["target"]]]
        at = {"commits": {cells["repository"]: cells["commit"]}} if cells["commit"] else {}
        question = {"id": cells["question_id"], "question": cells["question"], "paths": [{**at, "steps": steps}]}
        found.append(question | ({"stack": cells["stack"]} if cells["stack"] else {}))
    return found, rejected, undecided
