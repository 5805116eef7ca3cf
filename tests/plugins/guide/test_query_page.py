"""The page of a query: gold beside the traversal, any other relationship by its type, rows as a table, text as text."""

from __future__ import annotations

import re
import webbrowser
from pathlib import Path
from typing import Any

import pytest

from graphkit.database.values import Subgraph
from graphkit.graph.user_queries import QueryRows
from graphkit.plugins.guide.query_page import RELATIONSHIPS, query_page, subgraph_map
from tests.helpers.cli import Done, Graph, inside, tiny
from tests.helpers.pages import HOSTILE, Page

Properties = dict[str, Any]


def artifact(name: str, repo: str = "x") -> Properties:
    """Return an artifact."""
    return {"_labels": ["Artifact"], "id": name, "repo": repo}


def subgraph(*edges: tuple[str, str, Properties]) -> Subgraph:
    """Return artifacts, and relationships between them by their ids."""
    nodes = {name: artifact(name) for start, end, _ in edges for name in (start, end)}
    return Subgraph(dict(nodes), {str(number): edge for number, edge in enumerate(edges)})


def gold(relation: str | None = "R", question: str = "q", **properties: Any) -> Properties:
    """Return a gold edge."""
    return {"_type": "GOLD", "question": question, "relation": relation, **properties}


def walked(relation: str | None = "R", question: str = "q") -> Properties:
    """Return a traversed edge."""
    return {"_type": "TRAVERSED", "question": question, "relation": relation, "run": "r"}


def edges_of(drawn: dict[str, Any]) -> dict[tuple[str, str, str], str]:
    """Return the status of each edge of a map by the ids of its ends and its relation."""
    ids = [node["id"] for node in drawn["nodes"]]
    return {(ids[one["source"]], one["relation"], ids[one["target"]]): one["status"] for one in drawn["edges"]}


def test_gold_and_traversal_are_told_apart() -> None:
    """Gold is matched by the same edge of the same question, whatever relation is unknown; what is no gold is extra."""
    drawn = subgraph_map(
        subgraph(
            ("x:a", "x:b", gold()),
            ("x:a", "x:b", walked()),
            ("x:b", "x:c", gold()),
            ("x:b", "x:c", walked(question="another")),
            ("x:c", "x:d", gold(optional=True)),
            ("x:d", "x:e", gold("S")),
            ("x:d", "x:e", walked(None)),
            ("x:e", "x:f", walked()),
            ("x:a", "x:f", {"_type": "EDGE", "relation": "R"}),
        )
    )
    assert edges_of(drawn) == {
        ("x:a", "R", "x:b"): "matched",
        # The traversed edge of another question has the same ends and relation: the gold one is what is drawn.
        ("x:b", "R", "x:c"): "missed",
        ("x:c", "R", "x:d"): "optional",
        ("x:d", "S", "x:e"): "matched",
        ("x:e", "R", "x:f"): "extra",
        ("x:a", "EDGE R", "x:f"): "related",
    }
    marked = {node["id"] for node in drawn["nodes"] if node.get("marks") == ["gold"]}
    assert marked == {"x:a", "x:b", "x:c", "x:d", "x:e"}


@pytest.mark.parametrize("kind", [gold, walked])
def test_one_of_both_alone_is_judged_by_nothing(kind: Any) -> None:
    """Without a traversal gold isn't missed, and without gold nothing is extra."""
    name = kind()["_type"]
    assert edges_of(subgraph_map(subgraph(("x:a", "x:b", kind())))) == {("x:a", f"{name} R", "x:b"): "related"}


def test_other_nodes_have_their_label() -> None:
    """A node that is no artifact stands by its label and name; an end that isn't there is unknown."""
    nodes = {"1": {"_labels": ["Question"], "id": "q1"}, "2": artifact("flask.app", "flask")}
    edges = {"a": ("1", "2", {"_type": "ABOUT"}), "b": ("2", "3", {"_type": "ABOUT"})}
    drawn = subgraph_map(Subgraph(nodes, edges))  # type: ignore[arg-type]
    assert drawn["nodes"] == [
        {"id": "Question q1", "repo": ""},
        {"id": "flask.app", "repo": "flask"},
        {"id": "(unknown)", "repo": ""},
    ]


def test_a_large_graph_is_cut() -> None:
    """The first relationships are drawn, and the others counted."""
    many = subgraph(*((f"x:{number}", f"x:{number + 1}", walked()) for number in range(RELATIONSHIPS + 5)))
    drawn = subgraph_map(many)
    assert (len(drawn["edges"]), drawn["omitted"]) == (RELATIONSHIPS, 5)


def test_hostile_text_stays_text() -> None:
    """Whatever columns, cells, names and parameters hold, the page has its own elements and scripts alone."""
    plain = Page(
        query_page(QueryRows(["a"], [["x"]], 1, subgraph(("x:a", "x:b", gold("R")))), "RETURN 1", "T", "A", {"p": 1})
    )
    for text in HOSTILE:
        found = QueryRows([text], [[text]], 1, subgraph((f"x:{text}", "x:b", gold(text))))
        page = Page(query_page(found, text, text, text, {"p": text}))
        code = [one for attributes, one in page.scripts if attributes.get("type") != "application/json"]
        assert code == [one for attributes, one in plain.scripts if attributes.get("type") != "application/json"]
        assert [tag for tag, _ in page.elements] == [tag for tag, _ in plain.elements]
        assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]


def test_it_needs_no_network() -> None:
    """The page names no address, and its policy allows no other source."""
    text = query_page(QueryRows(["a"], [[1]], 1), "RETURN 1", "A query")
    assert not re.search(r"https?://(?!www\.w3\.org)", text)
    assert "default-src 'none'" in text
    # Without nodes there is only the table, and no script.
    assert "<script" not in text
    assert '<td class="num"' in text


def query(graph: Graph, *arguments: object, cwd: Path, code: int = 0) -> Done:
    """Run a query."""
    return inside("query", *arguments, cwd=cwd, env=graph.env, code=code)


def test_the_page(graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--open writes a page beside, and opens it; -o names it, and replaces nothing but a page."""
    inside("evaluate", "-m", "EdgeRecall", tiny(tmp_path), cwd=tmp_path, env=graph.env, code=0)
    opened: list[str] = []

    def note(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", note)
    done = query(graph, "question-subgraph", "-p", "run=r", "-p", "question=q1", "--open", cwd=tmp_path)
    file = tmp_path / "query-question-subgraph.html"
    assert done.out.strip() == file.name
    assert opened == [file.as_uri()]
    page = Page(file.read_text("utf-8"))
    # q1 has two gold edges, of which the run traversed the first.
    assert sorted(one["status"] for one in page.json("subgraph")["edges"] if one["status"] != "related") == [
        "matched",
        "missed",
    ]
    # A relationship that comes without its ends is drawn with them.
    query(graph, "-e", "MATCH ()-[g:GOLD]->() RETURN g", "-o", "gold.html", cwd=tmp_path)
    ids = {node["id"] for node in Page((tmp_path / "gold.html").read_text("utf-8")).json("subgraph")["nodes"]}
    assert "a:m.py#y" in ids
    assert "(unknown)" not in ids
    told = query(graph, "-e", "RETURN 1 AS one", "-o", "gold.html", "--json", cwd=tmp_path).object()
    assert told == {"page": "gold.html", "rows": 1, "nodes": 0}
    (tmp_path / "mine.html").write_text("mine")
    query(graph, "-e", "RETURN 1", "-o", "mine.html", cwd=tmp_path, code=2)
    assert len(opened) == 1
