"""``graphkit gold propose``: what a pattern finds, and what a person says of it in a terminal."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import graphkit as package
from graphkit.database.store import Store
from graphkit.graph.opening import prepared
from tests.helpers.cli import Done, Graph, Row, inside, tiny
from tests.helpers.engines import EngineSettings
from tests.helpers.terminals import Terminal
from tests.plugins.gold.test_proposals import ARTIFACTS, COMMITS, EDGES

PROMPT = "q quit): "
#: From w and from x over y to the table: two whole paths. Their beginnings, which match too, aren't proposed.
PATTERN = "MATCH p = (a:Artifact)-[:EDGE*1..2]->(b) WHERE a.id IN ['a:m.py#w', 'a:m.py#x'] WITH p ORDER BY a.id"

Open = Callable[..., Terminal]


@pytest.fixture
def propose(engine_settings: EngineSettings, store: Store, tmp_path: Path) -> Iterator[Open]:
    """Open terminals in which paths of the dataset ``mine`` are proposed; they are closed at the end."""
    opened: list[Terminal] = []
    prepared(store)
    tiny(tmp_path / "mine", edges=EDGES, artifacts=ARTIFACTS, commits=COMMITS)
    package.load(store, tmp_path / "mine")

    def start(question: str | None, *options: object, pattern: str = PATTERN) -> Terminal:
        asked = () if question is None else ("--question", question)
        words = ("gold", "propose", "mine", *asked, "--pattern", pattern, *options)
        opened.append(Terminal(*words, cwd=tmp_path, env=engine_settings.env))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def questions(folder: Path) -> dict[str, Row]:
    """Return the questions of the dataset by their ids."""
    lines = (folder / "mine" / "questions.jsonl").read_text().splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def test_a_person_decides(propose: Open, tmp_path: Path) -> None:
    """Mistype, make a step optional, reject: the question has the one path, with the commit of its repository."""
    before = questions(tmp_path)
    terminal = propose("What does x call?", "--json")
    shown = terminal.expect(PROMPT)
    assert "question q2: What does x call?" in shown
    assert "path 1 of 2" in shown
    assert "1. a:m.py#w -CALLS-> a:m.py#y" in shown
    assert "the graph knows no commit, or more than one, of: a, b" in shown
    terminal.type("o 3\n")
    assert "'o 3' is none of them" in terminal.expect(PROMPT)
    terminal.type("r\n")
    shown = terminal.expect(PROMPT)
    assert "1. a:m.py#x -CALLS-> a:m.py#y" in shown
    assert "2. a:m.py#y -QUERIES-> b:t.sql" in shown
    assert "a at one" in shown
    assert "the graph knows no commit, or more than one, of: b" in shown
    terminal.type("o 2\n")
    terminal.expect("`graphkit load mine` brings it up")  # the terminal breaks the line
    code, out = terminal.end()
    assert code == 0
    assert json.loads(out) == {"question": "q2", "proposed": 2, "accepted": 1, "commits": {"a": "one"}}
    after = questions(tmp_path)
    assert after["q1"] == before["q1"]
    assert after["q2"]["paths"][1:] == [
        {
            "steps": [
                {"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#y"},
                {"source": "a:m.py#y", "relation": "QUERIES", "target": "b:t.sql", "optional": True},
            ]
        }
    ]
    assert after["q2"]["commits"] == {"a": "one"}

    # What is gold already isn't proposed again; what was rejected is.
    again = propose("q2")
    assert "1 path found that is gold already" in again.expect(PROMPT)
    again.type("q\n")
    assert again.end() == (0, "mine/questions.jsonl: 0 paths more for q2\n")
    assert questions(tmp_path) == after


def test_a_new_question_with_alternatives(propose: Open, tmp_path: Path) -> None:
    """A text that no question has becomes one, with two paths of which one is enough."""
    terminal = propose("Which table does x read?", "--id", "mine-1")
    for _ in range(2):
        terminal.expect(PROMPT)
        terminal.type("a either\n")
    assert terminal.end()[0] == 0
    new = questions(tmp_path)["mine-1"]
    assert new["question"] == "Which table does x read?"
    assert [(path["group"], len(path["steps"])) for path in new["paths"]] == [("either", 2), ("either", 2)]


def test_leaving_early(propose: Open, tmp_path: Path) -> None:
    """Paths accepted before quitting are kept; without any, or after Ctrl-C, the file stays unchanged."""
    file = tmp_path / "mine" / "questions.jsonl"
    before = file.read_bytes()
    for said in ("q\n", "\x04", "\x03"):
        terminal = propose("q2")
        terminal.expect(PROMPT)
        if said == "\x03":
            terminal.interrupt()
        else:
            terminal.type(said)
        assert terminal.end()[0] == (130 if said == "\x03" else 0)
        assert file.read_bytes() == before
    terminal = propose("q2")
    terminal.expect(PROMPT)
    terminal.type("a\n")
    terminal.expect(PROMPT)
    terminal.type("q\n")
    assert terminal.end() == (0, "mine/questions.jsonl: 1 path more for q2\n")
    assert len(questions(tmp_path)["q2"]["paths"]) == 2


def test_other_commits_than_pinned(propose: Open, tmp_path: Path) -> None:
    """A path at another commit than the question is pinned to isn't asked about, and that is reported."""
    file = tmp_path / "mine" / "questions.jsonl"
    first, second = file.read_text().splitlines()
    file.write_text(first + "\n" + json.dumps({**json.loads(second), "commits": {"a": "zero"}}) + "\n")
    terminal = propose("q2", pattern="MATCH p = (:Artifact {id: 'a:m.py#x'})-[:EDGE*2]->(b)")
    terminal.expect("skipped: the question is pinned to a at zero")
    assert terminal.end() == (0, "mine/questions.jsonl: 0 paths more for q2\n")


#: From each relevant function of a question, over y, to a table.
OF_RELEVANT = "MATCH p = (a:Artifact)-[:EDGE*1..2]->(b) WHERE a.id IN $relevant WITH p ORDER BY a.id"


def test_all_questions_at_once(propose: Open, tmp_path: Path) -> None:
    """One pattern with a field of the questions as its parameter proposes paths for each; quitting keeps the others.

    q1 has x and z as relevant, of which x begins a path; q2 has w.
    """
    terminal = propose(None, "--json", pattern=OF_RELEVANT)
    shown = terminal.expect(PROMPT)
    assert "question q1: Who calls z?" in shown
    assert "path 1 of 1" in shown
    terminal.type("a\n")
    assert "question q2: What does x call?" in terminal.expect(PROMPT)
    terminal.type("q\n")
    code, out = terminal.end()
    assert code == 0
    one, two = map(json.loads, out.splitlines())
    assert one == {"question": "q1", "proposed": 1, "accepted": 1, "commits": {"a": "one"}}
    assert two == {"question": "q2", "proposed": 1, "accepted": 0, "commits": {}}
    assert [len(row["paths"]) for row in questions(tmp_path).values()] == [2, 1]


def test_decisions_in_a_sheet(propose: Open, graph: Graph, tmp_path: Path) -> None:
    """The first command writes a sheet and needs no terminal; the second one, of the same words, reads it."""
    file = tmp_path / "mine" / "questions.jsonl"
    words = ("gold", "propose", "mine", "-p", OF_RELEVANT, "--decisions", "d.csv")
    before = file.read_bytes()
    package.load(graph.store, tmp_path / "mine")

    def decide(*given: str, code: int) -> Done:
        with (tmp_path / "d.csv").open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        for row, decision in zip(rows, given, strict=True):
            row["decision"] = decision
        with (tmp_path / "d.csv").open("w", newline="") as stream:
            table = csv.DictWriter(stream, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
        return inside(*words, cwd=tmp_path, env=graph.env, code=code)

    done = inside(*words, cwd=tmp_path, env=graph.env, code=0)
    assert done.out == "d.csv: 2 paths to decide on, of 2 questions\n"
    lines = (tmp_path / "d.csv").read_text().splitlines()
    assert lines[0] == "question_id,question,path,commits,decision"
    assert lines[1] == "q1,Who calls z?,a:m.py#x -CALLS-> a:m.py#y -QUERIES-> b:t.sql,a@one,"
    assert "2 paths undecided" in decide("", "", code=0).err
    done = decide("a", "maybe", code=2)
    assert "d.csv:3: 'maybe' is no decision" in done.err
    assert file.read_bytes() == before
    assert decide("o 2", "r", code=0).out == "mine/questions.jsonl: 1 path more for 1 question\n"
    new = questions(tmp_path)
    assert [step.get("optional") for step in new["q1"]["paths"][1]["steps"]] == [None, True]
    assert (new["q1"]["commits"], "commits" in new["q2"]) == ({"a": "one"}, False)
    # Read again, the sheet changes nothing: its path is gold already.
    after = file.read_bytes()
    inside(*words, cwd=tmp_path, env=graph.env, code=0)
    assert file.read_bytes() == after
    # A path that the pattern doesn't propose isn't accepted.
    (tmp_path / "d.csv").write_text("question_id,path,decision\nq2,a -R-> b,a\n")
    done = inside(*words, cwd=tmp_path, env=graph.env, code=2)
    assert "d.csv:2: the pattern doesn't propose this path" in done.err


def test_a_parameter_that_no_question_has(tmp_path: Path) -> None:
    """A parameter must be a field of a question; without a terminal or a sheet nobody decides."""
    tiny(tmp_path / "mine")
    words = ("gold", "propose", "mine", "--decisions", "d.csv", "-p", "MATCH p = (a {id: $relevnt})-[:EDGE]->(b)")
    done = inside(*words, cwd=tmp_path, code=2)
    assert "no question has a field 'relevnt'" in done.err
    assert "Did you mean relevant?" in done.err
    assert not (tmp_path / "d.csv").exists()


def test_nobody_to_ask(tmp_path: Path) -> None:
    """Without a terminal nothing becomes gold."""
    tiny(tmp_path / "mine")
    done = inside("gold", "propose", "mine", "-q", "q1", "-p", PATTERN, cwd=tmp_path, code=2)
    assert "there is no terminal to ask in" in done.err
