"""Named queries over all runs of a dataset, on a small world worked by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.queries import failure_query, named_query
from graphkit.graph.runs import load_run
from tests.helpers.datasets import write_jsonl

pytestmark = pytest.mark.newest

Record = dict[str, Any]


def edge(source: str, target: str) -> Record:
    """Return a step between two nodes."""
    return {"source": source, "relation": "R", "target": target}


#: The edges of the gold paths: within x, from x to y, within y.
AB, BC, CD = edge("x:a", "x:b"), edge("x:b", "y:c"), edge("y:c", "y:d")
OPTIONAL = {**edge("y:d", "y:e"), "optional": True}

QUESTIONS: list[Record] = [
    # All of it is required but the last step.
    {"id": "q1", "paths": [{"id": "p", "steps": [AB, BC, CD, OPTIONAL]}], "difficulty": "hard", "category": "flow"},
    # One of two ways is enough.
    {"id": "q2", "paths": [{"id": "one", "group": "g", "steps": [AB, BC]}, {"id": "two", "group": "g", "steps": [CD]}]},
    {"id": "q3", "paths": [{"id": "p", "steps": [AB]}]},
    {"id": "q4"},
]

COMMITS = [{"repo": repo, "sha": sha, "branch": branch} for repo, sha, branch in (("x", "1", "b"), ("y", "2", "c"))]


def chunk(node: str, commit: str) -> Record:
    """Return a retrieved chunk."""
    return {"id": node, "commit": commit}


def answers(run: str, **walks: list[Record] | str | None) -> list[Record]:
    """Return the records of a run: of each question a traversal, an error, or None if it isn't logged."""
    records = []
    for number, (question, walk) in enumerate(walks.items(), 1):
        record: Record = {"run": run, "question_id": question, "prompt_tokens": 100 * number, "latency_ms": 10}
        record |= {"error": walk} if isinstance(walk, str) else {} if walk is None else {"traversal": walk}
        records.append(record)
    return records


@pytest.fixture
def world(empty_store: Store, tmp_path: Path) -> Store:
    """Three runs over four questions: what each traversed is in the comments.

    ===  ==============  ==================  ======================
    .    one             two                 three
    ===  ==============  ==================  ======================
    q1   a-b             a-b, b-c            a-b, d-e (optional)
    q2   a-b (half)      failed              c-d (an alternative)
    q3   no record       nothing             not logged
    ===  ==============  ==================  ======================
    """
    write_jsonl(tmp_path / "d" / "questions.jsonl", [{"question": "?", **one} for one in QUESTIONS])
    write_jsonl(tmp_path / "d" / "commits.jsonl", COMMITS)
    one = answers("one", q1=[AB], q2=[AB])
    one[0]["retrieved"] = [chunk("x:a", "1"), chunk("y:c", "2"), chunk("y:d", "2"), chunk("x:b", "9")]
    one[1]["retrieved"] = [chunk("y:c", "2"), chunk("x:a", "1")]
    two = answers("two", q1=[AB, BC], q2="down", q3=[], q4=[AB])
    three = answers("three", q1=[AB, {**OPTIONAL, "optional": None}], q2=[CD], q3=None)
    three[0]["traversal"] = [AB, edge("y:d", "y:e")]
    graphkit.load(empty_store, tmp_path / "d")
    for name, records in (("one", one), ("two", two), ("three", three)):
        file = write_jsonl(tmp_path / "d" / "runs" / f"{name}.jsonl", records)
        load_run(empty_store, "d", name, file)
    return empty_store


def ask(store: Store, name: str, run: str, **given: object) -> list[tuple[object, ...]]:
    """Return the rows of a named query, and check their columns."""
    query = named_query(name)
    rows = store.read(query.text, query.bind({"run": run, **given}))
    assert all(tuple(row) == query.columns for row in rows)
    return [tuple(row.values()) for row in rows]


def test_lost_in_every_run(world: Store) -> None:
    """q1 is lost by all three, closest by two with 2 of 3 edges; q2 isn't, since three took an alternative.

    q3 was lost by two of the runs, of which one has no record; the third doesn't say what it traversed.
    """
    expected = [("q3", None, None, 2, 1, "two", 0.0), ("q1", "hard", "flow", 3, 0, "two", 0.6667)]
    for run in ("one", "two", "three"):
        assert ask(world, "lost-in-every-run", run) == expected
    assert ask(world, "lost-in-every-run", "one", limit=1) == expected[:1]


def test_found_by_one_run(world: Store) -> None:
    """Only two crossed from b to c in q1; only three took c-d in q2, and the optional step of q1.

    a-b of q2 was traversed by one alone: two failed there, three took the other way.
    """
    assert ask(world, "found-by-one-run", "one") == [("q2", "one", 0, "x:a", "R", "x:b", 2)]
    assert ask(world, "found-by-one-run", "two") == [("q1", "p", 1, "x:b", "R", "y:c", 2)]
    last = [("q1", "p", 3, "y:d", "R", "y:e", 2), ("q2", "two", 0, "y:c", "R", "y:d", 2)]
    assert ask(world, "found-by-one-run", "three") == last
    assert ask(world, "found-by-one-run", "three", question="q2") == last[1:]


def test_gold_missed_most(world: Store) -> None:
    """c-d is missed in q1 by all three, and required by three in q2, which took it: 3 of 4.

    b-c is missed by one and three in q1, and by one in q2, where its half of a path is the closest alternative: 3 of 4,
    since two took it in q1. a-b is missed by two in q3 alone: of q1 (three runs), q2 (one) and q3 (two) it is 1 of 5.
    """
    assert ask(world, "gold-missed-most", "one") == [
        ("x:b", "R", "y:c", 3, 4, 0.75, 2, 2),
        ("y:c", "R", "y:d", 3, 4, 0.75, 1, 3),
        ("x:a", "R", "x:b", 1, 5, 0.2, 1, 1),
    ]


def test_boundaries_by_run(world: Store) -> None:
    """b-c is the only boundary: of q1, and of the only alternative of q2 that has one; two failed q2.

    one missed both, two took that of q1, three missed both: BoundaryRecall looks at no alternative without a boundary.
    """
    assert ask(world, "boundaries-by-run", "three") == [
        ("x", "y", "one", 2, 2, 1.0, 2),
        ("x", "y", "three", 2, 2, 1.0, 2),
        ("x", "y", "two", 0, 1, 0.0, 0),
    ]


def test_usage_by_failure(world: Store) -> None:
    """A question counts once; its tokens are 100 times its place in the run, and it took 10 ms.

    two: q1 lacks only c-d within y; q2 failed; q3 lacks a-b; q4 has no gold path. three: q1 and q2 miss the boundary
    (of q2 only one alternative has one), q3 isn't logged, and of q4 there is no record.
    """
    names = named_query("usage-by-failure").columns
    assert names[:3] == ("kind", "questions", "prompt_tokens")
    two = [(row[0], row[1], row[2], row[4], row[5]) for row in ask(world, "usage-by-failure", "two")]
    assert two == [
        ("failed-questions", 1, 200, 10, 200),
        ("missed-edges", 2, 400, 20, 200),
        ("no gold path", 1, 400, 10, 400),
    ]
    three = [(row[0], row[1], row[2]) for row in ask(world, "usage-by-failure", "three")]
    assert three == [("failed-questions", 1, 0), ("missed-boundaries", 2, 300), ("not logged", 1, 300)]


def test_mixed_commits(world: Store) -> None:
    """x@1 and y@2 fit by no rule: in q1 one chunk with two, in q2 one with one; the unknown commit 9 is left out."""
    assert ask(world, "mixed-commits", "one") == [("x", "y", "no rule", 1, 3, 2)]
    assert ask(world, "mixed-commits", "two") == []


def test_none_is_a_kind_of_failures() -> None:
    """As a kind of failures such a query is refused, with the command that asks it."""
    with pytest.raises(InputError, match="isn't a kind of failures") as caught:
        failure_query("lost_in_every_run")
    assert "graphkit query lost-in-every-run -p run=RUN" in str(caught.value)


def test_question_subgraph(world: Store) -> None:
    """q1 of run one: four gold edges, one traversed edge, and four chunks of which three have an artifact.

    x:b, which gold names, is an artifact; so are all four: each path ends there.
    """
    query = named_query("question-subgraph")
    paths = [row["path"] for row in world.read(query.text, query.bind({"run": "one", "question": "q1"}))]
    types = [tuple(one["_type"] for one in path[1::2]) for path in paths]  # type: ignore[index]
    assert sorted(types) == [("ANSWERS", "RETRIEVED", "OF")] * 4 + [("GOLD",)] * 4 + [("TRAVERSED",)]
