"""Small datasets whose graphs are asked in Cypher."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.cli import Row, write_lines

#: Four files and two tables in three repositories.
ARTIFACTS: list[Row] = [
    {"id": "web:cart.ts", "repo": "web", "path": "cart.ts", "kind": "File", "commit": "c1", "line": 3},
    {"id": "web:login.ts", "repo": "web", "path": "login.ts", "kind": "File"},
    {"id": "api:orders.py", "repo": "api", "path": "orders.py", "kind": "File", "aliases": ["orders"]},
    {"id": "db:orders.sql", "repo": "db", "kind": "Table"},
]
EDGES: list[Row] = [
    {"source": "web:cart.ts", "relation": "CALLS", "target": "api:orders.py"},
    {"source": "web:login.ts", "relation": "CALLS", "target": "api:orders.py", "since": "c1"},
    {"source": "api:orders.py", "relation": "WRITES", "target": "db:orders.sql"},
]


def world(
    folder: Path, artifacts: list[Row] | None = None, edges: list[Row] | None = None, stack: str | None = None
) -> Path:
    """Write a dataset, or another graph of one under the name of a stack; no edges are no file."""
    name = "" if stack is None else f"-{stack}"
    write_lines(folder / f"artifacts{name}.jsonl", ARTIFACTS if artifacts is None else artifacts)
    if edges != []:
        write_lines(folder / f"edges{name}.jsonl", edges or EDGES)
    write_lines(folder / "questions.jsonl", [{"id": "q1", "question": "Who writes orders?"}])
    return folder


def hubs(count: int = 400) -> tuple[list[Row], list[Row]]:
    """Return files that call one another, three each: walks over them have no end."""
    artifacts: list[Row] = [{"id": f"f{one}", "repo": f"r{one % 4}", "kind": "File"} for one in range(count)]
    edges: list[Row] = [
        {"source": f"f{one}", "relation": "CALLS", "target": f"f{(one * 7 + step) % count}"}
        for one in range(count)
        for step in (1, 2, 3)
    ]
    return artifacts, edges
