"""The board and the spine in a notebook: the fragments of the page, with a style sheet that holds within them alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import graphkit
from graphkit import InputError
from graphkit.database.store import Store
from graphkit.files.assets import storefront_code_folder
from graphkit.graph.opening import prepared
from graphkit.plugins.sandbox.executions import Execution
from graphkit.records.scores import answer_hash
from graphkit.report import write_report
from graphkit.scoring.intervals import ALL_EQUAL
from tests.helpers import cli
from tests.helpers.datasets import STOREFRONT, read_jsonl, write_jsonl
from tests.helpers.pages import HOSTILE, Page, hostile_dataset, spine_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

RUNS = [STOREFRONT / "runs" / f"storefront-{name}.jsonl" for name in ("bm25", "graph", "graph-v2")]


def _text(result: Any) -> str:
    return " ".join(Page(result._repr_html_()).text.split())


def _two(folder: Path) -> list[graphkit.Evaluation]:
    """Return the results of r, which walks 1/2 of q1 and all of q2, and of s, which walks nothing."""
    first = cli.tiny(folder)
    second = write_jsonl(folder / "runs" / "s.jsonl", [{**one, "run": "s", "traversal": []} for one in cli.ANSWERS])
    return [graphkit.evaluate(one, measures=["EdgeRecall", "nDCG@10"]) for one in (first, second)]


def test_a_board_says_who_won(tmp_path: Path) -> None:
    """By EdgeRecall r has (1/2 + 1) / 2 = .75 and s 0: the board says it as the page does, and stars what is clear."""
    board = graphkit.board(_two(tmp_path))
    text = _text(board)
    assert "r and s don't clearly differ: EdgeRecall 0.75 to 0.00, +0.75 [-1.00, +1.00]" in text
    assert text.index("don't clearly") < text.index("retrieval") < text.index("Overall is the product of the layers.")
    # Two values show their spread poorly, and equal ones not at all: Wilson's bound of 0 of 2 * (1.96 / 12.71)^2 items.
    few = "2/2; the interval may be too narrow: 2 questions, fewer than 10"
    assert f"{few} 0.75‡ +0.75 B 0.00, 95% interval 0.00 to 0.99, target above 0.8: severe; 2/2; {ALL_EQUAL}" in text
    assert f"{ALL_EQUAL} 0.00‡ baseline" in text
    assert "‡ few or equal values" in text
    assert repr(board).startswith("<Board of 2 runs: r and s don't clearly differ")
    assert "\n" not in repr(board)


def test_another_baseline(tmp_path: Path) -> None:
    """Against r the difference of s is -.75; only the chosen baseline is written, since nothing can be chosen there."""
    board = graphkit.board(_two(tmp_path), baseline="r")
    assert "fewer than 10 0.75‡ baseline B 0.00, 95% interval 0.00 to 0.99, target above 0.8: severe; 2/2" in _text(
        board
    )
    assert f"{ALL_EQUAL} 0.00‡ -0.75" in _text(board)
    page = Page(board._repr_html_())
    assert {one["data-b"] for _, one in page.elements if "data-b" in one} == {"0"}
    assert not [one for _, one in page.elements if "hidden" in one]


def test_the_board_of_one_result(tmp_path: Path) -> None:
    """One result has no difference, and another configuration has its own target: .75 misses .9."""
    config = tmp_path / "config.toml"
    config.write_text("[targets]\nEdgeRecall = 0.9\n", encoding="utf-8")
    board = graphkit.board(_two(tmp_path)[0], config=graphkit.load_config(config))
    assert "r walks 75% of the required edges" in _text(board)
    assert "target above 0.9: missed" in board._repr_html_()
    assert "baseline" not in _text(board)


def test_a_board_that_cannot_be(tmp_path: Path) -> None:
    """Results without rows, no results and an unknown baseline are refused, each with what to do."""
    one, other = _two(tmp_path)
    with pytest.raises(InputError, match="keep_rows=True"):
        graphkit.board([one, graphkit.evaluate(tmp_path / "runs" / "s.jsonl", keep_rows=False)])
    with pytest.raises(InputError, match="Give at least one"):
        graphkit.board([])
    with pytest.raises(InputError, match=r"no result is of the run 'ss'[\s\S]*Did you mean s\?"):
        graphkit.board([one, other], baseline="ss")
    with pytest.raises(InputError, match="can't be compared with 'r'"):
        graphkit.board(one, baseline="r")


def test_a_spine_by_hand() -> None:
    """The gold of sf-04 is open_session CALLS sweep WRITES sessions, of the line 1.x; both runs read api on main.

    bm25 walks nothing; graph went from open_session to session_minutes instead, and so missed both steps.
    """
    spine = graphkit.spine(RUNS[:2], "sf-04")
    assert spine.sentences() == {
        "storefront-bm25": [
            "walked no edge; broke at step 1: read `api` at `v2.1.0`; the question is about `v1.1.0`; "
            "0 of 2 required steps walked"
        ],
        "storefront-graph": [
            "broke at step 1: read `api` at `v2.1.0`; the question is about `v1.1.0`; "
            "the walk left `open_session` by `CALLS` to `session_minutes`; 0 of 2 required steps walked"
        ],
    }
    text = _text(spine)
    assert text.index("sf-04 On the 1.x line") < text.index("broke at step 1") < text.index("gold path, step by step")
    assert str(spine).splitlines()[1].startswith("storefront-bm25: walked no edge; broke")
    assert repr(spine) == "<Spine of sf-04 in storefront-bm25, storefront-graph>"


def test_sentences_of_the_text_begin_with_capitals() -> None:
    """The run broke one path and walked the other: behind each full stop of its line a capital letter follows."""
    run = storefront_code_folder() / "runs" / "storefront-code-graph.jsonl"
    [_, told] = str(graphkit.spine(run, "sc-01")).splitlines()
    assert re.sub(r"`[^`]*`", "NAME", told) == (
        "storefront-code-graph: broke at step 3 of path NAME: read NAME at NAME; the question is about NAME; "
        "the walk left NAME by NAME to NAME; 2 of 5 required steps walked. Walked the required step of path NAME. "
        "Right answer over a missed path: luck."
    )


@pytest.mark.slow("pages of every question")
def test_the_spine_is_that_of_the_page(tmp_path: Path) -> None:
    """For every question of the storefront the notebook shows what the page shows."""
    page = Page(write_report(RUNS, tmp_path / "r.html").read_text("utf-8"))
    for place, asked in enumerate(read_jsonl(STOREFRONT / "questions.jsonl")):
        assert spine_of(page, place) in graphkit.spine(RUNS, asked["id"])._repr_html_()


def test_tests_decide_as_on_the_page(tmp_path: Path) -> None:
    """The graph run misses the path of sc-01 with the right facts: luck, unless tests of this very answer failed."""
    folder = storefront_code_folder()
    run = tmp_path / "runs" / "storefront-code-graph.jsonl"
    answers = read_jsonl(folder / "runs" / run.name)
    write_jsonl(run, answers)
    [told] = [one for one in answers if "sc-01" in (one.get("query_id"), one.get("question_id"))]
    for answer, status, lucky in (
        (told["answer"], "success", True),
        (told["answer"], "test_failure", False),
        ("an earlier answer", "test_failure", True),
    ):
        of = {"run": "storefront-code-graph", "question": "sc-01", "language": "python", "status": status}
        done = Execution.model_validate({**of, "answer_hash": answer_hash(answer)})
        beside = run.parent / f"{run.stem}.grades" / "execution.executions.jsonl"
        write_jsonl(beside, [done.model_dump(mode="json", exclude_none=True)])
        spine = graphkit.spine(run, "sc-01", dataset=folder)
        assert ("right answer over a missed path: luck" in spine.sentences()["storefront-code-graph"]) == lucky


def test_why_draws_the_spine_below(tmp_path: Path) -> None:
    """An explanation draws its text and then the spine; its text, JSON and line are as without a notebook."""
    run = cli.tiny(tmp_path)
    found = graphkit.why(run, "q1")
    text = _text(found)
    assert text.startswith('"q1" in "r": broke at step 2: did not retrieve `z`')
    assert text.index("verdict: the traversal stopped at step 2") < text.index("gold path, step by step")
    assert isinstance(found, graphkit.Explanation)
    assert repr(found).startswith("<Explanation of q1 in r: ")
    assert "draw" not in found.as_json()
    run.unlink()
    assert "gold path, step by step" not in _text(found)
    assert "the traversal stopped at step 2" in _text(found)


def test_a_spine_of_stored_runs(store: Store, tmp_path: Path) -> None:
    """A run in the graph is named, and its spine is that of its file; its explanation draws it, too."""
    prepared(store)
    run = cli.tiny(tmp_path)
    graphkit.evaluate(run, measures=["EdgeRecall"], store=store)
    assert graphkit.spine("r", "q1", store=store) == graphkit.spine(run, "q1")
    assert "gold path, step by step" in _text(graphkit.why("r", "q1", store=store))
    with pytest.raises(InputError, match="no run is called 'rr'"):
        graphkit.spine("rr", "q1", store=store)


def test_a_spine_that_cannot_be(tmp_path: Path) -> None:
    """No run, a name without a database, an unknown question and runs of two datasets are refused, with what to do."""
    run = cli.tiny(tmp_path / "one")
    with pytest.raises(InputError, match="no run was named"):
        graphkit.spine([], "q1")
    with pytest.raises(InputError, match=r"'r' names no file[\s\S]*open_store"):
        graphkit.spine("r", "q1")
    with pytest.raises(InputError, match=r"'q'[\s\S]*Did you mean q"):
        graphkit.spine(run, "q")
    with pytest.raises(InputError, match="several datasets"):
        graphkit.spine([run, cli.tiny(tmp_path / "two")], "q1")


def test_hostile_texts_stay_text(tmp_path: Path) -> None:
    """Names, questions, nodes and relations of hostile strings are shown as text, and nothing of it is an element."""
    run = hostile_dataset(tmp_path)
    board = graphkit.board(graphkit.evaluate(run))
    fragments: list[Any] = [board, *(graphkit.spine(run, f"{number} {text}") for number, text in enumerate(HOSTILE))]
    for one in fragments:
        page = Page(one._repr_html_())
        assert not {tag for tag, _ in page.elements} & {"img", "script", "link", "iframe"}
        assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
        assert "</script><script>alert(1)</script>" in page.text
        assert "\x1b" not in page.text
        assert "\u202e" not in page.text
        assert not re.search("[\x1b\u202e\n]", repr(one))


HOST = """<!doctype html><title>notebook</title><body data-jp-theme-light="THEME">
<div id="host"><p class="key dim">text</p><table class="board"><thead><tr><th class="letter">a</th></tr></thead>
<tbody><tr><td class="cell value">1</td></tr></tbody></table><a href="#x">link</a><h2>head</h2>
<details class="spine"><summary>more</summary></details><span class="met dot diff better">x</span></div>
<div id="out"></div>"""

STYLES = """() => [...document.querySelectorAll("#host, #host *")].map((one) => {
  const found = getComputedStyle(one);
  return [...found].map((name) => `${name}: ${found.getPropertyValue(name)}`).join(";");
})"""


@pytest.mark.parametrize("theme", ["true", "false"])
def test_styles_stay_within_the_fragment(browser: Browser, tmp_path: Path, theme: str) -> None:
    """The notebook around a board and a spine looks as before, and the fragments follow the theme of the notebook.

    A light theme has a white ground, a dark one doesn't; hidden words take no room, and nothing needs a script.
    """
    fragments = graphkit.board(_two(tmp_path))._repr_html_() + graphkit.spine(RUNS, "sf-04")._repr_html_()
    context = browser.new_context(viewport={"width": 1000, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.set_content(HOST.replace("THEME", theme))
    before = page.evaluate(STYLES)
    height = page.locator("#host").evaluate("(one) => one.offsetHeight")
    page.locator("#out").evaluate("(one, html) => { one.innerHTML = html; }", fragments)
    assert page.evaluate(STYLES) == before
    assert page.locator("#host").evaluate("(one) => one.offsetHeight") == height
    grounds = page.locator(".graphkit-page").evaluate_all(
        "(all) => all.map((one) => getComputedStyle(one).backgroundColor)"
    )
    assert set(grounds) == ({"rgb(255, 255, 255)"} if theme == "true" else {"rgb(15, 20, 25)"})
    dots = page.locator("svg.dot circle").evaluate_all("(all) => all.map((one) => getComputedStyle(one).fill)")
    assert dots
    assert "rgb(0, 0, 0)" not in dots
    assert all(page.locator(".spine .vh").evaluate_all("(all) => all.map((one) => one.offsetWidth <= 1)"))
    assert "<script" not in fragments
    context.close()
