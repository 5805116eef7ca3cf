"""Every single edit of a query that may mend it: of a direction, name, literal, predicate, hop or column.

What an edit puts in comes from a gold query, whose variables are those of the query by an alignment of their patterns,
or from the nearest name that the graph has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import permutations, product
from typing import Literal

from graphkit.plugins.cypher.cypher_parser import quoted, tokens
from graphkit.plugins.cypher.cypher_text import (
    Clause,
    Expression,
    Item,
    Name,
    NodePattern,
    ParsedQuery,
    PathPattern,
    Predicate,
    Projection,
    Property,
    RelationshipPattern,
    Span,
    all_clauses,
)
from graphkit.plugins.cypher.expression_parts import (
    PlacedLiteral,
    compared_properties,
    comparisons,
    parted,
    placed_literals,
    properties,
    within,
    written_text,
)
from graphkit.plugins.cypher.names_of_graph import MOST_VALUES, KnownNames, nearest

#: The kinds of edits, in the order in which they are preferred.
Kind = Literal["turned", "replaced", "added", "removed"]
KINDS: tuple[Kind, ...] = ("turned", "replaced", "added", "removed")

#: What an edit changes.
Subject = Literal[
    "direction",
    "relation",
    "length",
    "label",
    "property",
    "literal",
    "condition",
    "hop",
    "column",
    "DISTINCT",
    "page",
    "order",
    "OPTIONAL",
]

Change = tuple[Span, str]

#: Operators that are tried in place of each other.
_OPERATORS = (("<", "<="), (">", ">="), ("=", "CONTAINS", "STARTS WITH", "ENDS WITH"))

#: The most values of a list that are replaced one by one, and not only by gold's list as a whole.
_FEW_LISTED = 10


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit of a query.

    Attributes
    ----------
    kind
        What it does.
    subject
        What it changes.
    wrong
        What the query did, as the beginning of a sentence.
    instead
        What the edit does, as the end of one: ``turned``, ``with 'a'``, ``without it``.
    changes
        The spans that it replaces.
    by_gold
        Whether it takes what it puts in from gold, or only turns and removes.
    """

    kind: Kind
    subject: Subject
    wrong: str
    instead: str
    changes: tuple[Change, ...]
    by_gold: bool = True


def edits(query: ParsedQuery, golds: Sequence[ParsedQuery], names: KnownNames) -> list[Edit]:
    """Return the single edits of a query that may make it equal to a gold one, each once, those by gold first."""
    found: dict[tuple[Change, ...], Edit] = {}
    for gold in golds:
        for one in _Edits(query, gold, names).all():
            if not any(query.at(span) == text for span, text in one.changes):
                found.setdefault(one.changes, one)
    return sorted(found.values(), key=lambda one: not one.by_gold)


class _Edits:
    """The edits of one query beside one gold query."""

    def __init__(self, query: ParsedQuery, gold: ParsedQuery, names: KnownNames) -> None:
        self.query = query
        self.gold = gold
        self.names = names
        self.given = _elements(query)
        self.wanted = _elements(gold)
        self.alignments = _alignments(query, gold)
        #: The properties of gold's conditions.
        self.compared = compared_properties(gold)
        self.literals = placed_literals(gold)

    def all(self) -> Iterator[Edit]:
        for path in self.query.paths():
            for part in path.elements():
                if isinstance(part, RelationshipPattern):
                    yield from self.direction(part)
                    yield from self.types(part)
                    yield from self.length(part)
                else:
                    yield from self.labels(part)
                yield from self.properties(part)
        for literal in placed_literals(self.query):
            yield from self.literal(literal)
        for path in self.query.paths():
            yield from self.hops(path)
        yield from self.comparisons()
        yield from self.taken()
        for clause in all_clauses(self.query.query):
            yield from self.joins(clause)
            yield from self.predicates(clause)
            yield from self.optional(clause)
            if clause.kind in ("with", "return") and clause.projection is not None:
                yield from self.projection(clause.projection)

    # Relationships

    def direction(self, part: RelationshipPattern) -> Iterator[Edit]:
        text, who = self.query.at(part.span), _relation(part)
        first, last = text.index("-"), text.rindex("-")
        body, tail = text[first : last + 1], text[last + 1 :].lstrip("> ")

        def to(direction: str) -> tuple[Change, ...]:
            heads = ("<" if direction == "<-" else "", ">" if direction == "->" else "")
            return ((part.span, f"{heads[0]}{body}{heads[1]}{tail}"),)

        if part.direction == "--":
            wrong = f"{who} was asked without a direction"
            yield Edit("added", "direction", wrong, "with one", to("->"))
            yield Edit("added", "direction", wrong, "with one", to("<-"))
            return
        yield Edit("turned", "direction", f"{who} was asked the other way round", "turned", to(_TURNED[part.direction]))
        yield Edit("removed", "direction", f"{who} was asked in one direction only", "without a direction", to("--"))

    def types(self, part: RelationshipPattern) -> Iterator[Edit]:
        wanted = _distinct(name.text for one in self.wanted[1] for name in one.types)
        if part.types_span is None:
            for name in wanted:
                place = part.variable.span[1] if part.variable is not None else self._bracket(part)
                if place is None:
                    text = self.query.at(part.span)
                    middle = part.span[0] + text.index("-") + 1
                    change: Change = ((middle, middle), f"[:{quoted(name)}]")
                else:
                    change = ((place, place), f":{quoted(name)}")
                yield Edit("added", "relation", "a relation has no type", f"with {name}", (change,))
            return
        span, asked = part.types_span, "|".join(name.text for name in part.types)
        for want in {tuple(name.text for name in one.types): None for one in self.wanted[1] if one.types}:
            kind: Kind = "replaced"
            if set(want) > {name.text for name in part.types}:
                kind = "added"
            elif set(want) < {name.text for name in part.types}:
                kind = "removed"
            yield Edit(
                kind, "relation", self._asked("relation", asked), f"with {'|'.join(want)}", ((span, _types(want)),)
            )
        for own in part.types:
            yield from self._renamed(own, wanted, self.names.types, "relation")
            if len(part.types) > 1:
                rest = [one.text for one in part.types if one is not own]
                wrong = f"the relation {own.text} is one too many"
                yield Edit("removed", "relation", wrong, "without it", ((span, _types(rest)),))
        for name in wanted:
            if name not in {one.text for one in part.types}:
                both = [*(one.text for one in part.types), name]
                yield Edit(
                    "added", "relation", self._asked("relation", asked), f"with {name} too", ((span, _types(both)),)
                )
        yield Edit("removed", "relation", self._asked("relation", asked), "with any", ((span, ""),))

    def _bracket(self, part: RelationshipPattern) -> int | None:
        """The place after the bracket of a relationship; None without one."""
        at = self.query.at(part.span).find("[")
        return None if at < 0 else part.span[0] + at + 1

    def length(self, part: RelationshipPattern) -> Iterator[Edit]:
        wanted = {self.gold.at(one.length.span): None for one in self.wanted[1] if one.length is not None}
        who = _relation(part)
        if part.length is not None:
            asked = self.query.at(part.length.span)
            for text in wanted:
                if (text[0] == "*") == (asked[0] == "*"):
                    yield Edit(
                        "replaced", "length", f"{who} was asked {asked}", f"with {text}", ((part.length.span, text),)
                    )
            yield Edit("removed", "length", f"{who} was asked {asked}", "with one hop", ((part.length.span, ""),))
            return
        for text in wanted:
            if text[0] != "*":
                yield Edit(
                    "added", "length", f"{who} was asked for one hop", f"with {text}", (((part.span[1],) * 2, text),)
                )
                continue
            ends = [one.span[1] for one in (part.variable,) if one is not None]
            ends += [span[1] for span in (part.types_span,) if span is not None]
            place = max(ends) if ends else self._bracket(part)
            if place is not None:
                yield Edit("added", "length", f"{who} was asked for one hop", f"with {text}", (((place, place), text),))

    # Nodes

    def labels(self, part: NodePattern) -> Iterator[Edit]:
        wanted = _distinct(name.text for one in self.wanted[0] for name in one.labels)
        if part.labels_span is None:
            for name in wanted:
                place = part.variable.span[1] if part.variable is not None else part.span[0] + 1
                yield Edit(
                    "added", "label", "a node has no label", f"with {name}", (((place, place), f":{quoted(name)}"),)
                )
            return
        for own in part.labels:
            yield from self._renamed(own, wanted, self.names.labels, "label")
        asked = self._asked("label", ":".join(name.text for name in part.labels))
        yield Edit("removed", "label", asked, "without it", ((part.labels_span, ""),))

    def properties(self, part: NodePattern | RelationshipPattern) -> Iterator[Edit]:
        same = self.wanted[0] if isinstance(part, NodePattern) else self.wanted[1]
        wanted = [one for other in same for one in other.properties]
        keys = _distinct([*(one.name.text for one in wanted), *(one.text for one in self.compared)])
        taken = {own.name.text for own in part.properties}
        for own in part.properties:
            yield from self._renamed(
                own.name, [key for key in keys if key not in taken], self.names.properties, "property"
            )
            yield Edit(
                "removed",
                "condition",
                f"the condition {self.query.at(own.span)} is one too many",
                "without it",
                self._without(part, own),
            )
        for one in wanted:
            if all(own.name.text != one.name.text for own in part.properties) and not one.value.names:
                text = self.gold.at(one.span)
                wrong = f"the condition {text} is missing"
                yield Edit("added", "condition", wrong, "with it", (self._with(part, text),))

    def _without(self, part: NodePattern | RelationshipPattern, own: Property) -> tuple[Change, ...]:
        rest = [self.query.at(one.span) for one in part.properties if one is not own]
        span = part.properties_span or own.span
        return ((span, f"{{{', '.join(rest)}}}" if rest else ""),)

    def _with(self, part: NodePattern | RelationshipPattern, text: str) -> Change:
        if part.properties:
            end = part.properties[-1].span[1]
            return (end, end), f", {text}"
        if isinstance(part, NodePattern):
            span = part.labels_span or (part.variable.span if part.variable is not None else None)
            place = part.span[0] + 1 if span is None else span[1]
            return (place, place), f" {{{text}}}"
        own = part.variable.span if part.variable is not None else None
        spans = [span for span in (part.types_span, own) if span is not None]
        bracket = self._bracket(part)
        if bracket is None:
            middle = part.span[0] + self.query.at(part.span).index("-") + 1
            return (middle, middle), f"[{{{text}}}]"
        ends = [span[1] for span in spans] + ([part.length.span[1]] if part.length is not None else [])
        place = max([bracket, *(end for end in ends if end < part.span[1])])
        return (place, place), f" {{{text}}}"

    def _renamed(
        self, name: Name, wanted: Sequence[str], known: Sequence[str], what: Literal["relation", "label", "property"]
    ) -> Iterator[Edit]:
        wrong = self._asked(what, name.text)
        for other in wanted:
            yield Edit("replaced", what, wrong, f"with {other}", ((name.span, quoted(other)),))
        if name.text not in known and (near := nearest(name.text, known)) is not None:
            yield Edit("replaced", what, wrong, f"with {near}", ((name.span, quoted(near)),), by_gold=near in wanted)

    def _asked(self, what: str, asked: str) -> str:
        known = {"relation": self.names.types, "label": self.names.labels, "property": self.names.properties}[what]
        missing = [one for one in asked.replace("|", ":").split(":") if one not in known]
        if missing:
            return {
                "relation": f"no edge has the relation {missing[0]}",
                "label": f"no node has the label {missing[0]}",
                "property": f"nothing has the property {missing[0]}",
            }[what]
        return f"the {what} {asked} was asked"

    # Expressions

    def literal(self, own: PlacedLiteral) -> Iterator[Edit]:
        """Other literals: gold's for the same property, or any of its kind; then the nearest that the graph has."""
        span, value = own.literal.span, own.literal.value
        asked = self.query.at(span)
        wrong = f"the value {asked} was asked" if own.kind in ("truth", "null") else f"{asked} was asked"
        for text in self._others(own):
            change = (span, parted(self.query.text[: span[0]], text))
            yield Edit("replaced", "literal", wrong, f"with {text}", (change,))
        few = own.listed is None or len(own.listed) <= _FEW_LISTED
        if few and isinstance(value, str) and own.key is not None and own.key in self.names.properties:
            known = self.names.values(own.key)
            if value not in known and (near := nearest(value, known)) is not None:
                text = written_text(near)
                if len(known) < MOST_VALUES:  # else it may be among those that were not read
                    wrong = f"no node has {own.key} {asked}"
                yield Edit("replaced", "literal", wrong, f"with {text}", ((span, text),), by_gold=False)

    def _others(self, own: PlacedLiteral) -> list[str]:
        """The literals of gold that may stand in the place of one: lists for a list, values for a value."""
        wanted = [one for one in self.literals if (one.kind == "list") is (own.kind == "list")]
        same = [one for one in wanted if own.key is not None and one.key == own.key]
        alike = [one for one in wanted if own.key is not None or one.kind == own.kind]
        found = same or alike
        if own.listed is not None:
            asked = set(map(repr, own.listed))
            if len(asked) > _FEW_LISTED or repr(own.literal.value) in {repr(one.literal.value) for one in found}:
                return []
            found = [one for one in found if repr(one.literal.value) not in asked]
        return _distinct(self.gold.at(one.literal.span) for one in found)

    def comparisons(self) -> Iterator[Edit]:
        terms = [term.expression.span for clause in all_clauses(self.query.query) for term in _terms(clause)]
        wanted = _distinct(one.text for one in comparisons(self.gold))
        for own in comparisons(self.query):
            around = [span for span in terms if span[0] <= own.span[0] < span[1]]
            wrong = f"{own.text} was asked"
            if around:
                wrong = f"the condition {self.query.at(min(around, key=lambda one: one[1] - one[0]))} was asked"
            near = [one for group in _OPERATORS if own.text in group for one in group]
            for other in _distinct([*wanted, *near]):
                if other != own.text:
                    yield Edit(
                        "replaced", "condition", wrong, f"with {other}", ((own.span, other),), by_gold=other in wanted
                    )

    def taken(self) -> Iterator[Edit]:
        """The properties that conditions and other expressions take; columns are replaced as a whole."""
        keys = [one.text for one in self.compared]
        keys += [one.name.text for part in self.wanted[0] for one in part.properties]
        columns: list[Span] = []
        for clause in all_clauses(self.query.query):
            if clause.projection is not None:
                columns += [one.expression.span for one in clause.projection.items]
                columns += [one.expression.span for one in clause.projection.order]
        for own in properties(self.query):
            if not within([own], columns):
                yield from self._renamed(own, _distinct(keys), self.names.properties, "property")

    # Hops

    def hops(self, path: PathPattern) -> Iterator[Edit]:
        parts = path.parts
        if any(not isinstance(part, NodePattern | RelationshipPattern) for part in parts):
            return
        for first, second in zip(parts, parts[1:], strict=False):
            hop = first if isinstance(first, RelationshipPattern) else second
            assert isinstance(hop, RelationshipPattern)
            wrong = f"a hop by {_relation(hop)} is one too many"
            yield Edit("removed", "hop", wrong, "without it", (((first.span[0], second.span[1]), ""),))
        for other in self.gold.paths():
            if len(other.parts) <= 1:
                continue
            for first, second in zip(other.parts, other.parts[1:], strict=False):
                if not isinstance(first, NodePattern | RelationshipPattern) or not isinstance(
                    second, NodePattern | RelationshipPattern
                ):
                    continue
                hop = first if isinstance(first, RelationshipPattern) else second
                assert isinstance(hop, RelationshipPattern)
                wrong = f"a hop by {_relation(hop)} is missing"
                for text in self._hop_texts(first, second):
                    for node in parts:
                        if not isinstance(node, NodePattern):
                            continue
                        place = node.span[0] if isinstance(first, NodePattern) else node.span[1]
                        yield Edit("added", "hop", wrong, "with it", (((place, place), text),))

    def _hop_texts(
        self, first: NodePattern | RelationshipPattern, second: NodePattern | RelationshipPattern
    ) -> Iterator[str]:
        """The text of gold's hop, with names that the query doesn't have, and without."""
        text = self.gold.at((first.span[0], second.span[1]))
        own = {name.text for path in self.query.paths() for name in path.variables()}
        variables = [part.variable for part in (first, second) if part.variable is not None]
        start = first.span[0]
        plain = text
        for name in sorted(variables, key=lambda one: -one.span[0]):
            plain = plain[: name.span[0] - start] + plain[name.span[1] - start :]
        yield plain
        if variables and not any(name.text in own for name in variables):
            yield text

    def joins(self, clause: Clause) -> Iterator[Edit]:
        """Hops of gold between nodes of patterns that have none in common, each of which goes with each other."""
        nodes = [
            _distinct(part.variable.text for part in path.parts if isinstance(part, NodePattern) and part.variable)
            for path in clause.patterns
        ]
        hops = [part for path in self.gold.paths() for part in path.parts if isinstance(part, RelationshipPattern)]
        for first, second in permutations(nodes, 2):
            if not set(first).isdisjoint(second):
                continue
            for one, other, hop in product(first, second, hops):
                text = self.gold.at(hop.span)
                if hop.variable is not None:
                    begin, end = (place - hop.span[0] for place in hop.variable.span)
                    text = text[:begin] + text[end:]
                place = clause.patterns[-1].span[1]
                joined = (((place, place), f", ({quoted(one)}){text}({quoted(other)})"),)
                wrong = f"a hop by {_relation(hop)} between {one} and {other} is missing"
                yield Edit("added", "hop", wrong, "with it", joined)

    # Predicates

    def predicates(self, clause: Clause) -> Iterator[Edit]:
        gold_terms = [term for other in all_clauses(self.gold.query) for term in _terms(other)]
        for term in _terms(clause):
            span = term.expression.span
            asked = self.query.at(span)
            dropped = self._dropped(clause, term)
            yield Edit("removed", "condition", f"the condition {asked} is one too many", "without it", dropped)
            if term.negated:
                plain = asked.split(None, 1)[-1] if asked[:3].lower() == "not" else asked
                yield Edit("removed", "condition", f"the condition {asked} is negated", "without NOT", ((span, plain),))
            elif any(one.negated for one in gold_terms):
                changed = ((span, f"NOT ({asked})"),)
                yield Edit("added", "condition", f"the condition {asked} isn't negated", "with NOT", changed)
            alone = clause.where is not None and len(clause.where.terms) == 1
            yield from self._other_condition(term.expression, [one.expression for one in gold_terms], alone)
        if clause.kind not in ("match", "with"):
            return
        if clause.where is not None and len(clause.where.terms) > 1:
            wheres = [where.expression for where in self.gold.wheres()]
            yield from self._other_condition(clause.where.expression, wheres, True)
        for term in gold_terms:
            for renamed in self._own(term.expression):
                wrong = f"the condition {renamed} is missing"
                yield Edit("added", "condition", wrong, "with it", (self._and(clause, renamed),))

    def _other_condition(self, own: Expression, wanted: Iterable[Expression], alone: bool) -> Iterator[Edit]:
        asked = self.query.at(own.span)
        for expression in wanted:
            for renamed in self._own(expression):
                wrong, change = f"the condition {asked} was asked", (own.span, renamed if alone else _operand(renamed))
                yield Edit("replaced", "condition", wrong, f"with {renamed}", (change,))

    def _dropped(self, clause: Clause, term: Predicate) -> tuple[Change, ...]:
        assert clause.where is not None
        rest = [self.query.at(one.expression.span) for one in clause.where.terms if one is not term]
        return ((clause.where.span, f"WHERE {' AND '.join(rest)}" if rest else ""),)

    def _and(self, clause: Clause, text: str) -> Change:
        if clause.where is not None:
            before = _operand(self.query.at(clause.where.expression.span))
            return clause.where.span, f"WHERE {before} AND {_operand(text)}"
        end = clause.span[1]
        return (end, end), f" WHERE {text}"

    # Clauses and projections

    def optional(self, clause: Clause) -> Iterator[Edit]:
        if clause.kind != "match":
            return
        start = clause.span[0]
        if clause.optional:
            text = self.query.at(clause.span)
            at = start + text.lower().index("match")
            yield Edit("removed", "OPTIONAL", "a MATCH is OPTIONAL", "without OPTIONAL", (((start, at), ""),))
        elif any(one.optional for one in all_clauses(self.gold.query)):
            yield Edit("added", "OPTIONAL", "a MATCH isn't OPTIONAL", "with OPTIONAL", (((start, start), "OPTIONAL "),))

    def projection(self, projection: Projection) -> Iterator[Edit]:
        golds = [one.projection for one in all_clauses(self.gold.query) if one.projection is not None]
        start = projection.body_span[0]
        if projection.distinct_span is not None:
            yield Edit(
                "removed", "DISTINCT", "DISTINCT drops equal rows", "without it", ((projection.distinct_span, ""),)
            )
        else:
            yield Edit(
                "added", "DISTINCT", "equal rows aren't made one", "with DISTINCT", (((start, start), "DISTINCT "),)
            )
        yield from self._paging(projection, golds)
        yield from self._columns(projection, golds)

    def _paging(self, projection: Projection, golds: Sequence[Projection]) -> Iterator[Edit]:
        if projection.page_span is not None:
            asked = self.query.at(projection.page_span)
            yield Edit("removed", "page", f"{asked} cuts the rows", "without it", ((projection.page_span, ""),))
        pages = _distinct(self.gold.at(one.page_span) for one in golds if one.page_span is not None)
        for page in pages:
            if projection.page_span is not None:
                asked = self.query.at(projection.page_span)
                yield Edit("replaced", "page", f"{asked} was asked", f"with {page}", ((projection.page_span, page),))
            else:
                end = (projection.order_span or projection.body_span)[1]
                yield Edit("added", "page", f"{page} is missing", "with it", (((end, end), f" {page}"),))
        if projection.order_span is not None:
            asked = self.query.at(projection.order_span)
            yield Edit("removed", "order", f"{asked} was asked", "without it", ((projection.order_span, ""),))
        for gold in golds:
            if gold.order_span is None:
                continue
            text = self.gold.at(gold.order_span)
            names = [name for one in gold.order for name in one.expression.names]
            for renamed in self._in_own_names(text, names):
                if projection.order_span is not None:
                    asked = self.query.at(projection.order_span)
                    yield Edit(
                        "replaced",
                        "order",
                        f"{asked} was asked",
                        f"with {renamed}",
                        ((projection.order_span, renamed),),
                    )
                else:
                    end = projection.body_span[1]
                    yield Edit("added", "order", f"{renamed} is missing", "with it", (((end, end), f" {renamed}"),))

    def _columns(self, projection: Projection, golds: Sequence[Projection]) -> Iterator[Edit]:
        items = projection.items
        for item in items:
            asked = self.query.at(item.expression.span)
            wrong = f"the column {asked} was returned"
            same = [item.expression.span]
            same += [one.expression.span for one in projection.order if self.query.at(one.expression.span) == asked]
            for gold in golds:
                for want in gold.items:
                    for text in self._own(want.expression):
                        yield Edit("replaced", "column", wrong, f"with {text}", tuple((span, text) for span in same))
            for text in self._other_columns(item):
                changes = tuple((span, text) for span in same)
                yield Edit("replaced", "column", wrong, f"with {text}", changes, by_gold=False)
            if len(items) > 1:
                rest = ", ".join(self.query.at(one.span) for one in items if one is not item)
                yield Edit(
                    "removed",
                    "column",
                    f"the column {asked} is one too many",
                    "without it",
                    ((projection.body_span, rest),),
                )
        for gold in golds:
            for want in gold.items:
                for text in self._own(want.expression):
                    end = projection.body_span[1]
                    yield Edit(
                        "added", "column", f"the column {text} is missing", "with it", (((end, end), f", {text}"),)
                    )

    def _other_columns(self, item: Item) -> Iterator[str]:
        """The same property of the query's other variables, and its aggregate over distinct values or all."""
        text = self.query.at(item.expression.span)
        own = [name.text for path in self.query.paths() for name in path.variables()]
        variable, dot, name = text.partition(".")
        if dot and name.isidentifier() and variable in own:
            yield from (f"{quoted(one)}.{name}" for one in _distinct(own) if one != variable)
        elif item.variable is not None:
            yield from (quoted(one) for one in _distinct(own) if one != item.variable)
        if item.expression.aggregates and text.endswith(")") and "(" in text:
            function, _, argument = text.partition("(")
            if argument[:9].upper() == "DISTINCT ":
                yield f"{function}({argument[9:]}"
            elif argument != "*)":
                yield f"{function}(DISTINCT {argument}"

    # Names

    def _own(self, expression: Expression) -> Iterator[str]:
        """An expression of gold as this query calls its variables."""
        return self._in_own_names(self.gold.at(expression.span), expression.names)

    def _in_own_names(self, text: str, names: Iterable[str]) -> Iterator[str]:
        """A text of gold with its variables as this query calls them, by each alignment; none if one has no name."""
        needed = set(names) & {*_variables(self.gold), *_aliases(self.gold)}
        seen = set()
        for alignment in self.alignments:
            if needed <= alignment.keys():
                renamed = _renamed_text(text, {name: alignment[name] for name in needed})
                if renamed not in seen:
                    seen.add(renamed)
                    yield renamed


_TURNED = {"->": "<-", "<-": "->"}


def _relation(part: RelationshipPattern) -> str:
    return "|".join(name.text for name in part.types) or "a relation of any type"


def _types(names: Iterable[str]) -> str:
    return ":" + "|".join(map(quoted, names))


def _operand(text: str) -> str:
    """Return a condition as AND may join it: in parentheses if OR would come apart."""
    depth = 0
    for token in tokens(text):
        depth += (token.text in {"(", "[", "{"}) - (token.text in {")", "]", "}"})
        if depth == 0 and token.word in {"or", "xor"}:
            return f"({text})"
    return text


def _terms(clause: Clause) -> tuple[Predicate, ...]:
    return () if clause.where is None else clause.where.terms


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _elements(query: ParsedQuery) -> tuple[list[NodePattern], list[RelationshipPattern]]:
    parts = [part for path in query.paths() for part in path.elements()]
    nodes = [part for part in parts if isinstance(part, NodePattern)]
    return nodes, [part for part in parts if isinstance(part, RelationshipPattern)]


def _variables(query: ParsedQuery) -> list[str]:
    return [name.text for path in query.paths() for name in path.variables()]


def _aliases(query: ParsedQuery) -> list[str]:
    """The names that WITH, RETURN and UNWIND give, each once."""
    found: list[str] = []
    for clause in all_clauses(query.query):
        items = clause.projection.items if clause.projection is not None else ()
        found += [one.text for one in (*(item.alias for item in items), clause.alias) if one is not None]
    return _distinct(found)


def _alignments(query: ParsedQuery, gold: ParsedQuery) -> list[Mapping[str, str]]:
    """Return maps of gold's variables to the query's: by their names, and by the places of their nodes, either way.

    Aliases stand for each other by their names, or by place if there are as many.
    """
    given, wanted = _elements(query), _elements(gold)
    own, aliases = {*_variables(query), *_aliases(query)}, (_aliases(gold), _aliases(query))
    names = {name: name for name in (*_variables(gold), *aliases[0]) if name in own}
    placed = dict(zip(*aliases, strict=True)) if len(aliases[0]) == len(aliases[1]) else {}
    found: list[Mapping[str, str]] = [{**placed, **names}]
    for step in (1, -1):
        pairs = [*_pairs(given[0], wanted[0][::step]), *_pairs(given[1], wanted[1][::step])]
        aligned: dict[str, str] = {}
        for mine, other in pairs:
            if mine.variable is not None and other.variable is not None:
                aligned.setdefault(other.variable.text, mine.variable.text)
        found += [{**placed, **aligned}, {**placed, **aligned, **names}]
    return found


def _pairs(
    ours: Sequence[NodePattern | RelationshipPattern], theirs: Sequence[NodePattern | RelationshipPattern]
) -> Iterator[tuple[NodePattern | RelationshipPattern, NodePattern | RelationshipPattern]]:
    """Yield the elements that stand for each other: by place if there are as many, else by their names."""
    if len(ours) == len(theirs):
        yield from zip(ours, theirs, strict=True)
        return
    matcher = SequenceMatcher(None, [*map(_signature, ours)], [*map(_signature, theirs)], autojunk=False)
    for block in matcher.get_matching_blocks():
        for index in range(block.size):
            yield ours[block.a + index], theirs[block.b + index]


def _signature(part: NodePattern | RelationshipPattern) -> tuple[str, ...]:
    names = part.labels if isinstance(part, NodePattern) else part.types
    return tuple(sorted(name.text for name in names))


def _renamed_text(text: str, names: Mapping[str, str]) -> str:
    """Return a part of a query with its variables renamed; properties, labels, functions and keys of maps stay."""
    found, end, before = [], 0, ""
    read = tokens(text)
    for index, token in enumerate(read):
        after = read[index + 1].text if index + 1 < len(read) else ""
        name = token.text[1:-1].replace("``", "`") if token.kind == "quoted" else token.text
        named = token.kind in ("name", "quoted") and before not in (".", ":") and after not in ("(", ":")
        if named and name in names:
            found += [text[end : token.start], quoted(names[name])]
            end = token.end
        before = token.text
    return "".join([*found, text[end:]])
