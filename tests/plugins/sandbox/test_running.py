"""One answer through the tests of its question: what each test is worth, and what is reported of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from graphkit.plugins.sandbox.executions import CodeTestResult, Execution
from graphkit.plugins.sandbox.limits import MIB, SandboxLimits
from graphkit.plugins.sandbox.running import Unexecuted, execute_all
from graphkit.plugins.sandbox.sandbox import Sandbox, open_sandbox
from graphkit.records.models import Question
from graphkit.records.scores import answer_hash
from graphkit.records.structs import QuestionStruct, struct_of
from tests.helpers.sandboxes import WALL_NAMES, wall_here


@pytest.fixture(scope="module", params=WALL_NAMES)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Open each sandbox of this machine, with little memory so that hungry code is stopped soon."""
    with open_sandbox(walls=(wall_here(request.param),), limits=SandboxLimits(memory=128 * MIB, printed=MIB)) as opened:
        yield opened


def asked(*tests: dict[str, Any], **fields: Any) -> QuestionStruct:
    """Return a question with these tests, of a function ``f`` where nothing else is said."""
    named = [{"name": f"t{number}", **test} for number, test in enumerate(tests)]
    given = {"id": "q", "question": "?", "entry_point": "f", "test_cases": named, **fields}
    return struct_of(QuestionStruct, Question.model_validate(given))


def run(sandbox: Sandbox, question: QuestionStruct, code: str) -> Execution:
    """Return what becomes of code, as the only block of an answer."""
    found = execute_all([(question, f"```python\n{code}\n```\n")], "r", sandbox)[question.id]
    assert isinstance(found, Execution), found
    return found


def one(sandbox: Sandbox, code: str, question: QuestionStruct | None = None, **test: Any) -> CodeTestResult:
    """Return how a single test goes; it calls ``f`` without arguments and expects 1 where nothing else is said."""
    if not {"expected", "raises", "assertion"} & test.keys():
        test["expected"] = 1
    return run(sandbox, question or asked(test), code).tests[0]


# By hand: what the code does is read off its text.
@pytest.mark.parametrize(
    ("code", "test", "status", "message", "line"),
    [
        ("def f(): return 1", {}, "success", None, None),
        ("def f(): return 2", {}, "test_failure", "1 is expected, and it returned 2", None),
        ("def f(): return True", {}, "test_failure", "1 is expected, and it returned True", None),
        ("def f(a, b): return a - b", {"inputs": [3, 2]}, "success", None, None),
        ("def f(a, b): return a - b", {"inputs": {"b": 2, "a": 3}}, "success", None, None),
        ("def f(): return 0.1 + 0.2", {"expected": 0.3}, "success", None, None),
        ("def f(): return 0.31", {"expected": 0.3, "tolerance": 0.05}, "success", None, None),
        ("def f(): return 0.31", {"expected": 0.3, "tolerance": 0.01}, "test_failure", None, None),
        ("def f(): return {2, 1}", {"expected": [1, 2]}, "success", None, None),
        ("def f(): return (1, 2)", {"expected": [1, 2]}, "success", None, None),
        ("def f():\n    x = {}\n    return x['a']", {}, "runtime_error", "KeyError: 'a'", 3),
        ("def f(): raise ValueError('no')", {"raises": "ValueError"}, "success", None, None),
        ("def f(): raise UnicodeError('no')", {"raises": "ValueError"}, "success", None, None),
        ("class E(LookupError): pass\ndef f(): raise E", {"raises": "E"}, "success", None, None),
        (
            "def f(): raise KeyError('a')",
            {"raises": "ValueError"},
            "test_failure",
            "ValueError is expected, and it raised KeyError: 'a'",
            1,
        ),
        (
            "def f(): return 1",
            {"raises": "ValueError"},
            "test_failure",
            "ValueError is expected, and nothing was raised",
            None,
        ),
        ("def f(): return [1]", {"assertion": "f() == [1]"}, "success", None, None),
        ("def f(): return [1]", {"assertion": "assert f() == [2], 'why'"}, "test_failure", "why", None),
        ("def f(x): return x", {"inputs": [4], "assertion": "result == 4"}, "success", None, None),
        ("def f(: return 1", {}, "syntax_error", None, 1),
        ("def g(): return 1", {}, "runtime_error", None, None),
        ("def f():\n    while True: pass", {"timeout": 0.3}, "timeout", "it didn't end within 0.3 seconds", None),
        ("import os\ndef f(): os._exit(3)", {}, "runtime_error", "it ended without a result, with exit status 3", None),
        ("def f(): return bytearray(1 << 31)", {}, "memory", "MemoryError", 1),
        (
            "def f():\n    while True: print('x' * 1000)",
            {"timeout": 20},
            "refused",
            "it printed more than 1 MiB",
            None,
        ),
        ("def f(): return open('/etc/passwd').read()", {}, "refused", None, 1),
        ("import socket\ndef f(): return socket.create_connection(('127.0.0.1', 9))", {}, "refused", None, 2),
        ("import subprocess\ndef f(): return subprocess.run(['ls'])", {}, "refused", None, 2),
        ("import os\ndef f(): return os.fork()", {}, "refused", None, 2),
    ],
)
def test_what_a_test_is_worth(
    sandbox: Sandbox, code: str, test: dict[str, Any], status: str, message: str | None, line: int | None
) -> None:
    """Each way to end has its status, with what went wrong and the line of the code."""
    found = one(sandbox, code, **test)
    assert found.status == status, found
    if message is not None:
        assert message in (found.message or "")
    if status == "success":
        assert found.message is None
    assert found.line == line
    assert found.duration_ms is not None
    assert found.duration_ms >= 0


def test_what_was_tried_is_reported(sandbox: Sandbox) -> None:
    """Code that goes on after a refusal may be right, and what it tried is reported all the same."""
    code = "def f():\n    try:\n        open('/etc/passwd')\n    except OSError:\n        pass\n    return 1"
    found = one(sandbox, code)
    assert (found.status, found.attempts) == ("success", ("open /etc/passwd",))


def test_what_is_reported_of_a_failure(sandbox: Sandbox) -> None:
    """Expected, returned and printed stand beside the message; no path of this machine is in it."""
    found = one(sandbox, "import os\ndef f():\n    print('hello', os.getcwd() + '/x')\n    return 'no'", expected="yes")
    assert (found.expected, found.returned, found.printed) == ("'yes'", "'no'", "hello x\n")


def test_stand_ins_are_imported(sandbox: Sandbox) -> None:
    """The code imports from packages that the question lays out, and from nothing else that isn't Python's own."""
    stand_ins = {"shop.prices.tax": "RATE = 0.5", "shop.prices": "from .tax import RATE"}
    question = asked({"inputs": [4], "expected": 6.0}, {"inputs": [0], "expected": 0}, repository_context=stand_ins)
    found = run(sandbox, question, "from shop.prices import RATE\ndef f(net): return net * (1 + RATE)")
    assert (found.status, found.passed) == ("success", 2)
    failing = one(sandbox, "import pydantic\ndef f(): return 1")
    assert (failing.status, failing.line) == ("runtime_error", 1)
    assert "No module named 'pydantic'" in (failing.message or "")


def test_a_program_reads_and_prints(sandbox: Sandbox) -> None:
    """Without an entry point the code is a program: text goes in, and what it prints is compared."""
    code = "name = input()\nprint('Hello', name)"
    question = asked(
        {"inputs": "Ada\n", "expected": "Hello Ada"}, {"inputs": "Bob\n", "expected": "Hi Bob"}, entry_point=None
    )
    found = run(sandbox, question, code)
    assert [test.status for test in found.tests] == ["success", "test_failure"]
    assert "it printed 'Hello Bob" in (found.tests[1].message or "")


def test_tests_do_not_see_each_other(sandbox: Sandbox) -> None:
    """Changes of one test to files, modules or the environment are gone in the next one."""
    code = (
        "import builtins, os\n"
        "def f():\n"
        "    seen = [os.path.exists('left'), hasattr(builtins, 'left'), 'LEFT' in os.environ, len(os.listdir('.'))]\n"
        "    open('left', 'w').write('x'); builtins.left = 1; os.environ['LEFT'] = 'x'; os.mkdir('folder')\n"
        "    return seen"
    )
    clean = {"expected": [False, False, False, 0]}
    found = run(sandbox, asked(*([clean] * 8)), code)
    assert found.passed == 8, found.tests


def test_the_whole(sandbox: Sandbox) -> None:
    """The whole has the status of the first test that failed, the code that was run and the hash of the answer."""
    question = asked({"inputs": [1], "expected": 1}, {"inputs": [0], "expected": 1}, {"inputs": [2], "expected": 9})
    answer = "Text.\n\n```python\ndef f(x):\n    return x // x\n```\n"
    found = execute_all([(question, answer)], "r", sandbox)["q"]
    assert isinstance(found, Execution)
    assert (found.status, found.passed, len(found.tests)) == ("runtime_error", 1, 3)
    assert [test.status for test in found.tests] == ["success", "runtime_error", "test_failure"]
    assert found.code == "def f(x):\n    return x // x\n"
    assert (found.mechanism, found.language, found.entry_point) == (sandbox.wall.name, "python", "f")
    assert found.answer_hash == answer_hash(answer)
    assert found.failing is found.tests[1]


def test_an_answer_without_code(sandbox: Sandbox) -> None:
    """It fails every test, and nothing is run."""
    found = execute_all([(asked({"expected": 1}), "I can't say.")], "r", sandbox)["q"]
    assert isinstance(found, Execution)
    assert (found.status, found.mechanism, found.code, found.duration_ms) == ("no_code", None, None, None)
    assert [test.status for test in found.tests] == ["no_code"]


def test_a_language_without_a_runner(sandbox: Sandbox) -> None:
    """Code that can't be run here isn't wrong for that: it has no execution, and why is reported."""
    found = execute_all([(asked({"expected": 1}, code_language="cobol"), "```cobol\nx\n```")], "r", sandbox)
    assert found["q"] == Unexecuted("code in cobol isn't run; there are python, javascript")


def test_forged_results(sandbox: Sandbox) -> None:
    """Code may spoil its own result, and never more: the expected value isn't there to be returned."""
    forged = '{"kind": "returned", "value": 1}'
    write = f"import os\ndef f():\n    os.write(4, b'{forged}\\\\n')\n    os._exit(0)"
    assert one(sandbox, write, expected=2).status == "refused"
    for data in ("b'{'", "b'[' * 100000", "b'null'", "bytes([255, 254])", "b'{\"kind\": 3}'", "b'x' * (3 << 20)"):
        found = one(sandbox, f"import os\ndef f():\n    os.write(4, {data})\n    os._exit(0)")
        assert found.status == "refused", (data, found)
        assert (found.message or "").startswith("it wrote to the channel of results: "), found
        assert found.attempts == ("forge a result",)
        # The sandbox goes on as before.
        assert one(sandbox, "def f(): return 1").status == "success"


def test_runs_side_by_side(sandbox: Sandbox) -> None:
    """As many tests as the sandbox has places sleep at the same time, and each keeps its own result."""
    questions = [asked({"inputs": [number], "expected": number}, id=f"q{number}") for number in range(4 * sandbox.jobs)]
    answer = "```python\nimport time\ndef f(x):\n    time.sleep(0.05)\n    return x\n```"
    done: list[int] = []
    found = execute_all([(question, answer) for question in questions], "r", sandbox, done.append)
    assert list(found) == [question.id for question in questions]
    assert all(isinstance(each, Execution) and each.status == "success" for each in found.values())
    assert sum(done) == len(questions)
