"""docs/first-gate.md, as a reader follows it: from a spreadsheet and a graph to a red and a green gate."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import networkx

from tests.helpers import ROOT
from tests.helpers.cli import Graph, Process, inside

PAGE = (ROOT / "docs" / "first-gate.md").read_text(encoding="utf-8")

#: How many questions the spreadsheet has, each with a page, a handler and a table of its own.
QUESTIONS = 60


def write_spreadsheet(folder: Path) -> None:
    """Write the table and the graph that the page describes, by the columns and the path of its first row."""
    header, _, first, *_ = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", PAGE, re.M)
    ]
    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    with (folder / "questions.csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(header)
        for number in range(1, QUESTIONS + 1):
            row = [cell.replace("01", f"{number:02}") for cell in first]
            table.writerow(row)
            page, calls, handler, reads, target = re.split(r" -(\w+)-> ", row[-1])
            graph.add_edge(page, handler, relation=calls)
            graph.add_edge(handler, target, relation=reads)
    networkx.write_graphml(graph, folder / "graph.graphml")


def test_the_page(graph: Graph, tmp_path: Path) -> None:
    """At most six commands lead from the files to a gate that fails and one that passes, as the page says."""
    write_spreadsheet(tmp_path)
    [module] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "my_system.py").write_text(module)
    commands = re.findall(r"^    graphkit (.*)$", PAGE, re.MULTILINE)
    assert len(commands) <= 6
    said = []
    for line in commands:
        code = re.search(r"# exit code (\d)$", line)
        words = shlex.split(line, comments=True)
        said.append(inside(*words, cwd=tmp_path, env=graph.env, code=int(code[1]) if code else 0))
    made, _, red, missed, _, green = said
    kinds = (f"{QUESTIONS} with {kind}" for kind in ("gold paths", "relevant ids", "answers"))
    assert f"{QUESTIONS} questions ({', '.join(kinds)})" in made.out
    # Three nodes and two edges for each question, all of which are gold.
    assert f"{3 * QUESTIONS} artifacts, {2 * QUESTIONS} edges; it holds {2 * QUESTIONS} of" in made.out
    assert made.err == ""
    # One of the two edges of each path is traversed, and no other: 2 * .5 * 1 / 1.5.
    assert "EdgeF1 is 0.6667, under 0.7" in red.err
    assert "READS" in missed.out
    assert "CALLS" not in missed.out
    assert re.search(r"^EdgeRecall +1\.00$", green.out, re.MULTILINE)


def test_the_job_of_the_page(process: Process, tmp_path: Path) -> None:
    """The commands of the job in CI run without a database, and the gate is a test case."""
    write_spreadsheet(tmp_path)
    [module] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "my_system.py").write_text(module)
    [job] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    process("init", "my-eval", "questions.csv", cwd=tmp_path, code=0)
    for line in re.findall(r"^- run: graphkit (.*)$", job, re.MULTILINE):
        process(*shlex.split(line), cwd=tmp_path, code=0)
    assert "EdgeF1" in (tmp_path / "gate.xml").read_text()
    assert not (tmp_path / ".graphkit").exists()
