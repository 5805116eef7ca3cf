"""The cause of a wrong query: the smallest edit after which it is right.

The cause is found by experiment. Each single edit is made and the query runs again; where none helps, each pair of
edits is tried within a budget. Where gold is a query, an edit helps if the results are equal. Of several, those come
first that bind what gold binds, and among these the one that makes the query gold's own; then they come by kind:
turned, replaced, added, removed. All of one size are listed. Where gold is a path, an edit helps if the walk agrees
better with it (the F1 of edges), and the one that agrees best is the cause.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from typing import Protocol

from graphkit.plugins.cypher.cypher_parser import Token, quoted, reserved, tokens
from graphkit.plugins.cypher.cypher_text import CypherSyntaxError, NodePattern, ParsedQuery, parsed
from graphkit.plugins.cypher.expression_parts import compared_properties, written, written_text
from graphkit.plugins.cypher.names_of_graph import KnownNames, nearest
from graphkit.plugins.cypher.outcomes import QueryOutcome
from graphkit.plugins.cypher.query_edits import KINDS, Edit, edits
from graphkit.plugins.cypher.query_walks import GoldFound
from graphkit.records.words import counted

#: Queries that the search for one cause may run, and the seconds that it may take.
MOST_RUNS, MOST_SECONDS = 2_000, 20.0

#: The F1 of a walk that has all gold edges above which no further edit is tried: half of its edges may be others.
_MOSTLY_GOLD = 2 / 3

#: The share of gold among the edges of a walk below which its edit is no cause: it asks for less, and walks everything.
_LEAST_SHARE = 0.1


class RunsEdited(Protocol):
    """A function that runs an edited query: :meth:`graphkit.plugins.cypher.query_runs.QueryRunner.run`."""

    def __call__(self, text: str, /, *, rows_only: bool = False) -> QueryOutcome:
        """Run a query, and return what came of it; its walk may be left out."""
        ...


#: Source, relation and target.
WalkedEdge = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class WantedWalk:
    """The edges of gold paths that are enough together, and a query that binds them: see :func:`walk_query`."""

    query: ParsedQuery
    edges: frozenset[WalkedEdge]


@dataclass(frozen=True, slots=True)
class QueryCause:
    """Edits that mend a query.

    Attributes
    ----------
    edits
        One edit or two.
    mended
        The query with them.
    reached
        What is then right, as the end of a sentence: ``the result is right``, ``the walk has 1 of 3 gold edges``.
    """

    edits: tuple[Edit, ...]
    mended: str
    reached: str

    @property
    def sentence(self) -> str:
        """The cause as a sentence without its full stop.

        ``CALLS was asked the other way round; turned, the result is right``.
        """
        wrong = ", and ".join(dict.fromkeys(one.wrong for one in self.edits))
        instead = " and ".join(dict.fromkeys(one.instead for one in self.edits))
        # A name keeps its letters.
        first = wrong[0].upper() if wrong.startswith(("the ", "a ", "no ", "nothing ")) else wrong[0]
        return f"{first}{wrong[1:]}; {instead}, {self.reached}"

    @property
    def category(self) -> str:
        """The kind under which causes are counted: ``direction turned``, ``literal replaced and hop added``."""
        return " and ".join(dict.fromkeys(f"{one.subject} {one.kind}" for one in self.edits))


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name or node that a query asks for and the graph lacks, with the nearest that it has."""

    kind: str
    name: str
    nearest: str | None

    @property
    def sentence(self) -> str:
        """The name in words, without a full stop."""
        near = f"; the nearest is {self.nearest}" if self.nearest is not None else ""
        return f"The graph has no {self.kind} {self.name}{near}"


def none_mends(tried: int) -> str:
    """Say that none of the edits that were tried helps, without a capital or full stop.

    >>> none_mends(0), none_mends(1), none_mends(12)  # doctest: +NORMALIZE_WHITESPACE
    ('no edit of it could be tried', 'the one edit that was tried fails to mend it',
     'none of the 12 edits that were tried mends it')
    """
    if tried < 2:
        return "the one edit that was tried fails to mend it" if tried else "no edit of it could be tried"
    return f"none of the {tried} edits that were tried mends it"


@dataclass(frozen=True, slots=True)
class QueryDiagnosis:
    """The diagnosis of a query.

    Attributes
    ----------
    right
        Whether nothing is.
    causes
        The smallest edits that help, the likeliest first; empty if none that was tried does.
    unknown
        What the graph lacks.
    tried
        How many edited queries ran, of one edit or two each.
    """

    right: bool = False
    causes: tuple[QueryCause, ...] = ()
    unknown: tuple[UnknownName, ...] = ()
    tried: int = 0

    @property
    def sentence(self) -> str:
        """The first cause, or that none was found, as a sentence without its full stop; empty if all is right."""
        if self.right:
            return ""
        if self.causes:
            return self.causes[0].sentence
        lacks = f"; {self.unknown[0].sentence[0].lower()}{self.unknown[0].sentence[1:]}" if self.unknown else ""
        return f"The cause is unknown: {none_mends(self.tried)}{lacks}"

    @property
    def category(self) -> str:
        """The kind under which diagnoses are counted."""
        if self.right:
            return "right"
        if self.causes:
            return self.causes[0].category
        return f"{self.unknown[0].kind} that the graph lacks" if self.unknown else "unknown"


def diagnosed(
    query: ParsedQuery,
    outcome: QueryOutcome,
    gold: GoldFound,
    run: RunsEdited,
    names: KnownNames,
    *,
    most_runs: int = MOST_RUNS,
    most_seconds: float = MOST_SECONDS,
) -> QueryDiagnosis:
    """Return the smallest edits after which a query has the result of a gold one.

    Parameters
    ----------
    query, outcome
        The query and what came of it. If its result is right and only its walk is wrong, an edit has to mend the walk.
    gold
        What the gold queries find; any of them is enough.
    run
        Runs an edited query.
    names
        The names of the graph.
    most_runs, most_seconds
        The budget of the search.
    """
    equal = [one.outcome for one in gold.queries if outcome.executable and one.equals(outcome)]
    luck = bool(equal)
    if any(same_walk(one, outcome) for one in equal):
        return QueryDiagnosis(right=True)

    def reached(mended: str) -> _Reached | None:
        found = run(mended, rows_only=True)
        # A walk takes a second query, and only that of a right result matters.
        if not (found.executable and any(one.equals(found) for one in gold.queries)):
            return None
        found = run(mended)
        equal = [one.outcome for one in gold.queries if found.executable and one.equals(found)]
        if any(same_walk(one, found) for one in equal):
            return _Reached("the walk is gold's" if luck else "the result is right", (0,))
        if luck or not equal:
            return None
        return _Reached("the result is right, by another walk than gold's", (1,))

    own = [parsed(one.text) for one in gold.queries]
    return _CauseSearch(query, own, reached, names, most_runs, most_seconds).diagnosis()


def diagnosed_walk(
    query: ParsedQuery,
    outcome: QueryOutcome,
    golds: Sequence[WantedWalk],
    run: RunsEdited,
    names: KnownNames,
    *,
    most_runs: int = MOST_RUNS,
    most_seconds: float = MOST_SECONDS,
) -> QueryDiagnosis:
    """Return the smallest edits after which a query's walk agrees best with a gold path, of which one is enough.

    The parameters are those of :func:`diagnosed`. An edit that doesn't raise the F1 of edges doesn't help, nor does one
    after which fewer than one edge in ten is gold's, or than before if they were fewer then.
    """

    def agreement(found: QueryOutcome, gold: WantedWalk) -> tuple[float, int, int]:
        walked = {*(found.edges or ())}
        hits = len(walked & gold.edges)
        return 2 * hits / ((len(walked) + len(gold.edges)) or 1), hits, len(gold.edges)

    def best(found: QueryOutcome) -> tuple[float, int, int]:
        return max(agreement(found, gold) for gold in golds)

    def share(found: QueryOutcome) -> float:
        walked = {*(found.edges or ())}
        return max(len(walked & gold.edges) for gold in golds) / (len(walked) or 1)

    before = best(outcome)
    least = min(_LEAST_SHARE, share(outcome) or _LEAST_SHARE)
    if before[0] == 1.0:
        return QueryDiagnosis(right=True)

    def reached(mended: str) -> _Reached | None:
        found = run(mended, rows_only=True)
        if not found.executable or not found.rows:
            return None
        found = run(mended)
        if found.edges is None:
            return None
        score, hits, edges = best(found)
        if score <= before[0] or share(found) < least:
            return None
        all_edges = f"the walk has {'the gold edge' if edges == 1 else f'all {edges} gold edges'}"
        part = all_edges if hits == edges else f"the walk has {hits} of {counted(edges, 'gold edge')}"
        others = len({*found.edges}) - hits
        text = "the walk is gold's" if score == 1.0 else f"{part} and {counted(others, 'other')}" if others else part
        return _Reached(text, (-score, -hits / edges), complete=hits == edges and score >= _MOSTLY_GOLD)

    own = [gold.query for gold in golds]
    return _CauseSearch(query, own, reached, names, most_runs, most_seconds).diagnosis()


def walk_query(steps: Sequence[WalkedEdge], nodes: Mapping[str, Mapping[str, object]]) -> ParsedQuery:
    """Return the query that binds the edges of a path, each node by the properties that are known of it."""
    letters: dict[str, str] = {}

    def node(name: str) -> str:
        if name in letters:
            return f"({letters[name]})"
        letters[name] = f"n{len(letters)}"
        known = {"id": name, **{key: value for key, value in nodes.get(name, {}).items() if isinstance(value, str)}}
        properties = ", ".join(f"{quoted(key)}: {written_text(str(value))}" for key, value in known.items())
        return f"({letters[name]} {{{properties}}})"

    paths = [f"{node(source)}-[:{quoted(relation)}]->{node(target)}" for source, relation, target in steps]
    return parsed(f"MATCH {', '.join(paths)} RETURN {letters[steps[-1][2]]}.id")


def unknown_names(query: ParsedQuery, names: KnownNames) -> Iterator[UnknownName]:
    """Yield the labels, relations and properties that a query asks for and the graph lacks, then such nodes, each once.

    A node is lacking if none has the values of the properties that its pattern states.
    """
    asked: dict[tuple[str, str], None] = {}
    nodes: dict[str, NodePattern] = {}
    for path in query.paths():
        for part in path.elements():
            if isinstance(part, NodePattern):
                asked.update({("label", name.text): None for name in part.labels})
                nodes.setdefault(_node_text(part), part)
            else:
                asked.update({("relation", name.text): None for name in part.types})
            asked.update({("property", one.name.text): None for one in part.properties})
    asked.update({("property", name.text): None for name in compared_properties(query)})
    known = {"label": names.labels, "relation": names.types, "property": names.properties} if asked else {}
    for kind, name in asked:
        if name not in known[kind]:
            yield UnknownName(kind, name, nearest(name, known[kind]))
    for text, pattern in nodes.items():
        values = {one.name.text: one.literal.value for one in pattern.properties if one.literal is not None}
        if values and all(name in known["property"] for name in values) and not names.nodes(values):
            yield UnknownName("node", text, _nearest_node(values, names))


def _node_text(part: NodePattern) -> str:
    texts = [f"{one.name.text}: {written(one.literal.value)}" for one in part.properties if one.literal is not None]
    return f"{{{', '.join(texts)}}}"


def _nearest_node(values: Mapping[str, object], names: KnownNames) -> str | None:
    """Return the value nearest to a stated one that a node has with the others, else any that it has."""
    near: list[tuple[float, str]] = []
    for name, value in values.items():
        others = {other: known for other, known in values.items() if other != name}
        found = names.nodes(others, name) if others else names.values(name)
        if found and others:
            near.append((0.0, f"{name} {written_text(found[0])}"))
        if isinstance(value, str) and (one := nearest(value, found)) is not None:
            likeness = SequenceMatcher(None, value.lower(), one.lower()).ratio()
            near.append((likeness, f"{name} {written_text(one)}"))
    return max(near)[1] if near else None


@dataclass(frozen=True, slots=True)
class _Reached:
    """The effect of an edit in words, its rank (the least is the best), and whether it needs no further edit."""

    text: str
    rank: tuple[float, ...]
    complete: bool = True


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


class _CauseSearch:
    """The experiments with one query."""

    def __init__(
        self,
        query: ParsedQuery,
        golds: Sequence[ParsedQuery],
        reached: Callable[[str], _Reached | None],
        names: KnownNames,
        most_runs: int,
        most_seconds: float,
    ) -> None:
        self.query = query
        self.golds = golds
        self.reached = reached
        self.names = names
        self.most_runs = most_runs
        self.until = time.monotonic() + most_seconds
        self.tried = 0
        self.ended = False
        self._seen: set[str] = set()
        self._own = {normal_form(gold) for gold in golds}

    def diagnosis(self) -> QueryDiagnosis:
        """Try single edits, and pairs of them if none completes the query."""
        single = edits(self.query, self.golds, self.names)
        found = self.tries((one,) for one in single)
        if not any(reached.complete for reached, _ in found) and not self.ended:
            pairs = self.tries(_pairs(single))
            if not found or any(reached.complete for reached, _ in pairs):
                found = pairs
        best = [cause for reached, cause in found if reached.rank == found[0][0].rank or reached.complete]
        unknown = tuple(unknown_names(self.query, self.names))
        return QueryDiagnosis(False, tuple(best), unknown, self.tried)

    def tries(self, tries: Iterable[tuple[Edit, ...]]) -> list[tuple[_Reached, QueryCause]]:
        """Return the edits of some tries that help with what they reach, the likeliest first."""
        found: list[tuple[tuple[object, ...], _Reached, QueryCause]] = []
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
            if (reached := self.reached(mended)) is not None:
                kinds = [KINDS.index(edit.kind) for edit in one]
                rank = (reached.rank, form not in self._own, kinds, len(found))
                found.append((rank, reached, QueryCause(one, mended, reached.text)))
        return [(reached, cause) for _, reached, cause in sorted(found, key=lambda ranked: ranked[0])]


def same_walk(wanted: QueryOutcome, given: QueryOutcome) -> bool:
    """Whether two queries bind the same nodes and edges; false unless both are known."""
    if None in (wanted.nodes, wanted.edges, given.nodes, given.edges):
        return False
    return {*(wanted.nodes or ())} == {*(given.nodes or ())} and {*(wanted.edges or ())} == {*(given.edges or ())}


def normal_form(query: ParsedQuery) -> tuple[str, ...]:
    """Return the tokens of a query without the names of its variables and columns: equal ones ask the same.

    >>> normal_form(parsed("MATCH (a)-->(b) RETURN a.id AS x")) == normal_form(parsed("match (b)-->()\\nreturn b.id"))
    True
    """
    own = {name.text: None for path in query.paths() for name in path.variables()}
    own.update({one.alias.text: None for one in query.clauses if one.alias is not None})
    projections = [one.projection for one in query.clauses if one.projection is not None]
    # What an earlier WITH names is a variable; only the names of the last one are those of columns.
    own.update({item.alias.text: None for one in projections[:-1] for item in one.items if item.alias is not None})
    aliases = {item.alias.text for one in projections[-1:] for item in one.items if item.alias is not None}
    spans = [
        (item.expression.span[1], item.span[1])
        for one in projections[-1:]
        for item in one.items
        if item.alias is not None
    ]
    read = [token for token in tokens(query.text) if not any(start <= token.start < end for start, end in spans)]
    names = [token.text[1:-1].replace("``", "`") if token.kind == "quoted" else token.text for token in read]
    refers = [_refers(read, at) for at in range(len(read))]
    used = Counter(name for name, free in zip(names, refers, strict=True) if free)
    unused = {name.text for path in query.paths() for name in path.variables() if used[name.text] == 1}
    form: list[str] = []
    order: dict[str, int] = {}
    for token, name, free in zip(read, names, refers, strict=True):
        if free and name in unused:
            continue  # a node that nothing else names asks the same as one without a name
        if free and name in own:
            form.append(f"?{order.setdefault(name, len(order))}")
        elif free and name in aliases:
            form.append("?column")
        elif token.kind == "name":
            form.append(token.text.lower() if free else quoted(name))
        elif token.kind == "quoted":
            form.append(quoted(name))
        elif token.kind == "text":
            form.append(f"'{token.text[1:-1]}'")
        else:
            form.append(token.text)
    return tuple(form)


def _refers(read: Sequence[Token], at: int) -> bool:
    """Whether a token may be the name of a variable or a word, and no property, label, relation or function."""
    before, after = (read[one].text if 0 <= one < len(read) else "" for one in (at - 1, at + 1))
    if read[at].kind not in ("name", "quoted") or before in (".", ":"):
        return False
    return after == "." if before == "|" else after != "(" or reserved(read[at].text)
