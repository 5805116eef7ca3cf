"""The agent that every framework runs: its tools, what its model asks for, and what an import has to make of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.live.small_graph import ANSWER, EDGES, QUESTION, retrieved, walked
from tests.plugins.logs.recorded_logs import scores, town

#: What the model asks for, one call after the other: the second call fails.
CALLS: tuple[tuple[str, dict[str, str]], ...] = (
    ("search", {"query": QUESTION}),
    ("open_node", {"node": "nobody"}),
    ("open_node", {"node": "Ann"}),
    ("open_node", {"node": "Acme"}),
)


def search(query: str) -> list[dict[str, Any]]:
    """Search the graph.

    Args:
        query: what to look for
    """
    return [{"id": "Ann", "score": 1.0}, {"id": "Zed", "score": 0.5}]


def open_node(node: str) -> list[list[str]]:
    """Return the edges of a node.

    Args:
        node: its name
    """
    if not any(node in edge for edge in EDGES):
        raise ValueError(f"no such node: {node}")
    return [list(edge) for edge in EDGES if node in edge]


def check(folder: Path, name: str, *values: Any) -> dict[str, Any]:
    """Return the record of a log, whose walk and finds have to be those that are known by hand.

    Ann, then Acme were opened: one edge lies between them, and is one of two in the gold path.
    """
    found, record = town(folder, name, *values)
    assert walked(record) == [("Ann", "WORKS_AT", "Acme")]
    assert scores(record) == (0.5, 0.5)
    assert retrieved(record) == ["Ann", "Zed"]
    assert record["answer"] == ANSWER
    assert [call["name"] for call in record["tool_calls"]][:4] == [name for name, _ in CALLS]
    assert [call.get("failed", False) for call in record["tool_calls"]][:4] == [False, True, False, False]
    assert not any("unused" in line for line in found.summary), found.summary
    return record
