"""Graders of the walk without gold: the hop at which relevance falls, and detours against the shortest path."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.measures.unscored import NO_ORDER, NO_TRAVERSAL, NOTHING_TRAVERSED
from graphkit.plugins.judging.grading.surroundings import Distances
from graphkit.plugins.judging.judges.catalogue import GRADERS
from graphkit.plugins.judging.judges.contract import UnusableVerdictError
from graphkit.plugins.judging.judges.materials import Materials
from graphkit.plugins.judging.judges.walk_graders import NO_GRAPH, NO_NEIGHBOUR
from graphkit.plugins.judging.judges.walks import NEIGHBOURS, legs_of
from graphkit.plugins.judging.llm.requests import ModelError
from graphkit.plugins.judging.verdicts import RelevanceFall
from tests.helpers.cases import Triple
from tests.helpers.judging import judged, materials, read, reasons, values
from tests.helpers.properties import examples

EDGE, TRAJECTORY = GRADERS["edge_relevance"], GRADERS["trajectory"]
GRAPH: list[Triple] = [
    *(("a", "CALLS", "b"), ("a", "CALLS", "x"), ("b", "CALLS", "c"), ("b", "CALLS", "y"), ("c", "CALLS", "d")),
    *(("c", "CALLS", "z"), ("a", "USES", "d")),
]
WALK: list[Triple] = [GRAPH[0], ("b", "CALLS", "c"), ("c", "CALLS", "d")]


def keys(shown: Materials, *edges: str) -> list[dict[str, Any]]:
    """Return a verdict that calls these edges the nearest at each hop, by their texts, several parted by `;`."""
    hops = []
    for hop, names in zip(shown.shown_hops, edges, strict=True):
        by_text = {one.text: one.key for one in hop.choices}
        hops.append({"hop": hop.key, "reason": "r", "nearest": [by_text[name] for name in names.split(";") if name]})
    return hops


# edge_relevance ------------------------------------------------------------------------------------------------------


def test_the_first_hop_at_which_relevance_falls() -> None:
    """Nearest 1, equally near 0.5, another nearer 0; the first of the last is named, with the edge that leads nearer.

    Hop 1 from a: b was walked, x and d weren't, and b is nearest: 1. Hop 2: c and y are equal: 0.5. Hop 3: z is nearer
    than d: 0. The mean is 0.5.
    """
    shown = materials("x.", walk=WALK, graph=GRAPH)
    assert [(hop.leg.position, len(hop.choices), hop.others) for hop in shown.hops] == [(1, 3, 2), (2, 2, 1), (3, 2, 1)]
    said = {"hops": keys(shown, "a -CALLS-> b", "b -CALLS-> c;b -CALLS-> y", "c -CALLS-> z")}
    found = read(EDGE, shown, said)
    assert values(found.findings) == {"EdgeRelevance": 0.5}
    assert found.fall == RelevanceFall(path=1, hop=3, source="c", relation="CALLS", target="d", better="c -CALLS-> z")
    assert "first at hop 3, c -CALLS-> d: c -CALLS-> z does" in str(found.findings[0].explanation)
    assert found.content is not None
    assert [row["nearest"] for row in found.content["hops"]][1] == ["b -CALLS-> c", "b -CALLS-> y"]
    assert found.content["hops"][0]["shown"] == "2 of 2 other neighbours"
    done = judged(EDGE, shown, said)
    assert done.verdict is not None
    assert (done.verdict.fall, done.verdict.verdict) == (found.fall, dict(found.content))


def test_the_judge_is_not_told_which_edge_was_walked() -> None:
    """The words of the hops are the same for a walk to b and one to x; only the order of the choices may differ."""
    first = materials("x.", walk=[("a", "CALLS", "b")], graph=GRAPH)
    second = materials("x.", walk=[("a", "CALLS", "x")], graph=GRAPH)
    [one], [two] = first.shown_hops, second.shown_hops
    assert {choice.text for choice in one.choices} == {choice.text for choice in two.choices}
    assert [choice.key for choice in one.choices] == [choice.key for choice in two.choices] == ["h1n1", "h1n2", "h1n3"]


def test_a_hub_is_sampled() -> None:
    """Of 100 neighbours 8 are shown, the same whatever the order of the file; the number of all is kept."""
    hub: list[Triple] = [("a", "CALLS", f"n{number}") for number in range(101)]
    shown = materials("x.", walk=hub[:1], graph=hub)
    [hop] = shown.hops
    assert (len(hop.choices), hop.others) == (1 + NEIGHBOURS, 100)
    assert materials("x.", walk=hub[:1], graph=hub[::-1]).hops == shown.hops
    found = read(EDGE, shown, {"hops": [{"hop": "h1", "reason": "r", "nearest": [hop.walked]}]})
    assert found.content is not None
    assert found.content["hops"][0]["shown"] == "8 of 100 other neighbours"


@pytest.mark.parametrize(("neighbours", "walks"), [(2, 300), (40, 300)])
def test_the_place_of_the_walked_edge_tells_nothing(neighbours: int, walks: int) -> None:
    """Over many walks it stands in each place, among all neighbours as among a sample of them.

    Of 3 places each has 100 of 300 walks, 8.2 the deviation; of 9 places 33, and 5.4. The bounds are five deviations.
    """
    places: Counter[int] = Counter()
    for number in range(walks):
        walk: list[Triple] = [(f"a{number}", "CALLS", "b")]
        graph: list[Triple] = [*walk, *((f"a{number}", "CALLS", f"n{one}") for one in range(neighbours))]
        [hop] = materials("x.", walk=walk, graph=graph).hops
        places[[one.key for one in hop.choices].index(hop.walked)] += 1
    shown = 1 + min(neighbours, NEIGHBOURS)
    expected = walks / shown
    reach = 5 * (expected * (1 - 1 / shown)) ** 0.5
    assert all(abs(places[place] - expected) < reach for place in range(shown)), places


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ([("h1", ["h1n1"])], "h2 is missing"),
        ([("h1", ["h1n1"]), ("h2", ["h2n1"]), ("h9", ["h2n1"])], "there is no h9"),
        ([("h1", ["h1n1"]), ("h2", ["h1n1"])], "h2 has no h1n1"),
        ([("h1", ["h1n1"]), ("h2", ["h2n1"]), ("h2", ["h2n1"])], "listed twice"),
        ([("h1", []), ("h2", ["h2n1"])], "nearest is empty"),
    ],
)
def test_a_verdict_that_can_not_be_used(said: list[tuple[str, list[str]]], message: str) -> None:
    """A hop that isn't there, is missing or comes twice, an edge of another hop, and none at all: no score."""
    shown = materials("x.", walk=WALK[:2], graph=GRAPH)
    hops = [{"hop": hop, "reason": "r", "nearest": nearest} for hop, nearest in said]
    with pytest.raises(UnusableVerdictError, match=message):
        read(EDGE, shown, {"hops": hops})
    done = judged(EDGE, shown, {"hops": hops}, {"hops": hops})
    assert done.verdict is not None
    assert (done.verdict.failure, done.findings[0].value) == ("out_of_range", None)


def test_what_no_judge_is_asked() -> None:
    """Without a graph, a walk, or another way to go there is nothing to compare, and the reason says which."""
    line: list[Triple] = [("a", "CALLS", "b"), ("b", "CALLS", "c")]
    for shown, reason in (
        (materials("x.", walk=line), NO_GRAPH),
        (materials("x.", graph=line), NOTHING_TRAVERSED),
        (materials("x.", graph=line, logged={"traversal": None}), NO_TRAVERSAL),
        # From b only a and c are neighbours: the walk came from one and went to the other.
        (materials("x.", walk=line, graph=line), NO_NEIGHBOUR),
        (materials("x.", walk=WALK, graph=GRAPH, context_tokens=1), "the judge wasn't shown 3 of 3 hops"),
    ):
        done = judged(EDGE, shown)  # an empty script: asking would fail
        assert (done.verdict, reasons(done.findings)) == (None, {"EdgeRelevance": reason})


def test_hops_that_do_not_fit() -> None:
    """A mean over the first hops isn't that of the walk: it is not scored, and the verdict stays.

    30 tokens are 90 characters: hop 1 takes 1 + 3 x 12 = 37, hop 2 takes 1 + 2 x 12 = 25, hop 3 as many: 87. Of 22
    tokens, 66 characters, hop 3 is left out.
    """
    assert len(materials("x.", walk=WALK, graph=[*GRAPH[:6], ("a", "CALLS", "d")], context_tokens=30).shown_hops) == 3
    shown = materials("x.", walk=WALK, graph=[*GRAPH[:6], ("a", "CALLS", "d")], context_tokens=22)
    found = read(EDGE, shown, {"hops": keys(shown, "a -CALLS-> x", "b -CALLS-> c")})
    assert reasons(found.findings) == {"EdgeRelevance": "the judge wasn't shown 1 of 3 hops"}
    assert found.fall is not None


def test_rules_of_words() -> None:
    """The lexical judge calls those edges nearest whose far end has most words of the question, else all.

    "Which customers pay?": from login, customers_table has one of its words, audit none. From audit none has any.
    """
    graph: list[Triple] = [
        *(("login", "READS", "customers_table"), ("login", "CALLS", "audit")),
        *(("audit", "CALLS", "log"), ("audit", "CALLS", "mail")),
    ]
    import asyncio

    from graphkit.plugins.judging.judges.lexical import LexicalJudge
    from graphkit.plugins.judging.judges.verdict_request import ask

    walk: list[Triple] = [("login", "CALLS", "audit"), ("audit", "CALLS", "log")]
    shown = materials("x.", walk=walk, graph=graph, question="Which customers pay?")
    done = asyncio.run(ask(EDGE, shown, LexicalJudge()))
    assert values(done.findings) == {"EdgeRelevance": 0.25}  # (0 + 0.5) / 2
    assert done.verdict is not None
    assert done.verdict.fall == RelevanceFall(
        hop=1, source="login", relation="CALLS", target="audit", better="login -READS-> customers_table"
    )


# legs ----------------------------------------------------------------------------------------------------------------


def test_legs_follow_the_walk() -> None:
    """An edge against its direction leaves from its target; one that isn't joined begins again, or where it had been.

    a -> b, then c -> b against its direction to c, then b -> d, for which the walk went back to b, then p -> q.
    """
    walk: list[Triple] = [("a", "R", "b"), ("c", "R", "b"), ("b", "R", "d"), ("p", "R", "q")]
    shown = materials("x.", walk=walk)
    assert shown.case is not None
    [legs] = legs_of(shown.case)
    assert [(leg.start, leg.end, leg.backwards, leg.joined) for leg in legs] == [
        ("a", "b", False, True),
        ("b", "c", True, True),
        ("b", "d", False, False),
        ("p", "q", False, False),
    ]
    # Of one that isn't joined only the target had been reached: it leaves from there.
    again = materials("x.", walk=[("a", "R", "b"), ("b", "R", "c"), ("x", "R", "a")]).case
    assert again is not None
    assert [(leg.start, leg.end, leg.joined) for leg in legs_of(again)[0]][2] == ("a", "x", False)
    # The first edge is walked backwards if the next one leaves from its source.
    backwards = materials("x.", walk=[("b", "R", "a"), ("b", "R", "c")]).case
    assert backwards is not None
    assert [(leg.start, leg.end) for leg in legs_of(backwards)[0]] == [("a", "b"), ("b", "c")]


def test_an_edge_that_the_walk_could_go_back_for() -> None:
    """a -> b -> c, then a -> c: followed from a, unless the next edge goes on from a, or edges have no direction."""
    walk: list[Triple] = [("a", "R", "b"), ("b", "R", "c"), ("a", "R", "c")]
    steps = [{"source": source, "target": target, "directed": False} for source, _, target in walk]
    for shown, third in (
        (materials("x.", walk=walk), ("a", "c", False)),
        (materials("x.", walk=[*walk, ("c", "R", "d")]), ("a", "c", False)),
        (materials("x.", walk=[*walk, ("a", "R", "d")]), ("c", "a", True)),
        (materials("x.", logged={"traversal": steps}), ("c", "a", True)),
    ):
        assert shown.case is not None
        legs = legs_of(shown.case)[0]
        assert (legs[2].start, legs[2].end, legs[2].joined) == third
        assert all(leg.joined for leg in legs[3:])
    # It isn't one walk then, rather than one that ends where it began, whose efficiency would be 0.
    assert "path 1 isn't one walk: its edge 3" in str(efficiency(materials("x.", walk=walk, graph=walk)))


# trajectory ----------------------------------------------------------------------------------------------------------

SENSIBLE = {"reasoning": "r", "sensible": True, "fault": None, "at": None}


def efficiency(shown: Materials) -> float | str | None:
    """Return PathEfficiency, or why there is none, beside a sensible walk."""
    done = judged(TRAJECTORY, shown, SENSIBLE)
    found = {one.measure: one for one in done.findings}["PathEfficiency"]
    return found.reason if found.value is None else found.value


def test_a_detour() -> None:
    """a to d in 3 edges, and the graph has one from a to d: 1 / 3."""
    assert efficiency(materials("x.", walk=WALK, graph=GRAPH)) == pytest.approx(1 / 3)
    assert efficiency(materials("x.", walk=[("a", "USES", "d")], graph=GRAPH)) == 1.0
    # Added up over paths: (1 + 1) / (3 + 1).
    assert efficiency(materials("x.", walks=[WALK, [("a", "USES", "d")]], graph=GRAPH)) == 0.5


def test_directions_of_the_shortest_path() -> None:
    """The edge d -> a is a way from a to d only for a walk that goes against an edge itself.

    a -> b -> c -> d in 3 edges goes with each: 1. With c -> b in place of b -> c the walk goes against one: 1/3.
    """
    graph: list[Triple] = [("a", "R", "b"), ("b", "R", "c"), ("c", "R", "d"), ("d", "R", "a")]
    assert efficiency(materials("x.", walk=graph[:3], graph=graph)) == 1.0
    graph[1] = ("c", "R", "b")
    assert efficiency(materials("x.", walk=graph[:3], graph=graph)) == pytest.approx(1 / 3)


def test_a_walk_that_can_not_be_compared() -> None:
    """Every reason is its own; none is a value."""
    unordered = {"traversal": [{"source": "a", "relation": "CALLS", "target": "b"}], "ordered": False}
    for shown, reason in (
        (materials("x.", walk=WALK), NO_GRAPH),
        (materials("x.", graph=GRAPH), NOTHING_TRAVERSED),
        (materials("x.", graph=GRAPH, logged={"traversal": None}), NO_TRAVERSAL),
        (materials("x.", graph=GRAPH, logged=unordered), NO_ORDER),
        (materials("x.", walk=[("a", "CALLS", "q")], graph=GRAPH), "the knowledge graph lacks 1 edge of path 1"),
    ):
        assert efficiency(shown) == reason
    jumping = materials("x.", walk=[GRAPH[0], GRAPH[4]], graph=GRAPH)
    assert efficiency(jumping) == ("path 1 isn't one walk: its edge 2 doesn't leave from where the one before led to")
    # Back where it began: all of it is a detour.
    assert efficiency(materials("x.", walk=[GRAPH[0], ("b", "CALLS", "a")], graph=[*GRAPH, ("b", "CALLS", "a")])) == 0.0


def test_the_length_needs_no_verdict() -> None:
    """A judge that fails leaves the length, which no judge gives."""
    done = judged(TRAJECTORY, materials("x.", walk=WALK, graph=GRAPH), ModelError("no", label="no_reply"))
    assert values(done.findings) == {"TrajectoryAccuracy": None, "PathEfficiency": pytest.approx(1 / 3)}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({**SENSIBLE, "at": "w4"}, "there is no w4"),
        ({**SENSIBLE, "fault": "detour"}, "a sensible walk has no fault"),
        ({**SENSIBLE, "sensible": False}, "a sensible walk has no fault"),
    ],
)
def test_trajectories_that_can_not_be_used(said: dict[str, Any], message: str) -> None:
    """An edge that isn't there, and a verdict that contradicts itself."""
    with pytest.raises(UnusableVerdictError, match=message):
        read(TRAJECTORY, materials("x.", walk=WALK, graph=GRAPH), said)


def test_a_fault_and_its_place() -> None:
    """The label is the fault, and the verdict names the edge; one that was taken twice stands twice in the prompt."""
    again = materials("x.", walk=[GRAPH[0], ("b", "CALLS", "a"), GRAPH[0]], graph=GRAPH)
    assert [key for path in again.walk for key, _ in path] == ["w1", "w2", "w3"]
    said = {"reasoning": "r", "sensible": False, "fault": "wrong_turn", "at": "w3"}
    found = read(TRAJECTORY, again, said)
    [one] = found.findings
    assert (one.measure, one.value, one.label, one.explanation) == ("TrajectoryAccuracy", 0.0, "wrong_turn", "hop 3: r")
    assert found.content is not None
    assert (found.content["hop"], found.content["edge"]) == (3, ["a", "CALLS", "b"])


# The graph -----------------------------------------------------------------------------------------------------------

NODES = st.sampled_from("abcdefg")
PAIRS = st.lists(st.tuples(NODES, NODES), max_size=14)


@examples(150)
@given(PAIRS, NODES, NODES, st.booleans(), st.integers(1, 6))
def test_shortest_paths(pairs: list[tuple[str, str]], start: str, end: str, along: bool, length: int) -> None:
    """Lengths are those of a plain breadth-first search, and known only below the bound."""
    if start == end:
        return
    distances = Distances()
    for source, target in pairs:
        distances.add(source, target)
    near: dict[str, set[str]] = {}
    for source, target in pairs:
        near.setdefault(source, set()).add(target)
        if not along:
            near.setdefault(target, set()).add(source)
    far, waiting = {start: 0}, deque([start])
    while waiting:
        node = waiting.popleft()
        for other in near.get(node, ()):
            if other not in far:
                far[other] = far[node] + 1
                waiting.append(other)
    expected = far.get(end)
    assert distances.below(start, end, along, length) == (
        expected if expected is not None and expected < length else None
    )


@examples(80)
@given(st.lists(st.tuples(NODES, st.sampled_from("RS"), NODES), max_size=14), st.lists(NODES, min_size=2, max_size=5))
def test_neighbours(edges: list[Triple], nodes: list[str]) -> None:
    """The neighbours of a node are those of the graph without the node itself and where the walk went from there."""
    walk: list[Triple] = [(source, "R", target) for source, target in zip(nodes, nodes[1:], strict=False)]
    shown = materials("x.", walk=walk, graph=edges)
    assert shown.surroundings is not None
    for legs in shown.legs:
        for node in {leg.start for leg in legs}:
            around = {other for one in edges for at, other in (one[::2], one[::-2]) if at == node and other != node}
            gone = {leg.end for leg in legs if leg.start == node} | {leg.start for leg in legs if leg.end == node}
            found = {*shown.surroundings.others.get(node, ())}
            assert {edge[0] if edge[2] == node else edge[2] for edge in found} == around - gone
            assert shown.surroundings.totals.get(node, 0) == len(around - gone)
