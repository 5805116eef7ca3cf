"""The commands that outputs offer to copy: each of them is collected and run."""

from __future__ import annotations

import html
import json
import re
import shlex
from pathlib import Path

import pytest

import graphkit
from graphkit.agents.workspace import Workspace
from tests.helpers.cli import ANSWERS, QUESTIONS, Row, inside, tiny, write_lines

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
