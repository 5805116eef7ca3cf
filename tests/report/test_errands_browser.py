"""What a reader looks for, and how many clicks and keys it takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graphkit.report import write_report
from tests.helpers.browsers import Opened
from tests.helpers.datasets import STOREFRONT
from tests.helpers.pages import Page

if TYPE_CHECKING:
    from playwright.sync_api import Locator


class Reader:
    """Someone at the page who counts clicks and keys."""

    def __init__(self, opened: Opened, path: Path) -> None:
        self.opened, self.page, self.actions = opened, opened.page, 0
        opened.open(path)

    def click(self, what: str | Locator) -> None:
        """Click, which counts as one action."""
        self.actions += 1
        (self.page.locator(what) if isinstance(what, str) else what).click()

    def press(self, key: str) -> None:
        """Press a key, which counts as one action."""
        self.actions += 1
        self.page.keyboard.press(key)

    def listed(self) -> list[str]:
        """Return the ids in the list of questions."""
        return self.page.locator("#table tbody th > a").all_inner_texts()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page over the three runs of the storefront."""
    runs = [STOREFRONT / "runs" / f"storefront-{name}.jsonl" for name in ("graph", "graph-v2", "bm25")]
    return write_report(runs, tmp_path_factory.mktemp("errands") / "r.html")


@pytest.fixture(scope="module")
def outcomes(path: Path) -> dict[str, list[Any]]:
    """What each run did on each question, as the page's data holds it."""
    data = Page(path.read_text("utf-8")).json("summary")
    return {one["id"]: [run["questions"][place] for run in data["runs"]] for place, one in enumerate(data["questions"])}


@pytest.fixture
def reader(opened: Opened, path: Path) -> Reader:
    """A reader of that page."""
    return Reader(opened, path)


def test_what_takes_no_click(reader: Reader) -> None:
    """Who won, whether it may be chance, and the boundary and the edge that lose most are read."""
    verdict = reader.page.locator(".verdict-line").filter(visible=True)
    assert verdict.inner_text().startswith("graph-v2 and graph don't clearly differ: nDCG@10")
    # Without an answer no chunk is relevant: sf-31 to sf-33, and sf-39 for its principal, have no nDCG.
    assert verdict.locator("b").inner_text() == "+0.15 [+0.03, +0.27] over 35 of 39 questions"
    for table in (".breaks .broken", ".single .broken"):
        rows = reader.page.locator(table).first.locator("tbody tr")
        first = rows.first
        assert first.is_visible()
        lost = [int(text) for text in rows.locator(".lost").all_inner_texts()]
        assert lost == sorted(lost, reverse=True)
        cells = [text.rstrip("†").split(" of ") for text in first.locator("a.heat").all_inner_texts()]
        assert lost[0] == sum(int(required) - int(walked) for walked, required in cells)
    assert reader.actions == 0


def test_a_question_that_got_worse_and_its_cause_take_one_click(reader: Reader, outcomes: dict[str, Any]) -> None:
    """The first screen links it; the open question says where the walk broke."""
    reader.click("#worse a >> nth=0")
    reader.page.locator("#spine").wait_for()
    name = reader.page.locator("#d-title bdi").first.inner_text()
    before, after = outcomes[name][:2]
    assert after["found"] < before["found"]
    told = reader.page.locator("#spine .told").first.inner_text()
    assert "graph-v2" in told
    assert "broke at step" in told
    assert reader.actions == 1


@pytest.mark.parametrize("event", ["luck", "incoherent"])
def test_any_run_takes_one_click(reader: Reader, outcomes: dict[str, Any], event: str) -> None:
    """Luck, and conflicting commits, of any run are filters."""
    reader.click(f"#anywhere [data-event={event}]")

    def holds(one: dict[str, Any]) -> bool:
        return (one["answer"], one["path"]) == ("right", "wrong") if event == "luck" else event in one["flags"]

    expected = [name for name, runs in outcomes.items() if any(holds(one) for one in runs)]
    assert 0 < len(expected) < len(outcomes)
    assert reader.listed() == expected
    assert reader.actions == 1


def test_the_questions_of_a_cause_take_one_click(reader: Reader, outcomes: dict[str, Any]) -> None:
    """Each group of the first screen leads to as many questions as it counts: those of which a run has the cause."""
    link = reader.page.locator(".causes a").first
    kind, _, count = link.inner_text().rpartition(" ")
    reader.click(link)
    reader.page.wait_for_url("**keep=*")
    expected = [name for name, runs in outcomes.items() if any(one["cause"] == kind for one in runs)]
    assert reader.listed() == expected
    assert len(expected) == int(count)
    assert reader.actions == 1


def test_the_questions_of_the_edge_missed_most_take_one_click(reader: Reader) -> None:
    """A cell of the first row of edges leads to the questions of which its run misses it."""
    cell = reader.page.locator(".single .broken").first.locator("tbody tr").first.locator("a.heat").first
    walked, required = cell.inner_text().split(" of ")
    reader.click(cell)
    reader.page.wait_for_url("**edge=*")
    assert len(reader.listed()) == int(required) - int(walked)
    assert reader.actions == 1


def test_one_question_over_three_runs_takes_one_click(reader: Reader) -> None:
    """An open question shows what every run did on it."""
    reader.click("#table tbody th > a >> nth=3")
    reader.page.locator("#spine").wait_for()
    assert (
        reader.page.locator("#spine [data-run]").evaluate_all(
            "(all) => new Set(all.map((one) => one.dataset.run)).size"
        )
        == 3
    )
    assert reader.actions == 1


def test_a_link_with_a_filter_takes_two_clicks(reader: Reader, path: Path) -> None:
    """A filter, and the button that copies the address; who opens the link sees the same list."""
    page = reader.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reader.click("#anywhere [data-event=luck]")
    reader.click("#copy-list")
    page.locator("#copy-list.copied").wait_for()
    assert reader.actions == 2
    expected = reader.listed()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == f"{path.as_uri()}#questions?what=luck&any=1"
    page.goto("about:blank")
    page.goto(link)
    page.locator("#table tbody tr").first.wait_for()
    assert reader.listed() == expected


def test_five_grades_take_twelve_keys(reader: Reader) -> None:
    """j opens the first question, then the next one, and a letter grades its answer."""
    titles = []
    for key in "rwrwr":
        reader.press("j")
        reader.page.locator("#grade-right[aria-pressed=false]").wait_for()
        titles.append(reader.page.locator("#d-title bdi").first.inner_text())
        reader.press(key)
        reader.page.locator(f"#grade-{'right' if key == 'r' else 'wrong'}[aria-pressed=true]").wait_for()
    assert len(set(titles)) == 5
    assert reader.page.locator("#save-grades").text_content() == "Grades (5)"
    assert reader.actions <= 12
