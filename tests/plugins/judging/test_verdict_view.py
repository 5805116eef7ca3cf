"""Verdicts on the page: claim by claim, in the block of the question, with all hostile text as text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.files.grades_beside import grades_folder
from graphkit.plugins.judging.verdict_files import write_verdicts
from graphkit.plugins.judging.verdict_view import CLAIMS, LISTED, TEXT, judged
from graphkit.plugins.judging.verdicts import Citation, GoldClaim, GoldEdge, Verdict
from graphkit.records.scores import Score, answer_hash
from graphkit.report import PageOptions, write_report
from tests.helpers import cli
from tests.helpers.cli import tiny, write_lines
from tests.helpers.datasets import write_jsonl
from tests.helpers.made import made
from tests.helpers.pages import HOSTILE, Page, hostile_dataset
from tests.helpers.verdicts import claim, verdict

CITATIONS = [
    Citation(text="[a/m.py]", target="a/m.py", chunks=("a:m.py#x",), correct=True, needed=False),
    Citation(text="[b/n.py]", target="b/n.py", correct=False, reason="not in the retrieved context"),
]
SAID = verdict(
    "q1",
    claims=[
        claim(
            "x calls y", evidence=[("a:m.py#x", "y()")], edge=("a:m.py#x", "CALLS", "a:m.py#y"), in_gold=True, cited=[0]
        ),
        claim("x calls z", support="UNSUPPORTED", gold="CONTRADICTED", mismatch="no such chunk", cited=[1]),
    ],
    gold_claims=[
        made(
            GoldClaim,
            {
                **{"text": "x calls z", "stated": False, "chunks": ["a:m.py#x"], "named_in": "claim"},
                "edges": [GoldEdge(source="a:m.py#x", relation="CALLS", target="b:n.py#z")],
            },
        )
    ],
    citations=CITATIONS,
    left_out=["a:m.py#w"],
    verdict={"claims": ["as the judge wrote them"]},
)
RUBRIC = verdict("q2", grader="rubric", verdict={"grade": "wrong", "steps": [1, {"a": None}]}, grade="wrong")


def test_a_claim_has_its_evidence_citation_and_edge() -> None:
    """The record that the page draws from holds each claim in its checked form, and the grader's own form besides."""
    found = judged(SAID)
    first, second = found["claims"]
    assert first["evidence"] == [{"chunk": "a:m.py#x", "quote": "y()", "occurs": True, "alone": True}]
    assert first["edge"] == {"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#y", "in_gold": True}
    assert (second["support"], second["gold"], second["mismatch"]) == ("UNSUPPORTED", "CONTRADICTED", "no such chunk")
    assert [found["citations"][place]["reason"] for place in second["cited"]] == ["not in the retrieved context"]
    assert found["gold_claims"] == [
        {
            **{"text": "x calls z", "stated": False, "chunks": ["a:m.py#x"], "named_in": "claim"},
            "edges": [{"source": "a:m.py#x", "relation": "CALLS", "target": "b:n.py#z", "in_gold": True}],
        }
    ]
    assert found["gold_stated"] == 0
    assert found["left_out"] == ["a:m.py#w"]
    assert found["fields"] == []  # the page shows the checked claims instead
    assert judged(RUBRIC)["fields"] == [
        {"name": "grade", "text": "wrong"},
        {"name": "steps", "text": '[1, {"a": null}]'},
    ]


def test_an_answer_that_a_judge_graded_is_marked(tmp_path: Path) -> None:
    """The judge grades q2 and lists claims of q1, a person grades q1: only q2 needs both to say right."""
    run = tiny(tmp_path)
    person = Score(run="r", question="q1", measure="PersonGrade", value=1.0, grader="person:ann")
    page = Page(
        write_report(run, tmp_path / "r.html", PageOptions(beside=[SAID, RUBRIC], scores=[person])).read_text("utf-8")
    )
    outcomes = page.json("summary")["runs"][0]["questions"]
    assert [(one["answer"], "judged" in one["flags"]) for one in outcomes] == [("right", False), ("wrong", True)]


def test_a_long_verdict_is_cut_and_counted() -> None:
    """Some of many claims and ids are listed, the rest is counted; a long text is cut."""
    long = verdict("q", claims=[claim("x" * 5000)] * (CLAIMS + 7), left_out=["a"] * (LISTED + 3))
    found = judged(long)
    assert (len(found["claims"]), found["more_claims"]) == (CLAIMS, 7)
    assert (len(found["left_out"]), found["more_left_out"]) == (LISTED, 3)
    assert len(found["claims"][0]["text"]) == TEXT


def test_verdicts_lie_in_the_block_of_their_question(tmp_path: Path) -> None:
    """Each question's verdicts stand under its place, beside its details; verdicts on other runs are left alone."""
    run = tiny(tmp_path)
    stranger = verdict("q9", run="another")
    page = Page(write_report([run], tmp_path / "p.html", PageOptions(beside=[RUBRIC, SAID, stranger])).read_text())
    details, said = page.json("d-0-0"), page.json("j-0-0")
    assert list(details) == ["0", "1"] == list(said)
    assert [one["grader"] for place in ("0", "1") for one in said[place]] == ["claims", "rubric"]
    plain = Page(write_report([run], tmp_path / "plain.html").read_text())
    assert "h-judges" not in {values.get("id") for _, values in plain.elements}


def test_a_verdict_on_a_question_that_is_not_there(tmp_path: Path) -> None:
    """A verdict on a question that the dataset doesn't hold is refused by name."""
    with pytest.raises(InputError, match="the verdict of lexical by claims is on 'q9'"):
        write_report([tiny(tmp_path)], tmp_path / "p.html", PageOptions(beside=[verdict("q9")]))


def test_the_page_names_its_judges(tmp_path: Path) -> None:
    """The judges, their models and graders, the failures and the cost beside the run are above the questions.

    The two answers cost 1 each and the three verdicts of j 0.1 each: 15%. Of lexical's nothing is known.
    """
    answers = [{**one, "cost": 1.0} for one in cli.ANSWERS if isinstance(one, dict)]
    run = tiny(tmp_path, answers=answers)
    verdicts = [
        verdict("q1", judge="j", model="big", cost=0.1),
        verdict("q1", judge="j", model="big", grader="rubric", failure="refused", reason="no", cost=0.1),
        verdict("q2", judge="j", model="big", cost=0.1),
        verdict("q2"),
    ]
    text = " ".join(
        Page(write_report([run], tmp_path / "p.html", PageOptions(beside=verdicts)).read_text()).text.split()
    )
    assert "j (big) judged 2 answers by claims, rubric." in text
    assert "No verdict that can be used: 1 refused" in text
    spent = "grading: 3 verdicts, 1 of them failed, for 0.3000; the run cost 2.00 (known for 2 answers)"
    assert f"{spent}, so grading is 15.0% of that." in text
    assert "lexical (no model is named) judged 1 answer by claims" in text
    assert "grading: 1 verdict at an unknown cost" in text


def test_the_page_warns_of_a_judge_of_ones_own_kind(tmp_path: Path) -> None:
    """If judge and answering model are of one family a warning stands at the judges, once a family."""
    said = [verdict(one, judge="j", model="claude-opus-4-5", answered_by="claude-haiku-4-5") for one in ("q1", "q2")]
    text = Page(write_report([tiny(tmp_path)], tmp_path / "p.html", PageOptions(beside=said)).read_text()).text
    assert text.count("Warning: judge and answering model are of one family (Claude") == 1
    assert "judge bias RUN.jsonl --against FILE" in text
    other = [verdict("q1", judge="j", model="claude-opus-4-5", answered_by="gpt-5")]
    text = Page(write_report([tiny(tmp_path)], tmp_path / "p.html", PageOptions(beside=other)).read_text()).text
    assert "Warning:" not in text


def test_a_verdict_on_a_former_answer_is_reported_and_not_shown(tmp_path: Path) -> None:
    """The verdict on a former answer isn't shown beside the current answer."""
    run = tiny(tmp_path)
    answers = [{**one, "answer": "now"} for one in cli.ANSWERS if isinstance(one, dict)]
    write_jsonl(run, answers)
    said = [
        verdict("q1", answer_hash=answer_hash("now")),
        verdict("q2", answer_hash=answer_hash("then")),
        verdict("q2", grader="rubric"),
    ]
    page = Page(write_report([run], tmp_path / "p.html", PageOptions(beside=said)).read_text())
    shown = page.json("j-0-0")
    assert [[one["grader"] for one in shown[place]] for place in ("0", "1")] == [["claims"], ["rubric"]]
    assert "Warning: 1 verdict on an answer that has changed since isn't shown (q2)" in page.text


def hostile_verdicts(run: Path) -> list[Verdict]:
    """Return verdicts on the hostile dataset in which every text is hostile, too."""
    found: list[Verdict] = []
    for number, text in enumerate(HOSTILE):
        found.append(
            verdict(
                f"{number} {text}",
                run=HOSTILE[0],
                judge=text,
                grader=text,
                model=text,
                label=text,
                grade=text,
                explanation=text,
                reason=text,
                failure=text if number == 1 else None,
                notes=[text],
                left_out=[text],
                claims=[
                    claim(
                        text, evidence=[(text, text)], edge=(text, text, text), in_gold=False, mismatch=text, cited=[0]
                    )
                ],
                gold_claims=[
                    made(
                        GoldClaim,
                        {
                            **{"text": text, "stated": False, "chunks": [text], "named_in": "chunk"},
                            "edges": [GoldEdge(source=text, relation=text, target=text)],
                        },
                    )
                ],
                citations=[Citation(text=text, target=text, chunks=(text,), correct=False, reason=text)],
            )
        )
        said = verdict(f"{number} {text}", run=HOSTILE[0], judge=text, verdict={text: text, "more": {text: [text]}})
        found.append(said)
    return found


def test_hostile_claims_stay_text(tmp_path: Path) -> None:
    """No text of a verdict becomes an element, a script, an attribute or an escape sequence of the page."""
    run = hostile_dataset(tmp_path / "d")
    before = Page(write_report([run], tmp_path / "before.html").read_text())
    verdicts = hostile_verdicts(run)
    text = write_report([run], tmp_path / "after.html", PageOptions(beside=verdicts)).read_text()
    after = Page(text)
    assert len(after.scripts) == len(before.scripts) + 1
    kinds = {tag for tag, _ in after.elements}
    assert kinds - {tag for tag, _ in before.elements} <= {"strong", "ul", "li"}
    assert not [name for _, attributes in after.elements for name in attributes if name.startswith("on")]
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_gradings_beside_the_run_are_shown(tmp_path: Path) -> None:
    """Verdicts and scores that a judge left beside the run are found; of two judges' scores the reader chooses."""
    run = tiny(tmp_path)
    folder = grades_folder(run)
    folder.mkdir()
    write_verdicts(folder / "lexical.verdicts.jsonl", [SAID])
    rows = [{"run": "r", "question": "q1", "measure": "Groundedness", "value": 0.5, "grader": "lexical"}]
    write_jsonl(folder / "lexical.scores.jsonl", rows)
    command = ("report", run, "--out", "p.html")
    done = cli.inside(*command, cwd=tmp_path, code=0)
    page = Page((tmp_path / "p.html").read_text())
    assert "judges graded" not in done.err
    assert page.json("j-0-0")["0"][0]["judge"] == "lexical"
    assert "Groundedness" in [one["name"] for one in page.json("summary")["measures"]]
    write_verdicts(folder / "other.verdicts.jsonl", [verdict("q1", judge="other")])
    write_jsonl(folder / "other.scores.jsonl", [{**rows[0], "grader": "other"}])
    reported = cli.inside(*command, cwd=tmp_path, code=0).err
    assert f"2 judges graded {run}: choose whose scores are shown by --scores" in reported
    page = Page((tmp_path / "p.html").read_text())
    assert [one["judge"] for one in page.json("j-0-0")["0"]] == ["lexical", "other"]
    chosen = ("--verdicts", folder / "other.verdicts.jsonl", "--scores", folder / "other.scores.jsonl")
    assert "judges graded" not in cli.inside(*command, *chosen, cwd=tmp_path, code=0).err
    assert [one["judge"] for one in Page((tmp_path / "p.html").read_text()).json("j-0-0")["0"]] == ["other"]


def test_a_bad_verdict_refuses_the_page(tmp_path: Path) -> None:
    """A line of --verdicts that can't be used is reported with its place, and left out where that is asked for."""
    run = tiny(tmp_path)
    bad = write_lines(tmp_path / "v.jsonl", [SAID.model_dump_json(), json.dumps({"run": "r", "question": "q2"})])
    command = ("report", run, "--out", "p.html", "--verdicts", bad)
    assert f"{bad}:2: record 'q2'" in cli.inside(*command, cwd=tmp_path, code=2).err
    assert f"skipped: {bad}:2" in cli.inside(*command, "--on-error", "skip", cwd=tmp_path, code=0).err
