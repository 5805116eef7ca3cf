"""The code dataset of the storefront is what its README says: made from its sources, and its answers run bare.

Plain Python, git and Node on purpose: what checks the fixture must not be what the fixture is there to check. The
endless and the hungry answers are not run here.
"""

import ast
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from graphkit.records.models import Question
from tests import test_fixture_storefront as storefront
from tests.helpers.code_answers import CODE_RUNS, EXPECTED, STOREFRONT_CODE, pass_rate
from tests.helpers.datasets import STOREFRONT
from tests.helpers.guard.sitecustomize import guarded

Row = dict[str, Any]
#: Status and whether it passed, of each test.
Results = list[tuple[str, bool]]


def read(name: str) -> list[Row]:
    """Rows of a committed JSONL file."""
    return [json.loads(line) for line in (STOREFRONT_CODE / name).read_text(encoding="utf-8").splitlines()]


QUESTIONS = {row["id"]: row for row in read("questions.jsonl")}
ANSWERS = {(run, row["question_id"]): row for run in CODE_RUNS for row in read(f"runs/{run}.jsonl")}


@pytest.fixture(scope="module")
def repos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repositories of the storefront, built once from the history."""
    target = tmp_path_factory.mktemp("storefront")
    storefront.script("build_repos.py", target)
    return target


# --- what is made -----------------------------------------------------------------------------------------------------


def test_dataset_is_reproduced(repos: Path, tmp_path: Path) -> None:
    """dataset.py writes every JSONL file again, byte for byte: nobody has edited them."""
    command = [sys.executable, "-B", str(STOREFRONT_CODE / "dataset.py"), str(repos), str(tmp_path)]
    env = guarded(os.environ | {"PYTHONPATH": str(STOREFRONT)})
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.jsonl"))
    assert len(made) == 8
    for path in made:
        assert (tmp_path / path).read_bytes() == (STOREFRONT_CODE / path).read_bytes()


# --- the questions ----------------------------------------------------------------------------------------------------


def test_spread_of_the_questions() -> None:
    """Eight questions ask for Python and two for JavaScript, and every way of stating a test occurs."""
    assert [row.get("code_language", "python") for row in QUESTIONS.values()].count("javascript") == 2
    assert len(QUESTIONS) == 10
    assert sum("entry_point" not in row for row in QUESTIONS.values()) == 1
    tests = [test for row in QUESTIONS.values() for test in row["test_cases"]]
    for way in ("expected", "raises", "assertion"):
        assert sum(way in test for test in tests) >= 3
    for kind in (bool, int, float, str, list, dict):
        assert any(type(test.get("expected")) is kind for test in tests), kind
    for kind in (list, dict, str):
        assert any(type(test.get("inputs")) is kind for test in tests), kind
    assert all(3 <= len(row["test_cases"]) <= 5 for row in QUESTIONS.values())


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_gold_holds_in_the_files(repos: Path, question: Row) -> None:
    """A question can be read, spans two repositories, and its gold steps hold in the files of stack-2."""
    Question.model_validate(question)
    for path in question["paths"]:
        for step in path["steps"]:
            assert storefront.fault(repos, "stack-2", step) is None, step
    storefront.test_expectations_exist(repos, question)
    assert len(question["commits"]) >= 2


# --- the stand-ins ----------------------------------------------------------------------------------------------------

CONTEXT = {name: text for row in QUESTIONS.values() for name, text in row["repository_context"].items()}
COPIES = ("api.errors", "orders.errors", "orders.settings")
DATA = {
    "infra.compose": "compose.yaml",
    "infra.production": "production.yaml",
    "contracts.orders": "orders.yaml",
    "web/errors": "src/errors.ts",
    "web/money": "src/money.ts",
}


def real(repos: Path, repo: str, path: str) -> str:
    """A file of stack-2."""
    return storefront.git(repos / repo, "show", f"v2.1.0:{path}")


@pytest.mark.parametrize("name", sorted(CONTEXT))
def test_stand_ins_are_faithful(repos: Path, name: str) -> None:
    """A stand-in can be compiled, and what it has is in the real file: its functions, or the texts of its data."""
    text, repo = CONTEXT[name], re.split(r"[./]", name)[0]
    if "/" not in name:
        tree = ast.parse(text)
        compile(text, name, "exec")
    if name in COPIES:
        assert text == real(repos, repo, f"{name.replace('.', '/')}.py")
    elif name in DATA:
        # Every text in quotes stands in the real file, whatever its quotes are.
        known = real(repos, repo, DATA[name])
        code = re.sub(r'/\*\*.*?\*/|"""(?s:.*?)"""', "", text)
        texts = re.findall(r'"([^"]+)"', code)
        assert texts or name == "web/money"
        assert [found for found in texts if found not in known] == []
    elif name == "schema.tables":
        assert references(text) == {
            key: found
            for path in storefront.git(repos / "schema", "ls-tree", "-r", "--name-only", "v2.1.0").split()
            for key, found in references(real(repos, "schema", path)).items()
        }
    else:
        known = real(repos, repo, f"{name.replace('.', '/')}.py")
        mine = {node.name: arguments(node) for node in tree.body if isinstance(node, ast.FunctionDef)}
        there = {node.name: arguments(node) for node in ast.parse(known).body if isinstance(node, ast.FunctionDef)}
        assert mine.items() <= there.items()
        for constant in ("TAX_PERCENT", "WINDOW_SECONDS"):
            found = re.search(rf"^{constant} = .+$", known, re.M)
            assert found is None or found[0] in text.splitlines()


def arguments(function: ast.FunctionDef) -> list[str]:
    """Names of the arguments of a function."""
    return [argument.arg for argument in function.args.args]


def references(text: str) -> dict[str, set[str]]:
    """Return the objects that each statement of a text creates, and those that it references or reads."""
    statements = re.split(r"(?=CREATE )", re.sub(r'"\s+"', "", text))[1:]
    return {
        re.findall(r"CREATE \w+ (\w+)", statement)[0]: set(re.findall(r"(?:REFERENCES|FROM|JOIN) (\w+)", statement))
        for statement in statements
    }


# --- running code bare ------------------------------------------------------------------------------------------------

PYTHON_RUNNER = """
import json, sys
job = json.loads(sys.argv[1])
sys.path.insert(0, job["folder"])
results = []
for test in job["tests"]:
    raised, value = None, None
    names = {"__name__": "answer"}
    try:
        exec(compile(job["code"], "answer.py", "exec"), names)
        if "inputs" in test or "assertion" not in test:
            inputs = test.get("inputs", [])
            call = names[job["entry_point"]]
            value = call(**inputs) if isinstance(inputs, dict) else call(*inputs)
        if "assertion" in test:
            names["result"] = value
            try:
                condition = compile(test["assertion"], "test", "eval")
            except SyntaxError:
                exec(test["assertion"], names)
            else:
                assert eval(condition, names)
            value = None
    except Exception as error:
        raised = [kind.__name__ for kind in type(error).__mro__]
    results.append({"value": value, "raised": raised})
print()
print(json.dumps(results, default=lambda found: {"a set": list(found)}))
"""

JAVASCRIPT_RUNNER = """
const job = JSON.parse(process.argv[1]);
const results = job.tests.map((test) => {
  try {
    const entry = new Function("require", `${job.code}; return ${job.entry_point};`)(require);
    const value = entry(...test.inputs);
    if (!test.assertion) return { value, raised: null };
    if (new Function("result", `return ${test.assertion};`)(value)) return { value: null, raised: null };
    return { value: null, raised: ["AssertionError"] };
  } catch (error) {
    return { value: null, raised: [error.constructor.name, "Error"] };
  }
});
console.log();
console.log(JSON.stringify(results));
"""


def code_of(answer: str, language: str, entry_point: str | None) -> str:
    """Code of an answer: its blocks of the language, without examples of use and without earlier definitions."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", answer, re.M | re.S)
    labels = {"python": ("python", "py"), "javascript": ("javascript", "js")}[language]
    chosen = [code for label, code in blocks if label in labels] or [code for label, code in blocks if not label]
    defining = re.compile(r"^(import|from|def|class|function|const|let) ?(\w*)", re.M)
    parts = [(code, [name for _, name in defining.findall(code)]) for code in chosen]
    if entry_point is None:
        return "\n".join(chosen)
    last = max((number for number, (_, names) in enumerate(parts) if entry_point in names), default=-1)
    return "\n".join(
        code for number, (code, names) in enumerate(parts) if names and (number == last or entry_point not in names)
    )


def run_tests(question: Row, code: str, folder: Path) -> Results:
    """Return the results of a question's tests with some code, without any sandbox."""
    javascript = question.get("code_language") == "javascript"
    for name, text in question["repository_context"].items():
        path = folder / (f"{name}.js" if javascript else f"{name.replace('.', '/')}.py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if "entry_point" not in question:
        return [run_program(test, code, folder) for test in question["test_cases"]]
    job = {"code": code, "entry_point": question["entry_point"], "tests": question["test_cases"], "folder": str(folder)}
    if javascript:
        if (node := shutil.which("node")) is None:
            pytest.skip("there is no Node on this machine")
        job["code"] = as_commonjs(code)
        command: Sequence[str] = [node, "-e", JAVASCRIPT_RUNNER, json.dumps(job)]
    else:
        command = [sys.executable, "-B", "-c", PYTHON_RUNNER, json.dumps(job)]
    env = guarded({"NODE_PATH": str(folder)})
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=True)
    results = json.loads(done.stdout.splitlines()[-1])
    return [
        judged(test, result["raised"], result["value"])
        for test, result in zip(question["test_cases"], results, strict=True)
    ]


def as_commonjs(code: str) -> str:
    """JavaScript with `require` in place of `import`, as the runner evaluates it."""
    required = re.sub(r"^import ({.+}) from (.+);$", r"const \1 = require(\2);", code, flags=re.M)
    return re.sub(r"^export (?=function)", "", required, flags=re.M)


def run_program(test: Row, code: str, folder: Path) -> tuple[str, bool]:
    """Return the result of one test of a program: text in, text out."""
    (folder / "program.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-B", "program.py"]
    done = subprocess.run(
        command,
        cwd=folder,
        env=guarded({}),
        input=test["inputs"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    raised = None if done.returncode == 0 else re.findall(r"\w+", done.stderr.splitlines()[-1].partition(":")[0])
    return judged(test, raised, done.stdout)


def judged(test: Row, raised: list[str] | None, value: Any) -> tuple[str, bool]:
    """Status of a test, and whether it passed."""
    if raised is not None:
        if test.get("raises") in raised:
            return "success", True
        kinds = {"SyntaxError": "syntax_error", "AssertionError": "test_failure"}
        return next((kinds[name] for name in raised if name in kinds), "runtime_error"), False
    passed = "raises" not in test and ("assertion" in test or same(value, test["expected"]))
    return "success" if passed else "test_failure", passed


def same(value: Any, expected: Any) -> bool:
    """Whether a returned value is the expected one."""
    if isinstance(value, bool) or isinstance(expected, bool):
        return value is expected
    if isinstance(value, int | float) and isinstance(expected, int | float):
        return math.isclose(value, expected, rel_tol=1e-6)
    if isinstance(value, dict) and list(value) == ["a set"]:
        return isinstance(expected, list) and sorted(value["a set"]) == sorted(expected)
    if isinstance(value, dict) and isinstance(expected, dict):
        return value.keys() == expected.keys() and all(same(value[key], expected[key]) for key in value)
    if isinstance(value, list) and isinstance(expected, list):
        return len(value) == len(expected) and all(same(*pair) for pair in zip(value, expected, strict=True))
    return bool(type(value) is type(expected) and value == expected)


def marks_of(name: str) -> tuple[pytest.MarkDecorator, ...]:
    """Return the mark of a question whose code runs in Node."""
    return (pytest.mark.node,) if "code_language" in QUESTIONS[name] else ()


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks_of(name)) for name in QUESTIONS])
def test_reference_solution_passes(name: str, tmp_path: Path) -> None:
    """The solution written by hand passes every test of its question."""
    question = QUESTIONS[name]
    [path] = (STOREFRONT_CODE / "reference").glob(f"{question['id']}.*")
    assert run_tests(question, path.read_text(encoding="utf-8"), tmp_path) == [("success", True)] * len(
        question["test_cases"]
    )


# --- the answers ------------------------------------------------------------------------------------------------------

#: The one answer with a loop that ends.
WALKS = ("storefront-code-graph-v2", "sc-04")
RUN_BARE = [key for key, (status, _, _) in EXPECTED.items() if status not in ("timeout", "memory", "no_code")]


@pytest.mark.parametrize(("run", "name"), [pytest.param(*key, marks=marks_of(key[1])) for key in RUN_BARE])
def test_answers_are_what_is_said_of_them(run: str, name: str, tmp_path: Path) -> None:
    """An answer passes as many tests as is said, and its first failure is of the kind that is said.

    What reads the accounts and asks for the network is refused by a sandbox only; bare it ends where nobody listens.
    """
    question, (status, passed, total) = QUESTIONS[name], EXPECTED[run, name]
    code = code_of(ANSWERS[run, name]["answer"], question.get("code_language", "python"), question.get("entry_point"))
    results = run_tests(question, code, tmp_path)
    assert (sum(good for _, good in results), len(results)) == (passed, total)
    first = next((kind for kind, good in results if not good), "success")
    assert first == ("runtime_error" if status == "refused" else status)


def test_dangerous_answers_are_bounded() -> None:
    """Endless, hungry and curious answers act in a way that is harmless to somebody who runs them by mistake."""
    for (run, name), (status, _, _) in EXPECTED.items():
        answer = ANSWERS[run, name]["answer"]
        assert ("64 * 1024 * 1024" in answer and "range(64" in answer) == (status == "memory")
        assert ("while" in answer.partition("```")[2]) == (status == "timeout" or (run, name) == WALKS)
        assert ('open("/etc/passwd"' in answer and '("127.0.0.1", 9), timeout=1' in answer) == (status == "refused")


@pytest.mark.parametrize("run", CODE_RUNS)
def test_runs_show_every_kind(run: str) -> None:
    """Each run holds an answer of each kind to every question, and nothing was given up."""
    assert [name for known, name in ANSWERS if known == run] == list(QUESTIONS)
    assert not any("error" in ANSWERS[run, name] for name in QUESTIONS)
    kinds = {status for (known, _), (status, _, _) in EXPECTED.items() if known == run}
    assert kinds >= {"success", "test_failure", "runtime_error", "syntax_error", "timeout", "memory", "refused"}
    assert ("no_code" in kinds) == (run == CODE_RUNS[0])
    assert all(not ANSWERS[run, name]["traversal"] for name in QUESTIONS) == (run == CODE_RUNS[0])


def test_readme_tells_what_becomes_of_each_answer() -> None:
    """The table of the README has each answer's status with its tests, and the mean pass rate of each run."""
    text = (STOREFRONT_CODE / "README.md").read_text(encoding="utf-8").splitlines()
    for name in QUESTIONS:
        cells = [f"{status} {passed}/{total}" for status, passed, total in (EXPECTED[run, name] for run in CODE_RUNS)]
        assert f"| {name} | {' | '.join(cells)} |" in text
    for run in CODE_RUNS:
        assert f"| {run} | {edge_recall(run):.4f} | {pass_rate(run):.4f} |" in text
    assert pass_rate(CODE_RUNS[0]) < pass_rate(CODE_RUNS[1]) < pass_rate(CODE_RUNS[2])


def edge_recall(run: str) -> float:
    """Mean EdgeRecall of a run."""
    shares = []
    for name, question in QUESTIONS.items():
        walked: set[storefront.Sided] = {(storefront.edge_of(step), None) for step in ANSWERS[run, name]["traversal"]}
        wanted = storefront.required(question, walked)
        shares.append(len(wanted & walked) / len(wanted))
    return sum(shares) / len(shares)
