"""Sentences on wrong turns and explanations, read back: what they claim holds in the walk, in random worlds."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graphkit.analysis.explain import sentence
from graphkit.analysis.explanations import explained
from graphkit.analysis.question_evidence import QuestionEvidence
from graphkit.measures.case import Case
from graphkit.measures.missed import missed_edges
from graphkit.measures.paths import first_divergences
from graphkit.report.spine import Spine, backbone_of, column_of
from graphkit.report.spine_words import sentences
from tests.helpers.cases import answer, question
from tests.helpers.properties import examples

X, Y, Z, W = "a:m.py#x", "a:m.py#y", "b:n.py#z", "c:o.py#w"
NODES = st.sampled_from([X, Y, Z, W, "a:p.py#v", "b:p.py#v", "b:n.py#x"])
EDGES = st.tuples(NODES, st.sampled_from(["CALLS", "READS", None]), NODES)
STEPS = st.lists(st.tuples(EDGES, st.booleans()), min_size=1, max_size=4)
PATHS = st.lists(st.tuples(STEPS, st.sampled_from([None, "g"])), min_size=1, max_size=3)
WALKS = st.lists(st.lists(EDGES, max_size=4), max_size=3)
RANKINGS = st.lists(NODES, max_size=4, unique=True)


def evidence(case: Case) -> QuestionEvidence:
    """Return what is known of a case."""
    return QuestionEvidence("r", "q", case)


@examples(400)
@given(paths=PATHS, walks=WALKS, ranking=RANKINGS, share=st.integers(0, 20), ordered=st.booleans())
def test_no_sentence_claims_more_than_the_walk_shows(
    paths: Any, walks: Any, ranking: Any, share: int, ordered: bool
) -> None:
    """Each absolute of a sentence (never, stopped, no step, every, instead) holds in the walk, read plainly.

    Some walks get a part of the first gold path, so that many are joined late or broken off.
    """
    forms = [
        {
            "id": f"p{number}",
            "group": group,
            "steps": [{"source": a, "relation": r, "target": b, "optional": free} for (a, r, b), free in steps],
        }
        for number, (steps, group) in enumerate(paths)
    ]
    part = [edge for edge, _ in paths[0][0]][share % 3 : share % 5]
    case = Case(question(*forms), answer(*([part] if part else []), *walks, ordered=ordered, retrieved=ranking))
    gold = {path.id: path for path in case.gold}
    for turn in first_divergences(case):
        row = turn.row()
        _check_turn(case, [*gold[row["path"]].edges], row, sentence("wrong-turns", row))
    _check_explanation(case, explained(evidence(case)))


def _walked(case: Case, edge: Any) -> bool:
    """Return whether some walked edge has these ends and this relation, or one of both names none."""
    return any(
        (one[0], one[2]) == (edge[0], edge[2]) and (one[1] == edge[1] or None in (one[1], edge[1]))
        for one in case.walked
    )


def _check_turn(case: Case, edges: list[Any], row: Any, words: str) -> None:
    """Compare the sentence of a wrong turn with the walk."""
    touched = {node for source, _, target in case.walked for node in (source, target)}
    taken = [place for place, edge in enumerate(edges) if _walked(case, edge)]
    nodes = {node for edge in edges for node in (edge[0], edge[2])}
    at = int(re.search(r"(?:at|took|missed|missed step) (?:step )?(\d+)", words)[1]) - 1 if "step" in words else None  # type: ignore[index]
    if words.startswith("never entered"):
        assert not nodes & touched
    elif words.startswith("took step"):
        assert at in taken
    elif words.startswith("joined"):
        assert taken[0] == at
    elif "took no step" in words or "by another route" in words:
        assert not taken
        assert nodes & touched
        assert "another route" not in words or any(target == edges[-1][2] for _, _, target in case.walked)
    else:
        assert row["position"] not in taken
    if "stopped there" in words:
        assert not any(source == row["node"] for source, _, _ in case.walked)
        there = [walk for walk in case.walked_paths if any(row["node"] in edge[::2] for edge in walk)]
        assert there
        assert all(walk[-1][2] == row["node"] for walk in there)
        assert not [place for place in taken if place >= row["position"]]
    if " went " in words:
        turn = (row["node"], row["went_by"], row["went_to"])
        assert turn in case.walked
        assert not any(_same(turn, edge) for edge in case.gold_edges)


def _same(one: Any, other: Any) -> bool:
    return (one[0], one[2]) == (other[0], other[2]) and (one[1] == other[1] or None in (one[1], other[1]))


def _check_explanation(case: Case, found: Any) -> None:
    """Compare an explanation with the walk."""
    if found.divergence is not None:
        source, relation, target = re.fullmatch(r"(\S+) -(\w*)-> (\S+)", found.divergence).groups()  # type: ignore[union-attr]
        assert not _walked(case, (source, relation or None, target))
    gold_nodes = {node for edge in case.gold_edges for node in (edge[0], edge[2])}
    for one in found.instead:
        assert one != found.divergence
        if edge := re.fullmatch(r"(\S+) -(\w*)-> (\S+)", one):
            assert not any(_same((edge[1], edge[2] or None, edge[3]), known) for known in case.gold_edges)
        else:
            assert one not in gold_nodes
    missed = {(row["source"], row["relation"], row["target"]) for row in missed_edges(case)}
    count = re.search(r"(\d+) required gold edges? (?:is|are) not traversed", found.verdict)
    assert (0 if count is None else int(count[1])) == len(missed)
    assert ("the gold path" not in found.verdict) or len(case.gold) == 1
    if "in the other direction" in found.verdict or "by another relation" in found.verdict:
        source, relation, target = (part or None for part in re.split(r" -|-> ", found.divergence))
        other = (target, relation, source) if "in the other direction" in found.verdict else (source, None, target)
        assert any(_same(other, edge) for edge in case.walked)
    if "walked " in found.verdict and " required step" in found.verdict:
        assert not missed_edges(case)
        assert case.ordered
    touched = {node for source, _, target in case.walked for node in (source, target)}
    if "never entered" in found.verdict:
        assert any(not {n for e in path.edges for n in (e[0], e[2])} & touched for path in case.gold)
    if joined := re.search(r"joined .+ at step (\d+)", found.verdict):
        assert any(
            _walked(case, path.edges[int(joined[1]) - 1]) for path in case.gold if len(path.edges) >= int(joined[1])
        )


def test_the_edge_that_is_lost_is_named(tmp_path: Any) -> None:
    """One path is walked whole in another order, of the other one step is missed: that step is the divergence.

    With both paths walked whole, none is named, and the order is what is wrong.
    """
    gold = question(
        {"id": "turned", "steps": [(X, "CALLS", Y), (Y, "CALLS", Z)]}, {"id": "lost", "steps": [(W, "CALLS", X)]}
    )
    turned = [(Y, "CALLS", Z), (X, "CALLS", Y)]
    found = explained(evidence(Case(gold, answer(turned))))
    assert found.divergence == f"{W} -CALLS-> {X}"
    whole = explained(evidence(Case(gold, answer(turned, [(W, "CALLS", X)]))))
    assert whole.divergence is None
    # The three edges are walked, those of the path turned not in its order.
    assert whole.verdict == "walked all 3 required steps, but only 1 of 2 gold paths was walked in order"
    alone = explained(evidence(Case(question([(X, "CALLS", Y), (Y, "CALLS", Z)]), answer(turned))))
    assert alone.verdict == "walked both required steps, but no retrieved path has them in this order"


def test_an_edge_of_two_paths_is_counted_once() -> None:
    """Both paths begin with x CALLS y, which the walk lacks; one goes on to z, which it lacks, too: two edges."""
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)], [(X, "CALLS", Y)])
    found = explained(evidence(Case(gold, answer([(W, "CALLS", "d:q.py#u")]))))
    assert found.verdict == "the traversal never entered one of 2 gold paths; 2 required gold edges are not traversed"


def test_an_edge_that_was_walked_otherwise_is_told_as_on_the_page() -> None:
    """The walk has the first step backwards, or with another relation, and the second as it is: it didn't just join.

    A later step that was walked backwards is none at which a walk joined.
    """
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)])
    lost = "1 required gold edge is not traversed"
    for first, verdict, page in (
        ((Y, "CALLS", X), "walked step 1 of the gold path in the other direction", "walked it in the other direction"),
        ((X, "READS", Y), "walked step 1 of the gold path by another relation", "walked it as `READS`, not as `CALLS`"),
    ):
        case = Case(gold, answer([first], [(Y, "CALLS", Z)]))
        found = explained(evidence(case))
        assert (found.verdict, found.instead) == (
            f"the traversal {verdict}; {lost}",
            (f"{first[0]} -{first[1]}-> {first[2]}",),
        )
        assert _page(case) == f"broke at step 1: {page}; 1 of 2 required steps walked"
    case = Case(gold, answer([(Z, "CALLS", Y)]))
    assert explained(evidence(case)).verdict == (
        "the traversal came to a node of the gold path, but took no step of it; 2 required gold edges are not traversed"
    )
    assert _page(case) == (
        "broke at step 1: did not retrieve `x`; the walk came to a node of the path, but took no step of it; "
        "0 of 2 required steps walked"
    )


def _page(case: Case) -> str:
    """Return the sentence of the spine of a question with one path."""
    [told] = sentences(Spine(backbone_of(case), ("r",), (column_of(case),), (None,), (False,)), 0)
    return told


def test_what_is_cut_still_differs() -> None:
    """Long names that differ in their middle are cut around the difference, not to one and the same text."""
    stem = "a:" + "p" * 400
    one, two = f"{stem}1{'q' * 400}.py#leaf", f"{stem}2{'q' * 400}.py#leaf"
    found = explained(evidence(Case(question([(X, "CALLS", one)]), answer([(X, "CALLS", two)]))))
    assert found.divergence is not None
    assert "p1q" in found.divergence
    assert "p2q" in found.instead[0]
