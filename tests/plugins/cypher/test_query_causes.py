"""The cause of a wrong query: the smallest edit after which its result is gold's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from graphkit.database.store import Store
from graphkit.plugins.cypher.cypher_text import parsed
from graphkit.plugins.cypher.dataset_graph import kept_graph
from graphkit.plugins.cypher.expression_parts import with_values
from graphkit.plugins.cypher.names_of_graph import KnownNames, nearest
from graphkit.plugins.cypher.query_causes import QueryDiagnosis, diagnosed, normal_form
from graphkit.plugins.cypher.query_edits import edits
from graphkit.plugins.cypher.query_runs import QueryRunner, query_runner
from graphkit.plugins.cypher.query_walks import GoldFound, gold_found
from graphkit.records.models import Question
from tests.helpers import engines
from tests.helpers.datasets import read_jsonl
from tests.helpers.engines import Neo4jServer
from tests.plugins.cypher.graphs import fill
from tests.plugins.cypher.planted_mistakes import BESIDE, MISTAKES, planted, write_graph

SEED = 5


@pytest.fixture(scope="module")
def ids() -> list[str]:
    """The ids of the random graph's nodes; filled by the runner."""
    return []


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory, ids: list[str]) -> Iterator[QueryRunner]:
    """Queries over a random graph of 30 nodes."""
    folder = tmp_path_factory.mktemp("planted")
    ids += write_graph(folder / "dataset", SEED)
    with kept_graph(folder / "dataset", folder / "home") as graph, query_runner(graph) as found:
        yield found


def names_of(runner: QueryRunner) -> KnownNames:
    """The names of the graph that a runner reads."""
    return KnownNames(lambda text, given: runner.store.query_readonly(text, given)[1])


def gold_of(runner: QueryRunner, *golds: str) -> GoldFound:
    """What some gold queries find."""
    return gold_found(Question(id="q", question="Which?", gold_cypher=golds), runner)


def diagnosis(
    runner: QueryRunner,
    wrong: str,
    *golds: str,
    most_runs: int = 2_000,
    parameters: Mapping[str, object] | None = None,
) -> QueryDiagnosis:
    """The diagnosis of a query beside gold ones."""
    gold, given = gold_of(runner, *golds), parameters or {}
    outcome, run = runner.run(wrong, given), partial(runner.run, parameters=given)
    read = parsed(with_values(wrong, given))
    return diagnosed(read, outcome, gold, run, names_of(runner), most_runs=most_runs, most_seconds=600)


def count_named(runner: QueryRunner, ids: list[str], number: int) -> tuple[Counter[str], list[tuple[str, str, str]]]:
    """Plant mistakes; return how many of each were named rightly, and those that were named wrongly."""
    right: Counter[str] = Counter()
    wrong, done = [], 0
    for one in planted(SEED, ids):
        wanted, given = runner.run(one.gold), runner.run(one.wrong, one.parameters)
        # Without a result, or with the result of gold, there is nothing to explain.
        nothing = wanted.rows in ((), ((0,),), (([],),))
        if nothing or (given.executable and gold_of(runner, one.gold).queries[0].equals(given)):
            continue
        found = diagnosis(runner, one.wrong, one.gold, parameters=one.parameters)
        if found.causes:
            if normal_form(parsed(found.causes[0].mended)) == normal_form(parsed(one.gold)):
                right[one.mistake] += 1
            else:
                wrong.append((one.mistake, one.gold, found.causes[0].mended))
        done += 1
        if done == number:
            break
    return right, wrong


def test_planted_mistakes_are_named(runner: QueryRunner, ids: list[str]) -> None:
    """The edit that is named first undoes the mistake that was planted."""
    right, wrong = count_named(runner, ids, 6)
    assert (right.total(), wrong) == (6, [])


@pytest.mark.slow("200 mistakes, some 40 queries each")
def test_200_planted_mistakes(runner: QueryRunner, ids: list[str]) -> None:
    """At least 180 of 200 are named rightly, and none wrongly."""
    right, wrong = count_named(runner, ids, 200)
    assert wrong == []
    assert right.total() >= 180
    # Each kind is among them, wherever a literal or an order may stand.
    assert right.keys() == {one.__name__.strip("_") for one in (*MISTAKES, *BESIDE)}


@pytest.mark.slow("400 edits, each planned for 100 ms")
def test_planted_mistakes_on_neo4j(neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    """A server's graph gives the same causes: Neo4j's messages, order of rows and traces are its own."""
    ids = write_graph(tmp_path / "dataset", SEED)
    rows = read_jsonl(tmp_path / "dataset" / "edges.jsonl")
    with Store.open(neo4j_server.settings) as store:
        engines.empty(store)
        fill(
            store,
            read_jsonl(tmp_path / "dataset" / "artifacts.jsonl"),
            [(row["source"], row["relation"], row["target"]) for row in rows],
        )
    with query_runner(neo4j_server.settings, tmp_path) as runner:
        right, wrong = count_named(runner, ids, 6)
    assert (right.total(), wrong) == (6, [])


def test_the_sentence_says_what_was_asked_and_what_helps(runner: QueryRunner, ids: list[str]) -> None:
    """A direction, an invented label, an invented type."""
    gold = "MATCH (a:File)-[:CALLS]->(b:Table) RETURN a.id, b.id"
    turned = diagnosis(runner, "MATCH (x:File)<-[:CALLS]-(y:Table) RETURN x.id, y.id", gold)
    assert turned.sentence == "CALLS was asked the other way round; turned, the result is right"
    label = diagnosis(runner, "MATCH (x:Files)-[:CALLS]->(y:Table) RETURN x.id, y.id", gold)
    assert label.sentence == "No node has the label Files; with File, the result is right"
    assert [one.sentence for one in label.unknown] == ["The graph has no label Files; the nearest is File"]
    relation = diagnosis(runner, "MATCH (x:File)-[:CALL]->(y:Table) RETURN x.id, y.id", gold)
    assert relation.sentence == "No edge has the relation CALL; with CALLS, the result is right"


def test_two_edits_where_one_does_not_help(runner: QueryRunner, ids: list[str]) -> None:
    """A direction and a column together."""
    gold = "MATCH (a:File)-[:CALLS]->(b:Table) RETURN b.id"
    found = diagnosis(runner, "MATCH (x:File)<-[:CALLS]-(y:Table) RETURN y.repo", gold)
    assert [edit.wrong for edit in found.causes[0].edits] == [
        "CALLS was asked the other way round",
        "the column y.repo was returned",
    ]
    assert normal_form(parsed(found.causes[0].mended)) == normal_form(parsed(gold))


def test_nodes_that_nothing_joins(runner: QueryRunner, ids: list[str]) -> None:
    """Two patterns without a node in common, of which each goes with each: the hop between them is missing."""
    gold = "MATCH (a:File)-[r:CALLS]->(b:Table) RETURN a.id, b.id"
    found = diagnosis(runner, "MATCH (x:File), (y:Table) RETURN x.id, y.id", gold)
    assert found.sentence == "A hop by CALLS between x and y is missing; with it, the result is right"
    assert found.causes[0].mended == "MATCH (x:File), (y:Table), (x)-[:CALLS]->(y) RETURN x.id, y.id"
    # The direction is gold's, whichever pattern comes first.
    turned = diagnosis(runner, "MATCH (y:Table), (x:File) RETURN x.id, y.id", gold)
    assert turned.causes[0].mended == "MATCH (y:Table), (x:File), (x)-[:CALLS]->(y) RETURN x.id, y.id"
    # Patterns with a node in common are joined by it.
    assert not any(
        "between" in one.wrong
        for one in edits(
            parsed("MATCH (x:File)-[:READS]->(y), (x)-[:WRITES]->(z) RETURN y.id"), [parsed(gold)], names_of(runner)
        )
    )


def test_no_cause_is_said_so(runner: QueryRunner, ids: list[str]) -> None:
    """Three mistakes: no edit of two helps; and a budget that ends the search is said."""
    gold = "MATCH (a:File)-[:CALLS]->(b:Table) RETURN b.id"
    wrong = "MATCH (x:Service)<-[:READS]-(y:Service {id: 'none'}) RETURN x.repo"
    assert diagnosis(runner, wrong, gold, most_runs=10).sentence == (
        "The cause is unknown: none of the 10 edits that were tried mends it; the graph has no node {id: 'none'}"
    )


def test_a_right_result_by_another_walk(runner: QueryRunner, ids: list[str]) -> None:
    """The edit mends the walk; where the walk is gold's, nothing is to be mended."""
    gold = "MATCH (a:File)-[:CALLS]->(b) RETURN count(*) > 0 AS any"
    lucky = diagnosis(runner, "MATCH (a:File)-[:READS]->(b) RETURN count(*) > 0 AS any", gold)
    assert lucky.sentence == "The relation READS was asked; with CALLS, the walk is gold's"
    assert diagnosis(runner, gold, gold).right


def test_the_alternative_that_is_nearest_counts(runner: QueryRunner, ids: list[str]) -> None:
    """Of two gold queries, the one that an edit reaches."""
    far = "MATCH (a:Service)-[:READS]->(b:Service)-[:READS]->(c) RETURN c.id"
    near = "MATCH (a:File)-[:CALLS]->(b:Table) RETURN b.id"
    found = diagnosis(runner, "MATCH (a:File)<-[:CALLS]-(b:Table) RETURN b.id", far, near)
    assert found.sentence == "CALLS was asked the other way round; turned, the result is right"


def test_nearest_name() -> None:
    """Case doesn't count; a name that is like none has no nearest."""
    assert nearest("flask.RUN", ["Flask.run", "Flask"]) == "Flask.run"
    assert nearest("zzz", ["Flask"]) is None


def test_files(tmp_path: Path) -> None:
    """The same seed makes the same graph."""
    assert write_graph(tmp_path / "a", 1) == write_graph(tmp_path / "b", 1)
