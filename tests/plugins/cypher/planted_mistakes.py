"""Random queries over a random graph, and single mistakes that a model might make in them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

LABELS = ("File", "Table", "Service")
TYPES = ("CALLS", "READS", "WRITES")
#: Names that a model invents: the graph has none of them.
INVENTED = {"File": "Module", "Table": "Entity", "Service": "Component", "CALLS": "INVOKES", "READS": "QUERIES"}
TURNED = {"->": "<-", "<-": "->"}


@dataclass(frozen=True)
class Hop:
    """A hop: its types, its direction, and the label and id of the node that it reaches."""

    types: tuple[str, ...]
    direction: str
    label: str | None
    id: str | None = None


@dataclass(frozen=True)
class Spec:
    """A query: the label and id of its first node, its hops, conditions on its last node, and its projection.

    Conditions: a least line, one of some ids (perhaps in a parameter), more edges than some, or a part of the id in
    capitals. ``groups`` counts edges by first node, and keeps those with more than so many; ``collects`` gathers the
    column in a list, whose order ``sorts`` states.
    """

    label: str | None
    id: str | None
    hops: tuple[Hop, ...]
    least: int | None
    shown: int
    key: str = "id"
    count: bool = False
    distinct: bool = False
    limit: int | None = None
    among: tuple[str, ...] = ()
    given: bool = False
    edges: tuple[str, int] | None = None
    part: tuple[str, str] | None = None
    groups: tuple[str, int] | None = None
    collects: bool = False
    sorts: str | None = None
    cut: int | None = None

    def text(self, letters: str) -> str:
        """Write the query; its variables are these letters."""
        node = _node(letters[0], self.label, self.id)
        for letter, hop in zip(letters[1:], self.hops, strict=False):
            types = ":" + "|".join(hop.types) if hop.types else ""
            left, right = ("<-", "-") if hop.direction == "<-" else ("-", "->" if hop.direction == "->" else "-")
            node += f"{left}[{types}]{right}{_node(letter, hop.label, hop.id)}"
        terms = self._terms(letters[len(self.hops)])
        where = f" WHERE {' AND '.join(terms)}" if terms else ""
        column, distinct = f"{letters[self.shown]}.{self.key}", "DISTINCT " if self.distinct else ""
        return f"MATCH {node}{where} {self._end(column, distinct, letters)}"

    def _terms(self, last: str) -> list[str]:
        terms = [f"{last}.line >= {self.least}"] if self.least is not None else []
        if self.among:
            terms.append(f"{last}.id IN {'$ids' if self.given else list(self.among)}")
        if self.edges is not None:
            terms.append(f"COUNT {{ ({last})--() }} {self.edges[0]} {self.edges[1]}")
        if self.part is not None:
            terms.append(f"toUpper({last}.id) {self.part[0]} toUpper('{self.part[1]}')")
        return terms

    def _end(self, column: str, distinct: str, letters: str) -> str:
        first, last, number = letters[0], letters[len(self.hops)], f"{letters[0]}_found"
        if self.groups is not None:
            sign, least = self.groups
            return f"WITH {first}, count({last}) AS {number} WHERE {number} {sign} {least} RETURN {first}.id, {number}"
        if self.collects:
            sort = f" ORDER BY {number} {self.sorts}" if self.sorts is not None else ""
            cut = f" LIMIT {self.cut}" if self.cut is not None else ""
            return f"WITH {distinct}{column} AS {number}{sort}{cut} RETURN collect({number}) AS l"
        if self.count:
            return f"RETURN count({distinct}{column}) AS n"
        page = f" ORDER BY {column} LIMIT {self.limit}" if self.limit is not None else ""
        return f"RETURN {distinct}{column}{page}"

    @property
    def of_last(self) -> bool:
        """Whether it says more of its last node; with other hops that would be of another node: a second mistake."""
        return bool(self.least is not None or self.among or self.edges or self.part or self.groups)

    def parameters(self) -> dict[str, object]:
        """The values of its parameters."""
        return {"ids": [*self.among]} if self.given else {}


def _node(letter: str, label: str | None, own: str | None) -> str:
    labels = f":{label}" if label is not None else ""
    properties = f" {{id: '{own}'}}" if own is not None else ""
    return f"({letter}{labels}{properties})"


def write_graph(folder: Path, seed: int) -> list[str]:
    """Write a dataset with a random graph of 30 nodes and 120 edges; return the ids of its nodes."""
    chance = random.Random(seed)
    folder.mkdir(parents=True)
    names = [f"{chance.choice('abcdefgh')}{chance.choice('klmnopq')}{index}" for index in range(30)]
    kinds = {name: chance.choice(LABELS) for name in names}
    rows = [{"id": one, "kind": kinds[one], "repo": f"r{index % 3}", "line": index} for index, one in enumerate(names)]
    edges = {(chance.choice(names), chance.choice(TYPES), chance.choice(names)) for _ in range(120)}
    (folder / "artifacts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "edges.jsonl").write_text(
        "".join(json.dumps({"source": a, "relation": r, "target": b}) + "\n" for a, r, b in sorted(edges) if a != b)
    )
    question = {"id": "q", "question": "Which?", "gold_cypher": "MATCH (n) RETURN n.id"}
    (folder / "questions.jsonl").write_text(json.dumps(question) + "\n")
    return names


def gold(chance: random.Random, ids: list[str]) -> Spec:
    """Draw a gold query of one to three hops."""
    hops = tuple(
        Hop(
            tuple(sorted(chance.sample(TYPES, chance.choice((1, 1, 1, 2))))),
            chance.choice(("->", "->", "<-", "--")),
            chance.choice((*LABELS, None)),
        )
        for _ in range(chance.choice((1, 1, 2, 2, 3)))
    )
    spec = Spec(
        chance.choice((*LABELS, None)),
        chance.choice((None, chance.choice(ids))),
        hops,
        chance.choice((None, None, chance.randrange(5, 25))),
        chance.randrange(len(hops) + 1),
        count=chance.random() < 0.2,
        distinct=chance.random() < 0.5,
        limit=chance.choice((None, None, 3)),
    )
    return chance.choice(WHOLE)(chance, spec, ids)


def _plain(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    return spec


def _with_ids(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    return replace(spec, among=tuple(chance.sample(ids, chance.choice((10, 15)))), least=None)


def _with_edges(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    return replace(spec, edges=(chance.choice((">", ">=", "<")), chance.randrange(5, 10)), least=None)


def _with_part(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    return replace(spec, part=(chance.choice(("CONTAINS", "STARTS WITH")), chance.choice("abcdefgh")), least=None)


def _with_groups(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    return replace(spec, groups=(chance.choice((">", ">=")), chance.randrange(1, 4)), id=None)


def _with_list(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    sorts = chance.choice(("ASC", "DESC"))
    return replace(spec, collects=True, sorts=sorts, cut=chance.choice((None, 3)))


#: What a gold query may have beside its pattern.
WHOLE = (_plain, _plain, _with_ids, _with_edges, _with_part, _with_groups, _with_list)


Mistake = Callable[[random.Random, Spec, list[str]], Spec | None]


def _hop(chance: random.Random, spec: Spec, change: Callable[[Hop], Hop]) -> Spec:
    index = chance.randrange(len(spec.hops))
    return replace(spec, hops=(*spec.hops[:index], change(spec.hops[index]), *spec.hops[index + 1 :]))


def _turned(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    return _hop(chance, spec, lambda hop: replace(hop, direction=TURNED.get(hop.direction, "->")))


def _without_direction(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    return _hop(chance, spec, lambda hop: replace(hop, direction="--"))


def _other_type(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    return _hop(chance, spec, lambda hop: replace(hop, types=(chance.choice(TYPES),)))


def _invented_type(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    return _hop(chance, spec, lambda hop: replace(hop, types=(INVENTED.get(hop.types[0], "USES"),)))


def _further_type(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    return _hop(chance, spec, lambda hop: replace(hop, types=tuple(sorted({*hop.types, chance.choice(TYPES)}))))


def _label(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    if spec.label is None:
        return None
    return replace(spec, label=chance.choice((INVENTED[spec.label], chance.choice(LABELS), None)))


def _hop_label(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    return _hop(chance, spec, lambda hop: replace(hop, label=chance.choice(LABELS)))


def _id(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    if spec.id is None:
        return None
    return replace(spec, id=chance.choice((chance.choice(ids), spec.id.upper(), f"{spec.id}x", None)))


def _further_id(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    return replace(spec, id=chance.choice(ids)) if spec.id is None else None


def _least(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    return replace(spec, least=chance.choice((None, chance.randrange(5, 25))))


def _key(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    return replace(spec, key=chance.choice(("name", "repo")))


def _shown(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    return replace(spec, shown=chance.randrange(len(spec.hops) + 1))


def _distinct(chance: random.Random, spec: Spec, ids: list[str]) -> Spec:
    return replace(spec, distinct=not spec.distinct)


def _limit(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    if spec.limit is None or spec.count:
        return None
    return replace(spec, limit=chance.choice((1, 2)))


def _fewer_hops(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    if len(spec.hops) == 1 or spec.of_last:
        return None
    hops = spec.hops[:-1] if spec.shown < len(spec.hops) else spec.hops[:-2] + spec.hops[-1:]
    return replace(spec, hops=hops, shown=min(spec.shown, len(hops)))


def _more_hops(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    if spec.of_last:
        return None
    return replace(spec, hops=(*spec.hops, Hop((chance.choice(TYPES),), chance.choice(("->", "<-")), None)))


def _one_id(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    if not spec.among:
        return None
    at = chance.randrange(len(spec.among))
    return replace(spec, among=(*spec.among[:at], chance.choice(ids), *spec.among[at + 1 :]))


def _other_ids(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    return replace(spec, among=tuple(chance.sample(ids, chance.choice((1, 3))))) if spec.among else None


def _given_ids(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    wrong = chance.choice((_one_id, _other_ids))(chance, spec, ids)
    return None if wrong is None else replace(wrong, given=True)


def _edges_number(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    return replace(spec, edges=(spec.edges[0], chance.randrange(3, 12))) if spec.edges else None


def _edges_sign(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    return replace(spec, edges=(chance.choice(("=", ">", "<", "<>")), spec.edges[1])) if spec.edges else None


def _part_text(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    return replace(spec, part=(spec.part[0], chance.choice("abcdefghk"))) if spec.part else None


def _part_operator(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    return replace(spec, part=(chance.choice(("=", "ENDS WITH", "CONTAINS")), spec.part[1])) if spec.part else None


def _groups_number(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    return replace(spec, groups=(spec.groups[0], chance.randrange(1, 6))) if spec.groups else None


def _groups_sign(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    return replace(spec, groups=(chance.choice(("=", "<", ">", ">=")), spec.groups[1])) if spec.groups else None


def _sorted(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    return replace(spec, sorts=chance.choice((None, "ASC", "DESC"))) if spec.collects else None


def _cut(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    return replace(spec, cut=chance.choice((None, 2, 4))) if spec.collects else None


MISTAKES: tuple[Mistake, ...] = (
    _turned,
    _without_direction,
    _other_type,
    _invented_type,
    _further_type,
    _label,
    _hop_label,
    _id,
    _further_id,
    _least,
    _key,
    _shown,
    _distinct,
    _limit,
    _fewer_hops,
    _more_hops,
)
#: Those of what a query has beside its pattern: lists, parameters, computed sides, functions, aliases, WITH.
BESIDE: tuple[Mistake, ...] = (
    _one_id,
    _other_ids,
    _given_ids,
    _edges_number,
    _edges_sign,
    _part_text,
    _part_operator,
    _groups_number,
    _groups_sign,
    _sorted,
    _cut,
)


@dataclass(frozen=True)
class Planted:
    """A gold query, the same with one mistake and other names of variables, and the mistake's name."""

    gold: str
    wrong: str
    parameters: dict[str, object]
    mistake: str


def planted(seed: int, ids: list[str]) -> Iterator[Planted]:
    """Yield gold queries, each with one mistake; the kinds of mistakes take turns, for ever."""
    chance = random.Random(seed)
    for mistake in cycle((*MISTAKES, *BESIDE)):
        spec = wrong = None
        while spec is None or wrong is None or replace(wrong, given=False) == spec:
            spec = gold(chance, ids)
            wrong = mistake(chance, spec, ids)
        letters = chance.choice(("abcde", "wxyzv", "mnopq"))
        yield Planted(spec.text("abcd"), wrong.text(letters), wrong.parameters(), mistake.__name__.strip("_"))
