"""The queries of a record on the page, in Chromium: text, outcome and cause, light and dark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from graphkit.report import write_report
from tests.helpers.browsers import Browsers, opening
from tests.helpers.datasets import write_jsonl
from tests.helpers.pages import HOSTILE
from tests.report.test_layout_browser import OVERLAPPING

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: A query of 600 characters without a space, one of many lines, and hostile ones.
TEXTS = (
    f"MATCH (n{{id:'{'x' * 600}'}})RETURN(n)",
    "\n".join(f"MATCH (n{place}:File)" for place in range(40)) + "\nRETURN n0",
    *HOSTILE,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a record with all of these queries, and of gold with them."""
    folder = tmp_path_factory.mktemp("queries")
    steps = [["a", "R", "b"], ["b", "R", "c"]]
    question = {"id": "q1", "question": "?", "gold_cypher": [*TEXTS], "paths": [{"steps": steps}]}
    compared = {"executable": True, "same": False, "cause": f"{HOSTILE[2]} was asked; turned, the result is right"}
    queries = [{"cypher": text, "error": text} for text in TEXTS]
    write_jsonl(folder / "questions.jsonl", [question])
    row = {"run": "r", "question_id": "q1", "traversal": [], "queries": queries, "compared_result": compared}
    return write_report([write_jsonl(folder / "runs" / "r.jsonl", [row])], folder / "r.html")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_queries_of_a_record(
    browsers: Browsers, path: Path, axe: Callable[[Page], list[str]], scheme: Literal["light", "dark"], width: int
) -> None:
    """Every text is shown as it is, nothing of it runs, no two texts overlap, and axe-core finds nothing."""
    with opening(browsers.context("chromium", width, 900, scheme)) as one:
        one.open(path, "#r/q1")
        page = one.page
        page.locator("#detail:not([hidden]) #spine table").wait_for()
        page.evaluate("for (const one of document.querySelectorAll('#detail details')) one.open = true")
        shown = page.locator("#queries").inner_text()
        assert "ran; its result is not that of gold" in shown
        assert f"{HOSTILE[2]} was asked; turned, the result is right" in page.locator("#query-cause").inner_text()
        for text in (TEXTS[0], "MATCH (n39:File)", *HOSTILE[:4]):
            assert shown.count(text) >= 2, text  # of the record and of gold
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert (
            page.evaluate(
                "(() => { const one = document.querySelector('#detail'); return one.scrollWidth - one.clientWidth; })()"
            )
            <= 0
        )
        assert axe(page) == []
        # A long text scrolls in its box, so the boxes are opened; beside them stands nothing else.
        page.evaluate("document.body.replaceChildren(document.querySelector('#queries'))")
        page.evaluate("for (const one of document.querySelectorAll('pre')) one.style.maxHeight = 'none'")
        assert page.evaluate(OVERLAPPING) == []
        assert one.told == []
