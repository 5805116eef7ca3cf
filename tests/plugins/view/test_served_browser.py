"""The served page in each browser: it stores grades beside the run, and reloads itself when the run changes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from graphkit.plugins.view.served_page import ServedPage, follow
from tests.helpers import cli
from tests.helpers.browsers import BROWSERS, Browsers
from tests.helpers.datasets import read_jsonl, write_jsonl
from tests.helpers.served import served


@contextmanager
def followed(page: ServedPage) -> Iterator[None]:
    """Have the page follow its run, as the command does."""
    stop = threading.Event()
    thread = threading.Thread(target=follow, args=(page, stop, lambda status: None))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("name", sorted(BROWSERS))
def test_a_served_page_stores_grades_and_follows_its_run(browsers: Browsers, tmp_path: Path, name: str) -> None:
    """A key stores a grade, another page shows it; after the answer changed the page is new, and the grade gone."""
    from playwright.sync_api import expect

    run = cli.tiny(tmp_path, cli.QUESTIONS, [{**one, "answer": "z calls it"} for one in cli.ANSWERS])
    context = browsers.context(name)
    told: list[str] = []
    with served([run]) as (source, address), followed(source):
        page = context.new_page()
        page.on("pageerror", lambda error: told.append(str(error)))
        page.goto(f"{address}#r/q1")
        page.locator("#grade-wrong").wait_for()
        page.keyboard.press("w")
        expect(page.locator("#grade-wrong")).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("n")
        page.keyboard.type("not z")
        page.keyboard.press("Escape")
        expect(page.locator("#graded")).to_have_text("Saved: wrong, with a note")
        [score] = read_jsonl(run.parent / "r.grades" / "person.scores.jsonl")
        kept: dict[str, Any] = {key: score[key] for key in ("run", "question", "measure", "value", "explanation")}
        assert kept == {"run": "r", "question": "q1", "measure": "PersonGrade", "value": 0, "explanation": "not z"}
        other = context.new_page()
        other.goto(f"{address}#r/q1")
        expect(other.locator("#grade-wrong")).to_have_attribute("aria-pressed", "true")
        other.close()
        write_jsonl(run, [{**cli.ANSWERS[0], "answer": "quite another answer"}, cli.ANSWERS[1]])
        expect(page.locator("#answer")).to_have_text("quite another answer", timeout=30_000)
        expect(page.locator("#grade-wrong")).to_have_attribute("aria-pressed", "false")
        run.write_text("{", "utf-8")
        expect(page.locator("#notice")).to_contain_text("can't be shown", timeout=30_000)
        expect(page.locator("#answer")).to_have_text("quite another answer")
    context.close()
    assert told == []
