"""``graphkit view`` as a process: its address, its signals, its reloads, and the commands that read its grades."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from graphkit.files.leftovers import FOLDERS
from graphkit.scoring.file_scoring import SMALL
from tests.helpers import forked
from tests.helpers.cli import Graph, Row, inside, write_lines
from tests.helpers.forked import Forked
from tests.helpers.judged import values, write_scores
from tests.helpers.served import ask, ended_at_once
from tests.helpers.suites import one_fast

QUESTIONS: list[Row] = [
    {"id": f"q{n}", "question": "What?", "gold_answer": "x", "category": "c", "relevant": {"a:m.py#x": 1}}
    for n in range(1, 9)
]


def answers(run: str, text: str = "It is x.") -> list[Row]:
    """Return an answer to each question."""
    return [{"run": run, "question_id": one["id"], "answer": text, "retrieved": ["a:m.py#x"]} for one in QUESTIONS]


def written(folder: Path) -> Path:
    """Write a dataset with the runs r and s."""
    write_lines(folder / "data" / "questions.jsonl", QUESTIONS)
    for name in ("r", "s"):
        write_lines(folder / "data" / "runs" / f"{name}.jsonl", answers(name))
    return folder / "data"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Write the dataset."""
    return written(tmp_path)


@dataclass
class Viewing:
    """A running command: its process, the first line that it printed, and all of it at its end."""

    process: Forked
    first: str = ""
    out: str = ""
    err: str = ""
    code: int | None = None

    @property
    def address(self) -> str:
        """The address of the page, without its fragment."""
        return self.first.partition("#")[0]

    def status(self) -> dict[str, str]:
        """Return the version, and the error if there is one."""
        found: dict[str, str] = ask(self.address, "version").json()
        return found

    def until_changed(self, before: Mapping[str, str]) -> dict[str, str]:
        """Wait until the version or the error differ."""
        until = time.monotonic() + 60
        while (found := self.status()) == before and time.monotonic() < until:
            time.sleep(0.1)
        assert found != before
        return found

    def end(self, number: int = signal.SIGINT) -> None:
        """Send a signal, and wait for the end."""
        self.process.send_signal(number)
        self.code = self.process.wait(60)
        self.out, self.err = self.process.written()
        assert "Traceback" not in self.out + self.err


@contextmanager
def viewing(*arguments: object, cwd: Path, env: Mapping[str, str] | None = None) -> Iterator[Viewing]:
    """Start the command, wait for its last line before it waits itself, and end it."""
    process = forked.command("view", *arguments, cwd=cwd, env=env)
    started = Viewing(process)
    try:
        until = time.monotonic() + 60
        while "Ctrl-C" not in (said := process.written()[1]):
            assert process.poll() is None, said
            assert time.monotonic() < until
            time.sleep(0.02)
        started.first = process.written()[0].partition("\n")[0]
        yield started
        if started.code is None:
            started.end()
        assert started.code == 0, started.err
    finally:
        process.kill()
        process.wait()


# Start and end -----------------------------------------------------------------------------------------------------


def test_the_address(data: Path, tmp_path: Path) -> None:
    """The first line is the address, on loopback with a token, which answers; Ctrl-C ends it and leaves nothing."""
    before = sorted(tmp_path.rglob("*"))
    with viewing(data, cwd=tmp_path) as one:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", one.first)
        assert b"data-served" in ask(one.address).body
        one.end()
    assert one.out.splitlines()[1] == "2 runs (r, s) over 8 questions of data"
    assert one.err == "The page follows its files; Ctrl-C ends it.\n"
    assert sorted(tmp_path.rglob("*")) == before


def test_json(data: Path, tmp_path: Path) -> None:
    """With --json the address is the only line on standard output, and SIGTERM ends the command as well."""
    with viewing(data / "runs" / "r.jsonl", "--json", cwd=tmp_path) as one:
        address = json.loads(one.first)["address"]
        assert ask(address, "version").status == 200
        one.end(signal.SIGTERM)
    assert len(one.out.splitlines()) == 1
    assert address.split("/")[3] not in one.err


def test_without_a_run(data: Path) -> None:
    """In the folder of a dataset all of its runs are shown, also one that comes later."""
    with viewing(cwd=data) as one:
        before = one.status()
        write_lines(data / "runs" / "t.jsonl", answers("t"))
        one.until_changed(before)
        assert ask(one.address, "grades", {"run": "t", "question": "q1", "value": 1}).status == 200
    assert "the page is built again" in one.err


@pytest.mark.slow("a command is killed")
def test_a_killed_process_leaves_nothing(data: Path, tmp_path: Path) -> None:
    """The page has no name in the folder of temporary files, so nothing is left of it."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with viewing(data, cwd=tmp_path, env={"TMPDIR": str(temporary)}) as one:
        one.end(signal.SIGKILL)
        assert one.code == -signal.SIGKILL
        one.code = 0
    assert list(temporary.iterdir()) == []


@pytest.mark.slow("a build of 6,000 questions is interrupted")
def test_the_end_amid_a_build(data: Path, tmp_path: Path) -> None:
    """Ctrl-C while several processes score a large run that has changed ends the command soon, and leaves nothing."""
    temporary, run = tmp_path / "temporary", data / "runs" / "r.jsonl"
    temporary.mkdir()
    extra = [{**QUESTIONS[0], "id": f"e{n}"} for n in range(6000)]
    write_lines(data / "questions.jsonl", [*QUESTIONS, *extra])
    more = [{"run": "r", "question_id": one["id"], "answer": "It is x. " * 250} for one in extra]
    write_lines(run, answers("r"))
    with viewing(run, cwd=tmp_path, env={"TMPDIR": str(temporary)}) as one:
        write_lines(run, [*answers("r"), *more])
        assert run.stat().st_size > SMALL
        until = time.monotonic() + 60
        while not list(temporary.glob(f"{FOLDERS}*")) and time.monotonic() < until:
            time.sleep(0.01)
        assert list(temporary.glob(f"{FOLDERS}*"))
        begun = time.monotonic()
        one.end()
        assert time.monotonic() - begun < 30
    assert "the page is built again" not in one.err
    assert list(temporary.iterdir()) == []


def test_a_port_that_is_taken(data: Path, tmp_path: Path) -> None:
    """It is refused with what to do; a free one is used as it is named."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = inside("view", data, "--port", port, cwd=tmp_path, code=2)
        assert f"port {port} of 127.0.0.1 can't be opened" in done.err
        assert "0 chooses a free one" in done.err
    with viewing(data, "--port", port, cwd=tmp_path) as one:
        assert one.first.startswith(f"http://127.0.0.1:{port}/")


def test_open(data: Path, tmp_path: Path) -> None:
    """The browser is opened with --open only, and gets the whole address."""
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "$1" > "$0.asked"\n')
    browser.chmod(0o755)
    asked = browser.with_suffix(".asked")
    with viewing(data / "runs" / "r.jsonl" / "q2", cwd=tmp_path, env={"BROWSER": str(browser)}):
        pass
    assert not asked.exists()
    with viewing(data / "runs" / "r.jsonl" / "q2", "--open", cwd=tmp_path, env={"BROWSER": str(browser)}) as one:
        until = time.monotonic() + 60
        while not (asked.exists() and asked.read_text()) and time.monotonic() < until:
            time.sleep(0.05)
    assert asked.read_text() == f"{one.first}\n"


# Which question is opened ------------------------------------------------------------------------------------------


@one_fast(
    ("named", "fragment"),
    [
        (("data/runs/r.jsonl/q2",), "#r/q2"),
        (("data/q2",), "#r/q2"),  # of a dataset its first run
        (("data/runs/r.jsonl", "data/runs/s.jsonl/q3"), "#s/q3"),
        (("@storefront/runs/storefront-graph/sf-04",), "#storefront-graph/sf-04"),
        (
            ("@storefront/runs/storefront-graph.jsonl/sf-04", "@storefront/runs/storefront-bm25"),
            "#storefront-graph/sf-04",
        ),
        (("data/runs/odd.jsonl/a/b c",), "#team%2Fodd/a%2Fb%20c"),
    ],
    "a page for each way to name it",
    0,
    ids=str,
)
def test_a_question_is_opened(data: Path, tmp_path: Path, named: tuple[str, ...], fragment: str) -> None:
    """The longest beginning that names a run is the run, the rest the question; the address ends with both."""
    if "odd" in named[0]:
        write_lines(data / "questions.jsonl", [*QUESTIONS, {"id": "a/b c", "question": "What?"}])
        write_lines(data / "runs" / "odd.jsonl", [{"run": "team/odd", "question_id": "a/b c", "answer": "x"}])
    with ended_at_once():
        done = inside("view", *named, cwd=tmp_path, code=0)
    first = done.out.partition("\n")[0]
    assert re.fullmatch(rf"http://127\.0\.0\.1:\d+/[\w-]+/{re.escape(fragment)}", first)


def test_a_question_of_a_run_in_the_graph(data: Path, tmp_path: Path, any_graph: Graph) -> None:
    """With the runs team and team/r, team/r/q2 names the second; the page follows the file it was loaded from."""
    run = data / "runs" / "r.jsonl"
    for name in ("team", "team/r"):
        inside("evaluate", run, "--run", name, "-m", "RR", cwd=tmp_path, env=any_graph.env, code=0)
    with viewing("team/r/q2", "team", cwd=tmp_path, env=any_graph.env) as one:
        assert one.first.endswith("/#team%2Fr/q2")
        before = one.status()
        write_lines(run, answers("r", "It is y."))
        one.until_changed(before)
        assert ask(one.address, "grades", {"run": "team/r", "question": "q2", "value": 1}).json()["run"] == "team/r"
    done = inside("view", "teams/q1", cwd=tmp_path, env=any_graph.env, code=2)
    assert "no run is called 'teams/q1'" in done.err


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (("data/runs/r.jsonl/q22",), ("questions.jsonl: no question has the id 'q22'", "Did you mean q2?")),
        (("data/runs/r.jsonl/q1", "data/runs/s.jsonl/q1"), ("one question can be opened, and several are named",)),
        (("data/runs/t.jsonl",), ("t.jsonl: there is no such file",)),
        (("data/runs/t.jsonl/q1",), ("t.jsonl: there is no such file",)),
        (("data/runs/r.jsonl", "--grader", " "), ("--grader: the name of a person is text on one line",)),
        (("data/runs/r.jsonl", "--scores", "none.jsonl"), ("none.jsonl: there is no such file",)),
        (("data/runs/r.jsonl", "data/runs/r.jsonl"), ("another file holds the run 'r', too",)),
    ],
    ids=str,
)
def test_what_is_refused(data: Path, tmp_path: Path, named: tuple[str, ...], words: tuple[str, ...]) -> None:
    """Mistakes are reported before anything is served."""
    done = inside("view", *named, cwd=tmp_path, code=2)
    for text in words:
        assert text in done.err
    assert "http:" not in done.out


# The page follows its files ----------------------------------------------------------------------------------------


def test_it_follows_its_files(data: Path, tmp_path: Path) -> None:
    """A changed run makes a new version; while it can't be read the former one stays, with the error here and there.

    The files that options name are followed as well.
    """
    run, config = data / "runs" / "r.jsonl", tmp_path / "graphkit.toml"
    config.write_text("[targets]\nRR = 0.5\n")
    with viewing(run, "--config", config, cwd=tmp_path) as one:
        before = one.status()
        config.write_text("[targets]\nRR = 0.25\n")
        first = one.until_changed(before)
        assert list(first) == ["version"]
        run.write_text('{"run": "r"')
        broken = one.until_changed(first)
        assert broken["version"] == first["version"]
        assert f"{run.relative_to(tmp_path)}:1" in broken["error"].replace(f"{tmp_path}/", "")
        assert ask(one.address).status == 200
        write_lines(run, answers("r", "It is y."))
        second = one.until_changed(broken)
        assert list(second) == ["version"]
        assert second != first
    assert "the former page stays: " in one.err
    assert one.err.endswith("the page is built again\n")


# The grades --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Grade answers of both runs in the page: of r 6 right and 2 wrong, of s 2 right and 6 wrong, one with a note.

    The environment names a user.
    """
    folder = tmp_path_factory.mktemp("graded")
    data = written(folder)
    user = dict.fromkeys(("USER", "LOGNAME", "USERNAME"), "carmen-login")
    with viewing(data, cwd=folder, env=user) as one:
        for run, right in (("r", 6), ("s", 2)):
            for number, question in enumerate(QUESTIONS, 1):
                sent = {"run": run, "question": question["id"], "value": int(number <= right)}
                note = {"note": "not x"} if (run, number) == ("s", 3) else {}
                assert ask(one.address, "grades", sent | note).status == 200
    return data


@pytest.fixture
def graded(graded_once: Path, tmp_path: Path) -> Path:
    """Return a copy of the graded runs."""
    return Path(shutil.copytree(graded_once, tmp_path / "data"))


def grades(data: Path, run: str, name: str = "person") -> Path:
    """Return the file of a person's grades."""
    return data / "runs" / f"{run}.grades" / f"{name}.scores.jsonl"


def test_nothing_of_the_user_is_in_a_grade(graded: Path) -> None:
    """A grade holds no login name, though the environment has one."""
    text = grades(graded, "r").read_text()
    assert {json.loads(line)["grader"] for line in text.splitlines()} == {"person"}
    assert "carmen" not in text


def test_summarize_reads_them(graded: Path, tmp_path: Path) -> None:
    """The mean of r is 6/8, of s 2/8; both are accuracies, also by category."""
    rows = inside("summarize", grades(graded, "r"), grades(graded, "s"), "--json", cwd=tmp_path, code=0).objects()
    found = {(one["run"], one["group"]): (one["mean"], one["accuracy"], one["scored"]) for one in rows}
    assert found == {
        (run, group): (mean, mean, 8) for run, mean in (("r", 0.75), ("s", 0.25)) for group in (None, "category: c")
    }


def test_compare_reads_them(graded: Path, tmp_path: Path) -> None:
    """s is right on 4 of 8 questions less than r."""
    scores = ("--scores", grades(graded, "r"), "--scores", grades(graded, "s"))
    found = inside("compare", "r", "s", *scores, "--json", cwd=tmp_path, code=0).object()
    [row] = found["groups"][0]["measures"]
    assert (row["measure"], row["questions"], row["delta"]) == ("PersonGrade", 8, -0.5)
    assert (row["wins"], row["losses"], row["ties"]) == (0, 4, 4)


def test_evaluate_and_the_page_read_them(graded: Path, tmp_path: Path) -> None:
    """They are scores of others: `evaluate` gates them without a spot check, and `report` shows them by itself."""
    run = graded / "runs" / "r.jsonl"
    evaluate = ("evaluate", run, "--no-store", "-m", "RR", "--scores", grades(graded, "r"), "--fail-under")
    inside(*evaluate, "PersonGrade=0.7", cwd=tmp_path, code=0)
    assert "PersonGrade is 0.75" in inside(*evaluate, "PersonGrade=0.8", cwd=tmp_path, code=1).err
    inside("report", run, "-o", "page.html", cwd=tmp_path, code=0)
    assert "PersonGrade" in (tmp_path / "page.html").read_text()


def test_the_graph_holds_them(graded: Path, tmp_path: Path, any_graph: Graph) -> None:
    """`load-scores` keeps them with their grader; grades of an answer that has changed are refused."""
    run = graded / "runs" / "r.jsonl"
    inside("evaluate", run, "-m", "RR", cwd=tmp_path, env=any_graph.env, code=0)
    inside("load-scores", grades(graded, "r"), cwd=tmp_path, env=any_graph.env, code=0)
    query = "MATCH (:Answer {run: 'r'})-[:SCORED]->(s:Score {grader: 'person'}) RETURN count(s) AS n, sum(s.value) AS v"
    found = inside("query", "-e", query, "--json", cwd=tmp_path, env=any_graph.env, code=0).object()
    assert (found["n"], found["v"]) == (8, 6)
    write_lines(run, [{**answers("r")[0], "answer": "It is y."}, *answers("r")[1:]])
    inside("evaluate", run, "-m", "RR", cwd=tmp_path, env=any_graph.env, code=0)
    done = inside("load-scores", grades(graded, "r"), cwd=tmp_path, env=any_graph.env, code=2)
    assert "1 score of r is of another answer than the graph holds, such as of 'q1'" in done.err


def test_the_spot_check_reads_them(graded: Path, tmp_path: Path) -> None:
    """The judge calls q1 to q4 right and the person q1 to q6: they agree on 6 of 8, and a gate can rest on it."""
    run = graded / "runs" / "r.jsonl"
    numbers: dict[str, float | None] = {f"q{n}": float(n <= 4) for n in range(1, 9)}
    write_scores(graded / "runs" / "r.grades" / "lexical.scores.jsonl", values("Correct", numbers))
    check = ("judge", "spot-check", run, "--grades", grades(graded, "r"))
    found = inside(*check, "--json", cwd=tmp_path, code=0).object()
    assert (found["judge"], found["measure"], found["n"], found["judged"]) == ("lexical", "Correct", 8, 8)
    assert found["agreement"]["value"] == 6 / 8
    assert found["confusion"] == {"0": {"0": 2, "1": 0}, "1": {"0": 2, "1": 4}}
    assert Path(found["kept"]).name == "lexical.spot-check.json"
    scores = graded / "runs" / "r.grades" / "lexical.scores.jsonl"
    evaluate = ("evaluate", run, "--no-store", "-m", "RR", "--scores", scores, "--scores", grades(graded, "r"))
    inside(*evaluate, "--min-kappa", "-0.9", cwd=tmp_path, code=0)
    assert "kappa is" in inside(*check, "--min-kappa", "0.99", cwd=tmp_path, code=1).err


def test_a_person_with_a_name(data: Path, tmp_path: Path) -> None:
    """--grader keeps the grades of several people apart: each page shows those of one, and `report` none."""
    run = data / "runs" / "r.jsonl"
    sent = {"run": "r", "question": "q1", "value": 1}
    with viewing(run, "--grader", "ann", cwd=tmp_path) as ann, viewing(run, cwd=tmp_path) as nobody:
        assert ask(ann.address, "grades", sent).json()["grader"] == "person:ann"
        assert ask(nobody.address, "grades").json() == []
        assert ask(nobody.address, "grades", {**sent, "value": 0}).json()["grader"] == "person"
        assert [one["value"] for one in ask(ann.address, "grades").json()] == [1]
    assert grades(data, "r", "person.ann").exists()
    assert "2 people graded" in inside("report", run, "-o", "page.html", cwd=tmp_path, code=0).err


def test_a_person_beside_a_judge(data: Path, tmp_path: Path) -> None:
    """A run's only judge stays the only one: the page, the checks of the judge and a new grading see no second."""
    run = data / "runs" / "r.jsonl"
    inside("grade", run, "--no-store", "--judge", "lexical", "--grader", "rubric", cwd=tmp_path, code=0)
    with viewing(run, cwd=tmp_path) as one:
        ask(one.address, "grades", {"run": "r", "question": "q1", "value": 1})
    done = inside("report", run, "-o", "page.html", cwd=tmp_path, code=0)
    assert "graded" not in done.err
    page = (tmp_path / "page.html").read_text()
    assert "RubricGrade" in page
    assert "PersonGrade" in page
    found = inside("judge", "consistency", run, "--json", cwd=tmp_path, code=0).objects()
    assert {one["judge"] for one in found} == {"lexical"}
    inside("grade", run, "--no-store", "--judge", "lexical", "--grader", "rubric", cwd=tmp_path, code=0)
    assert len(grades(data, "r").read_text().splitlines()) == 1


def test_a_run_that_only_a_person_graded(graded: Path, tmp_path: Path) -> None:
    """No judge has graded it: there is nothing to check."""
    run = graded / "runs" / "r.jsonl"
    done = inside("judge", "spot-check", run, "--grades", grades(graded, "r"), cwd=tmp_path, code=2)
    assert "no judge has graded this run" in done.err


def test_grades_of_earlier_answers(graded: Path, tmp_path: Path) -> None:
    """A page of a run that has changed since leaves out their scores, and says so."""
    run = graded / "runs" / "r.jsonl"
    write_lines(run, [{**answers("r")[0], "answer": "It is y."}, *answers("r")[1:]])
    inside("report", run, "-o", "page.html", cwd=tmp_path, code=0)
    text = (tmp_path / "page.html").read_text()
    assert "1 score of an answer that has changed since isn&#39;t shown (q1)" in text


def test_the_bundled_runs(tmp_path: Path) -> None:
    """Grades of a bundled run are kept in the working folder: what is bundled isn't changed."""
    with viewing("@storefront/runs/storefront-graph", cwd=tmp_path) as one:
        assert ask(one.address, "grades", {"run": "storefront-graph", "question": "sf-04", "value": 1}).status == 200
    assert [path.name for path in tmp_path.rglob("*.jsonl")] == ["person.scores.jsonl"]
