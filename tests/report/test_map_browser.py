"""The map of a question in a real browser: what it draws, where its texts stand, and what the keyboard does."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.files.assets import storefront_code_folder
from graphkit.report import write_report
from graphkit.report.escaping import visible
from tests.helpers import cli
from tests.helpers.browsers import Opened
from tests.helpers.datasets import STOREFRONT, read_jsonl, write_jsonl
from tests.helpers.pages import HOSTILE, hostile_dataset

WIDTHS = (390, 1280, 1600)

#: Texts of the map that lie over another, are cut at their top or bottom, or stand outside of the map.
MISPLACED = """() => {
    const map = document.querySelector("#map"), frame = map.getBoundingClientRect(), found = [], seen = [];
    const clipped = (box, node) => {
        let { left, top, right, bottom } = box;
        for (let up = node.parentElement; up !== map; up = up.parentElement) {
            if (getComputedStyle(up).overflowX === "visible") continue;
            const edge = up.getBoundingClientRect();
            [left, top] = [Math.max(left, edge.left), Math.max(top, edge.top)];
            [right, bottom] = [Math.min(right, edge.right), Math.min(bottom, edge.bottom)];
        }
        return { left, top, right, bottom };
    };
    const walker = document.createTreeWalker(map, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const text = walker.currentNode, range = document.createRange();
        if (text.parentElement.closest(".vh, #edges table") || !text.data.trim()) continue;
        range.selectNodeContents(text);
        for (const box of range.getClientRects()) {
            const part = clipped(box, text);
            if (part.right - part.left < 1 || part.bottom - part.top < 1) continue;
            const whole = part.bottom - part.top >= box.height - 2;
            if (!whole) found.push(`cut: ${text.data}`);
            if (part.left < frame.left - 1 || part.right > frame.right + 1) found.push(`outside: ${text.data}`);
            seen.push({ ...part, text });
        }
    }
    seen.forEach((one, place) => seen.slice(place + 1).forEach((other) => {
        const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        if (one.text !== other.text && across > 1 && down > 1) found.push(`${one.text.data} over ${other.text.data}`);
    }));
    for (const row of map.querySelectorAll(".rows li")) {
        const { left, right } = row.getBoundingClientRect();
        if (left < frame.left - 1 || right > frame.right + 1) found.push(`row outside: ${row.textContent}`);
    }
    if (map.scrollWidth > map.clientWidth) found.push(`the map is ${map.scrollWidth} px wide`);
    return [seen.length, found];
}"""


def settled(opened: Opened) -> None:
    """Wait until the map has followed a change of the window."""
    opened.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def in_place(opened: Opened) -> int:
    """Assert that the texts of the map lie apart and within it, and return how many it shows."""
    shown, misplaced = opened.page.evaluate(MISPLACED)
    assert misplaced == []
    return int(shown)


def expected(dataset: Path, run: str, question: str) -> dict[str, int]:
    """Count matched, missed and other edges from the files, in plain Python: for a question with one gold path."""
    [asked] = [one for one in read_jsonl(dataset / "questions.jsonl") if one["id"] == question]
    [told] = [one for one in read_jsonl(dataset / "runs" / f"{run}.jsonl") if one["query_id"] == question]
    [path] = asked["paths"]
    required = {(s["source"], s["relation"], s["target"]) for s in path["steps"] if not s["optional"]}
    free = {(s["source"], s["relation"], s["target"]) for s in path["steps"] if s["optional"]} - required
    walked = {(s["source"], s["relation"], s["target"]) for s in told["traversal"]}
    counts = {
        "matched": len(required & walked),
        "uncounted": len(free & walked),
        "missed": len(required - walked),
        "optional": len(free - walked),
        "not gold": len(walked - required - free),
    }
    return {name: count for name, count in counts.items() if count}


def widest(run: Path) -> str:
    """Return the question whose walk names the most nodes."""

    def nodes(told: dict[str, Any]) -> int:
        return len({step[end] for step in told.get("traversal") or () for end in ("source", "target")})

    with gzip.open(run, "rt", encoding="utf-8") if run.suffix == ".gz" else run.open(encoding="utf-8") as lines:
        name: str = max(map(json.loads, lines), key=nodes)["query_id"]
    return name


@pytest.fixture(scope="module")
def storefront_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page over the three runs of the storefront fixture."""
    runs = [STOREFRONT / "runs" / f"storefront-{name}.jsonl" for name in ("graph", "graph-v2", "bm25")]
    return write_report(runs, tmp_path_factory.mktemp("page") / "storefront.html")


@pytest.fixture(scope="module")
def pallets_page(pallets: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page over the four Pallets runs."""
    runs = sorted((pallets / "runs").glob("*.jsonl"))
    return write_report(runs, tmp_path_factory.mktemp("page") / "pallets.html")


@pytest.fixture(scope="module")
def traced_page(traced_packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page over two runs on the traced packages."""
    runs = [traced_packages / "runs" / f"{name}.jsonl.gz" for name in ("agent", "bm25-expand")]
    return write_report(runs, tmp_path_factory.mktemp("page") / "traced.html")


@pytest.mark.parametrize("question", ["pallets-016", "pallets-028"])
@pytest.mark.parametrize("run", ["bm25-expand", "mixed-versions", "ppr"])
def test_the_map_agrees_with_the_log(
    pallets: Path, pallets_page: Path, opened: Opened, run: str, question: str
) -> None:
    """The map holds as many matched, missed and other edges as plain Python counts in the files."""
    opened.open(pallets_page, f"#{run}/{question}")
    opened.unfold_map()
    drawn = opened.drawn()
    extra = drawn.pop("extra", 0) + drawn.pop("turn", 0) + drawn.pop("otherwise", 0)
    assert {**drawn, **({"not gold": extra} if extra else {})} == expected(pallets, run, question)


def test_nothing_is_drawn_before_the_map_is_unfolded(opened: Opened, storefront_page: Path) -> None:
    """A question opens with its map folded and empty, and unfolding it draws it once."""
    opened.open(storefront_page, "#storefront-graph/sf-04")
    summary = opened.page.locator("#map > summary")
    # By hand: the walk has no gold edge, so that the 20 edges off the path and the 2 of gold are 22.
    assert summary.inner_text() == "Off the path: graph +20, graph-v2 +14, bm25 +0 edges"
    about = opened.page.locator("#map > p", has_text="The map of")
    assert about.text_content() == "The map of storefront-graph: 22 edges of gold and traversal"
    assert opened.page.locator("#map svg").count() == 0
    summary.click()
    opened.page.locator("#map .rows").wait_for()
    summary.click()
    summary.click()
    assert opened.page.locator("#map .rows").count() == 1


def test_a_row_tells_its_node_and_how_it_was_reached(opened: Opened, storefront_page: Path) -> None:
    """Gold comes in the order of its path with what the walk reached below; commits, ranks and crossings are words."""
    opened.open(storefront_page, "#storefront-graph/sf-04")
    opened.unfold_map()
    page = opened.page
    # Of 20 distinct edges one is the turn, and two are edges of main that the stack of 1.x does not hold.
    assert opened.drawn() == {"missed": 2, "turn": 1, "invented": 2, "extra": 17}
    assert page.locator("#map .gold .name").all_inner_texts() == ["open_session", "sweep", "sessions"]
    badges = page.locator("#map .gold .badge").all_text_contents()
    assert badges == ["5c5bb23d v2.1.0 ✕1 ≠pin", "1a48ce9e v1.1.0 pinned", "4bec4b28 v2.1.0 ✕2 ≠pin"]
    rows = [" ".join(text.split()) for text in page.locator("#map .rows li").all_text_contents()]
    assert rows[0] == "open_session ✕ path left here api · api/sessions.py rank #1 5c5bb23d v2.1.0 ✕1 ≠pin"
    assert rows[1].startswith("session_minutes api · api/settings.py rank #2 wrong turn: CALLS from open_session ")
    [last] = [row for row in rows if row.startswith("sessions schema · ")]
    assert "✗ missed: WRITES from sweep → crosses into schema, extra: WRITES from open_session → crosses into" in last
    assert page.locator("#map .gold .name").first.get_attribute("title") == "api:api/sessions.py#open_session"
    label = page.locator("#map .rows").get_attribute("aria-label") or ""
    assert label.startswith(
        "Gold path and traversal, overlaid: 5 repositories, 22 nodes; edges: 2 missed, 1 wrong turn, "
    )
    legend = page.locator("#map .legend li").all_inner_texts()
    assert legend[1] == "1 wrong turn: where the traversal left the path (thick line)"
    page.locator("#edges > summary").click()
    page.locator("#edges tbody").wait_for()
    assert page.locator("#edges tbody tr").count() == 22
    assert page.locator("#edges tbody tr").first.locator("td").all_inner_texts()[1:] == [
        "missed",
        "api:api/sessions.py#open_session",
        "CALLS",
        "api:api/sessions.py#sweep",
    ]


def test_the_map_tells_left_from_never_entered(opened: Opened, storefront_page: Path) -> None:
    """Flat retrieval never entered the gold path, which carries no mark of having been left; the other run left it."""
    opened.open(storefront_page, "#storefront-bm25/sf-04")
    opened.unfold_map()
    marks = opened.page.locator("#map .rows .left")
    assert marks.all_text_contents() == ["never entered"]
    assert (
        "the start of a gold path of which the traversal reached no node" in opened.page.locator("#marks").inner_text()
    )
    opened.page.evaluate("location.hash = '#storefront-graph/sf-04'")
    opened.page.locator("#map > p", has_text="storefront-graph").wait_for(state="attached")
    opened.unfold_map()
    assert marks.all_text_contents() == ["✕ path left here"]
    assert "never entered" not in opened.page.locator("#map").inner_text()


def test_what_a_failed_question_did_not_walk_is_not_attempted(opened: Opened, tmp_path: Path) -> None:
    """The map, its legend and its table call the edges of a failed question not attempted, and none missed."""
    steps = [["a:m.py#x", "CALLS", "b:n.py"]]
    write_jsonl(tmp_path / "questions.jsonl", [{**cli.QUESTIONS[0], "id": "q1", "paths": [steps]}])
    run = write_jsonl(tmp_path / "runs" / "r.jsonl", [{"run": "r", "question_id": "q1", "error": "timed out"}])
    opened.open(write_report([run], tmp_path / "r.html"), "#r/q1")
    opened.unfold_map()
    page = opened.page
    label = page.locator("#map .rows").get_attribute("aria-label") or ""
    assert "2 repositories, 2 nodes; edges: 1 not attempted. " in label
    assert opened.drawn() == {"unattempted": 1}
    page.locator("#edges > summary").click()
    page.locator("#edges tbody").wait_for()
    text = page.locator("#map").inner_text()
    assert "1 not attempted: the question failed or has no record (dash-dot-dot line)" in text
    assert "missed" not in text


def test_one_is_not_counted_as_many(opened: Opened, tmp_path: Path) -> None:
    """One edge in one repository is one: in the summary, in the words of the map and in the head of its table."""
    write_jsonl(tmp_path / "questions.jsonl", [cli.QUESTIONS[1]])
    run = write_jsonl(tmp_path / "runs" / "r.jsonl", [cli.ANSWERS[1]])
    opened.open(write_report([run], tmp_path / "r.html"), "#r/q2")
    opened.unfold_map()
    label = "Gold path and traversal, overlaid: 1 repository, 2 nodes; edges: 1 matched. The table below lists them."
    assert opened.page.locator("#map .rows").get_attribute("aria-label") == label
    assert opened.page.locator("#edges > summary").inner_text() == "The edge as a table"


def hub(folder: Path, neighbours: int) -> Path:
    """Write a run whose walk leads from the one gold edge's source to so many other nodes, and return its page."""
    write_jsonl(folder / "questions.jsonl", [{**cli.QUESTIONS[1], "paths": [[["a:m.py#x", "CALLS", "a:m.py#y"]]]}])
    walk = [["a:m.py#x", "READS", f"b:n.py#f{number:02}"] for number in range(neighbours)]
    run = write_jsonl(folder / "runs" / "r.jsonl", [{**cli.ANSWERS[1], "traversal": walk}])
    return write_report([run], folder / "r.html")


def test_a_hub_is_unfolded_by_the_keyboard(opened: Opened, tmp_path: Path) -> None:
    """A hub with 17 neighbours shows the turn and three; Enter shows the others, and folds them again."""
    from playwright.sync_api import expect

    opened.open(hub(tmp_path, 17), "#r/q2")
    page = opened.page
    page.locator("#map > summary").focus()
    page.keyboard.press("Enter")
    names, fold = page.locator("#map .rows .name"), page.locator("#map .rows button")
    expect(names).to_have_text(["x", "f00", "f01", "f02", "f03", "y"])
    assert fold.text_content() == "+13 more reached only from x"
    assert opened.drawn() == {"missed": 1, "turn": 1, "extra": 3}
    page.keyboard.press("Tab")
    expect(fold).to_be_focused()
    page.keyboard.press("Enter")
    expect(names).to_have_count(19)
    expect(fold).to_be_focused()
    assert (fold.get_attribute("aria-expanded"), opened.drawn()) == ("true", {"missed": 1, "turn": 1, "extra": 16})
    page.keyboard.press("Enter")
    expect(names).to_have_count(6)
    assert fold.get_attribute("aria-expanded") == "false"


def test_edges_beyond_the_map_are_counted(opened: Opened, tmp_path: Path) -> None:
    """One of 84 neighbours is the turn, and 83 are extra; the map shows 80 of them."""
    opened.open(hub(tmp_path, 84), "#r/q2")
    opened.unfold_map()
    assert opened.drawn() == {"missed": 1, "turn": 1, "extra": 80}
    assert opened.page.locator("#map .note").inner_text() == "3 more extra edges are not drawn."


def test_hostile_text_is_shown_and_never_run(opened: Opened, tmp_path: Path) -> None:
    """Ids, relations and commits of hostile strings are shown letter by letter in the map, and nothing of it runs."""
    opened.open(write_report([hostile_dataset(tmp_path)], tmp_path / "r.html"))
    page = opened.page
    links = page.locator("#table tbody th > a")
    for number, text in enumerate(HOSTILE):
        links.nth(number).click()
        opened.unfold_map()
        titles = page.locator("#map .name").evaluate_all("(all) => all.map((one) => one.title)")
        assert visible(f"api:{text}.py#{text}{number}") in titles
        assert page.locator("#map .by > bdi").first.text_content() == visible(text)
        page.locator("#edges > summary").click()
        page.locator("#edges tbody").wait_for()
        assert visible(f"api:{text}.py#{text}{number}") in page.locator("#edges td").all_text_contents()
        assert page.locator("#map :is(script, img, iframe, a)").count() == 0
        in_place(opened)
        page.keyboard.press("Escape")
        page.locator("#map").wait_for(state="detached")


def _long(mark: str) -> str:
    return f"{mark}{'x' * 300}{mark.upper()}"


@pytest.mark.parametrize("width", WIDTHS)
def test_long_names_stay_within_their_rows(opened: Opened, tmp_path: Path, width: int) -> None:
    """Names of 300 letters without a place to break widen no row, lie over no other text, and are whole in a title."""
    nodes = [f"{_long('a')}:{_long('m')}.py#{_long('s')}{number}" for number in range(3)]
    gold, off = ({"source": nodes[0], "relation": _long("r"), "target": target} for target in nodes[1:])
    asked = {**cli.QUESTIONS[1], "paths": [{"id": _long("p"), "steps": [gold]}], "commits": {_long("a"): _long("d")}}
    chunks = [{"id": node, "commit": _long("e")} for node in nodes]
    write_jsonl(tmp_path / "questions.jsonl", [asked])
    run = write_jsonl(tmp_path / "runs" / "r.jsonl", [{**cli.ANSWERS[1], "traversal": [off], "retrieved": chunks}])
    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.open(write_report([run], tmp_path / "r.html"), "#r/q2")
    opened.unfold_map()
    settled(opened)
    # Name, relation, commit, signs and rank of each row; the first row has no relation.
    assert in_place(opened) >= 3 * 5 - 1
    assert opened.page.locator("#map .name").first.get_attribute("title") == nodes[0]


@pytest.mark.parametrize("run", ["bm25", "bm25-expand", "mixed-versions", "ppr"])
def test_no_texts_of_the_widest_walks_overlap(pallets: Path, pallets_page: Path, opened: Opened, run: str) -> None:
    """In the widest walk of each run no two texts overlap, and every row stays within the map, at each width."""
    question = widest(pallets / "runs" / f"{run}.jsonl")
    opened.open(pallets_page, f"#{run}/{question}")
    opened.unfold_map()
    _at_each_width(opened)


@pytest.mark.parametrize("question", ["traced-001", None])
@pytest.mark.parametrize("run", ["agent", "bm25-expand"])
def test_no_texts_of_traced_walks_overlap(
    traced_packages: Path, traced_page: Path, opened: Opened, run: str, question: str | None
) -> None:
    """The first question and the widest walk over 73 packages are drawn without overlaps, at each width."""
    opened.open(traced_page, f"#{run}/{question or widest(traced_packages / 'runs' / f'{run}.jsonl.gz')}")
    opened.unfold_map()
    _at_each_width(opened)


@pytest.mark.parametrize("question", ["sc-01", "sc-10"])
def test_no_texts_of_code_questions_overlap(opened: Opened, tmp_path: Path, question: str) -> None:
    """Questions about code of the second storefront are drawn without overlaps, at each width."""
    run = storefront_code_folder() / "runs" / "storefront-code-graph.jsonl"
    opened.open(write_report([run], tmp_path / "r.html"), f"#storefront-code-graph/{question}")
    opened.unfold_map()
    _at_each_width(opened)


def test_no_texts_of_wrong_turns_overlap(opened: Opened, storefront_page: Path) -> None:
    """Marks of a left path, clashes, pins and ranks beside one another don't overlap, at each width and on paper."""
    opened.open(storefront_page, "#storefront-graph/sf-04")
    opened.unfold_map()
    _at_each_width(opened)
    opened.page.set_viewport_size({"width": 794, "height": 1123})
    opened.page.emulate_media(media="print")
    settled(opened)
    in_place(opened)
    assert opened.page.locator("#map .rows li").last.is_visible()


def _at_each_width(opened: Opened) -> None:
    rows = opened.page.locator("#map .rows li").count()
    assert rows >= 2
    for width in WIDTHS:
        opened.page.set_viewport_size({"width": width, "height": 900})
        settled(opened)
        assert in_place(opened) >= 2 * rows - 1, width
