"""The failures of a run file: the rows of the named queries, without a database."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import graphkit
from graphkit.analysis.broken_edges import broken_edges, question_edges
from graphkit.analysis.causes import causes_of
from graphkit.analysis.failure_findings import failures_brief
from graphkit.analysis.file_failures import RunOnFiles, file_kinds
from graphkit.database.store import Store
from graphkit.graph.opening import prepared
from graphkit.graph.queries import failure_queries, named_queries
from graphkit.plugins.judging.verdict_files import write_verdicts
from tests.helpers import ROOT
from tests.helpers.cli import Row, inside, tiny
from tests.helpers.datasets import STOREFRONT
from tests.helpers.grading import to_grade
from tests.helpers.verdicts import claim, plausible, verdict

RUNS = ("storefront-bm25", "storefront-graph", "storefront-graph-v2")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A copy of the storefront, with verdicts beside each run."""
    folder = tmp_path / "storefront"
    shutil.copytree(STOREFRONT, folder, ignore=shutil.ignore_patterns("history", "__pycache__"))
    for run in RUNS:
        grades = folder / "runs" / f"{run}.grades"
        grades.mkdir(exist_ok=True)
        write_verdicts(grades / "lexical.verdicts.jsonl", plausible(folder / "runs" / f"{run}.jsonl"))
    return folder


def test_rows_are_those_of_the_named_queries(store: Store, shop: Path) -> None:
    """On the storefront, a file gives each kind's rows as the graph does, in the same order."""
    prepared(store)
    counts = dict.fromkeys(file_kinds(), 0)
    for run in RUNS:
        file = shop / "runs" / f"{run}.jsonl"
        graphkit.evaluate(file, measures=["EdgeRecall"], store=store)
        graphkit.load_verdicts(store, list(plausible(file)))
        found = RunOnFiles.read(file)
        for kind in file_kinds():
            in_graph, in_file = graphkit.failures(store, run, kind), found.failures(kind)
            assert list(in_file) == list(in_graph), (run, kind)
            assert all(tuple(row) == named_queries()[kind].columns for row in in_file), kind
            counts[kind] += len(in_file)
    # The storefront's gold isn't stale, and its runs log no seeds: tests of other data compare these kinds.
    assert all(counts[kind] for kind in file_kinds() if kind not in ("stale-gold", "not-linked")), counts


def test_edges_that_the_graph_lacks_are_those_of_causes_and_page(shop: Path) -> None:
    """Each cause *not in the graph* names such an edge of its question, and the page counts the same questions."""
    causes, pages = 0, 0
    for run in RUNS:
        found = RunOnFiles.read(shop / "runs" / f"{run}.jsonl")
        rows: list[Row] = [*found.failures("edges-absent")]
        for name, case in found.cases.items():
            own = [tuple(row.values())[:3] for row in found.failures("edges-absent", question=name)]
            said = [one.edge for one in causes_of(case, found.invalid.get(name)) if one.kind == "not in the graph"]
            assert set(said) <= set(own), (run, name)
            causes += len(said)
        counted = [None if name in found.invalid else question_edges(case) for name, case in found.cases.items()]
        lacking = {row.names: (row.absent, row.lost) for row in broken_edges([counted]).edges if row.absent}
        assert lacking == {
            (row["source"], row["relation"] or "", row["target"]): (row["required"], row["missed"]) for row in rows
        }
        pages += len(lacking)
    assert causes
    assert pages > 1


def test_stale_gold_is_that_of_the_graph(store: Store, tmp_path: Path) -> None:
    """A question whose gold the knowledge graph lacks is stale in both, and fails in no other way."""
    prepared(store)
    # The graph holds the edges of q1's gold, but not x -CALLS-> w of q2's.
    nodes = ["a:m.py#x", "a:m.py#y", "b:n.py#z"]
    edges = [{"source": one, "relation": "CALLS", "target": two} for one, two in zip(nodes, nodes[1:], strict=False)]
    run = tiny(tmp_path / "small", artifacts=[{"id": one} for one in nodes], edges=edges)
    graphkit.evaluate(run, measures=["EdgeRecall"], store=store)
    for kind in file_kinds():
        assert list(graphkit.file_failures(run, kind)) == list(graphkit.failures(store, "r", kind)), kind
    assert [row["question"] for row in graphkit.file_failures(run, "stale-gold")] == ["q2"]


def test_each_question_is_counted_once(store: Store, tmp_path: Path) -> None:
    """Of the questions, q1 has no gold, q2 fails, q3 is missing, q4 logs no walk, q5 misses its edge, and q6 has it.

    The knowledge graph lacks the gold edge of q7, which is stale. File and graph say the same.
    """
    prepared(store)
    edges = {f"q{number}": ("a:m.py#x", "CALLS", f"b:n.py#z{number}") for number in range(2, 8)}
    questions: list[Row] = [
        {"id": "q1", "question": "?"},
        *({"id": one, "question": "?", "paths": [[edge]]} for one, edge in edges.items()),
    ]
    walk = [dict(zip(("source", "relation", "target"), edges["q6"], strict=True), position=0)]
    answers: list[Row] = [{"error": "boom"}, {"answer": "?"}, {"traversal": []}, {"traversal": walk}, {"traversal": []}]
    names = ("q2", "q4", "q5", "q6", "q7")
    run = tiny(
        tmp_path / "seven",
        questions=questions,
        answers=[{"run": "r", "question_id": one, **more} for one, more in zip(names, answers, strict=True)],
        artifacts=[{"id": "a:m.py#x"}, *({"id": edge[2]} for edge in edges.values())],
        edges=[{"source": a, "relation": b, "target": c} for one, (a, b, c) in edges.items() if one != "q7"],
    )
    graphkit.evaluate(run, measures=["EdgeRecall"], store=store)
    on_files = {kind: graphkit.file_failures(run, kind) for kind in file_kinds()}
    in_graph = {kind: graphkit.failures(store, "r", kind) for kind in file_kinds()}
    assert on_files == in_graph
    told = "of 5 questions with gold edges 1 failed, 1 missing, 1 not logged, 1 misses gold edges, 1 has them all"
    for found in (on_files, in_graph):
        assert failures_brief("r", found).summary == f"r: {told}; 1 more has stale gold"


def test_kinds_are_named_queries_in_their_order() -> None:
    """The kinds that files suffice for are named queries, in the order in which these are shown."""
    assert [query.name for query in failure_queries() if query.name in file_kinds()] == [*file_kinds()]
    needing = {query.name for query in failure_queries()} - {*file_kinds()}
    [listed] = re.findall("These kinds need the graph: (.+)", (ROOT / "docs" / "explaining.md").read_text("utf-8"))
    assert {*re.findall("`([a-z-]+)`", listed)} == needing


def test_one_function_reads_and_answers(shop: Path) -> None:
    """The library function takes a file, a question and a limit; ``total`` counts beyond the limit."""
    file = shop / "runs" / "storefront-graph.jsonl"
    rows = graphkit.file_failures(file, "missed-edges", question="sf-04", limit=1)
    # sf-04 misses two edges: open_session -CALLS-> sweep, and sweep -WRITES-> sessions.
    assert ([row["target"] for row in rows], rows.total) == (["api:api/sessions.py#sweep"], 2)
    assert list(graphkit.file_failures(str(file), "missed-edges", dataset=shop, question="sf-04"))[:1] == rows


def test_verdicts_on_an_earlier_answer_dont_count(tmp_path: Path) -> None:
    """A verdict with the hash of another answer is left out, and its question named."""
    run = tiny(tmp_path)
    grades = tmp_path / "runs" / "r.grades"
    grades.mkdir()
    unsupported = claim("x calls z", support="UNSUPPORTED")
    outdated = verdict("q1", claims=[unsupported], answer_hash="0" * 64)
    write_verdicts(grades / "lexical.verdicts.jsonl", [outdated, verdict("q2", claims=[unsupported])])
    found = RunOnFiles.read(run)
    assert [row["question"] for row in found.failures("unsupported-claims")] == ["q2"]
    assert found.outdated["verdicts"] == ("q1",)
    assert "such as q1" in found.messages()[0]


def test_what_was_never_judged_isnt_said_to_be_right(tmp_path: Path) -> None:
    """Kinds that list what a judge found say so where nothing was judged; other kinds, and a judged run, don't."""
    run = to_grade(tmp_path)
    for kind in ("unsupported-claims", "claims-by-relation"):
        done = inside("failures", run, "--kind", kind, cwd=tmp_path, code=0)
        assert done.out == "no such failure\n"
        assert f"note: {kind} lists what was judged, and no answer of r was" in done.err
    assert "judged" not in inside("failures", run, "--kind", "incoherent-pairs", cwd=tmp_path, code=0).err
    inside("grade", run, "--no-store", cwd=tmp_path, code=0)
    assert "judged" not in inside("failures", run, "--kind", "unsupported-claims", cwd=tmp_path, code=0).err


def test_what_files_cant_answer_names_the_way(tmp_path: Path) -> None:
    """A kind that needs the graph, an unknown question and a negative limit are refused, each with its remedy."""
    run = tiny(tmp_path)
    with pytest.raises(graphkit.InputError, match=r"right-files-wrong-path needs the graph[\s\S]*graphkit evaluate"):
        graphkit.file_failures(run, "right-files-wrong-path")
    with pytest.raises(graphkit.InputError, match=r"no question has the id 'q11'[\s\S]*Did you mean q1\?"):
        graphkit.file_failures(run, "wrong-turns", question="q11")
    with pytest.raises(graphkit.InputError, match="the limit is -1"):
        graphkit.file_failures(run, "wrong-turns", limit=-1)
