"""``graphkit compare``, ``summarize`` and the layers of ``evaluate``, as processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli import ANSWERS, ROOT, Graph, graphkit, tiny, write_lines

STOREFRONT = ROOT / "fixtures" / "storefront"
FIRST, SECOND = "storefront-bm25", "storefront-graph"


@pytest.fixture(scope="module")
def shop(graph: Graph) -> Graph:
    """The graph with two runs of the storefront."""
    runs = [STOREFRONT / "runs" / f"{name}.jsonl" for name in (FIRST, SECOND)]
    graphkit("evaluate", "-m", "EdgeRecall", *runs, cwd=STOREFRONT, env=graph.env, code=0)
    return graph


def test_compare_as_json(shop: Graph) -> None:
    """Measures come with interval, p-values and counts; movers with the edges that changed."""
    done = graphkit("compare", FIRST, SECOND, "--json", "-m", "EdgeRecall", cwd=ROOT, env=shop.env, code=0)
    found = done.object()
    measure = found["groups"][0]["measures"][0]
    # BM25 walks nothing: every question that the other run walks at all is a win. Two of 30 failed there.
    assert (measure["first"], measure["losses"], measure["questions"]) == (0.0, 0, 28)
    assert measure["low"] < measure["delta"] < measure["high"]
    assert found["left_out"] == {"EdgeRecall": 2}
    assert all(mover["found"] and not mover["lost"] for mover in found["movers"])
    assert found["regressions"] == []


def test_compare_tells_what_is_left_out(shop: Graph) -> None:
    """Questions that only one run was scored on are named loudly, on standard error."""
    done = graphkit("compare", FIRST, SECOND, "-m", "EdgeRecall", "--by", "difficulty", cwd=ROOT, env=shop.env, code=0)
    assert "EdgeRecall: 2 question(s) were scored in one run only" in done.err
    for group in ("easy", "medium", "hard"):
        assert f"{SECOND} minus {FIRST}, {group}" in done.out


def test_regression_gate(shop: Graph) -> None:
    """Going back to the run that walks nothing is a significant regression: exit code 1."""
    arguments = ("compare", SECOND, FIRST, "-m", "EdgeRecall", "--fail-on-regression")
    done = graphkit(*arguments, cwd=ROOT, env=shop.env, code=1)
    assert "EdgeRecall -0.5163" in done.err
    graphkit("compare", FIRST, SECOND, "-m", "EdgeRecall", "--fail-on-regression", cwd=ROOT, env=shop.env, code=0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((FIRST, FIRST), "is compared with itself"),
        ((FIRST, "storefront-grph"), "Did you mean storefront-graph?"),
        ((FIRST, SECOND, "--by", "mood"), "--by is category, difficulty, repo, relation, not 'mood'"),
        ((FIRST, SECOND, "-m", "EdgeRecal"), "Did you mean EdgeRecall?"),
        ((FIRST, SECOND, "-m", "AnswerContainment"), "not computed in the graph"),
    ],
)
def test_compare_refuses_in_words(shop: Graph, arguments: tuple[str, ...], message: str) -> None:
    """What can't be compared is told with what to do, and exit code 2."""
    assert message in graphkit("compare", *arguments, cwd=ROOT, env=shop.env, code=2).err


def test_compare_refuses_runs_of_different_datasets(shop: Graph, tmp_path: Path) -> None:
    """Runs over different questions have nothing to compare."""
    run = tiny(tmp_path / "other")
    done = graphkit("compare", FIRST, run, cwd=tmp_path, env=shop.env, code=2)
    assert "answer different questions" in done.err


def test_layers_and_severe_gate(tmp_path: Path) -> None:
    """Without named measures the layers are shown, severe alerts first, and gate where that is asked for."""
    run = tiny(tmp_path)
    # EdgeRecall .75 is not severe; q1 ranks z nowhere, q2 all: Recall@20 = (1/2 + 1) / 2 = .75 is not either.
    done = graphkit("evaluate", run, "--no-store", "--fail-on-severe", cwd=tmp_path, code=0)
    assert "Layers of r" in done.out
    worse = write_lines(tmp_path / "runs" / "w.jsonl", [{**answer, "run": "w", "traversal": []} for answer in ANSWERS])
    done = graphkit("evaluate", worse, "--no-store", "--fail-on-severe", cwd=tmp_path, code=1)
    assert "SEVERE w: EdgeRecall is 0.0000" in done.out
    assert "w: EdgeRecall is 0.0000, severe" in done.err


def test_weights_come_from_a_file(tmp_path: Path) -> None:
    """A file of weights changes the layer, and a mistake in it is told before anything is read."""
    run = tiny(tmp_path)
    config = write_lines(tmp_path / "graphkit.toml", ["[weights.retrieval]", "EdgeRecall = 1.0"])
    done = graphkit("evaluate", run, "--no-store", "--json", "--config", config, cwd=tmp_path, code=0)
    assert done.object()["scorecard"]["layers"][0]["score"] == 0.75
    write_lines(config, ["[weights.retrieval]", "EdgeRecal = 1.0"])
    done = graphkit("evaluate", run, "--no-store", "--config", config, cwd=tmp_path, code=2)
    assert "Did you mean EdgeRecall?" in done.err


def test_summarize(tmp_path: Path) -> None:
    """Graded files are summarised, and one that was cut in the middle is told by its line."""
    graded = write_lines(tmp_path / "graded.jsonl", [{"run": "a", "question": "q", "value": 1}, '{"run": "a", "que'])
    assert f"{graded}:2: not valid JSON" in graphkit("summarize", graded, cwd=tmp_path, code=2).err
    done = graphkit("summarize", graded, "--json", "--on-error", "skip", cwd=tmp_path, code=0)
    assert (done.object()["mean"], done.object()["accuracy"]) == (1.0, 1.0)
