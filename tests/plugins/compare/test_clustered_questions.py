"""Comparisons whose questions aren't independent: clusters, their intervals, and sign flips of whole clusters."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy
import pytest
from scipy import stats

from graphkit.analysis.paired import compare_pairs
from graphkit.errors import InputError
from graphkit.records.ids import Places
from graphkit.records.structs import GoldPathStruct, QuestionStruct, StepStruct
from graphkit.scoring.clustered_intervals import ONE_CLUSTER, ClusterSums, clustered_interval
from graphkit.scoring.intervals import interval
from graphkit.scoring.question_clusters import QuestionClusters
from tests.helpers import ROOT
from tests.helpers.cli import Graph, inside, write_lines
from tests.helpers.clustered import FIRST, SECOND, clustered_runs

VALUES = [value for values in FIRST.values() for value in values]
OTHERS = [value for values in SECOND.values() for value in values]
CODES = [number for number, values in enumerate(FIRST.values()) for _ in values]
DIFFERENCES = numpy.array(OTHERS) - numpy.array(VALUES)

#: The sums of the differences in each repository.
SUMS = [1.0, 0.25, -0.5, 1.25, 0.25, 1.0, 0.25]


def test_sign_flips_of_clusters_are_those_of_peers() -> None:
    """The p-value is scipy's exact one of the sums, and benchmark-qed's up to the noise of its sampling."""
    result = compare_pairs("EdgeRecall", VALUES, OTHERS, clusters=CODES)
    assert ClusterSums.of(DIFFERENCES, CODES).sums == pytest.approx(SUMS)
    exact = stats.permutation_test((SUMS,), numpy.mean, permutation_type="samples", n_resamples=1_000)
    assert result.p_value == pytest.approx(exact.pvalue, abs=1e-12)
    # By hand: the sums' sizes add up to 4.5, and the observed sum is 3.5. A pattern reaches it if the flipped sizes add
    # up to at most .5: none, one of three .25, two of them, or .5: 1 + 3 + 3 + 1 = 8, and as many with the other sign.
    assert result.p_value == 16 / 128
    # benchmark-qed 0.4.0, run_clustered_permutation_test of these values with n_permutations=100_000, seed=1.
    assert abs(result.p_value - 0.12451) < 5 * math.sqrt(0.125 * 0.875 / 100_000)
    assert result.delta == pytest.approx(0.21875)
    assert (result.clusters, result.questions) == (7, 16)
    # With each question on its own the same difference looks clearer.
    assert compare_pairs("EdgeRecall", VALUES, OTHERS).p_value < result.p_value / 2


def test_the_error_of_even_clusters_is_that_of_their_means() -> None:
    """With clusters of one size the mean is that of the clusters' means, and so are its error and Student's t."""
    values = numpy.random.default_rng(3).normal(size=60)
    found = ClusterSums.of(values, [number // 5 for number in range(60)])
    means = values.reshape(12, 5).mean(1)
    assert (found.mean, found.error) == pytest.approx((means.mean(), stats.sem(means)))
    low, high = clustered_interval(values, [number // 5 for number in range(60)])
    student = stats.ttest_1samp(means, 0).confidence_interval()
    bounds = stats.bootstrap((means,), numpy.mean, n_resamples=20_000, rng=numpy.random.default_rng(8))
    noise = 0.05 * float(student.high - student.low)
    assert low == pytest.approx(min(student.low, bounds.confidence_interval.low), abs=noise)
    assert high == pytest.approx(max(student.high, bounds.confidence_interval.high), abs=noise)


def test_the_error_of_uneven_clusters_leaves_each_of_them_out() -> None:
    """By hand: of 1, 1 | 0 the mean is 2/3; without the first cluster it is 0, without the second 1."""
    # Deviations -2/3 and 1/3: (2 - 1) / 2 * (4/9 + 1/9) = 5/18.
    assert ClusterSums.of([1, 1, 0], [7, 7, 3]).error == pytest.approx(math.sqrt(5 / 18))
    found, clusters = ClusterSums.of(DIFFERENCES, CODES), numpy.array(CODES)
    left = [DIFFERENCES[clusters != code].mean() - DIFFERENCES.mean() for code in range(7)]
    assert found.error == pytest.approx(math.sqrt(6 / 7 * sum(one**2 for one in left)))


def test_clusters_of_one_question_change_nothing() -> None:
    """If each question is a cluster the figures are those without clusters."""
    values = numpy.random.default_rng(5).exponential(1.0, 40)
    assert clustered_interval(values, range(40)) == pytest.approx(interval(values), rel=1e-9)
    plain, own = (compare_pairs("RR", [0.0] * 40, list(values), clusters=codes) for codes in (None, range(40)))
    assert (own.p_value, own.low, own.detectable) == pytest.approx((plain.p_value, plain.low, plain.detectable))


def test_the_interval_covers_the_mean_of_dependent_questions() -> None:
    """Ten clusters have an effect each: the clustered interval holds the mean in 95% of samples, the other in 70%."""
    random, held = numpy.random.default_rng(17), [0, 0]
    codes = [number // 10 for number in range(100)]
    for _ in range(300):
        values = random.normal(0, 0.3, 10)[codes] + random.normal(0, 0.4, 100)
        for place, (low, high) in enumerate(
            (clustered_interval(values, codes, resamples=100), interval(values, resamples=100))
        ):
            held[place] += low is not None and high is not None and low <= 0 <= high
    # Student's t of even clusters covers 95%: five standard errors of 300 samples are 6.3%.
    assert held[0] / 300 > 0.95 - 5 * math.sqrt(0.95 * 0.05 / 300)
    assert held[1] / 300 < 0.8


def test_too_few_clusters_have_no_interval_and_say_why() -> None:
    """One cluster shows nothing; few ones, and one that holds most questions, carry a caution."""
    one = compare_pairs("RR", VALUES, OTHERS, clusters=[0] * 16)
    assert (one.low, one.high, one.detectable, one.p_value, one.reason) == (None, None, None, 1.0, ONE_CLUSTER)
    # Five clusters of equal differences say nothing of the spread, as five questions don't; six do.
    few = compare_pairs("RR", [0.0] * 10, [0.5] * 10, clusters=[number // 2 for number in range(10)])
    assert (few.low, few.reason) == (None, "too few clusters for an interval: 5 clusters")
    six = compare_pairs("RR", [0.0] * 12, [0.5] * 12, span=1.0, clusters=[number // 2 for number in range(12)])
    # Of six clusters the interval is 3 / 6 wide.
    assert (six.low, six.high) == pytest.approx((0.25, 0.75))
    assert "all clusters have equal means" in str(six.caution)
    seven = compare_pairs("RR", VALUES, OTHERS, clusters=CODES)
    assert seven.caution == "the interval may be too narrow: 7 clusters, fewer than 20"
    values = list(numpy.random.default_rng(2).normal(size=60))
    uneven = compare_pairs("RR", [0.0] * 60, values, clusters=[0] * 35 + [*range(1, 26)])
    # 60^2 / (35^2 + 25) = 2.88.
    assert uneven.caution == (
        "the interval may be too narrow: 26 clusters that tell as much as 2.9 of one size, fewer than 20"
    )
    same = compare_pairs("RR", [0.0] * 60, [0.0] * 50 + [1.0] * 10, span=1.0, clusters=[n // 2 for n in range(60)])
    assert same.caution == (
        "the interval may be too narrow: 5 of 30 clusters have another mean than most, fewer than 6"
    )


def _question(name: str, *nodes: str, **fields: object) -> QuestionStruct:
    steps = [StepStruct(source, target) for source, target in zip(nodes, nodes[1:], strict=False)]
    return QuestionStruct(name, "?", paths=[GoldPathStruct(steps=steps)] if steps else [], **fields)  # type: ignore[arg-type]


QUESTIONS = [
    _question("q1", "a:m#x", "b:m#y"),
    _question("q2", "c:m#x", "b:n#y"),
    _question("q3", "d:m#x", "d:m#y"),
    _question("q4", relevant={"c:m#z": 1, "d:m#z": 0}),
    _question("q5", "a:m#x", "b:m#z"),
    _question("q6"),
]


def test_questions_that_share_repositories_are_connected() -> None:
    """a-b, c-b and c are one cluster, d another; a relevant id of gain 0 connects nothing; q6 names none."""
    found = QuestionClusters.of_questions("repo", QUESTIONS, Places())
    assert found.of == {
        **dict.fromkeys(("q1", "q2", "q4", "q5"), "a, b, c"),
        "q3": "d",
        "q6": "(none)",
    }
    expected = (
        "clustered by repo: 3 clusters of 6 questions, the largest of 4 (a, b, c); 1 without a repo are one cluster"
    )
    assert found.sentence == expected
    sets = QuestionClusters.of_questions("repo-set", QUESTIONS, Places())
    assert [sets.of[f"q{number}"] for number in range(1, 7)] == ["a, b", "b, c", "d", "c", "a, b", "(none)"]
    assert "sets that share a repository count as independent, which they aren't" in sets.sentence
    assert sets.as_json()["sizes"]["a, b"] == 2
    apart = QuestionClusters.of_questions("repo-set", QUESTIONS[2:4], Places())
    assert not apart.overlap
    assert apart.codes(["q4", "q3", "q4"]) == [0, 1, 0]


def test_nothing_to_cluster_by_is_refused() -> None:
    """Without a repository, or a label, on any question there are no clusters."""
    with pytest.raises(InputError, match="the gold of no question names a repository"):
        QuestionClusters.of_questions("repo", [_question("q")], Places())
    with pytest.raises(InputError, match="no question has a group"):
        QuestionClusters.of_questions("group", QUESTIONS, Places())


ASKED = ("-m", "EdgeRecall", "--json", "--cluster")


def test_files_and_graph_give_the_same_clusters(graph: Graph, tmp_path: Path) -> None:
    """Two run files, and the runs in the graph, are compared over seven clusters with the figures above."""
    files = clustered_runs(tmp_path)
    inside("evaluate", *files, "-m", "EdgeRecall", cwd=tmp_path, env=graph.env, code=0)
    for by in ("repo", "repo-set", "category"):
        of_files = inside("compare", *files, *ASKED, by, cwd=tmp_path, code=0).object()
        of_graph = inside("compare", "one", "two", *ASKED, by, cwd=tmp_path, env=graph.env, code=0).object()
        for found in (of_files, of_graph):
            assert found["clusters"]["clusters"] == 7
            [measure] = found["with_failed"]
            assert (measure["p_value"], measure["clusters"], measure["delta"]) == (0.125, 7, 0.21875)
        assert of_files["with_failed"] == of_graph["with_failed"]
        assert of_files["clusters"] == of_graph["clusters"]
    two = inside("compare", "one", "two", *ASKED, "group", cwd=tmp_path, env=graph.env, code=0).object()
    assert two["clusters"]["sizes"] == {"late": 10, "early": 6}


def test_results_and_scores_have_labels_only(tmp_path: Path) -> None:
    """Results and scores are clustered by category and group, and refuse repositories."""
    files = clustered_runs(tmp_path)
    for file in files:
        out = ("--out", tmp_path / f"{file.stem}-results")
        inside("evaluate", file, "-m", "EdgeRecall", "--no-store", *out, cwd=tmp_path, code=0)
    folders = "one-results", "two-results"
    found = inside("compare", *folders, *ASKED, "category", cwd=tmp_path, code=0).object()
    assert found["with_failed"][0]["p_value"] == 0.125
    refused = inside("compare", *folders, *ASKED, "repo", cwd=tmp_path, code=2)
    assert "results don't say the repositories of a question" in refused.err
    scores = [
        {"run": run, "question": f"{repo}{number}", "measure": "Own", "value": value, "category": repo}
        for run, values in (("one", FIRST), ("two", SECOND))
        for repo, some in values.items()
        for number, value in enumerate(some)
    ]
    write_lines(tmp_path / "scores.jsonl", scores)
    given = ("compare", "one", "two", "--scores", "scores.jsonl", "--json", "--cluster")
    assert inside(*given, "category", cwd=tmp_path, code=0).object()["with_failed"][0]["p_value"] == 0.125
    assert "scores don't say the repositories" in inside(*given, "repo-set", cwd=tmp_path, code=2).err
    assert "no question has a group" in inside(*given, "group", cwd=tmp_path, code=2).err


def test_every_output_of_a_comparison_says_that_it_is_clustered(tmp_path: Path) -> None:
    """The default output, the tables, the comment and the gate name the clusters and their number."""
    files = clustered_runs(tmp_path)
    asked = ("compare", *files, "-m", "EdgeRecall", "--cluster", "repo")
    sentence = "clustered by repo: 7 clusters of 16 questions, the largest of 4 (d)"
    brief = inside(*asked, cwd=tmp_path, code=0).out
    assert f"cluster   {sentence}" in brief
    assert brief.rstrip().endswith("over 7 clusters")
    full = inside(*asked, "--full", cwd=tmp_path, code=0).out
    assert f"{sentence}." in full
    assert "* may be too narrow: less than 20 clusters of one size would tell" in full
    comment = inside(*asked, "--format", "github", cwd=tmp_path, code=0).out
    assert "7 clusters of 16 questions" in comment
    by_group = ("compare", *files, "-m", "EdgeRecall", "--cluster", "group", "--fail-on-regression")
    gated = inside(*by_group, cwd=tmp_path, code=1)
    assert "no regression can be significant on 2 clusters: it needs 6; compare more clusters" in gated.err


def test_the_storefront_is_one_cluster() -> None:
    """Shared repositories connect all that have gold: no interval and no verdict, and every output says so."""
    runs = [f"fixtures/storefront/runs/storefront-{name}.jsonl" for name in ("bm25", "graph")]
    asked = ("compare", *runs, "-m", "EdgeRecall", "--cluster", "repo")
    done = inside(*asked, cwd=ROOT, code=0)
    assert "2 clusters of 39 questions, the largest of 35 (api, contracts, infra, orders, schema, web)" in done.out
    assert f"nothing shows whether storefront-graph and storefront-bm25 differ ({ONE_CLUSTER})" in done.out
    [measure] = json.loads(inside(*asked, "--json", cwd=ROOT, code=0).out)["with_failed"]
    assert (measure["low"], measure["high"], measure["reason"]) == (None, None, ONE_CLUSTER)


def test_sessions_are_clusters(tmp_path: Path) -> None:
    """By hand: of s, s, t and a question by itself the clusters are 3, the largest of 2; results don't say sessions."""
    sessions = {"a": "s", "b": "s", "c": "t", "d": None}
    questions = [QuestionStruct(name, "?", session=session) for name, session in sessions.items()]
    found = QuestionClusters.of_questions("session", questions, Places())
    assert found.codes(["a", "b", "c", "d"]) == [0, 0, 1, 2]
    assert found.sentence == "clustered by session: 3 clusters of 4 questions, the largest of 2 (s)"
    with pytest.raises(InputError, match="--cluster session: no question has a session"):
        QuestionClusters.of_questions("session", questions[3:], Places())
    asked = [
        {"id": name, "question": "?", "relevant": ["x"], **({"session": one} if one else {})}
        for name, one in sessions.items()
    ]
    write_lines(tmp_path / "questions.jsonl", asked)
    for run in ("one", "two"):
        write_lines(
            tmp_path / "runs" / f"{run}.jsonl",
            [{"run": run, "question_id": name, "retrieved": ["x"]} for name in sessions],
        )
    out = inside(
        "evaluate", "runs/one.jsonl", "--no-store", "--cluster", "session", "-m", "RR", "-o", "one.json", cwd=tmp_path
    )
    assert "3 clusters of 4 questions" in out.out + out.err
    out = inside("compare", "runs/one.jsonl", "runs/two.jsonl", "--cluster", "session", "-m", "RR", cwd=tmp_path)
    assert "3 clusters of 4 questions" in out.out + out.err
    for run in ("one", "two"):
        inside("evaluate", f"runs/{run}.jsonl", "--no-store", "-m", "RR", "-o", f"{run}-results", cwd=tmp_path)
    refused = inside("compare", "one-results", "two-results", "--cluster", "session", cwd=tmp_path, code=2)
    assert "results don't say the session of a question" in refused.err
