"""The runner of Python, in a process of its own."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.sandbox.languages import PYTHON
from graphkit.plugins.sandbox.returned_values import decoded
from graphkit.plugins.sandbox.value_equality import equal
from graphkit.plugins.sandbox.value_texts import shown
from tests.helpers.cli import environment
from tests.helpers.suites import one_fast
from tests.plugins.sandbox.running import in_python


def function(body: str, **job: Any) -> dict[str, Any]:
    """Run a test of a function ``f``."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return in_python(f"def f(*args, **named):\n{lines}\n", entry_point="f", **job)


@pytest.mark.parametrize(
    ("inputs", "expected"), [(None, [[], {}]), ([1, "a"], [[1, "a"], {}]), ({"a": 1}, [[], {"a": 1}]), ([], [[], {}])]
)
def test_inputs(inputs: Any, expected: Any) -> None:
    """A list are arguments, an object named ones, and nothing none."""
    found = function("return args, named", inputs=inputs)
    assert found["kind"] == "returned"
    assert equal(expected, decoded(found["value"]))


@one_fast(
    ("code", "entry_point", "expected"),
    [
        ("async def f():\n    import asyncio\n    await asyncio.sleep(0)\n    return 1", "f", 1),
        ("def f():\n    yield 1\n    yield 2", "f", [1, 2]),
        ("async def f():\n    yield 1\n    yield 2", "f", [1, 2]),
        ("f = lambda: 3", "f", 3),
        ("class S:\n    def __init__(self):\n        self.x = 5\n    def f(self):\n        return self.x", "S.f", 5),
        ("class S:\n    @staticmethod\n    def f():\n        return 6", "S.f", 6),
        ("class S:\n    @classmethod\n    def f(cls):\n        return cls.__name__", "S.f", "S"),
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 1", "P", {"x": 1}),
        ("def f():\n    return __name__", "f", "answer"),
        ("import answer\ndef f():\n    return answer.f is f", "f", True),
        ("import pickle\nclass C: pass\ndef f():\n    return type(pickle.loads(pickle.dumps(C()))) is C", "f", True),
        ("import sys, inspect\ndef f():\n    return inspect.getsource(f).splitlines()[0]", "f", "def f():"),
        # Python itself evaluates annotations only when they are asked for, from 3.14 on.
        ("def f(x: undefined = 1):\n    return x", "f", 1 if sys.version_info >= (3, 14) else None),
    ],
    "a process for each kind",
    0,
    1,
    4,
    8,
)
def test_entry_points(code: str, entry_point: str, expected: Any) -> None:
    """Functions of every kind are called; annotations are evaluated as in a module without a future."""
    found = in_python(code, entry_point=entry_point)
    if expected is None:
        assert found["kind"] == "raised"
        assert found["message"] == "NameError: name 'undefined' is not defined"
        return
    assert found["kind"] == "returned", found
    assert equal(expected, decoded(found["value"]))


@pytest.mark.parametrize(("code", "entry_point"), [("g = 1", "f"), ("f = 1", "f"), ("class S: pass", "S.f")])
def test_no_entry_point(code: str, entry_point: str) -> None:
    """A missing or uncallable entry point is reported by name."""
    found = in_python(code, entry_point=entry_point)
    assert found["kind"] == "no_entry_point"
    assert entry_point in found["message"]


def test_a_program() -> None:
    """A program runs as one: by its name, with its input, and what it prints is its result."""
    code = "import sys\nif __name__ == '__main__':\n    print(int(input()) + 1)\n    sys.stdout.buffer.write(b'x')\n"
    found = in_python(code + "print(sys.stdin.read())\nsys.exit(0)", stdin="4\nrest")
    assert found["kind"] == "returned"
    # The buffer below isn't waiting for what is above.
    assert sorted(found["value"].split()) == sorted(["5", "x", "rest"]) or found["value"] == "5\nxrest\n"
    assert found["stdout"] == found["value"]
    assert in_python("print(open(0).read())", stdin="é")["value"] == "é\n"


PROGRAMS = [
    "print(*sorted(map(int, input().split())))",
    "import sys\nfor line in sys.stdin:\n    print(line.rstrip()[::-1])",
    "import sys\nprint(sys.stdin.buffer.read())",
    "print('a', end='')\nimport sys\nsys.stdout.write('b\\n')\nsys.stdout.flush()\nprint(__name__, sys.argv)",
    "from dataclasses import dataclass\n@dataclass(order=True)\nclass A:\n    x: int\nprint(max(A(1), A(2)))",
    "import asyncio\nasync def main():\n    print(await asyncio.sleep(0, 'é'))\nasyncio.run(main())",
    "import threading\nt = threading.Thread(target=print, args=('in a thread',))\nt.start()\nt.join()",
    "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()\nprint('early')",
    "import sys\nprint('closed')\nsys.stdout.close()",
    "import io, sys\nprint('kept')\nsys.stdout = io.StringIO()\nprint('lost')",
    "def f(x: 'int') -> 'str': ...\nimport typing\nprint(typing.get_type_hints(f))",
    "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))).__module__)",
    "print(sum(range(10 ** 6)), 0.1 + 0.2, 2 ** 200)",
]


@one_fast("code", PROGRAMS, "two processes for each program", 0)
def test_programs_as_in_plain_python(code: str, tmp_path: Path) -> None:
    """A program prints here what it prints where Python runs its file."""
    text = "3 1 2\nzweite Zeile"
    (tmp_path / "answer.py").write_text(code)
    plain = subprocess.run(
        [str(PYTHON.program()), "answer.py"],
        input=text,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(),
        check=True,
    )
    found = in_python(code, stdin=text)
    assert (found["kind"], found["value"], found["stdout"]) == ("returned", plain.stdout, plain.stdout)


def test_a_program_that_fails() -> None:
    """An exit code is an exception, and what is printed without end costs no memory."""
    assert in_python("import sys\nsys.exit(3)")["exception"][0] == "SystemExit"
    found = in_python("for n in range(200):\n    print('x' * 1000)", limit=1000)
    assert found["kind"] == "too_large"
    assert len(found["stdout"]) == 200 * 1001


@one_fast(
    ("code", "line"),
    [
        ("def f(:\n  pass", 1),
        ("x = 1\n  y = 2", 2),
        ("a = '\\0'\nb = '\x00'", None),
        ("(" * 5000, None),
        ("def f():", 1),
    ],
    "a process for each mistake",
    0,
)
def test_syntax_errors(code: str, line: int | None) -> None:
    """Code that can't be read is reported with its line, where there is one."""
    found = in_python(code, entry_point="f")
    assert found["kind"] == "syntax_error"
    if line is not None:
        assert found["line"] == line


RAISED = {
    "return 1 / 0": ("ZeroDivisionError: division by zero", "ArithmeticError", 2),
    "x = {}\nreturn x['a']": ("KeyError: 'a'", "LookupError", 3),
    "return f()": ("RecursionError: maximum recursion depth exceeded", "RuntimeError", 2),
    "raise SystemExit(2)": ("SystemExit: 2", "BaseException", 2),
    "raise KeyboardInterrupt": ("KeyboardInterrupt", "BaseException", 2),
    "raise BaseException('x')": ("BaseException: x", "BaseException", 2),
    "raise ExceptionGroup('two', [ValueError('a'), KeyError('b')])": (
        "ExceptionGroup: two (2 sub-exceptions): ValueError: a; KeyError: 'b'",
        "Exception",
        2,
    ),
    "class E(ValueError):\n    def __str__(self): raise OSError\nraise E": ("f.<locals>.E: <f.<locals>.E>", "E", 4),
    "class E(Exception):\n    def __str__(self): return 'x' * 10**6\nraise E": (None, "E", 4),
    "eval('1 +')": ("SyntaxError: invalid syntax (<string>, line 1)", "SyntaxError", 2),
    "import nothing_like_it": ("ModuleNotFoundError: No module named 'nothing_like_it'", "ImportError", 2),
    "yield 1\nraise ValueError('late')": ("ValueError: late", "ValueError", 3),
    "return int('1' * 5000)": (None, "ValueError", 2),
    "open('missing.txt')": (
        "FileNotFoundError: [Errno 2] No such file or directory: 'missing.txt'",
        "OSError",
        2,
    ),
}


@one_fast("body", RAISED, "two processes for each exception", 0)
def test_exceptions(body: str) -> None:
    """An exception of the code is reported by its message, all names of its type, and its line."""
    message, name, line = RAISED[body]
    found = function(body)
    assert found["kind"] == "raised", found
    assert name in found["exception"]
    assert found["line"] == line
    assert len(found["message"]) <= 1000
    if message is not None:
        assert found["message"] == message


def test_names_of_exceptions() -> None:
    """An exception of a stand-in is named by its name, and by its module, too."""
    files = {"auth/__init__.py": "", "auth/errors.py": "class Denied(PermissionError): pass\n"}
    found = in_python("import auth.errors\ndef f():\n    raise auth.errors.Denied('no')", entry_point="f", files=files)
    assert found["kind"] == "raised"
    assert found["exception"][:3] == ["Denied", "auth.errors.Denied", "PermissionError"]


def test_errors_in_stand_ins() -> None:
    """The message names the stand-in, the line stays the answer's."""
    files = {"auth/__init__.py": "", "auth/models.py": "def g(x):\n    return 1 / x\n"}
    code = "from auth.models import g\n\ndef f():\n    return g(0)"
    found = in_python(code, entry_point="f", files=files)
    assert found["message"] == "ZeroDivisionError: division by zero (in auth.models, line 2)"
    assert found["line"] == 4
    files["auth/models.py"] = "x = 1\ndef g(\n"
    found = in_python(code, entry_point="f", files=files)
    assert found["kind"] == "raised"
    assert found["message"].endswith("(in auth.models, line 2)")
    assert found["line"] == 1


def test_packages_and_what_is_loaded() -> None:
    """A stand-in has its packages, and takes the place of what the runner itself is called."""
    files = PYTHON.layout({"python_tests": "x = 1", "a.b.c": "y = 2", "a.b": "from a.b import c"})
    found = in_python(
        "import python_tests, a.b\ndef f():\n    return python_tests.x + a.b.c.y", entry_point="f", files=files
    )
    assert found["value"] == 3


@pytest.mark.parametrize("body", ["return [0] * 10 ** 15", "x = [b'x' * 10 ** 14]\nreturn x"])
def test_memory(body: str) -> None:
    """Code that asks for more memory than its limit ends with an error and its line."""
    found = function(body)
    assert (found["kind"], found["line"]) == ("memory", 2)


@pytest.mark.slow("a process fills its memory")
@pytest.mark.parametrize("where", ["local", "global"])
def test_memory_that_is_used_up(where: str) -> None:
    """Code that fills all its memory, even for good, leaves enough for the report."""
    body = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
{"global kept" if where == "global" else ""}
kept = []
while True:
    kept.append('x' * 100_000)
"""
    found = function(body + "\n")
    assert found["kind"] == "memory", found


@pytest.mark.parametrize("body", ["while True:\n    yield 1", "return 'x' * 10 ** 6", "return 1 << 10 ** 7"])
def test_too_large(body: str) -> None:
    """A result without end, or beyond the limit, is reported so."""
    assert function(body)["kind"] == "too_large"


@one_fast(
    "body",
    [
        "class C:\n    def __repr__(self): raise SystemExit\nreturn C()",
        "class C(list):\n    def __iter__(self): raise ValueError\n    __len__ = __repr__ = __iter__\nreturn C([1])",
        "class C(dict):\n    def items(self): raise ValueError\nreturn C(a=1)",
        "class C(int):\n    def __index__(self): raise ValueError\n    __int__ = __str__ = __index__\nreturn C(1)",
        "class C:\n    def __getattribute__(self, name): raise RuntimeError\nreturn C()",
        "class M(type):\n    def __getattribute__(c, n): raise RuntimeError\nclass C(metaclass=M): pass\nreturn C()",
        "class C:\n    __slots__ = 5\nreturn C()",
        "class C:\n    __class__ = property(lambda self: 1 / 0)\nreturn C()",
        "import builtins\nbuiltins.len = builtins.isinstance = builtins.issubclass = None\nreturn [1]",
        "import sys\nsys.setrecursionlimit(60)\nreturn [[[[1]]]]",
        "import sys\nsys.stdout.close()\nsys.stdin = sys.stderr = None\nreturn 1",
        "import sys\nsys.modules.clear()\nreturn 1",
        "a = []\nfor _ in range(10**5): a = [a]\nreturn a",
    ],
    "a process for each result",
    0,
)
def test_hostile_results(body: str) -> None:
    """Whatever a result's methods do, one result comes out that can be read."""
    found = function(body)
    assert found["kind"] in ("returned", "raised"), found
    shown(decoded(found.get("value")))


def test_exceptions_of_hostile_types() -> None:
    """An exception is reported whatever its type says of itself."""
    body = "class M(type):\n    __module__ = 3\n    __name__ = __qualname__ = property(lambda c: 1 / 0)\n"
    found = function(body + "class E(Exception, metaclass=M): __module__ = 5\nraise E('x')")
    assert found["kind"] == "raised"
    assert "Exception" in found["exception"]


ATTEMPTS = [
    ("open('/nothing/x')", ["open /nothing/x"], "refused"),
    ("try:\n    open('/nothing/x')\nexcept OSError:\n    return 1", ["open /nothing/x"], "returned"),
    (
        "try:\n    open('/nothing/x', 'w')\nexcept OSError as e:\n    raise ValueError from e",
        ["write /nothing/x"],
        "refused",
    ),
    ("open('../../nothing-here')", ["open ../../nothing-here"], "refused"),
    ("import os\nos.listdir('/etc')", ["list /etc"], "returned"),
    ("import os\nos.mkdir('/nothing/x')", ["mkdir /nothing/x"], "refused"),
    ("import os\nos.kill(os.getppid(), 0)\nos.kill(os.getppid(), 0)", ["kill "], "returned"),
    ("import subprocess\nsubprocess.run(['/nothing/x', '-l'])", ["run /nothing/x -l"], "refused"),
    ("import os\nos.system('true')", ["run true"], "returned"),
    ("import os\nos.posix_spawn('/nothing/x', ['/nothing/x', '-l'], {})", ["run /nothing/x -l"], "refused"),
    ("import ctypes\nctypes.CDLL('nothing.so')", ["load nothing.so"], "refused"),
    (
        "import socket\nsocket.create_connection(('127.0.0.1', 1))",
        ["look up 127.0.0.1", "open a socket", "connect 127.0.0.1:1"],
        "refused",
    ),
    ("import asyncio\nasyncio.run(asyncio.sleep(0))", [], "returned"),
    ("open('own.txt', 'w').close()\nreturn open('own.txt').read()", [], "returned"),
    ("import os, json, decimal, email.message\nos.listdir('.')\nopen(os.devnull).close()", [], "returned"),
    ("raise PermissionError('mine')", [], "raised"),
]


@one_fast(("body", "attempts", "kind"), ATTEMPTS, "a process for each attempt", 0)
def test_attempts(body: str, attempts: list[str], kind: str) -> None:
    """An attempt to leave the sandbox is reported once; code that ends by it is refused."""
    found = function(body)
    assert found["kind"] == kind, found
    assert len(found["attempts"]) == len(attempts)
    assert all(one.startswith(text) for one, text in zip(found["attempts"], attempts, strict=True)), found


def test_attempts_are_few() -> None:
    """The first five are enough."""
    found = function("for n in range(50):\n    try: open(f'/nothing/{n}')\n    except OSError: pass")
    assert found["attempts"] == [f"open /nothing/{n}" for n in range(5)]


def test_nothing_is_left() -> None:
    """The folder holds what was laid out, and nothing of the runner's own."""
    found = function("import a\nreturn a.x", files={"a.py": "x = 1"}, stdin="text")
    assert (found["value"], found["left"]) == (1, ["a.py"])


def test_it_stands_alone() -> None:
    """The imports and the parts of the runner are loaded before it begins."""
    parts = {path.stem: path for path in PYTHON.runner.parent.glob("python_*.py")}
    assert set(parts) == {
        "python_tests",
        "python_assertions",
        "python_attempts",
        "python_common",
        "python_crossing",
        "python_holding",
        "python_proofs",
        "python_remotes",
        "python_values",
    }
    for path in parts.values():
        names = {
            name
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [str(node.module)])
        }
        assert names - set(parts) <= {"__future__", "builtins", "io", "json", "operator", "os", "sys"}
