"""The list of questions in a real browser: marks, presets, search, export, runs, keys, theme, grades and word diff."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graphkit.report import write_report
from tests.helpers import cli
from tests.helpers.browsers import Opened, in_each_browser
from tests.helpers.datasets import STOREFRONT, read_jsonl, write_jsonl

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: Two edges are required of each of five questions, and one fact: the expected output.
EDGES = [["web:a.py#go", "CALLS", "api:b.py#serve"], ["api:b.py#serve", "QUERIES", "db:c.sql"]]
QUESTIONS = [
    {"id": f"q{number}", "question": f"How, {number}?", "expected_output": "by the api", "paths": [EDGES]}
    for number in range(5)
]


def _row(run: str, number: int, walked: int, answer: str | None, **more: Any) -> dict[str, Any]:
    return {"run": run, "question_id": f"q{number}", "traversal": EDGES[:walked], "answer": answer, **more}


#: What the runs did: q0 got better, q1 worse, q2 stayed wrong, q3 is luck in the new run, q4 failed there.
OLD = [
    _row("old", 0, 1, "no idea"),
    _row("old", 1, 2, "by the api"),
    _row("old", 2, 0, "no idea"),
    _row("old", 3, 1, "by the api"),
    _row("old", 4, 2, "by the api"),
]
NEW = [
    _row("new", 0, 2, "it goes by the api now"),
    _row("new", 1, 0, "by the database", retrieved=[{"id": "db:secret_table.sql"}]),
    _row("new", 2, 0, "by nothing at all", latency_ms=1500.0, cost=0.25, prompt_tokens=120),
    _row("new", 3, 1, "by the api"),
    {"run": "new", "question_id": "q4", "error": "quota exceeded"},
]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page over two runs of five questions."""
    folder = tmp_path_factory.mktemp("two")
    write_jsonl(folder / "questions.jsonl", QUESTIONS)
    runs = [write_jsonl(folder / "runs" / f"{name}.jsonl", rows) for name, rows in (("old", OLD), ("new", NEW))]
    return write_report(list(runs), folder / "two.html")


@in_each_browser
@pytest.mark.parametrize("state", ["", "?what=luck&any=1"])
def test_the_address_of_the_questions_leads_to_them(opened: Opened, two: Path, state: str) -> None:
    """With a filter and without, the list stands at the top of a small window."""
    page = opened.page
    page.set_viewport_size({"width": 390, "height": 500})
    opened.open(two, f"#questions{state}")
    for _ in range(100):  # the page scrolls smoothly
        if (top := abs(page.locator("#questions").evaluate("(one) => one.getBoundingClientRect().top"))) < 2:
            break
        page.wait_for_timeout(100)
    assert top < 2


@pytest.mark.parametrize("key", ["edge", "what", "category", "run"])
def test_an_address_that_names_what_the_page_lacks_says_so(opened: Opened, two: Path, key: str) -> None:
    """Five questions of five are shown, with a notice above them that names what is lacking, until it is cleared."""
    name = "<i>zzz</i>"
    opened.open(two, f"#questions?{key}=%3Ci%3Ezzz%3C/i%3E&sort=question")
    page = opened.page
    kind = "event" if key == "what" else key
    assert page.locator("#lacking").inner_text() == f"This page has no {kind} {name}: the list is shown without it."
    assert page.locator("#lacking i").count() == 0
    assert page.locator("#count").inner_text() == "5 of 5 questions"
    page.evaluate("location.hash = '#questions?sort=question'")
    page.locator("#lacking .note").wait_for(state="detached")


def test_a_closed_question_leaves_the_page_where_it_was(opened: Opened, two: Path) -> None:
    """Back from an open question scrolls to where it was opened, not to the top of the list."""
    page = opened.page
    page.set_viewport_size({"width": 1280, "height": 500})
    page.emulate_media(reduced_motion="reduce")
    opened.open(two, "#questions")
    page.evaluate("window.scrollTo(0, 100)")
    page.evaluate("location.hash = '#new/q1'")
    page.locator("#d-title", has_text="q1").wait_for()
    opened.back()
    page.locator("#detail").wait_for(state="hidden")
    assert page.evaluate("scrollY") == 100


def test_every_head_beside_an_open_question_has_words(opened: Opened, tmp_path: Path) -> None:
    """A page of one run has no letters: its name stands above its marks, beside an open question, too."""
    opened.open(write_report([cli.tiny(tmp_path)], tmp_path / "r.html"), "#r/q1")
    opened.page.locator("#d-title", has_text="q1").wait_for()
    assert opened.page.locator("#table thead button").filter(visible=True).all_inner_texts() == ["question", "r"]


#: The address of the new run against the old one.
PAIR = "#questions?run=new&baseline=old"


def _ids(page: Page) -> list[str]:
    return page.locator("#table tbody th > a").all_inner_texts()


def test_each_run_has_its_mark(opened: Opened, two: Path) -> None:
    """A row shows the walked share and the answer of every run, and whether the chosen one did better."""
    opened.open(two, PAIR)
    page = opened.page
    marks = [row.locator("td.run .outcome").all_inner_texts() for row in page.locator("#table tbody tr").all()]
    assert marks == [
        ["1/2 answer ✗", "2/2 answer ✓"],
        ["2/2 answer ✓", "0/2 answer ✗"],
        ["0/2 answer ✗", "0/2 answer ✗"],
        ["1/2 luck", "1/2 luck"],
        ["2/2 answer ✓", "failed"],
    ]
    moved = [text.split()[-1] for text in page.locator("#table .moved").all_inner_texts()]
    assert moved == ["improved", "regressed", "unchanged", "unchanged", "regressed"]
    page.locator("#table tbody tr").nth(1).locator("td.run .outcome").first.click()
    page.locator("#d-title", has_text="q1 in old").wait_for()


def test_presets_leave_what_they_say(opened: Opened, two: Path) -> None:
    """Each preset says how many questions it leaves, leaves them, and stays in the address, also for Back."""
    from playwright.sync_api import expect

    opened.open(two, PAIR)
    page = opened.page
    assert page.locator("#presets button").all_inner_texts() == [
        "regressed 2",
        "improved 1",
        "both wrong 1",
        "luck 1",
        "conflicting commits 0",
        "failed 1",
        "no record 0",
    ]
    expected = {
        "regressed": ["q1", "q4"],
        "improved": ["q0"],
        "both-wrong": ["q2"],
        "luck": ["q3"],
        "failed": ["q4"],
    }
    for name, ids in expected.items():
        page.locator(f"#presets [data-preset={name}]").click()
        expect(page.locator("#table tbody th > a")).to_have_text(ids)
        assert f"preset={name}" in page.url
    page.reload()
    expect(page.locator("#table tbody th > a")).to_have_text(["q4"])
    page.locator("#presets [data-preset=failed]").click()
    expect(page.locator("#table tbody tr")).to_have_count(5)
    assert "preset" not in page.url


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("q3", ["q3"]),
        ("how, 2", ["q2"]),
        ("nothing at all", ["q2"]),
        ("secret_table", ["q1"]),
        ("QUOTA exceeded", ["q4"]),
        ("b.py#serve", ["q0", "q1", "q2", "q3", "q4"]),
        ("no such thing", []),
    ],
)
def test_a_search_finds_ids_questions_answers_files_symbols_and_errors(
    opened: Opened, two: Path, text: str, ids: list[str]
) -> None:
    """Every word must occur, in any run of the question, whatever its case."""
    from playwright.sync_api import expect

    opened.open(two, PAIR)
    opened.page.fill("#f-text", text)
    opened.page.wait_for_url("**text=*")
    expect(opened.page.locator("#count")).to_have_text(f"{len(ids)} of 5 questions")
    expect(opened.page.locator("#table tbody th > a")).to_have_text(ids)


def test_an_order_is_kept_in_the_address(opened: Opened, two: Path) -> None:
    """A click on a run's heading sorts by its outcome, another turns the order; a failed question comes last."""
    opened.open(two, PAIR)
    page = opened.page
    heading = page.get_by_role("columnheader", name="new").get_by_role("button")
    heading.click()
    # By answer, then by the walked share: both wrong answers walked nothing, and luck walked less than q0.
    assert _ids(page) == ["q1", "q2", "q3", "q0", "q4"]
    heading.click()
    assert _ids(page) == ["q0", "q3", "q1", "q2", "q4"]
    page.reload()
    page.locator("#table tbody tr").first.wait_for()
    assert _ids(page) == ["q0", "q3", "q1", "q2", "q4"]


def _saved(page: Page, button: str) -> str:
    with page.expect_download() as download:
        page.locator(button).click()
    return Path(download.value.path()).read_text("utf-8")


def test_what_is_left_can_be_saved(opened: Opened, two: Path) -> None:
    """CSV and JSON Lines hold the filtered rows with what every run did."""
    opened.open(two, PAIR + "&preset=regressed")
    rows = list(csv.DictReader(io.StringIO(_saved(opened.page, "#save-csv"))))
    assert [(row["question"], row["run"], row["answer"], row["found"], row["EdgeRecall"]) for row in rows] == [
        ("q1", "old", "right", "2", "1"),
        ("q1", "new", "wrong", "0", "0"),
        ("q4", "old", "right", "2", "1"),
        ("q4", "new", "undecided", "0", ""),
    ]
    lines = [json.loads(line) for line in _saved(opened.page, "#save-jsonl").splitlines()]
    assert [line["question"] for line in lines] == ["q1", "q4"]
    assert lines[1]["runs"]["new"]["flags"] == ["failed"]


def _edges(some: Any) -> Any:
    """Return edges in an order of their own; None for unknown ones."""
    return None if some is None else sorted(json.dumps(one, sort_keys=True) for one in some)


def test_saved_questions_hold_the_edges_that_evaluate_writes(opened: Opened, tmp_path: Path) -> None:
    """Both files hold the missed edges and those that the graph lacks as ``evaluate --out`` does, of every question."""
    runs = [STOREFRONT / "runs" / f"storefront-{name}.jsonl" for name in ("bm25", "graph")]
    cli.inside("evaluate", "--no-store", *runs, "--out", tmp_path / "scores.jsonl", cwd=tmp_path, code=0)
    expected = {
        (row["run"], row["question"]): (_edges(row["missed_edges"]), _edges(row["absent_edges"]))
        for row in read_jsonl(tmp_path / "scores.jsonl")
        if row["measure"] == "EdgeRecall"
    }
    assert {known is None for known, _ in expected.values()} == {True, False}
    assert any(lacking for _, lacking in expected.values())
    opened.open(write_report(runs, tmp_path / "page.html"), "#questions")
    lines = [json.loads(line) for line in _saved(opened.page, "#save-jsonl").splitlines()]
    found = {
        (run, line["question"]): (_edges(one["missed_edges"]), _edges(one["absent_edges"]))
        for line in lines
        for run, one in line["runs"].items()
    }
    assert found == expected
    table = {
        (row["run"], row["question"]): tuple(
            _edges(json.loads(row[name] or "null")) for name in ("missed_edges", "absent_edges")
        )
        for row in csv.DictReader(io.StringIO(_saved(opened.page, "#save-csv")))
    }
    assert table == expected


def test_runs_can_be_hidden(opened: Opened, tmp_path: Path) -> None:
    """Runs that aren't shown leave the board, the boundaries, the list and the spine; the address keeps the choice."""
    from playwright.sync_api import expect

    write_jsonl(tmp_path / "questions.jsonl", QUESTIONS)
    files = [write_jsonl(tmp_path / "runs" / f"{name}.jsonl", [{**row, "run": name} for row in OLD]) for name in "xyz"]
    opened.open(write_report(list(files), tmp_path / "r.html"))
    page = opened.page
    page.locator("#run-choice summary").click()
    page.locator("#shown-runs input").nth(1).uncheck()
    expect(page.locator("#table tbody tr").first.locator("td.run")).to_have_count(2)
    assert page.url.endswith("?runs=A%2CC")
    assert page.locator(".board thead th").filter(visible=True).all_inner_texts()[1:] == ["A x", "C z"]
    assert page.locator(".breaks .broken").first.locator("thead .short").filter(visible=True).count() == 2
    page.locator("#table tbody th > a").first.click()
    # All three did the same: one lane and one sentence, which name the two.
    expect(page.locator("#spine thead .name").filter(visible=True)).to_have_text(["Ax", "Cz"])
    expect(page.locator("#spine .told .who")).to_have_text("x and z", use_inner_text=True)
    page.reload()
    expect(page.locator("#spine .told .who")).to_have_text("x and z", use_inner_text=True)


def test_the_keys(opened: Opened, two: Path) -> None:
    """The keys lead from question to question and run to run, to the search and the help, and back."""
    from playwright.sync_api import expect

    opened.open(two, PAIR)
    page = opened.page
    title = page.locator("#d-title")
    page.keyboard.press("j")
    expect(title).to_have_text("q0 in new")
    page.keyboard.press("j")
    expect(title).to_have_text("q1 in new")
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    expect(title).to_have_text("q0 in new")
    page.keyboard.press("j")
    expect(title).to_have_text("q1 in new")
    for key, text in (("j", "q2 in new"), ("ArrowRight", "q3 in new"), ("k", "q2 in new"), ("ArrowLeft", "q1 in new")):
        page.keyboard.press(key)
        expect(title).to_have_text(text)
    page.keyboard.press("1")
    expect(title).to_have_text("q1 in old")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).not_to_be_visible()
    expect(title).to_be_visible()
    page.keyboard.press("/")
    expect(title).to_have_count(0)
    expect(page.locator("#f-text")).to_be_focused()
    page.keyboard.type("j")  # a letter in a field is a letter
    expect(page.locator("#f-text")).to_have_value("j")


def test_the_theme_is_chosen_and_kept(opened: Opened, two: Path) -> None:
    """The theme of the address wins over the system's, and stays while the reader follows links."""
    opened.page.emulate_media(color_scheme="light")
    opened.open(two)
    page = opened.page

    def dark() -> bool:
        colour: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return colour == "rgb(15, 20, 25)"

    assert not dark()
    page.keyboard.press("t")
    assert dark()
    assert page.url.endswith("?theme=dark")
    page.locator(".broken a.heat").first.click()
    page.wait_for_url("**&theme=dark")
    assert dark()
    page.keyboard.press("t")
    assert not dark()
    page.emulate_media(color_scheme="dark")
    assert not dark()
    page.keyboard.press("t")
    assert dark()
    assert "theme" not in page.url


def test_grades_are_kept_and_saved_as_scores(opened: Opened, two: Path) -> None:
    """r, w and n grade the open answer; a reload keeps the grades, the file holds them as scores, and a key removes."""
    from playwright.sync_api import expect

    opened.open(two, "#new/q0")
    page = opened.page
    page.locator("#grade-right").wait_for()
    page.keyboard.press("r")
    expect(page.locator("#grade-right")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("j")
    page.locator("#d-title", has_text="q1").wait_for()
    page.keyboard.press("w")
    expect(page.locator("#grade-wrong")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("n")
    page.keyboard.type("the wrong table")
    page.keyboard.press("Escape")
    expect(page.locator("#save-grades")).to_have_text("Grades (2)")
    page.reload()
    expect(page.locator("#grade-wrong")).to_have_attribute("aria-pressed", "true")
    assert page.locator("#note").input_value() == "the wrong table"
    scores = [json.loads(line) for line in _saved(page, "#save-grades").splitlines()]
    assert [(one["run"], one["question"], one["measure"], one["value"], one.get("explanation")) for one in scores] == [
        ("new", "q0", "PersonGrade", 1, None),
        ("new", "q1", "PersonGrade", 0, "the wrong table"),
    ]
    page.keyboard.press("k")
    page.locator("#d-title", has_text="q0").wait_for()
    page.keyboard.press("r")
    expect(page.locator("#save-grades")).to_have_text("Grades (1)")


def test_a_grade_changes_what_is_said_of_an_answer(opened: Opened, two: Path) -> None:
    """Sentence, sign, mark and counts follow a pressed grade, after a reload too, and return when it is taken back.

    New walked both edges of q0 to the right answer, and none of q1 to a wrong one, which is luck once it is right.
    """
    from playwright.sync_api import expect

    opened.open(two, "#new/q0")
    page = opened.page
    new = page.locator("#spine ul.told:not(.todo) > li", has=page.locator("a[data-run='1'][aria-current]"))
    told, sign = new.locator(".answer"), new.locator(".sign")
    mark = page.locator("#table tr[data-n='0'] td.run .outcome").nth(1)
    expect(told).to_have_text("Right answer.")
    page.keyboard.press("w")
    expect(told).to_have_text("Wrong answer.")
    expect(sign).to_have_text("✕")
    expect(mark).to_have_text("2/2 answer ✗")
    page.reload()
    expect(told).to_have_text("Wrong answer.")
    page.keyboard.press("w")
    expect(told).to_have_text("Right answer.")
    expect(sign).to_have_text("✓")
    expect(mark).to_have_text("2/2 answer ✓")
    page.keyboard.press("j")
    page.locator("#d-title", has_text="q1").wait_for()
    page.keyboard.press("r")
    expect(told).to_have_text("Right answer over a missed path: luck.")
    expect(sign).to_have_text("✕")
    page.keyboard.press("Escape")
    expect(page.locator("#presets [data-preset=luck]")).to_have_text("luck 2")


def test_two_answers_are_compared_word_by_word(opened: Opened, two: Path) -> None:
    """Unfolded, the difference marks what only one of the answers says; the other run can be chosen."""
    from playwright.sync_api import expect

    opened.open(two, "#new/q0?baseline=old")
    page = opened.page
    page.locator("#difference summary").click()
    expect(page.locator("#diff del")).to_have_text(["no idea"])
    assert page.locator("#diff ins").all_inner_texts() == ["it goes by the api now"]
    page.evaluate("location.hash = '#new/q3'")
    page.locator("#d-title", has_text="q3").wait_for()
    page.locator("#difference summary").click()
    expect(page.locator("#diff")).to_have_text("Both answers have the same words.")


def test_the_cost_of_an_answer_is_shown(opened: Opened, two: Path) -> None:
    """Latency, tokens and cost stand below the answer as far as the record states them."""
    opened.open(two, "#new/q2")
    opened.page.locator("#values summary").click()
    assert opened.page.locator("#spent").inner_text() == "1.5 s · 120 prompt tokens · cost 0.25"
    opened.page.evaluate("location.hash = '#new/q1'")
    opened.page.locator("#d-title", has_text="q1").wait_for()
    assert opened.page.locator("#spent").count() == 0


def test_a_filter_expression_is_completed_by_the_keyboard(opened: Opened, two: Path) -> None:
    """Arrows and Enter complete names and signs, the address keeps the expression, and a reload and Clear follow it.

    Of the new run q1 and q2 walked nothing, q3 a half; q4 failed and has no value.
    """
    from playwright.sync_api import expect

    opened.open(two, PAIR)
    page = opened.page
    field = page.locator("#f-keep")
    field.click()
    field.press_sequentially("edgerec")
    expect(page.locator("#f-options [role=option] bdi").first).to_have_text("EdgeRecall")
    field.press("ArrowDown")
    expect(field).to_have_attribute("aria-activedescendant", "f-option-0")
    field.press("Enter")
    expect(field).to_have_value("EdgeRecall ")
    expect(page.locator("#f-options [role=option]")).to_have_text(["<", "<=", ">", ">=", "==", "!=", "in", "not in"])
    field.press("ArrowDown")
    field.press("Enter")
    field.press_sequentially("0.5")
    expect(page.locator("#table tbody th > a")).to_have_text(["q1", "q2"])
    page.wait_for_url("**keep=EdgeRecall*")
    field.press("Escape")
    expect(page.locator("#f-options")).to_be_hidden()
    field.press_sequentially(" and luk")
    field.press("Escape")
    field.press("Enter")
    expect(page.locator("#f-error")).to_have_text(
        "Not applied: luk is no name of a measure, field or flag; did you mean luck? "
        "EdgeRecall < 0.5 and luk; the list shows: EdgeRecall < 0.5"
    )
    expect(page.locator("#f-error mark")).to_have_text("luk")
    expect(field).to_have_attribute("aria-invalid", "true")
    assert _ids(page) == ["q1", "q2"]
    page.reload()
    expect(field).to_have_value("EdgeRecall < 0.5")
    expect(field).to_have_attribute("aria-invalid", "false")
    expect(page.locator("#table tbody th > a")).to_have_text(["q1", "q2"])
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#table tbody tr")).to_have_count(5)
    expect(field).to_have_value("")
    assert "keep" not in page.url


def test_an_unfinished_filter_says_so_and_what_filters_the_list(opened: Opened, two: Path) -> None:
    """What ends too early isn't applied yet: it replaces an older error, and says which filter the list follows."""
    from playwright.sync_api import expect

    opened.open(two, PAIR)
    page = opened.page
    field, error = page.locator("#f-keep"), page.locator("#f-error")
    field.fill("EdgeRecall < 0.5")
    expect(page.locator("#table tbody th > a")).to_have_text(["q1", "q2"])
    field.fill('zzz == "x"')
    expect(error).to_contain_text("Not applied: zzz is no name of a measure, field or flag.")
    listed = "; the list shows: EdgeRecall < 0.5"
    for text, what in (
        ("(", "a name is missing at the end"),
        ("(luck", '")" is missing at the end'),
        ('category == "da', "the quote \" isn't closed"),
    ):
        field.fill(text)
        expect(error).to_have_text(f"Not applied yet: {what}{listed}")
        expect(field).to_have_attribute("aria-invalid", "true")
    field.press("Escape")
    field.press("Enter")  # the reader is done: now it is an error
    expect(error).to_have_text(f'Not applied: the quote " isn\'t closed. category == "da{listed}')
    assert _ids(page) == ["q1", "q2"]
    field.fill("")
    expect(page.locator("#table tbody tr")).to_have_count(5)
    expect(error).to_be_empty()
    expect(field).to_have_attribute("aria-invalid", "false")
    field.fill("(")
    expect(error).to_have_text("Not applied yet: a name is missing at the end")


def test_columns_are_chosen_and_kept_in_the_address(opened: Opened, two: Path) -> None:
    """A measure that is checked has a column with its values, which sorts; no column is a choice as well."""
    from playwright.sync_api import expect

    opened.open(two, PAIR)
    page = opened.page
    heads = page.locator("#table thead th.about")
    expect(heads).to_have_text(["category", "change", "EdgeRecall"])
    page.locator("#column-choice summary").click()
    boxes = page.locator("#shown-columns")
    boxes.get_by_label("EdgePrecision", exact=True).check()
    boxes.get_by_label("category", exact=True).uncheck()
    expect(heads).to_have_text(["change", "EdgeRecall", "EdgePrecision"])
    page.reload()
    expect(heads).to_have_text(["change", "EdgeRecall", "EdgePrecision"])
    heads.nth(2).get_by_role("button").click()
    # q0 and q3 walked gold edges alone; q1 and q2 walked nothing, so they have no precision.
    assert page.url.endswith("&sort=value%3AEdgePrecision")
    expect(page.locator("#table tbody .measured")).to_have_count(10)
    assert page.locator("#table tbody tr").first.locator(".measured").nth(1).inner_text() == "1.00"
    if not page.locator("#column-choice").get_attribute("open"):
        page.locator("#column-choice summary").click()
    for name in ("change", "EdgeRecall", "EdgePrecision"):
        boxes.get_by_label(name, exact=True).uncheck()
    expect(heads).to_have_count(0)
    page.reload()
    expect(page.locator("#table tbody tr")).to_have_count(5)
    expect(heads).to_have_count(0)


def test_marks_of_the_list_agree_with_the_spine(opened: Opened, two: Path) -> None:
    """The share in the list is the number of walked marks in the spine's column over the number of its steps."""
    opened.open(two, PAIR)
    page = opened.page
    for number, row in enumerate(NEW[:4]):
        page.evaluate(f"location.hash = '#new/q{number}'")
        page.locator("#d-title", has_text=f"q{number} in new").wait_for()
        column = page.locator('#spine td.lane[data-runs~="1"]:is(.up-walked, .up-quiet)')
        walked = column.evaluate_all("(all) => all.filter((one) => one.classList.contains('up-walked')).length")
        assert walked == len(row["traversal"])
        mark = page.locator(f'#table tr[data-n="{number}"] td.own .outcome').inner_text()
        assert mark.startswith(f"{walked}/{column.count()}")


def test_the_tiny_page_has_no_comparison(opened: Opened, tmp_path: Path) -> None:
    """With one run there is nothing to compare: neither presets of a pair, nor letters, nor a difference of answers."""
    opened.open(write_report([cli.tiny(tmp_path)], tmp_path / "r.html"), "#r/q1")
    page = opened.page
    page.locator("#spine").wait_for()
    assert page.locator("#difference").count() == 0
    assert "nothing to grade" in page.locator(".answers").inner_text()  # it logs no answer
    page.keyboard.press("Escape")
    assert [text.split()[0] for text in page.locator("#presets button").all_inner_texts()] == [
        "luck",
        "conflicting",
        "failed",
        "no",
    ]
    assert not page.locator("#anywhere").is_visible()
    assert page.locator("#table .letter").count() == 0
    assert page.locator("#table .moved").count() == 0


def test_each_question_of_a_real_page_is_listed(opened: Opened, tmp_path: Path) -> None:
    """The rows follow the order of the dataset."""
    run = STOREFRONT / "runs" / "storefront-graph.jsonl"
    opened.open(write_report([run], tmp_path / "r.html"))
    assert _ids(opened.page) == [one["id"] for one in read_jsonl(STOREFRONT / "questions.jsonl")]
