"""Each command once as a process of its own, from its start to its exit code; all else is asked of the application."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.cli import ANSWERS, Graph, Process, inside, write_lines
from tests.helpers.invocations import COMMANDS, PLAIN, RUN, Words, commands, usual, write_world

#: The exit codes that aren't 0: stale gold, no baseline, and refusals for what a small world or this machine lacks.
CODES: dict[Words, int] = {
    ("check",): 1,
    ("baseline", "get"): 1,
    **dict.fromkeys(
        [("ci",), ("execute",), ("import", "auto"), ("gold", "propose"), ("gold", "migrate"), ("ragas", "evaluate")], 2
    ),
    **dict.fromkeys([("db", "rename"), ("db", "remove"), ("cache", "prune")], 2),
    **dict.fromkeys([("judge", "spot-check"), ("judge", "pool"), ("judge", "pairwise"), ("judge", "calibrate")], 2),
}
IMPORTS = ("auto", "gold", "graph", "scores")
#: Those of the fast suite: one each that reads files, fills a graph, reads it, is refused, lists, and is a plug-in's.
FAST_PROCESSES = {("evaluate",), ("load",), ("import", "auto"), ("measures",)}
#: Where each of the others is run as a process.
ELSEWHERE: dict[Words, str] = {
    ("demo",): "tests/test_wheel.py",
    ("listen",): "tests/plugins/listen/test_listen.py",
    ("view",): "tests/plugins/view/test_view.py",
    ("serve-graph",): "tests/plugins/cypher/test_serve_graph.py",
    ("mcp",): "tests/plugins/agents/test_mcp.py",
    ("sandbox", "check"): "tests/plugins/sandbox/test_sandbox_command.py",
    ("db", "start"): "tests/test_wheel.py",
    ("db", "stop"): "tests/test_wheel.py",
    ("db", "compact"): "tests/plugins/embedded/test_compaction.py",
    **{words: "import auto" for words in COMMANDS if words[0] == "import" and words[1] not in IMPORTS},
}


def test_every_command_is_run() -> None:
    """No command is run as a process nowhere."""
    assert {*commands()} == {*COMMANDS, *PLAIN, *ELSEWHERE}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, graph: Graph) -> Path:
    """A folder with a file for each parameter of each command, whose two runs the graph holds."""
    folder = write_world(tmp_path_factory.mktemp("world"))
    other = write_lines(folder / "data" / "runs" / "s.jsonl", [{**answer, "run": "s"} for answer in ANSWERS])
    inside("evaluate", RUN, other, cwd=folder, env=graph.env, code=0)
    return folder


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, marks=() if words in FAST_PROCESSES else pytest.mark.slow("a process for each command"))
        for words in (*COMMANDS, *PLAIN)
        if words not in ELSEWHERE
    ],
    ids=" ".join,
)
def test_process(words: Words, process: Process, graph: Graph, world: Path) -> None:
    """It ends with its exit code; where that isn't 0, the last word is an error's."""
    done = process(*usual(words), cwd=world, env=graph.env)
    assert done.code == CODES.get(words, 0), done.err
    assert bool(done.code) is ("error: " in done.err)
