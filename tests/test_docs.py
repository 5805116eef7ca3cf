"""The documentation: pages made from the code are up to date, and what the README shows works."""

from __future__ import annotations

import importlib.util
import re

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.graph.opening import prepared
from tests.helpers import ROOT
from tests.test_imports import MAY_IMPORT


def _pages() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"measures.md": module.measures_page(), "queries.md": module.queries_page()}


@pytest.mark.parametrize("name", ["measures.md", "queries.md"])
def test_generated_pages_are_up_to_date(name: str) -> None:
    """The pages of measures and queries say what the registry and the query headers say."""
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == _pages()[name], "run: python docs/generate.py"


def test_readme_links_lead_somewhere() -> None:
    """Every relative link of the README names a file or folder of the repository."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("http")]
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_map_of_the_rooms() -> None:
    """CONTRIBUTING.md names each room with just those that it may import."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \|([^|]*)\|$", text, re.MULTILINE)
    told = {room: set(re.findall(r"\w+", imports)) for room, imports in rows}
    assert "all of them" in dict(rows)["cli"]
    assert told | {"cli": MAY_IMPORT["cli"]} == MAY_IMPORT


def test_files_of_the_map_exist() -> None:
    """Every file and folder of the checkout that CONTRIBUTING.md names is there, but those of rooms to come."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:graphkit|cypher|tests|docs)/[\w./]*)`", text))
    assert len(named) > 25
    absent = {name for name in named if "NAME" not in name and not (ROOT / name).exists()}
    assert absent == {"tests/adapters/", "tests/judges/"}


def test_readme_measures_exist() -> None:
    """Every measure of the README's table is one that the registry knows."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = re.search(r"\| question \| measures \|\n(.*?)\n\n", text, re.DOTALL)
    assert table is not None
    names = {
        name.partition("@")[0] for name in re.findall(r"\b(?:[A-Z][A-Za-z0-9]+|RR|nDCG|P)(?:@k)?(?=[,; |])", table[1])
    }
    known = {kind.__name__ for kind in graphkit.MEASURES}
    assert known <= names


def test_readme_browser_queries_find_something(store: Store) -> None:
    """The three queries to start with in Neo4j Browser run, and find rows in the storefront."""
    prepared(store)
    graphkit.evaluate(graphkit.storefront_folder() / "runs" / "storefront-graph.jsonl", store=store)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    queries = re.findall(r"^    // \d\. [^\n]*\n((?:    [^\n]+\n)+)", text, re.MULTILINE)
    assert len(queries) == 3
    for query in queries:
        _, rows = store.query_readonly(query)
        assert rows, query


def test_readme_five_lines_run(store: Store) -> None:
    """The calls of the README's five lines exist and give a table and the rows of a failure."""
    prepared(store)
    run = graphkit.storefront_folder() / "runs" / "storefront-graph.jsonl"
    result = graphkit.evaluate(run, store=store)
    wrong = graphkit.failures(store, result.run, "wrong-turns")
    # 30 questions, and a column for each of the 20 default measures.
    assert result.to_pandas().shape == (30, 20)
    assert {"question", "expected", "went_to"} <= wrong[0].keys()
    assert "EdgeRecall" in result._repr_html_()
