"""What to mend first: places by the questions that they would complete, worked by hand."""

from __future__ import annotations

import json
import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphkit
from graphkit.analysis.broken_edges import question_edges
from graphkit.analysis.mending import Missed, first_to_mend, missed_by_question
from graphkit.database.store import Store
from graphkit.graph.opening import prepared
from graphkit.measures.case import Case
from graphkit.measures.matching import Edge
from graphkit.measures.seeds import LostEdge
from graphkit.plugins.agents.workspace import Workspace
from graphkit.records.ids import Places
from graphkit.report.page import write_report
from tests.helpers.cases import answer, optional, question, unlogged
from tests.helpers.cli import inside, tiny
from tests.helpers.datasets import STOREFRONT
from tests.helpers.pages import Page
from tests.helpers.properties import examples
from tests.helpers.suites import one_fast

AB: Edge = ("a:m.py#x", "CALLS", "b:m.py#y")
AB2: Edge = ("a:m.py#u", "CALLS", "b:m.py#y")
BB: Edge = ("b:m.py#y", "CALLS", "b:m.py#w")
CC: Edge = ("c:m.py#y", "RAISES", "c:m.py#w")
CC2: Edge = ("c:m.py#y", "RAISES", "c:m.py#z")


def named(*runs: Missed) -> list[tuple[str, str]]:
    """Return kind and name of the places to mend."""
    return [(one.kind, one.name) for one in first_to_mend(runs, Places())]


def test_what_completes_most_questions_comes_first() -> None:
    """The boundary a → b completes q1 and q2, RAISES q3 alone, and BB none: q4 also misses AB.

    Of the six missed edges four have CALLS, which is more than half, so CALLS is no place; nor is an edge of the
    boundary that was chosen. RAISES ties with its one edge CC, which is finer.
    """
    run = {"q1": [AB], "q2": [AB2], "q3": [CC], "q4": [AB, BB], "q5": []}
    assert named(run) == [
        ("boundary", "a → b"),
        ("edge", "c:m.py#y -RAISES-> c:m.py#w"),
        ("edge", "b:m.py#y -CALLS-> b:m.py#w"),
    ]
    first, second, third = first_to_mend([run], Places())
    assert first.questions == (("q1", "q2", "q4"),)
    assert first.alone == (("q1", "q2"),)
    assert first.sentence == "a → b: 3 questions miss 3 required edges there; 2 of them miss nothing else"
    assert second.sentence == "c:m.py#y -RAISES-> c:m.py#w: 1 question misses it and nothing else"
    assert third.sentence == "b:m.py#y -CALLS-> b:m.py#w: 1 question misses it and others"


def test_a_relation_is_a_place_if_few_edges_have_it() -> None:
    """RAISES completes q1, q2 and q3, each edge of it fewer; it has 4 of 8 missed edges, which is no more than half."""
    run = {"q1": [CC], "q2": [CC2], "q3": [CC, CC2], "q4": [AB, BB], "q5": [AB2, BB]}
    [first, *_] = first_to_mend([run], Places())
    assert first.sentence == "RAISES edges: 3 questions miss 4 required edges there; 3 of them miss nothing else"


def test_what_a_place_completes_counts_no_more() -> None:
    """The edge AB completes q1 to q3; behind it RAISES completes q4 and AB2 q5, and the boundary nothing but q5.

    The boundary a → b would complete 4 and is as good as first; then AB and AB2 lie in it.
    """
    run = {"q1": [AB], "q2": [AB], "q3": [AB], "q4": [CC], "q5": [AB2]}
    assert named(run) == [("boundary", "a → b"), ("edge", "c:m.py#y -RAISES-> c:m.py#w")]


def test_answers_of_all_runs_count() -> None:
    """Of two runs the first misses AB in q1 and q2, the second AB and BB in q1: three answers, two of them AB alone."""
    [first, second] = first_to_mend([{"q1": [AB], "q2": [AB]}, {"q1": [AB, BB], "q2": []}], Places())
    assert first.questions == (("q1", "q2"), ("q1",))
    assert first.alone == (("q1", "q2"), ())
    assert first.sentence == "x -CALLS-> y: 3 answers of 2 runs to 2 questions miss it; 2 of them miss nothing else"
    assert second.sentence == "y -CALLS-> w: 1 answer of 1 run to 1 question misses it and others"
    # Two answers that each miss others, too: CC ends at another y, so both have longer names.
    [one, *_] = first_to_mend([{"q1": [AB, BB], "q2": [AB, CC]}], Places())
    assert one.sentence == "x -CALLS-> b:m.py#y: 2 questions miss it; each of them misses others, too"


def test_a_place_says_how_often_the_question_was_not_linked() -> None:
    """Both q1 and q2 miss a → b, and q1 was linked to a namesake of its start; so was q3, which misses CC alone.

    In the second run q1 was linked to another node: of three answers that miss a → b two weren't linked, one of them
    to a namesake. What is lost elsewhere doesn't count there.
    """
    run = {"q1": [AB], "q2": [AB2], "q3": [CC]}
    lost = {"q1": [LostEdge(AB, True)], "q2": [], "q3": [LostEdge(CC, True)]}
    start = "the question was not linked to the start of the path"
    first, second = first_to_mend([run], Places(), lost=[lost])
    assert first.counts == (
        f"2 questions miss 2 required edges there; 2 of them miss nothing else; for 1 of them {start} (linked to a "
        "namesake)"
    )
    assert second.counts == f"1 question misses it and nothing else; {start} (linked to a namesake)"
    other = {"q1": [LostEdge(AB, False)]}
    [both, _] = first_to_mend([run, {"q1": [AB]}], Places(), lost=[lost, other])
    assert both.counts == (
        "3 answers of 2 runs to 2 questions miss 3 required edges there; 3 of them miss nothing else; for 2 of them "
        f"{start} (1 linked to a namesake)"
    )
    assert start not in first_to_mend([run], Places())[0].counts


def test_nothing_missed_leaves_nothing_to_mend() -> None:
    """Whole paths and no runs give no place."""
    assert first_to_mend([{"q1": []}], Places()) == ()
    assert first_to_mend([], Places()) == ()


def test_missed_edges_are_those_of_scored_questions() -> None:
    """Of four questions one is walked, one lacks BB, one isn't logged and one has stale gold."""
    asked = question([AB, BB, optional(*CC)])
    cases = [Case(asked, told) for told in (answer([AB, BB]), answer([AB]), unlogged())]
    edges = [*map(question_edges, cases), None]
    assert missed_by_question(["q1", "q2", "q3", "q4"], edges) == {"q1": [], "q2": [BB]}


def _text(html: str) -> str:
    return " ".join(Page(html).text.split())


@one_fast("name", ["storefront-bm25", "storefront-graph"], "a page, a notebook and an agent for each run", 0)
def test_agents_notebook_terminal_and_page_say_the_same(name: str, store: Store, tmp_path: Path) -> None:
    """The terminal's sentences are those of board, page, and an agent's tool and resource, of file and graph."""
    prepared(store)
    folder = tmp_path / "storefront"
    shutil.copytree(STOREFRONT, folder, ignore=shutil.ignore_patterns("history", "__pycache__"))
    file = folder / "runs" / f"{name}.jsonl"
    lines = inside("evaluate", "--no-store", file, cwd=tmp_path, code=0).out.splitlines()
    told = [line.removeprefix("mend").strip() for line in lines if line.startswith("mend ")]
    assert len(told) == 3
    result = graphkit.evaluate(file, outcomes=True, store=store)
    board = graphkit.board(result)
    assert str(board).splitlines() == [board.verdict, *told]
    together = " ".join(f"{one}." for one in told)
    assert together in _text(board._repr_html_())
    assert together in _text(write_report([file], tmp_path / "page.html").read_text("utf-8"))
    workspace = Workspace(folder, lambda: nullcontext(store))
    for run in (f"runs/{name}.jsonl", name):
        reply = json.loads(workspace.failures(run))
        assert [one.get("mend") for one in reply["rows"]][:4] == [*told, None]
        later = json.loads(workspace.failures(run, offset=2))
        assert [one.get("mend") for one in later["rows"]][:2] == [told[2], None]
        counts: list[int] = [*reply["counts"].values()]
        for some, offset in ((reply, 0), (later, 2)):
            assert f" of {3 + sum(counts) - offset} rows: " in some["omitted"]
        assert "mend" not in workspace.failures(run, "missed-edges")
    assert json.loads(workspace.report(f"runs/{name}.jsonl"))["mend"] == told


def test_a_result_without_outcomes_names_no_place(tmp_path: Path) -> None:
    """Outcomes hold the missed edges: without them the board has its verdict alone."""
    run = tiny(tmp_path)
    given: dict[str, Any] = {"measures": ["EdgeRecall"]}
    assert graphkit.board(graphkit.evaluate(run, **given)).mending == ()
    [one] = graphkit.board(graphkit.evaluate(run, outcomes=True, **given)).mending
    assert one.sentence == "y -CALLS-> z: 1 question misses it and nothing else"


_EDGES = st.lists(st.sampled_from([AB, AB2, BB, CC, CC2]), max_size=3, unique=True)
_RUNS = st.lists(st.fixed_dictionaries(dict.fromkeys(("q1", "q2", "q3"), _EDGES)), min_size=1, max_size=2)


@pytest.mark.parametrize("most", [1, 3])
@examples(200)
@given(runs=_RUNS)
def test_a_place_says_no_more_than_was_counted(most: int, runs: list[dict[str, list[Edge]]]) -> None:
    """A place names the questions that miss an edge there, and those alone; the first completes most."""
    found = first_to_mend(runs, Places())[:most]
    assert bool(found) == any(edges for run in runs for edges in run.values())
    for place in found:
        for run, questions, alone in zip(runs, place.questions, place.alone, strict=True):
            for name, edges in run.items():
                there = [
                    edge
                    for edge in edges
                    if place.names in (edge, (edge[1],)) or place.names == (edge[0][0], edge[2][0])
                ]
                assert (name in questions) == bool(there)
                assert (name in alone) == (bool(there) and len(there) == len(edges))
    assert all(sum(map(len, one.alone)) <= sum(map(len, found[0].alone)) for one in found)
