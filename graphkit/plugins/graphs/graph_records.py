"""Converts the nodes and edges of a graph to artifacts and edges of a dataset."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from graphkit.errors import InputError, did_you_mean
from graphkit.files.known_ids import HARDLY, closest
from graphkit.files.spool import Spool
from graphkit.imports.import_report import SHOWN
from graphkit.imports.names import Names
from graphkit.plugins.graphs.graph_nodes import FIELDS, NodeProperties, described
from graphkit.plugins.graphs.graph_report import GraphReport
from graphkit.readers.graph_names import first_of, plain
from graphkit.readers.json_values import identifier, whole
from graphkit.records.directions import KnowledgeEdges
from graphkit.records.graph_parts import GraphEdge, GraphNode
from graphkit.records.ids import Places, RepositoryRules
from graphkit.records.structs import ArtifactStruct, EdgeStruct
from graphkit.records.words import shortened

#: The file of a record, and its line.
Line = tuple[Literal["artifacts", "edges"], bytes]

#: The attributes that hold an edge's relation. A key of a networkx multigraph counts unless it is a number.
_RELATIONS = ("relation", "type", "rel", "relationship", "predicate", "reltype", "relationtype", "relationshiptype")
_RELATIONS_TOO = ("edgetype", "label", "kind", "key")

NAMELESS = "nodes named only by an elementId, which identifies other nodes in another database"
UNNAMED = "nodes without an id"
WITHOUT = "nodes without the property"
UNKNOWN_ENDS = "edges at nodes that the query doesn't return: let it return both ends, as in RETURN a, r, b"
AT_SKIPPED = "edges at nodes that were skipped"
NO_RELATION = "edges without a relation: name their attribute by --columns source,NAME,target, or one by --relation"
NO_RECORD = "names that no record can hold: empty, too long, or with half of a character"
MERGED = "nodes with the id of an earlier node, which is kept"
REPEATED = "repeated edges, each written once"
UNUSABLE = "line numbers that aren't numbers"
NO_PARTS = "rows without a node, relationship or path"


class _Seen:
    """The written edges, on disk: a graph may have more of them than fit in memory."""

    def __init__(self) -> None:
        # SQLite keeps a database without a name in its cache, and in a temporary file once it is large.
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
        """Add an edge, and return whether it is new."""
        number = self._relations.setdefault(relation, len(self._relations))
        try:
            done = self._connection.execute("INSERT OR IGNORE INTO edge VALUES (?, ?, ?)", (source, number, target))
        except sqlite3.OperationalError as error:
            remedy = "Make room in the folder for temporary files, or name another one by TMPDIR."
            raise InputError(f"the temporary file of edges can't be written: {error}", remedy=remedy) from None
        return done.rowcount == 1

    def close(self) -> None:
        """Delete the temporary file."""
        self._connection.close()


class _Waiting(msgspec.Struct):
    """An edge whose nodes may follow, with its parts as the graph has them."""

    source: str
    relation: str | None
    target: str


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """Options for the records of a graph.

    Attributes
    ----------
    id_property
        The property that names nodes. By default, the first property with a usual name.
    relation
        The relation of edges without one.
    relation_attribute
        The attribute of edges that holds their relation.
    commits
        By repository, the commit of nodes without one.
    repo_attribute, repositories
        The attribute of nodes that holds their repository, and a table of repositories by id. By default, the first
        attribute with a usual name.
    """

    id_property: str | None = None
    relation: str | None = None
    relation_attribute: str | None = None
    commits: Mapping[str, str] = field(default_factory=dict)
    repo_attribute: str | None = None
    repositories: Mapping[str, str] | None = None


class GraphRecords:
    """Converts nodes and edges to artifacts and edges, and counts them in a report.

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
        report: GraphReport,
    ) -> None:
        self._names = names
        self._options = options
        self._gold = dict.fromkeys(gold)
        self._gold_ids = frozenset(gold_ids)
        # The whole graph decides which prefixes are repositories; those with a commit are.
        rules = RepositoryRules(prefixes=frozenset(options.commits))
        self._places, self._with_commit = Places(), Places(repositories=lambda: rules)
        self._report = report
        report.named = names.how
        self._numbers: dict[str, int] = {}  # of artifacts, by id
        self._keys: dict[str, str | None] = {}  # the ids of nodes, None for skipped ones
        self._described: set[str] = set()
        self._tabled = 0
        self._properties: dict[str, None] = {}
        self._held: list[EdgeStruct] = []
        self._files = False
        self._waiting: Spool[_Waiting] = Spool(_Waiting)
        self._seen = _Seen()

    def close(self) -> None:
        """Delete the temporary files."""
        self._seen.close()
        self._waiting.__exit__()

    def lines(self, parts: Iterable[GraphNode | GraphEdge], keys_are_names: bool) -> Iterator[Line]:
        """Yield the lines of all nodes and edges.

        Parameters
        ----------
        keys_are_names
            Whether a key names a node that the graph doesn't describe.

        Raises
        ------
        InputError
            No node has a name, two have the same one and no option names their property, or there is no edge.
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
                self._report.skipped.add(UNKNOWN_ENDS, f"one of {edge.relation or 'no relation'}")
            elif None not in ends:
                yield from self._placed(str(ends[0]), edge.relation, str(ends[1]))
        # A name that only edges mention is an artifact with nothing but an id.
        for one in self._numbers:
            if one not in self._described:
                self._report.artifacts += 1
                yield "artifacts", msgspec.json.encode({"id": one, **self._commit(one)})
        self._refuse_nothing()
        self._compare()

    def _node(self, node: GraphNode) -> Iterator[Line]:
        if node.key and node.key in self._keys:
            return
        self._properties.update(dict.fromkeys(node.properties))
        properties = NodeProperties(node.properties)
        name, how = properties.name(node.name or None, self._options.id_property)
        if name is None:
            self._keys[node.key] = None
            wanted = self._options.id_property
            what = f"{WITHOUT} {wanted!r}" if wanted else UNNAMED if self._files else NAMELESS
            self._report.skipped.add(what, described(node))
            return
        one = self._names.id_of(name)
        key = node.key or name
        if one in self._described and self._keys.get(key) != one:
            self._refuse_twins(one)
            self._report.skipped.add(MERGED, one)
            self._keys[key] = one
            return
        line = self._artifact(one, node, properties)
        if line is None:
            self._keys[key] = None
            return
        self._keys[key] = one
        self._numbers.setdefault(one, len(self._numbers))
        self._described.add(one)
        self._report.artifacts += 1
        self._report.how[how] += 1
        yield "artifacts", line

    def _artifact(self, one: str, node: GraphNode, properties: NodeProperties) -> bytes | None:
        """Return the record of an artifact, without the path and the symbol that its id contains."""
        record: dict[str, Any] = {"id": one}
        if (repo := self._repo_of(one, properties)) is not None:
            record["repo"] = repo
        told = self._places.split(one) if repo in (None, self._places.repo(one)) else (None, None)
        for name, shown in (("path", told[0]), ("symbol", told[1])):
            text = identifier(properties.use(FIELDS[name]))
            if text is not None and text != shown:
                record[name] = text
        if kind := properties.kind(node.labels):
            record["kind"] = kind
        record |= self._commit(one, record.get("repo"), identifier(properties.use(FIELDS["commit"])))
        for name in ("line", "end_line"):
            value = properties.use(FIELDS[name])
            if (number := whole(value)) is not None:
                record[name] = number
            elif value is not None:
                self._report.notes[UNUSABLE] += 1
        if aliases := properties.aliases():
            record["aliases"] = aliases
        for key in properties.given:
            if key not in properties.used:
                self._report.unread[key] += 1
        line = _encoded(record, ArtifactStruct)
        if line is None:
            self._report.skipped.add(NO_RECORD, one)
        elif kind:
            self._report.kinds[kind] += 1
        return line

    def _repo_of(self, one: str, properties: NodeProperties) -> str | None:
        """Return the repository that is stated of a node."""
        if self._options.repositories is not None:
            repo = self._options.repositories.get(one)
            self._tabled += repo is not None
            return repo
        attribute = self._options.repo_attribute
        return identifier(properties.use(FIELDS["repo"] if attribute is None else (plain(attribute),)))

    def _commit(self, one: str, repo: str | None = None, commit: str | None = None) -> dict[str, str]:
        """Return the commit of an artifact: its own, or else that of its repository."""
        commit = commit or self._options.commits.get(repo or self._with_commit.repo(one) or "")
        return {"commit": commit} if commit else {}

    def _edge(self, edge: GraphEdge) -> Iterator[Line]:
        relation, used = self._relation(edge)
        for key in edge.properties:
            if key != used:
                self._report.unread[f"{key} of edges"] += 1
        ends = self._ends(edge.source, edge.target, edge.names)
        if ends is None:
            self._waiting.put(_Waiting(edge.source, relation, edge.target))
        elif ends[0] is not None and ends[1] is not None:
            yield from self._placed(ends[0], relation, ends[1])

    def _relation(self, edge: GraphEdge) -> tuple[str | None, str | None]:
        """Return the relation of an edge, and the attribute that holds it."""
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
        """Return the ids of both ends, None for a skipped node; return None if an end isn't known yet."""
        found = []
        for place, key in enumerate((source, target)):
            if key in self._keys:
                found.append(self._keys[key])
            elif names is None:
                return None
            elif names[place]:
                found.append(self._names.id_of(names[place]))
            else:
                self._report.skipped.add(NO_RECORD, "an edge without an end")
                return None, None
        if None in found:
            self._report.skipped.add(AT_SKIPPED, f"{found[0] or 'a nameless node'} -> {found[1] or 'a nameless node'}")
        return found[0], found[1]

    def _placed(self, source: str, relation: str | None, target: str) -> Iterator[Line]:
        if not relation:
            self._report.skipped.add(NO_RELATION, f"{source} -> {target}")
            return
        line = _encoded({"source": source, "relation": relation, "target": target}, EdgeStruct)
        if line is None:
            self._report.skipped.add(NO_RECORD, f"{source} -{relation}-> {target}")
            return
        numbers = [self._numbers.setdefault(one, len(self._numbers)) for one in (source, target)]
        if not self._seen.add(numbers[0], relation, numbers[1]):
            self._report.notes[REPEATED] += 1
            return
        self._report.edges += 1
        self._report.relations[relation] += 1
        if source in self._gold_ids and target in self._gold_ids:
            self._held.append(EdgeStruct(source, relation, target))
        yield "edges", line

    def _refuse_twins(self, one: str) -> None:
        if self._options.id_property is None and not self._names.given:
            remedy = (
                f"Name a property that differs between them by --id-property (there are: {self._shown_properties()}); "
                "of nodes in which it is equal, the first is kept. If only several properties together differ, let a "
                "query join them: a.path + '#' + a.name AS source, type(r) AS relation, ... AS target."
            )
            raise InputError(f"two nodes have the id {shortened(one)!r}", remedy=remedy)

    def _refuse_nothing(self) -> None:
        """Refuse a graph without a named node or an edge."""
        wanted, report = self._options.id_property, self._report
        if not self._described and self._keys and wanted is not None:
            remedy = f"{did_you_mean(wanted, self._properties)}There are: {self._shown_properties()}."
            raise InputError(f"no node has the property {wanted!r}", where="--id-property", remedy=remedy)
        if self._options.repositories is not None and not self._tabled and self._described:
            remedy = f"It must hold ids of the graph, such as {shortened(min(self._described))!r}."
            raise InputError("the table holds no id of the graph", where="--repo-from", remedy=remedy)
        attribute = self._options.repo_attribute
        if attribute is not None and self._described and plain(attribute) not in map(plain, self._properties):
            remedy = f"{did_you_mean(attribute, self._properties)}There are: {self._shown_properties()}."
            raise InputError(f"no node has the attribute {attribute!r}", where="--repo-from", remedy=remedy)
        if not self._described and self._keys and NAMELESS in report.skipped.counts:
            what = "no node has a property that names it, and after a reload other nodes have these elementIds"
            remedy = f"Name a property by --id-property (there are: {self._shown_properties()})."
            raise InputError(what, remedy=remedy)
        if not report.edges:
            reasons = "; ".join(report.skipped.reasons())
            remedy = (
                "Name the columns of source, relation and target by --columns; nodes need a file of edges beside them."
                if self._files
                else "Let the query return relationships with their nodes: MATCH (a)-[r]->(b) RETURN a, r, b; or "
                "source, relation and target in columns of these names or of those that --columns names."
            )
            raise InputError(f"the graph has no edge{f' ({reasons})' if reasons else ''}", remedy=remedy)

    def _shown_properties(self) -> str:
        return ", ".join(list(self._properties)[:SHOWN]) or "none"

    def _compare(self) -> None:
        """Count the gold that the graph holds."""
        graph = KnowledgeEdges(self._held)
        self._report.gold.update(graph.held(*step) for step in self._gold)
        known = sum(one in self._numbers for one in self._gold_ids)
        self._report.gold_ids = len(self._gold_ids), known
        if self._gold_ids and known < HARDLY * len(self._gold_ids):
            strange = min(self._gold_ids - self._numbers.keys())
            near = closest(strange, self._numbers)
            self._report.warning = (
                f"hardly any id of the gold is in the graph: the gold has {shortened(strange)!r}, the graph has "
                f"{shortened(near or '')!r}; name another property by --id-property, or give --ids or --id-pattern"
            )


def _encoded(record: dict[str, Any], kind: type[ArtifactStruct | EdgeStruct]) -> bytes | None:
    """Return a record as a line, or None if it isn't valid."""
    try:
        msgspec.convert(record, kind)
        return msgspec.json.encode(record)
    except (msgspec.ValidationError, UnicodeEncodeError):
        return None
