"""The spine of a question: marks derived by hand, sentences that agree with them, and the fragment of the page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graphkit.files.assets import storefront_code_folder
from graphkit.measures.case import Case
from graphkit.measures.edges import EdgeRecall
from graphkit.measures.outcome import outcome
from graphkit.measures.unscored import Unscored
from graphkit.records.commits import CommitGraph
from graphkit.records.models import Answer, Commit, Compatibility, Question
from graphkit.report.escaping import apart
from graphkit.report.spine import Backbone, Column, Spine, backbone_of, column_of, packed
from graphkit.report.spine_lanes import lanes, remedies, rows, stories
from graphkit.report.spine_view import breakable, fragment
from graphkit.report.spine_words import sentences
from tests.helpers.cases import StepForm, answer, either, optional, question, unlogged
from tests.helpers.datasets import read_jsonl
from tests.helpers.pages import HOSTILE, Page
from tests.helpers.properties import examples

X, Y, Z, W = "a:m.py#x", "a:m.py#y", "b:n.py#z", "c:o.py#w"


def spine_of(
    gold: Question, *records: Answer | None, right: bool | None = None, undirected: bool = False, **more: Any
) -> Spine:
    """Return the spine of a question beside these records, whose runs are called r0, r1 and so on."""
    cases = [Case(gold, record, **more) for record in records]
    columns = tuple(column_of(case, undirected=undirected) for case in cases)
    lucky = tuple(right is True and outcome(case).path is False for case in cases)
    names = tuple(f"r{number}" for number in range(len(records)))
    return Spine(backbone_of(cases[0]), names, columns, (right,) * len(records), lucky)


def kinds(spine: Spine, run: int = 0) -> list[list[str]]:
    """Return the kinds of the marks of a run, path by path."""
    return [[mark.kind for mark in marks] for marks in spine.columns[run].marks]


def test_each_mark_is_derived_from_the_walk() -> None:
    """Of five steps one is walked, one reversed, one has another relation, one is missed, and the optional one is free.

    The walk also holds y READS w, which no step shows: one edge off the path, and not the three of the first steps.
    """
    steps: list[StepForm] = [
        (X, "CALLS", Y),
        (Y, "CALLS", Z),
        (Z, "CALLS", W),
        (W, "CALLS", X),
        optional(X, "IMPORTS", W),
    ]
    walk = [(X, "CALLS", Y), (Z, "CALLS", Y), (Z, "IMPORTS", W), (Y, "READS", W)]
    spine = spine_of(question(steps), answer(walk, retrieved=[{"id": Z}, {"id": "a:other.py"}, {"id": X}]))
    assert kinds(spine) == [["walked", "reversed", "relation", "missed", "optional"]]
    [column] = spine.columns
    assert column.marks[0][2].relation == "IMPORTS"
    assert (column.off, column.ranks) == (1, (3, 0, 1, 0))
    assert [step.crosses for step in spine.backbone.paths[0].steps] == [False, True, True, True, True]
    assert sentences(spine, 0) == ["broke at step 2: walked it in the other direction; 1 of 4 required steps walked"]


def test_a_walked_gold_edge_is_no_reversed_one() -> None:
    """Gold goes x to y and back; the walk only goes back: the way there is missed, for its edge is gold's own."""
    spine = spine_of(question([(X, "CALLS", Y), (Y, "CALLS", X)]), answer([(Y, "CALLS", X)]))
    assert kinds(spine) == [["missed", "walked"]]


def test_a_relation_that_is_missing_matches() -> None:
    """A walked edge without a relation is walked, as EdgeRecall counts it; one with another relation isn't."""
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)])
    spine = spine_of(gold, answer([(X, None, Y), (Y, "READS", Z)]))
    assert kinds(spine) == [["walked", "relation"]]
    assert sentences(spine, 0) == [
        "broke at step 2: walked it as `READS`, not as `CALLS`; 1 of 2 required steps walked"
    ]


def test_what_is_unknown_is_neither_walked_nor_missed() -> None:
    """No traversal, no record and an error have their own marks and words; stale gold keeps its marks and isn't scored.

    The failed record had walked the first step before its error.
    """
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)])
    walked = [(X, "CALLS", Y)]
    spine = spine_of(gold, unlogged(answer="?"), None, answer(walked, error="broken"))
    assert [kinds(spine, run)[0] for run in range(3)] == [
        ["unlogged", "unlogged"],
        ["unattempted", "unattempted"],
        ["walked", "unattempted"],
    ]
    assert [sentences(spine, run) for run in range(3)] == [
        ["logged no traversal: which steps it took isn't known"],
        ["gave no answer: the run has no record of the question"],
        ["gave no answer: the record holds an error"],
    ]
    assert [(column.off, column.ranks[0]) for column in spine.columns] == [(None, -1), (None, -1), (0, 0)]
    stale = column_of(Case(gold, answer(walked)), "y is gone")
    spine = Spine(spine.backbone, ("r",), (stale,), (None,), (False,))
    assert (kinds(spine), sentences(spine, 0)) == ([["walked", "missed"]], ["got no score: the gold is stale"])
    assert stale.breaks == ()


def test_the_alternative_that_counts_is_named_and_shown() -> None:
    """Run 0 walks half of one, run 1 all of two: each is measured by its own, and its own is shown beside its sentence.

    Three counts for no run, so it is folded; so is one beside run 1 alone.
    """
    one, two, three = [(X, "CALLS", Y), (Y, "CALLS", Z)], [(X, "CALLS", W)], [(Z, "CALLS", W), (W, "READS", Z)]
    names = ("one", "two", "three")
    paths = either("g", one, two, three)
    gold = question(*[{**path, "id": name} for path, name in zip(paths, names, strict=True)])
    first, second = answer(one[:1]), answer(two)
    spine = spine_of(gold, first, second)
    assert (kinds(spine, 0), kinds(spine, 1)) == (
        [["walked", "missed"], ["alternative"], ["alternative", "alternative"]],
        [["alternative", "alternative"], ["walked"], ["alternative", "alternative"]],
    )
    assert [column.counted for column in spine.columns] == [(0,), (1,)]
    assert sentences(spine, 0) == [
        "broke at step 2 of path `one`: did not retrieve `z`; the walk stopped at `y`; 1 of 2 required steps walked"
    ]
    assert sentences(spine, 1) == ["walked the required step of path `two`"]
    assert (spine.shown, spine_of(gold, second).shown) == ([0, 1], [1])
    text = " ".join(Page(str(fragment(spine, "q"))).text.split())
    shown, _, folded = text.partition("1 other alternative: three counts for no run ")
    assert "alternative one counts for r0 " in shown
    assert "alternative two counts for r1 " in shown
    assert "alternative three counts for no run " in folded


def test_a_walk_that_never_came_to_the_path_never_entered_it() -> None:
    """The ranking found x, the walk is elsewhere; a walk from x that takes no step came to the path and broke there."""
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)])
    away, there = answer([(W, "READS", W)], retrieved=[X]), answer([(X, "READS", W)])
    spine = spine_of(gold, away, there)
    assert sentences(spine, 0) == [
        "broke at step 1: did not retrieve `y`; the walk never entered the path; 0 of 2 required steps walked"
    ]
    assert sentences(spine, 1) == [
        "broke at step 1: did not retrieve `y`; the walk left `x` by `READS` to `w`; 0 of 2 required steps walked"
    ]


def test_a_walk_that_joined_later_entered_the_path() -> None:
    """The walk has the second of two gold edges and didn't come to x: it joined at step 2, and the first is missed."""
    spine = spine_of(question([(X, "CALLS", Y), (Y, "CALLS", Z)]), answer([(Y, "CALLS", Z)]))
    assert sentences(spine, 0) == [
        "broke at step 1: did not retrieve `x`; the walk joined the path at step 2; 1 of 2 required steps walked"
    ]


def test_a_walk_that_came_to_the_end_otherwise_entered_the_path() -> None:
    """The walk comes to z, the end of the path, from w: by no gold step, yet it was there."""
    spine = spine_of(question([(X, "CALLS", Y), (Y, "CALLS", Z)]), answer([(W, "READS", Z)]))
    assert sentences(spine, 0) == [
        "broke at step 1: did not retrieve `x`; the walk came to `z` by another route; 0 of 2 required steps walked"
    ]


def test_a_walk_stopped_only_where_it_ended() -> None:
    """Gold goes x, y, z, w. Behind y the first walk goes on at z, the second elsewhere; the third ends at y."""
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z), (Z, "CALLS", W)])
    first, away = (X, "CALLS", Y), ("a:p.py#v", "READS", "a:p.py#u")
    spine = spine_of(
        gold, answer([first], [(Z, "CALLS", W)]), answer([first, away]), answer([first]), answer([first], [away])
    )
    told = [sentences(spine, run)[0].rpartition("; ")[0] for run in range(4)]
    came, lacks = (
        f"broke at step 2: {how}" for how in ("came to `z`, but did not walk to it from `y`", "did not retrieve `z`")
    )
    assert told == [came, lacks, f"{lacks}; the walk stopped at `y`", f"{lacks}; the walk stopped at `y`"]


def test_names_are_as_long_as_it_takes_to_tell_them_apart() -> None:
    """Two leaves of two files differ by their files, and two of equal files by their repositories."""
    for one, two, names in (
        ("a:m.py#leaf", "a:n.py#leaf", ("m.py#leaf", "n.py#leaf")),
        ("a:k/m.py#leaf", "a:l/m.py#leaf", ("k/m.py#leaf", "l/m.py#leaf")),
        ("a:m.py#leaf", "b:m.py#leaf", ("a:m.py#leaf", "b:m.py#leaf")),
    ):
        spine = spine_of(question([(X, "CALLS", one)]), answer([(X, "CALLS", two)]))
        assert sentences(spine, 0) == [
            f"broke at step 1: did not retrieve `{names[0]}`; the walk left `x` by `CALLS` to `{names[1]}`; "
            "0 of 1 required step walked"
        ]


def test_without_directions_nothing_is_said_of_turns() -> None:
    """One walk turns off at y, the other has both steps in the wrong order: neither is said without directions."""
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)])
    records = answer([(X, "CALLS", Y), (Y, "READS", W)]), answer([(Y, "CALLS", Z), (X, "CALLS", Y)])
    spine = spine_of(gold, *records, undirected=True)
    assert [sentences(spine, run) for run in range(2)] == [
        ["broke at step 2: did not retrieve `z`; 1 of 2 required steps walked"],
        ["walked both required steps"],
    ]


def test_a_right_answer_over_a_missed_path_is_luck() -> None:
    """The same missed step is luck under a right answer only; a right answer over the whole path is none."""
    gold = question([(X, "CALLS", Y)])
    missed, whole = answer([(X, "CALLS", Z)]), answer([(X, "CALLS", Y)])
    assert sentences(spine_of(gold, missed, right=True), 0)[-1] == "right answer over a missed path: luck"
    for spine in (spine_of(gold, missed, right=False), spine_of(gold, missed), spine_of(gold, whole, right=True)):
        assert "luck" not in " ".join(sentences(spine, 0))


def test_a_commit_that_does_not_fit_stands_at_its_node() -> None:
    """x was read at a1 and z at b2, which don't go together; y was read at no commit, and nothing is said of it."""
    commits = CommitGraph.build(
        [Commit(repo="a", sha="a1"), Commit(repo="b", sha="b2")],
        [Compatibility(id="no", commits={"a": "a1", "b": "b2"}, compatible=False)],
    )
    chunks = [{"id": X, "commit": "a1"}, {"id": Z, "commit": "b2"}]
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)])
    spine = spine_of(gold, answer([(X, "CALLS", Y)], retrieved=chunks), commits=commits)
    assert spine.columns[0].clashes == ("a a1: not with b b2: incompatible", "", "b b2: not with a a1: incompatible")
    page = Page(str(fragment(spine, "q")))
    titles = [
        one["title"] for tag, one in page.elements if tag == "b" and one.get("class") == "clash" and "title" in one
    ]
    assert titles == ["a a1: not with b b2: incompatible", "b b2: not with a a1: incompatible"]
    assert page.text.count("a a1: not with b b2: incompatible") == 1  # among the commits


def _pallets(folder: Path, question_id: str, run: str) -> Spine:
    [asked] = [one for one in read_jsonl(folder / "questions.jsonl") if one["id"] == question_id]
    records = read_jsonl(folder / "runs" / f"{run}.jsonl")
    [told] = [one for one in records if question_id in (one.get("query_id"), one.get("question_id"))]
    gold, record = Question.model_validate(asked), Answer.model_validate(told)
    right = outcome(Case(gold, record)).answer
    return spine_of(gold, record, right=right)


def test_an_optional_step_is_no_way_off_the_path(pallets: Path) -> None:
    """ppr goes from render_template by the optional step to _render: the words don't say that it left the path."""
    spine = _pallets(pallets, "pallets-008", "ppr")
    assert kinds(spine) == [["missed", "walked", "walked"]]
    assert sentences(spine, 0)[0].endswith("; the walk joined the path at step 2; 1 of 2 required steps walked")


def test_a_path_walked_out_of_order_did_not_break(pallets: Path) -> None:
    """bm25-expand walks all three required edges, over several retrieved paths: no step is missed, and none broke."""
    spine = _pallets(pallets, "pallets-002", "bm25-expand")
    assert kinds(spine) == [["walked"] * 4]
    assert sentences(spine, 0) == ["walked all 3 required steps, but no retrieved path has them in this order"]


def test_a_right_answer_of_the_fixture_is_luck() -> None:
    """The graph's answer to sc-01 holds both facts, and its walk misses three of five steps of the path charge."""
    spine = _pallets(storefront_code_folder(), "sc-01", "storefront-code-graph")
    assert kinds(spine) == [["walked", "walked", "missed", "missed", "missed", "optional"], ["walked"]]
    assert sentences(spine, 0) == [
        "broke at step 3 of path `charge`: read `orders` at `24638db781a4`; the question is about `05ab83174914`; "
        "the walk left `create_order` by `CALLS` to `place_order`; 2 of 5 required steps walked",
        "walked the required step of path `refusal`",
        "right answer over a missed path: luck",
    ]


NODES = st.sampled_from([X, Y, Z, W, "a:p.py#v", "b:p.py#v", "b:n.py#x"])
EDGES = st.tuples(NODES, st.sampled_from(["CALLS", "READS", None]), NODES)
STEPS = st.lists(st.tuples(EDGES, st.booleans()), min_size=1, max_size=5)
PATHS = st.lists(st.tuples(STEPS, st.sampled_from([None, "g"])), min_size=1, max_size=3)
WALKS = st.lists(st.lists(EDGES, max_size=5), max_size=3)


@examples(400)
@given(paths=PATHS, walks=WALKS, share=st.integers(0, 20), ordered=st.booleans())
def test_no_sentence_contradicts_a_mark(paths: Any, walks: Any, share: int, ordered: bool) -> None:
    """Each sentence about a random walk, read by its words alone, agrees with the marks; these agree with EdgeRecall.

    Some walks get a beginning of the first gold path, so that many are followed and broken off.
    """
    forms = [
        {
            "id": f"p{number}",
            "group": group,
            "steps": [{"source": a, "relation": r, "target": b, "optional": free} for (a, r, b), free in steps],
        }
        for number, (steps, group) in enumerate(paths)
    ]
    begun = [edge for edge, _ in paths[0][0]][: share % 6]
    case = Case(question(*forms), answer(*([begun] if begun else []), *walks, ordered=ordered))
    column = column_of(case)
    spine = Spine(backbone_of(case), ("r",), (column,), (True,), (outcome(case).path is False,))
    recall = EdgeRecall().score(case)
    told = sentences(spine, 0)
    if isinstance(recall, Unscored):
        assert told == ["had nothing to walk: no step is required"]
        return
    assert (told[-1] == "right answer over a missed path: luck") == (recall < 1)
    told = told[:-1] if recall < 1 else told
    assert any("walked all" in one or "walked both" in one or "walked the" in one for one in told) or recall < 1
    if recall == 1:
        # One sentence for all paths: each distinct required edge of those that count was walked.
        edges = {edge for place in column.counted for edge in case.gold[place].required}
        number = re.match(r"walked (the|both|all (\d+)) required steps?\b", told[0])
        assert number is not None
        assert {"the": 1, "both": 2}.get(number[1], int(number[2] or 0)) == len(edges)
        assert len(told) == 1
        assert (", but " in told[0]) == (not all(column.in_order[place] for place in column.counted))
        return
    for place in column.counted:
        # A cause of several paths names the step of each.
        own = f" of path `p{place}`" if len(case.gold) > 1 else ""
        [words] = [one for one in told if own in one]
        if not ordered:
            _check_set(case, column, place, words, own)
            continue
        step = re.search(rf"step \d+{own}", words)
        _check(case, column, place, words if step is None else re.sub(r"broke at [^:]*", f"broke at {step[0]}", words))


def _check_set(case: Case, column: Column, place: int, words: str, own: str) -> None:
    """Compare a sentence about a set of edges with the marks: it names the first missed edge, and nothing in order."""
    gold = case.gold[place]
    steps = zip(gold.edges, gold.optional, column.marks[place], strict=True)
    lost = next((edge for edge, free, mark in steps if not free and mark.kind != "walked"), None)
    named = re.search(rf"`(\S+) -(\w*)-> (\S+)`{own}", words)
    assert (named is None) == (lost is None)
    assert ("misses" in words) == (lost is not None)
    if named is not None and lost is not None:
        assert lost[1] == (named[2] or None)
        assert lost[0].endswith(named[1])
        assert lost[2].endswith(named[3])
    for word in ("broke", "stopped", "joined", "left", "another route", "order"):
        assert word not in words


def _check(case: Case, column: Column, place: int, words: str) -> None:
    """Compare one sentence with the marks of its path."""
    gold, marks = case.gold[place], [mark.kind for mark in column.marks[place]]
    required = {edge: mark for edge, mark, free in zip(gold.edges, marks, gold.optional, strict=True) if not free}
    assert {*required.values()} <= {"walked", "missed", "reversed", "relation"}
    if share := re.search(r"(\d+) of (\d+) required steps? walked$", words):
        assert [int(share[1]), int(share[2])] == [[*required.values()].count("walked"), len(required)]
    nodes = {node for edge in gold.edges for node in (edge[0], edge[2])}
    touched = {node for source, _, target in case.walked for node in (source, target)}
    taken = [step for step, mark in enumerate(marks) if mark == "walked"]
    lost = next((step for step, free in enumerate(gold.optional) if not free and marks[step] != "walked"), None)
    broke = re.search(r"broke at step (\d+)", words)
    if broke is None:
        assert {*required.values()} == {"walked"}
        return
    at = int(broke[1]) - 1
    assert at == lost
    assert ("walked no edge" in words) == (not case.walked)
    how = {"walked it in the other direction": "reversed", "walked it as": "relation"}
    assert [marks[at]] == ([mark for text, mark in how.items() if text in words] or ["missed"])
    source, target = gold.edges[at][0], gold.edges[at][2]
    if "never entered" in words:
        assert not nodes & touched
    if joined := re.search(r"joined the path at step (\d+)", words):
        assert at < taken[0] == int(joined[1]) - 1
    if reached := re.search(r"the walk came to `(\S+)` by another route", words):
        assert gold.edges[-1][2].endswith(reached[1])
        assert not taken
        assert any(end == gold.edges[-1][2] for _, _, end in case.walked)
    if went := re.search(r"the walk left `(\S+)`(?: by `(\w+)`)? to `(\S+)`", words):
        ends = [edge[2] for edge in case.walked if (edge[0], edge[1]) == (source, went[2])]
        assert any(end.endswith(went[3]) and (source, went[2], end) not in case.gold_edges for end in ends)
        assert source.endswith(went[1])
    if missing := re.search(r"did not retrieve `(\S+?)`", words):
        assert any(node.endswith(missing[1]) and node not in touched for node in (source, target))
    if came := re.search(
        r"(?:came to|retrieved) `(\S+)`.*, but did not walk (?:to it from `(\S+?)`|from it to)", words
    ):
        # The names are told apart, unless the edge leads back to its start.
        assert (came[2] is None) == (source == target)
        assert came[1] != came[2]
        assert target in touched
    if "the walk stopped" in words:
        assert all(step < at for step in taken)
        assert not any(start == source for start, _, _ in case.walked)
        there = [walk for walk in case.walked_paths if any(source in edge[::2] for edge in walk)]
        assert there
        assert all(walk[-1][2] == source for walk in there)


def test_a_sentence_is_the_same_after_its_journey() -> None:
    """Both sides of a spine travel as bytes and come back as they were."""
    spine = spine_of(question([(X, "CALLS", Y), (Y, None, Z)]), answer([(X, "CALLS", Y), (Y, "CALLS", W)]))
    columns = [packed(column) for column in spine.columns]
    assert Spine.unpacked(packed(spine.backbone), columns, spine.runs, spine.right, spine.lucky) == spine


def _rows(html: str) -> list[str]:
    """Return the text of the rows of a fragment's table, hidden words included."""
    rows_of = html.partition("</table>")[0].replace("<wbr>", "").split("<tr")[1:]
    lines = (" ".join(re.sub("<[^>]+>", " ", row).split()) for row in rows_of)
    return [line.partition(">")[2].strip() for line in lines]


def test_the_fragment_is_a_table_that_can_be_read_aloud() -> None:
    """Headers have scopes, each mark its word, a crossing its repository, and a node has its rank once.

    Run 0 walks the first step and lacks the second, which begins at x again; the third is optional.
    """
    gold = question([(X, "CALLS", Y), (X, "CALLS", Z), optional(Z, "READS", W)])
    html = str(fragment(spine_of(gold, answer([(X, "CALLS", Y)], retrieved=[X]), unlogged(answer="?")), "q 1"))
    page = Page(html)
    scopes = [one["scope"] for tag, one in page.elements if tag == "th"]
    # The path and two lanes; then x, y, x again, z and w.
    assert scopes == ["colgroup", "col", "col"] + ["row"] * 5
    assert _rows(html)[1:] == [
        "a x m.py rank #1 ranks not logged",
        "step 1 CALLS a y m.py walked, not retrieved ? not logged ranks not logged",
        "a again x",
        "step 2 CALLS crosses into b z n.py ✕ broke here: missed, not retrieved ? not logged ranks not logged",
        "step 3 READS crosses into c w optional o.py ○ optional not retrieved ? not logged ranks not logged",
    ]
    assert "Off the path: r0 +0, r1 ? not logged edges" in " ".join(page.text.split())
    assert "graphkit why r0 'q 1'" in page.text


def test_a_relation_walked_instead_has_a_row_of_its_own() -> None:
    """Runs of two lanes read y instead of calling it, and one calls it; lanes hold the sign, and the row the word."""
    records = [answer([(X, "READS", Y)], retrieved=some) for some in ([X], [Y])]
    html = str(fragment(spine_of(question([(X, "CALLS", Y)]), *records, answer([(X, "CALLS", Y)])), "q"))
    assert _rows(html)[-2:] == [
        "step 1 CALLS a y m.py ✕ broke here: ≠ other relation not retrieved ✕ broke here: ≠ other relation rank #1 "
        "walked, not retrieved",
        "walked instead: ≠ READS by A r0 , B r1",
    ]


def test_runs_that_did_the_same_share_a_lane_and_a_sentence() -> None:
    """Runs 0 and 1 lack the same step and differ by ranks alone; run 2 didn't retrieve y, and run 3 walks all.

    The lane of 0 and 1 shows both ranks of x, 1 and 2, in one; run 2 has a lane of its own.
    """
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)])
    walk = [(X, "CALLS", Y)]
    records = [answer(walk, retrieved=some) for some in ([X, Y], [Y, X], [X])]
    spine = spine_of(gold, *records, answer([*walk, (Y, "CALLS", Z)]))
    assert [lane.runs for lane in lanes(spine)] == [(0, 1), (2,), (3,)]
    assert [lanes(spine)[0].rank(node) for node in range(3)] == ["#1–2", "#1–2", ""]
    assert [(one.runs, one.kind, one.share) for one in stories(spine)] == [
        ((0, 1, 2), "bad", "1 of 2 steps"),
        ((3,), "good", ""),
    ]
    page = " ".join(Page(str(fragment(spine, "q"))).text.split())
    assert "✕A r0, B r1 and C r2 broke at step 2: did not retrieve z; the walk stopped at y. 1 of 2 steps." in page
    assert "✓D r3 walked both required steps." in page


def test_several_paths_are_sentences_with_one_count() -> None:
    """Both paths begin with x CALLS y, one goes on to z: two distinct edges, of which the first run walks one.

    The second run walks elsewhere, so that both paths have one cause, which is said once. No path has a name.
    """
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)], [(X, "CALLS", Y)])
    spine = spine_of(gold, answer([(X, "CALLS", Y)]), answer([(W, "READS", "d:q.py#u")]))
    assert [(one.words, one.share) for one in stories(spine)] == [
        (
            (
                "broke at step 2 of path 1: did not retrieve `z`; the walk stopped at `y`",
                "Walked the required step of path 2",
            ),
            "1 of 2 steps",
        ),
        (
            ("broke at step 1 of path 1 and step 1 of path 2: did not retrieve `x`; the walk never entered the path",),
            "0 of 2 steps",
        ),
    ]
    assert [path.name for path in spine.backbone.paths] == ["1", "2"]


def test_what_is_drawn_once_names_its_own_runs() -> None:
    """Two runs retrieve y at ranks 1 and 2, and beside two runs of other names the same cell holds those names."""
    gold = question([(X, "CALLS", Y)])
    first, second = (answer([(X, "CALLS", Y)], retrieved=nodes) for nodes in ([Y], [Z, Y]))
    spine = spine_of(gold, first, second)
    titles = [
        [one["title"] for tag, one in Page(str(fragment(each, "q"))).elements if one.get("class") == "place"]
        for each in (spine, replace(spine, runs=("old", "new")))
    ]
    assert titles == [[f"{apart(one)} #1, {apart(other)} #2"] for one, other in (("r0", "r1"), ("old", "new"))]


def test_many_paths_are_counted() -> None:
    """Of six paths the first run walks 0 and 1, and 2 in another order; it never came to 3 and 4, and at 5 it broke.

    The second run walks five and breaks at the last alone. Up to three causes are told without a count of broken paths.
    """
    nodes = [f"a:m.py#n{number}" for number in range(13)]
    steps = [[(nodes[2 * at], "CALLS", nodes[2 * at + 1])] for at in range(6)]
    steps[2].append((nodes[5], "CALLS", nodes[12]))
    gold = question(*({"id": f"p{number}", "steps": some} for number, some in enumerate(steps)))
    walk = [*steps[0], *steps[1], *reversed(steps[2])]
    spine = spine_of(gold, answer(walk, [(nodes[10], "READS", W)]), answer(*steps[:5]))
    lost = "did not retrieve `n11`; the walk left `n10` by `READS` to `w`"
    counted = "walked 3 of 6 gold paths whole, but 1 of them not in order"
    first = "broke at step 1 of path `p3`: did not retrieve `n6`; the walk never entered the path"
    three = [f"{first}; 0 of 1 required step walked"]
    three.append(three[0].replace("p3", "p4").replace("n6", "n8"))
    three.append(f"broke at step 1 of path `p5`: {lost}; 0 of 1 required step walked")
    assert sentences(spine, 0) == [*three, counted]
    assert sentences(spine, 1) == [
        "broke at step 1 of path `p5`: did not retrieve `n10`; the walk never entered the path; "
        "0 of 1 required step walked",
        "walked 5 of 6 gold paths whole",
    ]
    # Of four broken paths and more the first cause is told: with one path less walked, p1 is never entered, too.
    less = spine_of(gold, answer([*steps[0], *reversed(steps[2])], [(nodes[10], "READS", W)]), answer())
    assert [one.words for one in stories(less)] == [
        (
            first.replace("p3", "p1").replace("n6", "n2"),
            "Walked 2 of 6 gold paths whole, but 1 of them not in order; 3 were never entered; "
            "1 was entered, but not walked whole",
        ),
        (
            "walked no edge; broke at step 1 of path `p0`: did not retrieve `n0`",
            "Walked none of 6 gold paths whole; 6 were never entered",
        ),
    ]


def test_an_edge_that_a_path_has_twice_is_counted_once() -> None:
    """Gold goes x to itself and twice from x to y, which is two edges; the first run walks x to y, the second both."""
    gold = question([(X, "CALLS", X), (X, "CALLS", Y), (X, "CALLS", Y)], [(Z, "CALLS", W)])
    there, back = answer([(X, "CALLS", Y)], retrieved=[X]), answer([(X, "CALLS", X)], [(X, "CALLS", Y)])
    spine = spine_of(gold, there, back)
    told = "broke at step 1 of path 1: retrieved `x` (#1), but did not walk from it to itself"
    assert sentences(spine, 0)[0] == f"{told}; the walk joined the path at step 2; 1 of 2 required steps walked"
    assert spine.columns[0].causes[0].remedy == "For step 1, follow `CALLS` edges from `x` to itself."
    assert "walked both required steps of path 1, but no retrieved path has them in this order" in sentences(spine, 1)
    # Of all paths: two edges and z CALLS w.
    assert [one.share for one in stories(spine)] == ["1 of 3 steps", "2 of 3 steps"]


def test_a_lane_has_one_mark_where_it_first_broke() -> None:
    """Of two required paths the run lacks both; of the first, step 1 is lacking, and the second step was walked.

    The mark stands at the first of them alone, and what was walked behind it is quiet; the other path shows its gap.
    """
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)], [(Z, "CALLS", W)])
    spine = spine_of(gold, answer([(Y, "CALLS", Z)]))
    [lane] = lanes(spine)
    first, second = (rows(spine, [lane], place) for place in (0, 1))
    assert [row["cells"][0].broke for row in (*first, *second)] == ["", "broke here", "", "", ""]
    assert [(row["cells"][0].up, row["cells"][0].dot, row["cells"][0].after) for row in first] == [
        ("none", "passed", False),
        ("quiet", "walked", True),
        ("walked", "walked", True),
    ]
    # z was walked to in the first path; no walked step of the second one leads there.
    assert [row["cells"][0].dot for row in second] == ["passed", "passed"]
    assert str(fragment(spine, "q")).count('class="broke" title') == 1


def test_a_wrong_answer_over_a_walked_path_says_which_failed() -> None:
    """Both runs walk the whole path; one answer is wrong, and its run is named."""
    gold = question([(X, "CALLS", Y)])
    walked = answer([(X, "CALLS", Y)])
    spine = replace(spine_of(gold, walked, walked), right=(True, False))
    assert [one.kind for one in stories(spine)] == ["bad"]
    page = " ".join(Page(str(fragment(spine, "q"))).text.split())
    assert "A r0 and B r1 walked the required step. Right answer of A r0. Wrong answer of B r1." in page
    alone = replace(spine_of(gold, walked), right=(False,))
    assert "walked the required step. Wrong answer." in Page(str(fragment(alone, "q"))).text


def test_each_remedy_is_said_once_with_its_runs() -> None:
    """Of two paths run 0 took no step, run 1 the first, and run 2 what run 0 did: run 1 came furthest.

    The remedies of second causes follow those of the first ones.
    """
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)], [(Z, "CALLS", W)])
    spine = spine_of(gold, answer([]), answer([(X, "CALLS", Y)]), answer([]))
    assert remedies(spine) == [
        ("For step 2, retrieve `z`, or walk to it.", (1,)),
        ("For step 1, retrieve `x`, or walk to it.", (0, 2)),
        ("For step 1, retrieve `z`, or walk to it.", (0, 1, 2)),
    ]
    # Those of all runs name none, and neither does a page of one run.
    page = " ".join(Page(str(fragment(spine, "q"))).text.split())
    assert "→B r1: For step 2, retrieve z" in page
    assert "More to do→A r0 and C r2: For step 1, retrieve x, or walk to it.→For step 1, retrieve z" in page
    alone = Page(str(fragment(spine_of(gold, answer([])), "q"))).text
    assert "→For step 1, retrieve x" in " ".join(alone.split())


def test_a_step_that_no_graph_holds_is_marked() -> None:
    """The knowledge graph lacks y CALLS z and holds the other step."""
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)])
    commits = CommitGraph.build([], [])
    commits.absent = lambda _: frozenset({(0, (Y, "CALLS", Z))})
    spine = spine_of(gold, answer([(X, "CALLS", Y)]), commits=commits)
    assert [step.absent for step in spine.backbone.paths[0].steps] == [False, True]
    assert ["not in the graph" in row for row in _rows(str(fragment(spine, "q")))[1:]] == [False, False, True]


def test_hostile_names_stay_text() -> None:
    """Whatever ids, relations, paths and runs are called, the fragment has no element that it lacks for plain names."""
    plain = {tag for tag, _ in Page(str(fragment(spine_of(question([(X, "CALLS", Y)]), answer()), "q"))).elements}
    for text in HOSTILE:
        node = f"{text}:{text}#{text}"
        gold = question({"id": text, "steps": [(node, text, Y)]}, [(Y, text, node)])
        record = answer([(node, "other", Y), (Y, text, f"{text}:{text}")], retrieved=[{"id": node, "commit": text}])
        case = Case(gold, record)
        spine = Spine(backbone_of(case), (text,), (column_of(case),), (None,), (False,))
        page = Page(str(fragment(spine, text)))
        assert {tag for tag, _ in page.elements} - plain <= {"b", "wbr"}
        assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]


def test_hostile_names_of_several_runs_stay_text() -> None:
    """Three runs named alike, with alternatives, ranks and conflicting commits: other names give the same elements.

    The first two share a lane with ranks 1 and 2; of three alternatives the first counts for them, the second for the
    third run, the last for none.
    """

    def shown(text: str) -> Page:
        gold = question(*({"id": f"{text}{number}", "steps": [(X, "CALLS", Y)]} for number in range(3)))
        case = Case(gold, answer(retrieved=[X]))
        column, backbone = column_of(case), backbone_of(case)
        paths = tuple(replace(path, unit=0) for path in backbone.paths)
        columns = [replace(column, clashes=(text, ""), ranks=(rank, 0), counted=(0,)) for rank in (1, 2)]
        columns.append(replace(column, counted=(1,)))
        names = f"{text}-{text}", f"{text}-b", f"{text}-c"
        spine = Spine(Backbone(backbone.nodes, paths), names, tuple(columns), (None,) * 3, (False,) * 3)
        return Page(str(fragment(spine, text)))

    def drawn(page: Page) -> list[tuple[str, list[str]]]:
        return [(tag, sorted(attributes)) for tag, attributes in page.elements if tag not in ("wbr", "bdi")]

    plain = drawn(shown("name"))
    assert ("b", ["class", "title"]) in plain
    for text in HOSTILE:
        assert drawn(shown(text)) == plain


def test_names_break_between_words() -> None:
    """A name is escaped before its places to break are marked."""
    assert json.loads(json.dumps(breakable("</script>.x"))) == "&lt;/<wbr>script&gt;.<wbr>x"
