"""Real browsers for the tests of what the page draws: Chromium, and Firefox for those that ask for both."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from tests.helpers import ROOT
from tests.helpers.absent import absent

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Playwright

Scheme = Literal["light", "dark"]

#: The programs of each browser; the first on the PATH is used.
BROWSERS = {
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "firefox": ("firefox-esr", "firefox"),
}
CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # no name of another machine, whoever asks
)
FIREFOX_PREFERENCES: dict[str, str | float | bool] = {"network.dns.disabled": True}  # as above
AXE = ROOT / "tests" / "web" / "node_modules" / "axe-core" / "axe.min.js"

#: Runs a test that uses `opened` in each browser; the others run in Chromium.
in_each_browser = pytest.mark.parametrize("opened", BROWSERS, indirect=True)


class Browsers:
    """The headless browsers of one playwright, each started when a test first asks for it."""

    def __init__(self, playwright: Playwright) -> None:
        self._playwright = playwright
        self._started: dict[tuple[str, str], Browser] = {}

    def get(self, name: str, scheme: Scheme = "light") -> Browser:
        """Return a running browser; Firefox learns only when it starts whether its colours are light or dark."""
        key = (name, scheme if name == "firefox" else "")
        if key not in self._started:
            self._started[key] = self._start(name, scheme)
        return self._started[key]

    def context(self, name: str, width: int = 1400, height: int = 1000, scheme: Scheme = "light") -> BrowserContext:
        """Return a new context, whose pages are so many pixels wide and high, in light or dark colours."""
        return self.get(name, scheme).new_context(viewport={"width": width, "height": height}, color_scheme=scheme)

    def _start(self, name: str, scheme: Scheme) -> Browser:
        program = next((found for one in BROWSERS[name] if (found := shutil.which(one))), None)
        if program is None:
            absent("GRAPHKIT_REQUIRE_BROWSER", f"no browser: none of {', '.join(BROWSERS[name])} is on the PATH")
        if name == "chromium":
            return self._playwright.chromium.launch(executable_path=program, args=list(CHROMIUM_ARGUMENTS))
        # The channel makes playwright speak to a Firefox as it is released; otherwise it needs one of its own build.
        preferences = {**FIREFOX_PREFERENCES, "ui.systemUsesDarkTheme": int(scheme == "dark")}
        return self._playwright.firefox.launch(
            executable_path=program, channel="moz-firefox", firefox_user_prefs=preferences
        )

    def close(self) -> None:
        for browser in self._started.values():
            browser.close()
        self._playwright.stop()


@dataclass
class Opened:
    """A page with what it said and asked for."""

    page: Page
    told: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def open(self, path: Path, fragment: str = "") -> None:
        self.page.goto(f"{path.as_uri()}{fragment}")
        self.page.locator("#table tbody tr").first.wait_for(state="attached")

    def back(self) -> None:
        """Go back without waiting: playwright's own way waits for an event that Firefox doesn't send."""
        self.page.evaluate("history.back()")

    def forward(self) -> None:
        """Go forward, as :meth:`back` does."""
        self.page.evaluate("history.forward()")

    @property
    def address(self) -> str:
        """The page's own address: playwright's lags behind in Firefox after Back and Forward."""
        address: str = self.page.evaluate("location.href")
        return address

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


@contextmanager
def opening(context: BrowserContext) -> Iterator[Opened]:
    """Open a page in a context, which closes at the end.

    By then the page must have reported no error, and asked for nothing but its own file, which Firefox doesn't report.
    """
    one = Opened(context.new_page())
    one.page.on("console", lambda message: one.told.append(f"{message.type}: {message.text}"))
    one.page.on("pageerror", lambda error: one.told.append(f"error: {error}"))
    one.page.on("dialog", one.dismiss)
    one.page.on("request", lambda request: one.asked.append(request.url))
    yield one
    own = one.address
    context.close()
    assert one.told == []
    assert own.startswith("file:")
    assert {url.partition("#")[0] for url in one.asked} <= {own.partition("#")[0]}


#: The browsers of this process, while they run.
_running: list[Browsers] = []


@pytest.fixture(scope="module")
def browsers() -> Browsers:
    """The browsers; a test skips where its own is absent, and fails under GRAPHKIT_REQUIRE_BROWSER=1."""
    if not _running:
        try:
            from playwright.sync_api import sync_playwright
        except ImportError:
            absent("GRAPHKIT_REQUIRE_BROWSER", "no browser: the package playwright is not installed")
        _running.append(Browsers(sync_playwright().start()))
    return _running[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Close the browsers after a module, unless the next test uses them: an event loop runs as long as they do."""
    yield
    goes_on = nextitem is not None and (
        nextitem.path == item.path or "browsers" in getattr(nextitem, "fixturenames", ())
    )
    while _running and not goes_on:
        _running.pop().close()


@pytest.fixture(scope="module")
def browser(browsers: Browsers) -> Browser:
    """Chromium."""
    return browsers.get("chromium")


@pytest.fixture
def opened(browsers: Browsers, request: pytest.FixtureRequest) -> Iterator[Opened]:
    """A new page in Chromium, or in each browser for a test marked `in_each_browser`; see :func:`opening`."""
    with opening(browsers.context(getattr(request, "param", "chromium"))) as one:
        yield one


@pytest.fixture(scope="session")
def axe() -> Callable[[Page], list[str]]:
    """A function that returns what axe-core finds wrong with a page: a line for each rule and element.

    Skips where axe-core is not installed, and fails under GRAPHKIT_REQUIRE_AXE=1.
    """
    if not AXE.is_file():
        absent("GRAPHKIT_REQUIRE_AXE", "axe-core is not installed: run `make test-page`")
    script = AXE.read_text("utf-8")

    def violations(page: Page) -> list[str]:
        page.evaluate(script)
        found = page.evaluate("axe.run({ resultTypes: ['violations'] })")
        return [f"{rule['id']}: {node['html']}" for rule in found["violations"] for node in rule["nodes"]]

    return violations
