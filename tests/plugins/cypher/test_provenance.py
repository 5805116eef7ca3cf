"""Provenance: the nodes and edges that the patterns of a query bind in the rows that reach its result."""

from __future__ import annotations

import pytest

from graphkit.database.store import Store
from graphkit.plugins.cypher.cypher_text import CypherSyntaxError, parsed
from graphkit.plugins.cypher.provenance import Untraceable, traced
from tests.plugins.cypher.graphs import bound, fill

NODES = [
    {"id": "cart", "kind": "File"},
    {"id": "login", "kind": "File"},
    {"id": "orders", "kind": "File"},
    {"id": "users", "kind": "File"},
    {"id": "t_orders", "kind": "Table"},
    {"id": "t_users", "kind": "Table"},
]
CART, LOGIN = ("cart", "CALLS", "orders"), ("login", "CALLS", "users")
WRITES = ("orders", "WRITES", "t_orders")
READS, READS_TOO = ("orders", "READS", "t_users"), ("users", "READS", "t_users")
EDGES = [CART, LOGIN, WRITES, READS, READS_TOO]


@pytest.fixture
def shop(store: Store) -> Store:
    """Six files and tables, two of which call another one."""
    fill(store, NODES, EDGES)
    return store


# The table of the seven questions: the query of gold, that of a system, and the edges that each binds. Nodes are the
# ends of the edges.
SEVEN = [
    (
        "MATCH (a:File {id: 'cart'})-[:CALLS]->(b:File)-[:READS|WRITES]->(t:Table) RETURN t.id AS t ORDER BY t",
        {CART, WRITES, READS},
    ),
    ("MATCH (a:File {id: 'cart'})<-[:CALLS]-(b:File)-[:READS|WRITES]->(t:Table) RETURN t.id AS t ORDER BY t", set()),
    ("MATCH (f:File)-[:READS]->(:Table {id: 't_users'}) RETURN f.id", {READS, READS_TOO}),
    ("MATCH (f:File)-[:READS|WRITES]->(:Table {id: 't_users'}) RETURN f.id AS file", {READS, READS_TOO}),
    ("MATCH (f:File)-[:CALLS]->(:File {id: 'users'}) RETURN count(f) AS n", {LOGIN}),
    ("MATCH (f:File)-[:CALLS]->(:File {id: 'orders'}) RETURN count(f) AS n", {CART}),
    ("MATCH (f:File)-[:CALLS]->(:File) RETURN DISTINCT f.id", {CART, LOGIN}),
    ("MATCH (f:File)-[:CALLS]-(:File) RETURN DISTINCT f.id", {CART, LOGIN}),
    ("MATCH (:File {id: 'login'})-[:CALLS]->(g:File) RETURN g.id", {LOGIN}),
    ("MATCH (:Module {id: 'login'})-[:CALLS]->(g) RETURN g.id", set()),
    ("MATCH (:File)-[:WRITES]->(t:Table) RETURN t.id", {WRITES}),
]


def test_queries_of_the_seven_questions(shop: Store) -> None:
    """Each query binds the edges that the table names, and their ends."""
    for cypher, edges in SEVEN:
        _, nodes, found = bound(shop, cypher)
        assert (found, nodes) == (edges, {end for source, _, target in edges for end in (source, target)}), cypher


def test_what_is_no_query_and_what_writes() -> None:
    """A query that isn't closed says where; one that writes is never traced."""
    with pytest.raises(CypherSyntaxError, match=r"'\(' isn't closed \(line 1, column 26\)"):
        parsed("MATCH (:File)-[:WRITES]->(t:Table RETURN t.id")
    with pytest.raises(Untraceable, match="it would write"):
        traced(parsed("MATCH (n) DETACH DELETE n"))
