"""How the page is set: sizes of text, heads, narrow windows, large text, targets, colours and paper."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from graphkit.report import write_report
from tests.helpers.browsers import Opened, in_each_browser
from tests.helpers.datasets import STOREFRONT, read_jsonl, write_jsonl

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: Functions on the texts that a reader sees: those within hidden or clipped elements are left out.
SEEN = """
const known = new Map([[null, true]]);
const unclipped = (one) => {
  if (known.has(one)) return known.get(one);
  const shown = getComputedStyle(one).clipPath === "none" && !["OPTION", "SCRIPT"].includes(one.tagName);
  known.set(one, shown && unclipped(one.parentElement));
  return known.get(one);
};
const seen = (one) => unclipped(one) && one.checkVisibility({ visibilityProperty: true });
const texts = (root) => {
  const found = [], walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let one = walker.nextNode(); one; one = walker.nextNode()) {
    if (one.data.trim() && seen(one.parentElement)) found.push(one);
  }
  return found;
};
"""
SIZES = f"""() => {{ {SEEN}
  return [...new Set(texts(document.body).map((one) => getComputedStyle(one.parentElement).fontSize))];
}}"""
#: Words that stand on two lines, of the heads of columns or of other cells.
BROKEN = f"""(selector = "thead th") => {{ {SEEN}
  const broken = (one) => [...one.data.matchAll(/[\\p{{L}}\\p{{N}}]+/gu)].filter((word) => {{
    const range = document.createRange();
    range.setStart(one, word.index);
    range.setEnd(one, word.index + word[0].length);
    return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1;
  }}).map((word) => word[0]);
  return [...document.querySelectorAll(selector)].flatMap(texts).flatMap(broken);
}}"""
#: Texts that overlap another element's text by more than a pixel and a half, in the middle of their lines.
OVERLAPPING = f"""() => {{ {SEEN}
  const lines = (one) => {{
    const range = document.createRange();
    range.selectNodeContents(one);
    return [...range.getClientRects()].filter((box) => box.width > 1).map(({{ left, right, top, bottom, height }}) =>
      ({{ left, right, top: top + height / 5, bottom: bottom - height / 5, one }}));
  }};
  const boxes = texts(document.body).filter((one) => !one.parentElement.closest("svg")).flatMap(lines);
  boxes.sort((a, b) => a.top - b.top);
  return boxes.flatMap((a, place) => {{
    const found = [];
    for (let next = place + 1; next < boxes.length && boxes[next].top < a.bottom; next += 1) {{
      const b = boxes[next];
      const shared = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      if (a.one.parentElement !== b.one.parentElement && shared > 1.5) found.push(`${{a.one.data}} | ${{b.one.data}}`);
    }}
    return found;
  }});
}}"""
SMALL = f"""(selector) => {{ {SEEN}
  return [...document.querySelectorAll(selector)].filter(seen).map((one) => [one, one.getBoundingClientRect()])
    .filter(([_, box]) => box.width && (box.width < 24 || box.height < 23.9))
    .map(([one, box]) => `${{one.outerHTML.slice(0, 60)}} ${{box.width}} x ${{box.height}}`);
}}"""
#: What isn't part of a sentence: those links may be as high as their line.
TARGETS = (
    "a.heat, a.outcome, .broken tbody th a, .causes a, #table tbody th > a, button:not(.link), select, "
    "input, #first summary, #questions summary"
)
#: The targets of tables of which another element takes some of the 24 pixels around their middles; a browser rounds a
#: place to whole pixels.
COVERED = f"""() => {{ {SEEN}
  return [...document.querySelectorAll(":is(.broken, #table) :is(a, button)")].filter(seen).filter((one) => {{
    one.scrollIntoView({{ block: "center", inline: "center", behavior: "instant" }});
    const box = one.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    return [y - 10.9, y + 10.9].some((at) => document.elementFromPoint(x, at)?.closest("a, button") !== one);
  }}).map((one) => one.outerHTML.slice(0, 60));
}}"""


@pytest.fixture(scope="module")
def storefront(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page over the three runs of the storefront."""
    runs = [STOREFRONT / "runs" / f"storefront-{name}.jsonl" for name in ("graph", "graph-v2", "bm25")]
    return write_report(runs, tmp_path_factory.mktemp("layout") / "r.html")


def _beyond(page: Page) -> int:
    beyond: int = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return beyond


def test_text_has_seven_sizes_at_most(opened: Opened, storefront: Path) -> None:
    """So many sizes stand in the overview, and in an open question, with all unfolded."""
    page = opened.page
    for fragment in ("#questions", "#storefront-graph/sf-04"):
        opened.open(storefront, fragment)
        if "/" in fragment:
            page.locator("#spine").wait_for()
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        sizes = page.evaluate(SIZES)
        assert 3 <= len(sizes) <= 7, sizes


WINDOWS = ((320, "100%"), (390, "100%"), (390, "200%"), (768, "100%"), (1280, "200%"))


@pytest.mark.parametrize(("runs", "windows"), [("storefront", WINDOWS), ("ten_runs", WINDOWS[::4])])
def test_narrow_windows_and_large_text(
    opened: Opened, request: pytest.FixtureRequest, runs: str, windows: tuple[tuple[int, str], ...]
) -> None:
    """In narrow windows and with text of twice the size, nothing scrolls sideways, overlaps or breaks a head's word.

    Text of 200% in 390 pixels is as wide as of 100% in 195.
    """
    page = opened.page
    opened.open(request.getfixturevalue(runs))
    for width, size in windows:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("(size) => { document.documentElement.style.fontSize = size; }", size)
        assert _beyond(page) <= 0, (width, size)
        assert page.evaluate(OVERLAPPING) == [], (width, size)
        assert page.evaluate(BROKEN) == [], (width, size)


@in_each_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_targets_of_ten_runs_are_as_large_as_a_finger(opened: Opened, ten_runs: Path, width: int) -> None:
    """With ten runs at widths of 390 and 1,280 pixels, click targets are at least 24 by 24, except links in sentences.

    In tables nothing else lies in these pixels. On a desktop a label stands for its box to tick.
    """
    page = opened.page
    page.set_viewport_size({"width": width, "height": 900})
    opened.open(ten_runs)
    page.evaluate("for (const one of document.querySelectorAll('#first details, #questions details')) one.open = true")
    assert page.locator(TARGETS).filter(visible=True).count() > 300
    targets = (
        TARGETS.replace(" input,", ' input:not([type="checkbox"]), label:has([type="checkbox"]),')
        if width > 390
        else TARGETS
    )
    assert page.evaluate(SMALL, targets) == []
    assert page.evaluate(COVERED) == []


def test_each_run_has_a_track_of_its_own_on_a_phone(opened: Opened, storefront: Path) -> None:
    """The three tracks of a measure stand below each other, equally wide, and have more than half of the window."""
    page = opened.page
    page.set_viewport_size({"width": 390, "height": 900})
    opened.open(storefront)
    row = page.locator(".board").first.locator("tr", has_text="nDCG@10")
    boxes = [box for one in row.locator("svg.dot").all() if (box := one.bounding_box()) is not None]
    assert len(boxes) == 3
    assert len({box["y"] for box in boxes}) == 3
    assert len({(box["x"], box["width"]) for box in boxes}) == 1
    assert boxes[0]["width"] > 195


@pytest.mark.parametrize("runs", ["storefront", "ten_runs"])
def test_a_value_with_marks_stands_off_its_difference(
    opened: Opened, request: pytest.FixtureRequest, runs: str
) -> None:
    """A value with both of its marks has 4 pixels to the difference beside it, wherever a difference is shown."""
    opened.open(request.getfixturevalue(runs))
    gaps = opened.page.evaluate(
        """() => [...document.querySelectorAll(".board .cell")].filter((one) => one.checkVisibility()).map((one) => {
            const value = one.querySelector(".value"), diff = one.querySelector(".diff:not([hidden])");
            if (!diff) return null;
            value.textContent = "0.67††";
            const [a, b] = [value, diff].map((part) => {
                const range = document.createRange();
                range.selectNodeContents(part);
                return range.getBoundingClientRect();
            });
            return Math.abs(a.top - b.top) < 9 ? b.left - a.right : null;
        }).filter((one) => one !== null)"""
    )
    assert len(gaps) > 20
    assert min(gaps) >= 4


def test_four_runs_share_a_line_of_the_severe_ones(opened: Opened, tmp_path: Path) -> None:
    """In 320 pixels the four values of a severe measure stand beside each other, equally wide, below its name."""
    rows = read_jsonl(STOREFRONT / "runs" / "storefront-bm25.jsonl")
    for name in ("questions.jsonl", "commits.jsonl"):
        write_jsonl(tmp_path / name, read_jsonl(STOREFRONT / name))
    files = [
        write_jsonl(tmp_path / "runs" / f"{one}.jsonl", [{**row, "run": f"run-{one}"} for row in rows])
        for one in "abcd"
    ]
    page = opened.page
    page.set_viewport_size({"width": 320, "height": 900})
    opened.open(write_report(files, tmp_path / "r.html"))
    row = page.locator(".alerts tbody tr").first
    boxes = [box for one in row.locator("td[data-run]").all() if (box := one.bounding_box()) is not None]
    assert len(boxes) == 4
    assert len({box["y"] for box in boxes}) == 1
    assert max(box["width"] for box in boxes) - min(box["width"] for box in boxes) < 1


def test_a_severe_value_differs_in_shape(opened: Opened, storefront: Path) -> None:
    """A red dot is a diamond, and no other is, so who sees red as green sees it, too; a mark of better has a sign."""
    opened.open(storefront)
    page = opened.page
    shapes = page.locator("svg.dot").evaluate_all(
        "(all) => all.map((one) => [one.classList.contains('severe'), one.querySelector('rect') !== null])"
    )
    assert {(severe, diamond) for severe, diamond in shapes} == {(True, True), (False, False)}
    for kind, sign in (("better", "+"), ("worse", "-")):
        texts = page.locator(f".diff.{kind}").all_text_contents()
        assert texts
        assert {text[0] for text in texts} == {sign}


def test_thirty_questions_take_fourteen_sheets(opened: Opened, storefront: Path) -> None:
    """A question that fits a sheet isn't split over two; the sheets have margins of their own."""
    opened.open(storefront)
    page = opened.page
    page.emulate_media(media="print")
    kept = page.locator("#worst article").evaluate_all("(all) => all.map((one) => getComputedStyle(one).breakInside)")
    assert len(kept) == 20
    assert set(kept) <= {"avoid", "avoid-page"}
    assert 4 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", page.pdf(format="A4"))) <= 14


def test_tables_of_four_runs_fit_a_sheet(opened: Opened, pallets: Path, tmp_path: Path) -> None:
    """On A4, each name of where it breaks is whole and its words unbroken, and no table of the first screen is torn.

    A sheet of 210 mm with margins of 6 mm has 748 pixels for its text.
    """
    opened.open(write_report(sorted((pallets / "runs").glob("*.jsonl")), tmp_path / "r.html"))
    page = opened.page
    page.set_viewport_size({"width": 748, "height": 1000})
    page.emulate_media(media="print")
    assert _beyond(page) <= 0
    assert page.locator(".breaks thead .letter").filter(visible=True).count() == 5 * 4  # tables and runs
    assert page.evaluate(BROKEN, ".breaks th") == []
    cut = page.locator(".breaks th, .breaks th a").evaluate_all(
        "(all) => all.filter((one) => one.scrollWidth > one.clientWidth && one.clientWidth).length"
    )
    assert cut == 0
    tables = page.locator(".breaks > div > .broken, section > .board")
    assert tables.count() == 6
    assert set(tables.evaluate_all("(all) => all.map((one) => getComputedStyle(one).breakInside)")) == {"avoid"}


@in_each_browser
def test_what_scrolls_sideways_has_no_second_bar(opened: Opened, storefront: Path) -> None:
    """Firefox draws a bar of 12 pixels where a content is a pixel higher than its box: none stands beside a table."""
    opened.open(storefront, "#storefront-graph-v2/sf-05")
    page = opened.page
    page.locator("#spine table").wait_for()
    bars = page.locator(".scroll").evaluate_all("(all) => all.map((one) => one.offsetWidth - one.clientWidth)")
    assert len(bars) > 3
    assert set(bars) == {0}


def test_a_repository_in_the_panel_is_whole(opened: Opened, storefront: Path) -> None:
    """No relation and no repository beside a step is cut, though the panel has 816 pixels for seven columns."""
    page = opened.page
    page.set_viewport_size({"width": 1280, "height": 800})
    opened.open(storefront, "#storefront-bm25/sf-20")
    page.locator("#spine .repo", has_text="contracts").first.wait_for()
    ways = page.locator("#spine > .spine > .scroll .way")
    assert ways.count() >= 8
    assert ways.evaluate_all("(all) => all.filter((one) => one.scrollWidth > one.clientWidth).length") == 0
