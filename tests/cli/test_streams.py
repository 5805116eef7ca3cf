"""Standard output that is closed, or that nobody reads to its end, changes no exit code; and what a bug looks like."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from graphkit.files import texts
from tests.helpers.cli import COMMAND, environment, inside, tiny, write_lines
from tests.helpers.suites import one_fast

#: The tiny run has EdgeRecall 0.75, so the second gate fails.
PASSES = ("evaluate", "--no-store", "-m", "EdgeRecall", "--fail-under", "EdgeRecall=0.7", "runs/r.jsonl")
FAILS = ("evaluate", "--no-store", "-m", "EdgeRecall", "--fail-under", "EdgeRecall=0.8", "runs/r.jsonl")
COMMANDS = [
    (PASSES, 0),
    ((*FAILS, "--json"), 1),
    (("evaluate", "--no-store", "nowhere.jsonl"), 2),
    (("--version",), 0),
    (("evaluate", "--help"), 0),
    (("gold", "migrate", ".", "--repo", "x=."), 2),
]


def shell(command: tuple[str, ...], streams: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell with some redirections, and have the shell end with the command's own exit code."""
    tiny(folder)
    text = f"set -o pipefail; {shlex.join([*COMMAND, *command])} {streams}"
    return subprocess.run(
        ["bash", "-c", text], cwd=folder, env=environment(), capture_output=True, text=True, timeout=120, check=False
    )


@one_fast(
    ("command", "code"),
    COMMANDS,
    "a process for each command and reader",
    0,
    ids=lambda one: " ".join(one[:2]) if isinstance(one, tuple) else "",
)
@pytest.mark.parametrize("streams", [">&-", "<&- >&- 2>&-", "| head -c 1", "2>&1 | head -c 1"])
def test_the_exit_code_doesnt_depend_on_the_reader(
    command: tuple[str, ...], code: int, streams: str, tmp_path: Path
) -> None:
    """Closed or left early, standard output takes neither the exit code nor a word from the command."""
    done = shell(command, streams, tmp_path)
    assert done.returncode == code, done.stderr
    for word in ("Traceback", "Exception ignored", "Broken pipe", "bug"):
        assert word not in done.stdout + done.stderr


def test_outputs_are_whole_where_nobody_reads(tmp_path: Path) -> None:
    """A command goes on to its end, so what it writes to files is all there."""
    done = shell((*PASSES, "-o", "results.jsonl"), "| head -c 1", tmp_path)
    assert done.returncode == 0
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 2  # of each question one


def test_a_closed_output_isnt_the_next_file(tmp_path: Path) -> None:
    """The number of a closed stream isn't given to a file that is then written as if it were the stream."""
    done = shell((*PASSES, "-o", "results.jsonl", "--json"), "<&- >&- 2>&-", tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "results.jsonl").read_text().count("\n") == 2
    assert all(line.startswith('{"run"') for line in (tmp_path / "results.jsonl").read_text().splitlines())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@one_fast("command", [PASSES, ("--version",), ("--help",), ("measures", "--json")], "a process for each command", 0)
def test_a_full_disk_is_reported(command: tuple[str, ...], tmp_path: Path) -> None:
    """Output that can't be written is an error, and no bug."""
    done = shell(command, "> /dev/full", tmp_path)
    assert done.returncode == 2
    assert "error: No space left on device" in done.stderr


def _with_a_bug(folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    program = (
        "from graphkit.scoring import evaluate as m; m.evaluate_pass = None; from graphkit.cli import main; main()"
    )
    return subprocess.run(
        [sys.executable, "-c", program, "evaluate", "--no-store", tiny(folder)],
        capture_output=True,
        text=True,
        env=environment(more),
        check=False,
    )


def test_a_bug_is_reported_in_a_line(tmp_path: Path) -> None:
    """An unforeseen error has its own exit code, and the message says what happened and what to report."""
    done = _with_a_bug(tmp_path)
    assert done.returncode == 70
    assert "Traceback" not in done.stderr
    first, second = done.stderr.splitlines()
    assert first == "error: graphkit has a bug: TypeError: 'NoneType' object is not callable"
    assert "GRAPHKIT_DEBUG=1" in second


def test_a_bug_shows_its_traceback_on_demand(tmp_path: Path) -> None:
    """GRAPHKIT_DEBUG=1 shows where it happened, and the exit code stays."""
    done = _with_a_bug(tmp_path, GRAPHKIT_DEBUG="1")
    assert done.returncode == 70
    assert "Traceback" in done.stderr
    assert "error: graphkit has a bug" in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a=" + "[" * 100_000, "nested too deeply"),
        ("a=" + "1" * 5000, "too many digits"),
        ("# " + "x" * (texts.LONGEST_TEXT + 1), "longer than 1 MiB"),
        ("a = \udcff", "UTF-8"),
    ],
)
@pytest.mark.parametrize("option", ["--config", "--prices"])
def test_a_config_that_is_none(option: str, text: str, said: str, tmp_path: Path) -> None:
    """Deep nesting, a number of 5,000 digits and a file without an end are refused by name."""
    run = tiny(tmp_path)
    (tmp_path / "x.toml").write_text(text, encoding="utf-8", errors="surrogateescape")
    command = ("evaluate", "-m", "RR") if option == "--config" else ("grade", "--judge", "anthropic", "--dry-run")
    done = inside(*command, "--no-store", option, "x.toml", run, cwd=tmp_path, code=2)
    assert done.err.startswith("error: x.toml")
    assert said in done.err


def test_a_config_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that never ends, and a pipe that nobody writes to, are refused after a megabyte or some seconds."""
    monkeypatch.setattr(texts, "PATIENCE", 0.05)
    run = tiny(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    for file, said in (("/dev/zero", "has no end"), ("pipe", "the pipe has no end yet")):
        done = inside("evaluate", "--no-store", "--config", file, run, cwd=tmp_path, code=2)
        assert said in done.err


@pytest.mark.parametrize("format", ["otel", "openinference"])
def test_a_log_that_holds_no_spans(format: str, tmp_path: Path) -> None:  # noqa: A002
    """Records of graphkit's own, which name a question, are no spans."""
    tiny(tmp_path)
    done = inside("import", format, "runs/r.jsonl", "-d", ".", "-o", "new.jsonl", cwd=tmp_path, code=2)
    assert "runs/r.jsonl:1: nothing in it is what this format writes" in done.err


def test_graphml_with_an_edge_to_nowhere(tmp_path: Path) -> None:
    """The edge is named by its line; one that stands before its nodes is none of these."""
    tiny(tmp_path)
    (tmp_path / "g.graphml").write_text(
        '<graphml><graph edgedefault="directed">\n<edge source="a" target="b" relation="R"/>\n'
        '<node id="a"/><node id="b"/>\n<edge source="a"\n target="c" relation="R"/>\n</graph></graphml>\n'
    )
    done = inside("import", "graph", "-d", ".", "g.graphml", cwd=tmp_path, code=2)
    # The element of the edge to c begins on the fourth line.
    assert done.err.startswith("error: g.graphml:4: the edge names the node 'c', which the file lacks")
    assert not (tmp_path / "edges.jsonl").exists()
    (tmp_path / "g.graphml").write_text((tmp_path / "g.graphml").read_text().replace('"c"', '"b"'))
    inside("import", "graph", "-d", ".", "g.graphml", cwd=tmp_path, code=0)


# Names -------------------------------------------------------------------------------------------------------------

NAME = "r\nrun2 1.0000 \r\t\x0b\x85\u2028\u2029x"
SHOWN = r"r\u000arun2 1.0000 \u000d\u0009\u000b\u0085\u2028\u2029x"


def test_a_name_stays_on_its_line(tmp_path: Path) -> None:
    """Ends of lines in names are written out in the terminal, in Markdown, in JUnit and on the page."""
    questions = [{"id": NAME, "question": "x?", "relevant": {"a": 1}, "category": NAME}]
    run = tiny(tmp_path, questions, [{"run": NAME, "question_id": NAME, "retrieved": ["a"]}])
    scores = tmp_path / "s.csv"
    outputs = [part for name in ("o.md", "o.xml") for part in ("-o", name)]
    done = inside(
        "evaluate", "--full", "--no-store", "-m", "RR", "--by", "category", *outputs, run, cwd=tmp_path, code=0
    )
    inside("evaluate", "--full", "--no-store", "-m", "RR", "-o", scores, run, cwd=tmp_path, code=0)
    missing = inside(
        "evaluate", "--full", "--no-store", "-m", "RR", run, "--fail-under", "RR=1.5", cwd=tmp_path, code=1
    )
    summary = inside("summarize", scores, cwd=tmp_path, code=0)
    inside("report", run, "-o", "page.html", cwd=tmp_path, code=0)
    # Two runs of one name in two files: an error that names it.
    other = tmp_path / "runs" / "s.jsonl"
    other.write_bytes(run.read_bytes())
    error = inside("evaluate", "--no-store", "-m", "RR", run, other, cwd=tmp_path, code=2)
    page = (tmp_path / "page.html").read_text()
    junit = (tmp_path / "o.xml").read_text()
    texts_of = (done.out, done.err, missing.err, summary.out, junit, page)
    for text in (*texts_of, error.err, (tmp_path / "o.md").read_text()):
        assert not any(line.lstrip().startswith("run2") for line in text.splitlines()), text
        assert "\u2028" not in text
    for text in texts_of[:5]:
        assert SHOWN in text
    assert f'value="{SHOWN}"' in junit
    assert SHOWN in page
    assert SHOWN.replace("\\", "\\\\") in (tmp_path / "o.md").read_text()


@pytest.mark.parametrize("name", ["", " ", "\t\n", "\u3000"])
def test_a_run_has_a_name(name: str, tmp_path: Path) -> None:
    """An empty or blank name is refused in records, and wherever somebody gives one."""
    run = tiny(tmp_path)
    blank = [{"run": name, "question_id": "q1", "retrieved": ["a"]}]
    tiny(tmp_path / "blank", answers=blank)
    (tmp_path / "d.jsonl").write_text('{"user_input": "x?", "response": "y", "run": "r"}\n')
    write_lines(tmp_path / "s.jsonl", [{"run": name, "question": "q1", "measure": "m", "value": 1}])
    commands = (
        ("evaluate", "--no-store", "blank/runs/r.jsonl"),
        ("evaluate", "--no-store", run, "--run", name),
        ("grade", "--no-store", run, "--run", name),
        ("execute", "--no-store", "--unsafe-no-sandbox", run, "--run", name),
        ("import", "messages", run, "-d", ".", "-o", "new.jsonl", "--run", name),
        ("ragas", "import", "d.jsonl", "-o", "made", "--run", name),
        ("run", ".", "--system", f"{name}=builtins:repr"),
        ("run", ".", "--condition", f"{name}=builtins:repr"),
        ("summarize", "s.jsonl"),
    )
    for command in commands:
        done = inside(*command, cwd=tmp_path, code=2)
        assert (
            "can't be blank" in done.err
            or "at least 1 character" in done.err
            or "name of a run" in done.err
            or "names no system" in done.err
        ), command
    assert not (tmp_path / "new.jsonl").exists()
    assert not (tmp_path / "made").exists()
