"""The panel of an open question: cause and answer stand near its top, keys grade answers, code is shown once."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pytest

from graphkit import evaluate
from graphkit.records.scores import answer_hash
from graphkit.report import PageOptions, write_report
from tests.helpers import cli
from tests.helpers.browsers import Opened, in_each_browser
from tests.helpers.datasets import SHOP_QUESTIONS, STOREFRONT, read_jsonl
from tests.helpers.executions import result
from tests.plugins.sandbox.test_execution_view import execution

if TYPE_CHECKING:
    from collections.abc import Callable

#: In pixels from the top of the panel at 1280 x 800: where the last sentence on causes and remedies ends, and where the
#: answer begins.
REASON, ANSWER = 260, 460

#: Opens each question of the list, and returns those two heights and the number of marks of breaks.
HEIGHTS = """async () => {
    const [panel, found] = [document.getElementById("detail"), []];
    const title = () => document.getElementById("d-title");
    for (;;) {
        const [place, before] = [location.hash, title()];
        document.dispatchEvent(new KeyboardEvent("keydown", { key: "j" }));
        if (place === location.hash) return found;
        while (!title() || title() === before) await new Promise(requestAnimationFrame);
        const { top } = panel.getBoundingClientRect();
        found.push([
            [...panel.querySelectorAll(".told li, .todo")].at(-1).getBoundingClientRect().bottom - top,
            panel.querySelector(".answers h3").getBoundingClientRect().top - top,
            panel.querySelectorAll("#spine > .spine > .scroll .broke").length,
        ]);
    }
}"""


@pytest.mark.parametrize("name", ["storefront", "pallets", "traced"])
def test_the_cause_and_the_answer_stand_near_the_top(
    opened: Opened, tmp_path: Path, name: str, request: pytest.FixtureRequest
) -> None:
    """Over the questions of a data set, the medians of the heights keep their bounds, and two marks at most are red."""
    fixtures: dict[str, Callable[[], Path]] = {
        "storefront": lambda: STOREFRONT,
        "pallets": lambda: request.getfixturevalue("pallets"),
        "traced": lambda: request.getfixturevalue("traced_packages"),
    }
    folder = fixtures[name]()
    page = write_report(sorted((folder / "runs").iterdir()), tmp_path / "r.html")
    opened.page.set_viewport_size({"width": 1280, "height": 800})
    opened.open(page)
    found = opened.page.evaluate(HEIGHTS)
    assert len(found) == {"storefront": SHOP_QUESTIONS, "pallets": 40, "traced": 199}[name]
    told, answer, marks = (median(column) for column in zip(*found, strict=True))
    assert (told <= REASON, answer <= ANSWER, marks <= 2) == (True, True, True), (told, answer, marks)


@in_each_browser
def test_what_to_do_is_that_of_the_chosen_run(opened: Opened, tmp_path: Path) -> None:
    """In sf-27, graph read another version while graph-v2 and bm25 miss the first step: each run gets its own remedy.

    Nothing is lost: the line that stood first is folded, once.
    """
    runs = sorted((STOREFRONT / "runs").iterdir())
    version, retrieve = "Have orders read at v2.1.0 for this question.", "Retrieve refund_order, or walk to it"
    opened.open(write_report(runs, tmp_path / "r.html"), "#storefront-graph/sf-27")
    page = opened.page
    for run, own, other in (("graph", version, retrieve), ("bm25", retrieve, version)):
        page.evaluate(f"location.hash = '#storefront-{run}/sf-27'")
        page.locator(".answers h3", has_text=f"Answer of storefront-{run}").wait_for()
        assert page.locator("#spine .todo .remedy").count() == 1
        told = page.locator("#spine .todo").inner_text()
        assert own in told
        assert run in told.partition(":")[0]
        folded = page.locator("#detail .remedies").text_content() or ""
        assert (folded.count(own), folded.count(other)) == (0, 1)
        # The names of runs are links there, too.
        assert page.locator("#detail .remedies a.name").first.get_attribute("href").endswith("/sf-27")  # type: ignore[union-attr]


def test_commits_that_were_read_stand_apart_from_those_wanted(opened: Opened, tmp_path: Path) -> None:
    """On sf-04 graph-v2 read api at 5c5bb23d and schema at 4bec4b28; the question pins 1a48ce9e and b4d8cdba."""
    run = STOREFRONT / "runs" / "storefront-graph-v2.jsonl"
    opened.open(write_report([run], tmp_path / "r.html"), "#storefront-graph-v2/sf-04")
    opened.page.locator("#commits summary").click()
    read, wanted, *_ = opened.page.locator("#commits > p").all_inner_texts()
    assert read.startswith("Read: ")
    assert "api at 5c5bb23d" in read
    assert "schema at 4bec4b28" in read
    assert "1a48ce9e" not in read
    # Both pins have the tag v1.1.0.
    about = "What the question is about but the run did not read"
    assert wanted == f"{about}: api at 1a48ce9e v1.1.0, schema at b4d8cdba v1.1.0"


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_a_conflict_stands_within_its_lane(opened: Opened, tmp_path: Path, width: int) -> None:
    """On sf-09 graph and bm25 read conflicting commits at both nodes: no word reaches into the next lane."""
    runs = sorted((STOREFRONT / "runs").iterdir())
    opened.page.set_viewport_size({"width": width, "height": 800})
    opened.open(write_report(runs, tmp_path / "r.html"), "#storefront-graph/sf-09")
    marks = opened.page.locator("#spine td .clash")
    marks.first.wait_for()
    assert marks.count() == 4
    within = """(all) => all.map((one) => {
        const words = document.createRange();
        words.selectNodeContents(one.firstChild);
        const [word, cell] = [words.getBoundingClientRect(), one.closest("td").getBoundingClientRect()];
        return word.left >= cell.left - 1 && word.right <= cell.right;
    })"""
    assert marks.evaluate_all(within) == [True] * 4


def test_the_tenth_run_has_a_key(opened: Opened, tmp_path: Path) -> None:
    """With ten runs, key 1 chooses the first one and key 0 the tenth."""
    for number in range(10):
        file = cli.tiny(tmp_path, cli.QUESTIONS, [{**one, "run": f"r{number}"} for one in cli.ANSWERS])
        file.rename(file.with_name(f"r{number}.jsonl"))
    opened.open(write_report(sorted((tmp_path / "runs").iterdir()), tmp_path / "r.html"), "#r3/q1")
    for key, run in (("0", "r9"), ("1", "r0")):
        opened.page.locator("#d-title").wait_for()
        opened.page.keyboard.press(key)
        opened.page.locator("#d-title", has_text=f"in {run}").wait_for()


@in_each_browser
def test_five_answers_take_ten_keys(opened: Opened, tmp_path: Path) -> None:
    """j opens the first question and then the next, r and w grade; each saved grade holds what it is about."""
    run = STOREFRONT / "runs" / "storefront-graph-v2.jsonl"
    opened.open(write_report([run], tmp_path / "r.html"))
    page = opened.page
    asked = [one["id"] for one in read_jsonl(STOREFRONT / "questions.jsonl")[:5]]
    for name, key in zip(asked, "rwrwr", strict=True):
        page.keyboard.press("j")
        page.locator("#d-title bdi", has_text=name).first.wait_for()
        page.keyboard.press(key)
    page.locator("#save-grades", has_text="Grades (5)").wait_for()
    kept = page.evaluate("Object.entries(localStorage).find(([name]) => name.startsWith('graphkit grades'))[1]")
    answers = {one["question_id"]: one["answer"] for one in read_jsonl(run)}
    gold = {row.question: row.gold_hash for row in evaluate(run, measures=["EdgeRecall"]).rows}
    assert [(one["question"], one["value"], one["answer_hash"], one["gold_hash"]) for one in json.loads(kept)] == [
        (name, value, answer_hash(answers[name]), gold[name])
        for name, value in zip(asked, (1, 0, 1, 0, 1), strict=True)
    ]


def test_a_grade_of_an_earlier_answer_is_not_shown(opened: Opened, tmp_path: Path) -> None:
    """The page is written again with another answer to q1: its grade is gone, that of q2 is there."""
    told = [{**one, "answer": "y does"} for one in cli.ANSWERS]
    run = cli.tiny(tmp_path, cli.QUESTIONS, told)
    path = write_report([run], tmp_path / "r.html")
    opened.open(path)
    page = opened.page
    for name in ("q1", "q2"):
        page.keyboard.press("j")
        page.locator("#d-title", has_text=name).wait_for()
        page.keyboard.press("r")
    page.locator("#save-grades", has_text="Grades (2)").wait_for()
    cli.tiny(tmp_path, cli.QUESTIONS, [{**told[0], "answer": "quite another"}, told[1]])
    write_report([run], path)
    opened.open(path, "#r/q1")
    page.reload()
    for name, pressed in (("q1", "false"), ("q2", "true")):
        page.evaluate(f"location.hash = '#r/{name}'")
        page.locator("#d-title", has_text=name).wait_for()
        assert page.locator("#grade-right").get_attribute("aria-pressed") == pressed


def test_a_name_in_a_sentence_chooses_the_run(opened: Opened, tmp_path: Path) -> None:
    """The names of runs are links to their answers; the one whose answer is shown is marked."""
    runs = [STOREFRONT / "runs" / f"storefront-{name}.jsonl" for name in ("bm25", "graph")]
    opened.open(write_report(list(runs), tmp_path / "r.html"), "#storefront-bm25/sf-04")
    page = opened.page
    shown = page.locator("#spine .who a[aria-current]")
    shown.wait_for()
    assert shown.inner_text() == "bm25"
    page.locator("#spine .who a", has_text="graph").click()
    page.locator(".answers h3", has_text="Answer of storefront-graph").wait_for()
    assert shown.inner_text() == "graph"
    assert opened.address.endswith("#storefront-graph/sf-04")


def test_code_is_shown_once_and_without_fences(opened: Opened, tmp_path: Path) -> None:
    """Code that the section of executed code shows isn't in the answer again; other code is, as a block."""
    text = "Add them:\n```python\ndef add(a, b):\n    return a\n```\nor in a shell:\n```\nexpr 1 + 2\n```"
    run = cli.tiny(tmp_path, cli.QUESTIONS, [{**cli.ANSWERS[0], "answer": text}, cli.ANSWERS[1]])
    done = execution("q1", result("adds"), answer=text, code="def add(a, b):\n    return a\n")
    opened.open(write_report([run], tmp_path / "r.html", PageOptions(beside=[done])), "#r/q1")
    answer = opened.page.locator("#answer")
    answer.wait_for()
    assert [" ".join(one.split()) for one in answer.locator("> *").all_inner_texts()] == [
        "Add them:",
        "The code stands below.",
        "or in a shell:",
        "expr 1 + 2",
    ]
    assert answer.locator("pre").count() == 1
    # It would be folded, for its test passed, but the answer leaves it out.
    assert opened.page.locator("#code .listing li").all_inner_texts() == ["def add(a, b):", "    return a"]


def test_a_long_question_is_folded(opened: Opened, tmp_path: Path) -> None:
    """Three of 50 lines are shown, without fences, so the cause ends near the top; a button and paper have all.

    A question of four lines stands whole, without a button.
    """
    text = "\n".join(["It fails:", "```python", *(f"x{number} = f({number})" for number in range(46)), "```", "Why?"])
    asked = [{**cli.QUESTIONS[0], "question": text}, {**cli.QUESTIONS[1], "question": "\n".join("abcd")}]
    opened.open(write_report([cli.tiny(tmp_path, asked)], tmp_path / "r.html"))
    page = opened.page
    page.set_viewport_size({"width": 1280, "height": 800})
    worst = page.locator("#worst .data").bounding_box()
    assert worst is not None
    assert worst["height"] < 80  # three lines of 23 pixels
    page.keyboard.press("j")
    question = page.locator("#d-question")
    question.wait_for()
    assert "```" not in question.inner_text()
    top = page.locator("#detail").evaluate("(one) => one.getBoundingClientRect().top")
    told = page.locator("#spine .told").first.bounding_box()
    assert told is not None
    assert told["y"] + told["height"] - top <= REASON
    height = "(one) => one.scrollHeight - one.clientHeight"
    assert question.evaluate(height) > 300
    page.locator("#unfold", has_text="Show the whole question").click()
    assert question.evaluate(height) <= 1
    page.locator("#unfold", has_text="Show its first lines").click()
    page.emulate_media(media="print")
    assert question.evaluate(height) <= 1
    assert not page.locator("#unfold").is_visible()
    page.emulate_media(media="screen")
    page.keyboard.press("j")
    page.locator("#d-title", has_text="q2").wait_for()
    assert question.inner_text() == "a\nb\nc\nd"
    assert page.locator("#unfold").count() == 0


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_twice_the_size_of_text_fits(opened: Opened, tmp_path: Path, width: int) -> None:
    """With a root font of 200%, the panel doesn't scroll sideways, and no name of a node lies over another."""
    opened.page.set_viewport_size({"width": width, "height": 800})
    runs = sorted((STOREFRONT / "runs").iterdir())
    opened.open(write_report(runs, tmp_path / "r.html"), "#storefront-graph/sf-04")
    page = opened.page
    page.locator("#spine table").wait_for()
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#detail").evaluate("(one) => one.scrollWidth <= one.clientWidth")
    boxes = [one.bounding_box() for one in page.locator("#spine tbody th").all()]
    assert all(
        above is not None and below is not None and above["y"] + above["height"] <= below["y"] + 1
        for above, below in zip(boxes, boxes[1:], strict=False)
    )
    heads = page.locator("#spine thead th")
    assert heads.evaluate_all("(all) => all.every((one) => one.scrollWidth <= one.clientWidth + 1)")
