"""Edges of graphiti-core's own classes; its searches need a database: tests/plugins/logs/recorded has some."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.live.small_graph import EDGES, NAMES, library, retrieved, walked
from tests.plugins.logs.recorded_logs import scores, town

pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("logged", ["edges", "result"])
def test_what_the_classes_write(logged: str, tmp_path: Path) -> None:
    """Facts name the ends of edges, as nodes do in a result: all edges, so both gold edges; by hand it is half."""
    library("graphiti_core")
    from graphiti_core.edges import EntityEdge
    from graphiti_core.nodes import EntityNode
    from graphiti_core.search.search_config import SearchResults

    now = datetime(2026, 1, 1, tzinfo=UTC)
    nodes = {name: EntityNode(name=name, group_id="g", labels=[], created_at=now) for name in NAMES}
    edges = [
        EntityEdge(
            group_id="g",
            source_node_uuid=nodes[source].uuid,
            target_node_uuid=nodes[target].uuid,
            created_at=now,
            name=relation,
            fact=f"{source} {relation.replace('_', ' ').lower()} {target}" if logged == "edges" else "It is so.",
        )
        for source, relation, target in EDGES
    ]
    result = SearchResults(edges=edges, nodes=list(nodes.values()))
    value: Any = [one.model_dump(mode="json") for one in edges]
    value = value if logged == "edges" else result.model_dump(mode="json")
    _, record = town(tmp_path, "graphiti", {"question_id": "q", "results": value})
    assert sorted(walked(record)) == sorted(EDGES)
    assert scores(record) == (1.0, 0.5)
    assert retrieved(record) == ["Ann", "Acme", "Zed", "Bern"]
