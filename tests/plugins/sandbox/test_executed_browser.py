"""Executed code in a real browser: the failing test, the marked line, the table, its filters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.sandbox.execution_view import AROUND, LINES, TESTS
from graphkit.plugins.sandbox.executions import Execution
from graphkit.report import PageOptions, write_report
from graphkit.report.escaping import visible, visible_text
from tests.helpers import cli
from tests.helpers.browsers import Opened
from tests.helpers.datasets import write_jsonl
from tests.helpers.executions import result as one
from tests.helpers.pages import HOSTILE, hostile_dataset
from tests.plugins.sandbox.test_execution_view import RIGHT, WRONG, execution, hostile_executions


def _page(run: Path, *executions: Execution) -> Path:
    return write_report([run], run.parent.parent / "page.html", PageOptions(beside=executions))


def _words(opened: Opened, selector: str) -> str:
    return " ".join(opened.page.locator(selector).inner_text().split())


def test_the_failing_test_is_shown_first(opened: Opened, tmp_path: Path) -> None:
    """Status, what passed, sandbox and duration; then the failing test, the marked line and the others."""
    opened.open(_page(cli.tiny(tmp_path), WRONG, RIGHT), "#r/q1")
    page = opened.page
    page.locator("#code").wait_for()
    reported = _words(opened, "#code")
    assert reported.startswith("test failed 1 of 3 tests passed python, in bubblewrap, 1.23 s")
    order = [
        "The first test that didn't pass: two",
        "returned another value (line 2, 12.5 ms)",
        "expected 4 returned 0",
        "printed adding",
        "tried what the sandbox doesn't allow open /etc/passwd",
        "total = a - b",
        "The other tests",
        "passed zero",
        "runtime error names: TypeError: no names",
    ]
    assert [reported.find(text) for text in order] == sorted(reported.find(text) for text in order)
    assert -1 not in [reported.find(text) for text in order]
    lines = page.locator("#code .listing li")
    assert lines.all_inner_texts() == ["def add(a, b):", "    total = a - b", "    return total"]
    assert lines.evaluate_all("(all) => all.map((one) => one.value)") == [1, 2, 3]
    assert page.locator("#code .listing mark").all_inner_texts() == ["    total = a - b"]
    assert "no sandbox" not in reported


def test_code_that_passed_is_folded(opened: Opened, tmp_path: Path) -> None:
    """If every test passed no test is shown as failing, the code opens on demand, and no sandbox stands out."""
    opened.open(_page(cli.tiny(tmp_path), WRONG, RIGHT), "#r/q2")
    page = opened.page
    page.locator("#code").wait_for()
    assert _words(opened, "#code").startswith("all tests passed ‼ no sandbox 1 of 1 test passed python")
    assert page.locator("#code .tag.bad").inner_text() == "‼ no sandbox"
    assert page.locator("#code .failing").count() == 0
    assert not page.locator("#code .listing").is_visible()
    page.locator("#code summary", has_text="The code, 1 line").click()
    assert page.locator("#code .listing li").all_inner_texts() == ["f = 1"]


def test_what_was_not_said_is_not_shown(opened: Opened, tmp_path: Path) -> None:
    """An answer without code shows that, and no empty parts; a value that didn't come is called nothing."""
    tests = [one("a", "no_code"), one("b", "no_code")]
    nothing = execution("q1", *tests, mechanism=None, code=None, language="javascript")
    silent = execution("q2", one("endless", "timeout", expected="3"), code="while True: pass")
    opened.open(_page(cli.tiny(tmp_path), nothing, silent), "#r/q1")
    page = opened.page
    page.locator("#code").wait_for()
    assert _words(opened, "#code") == "no code in the answer 0 of 2 tests passed javascript, nothing ran"
    page.evaluate("location.hash = '#r/q2'")
    page.get_by_role("heading", name="q2").wait_for()
    reported = _words(opened, "#code")
    assert "expected 3 returned nothing" in reported
    assert "printed" not in reported
    assert "tried" not in reported
    assert "The other tests" not in reported
    assert page.locator("#code mark").count() == 0


def test_long_code_and_many_tests_are_counted(opened: Opened, tmp_path: Path) -> None:
    """The hidden parts are counted: the lines between, those behind, and the tests beyond the list.

    Of 1000 lines, 900 failing, LINES are shown, then 900 - AROUND to 900 + AROUND: between lie 889 - LINES, behind 90.
    """
    tests = [one("bad", "runtime_error", line=900), *(one(f"t{n}") for n in range(TESTS + 12))]
    opened.open(_page(cli.tiny(tmp_path), execution("q1", *tests, code="x\n" * 1000)), "#r/q1")
    page = opened.page
    page.locator("#code").wait_for()
    assert page.locator("#code .gap").all_inner_texts() == [
        f"… {900 - AROUND - 1 - LINES} more lines",
        f"… {1000 - 900 - AROUND} more lines",
    ]
    assert page.locator("#code li:has(mark)").evaluate("(one) => one.value") == 900
    assert page.locator("#code .tests li").count() == TESTS
    assert "and 12 more tests" in _words(opened, "#code")


def test_a_user_finds_what_failed(opened: Opened, tmp_path: Path) -> None:
    """The table says how many tests passed, sorts by it, and filters by how the code ended; what wasn't run is no 0."""
    from playwright.sync_api import expect

    asked = [*cli.QUESTIONS, *({**cli.QUESTIONS[1], "id": name} for name in ("q3", "q4"))]
    reported = [*cli.ANSWERS, *({**cli.ANSWERS[1], "question_id": name} for name in ("q3", "q4"))]
    slow = execution("q4", one("a", "timeout"), one("b", "timeout"))
    opened.open(_page(cli.tiny(tmp_path, asked, reported), WRONG, RIGHT, slow))
    page = opened.page
    rows = page.locator("#table tbody th > a")
    assert page.locator("#table tbody td.tests").all_inner_texts() == ["1 of 3", "1 of 1", "–", "0 of 2"]
    assert page.locator("#table tbody tr").nth(0).locator(".tag.bad", has_text="test failed").count() == 1
    for order in (["q4", "q1", "q2", "q3"], ["q2", "q1", "q4", "q3"]):
        page.get_by_role("columnheader", name="tests passed").get_by_role("button").click()
        assert rows.all_inner_texts() == order
    page.get_by_role("columnheader", name="question").get_by_role("button").click()
    filters = (
        ("code-failed", ["q1", "q4"]),
        ("code-success", ["q2"]),
        ("code-timeout", ["q4"]),
    )
    page.locator("#more summary").click()
    for what, names in filters:
        page.select_option("#f-what", what)
        expect(rows).to_have_text(names)


def test_a_run_without_executions_beside_one_with(opened: Opened, tmp_path: Path) -> None:
    """Over two runs the one whose code wasn't executed shows dashes, no tag, and nothing in its details."""
    run = cli.tiny(tmp_path)
    other = write_jsonl(
        tmp_path / "runs" / "s.jsonl", [{**row, "run": "s"} for row in cli.ANSWERS if isinstance(row, dict)]
    )
    opened.open(write_report([run, other], tmp_path / "r.html", PageOptions(beside=[WRONG])))
    page = opened.page
    page.select_option("#run", label="B s")
    page.wait_for_url("**run=s")
    assert page.locator("#table tbody td.tests").all_inner_texts() == ["–", "–"]
    page.locator("#more summary").click()
    page.select_option("#f-what", "code-failed")
    page.locator("#count", has_text="0 of 2").wait_for()
    page.evaluate("location.hash = '#s/q1'")
    page.locator("#detail #map").wait_for(state="attached")
    assert page.locator("#code").count() == 0


def test_a_page_without_executions_shows_no_column(opened: Opened, tmp_path: Path) -> None:
    """If nothing was executed neither a column, nor a filter, nor a section speaks of it."""
    opened.open(write_report([cli.tiny(tmp_path)], tmp_path / "r.html"), "#r/q1")
    page = opened.page
    page.locator("#detail #map").wait_for(state="attached")
    assert page.locator("#code").count() == 0
    assert page.locator("#f-what option", has_text="code").count() == 0
    assert page.locator("#table thead th").all_text_contents() == ["question", "r", "category", "EdgeRecall"]


def test_hostile_executions_are_shown_and_never_run(opened: Opened, tmp_path: Path) -> None:
    """Code, messages, values, names and attempts of hostile strings are shown as they are; nothing of it runs."""
    executions: Any = hostile_executions()
    run = hostile_dataset(tmp_path)
    opened.open(_page(run, *executions))
    page = opened.page
    links = page.locator("#table tbody th > a")
    for number, text in enumerate(HOSTILE):
        links.nth(number).click()
        page.locator("#detail:not([hidden]) #code").wait_for()
        assert page.locator("#code .listing mark").text_content() == visible_text(text)
        assert page.locator("#code .values pre").all_text_contents() == [visible_text(text)] * 2
        assert page.locator("#code .printed").text_content() == visible_text(text)
        assert page.locator("#code .attempts").text_content() == visible(text)
        assert visible(f"{text}0") in (page.locator("#code h4").first.text_content() or "")
        assert visible(f"{text}1") in (page.locator("#code .tests li").text_content() or "")
        assert page.locator("#detail :is(script, img, iframe)").count() == 0
        page.keyboard.press("Escape")
        page.locator("#detail:not([hidden])").wait_for(state="detached")
    assert page.locator("script:not([type])").count() == 1


@pytest.mark.parametrize("width", [360, 1280])
def test_long_texts_of_code_stay_within_the_window(opened: Opened, tmp_path: Path, width: int) -> None:
    """Lines, names, messages and values without a place to break widen the question at no width of the window."""
    long = "x" * 3000
    test = one(
        long[:1000], "refused", message=long, expected=long, returned=long, printed=long, attempts=[long], line=1
    )
    opened.page.set_viewport_size({"width": width, "height": 900})
    run = cli.tiny(tmp_path)
    language = execution("q1", test, test, code=long, language=long[:200], entry_point=long)
    opened.open(_page(run, language), "#r/q1")
    opened.page.locator("#code").wait_for()
    wide = opened.page.evaluate(
        """() => {
            const right = (one) => one.getBoundingClientRect().right;
            return [...document.querySelectorAll("#code, #code *")]
                .filter((one) => right(one) > right(document.getElementById("detail")))
                .map((one) => `${one.tagName} ${one.className}`);
        }"""
    )
    assert wide == []
