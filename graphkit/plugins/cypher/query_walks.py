"""Queries become walks: those of gold become gold paths, those of a run its traversal and what its result is worth.

The walk of a record is what the patterns of its queries match, of all that run, in order; its result is that of the
last one that runs, since a system asks again after an error. A query that failed when the system ran it, by its log,
gave the system no rows: it doesn't run, whatever it would find now. A gold query that fails, or finds nothing, makes
its question stale; of several alternatives, those that find something count, and one of them is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from graphkit.plugins.cypher.cypher_text import CypherSyntaxError, ParsedQuery, cleaned, parsed
from graphkit.plugins.cypher.outcomes import QueryOutcome
from graphkit.plugins.cypher.same_results import same_result
from graphkit.records.models import Answer, ComparedResult, GoldPath, GraphQuery, Question, Step, TraversalStep
from graphkit.records.words import counted

#: How the ids of gold paths begin that are made of gold queries, and their group.
GOLD = "gold_cypher"

NOTHING_WRITTEN = "the system wrote no query"
NO_WALK = "the walk of a query isn't known: "

#: How the error of a query begins that failed when the system ran it.
FAILED_THEN = "it failed when the system ran it: "

NO_TEXT = "its error has no text"


class Runs(Protocol):
    """An object that runs a query over a graph: :class:`graphkit.plugins.cypher.query_runs.QueryRunner`."""

    def run(self, text: str, parameters: Mapping[str, object] | None = None) -> QueryOutcome:
        """Run a query, and return what came of it."""
        ...


@dataclass(frozen=True)
class GoldQuery:
    """A gold query that finds something.

    Attributes
    ----------
    order
        What it sorts its rows by, for each row; None without an order.
    """

    text: str
    outcome: QueryOutcome
    order: Sequence[Hashable] | None = None

    def equals(self, result: QueryOutcome) -> bool | None:
        """Whether a result equals this one; None if that is unknown.

        A result beyond the limit on rows doesn't equal one within it; of two beyond it nothing is known.
        """
        if self.outcome.truncated and result.truncated:
            return None
        if self.outcome.truncated or result.truncated:
            return False
        return same_result(self.outcome.rows, result.rows, self.order)


@dataclass(frozen=True)
class GoldFound:
    """The results of the gold queries of a question.

    Attributes
    ----------
    stale
        Why none of them finds anything; None if one does, or there is none.
    failed
        A sentence on each query that is left out, and on each whose walk isn't known.
    """

    queries: tuple[GoldQuery, ...] = ()
    stale: str | None = None
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoundCause:
    """The cause of a wrong query in words, and the kind under which causes are counted."""

    text: str
    kind: str


#: What finds what is wrong with a query; None if nothing is, or there is no gold.
FindsCause = Callable[[Question, GoldFound, GraphQuery, QueryOutcome], FoundCause | None]


def gold_found(question: Question, runner: Runs) -> GoldFound:
    """Run the gold queries of a question."""
    found, failed = [], []
    for place, text in enumerate(question.gold_cypher):
        text, _ = cleaned(text)
        outcome = runner.run(text)
        which = "the gold query" if len(question.gold_cypher) == 1 else f"gold query {place + 1}"
        if not outcome.executable:
            failed.append(f"{which} doesn't run: {why_not_run(outcome)}")
        elif not outcome.rows:
            failed.append(f"{which} finds nothing in the graph")
        else:
            if outcome.edges is None:
                failed.append(f"{which}: {NO_WALK}{outcome.untraced}")
            found.append(_with_order(text, outcome, runner))
    stale = "; ".join(failed) if question.gold_cypher and not found else None
    return GoldFound(tuple(found), stale, tuple(failed))


def with_gold(question: Question, found: GoldFound) -> Question:
    """Return a question with the gold paths that its queries find, or with the reason why it is stale.

    Paths that were written by a person stay, and are all that counts. Those of an earlier call are replaced.
    """
    own = [path for path in question.paths if not (path.id or "").startswith(GOLD)]
    if not question.gold_cypher:
        return question
    paths = [] if own else [path for each in enumerate(found.queries) if (path := _path(*each, found)) is not None]
    return question.model_copy(update={"paths": (*own, *paths), "stale": found.stale})


def _path(place: int, query: GoldQuery, found: GoldFound) -> GoldPath | None:
    if not query.outcome.edges:
        return None
    several = len(found.queries) > 1
    steps = tuple(Step(source=one[0], relation=one[1], target=one[2]) for one in query.outcome.edges)
    name = f"{GOLD}-{place + 1}" if several else GOLD
    return GoldPath(id=name, group=GOLD if several else None, steps=steps, ordered=False)


def with_walk(
    answer: Answer,
    question: Question,
    gold: GoldFound,
    runner: Runs,
    cause: FindsCause | None = None,
    otherwise: Callable[[str], object] = lambda _rows: None,
) -> Answer:
    """Return a record with the walk of its queries and with its result compared; one without queries is unchanged.

    Parameters
    ----------
    cause
        Says which change makes the result right.
    otherwise
        Called for each query whose logged rows differ from what it finds, with the numbers of rows in words.
    """
    if answer.queries is None or answer.error is not None:
        return answer.model_copy(update={"compared_result": None})
    asked = [(one, _as_logged(one, runner.run(cleaned(one.cypher)[0], one.parameters))) for one in answer.queries]
    outcomes = [outcome for _, outcome in asked]
    for rows in (logged_otherwise(*one) for one in asked):
        if rows is not None:
            otherwise(rows)
    unsupported = next((one.unsupported for one in outcomes if one.unsupported is not None), None)
    if unsupported is not None:
        compared = ComparedResult(executable=None, gold_nodes=_closest(gold, ()), reason=unsupported)
        return answer.model_copy(update={**_untraced(answer, unsupported), "compared_result": compared})
    ran = [(query, one) for query, one in asked if one.executable]
    if not ran:
        why = why_not_run(outcomes[-1]) if outcomes else NOTHING_WRITTEN
        told = _closest(gold, ())
        same = False if gold.queries else None
        compared = ComparedResult(executable=False, ran=0.0, same=same, gold_nodes=told, reason=why)
        if cause is not None and outcomes:
            compared = _explained(compared, _cause(question, gold, *asked[-1], cause))
        return answer.model_copy(update={"traversal": (), "ordered": False, "compared_result": compared})
    untraced = next((one.untraced for _, one in ran if one.edges is None), None)
    query, result = ran[-1]
    same, undecided = _same(gold, result)
    nodes = None if untraced else tuple(dict.fromkeys(node for _, one in ran for node in one.nodes or ()))
    compared = ComparedResult(
        executable=True,
        ran=len(ran) / len(asked),
        same=same,
        nodes=nodes,
        gold_nodes=_closest(gold, nodes or ()),
        reason=untraced or undecided or _some_failed(outcomes),
    )
    if cause is not None:
        compared = _explained(compared, cause(question, gold, query, result))
    if untraced is not None:
        changes = _untraced(answer, untraced)
    else:
        edges = dict.fromkeys(edge for _, one in ran for edge in one.edges or ())
        steps = tuple(TraversalStep(source=one[0], relation=one[1], target=one[2]) for one in edges)
        changes = {"traversal": steps, "doubts": _other_doubts(answer), "ordered": False}
    return answer.model_copy(update={**changes, "compared_result": compared})


def _as_logged(query: GraphQuery, outcome: QueryOutcome) -> QueryOutcome:
    """Return the outcome of a query for its system: none that ran, if the log says that it failed."""
    if query.error is None or not (outcome.executable or outcome.unsupported):
        return outcome
    return QueryOutcome(executable=False, error=f"{FAILED_THEN}{query.error.strip() or NO_TEXT}")


def _cause(
    question: Question, gold: GoldFound, query: GraphQuery, outcome: QueryOutcome, cause: FindsCause
) -> FoundCause | None:
    """Return why a query didn't run; edits don't tell it if it only failed when the system ran it."""
    if (outcome.error or "").startswith(FAILED_THEN):
        return FoundCause(f"The query {str(outcome.error).removeprefix('it ')}", "failed when the system ran it")
    return cause(question, gold, query, outcome)


def _untraced(answer: Answer, reason: str) -> dict[str, Any]:
    """Return the fields of a record whose walk isn't known."""
    doubts = (*_other_doubts(answer), f"{NO_WALK}{reason}"[:1000])
    return {"traversal": None, "ordered": False, "doubts": doubts}


def _other_doubts(answer: Answer) -> tuple[str, ...]:
    return tuple(one for one in answer.doubts if not one.startswith(NO_WALK))


def _some_failed(outcomes: Sequence[QueryOutcome]) -> str | None:
    """Return how many queries of a record failed, and why the first did; None if all ran."""
    failed = [one for one in outcomes if not one.executable]
    if not failed:
        return None
    return f"{len(failed)} of {counted(len(outcomes), 'query', 'queries')} did not run: {why_not_run(failed[0])}"


def logged_otherwise(query: GraphQuery, outcome: QueryOutcome) -> str | None:
    """Return the numbers of rows, in words, if the log of a query has other rows than it finds; None if not.

    Nodes, relationships, paths and maps count as alike, since each log writes them in its own way, and so does a log
    without rows.
    """
    if query.rows is None or not outcome.executable or outcome.truncated:
        return None
    logged = [[*row.values()] if isinstance(row, dict) else row for row in query.rows]
    if same_result(_rough(outcome.rows), _rough(logged)) is not False:
        return None
    return f"{counted(len(logged), 'row')} logged, {len(outcome.rows)} found"


def _rough(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return rows in which all that isn't a plain value, or a list of such, is the same."""

    def rough(value: Any) -> Any:
        items = value if isinstance(value, list | tuple) else [value]
        return "{}" if any(isinstance(one, dict | list | tuple) for one in items) else value

    return [[rough(value) for value in row] for row in rows]


def _explained(compared: ComparedResult, cause: FoundCause | None) -> ComparedResult:
    return compared if cause is None else compared.model_copy(update={"cause": cause.text, "cause_kind": cause.kind})


def why_not_run(outcome: QueryOutcome) -> str:
    """Return why a query didn't run, in words."""
    if outcome.refused is not None:
        return f"refused: {outcome.refused}"
    return outcome.error or outcome.unsupported or "it failed"


def _same(gold: GoldFound, result: QueryOutcome) -> tuple[bool | None, str | None]:
    """Return whether a result is that of a gold query; None with the reason if that can't be told."""
    if not gold.queries:
        return None, gold.stale
    undecided = None
    for one in gold.queries:
        same = one.equals(result)
        if same:
            return True, None
        if one.outcome.truncated and result.truncated:
            undecided = f"a result of more than {counted(len(result.rows), 'row')} isn't compared"
        elif same is None:
            undecided = "the columns of the results are too much alike to be compared"
    return (False, None) if undecided is None else (None, undecided)


def _closest(gold: GoldFound, nodes: Sequence[str]) -> tuple[str, ...] | None:
    """Return the nodes of the gold query that are closest to those of a record; None if none is known."""
    known = [{*one.outcome.nodes} for one in gold.queries if one.outcome.nodes is not None]
    given = {*nodes}
    if not known:
        return None
    best = max(known, key=lambda one: len(one & given) / len(one | given) if one | given else 1.0)
    return tuple(sorted(best))


# The order of gold ---------------------------------------------------------------------------------------------------


def _with_order(text: str, outcome: QueryOutcome, runner: Runs) -> GoldQuery:
    """Return a gold query with what it sorts its rows by.

    What isn't among its columns is asked for beside them. Where that can't be, each row has a place of its own.
    """
    if not outcome.ordered:
        return GoldQuery(text, outcome)
    places: Sequence[Hashable] = range(len(outcome.rows))
    try:
        query = parsed(text)
    except CypherSyntaxError:
        return GoldQuery(text, outcome, places)
    columns = _columns_of_order(query)
    if columns is not None:
        return GoldQuery(text, outcome, [tuple(repr(row[place]) for place in columns) for row in outcome.rows])
    projection = query.clauses[-1].projection
    if projection is None or projection.distinct_span or projection.star_span or projection.aggregates:
        return GoldQuery(text, outcome, places)
    keys = [f"gk_order_{place}" for place in range(len(projection.order))]
    end = projection.body_span[1]
    terms = zip(projection.order, keys, strict=True)
    added = "".join(f", {query.at(sort.expression.span)} AS {key}" for sort, key in terms)
    keyed = runner.run(query.replaced(((end, end), added)))
    width = len(outcome.columns)
    if not keyed.executable or keyed.truncated or [row[:width] for row in keyed.rows] != [*outcome.rows]:
        return GoldQuery(text, outcome, places)
    return GoldQuery(text, outcome, [tuple(map(repr, row[width:])) for row in keyed.rows])


def _columns_of_order(query: ParsedQuery) -> list[int] | None:
    """Return the columns that a query sorts its rows by; None if it sorts them by something else."""
    projection = query.clauses[-1].projection
    if projection is None:
        return None
    texts: dict[str, int] = {}
    for place, item in enumerate(projection.items):
        texts.setdefault(item.name, place)
        texts.setdefault(query.at(item.expression.span), place)
    found = [texts.get(query.at(sort.expression.span)) for sort in projection.order]
    return None if None in found else [place for place in found if place is not None]


# Runs ----------------------------------------------------------------------------------------------------------------


@dataclass
class WalkedRun:
    """The records of a run with the walks of their queries, and counts for a person.

    Attributes
    ----------
    executable, same, untraced, unsupported
        Records with a query that ran, with gold's result, with a walk that isn't known, and with a query that the
        database can't judge.
    queries
        Records that log queries.
    failed
        Queries that didn't run.
    otherwise
        The questions whose logged rows differ from what their queries find, each with the numbers of rows in words.
    causes
        How often each kind of cause was found.
    examples
        The first cause of each kind, in words.
    """

    name: str
    answers: list[Answer] = field(default_factory=list)
    queries: int = 0
    executable: int = 0
    same: int = 0
    compared: int = 0
    untraced: int = 0
    unsupported: int = 0
    failed: int = 0
    otherwise: dict[str, str] = field(default_factory=dict)
    causes: dict[str, int] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, answer: Answer) -> None:
        """Add a record, and count what came of it."""
        self.answers.append(answer)
        if (found := answer.compared_result) is not None:
            self.queries += 1
            self.executable += bool(found.executable)
            self.unsupported += found.executable is None
            self.failed += round((1 - found.ran) * len(answer.queries or ())) if found.ran is not None else 0
            self.compared += found.same is not None
            self.same += bool(found.same)
            self.untraced += bool(found.executable) and found.nodes is None
            if found.cause_kind is not None:
                self.causes[found.cause_kind] = self.causes.get(found.cause_kind, 0) + 1
                self.examples.setdefault(found.cause_kind, f"{answer.question_id}: {found.cause}")

    @property
    def figures(self) -> dict[str, Any]:
        """The counts, for JSON."""
        counts = [
            *("queries", "executable", "same", "compared", "untraced", "unsupported", "failed", "otherwise"),
            *("causes", "examples"),
        ]
        return {"records": len(self.answers), **{name: getattr(self, name) for name in counts}}

    @property
    def sentence(self) -> str:
        """The counts in words."""
        if not self.queries:
            return f"{self.name}: no record logs queries; its walks stay as they are"
        parts = [
            f"{self.executable} of {counted(self.queries, 'record')} with a query that runs",
            f"{self.same} of {self.compared} with the result of gold",
        ]
        parts += [f"{counted(self.failed, 'query', 'queries')} that didn't run"] if self.failed else []
        parts += [f"{self.untraced} whose walk isn't known"] if self.untraced else []
        parts += [f"{self.unsupported} that the embedded database can't judge"] if self.unsupported else []
        return f"{self.name}: {', '.join(parts)}"

    @property
    def other_rows(self) -> str | None:
        """The note on logged rows that differ from what the queries find; None if none do."""
        if not self.otherwise:
            return None
        (name, rows), count = next(iter(self.otherwise.items())), counted(len(self.otherwise), "question")
        return f"{self.name}: the log of {count} has other rows than this graph gives now, first {name} ({rows})"
