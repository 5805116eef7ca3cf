"""Queries that reach beyond the graph are known by their plans."""

from __future__ import annotations

from typing import Any

import pytest

from graphkit.database.outside import explaining, refuse_outside
from graphkit.errors import InputError


def plan(operator: str, details: str) -> dict[str, Any]:
    """Return a plan as Neo4j 5.26 gives it: the operator under the one that yields the rows."""
    inner = {"operatorType": f"{operator}@neo4j", "args": {"Details": details}}
    return {"operatorType": "ProduceResults@neo4j", "args": {"Details": "x"}, "children": [inner]}


@pytest.mark.parametrize(
    ("operator", "details", "what"),
    [
        ("LoadCSV", "l", "LOAD CSV"),
        ("Projection", 'COLLECT { LOAD CSV FROM "x" AS l RETURN l AS l } AS x', "LOAD CSV"),
        ("ProcedureCall", "apoc.load.json($autostring_0) :: (value :: MAP)", "apoc.load.json"),
        ("ProcedureCall", "fetch($autostring_0) :: (value :: MAP)", "fetch"),
        ("Projection", "[x IN $a | COLLECT { ResolvedCall(apoc.load.csv(x) :: value :: MAP) }] AS x", "apoc.load.csv"),
        ("Filter", "n.id = apoc.cypher.runFirstColumnSingle($autostring_0, {})", "apoc.cypher.runFirstColumnSingle"),
        ("Projection", "`my own`.`f`($a) AS x", "my own.f"),
        ("ProcedureCall", "dbms.listConfig($autostring_0) :: (name :: STRING)", "dbms.listConfig"),
        ("ProcedureCall", "genai.vector.encodeBatch($a) :: (vector :: LIST)", "genai.vector.encodeBatch"),
        ("TerminateTransactions", "transactions(x)", "TERMINATE TRANSACTIONS"),
    ],
)
def test_refused(operator: str, details: str, what: str) -> None:
    """Operators, calls in operators' details, and subqueries in them are found."""
    with pytest.raises(InputError, match=f"the query uses {what}, "):
        refuse_outside(plan(operator, details))


@pytest.mark.parametrize(
    ("operator", "details"),
    [
        ("Projection", "$autostring_0 AS x"),
        ("Projection", "date.truncate($autostring_0, date()) AS x, point.distance(a.p, b.p) AS d"),
        ("ProcedureCall", "db.index.fulltext.queryNodes($autostring_0, toString(n.x)) :: (node :: NODE)"),
        ("ProcedureCall", "dbms.components() :: (name :: STRING)"),
        ("VarLengthExpand(All)", "p = (a)-[anon_0*..2]->(b) WHERE all(x IN nodes(p) WHERE x.a IN $autolist_1)"),
        ("Repeat(Trail)", "(anon_0) (...){1, 3} (anon_1)"),
        ("NodeIndexSeek", "RANGE INDEX q:Question(id) WHERE id = $autostring_0"),
    ],
)
def test_passed(operator: str, details: str) -> None:
    """What only reads the graph passes."""
    refuse_outside(plan(operator, details))
    refuse_outside(None)


def test_plans_in_rows() -> None:
    """Servers that describe a plan in rows name the operator there."""
    with pytest.raises(InputError, match="LOAD CSV"):
        refuse_outside(None, [[" * Produce {l}"], [" * LoadCsv {l}"]])


def test_profile_is_explained() -> None:
    """EXPLAIN takes the place of PROFILE, which Neo4j refuses beside it."""
    assert explaining(" profile RETURN 1").split() == ["EXPLAIN", "RETURN", "1"]
    assert explaining("RETURN 'PROFILE'") == "EXPLAIN RETURN 'PROFILE'"
