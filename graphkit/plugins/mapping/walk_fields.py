"""Finds the fields that may hold walks by their values, each with an expression of ``--map`` that reads it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, pairwise, permutations
from typing import Any

from graphkit.errors import InputError
from graphkit.plugins.mapping.bounded_jmespath import searched, steps_between
from graphkit.plugins.mapping.field_maps import MOST, FieldMap, compiled
from graphkit.plugins.mapping.field_values import (
    ITEM,
    KNOWN,
    SOME_KNOWN,
    Edge,
    FieldPath,
    RowValues,
    Vocabulary,
    ends_of,
    expression_of,
    scalars,
)
from graphkit.readers.graph_names import ENDS, plain
from graphkit.records.ids import id_of
from graphkit.records.path_texts import has_arrow
from graphkit.records.shapes import traversal_steps

#: What separates the names of a walk in a text, the most specific first.
_SEPARATORS = (" -> ", " => ", " > ", "; ", " | ", ", ", "->", "=>", ">", ";", "|", "\t", "\n", ",", " ")

#: The most nodes' fields of an object whose pairs are tried, and the longest lists that are triples of some order.
_MOST_ENDS, _LONGEST_TRIPLE = 6, 6

#: The share of edges that may stand the other way round in the graph.
STRAY = 0.2


@dataclass
class WalkField:
    """Fields that may hold walks.

    Attributes
    ----------
    name, expression
        The assignment that reads them: ``traversal``, or ``step`` where each row holds a step of its question's walk.
    roles
        What each field that it reads is.
    questions
        The question of each row.
    walks
        The edges in each row, with the ids of the dataset.
    directed
        Whether the log's form says which end of an edge is the source.
    ends, known
        How many ends the edges have, and how many of them the dataset knows.
    forward, backward, both
        How many edges the graph holds this way, only the other way, and both ways.
    exact
        How many of them it holds with their relation.
    flags
        Fields of a step with two values, by which some steps may be seen only.
    rows_of
        The list whose objects are steps.
    doubt, turned
        Why the direction of the edges isn't known, and the walks the other way round.
    doubts
        What else stands against the walk, for a person to decide.
    """

    name: str
    expression: str
    roles: dict[FieldPath, str]
    questions: Sequence[str | None] = ()
    walks: dict[int, list[Edge]] = field(default_factory=dict)
    directed: bool = True
    ends: int = 0
    known: int = 0
    forward: int = 0
    backward: int = 0
    both: int = 0
    exact: int = 0
    flags: tuple[FieldPath, ...] = ()
    rows_of: FieldPath = ()
    doubt: str | None = None
    doubts: list[str] = field(default_factory=list)
    turned: list[WalkField] = field(default_factory=list)

    @property
    def assignment(self) -> str:
        """The assignment as ``--map`` takes it."""
        return f"{self.name}={self.expression}"

    @cached_property
    def edges(self) -> int:
        """How many edges there are."""
        return sum(map(len, self.walks.values()))

    @property
    def held(self) -> float:
        """The share of edges that the graph holds, either way."""
        return (self.forward + self.backward + self.both) / self.edges if self.edges else 0.0

    @property
    def typed(self) -> bool:
        """Whether the edges have relations."""
        return any(relation for walk in self.walks.values() for _, relation, _ in walk)

    def has_walks_of(self, other: WalkField) -> bool:
        """Return whether the walks of another have the same ends in each row."""
        rows = self.walks.keys() | other.walks.keys()
        return all(ends_of(self.walks.get(row, [])) == ends_of(other.walks.get(row, [])) for row in rows)

    def is_one_each(self) -> bool:
        """Return whether rows of several questions hold one edge each at most."""
        named = [one for one in self.questions if one]
        return len(named) == len(set(named)) and all(len(walk) < 2 for walk in self.walks.values())

    def misnames(self, other: WalkField) -> bool:
        """Return whether the relations are none of the graph's edges, which another reads without them."""
        stand = self.forward + self.backward + self.both
        return self.typed and not other.typed and 2 * self.exact < stand and self.has_walks_of(other)

    def holds(self, other: WalkField) -> bool:
        """Return whether each row has all edges of another's, and some have more."""
        rows = other.walks.keys()
        return all(ends_of(other.walks[row]) <= ends_of(self.walks.get(row, [])) for row in rows)

    def is_gold(self, vocabulary: Vocabulary) -> bool:
        """Return whether each row's edges are the gold of its question."""
        equal = self._equal_gold(vocabulary)
        return bool(equal) and all(equal)

    def may_be_gold(self, vocabulary: Vocabulary) -> bool:
        """Return whether the names of the fields say that they hold the gold, as half of the rows do at least."""
        names = {word for path in self.roles for part in path if part for word in words_of(part)}
        equal = self._equal_gold(vocabulary)
        return bool(names & _GOLD) and bool(equal) and sum(equal) >= len(equal) * KNOWN

    def _equal_gold(self, vocabulary: Vocabulary) -> list[bool]:
        """Return for each row whose question has gold whether its edges are that; nodes alone may be its ids."""
        found = []
        for row, edges in self.walks.items():
            gold = vocabulary.gold.get(self.questions[row] or "")
            if gold is None or not (gold.paths or gold.ids):
                continue
            nodes = {end for source, _, target in edges for end in (source, target)}
            found.append(gold.is_walk(edges) or (not self.directed and bool(nodes) and nodes == gold.ids))
        return found

    def is_constant(self) -> bool:
        """Return whether rows of several questions all hold the same edges, and some."""
        rows = [row for row, one in enumerate(self.questions) if one]
        return (
            len({self.questions[row] for row in rows}) > 1
            and bool(self.walks.get(rows[0]))
            and len({ends_of(self.walks.get(row, [])) for row in rows}) == 1
        )


#: Words by which a field says that it holds the gold, or a ranking.
_GOLD = frozenset(
    (
        *("gold", "golden", "expected", "truth", "groundtruth", "reference", "references", "label", "labels", "target"),
        *("annotation", "annotations", "relevant", "qrels", "support", "supporting", "correct", "solution"),
    )
)
_RANKING = frozenset(
    (
        *("hits", "hit", "retrieved", "results", "docs", "documents", "contexts", "context", "chunks", "passages"),
        *("candidates", "ranking", "ranked", "sources", "evidence", "citations", "top"),
    )
)


def words_of(name: str) -> list[str]:
    """Return the words of a name, in lower case.

    >>> words_of("rejectedBecause"), words_of("on_path")
    (['rejected', 'because'], ['on', 'path'])
    """
    return re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold())


def walk_fields(values: RowValues, vocabulary: Vocabulary, questions: Sequence[str | None]) -> list[WalkField]:
    """Return the fields that may hold walks in rows of these questions, those with relations and known edges first.

    Where several rows have the same question, a row may hold a step.
    """
    found: list[WalkField] = []
    for one in _enumerated(values, vocabulary, questions):
        one.questions = questions
        _measure(one, values, vocabulary)
        if one.edges and one.known >= SOME_KNOWN * one.ends:
            _add_doubts(one, values, vocabulary)
            found.append(one)
    return sorted(found, key=lambda one: (not one.typed, -one.held))


def _add_doubts(one: WalkField, values: RowValues, vocabulary: Vocabulary) -> None:
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
        [edge for edge in _edges_in([inner]) if edge]
        for row in values.rows
        if isinstance(walk := _walk_of(fields, row), list)
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


def _enumerated(values: RowValues, vocabulary: Vocabulary, questions: Sequence[str | None]) -> Iterator[WalkField]:
    named = [one for one in questions if one]
    joined = len(named) > len(set(named))
    nodes = scalars(values, vocabulary.node, SOME_KNOWN)
    relations = [path for path in scalars(values, vocabulary.relation, KNOWN) if path not in nodes]
    lists = {path[: _last_item(path) + 1] for path in nodes if ITEM in path}
    yield from _listed(values, vocabulary, joined)
    for of in sorted({*lists, ()}, key=len):
        inside = (
            [path for path in nodes if path in set(values.within(of))]
            if of
            else [path for path in nodes if ITEM not in path]
        )
        beside = [path for path in relations if path[: len(of)] == of and ITEM not in path[len(of) :]]
        if of == () and not joined and len(inside) < 2:
            continue
        if len(inside) > 1:
            yield from _pairs(values, vocabulary, of, inside[:_MOST_ENDS], beside)
        elif len(inside) == 1 and of:
            yield from _sequences(values, of, inside[0], beside, relations)
        elif inside:
            yield WalkField("step", expression_of(inside[0]), {inside[0]: "node"}, directed=False)
    for path in nodes:
        names, total = values.share(path, vocabulary.relation)
        if path and path[-1] is ITEM and names < STRAY * total:
            yield from _sequences(values, path, path, [], relations)
    for path in values.leaves:
        if path not in nodes and path not in relations:
            yield from _texts(values, vocabulary, path, joined)


def _pairs(
    values: RowValues, vocabulary: Vocabulary, of: FieldPath, ends: list[FieldPath], relations: list[FieldPath]
) -> Iterator[WalkField]:
    """Yield the best pair of ends in the objects of a list, or in rows, and others that fit about as well."""
    tried: list[WalkField] = []
    for source, target in combinations(ends, 2):
        for relation in (*relations, None):
            one = _pair(of, source, relation, target)
            _measure(one, values, vocabulary)
            if one.edges:
                tried.append(one)
    best = max((one.held for one in tried), default=0.0)
    kept: list[WalkField] = []
    for one in sorted(tried, key=lambda one: (-one.held, -one.exact, not one.typed)):
        if one.held >= best * (1 - STRAY) and not any(one.has_walks_of(other) for other in kept):
            kept.append(one)
            yield _pointed(one, values, vocabulary, of)


#: The field of a step whose edge gets the direction of the graph, and how many steps show that they stand as walked.
_EITHER_WAY, _MOST_JOINTS_BY_CHANCE = "directed: `false`", 2


def _stands_as_walked(one: WalkField) -> bool:
    """Return whether the graph holds nearly all edges, and each step begins where the one before it ended."""
    joints = [first[2] == second[0] for walk in one.walks.values() for first, second in pairwise(walk)]
    return one.held >= KNOWN and len(joints) > _MOST_JOINTS_BY_CHANCE and all(joints)


def _pair(of: FieldPath, source: FieldPath, relation: FieldPath | None, target: FieldPath) -> WalkField:
    roles = {source: "source", target: "target"} | ({relation: "relation"} if relation else {})
    parts = {"source": source, "relation": relation, "target": target}
    fields = ", ".join(f"{name}: {expression_of(one[len(of) :])}" for name, one in parts.items() if one)
    if of:
        return WalkField("traversal", f"{_projected(of)}.{{{fields}}}", roles, rows_of=of)
    return WalkField("step", f"{{{fields}}}", roles)


def _pointed(one: WalkField, values: RowValues, vocabulary: Vocabulary, of: FieldPath) -> WalkField:
    """Return a pair in the direction in which the graph holds its edges, with a doubt if it doesn't decide that."""
    role = {what: path for path, what in one.roles.items()}
    source, relation, target = role["source"], role.get("relation"), role["target"]
    along, against = one.forward, one.backward
    if against > along or (along == against == 0 and _named_back(source, target)):
        one = _pair(of, target, relation, source)
        _measure(one, values, vocabulary)
    least, most = sorted((one.forward, one.backward))
    mixed = least > STRAY * (least + most)
    other = _pair(of, source, relation, target)
    if one.roles[source] == "source":
        other = _pair(of, target, relation, source)
    if mixed:
        _measure(other, values, vocabulary)
        if (walked := next(filter(_stands_as_walked, (one, other)), None)) is not None:
            one = replace(walked, expression=f"{walked.expression[:-1]}, {_EITHER_WAY}}}", directed=False)
        else:
            one.doubt = "which of both fields is the source isn't known"
    elif not most and not _named_back(target, source):
        one.doubt = "the graph holds none of the edges in one direction only: which field is the source isn't known"
    if one.doubt:
        one.turned = [other]
        _measure(other, values, vocabulary)
    if of and _lacks_ends(one, values):
        ends = " && ".join(expression_of(path[len(of) :]) for path, role in one.roles.items() if role != "relation")
        steps, opened, rest = one.expression.rpartition(".{")
        one.expression = f"{steps.removesuffix('[]')}[?{ends}][]{opened}{rest}"
    keys = [path for path in values.within(of) if path not in one.roles]
    one.flags = tuple(path for path in keys if _is_flag(values, path, of, source, target))
    return one


def _lacks_ends(one: WalkField, values: RowValues) -> bool:
    """Return whether some steps have no end, as the last one of a walk that went no further."""
    fields = FieldMap([one.assignment])
    walks = (_walk_of(fields, row) for row in values.rows)
    steps = (step for walk in walks if isinstance(walk, list) for step in walk if isinstance(step, dict))
    return any(not step.get("source") or not step.get("target") for step in steps)


def _named_back(source: FieldPath, target: FieldPath) -> bool:
    """Return whether the names of two fields are usual ones of a target and a source, in this order."""
    names = [plain(str(path[-1])) for path in (source, target) if path]
    parents = [plain(str(path[-2])) for path in (source, target) if len(path) > 1 and path[-2] is not ITEM]
    return any((two[1], two[0]) in ENDS for two in (names, parents) if len(two) == 2)


#: Words by which a field, or one of its two values, says that some steps were seen and others chosen.
_CHOICE = frozenset(
    (
        *("chosen", "taken", "selected", "visited", "kept", "expanded", "accepted", "followed", "used", "onpath"),
        *("pruned", "rejected", "seen", "skipped", "dropped", "ignored", "candidate", "considered", "discarded"),
        *("chose", "take", "select", "visit", "keep", "expand", "accept", "follow", "prune", "reject", "skip"),
        *("drop", "ignore", "pick", "picked", "walked", "discard", "consider"),
    )
)


def _is_flag(values: RowValues, path: FieldPath, of: FieldPath, source: FieldPath, target: FieldPath) -> bool:
    """Return whether a field of steps may say which of them were seen only.

    Its words say so, and it isn't the same of all steps; or the steps of one of two values are a chain in each row, and
    all steps are none.
    """
    held = values.leaves[path]
    found = {json.dumps(value) for _, value in held}
    some = len(held) < len(values.leaves[source])
    if set(words_of(str(path[-1]))) & _CHOICE and (some or len(found) > 1):
        return True
    words = {"".join(words_of(one)) for one in found}
    if len(found) > 1 and words & _CHOICE:
        return True
    if len(found) != 2 or not (found == {"0", "1"} or all(one[0] in 'tf"' for one in found)):  # true, false or texts
        return False
    if of:
        inner = ", ".join(expression_of(one[len(of) :]) for one in (source, target, path))
        steps = compiled(f"{expression_of(of)}.[{inner}]", str(path[-1]))
        rows = [searched(steps, row, MOST) or [] for row in values.rows]
    else:
        return False
    if all(map(_is_chain, rows)):
        return False
    return any(
        all(_is_chain(chosen) for row in rows if (chosen := [step for step in row if json.dumps(step[2]) == value]))
        for value in found
    )


def _is_chain(steps: Sequence[Sequence[Any]]) -> bool:
    """Return whether each step begins where the one before it ends."""
    return all(before[1] == after[0] for before, after in pairwise(steps))


def _sequences(
    values: RowValues, of: FieldPath, node: FieldPath, beside: list[FieldPath], relations: list[FieldPath]
) -> Iterator[WalkField]:
    """Yield the walks along the nodes of lists, with relations in the same objects, or in a list beside."""
    place = _last_item([*of[: _last_item(of)]])
    outer, inner = of[: place + 1], node[place + 1 :]
    start = "" if not outer else f"{_nested(outer)}."

    def walk(relation: str | None, path: FieldPath | None) -> WalkField:
        nodes = expression_of(inner) if len(inner) > 1 or inner != (ITEM,) else "@"
        nodes = nodes.removesuffix("[]") if inner[-1] is ITEM else nodes
        more = f", {relation}" if relation else ""
        roles = {node: "nodes"} | ({path: "relations"} if path else {})
        return WalkField("traversal", f"{start}walk({nodes}{more})", roles, directed=False, rows_of=of)

    counts = _lengths(values, node, outer)
    lists = [path for path in relations if path[: len(outer)] == outer and path != node]
    for path in (*beside, *(one for one in lists if one not in beside and one[len(outer) :].count(ITEM) == 1)):
        lengths = _lengths(values, path, outer)
        text = expression_of(path[len(outer) :]).removesuffix("[]")
        if all(lengths.get(key, 0) == max(count - 1, 0) for key, count in counts.items()):
            yield walk(text, path)
        elif all(lengths.get(key, 0) == count for key, count in counts.items()):
            yield walk(f"{text}[1:]", path)
            yield walk(f"{text}[:-1]", path)
    yield walk(None, None)


def _lengths(values: RowValues, path: FieldPath, outer: FieldPath) -> dict[tuple[int, int], int]:
    """Return how many values of a field each row holds; of lists within lists, those of each inner one."""
    of = path[: _last_item(path) + 1]
    if ITEM not in outer or of[-1] is not ITEM:
        counts: dict[tuple[int, int], int] = {}
        for row, _ in values.leaves[path]:
            counts[row, 0] = counts.get((row, 0), 0) + 1
        return counts
    found: dict[tuple[int, int], int] = {}
    seen: dict[int, int] = {}
    for row, one in values.lists.get(of[:-1], ()):
        seen[row] = seen.get(row, -1) + 1
        inner = path[len(of) :]
        found[row, seen[row]] = sum(_at(item, inner) is not None for item in one)
    return found


def _at(value: Any, path: Sequence[str | None]) -> Any:
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _listed(values: RowValues, vocabulary: Vocabulary, joined: bool) -> Iterator[WalkField]:
    """Yield the walks in lists: triples in whatever order, and names that alternate between nodes and relations."""
    for path, held in values.lists.items():
        rows = [one for _, one in held if one]
        if not rows or not all(isinstance(item, str | int | float | None) for one in rows for item in one):
            continue
        if not any(isinstance(item, str) for one in rows for item in one):
            continue
        inside = path and path[-1] is ITEM
        if ITEM in path and not inside:
            if len({len(one) for one in rows}) == 1 and 2 < len(rows[0]) <= _LONGEST_TRIPLE:
                yield from _triples(values, vocabulary, path, rows, joined)
            continue
        start = _nested(path) if inside else expression_of(path)
        odd = all(len(one) % 2 for one in rows)
        nodes = [item for one in rows for item in one[::2]]
        links = [item for one in rows for item in one[1::2]]
        alternate = odd and links and _share(nodes, vocabulary.node) >= SOME_KNOWN
        alternate = alternate and _share(links, vocabulary.relation) >= KNOWN
        if inside and len({len(one) for one in rows}) == 1 and 2 < len(rows[0]) <= _LONGEST_TRIPLE:
            yield from _triples(values, vocabulary, path, rows, joined)
        elif alternate:
            call = "walk([::2], [1::2])" if inside else f"walk({start}[::2], {start}[1::2])"
            item = (*path, ITEM)
            yield WalkField("traversal", f"{start}.{call}" if inside else call, {item: "path"}, directed=False)


def _triples(
    values: RowValues, vocabulary: Vocabulary, path: FieldPath, rows: list[list[Any]], joined: bool
) -> Iterator[WalkField]:
    columns = list(zip(*rows, strict=True))
    ends = [place for place, one in enumerate(columns) if _share(one, vocabulary.node) >= SOME_KNOWN]
    kinds = [place for place, one in enumerate(columns) if _share(one, vocabulary.relation) >= KNOWN]
    kinds = [place for place in kinds if place not in ends]
    if len(ends) > 2 and not kinds:  # paths of nodes
        return
    tried: list[WalkField] = []
    places: list[int | None] = [*kinds]
    for source, target in permutations(ends, 2):
        for kind in places or [None]:
            last = _last_item(path)
            of, name = path[: last + 1], "" if last == len(path) - 1 else expression_of(path[last + 1 :])
            relation = "" if kind is None else f"relation: {name}[{kind}], "
            start = _projected(of) if name else _nested(of)
            text = f"{start}.{{source: {name}[{source}], {relation}target: {name}[{target}]}}"
            order = {source: "source", target: "target"} | ({} if kind is None else {kind: "relation"})
            what = ", ".join(order.get(place, "unread") for place in range(len(columns)))
            one = WalkField("traversal", text, {(*path, ITEM): f"[{what}]"}, rows_of=of)
            _measure(one, values, vocabulary)
            tried.append(one)
    if not tried:
        return
    best = max(tried, key=lambda one: (one.held, one.forward - one.backward))
    least, most = sorted((best.forward, best.backward))
    as_walked = (one for one in tried if one.held == best.held and _stands_as_walked(one))
    if least > STRAY * (least + most) and (walked := next(as_walked, None)) is not None:
        best = replace(walked, expression=f"{walked.expression[:-1]}, {_EITHER_WAY}}}", directed=False)
    elif least > STRAY * (least + most) or not most:
        best.doubt = "which place of the lists is the source isn't known"
    yield best


def _texts(values: RowValues, vocabulary: Vocabulary, path: FieldPath, joined: bool) -> Iterator[WalkField]:
    """Yield the walks in texts: paths with arrows, names between separators, or two ids in a text of some pattern."""
    texts = [value for _, value in values.leaves[path] if isinstance(value, str)]
    if len(texts) < len(values.leaves[path]) or not any(len(text) > 2 for text in texts):
        return
    item = path[-1] is ITEM if path else False
    start = _projected(path) if ITEM in path else expression_of(path)
    by_step = joined and ITEM not in path

    def made(call: str, *, flat: bool, directed: bool) -> WalkField:
        name = "step" if by_step else "traversal"
        if ITEM not in path:
            text = call.replace("@", f"{start} || ''" if values.table else start)  # an empty cell is an empty walk
        else:
            text = f"{start}.{call}"
            text += "[]" if flat and call.startswith(("walk", "arrows")) else ""
        return WalkField(name, text, {path: "texts of walks"}, directed=directed, rows_of=path)

    if any(map(has_arrow, texts)):
        one = made("arrows(@)", flat=True, directed=True)
        _measure(one, values, vocabulary)
        names = [end for walk in one.walks.values() for source, _, target in walk for end in (source, target)]
        if (
            one.edges
            and one.known >= SOME_KNOWN * one.ends
            and not any(map(vocabulary.relation, names))
            and _accounts(one, values, vocabulary, path)
        ):
            least, most = sorted((one.forward, one.backward))
            if one.backward > one.forward or least > STRAY * max(most, 1):
                one.doubt = f"{one.backward} of {one.edges} arrows point against the edges of the graph"
            elif not most and not one.both:
                one.doubt = "the graph holds none of the edges"
            yield one
            return
    for separator in _SEPARATORS:
        parts = [[part for part in map(str.strip, text.split(separator)) if part] for text in texts]
        several = [one for one in parts if len(one) > 1]
        if not several:
            continue
        quoted = f"split(@, {_literal(separator)})"
        if _share([name for one in parts for name in one], vocabulary.node) >= SOME_KNOWN and (
            _share([name for one in several for name in one[1:]], vocabulary.node) >= SOME_KNOWN
            and not _share([name for one in several for name in one[1::2]], vocabulary.relation) >= KNOWN
        ):
            one = made(f"walk({quoted})", flat=False, directed=False)
            _measure(one, values, vocabulary)
            if _accounts(one, values, vocabulary, path):
                yield one
                return
            continue
        odd = all(len(one) % 2 for one in several)
        links = [name for one in several for name in one[1::2]]
        if (
            odd
            and _share(links, vocabulary.relation) >= KNOWN
            and (_share([name for one in several for name in one[::2]], vocabulary.node) >= SOME_KNOWN)
        ):
            one = made(f"walk({quoted}[::2], {quoted}[1::2])", flat=True, directed=False)
            _measure(one, values, vocabulary)
            if _accounts(one, values, vocabulary, path):
                yield one
                return
    if item or ITEM not in path:
        from graphkit.plugins.mapping.line_patterns import step_patterns

        for pattern in step_patterns(texts, vocabulary):
            call = f"groups(@, {_literal(pattern)})"
            one = made(call, flat=False, directed=True)
            if not by_step and ITEM not in path:
                one.expression = f"[{one.expression}] | [?@]"
            _measure(one, values, vocabulary)
            if _accounts(one, values, vocabulary, path):
                yield one


def _accounts(one: WalkField, values: RowValues, vocabulary: Vocabulary, path: FieldPath) -> bool:
    """Return whether the walks hold each node that texts name, and no name with a node or a relation within it."""
    named: dict[int, set[str]] = {}
    for row, text in values.leaves[path]:
        named.setdefault(row, set()).update(vocabulary.nodes_in(text))
    read: set[str] = set()
    for walk in one.walks.values():
        for source, _, target in walk:
            for end in (source, target):
                if vocabulary.node(end) is None and (
                    vocabulary.nodes_in(end) or vocabulary.is_link(end) or vocabulary.is_glued(end)
                ):
                    return False
                read.add(end)
    if one.name == "step":
        return set().union(*named.values()) <= read
    alone = {row for row, walk in one.walks.items() if not walk and len(named.get(row, ())) < 2}
    return all(
        nodes <= {end for source, _, target in one.walks.get(row, []) for end in (source, target)}
        for row, nodes in named.items()
        if row not in alone
    )


def _measure(one: WalkField, values: RowValues, vocabulary: Vocabulary) -> None:
    """Count the edges that an expression reads from the rows."""
    fields = FieldMap([one.assignment])
    if one.name != "step":
        measured(one, (_walk_of(fields, row) for row in values.rows), vocabulary)
        return
    first: dict[str, int] = {}
    steps: list[list[Any]] = []
    for number, row in enumerate(values.rows):
        place = first.setdefault(one.questions[number] or f"\0{number}", number) if one.questions else number
        steps.append([])
        with suppress(InputError):
            steps[place] += fields.steps(row) or ()
    measured(one, steps, vocabulary)
    if one.questions:
        one.walks = {row: walk for row, walk in one.walks.items() if row in set(first.values())}


def _walk_of(fields: FieldMap, row: Any) -> Any:
    """Return the walk that a row holds; None where the expression can't be applied."""
    try:
        return fields.answer(row).get("traversal")
    except InputError:
        return None


def measured(one: WalkField, walks: Iterable[Any], vocabulary: Vocabulary) -> None:
    """Count the edges in the walks of rows, as a record may have them."""
    edges = vocabulary.all_edges
    one.walks, one.ends, one.known, one.forward, one.backward, one.both, one.exact = {}, 0, 0, 0, 0, 0, 0
    one.__dict__.pop("edges", None)
    for number, walk in enumerate(walks):
        found = []
        for source, relation, target in _edges_in(walk):
            ids = [vocabulary.node(end) for end in (source, target)]
            one.ends += 2
            one.known += sum(end is not None for end in ids)
            placed = ids[0] or source, relation, ids[1] or target
            if placed[0] != placed[2]:
                found.append(placed)
        one.walks[number] = found
        for source, relation, target in found:
            there, back = (edges.held(*ends) == "forward" for ends in ((source, None, target), (target, None, source)))
            if there and back and relation is not None:
                spelled = edges.spelled(relation)
                there, back = (
                    edges.held(*ends) == "forward" for ends in ((source, spelled, target), (target, spelled, source))
                )
            one.exact += relation is not None and "forward" in (
                edges.held(source, edges.spelled(relation), target),
                edges.held(target, edges.spelled(relation), source),
            )
            one.both += there and back
            one.forward += there and not back
            one.backward += back and not there


def _edges_in(walk: Any) -> Iterator[Edge]:
    """Yield the edges of a walk; none where the record's check would refuse it."""
    try:
        steps = traversal_steps(walk)
    except (ValueError, TypeError):
        return
    if isinstance(steps, list) and all(isinstance(step, str) for step in steps):
        steps = steps_between(steps)
    for step in steps or ():
        if isinstance(step, dict) and (source := id_of(step.get("source"))) and (target := id_of(step.get("target"))):
            relation = step.get("relation")
            yield source, relation if isinstance(relation, str) and relation else None, target


def _projected(path: FieldPath) -> str:
    """Return the expression of objects in lists: two lists keep their nesting, since the outer one holds paths."""
    return _nested(path) if path.count(ITEM) == 2 else expression_of(path)


def _nested(path: FieldPath) -> str:
    """Return the expression of a field whose lists keep their nesting; lists of more than two levels are flattened."""
    levels = path.count(ITEM)
    text, seen = "", 0
    for part in path:
        if part is ITEM:
            seen += 1
            text += "[]" if seen < levels - 1 else "[*]"
        else:
            text += ("." if text else "") + expression_of((part,))
    return text or "@"


def _last_item(path: Sequence[str | None]) -> int:
    return max((place for place, part in enumerate(path) if part is ITEM), default=-1)


def _share(values: Iterable[Any], known: Callable[[Any], Any]) -> float:
    every = list(values)
    return sum(bool(known(one)) for one in every) / len(every) if every else 0.0


def _literal(text: str) -> str:
    """Return a text as JMESPath quotes it; a line end or a tab as ``split`` reads them."""
    return "'" + text.replace("\n", "\\n").replace("\t", "\\t").replace("'", "\\'") + "'"
