"""The guide for Neo4j Browser: its queries run as they stand in it, and its style names what the graph holds."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.queries import named_queries
from graphkit.plugins.guide.browser_guide import (
    REPOSITORY_COLOURS,
    guide_queries,
    repositories_of,
    repository_labels,
    style,
    write_guide,
)
from graphkit.plugins.upkeep.removal import remove_dataset
from tests.helpers import ROOT
from tests.helpers.cli import Graph, inside, tiny
from tests.helpers.datasets import STOREFRONT
from tests.helpers.graph_schema import graph_schema

RUN = "storefront-graph"
CYPHER = ROOT / "cypher"


class Slides(HTMLParser):
    """The title and the listings of each slide, of HTML whose elements are all closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.slides: list[tuple[str, list[str]]] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        if tag == "slide":
            self.slides.append(("", []))
        if tag == "pre":
            self.slides[-1][1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        title, listings = self.slides[-1] if self.slides else ("", [])
        if self.open[-1:] == ["h3"]:
            self.slides[-1] = (title + data, listings)
        elif self.open[-1:] == ["pre"]:
            listings[-1] += data


def sections(text: str) -> list[tuple[str, list[str]]]:
    """Return the title and the listings of each section of a guide in AsciiDoc."""
    parts = re.split(r"^== ", text, flags=re.MULTILINE)[1:]
    listings = re.compile(r"^\[source,cypher\]\n----\n(.*?)\n----$", re.MULTILINE | re.DOTALL)
    return [(part.partition("\n")[0], listings.findall(part)) for part in parts]


def slides(text: str) -> list[tuple[str, list[str]]]:
    """Return the title and the listings of each slide."""
    parser = Slides()
    parser.feed(text)
    assert parser.open == []
    return parser.slides


def parameters(listings: list[str]) -> dict[str, object]:
    """Return the parameters that a page sets."""
    given = [re.fullmatch(r":param (\w+) => (.*)", one) for one in listings]
    return {one[1]: json.loads(one[2].replace("'", '"')) for one in given if one is not None}


def test_both_forms_have_the_same_pages(tmp_path: Path) -> None:
    """The first page sets the parameters, the second draws, and each is a named query, eleven for analysts first."""
    write_guide(tmp_path, RUN, "sf-04")
    names = [query.name for query in guide_queries()]
    assert sorted(names) == sorted(named_queries())
    assert names[:2] + names[11:13] == ["question-subgraph", "question-scores", "wrong-turns", "questions-by-score"]
    text, html = (tmp_path / name for name in ("guide.adoc", "guide.html"))
    first, *others = sections(text.read_text())
    assert first == ("Parameters", [f":param run => '{RUN}'", *first[1][1:]])
    of_scores = {"measure": "EdgeRecall", "lowest_first": True}
    assert parameters(first[1]) == {"run": RUN, "question": "sf-04", "other": "my-baseline", "limit": 20, **of_scores}
    assert "A green edge without a blue one was missed" in text.read_text()
    assert [(title, listings[-1]) for title, listings in others] == [
        (query.title, query.text.strip()) for query in guide_queries()
    ]
    assert [one for _, one in slides(html.read_text())] == [one for _, one in sections(text.read_text())]


def test_every_query_runs(empty_store: Store, tmp_path: Path) -> None:
    """With the parameters of its page, each query of the guide answers; what draws gives gold and walked edges."""
    graphkit.evaluate(STOREFRONT / "runs" / f"{RUN}.jsonl", store=empty_store, measures=["EdgeRecall"])
    write_guide(tmp_path, RUN, "sf-04")
    rows = {}
    for title, listings in sections((tmp_path / "guide.adoc").read_text())[1:]:
        rows[title] = empty_store.read(listings[-1], parameters(listings))
    # sf-04 has gold edges, and the run walked there: docs/graph.md draws it.
    assert len(rows["The subgraph of a question"]) > 2
    assert len(rows["The scores and paths of a question"]) > 2
    assert rows["Wrong turns"]
    assert len(rows) == len(named_queries())


def test_names_are_literals(tmp_path: Path) -> None:
    """A run's name closes neither the literal, nor the listing, nor an element."""
    name = "it's\n----\n</pre><script>"
    write_guide(tmp_path, name)
    literal = ":param run => 'it\\'s\\u000a----\\u000a</pre><script>'"
    assert sections((tmp_path / "guide.adoc").read_text())[0][1][0] == literal
    assert slides((tmp_path / "guide.html").read_text())[0][1][0] == literal


def test_the_style_names_what_the_graph_holds() -> None:
    """Rules are balanced, no property is given twice, and each label and type is one that a load writes."""
    text = style(["web", "api"])
    rules = re.findall(r"([\w.]+) \{\n((?:  [\w-]+: [^;{}]+;\n|  caption: \"[^\"\n]*\";\n)+)\}\n", text)
    assert "".join(f"{selector} {{\n{body}}}\n" for selector, body in rules) == text.replace("}\n\n", "}\n")
    for _, body in rules:
        names = re.findall(r"^  ([\w-]+):", body, re.MULTILINE)
        assert len(set(names)) == len(names)
    written = "".join(path.read_text() for path in (CYPHER / "load").glob("*.cypher"))
    labels = {one.name: {each.name for each in one.properties} for one in graph_schema() if not one.starts}
    types = {*re.findall(r"\[\w*:([A-Z_]+)", written)}
    # The rules of repositories come last: of two that fit a node, the later one wins.
    assert [selector for selector, _ in rules[-2:]] == ["node.Artifact.Repo_api", "node.Artifact.Repo_web"]
    assert [re.findall(r"color: (#\w+);", body)[0] for _, body in rules[-2:]] == [*REPOSITORY_COLOURS[:2]]
    selectors = [selector.partition(".") for selector, _ in rules[:-2]]
    assert {name for kind, _, name in selectors if kind == "node" and name} <= labels.keys()
    # Each caption is made of properties.
    known = labels | {one.name: {each.name for each in one.properties} for one in graph_schema() if one.starts}
    for selector, body in rules:
        for name in re.findall(r"\{(\w+)\}", body):
            assert name in known[selector.split(".")[1]], (selector, name)
    captions = dict(re.findall(r"(\w+\.\w+) \{[^}]*?caption: \"([^\"]*)\"", text))
    assert captions["relationship.TRAVERSED"] == "{position} {relation} {run}"
    assert "{repo}" in captions["node.Artifact"]
    assert {name for kind, _, name in selectors if kind == "relationship" and name} <= types
    colours = {selector: re.search(r"color: (#\w+);", body) for selector, body in rules}
    gold, walked = (colours[f"relationship.{name}"] for name in ("GOLD", "TRAVERSED"))
    assert gold is not None
    assert walked is not None
    assert gold[1] != walked[1]


def test_colours_of_repositories(empty_store: Store, dataset: Path, tmp_path: Path) -> None:
    """Each artifact gets the label of its repository on Neo4j; loading, evaluating and removing go on as before."""
    run = dataset / "runs" / f"{RUN}.jsonl"
    graphkit.evaluate(run, dataset, store=empty_store, measures=["EdgeRecall"])
    repositories = repositories_of(empty_store, RUN)
    assert repositories == repositories_of(empty_store)
    assert "api" in repositories
    write_guide(tmp_path / "guide", RUN, None, repositories)
    pages = dict(sections((tmp_path / "guide" / "guide.adoc").read_text()))
    give, take = pages["Colours of repositories"]
    with pytest.raises(InputError, match="no run is called"):
        repositories_of(empty_store, "none")
    if empty_store.engine == "embedded":
        return  # the embedded database takes no second label, and no Browser
    labelled = "MATCH (a:Artifact) WHERE size(labels(a)) = 2 RETURN DISTINCT a.repo AS repo, labels(a) AS labels"
    empty_store.write(give)
    rows: list[dict[str, Any]] = [dict(row) for row in empty_store.read(labelled)]
    found = {row["repo"]: next(one for one in row["labels"] if one != "Artifact") for row in rows}
    assert found == {name: label for name, label in repository_labels(repositories).items() if name in found}
    assert len(found) > 3
    graphkit.evaluate(run, dataset, store=empty_store, measures=["EdgeRecall"])
    empty_store.write(take)
    assert empty_store.read(labelled) == []
    empty_store.write(give)
    remove_dataset(empty_store, dataset.name)
    assert empty_store.read("MATCH (n) RETURN count(n) AS count") == [{"count": 0}]


def test_the_command_takes_the_repositories_of_the_database(graph: Graph, tmp_path: Path) -> None:
    """With a database at hand, the style has a rule for each repository of the run's dataset; else a note says none."""
    inside("evaluate", "-m", "EdgeRecall", tiny(tmp_path / "d"), cwd=tmp_path, env=graph.env, code=0)
    inside("queries", "--browser-guide", "guide", "--run", "r", cwd=tmp_path, env=graph.env, code=0)
    text = (tmp_path / "guide" / "graphkit.grass").read_text()
    assert re.findall(r"Artifact\.(\w+)", text) == ["Repo_a", "Repo_b"]
    done = inside("queries", "--browser-guide", "guide", "--run", "x", cwd=tmp_path, env=graph.env, code=2)
    assert "no run is called 'x'" in done.err
    done = inside("queries", "--browser-guide", "bare", cwd=tmp_path, code=0)
    assert "no database is here" in done.err
    assert "Repo_" not in (tmp_path / "bare" / "graphkit.grass").read_text()


def test_the_command(tmp_path: Path) -> None:
    """It writes three files, writes them again, and replaces nobody else's."""
    done = inside("queries", "--browser-guide", "guide", "--run", RUN, "--json", cwd=tmp_path, code=0)
    assert done.object() == {"files": [f"guide/{name}" for name in ("guide.adoc", "guide.html", "graphkit.grass")]}
    inside("queries", "--browser-guide", "guide", cwd=tmp_path, code=0)
    (tmp_path / "guide" / "graphkit.grass").write_text("mine")
    with pytest.raises(InputError, match="isn't one of a guide of graphkit's"):
        write_guide(tmp_path / "guide")
    assert "--run and --question" in inside("queries", "--run", RUN, cwd=tmp_path, code=2).err
