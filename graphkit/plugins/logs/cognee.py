"""Search results of cognee: completions with their context, edges of its graph, and chunks."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from graphkit.plugins.logs.framework_logs import SearchReader
from graphkit.plugins.logs.logged_rankings import Ranking, distinct
from graphkit.plugins.logs.payloads import count_unread, json_within, objects_of
from graphkit.readers.accounting import renamed
from graphkit.readers.json_values import identifier, object_of, text
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, LoggedEdge

#: The keys of what was found in one dataset, by each of their names.
_COMPLETION = ("text_result", "completion")
_CONTEXT = ("context_result", "context")
_OBJECTS = ("objects_result", "result_object", "resultObject")
_FOUND = ("search_result", *_COMPLETION, *_CONTEXT, *_OBJECTS, "evidence", "error")
_BESIDE = (
    *("dataset_id", "dataset_name", "dataset_tenant_id", "datasetId", "datasetName", "datasetTenantId"),
    *("search_type", "searchType", "only_context", "onlyContext", "user_prompt_result", "system_prompt_result"),
    *("user_prompt", "system_prompt", "userPrompt", "systemPrompt"),
)
#: The keys of a chunk: one of those of its index and of its graph, and those that it always has.
_CHUNK = ("source_chunk_id", "cut_type")
_EVERY_CHUNK = ("id", "chunk_index")
#: The lists of what a search of several kinds found.
_LISTS = ("chunks", "entities", "triplets")

_CONNECTIONS = "Connections:\n"
_LINE = re.compile(r"(?P<source>\S.*?) --\[(?P<relation>[^\[\]\n]+)\]--> (?P<target>\S.*?)(?: \[[^\[\]]*\])?")
#: A description follows the ends of an edge, and may be cut by the end of its line.
_DESCRIPTION = "  ("
#: A node without a name has the first and the most frequent words of its text as its title.
_TITLE = re.compile(r".*\.\.\.(?: \[[^\[\]]*\])?")
#: A prompt has the context between backticks, and the guidance of a session behind it.
_PROMPT, _PROMPT_END = "`Nodes:\n", "`\n\n"
#: The references that cognee puts below an answer.
_REFERENCES = "\n\nEvidence:\n- chunk "
_FILE = "file://"
#: The longest line that is read as an edge: the time grows with its square.
_LONGEST_LINE = 4_000

ANSWER_ALONE = (
    "a completion alone: what was found is unknown; search with verbose=True, which gives the objects and the context"
)
CONTEXT_ALONE = (
    "a context in words, which names nothing: what was found is unknown; search with verbose=True, which gives the "
    "objects beside it"
)
TITLES = "ends of edges that are texts have no name: their edges are skipped"
LINES = "lines of a context's connections can't be read, and are skipped"
SEVERAL = "several data sets answered: their answers are more than one"


@dataclass(slots=True)
class _Search:
    """The results of a search in all of its data sets."""

    ranking: Ranking = field(default_factory=Ranking)
    edges: list[LoggedEdge] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    #: Whether there was a place for chunks, and one for edges.
    asked: bool = False
    walked: bool = False
    notes: dict[str, None] = field(default_factory=dict)


class CogneeReader(SearchReader):
    """Reads what ``cognee.search()`` returns: for each data set, or the only one's list."""

    name = "cognee"
    priority = 124
    beside = (
        *("importance_weight", "vector_distance", "edge_object_id", "edge_type_id", "status"),
        *("ontology_valid", "topological_rank", "feedback_weight", "document_id", "chunk_index"),
        *("source_id", "target_id", "node_id", "description", "relationship_name", "edge_text", "facts"),
        *("chunk_summaries", "chunkIndex", "rank", "dataId", "datasetId", "chunkId", "assertionId", "sourceRefKey"),
    )
    title = "cognee: results of search(), with verbose=True for edges, and of its HTTP interface"
    lacks = (
        "A completion alone doesn't say what was found, nor does a context of chunks. Search with verbose=True, or for "
        "chunks.",
        "Edges are a set. Their relations are as cognee's graph spells them, in lower case; its own, such as is_a, are "
        "edges too.",
        "A chunk is named by the file of its document, else by the document's name, which lacks the suffix. At the end "
        "of an edge it has no name, and the edge is dropped.",
        "The score of a chunk is a distance, and isn't kept: chunks rank by their places.",
        "There are no latency, tokens, model and cost.",
    )

    def is_payload(self, value: Any) -> bool:
        if isinstance(value, list):
            return any(_is_of_dataset(one) or _is_found(one) for one in value[:3])
        return isinstance(value, dict) and _is_of_dataset(value)

    def add(self, answer: LoggedAnswer, payload: Any, unread: Counter[str]) -> None:
        search = _Search()
        parts = [payload] if isinstance(payload, dict) else payload
        if any(map(_is_of_dataset, parts)):
            for part in objects_of(parts):
                count_unread(part, (*_FOUND, *_BESIDE), unread)
                _add_part(search, part)
                answer.error = answer.error or text(part.get("error"))
        else:
            _add_found(search, parts)
        if len(search.answers) > 1:
            search.notes[SEVERAL] = None
        elif search.answers:
            answer.answer = answer.answer or search.answers[0]
        if search.asked:
            answer.retrieved = search.ranking.chunks()
        elif answer.error is None:
            search.notes[ANSWER_ALONE if search.answers else CONTEXT_ALONE] = None
        if search.walked:
            unreadable = not search.edges and bool(search.notes.keys() & {LINES, TITLES})
            answer.traversal = None if unreadable else [distinct(search.edges)] if search.edges else []
        answer.ordered, answer.drawn_ids, answer.symbols = False, True, True
        answer.notes += search.notes


def _is_of_dataset(value: Any) -> bool:
    """Return whether a value is what was found in one data set."""
    if not isinstance(value, dict):
        return False
    keys = value.keys()
    of_dataset = bool(keys & {"dataset_id", "datasetId", "dataset_name", "datasetName"})
    return (
        ("search_result" in keys and of_dataset)
        or {"text_result", "context_result", "objects_result"} <= keys
        or (bool(keys & {"search_type", "searchType"}) and bool(keys & {"result_object", "resultObject"}))
    )


def _is_edge(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(end), dict) for end in ("node1", "node2"))


def _is_triplet(value: Any) -> bool:
    """Return whether a value is node, edge and node, as earlier versions list them."""
    objects = isinstance(value, list) and len(value) == 3 and all(isinstance(one, dict) for one in value)
    return objects and "relationship_name" in value[1]


def _is_entity(value: Any) -> bool:
    """Return whether a value is an entity with its edges, as a hybrid search finds it."""
    return isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get("edges"), list)


def _is_found(value: Any) -> bool:
    return _is_edge(value) or _is_chunk(_unscored(value)) or _is_triplet(value)


def _unscored(value: Any) -> Any:
    """Return the chunk in what a search of vectors found, or any other value unchanged."""
    payload = value.get("payload") if isinstance(value, dict) else None
    return payload if isinstance(payload, dict) else value


def _is_chunk(value: Any) -> bool:
    if not (isinstance(value, dict) and isinstance(value.get("text"), str)):
        return False
    return value.keys() >= set(_EVERY_CHUNK) and any(key in value for key in _CHUNK)


def _add_part(search: _Search, part: dict[str, Any]) -> None:
    """Add what was found in a data set: objects before the context, which repeats them as text."""
    completion, context, objects = (
        next((part[key] for key in keys if part.get(key)), None) for keys in (_COMPLETION, _CONTEXT, _OBJECTS)
    )
    found = part.get("search_result")
    if isinstance(objects, dict):
        objects = [one for key in _LISTS for one in objects_of(objects.get(key))]
    readable = isinstance(objects, list) and any(_is_found(one) or _is_entity(one) for one in objects)
    if readable:
        _add_found(search, objects)
    elif part.get("evidence"):
        _add_evidence(search, objects_of(part["evidence"]))
    elif isinstance(context, str):
        _add_found(search, context)
    for given in (completion, found):
        if isinstance(given, list) and given and isinstance(given[0], dict | list):
            _add_found(search, given if not readable else [])
        elif given in ([], "") and not (completion or context):
            search.asked = True
        else:
            words = text(given[0] if isinstance(given, list) and len(given) == 1 else given)
            if words is not None and _CONNECTIONS in words:
                _add_found(search, words)
            elif words is not None and not (given is found and isinstance(found, str)):  # that is a context
                search.answers.append(words.rpartition(_REFERENCES)[0] or words)


def _add_found(search: _Search, found: Any) -> None:
    """Add edges or chunks, or a context in which edges are lines of text."""
    if isinstance(found, str):
        _add_context(search, found)
        return
    for one in found if isinstance(found, list) else ():
        if _is_triplet(one):
            search.asked = search.walked = True
            _add_edge(search, {"node1": one[0], "node2": one[2], "attributes": one[1]})
        elif _is_edge(one):
            search.asked = search.walked = True
            _add_edge(search, one)
        elif _is_entity(one):
            _add_entity(search, one)
        elif _is_chunk(chunk := _unscored(one)) and (name := _document(chunk)) is not None:
            search.asked = True
            search.ranking.item(LoggedChunk(name, text(chunk.get("text"))))


def _document(chunk: dict[str, Any]) -> str | None:
    """Return the file of a chunk's document, whose own name lacks its folder and its suffix; else what names it."""
    held = object_of(object_of(json_within(chunk.get("external_metadata"))).get("_cognee"))
    source = text(held.get("source_uri")) or ""
    if source.startswith(f"{_FILE}/"):
        return unquote(source.removeprefix(_FILE))
    name = text(chunk.get("document_name"))
    return name or next(filter(None, (identifier(chunk.get(key)) for key in ("source_chunk_id", "id"))), None)


def _add_entity(search: _Search, entity: dict[str, Any]) -> None:
    """Add an entity, and the edges that the context tells beside it."""
    search.asked = search.walked = True
    search.ranking.item(LoggedChunk(entity["name"]))
    for one in objects_of(entity["edges"]):
        source, target = text(one.get("source")), text(one.get("target"))
        if source is None or target is None:
            search.notes[LINES] = None
            continue
        edge = LoggedEdge(source, text(one.get("relationship")), target)
        search.edges.append(edge)
        search.ranking.beside([edge])


def _add_edge(search: _Search, one: dict[str, Any]) -> None:
    names = [_name(one[end]) for end in ("node1", "node2")]
    attributes = object_of(one.get("attributes"))
    keys = ("relationship_type", "relationship_name", "edge_text")
    relation = next((words for key in keys if (words := text(attributes.get(key)))), None)
    if names[0] is None or names[1] is None:
        search.notes[LINES] = None
        return
    _take(search, LoggedEdge(names[0], relation, names[1], one.get("directed") is not False))


def _take(search: _Search, edge: LoggedEdge) -> None:
    search.edges.append(edge)
    search.ranking.item(None, [edge])


def _name(node: dict[str, Any]) -> str | None:
    """Return the name of a node; that of a chunk is its document's."""
    held = object_of(node.get("node_attributes")) or object_of(node.get("attributes")) or node
    return text(held.get("name")) or text(held.get("document_name")) or identifier(node.get("node_id", node.get("id")))


def _add_context(search: _Search, words: str) -> None:
    """Add the lines below the last heading of connections."""
    _, heading, lines = words.rpartition(f"\n{_CONNECTIONS}")
    if not heading:
        return
    if _PROMPT in words:
        lines = lines.partition(_PROMPT_END)[0].removesuffix("`")
    search.asked = search.walked = True
    for line in filter(None, map(str.strip, lines.split("\n"))):
        ends = line.partition(_DESCRIPTION)[0]
        match = _LINE.fullmatch(ends) if len(line) <= _LONGEST_LINE and ends.count(" --[") == 1 else None
        if match is None:
            search.notes[LINES] = None
        elif any(map(_TITLE.fullmatch, match.group("source", "target"))):
            search.notes[TITLES] = None
            search.ranking.several(
                LoggedChunk(end) for end in match.group("source", "target") if not _TITLE.fullmatch(end)
            )
        else:
            _take(search, LoggedEdge(match["source"], match["relation"], match["target"]))


def _add_evidence(search: _Search, evidence: list[dict[str, Any]]) -> None:
    """Add the references of a completion: nodes, edges between them, and segments of documents."""
    plain = [renamed(one, lambda key: key.replace("_", "").lower()) for one in evidence]
    names = {
        key: label for one in plain if (key := identifier(one.get("artifactid"))) and (label := text(one.get("label")))
    }
    for one in plain:
        kind, ends = one.get("kind"), (identifier(one.get("sourcenodeid")), identifier(one.get("targetnodeid")))
        search.asked = True
        if kind in ("graph_edge", "triplet"):
            search.walked = True
            if ends[0] is None or ends[1] is None:
                search.notes[LINES] = None
                continue
            source, target = (names.get(end, end) for end in ends if end is not None)
            _take(search, LoggedEdge(source, text(one.get("relationshipname")), target))
        elif name := text(one.get("documentname")) or text(one.get("label")) or identifier(one.get("artifactid")):
            chunk = LoggedChunk(name)
            if one.get("role") == "supports_assertion":  # the source of an edge, which nothing ranks
                search.ranking.beside(chunk=chunk)
            else:
                search.ranking.item(chunk)
