"""Why a query gives another result than gold: the smallest edit after which the results are equal.

The cause is found by experiment. Each single edit is made and the query runs again; where none helps, each pair of
edits is tried within a budget. Of several edits that help, those come first that bind what gold binds, and among these
the one that makes the query gold's own; then they come by kind: turned, replaced, added, removed. All of one size are
listed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from graphkit.plugins.cypher.cypher_parser import quoted, tokens
from graphkit.plugins.cypher.cypher_text import CypherSyntaxError, ParsedQuery, parsed
from graphkit.plugins.cypher.graph_names import GraphNames, nearest
from graphkit.plugins.cypher.outcomes import QueryOutcome
from graphkit.plugins.cypher.query_edits import KINDS, Edit, edits

#: Queries that the search for one cause may run, and the seconds that it may take.
MOST_RUNS, MOST_SECONDS = 2_000, 60.0

Run = Callable[[str], QueryOutcome]
Same = Callable[[QueryOutcome, QueryOutcome], bool]


@dataclass(frozen=True, slots=True)
class GoldQuery:
    """A gold query, and what came of it."""

    query: ParsedQuery
    outcome: QueryOutcome


@dataclass(frozen=True, slots=True)
class QueryCause:
    """Edits after which a query has gold's result.

    Attributes
    ----------
    edits
        One edit or two.
    mended
        The query with them.
    same_walk
        Whether it then also binds what gold binds.
    luck
        Whether the result was right before, by another walk than gold's.
    """

    edits: tuple[Edit, ...]
    mended: str
    same_walk: bool
    luck: bool = False

    @property
    def sentence(self) -> str:
        """The cause as a sentence without its full stop.

        ``CALLS was asked the other way round; turned, the result is right``.
        """
        wrong = ", and ".join(dict.fromkeys(one.wrong for one in self.edits))
        instead = " and ".join(dict.fromkeys(one.instead for one in self.edits))
        if self.luck:
            end = "the walk is gold's"
        else:
            end = "the result is right" if self.same_walk else "the result is right, by another walk than gold's"
        return f"{wrong[0].upper()}{wrong[1:]}; {instead}, {end}"


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name that a query asks for and the graph doesn't have, with the nearest that it has."""

    kind: str
    name: str
    nearest: str | None

    @property
    def sentence(self) -> str:
        """The name in words, without a full stop."""
        near = f"; the nearest is {self.nearest}" if self.nearest is not None else ""
        return f"The graph has no {self.kind} {self.name}{near}"


@dataclass(frozen=True, slots=True)
class QueryDiagnosis:
    """What is wrong with a query.

    Attributes
    ----------
    causes
        The smallest edits that help, the likeliest first; empty if none of at most two does.
    unknown
        The names that the graph lacks.
    tried
        How many edited queries ran.
    complete
        Whether all edits were tried that might have been smaller or equal in size, or the budget ended the search.
    """

    causes: tuple[QueryCause, ...] = ()
    unknown: tuple[UnknownName, ...] = ()
    tried: int = 0
    complete: bool = True

    @property
    def sentence(self) -> str:
        """The first cause, or that none was found, as a sentence without its full stop."""
        if self.causes:
            return self.causes[0].sentence
        if not self.complete:
            return f"The cause is unknown: none of the {self.tried} edits that were tried makes the result right"
        return "The cause is unknown: no edit of at most two makes the result right"


def diagnosed(
    query: ParsedQuery,
    outcome: QueryOutcome,
    golds: Sequence[GoldQuery],
    run: Run,
    trace: Run,
    same: Same,
    names: GraphNames,
    *,
    most_runs: int = MOST_RUNS,
    most_seconds: float = MOST_SECONDS,
) -> QueryDiagnosis:
    """Return the smallest edits after which a query has the result of a gold one.

    Parameters
    ----------
    query, outcome
        The query and what came of it. If its result is right and only its walk is wrong, an edit has to mend the walk.
    golds
        Gold queries that gave a result; any of them is enough.
    run
        Runs an edited query.
    trace
        Runs one whose result is right; the outcome names what it binds.
    same
        Whether the result of the second outcome is that of the first, which is gold's.
    names
        The names of the graph.
    most_runs, most_seconds
        The budget of the search.
    """
    unknown = tuple(unknown_names(query, names))
    search = _Search(query, golds, run, trace, same, most_runs, most_seconds)
    search.luck = any(same(gold.outcome, outcome) for gold in golds)
    if search.luck and any(same_walk(gold.outcome, outcome) for gold in golds):
        return QueryDiagnosis(unknown=unknown)
    single = edits(query, [gold.query for gold in golds], names)
    causes = search.causes((one,) for one in single)
    if not causes and not search.ended:
        causes = search.causes(_pairs(single))
    return QueryDiagnosis(tuple(causes), unknown, search.tried, not search.ended)


def unknown_names(query: ParsedQuery, names: GraphNames) -> Iterator[UnknownName]:
    """Yield the labels, relations and properties of patterns and conditions that the graph lacks, each once."""
    asked: dict[tuple[str, str], None] = {}
    for path in query.paths():
        for part in path.elements():
            if hasattr(part, "labels"):
                asked.update({("label", name.text): None for name in part.labels})
            else:
                asked.update({("relation", name.text): None for name in part.types})
            asked.update({("property", one.name.text): None for one in part.properties})
    for where in query.wheres():
        asked.update({("property", term.property.text): None for term in where.terms if term.property is not None})
    known = {"label": names.labels, "relation": names.types, "property": names.properties} if asked else {}
    for kind, name in asked:
        if name not in known[kind]:
            yield UnknownName(kind, name, nearest(name, known[kind]))


def _pairs(single: Sequence[Edit]) -> Iterator[tuple[Edit, Edit]]:
    """Yield the pairs of edits that don't touch the same place, those by gold first."""
    pairs = list(combinations(range(len(single)), 2))
    pairs.sort(key=lambda pair: (2 - single[pair[0]].by_gold - single[pair[1]].by_gold, pair[0] + pair[1]))
    for first, second in pairs:
        one, other = single[first], single[second]
        if not _overlap(one, other):
            yield one, other


def _overlap(one: Edit, other: Edit) -> bool:
    return any(
        (begin < stop and start < end) or (begin, end) == (start, stop)
        for (begin, end), _ in one.changes
        for (start, stop), _ in other.changes
    )


class _Search:
    """The experiments with one query."""

    def __init__(
        self,
        query: ParsedQuery,
        golds: Sequence[GoldQuery],
        run: Run,
        trace: Run,
        same: Same,
        most_runs: int,
        most_seconds: float,
    ) -> None:
        self.query = query
        self.golds = golds
        self.run = run
        self.trace = trace
        self.same = same
        self.most_runs = most_runs
        self.until = time.monotonic() + most_seconds
        self.luck = False
        self.tried = 0
        self.ended = False
        self._seen: set[str] = set()
        self._own = {normal_form(gold.query) for gold in golds}

    def causes(self, tries: Iterator[tuple[Edit, ...]]) -> list[QueryCause]:
        """Return the edits of some tries that help, the likeliest first."""
        found: list[tuple[tuple[object, ...], QueryCause]] = []
        for one in tries:
            mended = self.query.replaced(*(change for edit in one for change in edit.changes))
            if mended in self._seen:
                continue
            if self.tried >= self.most_runs or time.monotonic() > self.until:
                self.ended = True
                break
            self._seen.add(mended)
            try:
                form = normal_form(parsed(mended))
            except CypherSyntaxError:
                continue
            self.tried += 1
            outcome = self.run(mended)
            if not outcome.executable:
                continue
            equal = [gold.outcome for gold in self.golds if self.same(gold.outcome, outcome)]
            if not equal:
                continue
            bound = self.trace(mended)
            walk = any(same_walk(one, bound) for one in equal)
            if walk or not self.luck:
                rank = (not walk, form not in self._own, [KINDS.index(edit.kind) for edit in one], len(found))
                found.append((rank, QueryCause(one, mended, walk, self.luck)))
        return [cause for _, cause in sorted(found, key=lambda ranked: ranked[0])]


def same_walk(wanted: QueryOutcome, given: QueryOutcome) -> bool:
    """Whether two queries bind the same nodes and edges; false unless both are known."""
    if None in (wanted.nodes, wanted.edges, given.nodes, given.edges):
        return False
    return {*(wanted.nodes or ())} == {*(given.nodes or ())} and {*(wanted.edges or ())} == {*(given.edges or ())}


def normal_form(query: ParsedQuery) -> tuple[str, ...]:
    """Return the tokens of a query without the names of its variables and columns: equal ones ask the same.

    >>> normal_form(parsed("MATCH (a) RETURN a.id AS x")) == normal_form(parsed("match (b)\\nreturn b.id"))
    True
    """
    own = {name.text: None for path in query.paths() for name in path.variables()}
    own.update({one.alias.text: None for one in query.clauses if one.alias is not None})
    projections = [one.projection for one in query.clauses if one.projection is not None]
    aliases = {item.alias.text for one in projections[-1:] for item in one.items if item.alias is not None}
    spans = [
        (item.expression.span[1], item.span[1])
        for one in projections[-1:]
        for item in one.items
        if item.alias is not None
    ]
    form: list[str] = []
    order: dict[str, int] = {}
    read, before = tokens(query.text), ""
    for index, token in enumerate(read):
        if any(start <= token.start < end for start, end in spans):
            continue
        after = read[index + 1].text if index + 1 < len(read) else ""
        name = token.text[1:-1].replace("``", "`") if token.kind == "quoted" else token.text
        named = token.kind in ("name", "quoted")
        if named and before not in (".", ":", "|") and after != "(" and name in own:
            form.append(f"?{order.setdefault(name, len(order))}")
        elif named and before not in (".", ":", "|") and name in aliases:
            form.append("?column")
        elif named and before in (".", ":", "|"):
            form.append(quoted(name))
        elif token.kind == "text":
            form.append(f"'{token.text[1:-1]}'")
        else:
            form.append(token.text.lower() if token.kind == "name" else token.text)
        before = token.text
    return tuple(form)
