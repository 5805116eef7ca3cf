"""Decides what lists of three strings in a traversal are: ``[source, relation, target]``, or paths of three nodes.

A single record often can't decide: ``["Ann", "works at", "Acme"]`` may be either. All records of a file together can,
since nodes occur as nodes elsewhere, and relations recur and never occur as nodes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from graphkit.records.aliases import ANSWER
from graphkit.records.ids import id_of

READ_AS_TRIPLES = (
    "lists of three strings are read as [source, relation, target], since their middle strings aren't nodes elsewhere; "
    'write {"triples": [...]} to confirm that, or {"paths": [...]} for paths of three nodes'
)
READ_AS_PATHS = (
    "lists of three strings are read as paths of three nodes, since most middle strings are nodes elsewhere; "
    'write {"paths": [...]} to confirm that, or {"triples": [...]} for [source, relation, target]'
)
UNDECIDED = (
    "lists of three strings are read as paths of three nodes, but they may be [source, relation, target]: nothing in "
    'the file decides it; write {"triples": [...]} or {"paths": [...]}'
)

_RELATION = re.compile(r"[A-Z][A-Z0-9_]*\Z")
_NAMES = ("traversal", *ANSWER["traversal"])
_RETRIEVED = ("retrieved", *ANSWER["retrieved"])


def are_triples(rows: Any) -> bool:
    """Return whether lists are triples by their spelling: a relation is null, in capitals, or has no repository."""
    return are_three(rows) and all(_is_relation(row) for row in rows)


def are_three(rows: Any) -> bool:
    """Return whether all rows are lists of three that begin and end with a string."""
    return (
        isinstance(rows, list | tuple)
        and bool(rows)
        and all(
            isinstance(row, list | tuple)
            and len(row) == 3
            and id_of(row[0]) is not None
            and id_of(row[2]) is not None
            and (row[1] is None or id_of(row[1]) is not None)
            for row in rows
        )
    )


def _is_relation(row: Any) -> bool:
    return _is_plain(row) or (isinstance(row[1], str) and bool(_RELATION.match(row[1])))


def _is_plain(row: Any) -> bool:
    """Return whether the middle is null, or only the source names a repository."""
    return row[1] is None or (":" in str(row[0]) and ":" not in str(row[1]))


def doubtful(record: Any) -> str | None:
    """Return the name of a record's field with lists of three strings that their spelling doesn't decide."""
    if not isinstance(record, dict):
        return None
    name = next((name for name in _NAMES if name in record), None)
    if name is None or not are_three(record[name]) or all(_is_plain(row) for row in record[name]):
        return None
    return None if any(row[1] is None for row in record[name]) else name


class ThreeTexts:
    """The evidence of all records about their lists of three strings.

    ``gold`` are further ids that are known to be nodes.
    """

    def __init__(self, records: Iterable[Any], gold: Iterable[str] = ()) -> None:
        self._middles: Counter[str] = Counter()
        self._ends: set[str] = set()
        self._known: set[str] = set(gold)
        for record in records:
            self._add(record)
        self._nodes = self._known | self._ends

    def _add(self, record: Any) -> None:
        if not isinstance(record, dict):
            return
        retrieved = next((record[name] for name in _RETRIEVED if name in record), None)
        if isinstance(retrieved, list):
            self._known.update(_chunk_ids(retrieved))
        traversal = next((record[name] for name in _NAMES if name in record), None)
        if traversal is not None and are_three(traversal):
            for source, middle, target in traversal:
                self._ends.update((str(id_of(source)), str(id_of(target))))
                if middle is not None:
                    self._middles[str(id_of(middle))] += 1
        else:
            self._known.update(_nodes_of(traversal))

    def are_triples(self) -> bool | None:
        """Return True for triples, False for paths of three nodes, and None if the records don't decide."""
        middles = self._middles
        if not middles:
            return None
        if 2 * len(middles.keys() & self._nodes) >= len(middles):
            return False
        repeated = middles.total() > len(middles)
        return True if repeated or not self._known.isdisjoint(self._ends) else None

    def resolved(self, record: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
        """Return a record whose traversal states its form, and the note about this reading."""
        name = doubtful(record)
        if name is None:
            return record, None
        rows, triples = record[name], self.are_triples()
        if are_triples(rows) and triples is not False:
            return record, None
        note = {True: READ_AS_TRIPLES, False: READ_AS_PATHS, None: UNDECIDED}[triples]
        return {**record, name: {"triples" if triples else "paths": rows}}, note


def _chunk_ids(chunks: Iterable[Any]) -> Iterator[str]:
    for chunk in chunks:
        keys = ("id", "chunk_id", "doc_id", "node_id")
        values = [chunk.get(key) for key in keys] if isinstance(chunk, dict) else [chunk]
        yield from (name for value in values if (name := id_of(value)) is not None)


def _nodes_of(traversal: Any) -> Iterator[str]:
    """Yield the certain nodes of a traversal in any other form."""
    if isinstance(traversal, dict):
        found = [traversal.get(key) for key in ("source", "target")]
        triples = traversal.get("triples")
        for row in triples if isinstance(triples, list) else ():
            found += [row[0], row[-1]] if isinstance(row, list) and row else []
        yield from (name for value in found if (name := id_of(value)) is not None)
        for key in ("paths", "edges", "links", "steps"):
            yield from _nodes_of(traversal.get(key))
    elif isinstance(traversal, list):
        for part in traversal:
            names = [id_of(node) for node in part] if isinstance(part, list) and len(part) != 3 else [None]
            if None in names:
                steps = part if isinstance(part, list) else [part]
                for step in steps:
                    yield from _nodes_of(step if isinstance(step, dict) else None)
            else:
                yield from (name for name in names if name is not None)
