"""Named queries on small worlds worked by hand: the alternative that counts, and the skipped questions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import pytest

import graphkit
from graphkit.analysis.explain import sentence
from graphkit.database.store import Store
from graphkit.measures.unscored import NO_ORDER
from tests.helpers.datasets import write_jsonl
from tests.helpers.suites import one_fast

pytestmark = pytest.mark.newest

Record = dict[str, Any]


def edge(source: str, target: str) -> Record:
    """Return a step between two nodes."""
    return {"source": source, "relation": "R", "target": target}


def run_of(folder: Path, questions: Iterable[Record], answers: Iterable[Record], **files: Iterable[Record]) -> Path:
    """Write a dataset with one run ``r``, and return the run's file."""
    write_jsonl(folder / "questions.jsonl", [{"question": "?", **one} for one in questions])
    for name, records in files.items():
        write_jsonl(folder / f"{name}.jsonl", records)
    return write_jsonl(folder / "runs" / "r.jsonl", [{"run": "r", **one} for one in answers])


def walked(folder: Path, paths: Iterable[Record], traversal: Iterable[Record]) -> Path:
    """Write a dataset with one question ``q`` with these gold paths, and one run that walked so; return its file."""
    return run_of(folder / "d", [{"id": "q", "paths": [*paths]}], [{"question_id": "q", "traversal": [*traversal]}])


def test_wrong_turns_look_at_the_alternative_that_was_followed_further(empty_store: Store, tmp_path: Path) -> None:
    """A larger followed share wins over an alternative that the traversal only continued from.

    Of ``short`` 0 of 2 steps were followed, and the walk went on from its first node; of ``long`` 1 of 10, and it
    stopped there. PathPrefix is 1/10, that of ``long``.
    """
    short = [edge("x:p", "x:q"), edge("x:q", "x:r")]
    long = [edge(f"x:{number}", f"x:{number + 1}") for number in range(10)]
    paths = [{"id": "short", "group": "g", "steps": short}, {"id": "long", "group": "g", "steps": long}]
    file = walked(tmp_path, paths, [edge("x:p", "x:elsewhere"), edge("x:0", "x:1")])
    result = graphkit.evaluate(file, store=empty_store, measures=["PathPrefix"])
    assert result.measures["PathPrefix"].mean == 0.1
    (row,) = graphkit.failures(empty_store, "r", "wrong-turns")
    assert (row["path"], row["position"], row["node"], row["went_to"], row["entered"]) == (
        "long",
        1,
        "x:1",
        None,
        True,
    )


def test_failures_returns_every_row_unless_it_is_limited(empty_store: Store, tmp_path: Path) -> None:
    """A traversal of 24 wrong edges gives 24 rows; ``limit`` cuts them, and ``total`` still counts 24."""
    walk = [edge(f"x:{number:02d}", f"x:{number + 1:02d}") for number in range(24)]
    file = walked(tmp_path, [{"steps": [edge("x:a", "x:b")]}], walk)
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    rows = graphkit.failures(empty_store, "r", "extra-edges")
    assert sorted(str(row["source"]) for row in rows) == [step["source"] for step in walk]
    assert rows.total == 24
    for limit in (0, 1, 20, 24, 25):
        first = graphkit.failures(empty_store, "r", "extra-edges", limit=limit)
        assert (list(first), first.total) == (rows[:limit], 24)
    with pytest.raises(graphkit.InputError, match="the limit is -1"):
        graphkit.failures(empty_store, "r", "extra-edges", limit=-1)


def test_wrong_turns_tell_a_path_that_was_never_entered(empty_store: Store, tmp_path: Path) -> None:
    """One of two gold paths was left after a step; the other was never entered."""
    paths = [
        {"id": "left", "steps": [edge("x:a", "x:b"), edge("x:b", "x:c")]},
        {"id": "never", "steps": [edge("x:m", "x:n")]},
    ]
    file = walked(tmp_path, paths, [edge("x:a", "x:b")])
    graphkit.evaluate(file, store=empty_store)
    rows = graphkit.failures(empty_store, "r", "wrong-turns")
    assert [(row["path"], row["entered"]) for row in rows] == [("left", True), ("never", False)]


def test_missed_boundaries_look_at_the_alternative_that_crossed_most(empty_store: Store, tmp_path: Path) -> None:
    """Only edges between repositories decide the alternative, as in BoundaryRecall.

    Of ``inner`` 3 of its 4 edges were walked but not its only boundary; of ``outer`` 1 of its 2 boundaries and nothing
    else of its 6 edges. BoundaryRecall is 1/2, that of ``outer``, whose other boundary is missed.
    """
    inner = [edge("x:k", "x:l"), edge("x:l", "x:m"), edge("x:m", "x:n"), edge("x:n", "y:o")]
    outer = [edge("x:a", "y:b"), edge("y:b", "z:c")]
    outer += [edge("z:c", "z:d"), edge("z:d", "z:e"), edge("z:e", "z:f"), edge("z:f", "z:g")]
    paths = [{"id": "inner", "group": "g", "steps": inner}, {"id": "outer", "group": "g", "steps": outer}]
    file = walked(tmp_path, paths, [*inner[:3], outer[0]])
    result = graphkit.evaluate(file, store=empty_store, measures=["BoundaryRecall"])
    assert result.measures["BoundaryRecall"].mean == 0.5
    (row,) = graphkit.failures(empty_store, "r", "missed-boundaries")
    assert (row["path"], row["position"], row["source"], row["target"]) == ("outer", 1, "y:b", "z:c")


def test_commits_of_questions_that_are_not_scored_are_no_failures(empty_store: Store, tmp_path: Path) -> None:
    """Questions with stale gold or without commits have no incoherent pairs and no unknown commits."""
    mixed = [{"id": "x:a", "commit": "1"}, {"id": "y:b", "commit": "none-such"}]
    file = run_of(
        tmp_path / "d",
        [
            {"id": "scored", "paths": [{"steps": [edge("x:a", "y:b")]}]},
            {"id": "stale", "paths": [{"steps": [edge("x:a", "x:gone")]}]},
            {"id": "bare", "paths": [{"steps": [edge("x:a", "y:b")]}]},
        ],
        [
            {"question_id": "scored", "retrieved": mixed},
            {"question_id": "stale", "retrieved": mixed},
            {"question_id": "bare", "retrieved": ["x:a", "y:b"]},
        ],
        commits=[{"repo": "x", "sha": "1"}],
        edges=[edge("x:a", "y:b")],
    )
    result = graphkit.evaluate(file, store=empty_store, measures=["Coherence"])
    assert (result.measures["Coherence"].mean, result.measures["Coherence"].scored) == (0.0, 1)
    for kind in ("incoherent-pairs", "unknown-commits"):
        (row,) = graphkit.failures(empty_store, "r", kind)
        assert row["question"] == "scored"


def test_unknown_commits_make_one_row_of_pairs_and_pins_none(empty_store: Store, tmp_path: Path) -> None:
    """Pins fit in both engines, unless a row says that they clash; unknown commits are one row.

    The same two chunks of unknown commits are coherent where the question pins them, and incoherent in ``loose``. In
    ``many`` 19 unknown commits make 171 pairs; in ``clash`` a row speaks against the pins.
    """
    unknown = [{"id": "x:a", "commit": "7"}, {"id": "y:b", "commit": "8"}]
    asked: list[Record] = [
        {"id": "clash", "relevant": ["x:a"], "commits": {"x": "1", "y": "2"}},
        {"id": "loose", "relevant": ["x:a"], "commits": {"x": "7"}},
        {"id": "many", "relevant": ["x:a"]},
        {"id": "pinned", "relevant": ["x:a"], "commits": {"x": "7", "y": "8"}},
    ]
    file = run_of(
        tmp_path / "d",
        asked,
        [
            {"question_id": "clash", "retrieved": [{"id": "x:a", "commit": "1"}, {"id": "y:b", "commit": "2"}]},
            {"question_id": "loose", "retrieved": unknown},
            {"question_id": "many", "retrieved": [{"id": f"x:{n}", "commit": f"u{n}"} for n in range(19)]},
            {"question_id": "pinned", "retrieved": unknown},
        ],
        compatibility=[{"id": "no", "commits": {"x": "1", "y": "2"}, "compatible": False}],
    )
    expected = {"clash": 0.0, "loose": 0.0, "many": 0.0, "pinned": 1.0}
    engines: tuple[Literal["python", "cypher"], ...] = ("python", "cypher")
    for engine in engines:
        result = graphkit.evaluate(file, store=empty_store, measures=["Coherence"], engine=engine)
        assert {row.question: row.values[0] for row in result.rows} == expected, engine
    columns = ("question", "first", "second", "rule", "stack", "chunk_pairs")
    assert [tuple(row[one] for one in columns) for row in graphkit.failures(empty_store, "r", "incoherent-pairs")] == [
        ("clash", "x@1", "y@2", "incompatible", "no", 1),
        ("loose", None, None, "unknown commit", None, 1),
        ("many", None, None, "unknown commit", None, 171),
    ]


def test_unknown_commits_are_reported_in_words(empty_store: Store, tmp_path: Path) -> None:
    """The sentence names the commit and why it is unknown, or says that the chunks name none."""
    file = run_of(
        tmp_path / "d",
        [{"id": "q", "relevant": ["x:a"]}],
        [{"question_id": "q", "retrieved": [{"id": "x:a", "commit": "abcd"}, {"id": "x:b", "commit": "v9"}, "x:c"]}],
        commits=[{"repo": "x", "sha": "abcd1"}, {"repo": "x", "sha": "abcd2"}],
    )
    graphkit.evaluate(file, store=empty_store, measures=["Coherence"])
    reported = [sentence("unknown-commits", row) for row in graphkit.failures(empty_store, "r", "unknown-commits")]
    assert reported == [
        "1 chunk of x comes from abcd, which is unknown (ambiguous prefix: 2 commits)",
        "1 chunk of x comes from v9, which is unknown",
        "1 chunk of x names no commit",
    ]


# One dataset and another -------------------------------------------------------------------------------------------

CHUNKS = [{"id": "x:a", "commit": "1"}, {"id": "y:b", "commit": "2"}]
COMMITS = ("Coherence", "Incoherent")


def coherence(store: Store, file: Path, engine: str) -> dict[str, float | None]:
    """Return the means of the measures of commits, by one engine in a graph."""
    found = graphkit.evaluate(file, store=store, measures=COMMITS, engine=engine)
    return {name: one.mean for name, one in found.measures.items()}


@one_fast(
    ("mine", "others", "expected"),
    [
        # The dataset itself says nothing of commits: they are not scored, whatever another one knows.
        ({}, {"commits": [{"repo": "x", "sha": "1"}, {"repo": "y", "sha": "2"}]}, {}),
        # Its row says that they fit, and another one's that they don't.
        (
            {"compatibility": [{"id": "s", "commits": {"x": "1", "y": "2"}}]},
            {"compatibility": [{"id": "s", "commits": {"x": "1", "y": "2"}, "compatible": False}]},
            {"Coherence": 1.0, "Incoherent": 0.0},
        ),
        # Both commits are listed, and only another dataset deployed them together: Incoherent isn't scored.
        (
            {"commits": [{"repo": "x", "sha": "1"}, {"repo": "y", "sha": "2"}]},
            {"compatibility": [{"id": "prod", "commits": {"x": "1", "y": "2"}, "environment": "prod"}]},
            {"Coherence": 0.0},
        ),
        # Only another dataset knows the second commit.
        (
            {"compatibility": [{"id": "s", "commits": {"x": "1", "z": "3"}}]},
            {"compatibility": [{"id": "t", "commits": {"x": "1", "y": "2"}}]},
            {"Coherence": 0.0, "Incoherent": 1.0},
        ),
        # On main at the same hour, as it says itself; another one says another branch and day.
        (
            {
                "commits": [
                    {"repo": "x", "sha": "1", "branch": "main", "committed_at": "2025-01-01T10:00:00Z"},
                    {"repo": "y", "sha": "2", "branch": "main", "committed_at": "2025-01-01T11:00:00Z"},
                ]
            },
            {
                "commits": [
                    {"repo": "x", "sha": "1", "branch": "next", "committed_at": "2025-03-01T10:00:00Z"},
                    {"repo": "y", "sha": "2", "branch": "main", "committed_at": "2025-01-05T10:00:00Z"},
                ]
            },
            {"Coherence": 1.0},
        ),
    ],
    "two datasets are loaded for each case",
    0,
)
def test_another_dataset_changes_no_coherence(
    empty_store: Store,
    tmp_path: Path,
    mine: dict[str, list[Record]],
    others: dict[str, list[Record]],
    expected: dict[str, float],
) -> None:
    """Statements of another dataset about the same commits change nothing, in either engine."""
    asked = [{"id": "q", "relevant": ["x:a"]}]
    file = run_of(tmp_path / "mine", asked, [{"question_id": "q", "retrieved": CHUNKS}], **mine)
    alone = {name: one.mean for name, one in graphkit.evaluate(file, measures=COMMITS).measures.items()}
    assert {name: value for name, value in alone.items() if value is not None} == expected
    other = tmp_path / "other"
    run_of(other, [{"id": "other", "relevant": ["x:a"]}], [], **others)
    for first, second in ((file.parent.parent, other), (other, file.parent.parent)):
        empty_store.write("MATCH (n) DETACH DELETE n")
        graphkit.load(empty_store, first)
        graphkit.load(empty_store, second)
        assert coherence(empty_store, file, "python") == alone
        assert coherence(empty_store, file, "cypher") == alone
        pairs = graphkit.failures(empty_store, "r", "incoherent-pairs")
        assert bool(pairs) == (alone["Coherence"] == 0.0)


def test_a_file_that_is_gone_says_nothing_any_more(empty_store: Store, tmp_path: Path) -> None:
    """The next load removes the commits, rows and knowledge graphs of removed files."""
    files: dict[str, list[Record]] = {
        "commits": [{"repo": "x", "sha": "1"}],
        "compatibility": [{"id": "s", "commits": {"x": "1", "y": "2"}}],
        "edges-old": [edge("x:a", "y:b")],
        "artifacts-old": [{"id": "x:a", "commit": "1"}, {"id": "y:b"}],
    }
    asked = [{"id": "q", "relevant": ["x:a"]}]
    file = run_of(tmp_path / "d", asked, [{"question_id": "q", "retrieved": CHUNKS}], **files)
    assert coherence(empty_store, file, "cypher")["Coherence"] == 1.0
    for name in files:
        (tmp_path / "d" / f"{name}.jsonl").unlink()
    graphkit.load(empty_store, tmp_path / "d")
    assert coherence(empty_store, file, "cypher") == {"Coherence": None, "Incoherent": None}
    held = "MATCH ()-[r:EDGE|LISTS|PINS|COMPATIBLE_WITH]->() RETURN count(r) AS count"
    assert empty_store.read(held) == [{"count": 0}]


def test_nothing_is_reported_of_a_walk_that_was_not_logged(empty_store: Store, tmp_path: Path) -> None:
    """If two questions found nothing, only the one with a logged empty traversal missed an edge.

    Another run walked the edge in both: only in ``empty`` did the run lose it.
    """
    paths = [{"id": "p", "steps": [edge("x:a", "y:b")]}]
    file = run_of(
        tmp_path / "d",
        [{"id": name, "paths": paths, "expected_files": ["x/a"]} for name in ("unlogged", "empty")],
        [
            {"question_id": "unlogged", "evidence_files": ["x/a"]},
            {"question_id": "empty", "evidence_files": ["x/a"], "traversal": []},
        ],
    )
    walked = [{"run": "o", "question_id": name, "traversal": [edge("x:a", "y:b")]} for name in ("unlogged", "empty")]
    graphkit.evaluate(file, store=empty_store)
    graphkit.evaluate(write_jsonl(file.with_name("o.jsonl"), walked), store=empty_store)
    for kind in ("missed-edges", "missed-boundaries", "wrong-turns", "right-files-wrong-path"):
        assert [row["question"] for row in graphkit.failures(empty_store, "r", kind)] == ["empty"], kind
    (relation,) = graphkit.failures(empty_store, "r", "relations-missed")
    assert (relation["missed"], relation["required"]) == (1, 1)
    counts = {"missed": 1, "required": 1, "share": 1.0}
    assert graphkit.failures(empty_store, "r", "edges-missed") == [{**edge("x:a", "y:b"), **counts}]
    assert graphkit.failures(empty_store, "r", "nodes-missed") == [{"node": name, **counts} for name in ("x:a", "y:b")]
    assert graphkit.failures(empty_store, "o", "edges-missed") == []
    assert [row["question"] for row in graphkit.failures(empty_store, "o", "found-and-lost", other="r")] == ["empty"]
    assert graphkit.failures(empty_store, "r", "failed-questions") == []
    scored = graphkit.failures(empty_store, "r", "questions-by-score")
    assert [(row["question"], row["edge_recall"], row["found"], row["error"]) for row in scored] == [
        ("unlogged", None, None, "no traversal (not logged)"),
        ("empty", 0.0, 0, None),
    ]


def test_edges_that_the_graph_lacks_are_counted(empty_store: Store, tmp_path: Path) -> None:
    """The graph lacks a → b, which a person saw: r misses it for lost and late, has it for found, and failed on none.

    It has b → c, which late misses as well. Of the alternatives of either, r walked the one that the graph holds. Of
    stale, the graph lacks an edge that nobody saw. Without a knowledge graph nothing is known to be lacking.
    """
    seen, known = edge("x:a", "y:b") | {"evidence": "manual"}, edge("y:b", "z:c")
    questions = {
        "lost": [{"steps": [seen]}],
        "late": [{"id": "p", "steps": [seen, known]}, {"id": "again", "steps": [seen]}],
        "found": [{"steps": [seen]}],
        "none": [{"steps": [seen]}],
        "either": [{"group": "g", "steps": [seen]}, {"group": "g", "steps": [known]}],
        "stale": [{"steps": [edge("x:a", "z:gone")]}],
        "free": [{"steps": [{**seen, "optional": True}, known]}],
    }
    walks: dict[str, list[Record]] = {
        "lost": [],
        "late": [],
        "found": [edge("x:a", "y:b")],
        "either": [known],
        "stale": [],
        "free": [],
    }
    asked = [{"id": name, "paths": paths} for name, paths in questions.items()]
    answers: list[Record] = [
        *({"question_id": name, "traversal": walk} for name, walk in walks.items()),
        {"question_id": "none", "error": "boom"},
    ]
    file = run_of(
        tmp_path / "d", asked, answers, edges=[known], artifacts=[{"id": one} for one in ("x:a", "y:b", "z:c")]
    )
    graphkit.evaluate(file, store=empty_store)
    rows = graphkit.failures(empty_store, "r", "edges-absent")
    assert rows == [{**edge("x:a", "y:b"), "missed": 2, "required": 3}] == graphkit.file_failures(file, "edges-absent")
    words = "x:a -R-> y:b is not in the knowledge graph, and was not traversed for 2 of 3 questions that require it"
    assert sentence("edges-absent", rows[0]) == words
    [row] = graphkit.failures(empty_store, "r", "edges-absent", question="late")
    assert (row["missed"], row["required"]) == (1, 1)
    assert graphkit.failures(empty_store, "r", "edges-absent", question="found") == []
    bare = run_of(tmp_path / "bare", asked, [{**one, "run": "bare"} for one in answers])
    graphkit.evaluate(bare, store=empty_store)
    assert graphkit.failures(empty_store, "bare", "edges-absent") == []


def test_a_run_may_be_taken_as_sets_of_edges(empty_store: Store, tmp_path: Path) -> None:
    """Gold edges in another order are no wrong turn in a set of edges, in either engine.

    It is so for as long as the run was last evaluated so, and for a record that says it in any case.
    """
    paths = [{"id": "p", "steps": [edge("x:a", "x:b"), edge("x:b", "x:c")]}]
    walk = [edge("x:b", "x:c"), edge("x:a", "x:b")]
    file = run_of(
        tmp_path / "d",
        [{"id": name, "paths": paths} for name in ("says", "silent")],
        [
            {"question_id": "says", "traversal": walk, "ordered": False},
            {"question_id": "silent", "traversal": walk},
        ],
    )
    for unordered, engine in ((False, "python"), (True, "python"), (False, "cypher"), (True, "cypher")):
        measures = ["PathPrefix", "EdgeRecall"]
        result = graphkit.evaluate(file, store=empty_store, measures=measures, engine=engine, unordered=unordered)
        values = {row.question: row.values for row in result.rows}
        assert values["says"] == (NO_ORDER, 1.0)
        # In this order only the first step was followed.
        assert values["silent"] == ((NO_ORDER if unordered else 0.5), 1.0)
        turns = graphkit.failures(empty_store, "r", "wrong-turns")
        assert [row["question"] for row in turns] == ([] if unordered else ["silent"])
