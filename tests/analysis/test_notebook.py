"""What a notebook shows: each result draws itself, the verdict first and every text escaped, and has a short text."""

from __future__ import annotations

import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit import InputError
from graphkit.database.store import Store
from graphkit.files.dataset import Dataset
from graphkit.graph.opening import prepared
from graphkit.records.notebook_html import ROWS, bar, block
from tests.helpers.cli import ANSWERS, QUESTIONS, Row, tiny, write_lines
from tests.helpers.datasets import STOREFRONT

RUNS = STOREFRONT / "runs"
HOSTILE = "<script>alert(1)</script>'\"&"


class Page(HTMLParser):
    """The tags and the text of a piece of HTML; every tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.labels: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in {"br", "wbr", "col"}:
            self.open.append(tag)
        self.labels += [value or "" for name, value in attrs if name == "aria-label"]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def drawn(result: Any) -> Page:
    """Return what a notebook draws of a result."""
    return Page(result._repr_html_())


@pytest.fixture(scope="module")
def result() -> graphkit.Evaluation:
    """The result of a run of the storefront."""
    return graphkit.evaluate(RUNS / "storefront-graph.jsonl", measures=["EdgeRecall", "nDCG@10", "Coherence"])


def test_a_result(result: graphkit.Evaluation) -> None:
    """A result draws its verdict, and a bar with interval and target for each measure; its text is one line."""
    page = drawn(result)
    assert page.text[0] == result.verdict
    # 39 questions, 2 of them failed; the storefront misses the targets of all three measures.
    assert result.verdict.startswith("storefront-graph: 0 of 3 targets met, severe: ")
    assert result.verdict.endswith("39 questions, 2 failed, 0 missing")
    assert page.tags.count("svg") == 3
    summary = result.measures["EdgeRecall"]
    assert drawn(summary).text[0] in repr(summary)
    assert page.labels[0].startswith(f"{summary.with_failed:.4f}, 95% interval ")
    assert page.labels[0].endswith("target 0.8")
    assert repr(result).startswith("<Evaluation of storefront-graph: ")
    assert f"EdgeRecall {summary.with_failed:.4f}" in repr(result)
    assert "\n" not in repr(result)
    assert len(repr(result)) < 300


def test_the_values_behind_an_interval(tmp_path: Path) -> None:
    """An interval is of the values that the mean is of: a failed question counts as the worst value, or not at all.

    q1 is walked by half, and q2 failed: 0.5 and 0.
    """
    run = tiny(tmp_path, answers=[ANSWERS[0], {"run": "r", "question_id": "q2", "error": "timed out"}])
    assert graphkit.evaluate(run, measures=["EdgeRecall"]).sample("EdgeRecall") == [0.5, 0.0]
    assert graphkit.evaluate(run, measures=["EdgeRecall"], failed_as="unscored").sample("EdgeRecall") == [0.5]
    assert graphkit.evaluate(run, measures=["EdgeRecall"], keep_rows=False).sample("EdgeRecall") == []


def test_a_question(result: graphkit.Evaluation) -> None:
    """A question of a result draws its values against their targets; one that failed says so."""
    question = result.question("sf-04")
    # sf-04 misses both edges of its gold path.
    assert question.values["EdgeRecall"] == 0.0
    page = drawn(question)
    assert page.text[0] == question.verdict
    assert question.verdict.startswith("sf-04 in storefront-graph: ")
    assert page.labels[0] == "0.0000, target 0.8"
    assert "EdgeRecall 0.0000" in repr(question)
    failed = result.question("sf-01")
    assert failed.verdict.startswith("sf-01 in storefront-graph: not answered (failed: BudgetExceededError")
    assert drawn(failed).tags.count("svg") == 0


def test_a_question_that_isnt_there(result: graphkit.Evaluation) -> None:
    """An unknown question is refused with the closest id, and a result without rows says how to get them."""
    with pytest.raises(InputError, match=r"'sf-4'[\s\S]*Did you mean sf-"):
        result.question("sf-4")
    without = graphkit.evaluate(RUNS / "storefront-graph.jsonl", measures=["EdgeRecall"], keep_rows=False)
    with pytest.raises(InputError, match="keep_rows=True"):
        without.question("sf-04")


def test_a_scorecard(result: graphkit.Evaluation) -> None:
    """A scorecard draws its verdict, its layers and their measures, with intervals where the result has rows."""
    card = graphkit.score_layers(result)
    page = drawn(card)
    assert page.text[0] == card.verdict
    assert card.verdict.startswith("storefront-graph: overall ")
    assert {"retrieval", "reasoning", "generation", "EdgeRecall", "Coherence"} <= set(page.text)
    assert any("95% interval" in label and "target 0.8" in label for label in page.labels)
    assert "samples" not in card.as_json()
    assert len(repr(card).splitlines()) == 1


def test_comparison_and_failures(store: Store, tmp_path: Path) -> None:
    """A comparison draws each difference with its interval, and failures their rows, each after its verdict."""
    prepared(store)
    for run in ("storefront-graph", "storefront-bm25"):
        graphkit.evaluate(RUNS / f"{run}.jsonl", measures=["EdgeRecall", "nDCG@10"], store=store)
    compared = graphkit.compare_runs(store, "storefront-bm25", "storefront-graph", measures=["EdgeRecall", "nDCG@10"])
    page = drawn(compared)
    assert page.text[0] == compared.verdict
    assert compared.verdict.startswith("storefront-graph beats storefront-bm25: EdgeRecall 0.44 to 0.00, +0.44 [")
    assert page.tags.count("svg") == 2
    assert all("95% interval" in label for label in page.labels)
    assert len(repr(compared).splitlines()) == 1
    rows = graphkit.failures(store, "storefront-graph", "wrong-turns", limit=2)
    assert drawn(rows).text[0] == f"storefront-graph: {rows.total} rows of wrong-turns, 2 shown"
    assert len(repr(rows)) < 260
    none = graphkit.failures(store, "storefront-graph", "stale-gold")
    assert drawn(none).text == ["storefront-graph: no stale-gold"]


def test_summaries(tmp_path: Path) -> None:
    """Summaries of scores and of runs draw themselves, verdict first."""
    score = {"run": "r", "question": "q1", "measure": "Groundedness", "value": 0.5, "grader": "j"}
    scores = write_lines(tmp_path / "s.jsonl", [score, {**score, "question": "q2", "value": None, "reason": "no"}])
    found = graphkit.summarize([scores])
    assert drawn(found).text[0] == "1 run by 1 measure; 1 score without a value"
    assert repr(found) == "<1 summaries: 1 run by 1 measure; 1 score without a value>"
    assert repr(found[0]) == "<r: Groundedness 0.5000 over 1 of 2>"
    assert drawn(found[0]).text == drawn(found).text
    tiny(tmp_path / "data")
    [run] = graphkit.run_systems(Dataset(tmp_path / "data"), {"mine": lambda question: "an answer"})
    assert drawn(run).text[0] == "mine: 2 of 2 questions answered, 0 failed, 0 missing"
    assert len(repr(run).splitlines()) == 1


def hostile(folder: Path) -> Path:
    """Write a dataset whose run, questions and nodes are markup, and return the file of its run."""
    node = f"a:{HOSTILE}"
    questions = [{"id": HOSTILE, "question": "?", "category": HOSTILE, "paths": [[[node, HOSTILE, "a:m.py#y"]]]}]
    step = {"source": node, "relation": HOSTILE, "target": f"{node}2", "position": 0}
    answer: Row = {"run": HOSTILE, "question_id": HOSTILE, "retrieved": [node], "traversal": [step], "odd": HOSTILE}
    return tiny(folder, questions, [answer])


def test_markup_is_escaped(tmp_path: Path) -> None:
    """Whatever names hold, nothing of it becomes a tag or an attribute; it is shown as it is."""
    run = hostile(tmp_path)
    result = graphkit.evaluate(run)
    for one in (
        result,
        result.question(HOSTILE),
        graphkit.score_layers(result),
        graphkit.file_failures(run, "missed-edges"),
        graphkit.why(run, HOSTILE),
    ):
        page = drawn(one)
        assert "script" not in page.tags
        assert HOSTILE.replace('"', "'") in "".join(page.text).replace('"', "'")


def test_blocks_and_bars() -> None:
    """A long table is cut and says so; a bar outside its scale isn't drawn, and a difference begins at 0."""
    page = Page(block("v", ["n"], [[number] for number in range(ROWS + 2)]))
    assert page.tags.count("tr") == ROWS + 1
    assert page.text[-1] == "2 more rows"
    assert (bar(None), bar(1.5), bar(0.5, span=(0, 0))) == ("", "", "")
    # The scale from -1 to 1 is 126 pixels wide and begins at 3: 0 lies at 66, and -0.5 at 34.5.
    assert "x='34.5' y='3' width='31.5'" in bar(-0.5, span=(-1.0, 1.0))


# Folders ------------------------------------------------------------------------------------------------------------


def test_a_folder_is_a_dataset(tmp_path: Path) -> None:
    """Functions that take a dataset take its folder, as a path or as text, with the same result."""
    run = tiny(tmp_path)
    for given in (tmp_path, str(tmp_path), Dataset(tmp_path)):
        assert graphkit.check_dataset(given, str(run)).questions == 2
        assert graphkit.evaluate(run, given, measures=["EdgeRecall"]).measures["EdgeRecall"].mean == 0.75
        assert len(graphkit.file_failures(run, "missed-edges", dataset=given)) == 1
        assert graphkit.why(run, "q1", dataset=given).wrong


def test_a_report_of_one_file(tmp_path: Path) -> None:
    """The page is written from graphkit itself, of one file or several, by paths or texts."""
    run = tiny(tmp_path)
    assert graphkit.write_report(run, tmp_path / "one.html").stat().st_size > 10_000
    options = graphkit.PageOptions(title="Mine")
    assert "Mine" in graphkit.write_report([str(run)], str(tmp_path / "two.html"), options).read_text()


def test_a_copy_of_a_dataset(store: Store, tmp_path: Path) -> None:
    """A copy by the same name takes the place of the first; one by another name is a dataset of its own."""
    prepared(store)
    first = tiny(tmp_path / "shop")
    graphkit.evaluate(first, measures=["EdgeRecall"], store=store)
    shutil.copytree(tmp_path / "shop", tmp_path / "copies" / "shop")
    copy = tmp_path / "copies" / "shop"
    # Nothing is written again: the content is the same.
    loaded = graphkit.load(store, copy)
    assert loaded.written.get("questions", 0) == 0
    assert drawn(loaded).text[0] == loaded.verdict
    assert repr(loaded) == f"<{loaded.verdict}>"
    assert graphkit.evaluate(copy / "runs" / "r.jsonl", store=store).measures["EdgeRecall"].mean == 0.75
    copy.rename(tmp_path / "my-shop")
    assert graphkit.load(store, tmp_path / "my-shop").written["questions"] == len(QUESTIONS)
    assert graphkit.load(store, copy.parent.parent / "shop").written.get("questions", 0) == 0
