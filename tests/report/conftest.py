"""A real browser for the tests of what the page draws."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # no name of another machine, whoever asks
)
REQUIRED = os.environ.get("GRAPHKIT_REQUIRE_BROWSER") == "1"


def _absent(what: str) -> None:
    if REQUIRED:
        pytest.fail(f"GRAPHKIT_REQUIRE_BROWSER=1, but {what}", pytrace=False)
    pytest.skip(f"no browser: {what}")


@dataclass
class Opened:
    """A page with what it said and asked for."""

    page: Page
    told: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def open(self, path: Path, fragment: str = "") -> None:
        self.page.goto(f"{path.as_uri()}{fragment}")
        self.page.locator("#table tbody tr").first.wait_for(state="attached")

    def dismiss(self, dialog: Dialog) -> None:
        """Keep what an alert says, and close it."""
        self.told.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def unfold_map(self) -> None:
        """Unfold the map of the open question, and the neighbours of its hubs."""
        self.page.locator("#map > summary").click()
        self.page.locator("#map .rows").wait_for()
        folds = self.page.locator("#map button[aria-expanded=false]")
        while folds.count():
            folds.first.click()

    def drawn(self) -> dict[str, int]:
        """Return how many edges of each status the unfolded map holds."""
        return Counter(
            self.page.locator("#map [data-status]").evaluate_all("(all) => all.map((one) => one.dataset.status)")
        )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium; skips where there is none, and fails under GRAPHKIT_REQUIRE_BROWSER=1."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _absent("the package playwright is not installed")
    program = next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )
    if program is None:
        _absent("neither chromium nor google-chrome is on the PATH")
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield opened
        opened.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opened]:
    """A new page; at its end it must have reported no error and asked for nothing but its own file."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    one = Opened(context.new_page())
    one.page.on("console", lambda message: one.told.append(f"{message.type}: {message.text}"))
    one.page.on("pageerror", lambda error: one.told.append(f"error: {error}"))
    one.page.on("dialog", one.dismiss)
    one.page.on("request", lambda request: one.asked.append(request.url))
    yield one
    context.close()
    assert one.told == []
    [asked] = {url.partition("#")[0] for url in one.asked}
    assert asked.startswith("file:")
