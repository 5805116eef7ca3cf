"""``graphkit run`` as docs/running.md shows it."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
from pathlib import Path

from tests.helpers import ROOT
from tests.helpers.cli import COMMAND, Graph, environment, inside
from tests.helpers.datasets import SHOP_QUESTIONS, STOREFRONT
from tests.helpers.systems import records, run

#: What makes a system of one parameter wait at its fourth question, the first time.
WAITS_ONCE = """
import pathlib, time
plain, asked, marker = answer, [], pathlib.Path("waiting")

def answer(question):
    asked.append(question.id)
    if len(asked) == 4 and not marker.exists():
        marker.touch()
        time.sleep(3600)
    return plain(question)
"""


def test_from_a_system_to_a_report(tmp_path: Path, graph: Graph) -> None:
    """A small system is run, interrupted, resumed, scored, compared and reported by the page alone."""
    page = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    section = page.split("## From a system to a report\n")[1].split("\n## ")[0]
    source = section.split("```python\n")[1].split("```")[0]
    commands = [line.split("  ")[0].split()[1:] for line in re.findall(r"^    (graphkit .*)$", section, re.MULTILINE)]
    assert [command[0] for command in commands] == ["run", "evaluate", "compare", "report"]
    assert source.count("\n") <= 6
    # The page's names for the dataset and its other run; and a system that waits at its fourth question, once.
    data = tmp_path / "my-dataset"
    shutil.copytree(STOREFRONT, data, ignore=shutil.ignore_patterns("*.py", "history", "storefront-graph*"))
    log = (data / "runs" / "storefront-bm25.jsonl").read_text().replace("storefront-bm25", "bm25-expand")
    (data / "runs" / "bm25-expand.jsonl").write_text(log)
    (data / "runs" / "storefront-bm25.jsonl").unlink()
    (tmp_path / "my_system.py").write_text(source + WAITS_ONCE)
    process = subprocess.Popen(
        [*COMMAND, *commands[0], "--concurrency", "1"], cwd=tmp_path, env=environment(graph.env), stderr=subprocess.PIPE
    )
    while not (tmp_path / "waiting").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert b"run the same command again" in process.communicate(timeout=60)[1]
    assert process.returncode == 130
    done = inside(*commands[0], cwd=tmp_path, env=graph.env, code=0)
    assert f"3 records kept from an earlier command, {SHOP_QUESTIONS - 3} to go" in done.err
    for command in commands[1:]:
        words = [path for word in command for path in (sorted(tmp_path.glob(word)) if "*" in word else [word])]
        done = inside(*words, cwd=tmp_path, env=graph.env, code=0)
        assert "mine" in done.out or command[0] == "report"
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_documented_example(folder: Path) -> None:
    """The system of docs/running.md runs as it is written there."""
    text = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    source = text.split("```python\n")[1].split("```")[0]
    (folder / "my_system.py").write_text(source)
    run(folder, "--system", "my_system:answer")
    found = records(folder, "answer")
    assert json.dumps(found["q1"]["retrieved"]) == '[{"id": "api:auth.py"}]'
    assert found["q1"]["traversal"][0]["target"] == "api:auth.py"
