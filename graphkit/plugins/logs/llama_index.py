"""The logs of LlamaIndex: lists of ``NodeWithScore``, with or without the ``Response`` around them.

A retriever of a property graph gives a node for each edge, whose text is ``A -> REL -> B``. With
``include_text`` it gives the chunks that the edges come from instead: a preamble, a line for each edge, an empty line,
and the chunk's text. Retrievers that ask in Cypher give one node with the query and its rows; those of a vector index
give plain chunks. An index of the former kind (``KnowledgeGraphIndex``) gives its chunks and one node with the paths.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from graphkit.plugins.logs.documents import CYPHER, Document, content_of_rows, ranked_documents, rows_in
from graphkit.plugins.logs.graph_values import query_record
from graphkit.plugins.logs.llama_index_events import is_event, without_events
from graphkit.plugins.logs.logged_rankings import distinct
from graphkit.plugins.logs.payloads import count_unread, each_unwrapped, holds, json_within
from graphkit.plugins.logs.reprs import printed
from graphkit.plugins.logs.tool_calls import Trail
from graphkit.plugins.logs.triples import (
    KEYS,
    NOT_AN_EDGE,
    UNSPLIT,
    SplitText,
    edges_in,
    edges_of_metadata,
    parts_of,
    split_text,
)
from graphkit.readers.json_values import UUID, identifier, number, object_of, text
from graphkit.readers.logged import (
    LoggedAnswer,
    LoggedChunk,
    LoggedEdge,
    Reader,
    ReadOptions,
    UnreadableLogError,
    Values,
)

_LONGEST_PRINTED = 10_000
_PRINTED = ("Node ID: ", "NodeWithScore(", "node=TextNode(")
_SOURCE = ("1", "SOURCE", "NodeRelationship.SOURCE", "source")
_PATHS = ("kg_rel_map", "kg_rel_texts", "kg_rel_text")  # the same, as data and as text
_FILES = ("file_path", "file_name", "file")
#: An id that says nothing, as a random one does.
_NO_ID = "00000000-0000-0000-0000-000000000000"
#: The end of the id of a part of a file whose id is its path.
_PART = re.compile(r"_part_\d+$")

#: LlamaIndex's text for a node, which doesn't show the retrieved items.
_FORM = (
    *("class_name", "start_char_idx", "end_char_idx", "excluded_embed_metadata_keys"),
    *("excluded_llm_metadata_keys", "metadata_seperator", "metadata_separator", "metadata_template", "mimetype"),
    *("text_template",),
)

_PATHS_AS_TEXT = "the paths of a knowledge graph index's store are text, which isn't read: its edges are skipped"
_ROWS_AS_TEXT = (
    "rows of Cypher are text of more than plain values, which isn't read: give them as metadata "
    "(include_raw_response_as_metadata=True of a TextToCypherRetriever)"
)

Node = dict[str, Any]


class LlamaIndexReader(Reader):
    """Reads the results of retrievers and query engines of LlamaIndex."""

    name = "llama-index"
    priority = 60
    beside = ("class_name", "metadata_template", "metadata_separator", "text_template")
    options = ("question_key", "columns")
    title = "LlamaIndex: NodeWithScore lists, the Response of an engine, and the events of its instrumentation"
    lacks = (
        "The edges are a set: their order changes from run to run.",
        "The log doesn't say which node of an edge was found: the score is that of the better one; 0.0 means neither. "
        "The nodes that were found are the seeds if the scores of all edges together tell which they are; one without "
        "an edge of its own score isn't among them.",
        "Nodes rank by their scores if each has one, else by their place.",
        "There are no latency, tokens, model and cost.",
    )

    def recognises(self, value: Any) -> bool:
        return is_event(value) or holds(value, _is_result, lists=True)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        waiting: list[LoggedAnswer] = []
        has_edges: bool | None = None
        relations: set[str] = set()
        for logged, nodes in _results(without_events(values, unread), options, unread):
            if nodes is None:
                yield logged
                continue
            _read_nodes(nodes, logged, options, relations, unread)
            if nodes and (has_edges is None or logged.traversal is not None):
                has_edges = logged.traversal is not None
            if not nodes and has_edges is None:
                waiting.append(logged)
                continue
            for one in waiting:
                one.traversal = [] if has_edges else None
            yield from waiting
            waiting.clear()
            if not nodes:
                logged.traversal = [] if has_edges else None
            yield logged
        yield from waiting


def _results(
    values: Values, options: ReadOptions, unread: Counter[str]
) -> Iterator[tuple[LoggedAnswer, list[Any] | None]]:
    """Yield the nodes of each result, None for a failed question; single nodes in a row are one result."""
    gathered: tuple[LoggedAnswer, list[Any]] | None = None
    for where, value in values:
        for wrapped in each_unwrapped(value, _is_result, options, where, lists=True):
            alone = isinstance(wrapped.payload, dict) and _is_node(wrapped.payload)
            asked = wrapped.question, wrapped.answer.question_text
            if gathered is not None and (not alone or asked != (gathered[0].question, gathered[0].question_text)):
                yield gathered
                gathered = None
            if wrapped.payload is None:
                yield wrapped.logged(unread), [] if wrapped.empty else None
            elif not alone:
                logged = wrapped.logged(unread)
                _add_tools(logged, wrapped.payload)
                yield logged, _nodes(wrapped.payload, wrapped.names, unread)
            else:
                logged = wrapped.logged(unread)
                gathered = gathered or (logged, [])
                gathered[1].append({key: one for key, one in wrapped.payload.items() if key not in wrapped.names})
    if gathered is not None:
        yield gathered


def _is_result(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_node, value))
    if _is_node(value):
        return True
    nodes = value.get("source_nodes")
    if isinstance(nodes, list):
        return all(_is_node(node) or _written(node) is not None for node in nodes) and (
            bool(nodes) or "response" in value
        )
    nodes = value.get("nodes")
    return isinstance(nodes, list) and all(map(_is_node, nodes)) and not value.keys() & {"edges", "links"}


def _is_node(value: Any) -> bool:
    """Return whether a value is a node, a node with its score, or either as Python prints it."""
    if (isinstance(value, str) and value.startswith(_PRINTED)) or _of_text(value) is not None:
        return True
    value = json_within(value)
    if not isinstance(value, dict):
        return False
    node = _inner(value)
    return "id_" in node and bool({"text", "text_resource"} & node.keys())


def _of_text(value: Any) -> Node | None:
    """Return a node in the library's form, if only its text was kept: an edge, or the rows of Cypher."""
    if isinstance(value, str) and value.startswith(CYPHER):
        return {"id_": _NO_ID, "text": value}
    if isinstance(value, dict) and "text" in value and value.keys() <= {"text", "score"}:
        words = text(value["text"]) or ""
        return {"id_": _NO_ID, **value} if words.startswith(CYPHER) or parts_of(words) is not None else None
    return None


def _written(value: Any) -> Node | None:
    """Return a source node in the library's form, if the user wrote down its id and its text."""
    if not isinstance(value, dict):
        return None
    name = next((value[key] for key in ("node_id", "id") if identifier(value.get(key)) is not None), None)
    content = next((value[key] for key in ("text", "content") if isinstance(value.get(key), str)), None)
    if name is None or content is None:
        return None
    rest = {key: given for key, given in value.items() if key not in ("node_id", "id", "text", "content")}
    return {**rest, "id_": name, "text": content}


def _inner(value: Node) -> Node:
    """Return a node without its score, and without the wrapper of a docstore."""
    inner = json_within(value.get("node"))
    node = inner if isinstance(inner, dict) else value
    data = json_within(node.get("__data__"))
    return data if isinstance(data, dict) else node


def _nodes(result: Any, taken: frozenset[str], unread: Counter[str]) -> list[Any]:
    if isinstance(result, list):
        return result
    key = "source_nodes" if isinstance(result.get("source_nodes"), list) else "nodes"
    answer = {"response"} if isinstance(result.get("response"), str) else set()
    count_unread(result, (key, "sources", "is_dummy_stream", *answer, *_FORM, *taken), unread)
    nodes: list[Any] = result[key]
    return nodes


def _add_tools(logged: LoggedAnswer, result: Any) -> None:
    """Add the tools that an agent called to an answer; the retriever of a chat engine is none."""
    sources = result.get("sources") if isinstance(result, dict) else None
    trail = Trail()
    for one in sources if isinstance(sources, list) else ():
        given = one.get("raw_input") if isinstance(one, dict) else None
        if isinstance(given, dict) and isinstance(given.get("kwargs"), dict):
            trail.called(one.get("tool_name"), given["kwargs"])
            gave = one.get("content", one.get("blocks"))
            trail.returned(gave, failed=one.get("is_error") is True)
    if trail.calls:
        trail.into(logged, tools=False)


def _read_nodes(
    nodes: list[Any], logged: LoggedAnswer, options: ReadOptions, relations: set[str], unread: Counter[str]
) -> None:
    """Add the ranking, and the edges as one set; None if nothing is an edge.

    ``relations`` are those that the file was seen to have.
    """
    nodes = [json_within(node) for node in nodes]
    nodes = [_of_text(node) or (node if _is_node(node) else _written(node) or node) for node in nodes]
    if any(isinstance(node, str) for node in nodes):
        raise UnreadableLogError(
            "its nodes are printed, which cuts their texts and omits where they come from",
            where=logged.where or None,
            remedy="Write node.to_dict() of each before json.dumps, and not json.dumps(..., default=str).",
        )
    notes: set[str] = set()
    read = [_read_node(node, options, notes, unread) for node in nodes]
    logged.symbols = True
    ranking, edges = ranked_documents(read, relations, notes)
    if edges:
        logged.traversal, logged.ordered = [distinct(edges)], False
        logged.seeds = _seeds([(one.score, edges_in(one.split, relations, set())) for one in read if one.split.alone])
    elif edges is not None:
        # Edges that are there and can't be read are no traversal of nothing.
        logged.traversal = None if notes & {UNSPLIT, NOT_AN_EDGE, _PATHS_AS_TEXT} else []
    if queries := [query for one in read if one.rows is not None for query in one.rows.queries or ()]:
        logged.queries = [*(logged.queries or ()), *queries]
    chunks = ranking.chunks(by_score=True)
    asked = any(one.rows is not None and one.rows.retrieved is not None for one in read)
    only_rows = not (chunks or asked) and logged.traversal is None and any(one.chunk is None for one in read)
    if nodes or logged.retrieved is None:  # otherwise use the results of an agent's tools
        logged.retrieved = None if only_rows else chunks
    logged.notes += sorted(notes)


def _seeds(scored: list[tuple[float | None, list[LoggedEdge]]]) -> list[LoggedChunk] | None:
    """Return the nodes that a vector search found, by the scores of their edges; None if these don't tell.

    An edge has the score of its better end: a node that was found is an end of each edge of its score, and has no edge
    of a lower one.
    """
    least: dict[str, float] = {}
    for score, edges in scored:
        for edge in edges:
            for end in (edge.source, edge.target):
                least[end] = min(score or 0.0, least.get(end, score or 0.0))
    shared: dict[float, set[str]] = {}
    for score, edges in scored:
        for edge in edges if score else ():
            ends = {end for end in (edge.source, edge.target) if least[end] == score}
            shared[score or 0.0] = shared.get(score or 0.0, ends) & ends
    if not shared or any(len(ends) != 1 for ends in shared.values()):
        return None
    return [LoggedChunk(shared[score].pop(), score=score) for score in sorted(shared, reverse=True)]


def _read_node(value: Node, options: ReadOptions, notes: set[str], unread: Counter[str]) -> Document:
    """Return a node as a document. Edges below a preamble of the user's own aren't found here."""
    node = _inner(value)
    metadata = node.get("metadata") if isinstance(node.get("metadata"), dict) else node.get("extra_info")
    metadata = object_of(metadata)
    content = _text(node)
    score = number(value.get("score", node.get("score")))
    if node is not value:
        count_unread(value, ("node", "score", *_FORM), unread)
    used = ("id_", "text", "text_resource", "metadata", "extra_info", "relationships", "score")
    count_unread(node, (*used, *_FORM), unread, "node.")
    count_unread(object_of(node.get("relationships")), _SOURCE, unread, "node.relationships.")
    rows_as_text = content.startswith("[{") and not metadata and _source(node) is None
    if content.startswith(CYPHER) or rows_as_text or metadata.keys() == {"query", "response"}:
        return Document(None, SplitText(None), score, rows=_rows(content, metadata, options, notes, unread))
    count_unread(metadata, (*_FILES, *_PATHS, *KEYS), unread, "node.metadata.")
    beside, name = edges_of_metadata(metadata, notes), _name(node, metadata)
    if isinstance(metadata.get("kg_rel_map"), dict):
        paths = list(_edges_of_paths(metadata, notes))
        return Document(None, SplitText(content or None), score, beside=beside, paths=paths)
    split = split_text(content, notes)
    if not split.parts or (split.alone and node.get("start_char_idx") is not None):
        split = SplitText(content or None)
    is_chunk = not split.alone or _source(node) is not None or UUID.fullmatch(name) is None
    return Document(LoggedChunk(name, score=score) if is_chunk else None, split, score, beside=beside)


def _rows(
    content: str, metadata: dict[str, Any], options: ReadOptions, notes: set[str], unread: Counter[str]
) -> LoggedAnswer:
    """Return the content of the rows of Cypher that a node's text or metadata hold."""
    query, rows = rows_in(content)
    response = metadata.get("response", rows)
    if response is None:
        notes.add(_ROWS_AS_TEXT)
        asked = text(metadata.get("query")) or query
        return LoggedAnswer("", queries=[query_record(asked)] if asked else None)
    found = response if isinstance(response, list) else [response]
    from_rows = content_of_rows(found, text(metadata.get("query")) or query, options)
    if not found and options.columns is not None and from_rows.traversal is None:
        from_rows.traversal = []
    return from_rows


def _text(node: Node) -> str:
    resource = node.get("text_resource")
    return text(node.get("text")) or (text(resource.get("text")) if isinstance(resource, dict) else None) or ""


def _source(node: Node) -> str | None:
    """Return the id of the chunk or document that a node comes from."""
    relationships = node.get("relationships")
    if not isinstance(relationships, dict):
        return None
    source = next((relationships[key] for key in _SOURCE if key in relationships), None)
    return identifier(source.get("node_id")) if isinstance(source, dict) else None


def _name(node: Node, metadata: dict[str, Any]) -> str:
    """Return the name of a node: a chosen id, else a file, else a random id."""
    own = identifier(node.get("id_"))
    source = _source(node)
    files = [name for key in _FILES if (name := identifier(metadata.get(key))) is not None]
    whole = (name if _PART.sub("", name) not in files else _PART.sub("", name) for name in (own, source) if name)
    chosen = [name for name in whole if UUID.fullmatch(name) is None]
    return next(iter((*chosen, *files)), None) or source or own or "a node without an id"


def _edges_of_paths(metadata: dict[str, Any], notes: set[str]) -> Iterator[LoggedEdge]:
    """Yield the edges in the results of the former kind of index: paths of alternating names and relations.

    What was found by keywords is there by its subject, with which some stores begin a path, and others behind it. What
    was found by embeddings is only there as Python prints tuples of three.
    """
    found = metadata["kg_rel_map"].items()
    paths = [(subject, path) for subject, its in found for path in (its if isinstance(its, list) else [its])]
    texts = metadata.get("kg_rel_texts")
    for one in texts if isinstance(texts, list) else ():
        path = _printed_names(one)
        if path is not None and len(path) % 2:  # else it is there by its subject
            paths.append(("", path))
        elif path is None and not found:
            notes.add(_PATHS_AS_TEXT)
    for subject, path in paths:
        names = list(map(identifier, path)) if isinstance(path, list) else []
        names = names if len(names) % 2 else [subject, *names]
        known = [name for name in names if name]
        if len(known) < 3 or len(known) < len(names):
            notes.add(_PATHS_AS_TEXT)
            continue
        for source, relation, target in zip(known[::2], known[1::2], known[2::2], strict=False):
            yield LoggedEdge(source, relation, target)


def _printed_names(text_of_path: Any) -> list[Any] | None:
    """Return the items of a printed tuple or list."""
    value = printed(text_of_path, _LONGEST_PRINTED)
    return list(value) if isinstance(value, tuple | list) else None
