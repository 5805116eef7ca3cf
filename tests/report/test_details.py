"""One question on the page: its edges, divergences, commits, chunks and flags."""

from __future__ import annotations

from collections import Counter
from typing import Any

from graphkit.measures.case import Case
from graphkit.measures.coherence import OffPin
from graphkit.records.commits import CommitGraph
from graphkit.records.models import Commit, Compatibility
from graphkit.report.map_view import EXTRA_EDGES, edge_statuses
from graphkit.report.question import detail
from graphkit.report.spine import column_of
from tests.helpers.cases import answer, either, optional, question, unlogged
from tests.helpers.pages import edges_of

X, Y, Z, W = "a:m.py#x", "a:m.py#y", "b:n.py#z", "c:o.py#w"


def pins_of(shown: dict[str, Any]) -> list[tuple[str, list[int], str]]:
    """Return each node with its commits, and how these compare with the pinned one."""
    return [(node["id"], node["commits"], node.get("pin", "")) for node in shown["map"]["nodes"]]


def marks_of(shown: dict[str, Any]) -> dict[str, list[str]]:
    """Return the marks of each node."""
    return {node["id"]: node.get("marks", []) for node in shown["map"]["nodes"]}


def broken(shown: dict[str, Any]) -> bool:
    """Return whether a node is marked as one where the traversal left a path, or as the start of one never entered."""
    return any({"left", "never_entered"} & {*marks} for marks in marks_of(shown).values())


def test_each_edge_has_its_status() -> None:
    """Matched, missed, optional, wrong turn and extra edges of a case worked by hand are distinguished."""
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z), optional(X, "IMPORTS", Z)])
    walked = answer([(X, "CALLS", Y), (Y, "CALLS", W), (W, "READS", Z)])
    shown, flags, *share = detail(Case(gold, walked), ())
    assert edges_of(shown) == {
        (X, "CALLS", Y, "matched"),
        (Y, "CALLS", Z, "missed"),
        (X, "IMPORTS", Z, "optional"),
        (Y, "CALLS", W, "turn"),
        (W, "READS", Z, "extra"),
    }
    assert share == [1, 2]
    assert flags == ["turn"]


def test_a_wrong_turn_is_one_at_a_missed_step_only() -> None:
    """The first walk leaves the path at y. The second walks both steps, the latter first: nothing is left or turned."""
    gold = question({"id": "main", "steps": [(X, "CALLS", Y), (Y, "CALLS", Z)]})
    shown, flags, *_ = detail(Case(gold, answer([(X, "CALLS", Y), (Y, "READS", W)])), ())
    assert (flags, marks_of(shown)) == (["turn"], {X: ["gold"], Y: ["gold", "left"], Z: ["gold"], W: []})
    shown, flags, *_ = detail(Case(gold, answer([(Y, "CALLS", Z), (X, "CALLS", Y), (Y, "READS", W)])), ())
    assert (flags, marks_of(shown)) == (["complete"], {X: ["gold"], Y: ["gold"], Z: ["gold"], W: []})


def test_a_path_that_was_never_entered_was_not_left() -> None:
    """The walk enters one gold path and leaves it at y; the other begins at w, where it never came to."""
    gold = question(
        {"id": "one", "steps": [(X, "CALLS", Y), (Y, "CALLS", Z)]}, {"id": "two", "steps": [(W, "READS", Z)]}
    )
    shown, flags, *_ = detail(Case(gold, answer([(X, "CALLS", Y)])), ())
    assert marks_of(shown) == {X: ["gold"], Y: ["gold", "left"], Z: ["gold"], W: ["gold", "never_entered"]}
    assert flags == []


def test_the_legend_counts_what_the_header_counts() -> None:
    """Two of three required steps are walked, and a reversed one; an optional step is walked, too, and 90 others.

    EdgeRecall is 2/3: two edges are matched, one is missed, and the optional one isn't counted. The spine counts 90
    edges off the path: as many as the map has as extra, drawn or not; the reversed one is told apart in both.
    """
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z), (Z, "CALLS", W), optional(X, "IMPORTS", W)])
    more = [(W, "READS", f"c:o.py#{number}") for number in range(90)]
    case = Case(gold, answer([(X, "CALLS", Y), (Y, "CALLS", Z), (W, "CALLS", Z), (X, "IMPORTS", W), *more]))
    shown, _, found, required = detail(case, ())
    counts = Counter(edge[3] for edge in edges_of(shown))
    assert (found, required) == (2, 3)
    assert counts == {"matched": 2, "missed": 1, "uncounted": 1, "otherwise": 1, "extra": EXTRA_EDGES}
    assert counts["extra"] + shown["map"]["omitted"] == column_of(case).off == 90


def test_a_needless_alternative_is_no_loss() -> None:
    """Only the edges that the best alternative lacks are missed, as EdgeRecall counts."""
    gold = question(*either("g", [(X, "CALLS", Y)], [(X, "CALLS", Z), (Z, "CALLS", W)]))
    statuses, *share = edge_statuses(Case(gold, answer([(X, "CALLS", Y)])))
    assert statuses == {
        (X, "CALLS", Y): "matched",
        (X, "CALLS", Z): "alternative",
        (Z, "CALLS", W): "alternative",
    }
    assert share == [1, 1]


def test_a_relation_is_compared_where_both_have_one() -> None:
    """A walked edge without relation matches the gold edge; one with another relation is walked otherwise."""
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)])
    statuses, *_ = edge_statuses(Case(gold, answer([(X, None, Y), (Y, "READS", Z)])))
    assert statuses == {(X, "CALLS", Y): "matched", (Y, "CALLS", Z): "missed", (Y, "READS", Z): "otherwise"}


def test_incoherent_pairs_are_listed_and_marked() -> None:
    """Two commits that are known not to fit are a pair with its rule, and their nodes carry these commits."""
    commits = CommitGraph.build(
        [Commit(repo="a", sha="a1", tag="v1"), Commit(repo="b", sha="b2")],
        [Compatibility(id="no", commits={"a": "a1", "b": "b2"}, compatible=False)],
    )
    chunks = [{"id": X, "commit": "a1"}, {"id": Z, "commit": "b2"}]
    gold = question([(X, "CALLS", Z)], commits={"a": "a1", "b": "b1"})
    shown, flags, *_ = detail(Case(gold, answer([(X, "CALLS", Z)], retrieved=chunks), commits), ())
    table = shown["commits"]
    [pair] = shown["pairs"]
    one, other = pair["commits"]
    assert (table[one], table[other]) == (
        {"repo": "a", "sha": "a1", "name": "v1"},
        {"repo": "b", "sha": "b2", "name": ""},
    )
    assert (pair["rule"], pair["count"]) == ("incompatible", 1)
    assert "incoherent" in flags
    assert pins_of(shown) == [(X, [one], ""), (Z, [other], "off pin")]


def test_pairs_of_unknown_commits_are_listed_once() -> None:
    """The 171 pairs of 19 chunks of unknown commits are one entry with these commits, before the others."""
    commits = CommitGraph.build([Commit(repo="a", sha="a1"), Commit(repo="b", sha="b2")])
    chunks = [{"id": f"u:{number}", "commit": f"u{number}"} for number in range(19)]
    shown, flags, *_ = detail(Case(question([(X, "CALLS", Z)]), answer(retrieved=chunks), commits), ())
    [pair] = shown["pairs"]
    assert ([shown["commits"][one]["sha"] for one in pair["commits"]], pair["rule"], pair["count"]) == (
        [f"u{number}" for number in range(19)],
        "unknown commit",
        171,
    )
    assert "incoherent" in flags
    # With one known chunk of each repository, that pair comes after; 2 x 19 more pairs are of an unknown commit.
    chunks += [{"id": X, "commit": "a1"}, {"id": Z, "commit": "b2"}]
    shown, *_ = detail(Case(question([(X, "CALLS", Z)]), answer(retrieved=chunks), commits), ())
    assert [(len(pair["commits"]), pair["rule"], pair["count"]) for pair in shown["pairs"]] == [
        (19, "unknown commit", 209),
        (2, "no rule", 1),
    ]


def test_commits_are_shown_by_what_their_names_mean() -> None:
    """A tag and the beginning of a sha are shown as their commit; an ambiguous name has its reason."""
    one, two = "ab12" + 36 * "1", "ab12" + 36 * "2"
    commits = CommitGraph.build([Commit(repo="a", sha=one, tags=("v1",)), Commit(repo="a", sha=two)])
    step = {"source": X, "relation": "CALLS", "target": Y, "source_commit": "v1", "target_commit": "ab121"}
    chunks = [{"id": X, "commit": one}, {"id": Y, "commit": "ab12"}]
    gold = question([(X, "CALLS", Y)], commits={"a": "v1"})
    shown, flags, *_ = detail(Case(gold, answer([step], retrieved=chunks), commits), ())
    assert [[*commit.values()] for commit in shown["commits"]] == [
        ["a", one, "v1"],
        ["a", "ab12", "ambiguous prefix: 2 commits"],
    ]
    # Y was walked at the pin, and retrieved at what may be another.
    assert pins_of(shown) == [(X, [0], ""), (Y, [0, 1], "off pin")]
    assert [chunk["commit"] for chunk in shown["chunks"]] == [0, 1]
    assert "off_pin" in flags


def test_a_commit_that_is_called_by_its_tag_is_named_once() -> None:
    """A release whose sha is its tag has no second name, and no branch takes its place."""
    commits = CommitGraph.build([Commit(repo="a", sha="2.0", tag="2.0", branch="releases")])
    chunks = [{"id": X, "commit": "2.0"}]
    shown, *_ = detail(Case(question([(X, "CALLS", Y)]), answer(retrieved=chunks), commits), ())
    assert shown["commits"] == [{"repo": "a", "sha": "2.0", "name": ""}]


def test_a_node_that_was_not_read_shows_its_pin() -> None:
    """A missed node carries the commit of the annotation, marked as pinned and not as read."""
    shown, *_ = detail(Case(question([(X, "CALLS", Y)], commits={"a": "a1"}), answer()), ())
    assert [(shown["commits"][commit]["sha"], pin) for _, [commit], pin in pins_of(shown)] == [("a1", "pinned")] * 2


def test_commits_that_were_not_read_say_so() -> None:
    """x was read at a2 and z at b1; the question is about a1 and b1, so that a1 alone was wanted and not read."""
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)], commits={"a": "a1", "b": "b1"})
    chunks = [{"id": X, "commit": "a2"}, {"id": Z, "commit": "b1"}]
    shown, *_ = detail(Case(gold, answer(retrieved=chunks)), ())
    assert {one["sha"]: one.get("unread", False) for one in shown["commits"]} == {"a2": False, "a1": True, "b1": False}
    # With y read at a2, too, no node shows a1, and it is listed all the same.
    shown, *_ = detail(Case(gold, answer(retrieved=[*chunks, {"id": Y, "commit": "a2"}])), ())
    assert [one["sha"] for one in shown["commits"] if "unread" in one] == ["a1"]


def test_a_commit_off_pin_is_flagged_where_the_measure_says_so() -> None:
    """The flag and the measure OffPin agree, also where the commit is that of a chunk outside the map."""
    gold = question([(X, "CALLS", Y)], commits={"a": "a1"})
    for sha in ("a1", "a2"):
        case = Case(gold, answer(retrieved=[{"id": Z, "repo": "a", "commit": sha}]))
        assert ("off_pin" in detail(case, ())[1]) == (OffPin().score(case) == 1)
        assert (OffPin().score(case) == 1) == (sha == "a2")


def test_failed_and_absent_records_are_flagged() -> None:
    """A record with an error keeps its words; what a failed or absent record didn't walk wasn't attempted."""
    gold = question([(X, "CALLS", Y)])
    failed, flags, *_ = detail(Case(gold, answer([(X, "CALLS", Y)], error="out of budget")), ())
    assert (failed["error"], flags, broken(failed)) == ("out of budget", ["failed"], False)
    # The edge that it had walked before the error is matched; the other is none that a finished walk went past.
    both = question([(X, "CALLS", Y), (Y, "CALLS", Z)])
    failed, _, *share = detail(Case(both, answer([(X, "CALLS", Y)], error="out of budget")), ())
    assert (edges_of(failed), share) == ({(X, "CALLS", Y, "matched"), (Y, "CALLS", Z, "unattempted")}, [0, 0])
    absent, flags, *share = detail(Case(gold, None), ())
    # The one required edge was neither found nor missed by a run that has no record: nothing is counted.
    assert (edges_of(absent), flags, share) == ({(X, "CALLS", Y, "unattempted")}, ["absent"], [0, 0])


def test_what_was_not_logged_is_neither_missed_nor_lost() -> None:
    """A record without traversal and chunks misses no edge, loses no relevant id and takes no wrong turn."""
    shown, flags, *share = detail(Case(question([(X, "CALLS", Y)], relevant=[X]), unlogged(answer="?")), ())
    assert (edges_of(shown), flags, share) == ({(X, "CALLS", Y, "unlogged")}, ["unlogged"], [0, 0])
    assert (broken(shown), shown["lost"], shown["chunks_logged"]) == (False, [], False)
    shown, flags, *share = detail(Case(question([(X, "CALLS", Y)], relevant=[X]), answer()), ())
    assert (edges_of(shown), flags, share) == ({(X, "CALLS", Y, "missed")}, [], [0, 1])
    assert (broken(shown), shown["lost"], shown["chunks_logged"]) == (True, [{"id": X, "gain": 1.0}], True)


def test_a_set_of_edges_takes_no_wrong_turn() -> None:
    """No node of a set of edges is marked as left, and no edge as a wrong turn."""
    gold = question([(X, "CALLS", Y), (Y, "CALLS", Z)])
    shown, flags, *_ = detail(Case(gold, answer([(X, "CALLS", Y), (Y, "READS", W)], ordered=False)), ())
    assert (flags, shown["ordered"]) == ([], False)
    assert (Y, "READS", W, "extra") in edges_of(shown)
    assert not broken(shown)
    whole, flags, *_ = detail(Case(gold, answer([(Y, "CALLS", Z), (X, "CALLS", Y)], ordered=False)), ())
    assert (flags, broken(whole)) == (["complete"], False)


def test_an_invalid_question_is_blamed_on_nobody() -> None:
    """Stale gold counts no edge and tells no wrong turn, whatever was walked, and keeps its reason."""
    gold = question([(X, "CALLS", Y)])
    for walked in (answer([(X, "CALLS", Y)]), answer([(X, "CALLS", Z)])):
        shown, flags, *share = detail(Case(gold, walked), (), "stale gold")
        assert (flags, share, broken(shown), shown["invalid"]) == (["invalid"], [0, 0], False, "stale gold")
    assert detail(Case(gold, answer([(X, "CALLS", Y)])), ())[0]["invalid"] is None


def test_calls_are_reported_with_what_they_showed() -> None:
    """Ids are marked as gold and as shown before; long texts are cut, and a run that logs no calls has none.

    y, gold, is shown by both calls, w by the second. Expected are read y, which was made, and read w, which wasn't.
    """
    gold = question([(X, "CALLS", Y)], expected_tools=["look", {"name": "read", "args": {"id": W}}])
    calls = [
        {"name": "look", "seen": [Y], "result": "r" * 500},
        {"name": "read", "args": {"id": "ü"}, "seen": [Y, W, W], "failed": True},
        {"name": "shell"},
    ]
    shown = detail(Case(gold, answer(tool_calls=calls)), ())[0]["calls"]
    seen = [call["seen"] and [(one["id"], one["gold"], one["again"]) for one in call["seen"]] for call in shown["made"]]
    assert seen == [[(Y, True, False)], [(Y, True, True), (W, False, False)], None]
    assert [call["failed"] for call in shown["made"]] == [False, True, False]
    assert [call["arguments"] for call in shown["made"]] == ["", '{"id": "ü"}', ""]
    assert shown["made"][0]["result"] == "r" * 299 + "…"
    assert [(one["name"], one["arguments"]) for one in shown["expected"]] == [
        ("look", None),
        ("read", f'{{"id": "{W}"}}'),
    ]
    assert shown["lack"] == "expected call 2, read, was not made with its arguments"
    assert "calls" not in detail(Case(gold, answer()), ())[0]
    many = detail(Case(gold, answer(tool_calls=[{"name": "t", "seen": [str(n) for n in range(25)]}] * 70)), ())[0]
    assert (len(many["calls"]["made"]), many["calls"]["more"]) == (60, 10)
    assert (len(many["calls"]["made"][0]["seen"]), many["calls"]["made"][0]["more_seen"]) == (20, 5)


def test_nodes_of_the_map_with_one_short_name_are_told_apart() -> None:
    """Two leaves of two files carry a longer name; the other nodes of the map need none."""
    leaves = "a:m.py#leaf", "a:n.py#leaf"
    shown, *_ = detail(Case(question([(X, "CALLS", leaves[0])]), answer([(X, "CALLS", leaves[1])])), ())
    names = {node["id"]: node.get("name") for node in shown["map"]["nodes"]}
    assert names == {X: None, leaves[0]: "m.py#leaf", leaves[1]: "n.py#leaf"}


def test_chunks_carry_their_gain_and_what_was_lost_is_named() -> None:
    """Each chunk has the gain of the annotation, and a relevant id that was not retrieved is listed with its own."""
    gold = question(relevant={X: 3, Z: 2})
    shown, *_ = detail(Case(gold, answer(retrieved=[{"id": Y, "text": "t" * 500}, {"id": X}])), ())
    assert [(chunk["id"], chunk["gain"]) for chunk in shown["chunks"]] == [(Y, 0), (X, 3)]
    assert shown["chunks"][0]["text"] == "t" * 399 + "…"
    assert shown["lost"] == [{"id": Z, "gain": 2}]


def test_the_map_keeps_what_a_node_has_and_how_edges_lie_on_paths() -> None:
    """Gold comes first and in order; only gold has marks and positions, only retrieved nodes a rank, and none a 0."""
    gold = question({"id": "main", "steps": [(X, "CALLS", Y), (Y, "CALLS", Z)]})
    shown, *_ = detail(Case(gold, answer([(X, "CALLS", Y), (W, None, X)], retrieved=[{"id": W}, {"id": Y}])), ())
    assert shown["map"] == {
        "nodes": [
            {"id": X, "marks": ["gold"]},
            {"id": Y, "marks": ["gold", "left"], "rank": 2},
            {"id": Z, "marks": ["gold"]},
            {"id": W, "rank": 1},
        ],
        "edges": [
            {"source": 0, "target": 1, "relation": "CALLS", "status": "matched", "gold_path": "main", "position": 0},
            {"source": 1, "target": 2, "relation": "CALLS", "status": "missed", "gold_path": "main", "position": 1},
            {"source": 3, "target": 0, "relation": "", "status": "extra"},
        ],
        "omitted": 0,
    }


def test_extra_edges_beyond_the_map_are_counted() -> None:
    """The map keeps 80 of 85 extra edges: those at the gold path before those far from it."""
    far = [(f"d:{number}.py", "CALLS", f"e:{number}.py") for number in range(EXTRA_EDGES + 2)]
    near = [(X, "CALLS", f"b:{number}.py") for number in range(3)]
    shown, *_ = detail(Case(question([(X, "CALLS", Y), (Y, "CALLS", Z)]), answer([(X, "CALLS", Y), *far, *near])), ())
    extra = {edge[:3] for edge in edges_of(shown) if edge[3] == "extra"}
    assert (len(extra), shown["map"]["omitted"]) == (80, 5)
    assert extra >= {*near}
