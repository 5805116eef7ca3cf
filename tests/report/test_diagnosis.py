"""The alerts and the diagnosis of several runs: what they share stands once, and nothing is lost."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from graphkit.analysis.layers import NOT_JUDGED
from graphkit.plugins.judging.verdicts import Verdict
from graphkit.report import PageOptions, write_report
from tests.helpers import cli
from tests.helpers.datasets import write_jsonl
from tests.helpers.pages import Page

Rows = list[dict[str, Any]]


def _page(folder: Path, *runs: Rows, **options: Any) -> Page:
    write_jsonl(folder / "questions.jsonl", cli.QUESTIONS)
    files = [write_jsonl(folder / "runs" / f"{number}.jsonl", rows) for number, rows in enumerate(runs)]
    return Page(write_report(files, folder / "r.html", PageOptions(**options)).read_text("utf-8"))


def _said(page: Page) -> str:
    text = " ".join(page.text.split())
    return text[text.index("Failed questions:") : text.index("Distribution of each measure")]


def _run(name: str, **fields: Any) -> Rows:
    return [{**one, "run": name, **fields} for one in cli.ANSWERS]


def _failed(name: str) -> Rows:
    return [_run(name)[0], {"run": name, "question_id": "q2", "error": "broken"}]


def test_severe_measures_stand_once_with_every_run(tmp_path: Path) -> None:
    """By EdgeRecall r walks 1/2 and 1, s none and t 1/2 and fails on q2: .75, 0 and .25 of a target of .8.

    Severe is below .6, so r isn't; its value stands beside the others. Exact figures and counts are in titles, and the
    mean of t over the question that it answered is said.
    """
    page = _page(tmp_path, _run("r"), _run("s", traversal=[]), _failed("t"))
    assert "EdgeRecall ≥ 0.80 0.75 0.00 severe 0.25 severe" in _said(page)
    titles = [one["title"] for tag, one in page.elements if tag == "td" and "title" in one]
    assert "0.7500, scored on 2 of 2" in titles
    assert "0.2500 with 1 failed as 0; 0.5000 over the 1 answered, scored on 1 of 2" in titles
    assert re.search("Without the failed questions: C t: [^.]*.*EdgeRecall 0.50.* over the 1 answered[.]", _said(page))
    assert "Not scored: C t: of 2 questions 1 failed" in _said(page)


def test_what_several_runs_share_is_said_once(tmp_path: Path) -> None:
    """Both runs lack everything on both questions: one sentence for every run; a third that is scored is named none."""
    failed = [[{"run": name, "question_id": one["id"], "error": "broken"} for one in cli.QUESTIONS] for name in "ab"]
    said = _said(_page(tmp_path, *failed))
    assert said.count("Every run: of 2 questions 2 failed") == 1
    assert said.count(f"Every run: {NOT_JUDGED}") == 1
    said = _said(_page(tmp_path / "third", *failed, _run("c")))
    assert said.count("A a, B b: of 2 questions 2 failed") == 1
    assert said.count(f"A a, B b: {NOT_JUDGED}") == 1


def test_a_weakness_names_the_questions_of_each_run(tmp_path: Path) -> None:
    """Runs r and s miss relationships, s on both questions and r on q1; only s has a link to q2 there."""
    page = _page(tmp_path, _run("r", retrieved=[]), _run("s", retrieved=[], traversal=[]))
    said = _said(page)
    start = said.index("retrieval: missed relationships (EdgeRecall). Look at: graph construction or query expansion.")
    assert "Most at: A 0.75: q1. B 0.00: q1, q2." in said[start:]
    assert ("a", {"href": "#s/q2"}) in page.elements


def test_reasons_count_each_run(tmp_path: Path) -> None:
    """Neither run logs an answer, at 2 questions in each; only s, the second, logs no traversal."""
    said = _said(_page(tmp_path, _run("r"), [{**one, "traversal": None} for one in _run("s")]))
    assert "since the run logs no answer text (not logged): Integration (2)." in said
    assert "since the record has no traversal (not logged): EdgeRecall (2 in B)" in said


def test_equal_judges_stand_once(tmp_path: Path) -> None:
    """One judge gave one verdict on r and on s each, at the same cost: one line; another judge of s has its own."""
    common = {"question": "q1", "grader": "rubric", "version": "1", "model": "m", "prompt_hash": "0"}
    verdicts = [
        Verdict.model_validate({**common, "run": run, "judge": judge, "grade": "right"})
        for run, judge in (("r", "one"), ("s", "one"), ("s", "two"))
    ]
    page = _page(tmp_path, _run("r"), _run("s"), beside=verdicts)
    said = _said(page)
    assert said.count("Every run: one (m) judged 1 answer by rubric.") == 1
    assert said.count("B s: two (m) judged 1 answer by rubric.") == 1
