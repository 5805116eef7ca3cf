"""Answers that try to pass without solving: each through the real execution path, behind each wall that runs here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphkit.plugins.sandbox.exchanges import Code, run_test
from graphkit.plugins.sandbox.forgeries import Forgery, forgeries
from graphkit.plugins.sandbox.languages import JAVASCRIPT, PYTHON, Language
from graphkit.plugins.sandbox.running import programs
from graphkit.plugins.sandbox.sandbox import Sandbox, open_sandbox
from graphkit.records.structs import CodeTestStruct
from tests.helpers.sandboxes import WALL_NAMES, wall_here

ALL = forgeries()

#: What each forgery would have to compute: twice as much and one more, and nothing of what is negative.
HONEST: dict[Language, str] = {
    PYTHON: "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return 2 * x + 1\n",
    JAVASCRIPT: "const f = (x) => { if (x < 0) throw new RangeError(String(x)); return 2 * x + 1; };\n",
}


@pytest.fixture(scope="module", params=WALL_NAMES)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Open each sandbox of this machine."""
    with open_sandbox(walls=(wall_here(request.param),), jobs=1, programs=programs()) as opened:
        yield opened


def test_there_are_sixty() -> None:
    """Thirty answers forge a result in Python, and thirty in JavaScript, each in its own way."""
    assert Counter((one.aim, one.language.name) for one in ALL) >= Counter(
        {("results", "python"): 30, ("results", "javascript"): 30, ("memory", "python"): 1, ("memory", "javascript"): 5}
    )
    assert len({(one.aim, one.language.name, one.name) for one in ALL}) == len(ALL)
    assert len({one.code for one in ALL}) == len(ALL)


@pytest.mark.parametrize("forgery", ALL, ids=lambda one: f"{one.aim}-{one.language.name}-{one.name}")
def test_no_forgery_passes(sandbox: Sandbox, forgery: Forgery) -> None:
    """No forged result is scored success, and what takes too much memory is reported as that."""
    result = forgery.run(sandbox)
    if result is None:
        pytest.skip(f"this machine has no program for {forgery.language.name}")
    assert result.status != "success", result
    assert not forgery.succeeded(result), result


@pytest.mark.parametrize("language", HONEST, ids=lambda one: one.name)
def test_honest_answers_pass(sandbox: Sandbox, language: Language) -> None:
    """An answer that solves the question passes every test that the forgeries don't."""
    argv = language.argv(sandbox.limits.memory)
    if argv is None:
        pytest.skip(f"this machine has no program for {language.name}")
    code = Code(HONEST[language], language, {}, "f", argv)
    # The code of test_equality.py has the classes that the tests of equality ask for; this one has none.
    asked = [one for one in ALL if one.language is language and one.aim != "equality"]
    tests = {repr(test): test for one in asked for test in one.tests}
    tests = {name: test for name, test in tests.items() if test.raises != "TypeError"}
    assert len(tests) >= 5
    for test in tests.values():
        assert run_test(test, code, sandbox).status == "success", test


def test_a_forged_result_is_reported(sandbox: Sandbox) -> None:
    """Writing to the channel is reported beside the test, and doesn't affect the next test."""
    [forgery] = [one for one in ALL if one.name == "held in the function" and one.language is PYTHON]
    result = forgery.run(sandbox)
    assert result is not None
    assert (result.status, result.attempts) == ("refused", ("forge a result",))
    assert result.message == "it wrote to the channel of results: a result came out that nothing had asked for"
    code = Code(HONEST[PYTHON], PYTHON, {}, "f", ())
    assert run_test(forgery.tests[-1], code, sandbox).status == "success"


@pytest.mark.usefixtures("node")
def test_the_kernel_refuses_a_native_addon(sandbox: Sandbox) -> None:
    """A library in the scratch folder can't be mapped for execution, also where Node itself would load addons."""
    library = next(Path("/").glob("usr/lib*/**/libz.so.1"), None)
    if library is None:
        pytest.skip("no library to copy on this machine")
    argv = tuple(one for one in JAVASCRIPT.argv(sandbox.limits.memory) or () if one != "--no-addons")
    source = (
        f"const fs = require('node:fs');\nconst f = () => {{ fs.writeFileSync('a.node', fs.readFileSync('{library}'));"
        " process.dlopen({ exports: {} }, process.cwd() + '/a.node'); };\n"
    )
    code = Code(source, JAVASCRIPT, {}, "f", argv)
    result = run_test(CodeTestStruct("addon", inputs=[], expected=1), code, sandbox)
    assert result.status == "runtime_error"
    assert "failed to map segment" in (result.message or ""), result
