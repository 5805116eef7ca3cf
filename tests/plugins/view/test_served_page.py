"""A page that follows its files: what makes it new, and what leaves the former one in place."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.plugins.view import served_page as module
from graphkit.plugins.view.kept_grades import keep_grade
from graphkit.plugins.view.served_page import ServedPage
from graphkit.records.scores import PERSON_GRADE, Score
from graphkit.report import write_report
from tests.helpers.cli import ANSWERS, QUESTIONS, tiny, write_lines
from tests.helpers.invocations import VERDICT
from tests.helpers.pages import Page
from tests.helpers.served import served_page


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the tiny dataset; nothing waits between two builds."""
    monkeypatch.setattr(module, "REST", 0.0)
    return tiny(tmp_path / "data")


@pytest.fixture
def page(run: Path) -> Iterator[ServedPage]:
    """Build its page."""
    with closing(served_page(run)) as built:
        yield built


def text(page: ServedPage) -> str:
    """Return the page as it is served."""
    with page.opened() as (file, size):
        return os.pread(file, size, 0).decode()


def looked(page: ServedPage) -> list[bool]:
    """Look twice: a change is seen once, and taken up when it has settled."""
    return [page.look(), page.look()]


def test_it_is_the_page_of_the_report(page: ServedPage, run: Path, tmp_path: Path) -> None:
    """But for its version, and a policy by which its script may ask its own server, it is what `report` writes."""
    written = write_report(run, tmp_path / "page.html").read_text("utf-8")
    version, contents = page.current()
    mark, asks = f' data-served="{version}"', "; connect-src 'self'"
    assert mark not in written
    assert asks not in written
    served = text(page)
    assert (served.count(mark), served.count(asks)) == (1, 1)
    assert served.replace(mark, "").replace(asks, "") == written
    assert contents.runs == ("r",)


def test_nothing_changed(page: ServedPage, run: Path) -> None:
    """A look at files that are as they were, or hold the same again, leaves the page as it is."""
    before = page.status()
    assert list(before) == ["version"]
    assert looked(page) == [False, False]
    os.utime(run, (1, 1))
    assert looked(page) == [False, False]
    assert page.status() == before


def test_a_changed_run_makes_a_new_page(page: ServedPage, run: Path) -> None:
    """A change is taken up on the second look that finds it, once; the page has the new version and the new answer."""
    before = page.status()["version"]
    write_lines(run, [{**ANSWERS[0], "answer": "By the new api."}, ANSWERS[1]])
    assert looked(page) == [False, True]
    after = page.status()["version"]
    assert after != before
    assert f'data-served="{after}"' in text(page)
    assert Page(text(page)).json("d-0-0")["0"]["answer"] == "By the new api."
    assert looked(page) == [False, False]


def test_what_is_still_written_is_waited_for(page: ServedPage, run: Path) -> None:
    """A file that grows from look to look makes no page until it has settled."""
    before = page.status()
    for count in range(1, 4):
        run.write_text("{" * count)
        assert not page.look()
    assert page.status() == before


@pytest.mark.parametrize(
    ("name", "records"),
    [
        ("questions.jsonl", [{**QUESTIONS[0], "category": "new"}, QUESTIONS[1]]),
        ("artifacts.jsonl", [{"id": "a:m.py#x", "repo": "a", "path": "m.py"}]),
        ("dataset.json", [{"extra_fields": ["scenario"]}]),
        ("runs/r.made-by", ["claude"]),
        ("runs/r.grades/j.verdicts.jsonl", [VERDICT]),
    ],
)
def test_other_sources(page: ServedPage, run: Path, name: str, records: list[dict[str, object] | str]) -> None:
    """So do the other files that a page is made from: those of the dataset, and those beside the run."""
    write_lines(run.parents[1] / name, records)
    assert looked(page) == [False, True]
    assert "error" not in page.status()


def test_a_persons_grade_makes_no_new_page(page: ServedPage, run: Path) -> None:
    """A grade that is given in the page doesn't reload it."""
    keep_grade(run, Score(run="r", question="q1", measure=PERSON_GRADE, value=1, grader="person"))
    assert (run.parent / "r.grades" / "person.scores.jsonl").exists()
    assert looked(page) == [False, False]


def test_the_former_page_stays(page: ServedPage, run: Path) -> None:
    """If a file is half-written or gone, the version stays, with an error in one sentence; it goes when all is well."""
    before, shown = page.status(), text(page)
    whole = run.read_bytes()
    run.write_bytes(whole[:-20])
    assert looked(page) == [False, True]
    status = page.status()
    assert status["version"] == before["version"]
    assert f"{run}:2" in status["error"]
    assert "\n" not in status["error"]
    assert text(page) == shown
    assert looked(page) == [False, False]  # it isn't tried again before something changes
    run.unlink()
    assert page.look()
    assert "there is no such file" in page.status()["error"]
    run.write_bytes(whole)
    assert True in looked(page)
    assert page.status() == before
    write_lines(run, ANSWERS[:1])
    assert looked(page) == [False, True]
    assert page.status()["version"] != before["version"]


def test_a_dataset_that_was_away(page: ServedPage, run: Path) -> None:
    """A folder that is renamed and comes back leaves no error behind."""
    before, folder = page.status(), run.parents[1]
    folder.rename(folder.with_name("away"))
    assert page.look()
    assert "error" in page.status()
    folder.with_name("away").rename(folder)
    assert True in looked(page)
    assert page.status() == before


def test_the_page_leaves_nothing_behind(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page has no name in the folder of temporary files, so a killed process leaves none either."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    with closing(served_page(run)) as page:
        assert list(place.iterdir()) == []
        assert text(page).startswith("<!doctype html>")


def test_what_can_be_read_only_once_is_refused(run: Path, tmp_path: Path) -> None:
    """A pipe can't be followed."""
    pipe = tmp_path / "data" / "runs" / "pipe.jsonl"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="pipe or a device"):
        served_page(pipe)


#: A build that starts a process in the place of each lost one, as the scoring of a run does, thirty times.
STUBBORN = """
import threading, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import SimpleNamespace
from graphkit.plugins.view.served_page import follow

def look():
    begun.set()
    for _ in range(30):
        try:
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                pool.submit(time.sleep, 600).result()
        except Exception:  # lost, or the interpreter ends: a page that is served keeps what went wrong
            pass
    return False

if __name__ == "__main__":
    begun, stop = threading.Event(), threading.Event()
    threading.Thread(target=lambda: (begun.wait(), time.sleep(0.5), stop.set())).start()
    follow(SimpleNamespace(look=look), stop, print)
"""


@pytest.mark.slow("processes of a build are replaced")
def test_a_build_that_replaces_its_processes_ends(tmp_path: Path) -> None:
    """Thirty processes of ten minutes are terminated one after another, also those that start after the last look."""
    script = tmp_path / "stubborn.py"
    script.write_text(STUBBORN)
    subprocess.run([sys.executable, str(script)], timeout=120, check=True)
