"""The commands of ``graphkit judge`` as processes: sheets, a dialogue in a terminal, gates, and what goes wrong."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphkit.files.grades_beside import graded_files
from graphkit.plugins.judging.verdict_files import VERDICTS, write_verdicts
from tests.helpers.cli import Row, inside, write_lines
from tests.helpers.cli import inside as graphkit
from tests.helpers.datasets import STOREFRONT
from tests.helpers.judged import HUMAN_GRADES, LENIENT, RUN, graded, human_grades, values, write_scores
from tests.helpers.pages import Page
from tests.helpers.terminals import Terminal
from tests.helpers.verdicts import verdict


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return the run of the storefront that a lenient judge has graded."""
    (tmp_path / "runs").mkdir()
    for name in ("questions.jsonl", "access.jsonl"):
        shutil.copy(STOREFRONT / name, tmp_path)
    place = Path(shutil.copy(STOREFRONT / "runs" / f"{RUN}.jsonl", tmp_path / "runs"))
    write_scores(tmp_path / "runs" / f"{RUN}.grades" / "lexical.scores.jsonl", graded(LENIENT))
    return place


def tiny_graded(folder: Path) -> Path:
    """Write a run of four answers that a judge called right, right, wrong and right; return the run's file."""
    names = ("q1", "q2", "q3", "q4")
    write_lines(folder / "questions.jsonl", [{"id": q, "question": f"What of {q}?"} for q in names])
    answers: list[Row] = [{"run": "r", "question_id": q, "answer": f"It is {q}."} for q in names]
    run = write_lines(folder / "runs" / "r.jsonl", answers)
    numbers: dict[str, float | None] = dict(zip(names, [1.0, 1.0, 0.0, 1.0], strict=True))
    write_scores(folder / "runs" / "r.grades" / "lexical.scores.jsonl", values("Correct", numbers))
    return run


# A filled sheet ----------------------------------------------------------------------------------------------------


def test_a_filled_sheet(run: Path) -> None:
    """The recorded grades of a person against the judge: figures, and the file that a gate finds."""
    command = ("judge", "spot-check", run, "--csv", HUMAN_GRADES)
    found = graphkit(*command, "--json", cwd=run.parent, code=0).object()
    assert (found["n"], found["judged"], found["judge"], found["measure"]) == (39, 39, "lexical", "RubricGrade")
    assert found["agreement"]["value"] == pytest.approx(34 / 39)
    assert found["weighted_kappa"]["low"] < found["weighted_kappa"]["value"] < found["weighted_kappa"]["high"]
    assert [one["question"] for one in found["disagreements"]] == ["sf-03", "sf-06", "sf-18", "sf-29", "sf-10"]
    assert found["disagreements"][0]["note"].startswith("the right function, but 60 minutes")
    assert found["warning"] is None
    assert Path(found["kept"]).name == "lexical.spot-check.json"
    done = inside(*command, cwd=run.parent, code=0)
    for text in ("Cohen's kappa, weighted", "Rogan-Gladen", "PPI++", "judge: fully_correct", "sf-18", "labels:"):
        assert text in done.out


def test_the_gate(run: Path) -> None:
    """The lower end of kappa is held, here and by evaluate; a judge that changed since is unchecked again."""
    scores = run.parent / f"{RUN}.grades" / "lexical.scores.jsonl"
    evaluate = ("evaluate", run, "--no-store", "-m", "RR", "--scores", scores, "--min-kappa")
    done = inside(*evaluate, "0.1", cwd=run.parent, code=1)
    assert "nobody checked the judge lexical: run `graphkit judge spot-check`" in done.err
    check = ("judge", "spot-check", run, "--csv", HUMAN_GRADES, "--min-kappa")
    assert "its interval over 39 answers begins at" in inside(*check, "0.9", cwd=run.parent, code=1).err
    inside(*check, "0.3", cwd=run.parent, code=0)
    inside(*evaluate, "0.3", cwd=run.parent, code=0)
    assert "under 0.9" in inside(*evaluate, "0.9", cwd=run.parent, code=1).err
    write_scores(scores, graded(LENIENT, version="2"))
    assert "is of version 1, the scores are of 2" in inside(*evaluate, "0.3", cwd=run.parent, code=1).err
    assert "--min-kappa must be a number from -1 to 1" in inside(*evaluate, "7", cwd=run.parent, code=2).err


def test_the_gate_holds_what_other_gates_name(tmp_path: Path) -> None:
    """A checked measure doesn't vouch for another one that a gate names: each of them is held, and no computed one."""
    run = tiny_graded(tmp_path)
    scores = tmp_path / "runs" / "r.grades" / "lexical.scores.jsonl"
    numbers: dict[str, float | None] = {"q1": 1.0, "q2": 1.0, "q3": 0.0, "q4": 0.0}
    write_scores(
        scores, [one for name in ("Correct", "Groundedness", "HallucinationRate") for one in values(name, numbers)]
    )
    (tmp_path / "sheet.csv").write_text("question_id,measure,grade\nq1,Correct,y\nq2,Correct,y\nq3,Correct,n\n")
    inside("judge", "spot-check", run, "--csv", "sheet.csv", cwd=tmp_path, code=0)
    command = ("evaluate", run, "--no-store", "-m", "RR", "--scores", scores, "--min-kappa", -1)
    inside(*command, cwd=tmp_path, code=0)
    inside(*command, "--fail-under", "Correct=0.1", cwd=tmp_path, code=0)
    for gate in (("--fail-under", "Groundedness=0.1"), ("--fail-over", "HallucinationRate=0.9")):
        reported = inside(*command, *gate, cwd=tmp_path, code=1).err
        name = gate[1].partition("=")[0]
        assert reported.endswith(
            f"gate failed: r: lexical by {name}: nobody checked it: run `graphkit judge spot-check`\n"
        )
    reported = inside(*command, "--fail-over", "RR=0.9", "--fail-under", "Correct=0.1", cwd=tmp_path, code=1).err
    assert "nobody checked" not in reported


def test_grades_of_right_and_wrong(run: Path, tmp_path: Path) -> None:
    """Beside the rubric they say how often right is called right; that is shown, and kept for no gate.

    The judge calls sf-02 and sf-03 fully correct, the person only sf-02 right.
    """
    grade = {"run": RUN, "measure": "PersonGrade", "grader": "person"}
    right = {"sf-02": 1, "sf-03": 0}
    file = write_lines(tmp_path / "mine.jsonl", [{**grade, "question": q, "value": v} for q, v in right.items()])
    check = ("judge", "spot-check", run, "--grades", file)
    done = inside(*check, cwd=tmp_path, code=0)
    assert "note: RubricGrade is compared as right (fully_correct) or wrong; no gate rests on that" in done.err
    assert done.out.splitlines()[-1] == "not kept"
    found = inside(*check, "--json", cwd=tmp_path, code=0).object()
    assert (found["agreement"]["value"], found["kept"], found["n"]) == (0.5, None, 2)
    assert [one["question"] for one in found["disagreements"]] == ["sf-03"]
    assert not list(run.parent.rglob("*.spot-check.json"))
    done = inside(*check, "--min-kappa", "0.1", cwd=tmp_path, code=2)
    assert "which is too little for --min-kappa" in done.err
    done = inside(*check, "--csv", HUMAN_GRADES, cwd=tmp_path, code=2)
    assert "--grades and --csv both name your grades" in done.err


def test_a_sheet_to_be_filled_passes_no_gate(run: Path, tmp_path: Path) -> None:
    """If the sheet is only written, nobody has checked the judge: a build with the gate doesn't pass."""
    done = inside("judge", "spot-check", run, "--csv", "sheet.csv", "--min-kappa", "0.1", cwd=tmp_path, code=1)
    assert "by RubricGrade: nobody checked it" in done.err
    assert (tmp_path / "sheet.csv").exists()


def test_a_sheet_is_written_and_read(run: Path, tmp_path: Path) -> None:
    """If the sheet is absent, the sample is written without what the judge said; filled, it is compared."""
    command = ("judge", "spot-check", run, "--csv", "sheet.csv", "--n", "6")
    assert inside(*command, "--json", cwd=tmp_path, code=0).object() == {"sheet": "sheet.csv", "drawn": 6}
    with (tmp_path / "sheet.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["grade"] for row in rows] == [""] * 6
    assert all(row["question"] and row["gold_answer"] and row["answer"] for row in rows)
    empty = inside(*command, cwd=tmp_path, code=2)
    assert "no answer of storefront-graph-v2 is graded by RubricGrade" in empty.err
    known = human_grades()
    for row in rows:
        row["grade"] = known[row["question_id"]]
    with (tmp_path / "sheet.csv").open("w", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    assert inside(*command, "--json", cwd=tmp_path, code=0).object()["n"] == 6


LIKERT = {"q1": 4, "q2": 2, "q3": 3, "q4": 4}


def likert_graded(folder: Path, version: str = "1") -> Path:
    """Write the run of four answers with the grades of a judge from 1 to 5, of which 1 and 5 don't occur."""
    run = tiny_graded(folder)
    numbers: dict[str, float | None] = {name: float(number) for name, number in LIKERT.items()}
    write_scores(folder / "runs" / "r.grades" / "lexical.scores.jsonl", values("tone", numbers, version=version))
    return run


def test_a_sheet_names_its_own_measure(tmp_path: Path) -> None:
    """A sheet that is graded by another measure than the usual one is compared by that one."""
    run = tiny_graded(tmp_path)
    scores = [score for name in ("Correct", "RubricGrade") for score in values(name, dict.fromkeys(LIKERT, 1.0))]
    write_scores(tmp_path / "runs" / "r.grades" / "lexical.scores.jsonl", scores)
    command = ("judge", "spot-check", run, "--csv", "sheet.csv", "--json")
    for header, measure in (("question_id,measure,grade", "correct,"), ("question_id,Correct", "")):
        (tmp_path / "sheet.csv").write_text(f"{header}\nq1,{measure}y\nq2,{measure}n\n")
        found = inside(*command, cwd=tmp_path, code=0).object()
        assert (found["measure"], found["n"], found["agreement"]["value"]) == ("Correct", 2, 0.5)
    (tmp_path / "sheet.csv").write_text("question_id,measure,grade\nq1,Correct,y\n")
    reported = inside(*command, "-m", "RubricGrade", cwd=tmp_path, code=2).err
    assert "the sheet grades r by Correct, not by RubricGrade" in reported
    assert "--measure" in reported
    (tmp_path / "sheet.csv").write_text("question_id,measure,grade\nq1,Correct,y\nq1,RubricGrade,wrong\n")
    assert inside(*command, cwd=tmp_path, code=0).object()["measure"] == "RubricGrade"
    (tmp_path / "sheet.csv").write_text("question_id,measure,grade\nq1,Faithfulness,1\n")
    assert "lexical gave no score by Faithfulness" in inside(*command, cwd=tmp_path, code=2).err
    (tmp_path / "sheet.csv").write_text("run,question_id,measure,grade\ns,q1,Correct,y\n")
    reported = inside(*command, cwd=tmp_path, code=2).err
    assert "no answer of r is graded by RubricGrade" in reported
    assert "The sheet grades s." in reported


def test_a_scale_of_1_to_5(tmp_path: Path) -> None:
    """Five grades count, whether they occur or not, and none of them is called right.

    Judge and person agree on three of four answers (4, 2 and 3), and are a step apart on the fourth (4 and 3). Of the 8
    grades two are 2, three 3 and three 4: the sum of p (1 - p) is (2 x 6 + 3 x 5 + 3 x 5) / 64 = 42 / 64. AC1 takes
    1 / (5 - 1) of it for chance, 42 / 256. Linear weights of five grades add up to 5 + 8 x .75 + 6 x .5 + 4 x .25 = 15:
    AC2 takes 15 / (5 x 4) of it, 630 / 1280, and observes (3 + .75) / 4. Around their means of 3.25 and 3, the products
    of both add up to 2, the squares of the judge's grades to 2.75 and of the person's to 2; around the mean rank of 2.5
    (3.5, 1, 2, 3.5 and 4, 1, 2.5, 2.5), the products to 3.75 and the squares of each to 4.5.
    """
    run = likert_graded(tmp_path)
    (tmp_path / "sheet.csv").write_text("question_id,grade\nq1,4\nq2,2\nq3,3\nq4,3\n")
    command = ("judge", "spot-check", run, "--csv", "sheet.csv")
    found = inside(*command, "--json", cwd=tmp_path, code=0).object()
    assert found["scale"] == ["1", "2", "3", "4", "5"]
    assert found["ac1"]["value"] == pytest.approx((3 / 4 - 42 / 256) / (1 - 42 / 256))
    assert found["ac2"]["value"] == pytest.approx((15 / 16 - 63 / 128) / (1 - 63 / 128))
    assert found["pearson"]["value"] == pytest.approx(2 / 5.5**0.5)
    assert found["spearman"]["value"] == pytest.approx(3.75 / 4.5)
    assert "sensitivity" not in found
    assert found["inflation"]["accuracy"] is None
    done = inside(*command, cwd=tmp_path, code=0)
    assert "Pearson's correlation" in done.out
    assert "Spearman's correlation" in done.out
    assert "on the scale 1 to 5" in done.out
    assert "the grades by tone are assumed to be on the scale 1 to 5; --scale names another" in done.err
    assert "accuracy" not in done.out
    # Eleven grades: chance is 42 / 64 / 10, and right is from 7 on, which the grades could reach.
    found = inside(*command, "--scale", "0-10", "--json", cwd=tmp_path, code=0).object()
    assert found["ac1"]["value"] == pytest.approx((3 / 4 - 42 / 640) / (1 - 42 / 640))
    assert found["inflation"]["accuracy"]["value"] == 0.0


def test_the_scale_is_what_the_sheet_uses(tmp_path: Path) -> None:
    """A person's 8 puts the judge's grades on the scale of 0 to 10; on a named scale it is refused."""
    run = likert_graded(tmp_path)
    (tmp_path / "sheet.csv").write_text("question_id,grade\nq1,8\nq2,2\n")
    command = ("judge", "spot-check", run, "--csv", "sheet.csv", "--json")
    assert len(inside(*command, cwd=tmp_path, code=0).object()["scale"]) == 11
    reported = inside(*command, "--scale", "1-5", cwd=tmp_path, code=2).err
    assert "sheet.csv:2: record q1: '8' is no grade by tone" in reported
    assert "Give 1 to 5." in reported
    reported = inside(*command, "--scale", "1-3", cwd=tmp_path, code=2).err
    assert "lexical 1 gave 4 by tone, which isn't on the scale 1 to 3" in reported
    for wrong in ("5", "5-1", "1-999", "a-b", "1-²"):
        assert "Write it as 1-5." in inside(*command, "--scale", wrong, cwd=tmp_path, code=2).err


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_sheet_between_semicolons_or_tabs(delimiter: str, tmp_path: Path) -> None:
    """A sheet from a spreadsheet of another language is read: its delimiter, decimal comma, and names in any case."""
    run = tiny_graded(tmp_path)
    write_scores(
        tmp_path / "runs" / "r.grades" / "lexical.scores.jsonl", values("Faithfulness", {"q1": 0.5, "q2": 0.25})
    )
    lines = (("Question", "Grade", "note"), ("q1", "0,5", "fine, I think"), ("q2", "1", ""))
    (tmp_path / "sheet.csv").write_text("".join(delimiter.join(line) + "\r\n" for line in lines))
    found = inside("judge", "spot-check", run, "--csv", "sheet.csv", "--json", cwd=tmp_path, code=0).object()
    assert (found["measure"], found["n"], found["agreement"]["value"]) == ("Faithfulness", 2, 0.5)


# A terminal --------------------------------------------------------------------------------------------------------


@pytest.fixture
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Terminal]]:
    """Return a list of terminals; they are closed at the end."""
    opened: list[Terminal] = []
    yield opened
    for one in opened:
        one.close()


PROMPT = "a note may follow): "


def test_grading_in_a_terminal(tmp_path: Path, terminal: list[Terminal]) -> None:
    """Grade, mistype, skip, quit; start again: only what isn't graded is asked, and then the figures come."""
    run = tiny_graded(tmp_path)
    command = ("judge", "spot-check", run, "--json")
    first = Terminal(*command, cwd=tmp_path)
    terminal.append(first)
    shown = first.expect(PROMPT)
    assert "1 of 4" in shown
    assert "question: What of q" in shown
    assert "answer: It is q" in shown
    assert "lexical" not in shown  # nor what it said
    asked = shown.partition("answer: It is ")[2][:2]
    first.type("perhaps\n")
    assert "'perhaps' is none of them" in first.expect(PROMPT)
    first.type("y as the page says\n")
    assert "2 of 4" in first.expect(PROMPT)
    first.type("s\n")
    assert "3 of 4" in first.expect(PROMPT)
    first.type("q\n")
    first.expect("The same command continues.")
    assert first.end() == (0, "")
    with (tmp_path / "runs" / "r.grades" / "human.csv").open(newline="") as stream:
        [kept] = csv.DictReader(stream)
    assert (kept["question_id"], kept["grade"], kept["note"]) == (asked, "1", "as the page says")

    second = Terminal(*command, cwd=tmp_path)
    terminal.append(second)
    for number in range(1, 4):
        shown = second.expect(PROMPT)
        assert f"{number} of 3" in shown
        assert f"It is {asked}." not in shown
        second.type("n\n" if "It is q3." in shown else "y\n")
    code, out = second.end()
    assert code == 0
    assert '"n": 4' in out
    assert '"agreement": {"value": ' in out

    # Everything is graded: nobody is asked, so no terminal is needed.
    found = inside(*command, cwd=tmp_path, code=0).object()
    assert found["n"] == 4
    right = {"q1", "q2", "q4"}  # by the judge; the person says so of all but q3
    assert found["agreement"]["value"] == (1.0 if asked in right else 0.75)


@pytest.mark.parametrize("keys", ["\x04", "\x03"], ids=["end of input", "Ctrl-C"])
def test_leaving_a_terminal(keys: str, tmp_path: Path, terminal: list[Terminal]) -> None:
    """Ctrl-D stops as q does; Ctrl-C ends with 130; what was graded before is kept."""
    run = tiny_graded(tmp_path)
    one = Terminal("judge", "spot-check", run, cwd=tmp_path)
    terminal.append(one)
    one.expect(PROMPT)
    one.type("n\n")
    one.expect(PROMPT)
    if keys == "\x03":
        one.interrupt()
    else:
        one.type(keys)
    code, _ = one.end()
    assert code == (130 if keys == "\x03" else 0)
    kept = (tmp_path / "runs" / "r.grades" / "human.csv").read_text().splitlines()
    assert len(kept) == 2
    assert ",Correct,0," in kept[1]


def test_no_terminal_to_ask_in(tmp_path: Path) -> None:
    """Without a terminal and without a sheet, it is reported what to do."""
    done = graphkit("judge", "spot-check", tiny_graded(tmp_path), cwd=tmp_path, code=2)
    assert "there is no terminal to ask in" in done.err
    assert "--csv FILE" in done.err


def test_hostile_answers_drive_no_terminal(tmp_path: Path, terminal: list[Terminal]) -> None:
    """Escapes in what is shown are shown harmless."""
    run = tiny_graded(tmp_path)
    write_lines(run, [{"run": "r", "question_id": f"q{n}", "answer": "\x1b[2J\x1b]0;x\x07evil"} for n in range(1, 5)])
    one = Terminal("judge", "spot-check", run, cwd=tmp_path)
    terminal.append(one)
    shown = one.expect(PROMPT)
    assert "evil" in shown
    assert "\x1b" not in shown


# Gradings that were made before --------------------------------------------------------------------------------------


def test_consistency_of_given_gradings(run: Path, tmp_path: Path) -> None:
    """Two further gradings: stable shares and flips, in JSON and in words."""
    one = write_scores(tmp_path / "one.jsonl", graded(LENIENT | {"sf-02": "partially_correct"}))
    two = write_scores(tmp_path / "two.jsonl", graded(LENIENT))
    command = ("judge", "consistency", run, "--graded", one, "--graded", two)
    found = inside(*command, "--json", cwd=tmp_path, code=0).object()
    assert (found["gradings"], found["stable"]["value"]) == (3, pytest.approx(38 / 39))
    assert found["flips"] == {"sf-02": ["fully_correct", "partially_correct", "fully_correct"]}
    shown = inside(*command, cwd=tmp_path, code=0).out
    assert "RubricGrade of sf-02: fully_correct -> partially_correct -> fully_correct" in shown


def test_bias_and_drift_of_given_gradings(run: Path, tmp_path: Path) -> None:
    """Effects with their intervals; one whose interval leaves out 0 is reported, and another version by name."""
    higher = write_scores(tmp_path / "p.jsonl", graded(dict.fromkeys(list(human_grades())[:20], "fully_correct")))
    same = write_scores(tmp_path / "s.jsonl", graded(LENIENT))
    found = inside("judge", "bias", run, "--swapped", same, "--padded", higher, "--json", cwd=tmp_path, code=0)
    order, length = found.objects()
    assert (order["of"], order["difference"]["value"], order["shows"]) == ("swapped", 0.0, False)
    assert (length["of"], length["shows"]) == ("padded", True)
    other = write_scores(tmp_path / "o.jsonl", graded(judge="other"))
    [kin] = inside("judge", "bias", run, "--against", other, "--json", cwd=tmp_path, code=0).objects()
    assert (kin["of"], kin["difference"]["value"]) == ("other against lexical", pytest.approx(2 / 39))
    now = write_scores(tmp_path / "n.jsonl", graded(version="2"))
    shown = inside("judge", "drift", run, "--graded", now, cwd=tmp_path, code=0).out
    assert "was given by lexical 1, and now by lexical 2" in shown


def test_judge_and_answers_of_one_family(run: Path, tmp_path: Path) -> None:
    """A judge of the answering model's family is warned of, in words and in JSON."""
    scores = run.parent / f"{RUN}.grades" / "lexical.scores.jsonl"
    write_scores(scores, graded(LENIENT, version="claude-opus-4-5 p1"))
    command = ("judge", "spot-check", run, "--csv", HUMAN_GRADES, "--answered-by", "claude-haiku-4-5", "--json")
    done = inside(*command, cwd=tmp_path, code=0)
    assert "of one family (Claude" in done.object()["warning"]
    assert done.err.count("warning: judge and answering model are of one family") == 1


def test_own_kind_is_reported_wherever_scores_are_shown(run: Path, tmp_path: Path) -> None:
    """evaluate, its files and the page warn, whoever says what answered: the user, a note, or the verdicts."""
    scores = run.parent / f"{RUN}.grades" / "lexical.scores.jsonl"
    write_scores(scores, graded(LENIENT, version="claude-opus-4-5 prompt 12ab34cd"))
    command = ("evaluate", run, "--no-store", "--json", "-m", "RR", "--scores", scores)
    reported = "one family (Claude: claude-opus-4-5 judges claude-haiku-4-5)"
    # Nobody says what answered.
    done = inside(*command, cwd=tmp_path, code=0)
    assert (done.object()["warnings"], done.unasked) == ([], "")
    sheet = tmp_path / "board.md"
    done = inside(*command, "--answered-by", "claude-haiku-4-5", "--out", sheet, cwd=tmp_path, code=0)
    assert reported in done.object()["warnings"][0]
    assert f"warning: {RUN}: judge and answering model are of {reported}" in done.err
    assert "warning: judge and answering model are of one family" in sheet.read_text()
    verdicts = scores.with_name("lexical.verdicts.jsonl")
    write_verdicts(verdicts, [verdict("sf-01", run=RUN, answered_by="claude-haiku-4-5")])
    assert reported in inside(*command, cwd=tmp_path, code=0).object()["warnings"][0]
    verdicts.unlink()
    run.with_suffix(".made-by").write_text("baseline with gpt-5\n")
    assert inside(*command, cwd=tmp_path, code=0).object()["warnings"] == []
    run.with_suffix(".made-by").write_text("baseline with claude-haiku-4-5\n")
    assert "one family (Claude" in inside(*command, cwd=tmp_path, code=0).err
    inside("report", run, "--out", tmp_path / "page.html", cwd=tmp_path, code=0)
    assert "Warning: judge and answering model are of one family" in Page((tmp_path / "page.html").read_text()).text


def test_a_verdict_on_ones_own_kind_says_so(tmp_path: Path) -> None:
    """The note stands in each verdict that is kept, and so goes wherever the verdicts go."""
    run = tiny_graded(tmp_path)
    asked = [{"id": f"q{number}", "question": "What?", "gold_answer": "It."} for number in range(1, 5)]
    write_lines(tmp_path / "questions.jsonl", asked)
    (tmp_path / "claude_rules.py").write_text("def judge(prompt, schema):\n    return {'reasoning': 'r', 'score': 7}\n")
    command = ("grade", run, "--no-store", "--judge", "claude_rules:judge", "--grader", "scale", "--answered-by")
    for model, notes in (("claude-haiku-4-5", 1), ("gpt-5", 0)):
        graphkit(*command, model, cwd=tmp_path, code=0)
        [file] = graded_files(run, VERDICTS)
        kept = [json.loads(line) for line in file.read_text().splitlines()]
        assert kept
        assert [len(one.get("notes", [])) for one in kept] == [notes] * len(kept)


# Mistakes ----------------------------------------------------------------------------------------------------------


def test_what_is_missing_is_reported(run: Path, tmp_path: Path) -> None:
    """No grades, no such judge or measure, several of them, two versions, two gradings at once, and none to repeat."""
    folder = run.parent / f"{RUN}.grades"
    check = ("judge", "spot-check", run, "--csv", HUMAN_GRADES)
    write_scores(folder / "execution.scores.jsonl", graded(judge="execution"))  # tests that were run are no judge
    assert "Name one by --judge: lexical." in inside(*check, "-j", "lexica", cwd=tmp_path, code=2).err
    assert "Did you mean lexical?" in inside(*check, "-j", "lexica", cwd=tmp_path, code=2).err
    assert "gave no score by Correct" in inside(*check, "-m", "Correct", cwd=tmp_path, code=2).err
    write_scores(folder / "other.scores.jsonl", graded(judge="other"))
    assert "several judges have graded this run" in inside(*check, cwd=tmp_path, code=2).err
    inside(*check, "-j", "other", cwd=tmp_path, code=0)
    twice = inside(*check, "-j", "other", *("--scores", folder / "other.scores.jsonl") * 2, cwd=tmp_path, code=2)
    assert "other gave RubricGrade twice" in twice.err
    mixed = [*graded(judge="other", version="1")[:15], *graded(judge="other", version="2")[15:]]
    write_scores(folder / "other.scores.jsonl", mixed)
    assert "in several versions: 1, 2" in inside(*check, "-j", "other", cwd=tmp_path, code=2).err
    write_scores(folder / "other.scores.jsonl", graded(judge="other", run="another"))
    assert "note: 39 scores are of other runs and aren't used" in inside(*check, cwd=tmp_path, code=0).err
    shutil.rmtree(folder)
    assert "no judge has graded this run" in inside(*check, cwd=tmp_path, code=2).err
