"""The cause of each missed edge: each kind by hand, and the same words from files, from the graph, and everywhere."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.analysis.causes import Cause, causes_of, questions_by_cause
from graphkit.analysis.evaluation_plan import EvaluationPlan
from graphkit.analysis.explanations import explanations_in_graph
from graphkit.analysis.file_failures import RunOnFiles
from graphkit.database.store import Store
from graphkit.files.dataset import Dataset
from graphkit.graph.opening import prepared
from graphkit.measures.case import Case
from graphkit.plugins.agents.workspace import Workspace
from graphkit.plugins.exports.exported_run import with_explanations
from graphkit.plugins.notebook.fragments import spine
from graphkit.plugins.testing.question_verdicts import question_verdicts
from graphkit.records.commits import CommitGraph
from graphkit.records.models import Commit
from graphkit.records.scores import Score
from graphkit.report.page import write_report
from graphkit.report.spine import Spine, backbone_of, column_of
from graphkit.report.spine_view import fragment
from tests.helpers.cases import answer, first_cause, manual, question, unlogged
from tests.helpers.cli import Row, inside, write_lines
from tests.helpers.datasets import STOREFRONT
from tests.helpers.pages import Page, spine_of

X, Y, Z = "a:m.py#x", "a:m.py#y", "b:n.py#z"
ODD = "a:m.py#`<b>`"
ONE, TWO, OLD, NEW = ("1" * 40, "2" * 40, "3" * 40, "4" * 40)
COMMITS = [
    {"repo": "a", "sha": ONE, "branch": "1.x", "tag": "v1.1.0"},
    {"repo": "a", "sha": TWO, "branch": "main", "tag": "v2.1.0"},
    {"repo": "b", "sha": OLD, "branch": "main"},
    {"repo": "b", "sha": NEW, "branch": "main"},
]
STEPS = [[X, "CALLS", Y], [Y, "READS", Z]]
FREE = {"source": X, "relation": "CALLS", "target": Y, "optional": True}
FAR = [[X, "CALLS", Y], manual(Y, "WRITES", Z), [Z, "CALLS", X], manual(X, "WRITES", Z)]


@dataclass(frozen=True)
class Made:
    """A question with its record, and the cause that follows from them by hand."""

    record: Row | None
    kind: str | None
    sentence: str = ""
    remedy: str = ""
    paths: Any = (STEPS,)
    pins: Any = None


def _chunk(node: str, sha: str | None = None) -> Row:
    """Return a retrieved chunk."""
    return {"id": node} if sha is None else {"id": node, "commit": sha}


#: The knowledge graph holds x CALLS y, y READS z, z CALLS x and the odd edge; the steps of hand are in no graph.
MADE: dict[str, Made] = {
    "fine": Made({"traversal": STEPS, "retrieved": [X, Y, Z]}, None),
    "failed": Made(
        {"error": "broken"},
        "failed",
        "gave no answer: the record holds an error",
        "Look at the error, and run the question again.",
    ),
    "absent": Made(None, "failed", "gave no answer: the run has no record of the question", "Run the question again."),
    "stale": Made(
        {"traversal": [], "retrieved": []},
        "stale gold",
        "got no score: the gold is stale",
        "Correct the gold: `graphkit check` names what the knowledge graph lacks.",
        paths=([[X, "WRITES", Y]],),
    ),
    "unlogged": Made(
        {"retrieved": [X]},
        "not logged",
        "logged no traversal: which steps it took isn't known",
        "Log the edges that the system walks.",
    ),
    # Steps 2 and 4 are of hand. Nothing else is said of the retrieval: no walk could take step 2.
    "lacking": Made(
        {"traversal": STEPS[:1], "retrieved": [X]},
        "not in the graph",
        "broke at step 2: it is not in the knowledge graph; the walk stopped at `y`",
        "No walk over this knowledge graph can take steps 2 and 4: look at the extraction of `WRITES` edges.",
        paths=(FAR,),
    ),
    # Step 3 is in the graph, and step 4 isn't: mending the third isn't enough.
    "further": Made(
        {"traversal": [[X, "CALLS", Y], [Y, "WRITES", Z]], "retrieved": [X, Y, Z]},
        "not walked",
        "broke at step 3: retrieved `x` (#1), but did not walk to it from `z`; the walk stopped at `z`",
        "Follow `CALLS` edges from `z`: the graph has step 3. "
        "No walk over this knowledge graph can take step 4: look at the extraction of `WRITES` edges.",
        paths=(FAR,),
    ),
    # x was read on main, and the question is about the line 1.x.
    "version": Made(
        {"traversal": [[X, "CALLS", Z]], "retrieved": [_chunk(X, TWO)]},
        "another version",
        "broke at step 1: read `a` at `v2.1.0`; the question is about `v1.1.0`; the walk left `x` by `CALLS` to `z`",
        "Have `a` read at `v1.1.0` for this question.",
        pins={"a": ONE},
    ),
    # Neither end was read, but their repository was, at another commit only. Both are of the branch main.
    "branch": Made(
        {"traversal": [], "retrieved": [_chunk("b:n.py#other", NEW)]},
        "another version",
        f"walked no edge; broke at step 1: read `b` at `main {NEW[:12]}`; the question is about `main {OLD[:12]}`",
        f"Have `b` read at `main {OLD[:12]}` for this question.",
        paths=([[Z, "CALLS", X]],),
        pins={"b": OLD},
    ),
    # Every step was walked, a was read on main alone, and the question is about its line 1.x; b has no pin.
    "whole-version": Made(
        {"traversal": STEPS, "retrieved": [_chunk(X, TWO), Y, Z]},
        "another version",
        "walked both required steps; read `a` at `v2.1.0`; the question is about `v1.1.0`",
        "Have `a` read at `v1.1.0` for this question.",
        pins={"a": ONE},
    ),
    # x was read on both lines, so not all of a is of another version; z is of another commit of main than its pin.
    "whole-both": Made(
        {"traversal": STEPS, "retrieved": [_chunk(X, TWO), _chunk(Y, ONE), _chunk(Z, NEW)]},
        "another version",
        f"walked both required steps; read `b` at `main {NEW[:12]}`; the question is about `main {OLD[:12]}`",
        f"Have `b` read at `main {OLD[:12]}` for this question.",
        pins={"a": ONE, "b": OLD},
    ),
    # Both are of another version.
    "whole-none": Made(
        {"traversal": STEPS, "retrieved": [_chunk(X, TWO), _chunk(Z, NEW)]},
        "another version",
        f"walked both required steps; read `a` at `v2.1.0` and `b` at `main {NEW[:12]}`; "
        f"the question is about `v1.1.0` and `main {OLD[:12]}`",
        f"Have `a` read at `v1.1.0` and `b` read at `main {OLD[:12]}` for this question.",
        pins={"a": ONE, "b": OLD},
    ),
    # y was read at the pinned commit: a is of the right version, whatever x is.
    "whole-mixed": Made({"traversal": STEPS, "retrieved": [_chunk(X, TWO), _chunk(Y, ONE)]}, None, pins={"a": ONE}),
    # The walk names x by the tag of the pinned commit: it is the right one, and what follows is the next cause.
    "tag": Made(
        {
            "traversal": [{"source": X, "relation": "CALLS", "target": Z, "position": 0, "source_commit": "v1.1.0"}],
            "retrieved": [],
        },
        "not retrieved",
        "broke at step 1: did not retrieve `y`; the walk left `x` by `CALLS` to `z`",
        "Retrieve `y`, or walk to it: the graph has step 1.",
        pins={"a": "v1.1.0"},
    ),
    # A name that means no known commit decides nothing.
    "unknown-name": Made(
        {"traversal": [], "retrieved": [_chunk(X, "nightly")]},
        "not retrieved",
        "walked no edge; broke at step 1: did not retrieve `y`",
        "Retrieve `y`, or walk to it: the graph has step 1.",
        pins={"a": ONE},
    ),
    "unretrieved": Made(
        {"traversal": STEPS[:1], "retrieved": [X, Y]},
        "not retrieved",
        "broke at step 2: did not retrieve `z`; the walk stopped at `y`",
        "Retrieve `z`, or walk to it: the graph has step 2.",
    ),
    # A namesake of z was retrieved, so that the one which wasn't is named by its file.
    "namesake": Made(
        {"traversal": STEPS[:1], "retrieved": [X, Y, "a:m.py#z"]},
        "not retrieved",
        "broke at step 2: did not retrieve `n.py#z`; the walk stopped at `y`",
        "Retrieve `n.py#z`, or walk to it: the graph has step 2.",
    ),
    "unwalked": Made(
        {"traversal": [], "retrieved": [Y, X]},
        "not walked",
        "walked no edge; broke at step 1: retrieved `y` (#1), but did not walk to it from `x`",
        "Follow `CALLS` edges from `x`: the graph has step 1.",
    ),
    "reversed": Made(
        {"traversal": [[Y, "CALLS", X], STEPS[1]], "retrieved": []},
        "another edge",
        "broke at step 1: walked it in the other direction",
        "Look at the direction of `CALLS` edges, in the graph that was walked and in the log.",
    ),
    "relation": Made(
        {"traversal": [[X, "IMPORTS", Y], STEPS[1]], "retrieved": []},
        "another edge",
        "broke at step 1: walked it as `IMPORTS`, not as `CALLS`",
        "Look at the relation: gold has `CALLS` there.",
    ),
    # Without chunks nobody knows whether y was retrieved, but the edge taken is known.
    "turned": Made(
        {"traversal": [[X, "CALLS", Z]]},
        "another edge",
        "broke at step 1: left `x` by `CALLS` to `z`, and not by `CALLS` to `y`",
        "Follow `CALLS` edges from `x` to `y`: the graph has step 1.",
    ),
    "unknown": Made(
        {"traversal": STEPS[:1]},
        "unknown",
        "broke at step 2: the walk stopped at `y`; why is not known, since the record logs no retrieved chunks",
        "Log the retrieved chunks: they tell more of the cause.",
    ),
    "odd": Made(
        {"traversal": [], "retrieved": [X]},
        "not retrieved",
        "walked no edge; broke at step 1 of path `'or'`: did not retrieve `'<b>'`",
        "Retrieve `'<b>'`, or walk to it: the graph has step 1.",
        paths=({"id": "`or`", "steps": [[X, "CALLS", ODD]]}, {"id": "free", "steps": [FREE]}),
    ),
}


def _made(folder: Path) -> Path:
    """Write the dataset, and return the file of its run."""
    questions = [
        {"id": name, "question": "?", "paths": [*one.paths], **({"commits": one.pins} if one.pins else {})}
        for name, one in MADE.items()
    ]
    write_lines(folder / "questions.jsonl", questions)
    write_lines(folder / "commits.jsonl", COMMITS)
    write_lines(folder / "artifacts.jsonl", [{"id": node} for node in (X, Y, Z, ODD)])
    edges = [*STEPS, [Z, "CALLS", X], [X, "CALLS", ODD]]
    write_lines(folder / "edges.jsonl", [{"source": a, "relation": by, "target": b} for a, by, b in edges])
    records = [{"run": "r", "question_id": name, **one.record} for name, one in MADE.items() if one.record is not None]
    return write_lines(folder / "runs" / "r.jsonl", records)


@pytest.mark.parametrize("name", MADE)
def test_each_cause_by_hand(name: str, tmp_path: Path) -> None:
    """The first cause of the list that the data can show, in its sentence, and what to do."""
    run, expected = RunOnFiles.read(_made(tmp_path)), MADE[name]
    found = first_cause(run.cases[name], run.invalid.get(name))
    if expected.kind is None:
        assert found is None
        return
    assert found is not None
    assert (found.kind, found.sentence, found.remedy) == (expected.kind, expected.sentence, expected.remedy)
    step = re.search(r"broke at step (\d+)", expected.sentence)
    assert found.step == (int(step[1]) - 1 if step else None)
    assert (found.edge is None) == (step is None)


#: The questions of which a gold path broke.
BROKEN = [name for name, one in MADE.items() if "broke at step" in one.sentence]


def test_files_graph_and_page_say_the_same(store: Store, tmp_path: Path) -> None:
    """Of files, of the graph alone and together, of the case, on the page and in a notebook: one cause, one remedy."""
    prepared(store)
    file = _made(tmp_path / "made")
    graphkit.evaluate(file, measures=["EdgeRecall"], store=store)
    together = explanations_in_graph(store, "r", [*MADE])
    run, page = RunOnFiles.read(file), Page(write_report([file], tmp_path / "r.html").read_text("utf-8"))
    for place, (name, expected) in enumerate(MADE.items()):
        told = (expected.sentence or None, expected.remedy or None)
        for found in (graphkit.why(file, name), graphkit.why("r", name, store=store), together[name]):
            assert (found.cause, found.remedy) == told, name
            assert expected.sentence in found.sentence()
            assert found.as_json()["cause"] == told[0]
        causes = column_of(run.cases[name], run.invalid.get(name)).causes
        assert [one.sentence for one in causes] == [one for one in told[:1] if one]
        for drawn in (spine(file, name), spine("r", name, store=store)):
            assert drawn.spine.columns[0].causes == causes
        assert expected.sentence.replace("`", "") in _plain(spine_of(page, place))


def _plain(html: str) -> str:
    """Return the text of HTML, on one line."""
    return " ".join(unescape(re.sub("<[^>]+>", "", html)).split())


def test_comment_agents_tests_and_exports_say_the_same(tmp_path: Path) -> None:
    """The comment on a pull request, the command, the agent's tool, a failed test and an export hold the sentence.

    The other run walks every gold path, so that each question with a broken one got worse.
    """
    file = _made(tmp_path)
    whole = [
        {"run": "whole", "question_id": name, "retrieved": [], "traversal": {"paths": [*map(_walk, one.paths)]}}
        for name, one in MADE.items()
    ]
    before = write_lines(tmp_path / "runs" / "whole.jsonl", whole)
    comment = inside("compare", before, file, "-m", "EdgeRecall", "--format", "github", cwd=tmp_path).out
    tests = question_verdicts(file, Dataset(tmp_path), EvaluationPlan(), "key").questions
    assert len(BROKEN) == 14
    for name in BROKEN:
        expected = MADE[name]
        assert f"`{name}`: `EdgeRecall` 1.00 to " in comment
        assert f"; {expected.sentence}\n" in comment
        assert tests[name][0] == "failed"
        assert tests[name][1].startswith(f'"{name}" in "r": {expected.sentence}\n')
        done = inside("why", file, name, cwd=tmp_path, code=0).out.splitlines()
        assert done[0] == f'"{name}" in "r": {expected.sentence}'
        assert done[2] == f"what to do: {expected.remedy}"
        reply = json.loads(Workspace(tmp_path, None).why("runs/r.jsonl", name))
        assert (reply["cause"], reply["remedy"]) == (expected.sentence, expected.remedy)
        score = Score(run="r", question=name, measure="EdgeRecall", value=0.5)
        [exported] = with_explanations([score], {}, lambda question: graphkit.why(file, question))
        assert exported.explanation == expected.sentence


def _walk(path: Any) -> list[list[str]]:
    """Return the edges of a gold path."""
    steps = path["steps"] if isinstance(path, dict) else path
    return [[one["source"], one["relation"], one["target"]] if isinstance(one, dict) else one for one in steps]


def test_the_storefront_says_the_same_everywhere(store: Store, tmp_path: Path) -> None:
    """Each cause of the storefront's two runs is that of its case, in the graph as in the file; each kind is known."""
    prepared(store)
    folder = tmp_path / "storefront"
    shutil.copytree(STOREFRONT, folder, ignore=shutil.ignore_patterns("history", "__pycache__"))
    kinds: set[str] = set()
    for name in ("storefront-bm25", "storefront-graph"):
        file = folder / "runs" / f"{name}.jsonl"
        graphkit.evaluate(file, measures=["EdgeRecall"], store=store)
        run = RunOnFiles.read(file)
        in_graph = explanations_in_graph(store, name, [*run.cases])
        for asked, case in run.cases.items():
            causes = column_of(case, run.invalid.get(asked)).causes
            first: Cause | None = next(iter(causes), None)
            told = (None, None) if first is None else (first.sentence, first.remedy)
            assert (in_graph[asked].cause, in_graph[asked].remedy) == told
            kinds |= {one.kind for one in causes}
    assert kinds == {"failed", "no answer", "not in the graph", "another version", "not retrieved", "not walked"}


def test_several_paths_have_a_cause_each() -> None:
    """Both paths count: of the first the second step is lost, of the second the first one, which is not retrieved."""
    first = {"id": "p", "steps": [(X, "CALLS", Y), (Y, "CALLS", Z)]}
    gold = question(first, {"id": "q", "steps": [(Z, "CALLS", "c:w")]})
    found = causes_of(Case(gold, answer([(X, "CALLS", Y)], retrieved=[Z])))
    assert [(one.path, one.step, one.kind) for one in found] == [(0, 1, "not walked"), (1, 0, "not retrieved")]
    assert [one.sentence for one in found] == [
        "broke at step 2 of path `p`: retrieved `z` (#1), but did not walk to it from `y`; the walk stopped at `y`",
        "broke at step 1 of path `q`: did not retrieve `w`; the walk never entered the path",
    ]


def test_gold_without_an_order_is_missed_and_not_broken() -> None:
    """Two edges have no order; the walk has the second one, and goes from x to z: nothing is left, joined or broken."""
    gold = question({"steps": [(X, "CALLS", Y), (Y, "READS", Z)], "ordered": False})
    walk = [(X, "CALLS", Z), (Y, "READS", Z)]
    for retrieved, kind, sentence, remedy in (
        (
            [],
            "not walked",
            "misses `x -CALLS-> y`: came to `y`, but did not walk to it from `x`",
            "For `x -CALLS-> y`, follow `CALLS` edges from `x`.",
        ),
        (
            None,
            "unknown",
            "misses `x -CALLS-> y`: why is not known, since the record logs no retrieved chunks",
            "Log the retrieved chunks: they tell more of the cause.",
        ),
    ):
        found = first_cause(Case(gold, answer(walk, retrieved=retrieved)))
        assert found is not None
        assert (found.kind, found.sentence, found.remedy) == (kind, sentence, remedy)


def test_a_walk_without_an_order_misses_an_edge_and_did_not_break() -> None:
    """Gold has an order and the record has none: of the set, x CALLS y is lacking, and nothing is left or joined."""
    gold = question([(X, "CALLS", Y), (Y, "READS", Z)])
    case = Case(gold, answer([(X, "CALLS", Z), (Y, "READS", Z)], retrieved=[], ordered=False))
    found = first_cause(case)
    assert found is not None
    assert found.sentence == "misses `x -CALLS-> y`: came to `y`, but did not walk to it from `x`"
    assert found.remedy == "For `x -CALLS-> y`, follow `CALLS` edges from `x`."
    # Neither is it said by the row of the edge, nor is the edge behind it drawn as one that came too late.
    shown = Spine(backbone_of(case), ("r",), (column_of(case),), (None,), (False,))
    assert 'title="first missed edge"' in fragment(shown, "q")
    assert "broke here" not in fragment(shown, "q")
    assert " after" not in fragment(shown, "q")


def test_without_directions_no_turn_is_named() -> None:
    """A walk that leaves x for z lacks y; without directions it isn't said where the walk went."""
    case = Case(question([(X, "CALLS", Y)]), answer([(X, "CALLS", Z)]))
    [turned] = causes_of(case)
    [bare] = column_of(case, undirected=True).causes
    assert turned.sentence == f"{bare.sentence}; the walk left `x` by `CALLS` to `z`"


def test_a_version_that_was_read_beside_the_right_one_is_no_cause() -> None:
    """x was read at both commits: the right one was there, and y just isn't retrieved."""
    commits = CommitGraph.build([Commit(repo="a", sha=ONE, tag="v1"), Commit(repo="a", sha=TWO, tag="v2")])
    gold = question([(X, "CALLS", Y)], commits={"a": ONE})
    both = [{"id": X, "commit": TWO}, {"id": X, "commit": ONE}]
    for chunks, kind in ((both, "not retrieved"), (both[:1], "another version")):
        found = first_cause(Case(gold, answer(retrieved=chunks), commits))
        assert found is not None
        assert found.kind == kind


def test_questions_are_counted_by_their_causes_in_any_run() -> None:
    """Both runs fail on q1, each for its own reason, and on q2 for the same one; one run fails on q3, and none on q4.

    Three have "not walked" in some run, one has "failed" and one "unknown": equals stand in the order of the causes.
    """
    runs = [["failed", "not walked", "", ""], ["not walked", "not walked", "not walked", ""]]
    assert list(questions_by_cause(runs).items()) == [("not walked", 3), ("failed", 1)]
    assert questions_by_cause([["unknown", "failed"]]) == {"failed": 1, "unknown": 1}
    assert questions_by_cause([[""]]) == {}


def test_a_question_without_required_gold_has_no_cause() -> None:
    """No step is required, so none is lost; a record without a traversal lacks nothing either."""
    for record in (answer(), unlogged()):
        assert causes_of(Case(question(), record)) == ()
