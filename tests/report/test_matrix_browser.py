"""The page in each browser, at each width, light and dark: it fits, axe-core finds nothing, nothing hostile runs."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

import pytest

from graphkit.report import write_report
from graphkit.report.escaping import visible
from tests.helpers.browsers import BROWSERS, Browsers, Opened, opening
from tests.helpers.datasets import STOREFRONT
from tests.helpers.pages import HOSTILE, hostile_dataset

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTHS = (390, 1280, 1600)
SCHEMES = ("light", "dark")
#: The address of a question with a long walk, and those of the questions whose every text is hostile.
QUESTION = "#storefront-graph/sf-04"
HOSTILE_QUESTIONS = [
    "#" + "/".join(quote(visible(name), safe="") for name in (HOSTILE[0], f"{number} {text}"))
    for number, text in enumerate(HOSTILE)
]
#: The width of a sheet of A4 in CSS pixels; Chromium prints to its edges, and shrinks what is wider.
SHEET = 794


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page over the three runs of the storefront and a fourth whose questions, answers and names are hostile."""
    folder = tmp_path_factory.mktemp("matrix")
    hostile = hostile_dataset(folder)
    for name in ("questions.jsonl", "commits.jsonl"):
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write((STOREFRONT / name).read_text("utf-8"))
    runs = [STOREFRONT / "runs" / f"storefront-{name}.jsonl" for name in ("graph", "graph-v2", "bm25")]
    runs = [Path(shutil.copy(run, folder / "runs")) for run in runs]
    return write_report([*runs, hostile], folder / "r.html")


def _name(window: tuple[str, int, str]) -> str:
    return "-".join(str(part) for part in window)


#: Where axe-core runs, which takes seconds a page: each layout and scheme in Chromium, and each once in Firefox. Its
#: rules read the page and its computed styles, which differ between the layouts and the schemes.
audited = pytest.mark.parametrize(
    "shown",
    [*product(("chromium",), (390, 1280), SCHEMES), ("firefox", 390, "dark"), ("firefox", 1280, "light")],
    ids=_name,
    indirect=True,
)


#: What fits depends on the width, and on colours only by mistake: each browser is dark at one width.
WINDOWS = [*product(BROWSERS, WIDTHS, ("light",)), ("chromium", 1280, "dark"), ("firefox", 390, "dark")]


@pytest.fixture(scope="module", params=WINDOWS, ids=_name)
def shown(browsers: Browsers, path: Path, request: pytest.FixtureRequest) -> Iterator[Opened]:
    """The page in one browser, at one width, in one scheme; that it said nothing is asserted at the end, too."""
    name, width, scheme = request.param
    with opening(browsers.context(name, width, 900, scheme)) as one:
        one.open(path)
        seen = one.page.evaluate("[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]")
        assert seen == [width, scheme == "dark"]
        yield one


def _overflow(page: Page) -> int:
    """Return by how many pixels the page, or the open question, is wider than its window."""
    overflow: int = page.evaluate(
        """() => {
            const panel = document.querySelector("#detail:not([hidden])");
            return Math.max(
                document.documentElement.scrollWidth - innerWidth,
                panel === null ? 0 : panel.scrollWidth - panel.clientWidth,
            );
        }"""
    )
    return overflow


def _open(shown: Opened, path: Path, question: str) -> None:
    shown.open(path, question)
    shown.page.locator("#detail:not([hidden]) #spine table").wait_for()


def test_the_overview_fits(shown: Opened, path: Path) -> None:
    """The overview doesn't scroll sideways, nor does it with everything unfolded."""
    shown.open(path)
    assert _overflow(shown.page) <= 0
    shown.open(path, "#questions")
    shown.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    shown.page.locator("#dist figure").first.wait_for()
    assert _overflow(shown.page) <= 0


def test_a_question_fits(shown: Opened, path: Path) -> None:
    """No open question scrolls sideways, whether its walk is long or its names are hostile, and nothing of it runs."""
    overflows = {}
    for question in (QUESTION, *HOSTILE_QUESTIONS):
        _open(shown, path, question)
        overflows[question] = _overflow(shown.page)
        shown.page.keyboard.press("Escape")
        shown.page.locator("#detail:not([hidden])").wait_for(state="detached")
    assert {question: wide for question, wide in overflows.items() if wide > 0} == {}
    assert shown.told == []


#: A very narrow window, and one in which text has twice its size, in each browser.
EXTREMES = [
    ("chromium", 320, "light", "100%"),
    ("firefox", 320, "dark", "100%"),
    ("chromium", 1280, "dark", "200%"),
    ("firefox", 1280, "light", "200%"),
]


@pytest.mark.parametrize(("name", "width", "scheme", "size"), EXTREMES)
def test_extreme_windows_fit(
    browsers: Browsers, path: Path, name: str, width: int, scheme: Literal["light", "dark"], size: str
) -> None:
    """In 320 pixels, and with a root font of 200%, neither the overview nor an open question scrolls sideways."""
    with opening(browsers.context(name, width, 900, scheme)) as one:
        overflows = {}
        for question in ("", QUESTION, HOSTILE_QUESTIONS[0], HOSTILE_QUESTIONS[4]):
            if question:
                _open(one, path, question)
            else:
                one.open(path)
            one.page.evaluate("(size) => { document.documentElement.style.fontSize = size; }", size)
            one.page.evaluate("for (const one of document.querySelectorAll('#first details')) one.open = true")
            overflows[question] = _overflow(one.page)
    assert {question: wide for question, wide in overflows.items() if wide > 0} == {}


@audited
def test_axe_finds_nothing_in_the_overview(shown: Opened, path: Path, axe: Callable[[Page], list[str]]) -> None:
    """The overview violates no rule of axe-core, contrast of colours included."""
    shown.open(path)
    assert axe(shown.page) == []


@audited
def test_axe_finds_nothing_in_a_question(shown: Opened, path: Path, axe: Callable[[Page], list[str]]) -> None:
    """An open question violates no rule of axe-core, nor does it with everything unfolded, the map too."""
    _open(shown, path, QUESTION)
    assert axe(shown.page) == []
    shown.unfold_map()
    shown.page.evaluate("for (const one of document.querySelectorAll('#detail details')) one.open = true")
    shown.page.locator("#edges tbody").wait_for()
    assert axe(shown.page) == []


@audited
def test_axe_finds_nothing_in_what_unfolds(shown: Opened, path: Path, axe: Callable[[Page], list[str]]) -> None:
    """Neither do the unfolded parts of the overview, and the help."""
    shown.open(path, "#questions")
    shown.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    shown.page.locator("#dist figure").first.wait_for()
    assert axe(shown.page) == []
    shown.page.locator("#keys").click()
    assert axe(shown.page) == []
    shown.page.keyboard.press("Escape")


def test_every_gold_node_is_seen(shown: Opened, path: Path) -> None:
    """The names of all gold nodes of an open question stand within its panel, none over another, on a wide window."""
    _open(shown, path, QUESTION)
    boxes = [node.bounding_box() for node in shown.page.locator("#spine .at th > bdi:not(.where)").all()]
    panel = shown.page.locator("#detail").bounding_box()
    assert panel is not None
    assert len(boxes) == 3
    for above, below in itertools.pairwise(boxes):
        assert above is not None
        assert below is not None
        assert above["y"] + above["height"] <= below["y"] + 1
    last = boxes[-1]
    assert last is not None
    assert panel["x"] <= last["x"] <= last["x"] + last["width"] <= panel["x"] + panel["width"]
    if shown.page.evaluate("innerWidth") >= 1280:
        assert last["y"] + last["height"] <= 900


@pytest.mark.parametrize("question", ["", QUESTION, HOSTILE_QUESTIONS[0]], ids=["overview", "question", "hostile"])
def test_it_is_printed(opened: Opened, path: Path, question: str) -> None:
    """The printed page fits the width of its sheets, is white even if the screen is dark, and runs nothing."""
    page = opened.page
    page.set_viewport_size({"width": SHEET, "height": 1123})
    if question:
        _open(opened, path, question)
    else:
        opened.open(path)
    page.emulate_media(media="print", color_scheme="dark")
    assert _overflow(page) <= 0
    shown = "#detail" if question else "body"
    assert page.evaluate(f"getComputedStyle(document.querySelector('{shown}')).backgroundColor") == "rgb(255, 255, 255)"
    # Each page object of the PDF is a sheet.
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", page.pdf(format="A4"))) >= 1
