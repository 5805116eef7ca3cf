"""Random queries over a random graph, and single mistakes that a model might make in them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
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
    """A query: the label and id of its first node, its hops, a least line of its last node, and its projection."""

    label: str | None
    id: str | None
    hops: tuple[Hop, ...]
    least: int | None
    shown: int
    key: str = "id"
    count: bool = False
    distinct: bool = False
    limit: int | None = None

    def text(self, letters: str) -> str:
        """Write the query; its variables are these letters."""
        node = _node(letters[0], self.label, self.id)
        for letter, hop in zip(letters[1:], self.hops, strict=False):
            types = ":" + "|".join(hop.types) if hop.types else ""
            left, right = ("<-", "-") if hop.direction == "<-" else ("-", "->" if hop.direction == "->" else "-")
            node += f"{left}[{types}]{right}{_node(letter, hop.label, hop.id)}"
        last = letters[len(self.hops)]
        where = f" WHERE {last}.line >= {self.least}" if self.least is not None else ""
        column = f"{letters[self.shown]}.{self.key}"
        distinct = "DISTINCT " if self.distinct else ""
        if self.count:
            return f"MATCH {node}{where} RETURN count({distinct}{column}) AS n"
        page = f" ORDER BY {column} LIMIT {self.limit}" if self.limit is not None else ""
        return f"MATCH {node}{where} RETURN {distinct}{column}{page}"


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
    return Spec(
        chance.choice((*LABELS, None)),
        chance.choice((None, chance.choice(ids))),
        hops,
        chance.choice((None, None, chance.randrange(5, 25))),
        chance.randrange(len(hops) + 1),
        count=chance.random() < 0.2,
        distinct=chance.random() < 0.5,
        limit=chance.choice((None, None, 3)),
    )


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
    if len(spec.hops) == 1 or spec.least is not None:  # the condition would move to another node: a second mistake
        return None
    hops = spec.hops[:-1] if spec.shown < len(spec.hops) else spec.hops[:-2] + spec.hops[-1:]
    return replace(spec, hops=hops, shown=min(spec.shown, len(hops)))


def _more_hops(chance: random.Random, spec: Spec, ids: list[str]) -> Spec | None:
    if spec.least is not None:
        return None
    return replace(spec, hops=(*spec.hops, Hop((chance.choice(TYPES),), chance.choice(("->", "<-")), None)))


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


def planted(seed: int, ids: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield a gold query, the same with one mistake and other names of variables, and the mistake's name; for ever."""
    chance = random.Random(seed)
    while True:
        spec = gold(chance, ids)
        mistake = chance.choice(MISTAKES)
        wrong = mistake(chance, spec, ids)
        if wrong is not None and wrong != spec:
            yield spec.text("abcd"), wrong.text(chance.choice(("abcde", "wxyzv", "mnopq"))), mistake.__name__.strip("_")
