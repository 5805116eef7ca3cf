"""Logs of the searches of Microsoft's graphrag: local, global, DRIFT and basic."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.live.small_graph import (
    ANSWER,
    EDGES,
    IDS,
    NAMES,
    QUESTION,
    TEXTS,
    imported,
    library,
    record,
    retrieved,
    walked,
    with_ends,
)

pytestmark = pytest.mark.filterwarnings("default")

#: What isn't read of a result: the context as text, prose about edges, and figures by step.
UNREAD = {
    *("context_text", "context_data.relationships.links"),
    *(f"{figure}_categories" for figure in ("llm_calls", "prompt_tokens", "output_tokens")),
}

#: The first entity by its rows, and the rows of the edges, which begin at 1.
SAID = f"{ANSWER} [Data: Relationships (1); Entities (0)]"


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """LiteLLM, on which the library stands, fetches the prices of models when it is imported."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")


class Letters:
    """A tokenizer."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, tokens: list[int]) -> str:
        return bytes(tokens).decode()

    def num_tokens(self, text: str) -> int:
        return len(text) // 4


class Reply:
    """A model's reply, whole or as a stream of one piece, and in the requested form."""

    def __init__(self, content: str, form: Any) -> None:
        self.content = content
        self.choices = [SimpleNamespace(message=SimpleNamespace(content=content))]
        # Only the first step of a DRIFT search asks for a form, which says what to ask next.
        first = {"intermediate_answer": "A.", "score": 1, "follow_up_queries": ["Who is Ann?", "What is Acme?"]}
        self.formatted_response = form(**first) if form is not None else None

    def __await__(self) -> Any:
        yield from ()  # one search awaits what it iterates over, another doesn't
        return self

    async def __aiter__(self) -> Any:
        yield SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(content=self.content))])


class Model:
    """A model that always says the same."""

    tokenizer = Letters()

    def __init__(self, error: Exception | None = None, said: str = SAID) -> None:
        self.error = error
        self.said = said

    def completion_async(self, response_format: Any = None, **_: Any) -> Any:
        if self.error is not None:
            raise self.error
        return Reply(self.said, response_format)


class Embedder:
    """An embedder that says the same of each text."""

    def embedding(self, **_: Any) -> Any:
        return SimpleNamespace(first_embedding=[1.0, 0.0])


class Nearest:
    """A store of vectors for which Ann and Acme are the nearest to anything."""

    def similarity_search_by_text(self, text: str, text_embedder: Any, k: int) -> list[Any]:
        return [SimpleNamespace(document=SimpleNamespace(id=name, data=name), score=1) for name in ("Ann", "Acme")][:k]


def _index() -> dict[str, Any]:
    """Return an entity a name, numbered from 0, a relationship an edge, numbered from 1, and a text."""
    library("graphrag")
    from graphrag.data_model.entity import Entity
    from graphrag.data_model.relationship import Relationship
    from graphrag.data_model.text_unit import TextUnit

    return {
        "entities": [
            Entity(id=name, short_id=str(row), title=name.upper(), description=name, text_unit_ids=["t"], rank=1)
            for row, name in enumerate(NAMES)
        ],
        "relationships": [
            Relationship(
                id=f"r{row}",
                short_id=str(row),
                source=source.upper(),
                target=target.upper(),
                description=relation,
                rank=1,
                weight=1.0,
            )
            for row, (source, relation, target) in enumerate(EDGES, 1)
        ],
        "text_units": [TextUnit(id="t", short_id="7", text=TEXTS["people.md"])],
    }


def _reports() -> list[Any]:
    """Return a report on all."""
    library("graphrag")
    from graphrag.data_model.community_report import CommunityReport

    words = {"title": "Town", "summary": "Ann works.", "full_content": "Ann works at Acme."}
    return [
        CommunityReport(id="c", short_id="3", community_id="3", rank=5.0, full_content_embedding=[1.0, 0.0], **words)
    ]


def _whole(result: Any) -> dict[str, Any]:
    """Return the fields of a result, as its user writes them."""
    return {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}


def _search(model: Model) -> Any:
    library("graphrag")
    from graphrag.query.structured_search.local_search.mixed_context import LocalSearchMixedContext
    from graphrag.query.structured_search.local_search.search import LocalSearch

    context = LocalSearchMixedContext(
        **_index(),
        entity_text_embeddings=Nearest(),
        text_embedder=SimpleNamespace(),
        community_reports=[],
        covariates={},
        tokenizer=Letters(),
    )
    params = {"top_k_mapped_entities": 2, "max_context_tokens": 8000}
    search = LocalSearch(model, context, tokenizer=Letters(), context_builder_params=params)
    return asyncio.run(search.search(QUESTION))


def _rows(table: Any) -> Any:
    return table.to_dict(orient="records") if hasattr(table, "to_dict") else dataclasses.asdict(table)


def test_local_search(tmp_path: Path) -> None:
    """The relationships that were in the context, in their order, with the relation that the library lost."""
    result = _search(Model())
    found = imported(tmp_path, "graphrag", {"question_id": "q", "result": _whole(result)}, default=_rows)
    one = record(found)
    used = [row for row in _rows(result.context_data["relationships"]) if row["in_context"]]
    pairs = [(source.upper(), target.upper()) for source, _, target in walked(one)]
    assert pairs == [(row["source"], row["target"]) for row in used]
    # Both ends of the first are the nearest, and the other two touch one of them.
    assert walked(one)[0] == EDGES[0]
    assert sorted(walked(one)) == sorted(EDGES)
    assert one["ordered"] is False
    assert found.figures["edges"].items() >= {"forward": 3, "reversed": 0, "other": 0, "unknown": 0}.items()
    assert [name for name in retrieved(one) if name in NAMES] == with_ends(["Ann", "Acme"], one)
    assert one["answer"] == SAID
    assert one["latency_ms"] == pytest.approx(result.completion_time * 1000)
    assert (one["model_calls"], one["prompt_tokens"], one["output_tokens"]) == (
        result.llm_calls,
        result.prompt_tokens,
        result.output_tokens,
    )
    assert set(found.figures["unread"]) == UNREAD


def test_api(tmp_path: Path) -> None:
    """The pair that the functions of the library's api return has the same content without the figures."""
    result = _search(Model())
    pair = [result.response, result.context_data]
    one = record(imported(tmp_path, "graphrag", {"question_id": "q", "result": pair}, default=_rows))
    assert sorted(walked(one)) == sorted(EDGES)
    assert (one["answer"], "latency_ms" in one) == (SAID, False)


def test_a_model_that_failed(tmp_path: Path) -> None:
    """The library swallows the error of a model; an empty response is reported as one."""
    result = _search(Model(RuntimeError("no model")))
    one = record(imported(tmp_path, "graphrag", {"question_id": "q", "result": _whole(result)}, default=_rows))
    assert "answer" not in one
    assert one["error"]


def test_other_forms_of_the_tables(tmp_path: Path) -> None:
    """However pandas wrote the tables, and from the text of the context alone, the edges are the same."""
    result = _search(Model())
    whole = _whole(result)
    for write in (
        lambda table: table.to_csv(index=False),
        lambda table: table.to_json(),
        lambda table: table.to_dict(),
    ):
        one = record(imported(tmp_path, "graphrag", {"question_id": "q", "result": whole}, default=write))
        assert sorted(walked(one)) == sorted(EDGES)
    text = {name: whole[name] for name in ("response", "context_text")}
    one = record(imported(tmp_path, "graphrag", {"question_id": "q", "result": text}))
    assert sorted(walked(one)) == sorted(EDGES)
    assert [name for name in retrieved(one) if name in NAMES] == with_ends(["Ann", "Acme"], one)


def test_global_search(tmp_path: Path) -> None:
    """It looks at reports, which name no nodes: neither retrieval nor walk are reported."""
    library("graphrag")
    from graphrag.query.structured_search.global_search.community_context import GlobalCommunityContext
    from graphrag.query.structured_search.global_search.search import GlobalSearch

    said = json.dumps({"points": [{"description": f"{ANSWER} [Data: Reports (3)]", "score": 90}]})
    context = GlobalCommunityContext(_reports(), [], tokenizer=Letters())
    params = {"use_community_summary": False, "include_community_weight": False, "max_context_tokens": 8000}
    asked: dict[str, Any] = {"json_mode": False, "context_builder_params": params}
    result = asyncio.run(GlobalSearch(Model(said=said), context, tokenizer=Letters(), **asked).search(QUESTION))
    one = record(imported(tmp_path, "graphrag", {"question_id": "q", "result": _whole(result)}, default=_rows))
    assert one["answer"] == said
    assert not {"retrieved", "traversal", "error"} & one.keys()
    assert (one["model_calls"], one["citations"]) == (2, ["Reports (3)"])


def test_basic_search(tmp_path: Path) -> None:
    """It retrieves texts by their numbers, which the files of an index give the names of documents."""
    library("graphrag")
    import pandas
    from graphrag.query.structured_search.basic_search.basic_context import BasicSearchContext
    from graphrag.query.structured_search.basic_search.search import BasicSearch

    pandas.DataFrame([{"id": "t", "text": TEXTS["people.md"], "document_id": "d"}]).to_parquet(
        tmp_path / "text_units.parquet"
    )
    pandas.DataFrame([{"id": "d", "title": "people.md"}]).to_parquet(tmp_path / "documents.parquet")

    class Texts:
        def similarity_search_by_text(self, text: str, text_embedder: Any, k: int) -> list[Any]:
            return [SimpleNamespace(document=SimpleNamespace(id="t"), score=1)]

    context = BasicSearchContext(Embedder(), Texts(), _index()["text_units"], tokenizer=Letters())
    said = f"{ANSWER} [Data: Sources (7)]"
    result = asyncio.run(BasicSearch(Model(said=said), context, tokenizer=Letters()).search(QUESTION))
    line = {"question_id": "q", "result": _whole(result)}
    one = record(imported(tmp_path, "graphrag", line, default=_rows))
    assert (retrieved(one), one["citations"], "traversal" in one) == (["Sources (7)"], ["Sources (7)"], False)
    one = record(imported(tmp_path, "graphrag", line, default=_rows, parquet=tmp_path))
    assert (retrieved(one), one["citations"]) == (["people.md"], [IDS["people.md"]])


def test_drift_search(tmp_path: Path) -> None:
    """Its tables stand below the questions that it asked itself, and are taken together."""
    library("graphrag")
    from graphrag.config.models.drift_search_config import DRIFTSearchConfig
    from graphrag.query.structured_search.drift_search.drift_context import DRIFTSearchContextBuilder
    from graphrag.query.structured_search.drift_search.search import DRIFTSearch

    said = json.dumps({"response": ANSWER, "score": 50, "follow_up_queries": ["And Bern?"]})
    model = Model(said=said)
    context = DRIFTSearchContextBuilder(
        model=model,
        config=DRIFTSearchConfig(n_depth=1, drift_k_followups=2, primer_folds=1, local_search_text_unit_prop=0.4),
        text_embedder=Embedder(),
        entity_text_embeddings=Nearest(),
        reports=_reports(),
        tokenizer=Letters(),
        **_index(),
    )
    result = asyncio.run(DRIFTSearch(model, context, tokenizer=Letters()).search(QUESTION))
    assert len(result.context_data) == 2
    one = record(imported(tmp_path, "graphrag", {"question_id": "q", "result": _whole(result)}, default=_rows))
    assert sorted(walked(one)) == sorted(EDGES)
    assert [name for name in retrieved(one) if name in NAMES] == with_ends(["Ann", "Acme"], one)
    assert (one["answer"], one["ordered"]) == (said, False)
