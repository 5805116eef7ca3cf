"""Finds the fields that may hold walks by their values, each with an expression of ``--map`` that reads it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, permutations
from typing import Any

from graphkit.plugins.mapping.bounded_jmespath import searched
from graphkit.plugins.mapping.field_maps import MOST, FieldMap, compiled
from graphkit.plugins.mapping.field_values import (
    ITEM,
    KNOWN,
    SOME_KNOWN,
    FieldPath,
    RowValues,
    Vocabulary,
    expression_of,
    scalars,
)
from graphkit.plugins.mapping.measured_walks import STRAY, WalkField, measure_rows, walk_of, words_of
from graphkit.plugins.mapping.walk_doubts import add_doubts
from graphkit.readers.graph_names import ENDS, plain
from graphkit.records.path_texts import has_arrow

#: What separates the names of a walk in a text, the most specific first.
_SEPARATORS = (" -> ", " => ", " > ", "; ", " | ", ", ", "->", "=>", ">", ";", "|", "\t", "\n", ",", " ")

#: The most nodes' fields of an object whose pairs are tried, and the longest lists that are triples of some order.
_MOST_ENDS, _LONGEST_TRIPLE = 6, 6


def walk_fields(values: RowValues, vocabulary: Vocabulary, questions: Sequence[str | None]) -> list[WalkField]:
    """Return the fields that may hold walks in rows of these questions, those with relations and known edges first.

    Where several rows have the same question, a row may hold a step.
    """
    found: list[WalkField] = []
    for one in _enumerated(values, vocabulary, questions):
        one.questions = questions
        measure_rows(one, values, vocabulary)
        if one.edges and one.known >= SOME_KNOWN * one.ends:
            add_doubts(one, values, vocabulary)
            found.append(one)
    return sorted(found, key=lambda one: (not one.typed, -one.held))


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
            measure_rows(one, values, vocabulary)
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
        measure_rows(one, values, vocabulary)
    least, most = sorted((one.forward, one.backward))
    mixed = least > STRAY * (least + most)
    other = _pair(of, source, relation, target)
    if one.roles[source] == "source":
        other = _pair(of, target, relation, source)
    if mixed:
        measure_rows(other, values, vocabulary)
        if (walked := next(filter(_stands_as_walked, (one, other)), None)) is not None:
            one = replace(walked, expression=f"{walked.expression[:-1]}, {_EITHER_WAY}}}", directed=False)
        else:
            one.doubt = "which of both fields is the source isn't known"
    elif not most and not _named_back(target, source):
        one.doubt = "the graph holds none of the edges in one direction only: which field is the source isn't known"
    if one.doubt:
        one.turned = [other]
        measure_rows(other, values, vocabulary)
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
    walks = (walk_of(fields, row) for row in values.rows)
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
            measure_rows(one, values, vocabulary)
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
        measure_rows(one, values, vocabulary)
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
            measure_rows(one, values, vocabulary)
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
            measure_rows(one, values, vocabulary)
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
            measure_rows(one, values, vocabulary)
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
