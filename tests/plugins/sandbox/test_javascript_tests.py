"""The runner of JavaScript, by the Node of this machine."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.plugins.sandbox.languages import JAVASCRIPT
from graphkit.plugins.sandbox.returned_values import decoded
from graphkit.plugins.sandbox.value_equality import equal
from graphkit.plugins.sandbox.value_texts import shown
from tests.helpers.properties import examples
from tests.plugins.sandbox.running import in_node

#: JSON whose whole numbers JavaScript holds exactly.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)

pytestmark = pytest.mark.usefixtures("node")


def function(body: str, **job: Any) -> dict[str, Any]:
    """Run a test of a function ``f``."""
    return in_node(f"function f(...args) {{\n{body}\n}}\n", entry_point="f", **job)


RETURNED = [
    ("return args", [1, "a"], [1, "a"]),
    ("return args.length", None, 0),
    ("return undefined", None, None),
    ("return null", None, None),
    ("return [true, 1.5, 'é', [undefined]]", None, [True, 1.5, "é", [None]]),
    ("return { a: 1, _b: { c: 2 } }", None, {"a": 1, "_b": {"c": 2}}),
    ("return Promise.resolve(3)", None, 3),
    ("return (function* () { yield 1; yield 2; })()", None, [1, 2]),
    ("return (async function* () { yield 1; yield 2; })()", None, [1, 2]),
    ("return new Map([['a', 1], [2, 3]])", None, {"a": 1, "2": 3}),
    ("return new Set([3, 1, [2]])", None, [[2], 1, 3]),
    ("return new Date(0)", None, "1970-01-01T00:00:00Z"),
    ("return 5n", None, 5),
    ("return 2n ** 70n", None, 2**70),
    ("return -(2n ** 70n)", None, -(2**70)),
    ("return Buffer.from('abc')", None, "abc"),
    ("return new Float32Array([1.5])", None, [1.5]),
    ("return Object.create(null)", None, {}),
    ("class O { constructor() { this.a = 1; this._b = 2; } } return new O()", None, {"a": 1}),
    ("return new RangeError('far')", None, {"name": "RangeError", "message": "far"}),
    ("return [0.1 + 0.2, -0]", None, [0.3, 0]),
]


@pytest.mark.parametrize(("body", "inputs", "expected"), RETURNED)
def test_returned(body: str, inputs: Any, expected: Any) -> None:
    """Values that JavaScript returns are encoded like Python's, and equal their JSON form."""
    found = function(body, inputs=inputs)
    assert found["kind"] == "returned", found
    assert equal(expected, decoded(found["value"]))


@examples(5)
@given(st.lists(JSON, min_size=20, max_size=60))
def test_round_trip(values: list[Any]) -> None:
    """A JSON value comes out as an equal value, and differs from different ones."""
    found = function("return args", inputs=values, limit=10**6)
    assert equal(values, decoded(found["value"]))
    assert not equal([*values, None], decoded(found["value"]))


@pytest.mark.parametrize(
    "body",
    [
        "return NaN",
        "return Infinity",
        "const a = []; a.push(a); return a",
        "const a = {}; a.a = a; return a",
        "let a = []; for (let i = 0; i < 100000; i++) a = [a]; return a",
        "return () => 1",
        "return Symbol('a')",
        "return new Proxy({}, { ownKeys() { throw new Error('no'); }, getPrototypeOf() { throw new Error('no'); } })",
        "return { get a() { throw new Error('no'); } }",
        "return { toJSON() { throw new Error('no'); } }",
        "JSON.stringify = () => { throw new Error('no'); }; return 1",
        "Object.keys = Array.isArray = null; return [1]",
        "Array.prototype[Symbol.iterator] = null; return [1]",
        "return '\\ud800'",
        "delete globalThis.process; globalThis.Buffer = null; return 1",
    ],
)
def test_hostile_results(body: str) -> None:
    """Whatever the code does, one result comes out that can be read, and isn't a plain 0."""
    found = function(body)
    assert found["kind"] in ("returned", "raised"), found
    value = decoded(found.get("value"))
    shown(value, "javascript")
    assert not equal(0, value)


@pytest.mark.parametrize(
    ("code", "entry_point", "expected"),
    [
        ("const f = async () => 1;", "f", 1),
        ("export const f = () => 2;", "f", 2),
        ("export default function f() { return 3; }", "f", 3),
        ("export default () => 4;", "f", 4),
        ("module.exports = { f: () => 5 };", "f", 5),
        ("module.exports = () => 6;", "f", 6),
        ("exports.f = () => 7;", "f", 7),
        ("class S { constructor() { this.x = 8; } f() { return this.x; } }", "S.f", 8),
        ("class S { static f() { return 9; } }", "S.f", 9),
        ("class S { constructor() { this.x = 10; } }", "S", {"x": 10}),
        ("const s = { y: 11, f() { return this.y; } };", "s.f", 11),
        ("import path from 'node:path';\nfunction f() { return path.basename('a/b'); }", "f", "b"),
        ("const base = await Promise.resolve(12);\nfunction f() { return base; }", "f", 12),
        ("function f() { return require('node:path').basename('a/c'); } // the end", "f", "c"),
    ],
)
def test_entry_points(code: str, entry_point: str, expected: Any) -> None:
    """Functions are found by name, exported or not, in CommonJS and in modules."""
    found = in_node(code, entry_point=entry_point)
    assert found["kind"] == "returned", found
    assert equal(expected, decoded(found["value"]))


@pytest.mark.parametrize(("code", "entry_point"), [("const g = 1;", "f"), ("const f = 1;", "f"), ("class S {}", "S.f")])
def test_no_entry_point(code: str, entry_point: str) -> None:
    """A missing or uncallable entry point is reported by name."""
    found = in_node(code, entry_point=entry_point)
    assert found["kind"] == "no_entry_point"
    assert entry_point in found["message"]


MODULE = "export const g = (x) => x + 1;\nexport default 'whole';\n"
COMMON = "exports.g = (x) => x + 1;\n"
CONTEXT = {
    "common": {"auth-service/models": COMMON, "@acme/auth": COMMON, "./shared/types": COMMON},
    "module": {"auth-service/models": MODULE, "@acme/auth": MODULE, "./shared/types": MODULE},
}


@pytest.mark.parametrize("form", CONTEXT)
@pytest.mark.parametrize("path", [*CONTEXT["common"], "./shared/types.js"])
@pytest.mark.parametrize("how", ["import {{ g }} from '{}';", "const {{ g }} = require('{}');"])
def test_stand_ins(form: str, path: str, how: str) -> None:
    """Stand-ins of both kinds are found by code of both kinds, by package, by scope and by relative path."""
    files = JAVASCRIPT.layout(CONTEXT[form])
    found = in_node(f"{how.format(path)}\nconst f = (x) => g(x);", entry_point="f", inputs=[1], files=files)
    assert found["kind"] == "returned", found
    assert found["value"] == 2


def test_stand_ins_of_stand_ins() -> None:
    """A stand-in imports another one, without its ending, and from a folder below."""
    context = {"./a/b": "import { one } from '../c';\nexport const two = one + 1;", "./c": "export const one = 1;"}
    code = "import { two } from './a/b';\nexport const f = () => two;"
    assert in_node(code, entry_point="f", files=JAVASCRIPT.layout(context))["value"] == 2


@pytest.mark.parametrize(
    ("body", "message", "name", "line"),
    [
        ("null.x", "TypeError: Cannot read properties of null (reading 'x')", "TypeError", 2),
        ("\nthrow new RangeError('far')", "RangeError: far", "Error", 3),
        ("throw 'text'", "thrown: 'text'", "String", None),
        ("class E extends Error {}\nthrow new E('x')", "Error: x", "E", 3),
        ("const g = () => g();\nreturn g()", "RangeError: Maximum call stack size exceeded", "RangeError", 2),
        ("return Promise.reject(new Error('late'))", "Error: late", "Error", 2),
        ("return eval('1 +')", "SyntaxError: Unexpected end of input", "SyntaxError", 2),
        ("throw new Proxy({}, { get() { throw 1; } })", None, "Object", None),
        ("throw undefined", "thrown: undefined", "undefined", None),
        ("setTimeout(() => { throw new Error('beside'); }); return new Promise(() => {})", "Error: beside", "Error", 2),
        ("return new Promise(() => {})", "the promise is never settled: nothing is left to wait for", "Error", None),
        ("process.exit(0)", "process.exit(0)", "process.exit", None),
    ],
)
def test_exceptions(body: str, message: str | None, name: str, line: int | None) -> None:
    """A thrown error is reported by its message, the names of its classes, and its line."""
    found = function(body)
    assert found["kind"] == "raised", found
    assert name in found["exception"], found
    assert found["line"] == line
    if message is not None:
        assert found["message"] == message


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("const a = 1;\nlet b = ;\n", 2),
        ("export const a = 1;\nlet b = ;\n", 2),
        ("function f() {\n", 2),
        ("export {", 1),
    ],
)
def test_syntax_errors(code: str, line: int) -> None:
    """Code that can't be read is reported with its line, in CommonJS and in modules."""
    found = in_node(code, entry_point="f")
    assert found["kind"] == "syntax_error", found
    assert found["line"] == line


def test_errors_in_stand_ins() -> None:
    """The message names the stand-in, the line stays the answer's."""
    files = JAVASCRIPT.layout({"auth/models": "exports.g = (x) => {\n  return x.y;\n};"})
    code = "const { g } = require('auth/models');\n\nfunction f() {\n  return g(null);\n}"
    found = in_node(code, entry_point="f", files=files)
    assert found["message"] == "TypeError: Cannot read properties of null (reading 'y') (in auth/models.js, line 2)"
    assert found["line"] == 4


def test_a_missing_module() -> None:
    """A module that isn't there is an error of the code."""
    for code in ("const g = require('left-pad');", "import g from 'left-pad';"):
        found = in_node(f"{code}\nfunction f() {{}}", entry_point="f")
        assert found["kind"] == "raised", found
        assert "left-pad" in found["message"]


def test_a_program() -> None:
    """A program reads its input, and what it prints is its result, also after a while."""
    code = (
        "let text = '';\nprocess.stdin.on('data', (part) => { text += part; });\n"
        "process.stdin.on('end', () => setTimeout(() => console.log(Number(text) + 1), 1));"
    )
    found = in_node(code, stdin="41")
    assert (found["kind"], found["value"], found["stdout"]) == ("returned", "42\n", "42\n")
    assert in_node("console.log(require('node:fs').readFileSync(0, 'utf8'))", stdin="é")["value"] == "é\n"
    assert in_node("console.log(1); process.exit(0)")["value"] == "1\n"
    assert in_node("process.exit(3)")["message"] == "process.exit(3)"
    assert in_node("for (let i = 0; i < 200; i++) console.log('x'.repeat(1000))", limit=1000)["kind"] == "too_large"


@pytest.mark.parametrize(
    "body", ["return 'x'.repeat(10 ** 6)", "return new Array(10 ** 9)", "return [...'x'.repeat(10 ** 6)]"]
)
def test_too_large(body: str) -> None:
    """A result beyond the limit is reported so."""
    assert function(body)["kind"] == "too_large"


def test_an_endless_generator() -> None:
    """A generator without end is cut at the limit."""
    assert in_node("function* f() { while (true) yield 1; }", entry_point="f")["kind"] == "too_large"


def test_memory() -> None:
    """Code that fills the heap ends the process, which is seen from outside."""
    found = function("const a = []; while (true) a.push(new Array(1000).fill(a.length));")
    assert found["kind"] == "none"
    assert "heap out of memory" in found["stderr"]


def test_attempts() -> None:
    """Code that ends by what the system refuses is refused, and it is reported what it tried."""
    for body, attempt in {
        "require('node:fs').readFileSync('/nothing/x')": "open /nothing/x",
        "require('node:fs').readdirSync('/nothing/x')": "list /nothing/x",
        "return require('node:fs/promises').writeFile('/nothing/x', '')": "open /nothing/x",
        "const { connect } = require('node:net');\n"
        "return new Promise((_, no) => connect(1, '127.0.0.1').on('error', no))": "connect 127.0.0.1:1",
        "throw require('node:child_process').spawnSync('/nothing/x').error": "run /nothing/x",
        "try { require('node:fs').readFileSync('/nothing/x') } catch (cause) { throw new Error('no', { cause }) }": (
            "open /nothing/x"
        ),
    }.items():
        found = function(body)
        assert (found["kind"], found["attempts"]) == ("refused", [attempt]), found
    own = function("require('node:fs').writeFileSync('own', ''); require('node:fs').readFileSync('missing')")
    assert (own["kind"], own["attempts"]) == ("raised", [])
