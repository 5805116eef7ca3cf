"""The effort of an answer: time, cost, tokens and calls as its record states them, and the length of its walk.

Lower is better, and no value is the worst: a question that isn't logged or failed fails a bound, as with StepsToGold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.edges import NO_PATH, EdgeMeasure
from graphkit.measures.matching import Edge, contained, without_direction, without_relation
from graphkit.measures.unscored import NO_EARLIER_TURN, NO_ORDER, NO_TRAVERSAL, Unscored

NO_GOLD_WALKED = "no gold edge was traversed"
UNKNOWN_BEFORE = "the record doesn't state what earlier turns walked (not logged)"


def _not_stated(what: str) -> str:
    return f"the record doesn't state {what} (not logged)"


class EffortMeasure(Measure):
    """Base of the measures of effort."""

    higher_is_better = False
    highest = None


class StatedMeasure(EffortMeasure):
    """Base of the measures of what a record states of its usage."""

    source = "the usage that the record states"
    layer = "generation"
    query = "usage"

    #: The field of the record, how many of its units the measure's unit has, and the reason without it.
    field: ClassVar[str]
    per_unit: ClassVar[float] = 1.0
    unlogged: ClassVar[str]

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        if not cls.is_custom():
            parameters = {"field": cls.field, "per_unit": cls.per_unit, "unlogged": cls.unlogged}
            cls.query_parameters = MappingProxyType(parameters)

    def value(self, case: Case) -> float | Unscored:
        stated: float | None = getattr(case.answer, self.field, None)
        return Unscored(self.unlogged) if stated is None else stated / self.per_unit


class Latency(StatedMeasure):
    """Seconds that the answer took: the record's ``latency_ms`` / 1000.

    ``--fail-over Latency=2s`` bounds the mean, ``--fail-over latency_p95=5s`` the 95th percentile, and
    ``--fail-question Latency=10s`` each question. The efficiency table beside the scores has median and 95th percentile
    as well. StepsToGold counts calls until gold was seen, whatever they took.
    """

    field = "latency_ms"
    per_unit = 1000.0
    unlogged = _not_stated("its latency")


class Cost(StatedMeasure):
    """Cost of the answer: the record's ``cost``, in the currency of its log.

    It is the cost of the system under test; what a judge costs is no part of it.
    """

    field = "cost"
    unlogged = _not_stated("its cost")


class PromptTokens(StatedMeasure):
    """Tokens of all prompts of the answer: the record's ``prompt_tokens``.

    They grow with the retrieved context, whether the answer uses it (UsedShare, Integration) or not.
    """

    field = "prompt_tokens"
    unlogged = _not_stated("its prompt tokens")
    aliases = ("prompt_tokens", "input_tokens")


class OutputTokens(StatedMeasure):
    """Tokens of all replies of models for the answer: the record's ``output_tokens``.

    They count what the models wrote on the way as well, not only the text of the answer.
    """

    field = "output_tokens"
    unlogged = _not_stated("its output tokens")
    aliases = ("output_tokens", "completion_tokens")


class ModelCalls(StatedMeasure):
    """Calls of language models for the answer: the record's ``model_calls``.

    Calls of tools are other calls: StepsToGold and Redundancy look at those.
    """

    field = "model_calls"
    unlogged = _not_stated("its model calls")
    aliases = ("model_calls", "llm_calls")


class WalkMeasure(EffortMeasure):
    """Base of the measures of the length of a walk, whatever gold is."""

    source = "length of the traversal"
    query = "walk_length"


class Hops(WalkMeasure):
    """Number of edges traversed, each as often as its path goes over it.

    Retrieved paths count one after the other. What a path has in common with an earlier one, such as a beginning that
    both are written with, was traversed there. EdgePrecision says which share of the distinct edges is gold; this is
    how many edges there were at all.
    """

    query_parameters = {"counted": "steps", "unlogged": NO_TRAVERSAL}

    def value(self, case: Case) -> float | Unscored:
        return float(len(_walk(case))) if case.walk_logged else Unscored(NO_TRAVERSAL)


class VisitedNodes(WalkMeasure):
    """Number of distinct nodes that the traversal came to: both ends of each of its edges.

    Nodes that were only retrieved as chunks don't count, nor do neighbours that a call showed and the walk left alone.
    Hops counts edges, so that it also grows where a walk comes back to a node.
    """

    query_parameters = {"counted": "nodes", "unlogged": NO_TRAVERSAL}

    def value(self, case: Case) -> float | Unscored:
        return float(len(case.reached)) if case.walk_logged else Unscored(NO_TRAVERSAL)


@dataclass(frozen=True)
class RepeatedEdges(WalkMeasure):
    """Number of edges that a path traversed again: Hops less the distinct edges.

    Edges are the same if source, relation and target are. An edge that an earlier path has isn't repeated, since most
    logs write each path from its beginning. Redundancy is the share of ids that tool calls showed again, for logs of
    calls.

    ``across="turns"`` also counts the edges that an earlier turn of the question's session traversed: Hops less the
    distinct edges that no earlier turn has. A question without an earlier turn is then not scored.
    """

    across: str = "path"

    query = "repeated_edges"
    query_parameters = {"unlogged": NO_TRAVERSAL, "first": NO_EARLIER_TURN, "unknown": UNKNOWN_BEFORE}

    def __post_init__(self) -> None:
        if self.across not in ("path", "turns"):
            raise ValueError(f'across must be "path" or "turns", not {self.across!r}')

    def value(self, case: Case) -> float | Unscored:
        turns = self.across == "turns"
        if turns and (case.question.turn or 1) == 1:
            return Unscored(NO_EARLIER_TURN, of_question=True)
        before = case.walked_before if turns else {}
        if not case.walk_logged or before is None:
            return Unscored(UNKNOWN_BEFORE if case.walk_logged else NO_TRAVERSAL)
        return float(len(_walk(case)) - len(case.walked.difference(before)))


class StoppingDepth(EdgeMeasure):
    """Number of edges traversed after the last gold edge was first traversed.

    It is how far the system went on when it had found all that it would find: 0 if it stopped there. Edges are counted
    as by Hops. Optional steps are gold edges as in EdgePrecision, and to traverse one again doesn't make
    it the last. If no gold edge was traversed, it is not scored: EdgeRecall is 0 then. StepsToGold counts what came
    before, in calls.
    """

    source = "stopping of graph traversal agents, in edges"
    query = "stopping_depth"
    query_parameters = {
        "unscored": NO_PATH,
        "unlogged": NO_TRAVERSAL,
        "unordered": NO_ORDER,
        "unwalked": NO_GOLD_WALKED,
    }
    higher_is_better = False
    highest = None

    def value(self, case: Case) -> float | Unscored:
        if not case.gold_edges:
            return Unscored(NO_PATH, of_question=True)
        if not case.walk_logged:
            return Unscored(NO_TRAVERSAL)
        if not case.ordered:
            return Unscored(NO_ORDER)
        form, untyped = self._form(), self.relation and case.untyped
        first: dict[Edge, int] = {}
        walk = _walk(case)
        for place, edge in enumerate(walk):
            first.setdefault(form(edge), place)
        gold = set(map(form, case.gold_edges))
        last = max(min((first[edge] for edge in contained(first, [one], untyped)), default=-1) for one in gold)
        return float(len(walk) - 1 - last) if last >= 0 else Unscored(NO_GOLD_WALKED)

    def _form(self) -> Callable[[Edge], Edge]:
        if self.relation:
            return (lambda edge: edge) if self.directed else without_direction
        return without_relation if self.directed else lambda edge: without_direction(without_relation(edge))


def _walk(case: Case) -> list[Edge]:
    """Return the edges of all paths in order, without those that an earlier path has."""
    if len(case.walked_paths) == 1:
        return case.walked_paths[0]
    found: list[Edge] = []
    earlier: set[Edge] = set()
    for path in case.walked_paths:
        found += [edge for edge in path if edge not in earlier]
        earlier.update(path)
    return found
