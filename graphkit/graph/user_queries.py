"""Queries that a user asks the graph: a named query, a file, or the text itself; always read-only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphkit.database.store import Store
from graphkit.database.values import Subgraph
from graphkit.errors import InputError, did_you_mean, missing_file
from graphkit.graph.known_names import partial_runs, require_question, require_run
from graphkit.graph.queries import NO_LIMIT, cypher, named_query, parse_value, read_query
from graphkit.graph.score_nodes import gradings

#: The parameters that name something which the graph must hold: in the named queries, and by custom in any other.
_NAMES = ("run", "other", "question")


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The rows of a query: its columns, the rows within its limit, and the number of all rows.

    ``subgraph`` holds the nodes and relationships of all rows, if they were asked for.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    total: int
    subgraph: Subgraph = field(default_factory=Subgraph)

    @property
    def texts(self) -> list[list[Any]]:
        """The rows, with nodes, relationships and paths as Cypher writes them."""
        return [[pattern_text(value) for value in row] for row in self.rows]


@dataclass(frozen=True, slots=True)
class UserQuery:
    """A query with its parameters; ``names`` are those that name something, and ``named`` holds for a named query.

    A query that has a header has a ``title``, and says in a sentence what it ``answers``.
    """

    text: str
    parameters: Mapping[str, object]
    names: Mapping[str, str]
    named: bool
    title: str = ""
    answers: str = ""

    def unknown_names(self, store: Store) -> Iterator[InputError]:
        """Yield an error for each name that the graph doesn't hold: no rows would look as if nothing were wrong."""
        for name, value in self.names.items():
            try:
                if name == "question":
                    require_question(store, value, self._dataset(store))
                else:
                    require_run(store, value)
            except InputError as error:
                yield error
        if self.named and "measure" in self.parameters and (run := self.names.get("run")) is not None:
            measure, known = str(self.parameters["measure"]), gradings(store, run)
            if measure not in known:
                remedy = f"{did_you_mean(measure, known)}`graphkit evaluate` says by -m what else scores it."
                yield InputError(f"the graph holds no scores of {run} by {measure}", remedy=remedy)

    def _dataset(self, store: Store) -> str | None:
        """Return the dataset of the run that is named, whose questions are meant; None if there is none."""
        runs = {str(row["id"]): str(row["dataset"]) for row in store.read(cypher("read/runs"))}
        return runs.get(self.names.get("run", ""))

    def notes(self, store: Store) -> list[str]:
        """Return a sentence on each named run that is stored in part; of a query without one, on all such runs."""
        partial = partial_runs(store)
        named = {value for name, value in self.names.items() if name != "question"}
        return [words for name, words in partial.items() if name in named or not named]

    def run(self, store: Store, *, allow_load_csv: bool = False, draw: bool = False) -> QueryRows:
        """Return the rows, to ``draw`` with their nodes and relationships.

        ``allow_load_csv`` lets a query of the user's own reach beyond the graph, see :meth:`Store.query_readonly`.

        Raises
        ------
        InputError
            A parameter holds a value that the database can't hold, or the query reaches beyond the graph.
        """
        limit = self._limit()
        # A run may be called 2026, and a question 17: both are texts in the graph.
        parameters = {**self.parameters, **self.names, **({} if limit is None else {"limit": NO_LIMIT})}
        subgraph = Subgraph()
        allowed, wanted = allow_load_csv or self.named, subgraph if draw else None
        try:
            columns, rows = store.query_readonly(self.text, parameters, allow_load_csv=allowed, subgraph=wanted)
        except (OverflowError, UnicodeEncodeError):
            raise InputError(
                "a parameter holds what the database can't",
                remedy="Whole numbers have at most 64 bits, and text holds no half characters (\\ud800 to \\udfff).",
            ) from None
        return QueryRows(columns, rows[:limit], len(rows), subgraph)

    def _limit(self) -> int | None:
        """Return the number of rows to keep; None if the query is not a named one, or has no usable limit."""
        limit = self.parameters.get("limit")
        return limit if self.named and isinstance(limit, int) and not isinstance(limit, bool) and limit >= 0 else None


#: The properties that name a node of a label; any other is named by the first that it has of the last ones.
_NAMING: dict[str, tuple[str, ...]] = {
    **{"Answer": ("run", "question"), "Score": ("measure", "value"), "GoldPath": ("question", "id")},
    **{"RetrievedPath": ("run", "question", "index"), "Commit": ("repo", "sha"), "Verdict": ("judge", "question")},
    **{"Grading": ("run", "measure"), "Judging": ("run", "judge"), "Execution": ("run", "question")},
}
_ANY_NAME = ("id", "name", "key", "text")


def node_name(node: Mapping[str, Any]) -> str:
    """Return what names a node among those of its label, empty if nothing does.

    >>> node_name({"_labels": ["Score"], "measure": "EdgeRecall", "value": 0.5, "run": "r"})
    'EdgeRecall 0.5'
    """
    naming = next((_NAMING[label] for label in node["_labels"] if label in _NAMING), None)
    if naming is None:
        naming = next(((name,) for name in _ANY_NAME if node.get(name) is not None), ())
    return " ".join(str(node[name]) for name in naming if node.get(name) is not None)


def relationship_name(relationship: Mapping[str, Any]) -> str:
    """Return the type of a relationship, and its relation."""
    return " ".join(filter(None, (relationship["_type"], relationship.get("relation"))))


def pattern_text(value: Any) -> Any:
    """Return a node, a relationship or a path as a pattern of Cypher, each by its name; any other value as it is.

    >>> ask, answer = {"_labels": ["Question"], "id": "q1"}, {"_labels": ["Answer"], "run": "r", "question": "q1"}
    >>> pattern_text([ask, {"_type": "ANSWERS", "_reversed": True}, answer])
    '(:Question q1)<-[:ANSWERS]-(:Answer r q1)'
    """
    if isinstance(value, dict):
        if "_labels" in value:
            name = node_name(value)
            return f"(:{'&'.join(value['_labels'])}{' ' if name else ''}{name})"
        if "_type" in value:
            line = f"-[:{relationship_name(value)}]-"
            return f"<{line}" if value.get("_reversed") else f"{line}>"
        return {name: pattern_text(one) for name, one in value.items()}
    if isinstance(value, list):
        parts = [pattern_text(one) for one in value]
        return "".join(parts) if _is_path(value) else parts
    return value


def _is_path(value: Sequence[Any]) -> bool:
    """Return whether a list is a path: nodes with relationships between them."""
    if len(value) < 3 or len(value) % 2 == 0:  # a path of one node is the list of that
        return False
    keys = ("_labels", "_type")
    return all(isinstance(one, dict) and keys[place % 2] in one for place, one in enumerate(value))


def user_query(source: str | None, expression: str | None, given: Mapping[str, str]) -> UserQuery:
    """Return a query with its parameters.

    Parameters
    ----------
    source, expression
        The name of a named query, a file, or the text of a query: a name has no spaces and brackets.
    given
        The parameters as texts, of which JSON becomes its value.

    Raises
    ------
    InputError
        Not exactly one of both is given, there is no such query or file, or a parameter doesn't fit.
    """
    if (source is None) == (expression is None):
        raise InputError(
            "give either a query's name or file, or its text by -e", remedy="`graphkit queries` lists the named ones."
        )
    values: dict[str, object] = {name: parse_value(value) for name, value in given.items()}
    if source is None or _is_cypher(source):
        expression = source if source is not None else expression
        return UserQuery(str(expression), values, _names(values, given), False)
    path = Path(source)
    if path.suffix in {".cypher", ".cql"} or path.is_file():
        if not path.is_file():
            raise missing_file(source, "`graphkit queries` lists the named ones. ")
        own = read_query(path)
        bound = own.bind(values) if own.parameters else values
        return UserQuery(own.text, bound, _names(bound, given), False, own.title, own.answers)
    named = named_query(source)
    bound = named.bind(values)
    return UserQuery(named.text, bound, _names(bound, given, named=True), True, named.title, named.answers)


def _is_cypher(source: str) -> bool:
    """Return whether this is the text of a query, and neither a name nor a file."""
    if not re.search(r"[\s(]", source):
        return False
    try:
        return not (Path(source).is_file() or re.search(r"\.(cypher|cql)$", source))
    except (OSError, ValueError):  # too long for a path, or with a character that none has
        return True


def _names(bound: Mapping[str, object], given: Mapping[str, str], named: bool = False) -> dict[str, str]:
    """Return the parameters that name something, as texts; in a query of the user's own a list may hold several."""
    values = {name: value for name in _NAMES if (value := bound.get(name)) is not None}
    return {
        name: value if isinstance(value, str) else given.get(name, str(value))
        for name, value in values.items()
        if named or isinstance(value, str | int | float)
    }
