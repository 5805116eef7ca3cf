"""Scores whoever gave them: files and graph hold them alike, and layers, gates and comparisons ask nobody who did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import graphkit as package
from graphkit.errors import InputError
from graphkit.files.grades_beside import grades_folder
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores, write_scores
from graphkit.graph.score_nodes import gradings
from graphkit.plugins.judging.verdict_files import write_verdicts
from graphkit.plugins.sandbox.execution_files import write_executions
from graphkit.records.scores import Score
from tests.helpers.cli import Graph, Row, tiny, write_lines
from tests.helpers.cli import inside as graphkit
from tests.helpers.executions import execution, result
from tests.helpers.pages import Page
from tests.helpers.verdicts import claim, verdict

JUDGE: Row = {"grader": "a judge", "version": "2"}


def given(run: str = "r", value: float = 1.0, measure: str = "Groundedness", **fields: object) -> list[Row]:
    """Return a score for each question of the tiny dataset."""
    return [{"run": run, "question": name, "measure": measure, "value": value, **fields} for name in ("q1", "q2")]


def test_each_form_holds_the_same_scores(tmp_path: Path) -> None:
    """Results of evaluate as JSON Lines, CSV or Parquet are read as the same scores."""
    run = tiny(tmp_path)
    scores = write_lines(
        tmp_path / "given.jsonl",
        given(grade="-good", label="=fine", explanation="it is, I think", confidence=0.25, **JUDGE),
    )
    outs = [tmp_path / f"out.{ending}" for ending in ("jsonl", "csv", "parquet")]
    options = [word for out in outs for word in ("--out", out)]
    graphkit("evaluate", "--no-store", "-m", "EdgeRecall", "--scores", scores, *options, run, cwd=tmp_path, code=0)
    lines, table, columns = (read_scores([out], Problems()) for out in outs)
    assert len(lines) == 4
    assert {(one.question, one.measure): one.number for one in lines} == {
        ("q1", "EdgeRecall"): 0.5,
        ("q2", "EdgeRecall"): 1.0,
        ("q1", "Groundedness"): 1.0,
        ("q2", "Groundedness"): 1.0,
    }
    assert [one.given_by for one in lines][:2] == [f"graphkit {package.__version__}", "a judge 2"]
    assert (lines[1].grade, lines[1].label, lines[1].explanation) == ("-good", "=fine", "it is, I think")
    assert lines[1].confidence == 0.25
    assert ",'-good,'=fine," in outs[1].read_text()  # no formula of a spreadsheet's
    assert lines == table == columns


@pytest.mark.parametrize(
    ("text", "value", "grade"),
    [
        # Without a column for the value the grade is it, as other tools write it; beside one it is a word.
        ("run,question,grade\nr,q,3\n", 3.0, None),
        ("run,question,value,grade\nr,q,0.5,3\n", 0.5, "3"),
        ("run,question,value,grade,reason\nr,q,,wrong,refused\n", None, "wrong"),
    ],
)
def test_a_column_of_grades(tmp_path: Path, text: str, value: float | None, grade: str | None) -> None:
    """A table's column of grades holds numbers or words, as the other columns tell."""
    path = tmp_path / "s.csv"
    path.write_text(text)
    (score,) = read_scores([path], Problems())
    assert (score.number, score.grade) == (value, grade)


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ("r,q1,EdgeRecall,high", "must be a number"),
        ("r,q1,EdgeRecall,NaN", "must be a number"),
        (",q1,EdgeRecall,1", "the field 'run' is missing"),
        ("r,q1,EdgeRecall," + "[" * 100_000, "must be a number"),
        ('r,"q1,EdgeRecall,1\nr,q2,EdgeRecall,1\nr,q3,EdgeRecall,1', "can't be read as CSV"),
        ("r,q1,EdgeRecall,1,5", "more cells than there are columns"),
        ("r,q1,EdgeRecall,1\nr,q1,EdgeRecall,0", "already has a score by EdgeRecall"),
    ],
)
def test_tables_are_refused_as_lines_are(tmp_path: Path, line: str, reported: str) -> None:
    """A row that can't be used is reported with its line and what is wrong."""
    path = tmp_path / "s.csv"
    path.write_text(f"run,question,measure,value\n{line}\n")
    with pytest.raises(InputError, match=reported) as caught:
        read_scores([path], Problems())
    assert f"{path}:" in str(caught.value)


def test_a_word_alone_is_no_score(tmp_path: Path) -> None:
    """A table whose only column is a word for the value is refused, for which number it stands for isn't guessed."""
    path = tmp_path / "s.csv"
    path.write_text("run,question,grade\nr,q1,high\n")
    with pytest.raises(InputError, match="must be a number"):
        read_scores([path], Problems())


def test_layers_and_gates_take_scores_by_others(tmp_path: Path) -> None:
    """With FactualCorrectness and Groundedness for every question, generation is scored and the product is whole."""
    answers = [
        {
            "run": "r",
            "question_id": name,
            "retrieved": [{"id": node, "commit": "1"} for node in nodes],
            "traversal": [{"source": nodes[0], "relation": "CALLS", "target": nodes[1]}],
            "answer": "x calls y",
        }
        for name, nodes in (("q1", ["a:m.py#x", "a:m.py#y"]), ("q2", ["a:m.py#x", "a:m.py#w"]))
    ]
    run = tiny(tmp_path, answers=answers, commits=[{"repo": "a", "sha": "1"}])
    rows = given(value=0.5) + given(value=1.0, measure="FactualCorrectness")
    scores = write_lines(tmp_path / "given.jsonl", rows)
    command = ("evaluate", "--no-store", "--json", run, "--scores", scores)
    without = graphkit(*command[:4], cwd=tmp_path, code=0).object()["scorecard"]
    assert without["partial"]
    done = graphkit(*command, "--fail-under", "EdgeRecall=0.7", cwd=tmp_path, code=0).object()
    card = done["scorecard"]
    generation = card["layers"][2]
    # .35 of 1 and .35 of .5 over the .70 of the weights that are scored: .75.
    assert (generation["score"], generation["coverage"]) == (pytest.approx(0.75), pytest.approx(0.7))
    assert not card["partial"]
    assert [one["measure"] for one in card["alerts"] if one["measure"] == "Groundedness"] == ["Groundedness"]
    assert done["measures"]["Groundedness"]["mean"] == 0.5


def test_a_gate_holds_what_others_gave(tmp_path: Path) -> None:
    """--fail-under and --min-scored take a measure that only the file of scores has."""
    run = tiny(tmp_path)
    scores = write_lines(tmp_path / "given.jsonl", given(value=0.4)[:1])
    command = ("evaluate", "--no-store", "-m", "EdgeRecall", run, "--scores", scores)
    graphkit(*command, "--fail-under", "Groundedness=0.4", "--min-scored", "Groundedness=0.5", cwd=tmp_path, code=0)
    graphkit(*command, "--fail-under", "Groundedness=0.4", cwd=tmp_path, code=1)  # nobody judged half of them
    reported = graphkit(*command, "--fail-under", "Groundedness=0.5", "--min-scored", "0.9", cwd=tmp_path, code=1).err
    assert "Groundedness is 0.4000, under 0.5" in reported
    assert "Groundedness has a value on 1 of 2 questions that it could score (50%)" in reported
    unknown = graphkit(*command[:-2], "--fail-under", "Groundedness=0.5", cwd=tmp_path, code=2).err
    assert "--scores" in unknown


def test_the_page_shows_what_others_gave(tmp_path: Path) -> None:
    """Scores by others stand in their layer, in the distributions, and among the values of each question."""
    run = tiny(tmp_path)
    rows = given(value=0.25) + given(value=0.75, measure="a tool's own <score>")
    scores = write_lines(tmp_path / "given.jsonl", rows)
    graphkit("report", run, "--scores", scores, "--out", "page.html", cwd=tmp_path, code=0)
    page = (tmp_path / "page.html").read_text()
    summary = Page(page).json("summary")
    names = [one["name"] for one in summary["measures"]]
    assert names[-2:] == ["Groundedness", "a tool's own <score>"]
    assert summary["runs"][0]["values"][-2:] == [[0.25, 0.25], [0.75, 0.75]]
    assert summary["runs"][0]["means"][-2:] == [0.25, 0.75]
    assert "a tool&#39;s own &lt;score&gt;" in page.partition("<dialog")[0]
    # Its target is 0.9, and less than 0.8 is severe.
    assert "0.25, 95% interval 0.00 to 0.99, target above 0.9: severe; 2/2" in page.partition("Board")[2]


def test_scores_that_cannot_be_added(tmp_path: Path) -> None:
    """Scores by a computed measure or of an unknown question are refused; another run's scores are reported."""
    run = tiny(tmp_path)
    twice = write_lines(tmp_path / "twice.jsonl", given(measure="EdgeRecall"))
    stranger = write_lines(tmp_path / "stranger.jsonl", [{**given()[0], "question": "q9"}])
    other = write_lines(tmp_path / "other.jsonl", given(run="another"))
    command = ("evaluate", "--no-store", "-m", "EdgeRecall", run, "--scores")
    assert "EdgeRecall is computed, and given by" in graphkit(*command, twice, cwd=tmp_path, code=2).err
    assert "'q9'" in graphkit(*command, stranger, cwd=tmp_path, code=2).err
    assert "the scores of other runs aren't used: another" in graphkit(*command, other, cwd=tmp_path, code=0).err


def two_runs(folder: Path) -> tuple[Path, Path]:
    """Write the tiny dataset with two runs of the same answers."""
    first = tiny(folder)
    lines = [json.loads(line) for line in first.read_text().splitlines()]
    return first, write_lines(folder / "runs" / "s.jsonl", [{**line, "run": "s"} for line in lines])


def folder_of_grades(tmp_path: Path, graph: Graph) -> Path:
    """Evaluate the tiny run in a graph, and return the empty folder of its grades."""
    run = tiny(tmp_path)
    graphkit("evaluate", "-m", "EdgeRecall", run, cwd=tmp_path, env=graph.env, code=0)
    folder = grades_folder(run)
    folder.mkdir()
    return folder


def load_twice(graph: Graph, folder: Path, kind: str) -> list[Path]:
    """Load two scores and two records of a kind from a folder, twice with the same result; return the files."""
    files = sorted(folder.iterdir())
    for _ in range(2):
        done = graphkit("load-scores", *files, "--json", cwd=folder, env=graph.env, code=0)
        assert done.object() == {"scores": {"r": 2}, f"{kind}s": {"r": 2}}
    printed = graphkit("load-scores", *files, cwd=folder, env=graph.env, code=0).out
    assert printed.splitlines() == ["r: 2 scores loaded", f"r: 2 {kind}s loaded"]
    return files


def test_scores_are_kept_beside_the_answers(tmp_path: Path, any_graph: Graph) -> None:
    """load-scores puts them into the graph with who gave them, once however often it is run, and compare reads them."""
    first, second = two_runs(tmp_path)
    graphkit("evaluate", "-m", "EdgeRecall", first, second, cwd=tmp_path, env=any_graph.env, code=0)
    scores = write_lines(tmp_path / "g.jsonl", given(value=0, **JUDGE) + given(run="s", value=1, **JUDGE))
    for _ in range(2):
        done = graphkit("load-scores", scores, "--json", cwd=tmp_path, env=any_graph.env, code=0)
        assert done.object() == {"r": 2, "s": 2}
    held = gradings(any_graph.store, "r")
    assert {name: (one.given_by, one.complete) for name, one in held.items()} == {
        "EdgeRecall": (f"graphkit {package.__version__}", True),
        "Groundedness": ("a judge 2", True),
    }
    worded = write_lines(tmp_path / "w.jsonl", given(measure="RubricGrade", grade="wrong", confidence=0.5, **JUDGE))
    graphkit("load-scores", worded, cwd=tmp_path, env=any_graph.env, code=0)
    words = "MATCH (s:Score {measure: 'RubricGrade'}) RETURN DISTINCT s.grade AS grade, s.confidence AS confidence"
    assert any_graph.store.read(words) == [{"grade": "wrong", "confidence": 0.5}]
    beside = "MATCH (a:Answer)-[:SCORED]->(s:Score {measure: 'Groundedness'}) RETURN a.run AS run, sum(s.value) AS sum"
    assert {row["run"]: row["sum"] for row in any_graph.store.read(beside)} == {"r": 0.0, "s": 2.0}
    compared = graphkit("compare", "r", "s", "-m", "Groundedness", "--json", cwd=tmp_path, env=any_graph.env, code=0)
    (result,) = compared.object()["groups"][0]["measures"]
    assert (result["measure"], result["first"], result["second"], result["wins"]) == ("Groundedness", 0.0, 1.0, 2)


def test_recorded_verdicts_are_loaded(tmp_path: Path, any_graph: Graph) -> None:
    """load-scores loads the files of a grading as they lie beside the run, and failures reports them unjudged."""
    folder = folder_of_grades(tmp_path, any_graph)
    write_lines(folder / "lexical.scores.jsonl", given(grader="lexical"))
    lies = verdict("q1", claims=[claim("x calls \x1b[31mz", support="UNSUPPORTED", mismatch="no such quote")])
    write_verdicts(folder / "lexical.verdicts.jsonl", [lies, verdict("q2", failure="refused", reason="no")])
    load_twice(any_graph, folder, "verdict")
    asked = ("failures", "r", "--kind", "unsupported-claims")
    (row,) = graphkit(*asked, "--json", cwd=tmp_path, env=any_graph.env, code=0).objects()
    assert (row["question"], row["mismatch"], row["named"]) == ("q1", "no such quote", [])
    assert "\x1b" not in graphkit(*asked, cwd=tmp_path, env=any_graph.env, code=0).out
    bad = write_lines(tmp_path / "bad.verdicts.jsonl", [{"run": "r", "question": "q1"}])
    refused = graphkit("load-scores", bad, cwd=tmp_path, env=any_graph.env, code=2).err
    assert "bad.verdicts.jsonl:1: record 'q1': the field 'grader' is missing" in refused


def test_recorded_executions_are_loaded(tmp_path: Path, any_graph: Graph) -> None:
    """load-scores loads the files of an execution, reports each kind, and refuses all of them together."""
    folder = folder_of_grades(tmp_path, any_graph)
    write_lines(folder / "execution.scores.jsonl", given(measure="FactualCorrectness", grader="execution"))
    lies = execution("q1", result("adds", "test_failure", message="\x1b[31m5"), answer="")
    write_executions(folder / "execution.executions.jsonl", [lies, execution("q2", result(), answer="")])
    files = load_twice(any_graph, folder, "execution")
    write_executions(folder / "execution.executions.jsonl", [execution("q1", answer="another")])
    write_lines(folder / "execution.scores.jsonl", given(measure="Correct", grader="execution"))
    refused = graphkit("load-scores", *files, cwd=tmp_path, env=any_graph.env, code=2).err
    assert "1 execution of r is of another answer than the graph holds, such as of 'q1'" in refused
    assert list(gradings(any_graph.store, "r")) == ["EdgeRecall", "FactualCorrectness"]


def test_versions_are_not_mixed(tmp_path: Path, any_graph: Graph) -> None:
    """Two runs scored by different versions of a grader aren't compared; computed now, they are."""
    first, second = two_runs(tmp_path)
    graphkit("evaluate", "-m", "EdgeRecall", first, second, cwd=tmp_path, env=any_graph.env, code=0)
    any_graph.store.write("MATCH (g:Grading {run: 's'}) SET g.version = '0.0.1'")
    command = ("compare", "r", "s", "-m", "EdgeRecall")
    refused = graphkit(*command, cwd=tmp_path, env=any_graph.env, code=2).err
    assert f"r was scored by graphkit {package.__version__}, s by graphkit 0.0.1" in refused
    assert "graphkit evaluate" in refused
    graphkit(*command, "--engine", "cypher", cwd=tmp_path, env=any_graph.env, code=0)


def test_text_measures_are_compared_by_their_scores(tmp_path: Path, any_graph: Graph) -> None:
    """A measure that no database computes is compared where both runs were scored by it."""
    first, second = two_runs(tmp_path)
    graphkit("evaluate", "-m", "Integration", first, second, cwd=tmp_path, env=any_graph.env, code=0)
    missing = graphkit("compare", "r", "s", "-m", "Completeness", cwd=tmp_path, env=any_graph.env, code=2).err
    assert "r has no scores by Completeness" in missing


def test_load_scores_refuses_what_the_graph_does_not_hold(tmp_path: Path, any_graph: Graph) -> None:
    """A run or question that isn't there, and two versions of a grader, are refused before anything is written."""
    graphkit("evaluate", "-m", "EdgeRecall", tiny(tmp_path), cwd=tmp_path, env=any_graph.env, code=0)
    for rows, reported in (
        (given(run="nope"), "no run is called 'nope'"),
        ([{**given()[0], "question": "q9"}], "such as 'q9'"),
        ([given(**JUDGE)[0], given(grader="a judge", version="3")[1]], "are by a judge 2 and by a judge 3"),
    ):
        scores = write_lines(tmp_path / "g.jsonl", rows)
        assert reported in graphkit("load-scores", scores, cwd=tmp_path, env=any_graph.env, code=2).err
        assert list(gradings(any_graph.store, "r")) == ["EdgeRecall"]


def test_a_score_is_built_by_name() -> None:
    """The record takes the names that other tools use for the same thing."""
    read = {"run_id": "r", "question_id": "q", "metric": "m", "score": True}
    assert Score.model_validate(read) == Score(run="r", question="q", measure="m", value=True)


def test_cells_of_any_length_and_separators(tmp_path: Path) -> None:
    """A CSV cell may be longer than Python's reader takes by itself, and hold what splitlines() ends a line at."""
    explanation = "x\u2028y\x0bz" + "long " * 50_000
    score = Score(run="r", question="q", measure="m", value=1.0, explanation=explanation, label="'=1+1")
    write_scores(tmp_path / "s.csv", [score])
    assert "''=1+1" in (tmp_path / "s.csv").read_text("utf-8")
    assert read_scores([tmp_path / "s.csv"], Problems()) == [score]
