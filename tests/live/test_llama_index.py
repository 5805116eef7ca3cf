"""Logs of llama-index-core for the retrievers of a property graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.live.small_graph import EDGES, NAMES, QUESTION, TEXTS, imported, library, record, retrieved, vector, walked

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def searched() -> Any:
    """A retriever over a property graph, by the words of the question; with the texts or without."""
    library("llama_index.core")
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.graph_stores import SimplePropertyGraphStore
    from llama_index.core.graph_stores.types import VECTOR_SOURCE_KEY, EntityNode, Relation
    from llama_index.core.indices.property_graph import VectorContextRetriever
    from llama_index.core.indices.property_graph.base import TRIPLET_SOURCE_KEY
    from llama_index.core.schema import TextNode
    from llama_index.core.vector_stores import SimpleVectorStore

    class Words(BaseEmbedding):  # type: ignore[misc, unused-ignore]
        def _get_query_embedding(self, query: str) -> list[float]:
            return vector(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return vector(query)

        def _get_text_embedding(self, text: str) -> list[float]:
            return vector(text)

    store = SimplePropertyGraphStore()
    # As its extractors write it: the text from which an edge comes is a property of the edge's source.
    files = {"Ann": "people.md", "Zed": "people.md", "Acme": "places.md", "Bern": "places.md"}
    nodes = {
        name: EntityNode(name=name, label="Thing", embedding=vector(name), properties={TRIPLET_SOURCE_KEY: files[name]})
        for name in NAMES
    }
    store.upsert_nodes(list(nodes.values()))
    store.upsert_relations(
        [
            Relation(label=relation, source_id=nodes[source].id, target_id=nodes[target].id)
            for source, relation, target in EDGES
        ]
    )
    store.upsert_llama_nodes([TextNode(id_=file, text=text) for file, text in TEXTS.items()])

    vectors = SimpleVectorStore()
    vectors.add(
        [
            TextNode(id_=node.id, text=name, embedding=vector(name), metadata={VECTOR_SOURCE_KEY: node.id})
            for name, node in nodes.items()
        ]
    )

    def search(include_text: bool) -> list[Any]:
        retriever = VectorContextRetriever(
            store,
            vector_store=vectors,
            embed_model=Words(),
            include_text=include_text,
            similarity_top_k=1,
            path_depth=2,
        )
        found: list[Any] = retriever.retrieve(QUESTION)
        return found

    return search


def test_edges(searched: Any, tmp_path: Path) -> None:
    """Without the texts each node is an edge; their order is that of the nodes."""
    nodes = searched(include_text=False)
    texts = [node.node.get_content() for node in nodes]
    found = imported(tmp_path, "llama-index", {"question_id": "q", "nodes": [node.to_dict() for node in nodes]})
    one = record(found)
    # What it reached from both ends it returns twice; the first time counts.
    assert [" -> ".join(map(str, edge)) for edge in walked(one)] == list(dict.fromkeys(texts))
    # Ann is the nearest; within two steps of her are all the edges.
    assert set(walked(one)) == set(EDGES)
    assert one["ordered"] is False
    assert {"people.md", "places.md", *NAMES} == set(retrieved(one))
    assert found.figures["edges"] == {"forward": 3, "reversed": 0, "other": 0, "unknown": 0}
    assert found.figures["unread"] == {}


def test_edges_before_texts(searched: Any, tmp_path: Path) -> None:
    """With the texts each node is a text behind its edges, whose file is its id."""
    nodes = searched(include_text=True)
    found = imported(tmp_path, "llama-index", {"question_id": "q", "nodes": [node.to_dict() for node in nodes]})
    one = record(found)
    assert set(walked(one)) == set(EDGES)
    files = [node.node.node_id for node in nodes]
    assert [name for name in retrieved(one) if name in TEXTS] == files
    assert set(files) == set(TEXTS)
    assert found.figures["unread"] == {}
