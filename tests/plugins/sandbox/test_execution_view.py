"""Executed code on the page: the failing test first, and all hostile text as text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.files.grades_beside import grades_folder
from graphkit.plugins.sandbox.execution_view import AROUND, ATTEMPTS, LINES, TESTS, TEXT, WORDS, executed
from graphkit.plugins.sandbox.executions import CodeTestResult, Execution
from graphkit.records.scores import answer_hash
from graphkit.report import PageOptions, write_report
from graphkit.report.escaping import visible_text
from tests.helpers import cli, executions
from tests.helpers.cli import tiny, write_lines
from tests.helpers.datasets import write_jsonl
from tests.helpers.executions import result as one
from tests.helpers.pages import HOSTILE, Page, hostile_dataset


def execution(question: str, *tests: CodeTestResult, **fields: Any) -> Execution:
    """Return what became of the code of an answer of the tiny run, which holds no text."""
    return executions.execution(question, *tests, **{"answer": "", **fields})


CODE = "def add(a, b):\n    total = a - b\n    return total\n"
WRONG = execution(
    "q1",
    one("zero"),
    one(
        "two",
        "test_failure",
        message="returned another value",
        line=2,
        expected="4",
        returned="0",
        printed="adding\n",
        attempts=["open /etc/passwd"],
        duration_ms=12.5,
    ),
    one("names", "runtime_error", message="TypeError: no names"),
    code=CODE,
    duration_ms=1234.5,
)
RIGHT = execution("q2", one("zero"), mechanism="none", code="f = 1")
EMPTY = execution("q2", one("zero", "no_code"), one("one", "no_code"), mechanism=None, code=None)


def _page(run: Path, *executions: Execution) -> Page:
    out = run.parent.parent / "page.html"
    return Page(write_report([run], out, PageOptions(beside=executions)).read_text("utf-8"))


def _text(page: Page) -> str:
    return " ".join(page.text.split())


def test_every_status_has_words() -> None:
    """No status that an execution may have is shown as a bare identifier."""
    statuses = CodeTestResult.model_fields["status"].annotation.__args__  # type: ignore[union-attr]
    assert set(WORDS) == set(statuses)


def test_the_first_failing_test_stands_before_the_others() -> None:
    """The second of three tests is the first that fails: it is shown whole, the others in a line each."""
    shown = executed(WRONG)
    assert (shown["status"], shown["passed"], shown["total"]) == ("test_failure", 1, 3)
    failing = shown["failing"]
    assert (failing["name"], failing["message"], failing["line"]) == ("two", "returned another value", 2)
    assert (failing["expected"], failing["returned"], failing["printed"]) == ("4", "0", "adding\n")
    assert failing["attempts"] == ["open /etc/passwd"]
    assert [(other["name"], other["status"], other["message"]) for other in shown["others"]] == [
        ("zero", "success", None),
        ("names", "runtime_error", "TypeError: no names"),
    ]
    assert shown["code"] == [{"first": 1, "lines": ["def add(a, b):", "    total = a - b", "    return total"]}]
    assert (shown["lines"], shown["more_lines"]) == (3, 0)
    assert executed(RIGHT)["failing"] is None
    empty = executed(EMPTY)
    assert (empty["code"], empty["lines"], empty["mechanism"]) == ([], 0, None)
    # Where there was no code no test says more than that.
    assert (empty["passed"], empty["total"], empty["failing"], empty["others"]) == (0, 2, None, [])


def test_lines_are_those_of_an_interpreter() -> None:
    r"""Lines end at \n, \r\n and \r as an interpreter counts them, and at nothing else that ends one in Unicode."""
    [piece] = executed(execution("q", code="a\r\nb\rc\n\nd\x0ce\u2028f"))["code"]
    assert piece == {"first": 1, "lines": ["a", "b", "c", "", "d\\u000ce\u2028f"]}


def test_long_texts_are_cut_and_counted() -> None:
    """The page shows the beginning of a long execution and the lines around the failing one, and counts the rest.

    LINES are shown from the first, and AROUND on each side of line 3000; of 5000 lines the others are reported. Of
    TESTS + 12 others behind the failing one, of which the last 3 failed too, TESTS are listed.
    """
    others = [one(f"t{n}", "success" if n < TESTS + 9 else "timeout") for n in range(TESTS + 12)]
    failing = one(
        "x" * 1000,
        "memory",
        message="m" * 5000,
        expected="e" * 5000,
        returned="r" * 5000,
        printed="p" * 5000,
        attempts=["a" * 5000] * (ATTEMPTS + 4),
        line=3000,
    )
    shown = executed(execution("q", failing, *others, code="\n".join("y" * 5000 for _ in range(5000))))
    assert [len(shown["failing"][name]) for name in ("message", "expected", "returned", "printed")] == [TEXT] * 4
    assert (len(shown["failing"]["attempts"]), shown["failing"]["more_attempts"]) == (ATTEMPTS, 4)
    assert (len(shown["others"]), shown["more_tests"], shown["more_failing"]) == (TESTS, 12, 3)
    pieces = [(piece["first"], len(piece["lines"])) for piece in shown["code"]]
    assert pieces == [(1, LINES), (3000 - AROUND, 2 * AROUND + 1)]
    assert (shown["lines"], shown["more_lines"]) == (5000, 5000 - LINES - 2 * AROUND - 1)
    assert len(json.dumps(shown)) < 100_000


@pytest.mark.parametrize("line", [1, LINES, LINES + 1, LINES + AROUND, 999, 1000, 5000])
def test_no_line_is_shown_twice(line: int) -> None:
    """Wherever the failing line is, each line shown has its own number, and together with the rest they are all.

    A line that the code doesn't have, as 5000 of 1000, adds nothing.
    """
    code = "\n".join(str(number) for number in range(1, 1001))
    shown = executed(execution("q", one("t", "runtime_error", line=line), code=code))
    found = [(number, text) for piece in shown["code"] for number, text in enumerate(piece["lines"], piece["first"])]
    assert all(str(number) == text for number, text in found)
    assert len(dict(found)) == len(found) == 1000 - shown["more_lines"]
    assert (line in dict(found)) == (line <= 1000)


def test_executions_lie_in_the_block_of_their_question(tmp_path: Path) -> None:
    """Each question's execution stands under its place, beside its details; those of other runs are left alone."""
    page = _page(tiny(tmp_path), RIGHT, WRONG, execution("q9", run="another"))
    blocks = page.json("x-0-0")
    assert {place: found["status"] for place, found in blocks.items()} == {"0": "test_failure", "1": "success"}
    summary = page.json("summary")
    assert [*summary["statuses"]] == [*WORDS]
    assert summary["runs"][0]["executions"] == [
        {"status": "test_failure", "passed": 1, "total": 3},
        {"status": "success", "passed": 1, "total": 1},
    ]


def test_a_page_without_executions_knows_none(tmp_path: Path) -> None:
    """Executions of other runs change no byte, and without any the data and the page name none."""
    run = tiny(tmp_path)
    plain = write_report([run], tmp_path / "plain.html").read_bytes()
    stranger = PageOptions(beside=[execution("q1", run="another")])
    assert write_report([run], tmp_path / "other.html", stranger).read_bytes() == plain
    page = Page(plain.decode())
    assert "h-executed" not in {values.get("id") for _, values in page.elements}
    assert not [values for values, _ in page.scripts if (values.get("id") or "").startswith("x-")]
    summary = page.json("summary")
    assert "statuses" not in summary
    assert "executions" not in summary["runs"][0]


def test_an_execution_that_is_nowhere_or_twice(tmp_path: Path) -> None:
    """One on a question that the dataset doesn't hold is refused by name, as is a second one of an answer."""
    run = tiny(tmp_path)
    with pytest.raises(InputError, match="the execution of 'q9' is of a question that isn't in the dataset"):
        _page(run, execution("q9"))
    with pytest.raises(InputError, match="the answer of r to 'q1' has a second execution"):
        _page(run, WRONG, execution("q1"))


def test_the_page_counts_what_was_executed(tmp_path: Path) -> None:
    """Above the questions stand how many answers were executed, how they ended, and how many passed all their tests.

    q1 passed 1 of 3 tests and q2 1 of 1: 2 of 4 tests. q2 was run without a sandbox, which is warned of.
    """
    run = tiny(tmp_path)
    text = _text(_page(run, WRONG, RIGHT))
    assert "2 answers were put to the tests of their questions: 1 passed all of them. 2 of 4 tests passed." in text
    assert "all tests passed: 1 test failed: 1 (q1)" in text
    assert "out of memory" not in text
    assert "Warning: the code of 1 answer was run without a sandbox." in text
    assert "1 in bubblewrap" in text
    text = _text(_page(run, WRONG, EMPTY))
    assert "2 answers were put to the tests of their questions: none passed all of them. 1 of 5 tests passed." in text
    assert "no code in the answer: 1 (q2)" in text
    assert "without a sandbox" not in text


def test_an_execution_of_a_former_answer_is_reported_and_not_shown(tmp_path: Path) -> None:
    """The execution of a former answer isn't shown beside the current answer."""
    run = tiny(tmp_path)
    write_jsonl(run, [{**row, "answer": "now"} for row in cli.ANSWERS if isinstance(row, dict)])
    then = WRONG.model_copy(update={"answer_hash": answer_hash("then")})
    now = RIGHT.model_copy(update={"answer_hash": answer_hash("now")})
    page = _page(run, then, now)
    assert list(page.json("x-0-0")) == ["1"]
    assert (
        "Warning: 1 execution of an answer that has changed since isn't shown (q1): have the run executed again."
        in _text(page)
    )
    assert "1 answer was put to the tests of its question: it passed all of them. 1 of 1 test passed." in _text(page)
    page = _page(run, then)
    assert "Warning: 1 execution of an answer that has changed since" in _text(page)
    assert "were put to the tests" not in _text(page)


def hostile_executions(run: str = HOSTILE[0]) -> list[Execution]:
    """Return executions of the hostile dataset in which every text is hostile, too."""
    found: list[Execution] = []
    for number, text in enumerate(HOSTILE):
        fields: dict[str, Any] = {
            **{"message": text, "expected": text, "returned": text, "printed": text},
            **{"attempts": [text], "line": 1},
        }
        tests = [one(f"{text}{place}", "runtime_error", **fields) for place in range(2)]
        known = {"run": run, "answer": text, "code": text, "language": text, "entry_point": text}
        found.append(execution(f"{number} {text}", *tests, **known))
    return found


def test_hostile_executions_stay_text(tmp_path: Path) -> None:
    """No text of an execution becomes an element, a script, an attribute or an escape sequence of the page."""
    run = hostile_dataset(tmp_path / "d")
    before = Page(write_report([run], tmp_path / "before.html").read_text("utf-8"))
    options = PageOptions(beside=hostile_executions())
    text = write_report([run], tmp_path / "after.html", options).read_text("utf-8")
    after = Page(text)
    assert len(after.scripts) == len(before.scripts) + 1
    assert {tag for tag, _ in after.elements} - {tag for tag, _ in before.elements} <= {"strong", "ul", "li"}
    assert not [name for _, attributes in after.elements for name in attributes if name.startswith("on")]
    assert "\x1b" not in text
    assert "\u202e" not in text
    shown = after.json("x-0-0")
    assert [shown[str(place)]["failing"]["message"] for place in range(len(HOSTILE))] == [
        visible_text(text) for text in HOSTILE
    ]


def test_executions_beside_the_run_are_shown(tmp_path: Path) -> None:
    """The files of an execution beside the run are found, besides those of a judge; a named file has priority."""
    run = tiny(tmp_path)
    folder = grades_folder(run)
    folder.mkdir()
    write_lines(folder / "execution.executions.jsonl", [WRONG.model_dump_json()])
    score = {"run": "r", "question": "q1", "measure": "FactualCorrectness", "value": 0.25, "grader": "execution"}
    write_jsonl(folder / "execution.scores.jsonl", [score])
    write_jsonl(
        folder / "lexical.scores.jsonl", [{**score, "question": "q2", "measure": "Groundedness", "grader": "lexical"}]
    )
    done = cli.inside("report", run, "--out", "p.html", cwd=tmp_path, code=0)
    assert "judges graded" not in done.err
    page = Page((tmp_path / "p.html").read_text("utf-8"))
    assert page.json("x-0-0")["0"]["failing"]["name"] == "two"
    names = [measure["name"] for measure in page.json("summary")["measures"]]
    assert {"FactualCorrectness", "Groundedness"} <= set(names)
    other = write_lines(tmp_path / "other.jsonl", [RIGHT.model_dump_json()])
    cli.inside("report", run, "--out", "p.html", "--executions", other, cwd=tmp_path, code=0)
    assert list(Page((tmp_path / "p.html").read_text("utf-8")).json("x-0-0")) == ["1"]


def test_a_bad_execution_refuses_the_page(tmp_path: Path) -> None:
    """A line of --executions that can't be used is reported with its place, and left out where that is asked for."""
    run = tiny(tmp_path)
    bad = write_lines(tmp_path / "x.jsonl", [WRONG.model_dump_json(), json.dumps({"run": "r", "question": "q2"})])
    command = ("report", run, "--out", "p.html", "--executions", bad)
    assert f"{bad}:2: record 'q2'" in cli.inside(*command, cwd=tmp_path, code=2).err
    assert f"skipped: {bad}:2" in cli.inside(*command, "--on-error", "skip", cwd=tmp_path, code=0).err


def test_what_own_methods_decide_is_shown() -> None:
    """A trusted test says by what it passed; one that isn't trusted has the reason as its message."""
    own = "decided by the answer's own method Money.equals"
    trusted = executed(execution("q1", one("a", decided_by=own)))
    assert trusted["others"][0]["decided_by"] == own
    failing = executed(execution("q1", one("a", "unproven", message=own, decided_by=own)))["failing"]
    assert (failing["status"], failing["message"], failing["decided_by"]) == ("unproven", own, None)
