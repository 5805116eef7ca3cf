"""Measures of generated queries: whether they run, what they return, and which nodes their patterns match."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.owners import OF_QUESTION
from graphkit.measures.unscored import Unscored
from graphkit.records.structs import ComparedResultStruct
from graphkit.records.unanswered import NOT_LOGGED

NO_QUERY = f"the question has no gold query{OF_QUESTION}"
NOT_RUN = f"no query of the record was run over the graph: `graphkit cypher` does so{NOT_LOGGED}"
UNTOLD = "it isn't known what the query matched"


class QueryMeasure(Measure):
    """Base of the measures of what ``graphkit cypher`` found by running the queries of a record and of gold.

    A record may hold several queries, as after an error: the last one that runs gives the result, and all that run give
    the nodes. A query with a logged ``error`` gave the system no rows, so it doesn't run.
    """

    layer = "retrieval"
    query = "query_results"

    #: The measure's name in its Cypher query, and whether a question needs a gold query.
    asks: ClassVar[str]
    needs_gold: ClassVar[bool] = True

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        if not cls.is_custom() and "asks" in cls.__dict__:
            reasons = {"unscored": NO_QUERY, "unlogged": NOT_RUN, "untold": UNTOLD, "not_logged": NOT_LOGGED}
            cls.query_parameters = {"measure": cls.asks, **reasons}

    def value(self, case: Case) -> float | Unscored:
        if self.needs_gold and not case.question.gold_cypher:
            return Unscored(NO_QUERY, of_question=True)
        compared = case.answer.compared_result if case.answer is not None else None
        if compared is None:
            return Unscored(NOT_RUN)
        if compared.executable is None:
            return Unscored(f"{compared.reason}{NOT_LOGGED}" if compared.reason else NOT_RUN)
        if not compared.executable:
            return 0.0
        value = self.of(compared)
        return Unscored(f"{compared.reason or UNTOLD}{NOT_LOGGED}") if value is None else value

    @abstractmethod
    def of(self, compared: ComparedResultStruct) -> float | None:
        """Return the value of a record with a query that ran; None if that can't be told."""


class Executable(QueryMeasure):
    """Queries of the record that run on the graph and only read it / all queries of the record.

    A query that isn't valid Cypher, that would write, that runs past its limits, or whose log holds an ``error`` is not
    executable. A record that logs no query is not scored, nor is one with a query that the embedded database would take
    otherwise than Neo4j, with the reason; one that says that the system wrote none is 0.
    """

    source = "executable rate of CypherBench (Feng et al. 2025), of queries that may be run"
    asks = "executable"
    needs_gold = False
    aliases = ("executable_rate",)

    def of(self, compared: ComparedResultStruct) -> float | None:
        return 1.0 if compared.ran is None else compared.ran


class ResultAccuracy(QueryMeasure):
    """1 if the result of the record's query is that of a gold query, else 0.

    Results are bags of rows, and the order and the names of columns don't count; the order of rows does where gold has
    one, up to ties. Nodes are compared by their ids, and numbers up to 1e-6 of the larger. A query that doesn't run, or
    whose log holds an ``error``, is 0. If gold fails or returns nothing the question is stale. A result that the limit
    on rows cuts is 0 if gold has fewer rows; if gold is cut, too, it is not scored.
    """

    source = "execution accuracy of CypherBench (Feng et al. 2025)"
    asks = "accuracy"
    aliases = ("result_accuracy", "execution_accuracy")

    def of(self, compared: ComparedResultStruct) -> float | None:
        return None if compared.same is None else float(compared.same)


class PSJS(QueryMeasure):
    """Nodes that the patterns of both queries match / nodes that those of either match.

    They are matched in rows that contribute to the result: the provenance subgraph Jaccard similarity. Both empty is 1;
    a query that doesn't run is 0. If what a query matches can't be traced it is not scored, with the reason. Of gold
    alternatives the closest one counts.
    """

    source = "PSJS of CypherBench (Feng et al. 2025), by provenance that is traced"
    asks = "psjs"
    aliases = ("provenance_subgraph_jaccard_similarity",)

    def of(self, compared: ComparedResultStruct) -> float | None:
        if compared.nodes is None or compared.gold_nodes is None:
            return None
        given, gold = set(compared.nodes), set(compared.gold_nodes)
        return len(given & gold) / len(given | gold) if given | gold else 1.0
