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
    (
        "MATCH (t:Table) WITH t.repo AS r, count(*) AS n WHERE t.repo = 'db' RETURN r",
        [["db"]],
        "forgets t.repo behind an aggregate",
    ),
    (
        "MATCH (t:Table) WITH toUpper(t.repo) AS r, count(*) AS n WHERE toUpper(t.repo) = 'DB' RETURN r",
        [["DB"]],
        "forgets t.repo behind an aggregate",
    ),
    (
        "MATCH (t:Table) CALL { WITH * MATCH (f)-[:WRITES]->(:Table {id: t.id}) RETURN f.id AS i } RETURN i",
        [["api:orders.py"]],
        "takes nothing over by WITH *",
    ),
    ("MATCH p = SHORTEST 1 (f:File)-[:WRITES]->+(t) RETURN t.id", [["db:orders.sql"]], "lacks it: the SHORTEST 1"),
    (
        "MATCH (f:File) WITH f.repo AS r, count(*) AS n WHERE count(*) > 1 RETURN r",
        [["web"]],
        "doesn't take an aggregate there",
    ),
    (
        "MATCH (f:File) WITH f.repo AS r, max(f.line) AS n WHERE max(f.line) = 3 AND r = 'web' RETURN n",
        [[3]],
        "doesn't take an aggregate there",
    ),
    ("MATCH (f)-[r:CALLS]->(g)-[r:WRITES]->(t) RETURN t.id", [], "takes no relationship twice"),
    (
        "MATCH (t:Table) RETURN t.repo AS r, toUpper(t.repo) + toString(count(*)) AS n",
        [["db", "DB1"]],
        "doesn't take an aggregate there",
    ),
    ("MATCH (t:Table) RETURN *, t.id AS i", [["db:orders.sql", "db:orders.sql"]], "drops * beside other columns"),
    ("MATCH (t:Table) WITH *, count(*) AS n RETURN t.id, n", [["db:orders.sql", 1]], "drops * beside other columns"),
    (
        "MATCH (f:File) RETURN f.repo AS r, count(f) AS n ORDER BY COUNT(f)",
        [["api", 1], ["web", 2]],
        "doesn't order by COUNT(f)",
    ),
    (
        "MATCH (f:File) WITH f.repo AS r, count(f) AS n ORDER BY count(f) * 2 RETURN r",
        [["api"], ["web"]],
        "doesn't order by count(f) * 2",
    ),
    (
        "MATCH (t:Table) RETURN t.id AS i, t.repo AS r UNION MATCH (t:Table) RETURN t.repo AS r, t.id AS i",
        [["db:orders.sql", "db"]],
        "takes no other order of columns in UNION",
    ),
    (
        "MATCH (t:Table) RETURN CASE WHEN (t)<-[:WRITES]-() THEN 1 ELSE 0 END AS n",
        [[1]],
        "doesn't take a pattern in a column",
    ),
    (
        "MATCH (t:Table) WITH exists((t)<-[:WRITES]-()) AS n, NOT (t)-->() AS m RETURN n, m",
        [[True, True]],
        "doesn't take a pattern in a column",
    ),
    ("MATCH (f:File) WHERE 'cart' IN f.path RETURN f.id", [], "takes no text behind IN"),
    (
        "MATCH (f:File {line: 3}) OPTIONAL MATCH (f)-[:WRITES]->(t) WITH f, t AS u WHERE NOT (u)<--() RETURN f.id",
        [["web:cart.ts"]],
        "from any node where u is null",
    ),
    (
        "MATCH (f:File {line: 3}) OPTIONAL MATCH (f)-[:WRITES]->(t) RETURN [(t)<--(g) | g.id] AS ids",
        [[[]]],
        "from any node where t is null",
    ),
]

#: Queries that Neo4j refuses, and that the embedded database would answer, with the reason: they aren't valid.
INVALID: list[tuple[str, str]] = [
    ("MATCH (f:File)", "can't end with MATCH"),
    ("MATCH (f:File) WHERE f.repo = 'web' WITH f", "can't end with WITH"),
    ("MATCH (f:File) RETURN f.id UNION MATCH (t:Table)", "can't end with MATCH"),
    ("MATCH (f:File) CALL { WITH f MATCH (f)-[:CALLS]->(g) } RETURN f.id", "can't end with MATCH"),
    ("MATCH (f:File) CALL { WITH f RETURN f.id AS id }", "can't end with CALL {}"),
    ("MATCH (f:File) RETURN f.id RETURN f.repo", "RETURN stands before the end"),
    ("MATCH (f:File) RETURN f.id LIMIT 1 SKIP 1", "LIMIT stands before SKIP"),
    ("MATCH (f:File) RETURN f.id LIMIT 1 ORDER BY f.id", "LIMIT stands before ORDER BY"),
    ("MATCH (f:File) WHERE f.repo != 'web' RETURN f.id", "writes <>"),
    ("MATCH (f:File {path: cart}) RETURN f.id", "cart isn't defined"),
    ("MATCH (f:File {path: toLower(CART)}) RETURN f.id", "CART isn't defined"),
    ("MATCH (f:File) WITH f.path AS p MATCH (g:File {path: f.path}) RETURN g.id", "f isn't defined"),
    ("MATCH (f:File) WHERE f.path = 'cart.ts' OR 'login.ts' RETURN f.id", "behind OR"),
    ("MATCH (f:File) WHERE size((f)-[:CALLS]->()) > 0 RETURN f.id", "COUNT { }"),
    ("MATCH (f:File) WHERE exists(f.line) RETURN f.id", "IS NOT NULL"),
    ("MATCH (f:File) RETURN length(f.path) AS n", "size()"),
    ("MATCH p = shortestPath((f:File)-[:CALLS]->(g)-[:WRITES]->(t)) RETURN t.id", "one relationship"),
    ("MATCH (f:File) WITH f.id, f.repo RETURN 1 AS n", "no name (AS)"),
    ("MATCH (f:File) RETURN f.id, f.id", "two columns are called f.id"),
    ("MATCH (f:File) RETURN f.repo AS r, f.id + toString(count(*)) AS n", "stands beside an aggregate"),
    ("MATCH (f:File) WITH f.repo AS r, count(*) AS n WHERE f.line > 1 RETURN r", "f.line isn't known any more"),
    ("MATCH (f:File) CALL { WITH f.repo AS r RETURN r AS s } RETURN s", "takes variables over as they are"),
    ("MATCH (f:File) CALL { WITH f, 1 AS n MATCH (f)-->(g) RETURN g } RETURN g.id", "and n isn't one"),
    ("MATCH (f:File) CALL { WITH f LIMIT 1 MATCH (f)-->(g) RETURN g } RETURN g.id", "without DISTINCT"),
    ("MATCH (f:File) CALL (f) { MATCH (f)-->(g) RETURN g.id } RETURN f.id", "g.id has no name (AS)"),
    ("MATCH (f:File) CALL { MATCH (f:Table) RETURN f } RETURN f.id", "returns f, which is known outside"),
    ("WITH 3 AS x CALL { MATCH (f {line: x}) RETURN f } RETURN f.id", "x isn't defined"),
    ("WITH 3 AS x CALL () { MATCH (f {line: x}) RETURN f } RETURN f.id", "x isn't defined"),
    ("UNWIND xs AS x RETURN x", "xs isn't defined"),
    ("MATCH (f:File) RETURN f {id, repo} AS f", "id isn't defined"),
    ("MATCH (f:File) WHERE (f)-->({id: x}) RETURN f.id", "x isn't defined"),
    ("MATCH (f:File) WHERE EXISTS { (f)-->({id: x}) } RETURN f.id", "x isn't defined"),
    ("MATCH (f:File) WHERE COUNT { MATCH (f)-->(g) MATCH ({id: x}) } > 0 RETURN f.id", "x isn't defined"),
    ("MATCH (f:File) RETURN [(f)-->(g {id: x}) | g.id] AS ids", "x isn't defined"),
    ("MATCH (f:File) RETURN {n: count(*), r: f.repo} AS m", "f stands beside an aggregate"),
    ("MATCH (f:File) RETURN f.repo AS r, count(*) AS n ORDER BY max(f.line)", "max(f.line), which is no column"),
    ("MATCH (f:File) WHERE f.path =~ '*.ts' RETURN f.id", "no regular expression: nothing to repeat"),
    ("MATCH (f:File) WHERE f.path =~ '(cart|login' RETURN f.id", "no regular expression: missing )"),
    ("MATCH (f:File) FILTER f.line > 1 RETURN f.id", "FILTER is no clause of Cypher 5"),
    ("MATCH (f:File) LET x = f.line RETURN x", "LET is no clause of Cypher 5"),
    ("CALL db.labels YIELD label RETURN label", "has no parentheses"),
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
    ("MATCH (t:Table) WHERE t.id <> 'a != b' AND 'db' IN [t.repo] RETURN t.id", [["db:orders.sql"]]),
    ("MATCH (f:File {line: 3}) MATCH (g:File {path: f.path}) RETURN g.id", [["web:cart.ts"]]),
    ("UNWIND [{p: 'cart.ts'}] AS row MATCH (f:File {path: row.p}) RETURN f.line AS n", [[3]]),
    (
        "MATCH (t:Table) CALL { WITH t MATCH (f)-[:WRITES]->(:Table {id: t.id}) RETURN f } RETURN f.path",
        [["orders.py"]],
    ),
    ("MATCH (t:Table) CALL { WITH 1 AS one RETURN one } WITH (t), one RETURN t.id, one", [["db:orders.sql", 1]]),
    ("MATCH (t:Table) WITH t, count(*) AS n WHERE t.repo = 'db' AND n = 1 RETURN n", [[1]]),
    (
        "MATCH (t:Table) RETURN t.repo AS r, [x IN collect(t) WHERE x.repo = 'db' | x.id] AS n",
        [["db", ["db:orders.sql"]]],
    ),
    ("MATCH (t:Table) WHERE exists( (t)<-[:WRITES]-() ) RETURN t.id", [["db:orders.sql"]]),
    ("MATCH p = (:File)-[:WRITES]->(:Table) WHERE length(p) = 1 RETURN length(p) AS n", [[1]]),
    ("MATCH (f:File) RETURN f.line AS limit ORDER BY limit LIMIT 1", [[3]]),
    ("MATCH (f:File) RETURN f.repo AS r, count( f ) AS n ORDER BY count(f), f.repo", [["api", 1], ["web", 2]]),
    ("WITH 3 AS x CALL { WITH x AS x MATCH (f {line: x}) RETURN f } RETURN f.path", [["cart.ts"]]),
    ("WITH 3 AS x CALL (*) { MATCH (f {line: x}) RETURN f } RETURN f.path", [["cart.ts"]]),
    ("WITH {id: 1} AS m, 2 AS b RETURN m {.id, b} AS n", [[{"id": 1, "b": 2}]]),
    ("MATCH (f:File {line: 3}) WHERE EXISTS { MATCH (g {repo: f.repo}) WHERE g <> f } RETURN f.path", [["cart.ts"]]),
    ("MATCH (t:Table) RETURN any(x IN [t.repo] WHERE EXISTS { MATCH ({repo: x}) }) AS n", [[True]]),
    ("MATCH (t:Table) RETURN t.repo AS r, {n: count(*), r: t.repo} AS m", [["db", {"n": 1, "r": "db"}]]),
    ("MATCH (t:Table) WITH *, t.id AS i RETURN i", [["db:orders.sql"]]),
    (
        "MATCH (f:File) OPTIONAL MATCH (f)-->(t:Table) WHERE (t)<--(f) RETURN [(f)-->(g) | g.id] AS ids, t.id "
        "ORDER BY f.path LIMIT 1",
        [[["api:orders.py"], None]],
    ),
    (r"MATCH (f:File) WHERE f.path =~ '(?i)CART\\.ts|^*x' RETURN f.path", [["cart.ts"]]),
    (r"MATCH (t:Table) RETURN t.id =~ '\\Q(\\E|(?<n>d).*' AS n", [[True]]),
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


def test_queries_that_neo4j_refuses_are_not_valid(embedded: QueryRunner) -> None:
    """They are in error, with the reason, as they would be on Neo4j: a log can't score by Cypher that isn't any."""
    for query, reason in INVALID:
        outcome = embedded.run(query, VALUES)
        assert (outcome.executable, outcome.refused, outcome.unsupported) == (False, None, None), query
        assert outcome.error is not None, query
        assert reason in outcome.error, (query, outcome.error)


def test_the_embedded_database_still_gets_them_wrong(embedded: QueryRunner) -> None:
    """Each query that is refused as unsupported has wrong rows there; a version that answers one right fails this test.

    Queries that both databases answer alike have equal rows by the same call. Those that Neo4j refuses have rows there.
    """
    for query, _ in INVALID:
        embedded.store.query_within(query, VALUES, 100, lambda _: None)
    for query, rows, reason in WRONG:
        if not any(words in reason for words in ("lacks it", "doesn't take", "takes no")):  # those are in error there
            found = embedded.store.query_within(query, VALUES, 100, lambda _: None).rows
            assert [*found] != rows, query
    assert all([*embedded.store.query_within(query, VALUES, 100, lambda _: None).rows] == rows for query, rows in RIGHT)


def test_neo4j_answers_them(neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    """Neo4j has the rows of each by the rules of Cypher; a dynamic type walks the edges of that type alone."""
    with Store.open(neo4j_server.settings) as store:
        engines.empty(store)
        names = ("id", "kind", "repo", "path", "line")
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
        for query, _ in INVALID:
            assert runner.run(query, VALUES).error is not None, query
        assert runner.run(WRONG[0][0]).edges == (("api:orders.py", "WRITES", "db:orders.sql"),)
