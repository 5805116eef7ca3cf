"""Logs of queries that a real model wrote, as three libraries and a client of MCP recorded them.

tests/live/test_cypher_queries.py records them anew.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.helpers.suites import one_fast
from tests.plugins.cypher.query_logs import check_log

RECORDED = Path(__file__).parent / "recorded"


@one_fast("name", ["neo4j-graphrag", "langchain", "llama-index", "mcp"], "a graph of its own is served")
def test_recorded_queries(name: str, tmp_path: Path) -> None:
    """Each query is read with its rows, survives a second import, and is walked."""
    log = [json.loads(line) for line in (RECORDED / f"{name}.jsonl").read_text("utf-8").splitlines()]
    check_log(tmp_path, name, log)
