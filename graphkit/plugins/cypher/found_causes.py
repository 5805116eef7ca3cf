"""The cause of each wrong query of a run, for its records."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import islice, product
from typing import Any

from graphkit.plugins.cypher.cypher_text import CypherSyntaxError, ParsedQuery, cleaned, parsed
from graphkit.plugins.cypher.expression_parts import compared_properties, with_values
from graphkit.plugins.cypher.names_of_graph import KnownNames
from graphkit.plugins.cypher.outcomes import QueryOutcome
from graphkit.plugins.cypher.query_causes import (
    MOST_SECONDS,
    QueryDiagnosis,
    WalkedEdge,
    WantedWalk,
    diagnosed,
    diagnosed_walk,
    walk_query,
)
from graphkit.plugins.cypher.query_runs import QueryRunner
from graphkit.plugins.cypher.query_walks import FoundCause, GoldFound
from graphkit.records.models import GoldPath, GraphQuery, Question

#: Gold paths that are enough together, of groups with alternatives: how many choices are compared.
MOST_CHOICES = 16


class CauseFinder:
    """Finds what is wrong with queries over one graph; see :mod:`graphkit.plugins.cypher.query_causes`.

    Gold is the result of the gold queries, or, where there is none, the question's gold paths.

    Parameters
    ----------
    seconds
        How long the search for one cause may take.
    """

    def __init__(self, runner: QueryRunner, *, seconds: float = MOST_SECONDS) -> None:
        self._runner = runner
        self._seconds = seconds
        self._names = KnownNames(self._rows)
        self._nodes: dict[str, dict[str, Any]] = {}

    def __call__(
        self, question: Question, gold: GoldFound, query: GraphQuery, outcome: QueryOutcome
    ) -> FoundCause | None:
        """Return the cause; None if the query is right, or there is no gold to compare it with."""
        if not gold.queries and not question.paths:
            return None
        if outcome.refused is not None:
            return FoundCause(f"It was refused: {outcome.refused}", "refused")
        text = cleaned(query.cypher)[0]
        try:
            read = parsed(with_values(text, query.parameters))
        except CypherSyntaxError as error:
            reason = outcome.error or str(error)
            return None if outcome.executable else FoundCause(f"It isn't valid Cypher: {reason}", "not valid Cypher")
        if not gold.queries and (absent := self._absent(question)) is not None:
            sentence = f"The gold path isn't in this graph, which has no node {absent}"
            return FoundCause(sentence, "gold path that the graph lacks")
        found = self._diagnosis(question, gold, read, query, outcome)
        if found is None or found.right:
            return None
        if not (found.causes or found.unknown) and outcome.error is not None:
            return FoundCause(f"It doesn't run: {outcome.error}", "doesn't run")
        return FoundCause(found.sentence, found.category)

    def _diagnosis(
        self, question: Question, gold: GoldFound, read: ParsedQuery, query: GraphQuery, outcome: QueryOutcome
    ) -> QueryDiagnosis | None:
        run = partial(self._runner.run, parameters=query.parameters)
        if gold.queries:
            return diagnosed(read, outcome, gold, run, self._names, most_seconds=self._seconds)
        walks = self._walks(question, _keys(read))
        if not walks or (outcome.executable and outcome.edges is None):
            return None
        return diagnosed_walk(read, outcome, walks, run, self._names, most_seconds=self._seconds)

    def _walks(self, question: Question, keys: Iterable[str]) -> list[WantedWalk]:
        """Return the edges of each choice among the question's alternatives."""
        groups: dict[str, list[GoldPath]] = {}
        for place, path in enumerate(question.paths):
            groups.setdefault(path.group if path.group is not None else f"\0{place}", []).append(path)
        walks = []
        for choice in islice(product(*groups.values()), MOST_CHOICES):
            steps: dict[WalkedEdge, None] = {
                (step.source, step.relation, step.target): None
                for path in choice
                for step in path.steps
                if not step.optional and step.relation is not None
            }
            if steps:
                known = {end: self._known(end, keys) for edge in steps for end in (edge[0], edge[2])}
                walks.append(WantedWalk(walk_query([*steps], known), frozenset(steps)))
        return walks

    def _absent(self, question: Question) -> str | None:
        """Return a node of the gold paths that the graph lacks if it lacks an end of each required edge; else None."""
        ends = [(step.source, step.target) for path in question.paths for step in path.steps if not step.optional]
        key = (self._runner.id_property,)
        absent = [next((end for end in both if not self._known(end, key)), None) for both in ends]
        return absent[0] if absent and None not in absent else None

    def _known(self, node: str, keys: Iterable[str]) -> dict[str, Any]:
        """Return the properties of a node that a query names."""
        if node not in self._nodes:
            name = self._runner.id_property.replace("`", "``")
            rows = self._rows(f"MATCH (n) WHERE n.`{name}` = $id RETURN properties(n) LIMIT 1", {"id": node})
            self._nodes[node] = dict(rows[0][0]) if rows else {}
        return {key: self._nodes[node][key] for key in keys if key in self._nodes[node]}

    def _rows(self, text: str, parameters: Any) -> list[list[Any]]:
        return self._runner.store.query_readonly(text, parameters)[1]


def _keys(query: ParsedQuery) -> list[str]:
    """Return the properties that a query names, in order."""
    keys = {one.name.text: None for path in query.paths() for part in path.elements() for one in part.properties}
    keys.update({name.text: None for name in compared_properties(query)})
    return [*keys]
