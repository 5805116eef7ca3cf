"""``graphkit demo``: layers without a gap, a judge that is named as such, and nothing written beside the fixture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphkit.plugins.demo.commands import ON_PAGE
from graphkit.plugins.sandbox.walls import Wall
from tests.helpers.cli import Graph, inside
from tests.helpers.code_answers import GRAPH_V2, pass_rate
from tests.helpers.datasets import STOREFRONT
from tests.helpers.pages import Page


def listed(folder: Path) -> dict[str, int]:
    """Return every file of a folder, with the time at which it was last written."""
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.suffix != ".pyc"}


def test_demo_judges_what_it_shows(graph: Graph, tmp_path: Path) -> None:
    """All layers have a score, one answer is shown claim by claim, and the fixture stays as it was."""
    before = listed(STOREFRONT)
    reported = inside("demo", "--full", cwd=tmp_path, env=graph.env, code=0).out
    assert listed(STOREFRONT) == before
    # The three layers of both runs have a score, so no product is partial.
    for layer in ("retrieval", "reasoning", "generation", "overall"):
        assert re.search(rf"^ {layer} +0\.\d{{4}} +0\.\d{{4}} *$", reported, re.MULTILINE), layer
    for measure in ("Groundedness", "Attribution", "RubricGrade"):
        assert re.search(rf"^ +{measure} .*0\.\d{{4}}", reported, re.MULTILINE), measure
    assert "judged by `lexical`, a judge of rules" in reported
    # sf-03 has four claims; the fourth is a guess, and [1] stands at a claim that its source doesn't hold.
    claims = reported.split("4. The answer to sf-03")[1].split("5. The two runs")[0]
    assert re.findall(r"^  (\d)\. ", claims, re.MULTILINE) == ["1", "2", "3", "4"]
    assert "nothing retrieved supports the claim in sentence 4: `api.SESSION_MINUTES` (infra) is then passed" in claims
    assert "the citation [1] is wrong: claim not supported by the cited source" in claims
    # Two and a half screens of 50 lines, with what to type next, and a table of what two failed questions change.
    assert reported.count("\n") <= 125
    page = Page((tmp_path / "graphkit-demo.html").read_text())
    assert "h-judges" in {values.get("id") for _, values in page.elements}
    # The board shows them before the folded ones; the flat run walks nothing, so only the other one can stop too late.
    board = " ".join(page.text.partition("more measures")[0].split())
    shown = re.findall(r"(ClaimPrecision|ClaimRecall|RougeL|Hops|StoppingDepth)(?: ↓)? A (–|[\d.]+)", board)
    assert dict(shown).keys() == {*ON_PAGE}
    assert [name for name, value in shown if value == "–"] == ["StoppingDepth"]


def test_demo_executes_code(bubblewrap: Wall, graph: Graph, tmp_path: Path) -> None:
    """Three of the better run's ten answers pass all their tests, and no harmful answer escapes."""
    reported = inside("demo", "--full", cwd=tmp_path, env=graph.env, code=0).out
    [better] = [line.split() for line in reported.splitlines() if line.strip().startswith("storefront-code-graph-v2 ")]
    assert better[1] == f"{pass_rate(GRAPH_V2):.4f}"
    assert "sc-01: its code passed 3 of 4 tests; 'each line is rounded down' failed" in reported
    assert "Code that was executed" in (tmp_path / "graphkit-demo-code.html").read_text()


@pytest.mark.slow("the demo loads, evaluates, judges and executes two runs")
def test_demo_as_json(graph: Graph, tmp_path: Path) -> None:
    """The runs come with what the judge gave them, then what was worst and what the judge found unsound."""
    first, second, reported = inside("demo", "--json", cwd=tmp_path, env=graph.env, code=0).objects()
    assert (first["run"], second["run"], reported["run"]) == ("storefront-bm25", "storefront-graph", "storefront-graph")
    # 36 of 39 are graded: the run logs two errors, and sf-39 has no answer for who asks.
    assert second["measures"]["RubricGrade"]["scored"] == 36
    assert reported["judged"]["judge"] == "lexical"
    assert [text.split()[0] for text in reported["judged"]["wrong"]] == ["nothing", "the"]
