"""The code within an answer."""

from __future__ import annotations

import time

import pytest

from graphkit.plugins.sandbox.extraction import extract
from graphkit.plugins.sandbox.languages import JAVASCRIPT, PYTHON
from tests.helpers.suites import one_fast


def source(answer: str, entry_point: str | None = None) -> str | None:
    """Return the code in Python of an answer."""
    return extract(answer, PYTHON, entry_point)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("Text\n```python\na = 1\n```\nmore", "a = 1\n"),
        ("~~~py\na = 1\n~~~", "a = 1\n"),
        ("````python\na = '```'\n````", "a = '```'\n"),
        ("   ```python3\n   a = 1\n   ```", "a = 1\n"),
        ("    ```python\n    a = 1\n    ```", None),
        ("```Python title=x.py\na = 1\n```", "a = 1\n"),
        ("```python:app/x.py\na = 1\n```", "a = 1\n"),
        ("```{.python .numbered}\na = 1\n```", "a = 1\n"),
        ("```python\na = 1\n", "a = 1\n"),
        ("1. First:\n\n   ```python\n   if a:\n       b\n   ```\n", "if a:\n    b\n"),
        ("> ```python\n> a = 1\n> ```\n", "a = 1\n"),
        ("<details>\n```python\na = 1\n```\n</details>", "a = 1\n"),
        ("```python\r\na = 1\r\n```\r\n", "a = 1\n"),
        ("```python\na = 1\n~~~\n```", "a = 1\n~~~\n"),
        ("```python\n# only a comment\n```", None),
        ("```python\n```", None),
        ("```python\nThis isn't code:\n```", "This isn't code:\n"),
    ],
)
def test_fences(answer: str, code: str | None) -> None:
    """A fence is one by the rules of CommonMark, and its first word is the language."""
    assert source(answer) == code


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("```js\nb\n```\n```python\na = 1\n```\n```\nc = 1\n```", "a = 1\n"),
        ("```js\nb\n```\n```\na = 1\n```", "a = 1\n"),
        ("```bash\npip install x\n```", None),
        ("```\npip install x\n```\n```\na = 1\n```", "a = 1\n"),
        ("```\nthis is no code\n```", "this is no code\n"),
        ("```python\na = 1\n```\n```python\nb = 2\n```", "a = 1\n\nb = 2\n"),
        ("```python\n>>> f(1)\n2\n```", None),
        ("```python\n\n# Try it:\n>>> f(1)\n2\n```", None),
        ("```python\na = 1\n```\n```python\n>>> a\n1\n```", "a = 1\n"),
    ],
)
def test_which_blocks(answer: str, code: str | None) -> None:
    """The blocks of the language count, the unlabelled ones where there are none, and no session."""
    assert source(answer) == code


DEFINES = "```python\ndef f(x):\n    return x\n```\n"


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ("print(f(1))", False),
        ("order = f(1)\nprint(order)", False),
        ("from orders import f\nassert f(1) == 1", False),
        ("import pytest\nfrom orders import f\ndef test_f():\n    assert f(1) == 1", False),
        ("PRICES = {'a': 1}", True),
        ("import math", True),
        ("if True:\n    def g(): pass", True),
        ("class Order: pass", True),
        ("this doesn't parse", True),
    ],
)
def test_usage_is_left_out(more: str, kept: bool) -> None:
    """Beside the entry point, what defines or imports counts, what can't be read, too; what only uses it doesn't."""
    found = source(f"{DEFINES}```python\n{more}\n```", "f")
    assert found == "def f(x):\n    return x\n" + (f"\n{more}\n" if kept else "")


def test_without_an_entry_point_usage_counts() -> None:
    """A program is all of its blocks."""
    assert source(f"{DEFINES}```python\nprint(f(1))\n```") == "def f(x):\n    return x\n\nprint(f(1))\n"


@pytest.mark.parametrize("last", ["def f(): return 2", "f = lambda: 2", "async def f(): return 2", "def f(:"])
def test_the_last_definition_wins(last: str) -> None:
    """If the answer corrects itself, its last word counts, also one that can't be read; helpers stay."""
    answer = f"```python\ndef f(): return 1\n```\n```python\nimport os\n```\n```python\n{last}\n```"
    assert source(answer, "f") == f"import os\n\n{last}\n"


def test_dotted_entry_point() -> None:
    """A block with a method's class defines the method."""
    answer = "```py\nclass S: pass\n```\n```py\nclass S:\n    def f(self): pass\n```\n```py\nS().f()\n```"
    assert source(answer, "S.f") == "class S:\n    def f(self): pass\n"


@pytest.mark.parametrize(
    "prose",
    [
        "",
        "Unknown",
        "Answer: yes",
        "pass",
        "not known",
        "place_order",
        "'text'",
        "42",
        "x is y",
        "I would use a function.",
        "assert true",
        "(a, b)",
        "\x00",
    ],
)
def test_prose_is_no_code(prose: str) -> None:
    """Prose that Python could parse isn't code."""
    assert source(prose) is None
    assert extract(prose, JAVASCRIPT) is None


@pytest.mark.parametrize(
    "code", ["x = 1\n", "print(1)\n", "import os\n", "def f():\n    return 1\n", "for a in b:\n    c\n"]
)
def test_an_answer_that_is_code(code: str) -> None:
    """Without a fence, an answer that does something as a whole is code, also indented."""
    assert source(code) == code
    assert source("".join(f"    {line}\n" for line in code.splitlines())) == code


def test_with_an_entry_point_a_call_is_no_code() -> None:
    """If a function is asked for, a text in the form of a call defines nothing."""
    assert source("Unknown(none)", "f") is None
    assert source("def f(): pass", "f") == "def f(): pass\n"


def test_lines() -> None:
    """The code holds each line of the blocks, with an empty line between them."""
    found = extract("Text\n```python\na = 1\nb = 2\n```\n\n```python\nc = 3\n```\n", PYTHON)
    assert found is not None
    assert found.splitlines() == ["a = 1", "b = 2", "", "c = 3"]


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ("console.log(f(1));", False),
        ("const order = f(1);\nconsole.log(order);", False),
        ("import { f } from './orders.js';\nconsole.log(f(1));", False),
        ("const { f } = require('./orders');", False),
        ("const PRICES = { a: 1 };", True),
        ("const g = (x) => x;", True),
        ("class Order {}", True),
        ("import fs from 'node:fs';", True),
    ],
)
def test_usage_in_javascript(more: str, kept: bool) -> None:
    """JavaScript is looked at by how its lines begin, by the same rules."""
    found = extract(f"```js\nexport function f(x) {{ return x; }}\n```\n```js\n{more}\n```", JAVASCRIPT, "f")
    assert found is not None
    assert found == "export function f(x) { return x; }\n" + (f"\n{more}\n" if kept else "")


@pytest.mark.parametrize(
    "first", ["const f = 1", "function f() {}", "export default function f() {}", "exports.f = () => 1", "class f {}"]
)
def test_the_last_definition_in_javascript(first: str) -> None:
    """Each way to define the entry point is one."""
    found = extract(f"```js\n{first}\n```\n```javascript\nconst f = () => 2\n```", JAVASCRIPT, "f")
    assert found is not None
    assert found == "const f = () => 2\n"


@pytest.mark.parametrize(
    "code",
    ["const a = 1;\n", "// a\nfunction f() {}\n", "import a from 'a';\n", "export default 1;\n", "console.log(1)\n"],
)
def test_an_answer_that_is_javascript(code: str) -> None:
    """Without a fence, an answer that begins as no sentence does is code."""
    found = extract(code, JAVASCRIPT)
    assert found is not None
    assert found == code


@pytest.mark.parametrize("prose", ["import duties rise", "class action", "Let us go", "function", "export it", "// no"])
def test_prose_is_no_javascript(prose: str) -> None:
    """A sentence that begins with a word of the language is one."""
    assert extract(prose, JAVASCRIPT) is None


HOSTILE = {
    "ticks": "`" * 300_000,
    "fences": "```python\n" * 30_000,
    "quotes": "```\n" + ">" * 300_000,
    "lists": "- " * 100_000 + "```",
    "brackets": "```python\n" + "(" * 200_000 + "\n```",
    "signs": "```python\nx = " + "-" * 200_000 + "1\n```",
    "sums": "```python\nx = 1" + "+1" * 100_000 + "\n```",
    "names": "```python\nx" + ".a" * 100_000 + "\n```",
    "references": "```\n```\n" + "[" * 200_000,
    "imports": "```js\n" + "import " * 50_000 + "\n```",
    "constants": "```js\n" + "const a " * 50_000 + "\n```",
    "comments": "```js\n" + "/* " * 100_000 + "\n```",
    "lines": "```js\n" + "const a\n" * 50_000 + "\n```",
    "spaces": " " * 500_000 + "x",
    "comments and prompts": "```python\n" + " #\n" * 100_000 + "```",
    "too long": "x = 1\n" * 1_000_000,
}


@one_fast("answer", HOSTILE.values(), "many forms of answers", 0, ids=HOSTILE)
def test_hostile_answers(answer: str) -> None:
    """Whatever an answer holds, it is looked through in bounded time, and nothing is raised."""
    begun = time.process_time()
    for language in (PYTHON, JAVASCRIPT):
        extract(answer, language, "f")
    assert time.process_time() - begun < 15


def test_future_imports_come_first() -> None:
    """Two files of an answer may each begin with an import of the future: put together, all such imports come first."""
    first = "```python\nONE = 1\n```\n"
    second = "```python\n'''Text.'''\nfrom __future__ import (\n    annotations)\ndef f(x: Later): return x\n```\n"
    found = extract(first + second, PYTHON, "f")
    assert found is not None
    compile(found, "answer.py", "exec", dont_inherit=True)
    lines = found.splitlines()
    assert lines[0] == "from __future__ import annotations"
    places = [lines.index(line) for line in ("ONE = 1", "'''Text.'''", "def f(x: Later): return x")]
    assert places == sorted(places)
    whole = "```python\nfrom __future__ import annotations\na = 1\n```"
    assert source(whole) == "from __future__ import annotations\na = 1\n"
