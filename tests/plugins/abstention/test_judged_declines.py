"""Judges' verdicts on whether answers decline: they take the place of the words, in files as in the graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.analysis.file_failures import RunOnFiles, file_failures
from graphkit.database.store import Store
from graphkit.files.grades_beside import SCORES, file_beside
from graphkit.files.score_files import write_scores
from graphkit.measures.judged import DECLINED
from graphkit.plugins.abstention.risk_coverage import abstention_figures
from graphkit.plugins.judging.grading.grade_run import GradingOptions
from graphkit.plugins.judging.judges.catalogue import GRADERS
from graphkit.plugins.judging.judges.direct_scores import BLANK, STATED
from graphkit.records.doubts import BLANK_ANSWER, JUDGED_DECLINED, READ_DECLINED
from graphkit.records.scores import Score, answer_hash
from tests.helpers.cli import inside
from tests.helpers.datasets import write_jsonl
from tests.helpers.judging import materials, read
from tests.plugins.abstention.worlds import LOGIN, QUESTIONS, record

#: An answer that its words take for declining, and one that they take for an answer.
MISREAD, MISSED = "I don't know much, auth.py does it.", "Mail is a subject that my sources leave aside."

RECORDS = [
    record("plain", traversal=[LOGIN], answer=MISREAD),
    record("second", traversal=[LOGIN], answer="It is auth.py.", abstained=True),
    record("no-path", answer=MISSED),
    record("false-premise", answer=" ", abstained=False),
    record("unsure", answer="I don't know."),
    record("failing", error="timeout"),
]

MEASURES = ("RightDecision", "OverRefusal", "AbstentionRecall", "SelectiveRisk")


def world(folder: Path) -> Path:
    """Write the questions and the run; return the file of the run."""
    write_jsonl(folder / "questions.jsonl", QUESTIONS)
    return write_jsonl(folder / "runs" / "mixed.jsonl", RECORDS)


def verdict(question: str, value: float | None, grader: str = "model", **more: Any) -> Score:
    """Return what a judge says of an answer."""
    given = {"run": "mixed", "question": question, "measure": DECLINED, "value": value, "grader": grader}
    return Score.model_validate(given | more)


VERDICTS = [verdict("plain", 0.0), verdict("no-path", 1.0, answer_hash=answer_hash(MISSED))]


def beside(file: Path, scores: list[Score]) -> None:
    """Write what a judge says beside a run."""
    path = file_beside(file, "model", f"{SCORES}.jsonl")
    path.parent.mkdir()
    write_scores(path, scores)


def decisions(result: graphkit.Evaluation) -> list[float | str]:
    """Return RightDecision of the three questions that only words or judges decide."""
    place = [*result.measures].index("RightDecision")
    return [row.values[place] for row in result.rows if row.question in ("plain", "no-path", "unsure")]


def test_a_verdict_wins_over_the_words(tmp_path: Path) -> None:
    """By words plain is declined and no-path answered, both wrong; by the judge the other way round, and it is said."""
    file = world(tmp_path / "world")
    by_words = graphkit.evaluate(file, measures=MEASURES)
    assert decisions(by_words) == [0.0, 0.0, 1.0]
    assert by_words.warnings == (f"doubtful in 3 answers: {READ_DECLINED}", f"doubtful in 1 answer: {BLANK_ANSWER}")
    judged = graphkit.evaluate(file, measures=MEASURES, scores=VERDICTS)
    assert decisions(judged) == [1.0, 1.0, 1.0]
    assert judged.warnings == (
        f"doubtful in 2 answers: {JUDGED_DECLINED}",
        f"doubtful in 1 answer: {BLANK_ANSWER}",
        f"doubtful in 1 answer: {READ_DECLINED}",
    )
    # Of the answered ones plain is right by its gold answer, and false-premise wrong: the record says that it answers.
    assert judged.measures["SelectiveRisk"].mean == 1 / 2
    sharded = graphkit.evaluate(file, measures=MEASURES, scores=VERDICTS, executor="processes", out=tmp_path / "out")
    assert (sharded.measures, sharded.warnings) == (judged.measures, judged.warnings)


@pytest.mark.parametrize(
    "scores",
    [
        [verdict("plain", 0.0), verdict("plain", 1.0, "other")],
        [verdict("plain", 0.0, answer_hash=answer_hash("another"))],
        [verdict("plain", None, reason="no verdict")],
        [verdict("plain", 0.0).model_copy(update={"run": "another"})],
    ],
    ids=["disagreement", "earlier answer", "no verdict", "another run"],
)
def test_without_one_verdict_the_words_stay(tmp_path: Path, scores: list[Score]) -> None:
    """Judges who disagree, one who saw an earlier answer, and one who gave none decide nothing."""
    assert decisions(graphkit.evaluate(world(tmp_path / "world"), measures=MEASURES, scores=scores))[0] == 0.0


def test_a_jury_comes_before_its_members(tmp_path: Path) -> None:
    """The members disagree, and the jury has decided."""
    scores = [verdict("plain", 1.0, "a"), verdict("plain", 0.0, "b"), verdict("plain", 0.0, "jury(a,b,c)")]
    assert decisions(graphkit.evaluate(world(tmp_path / "world"), measures=MEASURES, scores=scores))[0] == 1.0


def test_a_stated_one_wins_over_a_verdict(tmp_path: Path) -> None:
    """What the record states stays, whatever a judge says."""
    scores = [verdict("second", 0.0), verdict("false-premise", 1.0)]
    result = graphkit.evaluate(world(tmp_path / "world"), measures=("RightDecision",), scores=scores)
    found = {row.question: row.values[0] for row in result.rows}
    assert (found["second"], found["false-premise"]) == (0.0, 0.0)


def test_files_and_graph_say_the_same(tmp_path: Path, store: Store) -> None:
    """Engines, failures and explanations agree, with the verdicts beside the run and in the graph."""
    file = world(tmp_path / "world")
    beside(file, VERDICTS)
    by_python = graphkit.evaluate(file, measures=MEASURES, scores=VERDICTS, store=store)
    for _ in range(2):  # the second reads what the first has kept
        by_cypher = graphkit.evaluate(file, measures=MEASURES, scores=VERDICTS, engine="cypher", store=store)
        assert [row.values for row in by_cypher.rows] == [row.values for row in by_python.rows]
        assert (by_cypher.unscored, by_cypher.warnings) == (by_python.unscored, by_python.warnings)
    for kind in ("over-refusals", "answered-unanswerable"):
        assert list(graphkit.failures(store, "mixed", kind)) == list(file_failures(file, kind))
    # Without the verdicts, plain was an over-refusal and no-path an answer.
    assert [row["question"] for row in file_failures(file, "over-refusals")] == ["second"]
    assert [row["question"] for row in file_failures(file, "answered-unanswerable")] == ["false-premise"]
    for question in ("plain", "no-path", "unsure"):
        here, there = graphkit.why(file, question), graphkit.why("mixed", question, store=store)
        assert (here.sentence(), here.wrong) == (there.sentence(), there.wrong)
    assert not graphkit.why(file, "no-path").wrong
    figures = abstention_figures(RunOnFiles.read(file))
    assert (figures.read, figures.judged, figures.declined, figures.rightly) == (1, 2, 3, 2)
    assert graphkit.evaluate(file, measures=("EdgeRecall",), store=store).unscored["EdgeRecall"]


def test_who_says_so_stands_in_the_row(tmp_path: Path) -> None:
    """A judge who takes an answer for declining is named in the row of over-refusals, and in its sentence."""
    file = world(tmp_path / "world")
    beside(file, [verdict("plain", 1.0)])
    assert {row["question"]: row["said_by"] for row in file_failures(file, "over-refusals")} == {
        "plain": "judge",
        "second": "record",
    }
    assert "was declined, as a judge says, though it has an answer" in inside("failures", file, cwd=tmp_path).out


def test_the_rules_ask_only_where_nothing_is_stated(tmp_path: Path) -> None:
    """`lexical` gives its verdict on the three texts without a statement; the gate counts its verdicts."""
    file = world(tmp_path / "world")
    graded = graphkit.grade(file, None, GradingOptions(graders=("abstained",), keep=True))
    found = {one.question: one.reason if one.value is None else one.value for one in graded.scores}
    assert found == {
        "plain": 1.0,
        "second": STATED,
        "no-path": 0.0,
        "false-premise": STATED,
        "unsure": 1.0,
        "failing": "failed: timeout",
    }
    scores = ("--scores", file_beside(file, "lexical", f"{SCORES}.jsonl"), "--no-store")
    done = inside("evaluate", file, *scores, "--fail-under", "AbstentionRecall=0.9", "--full", cwd=tmp_path)
    assert done.code == 1
    assert f"doubtful in 3 answers: {JUDGED_DECLINED}" in done.err
    assert f"doubtful in 1 answer: {BLANK_ANSWER}" in done.err


def test_the_verdict_of_a_model() -> None:
    """Yes is 1 and no 0, with the reason; a blank answer is asked of nobody."""
    grader = GRADERS["abstained"]
    for declines, value in ((True, 1.0), (False, 0.0)):
        [one] = read(grader, materials("It calls."), {"reason": "r", "declines": declines}).findings
        assert (one.measure, one.value, one.explanation) == (DECLINED, value, "r")
    blank = grader.unasked(materials(" "))
    assert blank is not None
    assert [one.reason for one in blank.findings] == [BLANK]
    assert grader.unasked(materials("It calls.")) is None
