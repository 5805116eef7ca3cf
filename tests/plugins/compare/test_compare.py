"""``graphkit compare``, ``summarize`` and the layers of ``evaluate``, as processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers import ROOT
from tests.helpers.cli import ANSWERS, QUESTIONS, Done, Graph, Row, inside, tiny, write_lines
from tests.helpers.cli import inside as graphkit
from tests.helpers.grading import ASKED, GIVEN, to_grade

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
    # BM25 walks nothing: every question that the other run walks at all is a win. Two of 35 failed there.
    assert (measure["first"], measure["losses"], measure["questions"]) == (0.0, 0, 33)
    assert measure["low"] < measure["delta"] < measure["high"]
    assert found["left_out"] == {"EdgeRecall": 2}
    assert all(mover["found"] and not mover["lost"] for mover in found["movers"])
    assert found["regressions"] == []


def test_compare_tells_what_is_left_out(shop: Graph) -> None:
    """Questions that only one run was scored on are named loudly, on standard error, with how they count."""
    done = graphkit(
        "compare", "--full", FIRST, SECOND, "-m", "EdgeRecall", "--by", "difficulty", cwd=ROOT, env=shop.env, code=0
    )
    counts = "each counts as the worst value of its measure, if that has one and the other run was scored"
    assert f"warning: {SECOND} failed on 2 of 39 questions: {counts}\n" in done.err
    assert f"{SECOND} minus {FIRST}, a failed question counting as the worst value" in done.out
    asked = ("compare", "--full", FIRST, SECOND, "-m", "EdgeRecall", "--failed-as", "unscored")
    reported = graphkit(*asked, cwd=ROOT, env=shop.env, code=0).err
    assert "note: EdgeRecall: 2 questions were scored in one run only, and are not compared\n" in reported
    for group in ("easy", "medium", "hard"):
        assert f"{SECOND} minus {FIRST}, {group}" in done.out


def test_regression_gate(shop: Graph) -> None:
    """Going back to the run that walks nothing is a significant regression: exit code 1."""
    arguments = ("compare", SECOND, FIRST, "-m", "EdgeRecall", "--fail-on-regression")
    done = graphkit(*arguments, cwd=ROOT, env=shop.env, code=1)
    # The graph run failed on two of 35 questions with gold, which aren't compared.
    assert "EdgeRecall -0.4633 (corrected p 0.0001), significantly worse than storefront-graph" in done.err
    assert "storefront-graph lacks 2 questions, not compared: " in done.out
    # The other way round nothing is worse: two failures more are no significant difference, and may be a limit.
    arguments = ("compare", FIRST, SECOND, "-m", "EdgeRecall", "--fail-on-regression")
    graphkit(*arguments, cwd=ROOT, env=shop.env, code=0)
    done = graphkit(*arguments, "--max-failed", "1", cwd=ROOT, env=shop.env, code=1)
    assert "gate failed: storefront-graph: 2 questions failed or missing, 1 allowed; ask again" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((FIRST, FIRST), "is compared with itself"),
        ((FIRST, "storefront-grph"), "Did you mean storefront-graph?"),
        ((FIRST, SECOND, "--by", "mood"), "'mood' is not one of 'category', 'difficulty', 'group', 'split', 'session'"),
        ((FIRST, SECOND, "-m", "EdgeRecal"), "Did you mean EdgeRecall?"),
        ((FIRST, SECOND, "-m", "AnswerContainment"), "has no scores by AnswerContainment@5"),
    ],
)
def test_compare_refuses_in_words(shop: Graph, arguments: tuple[str, ...], message: str) -> None:
    """Runs that can't be compared give an error with its remedy, and exit code 2."""
    assert message in graphkit("compare", *arguments, cwd=ROOT, env=shop.env, code=2).err


def test_compare_refuses_runs_of_different_datasets(shop: Graph, tmp_path: Path) -> None:
    """Runs over different questions have nothing to compare."""
    run = tiny(tmp_path / "other")
    done = graphkit("compare", FIRST, run, cwd=tmp_path, env=shop.env, code=2)
    assert "answer different questions" in done.err


def test_accuracy_in_points(shop: Graph) -> None:
    """A binary measure shows its accuracy and reading, in the table's text and in JSON; another one doesn't."""
    arguments = ("compare", "--full", FIRST, SECOND, "-m", "Success@5", "-m", "nDCG@10")
    done = graphkit(*arguments, cwd=ROOT, env=shop.env, code=0)
    success, ndcg = graphkit(*arguments, "--json", cwd=ROOT, env=shop.env, code=0).object()["groups"][0]["measures"]
    # Counted in the logs: of the 33 questions scored in both, 25 and 27 have a relevant id in the top five.
    accuracy = success["accuracy"]
    assert (accuracy["first"], accuracy["second"], accuracy["points"]) == (25 / 33, 27 / 33, pytest.approx(200 / 33))
    # Two questions of 33 are no more than chance: the interval is that of the 0/1 values, in points.
    assert (accuracy["low"], accuracy["high"]) == (100 * success["low"], 100 * success["high"])
    assert accuracy["low"] < 0 < accuracy["high"]
    assert accuracy["reading"] == "neutral: the interval holds 0"
    # In words it is that of all 35, of which the graph run failed on two; the other hits on one of these: 26 and 27.
    assert "Success@5: accuracy 74.3% to 77.1%, +2.9 points [" in done.out
    # Six of the 33 differ, so the interval isn't marked; that of nDCG@10 is, where failures count.
    assert (success["wins"], success["losses"], success["caution"]) == (4, 2, None)
    assert "] *" in done.out
    assert "* may be too narrow: " in done.out
    assert ndcg["accuracy"] is None
    assert "nDCG@10: accuracy" not in done.out


def test_what_is_not_compared_is_said_first(any_graph: Graph, tmp_path: Path) -> None:
    """Missing and failed records, a dataset that changed after its load, and an old run are reported first."""
    first = tiny(tmp_path)
    third = {**QUESTIONS[1], "id": "q3"}
    write_lines(tmp_path / "questions.jsonl", [*QUESTIONS, third])
    failed = {"run": "s", "question_id": "q3", "error": "broken"}
    second = write_lines(tmp_path / "runs" / "s.jsonl", [{**ANSWERS[0], "run": "s"}, failed])
    done = graphkit("compare", first, second, "-m", "EdgeRecall", "--json", cwd=tmp_path, env=any_graph.env, code=0)
    counts = "each counts as the worst value of its measure, if that has one and the other run was scored\n"
    assert f"warning: s has no record for 1 of 3 questions and failed on 1: {counts}" in done.err
    assert "scored in one run only" not in done.err  # of q2 s has no record: it is counted
    assert "note: EdgeRecall: 1 question was scored in neither run, and is not compared\n" in done.err
    assert done.object()["left_out"] == {"EdgeRecall": 1}
    assert len(done.object()["warnings"]) == 1
    assert done.object()["incomplete"] == [{"question": "q3", "reason": "the run has no record for this question"}]
    graphkit("evaluate", first, second, "-m", "EdgeRecall", "--json", cwd=tmp_path, env=any_graph.env, code=0)
    # Of q1 both walk one of two edges. Its gold is changed on the disk, not in the graph: that is reported.
    write_lines(tmp_path / "questions.jsonl", [{**QUESTIONS[0], "paths": QUESTIONS[1]["paths"]}, QUESTIONS[1], third])
    done = graphkit("compare", "r", "s", "-m", "EdgeRecall", "--json", cwd=tmp_path, env=any_graph.env, code=0)
    assert f"warning: {tmp_path} has changed since it was loaded" in done.err
    assert done.object()["groups"][0]["measures"][0]["first"] == 0.5
    # Loaded anew, both runs are scored by the new gold, which neither walks.
    graphkit("load", tmp_path, cwd=tmp_path, env=any_graph.env, code=0)
    done = graphkit("compare", "r", "s", "-m", "EdgeRecall", "--json", cwd=tmp_path, env=any_graph.env, code=0)
    assert "has changed" not in done.err
    measure = done.object()["groups"][0]["measures"][0]
    assert (measure["first"], measure["second"]) == (0.0, 0.0)


def test_equal_ratios_of_other_counts_are_ties(any_graph: Graph, tmp_path: Path) -> None:
    """EdgeF1 of 1/3 in both runs on all of 20 questions is 20 ties, though one walks one gold edge, the other two."""
    gold = [[f"f:{number}", "CALLS", f"g:{number}"] for number in range(5)]
    astray = [[f"f:{number}", "USES", f"g:{number}"] for number in range(5)]
    questions = [{"id": f"tie-{number}", "question": "?", "paths": [gold]} for number in range(20)]
    # One right edge of one: 2 * 1 / (5 + 1). Two right edges of seven: 2 * 2 / (5 + 7).
    for run, walked in (("one", gold[:1]), ("two", gold[:2] + astray)):
        answers = [{"run": run, "question_id": one["id"], "traversal": walked} for one in questions]
        write_lines(tmp_path / "runs" / f"{run}.jsonl", answers)
    write_lines(tmp_path / "questions.jsonl", questions)
    runs = [tmp_path / "runs" / f"{run}.jsonl" for run in ("one", "two")]
    options = ("-m", "EdgeF1", "-m", "Coherence", "--json", "--fail-on-regression")
    for pair in (runs, runs[::-1]):
        done = graphkit("compare", *pair, *options, cwd=tmp_path, env=any_graph.env, code=0)
        [result] = done.object()["groups"][0]["measures"]
        assert (result["wins"], result["losses"], result["ties"]) == (0, 0, 20)
        assert (result["first"], result["second"], result["delta"]) == (1 / 3, 1 / 3, 0.0)
        assert (result["p_value"], result["effect"]) == (1.0, None)
        # Of 20 ties, a share of 1 - .025^(1/20) = .1684 of all questions may differ, by 1 at most.
        assert (result["low"], result["high"]) == pytest.approx((-0.1684, 0.1684), abs=1e-4)
        assert done.object()["movers"] == []
        # Nothing is known of commits: that is reported with its count.
        assert "note: Coherence: 20 questions were scored in neither run, and are not compared\n" in done.err
        assert (done.object()["questions"], done.object()["unscored"]) == (20, {"Coherence": 20})


def test_groups_failures_and_shared_edges(any_graph: Graph, tmp_path: Path) -> None:
    """Questions without paths are a group, a failure alone is reported alone, and an edge of two paths moves once."""
    shared = ["a:m#x", "CALLS", "b:n#y"]
    questions: list[Row] = [
        {
            "id": "two-paths",
            "question": "?",
            "paths": [[shared, ["b:n#y", "USES", "b:n#z"]], [shared, ["b:n#y", "USES", "b:n#w"]]],
            "relevant": ["a:m#x"],
        },
        {"id": "no-path", "question": "?", "relevant": ["a:m#x"]},
        {"id": "broken", "question": "?", "relevant": ["a:m#x"]},
    ]
    write_lines(tmp_path / "questions.jsonl", questions)
    for run, walked in (("still", []), ("walks", [shared])):
        answers: list[Row] = [
            {"run": run, "question_id": "two-paths", "retrieved": ["a:m#x"], "traversal": walked},
            {"run": run, "question_id": "no-path", "retrieved": ["a:m#x"], "traversal": []},
            {"run": run, "question_id": "broken", "error": "broken"},
        ]
        write_lines(tmp_path / "runs" / f"{run}.jsonl", answers)
    runs = [tmp_path / "runs" / f"{run}.jsonl" for run in ("still", "walks")]
    for by, groups in (("repo", ["(none)", "a", "b"]), ("relation", ["(none)", "CALLS", "USES"])):
        options = ("-m", "EdgeRecall", "-m", "RR", "--by", by, "--json")
        done = graphkit("compare", *runs, *options, cwd=tmp_path, env=any_graph.env, code=0)
        assert [group["name"] for group in done.object()["groups"]] == [None, *groups]
        assert [mover["found"] for mover in done.object()["movers"]] == [["a:m#x -CALLS-> b:n#y"]]
        assert "warning: walks failed on 1 of 3 questions: each counts as the worst value" in done.err


def test_compare_scores(tmp_path: Path) -> None:
    """Scores of 0 to 10 are compared without a database, on the questions scored in both runs."""
    rows = [
        {"run": run, "question": f"q{number}", "score": score}
        for run, scores in (("training", (3, 6, 7, None)), ("pack", (9, 7, 7, 10)))
        for number, score in enumerate(scores)
    ]
    graded = write_lines(tmp_path / "graded.jsonl", rows)
    done = graphkit("compare", "--full", "training", "pack", "--scores", graded, cwd=tmp_path, code=0)
    # Of three questions 1 and 3 are at least 7; three are too few to be sure.
    assert "score: accuracy 33.3% to 100.0%, +66.7 points [" in done.out
    assert "]: neutral: the interval holds 0\n" in done.out
    assert "note: score: 1 question was scored in one run only, and is not compared\n" in done.err
    assert "q0: 3.0000 to 9.0000 (+6.0000)" in done.out
    assert not (tmp_path / ".graphkit").exists()


def scored(folder: Path, gold: dict[str, tuple[str | None, str | None]]) -> Path:
    """Write scores of the runs a and b, each 0 and 1, by the gold that the pair of a question names."""
    rows = [
        {"run": run, "question": name, "score": number, "gold_hash": both[number]}
        for name, both in gold.items()
        for number, run in enumerate(("a", "b"))
    ]
    return write_lines(folder / "scores.jsonl", rows)


def test_different_gold_is_not_compared_in_silence(tmp_path: Path) -> None:
    """A question whose gold differs is left out and reported, refused if strict, and alone nothing can be compared."""
    file = scored(tmp_path, {"q1": ("1", "1"), "q2": ("2", "2"), "q3": ("3", "x")})
    done = inside("compare", "a", "b", "--scores", file, "--json", cwd=tmp_path, code=0)
    reported = "a and b were scored by different gold of 1 question, such as 'q3'"
    assert done.err == f"warning: {reported}: it is not compared there\n"
    found = done.object()
    assert (found["different_gold"], found["groups"][0]["measures"][0]["questions"]) == (["q3"], 2)
    refused = inside("compare", "a", "b", "--scores", file, "--strict", cwd=tmp_path, code=2).err
    assert f"{reported}, which strict reading refuses" in refused
    file = scored(tmp_path, {"q1": ("1", "x"), "q2": ("2", "x")})
    refused = inside("compare", "a", "b", "--scores", file, cwd=tmp_path, code=2).err
    assert "different gold of 2 questions, such as 'q1', which leaves nothing to compare" in refused


def test_gold_that_is_not_reported_is_a_word_only_where_one_side_tells_it(tmp_path: Path) -> None:
    """Scores of others tell no gold, and nothing is said of it; beside scores that do, it is."""
    file = scored(tmp_path, {"q1": (None, None), "q2": (None, None)})
    assert inside("compare", "a", "b", "--scores", file, "--strict", cwd=tmp_path, code=0).err == ""
    file = scored(tmp_path, {"q1": ("1", None), "q2": ("2", "2"), "q3": (None, None)})
    done = inside("compare", "a", "b", "--scores", file, "--json", cwd=tmp_path, code=0)
    assert done.err == "warning: the gold that b was scored by is unknown for 1 question: it may differ\n"
    assert done.object()["groups"][0]["measures"][0]["questions"] == 3


def test_summarize_tells_different_gold(tmp_path: Path) -> None:
    """Runs that were scored by different gold are summed up beside each other with a note, and refused if strict."""
    file = scored(tmp_path, {"q1": ("1", "1"), "q2": ("2", "x")})
    done = inside("summarize", file, "--json", cwd=tmp_path, code=0)
    assert "note: runs were scored by different gold (1 record, the first: scores of q2: a, b)" in done.err
    first, second = done.objects()
    assert (first["different_gold"], second["different_gold"]) == (1, 1)
    assert first["gold_hash"] != second["gold_hash"]
    refused = inside("summarize", file, "--strict", cwd=tmp_path, code=2).err
    assert "runs were scored by different gold of 1 question, such as 'q2', which strict reading refuses" in refused
    file = scored(tmp_path, {"q1": (None, None), "q2": ("2", None)})
    done = inside("summarize", file, "--strict", "--json", cwd=tmp_path, code=0)
    assert (done.err, [one["gold_hash"] for one in done.objects()]) == ("", [None, None])


def test_grades_of_former_gold(any_graph: Graph, tmp_path: Path) -> None:
    """Gold that was corrected between two gradings is reported: what judges said by the former isn't compared.

    Of q1 the gold is changed after the run r was graded, and before the run s is. Measures of graphkit's own are
    computed by the gold that the graph holds now, for both.
    """
    run = to_grade(tmp_path)
    other = write_lines(run.with_name("s.jsonl"), [{**one, "run": "s"} for one in GIVEN])

    def graphkit(*arguments: object, code: int = 0) -> Done:
        return inside(*arguments, cwd=tmp_path, env=any_graph.env, code=code)

    before = graphkit("evaluate", run, "--json", "-m", "EdgeRecall").object()["gold_hash"]
    graphkit("grade", run)
    corrected = [{**ASKED[0], "gold_answer": "Orders and Shop call Billing."}, *ASKED[1:]]
    write_lines(run.parent.parent / "questions.jsonl", corrected)
    graphkit("grade", other)
    after = graphkit("evaluate", run, "--json", "-m", "EdgeRecall").object()["gold_hash"]
    assert before != after
    held = any_graph.store.read("MATCH (d:Dataset) RETURN d.gold_hash AS gold")
    assert held == [{"gold": after}]
    own = "MATCH (g:Grading {run: 'r', measure: 'EdgeRecall'}) RETURN g.gold_hash AS gold"
    assert any_graph.store.read(own) == [{"gold": after}]
    by_judge = "MATCH (g:Grading {measure: 'RubricGrade'}) RETURN g.run AS run, g.gold_hash AS gold ORDER BY run"
    assert any_graph.store.read(by_judge) == [{"run": "r", "gold": before}, {"run": "s", "gold": after}]
    done = graphkit("compare", "r", "s", "-m", "RubricGrade", "--json")
    assert "warning: r and s were scored by different gold of 1 question, such as 'q1'" in done.err
    assert done.object()["different_gold"] == ["q1"]
    assert done.object()["groups"][0]["measures"][0]["questions"] == 1
    assert "strict reading refuses" in graphkit("compare", "r", "s", "-m", "RubricGrade", "--strict", code=2).err
    # The scores that lie beside r are of the former gold: evaluated with them, that is said.
    beside = run.with_name("r.grades") / "lexical.scores.jsonl"
    reported = graphkit("evaluate", run, "--scores", beside, "-m", "EdgeRecall").err
    assert "warning: r: 1 question, such as 'q1', had other gold when lexical" in reported
    graphkit("report", run, "-o", "r.html")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert f"gold {after}" in page
    assert "had other gold when lexical" in page


def test_runs_of_several_datasets_are_no_comparison(tmp_path: Path) -> None:
    """Runs by different gold stand side by side with a note; by the same gold there is none."""
    first, second = tiny(tmp_path / "one"), tiny(tmp_path / "two", QUESTIONS[:1], [{**ANSWERS[0], "run": "s"}])
    third = write_lines(first.with_name("t.jsonl"), [{**one, "run": "t"} for one in ANSWERS])
    done = inside("evaluate", first, second, "--no-store", "--json", cwd=tmp_path, code=0)
    golds = [one["gold_hash"] for one in done.objects()]
    assert (
        f"note: the runs are scored by different gold, so their means can't be compared: r by {golds[0]} of one"
        in done.err
    )
    assert "different gold" not in inside("evaluate", first, third, "--no-store", cwd=tmp_path, code=0).err


def test_compare_results_of_evaluate(tmp_path: Path) -> None:
    """Results of ``evaluate --out`` are compared in the same way; those of two versions are refused."""
    run = tiny(tmp_path)
    other = write_lines(tmp_path / "runs" / "s.jsonl", [{**answer, "run": "s", "traversal": []} for answer in ANSWERS])
    out = tmp_path / "results.jsonl"
    graphkit("evaluate", run, other, "--no-store", "-m", "EdgeRecall", "--out", out, cwd=tmp_path, code=0)
    done = graphkit("compare", "r", "s", "--scores", out, "--json", cwd=tmp_path, code=0)
    assert done.object()["groups"][0]["measures"][0]["delta"] == -0.75
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    write_lines(out, [{**row, "version": "0.0.9"} if row["run"] == "s" else row for row in rows])
    done = graphkit("compare", "r", "s", "--scores", out, cwd=tmp_path, code=2)
    assert "the scores by EdgeRecall are of different versions: 0.0.9, " in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a", "a"), "is compared with itself"),
        (("a", "bb"), "Did you mean b?"),
        (("a", "b", "-m", "scor"), "Did you mean score?"),
        (("a", "b", "--by", "repo"), "scores don't say the repo of a question"),
        (("a", "b"), "no question was scored in both runs"),
    ],
)
def test_grades_that_cannot_be_compared(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    """Grades that can't be compared give an error and exit code 2."""
    rows = [{"run": "a", "question": "q1", "score": 1}, {"run": "b", "question": "q2", "score": 1}]
    graded = write_lines(tmp_path / "graded.jsonl", rows)
    assert message in inside("compare", *arguments, "--scores", graded, cwd=tmp_path, code=2).err


def test_layers_and_severe_gate(tmp_path: Path) -> None:
    """Without named measures the layers are shown, severe alerts first, and gate where that is asked for."""
    run = tiny(tmp_path)
    # EdgeRecall .75 is not severe; q1 ranks z nowhere, q2 all: Recall@20 = (1/2 + 1) / 2 = .75 is not either.
    done = graphkit("evaluate", "--full", run, "--no-store", "--fail-on-severe", cwd=tmp_path, code=0)
    assert "Layers of r" in done.out
    worse = write_lines(tmp_path / "runs" / "w.jsonl", [{**answer, "run": "w", "traversal": []} for answer in ANSWERS])
    done = graphkit("evaluate", "--full", worse, "--no-store", "--fail-on-severe", cwd=tmp_path, code=1)
    assert "SEVERE w: EdgeRecall is 0.0000" in done.out
    assert "w: EdgeRecall is 0.0000, severe" in done.err


def test_weights_come_from_a_file(tmp_path: Path) -> None:
    """A file of weights changes the layer, and a mistake in it is reported before anything is read."""
    run = tiny(tmp_path)
    config = write_lines(tmp_path / "graphkit.toml", ["[weights.retrieval]", "EdgeRecall = 1.0"])
    done = graphkit("evaluate", run, "--no-store", "--json", "--config", config, cwd=tmp_path, code=0)
    assert done.object()["scorecard"]["layers"][0]["score"] == 0.75
    write_lines(config, ["[weights.retrieval]", "EdgeRecal = 1.0"])
    done = graphkit("evaluate", run, "--no-store", "--config", config, cwd=tmp_path, code=2)
    assert "Did you mean EdgeRecall?" in done.err
    write_lines(config, ["[weights.retrieval]", "EdgeRecall = 0.5", "RR = 0.4"])
    done = graphkit("evaluate", run, "--no-store", "--config", config, cwd=tmp_path, code=2)
    assert f"{config}: " in done.err
    assert "add up to 0.9, not to 1" in done.err


def test_summarize(tmp_path: Path) -> None:
    """Files of scores are summarised, and one that was cut in the middle is reported by its line."""
    graded = write_lines(tmp_path / "graded.jsonl", [{"run": "a", "question": "q", "value": 1}, '{"run": "a", "que'])
    assert f"{graded}:2: not valid JSON" in graphkit("summarize", graded, cwd=tmp_path, code=2).err
    done = graphkit("summarize", graded, "--json", "--on-error", "skip", cwd=tmp_path, code=0)
    assert (done.object()["mean"], done.object()["accuracy"]) == (1.0, 1.0)
