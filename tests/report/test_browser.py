"""The report page in a real browser: open, filter, read the map; nothing runs but its own script."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graphkit.report import PageOptions, write_report
from graphkit.report.escaping import visible, visible_text
from tests.helpers import cli
from tests.helpers.browsers import Opened, in_each_browser
from tests.helpers.datasets import SHOP_QUESTIONS, STOREFRONT, read_jsonl, write_jsonl
from tests.helpers.pages import HOSTILE, hostile_dataset
from tests.helpers.verdicts import plausible, verdict
from tests.plugins.judging.test_verdict_view import SAID, hostile_verdicts

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def storefront_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page over the three runs of the storefront fixture."""
    runs = [STOREFRONT / "runs" / f"storefront-{name}.jsonl" for name in ("graph", "graph-v2", "bm25")]
    return write_report(runs, tmp_path_factory.mktemp("page") / "storefront.html")


@in_each_browser
def test_open_by_keyboard_and_close_by_escape(opened: Opened, storefront_page: Path) -> None:
    """Enter on a question opens its spine with the break in words, Escape closes it and gives the focus back."""
    opened.open(storefront_page)
    page = opened.page
    page.select_option("#run", label="A storefront-graph")
    page.wait_for_url("**run=storefront-graph")
    link = page.locator("#table").get_by_role("link", name="sf-04", exact=True)
    link.focus()
    page.keyboard.press("Enter")
    opened.unfold_map()
    # Of 20 distinct edges one is the turn. The stack of 1.x holds neither login CALLS record_failure nor submit
    # REQUESTS createOrder, which main added: both are invented.
    assert opened.drawn() == {"missed": 2, "turn": 1, "invented": 2, "extra": 17}
    told = " ".join(page.locator("#spine .told li").first.inner_text().split())
    assert told.startswith(
        "✕ graph and graph-v2 broke at step 1: read api at v2.1.0; the question is about v1.1.0; the walk left "
        "open_session by CALLS to session_minutes. 0 of 2 steps."
    )
    badges = page.locator("#map .gold .badge").all_text_contents()
    assert badges == ["5c5bb23d v2.1.0 ✕1 ≠pin", "1a48ce9e v1.1.0 pinned", "4bec4b28 v2.1.0 ✕2 ≠pin"]
    page.locator("#commits summary").click()
    pairs = page.locator("#pairs li").all_inner_texts()
    assert "api at 5c5bb23d v2.1.0" in pairs[0]
    assert "schema at 4bec4b28 v2.1.0" in pairs[1]
    page.keyboard.press("Escape")
    page.locator("#detail:not([hidden])").wait_for(state="detached")
    assert page.evaluate("document.activeElement.textContent") == "sf-04"


def test_calls_of_tools_are_shown(opened: Opened, tmp_path: Path) -> None:
    """Each call with its arguments, what it showed and gave back; what is expected first and wasn't made is said."""
    asked = [{**one, "expected_tools": ["read", "test"]} for one in cli.QUESTIONS]
    read = {"name": "read", "arguments": {"path": "m.py"}, "result": "<b>x</b>", "seen": ["a:m.py#x", "a:z.py"]}
    calls = [read, {"name": "bash", "arguments": {}, "failed": True}]
    run = cli.tiny(tmp_path, asked, [{**cli.ANSWERS[0], "tool_calls": calls}, cli.ANSWERS[1]])
    opened.open(write_report([run], tmp_path / "r.html"), "#r/q1")
    opened.page.locator("#calls > summary").click()
    rows = opened.page.locator("#calls tbody tr").all()
    cells = [[cell.strip() for cell in row.locator("td").all_inner_texts()] for row in rows]
    assert cells == [
        ["1", "read", '{"path": "m.py"}', "a:m.py#x, a:z.py", "<b>x</b>"],
        ["2", "bash failed", "", "unknown", ""],
    ]
    assert opened.page.locator("#calls b").all_inner_texts() == ["a:m.py#x"]
    assert opened.page.locator("#lack").inner_text() == "expected call 2, test, was not made"
    opened.page.evaluate("location.hash = '#r/q2'")
    opened.page.locator("#d-title", has_text="q2").wait_for()
    assert opened.page.locator("#calls").count() == 0


@in_each_browser
def test_back_leads_to_what_was_shown_before(opened: Opened, storefront_page: Path) -> None:
    """Back goes from a question to the former one and to the closed overview, also behind the button Close."""
    from playwright.sync_api import expect

    opened.open(storefront_page)
    page = opened.page
    title, dialog = page.locator("#d-title bdi").first, page.locator("#detail:not([hidden])")
    page.locator("#table").get_by_role("link", name="sf-04", exact=True).click()
    expect(title).to_have_text("sf-04")
    page.get_by_role("button", name="Next", exact=True).click()
    expect(title).to_have_text("sf-05")
    opened.back()
    expect(title).to_have_text("sf-04")
    opened.back()
    expect(dialog).to_have_count(0)
    assert "#" not in opened.address
    opened.forward()
    expect(title).to_have_text("sf-04")
    page.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    assert opened.address.endswith("#questions")
    opened.back()
    expect(title).to_have_text("sf-04")
    opened.back()
    expect(dialog).to_have_count(0)


@pytest.mark.parametrize(
    ("fragment", "told"),
    [
        ("#storefront-graph/sf-99", "This page has no question sf-99."),
        ("#nobody/sf-04", "This page has no run nobody."),
        ("#nobody/sf-99", "This page has neither a run nobody nor a question sf-99."),
        ("#sf-04", "Nothing on this page is called sf-04: the address of a question is #RUN/QUESTION."),
        ("#nobody/%3Cimg%20src=x%3E/2", "This page has neither a run nobody nor a question <img src=x>/2."),
        ("#nobody/%", "This page has neither a run nobody nor a question %."),
    ],
)
def test_an_address_that_leads_nowhere_is_reported(
    opened: Opened, storefront_page: Path, fragment: str, told: str
) -> None:
    """A missing address is named, also over an open question, and the next address removes the message."""
    from playwright.sync_api import expect

    opened.open(storefront_page, fragment)
    page = opened.page
    status = page.get_by_role("status").filter(has_text="page")
    expect(status).to_have_text(told)
    expect(status).to_be_in_viewport()
    note, choice = (page.locator(one).bounding_box() for one in ("#notice .note", "#against"))
    assert note is not None
    assert choice is not None
    assert choice["y"] >= note["y"] + note["height"]  # the choice of a baseline doesn't lie over the message
    assert page.locator("main img").count() == 0
    page.evaluate("location.hash = '#storefront-graph/sf-04'")
    expect(page.locator("#detail #map")).to_have_count(1)
    expect(status).to_have_count(0)
    page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
    expect(status).to_have_text(told)
    expect(page.locator("#detail:not([hidden])")).to_have_count(0)
    assert page.evaluate("location.hash") == fragment


def test_the_parts_of_the_page_are_no_questions(opened: Opened, storefront_page: Path) -> None:
    """The link that skips to the questions, and the bare address, name nothing that isn't there."""
    opened.open(storefront_page, "#questions")
    assert opened.page.locator("#notice").inner_text() == ""
    opened.page.evaluate("location.hash = ''")
    assert opened.page.locator("#notice").inner_text() == ""


def test_filters_say_how_many_are_left(opened: Opened, storefront_page: Path) -> None:
    """Each filter leaves the questions that plain Python finds, and the count is reported to screen readers."""
    from playwright.sync_api import expect

    questions = read_jsonl(STOREFRONT / "questions.jsonl")
    opened.open(storefront_page, "#questions?run=storefront-graph")
    page = opened.page
    count = page.locator("#count")
    expect(count).to_have_text(f"{len(questions)} of {len(questions)} questions")
    assert count.get_attribute("aria-live") == "polite"
    page.locator("#more summary").click()
    page.select_option("#f-difficulty", "hard")
    hard = [one for one in questions if one["difficulty"] == "hard"]
    expect(count).to_have_text(f"{len(hard)} of {len(questions)} questions")
    assert page.locator("#table tbody th > a").all_inner_texts() == [one["id"] for one in hard]
    page.fill("#f-text", hard[0]["id"])
    expect(count).to_have_text(f"1 of {len(questions)} questions")
    page.get_by_role("button", name="Clear").click()
    expect(count).to_have_text(f"{len(questions)} of {len(questions)} questions")
    page.select_option("#f-what", "failed")
    expect(count).to_have_text(f"2 of {len(questions)} questions")
    assert page.locator("#table tbody th > a").all_inner_texts() == ["sf-01", "sf-08"]


def test_the_run_can_be_switched(opened: Opened, storefront_page: Path) -> None:
    """Another run has its mark underlined and its own values: the flat one walked nothing.

    No edge is required without an answer: sf-31 to sf-33 have none, and sf-39 has none that its principal may read.
    """
    opened.open(storefront_page)
    opened.page.select_option("#run", label="C storefront-bm25")
    opened.page.wait_for_url("**run=storefront-bm25")
    cells = opened.page.locator("#table tbody tr td.own .outcome").all_inner_texts()
    names = opened.page.locator("#table tbody th > a").all_inner_texts()
    assert len(cells) == SHOP_QUESTIONS
    none = {name for name, cell in zip(names, cells, strict=True) if cell.startswith("–")}
    assert none == {"sf-31", "sf-32", "sf-33", "sf-39"}
    assert all(cell.startswith("0/") for name, cell in zip(names, cells, strict=True) if name not in none)


def test_a_heading_sorts_by_its_column(opened: Opened, storefront_page: Path) -> None:
    """A heading sorts upwards, then downwards, and says so in aria-sort."""
    opened.open(storefront_page)
    page = opened.page
    for direction in ("ascending", "descending"):
        page.get_by_role("columnheader", name="EdgeRecall").get_by_role("button").click()
        assert page.locator(f"th[aria-sort={direction}]").count() == 1
        values = [text for text in page.locator("#table tbody td.measured").all_inner_texts() if text != "–"]
        assert values == sorted(values, reverse=direction == "descending")
        assert len(set(values)) > 2


def test_what_was_not_scored_is_not_counted(opened: Opened, tmp_path: Path) -> None:
    """A failed, an absent and an invalid question are marked so, come last however sorted, and are no incomplete path.

    q1 is walked by half, q2 wholly; the gold of q5 names an artifact that the graph doesn't hold.
    """
    from playwright.sync_api import expect

    asked = [cli.QUESTIONS[1] | {"id": name} for name in ("q0", "q3")]
    stale = {**cli.QUESTIONS[1], "id": "q5", "paths": [[["a:m.py#x", "CALLS", "a:gone.py"]]]}
    write_jsonl(tmp_path / "questions.jsonl", [*asked, *cli.QUESTIONS, stale])
    write_jsonl(tmp_path / "artifacts.jsonl", [{"id": f"a:m.py#{name}"} for name in "xyw"] + [{"id": "b:n.py#z"}])
    failed = {"run": "r", "question_id": "q0", "error": "broken"}
    run = write_jsonl(tmp_path / "runs" / "r.jsonl", [*cli.ANSWERS, failed, {**cli.ANSWERS[1], "question_id": "q5"}])
    opened.open(write_report([run], tmp_path / "r.html"))
    page = opened.page
    found = dict(
        zip(
            page.locator("#table tbody th > a").all_inner_texts(),
            page.locator("#table tbody td.own").all_inner_texts(),
            strict=True,
        )
    )
    assert found == {"q0": "failed", "q3": "none", "q1": "1/2", "q2": "1/1", "q5": "stale"}
    page.locator("#more summary").click()
    for heading in ("r", "EdgeRecall"):
        for order in (["q1", "q2"], ["q2", "q1"]):
            page.get_by_role("columnheader", name=heading, exact=True).get_by_role("button").click()
            assert page.locator("#table tbody th > a").all_inner_texts() == [*order, "q0", "q3", "q5"]
    for what, names in (("incomplete", ["q1"]), ("complete", ["q2"]), ("invalid", ["q5"])):
        page.select_option("#f-what", what)
        expect(page.locator("#table tbody th > a")).to_have_text(names)
    page.get_by_role("link", name="q5", exact=True).click()
    assert "a:gone.py is not in the knowledge graph" in page.locator("#detail .note").inner_text()


def _long(mark: str) -> str:
    return f"{mark}{'x' * 300}{mark.upper()}"


def test_long_names_stay_within_the_window(opened: Opened, tmp_path: Path) -> None:
    """Names of 300 letters without a place to break widen neither a table nor the page, and are whole in a title."""
    node, chunk = f"{_long('a')}:{_long('m')}.py#{_long('s')}", f"{_long('b')}:{_long('n')}.py"
    step = {"source": node, "relation": _long("r"), "target": f"{node}2"}
    asked = {
        **{"id": _long("q"), "question": _long("w"), "category": _long("c"), "facts": [_long("f")]},
        **{"paths": [{"id": _long("p"), "steps": [step]}], "relevant": {node: 1}, "commits": {_long("a"): _long("d")}},
    }
    told = {
        **{"run": _long("u"), "question_id": _long("q"), "answer": _long("y"), "traversal": [step]},
        "retrieved": [{"id": node, "commit": _long("e")}, {"id": chunk, "commit": _long("h"), "text": _long("t")}],
    }
    write_jsonl(tmp_path / "questions.jsonl", [asked, {**asked, "id": _long("z")}])
    write_jsonl(tmp_path / "commits.jsonl", [{"repo": _long("b"), "sha": _long("h"), "tag": _long("v")}])
    run = write_jsonl(tmp_path / "runs" / "r.jsonl", [told, {**told, "question_id": _long("z"), "error": _long("l")}])
    opened.page.set_viewport_size({"width": 1280, "height": 900})
    opened.open(write_report([run], tmp_path / "r.html"))
    page = opened.page

    def too_wide() -> list[str]:
        found: list[str] = page.evaluate(
            """() => [document.documentElement, ...document.querySelectorAll("body, #detail, table, .bar, .note")]
                .filter((one) => Math.max(one.scrollWidth, one.getBoundingClientRect().right) > 1280)
                .map((one) => `${one.tagName} ${one.className || one.id}: ${one.scrollWidth}`)"""
        )
        return found

    assert too_wide() == []
    assert page.locator("#table tbody th > a bdi").first.get_attribute("title") == _long("q")
    assert page.locator(".board thead th[title]").first.get_attribute("title") == _long("u")
    for number, closing in enumerate(("#pairs", "#detail .note")):
        page.locator("#table tbody th > a").nth(number).click()
        page.locator(closing).first.wait_for(state="attached")
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        page.locator("#edges").wait_for()
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        page.locator("#edges tbody").wait_for()
        assert too_wide() == []
        assert page.locator("#edges td").nth(2).inner_text() == node
        page.keyboard.press("Escape")
    page.evaluate("(name) => { location.hash = `${name}/${name}`; }", _long("k"))
    page.locator("#notice .note").wait_for()
    assert too_wide() == []


def test_a_word_is_not_broken_for_want_of_room(opened: Opened, storefront_page: Path) -> None:
    """A category of one word stays on one line beside questions of many words."""
    opened.page.set_viewport_size({"width": 1280, "height": 900})
    opened.open(storefront_page)
    words = opened.page.locator("#table tbody bdi").filter(has_text=re.compile("^configuration$"))
    assert words.count() > 0
    assert words.evaluate_all("(all) => all.map((one) => one.getClientRects().length)") == [1] * words.count()


def test_one_is_not_counted_as_many(opened: Opened, tmp_path: Path) -> None:
    """One edge, repository or question is reported as one: in the page, in the map's words and in the header."""
    write_jsonl(tmp_path / "questions.jsonl", [cli.QUESTIONS[1]])
    run = write_jsonl(tmp_path / "runs" / "r.jsonl", [cli.ANSWERS[1]])
    opened.open(write_report([run], tmp_path / "r.html"), "#r/q2")
    page = opened.page
    opened.unfold_map()
    assert page.locator("#edges summary").inner_text() == "The edge as a table"
    drawn = "Gold path and traversal, overlaid: 1 repository, 2 nodes; edges: 1 matched. The table below lists them."
    assert page.locator("#map .rows").get_attribute("aria-label") == drawn
    page.keyboard.press("Escape")
    assert page.locator("#count").inner_text() == "1 of 1 question"
    assert "1 question, 1 run" in page.locator("header").inner_text()
    page.locator("#gaps summary").click()
    assert "r (1 question, 0 failed, 0 without a record)" in page.locator("#gaps").inner_text()


@pytest.mark.parametrize("address", ["#nowhere/nothing", "#storefront-graph/sf-05"])
def test_an_address_set_when_a_question_closes_is_followed(opened: Opened, storefront_page: Path, address: str) -> None:
    """An address that is set as soon as a question closes stays, and is followed."""
    opened.open(storefront_page, "#storefront-graph/sf-04")
    page = opened.page
    page.locator("#detail #map").wait_for(state="attached")
    page.evaluate("(to) => { document.getElementById('close').click(); location.hash = to; }", address)
    page.locator(
        "#notice .note" if "nowhere" in address else "#detail:not([hidden]) #d-title:has-text('sf-05')"
    ).wait_for()
    assert page.evaluate("location.hash") == address


def test_several_are_counted_as_many(opened: Opened, tmp_path: Path) -> None:
    """None of three gold edges is walked, and the one walked from their start is a wrong turn: four in all."""
    steps = [["a:m.py#x", "CALLS", f"b:{number}.py"] for number in range(3)]
    write_jsonl(tmp_path / "questions.jsonl", [{**cli.QUESTIONS[1], "paths": [steps]}, cli.QUESTIONS[0]])
    run = write_jsonl(tmp_path / "runs" / "r.jsonl", [cli.ANSWERS[1]])
    opened.open(write_report([run], tmp_path / "r.html"), "#r/q2")
    page = opened.page
    opened.unfold_map()
    assert page.locator("#edges summary").inner_text() == "All 4 edges as a table"
    drawn = "2 repositories, 5 nodes; edges: 3 missed, 1 wrong turn. "
    assert drawn in (page.locator("#map .rows").get_attribute("aria-label") or "")
    page.keyboard.press("Escape")
    assert "2 questions, 1 run" in page.locator("header").inner_text()
    page.locator("#gaps summary").click()
    assert "r (2 questions, 0 failed, 1 without a record)" in page.locator("#gaps").inner_text()


def _pages(page: Page) -> int:
    """Return how many pages of paper a page takes, by the page objects of its PDF."""
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", page.pdf(format="A4")))


def test_what_is_shown_is_printed(opened: Opened, tmp_path: Path) -> None:
    """Print gives the overview where no question is open, else that question: all of it, and nothing of the overview.

    Twenty chunks of twelve lines each are at least four sheets of paper; the window shows about one.
    """
    chunks = [{"id": f"a:{number}.py", "text": "line\n" * 12} for number in range(20)]
    write_jsonl(tmp_path / "questions.jsonl", cli.QUESTIONS)
    run = write_jsonl(tmp_path / "runs" / "r.jsonl", [{**one, "retrieved": chunks} for one in cli.ANSWERS])
    opened.open(write_report([run], tmp_path / "r.html"), "#r/q1")
    page = opened.page
    overview = [page.locator(one).first for one in ("header", ".board", "#table")]
    shown = [page.locator(f"#detail {one}") for one in ("#map .rows", "#spine table", ".question")]
    page.locator("#map summary").click()
    page.locator("#chunks summary").click()
    last = page.locator("#detail pre.chunk").last
    page.emulate_media(media="print", color_scheme="dark")
    assert [one.is_visible() for one in overview + shown] == [False] * 3 + [True] * 3
    # Nothing of it scrolls, for paper doesn't.
    assert (
        page.evaluate(
            """() => ["#detail", "#map", "pre.chunk", "#detail .scroll"]
            .filter((one) => {
                const found = document.querySelector(one);
                return found.scrollHeight > found.clientHeight + 4 || found.scrollWidth > found.clientWidth + 4;
            })"""
        )
        == []
    )
    assert last.bounding_box()["y"] > 2000  # type: ignore[index]
    assert page.get_by_role("button").count() == 0
    assert page.evaluate("getComputedStyle(document.getElementById('detail')).backgroundColor") == "rgb(255, 255, 255)"
    assert _pages(page) >= 4
    page.emulate_media(media="screen")
    page.keyboard.press("Escape")
    page.locator("#detail:not([hidden])").wait_for(state="detached")
    page.emulate_media(media="print")
    assert [one.is_visible() for one in overview] == [True] * 3
    assert shown[0].count() == 0


def _contrast(one: list[float], other: list[float]) -> float:
    def light(colour: list[float]) -> float:
        parts = [part / 255 for part in colour]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(opened: Opened, storefront_page: Path, scheme: Any) -> None:
    """Every colour that text has stands out from every ground by 4.5 to 1 or more, in both schemes."""
    opened.page.emulate_media(color_scheme=scheme)
    opened.open(storefront_page)
    colours: dict[str, list[float]] = opened.page.evaluate(
        """(names) => Object.fromEntries(names.map((name) => {
            const one = document.createElement("i");
            one.style.color = `var(--${name})`;
            document.body.append(one);
            const found = getComputedStyle(one).color.match(/[0-9.]+/g).slice(0, 3).map(Number);
            one.remove();
            return [name, found];
        }))""",
        ["bg", "soft", "fg", "dim", "link", "good", "bad", "turn", "opt", "extra"],
    )
    grounds = {name: colours.pop(name) for name in ("bg", "soft")}
    assert (sum(grounds["bg"]) > 384) == (scheme == "light")
    assert {
        (text, ground): round(ratio, 2)
        for text, one in colours.items()
        for ground, other in grounds.items()
        if (ratio := _contrast(one, other)) < 4.5
    } == {}


def test_hostile_text_is_shown_and_never_run(opened: Opened, tmp_path: Path) -> None:
    """Questions, answers, chunks, queries and calls of hostile strings are shown letter by letter, and nothing runs."""
    opened.open(write_report([hostile_dataset(tmp_path)], tmp_path / "r.html"))
    page = opened.page
    links = page.locator("#table tbody th > a")
    assert links.count() == len(HOSTILE)
    for number, text in enumerate(HOSTILE):
        links.nth(number).click()
        page.locator("#detail #map").wait_for(state="attached")
        assert page.locator("#detail .question").text_content() == visible_text(text)
        assert page.locator("#answer").text_content() == visible_text(text)
        given, result = page.locator("#calls pre.chunk").all_text_contents()
        assert json.loads(given) == {text: [text]}
        # The chunk, the query with that of gold, and the result of the call.
        shown = page.locator("#chunks pre.chunk, #queries pre.chunk").all_text_contents()
        assert [*shown, result] == [visible_text(text)] * 4
        assert page.locator("#detail pre.chunk").count() == 5
        assert page.locator("#calls td bdi").text_content() == visible(text)
        assert page.locator("#detail :is(script, img, iframe, a)").count() == 0
        page.keyboard.press("Escape")
        page.locator("#detail:not([hidden])").wait_for(state="detached")
    assert page.locator("script:not([type])").count() == 1


def test_an_answer_is_shown_claim_by_claim(opened: Opened, tmp_path: Path) -> None:
    """Each claim shows its support, quote, chunk with rank, edge and citation with why not; then what wasn't shown."""
    failed = verdict("q1", grader="rubric", failure="refused", reason="it said no")
    run = cli.tiny(tmp_path)
    opened.open(write_report([run], tmp_path / "r.html", PageOptions(beside=[SAID, failed])), "#r/q1")
    page = opened.page
    page.locator("#judged").wait_for()
    claims = page.locator("#detail .claims > li")
    supported, unsupported = (" ".join(claims.nth(place).inner_text().split()) for place in (0, 1))
    assert supported.startswith("x calls y supported directly")
    assert "y() in a:m.py#x (rank 1)" in supported
    assert "rests on the traversed edge a:m.py#x -CALLS-> a:m.py#y in gold" in supported
    assert "cites [a/m.py] (a/m.py) correct not needed, means a:m.py#x" in supported
    assert unsupported.startswith("x calls z not supported the gold answer says otherwise")
    assert "no such chunk" in unsupported
    assert "cites [b/n.py] (b/n.py) wrong not in the retrieved context" in unsupported
    assert page.locator("#detail .left-out").inner_text() == "Not shown to the judge, for lack of space: a:m.py#w"
    assert "No verdict: refused: it said no" in page.locator("#detail .verdict").nth(1).inner_text()
    page.evaluate("location.hash = '#r/q2'")
    page.get_by_role("heading", name="q2").wait_for()
    assert page.locator("#judged").count() == 0


def test_verdicts_follow_the_run_and_the_question(opened: Opened, tmp_path: Path) -> None:
    """Over two judged runs of the fixture each question shows the claims on its own answer, and others show none."""
    runs = [STOREFRONT / "runs" / f"storefront-{name}.jsonl" for name in ("graph", "bm25", "graph-v2")]
    verdicts = [one for run in runs[:2] for one in plausible(run)]
    opened.open(write_report(runs, tmp_path / "r.html", PageOptions(beside=verdicts)))
    page = opened.page
    judged = page.locator("#judges").inner_text()
    assert ["bm25" in judged, "graph-v2" in judged] == [True, False]
    for name, question in (("graph", "sf-30"), ("bm25", "sf-02"), ("graph-v2", "sf-30")):
        run = f"storefront-{name}"
        page.evaluate(f"location.hash = '#{run}/{question}'")
        page.locator("#detail h2", has_text=run).filter(has_text=question).wait_for()
        on_it = [one for one in verdicts if (one.run, one.question) == (run, question)]
        assert page.locator("#detail .verdict").count() == len(on_it)
        texts = page.locator("#detail .claim > span.data").all_inner_texts()
        assert texts == [each.text for one in on_it for each in one.claims]
        of_gold = page.locator("#detail .gold-claim > span.data").all_text_contents()
        assert of_gold == [each.text for one in on_it for each in one.gold_claims]


def test_hostile_verdicts_are_shown_and_never_run(opened: Opened, tmp_path: Path) -> None:
    """Claims, quotes, citations, edges and reasons of hostile strings are shown as they are; nothing of it runs."""
    run = hostile_dataset(tmp_path)
    verdicts: Any = hostile_verdicts(run)
    opened.open(write_report([run], tmp_path / "r.html", PageOptions(beside=verdicts)))
    page = opened.page
    links = page.locator("#table tbody th > a")
    for number, text in enumerate(HOSTILE):
        links.nth(number).click()
        page.locator("#detail:not([hidden]) #judged").wait_for()
        assert page.locator("#detail .claim > span.data").text_content() == visible_text(text)
        assert page.locator("#detail .claim q").text_content() == visible_text(text)
        assert visible_text(text) in (page.locator("#detail .citation").text_content() or "")
        assert visible(text) in (page.locator("#detail .edge-of").text_content() or "")
        assert page.locator("#detail .gold-claim > span.data").text_content() == visible_text(text)
        assert visible(text) in (page.locator("#detail .gold-edge").text_content() or "")
        assert page.locator("#detail .verdict dt").first.text_content() == visible(text)
        assert page.locator("#detail :is(script, img, iframe, a)").count() == 0
        page.keyboard.press("Escape")
        page.locator("#detail:not([hidden])").wait_for(state="detached")
    assert page.locator("script:not([type])").count() == 1


def test_a_script_that_gets_in_is_stopped(opened: Opened, storefront_page: Path, tmp_path: Path) -> None:
    """The policy holds: a script or a style that stands in the page without its hash does nothing."""
    text = storefront_page.read_text("utf-8")
    page = tmp_path / "r.html"
    added = "<script>document.title = 'taken'</script><style>h1 { color: rgb(1, 2, 3) }</style>"
    page.write_text(text.replace("<main>", added + "<main>"), "utf-8")
    opened.open(page)
    assert opened.page.title() == "graphkit: storefront"
    assert opened.page.evaluate("getComputedStyle(document.querySelector('h1')).color") != "rgb(1, 2, 3)"
    refusals = [text for text in opened.told if "Content Security Policy" in text]
    assert len(refusals) == len(opened.told) == 2
    opened.told.clear()


def test_what_a_failed_question_did_not_walk_is_not_attempted(opened: Opened, tmp_path: Path) -> None:
    """The spine calls the step of a failed question not attempted."""
    steps = [["a:m.py#x", "CALLS", "b:n.py"]]
    write_jsonl(tmp_path / "questions.jsonl", [{**cli.QUESTIONS[0], "id": "q1", "paths": [steps]}])
    run = write_jsonl(tmp_path / "runs" / "r.jsonl", [{"run": "r", "question_id": "q1", "error": "timed out"}])
    opened.open(write_report([run], tmp_path / "r.html"), "#r/q1")
    assert opened.page.locator("#spine .how").first.inner_text().split() == ["·", "not", "attempted"]


def test_a_thousand_questions_are_shown_by_the_hundred(opened: Opened, tmp_path: Path) -> None:
    """The table holds 100 of 1 000 questions at a time, nothing is drawn before one is opened, and the last opens."""
    [asked], [told] = cli.QUESTIONS[:1], cli.ANSWERS[:1]
    write_jsonl(tmp_path / "questions.jsonl", [{**asked, "id": f"q{number:04}"} for number in range(1000)])
    run = write_jsonl(
        tmp_path / "runs" / "r.jsonl", [{**told, "question_id": f"q{number:04}"} for number in range(1000)]
    )
    opened.open(write_report([run], tmp_path / "r.html"))
    page = opened.page
    assert page.locator("#table tbody tr").count() == 100
    assert page.locator("#map").count() == 0
    page.get_by_role("button", name="Next page").click()
    assert page.locator("#table tbody th > a").first.inner_text() == "q0100"
    page.evaluate("location.hash = '#r/q0999'")
    opened.unfold_map()
    assert opened.drawn() == {"matched": 1, "missed": 1}
