"""Paths of the knowledge graph that match a user's pattern, as candidates for gold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.knowledge import known_places
from graphkit.graph.queries import cypher
from graphkit.records.ids import Places
from graphkit.records.models import Question

_EDGE = "EDGE"
#: How many matches are read for each path that may be proposed: the others are beginnings of longer ones.
_READ = 50

_PARAMETER = re.compile(r"\$(\w+)")
_NAMES_A_PATH = re.compile(r"\bp\s*=")


class ProposedStep(NamedTuple):
    """An edge of the knowledge graph."""

    source: str
    relation: str
    target: str


@dataclass(frozen=True)
class Proposal:
    """A path that matches the pattern.

    Attributes
    ----------
    commits
        The commit of each repository at which the knowledge graph read the artifacts of the path.
    unpinned
        Repositories with no known commit, or several.
    """

    steps: tuple[ProposedStep, ...]
    commits: Mapping[str, str]
    unpinned: tuple[str, ...]


@dataclass
class Proposals:
    """The distinct whole paths that match a pattern, and how many matches are outside the dataset's graph.

    A path that begins a longer one isn't among them.
    """

    found: list[Proposal] = field(default_factory=list)
    foreign: int = 0
    cut: bool = False

    def new_for(self, question: Question) -> list[Proposal]:
        """Return the paths that aren't gold of a question already."""
        known = {tuple((step.source, step.relation, step.target) for step in path.steps) for path in question.paths}
        return [one for one in self.found if one.steps not in known]


def parameters_of(pattern: str) -> list[str]:
    """Return the names of a pattern's parameters.

    >>> parameters_of("MATCH p = (a {id: $start})-[:EDGE*]->(b) WHERE b.id IN $relevant")
    ['start', 'relevant']
    """
    return list(dict.fromkeys(_PARAMETER.findall(pattern)))


def proposed_paths(
    store: Store, dataset: str, pattern: str, limit: int, parameters: Mapping[str, Any] | None = None
) -> Proposals:
    """Return the paths ``p`` of a read-only pattern, such as ``MATCH p = (a)-[:EDGE*1..3]->(b) WHERE ...``.

    Raise InputError if the pattern isn't valid Cypher, or names no path ``p``; or the dataset isn't in the graph. Raise
    DatabaseError if the pattern would write, or the server fails.

    ``limit`` is the largest number of paths; ``cut`` says whether there may be more.
    """
    if not _NAMES_A_PATH.search(pattern):
        remedy = 'Write it as: MATCH p = (a:Artifact {id: "..."})-[:EDGE*1..3]->(b), without RETURN.'
        raise InputError("the pattern must call its paths p", where="--pattern", remedy=remedy)
    if dataset not in {row["name"] for row in store.read(cypher("read/datasets"))}:
        raise InputError(f"the graph doesn't hold the dataset {dataset!r}", remedy="`graphkit load` loads it.")
    text = f"{pattern.rstrip().removesuffix(';')}\n{cypher('read/proposed')}"
    most = limit * _READ
    _, rows = store.query_readonly(text, {**(parameters or {}), "limit": most + 1})
    result = Proposals()
    paths: dict[tuple[tuple[str, ProposedStep], ...], None] = {}
    for [edges] in rows[:most]:
        steps = _steps(edges, dataset)
        if steps:
            paths.setdefault(steps)
        else:
            result.foreign += 1
    whole = _whole(paths)
    ids = {node for path in whole for _, step in path for node in (step.source, step.target)}
    read_at: dict[tuple[str, str], tuple[str, str]] = {}
    for row in store.read(cypher("read/read_at"), {"dataset": dataset, "ids": sorted(ids)}):
        read_at[str(row["id"]), str(row["graph"])] = str(row["repo"]), str(row["sha"])
    places = known_places(store, dataset)
    # Several knowledge graphs may hold the same path at the same commits.
    each = {(one.steps, tuple(one.commits.items())): one for one in (_pinned(path, read_at, places) for path in whole)}
    result.found = list(each.values())[:limit]
    result.cut = len(rows) > most or len(each) > limit
    return result


def _whole(
    paths: Iterable[tuple[tuple[str, ProposedStep], ...]],
) -> list[tuple[tuple[str, ProposedStep], ...]]:
    """Return the paths that begin no longer one, whichever knowledge graph holds it."""
    plain = {path: tuple(step for _, step in path) for path in paths}
    begun = {steps[:length] for steps in plain.values() for length in range(1, len(steps))}
    return [path for path, steps in plain.items() if steps not in begun]


def _steps(edges: Any, dataset: str) -> tuple[tuple[str, ProposedStep], ...] | None:
    """Return the steps of a path with their knowledge graphs; None if a step is outside those of the dataset."""
    steps = []
    for kind, graph, source, relation, target in edges:
        if kind != _EDGE or not isinstance(graph, str) or graph.partition("/")[0] != dataset:
            return None
        steps.append((graph, ProposedStep(source, relation, target)))
    return tuple(steps)


def _pinned(
    path: Iterable[tuple[str, ProposedStep]], read_at: Mapping[tuple[str, str], tuple[str, str]], places: Places
) -> Proposal:
    commits: dict[str, set[str | None]] = {}
    steps = []
    for graph, step in path:
        steps.append(step)
        for node in (step.source, step.target):
            repo, sha = read_at.get((node, graph), (places.repo(node), None))
            if repo is not None:
                commits.setdefault(repo, set()).add(sha)
    known = {repo: next(iter(shas)) for repo, shas in sorted(commits.items()) if len(shas) == 1}
    pins = {repo: sha for repo, sha in known.items() if sha is not None}
    return Proposal(tuple(steps), pins, tuple(repo for repo in sorted(commits) if repo not in pins))
