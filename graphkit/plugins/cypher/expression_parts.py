"""The literals, comparisons and properties of a query, wherever in it an expression may stand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from graphkit.plugins.cypher.cypher_parser import Token, literal_value, quoted, reserved, tokens
from graphkit.plugins.cypher.cypher_text import (
    GroupPattern,
    LiteralValue,
    Name,
    NodePattern,
    ParsedQuery,
    PathPattern,
    RelationshipPattern,
    Span,
    all_clauses,
)

#: The most values of a list in a parameter that become literals: a longer one is a vector, or ids that a program found.
MOST_LISTED = 50

_COMPARISONS = frozenset({"=", "<>", "!=", "<", ">", "<=", ">=", "=~"})
_BEGINS = frozenset({"starts", "ends"})


@dataclass(frozen=True, slots=True)
class PlacedLiteral:
    """A literal where it stands.

    Attributes
    ----------
    literal
        Its value and span; None as value of a list, too.
    kind
        ``"text"``, ``"number"``, ``"truth"`` or ``"null"``; ``"list"`` if it is a list of these.
    key
        The property that it is compared with, or whose value a map or pattern states; None if none is known.
    listed
        The values of the list that it stands in; None outside a list.
    """

    literal: LiteralValue
    kind: Literal["text", "number", "truth", "null", "list"]
    key: str | None = None
    listed: tuple[object, ...] | None = None


def placed_literals(query: ParsedQuery) -> list[PlacedLiteral]:
    """Return the literals of a query in order, those of a list before the list itself.

    Numbers of lengths (``*1..3``), SKIP and LIMIT are left out: these are no values of an expression.

    >>> from graphkit.plugins.cypher.cypher_text import parsed
    >>> text = "MATCH (a {id: 'x'}) WHERE a.size IN [-1, 2] AND size(a.names) > 3 RETURN toLower('Y') LIMIT 4"
    >>> [one.literal.value for one in placed_literals(parsed(text))]
    ['x', -1, 2, None, 3, 'Y']
    >>> [one.key for one in placed_literals(parsed(text))]
    ['id', 'size', 'size', 'size', None, None]
    """
    return [*_Read(query).literals()]


def comparisons(query: ParsedQuery) -> list[Name]:
    """Return the comparing operators of a query in order, in capitals and without further blanks: ``STARTS WITH``."""
    return [*_Read(query).comparisons()]


def properties(query: ParsedQuery) -> list[Name]:
    """Return the properties that expressions take of a pattern's variable, in order; those of maps aren't known."""
    return [*_Read(query).properties()]


def compared_properties(query: ParsedQuery) -> list[Name]:
    """Return the properties that conditions take of a pattern's variable, in order."""
    return within(properties(query), [where.span for where in query.wheres()])


def within(names: Iterable[Name], spans: Sequence[Span]) -> list[Name]:
    """Return the names that stand in one of some spans."""
    return [one for one in names if any(start <= one.span[0] < end for start, end in spans)]


class _Read:
    """The tokens of a query that may be parts of its expressions."""

    def __init__(self, query: ParsedQuery) -> None:
        self.query = query
        paths = [*query.paths()]
        relationships = [one for path in paths for one in path.elements() if isinstance(one, RelationshipPattern)]
        self.tokens: list[Token] = [*_outside(tokens(query.text), [*_no_values(query, paths)])]
        self.relationships = [one.span for one in relationships]
        self.named = {path.variable.span[1] for path in paths if path.variable is not None}
        self.variables = {name.text for path in paths for name in path.variables()}

    def text(self, at: int) -> str:
        """The token at a place as it is compared: names in lower case, and empty outside the query."""
        if not 0 <= at < len(self.tokens):
            return ""
        return self.tokens[at].word or self.tokens[at].text

    def literals(self) -> Iterator[PlacedLiteral]:
        at = 0
        while at < len(self.tokens):
            if (listed := self.list_at(at)) is not None:
                inside, end = listed
                key, values = self.key(at, end), tuple(one.literal.value for one in inside)
                for one in inside:
                    yield PlacedLiteral(one.literal, one.kind, key, values)
                span = self.tokens[at].start, self.tokens[end - 1].end
                yield PlacedLiteral(LiteralValue(None, span), "list", key)
                at = end
            elif (found := self.literal_at(at)) is not None:
                literal, end = found
                yield PlacedLiteral(literal, _kind(literal.value), self.key(at, end))
                at = end
            else:
                at += 1

    def literal_at(self, at: int) -> tuple[LiteralValue, int] | None:
        """The literal that begins at a place, and the place after it."""
        before = self.text(at - 1)
        if self.text(at) == "-":
            operand = at > 0 and (before in {")", "]", "}"} or self.tokens[at - 1].kind not in {"sign", "name"})
            if operand or (at > 0 and self.tokens[at - 1].kind == "name" and not reserved(before)):
                return None  # a subtraction
            end = at + 2
        elif self.text(at) == "null" and (before == "is" or (before == "not" and self.text(at - 2) == "is")):
            return None
        else:
            end = at + 1
        if before == "." or self.text(end) in {".", "("} or self.text(end) == ":":
            return None  # a name
        literal = literal_value(self.tokens[at:end])
        return None if literal is None else (literal, end)

    def list_at(self, at: int) -> tuple[list[PlacedLiteral], int] | None:
        """The literals of a list that begins at a place and has nothing else, and the place after it."""
        if self.text(at) != "[" or self._drawn(self.tokens[at].start):
            return None
        before = self.text(at - 1)
        if before in {")", "]", "}"} or (
            at > 0 and self.tokens[at - 1].kind in {"name", "quoted"} and not reserved(before)
        ):
            return None  # an index
        found: list[PlacedLiteral] = []
        at += 1
        while (one := self.literal_at(at)) is not None:
            found.append(PlacedLiteral(one[0], _kind(one[0].value)))
            at = one[1]
            if self.text(at) != ",":
                break
            at += 1
        return (found, at + 1) if self.text(at) == "]" else None

    def key(self, first: int, end: int) -> str | None:
        """The property of what stands from a place to another: that of a map's key, or of the other side."""
        if self.text(first - 1) == ":" and self.text(first - 3) in {"{", ","} and self._named(first - 2):
            return self._name(first - 2).text
        if (left := self._operator_before(first)) is not None and self._is_property(left - 1):
            return self._name(left - 1).text
        right = self._operator_at(end)
        if right is None or not (
            self._named(right[1]) and self.text(right[1] + 1) == "." and self._named(right[1] + 2)
        ):
            return None
        return None if self.text(right[1] + 3) in {".", "("} else self._name(right[1] + 2).text

    def comparisons(self) -> Iterator[Name]:
        for at, token in enumerate(self.tokens):
            found = self._operator_at(at)
            if found is None or self._drawn(token.start) or self._declares(at, found[0]):
                continue
            yield Name(found[0], (token.start, self.tokens[found[1] - 1].end))

    def _declares(self, at: int, operator: str) -> bool:
        """Whether a sign or word declares a variable: ``p = (a)-->(b)``, ``[x IN xs | x]``, ``any(x IN xs ...)``."""
        if operator == "=":
            return at > 0 and self.tokens[at - 1].end in self.named
        called = self.text(at - 2) == "(" and self._named(at - 3) and not reserved(self.text(at - 3))
        return operator == "IN" and (self.text(at - 2) == "[" or called)

    def properties(self) -> Iterator[Name]:
        for at in range(len(self.tokens)):
            if self._is_property(at) and self.text(at + 1) != "(" and self._name(at - 2).text in self.variables:
                yield self._name(at)

    def _is_property(self, at: int) -> bool:
        """Whether ``variable.property`` ends at a place."""
        return self._named(at) and self.text(at - 1) == "." and self._named(at - 2) and self.text(at - 3) != "."

    def _operator_at(self, at: int) -> tuple[str, int] | None:
        """The comparing operator that begins at a place, and the place after it."""
        text = self.text(at)
        if text in _COMPARISONS and self.tokens[at].kind == "sign":
            return text, at + 1
        if self.text(at - 1) in {".", ":"} or at >= len(self.tokens) or self.tokens[at].kind != "name":
            return None
        if text in _BEGINS and self.text(at + 1) == "with":
            return f"{text.upper()} WITH", at + 2
        return (text.upper(), at + 1) if text in {"contains", "in"} else None

    def _operator_before(self, at: int) -> int | None:
        """The place of the comparing operator that ends before a place."""
        return next((one for one in (at - 1, at - 2) if (found := self._operator_at(one)) and found[1] == at), None)

    def _drawn(self, offset: int) -> bool:
        """Whether a sign draws a relationship: its arrow heads and brackets."""
        for start, end in self.relationships:
            if start <= offset < end:
                text = self.query.text
                opened, closed = text.find("[", start, end), text.rfind("]", start, end)
                return opened < 0 or offset <= opened or offset >= closed
        return False

    def _named(self, at: int) -> bool:
        return 0 <= at < len(self.tokens) and self.tokens[at].kind in {"name", "quoted"}

    def _name(self, at: int) -> Name:
        token = self.tokens[at]
        text = token.text[1:-1].replace("``", "`") if token.kind == "quoted" else token.text
        return Name(text, (token.start, token.end))


def _no_values(query: ParsedQuery, paths: Sequence[PathPattern]) -> Iterator[Span]:
    """Yield the places whose numbers are no values: options, lengths, SKIP and LIMIT."""
    if query.options_span is not None:
        yield query.options_span
    parts = [part for path in paths for part in path.parts]
    while parts:
        part = parts.pop()
        if isinstance(part, GroupPattern):
            parts += part.path.parts
        if not isinstance(part, NodePattern) and part.length is not None:
            yield part.length.span
    for clause in all_clauses(query.query):
        if clause.projection is not None and clause.projection.page_span is not None:
            yield clause.projection.page_span


def _outside(read: Sequence[Token], spans: Sequence[Span]) -> Iterator[Token]:
    return (one for one in read if not any(start <= one.start < end for start, end in spans))


def _kind(value: object) -> Literal["text", "number", "truth", "null"]:
    if value is None:
        return "null"
    return "truth" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"


def written(value: Any) -> str | None:
    r"""Return a value as a literal of Cypher; None if it has none that could be read as one.

    >>> print(written("it's"), written([1, None, True]), written(float("nan")))
    'it\'s' [1, null, true] None
    """
    if value is None:
        return "null"
    if isinstance(value, str):
        return written_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float) and math.isfinite(value):
        return str(value)
    if isinstance(value, list | tuple) and len(value) <= MOST_LISTED:
        texts = [written(one) for one in value]
        return None if None in texts else f"[{', '.join(map(str, texts))}]"
    if isinstance(value, Mapping) and len(value) <= MOST_LISTED:
        pairs = [(str(key), written(one)) for key, one in value.items()]
        return (
            None
            if any(text is None for _, text in pairs)
            else f"{{{', '.join(f'{quoted(a)}: {b}' for a, b in pairs)}}}"
        )
    return None


def written_text(text: str) -> str:
    r"""Return a text as a literal of Cypher.

    >>> print(written_text("it's"))
    'it\'s'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


def with_values(text: str, parameters: Mapping[str, Any]) -> str:
    r"""Return a query with the values of its parameters in their places.

    An edit can then replace a value, and a sentence names it. Lists and maps of more than 50 values stay parameters.

    >>> with_values("MATCH (n {id: $id}) WHERE n.line > $`a b` RETURN n LIMIT $most", {"id": "it's", "a b": -1})
    "MATCH (n {id: 'it\\'s'}) WHERE n.line > -1 RETURN n LIMIT $most"
    >>> with_values("UNWIND $ids AS id RETURN id", {"ids": ["a", 2]})
    "UNWIND ['a', 2] AS id RETURN id"
    >>> with_values("RETURN $row.id, $row", {"row": {"id": "a"}})
    "RETURN 'a', {id: 'a'}"
    """
    found, end, read = [], 0, tokens(text)
    for at, token in enumerate(read):
        name = token.text[1:].strip("`").replace("``", "`")
        if token.kind != "parameter" or name not in parameters:
            continue
        value, last = parameters[name], token
        after = [one.text for one in read[at + 1 : at + 4]]
        if isinstance(value, Mapping) and after[:1] == ["."] and after[1:2] and after[2:3] not in (["."], ["("]):
            value, last = value.get(after[1].strip("`").replace("``", "`")), read[at + 2]
        if (literal := written(value)) is not None:
            found += [text[end : token.start], parted(text[: token.start], literal)]
            end = last.end
    return "".join([*found, text[end:]])


def parted(before: str, literal: str) -> str:
    """Return a literal as it may follow a text: two minus signs would be a relationship."""
    return f" {literal}" if literal.startswith("-") and before.endswith("-") else literal
