"""Logs of the queries of lightrag-hku."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from graphkit.imports.importer import import_log
from tests.live.small_graph import (
    ANSWER,
    EDGES,
    NAMES,
    QUESTION,
    SIZE,
    TEXTS,
    imported,
    library,
    record,
    retrieved,
    vector,
    walked,
    with_ends,
)

pytestmark = pytest.mark.filterwarnings("default")


#: What isn't read of a result: where its rows come from, what they say in prose, and how the query went.
UNREAD = {
    *(f"data.entities.{name}" for name in ("created_at", "entity_type", "file_path", "source_id")),
    *(f"data.relationships.{name}" for name in ("created_at", "description", "file_path", "keywords")),
    *("data.relationships.source_id", "data.relationships.weight", "metadata.keywords", "metadata.processing_info"),
}


#: The modes that look at the graph.
GRAPH_MODES = ("local", "global", "hybrid", "mix")


@pytest.fixture
def logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The result of each kind of query by its name: the mode, and whether a model answered."""
    monkeypatch.chdir(tmp_path)  # it writes its own log to where it is
    monkeypatch.setattr("sys.argv", ["lightrag"])
    library("lightrag")
    return asyncio.run(_queried(tmp_path / "storage"))


async def _queried(folder: Path) -> dict[str, Any]:
    import numpy
    from lightrag import LightRAG, QueryParam
    from lightrag.utils import EmbeddingFunc, Tokenizer

    class Letters:
        def encode(self, content: str) -> list[int]:
            return list(map(ord, content))

        def decode(self, tokens: list[int]) -> str:
            return "".join(map(chr, tokens))

    async def embedded(texts: list[str], **_: Any) -> Any:
        return numpy.array([vector(text) for text in texts])

    async def model(prompt: str, system_prompt: str | None = None, **_: Any) -> str:
        if "high_level_keywords" in f"{prompt}{system_prompt}":
            return json.dumps({"high_level_keywords": ["works"], "low_level_keywords": ["Ann"]})
        return f"{ANSWER} [1]\n\n### References\n- [1] people.md"

    folder.mkdir()
    rag = LightRAG(
        working_dir=str(folder),
        llm_model_func=model,
        embedding_func=EmbeddingFunc(embedding_dim=SIZE, max_token_size=8192, func=embedded),
        tokenizer=Tokenizer("letters", Letters()),
    )
    await rag.initialize_storages()
    try:
        await rag.ainsert_custom_kg(_graph())
        found = {}
        for mode in (*GRAPH_MODES, "naive", "bypass"):
            param = QueryParam(mode=mode, enable_rerank=False)
            found[f"{mode} data"] = await rag.aquery_data(QUESTION, param)
            found[f"{mode} llm"] = await rag.aquery_llm(QUESTION, param)
            found[f"{mode} answer"] = await rag.aquery(QUESTION, param)
            context = QueryParam(mode=mode, enable_rerank=False, only_need_context=True)
            prompt = QueryParam(mode=mode, enable_rerank=False, only_need_prompt=True)
            found[f"{mode} context"] = await rag.aquery(QUESTION, context)
            found[f"{mode} prompt"] = await rag.aquery(QUESTION, prompt)
        return found
    finally:
        await rag.finalize_storages()


def _graph() -> dict[str, Any]:
    files = dict(zip(EDGES, ("people.md", "people.md", "places.md"), strict=True))
    return {
        "chunks": [
            {"content": text, "source_id": file, "file_path": file, "chunk_order_index": 0}
            for file, text in TEXTS.items()
        ],
        "entities": [
            {"entity_name": name, "entity_type": "Thing", "description": name, "source_id": "people.md"}
            | {"file_path": "people.md"}
            for name in NAMES
        ],
        "relationships": [
            {"src_id": source, "tgt_id": target, "description": f"{source} {relation} {target}"}
            | {"keywords": relation, "weight": 1.0, "source_id": file, "file_path": file}
            for (source, relation, target), file in files.items()
        ],
    }


@pytest.mark.parametrize("kind", ["data", "llm"])
@pytest.mark.parametrize("mode", GRAPH_MODES)
def test_queries(logged: dict[str, Any], tmp_path: Path, mode: str, kind: str) -> None:
    """The relationships in the library's order, the direction that it lost given back, and the entities in theirs."""
    result = logged[f"{mode} {kind}"]
    tables = result["data"]
    found = imported(tmp_path, "lightrag", {"question_id": "q", "result": result})
    one = record(found)
    pairs = [{row["src_id"], row["tgt_id"]} for row in tables["relationships"]]
    assert [{source, target} for source, _, target in walked(one)] == pairs
    assert pairs
    # Whatever it found, each edge has the direction and the relation of the knowledge graph again.
    assert set(walked(one)) <= set(EDGES)
    assert one["ordered"] is False
    assert found.figures["edges"].items() >= {"forward": len(pairs), "reversed": 0, "other": 0, "unknown": 0}.items()
    entities = [row["entity_name"] for row in tables["entities"]]
    assert [name for name in retrieved(one) if name in NAMES] == with_ends(entities, one)
    assert entities
    if kind == "llm":
        assert one["answer"].startswith(ANSWER)
        assert one["citations"] == ["town:people.md"]
    unread = set(found.figures["unread"])
    assert unread >= UNREAD
    around = {"result.llm_response.is_streaming", "result.metadata.keywords", "result.metadata.processing_info"}
    assert unread - UNREAD <= around


@pytest.mark.parametrize("kind", ["context", "prompt"])
@pytest.mark.parametrize("mode", [*GRAPH_MODES, "naive"])
def test_contexts_as_text(logged: dict[str, Any], tmp_path: Path, mode: str, kind: str) -> None:
    """The text of a context, and the prompt that holds it, say what the tables of the same query say."""
    texts = record(imported(tmp_path / "text", "lightrag", {"question_id": "q", "result": logged[f"{mode} {kind}"]}))
    tables = record(imported(tmp_path / "data", "lightrag", {"question_id": "q", "result": logged[f"{mode} data"]}))
    assert retrieved(texts) == retrieved(tables)
    assert retrieved(texts)
    assert "answer" not in texts
    if mode == "naive":
        assert "traversal" not in texts
    else:
        assert walked(texts) == walked(tables)
        assert walked(texts)


@pytest.mark.parametrize("kind", ["data", "llm"])
@pytest.mark.parametrize(("mode", "files"), [("naive", ["people.md"]), ("bypass", None)])
def test_modes_without_the_graph(
    logged: dict[str, Any], tmp_path: Path, mode: str, kind: str, files: list[str] | None
) -> None:
    """A naive query retrieves texts alone, and bypass nothing: no walk is reported, which isn't an empty one."""
    one = record(imported(tmp_path, "lightrag", {"question_id": "q", "result": logged[f"{mode} {kind}"]}))
    assert "traversal" not in one
    assert (retrieved(one)[:1] if files else one.get("retrieved")) == files
    assert ("answer" in one) == (kind == "llm")


def test_an_answer_alone(logged: dict[str, Any], tmp_path: Path) -> None:
    """aquery() gives a text: named by its format, it is an answer of which nothing else is known."""
    data = tmp_path / "town"
    imported(tmp_path, "lightrag", {"question_id": "q", "result": logged["mix data"]})
    log = tmp_path / "answers.jsonl"
    log.write_text(json.dumps({"question_id": "q", "result": logged["mix answer"]}), "utf-8")
    one = record(import_log(log, "lightrag", data, run="live"))
    assert one["answer"].startswith(ANSWER)
    assert not {"retrieved", "traversal"} & one.keys()
