"""The databases to measure: the embedded one in a fresh folder, and a Neo4j where one can be had."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.graph.opening import prepared
from tests.helpers.engines import Neo4jServer, Unavailable, empty, neo4j_server


@contextlib.contextmanager
def servers(heap: str = "1g") -> Iterator[dict[str, Neo4jServer | None]]:
    """Provide the engines by name: embedded, and Neo4j with so much memory unless it can't be had, which is said."""
    with contextlib.ExitStack() as stack:
        found: dict[str, Neo4jServer | None] = {"embedded": None}
        try:
            found["Neo4j"] = stack.enter_context(neo4j_server(heap))
        except Unavailable as why:
            print(f"Without Neo4j: {why}", flush=True)
        yield found


@contextlib.contextmanager
def fresh(server: Neo4jServer | None) -> Iterator[Store]:
    """Provide an empty store with its constraints and indexes; the embedded one is deleted afterwards."""
    if server is not None:
        with Store.open(server.settings) as store:
            empty(store)
            yield prepared(store)
        return
    with (
        tempfile.TemporaryDirectory(prefix="graphkit-bench-", ignore_cleanup_errors=True) as folder,
        Store.open(Settings(data=Path(folder))) as store,
    ):
        yield prepared(store)
