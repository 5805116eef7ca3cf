"""Doubts about whether fields hold a walk, for a person to decide."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from graphkit.plugins.mapping.field_maps import FieldMap
from graphkit.plugins.mapping.field_values import ITEM, FieldPath, RowValues, Vocabulary, expression_of
from graphkit.plugins.mapping.measured_walks import STRAY, WalkField, edges_in, walk_of, words_of

#: Words by which a field says that it holds a ranking.
_RANKING = frozenset(
    (
        *("hits", "hit", "retrieved", "results", "docs", "documents", "contexts", "context", "chunks", "passages"),
        *("candidates", "ranking", "ranked", "sources", "evidence", "citations", "top"),
    )
)


def add_doubts(one: WalkField, values: RowValues, vocabulary: Vocabulary) -> None:
    """Add what stands against a walk: what it may be instead, and several systems in it."""
    of = one.rows_of
    sequence = not one.typed and not one.directed
    if sequence:
        edges = vocabulary.all_edges
        pairs = [edge for walk in one.walks.values() for edge in walk if all(map(vocabulary.node, (edge[0], edge[2])))]
        stand = sum(edges.held(source, None, target) != "unknown" for source, _, target in pairs)
        names = {word for path in one.roles for part in path[-2:] if part for word in words_of(part)}
        if stand < (1 - STRAY / 2) * len(pairs):
            one.doubts.append(
                f"of {len(pairs)} pairs of neighbours in the list {stand} are edges of the graph: it may be a ranking, "
                f"or what was visited in any order (retrieved={expression_of(next(iter(one.roles)))})"
            )
        elif names & _RANKING or any(_falls(values, path) for path in (values.within(of) if of else ())):
            one.doubts.append(
                f"it may be a ranking, whose neighbours are no steps (retrieved={expression_of(next(iter(one.roles)))})"
            )
    if _are_options(one, values):
        one.doubts.append("its inner lists hold several edges of one node: they may be what a step could choose from")
    beside = [path for path in values.within(of) if path not in one.roles and ITEM not in path[len(of) :]]
    for path in beside if of else ():
        if _numbers_otherwise(values, path):
            one.doubts.append(
                f"`{expression_of(path)}` numbers the steps in another order than the log's: sort by it, as in "
                f"sort_by(..., &{expression_of(path[len(of) :])})"
            )
    if one.name == "step":
        one.doubts += _systems(one, values, [path for path in values.leaves if ITEM not in path])


def _are_options(one: WalkField, values: RowValues) -> bool:
    """Return whether lists within lists hold edges of one node each, rather than paths."""
    if one.rows_of.count(ITEM) != 2 or not one.directed:
        return False
    fields = FieldMap([one.assignment])
    lists = [
        [edge for edge in edges_in([inner]) if edge]
        for row in values.rows
        if isinstance(walk := walk_of(fields, row), list)
        for inner in walk
        if isinstance(inner, list)
    ]
    several = [each for each in lists if len(each) > 1]
    starred = [each for each in several if len({source for source, _, _ in each}) == 1]
    return bool(starred) and 2 * len(starred) >= len(several)


def _falls(values: RowValues, path: FieldPath) -> bool:
    """Return whether the numbers of a field fall in each row's list, as scores of a ranking do."""
    lists = _numbers(values, path)
    several = [one for one in lists if len(one) > 1]
    return bool(several) and all(list(one) == sorted(one, reverse=True) and one[0] > one[-1] for one in several)


def _numbers(values: RowValues, path: FieldPath) -> list[list[float]]:
    """Return the numbers of a field by row; none if a value is no number."""
    found: dict[int, list[float]] = {}
    for row, value in values.leaves.get(path, ()):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return []
        found.setdefault(row, []).append(value)
    return list(found.values())


def _numbers_otherwise(values: RowValues, path: FieldPath) -> bool:
    """Return whether a field numbers each row's steps from 0 or 1 on, and not always in their order."""
    lists = [one for one in _numbers(values, path) if len(one) > 1]
    counted = all(sorted(one) in (list(range(len(one))), list(range(1, len(one) + 1))) for one in lists)
    return bool(lists) and counted and any(one != sorted(one) for one in lists)


#: The names of fields by which rows are those of several systems, and the share of questions that each must answer.
_SYSTEM = frozenset(("system", "run", "model", "method", "variant", "pipeline", "agent", "retriever", "seed", "config"))
_MOST_SYSTEMS, _CROSSED = 10, 0.9


def _systems(one: WalkField, values: RowValues, fields: Sequence[FieldPath]) -> Iterator[str]:
    """Yield why the rows of a question may be those of several systems, or in another order than the log's."""
    asked = [row for row, name in enumerate(one.questions) if name]
    for path in fields:
        if path in one.roles:
            continue
        held = dict(values.leaves[path])
        shown = f"`{expression_of(path)}`"
        kinds = {json.dumps(held.get(row)) for row in asked}
        pairs = Counter((one.questions[row], json.dumps(held.get(row))) for row in asked)
        if 1 < len(kinds) <= _MOST_SYSTEMS and max(pairs.values()) > 1:
            crossed = len(pairs) >= _CROSSED * len(kinds) * len({name for name, _ in pairs})
            several = len(pairs) > len({name for name, _ in pairs})
            if several and (crossed or set(words_of(str(path[-1]))) & _SYSTEM):
                yield f"{shown} has several values for a question: its rows may be walks of several systems"
        numbers: dict[str | None, list[float]] = {}
        for row in asked:
            number = _as_number(held.get(row))
            numbers.setdefault(one.questions[row], []).append(-1 if number is None else number)
        lists = [each for each in numbers.values() if len(each) > 1]
        counted = all(sorted(each) in (list(range(len(each))), list(range(1, len(each) + 1))) for each in lists)
        if lists and counted and any(each != sorted(each) for each in lists):
            yield f"{shown} numbers the steps in another order than the log's: sort the rows by it first"


def _as_number(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
