"""The first screen in a real browser: the baseline, cells that filter the questions, and what fits at each width."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graphkit.report import write_report
from tests.helpers.browsers import Opened
from tests.helpers.datasets import STOREFRONT, read_jsonl

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDTHS = (390, 1280, 1600)


@pytest.fixture(scope="module")
def storefront_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page over the three runs of the storefront fixture."""
    runs = [STOREFRONT / "runs" / f"storefront-{name}.jsonl" for name in ("graph", "graph-v2", "bm25")]
    return write_report(runs, tmp_path_factory.mktemp("page") / "storefront.html")


def test_the_baseline_is_chosen_there_and_kept_in_the_address(opened: Opened, storefront_page: Path) -> None:
    """Another baseline changes the sentence and the differences; its address shows the same, and Back the former."""
    from playwright.sync_api import expect

    opened.open(storefront_page)
    page = opened.page
    verdict = page.locator(".verdict-line").filter(visible=True)
    usual = verdict.inner_text()
    assert usual.startswith("graph-v2 and graph ")
    assert "bm25" not in usual
    page.select_option("#baseline", label="storefront-bm25")
    expect(verdict).to_contain_text("graph-v2 beats bm25")
    assert page.url.endswith("#questions?baseline=storefront-bm25")
    shown = page.locator(".diff").filter(visible=True)
    assert set(shown.evaluate_all("(all) => all.map((one) => one.dataset.b)")) == {"2"}
    changed = verdict.inner_text()
    page.reload()
    page.locator("#table tbody tr").first.wait_for()
    expect(verdict).to_have_text(changed)
    page.evaluate("location.hash = '#questions'")
    expect(verdict).to_have_text(usual)
    page.go_back()
    expect(verdict).to_have_text(changed)
    page.locator("#table tbody th > a").first.click()
    page.locator("#detail:not([hidden])").wait_for()
    assert page.url.endswith("?baseline=storefront-bm25")
    page.keyboard.press("Escape")
    expect(verdict).to_have_text(changed)


def test_a_cell_leads_to_its_questions(opened: Opened, storefront_page: Path) -> None:
    """A cell of CALLS lists the questions of which its run missed such an edge, its name all that need one.

    The path of sf-39 leads through what its principal may not read: nothing of it is required.
    """
    from playwright.sync_api import expect

    asked = [one for one in read_jsonl(STOREFRONT / "questions.jsonl") if len(one.get("paths") or []) == 1]
    need = {
        one["id"]
        for one in asked
        if any(step["relation"] == "CALLS" and not step["optional"] for step in one["paths"][0]["steps"])
    } - {"sf-39"}
    opened.open(storefront_page)
    page = opened.page
    row = page.locator(".broken tr", has=page.get_by_role("link", name="CALLS", exact=True))
    row.locator("td a").nth(2).click()
    expect(page.locator("#run")).to_have_value("2")
    expect(page.locator("#f-missed")).to_be_checked()
    listed = set(page.locator("#table tbody th > a").all_inner_texts())
    assert need <= listed  # storefront-bm25 walked nothing
    assert "sf-39" not in listed
    row.get_by_role("link", name="CALLS", exact=True).click()
    expect(page.locator("#f-missed")).not_to_be_checked()
    assert need <= set(page.locator("#table tbody th > a").all_inner_texts())
    page.go_back()
    expect(page.locator("#f-missed")).to_be_checked()


def test_filters_are_in_the_address(opened: Opened, storefront_page: Path) -> None:
    """What is typed and chosen is in the address, which opens the same list, also after a question was closed."""
    from playwright.sync_api import expect

    opened.open(storefront_page)
    page = opened.page
    page.fill("#f-text", "sf-1")
    page.locator("#more summary").click()
    page.select_option("#f-difficulty", "hard")
    page.wait_for_url("**?text=sf-1&difficulty=hard")
    count = page.locator("#count").inner_text()
    page.reload()
    expect(page.locator("#count")).to_have_text(count)
    page.locator("#table tbody th > a").first.click()
    page.locator("#detail:not([hidden])").wait_for()
    page.keyboard.press("Escape")
    page.wait_for_url("**#questions?text=sf-1&difficulty=hard")
    page.get_by_role("button", name="Clear").click()
    page.wait_for_url("**#questions")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_run_is_seen_at_every_width(opened: Opened, ten_runs: Path, scheme: Any) -> None:
    """Ten runs fit at each width without scrolling aside, each with its scores, and on a phone with its letter."""
    page = opened.page
    page.emulate_media(color_scheme=scheme)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        opened.open(ten_runs)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        row = page.locator(".board").first.locator("tr", has_text="EdgeRecall")
        values = row.locator(".value")
        assert values.count() == 10
        for place in range(10):
            box = values.nth(place).bounding_box()
            assert box is not None
            assert 0 <= box["x"] <= box["x"] + box["width"] <= width
        letters = row.locator("td .letter").filter(visible=True).all_inner_texts()
        assert letters == (list("ABCDEFGHIJ") if width == 390 else [])
        legend = page.locator(".board").first.locator("thead th").filter(visible=True).all_inner_texts()
        assert [text.split()[0] for text in legend if text != "measure"] == list("ABCDEFGHIJ")


OVERLAPS = """(panel) => {
  const boxes = [...panel.querySelectorAll("text.run")].map((one) => one.getBoundingClientRect());
  const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 4 || b.bottom <= a.top + 4;
  return boxes.flatMap((a, place) => boxes.slice(place + 1).filter((b) => !apart(a, b))).length;
}"""


def test_letters_of_ten_runs_stand_apart(opened: Opened, ten_runs: Path) -> None:
    """All ten runs take as long and as many tokens: their labels are apart at every width, and none is cut off.

    Boxes of text are taller than letters, so two of them may overlap by 4 pixels.
    """
    page = opened.page
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        opened.open(ten_runs)
        panels = page.locator("svg.plot")
        assert panels.count() == 2
        assert panels.evaluate_all(f"(all) => all.map({OVERLAPS})") == [0, 0]
        places = panels.locator("text.run").evaluate_all(
            "(all) => all.map((one) => [one.getBoundingClientRect().left, one.getBoundingClientRect().right])"
        )
        letters = " ".join(panels.first.locator("text.run").all_text_contents())
        assert sorted(letters.split()) == list("ABCDEFGHIJ")
        assert all(0 <= left < right <= width for left, right in places)
        rows = page.locator(".figures tbody tr")
        assert rows.count() == 10
        assert rows.first.locator("td").last.is_visible()


BEYOND = """(all) => all.filter((one) => {
  const cell = one.closest("td").getBoundingClientRect();
  return one.getBoundingClientRect().right > cell.right + 1;
}).map((one) => one.textContent)"""


@pytest.mark.parametrize("runs", ["ten_runs", "storefront_page"])
def test_values_of_neighbours_stand_apart(opened: Opened, request: pytest.FixtureRequest, runs: str) -> None:
    """Between a phone and a wide window no value reaches into the next column, and nothing beyond the page."""
    page, path = opened.page, request.getfixturevalue(runs)
    for width in (700, 768, 960, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        opened.open(path)
        shown = page.locator(".board").first.locator(".value, .diff").filter(visible=True)
        assert shown.count() > 20
        assert shown.evaluate_all(BEYOND) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_severe_values_of_every_run_are_seen(opened: Opened, ten_runs: Path) -> None:
    """In the alerts each of ten runs has its value within the window, and on a phone its letter."""
    page = opened.page
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        opened.open(ten_runs)
        row = page.locator(".alerts tbody tr", has_text="EdgeRecall")
        boxes = [cell.bounding_box() for cell in row.locator(".heat").all()]
        assert len(boxes) == 10
        assert all(box is not None and 0 <= box["x"] <= box["x"] + box["width"] <= width for box in boxes)
        letters = row.locator("td .letter").filter(visible=True).all_inner_texts()
        assert letters == (list("ABCDEFGHIJ") if width == 390 else [])


@pytest.mark.parametrize("data", ["pallets", "traced_packages"])
def test_the_first_screen_is_short(opened: Opened, request: pytest.FixtureRequest, tmp_path: Path, data: str) -> None:
    """At 1280 pixels what to look at ends by 420 for four real runs, the board and where it breaks by 1,100."""
    folder: Path = request.getfixturevalue(data)
    runs = sorted((folder / "runs").glob("*.jsonl*"))
    opened.page.set_viewport_size({"width": 1280, "height": 1000})
    opened.open(write_report(list(runs), tmp_path / "r.html"))
    box = opened.page.locator(".breaks").last.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 1100
    look = opened.page.locator("#look").bounding_box()
    assert look is not None
    assert look["y"] + look["height"] <= 420
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_the_first_screen_needs_no_script(browser: Browser, storefront_page: Path) -> None:
    """Without scripts the verdict, the board with its differences, and the boundaries are there; a choice isn't."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    page.goto(storefront_page.as_uri())
    assert page.locator(".verdict-line").filter(visible=True).count() == 1
    assert page.locator("svg.dot circle").first.is_visible()
    assert page.locator(".diff").filter(visible=True).count() > 10
    assert page.locator(".broken").first.is_visible()
    assert page.locator("svg.plot text.run").count() == 6
    assert page.locator(".alerts .heat").first.is_visible()
    assert not page.locator("#baseline").is_visible()
    assert not page.locator("#filters").is_visible()
    context.close()
