"""Logs as runs: what becomes of each field, what is reported, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.files.run_files import read_run
from graphkit.imports.importer import ImportedLog, import_log
from graphkit.readers.known_formats import installed
from graphkit.records.doubts import NOTHING
from graphkit.records.words import shortened
from tests.helpers.datasets import read_jsonl, write_jsonl
from tests.imports.plain import PLAIN, PLAIN_LINES


@pytest.fixture(autouse=True)
def _readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two more formats, as plain as can be."""
    monkeypatch.setitem(installed(), "plain", PLAIN)
    monkeypatch.setitem(installed(), "plain-lines", PLAIN_LINES)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two questions over a calls b, b calls c, c is in file db:c.sql; d is known by its artifact only."""
    folder = tmp_path / "data"
    path = {"steps": [{"source": "web:a.ts#a", "relation": "CALLS", "target": "api:b.py#b"}]}
    write_jsonl(
        folder / "questions.jsonl",
        [{"id": "q1", "question": "Who calls b?", "paths": [path]}, {"id": "2", "question": "And c?", "paths": [path]}],
    )
    write_jsonl(folder / "artifacts.jsonl", [{"id": one} for one in ("web:a.ts#a", "api:b.py#b", "db:c.sql", "d:d.py")])
    write_jsonl(
        folder / "edges.jsonl",
        [
            {"source": "web:a.ts#a", "relation": "CALLS", "target": "api:b.py#b"},
            {"source": "api:b.py#b", "relation": "READS", "target": "db:c.sql"},
        ],
    )
    return folder


IDS = {"a": "web:a.ts#a", "b": "api:b.py#b", "c": "db:c.sql"}


def made(data: Path, *values: dict[str, Any], **options: Any) -> ImportedLog:
    """Import values of the plain format, under the names of IDS."""
    log = write_jsonl(data.parent / "log.jsonl", values)
    return import_log(log, "plain", data, **{"ids": IDS, "run": "mine", **options})


def test_each_field_has_its_place(data: Path) -> None:
    """Ids, commits, edges with their places, and the figures stand in the record; the rest of the names is left."""
    log = {
        "question_id": "q1",
        "seconds": 0.5,
        "answer": "a does.",
        "calls": 2,
        "found": ["a", "d:d.py", "zzz"],
        "paths": [[["a", "CALLS", "b"], ["b", "READS", "c"]], [["a", None, "b"]]],
        "cites": ["c"],
    }
    first = made(data, log, commits={"web": "w1", "d": "d1"}).records
    assert first == [
        {
            "run": "mine",
            "question_id": "q1",
            "retrieved": [{"id": "web:a.ts#a", "commit": "w1"}, {"id": "d:d.py", "commit": "d1"}, {"id": "zzz"}],
            "traversal": [
                {"source": "web:a.ts#a", "relation": "CALLS", "target": "api:b.py#b", "source_commit": "w1"}
                | {"path": 0, "position": 0},
                {"source": "api:b.py#b", "relation": "READS", "target": "db:c.sql", "path": 0, "position": 1},
                {"source": "web:a.ts#a", "relation": "CALLS", "target": "api:b.py#b", "source_commit": "w1"}
                | {"path": 1, "position": 0},
            ],
            "answer": "a does.",
            "citations": ["db:c.sql"],
            "latency_ms": 500.0,
            "model_calls": 2,
        }
    ]
    # A version in the log says more than what holds for all of a repository.
    assert made(data, {**log, "commit": "7"}, commits={"web": "w1"}).records[0]["retrieved"][0]["commit"] == "7"


def test_what_isnt_logged_isnt_there(data: Path) -> None:
    """A field of which the log says nothing is left out of the record, and what it says is empty is empty.

    A search that found nothing walked nothing, and is counted.
    """
    found = made(data, {"question_id": "q1", "found": []})
    assert found.records == [
        {"run": "mine", "question_id": "q1", "retrieved": [], "traversal": [], "ordered": False},
    ]
    assert found.summary[1] == "1 answer: 0 with retrieved ids, 0 with edges, 1 of 1 found nothing"
    assert made(data, {"question_id": "q1", "edges": []}).records == [
        {"run": "mine", "question_id": "q1", "traversal": [], "ordered": False}
    ]
    failed = made(data, {"question_id": "q1", "error": "timed out", "error_type": "Timeout"})
    assert failed.records == [
        {"run": "mine", "question_id": "q1", "error": "timed out", "error_type": "Timeout"},
    ]


def test_lost_directions(data: Path) -> None:
    """The knowledge graph gives pairs their direction and relation, and the number of such pairs is reported."""
    result = made(data, {"question_id": "q1", "pairs": [["b", None, "a"], ["b", "READS", "c"], ["c", "X", "b"]]})
    assert result.records[0] == {
        "run": "mine",
        "question_id": "q1",
        "traversal": [
            {"source": "web:a.ts#a", "relation": "CALLS", "target": "api:b.py#b"},
            {"source": "api:b.py#b", "relation": "READS", "target": "db:c.sql"},
            {"source": "api:b.py#b", "relation": "X", "target": "db:c.sql"},
        ],
        "ordered": False,
    }
    assert "edges: 2 forward, 0 reversed, 1 by another relation, 0 not in the knowledge graph" in result.summary
    assert "2 edges got the direction of the knowledge graph" in result.summary
    assert "1 edge got the only relation in the knowledge graph" in result.summary


def test_what_was_opened_becomes_a_walk(data: Path) -> None:
    """Between what was opened and what had been opened before lie the edges of the knowledge graph; twice is once."""
    result = made(data, {"question_id": "q1", "opened": ["c", "d:d.py", "b", "c", "a"]})
    edges = [(step["source"], step["target"]) for step in result.records[0]["traversal"]]
    assert edges == [("api:b.py#b", "db:c.sql"), ("web:a.ts#a", "api:b.py#b")]
    (data / "edges.jsonl").unlink()
    assert "traversal" not in made(data, {"question_id": "q1", "opened": ["c", "b"]}).records[0]


def test_questions_are_found(data: Path) -> None:
    """By id, also one that is a number or stands for the text, else by the text; each is reported."""
    result = made(data, {"id": 2, "found": []}, {"query": "who  calls B?", "found": []})
    assert [record["question_id"] for record in result.records] == ["2", "q1"]
    assert (
        "fields: question id from id (1), question text from query (1), question found by its text (1)"
        in result.summary
    )
    assert made(data, {"found": []}, question="q1").records[0]["question_id"] == "q1"
    assert made(data, {"query": "q1", "found": []}).records[0]["question_id"] == "q1"
    with pytest.raises(InputError, match="the dataset has no question 'q9'"):
        made(data, {"found": []}, question="q9")


def test_questions_for_which_nothing_came(data: Path) -> None:
    """A line with an id alone is a record of which nothing is known, where no other line has more of its question.

    It is reported, and a log of such lines alone is refused.
    """
    empty = {"question_id": "2", "colour": "red"}
    found = made(data, empty, {"question_id": "q1"}, {"question_id": "q1", "found": ["a"]})
    assert [one["question_id"] for one in found.records] == ["q1", "2"]
    assert found.records[1] == {"run": "mine", "question_id": "2", "doubts": [NOTHING]}
    assert found.figures["notes"] == {NOTHING: 1}
    assert found.figures["left_out"] == {"further answers to an answered question": 1}
    with pytest.raises(InputError, match="holds only ids of questions"):
        made(data, empty)


def test_a_file_that_is_named_by_its_question(data: Path) -> None:
    """A file of one answer that doesn't say its question may be called by it; of two answers neither is meant."""
    files = [write_jsonl(data.parent / f"{name}.jsonl", [{"found": ["a"]}]) for name in ("q1", "2")]
    found = import_log(files, "plain", data, ids=IDS, run="mine")
    assert [one["question_id"] for one in found.records] == ["q1", "2"]
    assert found.figures["taken"] == {"question id from the name of the file": 2}
    write_jsonl(files[0], [{"question_id": "2", "found": ["a"]}])
    assert [one["question_id"] for one in import_log(files[0], "plain", data, ids=IDS).records] == ["2"]
    write_jsonl(files[0], [{"found": ["a"]}, {"found": ["b"]}])
    with pytest.raises(InputError, match="answers that don't name their question: 2"):
        import_log(files[0], "plain", data, ids=IDS)


def test_answers_that_are_left_out(data: Path) -> None:
    """An answer to another question, to none, and a second one are left out, each reported with count and example."""
    result = made(
        data,
        *({"question_id": name, "found": []} for name in ("q1", "q7", "q8", "q1")),
        {"found": []},
    )
    log = data.parent / "log.jsonl"
    assert [record["question_id"] for record in result.records] == ["q1"]
    assert [line for line in result.summary if line.startswith("skipped")] == [
        f"skipped: answers to no question of the dataset: 2, such as {shortened(f'{log}:2: q7')}",
        f"skipped: further answers to an answered question: 1, such as {shortened(f'{log}:4: q1')}",
        f"skipped: answers that don't name their question: 1, such as {shortened(f'{log}:5')}",
    ]
    with pytest.raises(
        InputError,
        match=r"the log holds no answer to a question of the dataset \(answers to no question of the dataset: 1,",
    ):
        made(data, {"question_id": "q7", "found": []})


def test_halves_of_characters(data: Path) -> None:
    """JSON within a text may hold half a character, which nothing can store: it becomes a question mark."""
    log = {"question_id": "q1", "found": [], "json": '{"text": "a\\ud83d"}'}
    assert made(data, log).records[0]["answer"] == "a?"
    made(data, log, out=data / "mine.jsonl")
    assert json.loads((data / "mine.jsonl").read_text("utf-8"))["answer"] == "a?"


def test_several_runs_in_one_log(data: Path) -> None:
    """A log of several runs says so, for of each question the first answer is taken."""
    log = [{"question_id": name, "found": [], "run": run} for name, run in (("q1", "x"), ("2", "y"))]
    reported = made(data, *log).summary
    assert "the log holds several runs; the first answer to each question was used: x (1), y (1)" in reported
    assert not any("several runs" in line for line in made(data, log[0]).summary)


def test_names_that_no_record_can_hold(data: Path) -> None:
    """An empty name and one of more than 1000 characters are left out and reported; what remains can be read."""
    log = {"question_id": "q1", "found": ["", "x" * 1001, "a", "long"], "edges": [["a", "r" * 1001, "b"]]}
    result = made(data, {**log, "commit": "c" * 1001}, ids={**IDS, "long": "y" * 1001})
    assert [chunk["id"] for chunk in result.records[0]["retrieved"]] == ["web:a.ts#a"]
    left_out = result.figures["left_out"]
    assert left_out == {
        "names that are empty": 1,
        "names that are too long to be ids": 2,  # one is the table's
        "commits that are too long": 1,
        "relations that are too long": 1,
    }


def test_what_is_reported(data: Path) -> None:
    """Format, keys, ids, fields that weren't used, what the format lacks, and doubts, each with its count."""
    log = {"question_id": "q1", "seconds": 1, "session": "s", "found": ["a", "d:d.py", "new"], "colour": "red"}
    reported = made(data, {**log, "note": ["It is odd."]}, {**log, "question_id": "2", "note": ["It is odd."]}).summary
    # d is known as an artifact only, the edges know a; gold is a, "new" is known to nobody.
    assert reported == [
        "log.jsonl: read as Plain: found, edges and paths",
        "2 answers: 2 with retrieved ids, 0 with edges",
        "fields: question id from question_id (2), latency from seconds in seconds (2)",
        "2 of 3 ids are known (gold 1, artifacts 2, edges 1)",
        "ids of names: by the table (1)",
        "unused fields: session (2), colour (2)",
        "the format doesn't contain: Scores aren't logged.",
        "doubtful in 2 answers: It is odd.",
    ]


def test_names_of_several_files(data: Path) -> None:
    """A base name of one file is taken, one of two is reported with both."""
    files = ("web:src/one.ts", "web:src/two.ts", "api:src/two.ts")
    write_jsonl(data / "artifacts.jsonl", [{"id": one} for one in files])
    found = made(data, {"question_id": "q1", "found": ["one.ts", "two.ts"]})
    assert [chunk["id"] for chunk in found.records[0]["retrieved"]] == ["web:src/one.ts", "two.ts"]
    assert "ids of names: by the end of the path (1)" in found.summary
    assert (
        "1 name could be several files, so none was chosen, such as two.ts (api:src/two.ts, web:src/two.ts): "
        "name the right ones in a table, --ids" in found.summary
    )
    assert found.figures["several"] == {"two.ts": ["api:src/two.ts", "web:src/two.ts"]}


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ({"found": ["chunk-8e929de089fe6c07e3dc61c9230de7a8"]}, "ids that the system made for its own chunks"),
        ({"found": ["x " * 150]}, "these are texts, and no names"),
        (
            {"found": ["pkg.mod.b"]},
            "they have another form, as 'pkg.mod.b', where the dataset has such as 'api:b.py#b'",
        ),
        ({"edges": [["b", "CALLS", "a"]]}, "most edges point the other way"),
        ({"edges": [["a", "USES", "b"]]}, "most edges have another relation"),
        ({"edges": [["a", "CALLS", "c"]]}, "their ends are known, but not what lies between"),
        ({"found": ["a", "b"], "edges": [["a", "CALLS", "zzz"]]}, "both ends are known of 0 of 1 edge"),
        ({"edges": [["a", "CALLS", "b"], ["c", "READS", "b"]]}, "1 edge along the graph, 1 against it"),
    ],
)
def test_what_it_usually_means(log: dict[str, Any], words: str, data: Path) -> None:
    """If hardly anything is known, the likely reason is reported with an example and what to do; else nothing is."""
    assert words in made(data, {"question_id": "q1", **log}).summary[-1]
    right = made(data, {"question_id": "q1", "found": ["a"], "edges": [["a", "CALLS", "b"]]})
    assert right.figures["meaning"] == []


@pytest.mark.parametrize(
    ("traversal", "turned"),
    [
        # Walked from c over b to a: both edges point the other way.
        ([["db:c.sql", "READS", "api:b.py#b"], ["api:b.py#b", "CALLS", "web:a.ts#a"]], 2),
        ({"triples": [["web:a.ts#a", "CALLS", "api:b.py#b"], ["db:c.sql", "READS", "api:b.py#b"]]}, 1),
        ([["db:c.sql", "~READS", "api:b.py#b"], ["api:b.py#b", "~CALLS", "web:a.ts#a"]], 0),
        ("db:c.sql <-READS- api:b.py#b <-CALLS- web:a.ts#a", 0),
        (["web:a.ts#a -CALLS-> api:b.py#b", "api:b.py#b -READS-> db:c.sql"], 0),
        ([["db:c.sql", "api:b.py#b", "web:a.ts#a"]], 2),
    ],
)
@pytest.mark.parametrize("beside", [{}, {"took": 7, "notes": ["x"]}])
def test_an_own_record_in_walking_order(
    traversal: Any, turned: int, beside: dict[str, Any], data: Path, tmp_path: Path
) -> None:
    """a CALLS b and b READS c, however they were walked; other fields may stand beside question and traversal."""
    record = {"question_id": "q1", "traversal": traversal, "answer": "a", **beside}
    found = import_log(write_jsonl(tmp_path / "own.jsonl", [record]), "auto", data)
    edges = {(step["source"], step["target"]) for step in found.records[0]["traversal"]}
    assert edges == {("web:a.ts#a", "api:b.py#b"), ("api:b.py#b", "db:c.sql")}
    assert found.figures["turned"] == turned
    assert any(f"{turned} edge" in line and "direction" in line for line in found.summary) is bool(turned)


def test_stated_sources_and_targets_stay(data: Path, tmp_path: Path) -> None:
    """Of an edge whose record says which end is the source, the direction is the log's, and the import warns."""
    step = {"source": "api:b.py#b", "relation": "CALLS", "target": "web:a.ts#a"}
    log = write_jsonl(tmp_path / "own.jsonl", [{"question_id": "q1", "traversal": [step]}])
    found = import_log(log, "auto", data)
    assert found.records[0]["traversal"][0]["source"] == "api:b.py#b"
    assert "most edges point the other way" in found.summary[-1]


def test_relations_walked_backwards_in_a_log(data: Path) -> None:
    """~ before a relation turns the edge in any format."""
    found = made(data, {"question_id": "q1", "edges": [["b", "~CALLS", "a"]]})
    assert found.figures["edges"]["forward"] == 1
    (step,) = found.records[0]["traversal"]
    assert (step["source"], step["relation"], step["target"]) == ("web:a.ts#a", "CALLS", "api:b.py#b")


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"parquet": "index"}, "the log is read as plain, which has no use for --parquet"),
        ({"columns": ("a", "r", "b")}, "the log is read as plain, which has no use for --columns"),
        ({"chunks_only": True}, "the log is read as plain, which has no use for --chunks-only"),
    ],
)
def test_an_option_of_another_format_is_refused(option: dict[str, Any], said: str, data: Path) -> None:
    """An option that changes nothing about this log is refused before anything is read; others name their formats."""
    with pytest.raises(InputError, match=said) as refused:
        made(data, {"question_id": "q1", "found": ["a"]}, **option)
    assert "these formats use it" in str(refused.value)


def test_auto_asks_the_content(data: Path) -> None:
    """Each file is read by the reader that knows it, of JSON or of lines, and the choice is reported."""
    folder = data.parent
    (folder / "a.txt").write_text("q1 web:a.ts#a\n")
    (folder / "b.json").write_text(json.dumps([{"question_id": "2", "found": ["d:d.py"]}], indent=1))
    result = import_log([folder / "a.txt", folder / "b.json"], "auto", data)
    assert [(record["run"], record["question_id"]) for record in result.records] == [("a", "q1"), ("a", "2")]
    assert result.summary[:2] == [
        "a.txt: recognised as plain-lines, Plain lines",
        "b.json: recognised as plain, Plain: found, edges and paths",
    ]
    # One line in three has two words, which is less than half; as a whole nobody knows it, so that it is lines.
    (folder / "d.txt").write_text("one\nq1 web:a.ts#a\none two three\n")
    reported = import_log(folder / "d.txt", "auto", data).summary
    assert reported[0] == "d.txt: recognised by 33% of its first values as plain-lines, Plain lines"
    (folder / "c.txt").write_text("one\n")
    with pytest.raises(InputError, match=r"c\.txt: no format is recognised in it: it is text"):
        import_log(folder / "c.txt", "auto", data)


def test_the_run_is_a_file_that_graphkit_reads(data: Path) -> None:
    """The written run is read without a problem, is scored, and is overwritten only on request."""
    out = data / "runs" / "mine.jsonl"
    log = {"question_id": "q1", "found": ["a"], "edges": [["a", "CALLS", "b"]]}
    result = made(data, log, out=out, run=None)
    assert (result.run, result.answers, result.file, result.records) == ("mine", 1, out, [])
    problems = Problems()
    name, answers = read_run(out, problems)
    assert (name, list(answers), problems.skipped) == ("mine", ["q1"], [])
    scored = graphkit.evaluate(out, measures=["EdgeRecall"]).measures["EdgeRecall"]
    assert (scored.mean, scored.scored) == (1.0, 1)
    with pytest.raises(InputError, match="there is a file already"):
        made(data, log, out=out)
    assert made(data, {"question_id": "2", "found": []}, out=out, replace=True).answers == 1
    with pytest.raises(InputError, match="no answer to a question"):
        made(data, {"question_id": "q7", "found": []}, out=out, replace=True)
    assert read_jsonl(out)[0]["question_id"] == "2"  # what couldn't be imported didn't take its place
