"""Assertions: evaluated in a process of their own, on values that crossed, beside each language's code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from graphkit.plugins.sandbox.executions import CodeTestResult, Execution
from graphkit.plugins.sandbox.running import execute_all, programs
from graphkit.plugins.sandbox.sandbox import Sandbox, open_sandbox
from graphkit.records.models import Question
from graphkit.records.structs import QuestionStruct, struct_of
from tests.helpers.sandboxes import WALL_NAMES, wall_here


@pytest.fixture(scope="module", params=WALL_NAMES)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Open each sandbox of this machine."""
    with open_sandbox(walls=(wall_here(request.param),), jobs=1, programs=programs()) as opened:
        yield opened


def asserted(sandbox: Sandbox, code: str, assertion: str, language: str = "python", **given: Any) -> CodeTestResult:
    """Return how one assertion goes; ``inputs`` and ``timeout`` are the test's, everything else the question's."""
    test: dict[str, Any] = {
        "name": "t",
        "assertion": assertion,
        **{k: given.pop(k) for k in ("inputs", "timeout") if k in given},
    }
    about = {"id": "q", "question": "?", "entry_point": "f", "test_cases": [test], "code_language": language, **given}
    question = struct_of(QuestionStruct, Question.model_validate(about))
    found = execute_all([(question, f"```{language}\n{code}\n```\n")], "r", sandbox)["q"]
    assert isinstance(found, Execution), found
    return found.tests[0]


THREE = "def g():\n    return 7\ndef f():\n    return 3"
POINT = "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    def twice(self): return self.x * 2\n"
ERRORS = "class B(ValueError): pass\nclass E(B):\n    def __init__(self, code): self.code = code\ndef f(): raise E(5)"

PYTHON_ASSERTIONS = [
    (THREE, "result == 3", None),
    (THREE, "result == 4", "result == 4: the left side is 3, the right side 4"),
    (THREE, "result and g() == 1", "g() == 1: the left side is 7, the right side 1"),
    (THREE, "isinstance(result, str)", "isinstance(result, str) doesn't hold"),
    (THREE, "assert result == 3", None),
    (THREE, "x = result\nassert x > 3, f'{x} is small'", "3 is small"),
    (THREE, "for n in [3, 4]:\n    assert n == result", "for n in [3, 4]:\n    assert n == result"),
    (
        THREE,
        "result.missing",
        "the assertion raised AttributeError: 'int' object has no attribute 'missing'",
    ),
    (THREE, "[g() for _ in range(2)] == [7, 7]", None),
    (THREE, "import math\nassert math.pi > result", None),
    (THREE, "import answer\nassert answer.g() == 7", None),
    (THREE, "from answer import g\nassert g() == 7", None),
    (THREE, "h() == 1", "the assertion raised NameError: name 'h' is not defined"),
    # Nothing of its own is what the code made of it.
    ("len = isinstance = lambda *a: True\ndef f(): return 3", "len([1, 2]) == 2 and isinstance(result, int)", None),
    (
        "import math\nmath.floor = lambda x: 9\ndef f(): return 9",
        "import math\nassert result == math.floor(3.5)",
        "result == math.floor(3.5): the left side is 9, the right side 3",
    ),
    # Values that cross as they are.
    ("def f(): return {1, frozenset({2})}", "result == {1, frozenset({2})}", None),
    ("def f(): return [(1, b'x', 1j, None, 2 ** 70, 0.1)]", "result == [(1, b'x', 1j, None, 2 ** 70, 0.1)]", None),
    (
        "import datetime as d\ndef f(): return d.date(2024, 1, 2), d.timedelta(days=1)",
        "import datetime\nassert result == (datetime.date(2024, 1, 2), datetime.timedelta(1))",
        None,
    ),
    (
        "from decimal import Decimal\ndef f(): return {Decimal('1.5'): range(3)}",
        "result == {Decimal('1.5'): range(3)}",
        None,
    ),
    (
        "import collections as c\ndef f(): return c.Counter('aab'), c.deque([1])",
        "result[0].most_common(1) == [('a', 2)] and list(result[1]) == [1]",
        None,
    ),
    (
        "from collections import namedtuple\nT = namedtuple('T', 'a b')\ndef f(): return T(1, 2)",
        "result == (1, 2) and result.b == 2",
        None,
    ),
    # Instances of the code's classes stay there; they are compared here, by their fields.
    (POINT + "def f(): return P(4)", "result == P(4) and result.twice() == 8 and isinstance(result, P)", None),
    (
        POINT + "def f(): return P(4)",
        "result == P(5)",
        "result == P(5): the left side is P(x=4), the right side P(x=5)",
    ),
    (POINT + "def f(): return [P(4)]", "result == [P(4)] and repr(result[0]) == 'P(x=4)'", None),
    ("class C:\n    def __eq__(self, other): return True\ndef f(): return C()", "result != 3", None),
    ("class C(int):\n    __eq__ = lambda s, o: True\n    __hash__ = None\ndef f(): return C(1)", "result != 3", None),
    (
        "class C:\n    def __init__(s): s.n = 1\n    def __add__(s, o): return o + 1\ndef f(): return C()",
        "result + 1 == 2",
        None,
    ),
    (
        "class C:\n    def __len__(s): return 2\n    def __getitem__(s, n): return [5, 6][n]\ndef f(): return C()",
        "len(result) == 2 and result[1] == 6 and list(result) == [5, 6] and 5 in result",
        None,
    ),
    ("import enum\nclass C(enum.Enum):\n    A = 1\ndef f(): return C.A", "result == C.A and result.value == 1", None),
    # Errors are caught by their class, also by one of the code.
    (
        ERRORS,
        "try:\n    f()\nexcept B as e:\n    assert e.code == 5 and isinstance(e, E) and isinstance(e, ValueError)\n"
        "else:\n    raise AssertionError('none')",
        None,
    ),
    ("def f(): pass", "try:\n    f()\nexcept KeyError:\n    pass\nelse:\n    raise AssertionError('none')", "none"),
    ("def f(): return {}['a']", "try:\n    f()\nexcept LookupError as e:\n    assert e.args == ('a',)", None),
    ("def f(): 1 / 0", "f() == 4", "the assertion raised ZeroDivisionError: division by zero"),
    # State, coroutines and generators stay where they are.
    ("calls = []\ndef f(): calls.append(1)", "f(); f(); assert calls == [1, 1]", None),
    ("async def f(): return 7", "import asyncio\nassert asyncio.run(f()) == 7", None),
    (
        "def f(): return 1",
        "f(lambda x: x) == 1",
        "the assertion raised CrossingError: the assertion hands over <function",
    ),
]


@pytest.mark.parametrize(("code", "assertion", "message"), PYTHON_ASSERTIONS)
def test_python(sandbox: Sandbox, code: str, assertion: str, message: str | None) -> None:
    """An assertion sees the names of the code and the result, compares by itself, and says by what it fails."""
    inputs: dict[str, Any] = {"inputs": []} if "result" in assertion else {}
    found = asserted(sandbox, code, assertion, **inputs)
    assert found.status == ("success" if message is None else "test_failure"), found
    if message is not None:
        assert (found.message or "").startswith(message), found.message


def test_an_assertion_without_a_call(sandbox: Sandbox) -> None:
    """If the entry point isn't called there is no result, and a name of the code may be called so."""
    code = "calls = []\ndef f():\n    calls.append(1)\nresult = 'own'"
    assert asserted(sandbox, code, "calls == [] and result == 'own' and 'result' not in globals()").status == "success"


def test_an_assertion_about_a_program(sandbox: Sandbox) -> None:
    """The output of a program is the result, unless the program has a variable of that name."""
    assert asserted(sandbox, "print(1)", "result == '1\\n'", entry_point=None).status == "success"
    assert asserted(sandbox, "result = 5", "result == 5", entry_point=None).status == "success"


def test_an_assertion_about_a_result_without_end(sandbox: Sandbox) -> None:
    """An endless generator is no failure where an assertion looks at its beginning."""
    found = asserted(sandbox, "def f():\n    while True:\n        yield 1", "next(result) == 1", inputs=[])
    assert found.status == "success", found


def test_an_assertion_without_end(sandbox: Sandbox) -> None:
    """An assertion that doesn't end is reported as that, and the sandbox goes on."""
    found = asserted(sandbox, "def f(): return 1", "while True: pass", timeout=0.5)
    assert found.status == "timeout"
    assert (found.message or "").endswith("it didn't end within 0.5 seconds")
    assert asserted(sandbox, "def f(): return 1", "f() == 1").status == "success"


STAND_IN = {
    "shop.errors": "class Refused(Exception):\n    def __init__(self, code): self.code = code",
    "shop.orders": "RATE = 2\nsent = []\nclass Order:\n    def __init__(self, n): self.n, self._m = n, n\n"
    "    def __eq__(self, other): return self._m == other._m\n    def total(self): return self.n * RATE\n"
    "def send(n): sent.append(n)\n",
}


@pytest.mark.parametrize(
    ("code", "assertion", "status"),
    [
        (
            "from shop.errors import Refused\ndef f(): raise Refused(7)",
            "from shop.errors import Refused\ntry:\n    f()\nexcept Refused as e:\n    assert e.code == 7",
            "success",
        ),
        (
            "from shop.orders import Order\ndef f(): return Order(3)",
            "from shop.orders import Order\nassert f() == Order(3) and f().total() == 6 and type(f()) is Order",
            "success",
        ),
        (
            "from shop.orders import Order\ndef f(o): return o.total()",
            "from shop.orders import Order\nassert f(Order(4)) == 8",
            "success",
        ),
        # What the code makes of a stand-in isn't what the assertion imports.
        (
            "import shop.orders\nshop.orders.RATE = 0\ndef f(): return 0",
            "from shop.orders import RATE\nassert f() == 3 * RATE",
            "test_failure",
        ),
        (
            "import shop.orders\nshop.orders.Order.__eq__ = lambda a, b: True\ndef f(): return shop.orders.Order(1)",
            "from shop.orders import Order\nassert f() == Order(2)",
            "test_failure",
        ),
        # How the code left it is seen on demand.
        (
            "from shop.orders import send\ndef f(): send(5)",
            "f()\nassert inside('shop.orders').sent == [5]\nfrom shop.orders import sent\nassert sent == []",
            "success",
        ),
    ],
)
def test_stand_ins(sandbox: Sandbox, code: str, assertion: str, status: str) -> None:
    """An assertion has stand-ins of its own; instances and errors of theirs become those of its own."""
    found = asserted(sandbox, code, assertion, repository_context=STAND_IN)
    assert found.status == status, found


JAVASCRIPT_ASSERTIONS = [
    ("const f = () => 3;", "result === 3", None),
    ("const f = () => 3;", "result === 4", "result === 4: the left side is 3, the right side 4"),
    ("const g = () => 7;\nconst f = () => 3;", "g() === 1 && true", "g() === 1 && true doesn't hold"),
    ("export const g = () => 7;\nexport const f = () => 3;", "g() === 7 && result === 3", None),
    ("const f = () => 3;", "result.missing;", "result.missing; doesn't hold"),
    ("const f = () => 3;", "let small = true; if (result > 2) small = false;", None),
    ("const f = () => 3;", "assert.strictEqual(result, 3)", None),
    ("const f = () => 3;", "assert(result > 3, 'small')", "small"),
    ("const x = 9;\nconst f = () => 3;", "var x = result + 1; assert.equal(x, 4)", None),
    (
        "const f = () => 3;",
        "result.a.b",
        "the assertion threw TypeError: Cannot read properties of undefined (reading 'b')",
    ),
    ("const f = () => 3;", "1 +", "the assertion threw SyntaxError: Unexpected end of input"),
    ("Math.max = () => 5;\nconst assert = () => {};\nconst f = () => 3;", "assert(Math.max(1, 2) === 2)", None),
    (
        "const f = () => ({ a: [1, { b: new Map([[1, 2]]), c: undefined }], d: 5n });",
        "assert.deepStrictEqual(result, { a: [1, { b: new Map([[1, 2]]), c: undefined }], d: 5n })",
        None,
    ),
    (
        "class P { constructor(x) { this.x = x; } twice() { return this.x * 2; } }\nconst f = () => new P(2);",
        "result.twice() === 4 && result instanceof P && new P(3).x === 3",
        None,
    ),
    ("const f = () => ({ x: 4, get: function () { return this.x; } });", "result.get() === 4", None),
    (
        "class E extends Error { constructor(c) { super(); this.code = c; } }\nconst f = () => { throw new E(5); };",
        "assert.throws(() => f(), E); try { f() } catch (e) { assert(e instanceof E && e.code === 5) }",
        None,
    ),
    ("const f = () => {};", "assert.throws(() => f(), TypeError)", "Missing expected exception (TypeError)."),
    ("const f = async () => 3;", "(async () => assert.equal(await f(), 3))()", None),
    ("const f = async () => 3;", "(async () => assert.equal(await f(), 4))()", "3 == 4"),
    ("function* f() { let n = 0; while (true) yield n++; }", "f().next().value === 0", None),
    ("const f = (g) => 1;", "f((x) => x) === 1", "the assertion threw TypeError: the assertion hands over"),
]


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize(("code", "assertion", "message"), JAVASCRIPT_ASSERTIONS)
def test_javascript(sandbox: Sandbox, code: str, assertion: str, message: str | None) -> None:
    """The same of JavaScript, in scripts and in modules."""
    inputs: dict[str, Any] = {"inputs": []} if "result" in assertion else {}
    found = asserted(sandbox, code, assertion, "javascript", **inputs)
    assert found.status == ("success" if message is None else "test_failure"), found
    if message is not None:
        assert (found.message or "").startswith(message), found.message


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize(
    "form", ["exports.U = class U extends Error {{ {} }};", "export class U extends Error {{ {} }}"]
)
@pytest.mark.parametrize("how", ["const { U } = require('shop/errors');", "import { U } from 'shop/errors';"])
def test_javascript_stand_ins(sandbox: Sandbox, form: str, how: str) -> None:
    """An error of a stand-in is one of the assertion's own stand-in, whichever kind of module either is."""
    context = {"shop/errors": form.format("constructor(n) { super('m'); this.n = n; }")}
    assertion = "const { U } = require('shop/errors'); assert.throws(() => f(), (e) => e instanceof U && e.n === 7)"
    code = f"{how}\nconst f = () => {{ throw new U(7); }};"
    found = asserted(sandbox, code, assertion, "javascript", repository_context=context)
    assert found.status == "success", found
