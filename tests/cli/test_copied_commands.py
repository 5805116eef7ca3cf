"""The commands that outputs offer to copy: each of them is collected and run."""

from __future__ import annotations

import html
import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

import graphkit
from graphkit.plugins.agents.workspace import Workspace
from tests.helpers.cli import ANSWERS, QUESTIONS, Row, inside, tiny, write_lines
from tests.helpers.pages import Page, spine_of

#: Ids as shells and parsers of options misread them.
IDS = ("q 1", "-q2")

QUESTIONS_OF_SHELLS: list[Row] = [{**one, "id": name} for one, name in zip(QUESTIONS, IDS, strict=True)]


def answers(run: str, *, walked: bool) -> list[Row]:
    """Return the answers of a run; one that walks nothing loses both questions."""
    told = [{**one, "run": run, "question_id": name} for one, name in zip(ANSWERS, IDS, strict=True)]
    return told if walked else [{**one, "traversal": []} for one in told]


@pytest.fixture(params=["beside", "elsewhere"])
def runs(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, Path, tuple[str, ...]]:
    """Two run files, in the dataset's own folder or in another one, and the options that name the dataset."""
    first = tiny(tmp_path / "data", QUESTIONS_OF_SHELLS, answers("r", walked=True))
    second = write_lines(first.with_name("my s.jsonl"), answers("my s", walked=False))
    if request.param == "beside":
        return first.relative_to(tmp_path), second.relative_to(tmp_path), ()
    moved = [file.rename(tmp_path / file.name) for file in (first, second)]
    return Path(moved[0].name), Path(moved[1].name), ("--dataset", "data")


def offered(text: str) -> list[str]:
    """Return the commands of graphkit in a text: of the terminal, of a code block, or of a page."""
    found = re.findall(r"<code>(graphkit [^<]+)</code>", text)
    found += re.findall(r"^(?:next +|look further: | {2,})?(graphkit .+?) *$", text, re.MULTILINE)
    return [html.unescape(one) for one in found]


def test_each_copied_command_runs(runs: tuple[Path, Path, tuple[str, ...]], tmp_path: Path) -> None:
    """Page, terminal, comment, why, failures, agents and notebooks offer commands; each ends with 0."""
    first, second, options = runs
    said = {
        "evaluate": inside("evaluate", first, second, "--no-store", *options, cwd=tmp_path, code=0).out,
        "compare": inside("compare", first, second, *options, cwd=tmp_path, code=0).out,
        "comment": inside("compare", first, second, "--format", "github", *options, cwd=tmp_path, code=0).out,
        "failures": inside("failures", second, *options, cwd=tmp_path, code=0).out,
        "one kind": inside("failures", second, "--kind", "missed-edges", *options, cwd=tmp_path, code=0).out,
    }
    for name in IDS:
        said[f"failures of {name}"] = inside(
            "failures", second, f"--question={name}", *options, cwd=tmp_path, code=0
        ).out
        said[f"why {name}"] = inside("why", *options, "--", second, name, cwd=tmp_path, code=0).out
    inside("report", first, second, "-o", "page.html", *options, cwd=tmp_path, code=0)
    said["page"] = (tmp_path / "page.html").read_text()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        dataset = options[1] if options else None
        spine = graphkit.spine([first, second], IDS[0], dataset=dataset)
        said["notebook"] = "\n".join(spine.commands)
        said["drawn in a notebook"] = spine._repr_html_()
        said["explanation"] = f"look further: {graphkit.why(second, IDS[1], dataset=dataset).query}"
        said["agent"] = json.loads(Workspace(tmp_path, pytest.fail).why(str(second), IDS[0], dataset))["query"]
    commands = {name: offered(text) for name, text in said.items()}
    assert [name for name, some in commands.items() if not some] == []
    for name, some in commands.items():
        for command in some:
            if "RUN QUESTION" in command:  # it stands for further questions, and is no command to copy
                continue
            words = shlex.split(command, comments=True)
            done = inside(*words[1:], cwd=tmp_path)
            assert done.code == 0, (name, command, done.err)


def in_bash(command: str) -> list[str]:
    """Return the words of a command as bash reads them."""
    script = 'graphkit() { printf "%s\\0" "$@"; }; eval "$1"'
    done = subprocess.run(["bash", "-c", script, "bash", command], check=True, capture_output=True)
    return done.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize("name", ["it's $HOME", "-q", "tab\there", "\u202eright", "e\u0301\\n"])
def test_a_shell_reads_back_what_was_named(name: str, tmp_path: Path) -> None:
    """Whatever a question is called, the command of its explanation lists its failures: it misses an edge."""
    first, second = ({**one, "id": f"{name}{place}"} for place, one in enumerate(QUESTIONS))
    silent = [{**one, "question_id": f"{name}{place}", "traversal": []} for place, one in enumerate(ANSWERS)]
    run = tiny(tmp_path / "-my set", [first, second], silent)
    told = inside("why", "--dataset", "..", "--", run.name, f"{name}1", cwd=run.parent, code=0).out
    [look] = offered(told)
    inside("report", "--dataset", "..", "-o", "page.html", "--", run.name, cwd=run.parent, code=0)
    shown = Page((run.parent / "page.html").read_text("utf-8"))
    escaped = {} if name.isprintable() else {str(place): f"{name}{place}" for place in range(2)}
    assert shown.json("summary").get("ids", {}) == escaped  # saved rows hold these
    [why] = [one for one in offered(spine_of(shown, 1)) if one.startswith("graphkit why ")]
    assert inside(*in_bash(why), cwd=run.parent, code=0).out == told  # the page shows the id with escapes
    rows = inside(*in_bash(look), "--json", cwd=run.parent, code=0).objects()
    assert {row["question"] for row in rows if "question" in row} == {f"{name}1"}


def test_a_cut_table_names_a_run_that_begins_with_a_dash(tmp_path: Path) -> None:
    """The command behind a table that a limit cut shows all of its rows: q1 misses both of its edges, q2 its one."""
    run = tiny(tmp_path, answers=[{**one, "traversal": []} for one in ANSWERS])
    moved = run.rename(run.with_name("-r.jsonl"))
    cut = inside("failures", "--full", "--limit", 1, "-d", "..", "--", moved.name, cwd=moved.parent, code=0).out
    [again] = [one for one in re.findall(r"all: (graphkit .+)", cut) if "missed-edges" in one]
    assert len(inside("failures", "--json", *in_bash(again)[1:], cwd=moved.parent, code=0).objects()) == 3


def test_errors_quote_what_they_name(tmp_path: Path) -> None:
    """A folder and a file with spaces stand in the commands of errors as a shell takes them."""
    run = tiny(tmp_path / "my set")
    needs = inside("failures", "my set/runs/r.jsonl", "--kind", "extra-edges", cwd=tmp_path, code=2).err
    assert "`graphkit evaluate 'my set/runs/r.jsonl'` keeps the run there" in needs
    run.unlink()
    assert "`graphkit run 'my set' --system" in inside("evaluate", "my set", "--no-store", cwd=tmp_path, code=2).err
