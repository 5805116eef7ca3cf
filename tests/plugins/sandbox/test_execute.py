"""``graphkit execute``: what it prints, keeps and refuses."""

from __future__ import annotations

import inspect
import json
import shutil
from pathlib import Path

import pytest

from graphkit.plugins.sandbox import execute_command as command
from graphkit.plugins.sandbox.limits import MIB, SandboxLimits
from graphkit.plugins.sandbox.walls import Wall
from tests.helpers.cli import Graph, Process, inside, tiny
from tests.helpers.code_answers import EXPECTED, GRAPH_V2, STOREFRONT_CODE, pass_rate
from tests.helpers.sandboxes import WALL_NAMES

BETTER = "storefront-code-graph-v2"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """The best run of the fixture, in a copy that may be written beside."""
    shutil.copytree(STOREFRONT_CODE, tmp_path / "code", ignore=shutil.ignore_patterns("*.grades"))
    return tmp_path / "code" / "runs" / f"{BETTER}.jsonl"


def test_from_answers_to_failures(bubblewrap: Wall, code: Path, graph: Graph, tmp_path: Path) -> None:
    """Executed, kept beside the run and in the graph, evaluated, gated, explained and shown on the page."""
    done = inside("execute", code, cwd=tmp_path, env=graph.env, code=0)
    assert "sandbox: " in done.err
    assert f"FactualCorrectness {pass_rate(GRAPH_V2):.4f} (10/10 scored)" in done.out
    for (run, question), (status, passed, total) in EXPECTED.items():
        if run == GRAPH_V2:
            [line] = [line for line in done.out.splitlines() if line.strip().startswith(question)]
            assert line.split()[1:3] == [status, f"{passed}/{total}"]
    scores = code.with_name(f"{BETTER}.grades") / "execution.scores.jsonl"
    assert f"kept in {scores.parent}" in done.out
    evaluated = inside("evaluate", code, "--scores", scores, "--json", cwd=tmp_path, env=graph.env, code=0).object()
    generation = next(layer for layer in evaluated["scorecard"]["layers"] if layer["name"] == "generation")
    assert generation["score"] == pytest.approx(pass_rate(GRAPH_V2), abs=1e-9)
    gate = ("--scores", scores, "--fail-under", "FactualCorrectness=0.9")
    broken = inside("evaluate", code, *gate, cwd=tmp_path, env=graph.env, code=1)
    assert "FactualCorrectness" in broken.err
    failing = ("failures", BETTER, "--kind", "failed-executions", "--json")
    rows = inside(*failing, cwd=tmp_path, env=graph.env, code=0).out
    assert "sc-07" in rows
    inside("report", code, "-o", "page.html", cwd=tmp_path, env=graph.env, code=0)
    assert "Code that was executed" in (tmp_path / "page.html").read_text()


def test_json(bubblewrap: Wall, code: Path, tmp_path: Path) -> None:
    """One object a run: means, statuses, the sandbox, and each execution without its code."""
    found = inside("execute", code, "--no-store", "--json", cwd=tmp_path, code=0).object()
    assert found["run"] == BETTER
    assert found["mechanism"] in WALL_NAMES
    assert found["measures"]["FactualCorrectness"]["scored"] == 10
    assert sum(found["by_status"].values()) == 10
    assert found["unscored"] == {}
    first = found["executions"][0]
    assert (first["question"], first["status"]) == ("sc-01", "test_failure")
    assert "code" not in first
    assert [test["status"] for test in first["tests"]].count("success") == 3


def test_by_another_name(bubblewrap: Wall, code: Path, graph: Graph, tmp_path: Path) -> None:
    """By another name the executions are of that run, in the file beside and in the graph; another file is refused."""
    lines = [line for line in code.read_text().splitlines() if json.loads(line)["question_id"] == "sc-02"]
    other = code.with_name("other.jsonl")
    other.write_text("\n".join(lines) + "\n")
    inside("evaluate", code, cwd=tmp_path, env=graph.env, code=0)
    refused = inside("execute", other, cwd=tmp_path, env=graph.env, code=2).err
    assert f"the graph holds another run {BETTER!r}, from {code}" in refused
    inside("execute", other, "--run", "named", cwd=tmp_path, env=graph.env, code=0)
    [beside] = (code.with_name("other.grades") / "execution.executions.jsonl").read_text().splitlines()
    assert json.loads(beside)["run"] == "named"
    assert graph.store.read("MATCH (e:Execution {run: 'named'}) RETURN e.question AS q") == [{"q": "sc-02"}]


def test_without_a_sandbox_says_so(code: Path, tmp_path: Path) -> None:
    """Code runs unprotected only on request, and each run says so; one harmless answer is left of the run."""
    lines = [line for line in code.read_text().splitlines() if json.loads(line)["question_id"] == "sc-02"]
    code.write_text("\n".join(lines) + "\n")
    done = inside("execute", code, "--no-store", "--unsafe-no-sandbox", "--json", cwd=tmp_path, code=0)
    assert "no sandbox: the code of the answers has all your permissions" in done.err
    assert (done.object()["mechanism"], done.object()["by_status"]) == ("none", {"success": 1})


def test_no_sandbox_is_a_refusal(process: Process, code: Path, tmp_path: Path) -> None:
    """If no wall can be built nothing is run: the machine's own tools are out of reach here."""
    empty = tmp_path / "empty"
    empty.mkdir()
    # No bwrap on the path, and no package that speaks to Landlock.
    (empty / "py_landlock.py").write_text("raise ImportError('no Landlock here')")
    env = {"PATH": str(empty), "PYTHONPATH": str(empty)}
    done = process("execute", code, "--no-store", cwd=tmp_path, env=env, code=2)
    assert "no sandbox works on this machine" in done.err
    assert "bubblewrap isn't installed" in done.err
    assert "no Landlock here" in done.err
    assert "--unsafe-no-sandbox" in done.err
    assert not code.with_name(f"{BETTER}.grades").exists()


def test_a_dataset_without_tests(tmp_path: Path) -> None:
    """It is reported what a question has to carry, before anything is kept."""
    run = tiny(tmp_path)
    done = inside("execute", run, "--no-store", "--unsafe-no-sandbox", cwd=tmp_path, code=2)
    assert "no question carries test_cases" in done.err
    assert not run.with_name("r.grades").exists()


def test_defaults_are_those_of_the_library() -> None:
    """The defaults in the help are those of the library."""
    assert SandboxLimits().memory == command.MEMORY * MIB
    assert "memory" in inspect.signature(command.execute).parameters


def test_own_methods_are_trusted_on_request(wall: Wall, tmp_path: Path) -> None:
    """A test that the answer's own method decides passes no gate; trusted it does, and the record says by what."""
    test = {"name": "t", "inputs": [20], "assertion": "result.equals(Money(41))"}
    code = "class Money:\n    def __init__(self, a): self.a = a\n    def equals(self, other): return True\n"
    answer = f"```python\n{code}def f(x): return Money(7)\n```"
    run = tiny(
        tmp_path,
        [{"id": "q1", "question": "?", "entry_point": "f", "test_cases": [test]}],
        [{"run": "r", "question_id": "q1", "answer": answer}],
    )
    scores = run.with_name("r.grades") / "execution.scores.jsonl"
    gate = ("evaluate", run, "--no-store", "--scores", scores, "--fail-under", "FactualCorrectness=1")
    why = "decided by the answer's own method Money.equals"

    done = inside("execute", run, "--no-store", cwd=tmp_path, code=0)
    assert f"1 test not counted without --trust-own-methods: {why}" in done.out
    assert "FactualCorrectness 0.0000" in done.out
    assert json.loads(scores.read_text())["version"] == "2"
    inside(*gate, cwd=tmp_path, code=1)

    done = inside("execute", run, "--no-store", "--trust-own-methods", cwd=tmp_path, code=0)
    assert f"1 test counted as passed: {why}" in done.out
    [kept] = json.loads(scores.with_name("execution.executions.jsonl").read_text())["tests"]
    assert (kept["status"], kept["decided_by"]) == ("success", why)
    score = json.loads(scores.read_text())
    assert (score["value"], score["version"]) == (1.0, "2, trusting own methods")
    assert why in score["explanation"]
    inside(*gate, cwd=tmp_path, code=0)
