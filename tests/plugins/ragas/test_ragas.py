"""RAGAS without its library: columns from a run and back, its results as scores, and what is said where it's broken."""

from __future__ import annotations

import ast
import csv
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.measures.unscored import NO_RETRIEVAL
from graphkit.plugins.ragas.ragas_metrics import VERSIONS
from graphkit.plugins.ragas.ragas_samples import NAN, OF_THE_LAST
from graphkit.records.scores import Score
from tests.helpers import ROOT
from tests.helpers.cli import Done, Process, Row, inside, tiny, write_lines

#: q1 has an answer, q2 failed, q3 has no record. Of q1's gold, x and z, the run retrieved x only; w has no gain.
QUESTIONS: tuple[Row, ...] = (
    {"id": "q1", "question": "Who calls z?", "gold_answer": "=x", "relevant": {"x": 1, "z": 2, "w": 0}},
    {"id": "q2", "question": "What does x call?", "gold_answer": "w", "relevant": {"x": 1}},
    {"id": "q3", "question": "Why?"},
)
ANSWERS: tuple[Row, ...] = (
    {
        "run": "r",
        "question_id": "q1",
        # The ranks say that x is first.
        "retrieved": [{"id": "y", "text": 'say "y",\n\u2028x', "rank": 2}, {"id": "x", "text": "def x", "rank": 1}],
        "answer": "'=x",
    },
    {"run": "r", "question_id": "q2", "error": "time-out"},
)
GOLD = ({"id": "z", "text": "def z"},)


def lines(path: Path) -> list[Row]:
    """Return the objects of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def exported(folder: Path, name: str = "out.jsonl", *options: object, answers: Any = ANSWERS) -> tuple[Path, Done]:
    """Export the run, and return the file with what was said."""
    run = tiny(folder / "data", QUESTIONS, answers)
    done = inside("ragas", "export", run, "-o", folder / name, *options, cwd=folder, code=0)
    return folder / name, done


def test_a_run_as_rows(tmp_path: Path) -> None:
    """A row holds each column by the record's meaning: chunks by their ranks, gold by its gain; failures have none."""
    texts = write_lines(tmp_path / "gold.jsonl", GOLD)
    file, done = exported(tmp_path, "out.jsonl", "--texts", texts)
    assert lines(file) == [
        {
            "run": "r",
            "question_id": "q1",
            "user_input": "Who calls z?",
            "retrieved_contexts": ["def x", 'say "y",\n\u2028x'],
            "reference_contexts": ["def x", "def z"],
            "retrieved_context_ids": ["x", "y"],
            "reference_context_ids": ["x", "z"],
            "response": "'=x",
            "reference": "=x",
        }
    ]
    assert "1 failed, 1 missing" in done.out


def test_chunks_that_were_not_logged(tmp_path: Path) -> None:
    """If a record doesn't say what was retrieved, both columns of it stay empty: an empty list would say nothing."""
    file, done = exported(tmp_path, answers=[{"run": "r", "question_id": "q1", "answer": "y"}])
    (row,) = lines(file)
    assert (row["retrieved_contexts"], row["retrieved_context_ids"]) == (None, None)
    assert f"retrieved_contexts stays empty: {NO_RETRIEVAL}" in done.err


def test_texts_that_are_not_known(tmp_path: Path) -> None:
    """Half of the gold's texts would be another gold, so the column stays empty with a note; so does that of chunks."""
    file, done = exported(tmp_path)
    [row] = lines(file)
    assert row["reference_contexts"] is None
    assert row["reference_context_ids"] == ["x", "z"]
    assert "reference_contexts stays empty" in done.err
    ids_alone = [{**ANSWERS[0], "retrieved": ["x", {"id": "y", "text": "y"}]}]
    file, done = exported(tmp_path, answers=ids_alone)
    assert lines(file)[0]["retrieved_contexts"] is None
    assert "retrieved_contexts stays empty" in done.err


def test_csv_is_harmless_and_the_same(tmp_path: Path) -> None:
    """No cell of the CSV begins as a formula, its lists are lists of Python too, and read again it is the same."""
    texts = write_lines(tmp_path / "gold.jsonl", GOLD)
    plain, _ = exported(tmp_path, "out.jsonl", "--texts", texts)
    table, _ = exported(tmp_path, "out.csv", "--texts", texts)
    with table.open(newline="", encoding="utf-8") as stream:
        [row] = csv.DictReader(stream)
    assert not [cell for cell in row.values() if cell[:1] in ("=", "+", "-", "@")]
    # The response begins with a quote of its own, so it gets a second one.
    assert (row["reference"], row["response"]) == ("'=x", "''=x")
    assert ast.literal_eval(row["retrieved_contexts"]) == ["def x", 'say "y",\n\u2028x']
    for number, file in enumerate((plain, table)):
        inside("ragas", "import", file, "-o", tmp_path / str(number), cwd=tmp_path, code=0)
    for name in ("questions.jsonl", "runs/r.jsonl"):
        assert lines(tmp_path / "0" / name) == lines(tmp_path / "1" / name)


def test_there_and_back(tmp_path: Path) -> None:
    """An exported row comes back as the same question, ranking and answer."""
    texts = write_lines(tmp_path / "gold.jsonl", GOLD)
    file, _ = exported(tmp_path, "out.jsonl", "--texts", texts)
    inside("ragas", "import", file, "-o", "back", cwd=tmp_path, code=0)
    [question] = lines(tmp_path / "back/questions.jsonl")
    assert question == {"id": "q1", "question": "Who calls z?", "gold_answer": "=x", "relevant": {"x": 1, "z": 1}}
    [answer] = lines(tmp_path / "back/runs/r.jsonl")
    chunks = [{"id": "x", "text": "def x"}, {"id": "y", "text": 'say "y",\n\u2028x'}]
    assert answer == {"run": "r", "question_id": "q1", "retrieved": chunks, "answer": "'=x"}
    again = inside("ragas", "import", file, "-o", "back", cwd=tmp_path, code=2)
    assert "the file already exists" in again.err


def test_a_foreign_data_set(tmp_path: Path) -> None:
    """Rows without ids, by their former names: equal texts are one chunk, so that retrieval can be scored.

    Of two reference contexts one was retrieved: Recall@5 is 1/2.
    """
    row = {"question": "Why?", "contexts": ["a", "b"], "reference_contexts": ["b", "c"], "answer": "so"}
    rows = [{**row, "ground_truth": "so", "faithfulness": value} for value in (0.5, float("nan"))]
    file = write_lines(tmp_path / "rows.jsonl", rows)
    refused = inside("ragas", "import", file, "-o", "data", cwd=tmp_path, code=2)
    assert "--run" in refused.err
    done = inside("ragas", "import", file, "-o", "data", "--run", "p/1", "--json", cwd=tmp_path, code=0)
    assert done.object()["questions"] == 2
    run = tmp_path / "data/runs/p_1.jsonl"
    scored = inside("evaluate", run, "--no-store", "--json", "-m", "Recall@5", cwd=tmp_path, code=0)
    assert scored.object()["measures"]["Recall@5"]["mean"] == 0.5
    first, second = read_scores([tmp_path / "data/runs/p_1.grades/ragas.scores.jsonl"], Problems())
    assert (first.run, first.question, first.measure, first.value) == ("p/1", "row-1", "ragas.faithfulness", 0.5)
    assert (second.question, second.value, second.reason) == ("row-2", None, NAN)


#: Two questions: a search and the answer to the first, and the answer to the second.
TALK: Row = {
    "question_id": "s",
    "user_input": [
        {"content": "Who calls z?", "type": "human"},
        {"content": "", "type": "ai", "tool_calls": [{"name": "search", "args": {"q": "z"}}]},
        {"content": "def x(): z()", "type": "tool"},
        {"content": "x calls z.", "type": "ai"},
        {"content": "And y?", "type": "human"},
        {"content": "It doesn't.", "type": "ai"},
    ],
    "reference": "No.",
    "goal": 0.5,
}


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_a_conversation_is_a_session(tmp_path: Path, ending: str) -> None:
    """Each text of the user is a question, a turn of the session; gold and values of the whole stand at the last.

    Exported and imported again, sessions, questions and answers are the same.
    """
    if ending == "jsonl":
        file = write_lines(tmp_path / "rows.jsonl", [TALK])
    else:
        file = tmp_path / "rows.csv"
        with file.open("w", newline="", encoding="utf-8") as stream:
            table = csv.DictWriter(stream, [*TALK])
            table.writeheader()
            table.writerow({**TALK, "user_input": str(TALK["user_input"])})  # as RAGAS writes it
    done = inside("ragas", "import", file, "-o", "data", "--run", "r", cwd=tmp_path, code=0)
    assert "calls of tools aren't read here" in done.err
    questions = lines(tmp_path / "data/questions.jsonl")
    assert questions == [
        {"id": "s-1", "question": "Who calls z?", "session": "s", "turn": 1},
        {"id": "s-2", "question": "And y?", "session": "s", "turn": 2, "gold_answer": "No."},
    ]
    run = tmp_path / "data/runs/r.jsonl"
    assert [(one["question_id"], one["answer"]) for one in lines(run)] == [
        ("s-1", "x calls z."),
        ("s-2", "It doesn't."),
    ]
    kept = read_scores([tmp_path / "data/runs/r.grades/ragas.scores.jsonl"], Problems())
    assert [(one.question, one.value, one.reason) for one in kept] == [("s-1", None, OF_THE_LAST), ("s-2", 0.5, None)]
    assert {(name, one.value) for (name, _), one in taken(tmp_path, run, file).items()} == {("s-1", None), ("s-2", 0.5)}
    inside("ragas", "export", run, "-o", f"out.{ending}", cwd=tmp_path, code=0)
    inside("ragas", "import", f"out.{ending}", "-o", "back", cwd=tmp_path, code=0)
    assert lines(tmp_path / "back/questions.jsonl") == questions
    assert lines(tmp_path / "back/runs/r.jsonl") == lines(run)


def test_a_conversation_without_a_name(tmp_path: Path) -> None:
    """Its session is the row's number; its results belong to the questions of the same texts."""
    bare = {name: value for name, value in TALK.items() if name != "question_id"}
    rows = [{"user_input": "Why?", "response": "So.", "goal": 1}, bare]
    file = write_lines(tmp_path / "rows.jsonl", rows)
    inside("ragas", "import", file, "-o", "data", "--run", "r", cwd=tmp_path, code=0)
    assert [one["id"] for one in lines(tmp_path / "data/questions.jsonl")] == ["row-1", "row-2-1", "row-2-2"]
    asked = ("Who calls z?", "And y?", "Why?")
    questions = [{"id": f"q{number}", "question": text} for number, text in enumerate(asked, 1)]
    answers = [{"run": "r", "question_id": one["id"], "answer": "x"} for one in questions]
    found = taken(tmp_path, tiny(tmp_path / "other", questions, answers), file)
    assert {name: (one.value, one.reason) for (name, _), one in found.items()} == {
        "q1": (None, OF_THE_LAST),
        "q2": (0.5, None),
        "q3": (1.0, None),
    }


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"user_input": [{"content": "hi", "type": "ai"}]}, "user_input"),
        ({"user_input": [{"content": "hi", "type": "human"}], "contexts": ["x"]}, "to which turn it belongs"),
        ({"user_input": "hi", "session": "s"}, "session and turn go together"),
        ({"user_input": "a", "retrieved_contexts": "text"}, "retrieved_contexts"),
        ({"user_input": "a", "retrieved_contexts": ["x"], "retrieved_context_ids": ["a", "b"]}, "names 2 contexts"),
        ({"response": "a"}, "user_input"),
        ("[1]", "JSON object"),
        ("{", "not valid JSON"),
    ],
    ids=["no-user", "contexts-of-turns", "no-turn", "text", "lengths", "no-question", "list", "broken"],
)
def test_rows_that_cannot_be_used(tmp_path: Path, row: Row | str, message: str) -> None:
    """A bad row is refused with its place and what is wrong, and left out where that is asked for."""
    file = write_lines(tmp_path / "rows.jsonl", [{"user_input": "fine", "response": "yes"}, row])
    refused = inside("ragas", "import", file, "-o", "data", "--run", "r", cwd=tmp_path, code=2)
    assert f"{file}:2" in refused.err
    assert message in refused.err
    inside("ragas", "import", file, "-o", "data", "--run", "r", "--on-error", "skip", cwd=tmp_path, code=0)
    assert len(lines(tmp_path / "data/questions.jsonl")) == 1


def results(folder: Path, text: str) -> Path:
    """Write results as a CSV file."""
    folder.mkdir(exist_ok=True)
    (folder / "results.csv").write_text(text, encoding="utf-8")
    return folder / "results.csv"


def taken(folder: Path, run: Path, file: Path, *options: object) -> dict[tuple[str, str], Score]:
    """Take results as scores, and return them by question and measure."""
    inside("ragas", "scores", file, "--run", run, *options, cwd=folder, code=0)
    found = read_scores([run.parent / "r.grades/ragas.scores.jsonl"], Problems())
    return {(score.question, score.measure): score for score in found}


def test_results_as_scores(tmp_path: Path) -> None:
    """Values come by the question's text; NaN, infinities, empty cells, a missing row and a failure have a reason."""
    others = [{"run": "r", "question_id": "q3", "answer": "so"}, {"run": "r", "question_id": "q4", "answer": "so"}]
    run = tiny(tmp_path / "data", (*QUESTIONS, {"id": "q4", "question": "How?"}), (*ANSWERS, *others))
    text = "user_input,response,faithfulness,exact,note\nWho calls z?,x,0.25,True,good\nWhy?,so,nan,inf,=1\n"
    found = taken(tmp_path, run, results(tmp_path, text), "--grader-version", "0.4.3 gpt")
    values = {(name, measure.removeprefix("ragas.")): score.value for (name, measure), score in found.items()}
    assert values[("q1", "faithfulness")] == 0.25
    assert values[("q1", "exact")] == 1.0
    assert found[("q1", "ragas.exact")].given_by == "ragas 0.4.3 gpt"
    reasons = {name: found[(name, "ragas.faithfulness")].reason for name in ("q2", "q3", "q4")}
    assert reasons == {
        "q2": "failed: time-out",
        "q3": NAN,
        "q4": "RAGAS's results have no row for this answer",
    }
    assert found[("q3", "ragas.exact")].value is None
    # Four records and two metrics; the column of text is none.
    assert len(found) == 8
    # Another metric, later, leaves the first ones alone.
    later = taken(tmp_path, run, results(tmp_path, "question_id,user_input,later\nq1,Who calls z?,1\n"))
    assert {measure for _, measure in later} == {"ragas.faithfulness", "ragas.exact", "ragas.later"}
    reported = inside(
        *("evaluate", run, "--no-store", "--json", "--scores", run.parent / "r.grades/ragas.scores.jsonl"),
        *("--fail-under", "ragas.faithfulness=0.3"),
        cwd=tmp_path,
        code=1,
    )
    assert reported.object()["measures"]["ragas.faithfulness"]["scored"] == 1


def test_results_that_belong_nowhere(tmp_path: Path) -> None:
    """A row of no answer, of two questions with one text, of another run, or a second one is refused with its line."""
    twins = ({"id": "a", "question": "Same?"}, {"id": "b", "question": "Same?"})
    run = tiny(tmp_path / "data", twins, [{"run": "r", "question_id": name, "answer": "x"} for name in "ab"])
    text = "user_input,question_id,run,m\nSame?,,,1\nOther?,,,1\nSame?,a,,1\nSame?,a,,1\nSame?,b,s,1\nSame?,c,,1\n"
    done = inside("ragas", "scores", results(tmp_path, text), "--run", run, cwd=tmp_path, code=2)
    for number, what in (
        (2, "2 questions have this text"),
        (3, "has no answer to this question"),
        (5, "already has a row"),
        (6, "of the run s"),
        (7, "has no answer to this question"),
    ):
        assert any(f":{number}: " in line and what in line for line in done.err.splitlines()), (number, done.err)
    assert "results.csv:4:" not in done.err


def test_a_metric_that_holds_a_word_is_reported(tmp_path: Path) -> None:
    """A column of numbers with a word among them is no metric by itself, and isn't left out in silence."""
    run = tiny(tmp_path / "data", QUESTIONS, ANSWERS)
    file = results(tmp_path, "user_input,exact,faithfulness,note\nWho calls z?,1,0.5,good\nWhy?,1,failed,bad\n")
    said = inside("ragas", "scores", file, "--run", run, "--on-error", "skip", cwd=tmp_path, code=0).err
    assert "results.csv:3" in said
    assert "the column 'faithfulness' isn't read as values of a metric" in said
    # A column of words alone is no metric that failed: it is reported as a field that isn't used.
    assert "the column 'note'" not in said
    assert "the field 'note' isn't used (2 records)" in said


def test_a_metric_that_is_not_there(tmp_path: Path) -> None:
    """A column that isn't there, or holds text, is reported with those that are."""
    run = tiny(tmp_path / "data", QUESTIONS, ANSWERS)
    file = results(tmp_path, "user_input,faithfulness,note\nWho calls z?,1,good\n")
    for name, what in (("faithfullness", "Did you mean faithfulness?"), ("note", "has other values than numbers")):
        assert what in inside("ragas", "scores", file, "--run", run, "-m", name, cwd=tmp_path, code=2).err
    bare = results(tmp_path, "user_input\nWho calls z?\n")
    assert "no column holds values" in inside("ragas", "scores", bare, "--run", run, cwd=tmp_path, code=2).err


def test_versions_are_those_of_the_extra() -> None:
    """The versions that the message names are those that the extra installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert list(VERSIONS) == project["optional-dependencies"]["ragas"]


def test_a_library_that_cannot_be_imported(process: Process, tmp_path: Path) -> None:
    """Versions that don't fit, as a fresh install has them, end with the versions that do, and without a traceback."""
    package = tmp_path / "broken" / "ragas"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import langchain_community.chat_models.vertexai_that_is_gone\n")
    run = tiny(tmp_path / "data", QUESTIONS, ANSWERS)
    path = {"PYTHONPATH": f"{package.parent}:{ROOT}"}
    done = process("ragas", "evaluate", run, "-m", "ExactMatch", cwd=tmp_path, env=path, code=2)
    assert "RAGAS can't be imported: No module named" in done.err
    assert all(version in done.err for version in VERSIONS)
    assert "pip install 'graphkit-eval[ragas]'" in done.err
