"""The two engines agree on what is easy to get wrong: gains of zero, names of commits, networks, default cut-offs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.measures.base import DEFAULT_K
from graphkit.measures.coherence import PARTLY_VERSIONED
from graphkit.measures.registry import parse_measure, resolve_measures
from tests.helpers.cli import tiny
from tests.helpers.datasets import read_jsonl, write_jsonl
from tests.scoring.compared_runs import MEASURED, Run, values

pytestmark = pytest.mark.newest


def test_gains_of_zero_and_less(store: Store, tmp_path: Path) -> None:
    """On both databases, by both engines: a gain of 0 or less is not relevant, and alone leaves an ideal of 0."""
    gains = {
        "mixed": {"x:a": -1, "y:b": 2, "y:c": 1},
        "negative": {"x:a": -1},
        "zero": {"x:a": 0, "y:b": -2},
        "none": {},
    }
    questions = [{"id": name, "question": "?", "relevant": given} for name, given in gains.items()]
    answers = [{"run": "r", "question_id": name, "retrieved": ["x:a", "y:b", "y:c"]} for name in gains]
    run = tiny(tmp_path, questions, answers)
    nothing = "no relevant ids"
    # mixed: b (gain 2) at rank 2 and c (1) at rank 3 are relevant: DCG = 2/log2(3) + 1/log2(4) over 2 + 1/log2(3).
    # One of the two retrieved repositories (x, y) is relevant.
    ndcg = (2 / math.log2(3) + 1 / 2) / (2 + 1 / math.log2(3))
    expected: dict[str, list[float | str]] = {
        "nDCG@5": [ndcg, 0.0, 0.0, nothing],
        "Recall@5": [1.0, nothing, nothing, nothing],
        "P@5": [2 / 5, nothing, nothing, nothing],
        "RR": [1 / 2, nothing, nothing, nothing],
        "Success@1": [0.0, nothing, nothing, nothing],
        "Acc@5": [1.0, nothing, nothing, nothing],
        "Acc@2": [0.0, nothing, nothing, nothing],
        "Rprec": [1 / 2, nothing, nothing, nothing],
        "AP": [(1 / 2 + 2 / 3) / 2, nothing, nothing, nothing],
        "CrossRepoPrecision": [1 / 2, *3 * ["gold names no repository"]],
        "CrossRepoRecall": [1.0, *3 * ["gold names no repository"]],
    }
    for engine in ("python", "cypher"):
        result = graphkit.evaluate(run, measures=list(expected), engine=engine, store=store)
        found = {row.question: row.values for row in result.rows}
        for place, (measure, wanted) in enumerate(expected.items()):
            for name, one in zip(gains, wanted, strict=True):
                assert found[name][place] == (one if isinstance(one, str) else pytest.approx(one, abs=1e-9)), measure


def test_wrong_repositories_counts_edges_of_repositories_alone(store: Store, tmp_path: Path) -> None:
    """On both databases an id without a colon names no repository, also where one is called like it."""
    questions = [{"id": "q", "question": "?", "paths": [[["api:a", "R", "api:b"]]]}]
    # Of the four edges two touch the repository web; the ids "web" of the others are files of no repository.
    walk = [["api:a", "R", "web:x"], ["web:x", "R", "api:a"], ["web", "R", "api:a"], ["api:a", "R", "web"]]
    run = tiny(tmp_path, questions, [{"run": "r", "question_id": "q", "retrieved": ["web"], "traversal": walk}])
    graphkit.evaluate(run, measures=["CrossRepoPrecision"], store=store)
    assert graphkit.failures(store, "r", "wrong-repositories") == [
        {"question": "q", "repo": "web", "chunks": 0, "edges": 2, "relevant": ["api"]}
    ]


#: Whole shas; the first two begin alike.
ONE, TWO, FOUR, FIVE, PIN = ("abc1" + 36 * "1", "abc1" + 36 * "2", "def4" + 36 * "4", 40 * "5", "abc5" + 36 * "6")


def named_commits(folder: Path) -> Path:
    """Write a dataset and a run that name commits by tags and by their beginnings, or not at all; return the run."""
    at = "2026-01-01T00:00:00Z"
    asked: dict[str, dict[str, Any]] = {
        "tags": {"stack": "prod", "retrieved": [("x:a", "v2"), ("y:b", "def4")]},
        "ambiguous": {"stack": "prod", "retrieved": [("x:a", "abc1"), ("x:b", "v2")]},
        "artifact": {"commits": {"x": "v1", "y": "def4"}, "retrieved": [("x:art.py", None), ("y:b", "DEF4")]},
        "two-graphs": {"commits": {"x": "v2"}, "retrieved": [("y:art.py", None), ("x:a", "v2")]},
        "its-graph": {
            "stack": "other",
            "commits": {"x": "v2", "y": FIVE},
            "retrieved": [("y:art.py", None), ("x:a", TWO)],
        },
        "pin": {"commits": {"x": PIN}, "retrieved": [("x:a", "abc5")]},
        "walk": {"stack": "prod", "retrieved": [], "step": ("latest", "def4")},
        "nothing": {"commits": {"x": "v1"}, "retrieved": [("x:bare.py", None)]},
        "fresh": {"commits": {"x": "abc11"}, "retrieved": [], "paths": [[["x:art.py", "R", "x:art.py"]]]},
        "stale": {"commits": {"x": "v2"}, "retrieved": [], "paths": [[["x:art.py", "R", "x:art.py"]]]},
    }
    questions: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for name, one in asked.items():
        fields: dict[str, Any] = {key: one[key] for key in ("stack", "commits", "paths") if key in one}
        questions.append({"id": name, "question": f"{name}?", **fields})
        retrieved = [{"id": node, "commit": sha} for node, sha in one["retrieved"]]
        walk = []
        if "step" in one:
            source, target = one["step"]
            walk = [{"source": "x:a", "target": "y:b", "source_commit": source, "target_commit": target}]
        answers.append({"run": "r", "question_id": name, "retrieved": retrieved, "traversal": walk})
    artifacts = [{"id": "x:art.py", "commit": "v1"}, {"id": "y:art.py", "commit": FOUR}, {"id": "x:bare.py"}]
    other = [{"id": "x:art.py", "commit": ONE}, {"id": "y:art.py", "commit": FIVE}]
    commits: list[dict[str, Any]] = [
        {"repo": "x", "sha": ONE, "tag": "v1", "branch": "main", "committed_at": at},
        {"repo": "x", "sha": TWO, "tags": ["v2", "latest"]},
        {"repo": "y", "sha": FOUR, "branch": "main", "committed_at": at},
    ]
    prod = {"id": "prod", "environment": "prod", "commits": {"x": "v2", "y": "def4"}}
    return tiny(
        folder,
        questions,
        answers,
        commits=commits,
        compatibility=[prod],
        artifacts=artifacts,
        **{"artifacts-other": other},
    )


def test_engines_agree_on_what_names_of_commits_mean(store: Store, tmp_path: Path) -> None:
    """Tags, beginnings of shas, and commits of artifacts are the same commits from the files, over and in the graph."""
    run = named_commits(tmp_path / "named")
    nothing, none = "nothing retrieved or traversed carries a commit (not logged)", "nothing was retrieved"
    expected: dict[str, tuple[float | str, ...]] = {
        # Coherence, Incoherent, OffPin. TWO and FOUR are the deployment prod.
        "tags": (1.0, 0.0, 0.0),
        "ambiguous": (0.0, 1.0, 1.0),
        "artifact": (1.0, 0.0, 0.0),  # ONE and FOUR, which no deployment holds, are what the question pins
        "two-graphs": (0.0, PARTLY_VERSIONED, PARTLY_VERSIONED),  # they disagree about y:art.py: TWO alone is known
        "its-graph": (1.0, 0.0, 0.0),  # FIVE, which only the question knows
        "pin": (1.0, 0.0, 0.0),
        "walk": (none, 0.0, 0.0),
        "nothing": ("no retrieved chunk carries a commit (not logged)", nothing, nothing),
        "fresh": (none, *["nothing was retrieved or traversed"] * 2),
    }
    chosen = ["Coherence", "Incoherent", "OffPin"]
    stale = f"x:art.py is known at {ONE}, not at the annotated commit {TWO}"
    ways: tuple[dict[str, Any], ...] = ({}, {"store": store}, {"store": store, "engine": "cypher"})
    for given in ways:
        result = graphkit.evaluate(run, measures=chosen, **given)
        found = values(result)
        assert {name: found[name] for name in expected} == expected, given
        assert [*result.invalid] == ["stale"]
        assert stale in result.invalid["stale"]
        # x:art.py; y:art.py where the stack's graph is asked; not y:art.py of both graphs, nor x:bare.py.
        assert result.without_commit == (4, 2)
        assert result.borrowed_commits() == (
            "2 of 4 chunks without a commit take that of their artifact in the dataset's graph"
        )
    unknown = graphkit.failures(store, "r", "unknown-commits")
    assert [(row["question"], row["repo"], row["commit"], row["reason"]) for row in unknown] == [
        ("ambiguous", "x", "abc1", "ambiguous prefix: 2 commits"),
        ("its-graph", "y", FIVE, None),
        ("pin", "x", "abc5", None),
        ("two-graphs", "y", None, None),
    ]
    pairs = graphkit.failures(store, "r", "incoherent-pairs")
    assert [(row["question"], row["rule"]) for row in pairs] == [
        ("ambiguous", "unknown commit"),
        ("two-graphs", "unknown commit"),
    ]


def test_what_names_of_commits_mean_follows_the_dataset(store: Store, tmp_path: Path) -> None:
    """A tag that moves to another commit, or is gone, is what the dataset says now, in a run that was loaded before."""
    run = named_commits(tmp_path / "named")
    graphkit.evaluate(run, measures=["OffPin"], store=store)
    commits = read_jsonl(tmp_path / "named" / "commits.jsonl")
    ways: tuple[dict[str, Any], ...] = ({}, {"store": store}, {"store": store, "engine": "cypher"})
    for tags, expected in ((["v3"], 1.0), (["v2"], 0.0)):
        commits[1]["tags"] = tags
        write_jsonl(tmp_path / "named" / "commits.jsonl", commits)
        # The pin of the stack is v2, too: without a tag both are that name. The walk at `latest` is no longer TWO.
        for given in ways:
            found = values(graphkit.evaluate(run, measures=["OffPin"], **given))
            assert found["tags"] == (0.0,)
            assert found["its-graph"] == (expected,)  # TWO, pinned as v2
            assert found["walk"] == (1.0,)


# Without a database ------------------------------------------------------------------------------------------------


def test_networkx_graphs_score_as_the_records_do(runs: list[Run]) -> None:
    """gold_graph and walked_graph hold all that a measure of edges, paths or repositories needs, but the commits of
    gold paths over two versions.
    """
    chosen = [one for one in MEASURED if type(one).__module__.rpartition(".")[2] in {"edges", "paths"}]
    assert len(chosen) == 30
    unequal = []
    for run in runs:
        for case in run.cases():
            if case.answer is None or case.answer.error is not None or not case.walk_logged:
                continue  # a graph always says what was walked
            if any(path.commits for path in case.question.paths):
                continue
            gold, walked = graphkit.gold_graph(case.question), graphkit.walked_graph(case.answer)
            for measure in chosen:
                one, two = measure.score(case), graphkit.score_graphs(measure, gold, walked)
                if one != two:
                    unequal.append((case.question.id, str(measure), one, two))
    assert unequal == []


def test_the_default_cut_off_is_named() -> None:
    """A measure that names no k is computed, and called, with the default."""
    assert str(resolve_measures(["nDCG"])[0]) == f"nDCG@{DEFAULT_K}"
    assert parse_measure("nDCG") != resolve_measures(["nDCG"])[0]
