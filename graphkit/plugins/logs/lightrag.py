"""The logs of LightRAG: ``aquery_data()``, ``aquery_llm()``, responses of its server, and the context as text.

The first two give the tables that made up the model's context, and the second its answer too. ``aquery()`` with
``only_need_context`` gives the context as text, which holds the same tables.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from graphkit.plugins.logs.lightrag_contexts import chunks_of, is_context, is_prompt, is_refusal, tables_of
from graphkit.plugins.logs.logged_rankings import Ranking
from graphkit.plugins.logs.payloads import ANSWER_ALONE, count_unread, each_unwrapped, holds, objects_of
from graphkit.readers.json_values import identifier, number, text
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, LoggedEdge, Reader, ReadOptions, Values
from graphkit.records.ids import id_of_text

_TABLES = ("entities", "relationships", "chunks", "references")
_WITHOUT_A_WALK = ("naive", "bypass")
#: The modes that find edges, whose ends then are the entities.
_BY_EDGES = ("global",)
_UNKNOWN_FILES = ("unknown_source", "custom_kg")  # placeholders for an unknown file

_CITED = re.compile(r"(\w?)\[(\d{1,6})\]")

_STREAMED = "the answer was streamed, and the log has no text of it"
_NO_ANSWER = "instead of an answer there is the context or the prompt, which was asked for"
_UNKNOWN_REFERENCES = "the answer cites numbers that aren't in its references; they are kept as [n]"
_MODE_WITHOUT_WALK = "a naive or bypass query looks at no edges: its traversal isn't scored"

Row = dict[str, Any]


class LightragReader(Reader):
    """Reads the results of LightRAG, in any of its modes."""

    name = "lightrag"
    priority = 80
    title = "LightRAG: aquery_data(), aquery_llm(), the server's answers, and only_need_context as text"
    lacks = (
        "Edges have no direction: a pair has one edge, with its ends mostly in alphabetical order. The knowledge graph "
        "gives one, else gold does.",
        "An edge has no relation type: its keywords and its description are prose.",
        "The seeds are the entities, in the order in which they were ranked; a global query finds edges, and has none.",
        "Nothing has a score; entities come first, as they were ranked, then the chunks of text, and edges are a set.",
        "A file's name is logged without its folders since version 1.5, and before 1.3 a text has no file.",
        "There are no latency, tokens, model and cost.",
    )

    def recognises(self, value: Any) -> bool:
        if isinstance(value, str):
            return is_context(value)
        return (_is_part(value) and _has_references(value)) or holds(_boxed(value), _is_result, lists=True)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        for where, value in _streams_joined(values):
            if isinstance(value, list) and len(value) == 1 and _is_part(value[0]):
                value = value[0]
            whole = {"context": value} if isinstance(value, str) else _boxed(value)
            for wrapped in each_unwrapped(whole, _is_result, options, where, lists=True, answers=True):
                logged = wrapped.logged(unread)
                result = _joined(wrapped.payload) if isinstance(wrapped.payload, list) else wrapped.payload
                if result is not None:
                    _read_result(result, logged, wrapped.names, unread)
                yield logged


def _boxed(value: Any) -> Any:
    """Return the contexts of a table or of pairs as objects, so that each is a result."""
    if isinstance(value, dict) and len(value) > 1 and not _is_two_contexts(value):
        contexts = [one is None or is_context(one) for one in value.values()]
        if all(contexts) and any(one is not None for one in value.values()):
            return {name: {"context": one} for name, one in value.items()}
    if isinstance(value, list):
        if len(value) == 2 and identifier(value[0]) is not None and is_context(value[1]):
            return [value[0], {"context": value[1]}]
        return [_boxed(one) if isinstance(one, list) else one for one in value]
    return value


def _is_two_contexts(value: Row) -> bool:
    """Return whether a value is a mixed query's output before 1.3 with only_need_context: two contexts."""
    return {"kg_context", "vector_context"} <= value.keys()


def _is_part(value: Any) -> bool:
    """Return whether a value is a part of a reply of /query/stream: references, or a piece of the response."""
    return isinstance(value, dict) and bool(value) and value.keys() <= {"references", "response", "error"}


def _opens_stream(value: Any) -> bool:
    """Return whether a value is the first part: references, or the response if they weren't asked for."""
    return _is_part(value) and (_has_references(value) or value.keys() == {"response"})


def _has_references(value: Row) -> bool:
    return "response" not in value and _are_references(value.get("references"))


def _joined(parts: list[Row]) -> Row:
    """Return the parts of a stream in the form of a response of /query."""
    whole: Row = {"response": "".join(text(part.get("response")) or "" for part in parts)}
    for part in parts:
        whole |= {name: part[name] for name in ("references", "error") if part.get(name)}
    return whole


def _streams_joined(values: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield the values, and of the lines that /query/stream answers the parts of each answer as a list."""
    parts: list[Row] = []
    begun = ""
    for where, value in values:
        if parts and (not _is_part(value) or _has_references(value)):
            yield begun, parts
            parts = []
        if _opens_stream(value) or parts:
            begun = begun if parts else where
            parts.append(value)
        else:
            yield where, value
    if parts:
        yield begun, parts


def _is_result(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) > 1 and _opens_stream(value[0]) and all(map(_is_part, value))
    if _is_two_contexts(value):
        return True
    if isinstance(value.get("data"), dict) and "status" in value:
        return "message" in value or _are_tables(value["data"])
    return _are_tables(value) or _is_server_answer(value) or _context_key(value) is not None


def _are_tables(value: Row) -> bool:
    """Return whether a value is the tables of a result, by their columns; those of Microsoft's GraphRAG have others."""
    columns = {"entities": "entity_name", "relationships": "src_id", "chunks": "content"}
    first = {
        column: value[name][0] if value[name] else None
        for name, column in columns.items()
        if isinstance(value.get(name), list)
    }
    rows = [(column, row) for column, row in first.items() if row is not None]
    # All empty, they are a query that found nothing, if all are there.
    return bool(rows or len(first) == len(columns)) and all(
        isinstance(row, dict) and column in row for column, row in rows
    )


def _is_server_answer(value: Row) -> bool:
    """Return whether a value is a reply of LightRAG's server on /query: the response with its references."""
    references = value.get("references")
    return "response" in value and _are_references(references) and (bool(references) or "llm_generated" in value)


def _are_references(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) and "reference_id" in one for one in value)


def _context_key(value: Row) -> str | None:
    """Return under which key an object has a context as text."""
    return next((name for name, inner in value.items() if is_context(inner)), None)


def _read_result(result: Row, logged: LoggedAnswer, taken: frozenset[str], unread: Counter[str]) -> None:
    """Add the content of a result to an answer."""
    key = None if "status" in result else _context_key(result)
    mode: str | None = None
    refusal = result[key] if key is not None else result.get("response")
    if isinstance(refusal, str) and is_refusal(refusal):
        logged.retrieved, logged.traversal, logged.answer = [], [], None
        return
    if _is_two_contexts(result):
        count_unread(result, ("kg_context", "vector_context", *taken), unread)
        graph, texts = text(result["kg_context"]), text(result["vector_context"])
        tables = tables_of(graph, unread, logged.notes) if graph is not None else {}
        tables.setdefault("chunks", []).extend(chunks_of(texts) if texts is not None else [])
        mode = "mix"
    elif key is not None:
        count_unread(result, (key, *taken), unread)
        logged.answer = None if logged.answer == result[key] else logged.answer
        tables = tables_of(result[key], unread, logged.notes)
        mode = "text of a graph's context" if "relationships" in tables else "naive"
    elif "status" in result:
        count_unread(result, ("status", "message", "data", "metadata", "llm_response", *taken), unread)
        metadata = _metadata(result, unread)
        if metadata.get("failure_reason") == "no_results":
            logged.retrieved, logged.traversal, logged.answer = [], [], None
            logged.seeds = None if _mode(metadata) in (*_WITHOUT_A_WALK, *_BY_EDGES) else []
            return
        if result["status"] != "success":
            logged.error = text(result.get("message")) or f"its status is {result['status']!r}"
            logged.error_type = text(metadata.get("failure_reason")) or "failure"
            logged.answer = None
            return
        tables, mode = result["data"], _mode(metadata)
        _read_answer(result.get("llm_response"), logged)
    else:
        count_unread(
            result, (*_TABLES, "metadata", "response", "error", "response_time", "llm_generated", *taken), unread
        )
        tables, mode = result, _mode(_metadata(result, unread))  # aquery_data() of 1.4.8 has no status
        seconds = number(result.get("response_time"))
        logged.latency_ms = seconds * 1000 if seconds is not None and seconds >= 0 else logged.latency_ms
        if result.get("llm_generated") is False:
            logged.answer = None
            logged.notes.append(_NO_ANSWER)
        elif "response" in result and not any(name in result for name in _TABLES[:3]):
            logged.answer = text(result["response"])
            logged.error = logged.error or text(result.get("error"))
            logged.notes.append(ANSWER_ALONE)
    _read_tables(tables, mode, logged, unread)
    if logged.answer is not None:
        logged.citations = _citations(logged.answer, tables, logged.notes)


def _metadata(result: Row, unread: Counter[str]) -> Row:
    metadata = result["metadata"] if isinstance(result.get("metadata"), dict) else {}
    count_unread(metadata, ("query_mode", "mode", "failure_reason"), unread, "metadata.")
    return metadata


def _mode(metadata: Row) -> str | None:
    return text(metadata.get("query_mode")) or text(metadata.get("mode"))


def _read_answer(response: Any, logged: LoggedAnswer) -> None:
    """Add the answer; a context or prompt that was asked for instead has the same place."""
    if not isinstance(response, dict):
        return
    content = text(response.get("content"))
    if content is None and response.get("is_streaming"):
        logged.notes.append(_STREAMED)
    elif content is not None and (response.get("llm_generated") is False or is_context(content) or is_prompt(content)):
        logged.notes.append(_NO_ANSWER)
    elif content is not None:
        logged.answer = content


def _read_tables(tables: Row, mode: str | None, logged: LoggedAnswer, unread: Counter[str]) -> None:
    """Add the retrieved names and the edges; they stay None if the mode looks for none."""
    entities, relationships, chunks = (objects_of(tables.get(name)) for name in _TABLES[:3])
    ranking, logged.symbols = Ranking(), True
    for chunk in (*_entities(entities, unread), *_chunks(chunks, tables, unread)):
        ranking.item(chunk)
    # Without a mode, chunks without a node or an edge are a naive query's.
    if mode in _WITHOUT_A_WALK or (mode is None and chunks and not entities and not relationships):
        logged.notes.append(_MODE_WITHOUT_WALK)
    elif isinstance(tables.get("relationships"), list):
        edges: dict[frozenset[str], LoggedEdge] = {}
        for edge in _edges(relationships, unread):
            # A pair has one edge: a hybrid context as text may have it from each search, once by either end.
            edges.setdefault(frozenset((edge.source, edge.target)), edge)
        nothing: list[list[LoggedEdge]] | None = (
            None if relationships else []
        )  # rows of which none can be read are no traversal of nothing
        logged.traversal = [list(edges.values())] if edges else nothing
        ranking.beside(edges.values())
        if isinstance(tables.get("entities"), list) and mode not in _BY_EDGES:
            logged.seeds = list(_entities(entities, Counter()))
            for seed in logged.seeds:
                seed.text = None  # a description, and no part of the question
    if mode != "bypass" and any(isinstance(tables.get(name), list) for name in _TABLES[:3]):
        logged.retrieved = ranking.chunks()


def _entities(rows: list[Row], unread: Counter[str]) -> Iterator[LoggedChunk]:
    for row in rows:
        count_unread(row, ("entity_name", "entity", "description", "id"), unread, "data.entities.")
        name = identifier(row.get("entity_name")) or identifier(row.get("entity"))
        if name is not None:
            yield LoggedChunk(name, text(row.get("description")))


def _chunks(rows: list[Row], tables: Row, unread: Counter[str]) -> Iterator[LoggedChunk]:
    """Yield the chunks by their file, or by their id if the file is unknown."""
    files = _files(tables)
    for row in rows:
        count_unread(row, ("reference_id", "content", "file_path", "chunk_id", "id"), unread, "data.chunks.")
        reference = identifier(row.get("reference_id"))
        content = text(row.get("content"))
        named = (_file(row), files.get(reference or ""), identifier(row.get("chunk_id")), reference)
        name = next(filter(None, named), None) or (id_of_text(content) if content is not None else None)
        if name is not None:
            yield LoggedChunk(name, content)


def _edges(rows: list[Row], unread: Counter[str]) -> Iterator[LoggedEdge]:
    for row in rows:
        count_unread(row, ("src_id", "tgt_id", "entity1", "entity2", "id"), unread, "data.relationships.")
        source = identifier(row.get("src_id")) or identifier(row.get("entity1"))
        target = identifier(row.get("tgt_id")) or identifier(row.get("entity2"))
        if source is not None and target is not None:
            yield LoggedEdge(source, None, target, directed=False)
        else:
            unread["data.relationships without an end"] += 1


def _file(row: Row) -> str | None:
    name = identifier(row.get("file_path"))
    return None if name in _UNKNOWN_FILES else name


def _files(tables: Row) -> dict[str, str]:
    """Return the file of each reference by its number."""
    rows = [*objects_of(tables.get("references")), *objects_of(tables.get("chunks"))]
    numbered = ((identifier(row.get("reference_id")), _file(row)) for row in rows)
    return {reference: file for reference, file in numbered if reference and file}


def _citations(answer: str, tables: Row, notes: list[str]) -> list[str] | None:
    """Return the files that ``[n]`` in the answer cites, or None if the log has no references.

    ``items[0]`` is an index of code, unless there is such a reference.
    """
    if not isinstance(tables.get("references"), list):
        return None
    files = _files(tables)
    cited: dict[str, None] = {}  # an ordered set
    for before, reference in _CITED.findall(answer):
        if reference in files:
            cited[files[reference]] = None
        elif not before:
            cited[f"[{reference}]"] = None
    if any(name.startswith("[") for name in cited):
        notes.append(_UNKNOWN_REFERENCES)
    return list(cited)
