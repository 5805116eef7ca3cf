"""Edges in the results of tools: in each form of graphs, and none where no graph is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphkit.plugins.logs.call_values import is_error
from graphkit.plugins.logs.graph_results import graph_of_result
from graphkit.plugins.logs.graph_values import UNREAD_EDGES
from graphkit.plugins.logs.reprs import parse_repr
from graphkit.plugins.logs.tool_calls import Trail
from graphkit.readers.logged import LoggedAnswer
from tests.plugins.logs.shared_logs import spoiled

#: An edge as (source, relation, target), with whether it has a direction.
Shown = tuple[str, str | None, str, bool]


def shown(value: Any, **asked: Any) -> list[Shown]:
    """Return the edges of a result, those of paths first."""
    graph = graph_of_result(value, **asked)
    edges = [*(edge for path in graph.paths for edge in path), *graph.edges]
    return [(edge.source, edge.relation, edge.target, edge.directed) for edge in edges]


A_CALLS_B: list[Shown] = [("a", "CALLS", "b", True)]
#: A path of names alone, or as a database gives it, has no direction: the graph knows it.
A_B_C: list[Shown] = [("a", "CALLS", "b", False), ("b", "USES", "c", False)]


@pytest.mark.parametrize(
    "value",
    [
        {"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "a", "relation": "CALLS", "target": "b"}]},
        {"graph": {"nodes": ["a", "b"], "relationships": [{"start": "a", "type": "CALLS", "end": "b"}]}},
        {"nodes": [{"id": 7, "name": "a"}, {"id": 9, "name": "b"}], "edges": [{"from": 7, "to": 9, "label": "CALLS"}]},
        {"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": 0, "target": 1, "type": "CALLS"}]},
        {"triples": [["a", "CALLS", "b"]]},
        [["a", "CALLS", "b"]],
        {"result": [{"subject": "a", "predicate": "CALLS", "object": "b"}]},
        [{"source": "a", "type(r)": "CALLS", "target": "b"}],
        {"rows": [{"r": {"type": "CALLS", "start": {"id": "a"}, "end": {"id": "b"}}}]},
        parse_repr(
            "<Relationship nodes=(<Node element_id='1' labels=frozenset() properties={'id': 'a'}>, "
            "<Node element_id='2' labels=frozenset() properties={'id': 'b'}>) type='CALLS' properties={}>"
        ),
        {"node": "a", "neighbors": [{"id": "b", "relation": "CALLS", "direction": "out"}]},
        {"id": "a", "outgoing": [{"node": "b", "type": "CALLS"}]},
        {"id": "b", "callers": [{"id": "a", "relation": "CALLS"}]},
        "a -[CALLS]-> b",
        "- a - CALLS -> b",
    ],
)
def test_one_edge(value: Any) -> None:
    """a calls b, in fifteen forms."""
    assert shown(value) == A_CALLS_B


@pytest.mark.parametrize(
    "value",
    [
        [{"p": [{"id": "a"}, "CALLS", {"id": "b"}, "USES", {"id": "c"}]}],
        [[{"id": "a"}, "CALLS", {"id": "b"}, "USES", {"id": "c"}]],
        {"path": ["a", "CALLS", "b", "USES", "c"]},
        [{"nodes": ["a", "b", "c"], "rels": ["CALLS", "USES"]}],
    ],
)
def test_one_path(value: Any) -> None:
    """From a over b to c, in four forms."""
    assert shown(value) == A_B_C


def test_names_in_order_are_a_path_without_relations() -> None:
    """Two edges whose relation and direction only the graph knows."""
    assert shown({"path": ["a", "b", "c"]}) == [("a", None, "b", False), ("b", None, "c", False)]
    assert shown({"paths": [["a", "b"], ["c", "d"]]}) == [("a", None, "b", False), ("c", None, "d", False)]


def test_the_query_tells_the_direction_of_columns() -> None:
    """Columns a, r and b of a pattern whose arrow leads to a."""
    row = {"a.id": "a", "type(r)": "CALLS", "b.id": "b"}
    assert shown([row]) == [("a", "CALLS", "b", False)]
    assert shown([row], query="MATCH (a)<-[r]-(b) RETURN a.id, type(r), b.id") == [("b", "CALLS", "a", True)]


def test_neighbours_of_what_was_asked_about() -> None:
    """A list of neighbours names no centre: the call's argument does. Names without a relation are no edges."""
    given = [{"id": "b", "relation": "CALLS", "direction": "in"}]
    assert shown(given, center="a") == [("b", "CALLS", "a", True)]
    assert shown(given) == shown({"neighbors": ["b"]}, center="a") == []


@pytest.mark.parametrize(
    "value",
    [
        {"results": [{"path": "a.py", "start": 1, "end": 10, "type": "function"}]},
        {"files": ["a.py", "b.py"]},
        {"path": "a.py", "content": "x -> y\nif a: b()"},
        [{"id": "a", "score": 0.5}, {"id": "b", "score": 0.1}],
        [["a.py", "12", "def f"]],
        "a.py:1: def f() -> int",
        None,
        7,
    ],
)
def test_no_edge(value: Any) -> None:
    """Lines of files, lists of names, and texts hold none."""
    assert shown(value) == []


def test_edges_in_another_form_are_told() -> None:
    """An entry without ends leaves a doubt, and the call's walk unknown."""
    graph = graph_of_result({"nodes": [], "edges": [{"foo": 1}]})
    assert (graph.unread, list(graph.notes)) == (True, [UNREAD_EDGES])


@pytest.mark.parametrize(
    "value",
    [
        {"nodes": [{"id": 7, "name": "a"}, {"id": 9, "name": "b"}], "links": [{"source": 0, "target": 1}]},
        {"node": "a", "neighbors": [{"id": "b", "relation": "CALLS", "direction": "out"}]},
        [{"p": [{"id": "a"}, "CALLS", {"id": "b"}]}, {"nodes": ["a", "b"], "rels": ["CALLS"]}],
        {"path": ["a", "CALLS", "b"], "paths": [["a", "b"]], "edges": [{"from": "a", "to": "b"}]},
    ],
)
def test_odd_values_are_survived(value: Any) -> None:
    """Something else may stand at each place: it is no edge, or one of the names there."""
    for odd in spoiled(value):
        graph = graph_of_result(odd, "MATCH (a)-[r]->(b) RETURN a", "a")
        assert all(isinstance(edge.source, str) and edge.source for edge in graph.edges)


def trail(*calls: tuple[dict[str, Any], Any]) -> LoggedAnswer:
    """Return the answer of an agent that called a tool of graphs."""
    read, answer = Trail(), LoggedAnswer("log:1")
    for number, (arguments, result) in enumerate(calls):
        read.called("query_graph", arguments, str(number))
        read.returned(json.dumps(result), str(number))
    read.into(answer, tools=True)
    return answer


def test_the_edges_of_a_query_are_walked() -> None:
    """They are shown as a whole, and their ends are retrieved."""
    answer = trail(({"query": "MATCH (a)-[r]->(b) RETURN *"}, [["a", "CALLS", "b"]]))
    assert [[edge.source, edge.target] for path in answer.shown for edge in path] == [["a", "b"]]
    assert [chunk.name for chunk in answer.retrieved or ()] == ["a", "b"]
    assert answer.listed == []


def test_found_nodes_keep_their_texts() -> None:
    """The nodes beside the edges are the ends of these, too."""
    nodes = [{"id": "a", "text": "of a", "score": 0.5}, {"id": "b"}]
    answer = trail(({"query": "x"}, {"nodes": nodes, "edges": [{"source": "a", "relation": "CALLS", "target": "b"}]}))
    assert [(chunk.name, chunk.text, chunk.score) for chunk in answer.retrieved or ()] == [
        ("a", "of a", 0.5),
        ("b", None, None),
    ]


def test_the_edges_around_an_opened_node_are_seen() -> None:
    """Each touches a, which the call opened: a later call shows which was taken."""
    answer = trail(({"node": "a"}, [["a", "CALLS", "b"], ["c", "CALLS", "a"]]), ({"node": "b"}, []))
    assert (answer.shown, len(answer.listed), answer.opened) == ([], 2, ["a", "b"])


def test_a_name_within_another_is_no_opened_node() -> None:
    """The call opened a; data and schema end with its letter, and are other nodes."""
    answer = trail(({"node": "a"}, [["data", "CALLS", "schema"]]))
    assert (len(answer.shown), answer.listed) == (1, [])


def test_a_path_between_two_named_nodes_is_walked() -> None:
    """Its edges don't all touch one of the two."""
    answer = trail(({"source": "a", "target": "c"}, {"path": ["a", "CALLS", "b", "USES", "c"]}))
    assert [len(path) for path in answer.shown] == [2]


@pytest.mark.parametrize(
    ("content", "failed"),
    [
        ("Error: ENOENT: no such file", True),
        ("Traceback (most recent call last):\n  File", True),
        ("<tool_use_error>File has not been read yet</tool_use_error>", True),
        ("TypeError: x is not a function", True),
        ({"error": "not found"}, True),
        ({"error": {"message": "no"}, "code": 404}, True),
        ([{"type": "text", "text": "Error: no such node"}], True),
        ("errors = []\nraise Error", False),
        ("The error: none", False),
        ({"error": None, "results": []}, False),
        ({"error": "some pages failed", "results": ["a"]}, False),
        ("", False),
        ([], False),
        (None, False),
    ],
)
def test_a_result_says_that_its_call_failed(content: Any, failed: bool) -> None:
    """A short text that begins as an error, or an object that holds nothing else."""
    assert is_error(content) is failed
