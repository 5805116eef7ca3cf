"""The cause of a wrong query where gold is a path: the edit after which its walk agrees best with the path."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphkit.plugins.cypher.dataset_graph import kept_graph
from graphkit.plugins.cypher.found_causes import CauseFinder
from graphkit.plugins.cypher.query_runs import QueryRunner, query_runner
from graphkit.plugins.cypher.query_walks import FoundCause, GoldFound
from graphkit.records.models import GoldPath, GraphQuery, Question, Step
from tests.plugins.cypher.worlds import world

#: run calls load, start calls stop, and four other functions call one another: six edges.
SYMBOLS = ("run", "load", "start", "stop", "p", "q", "s", "t")
CALLS = (("run", "load"), ("start", "stop"), ("p", "q"), ("q", "s"), ("s", "t"), ("t", "p"))


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QueryRunner]:
    """Queries over the graph."""
    folder = tmp_path_factory.mktemp("calls")
    artifacts = [{"id": f"lib:{one}", "repo": "lib", "symbol": one, "kind": "function"} for one in SYMBOLS]
    edges = [{"source": f"lib:{one}", "relation": "CALLS", "target": f"lib:{other}"} for one, other in CALLS]
    world(folder / "dataset", artifacts, edges)
    with kept_graph(folder / "dataset", folder / "home") as graph, query_runner(graph) as found:
        yield found


def cause(runner: QueryRunner, text: str, *edges: tuple[str, str]) -> FoundCause | None:
    """The cause of a query beside a gold path of some edges."""
    steps = tuple(Step(source=f"lib:{one}", relation="CALLS", target=f"lib:{other}") for one, other in edges)
    question = Question(id="q", question="Which?", paths=(GoldPath(steps=steps),))
    return CauseFinder(runner, seconds=600)(question, GoldFound(), GraphQuery(cypher=text), runner.run(text))


@pytest.mark.slow("all pairs of edits are tried")
def test_an_edit_that_walks_everything_is_no_cause(runner: QueryRunner) -> None:
    """Without the symbol all six edges are walked, both of gold among them: F1 4/8; with `run` one of two: 2/3."""
    found = cause(runner, "MATCH (a {symbol: 'Run'})-[:CALLS]->(b) RETURN b.id", *CALLS[:2])
    assert found == FoundCause("'Run' was asked; with 'run', the walk has 1 of 2 gold edges", "literal replaced")


def test_what_an_edit_walks_besides_is_said(runner: QueryRunner) -> None:
    """No node has a path; without the condition five of six walked edges are gold's: F1 10/11. Code keeps its case."""
    found = cause(runner, "MATCH (a {path: 'x'})-[:CALLS]->(b) RETURN b.id", *CALLS[:5])
    assert found == FoundCause(
        "The condition path: 'x' is one too many; without it, the walk has all 5 gold edges and 1 other",
        "condition removed",
    )


def test_gold_of_another_graph(runner: QueryRunner) -> None:
    """No edit can help if each gold edge has an end that the graph lacks; if one edge has both, it can."""
    text = "MATCH (a {symbol: 'Run'})-[:CALLS]->(b) RETURN b.id"
    gone = cause(runner, text, ("run", "gone"), ("lost", "load"))
    sentence = "The gold path isn't in this graph, which has no node lib:gone"
    assert gone == FoundCause(sentence, "gold path that the graph lacks")
    part = cause(runner, text, ("run", "gone"), ("run", "load"))
    assert part == FoundCause("'Run' was asked; with 'run', the walk has 1 of 2 gold edges", "literal replaced")
