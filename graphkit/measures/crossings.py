"""The places in a record that the principal of its question may not read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from graphkit.measures.case import Case
from graphkit.measures.matching import Edge
from graphkit.measures.seeds import linked
from graphkit.records.access_rules import Rights


class Crossing(NamedTuple):
    """A node, or an edge by its relation, beyond what a principal may read.

    ``part`` is ``walk``, ``seed`` (the question was linked to it), ``call`` (a tool call showed it) or ``context``. In
    a walk, ``path`` and ``position`` are the path and its step, of a call its place and that in its result, and of a
    seed and the context 0 and the place in the ranking; all of them count from 0. Rankings that a system states by
    themselves (``rankings``) are path 1 of the context.
    """

    part: str
    path: int
    position: int
    node: str


def crossings(case: Case, rights: Rights, *parts: str) -> Iterator[Crossing]:
    """Yield what the principal may not read, each once a part, in the order of the record; ``parts`` picks some."""
    found: dict[tuple[str, str], Crossing] = {}
    for one in (*_walked(case, rights), *_linked(case, rights), *_shown(case, rights), *_retrieved(case, rights)):
        if not parts or one.part in parts:
            found.setdefault((one.part, one.node), one)
    yield from found.values()


def crossing_rows(case: Case) -> list[dict[str, Any]]:
    """Return the rows of the query ``access-violations`` on a question, without its id."""
    principal = case.question.principal
    if principal is None:
        return []
    return [{"principal": principal, **one._asdict()} for one in crossings(case, case.commits.access.of(principal))]


def crossed_edges(case: Case) -> set[Edge]:
    """Return the traversed edges that the principal of the question may not follow; none without a principal."""
    if case.question.principal is None:
        return set()
    may_follow, plain = case.commits.access.of(case.question.principal).may_follow, case.plain_id
    return {edge for edge in case.walked if not may_follow(plain(edge[0]), edge[1], plain(edge[2]))}


def leak_rows(case: Case) -> list[dict[str, Any]]:
    """Return the rows of the query ``leaks-through``: paths with allowed ends and a forbidden node between them."""
    principal, rows = case.question.principal, []
    if principal is None:
        return []
    may_read = case.commits.access.of(principal).may_read
    for number, walk in enumerate(case.walked_paths):
        nodes = [node for source, _, target in walk for node in (source, target)]
        rank = next((place for place, node in enumerate(nodes) if not may_read(node)), None)
        if rank is not None and may_read(nodes[0]) and may_read(nodes[-1]):
            about = {"principal": principal, "path": number, "position": rank // 2, "node": nodes[rank]}
            rows.append({**about, "source": nodes[0], "target": nodes[-1]})
    return rows


def _walked(case: Case, rights: Rights) -> Iterator[Crossing]:
    for number, walk in enumerate(case.walked_paths):
        for place, (source, relation, target) in enumerate(walk):
            found = [node for node in sorted((source, target)) if not rights.may_read(node)]
            found += [] if rights.may_use(relation) else [f"{source} -{relation}-> {target}"]
            yield from (Crossing("walk", number, place, one) for one in found)


def _linked(case: Case, rights: Rights) -> Iterator[Crossing]:
    for node, rank in (linked(case) or {}).items():
        if not rights.may_read(node):
            yield Crossing("seed", 0, rank - 1, node)


def _shown(case: Case, rights: Rights) -> Iterator[Crossing]:
    for number, call in enumerate((case.answer.tool_calls if case.answer is not None else None) or ()):
        for place, node in enumerate(call.seen or ()):
            if not rights.may_read(node):
                yield Crossing("call", number, place, node)


def _retrieved(case: Case, rights: Rights) -> Iterator[Crossing]:
    for place, chunk in enumerate(case.chunks):
        if not rights.may_read(chunk.id, chunk.repo):
            yield Crossing("context", 0, place, chunk.id)
    for place, node in enumerate(case.ranked):
        if not rights.may_read(node):
            yield Crossing("context", 1, place, node)
