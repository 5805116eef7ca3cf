"""Executions in the graph: stored beside answers, replaced as a whole, deleted with their run, and queried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.analysis.explain import sentence
from graphkit.database.store import Store
from graphkit.errors import DatabaseError, InputError
from graphkit.graph.reservations import unfinished_loads
from graphkit.graph.score_nodes import load_scores
from graphkit.plugins.sandbox import execution_nodes
from graphkit.plugins.sandbox.execution_nodes import Executed, executed, keep_executions, load_executions
from graphkit.plugins.sandbox.executions import CodeTestResult, Execution
from graphkit.records.scores import Score
from tests.helpers.datasets import write_jsonl
from tests.helpers.executions import execution, result

Record = dict[str, Any]

TESTS = (
    result("adds", duration_ms=0.5),
    result("raises", "test_failure", message="5 instead of 6", line=3, expected="6", returned="5", printed="five\n"),
    result("reads", "refused", message="Permission denied", line=7, attempts=("open /etc/passwd", "connect tcp")),
)


def world(folder: Path, *runs: str) -> list[Path]:
    """Write a world of three questions, of which the last is invalid, and runs that answer x to each."""
    step = {"source": "x:a", "relation": "R", "target": "x:b"}
    names = ("q1", "q2", "q3")
    stale = {"q3": [{"steps": [{**step, "target": "x:gone"}]}]}
    write_jsonl(
        folder / "questions.jsonl",
        [{"id": name, "question": "?", "paths": stale.get(name, [{"steps": [step]}])} for name in names],
    )
    write_jsonl(folder / "edges.jsonl", [step])
    answers = [{"question_id": name, "answer": "x", "traversal": [step]} for name in names]
    return [write_jsonl(folder / "runs" / f"{run}.jsonl", [{"run": run, **one} for one in answers]) for run in runs]


def evaluated(store: Store, folder: Path, *runs: str) -> list[Path]:
    """Put the world and its runs into a graph, and return the runs' files."""
    files = world(folder, *runs or ("r",))
    for file in files:
        graphkit.evaluate(file, store=store, measures=["EdgeRecall"])
    return files


def held(store: Store) -> dict[str, int]:
    """Return how many nodes and relationships of executions the graph holds."""
    nodes = store.read("MATCH (n) RETURN labels(n)[0] AS kind, count(*) AS n")
    links = store.read("MATCH ()-[r]->() RETURN type(r) AS kind, count(*) AS n")
    kinds = ("Execution", "CodeTestResult", "EXECUTED", "RAN")
    return {str(row["kind"]): int(str(row["n"])) for row in [*nodes, *links] if row["kind"] in kinds}


def test_executions_lie_beside_their_answers(empty_store: Store, tmp_path: Path) -> None:
    """An execution and its tests are linked to the answer and each other once, however often loaded."""
    evaluated(empty_store, tmp_path)
    given = [
        execution("q1", *TESTS, code="def f():\n  return 5", entry_point="f", duration_ms=12.5),
        execution("q2", status="no_code", language="javascript", mechanism=None),
    ]
    for _ in range(2):
        assert load_executions(empty_store, given) == {"r": 2}
        assert held(empty_store) == {"Execution": 2, "CodeTestResult": 3, "EXECUTED": 2, "RAN": 3}
    assert executed(empty_store, "r") == Executed(2)
    rows = empty_store.read(
        "MATCH (a:Answer)-[:EXECUTED]->(e:Execution) RETURN a.question AS question, properties(e) AS kept "
        "ORDER BY question"
    )
    assert rows[0]["kept"] == {
        **{"run": "r", "question": "q1", "status": "test_failure", "language": "python", "mechanism": "bubblewrap"},
        **{"entry_point": "f", "code": "def f():\n  return 5", "passed": 1, "total": 3, "duration_ms": 12.5},
    }
    assert rows[1] == {
        "question": "q2",
        "kept": {
            **{"run": "r", "question": "q2", "status": "no_code", "language": "javascript"},
            **{"passed": 0, "total": 0},
        },
    }
    rows = empty_store.read(
        "MATCH (e:Execution {question: 'q1'})-[:RAN]->(t:CodeTestResult) RETURN properties(t) AS kept "
        "ORDER BY t.position"
    )
    mark = {"run": "r", "question": "q1"}
    assert [row["kept"] for row in rows] == [
        {**mark, "position": 0, "name": "adds", "status": "success", "duration_ms": 0.5, "attempts": []},
        {
            **{
                **mark,
                "position": 1,
                "name": "raises",
                "status": "test_failure",
                "message": "5 instead of 6",
                "line": 3,
            },
            **{"expected": "6", "returned": "5", "printed": "five\n", "attempts": []},
        },
        {
            **{**mark, "position": 2, "name": "reads", "status": "refused", "message": "Permission denied", "line": 7},
            "attempts": ["open /etc/passwd", "connect tcp"],
        },
    ]


def test_each_run_is_replaced_as_a_whole(empty_store: Store, tmp_path: Path) -> None:
    """New executions of a run replace all of its earlier ones, even if there are none, and none of another run."""
    evaluated(empty_store, tmp_path, "r", "s")
    assert executed(empty_store, "r") is None
    both = [execution(name, *TESTS, run=run) for run in "rs" for name in ("q1", "q2")]
    assert load_executions(empty_store, both) == {"r": 2, "s": 2}
    assert keep_executions(empty_store, "r", [execution("q2", result())]) == 1
    rows = empty_store.read("MATCH (e:Execution) RETURN e.run AS run, e.question AS question ORDER BY run, question")
    assert [(row["run"], row["question"]) for row in rows] == [("r", "q2"), ("s", "q1"), ("s", "q2")]
    assert held(empty_store)["CodeTestResult"] == 1 + 2 * 3
    assert keep_executions(empty_store, "r", []) == 0
    assert (executed(empty_store, "r"), executed(empty_store, "s")) == (Executed(0), Executed(2))
    assert held(empty_store)["Execution"] == 2


def test_executions_go_with_the_answers(empty_store: Store, tmp_path: Path) -> None:
    """A run that is loaded from another file loses its executions, which were of other answers."""
    [file] = evaluated(empty_store, tmp_path)
    load_executions(empty_store, [execution("q1", *TESTS)])
    file.write_text(file.read_text().replace('"answer": "x"', '"answer": "y"'))
    graphkit.evaluate(file, store=empty_store)
    assert (held(empty_store), executed(empty_store, "r")) == ({}, None)


def test_executions_by_a_former_dataset_say_so(empty_store: Store, tmp_path: Path) -> None:
    """Executions are outdated if the questions changed."""
    evaluated(empty_store, tmp_path)
    load_executions(empty_store, [execution("q1", *TESTS)])
    questions = tmp_path / "questions.jsonl"
    questions.write_text(questions.read_text().replace('"?"', '"Which?"'))
    graphkit.load(empty_store, tmp_path)
    assert executed(empty_store, "r") == Executed(1, current=False)


@pytest.mark.parametrize(
    ("bad", "reported"),
    [
        (execution("q1", run="s"), "no run is called 's'"),
        (execution("q9"), r"1 execution of r are of questions that .* such as 'q9'"),
        (execution("q2", answer="y"), r"1 execution of r is of another answer than the graph holds, such as of 'q2'"),
    ],
)
def test_nothing_is_written_where_something_does_not_fit(
    empty_store: Store, tmp_path: Path, bad: Execution, reported: str
) -> None:
    """An unknown run, question or answer refuses all given records."""
    evaluated(empty_store, tmp_path)
    with pytest.raises(InputError, match=reported):
        load_executions(empty_store, [execution("q1"), bad])
    assert held(empty_store) == {}


def test_an_interrupted_load_says_so(empty_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A load that dies between two batches is incomplete and reported, and the next one replaces it."""
    evaluated(empty_store, tmp_path)
    given = [execution("q1", *TESTS), execution("q2", *TESTS)]
    load_executions(empty_store, given)
    monkeypatch.setattr(execution_nodes, "QUESTIONS", 1)

    def dying(one: Execution) -> Record:
        if one.question == "q2":
            raise DatabaseError("the server went away")
        return row_of(one)

    row_of = execution_nodes._row
    monkeypatch.setattr(execution_nodes, "_row", dying)
    with pytest.raises(DatabaseError):
        load_executions(empty_store, given)
    found = executed(empty_store, "r")
    assert found is not None
    assert not found.complete
    assert [str(load) for load in unfinished_loads(empty_store)] == [
        "the load of executions of r was interrupted: run it again to repair it"
    ]
    assert held(empty_store)["Execution"] == 1
    monkeypatch.setattr(execution_nodes, "_row", row_of)
    load_executions(empty_store, given)
    assert (held(empty_store)["CodeTestResult"], unfinished_loads(empty_store)) == (6, [])


# Failure queries ---------------------------------------------------------------------------------------------------


def test_failed_code_is_asked_by_name(empty_store: Store, tmp_path: Path) -> None:
    """Each answer whose code failed is listed with its first failed test, except of invalid questions.

    Of q1's three tests the first went well; q2's answer holds no code; that of s went through all of them.
    """
    evaluated(empty_store, tmp_path, "r", "s")
    none = execution("q2", status="no_code", language="javascript", mechanism=None)
    load_executions(empty_store, [none, execution("q1", *TESTS), execution("q3", *TESTS)])
    load_executions(empty_store, [execution("q1", result(), result("again"), run="s")])
    rows = graphkit.failures(empty_store, "r", "failed-executions")
    assert rows == [
        {
            **{"question": "q1", "language": "python", "status": "test_failure", "passed": 1, "total": 3},
            **{"test": "raises", "message": "5 instead of 6", "line": 3, "expected": "6", "returned": "5"},
            "mechanism": "bubblewrap",
        },
        {
            **{"question": "q2", "language": "javascript", "status": "no_code", "passed": 0, "total": 0},
            **dict.fromkeys(("test", "message", "line", "expected", "returned", "mechanism")),
        },
    ]
    assert [sentence("failed-executions", row) for row in rows] == [
        "its code passed 1 of 3 tests; 'raises' failed at line 3: 5 instead of 6",
        "should have given code (javascript), but gave none",
    ]
    assert graphkit.failures(empty_store, "s", "failed-executions") == []
    assert graphkit.failures(empty_store, "r", "failed-executions", question="q2") == rows[1:]
    assert graphkit.failures(empty_store, "r", "failed-executions", limit=1) == rows[:1]


@pytest.mark.parametrize(
    ("failed", "reported"),
    [
        (result("t", "test_failure", expected="[1, 2]", returned="None"), "'t' failed: expected [1, 2], got None"),
        (result("t", "test_failure", expected="result > 0"), "'t' failed: expected result > 0"),
        (
            result("t", "runtime_error", message="KeyError: 'a'", line=9),
            "'t' ended in an error at line 9: KeyError: 'a'",
        ),
        (
            result("t", "syntax_error", message="invalid syntax", line=1),
            "it isn't valid python at line 1: invalid syntax",
        ),
        (result("t", "timeout"), "'t' took too long"),
        (result("t", "memory"), "'t' took too much memory"),
        (result("t", "refused", message="no network"), "'t' tried something that the sandbox refuses: no network"),
    ],
)
def test_each_way_to_fail_has_its_words(failed: CodeTestResult, reported: str) -> None:
    """Each status is explained in words, with message and line if known, else with the values."""
    row = {"language": "python", "passed": 0, "total": 1, "status": failed.status, "test": failed.name}
    row |= {name: failed[name] for name in ("message", "line", "expected", "returned")}
    assert sentence("failed-executions", row) == f"its code passed 0 of 1 test; {reported}"


def test_what_code_tried_is_asked_by_name(empty_store: Store, tmp_path: Path) -> None:
    """Each forbidden attempt is listed once per answer, with its tests, passed or not.

    q1's third test tried two things; of q3, whose gold is stale, both tests tried one, and one of them passed.
    """
    evaluated(empty_store, tmp_path)
    spies = [result("first", attempts=("fork",)), result("second", "timeout", attempts=("fork", "fork"))]
    load_executions(empty_store, [execution("q3", *spies), execution("q1", *TESTS), execution("q2", result())])
    rows = graphkit.failures(empty_store, "r", "forbidden-attempts")
    once = {"question": "q1", "tests": ["reads"], "statuses": ["refused"], "mechanism": "bubblewrap"}
    assert rows == [
        {**once, "attempt": "connect tcp"},
        {**once, "attempt": "open /etc/passwd"},
        {
            **{"question": "q3", "attempt": "fork", "tests": ["first", "second"], "statuses": ["success", "timeout"]},
            "mechanism": "bubblewrap",
        },
    ]
    assert [sentence("forbidden-attempts", row) for row in rows[1:]] == [
        "its code tried something that the sandbox forbids: open /etc/passwd, in the test 'reads'",
        "its code tried something that the sandbox forbids: fork, in the tests 'first', 'second'",
    ]


def test_code_that_passes_by_a_wrong_path(empty_store: Store, tmp_path: Path) -> None:
    """Code that passes all its tests is a right answer, and other code isn't, whatever the path."""
    [file] = world(tmp_path, "r")
    file.write_text(file.read_text().replace('"x:b"', '"x:c"'))
    graphkit.evaluate(file, store=empty_store, measures=["EdgeRecall"])
    scores = [
        Score(run="r", question="q1", measure="FactualCorrectness", value=1.0, grader="execution"),
        Score(run="r", question="q2", measure="FactualCorrectness", value=0.5, grader="execution"),
    ]
    load_scores(empty_store, scores)
    load_executions(empty_store, [execution("q1", result()), execution("q2", *TESTS)])
    rows = graphkit.failures(empty_store, "r", "right-answer-wrong-path")
    assert [(row["question"], row["judged"], row["target"]) for row in rows] == [
        ("q1", "FactualCorrectness by execution", "x:b")
    ]
    # A judge that grades the whole answer may say less.
    load_scores(empty_store, [Score(run="r", question="q1", measure="Correct", value=0.0, grader="judge")])
    assert graphkit.failures(empty_store, "r", "right-answer-wrong-path") == []
