"""The code of whole runs: the answers of the fixture in each sandbox, and what their scores come to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.measures.judged import TESTED
from graphkit.plugins.sandbox.execute_run import execute
from graphkit.plugins.sandbox.execution_files import read_executions
from graphkit.plugins.sandbox.running import programs
from graphkit.plugins.sandbox.sandbox import Sandbox, open_sandbox
from graphkit.scoring.evaluate import evaluate
from tests.helpers.cli import tiny, write_lines
from tests.helpers.code_answers import CODE_RUNS, EXPECTED, STOREFRONT_CODE, pass_rate
from tests.helpers.sandboxes import WALL_NAMES, wall_here


@pytest.fixture(scope="module", params=WALL_NAMES)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Open each sandbox of this machine."""
    with open_sandbox(walls=(wall_here(request.param),), programs=programs()) as opened:
        yield opened


@pytest.mark.parametrize("run", CODE_RUNS)
def test_the_answers_of_the_fixture(sandbox: Sandbox, run: str) -> None:
    """Each answer ends as its text says: right, wrong, broken, endless, hungry or curious; with its tests passed."""
    found = execute(STOREFRONT_CODE / "runs" / f"{run}.jsonl", sandbox=sandbox)
    reported = {(one.run, one.question): (one.status, one.passed, len(one.tests)) for one in found.executions}
    assert reported == {key: value for key, value in EXPECTED.items() if key[0] == run}
    assert found.summary.mean == pytest.approx(pass_rate(run), abs=1e-12)
    curious = [one for one in found.executions if one.status == "refused"]
    assert curious
    assert all(one.failing is not None and one.failing.attempts for one in curious)


SUM = {
    "entry_point": "f",
    "test_cases": [{"name": "a", "inputs": [1], "expected": 2}, {"name": "b", "inputs": [2], "expected": 4}],
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Answers: one passes both tests, one half of them, one has no code, one failed, and q6 has no record."""
    names = ("q1", "q2", "q3", "q4", "q5", "q6")
    questions = [{"id": name, "question": "?", "category": "code", **SUM} for name in names]
    questions.append({"id": "q7", "question": "Who calls z?"})
    write_lines(tmp_path / "data" / "questions.jsonl", questions)
    answers = {
        "q1": {"answer": "```python\ndef f(x): return 2 * x\n```"},
        "q2": {"answer": "```python\ndef f(x): return x + 1\n```"},
        "q3": {"answer": "Ask somebody else."},
        "q4": {"error": "timed out"},
        "q5": {},  # its answer wasn't logged
        "q7": {"answer": "y"},
    }
    file = tmp_path / "data" / "runs" / "r.jsonl"
    write_lines(file, [{"run": "r", "question_id": name, **fields} for name, fields in answers.items()])
    return file


def test_scores(run: Path, sandbox: Sandbox) -> None:
    """The share of passed tests; unscored with the reason where nothing says what the code would have been.

    q1 passes 2 of 2, q2 1 of 2 (2 + 1 isn't 4), q3 none of 2 for want of code: the mean of three is .5.
    """
    found = execute(run, sandbox=sandbox)
    assert [(one.question, one.value, one.grade) for one in found.scores] == [
        ("q1", 1.0, "success"),
        ("q2", 0.5, "test_failure"),
        ("q3", 0.0, "no_code"),
        ("q4", None, None),
        ("q5", None, None),
        ("q6", None, None),
    ]
    reasons = [one.reason for one in found.scores]
    assert reasons[:3] == [None, None, None]
    assert reasons[3] == "failed: timed out"
    assert reasons[5] == "the run has no record for this question"
    assert found.scores[1].explanation == "1 of 2 tests passed; b: 4 is expected, and it returned 3"
    assert {(one.measure, one.grader, one.version, one.category) for one in found.scores} == {
        (TESTED, "execution", "2", "code")
    }
    assert (found.summary.mean, found.summary.scored, found.summary.total) == (0.5, 3, 6)
    assert found.by_status == {"success": 1, "test_failure": 1, "no_code": 1}
    assert [one.question for one in found.executions] == ["q1", "q2", "q3"]


def test_files_beside_the_run(run: Path, sandbox: Sandbox) -> None:
    """Both files are read back as they were; a later execution replaces them, with what is no more."""
    found = execute(run, sandbox=sandbox, keep=True)
    folder = run.with_name("r.grades")
    scores, executions = folder / "execution.scores.jsonl", folder / "execution.executions.jsonl"
    assert tuple(read_scores([scores], Problems())) == found.scores
    assert tuple(read_executions([executions], Problems())) == found.executions
    write_lines(run, [{"run": "r", "question_id": "q4", "error": "timed out"}])
    execute(run, sandbox=sandbox, keep=True)
    assert not executions.exists()
    assert [one.reason for one in read_scores([scores], Problems())][3] == "failed: timed out"


def test_in_the_layers(run: Path, sandbox: Sandbox) -> None:
    """The scores are those of any other grader to an evaluation: the question without tests has none."""
    found = execute(run, sandbox=sandbox)
    result = evaluate(run, measures=["EdgeRecall"], scores=found.scores)
    summary = result.measures[TESTED]
    assert (summary.mean, summary.scored, summary.total) == (0.5, 3, 7)


def test_without_tests(tmp_path: Path, sandbox: Sandbox) -> None:
    """A dataset that asks for no code is reported so, with what to read."""
    with pytest.raises(InputError, match="no question carries test_cases"):
        execute(tiny(tmp_path), sandbox=sandbox)


def test_without_a_sandbox(run: Path) -> None:
    """Each record of code that ran without a wall says so, and so does the version of each score."""
    with open_sandbox(unsafe=True) as unsafe:
        found = execute(run, sandbox=unsafe)
    assert {one.mechanism for one in found.executions} == {"none", None}
    assert {one.version for one in found.scores} == {"2, without a sandbox"}


def test_wrong_tests_are_refused(run: Path, sandbox: Sandbox) -> None:
    """A question whose tests no code could pass is refused by its id; where it is left out, the others are run."""
    questions = run.parent.parent / "questions.jsonl"
    lines = [json.loads(line) for line in questions.read_text().splitlines()]
    lines[0]["test_cases"] = [{"name": "a", "inputs": [1]}]
    lines[1]["repository_context"] = {"os.path": ""}
    write_lines(questions, lines)
    with pytest.raises(InputError, match=r"questions\.jsonl:1: record 'q1': .*has no expected result"):
        execute(run, sandbox=sandbox)
    lines[0]["test_cases"] = SUM["test_cases"]
    write_lines(questions, lines)
    with pytest.raises(InputError, match=r"record 'q2': .*would replace the module os of the standard library"):
        execute(run, sandbox=sandbox)
    found = execute(run, sandbox=sandbox, problems=Problems("skip"))
    assert [one.question for one in found.scores] == ["q1", "q3", "q4", "q5", "q6"]
