"""A walk that fields may hold: the edges that an expression reads from the rows, and how the graph holds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from graphkit.errors import InputError
from graphkit.plugins.mapping.bounded_jmespath import steps_between
from graphkit.plugins.mapping.field_maps import FieldMap
from graphkit.plugins.mapping.field_values import KNOWN, Edge, FieldPath, RowValues, Vocabulary, ends_of
from graphkit.records.ids import id_of
from graphkit.records.shapes import traversal_steps

#: The share of edges that may stand the other way round in the graph.
STRAY = 0.2


#: Words by which a field says that it holds the gold.
_GOLD = frozenset(
    (
        *("gold", "golden", "expected", "truth", "groundtruth", "reference", "references", "label", "labels", "target"),
        *("annotation", "annotations", "relevant", "qrels", "support", "supporting", "correct", "solution"),
    )
)


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
        """The number of edges."""
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


def words_of(name: str) -> list[str]:
    """Return the words of a name, in lower case.

    >>> words_of("rejectedBecause"), words_of("on_path")
    (['rejected', 'because'], ['on', 'path'])
    """
    return re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold())


def measure_rows(one: WalkField, values: RowValues, vocabulary: Vocabulary) -> None:
    """Count the edges that an expression reads from the rows."""
    fields = FieldMap([one.assignment])
    if one.name != "step":
        measure_walks(one, (walk_of(fields, row) for row in values.rows), vocabulary)
        return
    first: dict[str, int] = {}
    steps: list[list[Any]] = []
    for number, row in enumerate(values.rows):
        place = first.setdefault(one.questions[number] or f"\0{number}", number) if one.questions else number
        steps.append([])
        with suppress(InputError):
            steps[place] += fields.steps(row) or ()
    measure_walks(one, steps, vocabulary)
    if one.questions:
        one.walks = {row: walk for row, walk in one.walks.items() if row in set(first.values())}


def walk_of(fields: FieldMap, row: Any) -> Any:
    """Return the walk that a row holds; None where the expression can't be applied."""
    try:
        return fields.answer(row).get("traversal")
    except InputError:
        return None


def measure_walks(one: WalkField, walks: Iterable[Any], vocabulary: Vocabulary) -> None:
    """Count the edges in the walks of rows, as a record may have them."""
    edges = vocabulary.all_edges
    one.walks, one.ends, one.known, one.forward, one.backward, one.both, one.exact = {}, 0, 0, 0, 0, 0, 0
    one.__dict__.pop("edges", None)
    for number, walk in enumerate(walks):
        found = []
        for source, relation, target in edges_in(walk):
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


def edges_in(walk: Any) -> Iterator[Edge]:
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
