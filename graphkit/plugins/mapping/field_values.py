"""The values in a log by the paths of their fields, and what each is to a dataset: a question, a node, a relation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from graphkit.files.known_ids import Known, closest
from graphkit.imports.names import Names
from graphkit.records.directions import KnowledgeEdges
from graphkit.records.ids import id_of
from graphkit.records.question_texts import QuestionTexts
from graphkit.records.structs import QuestionStruct

#: A step from a value to a field of it by the field's name, or to each item of a list (``ITEM``).
Part = str | None
FieldPath = tuple[Part, ...]
ITEM: Part = None

#: The deepest field that is looked at, and the most fields of a row.
_DEEPEST, _FIELDS = 12, 5_000

#: The share of a field's values that must be known for the field to hold questions, nodes or relations.
KNOWN = 0.5
SOME_KNOWN = 0.3

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

#: What a name in a text stands between; an id with blanks or such marks is looked for as a whole, if there aren't many.
TOKEN = re.compile(r"[^\s\"'`,;|()\[\]{}<>]+")
_MOST_SPACED = 5_000

Edge = tuple[str, str | None, str]

#: The two ends of each of several edges.
Ends = frozenset[frozenset[str]]


def ends_of(edges: Sequence[Edge]) -> Ends:
    """Return the ends of edges, whatever their direction and relation."""
    return frozenset(frozenset((source, target)) for source, _, target in edges)


@dataclass(frozen=True)
class GoldWalk:
    """The gold of a question: each path's edges, and every id."""

    paths: tuple[tuple[Edge, ...], ...]
    ids: frozenset[str]

    @cached_property
    def walks(self) -> list[Ends]:
        """The ends of the edges of each path, and of all together."""
        of_paths = [ends_of(path) for path in self.paths]
        return [*of_paths, ends_of([edge for path in self.paths for edge in path])] if of_paths else []

    def is_walk(self, edges: Sequence[Edge]) -> bool:
        """Return whether edges are the gold, in whatever direction: a path or all of them, or else its nodes."""
        if self.paths:
            return ends_of(edges) in self.walks
        return bool(self.ids) and {end for source, _, target in edges for end in (source, target)} == self.ids


@dataclass
class Vocabulary:
    """What a dataset knows: its questions with their gold, the ids of nodes, relations and edges."""

    questions: QuestionTexts
    known: Known
    names: Names
    edges: KnowledgeEdges
    texts: list[str] = field(default_factory=list)
    gold: dict[str, GoldWalk] = field(default_factory=dict)

    def question(self, value: Any) -> str | None:
        """Return the id of the question that a value names by its id or its text."""
        name = id_of(value)
        return None if name is None or not name.strip() else self.questions.id_of(name)

    def node(self, value: Any) -> str | None:
        """Return the id of the node that a value names; None if the dataset doesn't know it.

        A number names one if the ids of the dataset are numbers.
        """
        if isinstance(value, int) and not isinstance(value, bool) and self._numbered:
            value = str(value)
        if not isinstance(value, str) or not value:
            return None
        found = self.names.id_of(value)
        return found if found in self.names.known or found in self.known.files else None

    def relation(self, value: Any) -> bool:
        """Return whether a value is a relation of the dataset, regardless of letter case."""
        return isinstance(value, str) and value.casefold() in self.relations

    @cached_property
    def _numbered(self) -> bool:
        every = self.known.all()
        return bool(every) and 2 * sum(one.isdecimal() for one in every) > len(every)

    @cached_property
    def _spaced(self) -> list[str]:
        """The ids that hold blanks or marks, which no text is divided at."""
        return [one for one in self.known.all() if TOKEN.fullmatch(one) is None][:_MOST_SPACED]

    def spaced_in(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the place of each id with blanks that a text holds, and the id."""
        for one in self._spaced:
            if (place := text.find(one)) >= 0:
                yield place, one

    def nodes_in(self, text: Any) -> set[str]:
        """Return the nodes that a text names."""
        if not isinstance(text, str):
            return set()
        found = {one for _, one in self.spaced_in(text)}
        for token in TOKEN.findall(text):
            for part in (token, token.rstrip(".:;,!?"), token.partition("=")[2]):
                if part and (node := self.node(part)) is not None:
                    found.add(node)
                    break
        return found

    def is_glued(self, name: str) -> bool:
        """Return whether a name holds two nodes; an unknown symbol may begin with the name of its file."""
        every = self.known.all()
        within = [one for one in every if one in name] if len(every) <= _MOST_SPACED else []
        longest = max(within, key=len, default="")
        rest = name.replace(longest, "", 1)
        return any(one in rest for one in within)

    def is_link(self, name: str) -> bool:
        """Return whether a name is none of a node: a relation with marks around it, or marks alone."""
        words = re.sub(r"[\W_]+", "_", name).strip("_")
        return not words or self.relation(words)

    @cached_property
    def relations(self) -> set[str]:
        """The relations of the knowledge graph and the gold, in lower case."""
        gold = {relation for one in self.gold.values() for path in one.paths for _, relation, _ in path if relation}
        return {one.casefold() for one in gold} | self.edges.relations

    @cached_property
    def all_edges(self) -> KnowledgeEdges:
        """The edges of the knowledge graph; those of the gold where the dataset has none."""
        if len(self.edges):
            return self.edges
        from graphkit.records.structs import EdgeStruct

        every = (edge for one in self.gold.values() for path in one.paths for edge in path)
        return KnowledgeEdges(EdgeStruct(source, target, relation or "") for source, relation, target in every)

    def nearest(self, names: Iterable[str]) -> tuple[str, str] | None:
        """Return the first of some unknown names to which an id of the dataset is near, and that id."""
        every = self.known.all()
        for name in names:
            if (near := closest(name, every)) is not None:
                return name, near
        return None

    def add_gold(self, question: QuestionStruct, ids: Iterable[str]) -> None:
        """Add the gold of a question."""
        paths = tuple(
            tuple((step.source, step.relation, step.target) for step in path.steps) for path in question.paths
        )
        self.gold[question.id] = GoldWalk(paths, frozenset(ids))


def expression_of(path: Sequence[Part]) -> str:
    """Return the JMESPath of a field, whose lists are flattened; ``@`` for the value itself.

    >>> expression_of(("walk", ITEM, "from")), expression_of(("a-b",)), expression_of(())
    ('walk[].from', '"a-b"', '@')
    """
    text = ""
    for part in path:
        if part is None:  # ITEM
            text += "[]"
        else:
            name = part if _BARE.fullmatch(part) else json.dumps(part, ensure_ascii=False)
            text += f".{name}" if text else name
    return text or "@"


@dataclass
class RowValues:
    """The values of rows by the path of their field, each with the number of its row."""

    leaves: dict[FieldPath, list[tuple[int, Any]]] = field(default_factory=dict)
    lists: dict[FieldPath, list[tuple[int, list[Any]]]] = field(default_factory=dict)
    keys: dict[FieldPath, list[tuple[int, list[str]]]] = field(default_factory=dict)
    rows: list[Any] = field(default_factory=list)
    table: bool = False  # whether rows are those of a table, in which an empty cell is null

    def add(self, row: Any) -> None:
        """Add a row."""
        number = len(self.rows)
        self.rows.append(row)
        waiting: list[tuple[FieldPath, Any]] = [((), row)]
        seen = 0
        while waiting and seen < _FIELDS:
            path, value = waiting.pop()
            seen += 1
            if isinstance(value, dict):
                self.keys.setdefault(path, []).append((number, [str(key) for key in value]))
                if len(path) < _DEEPEST:
                    waiting.extend(((*path, str(key)), one) for key, one in reversed(value.items()))
            elif isinstance(value, list):
                self.lists.setdefault(path, []).append((number, value))
                if len(path) < _DEEPEST:
                    waiting.extend(((*path, ITEM), one) for one in reversed(value))
            elif value is not None:
                self.leaves.setdefault(path, []).append((number, value))

    def share(self, path: FieldPath, test: Callable[[Any], Any]) -> tuple[int, int]:
        """Return how many values of a field pass a test, and how many there are."""
        values = [value for _, value in self.leaves.get(path, ())]
        return sum(bool(test(value)) for value in values), len(values)

    def within(self, path: FieldPath) -> Iterator[FieldPath]:
        """Yield the fields below an object, without those in lists of it."""
        for one in self.leaves:
            if one[: len(path)] == path and len(one) > len(path) and ITEM not in one[len(path) :]:
                yield one


def scalars(values: RowValues, known: Callable[[Any], Any], share: float) -> list[FieldPath]:
    """Return the fields of which at least a share of values is known."""
    found = []
    for path in values.leaves:
        count, total = values.share(path, known)
        if count and count >= share * total:
            found.append(path)
    return found
