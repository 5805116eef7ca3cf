"""``graphkit init``: a dataset from a table, YAML or JSON, with a knowledge graph."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from tests.helpers.cli import COMMAND, Row, environment, inside, write_lines
from tests.helpers.datasets import read_jsonl
from tests.helpers.workbooks import Cell, write_workbook

STEP = {"source": "web:a.ts#f", "relation": "CALLS", "target": "api:b.py#g"}
#: f calls g, and g reads the table.
TWO = [STEP, {"source": "api:b.py#g", "relation": "READS", "target": "db:t.sql"}]
EDGES = "source,relation,target\nweb:a.ts#f,CALLS,api:b.py#g\napi:b.py#g,READS,db:t.sql\n"

#: The same two questions in each form of file.
FORMS = {
    "q.csv": (
        "Question,Ground Truth,gold path,documents\n"
        '"What does f, of web, call?",It calls g.,web:a.ts#f -CALLS-> api:b.py#g,"api:b.py, web:a.ts"\n'
        "What does f read?,,web:a.ts#f -CALLS-> api:b.py#g -READS-> db:t.sql,\n"
    ),
    "q2.csv": (
        "query;answer;path;sources\n"
        '"What does f, of web, call?";It calls g.;web:a.ts#f -CALLS-> api:b.py#g;"api:b.py\nweb:a.ts"\n'
        "What does f read?;;web:a.ts#f -[CALLS]-> api:b.py#g -[:READS]-> db:t.sql;\n"
    ),
    "q.yaml": (
        "questions:\n"
        "  - question: What does f, of web, call?\n    answer: It calls g.\n"
        "    path: web:a.ts#f -CALLS-> api:b.py#g\n    documents: [api:b.py, web:a.ts]\n"
        "  - question: What does f read?\n    paths:\n      - web:a.ts#f -CALLS-> api:b.py#g -READS-> db:t.sql\n"
    ),
    "q.jsonl": (
        '{"user_input": "What does f, of web, call?", "reference": "It calls g.", "documents": ["api:b.py", '
        '"web:a.ts"], "triples": [["web:a.ts#f", "CALLS", "api:b.py#g"]]}\n'
        '{"question": "What does f read?", "path": "db:t.sql <-READS- api:b.py#g"}\n'
    ),
}


def questions(folder: Path) -> list[Row]:
    """Return the questions of a dataset."""
    return read_jsonl(folder / "questions.jsonl")


def steps(question: Row) -> list[list[Row]]:
    """Return the steps of each gold path."""
    return [path["steps"] for path in question["paths"]]


@pytest.mark.parametrize("name", FORMS)
def test_each_form_gives_the_same_questions(name: str, tmp_path: Path) -> None:
    """Columns are recognised by their names, paths are read as text, and questions are numbered."""
    (tmp_path / name).write_text(FORMS[name])
    done = inside("init", "mine", name, cwd=tmp_path, code=0)
    first, second = questions(tmp_path / "mine")
    assert (first["id"], second["id"]) == ("q1", "q2")
    assert (first["question"], first["gold_answer"]) == ("What does f, of web, call?", "It calls g.")
    assert first["relevant"] == {"api:b.py": 1, "web:a.ts": 1}
    assert steps(first) == [[STEP]]
    # The last form writes only the second step, backwards.
    assert steps(second) == [TWO[1:] if name == "q.jsonl" else TWO]
    problems = Problems()
    assert len(list(Dataset(tmp_path / "mine").questions(problems))) == 2
    assert (problems.skipped, problems.ignored_fields) == ([], {})
    assert "2 questions (2 with gold paths, 1 with relevant ids, 1 with answers)" in done.out
    assert "repositories: api (2), web (2), db (1)\nrelations: CALLS, READS\n" in done.out


def test_the_commands_that_are_printed_work(tmp_path: Path) -> None:
    """The three commands run as they are printed: a system, the gate, which fails and then passes, and the page."""
    (tmp_path / "q.csv").write_text(FORMS["q.csv"])
    (tmp_path / "g.csv").write_text(EDGES)
    done = inside("init", "my data", "q.csv", "--graph", "g.csv", cwd=tmp_path, code=0)
    lines = done.out.split("Run next:\n")[1].splitlines()
    run, gate, page = [shlex.split(line, comments=True)[1:] for line in lines]
    assert len(lines) == 3
    walk = [[one["source"], one["relation"], one["target"]] for one in TWO]
    system = tmp_path / "my_system.py"
    system.write_text("def answer(question):\n    return {'answer': 'x', 'traversal': []}\n")
    inside(*run, cwd=tmp_path, code=0)
    assert "EdgeF1 is 0.0000, under 0.7" in inside(*gate, "--no-store", cwd=tmp_path, code=1).err
    (tmp_path / "my data" / "runs" / "mine.jsonl").unlink()
    (tmp_path / "my data" / "runs" / "mine.made-by").unlink(missing_ok=True)
    system.write_text(f"def answer(question):\n    return {{'answer': 'x', 'traversal': {walk!r}}}\n")
    inside(*run, cwd=tmp_path, code=0)
    inside(*gate, "--no-store", cwd=tmp_path, code=0)
    assert "report-mine.html" in inside(*page, cwd=tmp_path, code=0).out


@pytest.mark.parametrize(
    ("column", "cell", "gate"),
    [
        ("documents", "a:m.py", "--fail-under Recall@10=0.8"),
        ("files", "a/m.py", "--fail-under FileRecall=0.8 --fail-under FilePrecision=0.5"),
        ("answer", "x calls y", "--fail-under AnswerHit=0.8"),
        # Six words, which another answer may say in others.
        ("answer", "x calls y and then z", "--max-failed 0"),
        ("gold_answers", "y; z", "--fail-under AnswerHit=0.8"),
        ("facts", "x calls y", "--fail-under Completeness=0.8"),
        ("relevant_texts", "x calls y", "--fail-under EvidenceRecall@10=0.8"),
        ("symbols", "f", "--fail-under SymbolRecall=0.8"),
        ("evidence_sets", '"[[""a:m.py""]]"', "--fail-under 'Recall(sets=True)@10=0.8'"),
        ("owner", "me", "--max-failed 0"),
    ],
)
def test_the_gate_fits_the_gold(column: str, cell: str, gate: str, tmp_path: Path) -> None:
    """The gate that is printed measures what the gold has: a run that failed fails it, and a wrong answer as well."""
    (tmp_path / "q.csv").write_text(f"question,{column}\nWhat?,{cell}\n")
    facts = inside("init", "mine", "q.csv", "--json", cwd=tmp_path, code=0).object()
    assert facts["next"][1] == f"graphkit evaluate mine {gate}"
    write_lines(tmp_path / "mine" / "runs" / "r.jsonl", [{"run": "r", "question_id": "q1", "error": "timed out"}])
    inside(*shlex.split(facts["next"][1])[1:], "--no-store", cwd=tmp_path, code=1)
    wrong = {"run": "r", "question_id": "q1", "answer": "w", "retrieved": [], "evidence_files": [], "traversal": []}
    write_lines(tmp_path / "mine" / "runs" / "r.jsonl", [wrong])
    inside(*shlex.split(facts["next"][1])[1:], "--no-store", cwd=tmp_path, code=int("--fail-under" in gate))


def test_the_graph_gives_ids_and_relations(tmp_path: Path) -> None:
    """Names without a repository become ids, an arrow without a relation gets the only one, and doubts are reported."""
    (tmp_path / "g.csv").write_text(EDGES)
    (tmp_path / "q.csv").write_text(
        "id,question,path\na,?,a.ts#f -> b.py#g -reads-> t.sql\nb,?,api:b.py#g -CALLS-> web:a.ts#f\n"
        "c,?,api:b.py#g -> nowhere.py\n"
    )
    done = inside("init", "mine", "q.csv", "--graph", "g.csv", cwd=tmp_path, code=0)
    assert steps(questions(tmp_path / "mine")[0]) == [TWO]
    assert "knowledge graph: 3 artifacts, 2 edges; it holds 2 of 4 gold steps" in done.out
    assert "ids found for names in the gold: 3 by the path" in done.out
    assert "the other way round; the question won't be scored (1 record, the first: q.csv:3 b)" in done.err
    assert (
        "nowhere.py is not in the knowledge graph; the question won't be scored (1 record, the first: q.csv:4 c)"
        in (done.err)
    )


def test_two_examples(tmp_path: Path) -> None:
    """Without questions there are two examples, about the edges of the graph if there is one."""
    inside("init", "plain", cwd=tmp_path, code=0)
    assert [len(one["paths"][0]["steps"]) for one in questions(tmp_path / "plain")] == [2, 1]
    (tmp_path / "g.csv").write_text(EDGES)
    facts = inside("init", "drawn", "--graph", "g.csv", "--json", cwd=tmp_path, code=0).object()
    assert steps(questions(tmp_path / "drawn")[0]) == [TWO]
    assert (facts["examples"], facts["questions"], facts["repositories"]) == (True, 2, {"api": 1, "db": 1, "web": 1})
    assert len(facts["next"]) == 3


@pytest.mark.parametrize(
    ("name", "text", "where", "what"),
    [
        ("q.csv", "question,path\nx,a -> b\ny,a b\n", "q.csv:3", "the path has no arrow"),
        ("q.csv", "question,path\nx,a ->\n", "q.csv:2", "no name before or behind it"),
        ("q.csv", "question,path\n,a -> b\n", "q.csv:2", "the field 'question' is missing"),
        ("q.csv", "question,difficulty\nx,deep\n", "q.csv:2", "difficulty"),
        ("q.csv", "id,question\n1,x\n1,y\n", "q.csv:3", "the id is already used by q.csv:2"),
        ("q.csv", "question,path\n", "q.csv", "the file holds no question"),
        ("q.csv", "question\nx,y\n", "q.csv:2", "more cells than there are columns"),
        ("q.csv", "question,path,path\nx,a -> b,b -> c\n", "q.csv", "the column 'path' stands twice"),
        ("q.yaml", "- question: x\n- question: y\n  path: a b\n", "q.yaml:2", "the path has no arrow"),
        ("q.yaml", "- question: x: y\n", "q.yaml:1", "not valid YAML"),
        ("q.yaml", "- &a x\n- *a\n", "q.yaml:1", "anchors and aliases"),
        ("q.yaml", "[" * 100_000, "q.yaml:1", "nested too deeply"),
        ("q.yaml", "- question: x\n- what\n", "q.yaml:2", "must be an object"),
        ("q.jsonl", '{"question": "x"}\n{"question": 5, "paths": 3}\n', "q.jsonl:2", "paths"),
    ],
)
def test_a_bad_row_is_refused(name: str, text: str, where: str, what: str, tmp_path: Path) -> None:
    """A mistake is reported with its place; nothing is written, and nothing is left behind."""
    (tmp_path / name).write_text(text)
    done = inside("init", "mine", name, cwd=tmp_path, code=2)
    assert where in done.err
    assert what in done.err
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_bad_rows_are_skipped_on_request(tmp_path: Path) -> None:
    """With `--on-error skip` the other rows are kept, and those without an id get a free one."""
    (tmp_path / "q.csv").write_text("id,question,path,owner\n,x,a -> b,me\nq1,y,a -> c,\n,z,a,\n")
    done = inside("init", "mine", "q.csv", "--on-error", "skip", cwd=tmp_path, code=0)
    assert [one["id"] for one in questions(tmp_path / "mine")] == ["q2", "q1"]
    assert "skipped: q.csv:4" in done.err
    assert "the field 'owner' isn't used" in done.err


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """An existing folder keeps its files; if one of them would be written, nothing is."""
    (tmp_path / "q.csv").write_text("question,path\nx,a -CALLS-> b\n")
    (tmp_path / "g.csv").write_text(EDGES)
    inside("init", ".", "q.csv", "--graph", "g.csv", cwd=tmp_path, code=0)
    names = {"artifacts.jsonl", "edges.jsonl", "questions.jsonl"}
    assert {path.name for path in tmp_path.iterdir()} == {"q.csv", "g.csv", *names}
    for name in sorted(names):
        (tmp_path / name).write_text("mine")
        refused = inside("init", ".", "q.csv", "--second-names", "nodes", cwd=tmp_path, code=2).err
        assert "isn't overwritten" in refused
        # Where questions are there, the command that corrects them is named; a graph alone has none.
        command = "`graphkit init . q.csv --update --second-names nodes` changes its questions; or name a new folder."
        assert (command in refused) == (tmp_path / "questions.jsonl").exists()
        assert (tmp_path / name).read_text() == "mine"
        (tmp_path / name).unlink()
    (tmp_path / "questions.jsonl.gz").write_text("mine")
    assert "isn't overwritten" in inside("init", ".", cwd=tmp_path, code=2).err
    assert "this is a file" in inside("init", "q.csv", cwd=tmp_path, code=2).err
    assert "a bundled dataset isn't changed" in inside("init", "@storefront", cwd=tmp_path, code=2).err


def test_a_bad_graph_leaves_nothing(tmp_path: Path) -> None:
    """A graph that can't be read makes no dataset, and so does a database that isn't there."""
    (tmp_path / "g.csv").write_text("a,b\n1,2\n")
    inside("init", "deep/mine", "--graph", "g.csv", cwd=tmp_path, code=2)
    inside("init", "mine", "--graph", "bolt://127.0.0.1:1", cwd=tmp_path, code=3)
    done = inside("init", "mine", "--graph", "bolt://127.0.0.1:1", "--graph", "g.csv", cwd=tmp_path, code=2)
    assert "from one database or from files" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["g.csv"]


def test_what_spreadsheets_write(tmp_path: Path) -> None:
    """A byte order mark, semicolons and carriage returns are read; another encoding, and a pipe, are refused."""
    (tmp_path / "q.csv").write_bytes("\ufeffQuestion;Path\r\nGröße?;a -> b\r\n".encode())
    inside("init", "mine", "q.csv", cwd=tmp_path, code=0)
    assert questions(tmp_path / "mine")[0]["question"] == "Größe?"
    (tmp_path / "q.csv").write_bytes("question\nGröße?\n".encode("latin-1"))
    assert "isn't text in UTF-8" in inside("init", "other", "q.csv", cwd=tmp_path, code=2).err
    os.mkfifo(tmp_path / "pipe")
    assert "aren't read from a pipe" in inside("init", "other", "pipe", cwd=tmp_path, code=2).err


def edges_of(folder: Path) -> list[list[tuple[str, str | None, str]]]:
    """Return the edges of each question."""
    return [
        [(step["source"], step.get("relation"), step["target"]) for path in steps(one) for step in path]
        for one in questions(folder)
    ]


def test_a_workbook_of_questions(tmp_path: Path) -> None:
    """A sheet of an Excel file, below a title, gives questions whose ids are as typed; a sheet may be a graph."""
    rows: list[list[Cell]] = [["Questions"], ["id", "question", "path"], [7, "?", "web:a.ts#f → api:b.py#g"]]
    edges = [["source", "relation", "target"], ["web:a.ts#f", "CALLS", "api:b.py#g"]]
    write_workbook(tmp_path / "q.xlsx", {"Edges": edges, "Ask": rows})
    done = inside("init", "mine", "q.xlsx#Ask", "--graph", "q.xlsx", cwd=tmp_path, code=2)
    assert "There are: Edges, Ask" in done.err
    # The only sheet with a column of questions is meant.
    for name, book in (("mine", "q.xlsx#Ask"), ("found", "q.xlsx")):
        inside("init", name, book, "--graph", "q.xlsx#Edges", cwd=tmp_path, code=0)
        assert questions(tmp_path / name)[0]["id"] == "7"
        assert edges_of(tmp_path / name) == [[("web:a.ts#f", "CALLS", "api:b.py#g")]]
    write_workbook(tmp_path / "two.xlsx", {"May": rows, "June": rows})
    assert "There are: May, June" in inside("init", "other", "two.xlsx", cwd=tmp_path, code=2).err


def test_paths_as_people_write_them(tmp_path: Path) -> None:
    """Brackets, long arrows, and what spreadsheets make of them give 3, 1, 1 and 2 edges between ids."""
    login = (
        "[frontend/auth/LoginForm.tsx] --calls--> [backend/api/auth.py] --imports--> [users.py] --queries--> [u.sql]"
    )
    others = ("cli:main.py —CALLS→ core:parse.py", "web:a.ts => api:b.py", "web:a.ts → api:b.py ⟶ db:c.sql")
    rows = "".join(f'?,"{path}"\n' for path in (login, *others))
    (tmp_path / "paths.csv").write_text(f"question,path\n{rows}")
    inside("init", "mine", "paths.csv", cwd=tmp_path, code=0)
    found = edges_of(tmp_path / "mine")
    assert [len(one) for one in found] == [3, 1, 1, 2]
    assert found[0][0] == ("frontend/auth/LoginForm.tsx", "calls", "backend/api/auth.py")
    assert found[1:3] == [[("cli:main.py", "CALLS", "core:parse.py")], [("web:a.ts", None, "api:b.py")]]


def test_relations_between_arrows(tmp_path: Path) -> None:
    """Names and relations alternate where no second name is a node elsewhere, and a note says how it was read."""
    # Norland -official language-> Norse; Ole -parent-> Kari -child-> Per.
    rows = "x1,?,Norland -> official language -> Norse\nx2,?,Ole -> parent -> Kari -> child -> Per\n"
    (tmp_path / "q.csv").write_text(f"id,question,path\n{rows}")
    done = inside("init", "mine", "q.csv", cwd=tmp_path, code=0)
    first, second = edges_of(tmp_path / "mine")
    assert first == [("Norland", "official language", "Norse")]
    assert second == [("Ole", "parent", "Kari"), ("Kari", "child", "Per")]
    assert "is read as a relation" in done.err
    assert "q.csv:2 Norland -official language-> Norse" in done.err
    inside("init", "nodes", "q.csv", "--second-names", "nodes", cwd=tmp_path, code=0)
    assert [len(one) for one in edges_of(tmp_path / "nodes")] == [2, 4]


def test_three_names_are_asked_for(tmp_path: Path) -> None:
    """Paths of three names may be either: both readings are shown, and an option or the graph decides."""
    (tmp_path / "q.csv").write_text("question,path\nWho?,Ole -> parent -> Kari\n")
    (tmp_path / "g.csv").write_text("source,relation,target\nOle,parent,Kari\n")
    done = inside("init", "mine", "q.csv", cwd=tmp_path, code=2)
    assert "q.csv:2: every second name of the paths may be a relation or a node" in done.err
    assert "--second-names relations reads Ole -parent-> Kari\n" in done.err
    assert "--second-names nodes reads Ole -> parent -> Kari\n" in done.err
    assert not (tmp_path / "mine").exists()
    inside("init", "mine", "q.csv", "--second-names", "relations", cwd=tmp_path, code=0)
    inside("init", "known", "q.csv", "--graph", "g.csv", cwd=tmp_path, code=0)
    for name in ("mine", "known"):
        assert edges_of(tmp_path / name) == [[("Ole", "parent", "Kari")]]


@pytest.mark.parametrize("field", ["paths", "triples"])
def test_lists_of_triples(field: str, tmp_path: Path) -> None:
    """Triples that follow each other are one path, also under `paths`; under `triples` a single one is a triple."""
    chain = [["Ole", "parent", "Kari"], ["Kari", "child", "Per"]]
    write_lines(tmp_path / "q.jsonl", [{"question": "x", field: chain}])
    inside("init", "mine", "q.jsonl", cwd=tmp_path, code=0)
    assert steps(questions(tmp_path / "mine")[0]) == [
        [
            {"source": "Ole", "relation": "parent", "target": "Kari"},
            {"source": "Kari", "relation": "child", "target": "Per"},
        ]
    ]
    write_lines(tmp_path / "one.jsonl", [{"question": "x", "triples": chain[0]}])
    inside("init", "one", "one.jsonl", cwd=tmp_path, code=0)
    assert edges_of(tmp_path / "one") == [[("Ole", "parent", "Kari")]]


def test_a_long_yaml(tmp_path: Path) -> None:
    """YAML of more than 4 MiB is refused, with the option that reads it."""
    (tmp_path / "q.yaml").write_text("- question: x\n  gold_answer: " + "y" * (4 << 20) + "\n")
    assert "--no-input-limits" in inside("init", "mine", "q.yaml", cwd=tmp_path, code=2).err
    inside("init", "mine", "q.yaml", "--no-input-limits", cwd=tmp_path, code=0)


def test_hostile_cells(tmp_path: Path) -> None:
    """A cell that a spreadsheet was kept from running is read without its quote; controls reach no terminal."""
    rows = "question,path\n'=x,a -> b\n\x1b[2Jy,a\x1b[2J -> b; b -> c\n"
    (tmp_path / "q.csv").write_text(rows)
    done = inside("init", "mine", "q.csv", cwd=tmp_path, code=0)
    assert "\x1b" not in done.out + done.err
    first, second = questions(tmp_path / "mine")
    assert first["question"] == "=x"
    assert len(second["paths"]) == 2
    assert json.dumps("\x1b[2Jy")[1:-1] in (tmp_path / "mine" / "questions.jsonl").read_text()


@pytest.mark.slow("a command is killed")
def test_a_killed_command_leaves_no_half(tmp_path: Path) -> None:
    """Killed at any moment, the command leaves a whole dataset or none; the next one removes its temporary folder."""
    rows = "".join(f"What is {number}?,a{number} -CALLS-> b{number}\n" for number in range(5000))
    (tmp_path / "q.csv").write_text(f"question,path\n{rows}")
    for seconds in (0.4, 0.7, 1.0):
        process = subprocess.Popen([*COMMAND, "init", "mine", "q.csv"], cwd=tmp_path, env=environment())
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        process.kill()
        process.wait()
        if (tmp_path / "mine").exists():
            assert len(questions(tmp_path / "mine")) == 5000
            shutil.rmtree(tmp_path / "mine")
    inside("init", "mine", "q.csv", cwd=tmp_path, code=0)
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "q.csv"}


def test_the_questions_of_a_knowledge_pack(tmp_path: Path) -> None:
    """A domain is the category, beside a category the group; a source is a file; a list of answers has several."""
    pack = {
        "id": "p1",
        "domain": "networking",
        "difficulty": "easy",
        "question": "?",
        "ground_truth": "Hops.",
        "source": "ip.md",
    }
    rows: list[Row] = [pack, {"id": "p2", "question": "?", "ground_truth": ["a", 4], "domain": "d", "category": "c"}]
    write_lines(tmp_path / "q.jsonl", rows)
    inside("init", "mine", "q.jsonl", cwd=tmp_path, code=0)
    first, second = questions(tmp_path / "mine")
    assert (first["gold_answer"], first["category"], first["expected_files"]) == ("Hops.", "networking", ["ip.md"])
    assert (second["gold_answers"], second["category"], second["group"]) == (["a", "4"], "c", "d")
    assert "gold_answer" not in second
    (tmp_path / "q.csv").write_text('question,answer\nx,"[""a"", ""b""]"\n')
    inside("init", "cells", "q.csv", cwd=tmp_path, code=0)
    assert questions(tmp_path / "cells")[0]["gold_answers"] == ["a", "b"]


def test_relevant_ids_from_paths(tmp_path: Path) -> None:
    """Without relevant ids, the nodes of the required steps are relevant; of alternatives, those that all have."""
    optional = {"source": "db:t.sql", "target": "db:u.sql", "optional": True}
    alternatives = [{"group": "g", "steps": [TWO[0]]}, {"group": "g", "steps": [{**TWO[0], "target": "api:c.py"}]}]
    rows: list[Row] = [
        {"question": "x", "paths": [{"steps": [*TWO, optional]}]},
        {"question": "y", "paths": alternatives},
        {"question": "z", "answer": "4"},
    ]
    write_lines(tmp_path / "q.jsonl", rows)
    done = inside("init", "mine", "q.jsonl", cwd=tmp_path, code=0)
    assert [one.get("relevant") for one in questions(tmp_path / "mine")] == [
        {"web:a.ts#f": 1, "api:b.py#g": 1, "db:t.sql": 1},
        {"web:a.ts#f": 1},
        None,
    ]
    assert "relevant ids: the nodes of the required steps, since no question states any\n" in done.out
    write_lines(tmp_path / "q.jsonl", [*rows[:2], {"question": "z", "documents": ["d"]}])
    done = inside("init", "own", "q.jsonl", cwd=tmp_path, code=0)
    assert [one.get("relevant") for one in questions(tmp_path / "own")] == [None, None, {"d": 1}]
    assert "relevant ids:" not in done.out


BEFORE = (
    "question,path,category\n"
    "What does f call?,web:a.ts#f -CALLS-> api:b.py#g,x\n"
    "What does f read?,web:a.ts#f -CALLS-> api:b.py#g -READS-> db:t.sql,x\n"
    "What calls f?,web:m.ts -CALLS-> web:a.ts#f,x\n"
    "Gone?,web:a.ts#f -CALLS-> api:b.py#g,x\n"
)
#: A path corrected, a question between two, a category changed, and the last question gone.
AFTER = (
    "question,path,category\n"
    "What does f call?,web:a.ts#f -CALLS-> api:b.py#h,x\n"
    "New?,web:a.ts#f -CALLS-> api:b.py#g,x\n"
    "What does f read?,web:a.ts#f -CALLS-> api:b.py#g -READS-> db:t.sql,y\n"
    "What calls f?,web:m.ts -CALLS-> web:a.ts#f,x\n"
)


def test_a_corrected_spreadsheet(tmp_path: Path) -> None:
    """An update shows what changes, keeps ids, runs, graph and own fields, and does nothing a second time."""
    mine = tmp_path / "mine"
    (tmp_path / "q.csv").write_text(BEFORE)
    inside("init", "mine", "q.csv", cwd=tmp_path, code=0)
    first, *others = questions(mine)
    write_lines(mine / "questions.jsonl", [{**first, "owner": "me", "commits": {"web": "c1"}}, *others])
    records = [{"run": "r", "question_id": f"q{number}", "traversal": []} for number in range(1, 5)]
    write_lines(mine / "runs" / "r.jsonl", records)
    write_lines(mine / "edges.jsonl", [STEP])
    inside("evaluate", "mine", "--no-store", "-o", "old.jsonl", cwd=tmp_path, code=0)
    before = {path: path.read_bytes() for path in mine.rglob("*.jsonl") if path.name != "questions.jsonl"}
    (tmp_path / "q.csv").write_text(AFTER)
    done = inside("init", "mine", "q.csv", "--update", cwd=tmp_path, code=0)
    # The new question gets a free id, since q2 to q4 are known by their texts or are gone.
    assert [one["id"] for one in questions(mine)] == ["q1", "q5", "q2", "q3"]
    assert "added 1: q5\nchanged 2: q1 (paths, relevant), q2 (category)\ngone 1: q4\ngold: " in done.out
    assert "r has no record of the added questions: `graphkit run` asks only them\n" in done.out
    assert "earlier results of r (in old.jsonl) don't compare with new ones on q1, q4, whose gold differs" in done.out
    assert (questions(mine)[0]["owner"], questions(mine)[0]["commits"]) == ("me", {"web": "c1"})
    assert {path: path.read_bytes() for path in before} == before
    written = (mine / "questions.jsonl").stat()
    again = inside("init", "mine", "q.csv", "--update", cwd=tmp_path, code=0)
    assert "nothing changes in 4 questions" in again.out
    assert (mine / "questions.jsonl").stat() == written
    facts = inside("init", "mine", "q.csv", "--update", "--json", cwd=tmp_path, code=0).object()
    assert (facts["added"], facts["changed"], facts["gone"], facts["next"]) == ([], {}, [], [])


def test_a_text_corrected_in_its_row(tmp_path: Path) -> None:
    """A question without an id whose text changed keeps the id of its row; its gold, and results, stay."""
    (tmp_path / "q.csv").write_text(BEFORE)
    inside("init", "mine", "q.csv", cwd=tmp_path, code=0)
    (tmp_path / "q.csv").write_text(BEFORE.replace("What calls f?", "Who calls f?"))
    done = inside("init", "mine", "q.csv", "--update", cwd=tmp_path, code=0)
    assert "changed 1: q3 (question)\ngold: " in done.out
    assert ", as before\n" in done.out
    assert "earlier results" not in done.out


def test_another_question_in_the_same_row(tmp_path: Path) -> None:
    """Another text with other gold is another question: no run has a record of it, and the former one is gone."""
    (tmp_path / "a.csv").write_text("question,answer\nWho wrote Aida?,Verdi\nWho wrote Norma?,Bellini\n")
    inside("init", "d", "a.csv", cwd=tmp_path, code=0)
    records = [{"run": "r", "question_id": one, "answer": "Verdi Smith"} for one in ("q1", "q2")]
    write_lines(tmp_path / "d" / "runs" / "r.jsonl", records)
    (tmp_path / "a.csv").write_text("question,answer\nWho sang Aida?,Verdi Smith\nWho composed Norma?,Bellini\n")
    done = inside("init", "d", "a.csv", "--update", cwd=tmp_path, code=0)
    assert [one["id"] for one in questions(tmp_path / "d")] == ["q3", "q2"]
    assert "added 1: q3\nchanged 1: q2 (question)\ngone 1: q1\n" in done.out
    assert "r answered the former text of q2: take these records out of the runs to ask again\n" in done.out
    # Of both questions the run answers q2, by its former text; nobody asked q3.
    [scored] = inside(
        "evaluate", "d", "--no-store", "-m", "AnswerHit", "--json", "--on-error", "skip", cwd=tmp_path
    ).objects()[:1]
    assert (scored["measures"]["AnswerHit"]["mean"], scored["missing"]) == (0.0, 1)


def test_an_update_refused(tmp_path: Path) -> None:
    """A bad row, no dataset, no file and a graph refuse an update, and nothing is written."""
    (tmp_path / "q.csv").write_text(BEFORE)
    assert "no questions.jsonl to update" in inside("init", "mine", "q.csv", "--update", cwd=tmp_path, code=2).err
    inside("init", "mine", "q.csv", cwd=tmp_path, code=0)
    before = (tmp_path / "mine" / "questions.jsonl").read_bytes()
    (tmp_path / "q.csv").write_text("question,path\nx,a b\n")
    assert "has no arrow" in inside("init", "mine", "q.csv", "--update", cwd=tmp_path, code=2).err
    assert "needs the file" in inside("init", "mine", "--update", cwd=tmp_path, code=2).err
    done = inside("init", "mine", "q.csv", "--update", "--graph", "g.csv", cwd=tmp_path, code=2)
    assert "--update keeps the knowledge graph" in done.err
    assert (tmp_path / "mine" / "questions.jsonl").read_bytes() == before


def test_questions_without_an_answer(tmp_path: Path) -> None:
    """A table writes true and no, reasons in any case, and absent edges as paths or JSON; other words are refused."""
    header = "id,question,path,answerable,why_not,absent,principal\n"
    rows = [
        "a,How?,web:a.ts -CALLS-> api:b.py,TRUE,,,web-team",
        "b,Why a mail?,,false,False Premise,web:a.ts -CALLS-> mail:x.py; api:b.py <-READS- db:t.sql,",
        'c,Where?,,no,no path,"[[""web:a.ts"", ""CALLS"", ""db:t.sql""]]",',
    ]
    (tmp_path / "q.csv").write_text(header + "\n".join(rows))
    done = inside("init", "my-eval", "q.csv", cwd=tmp_path)
    assert "has no gold" not in done.err  # abstention scores them
    one, two, three = questions(tmp_path / "my-eval")
    assert (one["answerable"], one["principal"], len(one["paths"])) == (True, "web-team", 1)
    assert (two["answerable"], two["why_not"], three["answerable"]) == (False, "false premise", False)
    assert two["absent"] == [
        {"source": "web:a.ts", "target": "mail:x.py", "relation": "CALLS"},
        {"source": "db:t.sql", "target": "api:b.py", "relation": "READS"},
    ]
    assert [one["target"] for one in three["absent"]] == ["db:t.sql"]
    # What a table expects to be said of such a question is no gold.
    (tmp_path / "q.csv").write_text("question,answer,answerable\nHow?,Paris,\nWhy?,I don't know,false\n")
    assert "2 questions (1 with answers)" in inside("init", "two", "q.csv", cwd=tmp_path).out
    (tmp_path / "q.csv").write_text(header + "a,How?,,perhaps,,,\n")
    assert "answerable: input should be a valid boolean" in inside("init", "no", "q.csv", cwd=tmp_path, code=2).err
    # With a graph, the ends of an absent edge are looked up as those of gold.
    (tmp_path / "g.csv").write_text(EDGES)
    (tmp_path / "q.csv").write_text(header + "a,How?,,no,,a.ts#f -CALLS-> mail:x.py,\n")
    inside("init", "known", "q.csv", "--graph", "g.csv", cwd=tmp_path)
    [step] = questions(tmp_path / "known")[0]["absent"]
    assert (step["source"], step["target"]) == ("web:a.ts#f", "mail:x.py")
