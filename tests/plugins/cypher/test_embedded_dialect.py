"""Cypher that the embedded database takes otherwise than Neo4j: unknown there, and right on Neo4j."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphkit.database.store import Store
from graphkit.plugins.cypher.dataset_graph import kept_graph
from graphkit.plugins.cypher.query_runs import QueryRunner, query_runner
from tests.helpers import engines
from tests.helpers.engines import Neo4jServer
from tests.plugins.cypher.graphs import fill
from tests.plugins.cypher.worlds import ARTIFACTS, EDGES, world

VALUES = {"r": "WRITES", "several": ["WRITES", "READS"]}

#: Queries with the rows that they have by the rules of Cypher, and the words of the reason: two files call the third,
#: cart.ts is in line 3, and api:orders.py writes the table.
WRONG: list[tuple[str, list[list[Any]], str]] = [
    ("MATCH (f:File)-[:$('WRITES')]->(t) RETURN t.id", [["db:orders.sql"]], "dynamic labels and types"),
    ("MATCH (f:File)-[:$($r)]->(t) RETURN t.id", [["db:orders.sql"]], "dynamic labels and types"),
    ("MATCH (f:File)-[:$any($several)]->(t) RETURN t.id", [["db:orders.sql"]], "dynamic labels and types"),
    ("MATCH (f)-[:READS|$('WRITES')]->(t) RETURN t.id", [["db:orders.sql"]], "dynamic labels and types"),
    ("MATCH (f:File)-[: /* : */ $ ('WRITES')]->(t) RETURN t.id", [["db:orders.sql"]], "dynamic labels and types"),
    ("MATCH (t:$any(['Table', 'View'])) RETURN t.id", [["db:orders.sql"]], "dynamic labels and types"),
    ("MATCH (f:File) RETURN count(f) > 2 AND true AS n", [[True]], "in a predicate (AND)"),
    ("MATCH (f:File) RETURN NOT count(f) = 3 AS n", [[False]], "in a predicate (NOT)"),
    ("MATCH (f:File) RETURN max(f.line) IN [3] AS n", [[True]], "in a predicate (IN)"),
    ("MATCH (f:File) RETURN max(f.id) STARTS WITH 'web' AS n", [[True]], "in a predicate (STARTS)"),
    ("MATCH (f:File) WITH count(f) IS NULL AS n RETURN n", [[False]], "in a predicate (IS)"),
    ("MATCH (f:Table) RETURN head(collect(f)).id AS n", [["db:orders.sql"]], "before the dot of a property"),
    ("MATCH (f:File) RETURN {n: count(f) > 2}.n AS n", [[True]], "in a comparison within a map"),
    (
        "MATCH (f)-[:WRITES]->(t) RETURN f.id AS id, f, f {n: collect(t.id)} AS m",
        [["api:orders.py", "api:orders.py", {"n": ["db:orders.sql"]}]],
        "in a map projection",
    ),
    ("MATCH p = SHORTEST 1 (f:File)-[:WRITES]->+(t) RETURN t.id", [["db:orders.sql"]], "lacks it: the SHORTEST 1"),
]

#: Queries that look like those, and that both databases answer alike.
RIGHT: list[tuple[str, list[list[Any]]]] = [
    ("MATCH (f:File)-[:!CALLS]->(t) RETURN t.id", [["db:orders.sql"]]),
    ("MATCH (f:File)-[r WHERE type(r) IN $several]->(t) RETURN t.id", [["db:orders.sql"]]),
    ("MATCH (f:File) RETURN count(f) > 2 AS n", [[True]]),
    ("MATCH (f:File) RETURN all(x IN collect(f.id) WHERE x CONTAINS ':' AND x IS NOT NULL) AS n", [[True]]),
    ("MATCH (f:File) RETURN size([x IN collect(f.line) WHERE x > 2 OR x IS NULL]) AS n", [[1]]),
    ("MATCH (f:File) RETURN reduce(s = 0, x IN collect(f.line) | s + x) AS n", [[3]]),
    ("MATCH (f:File) RETURN sum(CASE WHEN f.line IS NULL AND true THEN 1 ELSE 0 END) AS n", [[2]]),
    ("MATCH (t:Table) RETURN collect(t {.id}) AS n", [[[{"id": "db:orders.sql"}]]]),
    ("MATCH (t:Table) RETURN t.repo AS repo, t.repo + toString(count(t)) AS n", [["db", "db1"]]),
    ("MATCH (t:Table) RETURN t.repo IS NULL AS none, count(t) AS n", [[False, 1]]),
    ("MATCH (t:Table) RETURN '$(' + $r AS n", [["$(WRITES"]]),
]


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QueryRunner]:
    """A runner over the small world in the embedded database."""
    folder = tmp_path_factory.mktemp("dialect")
    with kept_graph(world(folder / "data"), folder / "home") as kept, query_runner(kept) as runner:
        yield runner


def test_unknown_in_the_embedded_database(embedded: QueryRunner) -> None:
    """Neither executable nor in error: the outcome says what the database would get wrong, and that Neo4j wouldn't."""
    for query, _, reason in WRONG:
        outcome = embedded.run(query, VALUES)
        assert (outcome.executable, outcome.error, outcome.refused, outcome.nodes) == (False, None, None, None), query
        assert outcome.unsupported is not None, query
        assert reason in outcome.unsupported
        assert outcome.unsupported.endswith("; ask a Neo4j server")
    for query, rows in RIGHT:
        assert [*map(list, embedded.run(query, VALUES).rows)] == rows, query


def test_the_embedded_database_still_gets_them_wrong(embedded: QueryRunner) -> None:
    """Each query that is refused as unsupported has wrong rows there; a version that answers one right fails this test.

    Queries that both databases answer alike have equal rows by the same call.
    """
    for query, rows, reason in WRONG:
        if "lacks it" not in reason:
            found = embedded.store.query_within(query, VALUES, 100, lambda _: None).rows
            assert [*found] != rows, query
    assert all([*embedded.store.query_within(query, VALUES, 100, lambda _: None).rows] == rows for query, rows in RIGHT)


def test_neo4j_answers_them(neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    """Neo4j has the rows of each by the rules of Cypher; a dynamic type walks the edges of that type alone."""
    with Store.open(neo4j_server.settings) as store:
        engines.empty(store)
        names = ("id", "kind", "repo", "line")
        fill(
            store,
            [{key: one[key] for key in names if key in one} for one in ARTIFACTS],
            [(one["source"], one["relation"], one["target"]) for one in EDGES],
        )
    with query_runner(neo4j_server.settings, tmp_path) as runner:
        for query, rows in [(query, rows) for query, rows, _ in WRONG] + RIGHT:
            found = [
                [one.get("_id", one) if isinstance(one, dict) else one for one in row]
                for row in runner.run(query, VALUES).rows
            ]
            assert found == rows, query
        assert runner.run(WRONG[0][0]).edges == (("api:orders.py", "WRITES", "db:orders.sql"),)
