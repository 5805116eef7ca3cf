"""The server of ``graphkit mcp``, driven by the official client over a real process."""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import TextContent, TextResourceContents

from graphkit.files.assets import storefront_folder
from graphkit.plugins.agents.replies import LARGEST, reply
from tests.helpers.cli import Graph, inside, write_lines

#: One call of a tool: its name and arguments; what it returns, and whether it is an error.
Call = Callable[..., Awaitable[tuple[str, bool]]]

OUTSIDE = "the path leads out of the working folder"


def served(folder: Path, work: Callable[[Client, Call], Awaitable[None]], env: dict[str, str] | None = None) -> None:
    """Run a server in a folder, and let a client work with it; each reply of a tool has at most 2 KB."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "graphkit", "mcp"],
        cwd=str(folder),
        env={**{name: value for name, value in os.environ.items() if name != "NEO4J_URI"}, **(env or {})},
    )

    async def main() -> None:
        async with Client(stdio_client(parameters)) as client:

            async def call(tool: str, **arguments: Any) -> tuple[str, bool]:
                result = await client.call_tool(tool, arguments)
                (content,) = result.content
                assert isinstance(content, TextContent)
                assert len(content.text.encode()) <= LARGEST
                return content.text, bool(result.is_error)

            await work(client, call)

    anyio.run(main)


def planted(folder: Path) -> dict[str, str]:
    """Write a dataset whose run leaves one gold edge of each of 20 questions; return these edges by question.

    The edge is the last required one of the first path, where no alternative is nearer; all steps before are followed.
    """
    rng = random.Random(25)
    source = storefront_folder()
    for file in source.glob("*.jsonl"):
        (folder / file.name).write_bytes(file.read_bytes())
    broken: dict[str, str] = {}
    records = []
    for line in (source / "questions.jsonl").read_text("utf-8").splitlines():
        question = json.loads(line)
        if not question["paths"]:
            continue
        first, *others = question["paths"]
        required = [number for number, step in enumerate(first["steps"]) if not step["optional"]]
        if required[-1] == 0 or len(broken) == 20:
            continue
        kept, last = first["steps"][: required[-1]], first["steps"][required[-1]]
        whole = [one["steps"] for one in others if one.get("group") is None]
        lost = {**last, "target": f"api:api/lost_{rng.randrange(100)}.py#lost"}
        walks = [[*kept, lost], *whole]
        steps = [
            {**{name: step[name] for name in ("source", "relation", "target")}, "path": number, "position": position}
            for number, walk in enumerate(walks)
            for position, step in enumerate(walk)
        ]
        records.append({"run": "planted", "question_id": question["id"], "retrieved": [], "traversal": steps})
        broken[question["id"]] = f"{last['source']} -{last['relation']}-> {last['target']}"
    (folder / "runs").mkdir()
    write_lines(folder / "runs" / "planted.jsonl", records)
    assert len(broken) == 20
    return broken


def test_scripted_client_finds_each_planted_edge(tmp_path: Path) -> None:
    """Three calls suffice for each of 20 questions: the runs, the failures of the question, and why."""
    broken = planted(tmp_path)

    async def work(client: Client, call: Call) -> None:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == {"runs", "compare", "failures", "why"}
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        for question, edge in broken.items():
            run = json.loads((await call("runs"))[0])["rows"][0]["run"]
            found = json.loads((await call("failures", run=run, question=question))[0])
            assert found["counts"]["wrong-turns"] == 1, question
            explained = json.loads((await call("why", run=run, question=question))[0])
            assert explained["divergence"] == edge
            assert "divergence" in explained["untrusted"]

    served(tmp_path, work)


def test_paths_outside_are_refused(tmp_path: Path) -> None:
    """Neither a path above, nor an absolute one, nor a link, nor the dataset of a run leads out of the folder."""
    outside, folder = tmp_path / "outside", tmp_path / "work"
    for path in (outside, folder):
        path.mkdir()
        planted(path)
    (folder / "linked").symlink_to(outside)
    (folder / "runs" / "linked.jsonl").symlink_to(outside / "runs" / "planted.jsonl")
    questions = folder / "halfway"
    (questions / "runs").mkdir(parents=True)
    (questions / "questions.jsonl").symlink_to(outside / "questions.jsonl")
    (questions / "runs" / "r.jsonl").write_bytes((folder / "runs" / "planted.jsonl").read_bytes())
    hostile = [
        *("../outside/runs/planted.jsonl", str(outside / "runs" / "planted.jsonl"), "linked/runs/planted.jsonl"),
        *("runs/linked.jsonl", "runs/../../outside/runs/planted.jsonl", "halfway/runs/r.jsonl", "/etc/passwd"),
        *("../nothing.jsonl", "runs/\0.jsonl", "@storefront/../../../secret.jsonl"),
    ]

    async def work(client: Client, call: Call) -> None:
        for run in hostile:
            for tool, more in (("why", {"question": "sf-02"}), ("failures", {})):
                text, refused = await call(tool, run=run, **more)
                assert refused, run
                assert OUTSIDE in text, run
        text, refused = await call("compare", first="runs/planted.jsonl", second=hostile[0])
        assert refused
        assert OUTSIDE in text
        text, refused = await call("runs", dataset="../outside")
        assert refused
        assert OUTSIDE in text
        # What can't be used is listed with the reason, without anything from outside.
        rows = json.loads((await call("runs"))[0])["rows"]
        assert [(row.get("run"), row["dataset"], row.get("name"), row.get("unusable")) for row in rows] == [
            ("runs/linked.jsonl", "work", None, OUTSIDE),
            ("runs/planted.jsonl", "work", "planted", None),
            (None, "halfway", None, OUTSIDE),
            (None, "linked", None, OUTSIDE),
        ]
        for path in hostile:
            with pytest.raises(Exception, match=r"working folder|not found|Unknown resource|Error"):
                await client.read_resource(f"graphkit://report/{quote(path, safe='')}")
        # After all this, the server goes on.
        assert not (await call("why", run="runs/planted.jsonl", question="sf-02"))[1]

    served(folder, work)


def test_mistakes_are_told_without_a_traceback(tmp_path: Path) -> None:
    """Unknown runs, questions, kinds and arguments of other types are errors of the call, with a remedy."""
    planted(tmp_path)
    run = "runs/planted.jsonl"
    mistakes: list[tuple[str, dict[str, Any], str]] = [
        ("why", {"run": "nobody", "question": "sf-02"}, "there is no graph"),
        ("why", {"run": run, "question": "sf-2"}, "Did you mean sf-"),
        ("failures", {"run": run, "kind": "wrong-turn"}, "wrong-turns"),
        ("failures", {"run": run, "offset": -1}, "0 or more"),
        ("failures", {"run": 7}, "string"),
        ("compare", {"first": run, "second": run}, "itself"),
        ("why", {"run": "x" * 100_000, "question": "q"}, "100000 characters"),
        ("why", {"run": "x" * 4_000, "question": "q"}, "there is no graph"),
        ("why", {"run": run, "question": "\x1b[2J" * 1_000}, "no question has the id"),
    ]

    async def work(client: Client, call: Call) -> None:
        for tool, arguments, said in mistakes:
            text, refused = await call(tool, **arguments)
            assert refused
            assert said in text
            assert "Traceback" not in text

    served(tmp_path, work)


def test_runs_in_the_graph_are_served_read_only(tmp_path: Path, graph: Graph) -> None:
    """A run in the graph is listed, compared and explained as its file is."""
    broken = planted(tmp_path)
    question, edge = next(iter(broken.items()))
    inside("evaluate", "runs/planted.jsonl", cwd=tmp_path, env=graph.env, code=0)

    async def work(client: Client, call: Call) -> None:
        rows = json.loads((await call("runs"))[0])["rows"]
        assert {"run": "planted", "in": "graph"}.items() <= rows[-1].items()
        explained = json.loads((await call("why", run="planted", question=question))[0])
        assert explained["divergence"] == edge
        counts = json.loads((await call("failures", run="planted", question=question))[0])["counts"]
        assert counts["wrong-turns"] == 1

    served(tmp_path, work, {name: value for name, value in graph.env.items() if value is not None})


def test_resources(tmp_path: Path) -> None:
    """The schemas of the records and the scorecard of a run can be read."""
    planted(tmp_path)

    async def work(client: Client, call: Call) -> None:
        (schemas,) = (await client.read_resource("graphkit://schema")).contents
        assert isinstance(schemas, TextResourceContents)
        assert "question" in json.loads(schemas.text)
        uri = f"graphkit://report/{quote('runs/planted.jsonl', safe='')}"
        (report,) = (await client.read_resource(uri)).contents
        assert isinstance(report, TextResourceContents)
        assert json.loads(report.text)["run"] == "planted"

    served(tmp_path, work)


@pytest.mark.parametrize("text", ["x" * 5_000, "\N{SNOWMAN}" * 900, '"\\' * 900, "\x1b[2J"])
def test_replies_fit(text: str) -> None:
    """However large or odd its texts, a reply is JSON of at most 2 KB, and counts what it leaves out."""
    rows = [{"n": number, "text": text, "list": [text] * 40} for number in range(30)]
    found = reply({"run": text}, rows, "ask for less")
    assert len(found.encode()) <= LARGEST
    assert "\x1b" not in found
    read = json.loads(found)
    assert read["rows"]
    assert read["omitted"] == f"{30 - len(read['rows'])} of 30 rows: ask for less"
