"""``graphkit import``: the command around the importer."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import typer

from graphkit.cli.imports import imports
from graphkit.readers.known_formats import formats, installed
from tests.helpers.cli import inside, tiny
from tests.helpers.datasets import read_jsonl, write_jsonl
from tests.imports.plain import PLAIN


def test_each_format_has_a_command() -> None:
    """Each format of the registry has a command of its name."""
    commands: Any = typer.main.get_command(imports)
    assert {"auto", *formats()} <= set(commands.list_commands(typer.Context(commands)))


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A format that is as plain as can be."""
    monkeypatch.setitem(installed(), "plain", PLAIN)


def log(folder: Path) -> Path:
    """Write a log of q1: it found x, and walked from y to z, under names of its own."""
    value = {"ticket": {"nr": "q1"}, "result": {"found": ["m/x"], "edges": [["m/y", "CALLS", "n/z"]]}}
    return write_jsonl(folder / "log.jsonl", [value])


@pytest.mark.usefixtures("plain")
def test_a_log_becomes_a_run(tmp_path: Path) -> None:
    """Table, key of the question, commits and name are taken from the options, and what is reported is printed."""
    data = tiny(tmp_path / "data").parent.parent
    write_jsonl(tmp_path / "ids.jsonl", [{"name": "m/x", "id": "a:m.py#x"}, {"name": "m/y", "id": "a:m.py#y"}])
    options = ("--ids", "ids.jsonl", "--question-key", "ticket.nr", "--commit", "a=1", "--run", "mine")
    words = ("import", "auto", log(tmp_path), "--dataset", data, *options, "-o", "out.jsonl")
    done = inside(*words, cwd=tmp_path, code=0)
    assert read_jsonl(tmp_path / "out.jsonl") == [
        {
            "run": "mine",
            "question_id": "q1",
            "retrieved": [{"id": "a:m.py#x", "commit": "1"}],
            "traversal": [{"source": "a:m.py#y", "relation": "CALLS", "target": "n/z", "source_commit": "1"}],
            "ordered": False,
        }
    ]
    lines = done.out.splitlines()
    assert lines[0] == "log.jsonl: recognised as plain, Plain: found, edges and paths"
    # x and y are in the gold of q1, n/z is not.
    assert "2 of 3 ids are known (gold 2, artifacts 0, edges 0)" in lines
    assert lines[-1] == "mine: out.jsonl"
    again = inside(*words, cwd=tmp_path, code=2)
    assert "out.jsonl: there is a file already" in again.err
    reported = inside(*words, "--force", "--json", cwd=tmp_path, code=0).object()
    assert (reported["run"], reported["answers"], reported["ids"]["known"]) == ("mine", 1, 2)


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--columns", "a,b"), "--columns takes source, relation and target"),
        (("--commit", "web"), "--commit takes NAME=VALUE"),
        (("--id-pattern", "("), "the id pattern isn't a regular expression"),
        (("--ids", "absent.jsonl"), "absent.jsonl: there is no such file"),
        (("--question", "q9"), "the dataset has no question 'q9'"),
        (("--question-key", "nowhere"), "log.jsonl:1: it has no question's id at 'nowhere'"),
        ((), "answers that don't name their question: 1, such as"),
    ],
)
def test_mistakes(options: tuple[str, ...], message: str, tmp_path: Path) -> None:
    """An unusable log ends with 2, a message with its place, and no file."""
    data = tiny(tmp_path / "data").parent.parent
    done = inside("import", "auto", log(tmp_path), "--dataset", data, *options, "-o", "out.jsonl", cwd=tmp_path, code=2)
    assert message in done.err
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.usefixtures("plain")
def test_evaluate_reads_logs(tmp_path: Path) -> None:
    """--format scores a log as the run that it becomes, keeps no file, and tells of it beside the scores."""
    data = tiny(tmp_path / "data").parent.parent
    value = {"question_id": "q1", "found": ["a:m.py#x"], "edges": [["a:m.py#x", "CALLS", "a:m.py#y"]]}
    write_jsonl(tmp_path / "log.jsonl", [value])
    before = sorted(tmp_path.rglob("*"))
    words = ("evaluate", "log.jsonl", "--no-store", "-m", "EdgeRecall", "--json")
    done = inside(*words, "--format", "plain", "--dataset", data, cwd=tmp_path, code=0)
    result = done.object()
    # One of two edges of q1; q2 isn't in the log.
    assert (result["run"], result["measures"]["EdgeRecall"]["mean"]) == ("log", 0.5)
    assert "2 of 2 ids are known (gold 2, artifacts 0, edges 0)" in done.err
    assert sorted(tmp_path.rglob("*")) == before
    assert "Name the dataset by --dataset" in inside(*words, "--format", "plain", cwd=tmp_path, code=2).err
    alone = inside(*words, "--dataset", data, "--question-key", "x", cwd=tmp_path, code=2)
    assert "--question-key is for logs of other tools" in alone.err


@pytest.mark.usefixtures("plain")
def test_hostile_logs(tmp_path: Path) -> None:
    """Control characters of a log don't reach the terminal, and a run's name that is no name is refused."""
    data = tiny(tmp_path / "data").parent.parent
    value = {"question_id": "q1", "result": {"found": ["\x1b[31m"]}, "ke\x1by": 1}
    (tmp_path / "log.jsonl").write_text(json.dumps(value))
    done = inside("import", "auto", "log.jsonl", "--dataset", data, "-o", "out.jsonl", cwd=tmp_path, code=0)
    assert "\x1b" not in done.out + done.err
    long = ("--run", "x" * 1001, "-o", "other.jsonl")
    assert "may have 1000" in inside("import", "auto", "log.jsonl", "-d", data, *long, cwd=tmp_path, code=2).err


def test_a_run_is_not_imported(tmp_path: Path) -> None:
    """`import auto` says how a run is evaluated, also without the options of an import; a log needs these."""
    run = tiny(tmp_path / "data")
    for options in ((), ("--dataset", "data", "-o", "out.jsonl")):
        done = inside("import", "auto", "data/runs/r.jsonl", *options, cwd=tmp_path, code=2)
        assert "this is already a run: graphkit evaluate data/runs/r.jsonl\n" in done.err
    run.rename(tmp_path / "r.jsonl")
    done = inside("import", "auto", "r.jsonl", "-d", "data", cwd=tmp_path, code=2)
    assert "this is already a run: graphkit evaluate r.jsonl --dataset data\n" in done.err
    done = inside("import", "trec", "r.jsonl", "-d", "data", cwd=tmp_path, code=2)
    assert "the option --out is missing" in done.err
    assert not (tmp_path / "out.jsonl").exists()


def test_a_log_given_as_a_run_is_pointed_to_its_format(tmp_path: Path) -> None:
    """A log of LightRAG without `--format` is scored as it stands, with a note that names it; own records have none."""
    own = tiny(tmp_path / "data")
    found = {"entities": [{"entity_name": "a:m.py#x"}], "relationships": [], "chunks": [], "references": []}
    log = own.with_name("light.jsonl.gz")
    log.write_bytes(
        gzip.compress(json.dumps({"question_id": "q1", "data": {"status": "success", "data": found}}).encode())
    )
    noted = inside("evaluate", log, "--no-store", cwd=tmp_path, code=0)
    assert f"note: {log} looks like a log of lightrag: --format lightrag reads it\n" in noted.err
    dataset = ("--dataset", own.parent.parent)
    assert "looks like" not in inside("evaluate", log, *dataset, "--no-store", "--format", "lightrag", cwd=tmp_path).err
    write_jsonl(own, [{**row, "data": found} for row in read_jsonl(own)])  # which has a field that isn't used
    assert "looks like" not in inside("evaluate", own, "--no-store", cwd=tmp_path, code=0).err
