"""A formatter and a recorder for neo4j-graphrag's searches that keep whole records.

The library's own formatter writes a record as text, in which a path keeps only its ends. This module keeps nodes,
directions and the order of paths for ``graphkit import neo4j-graphrag``. It imports neither the driver nor the library,
and recognises their objects by their attributes.
"""

from __future__ import annotations

import functools
import json
import math
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

from graphkit.errors import InputError

#: A longer list of numbers is an embedding, and is dropped.
LONGEST_NUMBERS = 32

#: The deepest nesting of written values.
DEEPEST = 20

_question: ContextVar[str | None] = ContextVar("question", default=None)
_writing = threading.Lock()

#: The attribute of a recorded search that holds the search itself.
_UNRECORDED = "_graphkit_unrecorded"

AnyRetriever = TypeVar("AnyRetriever")


def neo4j_graphrag_formatter(record: Any) -> Any:
    """Return a record as a ``RetrieverResultItem`` with its nodes, relationships and paths.

    Pass it as the ``result_formatter`` of a Vector-, HybridCypher- or Text2CypherRetriever. The content, for the model,
    is the record's text with its edges below, or its values; the metadata hold the whole record.
    """
    from neo4j_graphrag.types import RetrieverResultItem

    return RetrieverResultItem(**record_item(record))


def record_item(record: Any) -> dict[str, Any]:
    """Return the content and the metadata of a record as plain JSON.

    Metadata that already hold a record, as those of a ToolsRetriever over formatted retrievers do, are kept.
    """
    columns = _plain(dict(record.items()))
    known = columns.get("metadata")
    metadata = known if isinstance(known, dict) else {}
    scores = {"score": columns["score"]} if isinstance(columns.get("score"), int | float) else {}
    return {"content": _content(columns), "metadata": {"record": columns, **scores, **metadata}}


def record_searches(retriever: AnyRetriever, path: str | Path, *, append: bool = False) -> AnyRetriever:
    """Make a retriever of neo4j-graphrag write each search to a file, one per line, and return it.

    The results and the formatter don't change: the file gets the records before they are formatted, with the time of
    the search, or its error. The question's id is that of :func:`answering`, unless the search itself has
    ``question_id=``. Several retrievers may write to one file.

    Parameters
    ----------
    append
        Add to the file of an earlier recording. Of two answers to one question, an import takes the first.

    Raises
    ------
    InputError
        The file holds an earlier recording.
    """
    search = retriever.get_search_results  # type: ignore[attr-defined]
    search = getattr(search, _UNRECORDED, search)  # once, however often it is asked for
    log = Path(path)
    if not append and log.is_file() and log.stat().st_size:
        remedy = "Delete it, name another file, or add to it with append=True."
        raise InputError("the file holds an earlier recording", where=str(path), remedy=remedy)

    @functools.wraps(search)
    def recorded(*args: Any, question_id: str | None = None, **kwargs: Any) -> Any:
        line: dict[str, Any] = {"question_id": _question.get() if question_id is None else question_id}
        text = kwargs.get("query_text", next((arg for arg in args if isinstance(arg, str)), None))
        line["question"] = text if isinstance(text, str) else None
        start = time.perf_counter()
        try:
            raw = search(*args, **kwargs)
        except BaseException as error:
            line |= {"seconds": time.perf_counter() - start, "error": str(error) or type(error).__name__}
            line["error_type"] = type(error).__name__
            _append(log, line)
            raise
        line["seconds"] = time.perf_counter() - start
        metadata = {name: value for name, value in (raw.metadata or {}).items() if name != "query_vector"}
        line["result"] = {
            "items": [record_item(record) for record in raw.records],
            "metadata": {**_plain(metadata), "__retriever": type(retriever).__name__},
        }
        _append(log, line)
        return raw

    setattr(recorded, _UNRECORDED, search)
    retriever.get_search_results = recorded  # type: ignore[attr-defined]
    return retriever


@contextmanager
def answering(question_id: str) -> Iterator[None]:
    """Set the question's id of the searches in this block, thread and task."""
    token = _question.set(question_id)
    try:
        yield
    finally:
        _question.reset(token)


def _append(log: Path, line: Mapping[str, Any]) -> None:
    known = {name: value for name, value in line.items() if value is not None}
    data = json.dumps(known, ensure_ascii=False, allow_nan=False) + "\n"
    with _writing, log.open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(data)


def _content(columns: Mapping[str, Any]) -> str:
    """Return the text of a record for a model."""
    text = next((columns[name] for name in ("text", "content", "chunk") if isinstance(columns.get(name), str)), None)
    if text is None:
        held = ((name, value) for name, value in columns.items() if name != "metadata" and value is not None)
        return "\n".join(
            f"{name}: {value if isinstance(value, str) else json.dumps(_short(value), ensure_ascii=False)}"
            for name, value in held
        )
    return "\n".join([text, *dict.fromkeys(_edges(list(columns.values())))]).strip()


def _short(value: Any) -> Any:
    """Replace nodes by their properties, and relationships by their types."""
    if isinstance(value, dict):
        if "elementId" in value and "properties" in value:
            return value["properties"] if "labels" in value else value["type"]
        return {name: _short(part) for name, part in value.items()}
    return [_short(part) for part in value] if isinstance(value, list) else value


def _edges(value: Any) -> Iterator[str]:
    """Yield the edges in a value, as Cypher writes them."""
    if isinstance(value, list):
        for part in value:
            yield from _edges(part)
    elif isinstance(value, dict) and isinstance(value.get("relationships"), list) and "nodes" in value:
        nodes = {node["elementId"]: node for node in value["nodes"]}
        for edge in value["relationships"]:
            yield _edge(nodes[edge["start"]], edge, nodes[edge["end"]])
    elif isinstance(value, dict) and {"elementId", "start", "end"} <= value.keys():
        yield _edge(value["start"], value, value["end"])


def _edge(start: Mapping[str, Any], edge: Mapping[str, Any], end: Mapping[str, Any]) -> str:
    return f"({_shown(start)})-[:{edge['type']}]->({_shown(end)})"


def _shown(node: Mapping[str, Any]) -> str:
    properties = node["properties"]
    named = (properties.get(name) for name in ("id", "qname", "name", "title"))
    return str(next((name for name in named if name is not None), node["elementId"]))


def _plain(value: Any, depth: int = 0) -> Any:
    """Return a value of the driver as plain JSON: nodes, relationships and paths become objects."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth > DEEPEST:
        return str(value)
    if hasattr(value, "relationships") and hasattr(value, "nodes"):
        nodes = {node.element_id: node for node in value.nodes}
        return {
            "nodes": [_node(node, depth) for node in nodes.values()],
            "relationships": [
                {**_relationship(edge, depth), "start": edge.start_node.element_id, "end": edge.end_node.element_id}
                for edge in value.relationships
            ],
        }
    if hasattr(value, "element_id"):
        if hasattr(value, "labels"):
            return _node(value, depth)
        ends = {"start": value.start_node, "end": value.end_node}
        return _relationship(value, depth) | {name: _node(end, depth) for name, end in ends.items() if end is not None}
    if isinstance(value, Mapping):
        return {str(name): _plain(part, depth + 1) for name, part in value.items() if not _is_embedding(part)}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(part, depth + 1) for part in value]
    if hasattr(value, "iso_format"):
        return value.iso_format()
    return str(value)


def _node(node: Any, depth: int) -> dict[str, Any]:
    return {"elementId": node.element_id, "labels": sorted(node.labels), "properties": _plain(dict(node), depth + 1)}


def _relationship(edge: Any, depth: int) -> dict[str, Any]:
    return {"elementId": edge.element_id, "type": edge.type, "properties": _plain(dict(edge), depth + 1)}


def _is_embedding(value: Any) -> bool:
    if type(value).__name__ == "Vector":  # of the driver; it isn't a list
        return True
    if not isinstance(value, list) or len(value) <= LONGEST_NUMBERS:
        return False
    return all(isinstance(part, int | float) for part in value)
