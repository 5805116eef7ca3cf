"""Provenance: the nodes and edges that the patterns of a query bind in the rows that reach its result."""

from __future__ import annotations

import pytest

from graphkit.database.store import Store
from graphkit.plugins.cypher.cypher_text import CypherSyntaxError, parsed
from graphkit.plugins.cypher.provenance import Untraceable, traced
from tests.helpers.engines import Neo4jServer, empty
from tests.plugins.cypher.graphs import Edge, bound, fill, rows_of

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


# What each form binds, derived by hand from the five edges: the query, its edges, nodes beyond their ends, and the
# number of its rows.
FORMS = {
    "WITH groups, WHERE keeps one group": (
        "MATCH (f:File)-[:READS|WRITES]->(t) WITH f, count(t) AS n WHERE n > 1 RETURN f.id",
        {WRITES, READS},
        set(),
        1,
    ),
    "WITH orders and limits": (
        "MATCH (f:File)-[:CALLS]->(g) WITH f, g ORDER BY f.id LIMIT 1 MATCH (g)-[:WRITES]->(t) RETURN t.id",
        {CART, WRITES},
        set(),
        1,
    ),
    "WITH DISTINCT": (
        "MATCH (f)-[:READS]->(t) WITH DISTINCT t.id AS id RETURN id",
        {READS, READS_TOO},
        set(),
        1,
    ),
    "WITH DISTINCT and an aggregate": (
        "MATCH (f)-[:READS]->(t) WITH DISTINCT t AS u, count(*) AS n ORDER BY n RETURN u.id, n",
        {READS, READS_TOO},
        set(),
        1,
    ),
    "WITH drops the variable of a walk": (
        "MATCH (a {id: 'cart'})-[:CALLS]->(b) WITH b MATCH (b)-[:READS]->(c) WITH c RETURN c.id",
        {CART, READS},
        set(),
        1,
    ),
    "WITH *, and a new name": (
        "MATCH (a {id: 'cart'})-[:CALLS]->(b) WITH *, b.id AS i WHERE i = 'orders' RETURN *",
        {CART},
        set(),
        1,
    ),
    "WITH DISTINCT *": ("MATCH (a {id: 'cart'})-->(b) WITH DISTINCT * RETURN b.id", {CART}, set(), 1),
    "OPTIONAL MATCH without a match": (
        "MATCH (a:File {id: 'login'})-[:CALLS]->(b) OPTIONAL MATCH (b)-[:WRITES]->(t) RETURN b.id, t.id",
        {LOGIN},
        set(),
        1,
    ),
    "OPTIONAL MATCH with one": (
        "MATCH (b {id: 'orders'}) OPTIONAL MATCH (b)-[:WRITES]->(t) RETURN b.id, t.id",
        {WRITES},
        set(),
        1,
    ),
    "UNION": (
        "MATCH (:File {id: 'cart'})-[:CALLS]->(x) RETURN x.id AS id UNION MATCH (x)-[:WRITES]->() RETURN x.id AS id",
        {CART, WRITES},
        set(),
        1,
    ),
    "UNION ALL": (
        "MATCH ({id: 'cart'})-[:CALLS]->(x) RETURN x.id AS id UNION ALL MATCH (x)-[:WRITES]->() RETURN x.id AS id",
        {CART, WRITES},
        set(),
        2,
    ),
    "CALL with imports": (
        "MATCH (a {id: 'cart'})-[:CALLS]->(b) CALL (b) { MATCH (b)-[:READS]->(t) RETURN t } RETURN t.id",
        {CART, READS},
        set(),
        1,
    ),
    "CALL that imports by WITH": (
        "MATCH (a {id: 'cart'})-[:CALLS]->(b) CALL { WITH b MATCH (b)-[:READS]->(t) RETURN t } RETURN t.id",
        {CART, READS},
        set(),
        1,
    ),
    "CALL by itself": (
        "CALL { MATCH (a {id: 'cart'})-[:CALLS]->(b) RETURN b.id AS i } RETURN i",
        {CART},
        set(),
        1,
    ),
    "CALL that aggregates": (
        "MATCH (b {id: 'orders'}) CALL (b) { MATCH (b)-->(t) RETURN count(t) AS n } RETURN n",
        {READS, WRITES},
        set(),
        1,
    ),
    "CALL with a UNION, whose equal rows are one": (
        "MATCH (b {id: 'orders'}) CALL (b) { MATCH (b)-[:READS]->(t) RETURN t.id AS i UNION MATCH (b)-[:WRITES]->(t) "
        "RETURN t.id AS i UNION MATCH (b)<-[:CALLS]-() RETURN 't_users' AS i } RETURN i",
        {READS, WRITES, CART},
        set(),
        2,
    ),
    "CALL with a UNION, importing by WITH": (
        "MATCH (b {id: 'orders'}) CALL { WITH b MATCH (b)-[:READS]->(t) RETURN t.id AS i UNION WITH b "
        "MATCH (b)<-[:CALLS]-() RETURN 't_users' AS i } RETURN i",
        {READS, CART},
        set(),
        1,
    ),
    "UNWIND": (
        "UNWIND ['cart', 'login'] AS i MATCH ({id: i})-[:CALLS]->(b) RETURN b.id",
        {CART, LOGIN},
        set(),
        2,
    ),
    "UNWIND of what was collected": (
        "MATCH (a)-[:CALLS]->(b) WITH collect(b) AS bs UNWIND bs AS b MATCH (b)-[:WRITES]->(t) RETURN t.id",
        {CART, LOGIN, WRITES},
        set(),
        1,
    ),
    "variable length": ("MATCH (a {id: 'cart'})-[*1..2]->(t:Table) RETURN t.id", {CART, WRITES, READS}, set(), 2),
    "variable length from none": ("MATCH (a {id: 'users'})-[:READS*0..1]->(t) RETURN t.id", {READS_TOO}, set(), 2),
    "variable length with a variable": (
        "MATCH ({id: 'cart'})-[r:CALLS|WRITES*2]->(t) RETURN size(r), t.id",
        {CART, WRITES},
        set(),
        1,
    ),
    "a quantified path": (
        "MATCH (a {id: 'cart'})((x)-[:CALLS|WRITES]->(y)){2}(t) RETURN t.id",
        {CART, WRITES},
        set(),
        1,
    ),
    "a quantified relationship": ("MATCH (a {id: 'cart'})-[:CALLS|WRITES]->+(t) RETURN t.id", {CART, WRITES}, set(), 2),
    "shortestPath": (
        "MATCH p = shortestPath((a {id: 'cart'})-[*]-(b {id: 'login'})) RETURN length(p)",
        {CART, READS, READS_TOO, LOGIN},
        set(),
        1,
    ),
    "allShortestPaths without a name": (
        "MATCH (a {id: 'cart'}), (b {id: 't_orders'}) MATCH allShortestPaths((a)-[*]->(b)) RETURN a.id",
        {CART, WRITES},
        set(),
        1,
    ),
    "shortestPath as a value": (
        "MATCH (a {id: 'cart'}), (b {id: 't_orders'}) RETURN length(shortestPath((a)-[*]->(b))) AS n",
        {CART, WRITES},
        set(),
        1,
    ),
    "a named path": ("MATCH p = (a {id: 'cart'})-->() RETURN [n IN nodes(p) | n.id] AS ids", {CART}, set(), 1),
    "several patterns": (
        "MATCH (a {id: 'cart'})-->(b), (b)-[:READS]->(t), (x {id: 'login'}) RETURN t.id",
        {CART, READS},
        {"login"},
        1,
    ),
    "a pattern comprehension": (
        "MATCH (a {id: 'orders'}) RETURN [(a)-[:READS|WRITES]->(t) WHERE t.id = 't_users' | t.id] AS ts",
        {READS},
        set(),
        1,
    ),
    "EXISTS binds its witnesses": (
        "MATCH (f:File) WHERE EXISTS { (f)-[:WRITES]->() } RETURN f.id",
        {WRITES},
        set(),
        1,
    ),
    "EXISTS with a query": (
        "MATCH (f:File) WHERE EXISTS { MATCH (f)-[:CALLS]->(g) WHERE EXISTS { (g)-[:WRITES]->() } RETURN g } "
        "RETURN f.id",
        {CART, WRITES},
        set(),
        1,
    ),
    "EXISTS with a pattern as its predicate": (
        "MATCH (f:File) WHERE EXISTS { MATCH (f)-[:CALLS]->(g) WHERE (g)-[:WRITES]->() } WITH f RETURN f.id",
        {CART, WRITES},
        set(),
        1,
    ),
    "NOT EXISTS has none": (
        "MATCH (f:File) WHERE NOT EXISTS { (f)-[:CALLS]->() } RETURN f.id",
        set(),
        {"orders", "users"},
        2,
    ),
    "a pattern as a predicate": ("MATCH (f:File) WHERE (f)-[:WRITES]->() RETURN f.id", {WRITES}, set(), 1),
    "a pattern as a predicate, denied": (
        "MATCH (f:File) WHERE NOT (f)-[:CALLS]->() RETURN f.id",
        set(),
        {"orders", "users"},
        2,
    ),
    "COUNT {}": (
        "MATCH (f:File) WHERE COUNT { (f)-[:READS|WRITES]->() } > 1 RETURN f.id",
        {READS, WRITES},
        set(),
        1,
    ),
    "COUNT {} of rows that differ": (
        "MATCH (f:File) WHERE COUNT { MATCH (f)-[:READS|WRITES]->(t) RETURN DISTINCT t } > 1 RETURN f.id",
        {READS, WRITES},
        set(),
        1,
    ),
    "EXISTS {} with an aggregate": (
        "MATCH (f {id: 'cart'}) WHERE EXISTS { MATCH (f)-[:CALLS]->(g) RETURN count(g) AS n } RETURN f.id",
        {CART},
        set(),
        1,
    ),
    "COLLECT {}": (
        "MATCH (f {id: 'orders'}) RETURN COLLECT { MATCH (f)-[:READS]->(t) RETURN t.id } AS ts",
        {READS},
        set(),
        1,
    ),
    "COLLECT {} with an order and a limit": (
        "MATCH (f {id: 'orders'}) RETURN COLLECT { MATCH (f)-->(t) RETURN t.id ORDER BY t.id LIMIT 1 } AS ts",
        {WRITES},
        set(),
        1,
    ),
    "EXISTS, and an aggregate": (
        "MATCH (f:File) WHERE EXISTS { (f)-[:WRITES]->() } RETURN count(*) AS n",
        {WRITES},
        set(),
        1,
    ),
    "EXISTS, and DISTINCT": (
        "MATCH (f:File) WHERE EXISTS { (f)-[:CALLS]->() } RETURN DISTINCT f.kind AS kind",
        {CART, LOGIN},
        set(),
        1,
    ),
    "EXISTS of an OPTIONAL MATCH that found nothing": (
        "MATCH (a {id: 'orders'}) OPTIONAL MATCH (a)-[:CALLS]->(b) WHERE EXISTS { (a)-[:READS]->() } RETURN a.id",
        set(),
        {"orders"},
        1,
    ),
    "EXISTS of an OPTIONAL MATCH of a node that was bound before": (
        "MATCH (a {id: 'orders'}) OPTIONAL MATCH (a) WHERE a.id = 'none' AND EXISTS { (a)-[:READS]->() } RETURN a.id",
        set(),
        {"orders"},
        1,
    ),
    "a pattern in ORDER BY": (
        "MATCH (f:File) RETURN f.id ORDER BY COUNT { (f)-[:READS|WRITES]->() } DESC, f.id LIMIT 1",
        {READS, WRITES},
        set(),
        1,
    ),
    "SKIP": ("MATCH (f)-[:CALLS]->(g) RETURN f.id ORDER BY f.id SKIP 1", {LOGIN}, set(), 1),
    "RETURN *": ("MATCH (a {id: 'cart'})-[r]->(b) RETURN *", {CART}, set(), 1),
    "an aggregate of no rows": ("MATCH (a {id: 'none'})-->(b) RETURN count(*) AS n", set(), set(), 1),
    "no pattern": ("RETURN 1 AS one", set(), set(), 1),
    "nothing left": ("MATCH (a)-->(b) WHERE a.id = b.id RETURN a.id", set(), set(), 0),
    "parameters": ("MATCH (a {id: $id})-->(b) RETURN b.id LIMIT $most", {CART}, set(), 1),
    "comments": (
        "// the cart\nMATCH (a {id: 'cart'}) /* its ) call */ -->(b) // and\nRETURN b.id // the end",
        {CART},
        set(),
        1,
    ),
    "a text like a comment": ("MATCH (a {id: 'cart'})-->(b) RETURN 'http://x' AS url, b.id", {CART}, set(), 1),
    "backquotes": ("MATCH (`a b` {`id`: 'cart'})-[`r-1`:`CALLS`]->(b) RETURN `a b`.`id` AS `x y`", {CART}, set(), 1),
    "names like our own": ("MATCH (gk_1 {id: 'cart'})-->(gk_2) RETURN gk_2.id AS gk_3", {CART}, set(), 1),
    "words of Cypher as names": (
        "MATCH (set {id: 'cart'})-[match:CALLS]->(call) RETURN call.id AS limit ORDER BY set.id",
        {CART},
        set(),
        1,
    ),
    "inner WHERE": ("MATCH (a WHERE a.id = 'cart')-[:CALLS]->(b) RETURN b.id", {CART}, set(), 1),
    "alternatives of labels": (
        "MATCH (a:File|Table)-[:WRITES|READS]->(b:Table&!File) RETURN count(*) AS n",
        {WRITES, READS, READS_TOO},
        set(),
        1,
    ),
    "quantifiers of lists": (
        "MATCH p = ({id: 'cart'})-[*2]->(b) WHERE all(r IN relationships(p) WHERE type(r) <> 'READS') RETURN b.id",
        {CART, WRITES},
        set(),
        1,
    ),
}


def test_forms(shop: Store) -> None:
    """Each form of Cypher binds what the table says, and gives as many rows as the query itself."""
    parameters = {"id": "cart", "most": 3}
    for form, (cypher, edges, nodes, rows) in FORMS.items():
        results, found_nodes, found = bound(shop, cypher, parameters)
        ends = {end for source, _, target in edges for end in (source, target)}
        assert (found, found_nodes, len(results)) == (edges, nodes | ends, rows), f"{form}: {cypher}"
        assert len(rows_of(shop, cypher, parameters)) == rows, form


@pytest.mark.parametrize(
    ("cypher", "reason"),
    [
        ("MATCH (n) SET n.x = 1 RETURN n", "it would write"),
        ("MATCH (n) CALL (n) { MERGE (m {id: n.id}) RETURN m } RETURN m", "it would write"),
        ("MATCH (n) FOREACH (x IN [1] | SET n.x = x)", "it would write"),
        ("/* read */ \\u0043REATE (n)", "it would write"),
        ("LOAD CSV FROM 'file:///x' AS line RETURN line", "LOAD CSV reads a file"),
        ("EXPLAIN MATCH (n) RETURN n", "EXPLAIN runs nothing"),
        ("MATCH (n) FINISH", "FINISH returns no rows"),
        ("MATCH (n)", "it returns no rows"),
        (
            "CALL apoc.path.expand(1) YIELD path RETURN path",
            "the procedure apoc.path.expand may bind nodes that no pattern names",
        ),
        ("CALL custom.search('x')", "the procedure custom.search may bind nodes that no pattern names"),
        (
            "CALL db.schema.visualization()",
            "the procedure db.schema.visualization may bind nodes that no pattern names",
        ),
        (
            "MATCH (n) CALL (n) { RETURN n.id AS i } IN TRANSACTIONS RETURN i",
            "CALL {} IN TRANSACTIONS can't be part of a read-only query",
        ),
        (
            "MATCH p = (a)-->(b) RETURN [n IN nodes(p) WHERE EXISTS { (n)-->() } | n.id] AS ids",
            "a pattern depends on a variable of a list",
        ),
        (
            "MATCH (a)-[:CALLS]->(b) RETURN DISTINCT b.id AS i ORDER BY COUNT { (b)-->() }",
            "a pattern in ORDER BY depends on columns of the result",
        ),
        (
            "MATCH (a) ((x)-->(y) WHERE EXISTS { (y)-->() }){1,2} (b) RETURN b.id",
            "a repeated part of a pattern holds a pattern in its predicate",
        ),
    ],
)
def test_what_cant_be_traced(cypher: str, reason: str) -> None:
    """What can't be traced has a reason, never an empty trace."""
    with pytest.raises(Untraceable) as caught:
        traced(parsed(cypher))
    assert caught.value.reason == reason


def test_what_binds_nothing(shop: Store) -> None:
    """A procedure that yields names binds nothing, alone and before a MATCH."""
    rows, nodes, edges = bound(shop, "CALL db.labels()")
    assert ["File"] in rows
    assert (nodes, edges) == (set(), set())
    cypher = (
        "CALL db.labels() YIELD label WITH label WHERE label = 'Table' MATCH (n {kind: label})<-[:WRITES]-() RETURN n"
    )
    assert bound(shop, cypher)[1:] == ({"orders", "t_orders"}, {WRITES})


def test_equal_rows_of_a_union_are_one_as_cypher_counts(shop: Store) -> None:
    """UNION makes 1 and 1 one row, not 1 and true: Cypher's equality isn't Python's."""
    rows, *_ = bound(shop, "RETURN 1 AS x UNION RETURN true AS x UNION RETURN 1 AS x UNION RETURN [1] AS x")
    assert sorted(rows, key=str) == [[1], [True], [[1]]]
    assert len(rows_of(shop, "RETURN 1 AS x UNION RETURN true AS x UNION RETURN 1 AS x UNION RETURN [1] AS x")) == 3


def test_forms_of_neo4j_alone(neo4j_server: Neo4jServer) -> None:
    """Searches of vector and full-text indexes begin a walk; SHORTEST k binds the paths that it picks."""
    # Distances from (1, 0): cart is there, login beside it, the others at a right angle.
    vectors = {"cart": [1.0, 0.0], "login": [0.9, 0.1]}
    with Store.open(neo4j_server.settings) as store:
        empty(store)
        fill(store, [{**node, "at": vectors.get(node["id"], [0.0, 1.0])} for node in NODES], EDGES)
        options = "OPTIONS {indexConfig: {`vector.dimensions`: 2, `vector.similarity_function`: 'cosine'}}"
        try:
            store.schema(
                [
                    f"CREATE VECTOR INDEX gk_at IF NOT EXISTS FOR (n:File) ON (n.at) {options}",
                    "CREATE FULLTEXT INDEX gk_ids IF NOT EXISTS FOR (n:File|Table) ON EACH [n.id]",
                    "CREATE FULLTEXT INDEX gk_calls IF NOT EXISTS FOR ()-[r:CALLS]-() ON EACH [r.why]",
                ]
            )
            store.write("MATCH ({id: 'cart'})-[r:CALLS]->() SET r.why = 'checkout'")
            store.read("CALL db.awaitIndexes(60)")
            search = "CALL db.index.vector.queryNodes('gk_at', 1, $at)"
            forms: dict[str, tuple[set[Edge], set[str]]] = {
                f"{search} YIELD node, score RETURN node.id, score": (set(), {"cart"}),
                f"{search} YIELD node AS n, score MATCH (n)-[:CALLS]->(m) RETURN m.id": ({CART}, set()),
                f"{search} YIELD score RETURN score": (set(), {"cart"}),
                f"{search} YIELD node RETURN count(node) AS n": (set(), {"cart"}),
                f"{search} YIELD node, score WHERE score > 2 RETURN node": (set(), set()),
                search: (set(), {"cart"}),
                "CALL db.index.fulltext.queryNodes('gk_ids', 't_users') YIELD node MATCH (node)<-[:READS]-(f) "
                "RETURN f.id ORDER BY f.id LIMIT 1": ({READS}, set()),
                "CALL db.index.fulltext.queryRelationships('gk_calls', 'checkout') YIELD relationship AS r "
                "RETURN type(r)": ({CART}, set()),
                "MATCH SHORTEST 1 (a {id: 'cart'})-[r]->+(t {id: 't_users'}) RETURN size(r)": ({CART, READS}, set()),
                "MATCH p = ANY SHORTEST (a {id: 'cart'})-->+(t:Table) RETURN length(p)": ({CART, READS, WRITES}, set()),
                "MATCH ALL SHORTEST (a {id: 'cart'})((x)-->(y)){1,3}(t {id: 't_users'}) RETURN size(x)": (
                    {CART, READS},
                    set(),
                ),
                "MATCH (a {id: 'login'}) OPTIONAL CALL (a) { MATCH (a)-[:WRITES]->(t) RETURN t } RETURN a.id, t": (
                    set(),
                    {"login"},
                ),
                "CYPHER 5 MATCH (a {id: 'cart'})-->(b) RETURN b": ({CART}, set()),
                "PROFILE MATCH (a {id: 'cart'})-->(b) RETURN b": ({CART}, set()),
                "MATCH (a:$('File') {id: 'cart'})-->(b) RETURN b": ({CART}, set()),
                "MATCH (a:File {id: 'cart'})-->(b:File) USING SCAN a:File RETURN b": ({CART}, set()),
                "MATCH (f {id: 'orders'}) RETURN size([(f)-->(t) | t.id]) AS n, exists((f)-[:WRITES]->()) AS w": (
                    {READS, WRITES},
                    set(),
                ),
                "MATCH (f:File) WHERE EXISTS { MATCH (f)-[:READS]->(t) RETURN t UNION MATCH (f)-[:WRITES]->(t) "
                "RETURN t } RETURN f.id": ({READS, READS_TOO, WRITES}, set()),
            }
            for cypher, (edges, nodes) in forms.items():
                ends = {end for source, _, target in edges for end in (source, target)}
                assert bound(store, cypher, {"at": [1.0, 0.0]})[1:] == (nodes | ends, edges), cypher
        finally:
            store.schema([f"DROP INDEX {name} IF EXISTS" for name in ("gk_at", "gk_ids", "gk_calls")])
