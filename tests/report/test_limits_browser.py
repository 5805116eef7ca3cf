"""The page of questions with limits in a real browser: what it marks is seen, nothing overlaps, axe finds nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graphkit.report import write_report
from tests.report.test_layout_browser import OVERLAPPING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

    from tests.helpers.browsers import Opened, Scheme

#: What the map draws of the careless run, and what its panel says; by the table of the data's README.
SEEN = {
    "plain": ({"missed": 2}, "I don't know."),
    "two-versions": ({"matched": 2, "missed": 2}, "read api at v2.0.0; the question is about v1.0.0"),
    "no-path": ({"invented": 1}, "answered, though the question has no answer"),
    "false-premise": ({"invented": 1}, "took the false premise"),
    "allowed-way": ({"crossed": 2, "missed": 2}, "which web-team may not read"),
    "no-allowed-way": ({"crossed": 2}, "✗ 2 over the line"),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_goes_wrong_at_limits_is_seen(
    opened: Opened, axe: Callable[[Page], list[str]], limits_data: Path, tmp_path: Path, scheme: Scheme
) -> None:
    """Declines, invented edges, violations and sides are marked; at each width nothing overlaps or scrolls aside."""
    runs = [limits_data / "runs" / f"{name}.jsonl" for name in ("careful", "careless")]
    page, file = opened.page, write_report(runs, tmp_path / "r.html")
    page.emulate_media(color_scheme=scheme)
    for question, (edges, words) in SEEN.items():
        page.set_viewport_size({"width": 1400, "height": 1000})
        page.goto("about:blank")
        opened.open(file, f"#careless/{question}")
        for width in (390, 1400):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (question, width)
            assert page.evaluate(OVERLAPPING) == [], (question, width)
        opened.unfold_map()
        drawn = opened.drawn()
        assert {status: drawn[status] for status in edges} == edges, (question, drawn)
        assert words in page.locator("#detail").inner_text(), question
        assert axe(page) == [], question
    assert opened.told == []
