"""neo4j-graphrag: results of its retrievers and its RAG, and the records of graphkit's recorder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphkit.plugins.logs.graph_columns import EDGES, SCORES, chunk_of
from graphkit.plugins.logs.graph_values import Gathered, InOrder, query_record
from graphkit.plugins.logs.payloads import count_unread, each_unwrapped, holds, json_within
from graphkit.plugins.logs.reprs import Described, ReprError, parse_fields, parse_repr
from graphkit.readers.graph_names import (
    ELEMENT_IDS,
    ENDS,
    NAMES,
    edge_of,
    end_of,
    first_of,
    is_element_id,
    name_of,
    plain,
)
from graphkit.readers.json_values import identifier, number, object_of, text
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, Reader, ReadOptions, UnreadableLogError, Values

#: The key under which graphkit's formatter keeps the whole record of an item's metadata.
RECORD = "record"

_RESULT = {"items", "metadata"}
_RAW = {"records", "metadata"}
_RAG = {"answer", "retriever_result"}
_OBJECTS = ("<Node ", "<Relationship ", "<Path ")
_PATH = re.compile(r"<Path start=")
#: How str() and repr() of the library's own models begin.
_FIELDS = ("items=[", "records=[", "answer='", 'answer="')
_MODELS = ("RetrieverResult", "RetrieverResultItem", "RawSearchResult", "RagResultModel")
_CALLS = tuple(f"{model}(" for model in _MODELS)

NO_CONTEXT = "no retriever_result: ask RAG with return_context=True"
NO_COLUMNS = (
    "records without the names of their columns, which model_dump() drops: name them by their place, such as "
    "--columns 'column 1,column 2,column 3', or log record.data() of each"
)
UNPARSED = "the text of a record can't be read: it was cut, or isn't Neo4j's driver's"
REMEDY = (
    "Give the retriever result_formatter=graphkit.neo4j_graphrag_formatter, or log its searches with "
    "graphkit.record_searches(retriever, FILE), and run it again. --chunks-only reads what was retrieved alone."
)


class Neo4jGraphragReader(Reader):
    """Reads ``RetrieverResult``, ``RagResultModel`` and ``RawSearchResult``."""

    name = "neo4j-graphrag"
    priority = 70
    options = ("question_key", "columns", "chunks_only")
    title = "neo4j-graphrag: RetrieverResult, RagResultModel, RawSearchResult, and what graphkit.record_searches writes"
    lacks = (
        "Edges are logged only if the query returned them, and paths lose their middle with the default formatter.",
        "Tokens, cost and model aren't logged.",
        "Only RAG logs the answer; it logs what it retrieved only with return_context=True.",
    )

    def recognises(self, value: Any) -> bool:
        return holds(_revived(value), _is_payload)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        answers = InOrder()
        for where, value in values:
            whole = _revived(value)
            # Rows alone could come from any library: read them only in a log of this named format.
            wanted = _is_payload if not isinstance(whole, dict | list) or holds(whole, _is_payload) else _are_rows
            for wrapped in each_unwrapped(whole, wanted, options, where, lists=wanted is _are_rows, answers=True):
                answer, gathered = wrapped.logged(unread), None
                payload = wrapped.payload
                if payload is not None:
                    payload = {"records": payload, "metadata": None} if isinstance(payload, list) else payload
                    gathered = _add_payload(answer, payload, options, unread, wrapped.names)
                yield from answers.add(answer, gathered)
        yield from answers.rest()


def _revived(value: Any) -> Any:
    """Return the library's objects that were written as str() or repr() gives them, directly or under a key."""
    if isinstance(value, str):
        return _model(value)
    if isinstance(value, dict):
        return {name: _model(one) if isinstance(one, str) else one for name, one in value.items()}
    if isinstance(value, list) and len(value) == 2 and isinstance(value[1], str):
        return [value[0], _model(value[1])]
    return value


def _model(text: str) -> Any:
    try:
        if text.startswith(_FIELDS):
            return _plain_model(parse_fields(text))
        return _plain_model(parse_repr(text)) if text.startswith(_CALLS) else text
    except ReprError:
        return text


def _plain_model(value: Any) -> Any:
    """Return models as objects of their fields; the driver's own objects stay as they were described."""
    if isinstance(value, Described) and value.kind in _MODELS:
        value = value.fields
    if isinstance(value, dict):
        return {name: _plain_model(one) for name, one in value.items()}
    return [_plain_model(one) for one in value] if isinstance(value, list) else value


def _are_rows(value: Any) -> bool:
    """Return whether a value is a list of a query's rows, by graph objects or columns that name an edge."""
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) and _is_row(row) for row in value)


def _is_row(row: dict[str, Any]) -> bool:
    graph = any(
        (isinstance(one, dict | list) and one) or (isinstance(one, str) and one.startswith(_OBJECTS))
        for one in row.values()
    )
    return (graph and "content" not in row) or edge_of(row) is not None


def _is_payload(value: Any) -> bool:
    return _is_result(value) or _is_raw(value) or _is_rag(value)


def _is_result(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("items"), list) or "llm_output" in value:
        return False
    items = value["items"]
    if not isinstance(value.get("metadata"), dict | None):
        return False
    if not items:
        return value.keys() <= _RESULT and isinstance(value.get("metadata"), dict)
    return all(
        isinstance(item, dict) and "content" in item and item.keys() <= {"content", "metadata"} for item in items
    )


def _is_raw(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("records"), list):
        return False
    records = value["records"]
    known = all(isinstance(one, dict | Described) or _is_text_of_record(one) for one in records)
    # Values without the names of their columns could be anything, but for the two keys that stand around them.
    known |= value.keys() == _RAW and all(isinstance(one, list) for one in records)
    return known and (bool(records) or value.keys() == _RAW) and isinstance(value.get("metadata"), dict | None)


def _is_context(value: Any) -> bool:
    return value is None or _is_result(value) or value == {"items": [], "metadata": None}


def _is_text_of_record(value: Any) -> bool:
    """Return whether a value is a record's text, or the texts of its columns' values."""
    if isinstance(value, list):
        return any(isinstance(part, str) and part.startswith(_OBJECTS) for part in value)
    return isinstance(value, str) and value.startswith("<Record ")


def _is_rag(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() >= _RAG and _is_context(value["retriever_result"])


def _add_payload(
    answer: LoggedAnswer, payload: dict[str, Any], options: ReadOptions, unread: Counter[str], names: frozenset[str]
) -> Gathered | None:
    """Add a payload to an answer, and return the gathered items, or None if there are none."""
    result: Any = payload
    prefix = ""
    if _is_rag(payload):
        answer.answer = text(payload["answer"])
        count_unread(payload, _RAG | names, unread)
        result, prefix = payload["retriever_result"], "retriever_result."
        if result is None:
            answer.notes.append(NO_CONTEXT)
            return None
    metadata = result.get("metadata") or {}
    gathered = Gathered(options, query=text(metadata.get("cypher")), asked=True)
    if gathered.query:
        beside = [object_of(one.get("metadata")).get(RECORD) for one in result.get("items") or ()]
        rows = result.get("records", beside if all(beside) else None)
        gathered.queries.append(query_record(gathered.query, rows, text(metadata.get("error"))))
    gathered.metadata(metadata)
    count_unread(result, {"items", "records", "metadata"} | names, unread, prefix)
    # Which class searched, as the library and graphkit's recorder write it, says nothing of a question.
    count_unread(metadata, {"cypher", "query", "error", "error_type", "__retriever"}, unread, f"{prefix}metadata.")
    answer.question_text = answer.question_text or text(metadata.get("query"))
    answer.error = answer.error or text(metadata.get("error"))  # a ToolsRetriever hides the errors of its tools
    answer.error_type = answer.error_type or text(metadata.get("error_type"))
    for item in result.get("items") or ():
        _item(item, gathered, unread, f"{prefix}items.metadata.")
    for record in result.get("records") or ():
        _record(record, gathered)
    if gathered.cut and not options.chunks_only:
        raise UnreadableLogError(
            f"{gathered.cut} of {gathered.all_paths} paths were cut: a Path's text holds its ends and its length, "
            "and not its middle",
            where=answer.where,
            remedy=REMEDY,
        )
    gathered.add_to(answer)
    by_cypher = (text(metadata.get("__retriever")) or "").endswith("CypherRetriever")
    if gathered.rows and (by_cypher or "query_vector" in metadata):
        answer.seeds = _vector_hits(gathered.rows)
    elif by_cypher and not (result.get("items") or result.get("records")):
        answer.seeds = []
    return gathered


def _vector_hits(rows: Sequence[Mapping[str, Any]]) -> list[LoggedChunk] | None:
    """Return the nodes that a vector search found, with their scores, from the rows of its retrieval query.

    A row holds one as ``node``, by a column that names it, or as an end of its edge: the same end in all rows, which is
    never null, and of which each has one score of its own. None if the rows don't tell.
    """
    scores = [number(first_of(row, SCORES)[1]) for row in rows]
    nodes = [
        end_of(given.fields.get("properties", given.fields) if isinstance(given, Described) else _properties(given))
        for given in (first_of(row, ("node",))[1] for row in rows)
    ]
    columns = [nodes, [name_of({key: one for key, one in row.items() if not isinstance(one, list)}) for row in rows]]
    if None in nodes and None in columns[1]:
        ends = [
            (first_of(row, [one for one, _ in ENDS])[1], first_of(row, [one for _, one in ENDS])[1]) for row in rows
        ]
        columns = [[identifier(pair[side]) for pair in ends] for side in (0, 1)]
        columns = [one for one in columns if len({*one}) == len({*scores}) == len({*zip(one, scores, strict=True)})]
    told = [one for one in columns if None not in one]
    if None in scores or not (told and (len(told) == 1 or told[0] is nodes)):
        return None
    return [
        LoggedChunk(*one)
        for one in dict.fromkeys((str(name), None, score) for name, score in zip(told[0], scores, strict=True))
    ]


def _properties(node: Any) -> Any:
    """Return the properties of a node that a log holds as a map."""
    return node["properties"] if isinstance(node, Mapping) and isinstance(node.get("properties"), Mapping) else node


def _item(item: dict[str, Any], gathered: Gathered, unread: Counter[str], prefix: str) -> None:
    """Add an item: by its record if its metadata or its content has one, else by its metadata."""
    metadata = item["metadata"] if isinstance(item.get("metadata"), dict) else {}
    content = item["content"]
    record = metadata.get(RECORD)
    if isinstance(record, dict):
        gathered.row(record)
        return
    parsed = _parsed(content, gathered)
    fields = parsed.fields if isinstance(parsed, Described) and parsed.kind == "Record" else {"value": parsed}
    if "tool_name" in fields and isinstance(fields.get("content"), str):  # a ToolsRetriever's, around another's
        beside = fields["metadata"] if isinstance(fields.get("metadata"), dict) else {}
        inner = {name: one for name, one in beside.items() if name not in ("tool", "original_record")}
        _item({"content": fields["content"], "metadata": inner}, gathered, unread, prefix)
        return
    read = {key for key in metadata if plain(key) in (*NAMES, *ELEMENT_IDS, *EDGES, "score", "version", "commit")}
    count_unread(metadata, read, unread, prefix)
    if isinstance(parsed, Described):
        gathered.row(fields, metadata)
        return
    before = len(gathered.edges)
    gathered.metadata(metadata)
    properties = parsed if isinstance(parsed, Mapping) else {}
    name = name_of(metadata)
    if name is None or is_element_id(name):
        name = name_of(properties) or name
    if name is None:
        gathered.nameless(gathered.edges[before:])
        return
    chunk = chunk_of({**properties, **metadata}, name)
    if chunk.text is None:
        chunk.text = text(content) if not properties else None
    gathered.retrieved(chunk)


def _record(record: Any, gathered: Gathered) -> None:
    """Add a raw record: an object of its columns, its text, or its values alone."""
    dropped = isinstance(record, list)
    if isinstance(record, list):
        record = {f"column {number}": value for number, value in enumerate(record, 1)}
    found = _parsed(record, gathered)
    record = found.fields if isinstance(found, Described) else found
    if isinstance(record, Mapping):
        known = gathered.row({name: _described(value, gathered) for name, value in record.items()})
        if dropped and not known:
            gathered.note(NO_COLUMNS)
    else:
        gathered.nameless()


def _described(value: Any, gathered: Gathered) -> Any:
    """Return the value of a column, with the driver's objects that default=str turned into texts."""
    if isinstance(value, list):
        return [_described(one, gathered) for one in value]
    return _parsed(value, gathered) if isinstance(value, str) and value.startswith(_OBJECTS) else value


def _parsed(content: Any, gathered: Gathered) -> Any:
    """Return the value that a content's text describes, or the content itself."""
    if not isinstance(content, str) or not content.startswith(("<Record ", *_OBJECTS, "{")):
        return content
    try:
        found = parse_repr(content)
    except ReprError:
        if content.startswith("{"):
            return json_within(content)
        if _PATH.search(content):
            gathered.cut += 1
            gathered.all_paths += 1
        gathered.note(UNPARSED)
        return content
    return found
