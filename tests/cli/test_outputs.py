"""No command writes over a file that it reads, nor over one of another kind: every command with an output is walked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import get_args

import pytest

from graphkit.errors import InputError
from graphkit.files import outputs
from graphkit.files.outputs import check_output, kind_of
from tests.helpers import ROOT
from tests.helpers.cli import graphkit, inside, tiny, write_lines
from tests.helpers.invocations import (
    COMMANDS,
    DISTINCT,
    FIRST_IN,
    SCORE,
    Words,
    arguments,
    commands,
    file_parameters,
    write_world,
)
from tests.helpers.suites import one_fast

WRITING = [(words, name) for words, about in DISTINCT.items() for name in about.writes]
ids = lambda one: " ".join(one) if isinstance(one, tuple) else one  # noqa: E731


def content(folder: Path) -> dict[str, bytes]:
    """Return what each file of a folder holds."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_parameter_that_takes_a_file_is_known() -> None:
    """Whoever adds an option or an argument that names a file says in the table whether it is read or written."""
    table = {(words, name) for words, about in COMMANDS.items() for name in about.paths}
    table -= {(("compare",), "first"), (("compare",), "second"), (("import", "gold"), "form")}
    table -= {(("why",), "question")}
    assert set(file_parameters()) == table


def test_outputs_are_marked() -> None:
    """Each option that the table marks as written is declared as an output of a kind that graphkit recognises."""
    for words, command in commands().items():
        about = COMMANDS.get(words)
        marked = {
            one.opts[0]
            for one in command.params
            if one.name in command.callback.outputs
            and command.callback.outputs[one.name].writes in get_args(outputs.Kind)
        }
        assert marked == set(about.writes if about is not None else ()), words


def sources(words: Words, written: str) -> list[str]:
    """Return the files that a command reads: those of its parameters, and those of the dataset around its run."""
    about = COMMANDS[words]
    read = [path for name, path in about.paths.items() if name not in (*about.writes, *about.folders)]
    files = [f"{path}/{FIRST_IN[path]}" if path in FIRST_IN else path for path in read]
    return [file for file in files if file not in ("r", "s", "cwq", "clone/.git/config", "index/text_units.parquet")]


@one_fast(("words", "name"), WRITING, "each command that writes", 0, 1, 2, ids=ids)
def test_no_command_writes_over_what_it_reads(words: Words, name: str, tmp_path: Path) -> None:
    """Each file that a command reads is refused as its output: by its path, a link of either kind and by "..".

    Also with --force, and before anything is written: the folder is as it was.
    """
    write_world(tmp_path)
    about = COMMANDS[words]
    given = {other: path for other, path in about.paths.items() if other not in about.writes and path != "index"}
    force = ["--force"] if any(one in ("--out", "--spans") for one in about.writes) else []
    for number, source in enumerate(sources(words, name)):
        suffix = Path(source).suffix
        (tmp_path / f"soft{number}{suffix}").symlink_to(source)
        (tmp_path / f"hard{number}{suffix}").hardlink_to(tmp_path / source)
        for output in (source, f"data/../{source}", f"soft{number}{suffix}", f"hard{number}{suffix}"):
            before = content(tmp_path)
            chosen = {**given, name: output}
            if words == ("listen",):
                chosen.setdefault("--out", "heard.jsonl")
            call = arguments(words, chosen)
            done = inside(call[0], *call[1 : len(words)], *force, *call[len(words) :], cwd=tmp_path, code=2)
            assert "the command reads this file" in done.err, output
            assert content(tmp_path) == before


@one_fast(("words", "name"), WRITING, "each command that writes", 0, 1, 2, ids=ids)
def test_no_command_writes_over_a_file_of_another_kind(words: Words, name: str, tmp_path: Path) -> None:
    """A run, questions, verdicts, a page, somebody's notes: none that isn't of the output's own kind is replaced."""
    write_world(tmp_path)
    write_lines(tmp_path / "sent.jsonl", [{"resourceSpans": []}])
    (tmp_path / "page.html").write_text('<!doctype html>\n<html><meta name="generator" content="graphkit">')
    own = {"a run": "answers.jsonl", "scores": "ragas.jsonl", "a page": "page.html", "spans": "sent.jsonl"}
    for file in ("answers.jsonl", "questions.jsonl", "verdicts.jsonl", "executions.jsonl", "page.html", "notes.txt"):
        output = tmp_path / f"out{Path(COMMANDS[words].paths[name]).suffix}"
        output.write_bytes((tmp_path / file).read_bytes())
        before = content(tmp_path)
        done = inside(*arguments(words, {name: output.name}), cwd=tmp_path)
        if file in own.values() and own.get(kind_of(tmp_path / file)) == file and "written over" not in done.err:
            continue  # of its own kind: replaced, or refused for what else is asked
        assert done.code == 2, (file, done.err)
        assert "written over" in done.err, file
        assert content(tmp_path) == before


def test_what_graphkit_wrote_is_replaced(tmp_path: Path) -> None:
    """Results in each form, a page, and a data set for RAGAS are replaced by the same command; --force replaces all."""
    run = tiny(tmp_path)
    outputs_of = {
        "evaluate": ["s.jsonl", "s.json", "s.summary.json", "s.csv", "s.parquet", "s.xml", "s.md"],
        "report": ["p.html"],
        "ragas export": ["d.jsonl", "d.csv"],
    }
    for command, names in outputs_of.items():
        for name in names:
            more = ("--no-store", "-m", "RR") if command == "evaluate" else ()
            for _ in range(2):
                inside(*command.split(), *more, run, "-o", name, cwd=tmp_path, code=0)
            (tmp_path / name).write_text("mine")
            inside(*command.split(), *more, run, "-o", name, cwd=tmp_path, code=2)
            inside(*command.split(), *more, run, "-o", name, "--force", cwd=tmp_path, code=0)


def test_results_of_judges_are_no_results_of_evaluate(tmp_path: Path) -> None:
    """Grades of a judge, which may have cost money, aren't replaced by results of evaluate."""
    run, scores = tiny(tmp_path), write_lines(tmp_path / "judged.scores.jsonl", [SCORE])
    done = inside("evaluate", "--no-store", "-m", "RR", run, "-o", scores, cwd=tmp_path, code=2)
    assert "the file holds scores, and results would be written over it" in done.err


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    """Two outputs that lead to one file, which isn't there yet, are refused."""
    run = tiny(tmp_path)
    (tmp_path / "link.jsonl").symlink_to("one.jsonl")
    for second in ("one.jsonl", "runs/../one.jsonl", "link.jsonl"):
        done = inside("evaluate", "--no-store", "-o", "one.jsonl", "-o", second, run, cwd=tmp_path, code=2)
        assert "two outputs" in done.err
    assert not (tmp_path / "one.jsonl").exists()


def test_another_case_of_letters(tmp_path: Path) -> None:
    """On a file system that doesn't tell cases apart the run is refused by any of its spellings."""
    run = tiny(tmp_path)
    if not (tmp_path / "RUNS").exists():
        # This one does: there the other spelling is another file, and samefile(), which decides, is the system's own.
        check_output(tmp_path / "RUNS" / "R.JSONL", "results", [run])
        pytest.skip("this file system tells upper and lower case apart")
    with pytest.raises(InputError, match="reads this file"):
        check_output(tmp_path / "RUNS" / "R.JSONL", "results", [run])


def test_standard_input_as_run_and_as_output(tmp_path: Path) -> None:
    """A run that comes by standard input is known by what it is, and not by its name."""
    run = tiny(tmp_path)
    before = run.read_bytes()
    command = f'"{sys.executable}" -m graphkit evaluate --no-store -d . /dev/stdin -o runs/r.jsonl < runs/r.jsonl'
    done = graphkit("-c", command, cwd=tmp_path, command=["sh"], env={"PYTHONPATH": str(ROOT)}, code=2)
    assert "reads this file" in done.err
    assert run.read_bytes() == before


def test_a_run_doesnt_go_into_a_file_of_the_dataset(tmp_path: Path) -> None:
    """A system called like the only question's file doesn't end that question: its line isn't a cut record."""
    tiny(tmp_path / "data", questions=[{"id": "q1", "question": "Who?"}])
    questions = tmp_path / "data" / "questions.jsonl"
    before = questions.read_bytes()
    system = "questions=builtins:repr"
    done = inside("run", "data", "--system", system, "-o", "data", cwd=tmp_path, code=2)
    assert "reads this file" in done.err
    (tmp_path / "outs").mkdir()
    (tmp_path / "outs" / "plain.jsonl").symlink_to(questions)
    done = inside("run", "data", "--system", "plain=builtins:repr", "-o", "outs", cwd=tmp_path, code=2)
    assert "reads this file" in done.err
    (tmp_path / "outs" / "typed.jsonl").write_text('{"id": "q7", "question": "of another dataset"}\n')
    done = inside("run", "data", "--system", "typed=builtins:repr", "-o", "outs", cwd=tmp_path, code=2)
    assert "the file holds questions" in done.err
    assert questions.read_bytes() == before


def test_grades_dont_go_through_links(tmp_path: Path) -> None:
    """Files of a judge or a sandbox beside a run don't replace a run through a link there."""
    run = tiny(tmp_path)
    before = run.read_bytes()
    (tmp_path / "runs" / "r.grades").mkdir()
    (tmp_path / "runs" / "r.grades" / "lexical.verdicts.jsonl").symlink_to(run)
    done = inside("grade", "--no-store", run, cwd=tmp_path, code=2)
    assert "reads this file" in done.err
    assert run.read_bytes() == before


def test_the_graph_of_a_dataset_isnt_written_over_its_source(tmp_path: Path) -> None:
    """import graph --replace refuses the dataset's own edges as the graph that it reads."""
    tiny(tmp_path, edges=[{"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#y"}])
    before = content(tmp_path)
    done = inside("import", "graph", "-d", ".", "edges.jsonl", "--replace", cwd=tmp_path, code=2)
    assert "reads this file" in done.err
    assert content(tmp_path) == before


@pytest.mark.parametrize("name", ["graphkit-demo.html", "graphkit-demo-code.html"])
def test_the_demo_replaces_no_page_of_others(name: str, tmp_path: Path) -> None:
    """The demo writes its pages into the working folder, and not over what somebody keeps there."""
    (tmp_path / name).write_text("<!doctype html><title>mine</title>")
    done = inside("demo", cwd=tmp_path, code=2)
    assert name in done.err
    assert (tmp_path / name).read_text() == "<!doctype html><title>mine</title>"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"run": "r", "question_id": "q1"}', "a run"),
        ('{"run": "r", "question_id": "q1", "answ', "a run"),
        ('{"ru', "a run"),
        ('{"id": "q1", "question": "x?"}', "questions"),
        ('[\n {"query_id": "q1", "query": "x?"}]', "questions"),
        ('\ufeff{"id": "q1", "user_input": "x?"}', "questions"),
        ('{"run": "r", "question": "q", "judge": "j", "grader": "g"}', "verdicts"),
        ('{"repo": "a", "sha": "1"}', "commits"),
        ('{"id": "s", "commits": {}}', "compatibility"),
        ('{"id": "a:b", "kind": "module"}', "artifacts"),
        ('{"source": "a", "target": "b"}', "edges"),
        ('{"resourceSpans": []}', "spans"),
        ('{"id": 7}', "something that graphkit didn't write"),
        ("<!doctype html><p>Hello", "something that graphkit didn't write"),
        ("[" * 100_000, "something that graphkit didn't write"),
        ("\0\0\0", "something that graphkit didn't write"),
    ],
)
def test_kinds(text: str, kind: str, tmp_path: Path) -> None:
    """A file is known by its first record, also where that was cut."""
    (tmp_path / "file").write_text(text, encoding="utf-8")
    assert kind_of(tmp_path / "file") == kind


def test_pipes_and_devices_are_written(tmp_path: Path) -> None:
    """Pipes, devices and empty files may be written, since nothing in them can be replaced."""
    run = tiny(tmp_path)
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "null.jsonl").symlink_to("/dev/null")
    for output in ("empty.jsonl", "null.jsonl"):
        inside("evaluate", "--no-store", "-m", "RR", run, "-o", output, cwd=tmp_path, code=0)
