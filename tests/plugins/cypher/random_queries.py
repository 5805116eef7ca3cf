"""Random graphs, random queries over them, and an interpreter of these by brute force over networkx.

A query is drawn as a structure, of which the text is written and the result computed: no line is shared with the code
that reads texts and traces them. A row of the interpreter is its variables and the elements that its patterns bound; a
row of several rows has the elements of all of them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import networkx as nx

LABELS, TYPES = ("A", "B", "C"), ("R", "S", "T")
Graph = Any  # networkx.MultiDiGraph
Bound = frozenset[tuple[str, Any]]


def random_graph(draw: random.Random) -> Graph:
    """Draw a graph of five to eight nodes, with loops and parallel edges; each edge has a ``k`` of its own."""
    graph: Graph = nx.MultiDiGraph()
    for index in range(draw.randint(5, 8)):
        graph.add_node(f"n{index}", label=draw.choice(LABELS), v=draw.randint(0, 3))
    nodes = list(graph)
    for k in range(draw.randint(7, 13)):
        graph.add_edge(draw.choice(nodes), draw.choice(nodes), key=k, type=draw.choice(TYPES))
    return graph


# Queries


@dataclass
class Node:
    name: str | None
    label: str | None = None
    v: int | None = None

    def text(self) -> str:
        label = f":{self.label}" if self.label else ""
        v = f" {{v: {self.v}}}" if self.v is not None else ""
        return f"({self.name or ''}{label}{v})"


@dataclass
class Edge:
    direction: str
    types: tuple[str, ...] = ()
    name: str | None = None
    length: tuple[int, int] | None = None

    def text(self) -> str:
        types = f":{'|'.join(self.types)}" if self.types else ""
        length = f"*{self.length[0]}..{self.length[1]}" if self.length else ""
        inner = f"[{self.name or ''}{types}{length}]" if self.name or types or length else ""
        return f"{'<' if self.direction == '<' else ''}-{inner}-{'>' if self.direction == '>' else ''}"


@dataclass
class Path:
    nodes: list[Node]
    edges: list[Edge]

    def text(self) -> str:
        texts = [self.nodes[0].text()]
        for edge, node in zip(self.edges, self.nodes[1:], strict=True):
            texts += [edge.text(), node.text()]
        return "".join(texts)


@dataclass
class Condition:
    """``variable.v OPERATOR number``, or a pattern at a variable that must (not) exist, in one of three forms."""

    name: str
    operator: str = ""
    number: int = 0
    path: Path | None = None
    form: str = "EXISTS"
    denied: bool = False

    def text(self) -> str:
        if self.path is None:
            return f"{self.name}.v {self.operator} {self.number}"
        pattern = self.path.text()
        forms = {
            "EXISTS": f"EXISTS {{ {pattern} }}",
            "MATCH": f"EXISTS {{ MATCH {pattern} }}",
            "COUNT": f"COUNT {{ {pattern} }} > 0",
            "pattern": pattern,
        }
        return f"{'NOT ' if self.denied else ''}{forms[self.form]}"


@dataclass
class Match:
    paths: list[Path]
    conditions: list[Condition] = field(default_factory=list)
    optional: bool = False

    def text(self) -> str:
        where = " AND ".join(one.text() for one in self.conditions)
        paths = ", ".join(one.text() for one in self.paths)
        return f"{'OPTIONAL ' if self.optional else ''}MATCH {paths}{f' WHERE {where}' if where else ''}"


@dataclass
class Column:
    """A variable, its property ``v`` or ``id``, or an aggregate over it, under a name."""

    name: str
    source: str
    kind: str  # variable, v, id, count, count distinct, max, collect, rows

    @property
    def aggregates(self) -> bool:
        return self.kind not in {"variable", "v", "id"}

    def text(self) -> str:
        source = self.source
        texts = {
            "variable": source,
            "v": f"{source}.v",
            "id": f"{source}.id",
            "count": f"count({source})",
            "count distinct": f"count(DISTINCT {source}.v)",
            "max": f"max({source}.v)",
            "collect": f"size(collect({source}.id))",
            "rows": "count(*)",
        }
        text = texts[self.kind]
        return text if text == self.name else f"{text} AS {self.name}"


@dataclass
class Projecting:
    """WITH or RETURN; ``limit`` orders by all columns first. ``least`` keeps rows whose last column is greater."""

    columns: list[Column]
    distinct: bool = False
    limit: int | None = None
    skip: int = 0
    least: int | None = None
    returns: bool = False

    def text(self) -> str:
        columns = ", ".join(one.text() for one in self.columns)
        text = f"{'RETURN' if self.returns else 'WITH'} {'DISTINCT ' if self.distinct else ''}{columns}"
        if self.limit is not None:
            order = ", ".join(f"{one.name}{'.id' if one.kind == 'variable' else ''}" for one in self.columns)
            text += f" ORDER BY {order}{f' SKIP {self.skip}' if self.skip else ''} LIMIT {self.limit}"
        return text + (f" WHERE {self.columns[-1].name} > {self.least}" if self.least is not None else "")


@dataclass
class Call:
    """A subquery that imports variables, by parentheses or by WITH."""

    imports: list[str]
    clauses: list[Any]
    parentheses: bool

    def text(self) -> str:
        inner = " ".join(one.text() for one in self.clauses)
        names = ", ".join(self.imports)
        if self.parentheses:
            return f"CALL ({names}) {{ {inner} }}"
        return f"CALL {{ {f'WITH {names} ' if names else ''}{inner} }}"


@dataclass
class Whole:
    branches: list[list[Any]]
    union_all: bool = False

    def text(self) -> str:
        word = " UNION ALL " if self.union_all else " UNION "
        return word.join(" ".join(clause.text() for clause in branch) for branch in self.branches)


class Drawing:
    """Draws queries: one to three matches, projections between them, a RETURN."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"x{self.count}"

    def chance(self, share: float) -> bool:
        return self.draw.random() < share

    def whole(self) -> Whole:
        if self.chance(0.15):
            branches = [self.branch(union=True) for _ in range(2)]
            return Whole(branches, self.chance(0.5))
        return Whole([self.branch()])

    def branch(self, *, union: bool = False) -> list[Any]:
        clauses: list[Any] = []
        nodes: list[str] = []  # the variables that are nodes, or null
        values: list[str] = []
        hops = 4
        for stage in range(self.draw.choice((1, 1, 2, 2, 3))):
            optional = stage > 0 and self.chance(0.4)
            match, new, hops = self.match(nodes, optional, hops)
            clauses.append(match)
            nodes += new
            if nodes and self.chance(0.15):
                call, columns = self.call(nodes)
                clauses.append(call)
                values += columns
            if self.chance(0.45) and nodes:
                projecting = self.projecting(nodes, values)
                clauses.append(projecting)
                nodes = [one.name for one in projecting.columns if one.kind == "variable" and one.source in nodes]
                values = [one.name for one in projecting.columns if one.name not in nodes]
                if not nodes:
                    break
        clauses.append(self.returning(nodes, values, union=union))
        return clauses

    def match(self, nodes: list[str], optional: bool, hops: int) -> tuple[Match, list[str], int]:
        new: list[str] = []
        paths = []
        for _ in range(1 if optional or self.chance(0.75) else 2):
            path, hops = self.path([*nodes, *new], new, hops)
            paths.append(path)
        conditions = [self.condition([*nodes, *new]) for _ in range(self.draw.choice((0, 0, 1, 2))) if nodes or new]
        return Match(paths, conditions, optional), new, hops

    def path(self, known: list[str], new: list[str], hops: int) -> tuple[Path, int]:
        length = self.draw.randint(0, min(hops, self.draw.choice((1, 1, 2, 3, 4))))
        nodes: list[Node] = []
        for index in range(length + 1):
            name = None
            if (index == 0 and known and self.chance(0.7)) or (known and self.chance(0.12)):
                name = self.draw.choice(known)
            elif self.chance(0.75):
                name = self.fresh()
                new.append(name)
            again = name in known and name not in new
            nodes.append(
                Node(
                    name,
                    None if again or self.chance(0.6) else self.draw.choice(LABELS),
                    None if again or self.chance(0.9) else self.draw.randint(0, 3),
                )
            )
        return Path(nodes, [self.edge() for _ in range(length)]), hops - length

    def edge(self) -> Edge:
        types = tuple(self.draw.sample(TYPES, self.draw.choice((0, 1, 1, 2))))
        length = self.draw.choice(((0, 1), (1, 2), (2, 2), (1, 3))) if self.chance(0.12) else None
        return Edge(self.draw.choice("><-"), types, self.fresh() if self.chance(0.2) else None, length)

    def condition(self, names: list[str]) -> Condition:
        name = self.draw.choice(names)
        if self.chance(0.6):
            return Condition(name, self.draw.choice(("=", "<>", ">", "<=")), self.draw.randint(0, 3))
        path = Path([Node(name), Node(None, self.draw.choice((None, *LABELS)))], [self.edge()])
        path.edges[0].name = path.edges[0].length = None
        return Condition(
            name,
            path=path,
            form=self.draw.choice(("EXISTS", "MATCH", "COUNT", "pattern")),
            denied=self.chance(0.3),
        )

    def call(self, nodes: list[str]) -> tuple[Call, list[str]]:
        imports = self.draw.sample(nodes, 1)
        new: list[str] = []
        path, _ = self.path(imports, new, 1)
        source = self.draw.choice([*imports, *new])
        column = Column(self.fresh(), source, self.draw.choice(("v", "id", "count", "rows")))
        returning = Projecting([column], not column.aggregates and self.chance(0.4), returns=True)
        return Call(imports, [Match([path]), returning], self.chance(0.5)), [column.name]

    def projecting(self, nodes: list[str], values: list[str]) -> Projecting:
        kept = self.draw.sample(nodes, self.draw.randint(1, min(2, len(nodes))))
        columns = [
            Column(name, name, "variable") if self.chance(0.75) else Column(self.fresh(), name, "v") for name in kept
        ]
        columns += [Column(name, name, "variable") for name in values]
        if self.chance(0.4):
            columns.append(self.aggregate(nodes))
            return Projecting(columns, least=self.draw.randint(0, 1) if self.chance(0.5) else None)
        distinct = self.chance(0.5)
        return Projecting(columns, distinct, *self.page(distinct, columns, values))

    def aggregate(self, nodes: list[str]) -> Column:
        kind = self.draw.choice(("count", "count distinct", "max", "collect", "rows"))
        return Column(self.fresh(), self.draw.choice(nodes), kind)

    def page(self, unique: bool, columns: list[Column], values: list[str]) -> tuple[int | None, int]:
        """A limit only where rows differ in what orders them, or it would be anybody's choice which ones stay."""
        if not unique or values or not self.chance(0.4):
            return None, 0
        return self.draw.randint(1, 3), self.draw.choice((0, 0, 1))

    def returning(self, nodes: list[str], values: list[str], *, union: bool) -> Projecting:
        sources = [*((name, "id") for name in nodes), *((name, "v") for name in nodes)]
        sources += [(name, "variable") for name in values]
        if union:
            source, kind = self.draw.choice([*sources, ("", "rows")])
            return Projecting([Column("c", source, kind)], returns=True)
        picked = (
            self.draw.sample(sources, self.draw.randint(0 if nodes else 1, min(2, len(sources)))) if sources else []
        )
        columns = [Column(self.fresh(), source, kind) for source, kind in picked]
        if not columns or self.chance(0.35):
            columns.append(self.aggregate(nodes) if nodes else Column(self.fresh(), "", "rows"))
            return Projecting(columns, returns=True)
        distinct = self.chance(0.4)
        return Projecting(columns, distinct, *self.page(distinct, columns, values), returns=True)


# The interpreter


@dataclass(frozen=True)
class Line:
    """A row: its variables, and what was bound for it."""

    values: dict[str, Any]
    bound: Bound


class Interpreter:
    """Computes the rows of a drawn query and what they bind, by trying every walk.

    ``null_matched`` tells whether a pattern met a variable that was null, which matches nothing.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.null_matched = False

    def whole(self, whole: Whole) -> tuple[list[tuple[Any, ...]], Bound]:
        rows: list[tuple[Any, ...]] = []
        bound: set[tuple[str, Any]] = set()
        for branch in whole.branches:
            lines = [Line({}, frozenset())]
            for clause in branch:
                lines = self.clause(clause, lines)
            rows += [tuple(line.values.values()) for line in lines]
            bound |= {element for line in lines for element in line.bound}
        if len(whole.branches) > 1 and not whole.union_all:
            rows = list(dict.fromkeys(rows))
        return rows, frozenset(bound)

    def clause(self, clause: Any, lines: list[Line]) -> list[Line]:
        if isinstance(clause, Match):
            return [found for line in lines for found in self.match(clause, line)]
        if isinstance(clause, Call):
            return [found for line in lines for found in self.call(clause, line)]
        return self.project(clause, lines)

    def match(self, match: Match, line: Line) -> list[Line]:
        found = []
        for values, used, nodes in self.paths(match.paths, line.values, frozenset(), frozenset()):
            witnesses: set[tuple[str, Any]] = set()
            for condition in match.conditions:
                kept, seen = self.holds(condition, values)
                witnesses |= seen
                if not kept:
                    break
            else:
                elements = {("edge", k) for k in used} | {("node", one) for one in nodes}
                found.append(Line(values, line.bound | elements | witnesses))
        if found or not match.optional:
            return found
        named: list[Node | Edge] = []
        for path in match.paths:
            named += [*path.nodes, *path.edges]
        names = {one.name for one in named if one.name}
        return [Line({**dict.fromkeys(names - line.values.keys()), **line.values}, line.bound)]

    def holds(self, condition: Condition, values: dict[str, Any]) -> tuple[bool, set[tuple[str, Any]]]:
        if condition.path is None:
            name = values[condition.name]
            if name is None:
                return False, set()
            v, number = self.graph.nodes[name]["v"], condition.number
            return {"=": v == number, "<>": v != number, ">": v > number, "<=": v <= number}[condition.operator], set()
        seen: set[tuple[str, Any]] = set()
        for _, used, nodes in self.paths([condition.path], values, frozenset(), frozenset()):
            seen |= {("edge", k) for k in used} | {("node", one) for one in nodes}
        return bool(seen) != condition.denied, seen

    def paths(
        self, paths: list[Path], values: dict[str, Any], used: frozenset[int], nodes: frozenset[str]
    ) -> Iterator[tuple[dict[str, Any], frozenset[int], frozenset[str]]]:
        if not paths:
            yield values, used, nodes
            return
        path = paths[0]
        for start in self.graph:
            if (known := self.at(path.nodes[0], start, values)) is not None:
                for more in self.steps(path, 0, start, known, used, nodes | {start}):
                    yield from self.paths(paths[1:], *more)

    def at(self, node: Node, place: str, values: dict[str, Any]) -> dict[str, Any] | None:
        """The variables if a node of the graph fits a node of the pattern; None if it doesn't."""
        data = self.graph.nodes[place]
        if (node.label and data["label"] != node.label) or (node.v is not None and data["v"] != node.v):
            return None
        if node.name is None:
            return values
        if node.name in values:
            self.null_matched |= values[node.name] is None
            return values if values[node.name] == place else None
        return {**values, node.name: place}

    def steps(
        self,
        path: Path,
        index: int,
        place: str,
        values: dict[str, Any],
        used: frozenset[int],
        nodes: frozenset[str],
    ) -> Iterator[tuple[dict[str, Any], frozenset[int], frozenset[str]]]:
        if index == len(path.edges):
            yield values, used, nodes
            return
        edge = path.edges[index]
        for target, crossed, met in self.walks(edge, place, used):
            known = self.at(path.nodes[index + 1], target, values)
            if known is not None:
                known = {**known, edge.name: crossed} if edge.name else known
                yield from self.steps(path, index + 1, target, known, used | set(crossed), nodes | met | {target})

    def walks(
        self, edge: Edge, place: str, used: frozenset[int]
    ) -> Iterator[tuple[str, tuple[int, ...], frozenset[str]]]:
        least, most = edge.length or (1, 1)
        todo: list[tuple[str, tuple[int, ...], frozenset[str]]] = [(place, (), frozenset({place}))]
        while todo:
            at, crossed, met = todo.pop()
            if len(crossed) >= least:
                yield at, crossed, met
            if len(crossed) < most:
                for k, target in self.around(at, edge):
                    if k not in used and k not in crossed:
                        todo.append((target, (*crossed, k), met | {target}))

    def around(self, place: str, edge: Edge) -> Iterator[tuple[int, str]]:
        """The edges at a node in the direction of a pattern; a loop is one in either direction."""
        for source, target, k, data in self.graph.edges(keys=True, data=True):
            if edge.types and data["type"] not in edge.types:
                continue
            if source == place and edge.direction in ">-":
                yield k, target
            if target == place and edge.direction in "<-" and not (source == target and edge.direction == "-"):
                yield k, source

    def call(self, call: Call, line: Line) -> list[Line]:
        inner = [Line({name: line.values[name] for name in call.imports}, frozenset())]
        for clause in call.clauses:
            inner = self.clause(clause, inner)
        return [Line({**line.values, **one.values}, line.bound | one.bound) for one in inner]

    def project(self, projecting: Projecting, lines: list[Line]) -> list[Line]:
        groups: dict[Any, list[Line]] = {}
        grouped = projecting.distinct or any(column.aggregates for column in projecting.columns)
        keys = [column for column in projecting.columns if not column.aggregates]
        for index, line in enumerate(lines):
            key = tuple(self.value(column, [line]) for column in keys)
            groups.setdefault(key if grouped else index, []).append(line)
        if not lines and not keys and grouped:
            groups[()] = []
        found = [
            Line(
                {column.name: self.value(column, group) for column in projecting.columns},
                frozenset(element for line in group for element in line.bound),
            )
            for group in groups.values()
        ]
        if projecting.limit is not None:
            found.sort(key=lambda line: [(one is None, one) for one in line.values.values()])
            found = found[projecting.skip : projecting.skip + projecting.limit]
        if projecting.least is not None:
            last = projecting.columns[-1].name
            found = [one for one in found if one.values[last] is not None and one.values[last] > projecting.least]
        return found

    def value(self, column: Column, lines: list[Line]) -> Any:
        if column.kind == "rows":
            return len(lines)
        held = [line.values[column.source] for line in lines]
        if column.kind == "variable":
            return held[0]
        if column.kind in {"id", "v"}:
            return None if held[0] is None else held[0] if column.kind == "id" else self.graph.nodes[held[0]]["v"]
        there = [one for one in held if one is not None]
        if column.kind in {"count", "collect"}:
            return len(there)
        vs = {self.graph.nodes[one]["v"] for one in there}
        return len(vs) if column.kind == "count distinct" else max(vs, default=None)
