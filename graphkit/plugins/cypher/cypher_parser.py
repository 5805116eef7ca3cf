"""Read Cypher: tokens, then clauses, patterns and projections by recursive descent.

Expressions are read as far as rows and walks depend on them: their variables, aggregates, literals and the patterns
within. Whether the rest of an expression is valid, the database says.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

from graphkit.plugins.cypher.cypher_text import (
    NO_CLAUSE,
    Branch,
    Clause,
    ClauseKind,
    CypherSyntaxError,
    Expression,
    GroupPattern,
    Item,
    Length,
    LiteralValue,
    Name,
    NodePattern,
    ParsedQuery,
    PathPattern,
    PatternPart,
    Predicate,
    Projection,
    Property,
    QueryTree,
    RelationshipPattern,
    Sort,
    Span,
    Subpattern,
    Where,
)

#: The most digits of a whole number, as many as one of 64 bits has.
_DIGITS = 19
#: The deepest nesting of brackets that is read; a generated query has three or four.
DEEPEST = 60

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<quoted>`(?:[^`]|``)*`)
    |(?P<parameter>\$(?:[^\W\d]\w*|\d+|`(?:[^`]|``)*`))
    |(?P<number>0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|(?:\d[\d_]*(?:\.\d[\d_]*)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<name>[^\W\d]\w*)
    |(?P<sign>\.\.|<=|>=|<>|=~|\+=|\|\||::|!=|[-+*/%^=<>()\[\]{},.:;|&!?$])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\u+([0-9a-fA-F]{4})")
_CLOSING = {")": "(", "]": "[", "}": "{"}
#: Functions that make one value of many rows.
AGGREGATES = frozenset(
    {
        "count",
        "sum",
        "avg",
        "min",
        "max",
        "collect",
        "stdev",
        "stdevp",
        "stddev_samp",
        "stddev_pop",
        "percentilecont",
        "percentiledisc",
        "percentile_cont",
        "percentile_disc",
        "collect_list",
    }
)
#: Words of expressions, which are no variables.
EXPRESSION_WORDS = frozenset(
    [
        "and",
        "or",
        "xor",
        "not",
        "in",
        "is",
        "null",
        "true",
        "false",
        "starts",
        "ends",
        "with",
        "contains",
        "case",
        "when",
        "then",
        "else",
        "end",
        "as",
        "distinct",
        "asc",
        "ascending",
        "desc",
        "descending",
        "where",
        "nan",
        "inf",
        "infinity",
        "typed",
        "normalized",
        "yield",
    ]
)
#: Words after which a name is no beginning of a clause.
_BEFORE_NAMES = frozenset(
    [
        "as",
        "distinct",
        "by",
        "where",
        "return",
        "with",
        "skip",
        "offset",
        "limit",
        "unwind",
        "and",
        "or",
        "xor",
        "not",
        "in",
        "starts",
        "ends",
        "contains",
        "call",
        "yield",
        "case",
        "when",
        "then",
        "else",
        "match",
        "optional",
        "detach",
        "nodetach",
    ]
)
_WRITES = frozenset(
    [
        "create",
        "merge",
        "set",
        "delete",
        "remove",
        "foreach",
        "insert",
        "drop",
        "alter",
        "grant",
        "deny",
        "revoke",
        "start",
        "stop",
    ]
)
_STARTS = _WRITES | frozenset(
    [
        "match",
        "optional",
        "with",
        "return",
        "unwind",
        "call",
        "union",
        "use",
        "load",
        "finish",
        "detach",
        "nodetach",
        "filter",
        "let",
        "for",
        "next",
    ]
)
#: Functions with a variable of their own, as in any(x IN xs WHERE ...).
LOCAL_FUNCTIONS = frozenset({"any", "all", "none", "single", "reduce", "filter", "extract", "allreduce"})
_SHORTEST = frozenset({"shortestpath", "allshortestpaths"})


@dataclass(frozen=True, slots=True)
class Token:
    """A token; ``word`` is a bare name in lower case, else ``""``."""

    kind: str
    text: str
    start: int
    end: int
    word: str = ""


def place(text: str, offset: int) -> tuple[int, int]:
    """Return the line and column of an offset, both from 1."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def parse(text: str) -> ParsedQuery:
    """Read a query; see ``parsed``."""
    text = _unescaped(text)
    return _Parser(text).whole()


def _unescaped(text: str) -> str:
    r"""Replace ``\u0041`` outside texts and backquotes, as Neo4j 5 does before it reads a query."""
    if "\\u" not in text:
        return text
    parts, end = [], 0
    while end < len(text):
        found = _TOKEN.match(text, end)
        if found is not None:
            parts.append(found.group())
            end = found.end()
            continue
        escape = _ESCAPE.match(text, end)
        if escape is None:
            parts.append(text[end])
            end += 1
            continue
        char = chr(int(escape.group(1), 16))
        if not (char.isalnum() or char in " _()[]{}<>-,.:|=*$"):
            raise CypherSyntaxError("an escape stands for a sign that changes where a text ends", *place(text, end))
        parts.append(char)
        end = escape.end()
    return "".join(parts)


def tokens(text: str) -> list[Token]:
    """Split a query into tokens, without blanks and comments."""
    found, end = [], 0
    while end < len(text):
        match = _TOKEN.match(text, end)
        if match is None:
            what = {"'": "a text", '"': "a text", "`": "a backquoted name"}.get(text[end])
            message = f"{what} doesn't end" if what else f"unexpected {text[end]!r}"
            if text.startswith("/*", end):
                message = "a comment doesn't end"
            raise CypherSyntaxError(message, *place(text, end))
        kind = str(match.lastgroup)
        if kind == "sign" and text.startswith("/*", end):
            raise CypherSyntaxError("a comment doesn't end", *place(text, end))
        if kind != "space":
            word = match.group().lower() if kind == "name" else ""
            found.append(Token(kind, match.group(), match.start(), match.end(), word))
        end = match.end()
    return found


def literal_value(read: Sequence[Token]) -> LiteralValue | None:
    """Read tokens that are a text, a number, a truth value or null; None if they are anything else."""
    negative = len(read) == 2 and read[0].text == "-"
    if len(read) != 1 + negative:
        return None
    token, span = read[-1], (read[0].start, read[-1].end)
    if token.kind == "number":
        text = token.text.replace("_", "")
        try:
            number = int(text, 0) if re.match(r"0[xXoO]", text) else int(text) if text.isdigit() else float(text)
        except ValueError:
            return None
        return LiteralValue(-number if negative else number, span)
    if negative:
        return None
    if token.kind == "text":
        return LiteralValue(unescaped_text(token.text), span)
    words: dict[str, bool | None] = {"true": True, "false": False, "null": None}
    return LiteralValue(words[token.word], span) if token.word in words else None


class _Parser:
    """Reads a text by positions in its tokens. Each method takes the first position and the one after the last."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.pairs = self._paired()
        # A range may be read more than once, as a whole and by its terms; what is nested in it is read once.
        self._subpatterns: dict[int, tuple[Subpattern, int] | None] = {}
        self._patterns: dict[int, tuple[PathPattern, int] | None] = {}

    # Tokens

    def _paired(self) -> dict[int, int]:
        """Return the position of each closing bracket by that of its opening one."""
        pairs: dict[int, int] = {}
        opened: list[int] = []
        for position, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            if token.text in "([{":
                opened.append(position)
                if len(opened) > DEEPEST:
                    self.fail(position, f"brackets are nested more than {DEEPEST} deep")
            elif token.text in _CLOSING:
                if not opened or self.tokens[opened[-1]].text != _CLOSING[token.text]:
                    self.fail(position, f"{token.text!r} closes nothing")
                pairs[opened.pop()] = position
        if opened:
            self.fail(opened[-1], f"{self.tokens[opened[-1]].text!r} isn't closed")
        return pairs

    def failure(self, position: int, message: str) -> CypherSyntaxError:
        offset = self.tokens[position].start if position < len(self.tokens) else len(self.text)
        return CypherSyntaxError(message, *place(self.text, offset))

    def fail(self, position: int, message: str) -> NoReturn:
        raise self.failure(position, message)

    def expected(self, position: int, what: str) -> NoReturn:
        found = repr(self.tokens[position].text) if position < len(self.tokens) else "the end"
        self.fail(position, f"expected {what}, found {found}")

    def sign(self, position: int, *texts: str) -> bool:
        """Whether these signs follow each other from a position."""
        return all(
            position + index < len(self.tokens)
            and self.tokens[position + index].kind == "sign"
            and self.tokens[position + index].text == text
            for index, text in enumerate(texts)
        )

    def word(self, position: int, *words: str) -> bool:
        """Whether one of these words stands at a position."""
        return position < len(self.tokens) and self.tokens[position].word in words and bool(words)

    def named(self, position: int) -> bool:
        return position < len(self.tokens) and self.tokens[position].kind in {"name", "quoted"}

    def name(self, position: int, what: str = "a name") -> Name:
        if not self.named(position):
            self.expected(position, what)
        token = self.tokens[position]
        text = token.text[1:-1].replace("``", "`") if token.kind == "quoted" else token.text
        return Name(text, (token.start, token.end))

    def span(self, first: int, end: int) -> Span:
        """The span of the tokens from ``first`` to before ``end``."""
        if end <= first:
            start = self.tokens[first].start if first < len(self.tokens) else len(self.text)
            return start, start
        return self.tokens[first].start, self.tokens[end - 1].end

    def after(self, position: int) -> int:
        """The position after a token, or after the bracket that it opens."""
        return self.pairs.get(position, position) + 1

    def outer(self, first: int, end: int) -> Iterator[int]:
        """The positions outside inner brackets, at opening brackets too."""
        position = first
        while position < end:
            yield position
            position = self.after(position)

    def split(self, first: int, end: int, at: Callable[[int], bool]) -> list[tuple[int, int]]:
        """Split a range at positions outside inner brackets."""
        parts, begin = [], first
        for position in self.outer(first, end):
            if at(position):
                parts.append((begin, position))
                begin = position + 1
        return [*parts, (begin, end)]

    def commas(self, first: int, end: int) -> list[tuple[int, int]]:
        return self.split(first, end, lambda position: self.sign(position, ","))

    # Clauses

    def whole(self) -> ParsedQuery:
        end = len(self.tokens)
        while end and self.sign(end - 1, ";"):
            end -= 1
        for position in range(end):
            if self.sign(position, ";"):
                self.fail(position, "several statements: graphkit reads one")
        if not end:
            self.fail(0, "the query is empty")
        first, mode = 0, None
        options: Span | None = None
        while self.word(first, "explain", "profile", "cypher") and not self.sign(first + 1, "."):
            begin = first
            if self.tokens[first].word == "cypher":
                first += 1
                while first < end and not self.word(first, *_STARTS, "explain", "profile"):
                    first += 1
                options = self.span(begin, first)
            else:
                mode = self.tokens[first].word
                first += 1
        query = self.query(first, end)
        words = frozenset(
            self.name(position).text.lower() for position in range(len(self.tokens)) if self.named(position)
        )
        mode_: Literal["explain", "profile"] | None = (
            "explain" if mode == "explain" else "profile" if mode == "profile" else None
        )
        return ParsedQuery(self.text, query, mode_, options, words)

    def query(self, first: int, end: int) -> QueryTree:
        starts = [position for position in self.outer(first, end) if self.starts_clause(position, first)]
        if not starts or starts[0] != first:
            self.expected(first, "a clause, such as MATCH")
        unions = [position for position in starts if self.tokens[position].word == "union"]
        branches, begin, kinds = [], first, []
        for union in [*unions, end]:
            inside = [position for position in starts if begin <= position < union]
            if not inside:
                self.expected(begin, "a clause, such as MATCH")
            if inside[0] != begin:
                self.expected(begin, "a clause, such as MATCH")
            clauses = [self.clause(one, stop) for one, stop in zip(inside, [*inside[1:], union], strict=True)]
            branches.append(Branch(self.span(begin, union), tuple(clauses)))
            if union < end:
                every = self.word(union + 1, "all")
                kinds.append(every)
                begin = union + (2 if every or self.word(union + 1, "distinct") else 1)
        if len(set(kinds)) > 1:
            self.fail(unions[-1], "UNION and UNION ALL are mixed")
        return QueryTree(self.span(first, end), tuple(branches), bool(kinds) and kinds[0])

    def starts_clause(self, position: int, first: int) -> bool:
        """Whether a clause begins at a position; a name that reads like a word of Cypher doesn't."""
        word = self.tokens[position].word
        if word not in _STARTS:
            return False
        if position == first:
            return True
        before = self.tokens[position - 1]
        if before.word in {"union", "all", "distinct"} and self._after_union(position):
            return True
        if before.kind == "sign" and before.text not in {")", "]", "}", "*"}:
            return False
        if before.text == "*" and not self.word(position - 2, "return", "with", "distinct", "yield"):
            return False
        named_as = self.word(position - 2, "as") and position - 2 > first  # AS as: a name that reads like a word
        if before.word in _BEFORE_NAMES and not (before.word in {"return", "finish"} and word == "union"):
            return named_as
        if before.word in {"optional", "detach", "nodetach", "on"}:
            return False
        if word in {"filter", "let", "for", "next", "start", "stop", "insert", "drop", "alter"}:
            # Words of newer dialects, which were names before: only what can't be one is a clause.
            return self.named(position + 1) and before.word not in EXPRESSION_WORDS
        return True

    def _after_union(self, position: int) -> bool:
        return self.word(position - 1, "union") or self.word(position - 2, "union")

    def clause(self, first: int, end: int) -> Clause:
        word = self.tokens[first].word
        span = self.span(first, end)
        if word in _WRITES or word in {"detach", "nodetach"}:
            return Clause("write", span)
        if word == "optional":
            if not self.word(first + 1, "match", "call"):
                self.expected(first + 1, "MATCH")
            return replace(self.clause(first + 1, end), span=span, optional=True)
        reads: dict[str, Callable[[int, int], Clause]] = {
            "match": self.match,
            "with": self.projecting,
            "return": self.projecting,
            "unwind": self.unwind,
            "call": self.call,
        }
        if word in reads:
            return reads[word](first, end)
        if word in {"use", "load", "finish"}:
            kinds: dict[str, ClauseKind] = {"use": "use", "load": "load", "finish": "finish"}
            return Clause(kinds[word], span)
        raise self.failure(first, f"{self.tokens[first].text} {NO_CLAUSE}")

    def match(self, first: int, end: int) -> Clause:
        where = self.find(first + 1, end, "where")
        stop = end if where is None else where
        hints = next(
            (
                position
                for position in self.outer(first + 1, stop)
                if self.word(position, "using", "search") and self.named(position + 1)
            ),
            None,
        )
        body = stop if hints is None else hints
        begin = first + 1
        while self.word(begin, "repeatable", "different"):
            begin += 2
        patterns = tuple(self.path(one, last) for one, last in self.commas(begin, body))
        return Clause(
            "match",
            self.span(first, end),
            patterns=patterns,
            hints_span=None if hints is None else self.span(hints, stop),
            where=None if where is None else self.where(where, end),
        )

    def find(self, first: int, end: int, *words: str) -> int | None:
        """The position of a word outside inner brackets, which no dot or colon precedes."""
        for position in self.outer(first, end):
            if self.word(position, *words) and not (
                self.sign(position - 1, ".") or self.sign(position - 1, ":") or self.word(position - 1, "as")
            ):
                return position
        return None

    def where(self, first: int, end: int) -> Where:
        if first + 1 >= end:
            self.expected(first + 1, "a predicate")
        return Where(self.span(first, end), self.expression(first + 1, end), self.terms(first + 1, end))

    def terms(self, first: int, end: int) -> tuple[Predicate, ...]:
        """Split a predicate at AND; one with OR or XOR at the same depth is a single term."""
        depth = 0  # of CASE ... END
        cuts: list[int] = []
        for position in self.outer(first, end):
            word = self.tokens[position].word
            depth += (word == "case") - (word == "end" and depth > 0)
            if depth == 0 and word in {"or", "xor"} and not self.sign(position - 1, "."):
                cuts = []
                break
            if depth == 0 and word == "and" and not self.sign(position - 1, "."):
                cuts.append(position)
        found: list[Predicate] = []
        for begin, stop in zip([first, *(cut + 1 for cut in cuts)], [*cuts, end], strict=True):
            if begin >= stop:
                self.expected(begin, "a predicate")
            if stop - begin > 2 and self.sign(begin, "(") and self.after(begin) == stop:
                inner = self.terms(begin + 1, stop - 1)
                if len(inner) > 1:
                    found += inner
                    continue
            found.append(Predicate(self.expression(begin, stop), negated=self.word(begin, "not")))
        return tuple(found)

    def literal(self, first: int, end: int) -> LiteralValue | None:
        return literal_value(self.tokens[first:end])

    def projecting(self, first: int, end: int) -> Clause:
        where = self.find(first + 1, end, "where") if self.word(first, "with") else None
        stop = end if where is None else where
        kind: ClauseKind = "with" if self.word(first, "with") else "return"
        return Clause(
            kind,
            self.span(first, end),
            projection=self.projection(first + 1, stop),
            where=None if where is None else self.where(where, end),
        )

    def projection(self, first: int, end: int) -> Projection:
        distinct = first if self.word(first, "distinct") and not self.sign(first + 1, ".") else None
        begin = first if distinct is None else first + 1
        if self.word(begin, "all") and begin + 1 < end and not (self.sign(begin + 1, ".") or self.sign(begin + 1, "(")):
            begin += 1
        order = next(
            (
                position
                for position in self.outer(begin, end)
                if self.word(position, "order") and self.word(position + 1, "by") and not self.sign(position - 1, ".")
            ),
            None,
        )
        page = self._page(begin if order is None else order + 2, end)
        stop = min(one for one in (order, page, end) if one is not None)
        if stop <= begin:
            self.expected(begin, "a column")
        star = begin if self.sign(begin, "*") else None
        items_from = begin if star is None else begin + 2
        if star is not None and stop > begin + 1 and not self.sign(begin + 1, ","):
            self.expected(begin + 1, "a comma")
        items = tuple(self.item(one, last) for one, last in self.commas(items_from, stop)) if items_from < stop else ()
        sorts: tuple[Sort, ...] = ()
        if order is not None:
            sorts = tuple(self.sort(one, last) for one, last in self.commas(order + 2, end if page is None else page))
        skip, limit = self._paging(page, end)
        return Projection(
            items,
            self.span(begin, stop),
            None if distinct is None else self.span(distinct, distinct + 1),
            None if star is None else self.span(star, star + 1),
            sorts,
            None if order is None else self.span(order, end if page is None else page),
            None if page is None else self.span(page, end),
            skip,
            limit,
        )

    def _page(self, first: int, end: int) -> int | None:
        for position in self.outer(first, end):
            if not self.word(position, "skip", "offset", "limit") or position + 1 >= end or position == first:
                continue
            before = self.tokens[position - 1]
            sign_before = before.kind == "sign" and before.text not in {")", "]", "}", "*"}
            named = before.word not in _BEFORE_NAMES or self.word(position - 2, "as")  # AS limit LIMIT 2
            if not sign_before and named and not self.sign(position + 1, "."):
                return position
        return None

    def _paging(self, page: int | None, end: int) -> tuple[Expression | None, Expression | None]:
        skip = limit = None
        position = page
        while position is not None and position < end:
            words = ("limit",) if self.word(position, "skip", "offset") else ("skip", "offset")
            following = self.find(position + 2, end, *words)
            expression = self.expression(position + 1, end if following is None else following)
            if self.word(position, "limit"):
                limit = expression
            else:
                skip = expression
            position = following
        return skip, limit

    def item(self, first: int, end: int) -> Item:
        if first >= end:
            self.expected(first, "a column")
        alias = None
        last = end
        if end - first > 2 and self.word(end - 2, "as") and self.named(end - 1):
            alias, last = self.name(end - 1), end - 2
        expression = self.expression(first, last)
        variable = self.name(first).text if last - first == 1 and self._is_variable(first) else None
        name = (
            alias.text
            if alias is not None
            else variable
            if variable is not None
            else self.text[slice(*expression.span)]
        )
        return Item(self.span(first, end), expression, name, alias, variable)

    def _is_variable(self, position: int) -> bool:
        return self.named(position) and self.tokens[position].word not in {"null", "true", "false", "nan", "inf"}

    def sort(self, first: int, end: int) -> Sort:
        if first >= end:
            self.expected(first, "what to order by")
        descending = self.word(end - 1, "desc", "descending") and end - first > 1
        last = end - 1 if descending or (self.word(end - 1, "asc", "ascending") and end - first > 1) else end
        return Sort(self.span(first, end), self.expression(first, last), descending)

    def unwind(self, first: int, end: int) -> Clause:
        if end - first < 4 or not self.word(end - 2, "as"):
            self.expected(end, "AS and a name")
        return Clause(
            "unwind",
            self.span(first, end),
            expressions=(self.expression(first + 1, end - 2),),
            alias=self.name(end - 1),
        )

    def call(self, first: int, end: int) -> Clause:
        position = first + 1
        imports: tuple[str, ...] | None = None
        if self.sign(position, "("):
            close = self.pairs[position]
            inside = self.commas(position + 1, close) if close > position + 1 else []
            imports = tuple("*" if self.sign(one, "*") else self.name(one).text for one, _ in inside)
            position = close + 1
        if self.sign(position, "{"):
            close = self.pairs[position]
            query = self.query(position + 1, close)
            if close + 1 < end and not self.word(close + 1, "in"):
                self.expected(close + 1, "a clause")
            return Clause(
                "call query",
                self.span(first, end),
                query=query,
                imports=imports,
                transactions=close + 1 < end,
            )
        return self.procedure(first, position, end)

    def procedure(self, first: int, position: int, end: int) -> Clause:
        begin = position
        self.name(position, "the name of a procedure")
        position += 1
        while self.sign(position, ".") and self.named(position + 1):
            position += 2
        procedure = "".join(
            self.name(at).text if self.named(at) else self.tokens[at].text for at in range(begin, position)
        )
        arguments: tuple[Expression, ...] = ()
        if self.sign(position, "("):
            close = self.pairs[position]
            if close > position + 1:
                arguments = tuple(self.expression(one, last) for one, last in self.commas(position + 1, close))
            position = close + 1
        projection = where = None
        if self.word(position, "yield"):
            at = self.find(position + 1, end, "where")
            stop = end if at is None else at
            projection = self.projection(position + 1, stop)
            where = None if at is None else self.where(at, end)
            position = end
        if position < end:
            self.expected(position, "YIELD or a clause")
        return Clause(
            "call procedure",
            self.span(first, end),
            projection=projection,
            where=where,
            expressions=arguments,
            procedure=procedure.lower(),
        )

    # Patterns

    def path(self, first: int, end: int) -> PathPattern:
        """Read a path pattern that fills a range."""
        path, stop = self.path_from(first, end)
        if stop != end:
            self.expected(stop, "the end of the pattern")
        return path

    def path_from(self, first: int, end: int) -> tuple[PathPattern, int]:
        """Read a path pattern from a position on, and return the position after it."""
        position, variable = first, None
        if self.named(position) and self.sign(position + 1, "="):
            variable, position = self.name(position), position + 2
        selector = None
        if self.word(position, *_SHORTEST) and self.sign(position + 1, "("):
            selector = self.tokens[position].text
            close = self.pairs[position + 1]
            inner = self.path(position + 2, close)
            return PathPattern(self.span(first, close + 1), inner.parts, variable, selector), close + 1
        begin = position
        while position < end and (
            self.word(
                position, "any", "all", "shortest", "path", "paths", "group", "groups", "walk", "trail", "acyclic"
            )
            or (position > begin and self.tokens[position].kind in {"number", "parameter"})
        ):
            position += 1
        if position > begin:
            selector = self.text[slice(*self.span(begin, position))]
        parts: list[PatternPart] = []
        part, position = self.node_or_group(position, end)
        parts.append(part)
        while position < end:
            if (relation := self.relationship(position, end)) is not None:
                parts.append(relation[0])
                position = relation[1]
                if not self.sign(position, "("):
                    self.expected(position, "a node")
                part, position = self.node_or_group(position, end)
            elif self.sign(position, "(") and (isinstance(parts[-1], GroupPattern) or self.is_group(position)):
                part, position = self.node_or_group(position, end)
            else:
                break
            parts.append(part)
        return PathPattern(self.span(first, position), tuple(parts), variable, selector), position

    def is_group(self, position: int) -> bool:
        """Whether parentheses hold a path pattern, not a node."""
        return self.sign(position, "(", "(") or (
            self.sign(position, "(") and self.named(position + 1) and self.sign(position + 2, "=", "(")
        )

    def node_or_group(self, first: int, end: int) -> tuple[PatternPart, int]:
        if first >= end or not self.sign(first, "("):
            self.expected(first, "a node in parentheses")
        close = self.pairs[first]
        if not self.is_group(first):
            return self.node(first, close), close + 1
        path, stop = self.path_from(first + 1, close)
        where = None
        if stop < close:
            if not self.word(stop, "where"):
                self.expected(stop, "the end of the pattern")
            where = self.expression(stop + 1, close)
        length, after = self.quantifier(close + 1)
        return GroupPattern(self.span(first, after), path, where, length), after

    def node(self, first: int, close: int) -> NodePattern:
        node, position = NodePattern(self.span(first, close + 1)), first + 1
        if self.named(position) and not (
            self.word(position, "where", "is") and position + 1 < close and not self.sign(position + 1, ":")
        ):
            node, position = replace(node, variable=self.name(position)), position + 1
        labels, labels_span, position = self.labels(position, close)
        properties, properties_span, position = self.properties(position, close)
        where = None
        if self.word(position, "where") and position < close:
            where, position = self.expression(position + 1, close), close
        if position != close:
            self.expected(position, "')'")
        return replace(
            node,
            labels=labels,
            labels_span=labels_span,
            properties=properties,
            properties_span=properties_span,
            where=where,
        )

    def labels(self, first: int, end: int) -> tuple[tuple[Name, ...], Span | None, int]:
        """Read a label expression, of types too; an empty one if there is none."""
        if not (self.sign(first, ":") or self.word(first, "is")) or first >= end:
            return (), None, first
        names = []
        position, wanted = first + 1, True
        while position < end:
            if self.sign(position, "$") or self.tokens[position].kind == "parameter" or self.sign(position, "%"):
                position, wanted = position + 1, False
            elif self.sign(position, "("):
                inner, _, _ = self._labels_within(position + 1, self.pairs[position])
                names += inner
                position, wanted = self.after(position), False
            elif self.sign(position, "!"):
                position += 1
            elif any(self.sign(position, one) for one in ("|", "&", ":")):
                position, wanted = position + 1, True
            elif wanted and self.named(position):
                names.append(self.name(position))
                position, wanted = position + 1, False
            else:
                break
        if wanted:
            self.expected(position, "a label or type")
        return tuple(names), self.span(first, position), position

    def _labels_within(self, first: int, end: int) -> tuple[list[Name], None, int]:
        """The names within parentheses of a label expression; what they hold may be any expression after a dollar."""
        names = []
        for position in range(first, end):
            if self.named(position) and not self.sign(first - 2, "$"):
                names.append(self.name(position))
        return names, None, end

    def properties(self, first: int, end: int) -> tuple[tuple[Property, ...], Span | None, int]:
        if first >= end:
            return (), None, first
        if self.tokens[first].kind == "parameter":
            return (), self.span(first, first + 1), first + 1
        if not self.sign(first, "{"):
            return (), None, first
        close = self.pairs[first]
        found = []
        for one, last in self.commas(first + 1, close) if close > first + 1 else []:
            name = self.name(one, "the name of a property")
            if not self.sign(one + 1, ":") or one + 2 >= last:
                self.expected(one + 1, "a colon and a value")
            found.append(
                Property(name, self.expression(one + 2, last), self.literal(one + 2, last), self.span(one, last))
            )
        return tuple(found), self.span(first, close + 1), close + 1

    def relationship(self, first: int, end: int) -> tuple[RelationshipPattern, int] | None:
        """Read a relationship with its quantifier; None if none begins here."""
        position = first
        left = self.sign(position, "<")
        position += left
        if position >= end or not self.sign(position, "-"):
            return None
        position += 1
        inner = RelationshipPattern((0, 0), "--")
        if self.sign(position, "["):
            close = self.pairs[position]
            inner = self.inside(position + 1, close)
            position = close + 1
        if not self.sign(position, "-"):
            return None
        position += 1
        right = self.sign(position, ">")
        position += right
        length, position = self.quantifier(position)
        direction: Literal["->", "<-", "--"] = "--" if left == right else "->" if right else "<-"
        return (
            replace(inner, span=self.span(first, position), direction=direction, length=length or inner.length),
            position,
        )

    def inside(self, first: int, end: int) -> RelationshipPattern:
        """Read what stands in the brackets of a relationship."""
        found, position = RelationshipPattern((0, 0), "--"), first
        if (
            self.named(position)
            and position < end
            and not (self.word(position, "where", "is") and position + 1 < end and not self.sign(position + 1, ":"))
        ):
            found, position = replace(found, variable=self.name(position)), position + 1
        types, types_span, position = self.labels(position, end)
        length = None
        if position < end and self.sign(position, "*"):
            length, position = self.star(position, end)
        properties, properties_span, position = self.properties(position, end)
        where = None
        if position < end and self.word(position, "where"):
            where, position = self.expression(position + 1, end), end
        if position != end:
            self.expected(position, "']'")
        return replace(
            found,
            types=types,
            types_span=types_span,
            length=length,
            properties=properties,
            properties_span=properties_span,
            where=where,
        )

    def star(self, first: int, end: int) -> tuple[Length, int]:
        """Read ``*``, ``*2``, ``*1..3``, ``*..3`` or ``*1..``."""
        position = first + 1
        least: int | None = None
        most: int | None = None
        if position < end and self.tokens[position].kind == "number":
            least = most = self.whole_number(position)
            position += 1
        if position < end and self.sign(position, ".."):
            position, most = position + 1, None
            if position < end and self.tokens[position].kind == "number":
                most, position = self.whole_number(position), position + 1
        return Length(1 if least is None else least, most, self.span(first, position)), position

    def whole_number(self, position: int) -> int:
        text = self.tokens[position].text
        if not text.isdigit() or len(text) > _DIGITS:
            self.expected(position, "a whole number")
        return int(text)

    def quantifier(self, first: int) -> tuple[Length | None, int]:
        """Read ``+``, ``*``, ``{2}`` or ``{1,3}`` after a part of a pattern."""
        if self.sign(first, "+") or self.sign(first, "*"):
            return Length(int(self.sign(first, "+")), None, self.span(first, first + 1)), first + 1
        if not self.sign(first, "{"):
            return None, first
        close = self.pairs[first]
        parts = self.commas(first + 1, close)
        bounds = [self.whole_number(one) if last > one else None for one, last in parts]
        if len(parts) == 1 and bounds[0] is not None:
            return Length(bounds[0], bounds[0], self.span(first, close + 1)), close + 1
        if len(parts) != 2:
            self.expected(first + 1, "bounds such as {1,3}")
        return Length(bounds[0] or 0, bounds[1], self.span(first, close + 1)), close + 1

    # Expressions

    def expression(self, first: int, end: int, local: tuple[str, ...] = ()) -> Expression:
        if first >= end:
            self.expected(first, "an expression")
        names: list[str] = []
        subpatterns: list[Subpattern] = []
        aggregates = self._scan(first, end, local, names, subpatterns)
        return Expression(self.span(first, end), tuple(dict.fromkeys(names)), aggregates, tuple(subpatterns))

    def _scan(
        self, first: int, end: int, local: tuple[str, ...], names: list[str], subpatterns: list[Subpattern]
    ) -> bool:
        """Collect the names and patterns of a range, and return whether it aggregates."""
        aggregates = False
        position = first
        while position < end:
            token = self.tokens[position]
            if (found := self.subpattern(position, local)) is not None:
                subpattern, position = found
                subpatterns.append(subpattern)
                names += self._names(subpattern)
                continue
            if token.kind in {"name", "quoted"}:
                called = self.sign(position + 1, "(") and position + 1 < end
                if called and token.word in AGGREGATES and not self.sign(position - 1, "."):
                    aggregates = True
                elif not called and token.word not in EXPRESSION_WORDS and self._refers(position, first, end):
                    names.append(self.name(position).text)
                if called and token.word in LOCAL_FUNCTIONS:
                    close = self.pairs[position + 1]
                    inner = (*local, *self._locals(position + 2, close))
                    aggregates |= self._scan(position + 2, close, inner, names, subpatterns)
                    position = close + 1
                    continue
            elif self.sign(position, "["):
                close = self.pairs[position]
                comprehension = self.named(position + 1) and self.word(position + 2, "in") and self._listed(position)
                inner = (*local, self.name(position + 1).text) if comprehension else local
                aggregates |= self._scan(position + 1, close, inner, names, subpatterns)
                position = close + 1
                continue
            position += 1
        return aggregates

    def _listed(self, position: int) -> bool:
        """Whether a bracket begins a list comprehension rather than a list, such as ``[x IN xs]``."""
        close = self.pairs[position]
        return any(self.sign(at, "|") or self.word(at, "where") for at in self.outer(position + 1, close)) or not any(
            self.sign(at, ",") for at in self.outer(position + 1, close)
        )

    def _locals(self, first: int, end: int) -> list[str]:
        """The variables of ``x IN``, and of reduce ``total = 0, x IN``."""
        found = []
        for position in self.outer(first, end):
            if self.named(position) and (
                (self.word(position + 1, "in") and (position == first or self.sign(position - 1, ",")))
                or (position == first and self.sign(position + 1, "="))
            ):
                found.append(self.name(position).text)
        return found

    def _refers(self, position: int, first: int, end: int) -> bool:
        """Whether a name may be that of a variable: no property, label, key or part of a function's name."""
        if position > first and (self.sign(position - 1, ".") or self.sign(position - 1, ":")):
            # In [a:b] and {key: value}, a colon precedes a variable too; a label follows a variable directly.
            return self.sign(position - 1, ":") and self._is_value(position)
        if self.sign(position + 1, ":") and position + 1 < end and self._is_key(position):
            return False
        dots = position
        while self.sign(dots + 1, ".") and self.named(dots + 2):
            dots += 2
        return not (dots > position and self.sign(dots + 1, "("))

    def _is_key(self, position: int) -> bool:
        """Whether a name before a colon is the key of a map."""
        return self.sign(position - 1, "{") or self.sign(position - 1, ",")

    def _is_value(self, position: int) -> bool:
        return self.named(position - 2) and self._is_key(position - 2)

    def _names(self, subpattern: Subpattern) -> Iterator[str]:
        """The variables that a pattern within an expression may refer to; those that it declares are among them."""
        first = bisect_left(self.tokens, subpattern.span[0], key=lambda token: token.start)
        for position in range(first, len(self.tokens)):
            if self.tokens[position].start >= subpattern.span[1]:
                return
            if self.named(position) and not (self.sign(position - 1, ".") or self.sign(position - 1, ":")):
                yield self.name(position).text

    def subpattern(self, position: int, local: tuple[str, ...]) -> tuple[Subpattern, int] | None:
        """Read the pattern of an expression that begins at a position; None if none does."""
        if position not in self._subpatterns:
            self._subpatterns[position] = self._subpattern(position, local)
        return self._subpatterns[position]

    def _subpattern(self, position: int, local: tuple[str, ...]) -> tuple[Subpattern, int] | None:
        token = self.tokens[position]
        if token.word in {"exists", "count", "collect"} and self.sign(position + 1, "{"):
            kinds: dict[str, Literal["exists", "count", "collect"]] = {
                "exists": "exists",
                "count": "count",
                "collect": "collect",
            }
            close = self.pairs[position + 1]
            query = self.braced(position + 2, close)
            return Subpattern(kinds[token.word], self.span(position, close + 1), local, query=query), close + 1
        if token.word in _SHORTEST and self.sign(position + 1, "("):
            path, stop = self.path_from(position, len(self.tokens))
            return Subpattern("shortest", self.span(position, stop), local, path=path), stop
        if self.sign(position, "["):
            return self.comprehension(position, local)
        if self.sign(position, "(") and not self._is_called(position) and (found := self.pattern(position)):
            path, stop = found
            return Subpattern("predicate", self.span(position, stop), local, path=path), stop
        return None

    def comprehension(self, first: int, local: tuple[str, ...]) -> tuple[Subpattern, int] | None:
        """Read ``[(a)-->(b) WHERE ... | ...]``; None if the bracket begins anything else."""
        close = self.pairs[first]
        named = self.named(first + 1) and self.sign(first + 2, "=")
        begin = first + 3 if named else first + 1
        bar = next((at for at in self.outer(first + 1, close) if self.sign(at, "|")), None)
        found = self.pattern(begin) if bar is not None else None
        if found is None or bar is None:
            return None
        path, stop = found
        if named:
            path = replace(path, variable=self.name(first + 1), span=self.span(first + 1, stop))
        where = None
        if stop < bar:
            if not self.word(stop, "where"):
                self.expected(stop, "WHERE or '|'")
            where = self.expression(stop + 1, bar, local)
        value = self.expression(bar + 1, close, local)
        span = self.span(first, close + 1)
        return Subpattern("comprehension", span, local, path=path, where=where, value=value), close + 1

    def _is_called(self, position: int) -> bool:
        before = position - 1
        return (
            before >= 0
            and self.named(before)
            and self.tokens[before].word
            not in EXPRESSION_WORDS | {"by", "return", "on", "exists", "size", "unwind", "limit", "skip"}
        )

    def pattern(self, position: int) -> tuple[PathPattern, int] | None:
        """Read a path pattern with a relationship in an expression; None if a parenthesis begins anything else."""
        if position not in self._patterns:
            self._patterns[position] = self._pattern(position)
        return self._patterns[position]

    def _pattern(self, position: int) -> tuple[PathPattern, int] | None:
        if not self.sign(position, "("):
            return None
        after = self.after(position)
        if not (
            self.sign(after, "-", "[")
            or self.sign(after, "<", "-")
            or (self.sign(after, "-", "-") and (self.sign(after + 2, "(") or self.sign(after + 2, ">")))
        ):
            return None
        try:
            found = self.path_from(position, len(self.tokens))
        except CypherSyntaxError:
            return None
        return found if len(found[0].parts) > 1 else None

    def braced(self, first: int, close: int) -> QueryTree:
        """Read what stands in the braces of EXISTS, COUNT and COLLECT: a query, or a pattern with a WHERE."""
        if first < close and self.tokens[first].word in _STARTS and not self.sign(first + 1, "="):
            return self.query(first, close)
        if first >= close:
            self.expected(first, "a pattern or a query")
        where = self.find(first, close, "where")
        stop = close if where is None else where
        clause = Clause(
            "match",
            self.span(first, close),
            patterns=tuple(self.path(one, last) for one, last in self.commas(first, stop)),
            where=None if where is None else self.where(where, close),
            bare=True,
        )
        return QueryTree(clause.span, (Branch(clause.span, (clause,)),))


def unescaped_text(text: str) -> str:
    r"""Return what a quoted text stands for.

    >>> unescaped_text(r"'it\'s'")
    "it's"
    """
    signs = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

    def one(match: re.Match[str]) -> str:
        code = match.group(1) or match.group(2)
        return chr(int(code, 16)) if code else signs.get(match.group(3), match.group(3))

    return re.sub(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", one, text[1:-1], flags=re.DOTALL)


def quoted(name: str) -> str:
    """Return a name as Cypher writes it: in backquotes unless it is a plain word.

    >>> quoted("a"), quoted("a b")
    ('a', '`a b`')
    """
    plain = re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) and not reserved(name)
    return name if plain else f"`{name.replace('`', '``')}`"


def reserved(name: str) -> bool:
    """Whether a name is a word of Cypher, whatever its case."""
    return name.lower() in _STARTS | EXPRESSION_WORDS | _BEFORE_NAMES
