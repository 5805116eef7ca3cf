"""Answers side by side in a real browser: where they stand, light and dark, and that nothing hostile runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.browsers import Opened
from tests.helpers.cli import inside
from tests.helpers.datasets import write_jsonl
from tests.report.test_layout_browser import OVERLAPPING

HOSTILE = "<img src=x onerror=alert(1)></p></details></section><script>alert(2)</script>"
JUDGE = f"""
def judge(prompt, schema):
    return {{"reasoning": "{HOSTILE}", "winner": "first"}}
"""


@pytest.fixture(scope="module")
def compared_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two runs whose answers, questions and verdicts hold markup, one of them without spaces."""
    folder = tmp_path_factory.mktemp("pairs")
    names = ("q1", f"q2 {HOSTILE}")
    write_jsonl(folder / "questions.jsonl", [{"id": one, "question": f"Why {HOSTILE}?"} for one in names])
    (folder / "first_judge.py").write_text(JUDGE)
    runs = [
        write_jsonl(
            folder / "runs" / f"{run}.jsonl",
            [{"run": run, "question_id": one, "answer": f"{text} {HOSTILE}"} for one in names],
        )
        for run, text in (("one", "It is kept. " * 40), ("two", "x" * 300))
    ]
    words = ("-j", "first_judge:judge", "-c", "directness", "-c", "relevance", "--no-store")
    inside("judge", "pairwise", *runs, *words, cwd=folder, code=0)
    inside("report", *runs, "--out", folder / "page.html", cwd=folder, code=0)
    return folder / "page.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_side_by_side(opened: Opened, compared_page: Path, scheme: Any) -> None:
    """Both answers stand beside each other where there is room and below each other else; no text lies on another.

    Markup of answers, names and the judge is text: the page says nothing and asks for nothing (``opened``).
    """
    page = opened.page
    page.emulate_media(color_scheme=scheme)
    opened.open(compared_page)
    section = page.locator("section[aria-labelledby=h-pairwise]")
    section.locator("details").evaluate_all("(all) => all.forEach((one) => { one.open = true; })")
    assert section.locator("img, script").count() == 0
    assert section.get_by_text(HOSTILE).count() > 4
    tops = "(all) => all.map((one) => Math.round(one.getBoundingClientRect().top))"
    for width, beside in ((1400, True), (390, False)):
        page.set_viewport_size({"width": width, "height": 900})
        one, two = section.locator(".parts").first.locator("> div").evaluate_all(tops)
        assert (one == two) is beside, width
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert page.evaluate(OVERLAPPING) == []
