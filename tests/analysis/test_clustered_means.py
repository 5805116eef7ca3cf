"""Means of runs with intervals over clusters of questions, in each output of ``evaluate``."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from xml.etree import ElementTree

import numpy
import pytest
from scipy import stats

import graphkit
from graphkit.scoring.clustered_intervals import ONE_CLUSTER
from tests.helpers import ROOT
from tests.helpers.cli import Graph, inside, write_lines
from tests.helpers.clustered import FIRST, clustered_runs

SENTENCE = "clustered by repo: 7 clusters of 16 questions, the largest of 4 (d)"


def unlogged(folder: Path) -> Path:
    """Return a run whose walk isn't logged for the only questions of repositories c and f."""
    run, _ = clustered_runs(folder)
    rows = [json.loads(line) for line in run.read_text().splitlines()]
    for row in rows:
        if row["question_id"] in ("c0", "f0"):
            del row["traversal"]
    return write_lines(run, rows)


def _error(values: dict[str, list[float]]) -> float:
    """Return the jackknife error of the mean, by leaving each repository out."""
    every = numpy.concatenate([*values.values()])
    left = [
        numpy.concatenate([some for name, some in values.items() if name != repo]).mean() - every.mean()
        for repo in values
    ]
    return float(numpy.sqrt((len(left) - 1) / len(left) * (numpy.array(left) ** 2).sum()))


def test_the_interval_is_at_least_students(tmp_path: Path) -> None:
    """The mean over 16 questions has Student's interval over seven repositories, or the wider bootstrap's."""
    run, _ = clustered_runs(tmp_path)
    result = graphkit.evaluate(run, measures=["EdgeRecall"], cluster="repo")
    assert result.clustered is not None
    found = result.clustered.measures["EdgeRecall"]
    values = {repo: [*some] for repo, some in FIRST.items()}
    mean = float(numpy.mean([value for some in values.values() for value in some]))
    reach = float(stats.t.ppf(0.975, 6)) * _error(values)
    assert (found.questions, found.clusters) == (16, 7)
    assert found.mean == pytest.approx(mean)
    assert found.low is not None
    assert found.high is not None
    assert max(0.0, mean - reach) >= found.low - 1e-12
    assert mean + reach <= found.high + 1e-12
    assert found.high < 1
    assert found.caution == "the interval may be too narrow: 7 clusters, fewer than 20"
    assert SENTENCE in result._repr_html_()


def test_clusters_of_every_question(tmp_path: Path) -> None:
    """The unlogged questions count as 0 in mean, clusters and interval; with --missing-as failed they don't count."""
    run = unlogged(tmp_path)
    asked = ("evaluate", run, "--no-store", "-m", "EdgeRecall", "--cluster", "repo", "--json")
    plain = inside(*asked, "--missing-as", "failed", cwd=tmp_path, code=0).object()["clustered"]
    zero = inside(*asked, "--missing-as", "0", cwd=tmp_path, code=0).object()
    # Fourteen values add up to 5.5: those of FIRST without the 1 of c and the 0 of f.
    some, every = plain["measures"]["EdgeRecall"], zero["clustered"]["measures"]["EdgeRecall"]
    assert (some["questions"], some["clusters"], some["mean"]) == (14, 5, pytest.approx(5.5 / 14))
    assert (every["questions"], every["clusters"], every["mean"]) == (16, 7, pytest.approx(5.5 / 16))
    assert zero["with_unscored"]["EdgeRecall"] == every["mean"]
    assert inside(*asked, cwd=tmp_path, code=0).object()["clustered"]["measures"]["EdgeRecall"] == every
    values = {repo: [0.0 if repo in "cf" else value for value in some] for repo, some in FIRST.items()}
    reach = float(stats.t.ppf(0.975, 6)) * _error(values)
    assert every["high"] - every["mean"] >= reach - 1e-12
    # The clusters are those of the dataset, whatever was scored.
    assert plain["clusters"] == zero["clustered"]["clusters"] == 7


def test_every_output_says_that_it_is_clustered(tmp_path: Path) -> None:
    """The default output, the tables, JSON, Markdown and JUnit name the clusters; the runs are compared over them."""
    runs = clustered_runs(tmp_path)
    files = [tmp_path / name for name in ("r.md", "r.json", "r.xml")]
    outputs = itertools.chain(*(("-o", file) for file in files))
    asked = ("evaluate", *runs, "--no-store", "-m", "EdgeRecall", "--cluster", "repo")
    brief = inside(*asked, cwd=tmp_path, code=0).out
    assert f"cluster   {SENTENCE}" in brief
    assert "cluster   one: EdgeRecall 0.41 [" in brief
    [*_, last] = brief.splitlines()
    # Student's t has 6 degrees of freedom for 7 even clusters, and here 4.6: the interval holds 0.
    assert last.startswith("two and one don't clearly differ: EdgeRecall 0.63 to 0.41, +0.22 [")
    assert last.endswith("over 7 clusters")
    full = inside(*asked, "--full", *outputs, cwd=tmp_path, code=0).out
    assert f"one, {SENTENCE}" in full
    assert SENTENCE in files[0].read_text().replace("\\", "")
    assert [held["clustered"]["note"] for held in json.loads(files[1].read_text())["runs"]] == [SENTENCE] * 2
    properties = ElementTree.parse(files[2]).getroot().iter("property")
    assert [one.get("value") for one in properties if one.get("name") == "clustered"] == [SENTENCE] * 2


def test_the_storefront_has_no_interval() -> None:
    """All of its questions with gold are connected: the output says so, and names no interval."""
    run = "fixtures/storefront/runs/storefront-graph.jsonl"
    asked = ("evaluate", run, "--no-store", "-m", "EdgeRecall", "--cluster", "repo")
    done = inside(*asked, cwd=ROOT, code=0)
    assert "2 clusters of 39 questions, the largest of 35 (api, contracts, infra, orders, schema, web)" in done.out
    assert f"storefront-graph: EdgeRecall 0.44 no interval ({ONE_CLUSTER})" in done.out
    found = inside(*asked, "--json", cwd=ROOT, code=0).object()["clustered"]["measures"]["EdgeRecall"]
    assert (found["low"], found["high"], found["reason"]) == (None, None, ONE_CLUSTER)


def test_shards_are_clustered_alike(tmp_path: Path) -> None:
    """With a results folder the figures over clusters are the same, in the command and in the library."""
    run, _ = clustered_runs(tmp_path)
    asked = ("evaluate", run, "--no-store", "--cluster", "repo", "--json")
    alone, folder = (
        inside(*asked, *more, cwd=tmp_path, code=0).object()["clustered"] for more in ((), ("--out", "results"))
    )
    assert alone["measures"]
    assert folder == alone
    result = graphkit.evaluate(run, out=tmp_path / "other", cluster="repo")
    assert result.interval("EdgeRecall") == graphkit.evaluate(run, cluster="repo").interval("EdgeRecall")


def test_the_graph_gives_the_same_intervals(graph: Graph, tmp_path: Path) -> None:
    """With a database, and by either engine, the figures are those of the files."""
    run, _ = clustered_runs(tmp_path)
    asked = ("evaluate", run, "-m", "EdgeRecall", "--cluster", "repo", "--json")
    of_files = inside(*asked, "--no-store", cwd=tmp_path, code=0).object()["clustered"]
    for engine in ("python", "cypher"):
        found = inside(*asked, "--engine", engine, cwd=tmp_path, env=graph.env, code=0).object()
        assert found["clustered"] == of_files
