"""The cause of a query of a record: with parameters, beside several gold queries, and beside gold paths alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.cypher.dataset_graph import kept_graph
from graphkit.plugins.cypher.found_causes import CauseFinder
from graphkit.plugins.cypher.outcomes import QueryOutcome
from graphkit.plugins.cypher.query_runs import QueryRunner, query_runner
from graphkit.plugins.cypher.query_walks import FoundCause, gold_found, with_walk
from graphkit.records.models import Answer, Question
from tests.helpers.cli import inside
from tests.helpers.datasets import read_jsonl
from tests.plugins.cypher.test_query_walks import TABLE, write_table

CART, LOGIN, ORDERS, USERS = "web:cart.ts", "web:login.ts", "api:orders.py", "api:users.py"
WRITTEN, READ = "db:orders.sql", "db:users.sql"


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QueryRunner]:
    """Queries over the graph of the table: carts call orders, logins users; orders write one table and read the other,
    which users read.
    """
    folder = tmp_path_factory.mktemp("table")
    with kept_graph(write_table(folder / "data"), folder / "home") as graph, query_runner(graph) as found:
        yield found


def cause(runner: QueryRunner, query: str, parameters: dict[str, Any] | None = None, **gold: Any) -> FoundCause | None:
    """Return the cause that a record of one query gets."""
    question = Question.model_validate({"id": "q", "question": "?", **gold})
    logged = {"run": "r", "question_id": "q", "queries": [{"cypher": query, "parameters": parameters or {}}]}
    answer = Answer.model_validate(logged)
    made = with_walk(answer, question, gold_found(question, runner), runner, CauseFinder(runner)).compared_result
    assert made is not None
    assert (made.cause is None) is (made.cause_kind is None)
    return None if made.cause is None else FoundCause(made.cause, str(made.cause_kind))


def test_a_query_with_parameters(runner: QueryRunner) -> None:
    """Edits run with its parameters; a parameter's value is named and replaced like a literal."""
    gold = f"MATCH (:File {{id: '{CART}'}})-[:CALLS]->(b:File) RETURN b.id"
    turned = "MATCH (:File {id: $id})<-[:CALLS]-(b:File) RETURN b.id"
    found = cause(runner, turned, {"id": CART}, gold_cypher=gold)
    assert found == FoundCause("CALLS was asked the other way round; turned, the result is right", "direction turned")
    for other in ("(a:File {id: $`an id`})-[:CALLS]->(b:File)", "(a:File)-[:CALLS]->(b:File) WHERE a.id = $`an id`"):
        found = cause(runner, f"MATCH {other} RETURN b.id", {"an id": LOGIN}, gold_cypher=gold)
        assert found == FoundCause(f"'{LOGIN}' was asked; with '{CART}', the result is right", "literal replaced")
    several = "MATCH (a:File)<-[:CALLS]-(b:File) WHERE a.id IN $ids RETURN b.id"
    wanted = f"MATCH (a:File)-[:CALLS]->(b:File) WHERE a.id IN ['{CART}', '{LOGIN}'] RETURN b.id"
    found = cause(runner, several, {"ids": [CART, LOGIN]}, gold_cypher=wanted)
    assert found is not None
    assert found.kind == "direction turned"


#: Degrees by hand: orders has three edges, users two, carts and logins one; tables are read twice, written once.
ONE_MISTAKE: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "the one value of a list": (
        f"MATCH (x:File)-[:READS]->(y) WHERE x.id IN ['{USERS}'] RETURN y.id, x.id",
        f"MATCH (x:File)-[:READS]->(y) WHERE x.id IN ['{ORDERS}'] RETURN y.id, x.id",
        {},
        f"'{ORDERS}' was asked; with '{USERS}', the result is right",
    ),
    "a relation in small letters": (
        f"MATCH (x:File {{id: '{USERS}'}})-[:READS]->(y) RETURN y.id",
        f"MATCH (x:File {{id: '{USERS}'}})-[:reads]->(y) RETURN y.id",
        {},
        "No edge has the relation reads; with READS, the result is right",
    ),
    "one value of several": (
        f"MATCH (x:File) WHERE x.id IN ['{USERS}', '{CART}'] RETURN x.id",
        f"MATCH (x:File) WHERE x.id IN ['{ORDERS}', '{CART}'] RETURN x.id",
        {},
        f"'{ORDERS}' was asked; with '{USERS}', the result is right",
    ),
    "a list of another length": (
        f"MATCH (x:File) WHERE x.id IN ['{USERS}', '{CART}'] RETURN x.id",
        f"MATCH (x:File) WHERE x.id IN ['{LOGIN}'] RETURN x.id",
        {},
        f"['{LOGIN}'] was asked; with ['{USERS}', '{CART}'], the result is right",
    ),
    "a list in a parameter, and a right result": (
        f"MATCH (x:File)-[:READS]->(y) WHERE x.id IN ['{USERS}'] RETURN y.id",
        "MATCH (x:File)-[:READS]->(y) WHERE x.id IN $ids RETURN y.id",
        {"ids": [ORDERS]},
        f"'{ORDERS}' was asked; with '{USERS}', the walk is gold's",
    ),
    "a value in a map of a parameter": (
        f"MATCH (x:File) WHERE x.id = '{USERS}' RETURN x.id",
        "MATCH (x:File) WHERE x.id = $asked.id RETURN x.id",
        {"asked": {"id": ORDERS}},
        f"'{ORDERS}' was asked; with '{USERS}', the result is right",
    ),
    "a number beside an alias": (
        "MATCH (f:File)-[r]-() WITH f, count(r) AS n WHERE n > 1 RETURN f.id",
        "MATCH (x:File)-[e]-() WITH x, count(e) AS c WHERE c > 2 RETURN x.id",
        {},
        "2 was asked; with 1, the result is right",
    ),
    "an operator beside an alias": (
        "MATCH (f:File)-[r]-() WITH f, count(r) AS n WHERE n >= 2 RETURN f.id",
        "MATCH (f:File)-[r]-() WITH f, count(r) AS n WHERE n > 2 RETURN f.id",
        {},
        "The condition n > 2 was asked; with >=, the result is right",
    ),
    "a number beside a subquery": (
        "MATCH (f:File) WHERE COUNT { (f)--() } > 1 RETURN f.id",
        "MATCH (f:File) WHERE COUNT { (f)--() } > 2 RETURN f.id",
        {},
        "2 was asked; with 1, the result is right",
    ),
    "a number beside a comprehension": (
        "MATCH (f:File) WHERE size([(f)-[:CALLS]->(x) | x.id]) > 0 RETURN f.id",
        "MATCH (f:File) WHERE size([(f)-[:CALLS]->(x) | x.id]) > 1 RETURN f.id",
        {},
        "1 was asked; with 0, the result is right",
    ),
    "a text in a function": (
        "MATCH (f:File) WHERE toLower(f.id) CONTAINS toLower('Users') RETURN f.id",
        "MATCH (f:File) WHERE toLower(f.id) CONTAINS toLower('Usr') RETURN f.id",
        {},
        "'Usr' was asked; with 'Users', the result is right",
    ),
    "a text in a function that gold doesn't call": (
        "MATCH (f:File) WHERE toLower(f.id) CONTAINS 'users' RETURN f.id",
        "MATCH (f:File) WHERE toLower(f.id) CONTAINS toLower('Usr') RETURN f.id",
        {},
        "The condition toLower(f.id) CONTAINS toLower('Usr') was asked; "
        "with toLower(f.id) CONTAINS 'users', the result is right",
    ),
    "a number below zero": (
        "MATCH (f:File)-[r]->() WITH f, -1 * count(r) AS n WHERE n < -1 RETURN f.id",
        "MATCH (f:File)-[r]->() WITH f, -1 * count(r) AS n WHERE n < -2 RETURN f.id",
        {},
        "-2 was asked; with -1, the result is right",
    ),
    "a text of CASE": (
        f"MATCH (f:File) RETURN CASE WHEN f.id = '{CART}' THEN 'yes' ELSE 'no' END AS it",
        f"MATCH (f:File) RETURN CASE WHEN f.id = '{CART}' THEN 'y' ELSE 'no' END AS it",
        {},
        "'y' was asked; with 'yes', the result is right",
    ),
    "a truth value": (
        "MATCH (f:File) WITH f, f.id CONTAINS 'users' AS own WHERE own = true RETURN f.id",
        "MATCH (f:File) WITH f, f.id CONTAINS 'users' AS own WHERE own = false RETURN f.id",
        {},
        "The value false was asked; with true, the result is right",
    ),
    "NULL for NOT NULL": (
        "MATCH (f:File) WHERE f.id IS NOT NULL RETURN f.id",
        "MATCH (x:File) WHERE x.id IS NULL RETURN x.id",
        {},
        "The condition x.id IS NULL was asked; with x.id IS NOT NULL, the result is right",
    ),
    "OR for AND": (
        "MATCH (f:File) WHERE f.id CONTAINS 'users' OR f.id CONTAINS 'cart' RETURN f.id",
        "MATCH (x:File) WHERE x.id CONTAINS 'users' AND x.id CONTAINS 'cart' RETURN x.id",
        {},
        "The condition x.id CONTAINS 'users' AND x.id CONTAINS 'cart' was asked; "
        "with x.id CONTAINS 'users' OR x.id CONTAINS 'cart', the result is right",
    ),
    "a condition beside OR": (
        "MATCH (f:File) WHERE (f.id CONTAINS 'users' OR f.id CONTAINS 'cart') AND f.repo = 'web' RETURN f.id",
        "MATCH (x:File) WHERE x.id CONTAINS 'users' OR x.id CONTAINS 'cart' RETURN x.id",
        {},
        "The condition x.repo = 'web' is missing; with it, the result is right",
    ),
    "OR beside a condition": (
        "MATCH (f:File) WHERE f.repo = 'api' AND (f.id CONTAINS 'users' OR f.id CONTAINS 'orders') RETURN f.id",
        "MATCH (x:File) WHERE x.repo = 'api' AND x.path = 'none' RETURN x.id",
        {},
        "The condition x.path = 'none' was asked; "
        "with (x.id CONTAINS 'users' OR x.id CONTAINS 'orders'), the result is right",
    ),
    "another function": (
        "MATCH (f:File) WHERE toLower(f.id) STARTS WITH 'web' RETURN f.id",
        "MATCH (x:File) WHERE toUpper(x.id) STARTS WITH 'web' RETURN x.id",
        {},
        "The condition toUpper(x.id) STARTS WITH 'web' was asked; "
        "with toLower(x.id) STARTS WITH 'web', the result is right",
    ),
    "a property in a function": (
        "MATCH (f:File) WHERE toLower(f.id) STARTS WITH 'web' RETURN f.id",
        "MATCH (f:File) WHERE toLower(f.kind) STARTS WITH 'web' RETURN f.id",
        {},
        "The property kind was asked; with id, the result is right",
    ),
    "a list that is unwound": (
        f"UNWIND ['{USERS}', '{CART}'] AS one MATCH (f:File {{id: one}}) RETURN f.id",
        f"UNWIND ['{USERS}', '{ORDERS}'] AS own MATCH (f:File {{id: own}}) RETURN f.id",
        {},
        f"'{ORDERS}' was asked; with '{CART}', the result is right",
    ),
    "ORDER BY in a WITH": (
        "MATCH (x:File) WITH x RETURN collect(x.id) AS l",
        "MATCH (x:File) WITH x ORDER BY x.id DESC RETURN collect(x.id) AS l",
        {},
        "ORDER BY x.id DESC was asked; without it, the result is right",
    ),
    "DISTINCT in a WITH": (
        "MATCH (x:File)-[]-() WITH x.kind AS k RETURN count(k) AS n",
        "MATCH (x:File)-[]-() WITH DISTINCT x.kind AS k RETURN count(k) AS n",
        {},
        "DISTINCT drops equal rows; without it, the result is right",
    ),
    "LIMIT in a WITH": (
        "MATCH (x:File) WITH x RETURN count(x) AS n",
        "MATCH (x:File) WITH x LIMIT 2 RETURN count(x) AS n",
        {},
        "LIMIT 2 cuts the rows; without it, the result is right",
    ),
    "another SKIP in a WITH": (
        "MATCH (x:File) WITH x ORDER BY x.id SKIP 1 RETURN collect(x.id) AS l",
        "MATCH (x:File) WITH x ORDER BY x.id SKIP 2 RETURN collect(x.id) AS l",
        {},
        "SKIP 2 was asked; with SKIP 1, the result is right",
    ),
}


@pytest.mark.parametrize("mistake", ONE_MISTAKE)
def test_one_mistake_anywhere_is_named(runner: QueryRunner, mistake: str) -> None:
    """One literal, operator, condition or order is wrong; gold's in its place is the cause."""
    gold, query, parameters, sentence = ONE_MISTAKE[mistake]
    found = cause(runner, query, parameters, gold_cypher=gold)
    assert found is not None
    assert found.text == sentence


def test_several_gold_queries(runner: QueryRunner) -> None:
    """The cause is what leads to any of them: not to the first, which is far, but to the second."""
    gold = [
        f"MATCH (:File {{id: '{LOGIN}'}})-[:CALLS]->(:File)-[:READS]->(t:Table) RETURN t.id, t.repo",
        "MATCH (:File)-[:WRITES]->(t:Table) RETURN t.id",
    ]
    found = cause(runner, "MATCH (:File)-[:WRITE]->(t:Table) RETURN t.id", gold_cypher=gold)
    assert found == FoundCause("No edge has the relation WRITE; with WRITES, the result is right", "relation replaced")


def test_gold_paths_without_a_query(runner: QueryRunner) -> None:
    """By hand: the path is cart CALLS orders WRITES its table.

    The query asks CALLS backwards and walks nothing; turned, it walks both edges. A query for the callers of orders
    alone walks one of them; with the hop that lacks, both. One that walks both has no cause.
    """
    steps = [[CART, "CALLS", ORDERS], [ORDERS, "WRITES", WRITTEN]]
    wrong = f"MATCH (:File {{id: '{CART}'}})<-[:CALLS]-(:File)-[:WRITES]->(t) RETURN t.id"
    found = cause(runner, wrong, paths=[{"steps": steps}])
    assert found == FoundCause("CALLS was asked the other way round; turned, the walk is gold's", "direction turned")
    short = f"MATCH (:File {{id: '{CART}'}})-[:CALLS]->(f) RETURN f.id"
    found = cause(runner, short, paths=[{"steps": steps}])
    assert found == FoundCause("A hop by WRITES is missing; with it, the walk is gold's", "hop added")
    assert cause(runner, wrong.replace("<-", "-").replace("]-(:", "]->(:"), paths=[{"steps": steps}]) is None


@pytest.mark.slow("hundreds of edits are tried")
def test_an_edit_that_walks_everything_is_no_cause(tmp_path: Path) -> None:
    """By hand: a hub calls twenty-one leaves and reads eleven others; gold are two calls, or two reads.

    Without its first hop the query walks all eleven reads, of which two are gold's, or all twenty-one calls: two are
    too few, and a second edit that keeps to one of them belongs to the cause.
    """
    leaves = [*(("CALLS", f"c{at}") for at in range(21)), *(("READS", f"r{at}") for at in range(11))]
    rows = [{"id": one, "kind": "N", "repo": "r"} for one in ("hub", *(leaf for _, leaf in leaves))]
    edges = [{"source": "hub", "relation": relation, "target": leaf} for relation, leaf in leaves]
    data = tmp_path / "data"
    data.mkdir()
    (data / "artifacts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (data / "edges.jsonl").write_text("".join(json.dumps(row) + "\n" for row in edges))
    (data / "questions.jsonl").write_text(json.dumps({"id": "q", "question": "?"}) + "\n")
    query = "MATCH (a)-[:WRITES]->(b)-[:READS]->(c) RETURN c.kind"
    with kept_graph(data, tmp_path / "home") as graph, query_runner(graph) as runner:
        some = cause(runner, query, paths=[{"steps": [["hub", "READS", "r0"], ["hub", "READS", "r1"]]}])
        steps = [["hub", "CALLS", "c0"], ["hub", "CALLS", "c1"]]
        few = cause(runner, query.replace("READS", "CALLS"), paths=[{"steps": steps}])
    assert some is not None
    assert some.text == "A hop by WRITES is one too many; without it, the walk has all 2 gold edges and 9 others"
    assert few is not None
    assert few.kind == "condition added and hop removed"
    assert few.text.endswith("the walk has 1 of 2 gold edges")


def test_alternatives_of_gold_paths(runner: QueryRunner) -> None:
    """Of two paths of a group either is enough, so the nearer one counts: logins, not carts."""
    paths = [
        {"group": "either", "steps": [[CART, "CALLS", ORDERS], [ORDERS, "WRITES", WRITTEN]]},
        {"group": "either", "steps": [[LOGIN, "CALLS", USERS], [USERS, "READS", READ]]},
    ]
    found = cause(runner, f"MATCH (:File {{id: '{LOGIN}'}})-[:CALL]->(:File)-[:READS]->(t) RETURN t.id", paths=paths)
    assert found == FoundCause("No edge has the relation CALL; with CALLS, the walk is gold's", "relation replaced")


def test_no_gold_has_no_cause(runner: QueryRunner) -> None:
    """Without gold nothing is wrong; with it, a query that doesn't run has its reason."""
    assert cause(runner, "MATCH (n:File) RETURN n.nothing") is None
    refused = cause(runner, "MATCH (n) SET n.id = 1 RETURN n", gold_cypher=TABLE["k1"][0])
    assert refused is not None
    assert (refused.kind, refused.text) == ("refused", "It was refused: it would write (SET)")
    broken = cause(runner, "MATCH (n RETURN n", gold_cypher=TABLE["k1"][0])
    assert broken is not None
    assert broken.kind == "not valid Cypher"
    endless = cause(runner, "MATCH (n:File)", gold_cypher=TABLE["k1"][0])  # no edit writes its RETURN
    assert endless is not None
    assert endless.kind == "doesn't run"
    assert endless.text.startswith("It doesn't run: ")


def test_a_search_is_kept(runner: QueryRunner) -> None:
    """The same cause is found again without one more query."""
    gold, wrong, _ = TABLE["k1"]
    first = cause(runner, wrong, gold_cypher=gold)
    asked: list[str] = []

    class Counting(QueryRunner):
        """Notes what it asks of the server."""

        def _answered(self, text: str, parameters: Any) -> Any:
            asked.append(text)
            return super()._answered(text, parameters)

    again = Counting(runner.store, runner._graph, kept=runner._kept)
    assert cause(again, wrong, gold_cypher=gold) == first
    assert asked == []
    # A query whose rows alone are known is traced when its walk is asked for.
    fresh = "MATCH (n:Table) RETURN n.id"
    rows = again.run(fresh, rows_only=True)
    assert (rows.nodes, rows.untraced) == (None, "only its rows were asked for")
    assert again.run(fresh).nodes == (WRITTEN, READ)
    assert [text == fresh for text in asked] == [True, False]
    whole: QueryOutcome = again.run(fresh, rows_only=True)
    assert (whole.nodes, len(asked)) == ((WRITTEN, READ), 2)


@pytest.mark.slow("a database of its own")
def test_time_for_causes(tmp_path: Path) -> None:
    """``--causes 0`` looks for none; evaluate --cypher walks, scores and explains in one command."""
    data, env = write_table(tmp_path / "data"), {"GRAPHKIT_HOME": str(tmp_path / "home")}
    made = inside("cypher", data, "-o", tmp_path / "out", "--causes", 0, "--json", cwd=tmp_path, env=env, code=0).out
    assert json.loads(made)["runs"]["r"]["causes"] == {}
    assert all("cause" not in row["compared_result"] for row in read_jsonl(tmp_path / "out" / "runs" / "r.jsonl"))
    words = ("evaluate", data, "--cypher", "dataset", "--no-store", "-m", "ResultAccuracy", "-m", "EdgeRecall")
    results = tmp_path / "results.jsonl"
    done = inside(*words, "-o", results, cwd=tmp_path, env=env, code=0)
    assert "r: 5 of 7 records with a query that runs, 2 of 7 with the result of gold" in done.err
    values = {row["question"]: row["value"] for row in read_jsonl(results) if row["measure"] == "ResultAccuracy"}
    assert values == {name: row[2][1] for name, row in TABLE.items()}
    # The input stays as it was: nothing of the walk is written into it.
    assert all("compared_result" not in row for row in read_jsonl(data / "runs" / "r.jsonl"))
    red = inside(*words, "--fail-under", "ResultAccuracy=0.8", cwd=tmp_path, env=env, code=1)
    assert "ResultAccuracy" in red.out + red.err
    log = tmp_path / "data" / "questions.jsonl"
    done = inside("evaluate", log, "--cypher", "dataset", "--format", "langchain", cwd=tmp_path, env=env, code=2)
    assert "--cypher reads runs, and no log of another tool" in done.err
