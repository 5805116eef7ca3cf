"""The decision whether an answer is right, as the graph holds it: by its text, and by grades that come and go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.right_answers import grades_of_answers
from graphkit.graph.score_nodes import gradings, load_scores
from graphkit.measures.outcome import RIGHT_ANSWER, two_by_two
from graphkit.records.scores import Score
from tests.helpers.datasets import write_jsonl

STEP = {"source": "x:a", "relation": "R", "target": "y:b"}


def world(folder: Path) -> Path:
    """Write two questions whose run walks nothing: q1's gold answer is in its answer, q2's isn't."""
    gold = [{"id": "p", "steps": [STEP]}]
    questions = [{"id": name, "question": "?", "gold_answers": ["Oslo"], "paths": gold} for name in ("q1", "q2")]
    write_jsonl(folder / "questions.jsonl", questions)
    said = {"q1": "It is Oslo.", "q2": "It is Rome."}
    records = [{"run": "r", "question_id": name, "traversal": [], "answer": text} for name, text in said.items()]
    return write_jsonl(folder / "runs" / "r.jsonl", records)


def grade(value: float | None, question: str = "q1", measure: str = "PersonGrade") -> Score:
    """Return a grade by Ann."""
    reason = None if value is not None else "noted, not graded"
    return Score(run="r", question=question, measure=measure, value=value, reason=reason, grader="person:Ann")


def lucky(store: Store) -> list[tuple[Any, Any]]:
    """Return the right answers by a wrong path, and who says that they are right."""
    rows = graphkit.failures(store, "r", "right-answer-wrong-path")
    return [(row["question"], row["judged"]) for row in rows]


def test_grades_come_before_the_text_and_go_again(empty_store: Store, tmp_path: Path) -> None:
    """A grade that is loaded decides at once, one that is replaced decides no more, and the text is still known."""
    file = world(tmp_path)
    result = graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"], outcomes=True)
    assert two_by_two(result.outcomes()).luck == ("q1",)
    assert lucky(empty_store) == [("q1", "gold answers")]
    load_scores(empty_store, [grade(0.0), grade(1.0, "q2")])
    assert lucky(empty_store) == [("q2", "PersonGrade by person:Ann")]
    missed = "the traversal never entered the gold path; 1 required gold edge is not traversed"
    assert graphkit.why("r", "q1", store=empty_store).verdict == f"{missed}; a person does not call the answer right"
    assert graphkit.why("r", "q2", store=empty_store).verdict == missed
    # What the graph holds of others decides for the terminal, too.
    result = graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"], outcomes=True)
    assert two_by_two(result.outcomes()).luck == ("q2",)
    assert lucky(empty_store) == [("q2", "PersonGrade by person:Ann")]
    load_scores(empty_store, [grade(None)])  # it replaces both of Ann's
    assert lucky(empty_store) == [("q1", "gold answers")]


def test_given_grades_decide_in_the_result_as_in_the_graph(empty_store: Store, tmp_path: Path) -> None:
    """Scores beside a run decide without a database as well: q1 is graded wrong, so no right answer is left."""
    file, scores = world(tmp_path), [grade(0.0, measure="Correct")]
    for store in (None, empty_store):
        result = graphkit.evaluate(file, store=store, scores=scores, measures=["EdgeRecall"], outcomes=True)
        assert [one.answer for one in result.outcomes()] == [False, False]
    assert lucky(empty_store) == []


def test_a_decision_is_no_measure(empty_store: Store, tmp_path: Path) -> None:
    """It has no grading, isn't counted as a score, is in no result, and nobody else gives it."""
    result = graphkit.evaluate(world(tmp_path), store=empty_store, measures=["EdgeRecall"])
    assert RIGHT_ANSWER not in result.measures
    assert list(gradings(empty_store, "r")) == ["EdgeRecall"]
    assert grades_of_answers(empty_store, "r") == {}
    (row,) = empty_store.read(
        "MATCH (s:Score {measure: 'RightAnswer', question: 'q1'}) RETURN s.value AS v, s.counted AS c"
    )
    assert row == {"v": 1.0, "c": None}
    with pytest.raises(InputError, match="RightAnswer is graphkit's own decision"):
        load_scores(empty_store, [grade(1.0, measure=RIGHT_ANSWER)])


def test_the_value_that_counts(empty_store: Store, tmp_path: Path) -> None:
    """A failed question counts as the worst value, as --missing-as says; scores of others count so, too.

    q1 is 0 of 1 edges, q2 failed: as worst the mean is 0 / 2 with both counted, unscored it is 0 over q1 alone. Ann's
    grades are 1 for q1 and none for q2, which failed: her mean is .5.
    """
    file = world(tmp_path)
    file.write_text(file.read_text().replace('"answer": "It is Rome."', '"error": "timeout"'))
    for how, expected in (("worst", [0.0, 0.0]), ("unscored", [0.0, None])):
        graphkit.evaluate(file, store=empty_store, scores=[grade(1.0)], measures=["EdgeRecall"], failed_as=how)
        assert counted(empty_store, "EdgeRecall") == expected
        assert counted(empty_store, "PersonGrade") == ([1.0, 0.0] if how == "worst" else [1.0])
    load_scores(empty_store, [grade(0.5, measure="Faithful"), grade(None, "q2", "Faithful")])
    assert counted(empty_store, "Faithful") == [0.5, None]


def counted(store: Store, measure: str) -> list[Any]:
    """Return the counted values of a measure in the order of the questions."""
    text = "MATCH (s:Score {run: 'r', measure: $measure}) RETURN s.counted AS counted ORDER BY s.question"
    return [row["counted"] for row in store.read(text, {"measure": measure})]


def test_which_paths_count(empty_store: Store, tmp_path: Path) -> None:
    """The walked one of two alternatives counts, an optional edge isn't required; a failed question names no path."""
    other = {"source": "x:a", "relation": "R", "target": "y:c"}
    paths: list[dict[str, Any]] = [
        {"id": "one", "group": "g", "steps": [STEP]},
        {"id": "two", "group": "g", "steps": [other, {**STEP, "source": "x:d", "optional": True}]},
    ]
    write_jsonl(tmp_path / "questions.jsonl", [{"id": q, "question": "?", "paths": paths} for q in ("q1", "q2")])
    records: list[dict[str, Any]] = [
        {"run": "r", "question_id": "q1", "traversal": [other]},
        {"run": "r", "question_id": "q2", "error": "e"},
    ]
    file = write_jsonl(tmp_path / "runs" / "r.jsonl", records)
    for engine in ("python", "cypher"):
        graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall", "BoundaryRecall"], engine=engine)
        text = "MATCH (s:Score) WHERE s.measure <> 'RightAnswer' RETURN s.question AS q, s.measure AS m, s.paths AS p"
        held = {(row["q"], row["m"]): row["p"] for row in empty_store.read(text)}
        assert held == {
            **{("q1", "EdgeRecall"): ["two"], ("q1", "BoundaryRecall"): ["two"]},
            **{("q2", "EdgeRecall"): None, ("q2", "BoundaryRecall"): None},
        }
    edges = empty_store.read(
        "MATCH (a)-[g:GOLD {question: 'q1'}]->() RETURN a.id AS a, g.required AS r ORDER BY a, g.path"
    )
    assert [(row["a"], row["r"]) for row in edges] == [("x:a", True), ("x:a", True), ("x:d", False)]


def test_scores_of_another_order_go(empty_store: Store, tmp_path: Path) -> None:
    """Scores of a run read as sets of edges don't stand beside those of the same run in its order, given ones do."""
    file = world(tmp_path)
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall", "PathPrefix"], unordered=True)
    load_scores(empty_store, [grade(1.0)])
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"], unordered=True)
    assert set(gradings(empty_store, "r")) == {"EdgeRecall", "PathPrefix", "PersonGrade"}
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    assert set(gradings(empty_store, "r")) == {"EdgeRecall", "PersonGrade"}
    text = "MATCH (s:Score {run: 'r'}) RETURN DISTINCT s.measure AS m ORDER BY m"
    assert [row["m"] for row in empty_store.read(text)] == ["EdgeRecall", "PersonGrade", RIGHT_ANSWER]
