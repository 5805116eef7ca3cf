"""Scores by several graders: each replaces its own, and those of others only for the questions that it scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import DatabaseError, InputError
from graphkit.graph import score_nodes as grading
from graphkit.graph.queries import cypher
from graphkit.graph.score_nodes import gradings, load_scores
from graphkit.plugins.compare.compare_runs import compare_runs
from graphkit.records.scores import GRAPHKIT, Score
from tests.helpers.datasets import write_jsonl

pytestmark = pytest.mark.newest

QUESTIONS = ("q1", "q2", "q3", "q4")
MEASURE = "FactualCorrectness"


def world(folder: Path, runs: str = "r") -> list[Path]:
    """Write a dataset of four questions and runs with equal answers; return the runs' files."""
    steps = [{"source": "x:a", "relation": "R", "target": "x:b"}]
    write_jsonl(
        folder / "questions.jsonl", [{"id": name, "question": "?", "paths": [{"steps": steps}]} for name in QUESTIONS]
    )
    return [
        write_jsonl(
            folder / "runs" / f"{run}.jsonl",
            [{"run": run, "question_id": name, "answer": "x", "traversal": steps} for name in QUESTIONS],
        )
        for run in runs
    ]


def given(by: str | None, *questions: str, value: float = 1.0, measure: str = MEASURE, **fields: Any) -> list[Score]:
    """Return the scores of a grader, such as ``judge 2``, for some questions."""
    grader, _, version = (by or "").partition(" ")
    named = {"run": "r", "measure": measure, "grader": grader or None, "version": version or None, **fields}
    return [Score.model_validate({**named, "question": name, "value": value}) for name in questions]


def held(store: Store, measure: str = MEASURE) -> dict[str, str]:
    """Return the grader of each question's score; fail if there are two."""
    rows = store.read(
        "MATCH (s:Score {run: 'r', measure: $measure}) RETURN s.question AS question, s.grader AS grader",
        {"measure": measure},
    )
    found = {str(row["question"]): str(row["grader"]) for row in rows}
    assert len(found) == len(rows)
    return found


def named(store: Store) -> dict[str, tuple[str, bool]]:
    """Return the grader of each measure of the run, and whether all scores are there."""
    return {name: (one.given_by, one.complete) for name, one in gradings(store, "r").items()}


def test_several_graders_give_one_measure(empty_store: Store, tmp_path: Path) -> None:
    """Replacing a grader's scores keeps those of others on other questions; both are one grading of the measure."""
    [file] = world(tmp_path)
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    load_scores(empty_store, given("judge 2", "q1", "q2", "q3") + given("judge 2", "q4", measure="Correct"))
    load_scores(empty_store, given("execution 1", "q4", value=0.5))
    assert held(empty_store) == {"q1": "judge", "q2": "judge", "q3": "judge", "q4": "execution"}
    both = "execution 1 and judge 2"
    assert named(empty_store) == {
        "Correct": ("judge 2", True),
        "EdgeRecall": (f"{GRAPHKIT} {graphkit.__version__}", True),
        MEASURE: (both, True),
    }
    # In another version and of fewer questions, the judge's own scores alone are replaced.
    load_scores(empty_store, given("judge 3", "q1", "q2"))
    assert held(empty_store) == {"q1": "judge", "q2": "judge", "q4": "execution"}
    assert named(empty_store)[MEASURE] == ("execution 1 and judge 3", True)
    assert held(empty_store, "Correct") == {"q4": "judge"}
    # Both at once are loaded as they are one after the other.
    load_scores(empty_store, given("judge 2", "q1", "q2", "q3") + given("execution 1", "q4"))
    assert named(empty_store)[MEASURE] == (both, True)
    assert len(held(empty_store)) == 4


def test_a_score_has_one_giver(empty_store: Store, tmp_path: Path) -> None:
    """Another grader's scores of the same questions are deleted, and its grading with the last of them."""
    [file] = world(tmp_path)
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    load_scores(empty_store, given("judge", "q1", "q2", "q3") + given(None, "q4"))
    load_scores(empty_store, given("other", "q3", "q4"))
    assert held(empty_store) == {"q1": "judge", "q2": "judge", "q3": "other", "q4": "other"}
    assert named(empty_store)[MEASURE] == ("judge and other", True)
    load_scores(empty_store, given("third 1", *QUESTIONS))
    assert set(held(empty_store).values()) == {"third"}
    assert named(empty_store)[MEASURE] == ("third 1", True)
    assert empty_store.read("MATCH (g:Grading {measure: $measure}) RETURN count(g) AS n", {"measure": MEASURE}) == [
        {"n": 1}
    ]


def test_evaluate_replaces_a_measure_as_a_whole(empty_store: Store, tmp_path: Path) -> None:
    """An evaluation replaces all scores of its measures, by any grader."""
    [file] = world(tmp_path)
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    load_scores(empty_store, given("judge", "q1", "q2", "q3") + given("execution", "q4"))
    scores = given("other", "q1") + given("execution", "q2")
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"], scores=scores)
    assert held(empty_store) == {"q1": "other", "q2": "execution"}
    assert named(empty_store)[MEASURE] == ("execution and other", True)
    assert set(held(empty_store, "EdgeRecall").values()) == {GRAPHKIT}


@pytest.mark.parametrize(
    ("scores", "reported"),
    [
        (given("judge 1", "q1") + given("judge 2", "q2"), "are by judge 1 and by judge 2"),
        (given("judge 1", "q1") + given("other", "q1"), "of 'q1' are by judge 1 and by other"),
        (given("judge 1", "q1") + given("judge 1", "q1"), "of 'q1' are by judge 1 and by judge 1"),
    ],
)
def test_what_has_two_meanings_is_refused(
    empty_store: Store, tmp_path: Path, scores: list[Score], reported: str
) -> None:
    """A grader has one version, and a question one score by a measure."""
    [file] = world(tmp_path)
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    with pytest.raises(InputError, match=reported):
        load_scores(empty_store, scores)
    assert list(named(empty_store)) == ["EdgeRecall"]


def test_runs_by_the_same_graders_are_compared(empty_store: Store, tmp_path: Path) -> None:
    """Two runs with scores of the same graders are compared, and refused if a grader's versions differ.

    r has 1 on q1 and q2 and 0.5 on q3: a mean of 5/6; s has 1 on all three.
    """
    for file in world(tmp_path, "rs"):
        graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    first = given("judge 1", "q1", "q2") + given("execution 1", "q3", value=0.5)
    second = given("judge 1", "q1", "q2", run="s") + given("execution 1", "q3", run="s")
    load_scores(empty_store, first + second)
    [found] = compare_runs(empty_store, "r", "s", measures=[MEASURE]).groups[0].results
    assert (round(found.first, 9), found.second) == (round(5 / 6, 9), 1.0)
    load_scores(empty_store, given("execution 2", "q3", run="s"))
    with pytest.raises(InputError, match="r was scored by execution 1 and judge 1, s by execution 2 and judge 1"):
        compare_runs(empty_store, "r", "s", measures=[MEASURE])


def test_scores_of_graphkit_in_part_are_as_old_as_the_dataset(empty_store: Store, tmp_path: Path) -> None:
    """A measure with scores of graphkit from a former dataset is computed again."""
    for file in world(tmp_path, "rs"):
        graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    other = given("other", "q4", value=0.0, measure="EdgeRecall")
    load_scores(empty_store, other + given("other", "q4", value=0.0, measure="EdgeRecall", run="s"))
    both = f"{GRAPHKIT} {graphkit.__version__} and other"
    found = gradings(empty_store, "r")["EdgeRecall"]
    assert (found.given_by, found.complete, found.current) == (both, True, True)
    # 1, 1, 1 of graphkit's and 0 of the other's.
    [row] = compare_runs(empty_store, "r", "s", measures=["EdgeRecall"]).groups[0].results
    assert (row.first, row.second) == (0.75, 0.75)
    questions = tmp_path / "questions.jsonl"
    questions.write_text(questions.read_text().replace('"?"', '"Which?"'))
    graphkit.load(empty_store, tmp_path)
    assert not gradings(empty_store, "r")["EdgeRecall"].current
    [row] = compare_runs(empty_store, "r", "s", measures=["EdgeRecall"]).groups[0].results
    assert (row.first, row.second) == (1.0, 1.0)
    # What others alone gave is of the answers, which are the same.
    load_scores(empty_store, given("other", "q4"))
    questions.write_text(questions.read_text().replace('"Which?"', '"Which one?"'))
    graphkit.load(empty_store, tmp_path)
    assert gradings(empty_store, "r")[MEASURE].current


@pytest.mark.parametrize("part", ["load/clear_scores", "load/scores"])
def test_an_interrupted_load_is_seen_until_it_is_done(
    empty_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """After an interrupted load, the measure is incomplete until all scores of that grader are there.

    The judge's load dies when it has deleted scores of its own and of the other grader, or when it writes.
    """
    [file] = world(tmp_path)
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    load_scores(empty_store, given("judge 1", "q1", "q2") + given("other", "q3", "q4"))

    def dying(name: str) -> str:
        if name == part and (part == "load/scores" or len(held(empty_store)) < 4):
            raise DatabaseError("the server went away")
        return cypher(name)

    monkeypatch.setattr(grading, "cypher", dying)
    monkeypatch.setattr("graphkit.graph.writing.cypher", dying)
    with pytest.raises(DatabaseError):
        load_scores(empty_store, given("judge 2", "q1", "q2", "q3"))
    monkeypatch.undo()
    assert not gradings(empty_store, "r")[MEASURE].complete
    # The other grader's scores don't bring back what is missing.
    load_scores(empty_store, given("other", "q4"))
    assert not gradings(empty_store, "r")[MEASURE].complete
    load_scores(empty_store, given("judge 2", "q1", "q2", "q3"))
    assert named(empty_store)[MEASURE] == ("judge 2 and other", True)
    assert held(empty_store) == {"q1": "judge", "q2": "judge", "q3": "judge", "q4": "other"}


def test_scores_of_all_questions_end_what_another_load_left(
    empty_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge with an interrupted load is forgotten once another one has scored every question."""
    [file] = world(tmp_path)
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    load_scores(empty_store, given("execution", "q4"))

    def dying(name: str) -> str:
        if name == "load/scores":
            raise DatabaseError("the server went away")
        return cypher(name)

    monkeypatch.setattr(grading, "cypher", dying)
    with pytest.raises(DatabaseError):
        load_scores(empty_store, given("judge 1", "q1", "q2", "q3"))
    monkeypatch.undo()
    load_scores(empty_store, given("other", "q1", "q2"))
    assert not gradings(empty_store, "r")[MEASURE].complete
    load_scores(empty_store, given("other", "q1", "q2", "q3"))
    assert named(empty_store)[MEASURE] == ("execution and other", True)


def test_a_measure_that_a_dead_load_left_half_is_swept(
    empty_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next load of any measure removes the measures of an interrupted load."""
    [file] = world(tmp_path)
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])

    def dying(name: str) -> str:
        if name == "load/gradings_complete":
            raise DatabaseError("the server went away")
        return cypher(name)

    monkeypatch.setattr("graphkit.graph.reservations.cypher", dying)
    with pytest.raises(DatabaseError):
        load_scores(empty_store, given("judge 1", "q1") + given("judge 1", "q1", measure="AnswerRelevance"))
    monkeypatch.undo()
    assert {name for name, one in gradings(empty_store, "r").items() if not one.complete} == {
        MEASURE,
        "AnswerRelevance",
    }
    load_scores(empty_store, given("judge 1", "q1", measure="Helpfulness"))
    assert named(empty_store) == {
        "EdgeRecall": (f"{GRAPHKIT} {graphkit.__version__}", True),
        "Helpfulness": ("judge 1", True),
    }
    assert held(empty_store) == {}
