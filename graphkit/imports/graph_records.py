"""The nodes and edges of somebody else's graph as artifacts and edges of a dataset, and what is told of it."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from graphkit.errors import InputError, did_you_mean
from graphkit.files.known_ids import HARDLY, closest
from graphkit.files.spool import Spool
from graphkit.imports.names import Names
from graphkit.readers.graph_names import COMMITS, NAMES, first_of, is_element_id, plain
from graphkit.readers.payloads import identifier, whole
from graphkit.records.directions import KnowledgeEdges
from graphkit.records.graph_parts import GraphEdge, GraphNode
from graphkit.records.ids import path_of, repo_of, symbol_of
from graphkit.records.structs import ArtifactStruct, EdgeStruct
from graphkit.records.words import counted, shortened

#: What becomes of a record, and its line.
Line = tuple[Literal["artifacts", "edges"], bytes]

#: The properties that name a node, the more telling first: those that tell it from every other, and those that may not.
_IDS = ("id", "artifactid", *(name for name in NAMES if name not in ("id", "name", "title")))
_TITLES = ("name", "title", "label")

_REPOS = ("repo", "repository")
_PATHS = ("path", "file", "filepath")
_SYMBOLS = ("symbol",)
_KINDS = ("nodetype", "entitytype", "type", "category")
_LINES = ("line", "startline", "linestart", "lineno", "linenumber")
_END_LINES = ("endline", "lineend", "endlineno")
_COMMITS = tuple(name for name in COMMITS if name != "version")  # which may be of anything

#: The attributes of an edge that say its relation; a key of networkx's multigraphs only where it is no number.
_RELATIONS = ("relation", "type", "rel", "relationship", "predicate", "reltype", "relationtype", "relationshiptype")
_RELATIONS_TOO = ("edgetype", "label", "kind", "key")

#: Names that a file makes for its nodes: n0, n1, or numbers.
_NUMBERED = re.compile(r"n?\d+")

#: How many kinds, relations, properties and reasons a line names.
SHOWN = 12

NAMELESS = "nodes that only an elementId names, which another database gives to other nodes"
UNNAMED = "nodes without an id"
WITHOUT = "nodes without the property"
STRANGERS = "edges at nodes that the query doesn't return: let it return both ends, as in RETURN a, r, b"
AT_LEFT_OUT = "edges at nodes that were left out"
NO_RELATION = "edges without a relation: name their attribute by --columns source,NAME,target, or one by --relation"
NO_RECORD = "names that no record can hold: they are empty, too long, or hold half of a character"
MERGED = "nodes that have the id of another one, which is kept"
AGAIN = "edges that came again: each is written once"
UNUSABLE = "lines that are no numbers"
NO_PARTS = "rows that hold no node, relationship or path"


@dataclass(slots=True)
class GraphTold:
    """What an import of a graph came upon, counted.

    Attributes
    ----------
    sources
        What was read, a line each.
    how, named
        The artifacts by what named them, and the names by what gave them their id.
    gold
        How the graph holds the gold's edges.
    gold_ids
        How many ids the gold names, and how many of them the graph has.
    strange
        Why hardly any of the gold's ids is there, where that is so.
    """

    sources: list[str] = field(default_factory=list)
    artifacts: int = 0
    edges: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    how: Counter[str] = field(default_factory=Counter)
    named: dict[str, int] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    example: dict[str, str] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    gold: Counter[str] = field(default_factory=Counter)
    gold_ids: tuple[int, int] = (0, 0)
    strange: str | None = None

    def leave_out(self, what: str, example: str) -> None:
        """Count something that can't be recorded."""
        self.left_out[what] += 1
        self.example.setdefault(what, example)

    def reasons(self) -> list[str]:
        """Return what was left out, with its count and an example."""
        return [
            f"{what}: {count}, such as {shortened(self.example[what])}" for what, count in self.left_out.most_common()
        ]

    def lines(self) -> list[str]:
        """Return what is told, a line each."""
        lines = [*self.sources, f"{counted(self.artifacts, 'artifact')}{_listed(self.kinds)}"]
        lines.append(f"{counted(self.edges, 'edge')}{_listed(self.relations)}")
        if self.how:
            lines.append(f"ids{_listed(self.how)}")
        if ways := Counter({how: count for how, count in self.named.items() if how != "as they are"}):
            lines.append(f"ids of names{_listed(ways)}")
        lines += [f"left out: {reason}" for reason in self.reasons()]
        lines += [f"note: {note}: {count}" for note, count in self.notes.items()]
        if self.unread:
            lines.append(f"properties that weren't used{_listed(self.unread)}")
        if total := self.gold.total():
            held = self.gold
            lines.append(
                f"gold: {held['forward']} of {counted(total, 'edge')} are in it, {held['reversed']} reversed, "
                f"{held['other']} by another relation, {held['unknown']} not; "
                f"{self.gold_ids[1]} of {counted(self.gold_ids[0], 'id')}"
            )
        elif self.gold_ids[0]:
            lines.append(f"gold: {self.gold_ids[1]} of {counted(self.gold_ids[0], 'id')} are in it")
        return lines + ([self.strange] if self.strange else [])

    def as_json(self) -> dict[str, Any]:
        """Return what is told for programs."""
        ways = ("forward", "reversed", "other", "unknown")
        return {
            "artifacts": self.artifacts,
            "edges": self.edges,
            "kinds": dict(self.kinds),
            "relations": dict(self.relations),
            "ids": dict(self.how),
            "names": dict(self.named),
            "left_out": dict(self.left_out),
            "notes": dict(self.notes),
            "unread": dict(self.unread),
            "gold": {
                "edges": {"all": self.gold.total(), **{way: self.gold[way] for way in ways}},
                "ids": {"all": self.gold_ids[0], "known": self.gold_ids[1]},
            },
            "meaning": [self.strange] if self.strange else [],
        }


def _listed(counts: Counter[str]) -> str:
    if not counts:
        return ""
    first = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:SHOWN]
    shown = ", ".join(f"{name} ({count})" for name, count in first)
    more = len(counts) - SHOWN
    return f": {shown} and {more} more" if more > 0 else f": {shown}"


class _Seen:
    """The edges that were written, on the disk: a graph may have more of them than fit into the memory."""

    def __init__(self) -> None:
        # A database without a name is a temporary file of its own, and in the cache as long as it is small.
        self._connection = sqlite3.connect("", isolation_level=None)
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute(
            "CREATE TABLE edge (source INT, relation INT, target INT, PRIMARY KEY (source, relation, target)) "
            "WITHOUT ROWID"
        )
        self._connection.execute("BEGIN")
        self._relations: dict[str, int] = {}

    def add(self, source: int, relation: str, target: int) -> bool:
        """Take an edge, and tell whether it is a new one."""
        number = self._relations.setdefault(relation, len(self._relations))
        try:
            done = self._connection.execute("INSERT OR IGNORE INTO edge VALUES (?, ?, ?)", (source, number, target))
        except sqlite3.OperationalError as error:
            remedy = "Make room in the folder for temporary files, or name another one by TMPDIR."
            raise InputError(f"the edges that were read can't be put aside: {error}", remedy=remedy) from None
        return done.rowcount == 1

    def close(self) -> None:
        """Give the disk back."""
        self._connection.close()


class _Waiting(msgspec.Struct):
    """An edge that waits for its nodes: its parts as the graph has them, of any length, or empty."""

    source: str
    relation: str | None
    target: str


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """What is told of a graph beside itself.

    Attributes
    ----------
    id_property
        The property that names its nodes; by default the first of those that usually do.
    relation
        The relation of edges that say none.
    relation_attribute
        The attribute of edges that says their relation.
    commits
        Of a repository, the commit at which it was read, where the nodes don't say it.
    """

    id_property: str | None = None
    relation: str | None = None
    relation_attribute: str | None = None
    commits: Mapping[str, str] = field(default_factory=dict)


class GraphRecords:
    """Turns the parts of a graph into the lines of its files.

    What is kept in memory are the artifacts' ids, what edges call them by, and the edges between ids of the gold.

    Parameters
    ----------
    gold
        The steps of the questions' paths, and the ids of their gold.
    """

    def __init__(
        self,
        names: Names,
        options: GraphOptions,
        gold: Iterable[tuple[str, str | None, str]],
        gold_ids: Iterable[str],
        told: GraphTold,
    ) -> None:
        self._names = names
        self._options = options
        self._gold = dict.fromkeys(gold)
        self._gold_ids = frozenset(gold_ids)
        self._told = told
        told.named = names.how
        self._numbers: dict[str, int] = {}  # of the artifacts, by id
        self._keys: dict[str, str | None] = {}  # the ids of nodes, None of those that were left out
        self._described: set[str] = set()
        self._properties: dict[str, None] = {}
        self._held: list[EdgeStruct] = []
        self._files = False
        self._waiting: Spool[_Waiting] = Spool(_Waiting)
        self._seen = _Seen()

    def close(self) -> None:
        """Give back what was taken of the disk."""
        self._seen.close()
        self._waiting.__exit__()

    def lines(self, parts: Iterable[GraphNode | GraphEdge], keys_are_names: bool) -> Iterator[Line]:
        """Yield the lines of all parts of a graph.

        Parameters
        ----------
        keys_are_names
            Whether a node that no part describes is known by its key.

        Raises
        ------
        InputError
            No node has a name, two have the same one and nobody said by what they are named, or there is no edge.
        """
        self._files = keys_are_names
        for part in parts:
            if isinstance(part, GraphNode):
                yield from self._node(part)
            else:
                yield from self._edge(part)
        for edge in self._waiting:
            named = (edge.source, edge.target) if keys_are_names else None
            ends = self._ends(edge.source, edge.target, named)
            if ends is None:
                self._told.leave_out(STRANGERS, f"one of {edge.relation or 'no relation'}")
            elif None not in ends:
                yield from self._placed(str(ends[0]), edge.relation, str(ends[1]))
        # What only edges name is an artifact, too: its id is all that is known of it.
        for one in self._numbers:
            if one not in self._described:
                self._told.artifacts += 1
                yield "artifacts", msgspec.json.encode({"id": one, **self._commit(one)})
        self._refuse_nothing()
        self._compare()

    # Nodes

    def _node(self, node: GraphNode) -> Iterator[Line]:
        if node.key and node.key in self._keys:
            return
        self._properties.update(dict.fromkeys(node.properties))
        properties = _Properties(node.properties)
        name, how = self._name(node, properties)
        if name is None:
            self._keys[node.key] = None
            wanted = self._options.id_property
            what = f"{WITHOUT} {wanted!r}" if wanted else UNNAMED if self._files else NAMELESS
            self._told.leave_out(what, _described(node))
            return
        one = self._names.id_of(name)
        key = node.key or name
        if one in self._described and self._keys.get(key) != one:
            self._refuse_twins(one)
            self._told.leave_out(MERGED, one)
            self._keys[key] = one
            return
        line = self._artifact(one, node, properties)
        if line is None:
            self._keys[key] = None
            return
        self._keys[key] = one
        self._numbers.setdefault(one, len(self._numbers))
        self._described.add(one)
        self._told.artifacts += 1
        self._told.how[how] += 1
        yield "artifacts", line

    def _name(self, node: GraphNode, properties: _Properties) -> tuple[str | None, str]:
        """Return what names a node, and how it does."""
        wanted, own = self._options.id_property, node.name or None
        if wanted is not None:
            value = properties.given.get(wanted)
            properties.used.add(wanted)
            name = identifier(value) if value is not None or wanted.casefold() != "id" else own
            return _no_element_id(name), f"by the property {wanted}"
        if own is not None and not _NUMBERED.fullmatch(own):
            properties.used.add("id")
            return own, "as the graph has them"
        if (key := properties.naming(_IDS, own)) is None and (made := _made(properties)) is not None:
            return made, "by repository, path and symbol"
        if key is not None or (key := properties.naming(_TITLES, own)) is not None:
            properties.used.add(key)
            return identifier(properties.given[key]), f"by the property {key}"
        properties.used.add("id")
        return own, "as the graph has them"

    def _artifact(self, one: str, node: GraphNode, properties: _Properties) -> bytes | None:
        """Return the record of an artifact; what its id says isn't repeated."""
        record: dict[str, Any] = {"id": one}
        own: tuple[tuple[str, tuple[str, ...], Callable[[str], str | None]], ...] = (
            ("repo", _REPOS, repo_of),
            ("path", _PATHS, path_of),
            ("symbol", _SYMBOLS, symbol_of),
        )
        for name, names, said in own:
            text = identifier(properties.take(names))
            if text is not None and text != said(one):
                record[name] = text
        if kind := _kind(node, properties):
            record["kind"] = kind
        record |= self._commit(one, record.get("repo"), identifier(properties.take(_COMMITS)))
        for name, names in (("line", _LINES), ("end_line", _END_LINES)):
            value = properties.take(names)
            if (number := whole(value)) is not None:
                record[name] = number
            elif value is not None:
                self._told.notes[UNUSABLE] += 1
        for key in properties.given:
            if key not in properties.used:
                self._told.unread[key] += 1
        line = _encoded(record, ArtifactStruct)
        if line is None:
            self._told.leave_out(NO_RECORD, one)
        elif kind:
            self._told.kinds[kind] += 1
        return line

    def _commit(self, one: str, repo: str | None = None, commit: str | None = None) -> dict[str, str]:
        """Return the commit of an artifact: its own, else that at which its repository was read."""
        commit = commit or self._options.commits.get(repo or repo_of(one) or "")
        return {"commit": commit} if commit else {}

    # Edges

    def _edge(self, edge: GraphEdge) -> Iterator[Line]:
        relation, used = self._relation(edge)
        for key in edge.properties:
            if key != used:
                self._told.unread[f"{key} of edges"] += 1
        ends = self._ends(edge.source, edge.target, edge.names)
        if ends is None:
            self._waiting.put(_Waiting(edge.source, relation, edge.target))
        elif ends[0] is not None and ends[1] is not None:
            yield from self._placed(ends[0], relation, ends[1])

    def _relation(self, edge: GraphEdge) -> tuple[str | None, str | None]:
        """Return the relation of an edge, and the attribute that says it."""
        if edge.relation:
            return edge.relation, self._options.relation_attribute
        wanted = self._options.relation_attribute
        if wanted is not None:
            return identifier(edge.properties.get(wanted)) or self._options.relation, wanted
        key, value = first_of(edge.properties, (*_RELATIONS, *_RELATIONS_TOO))
        if isinstance(value, str) and value and not value.isdecimal():
            return value, key
        return self._options.relation, None

    def _ends(self, source: str, target: str, names: tuple[str, str] | None) -> tuple[str | None, str | None] | None:
        """Return the ids of both ends, None for a node that was left out; None as a whole where one isn't known yet."""
        found = []
        for place, key in enumerate((source, target)):
            if key in self._keys:
                found.append(self._keys[key])
            elif names is None:
                return None
            elif names[place]:
                found.append(self._names.id_of(names[place]))
            else:
                self._told.leave_out(NO_RECORD, "an edge without an end")
                return None, None
        if None in found:
            self._told.leave_out(AT_LEFT_OUT, f"{found[0] or 'a nameless node'} -> {found[1] or 'a nameless node'}")
        return found[0], found[1]

    def _placed(self, source: str, relation: str | None, target: str) -> Iterator[Line]:
        if not relation:
            self._told.leave_out(NO_RELATION, f"{source} -> {target}")
            return
        line = _encoded({"source": source, "relation": relation, "target": target}, EdgeStruct)
        if line is None:
            self._told.leave_out(NO_RECORD, f"{source} -{relation}-> {target}")
            return
        numbers = [self._numbers.setdefault(one, len(self._numbers)) for one in (source, target)]
        if not self._seen.add(numbers[0], relation, numbers[1]):
            self._told.notes[AGAIN] += 1
            return
        self._told.edges += 1
        self._told.relations[relation] += 1
        if source in self._gold_ids and target in self._gold_ids:
            self._held.append(EdgeStruct(source, relation, target))
        yield "edges", line

    # The whole

    def _refuse_twins(self, one: str) -> None:
        if self._options.id_property is None and not self._names.given:
            remedy = (
                f"Name the property that tells them apart by --id-property (there are: {self._shown_properties()}); "
                "of those that it doesn't tell apart the first is kept then. Where only several do together, let a "
                "query return them as one: a.path + '#' + a.name AS source, type(r) AS relation, ... AS target."
            )
            raise InputError(f"two nodes have the id {shortened(one)!r}", remedy=remedy)

    def _refuse_nothing(self) -> None:
        """Refuse a graph of which nothing is left, with what became of it."""
        wanted, told = self._options.id_property, self._told
        if not self._described and self._keys and wanted is not None:
            remedy = f"{did_you_mean(wanted, self._properties)}There are: {self._shown_properties()}."
            raise InputError(f"no node has the property {wanted!r}", where="--id-property", remedy=remedy)
        if not self._described and self._keys and NAMELESS in told.left_out:
            what = "no node has a property that names it, and its elementId is given to another one by a reload"
            remedy = f"Name the property that does by --id-property (there are: {self._shown_properties()})."
            raise InputError(what, remedy=remedy)
        if not told.edges:
            reasons = "; ".join(told.reasons())
            remedy = (
                "Name the columns of source, relation and target by --columns; nodes need a file of edges beside them."
                if self._files
                else "Let the query return relationships with their nodes: MATCH (a)-[r]->(b) RETURN a, r, b; or "
                "source, relation and target in columns of these names or of those that --columns names."
            )
            raise InputError(f"no edge is found in it{f' ({reasons})' if reasons else ''}", remedy=remedy)

    def _shown_properties(self) -> str:
        return ", ".join(list(self._properties)[:SHOWN]) or "none"

    def _compare(self) -> None:
        """Tell how much of the gold the graph holds."""
        graph = KnowledgeEdges(self._held)
        self._told.gold.update(graph.held(*step) for step in self._gold)
        known = sum(one in self._numbers for one in self._gold_ids)
        self._told.gold_ids = len(self._gold_ids), known
        if self._gold_ids and known < HARDLY * len(self._gold_ids):
            strange = min(self._gold_ids - self._numbers.keys())
            near = closest(strange, self._numbers)
            self._told.strange = (
                f"hardly an id of the gold is in the graph, as {shortened(strange)!r}, where the graph has such as "
                f"{shortened(near or '')!r}; name another property by --id-property, or give --ids or --id-pattern"
            )


class _Properties:
    """The properties of a node, whatever the case of their names, and which of them were used."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given
        self.used: set[str] = set()
        self._keys: dict[str, str] = {}
        for key, value in given.items():
            if value is not None:
                self._keys.setdefault(plain(key), key)

    def take(self, names: Iterable[str]) -> Any:
        """Return the value under the first of some names that there is, and count it as used."""
        for name in names:
            if (key := self._keys.get(name)) is not None:
                self.used.add(key)
                return self.given[key]
        return None

    def naming(self, names: Iterable[str], own: str | None) -> str | None:
        """Return the first property of some names that names a node otherwise than by its own number."""
        for name in names:
            key = self._keys.get(name)
            if key is not None and _no_element_id(identifier(self.given[key])) not in (None, own):
                return key
        return None


def _made(properties: _Properties) -> str | None:
    """Return the id that repository, path and symbol make."""
    repo, path, symbol = (identifier(properties.take(names)) for names in (_REPOS, _PATHS, _SYMBOLS))
    if not repo or not path:
        return None
    return f"{repo}:{path}#{symbol}" if symbol else f"{repo}:{path}"


def _kind(node: GraphNode, properties: _Properties) -> str:
    """Return the kind of a node: what it says itself, else its labels without those that a library sets."""
    if (said := identifier(properties.take(("kind",)))) is not None:
        return said
    labels = node.labels
    if not labels:
        given = properties.take(("labels",))
        parts = given.split(":") if isinstance(given, str) else given if isinstance(given, list) else ()
        labels = tuple(filter(None, map(identifier, parts)))
    own = [label for label in labels if not label.startswith("__")]
    return ":".join(own or labels) or identifier(properties.take(_KINDS)) or ""


def _no_element_id(name: str | None) -> str | None:
    return None if name is None or is_element_id(name) else name


def _described(node: GraphNode) -> str:
    shown = ", ".join(f"{key}: {shortened(str(value), 30)}" for key, value in list(node.properties.items())[:3])
    return f"{':'.join(node.labels)} {{{shown}}}".strip()


def _encoded(record: dict[str, Any], kind: type[ArtifactStruct | EdgeStruct]) -> bytes | None:
    """Return a record as a line, or None where none can hold it."""
    try:
        msgspec.convert(record, kind)
        return msgspec.json.encode(record)
    except (msgspec.ValidationError, UnicodeEncodeError):
        return None
