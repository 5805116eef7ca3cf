"""The logs of Microsoft's GraphRAG: ``SearchResult``, and the results of ``graphrag.api``.

A ``SearchResult`` holds the tables that made up the model's context (``context_data``). A DRIFT search has one set of
tables for each of its own questions. The functions of ``graphrag.api`` return the response and the tables, without
tokens and times, and ``graphrag query`` prints the response alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from graphkit.plugins.logs.graphrag_index import GraphragIndex
from graphkit.plugins.logs.graphrag_tables import (
    CUT_NAMES,
    TABLES,
    Row,
    cut,
    is_context,
    is_tables,
    is_text,
    rows_of,
    tables_of_text,
)
from graphkit.plugins.logs.logged_rankings import Ranking
from graphkit.plugins.logs.payloads import count_unread, each_unwrapped, holds, json_within
from graphkit.readers.json_values import identifier, number, text, whole
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, LoggedEdge, Reader, ReadOptions, Values
from graphkit.records.words import shortened

_CONTEXTS = ("context_data", "context")
_CITED = re.compile(r"\[Data:([^\[\]]*)\]", re.IGNORECASE)
_UNORDERED = "entities that weren't in the context are skipped, and the order of the others isn't a ranking"
_UNKNOWN_ROWS = "the answer cites rows that aren't in its context ([Data: ...]); they are kept as `Table (number)`"
_SWALLOWED = "a call of the model failed or said nothing in the map step; graphrag went on without it"
_PRINTED = re.compile(r"(?:Local|Global|DRIFT|Basic) Search Response:[ \t]*\r?\n")
_NUMBERED_TEXTS = "texts have numbers, Sources (n): --parquet DIR, the output of the index, knows their documents"
_CUT_AT_HYPHENS = "a search of several indexes cuts each name at its first hyphen"
_RESPONSE_DATA = "the response is data instead of text (DRIFT without its last step, or JSON mode): there is no answer"


class GraphragReader(Reader):
    """Reads the results of Microsoft's GraphRAG: local, global, DRIFT or basic search."""

    name = "graphrag"
    priority = 90
    beside = ("llm_calls_categories", "prompt_tokens_categories", "output_tokens_categories")
    options = ("question_key", "parquet")
    title = "Microsoft GraphRAG: SearchResult, the (response, context) of graphrag.api, and what graphrag query prints"
    lacks = (
        "A relationship has no type: if the knowledge graph holds several relations between its ends, it gets those "
        "that its description names.",
        "Nothing has a score, and the edges are a set; entities are ranked by their place in the table.",
        "Names are upper-cased by the extraction; nodes and edges are numbered by human_readable_id, texts by place.",
        "Community reports and claims name no nodes: a global search has neither retrieved nodes nor edges.",
        "The functions of graphrag.api return no tokens, calls and times.",
    )

    def recognises(self, value: Any) -> bool:
        if isinstance(value, str):
            return _PRINTED.search(value) is not None or _CITED.search(value) is not None
        return holds(value, _is_result, lists=True)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        index = GraphragIndex(options.parquet) if options.parquet is not None else None
        for where, value in values:
            whole = {"response": _PRINTED.split(value)[-1]} if isinstance(value, str) else value
            for wrapped in each_unwrapped(whole, _is_result, options, where, lists=True, answers=True):
                logged = wrapped.logged(unread)
                result = wrapped.payload
                if isinstance(result, list):
                    result = {"response": result[0], "context_data": result[1]}
                if result is not None:
                    _read_result(result, logged, wrapped.names, unread, index)
                elif logged.answer is not None and index is not None:
                    logged.citations = _citations(logged.answer, {}, logged.notes, index)
                yield logged


def _is_result(value: Any) -> bool:
    if isinstance(value, list):
        response = value[0] if len(value) == 2 else None
        return isinstance(response, str | dict | list) and not is_context(response) and is_context(value[1])
    if "response" in value and ("context_data" in value or is_text(value.get("context_text"))):
        return True
    context = value.get("context")
    return ("response" in value and (is_context(context) or is_text(context))) or is_tables(value)


def _read_result(
    result: Row, logged: LoggedAnswer, taken: frozenset[str], unread: Counter[str], index: GraphragIndex | None
) -> None:
    """Add the content of a result to an answer."""
    used = {"response", *_CONTEXTS, "completion_time", "llm_calls", "prompt_tokens", "output_tokens", *taken}
    bare = "response" not in result
    context = result if bare else next((result[name] for name in _CONTEXTS if name in result), None)
    if not context and is_text(result.get("context_text")):
        context = result["context_text"]
        used.add("context_text")
    count_unread(result, TABLES if bare else used, unread)
    if not bare:
        _read_response(result, logged, unread)
    seconds = number(result.get("completion_time"))
    if seconds is not None and seconds >= 0:
        logged.latency_ms = seconds * 1000
    logged.model_calls = whole(result.get("llm_calls"))
    logged.prompt_tokens = whole(result.get("prompt_tokens"))
    logged.output_tokens = whole(result.get("output_tokens"))
    tables = _tables(context, logged, unread)
    _read_tables(tables, logged, unread, index)
    if logged.answer is not None and tables:
        logged.citations = _citations(logged.answer, tables, logged.notes, index)


def _read_response(result: Row, logged: LoggedAnswer, unread: Counter[str]) -> None:
    """Add the answer, or that there is none: a failed call of the model is swallowed, and its response is empty."""
    response = result["response"]
    if isinstance(response, list) and response and all(isinstance(part, str) for part in response):
        response = "".join(response)  # a stream, kept in its pieces
    if isinstance(response, str):
        logged.answer = response if response.strip() else None
        if logged.answer is None and logged.error is None:
            logged.error = "the response is empty: graphrag swallows a failed call of the model, its own log says why"
            logged.error_type = "EmptyResponse"
    elif response:
        unread["response"] += 1
        logged.notes.append(_RESPONSE_DATA)
    steps = result.get("map_responses")
    failed = [{"answer": "", "score": 0}]
    if isinstance(steps, list) and any(isinstance(step, dict) and step.get("response") == failed for step in steps):
        logged.notes.append(_SWALLOWED)


def _tables(context: Any, logged: LoggedAnswer, unread: Counter[str]) -> dict[str, list[Row]]:
    """Return the rows of each table by its name; those of several searches are merged."""
    context = json_within(context)
    if is_text(context):
        logged.notes.append(CUT_NAMES)
        return tables_of_text(context)
    if isinstance(context, str) and context.strip():
        raise cut(logged.where, "context_data")
    if not isinstance(context, dict):
        if context:
            unread["context_data"] += 1
        return {}
    searches = [context]
    if not context.keys() & set(TABLES):  # a DRIFT search's, by its own questions
        searches = [tables for tables in map(json_within, context.values()) if isinstance(tables, dict)]
    found: dict[str, list[Row]] = {}
    for tables in searches:
        for name, table in tables.items():
            if name in TABLES:
                found.setdefault(name, []).extend(rows_of(table, logged.where, f"context_data.{name}"))
            elif table:
                unread[f"context_data.{shortened(name)}"] += 1
    return found


def _read_tables(
    tables: dict[str, list[Row]], logged: LoggedAnswer, unread: Counter[str], index: GraphragIndex | None
) -> None:
    """Add the retrieved names and the edges; they stay None if this kind of search looks for none.

    ``graphrag.api`` fills the tables that a search doesn't have with nothing, so that one without rows says something
    only beside others of a local search.
    """
    for name in ("reports", "claims"):
        if tables.get(name):
            unread[f"context_data.{name}"] += len(tables[name])
    searched = bool(tables.get("entities") or tables.get("relationships"))
    nothing = bool(tables) and not any(tables.values())
    if searched or nothing or tables.get("sources"):
        sources = list(_sources(tables, unread, index))
        if any(chunk.name.startswith("Sources (") for chunk in sources):
            logged.notes.append(_NUMBERED_TEXTS)
        ranking = Ranking()
        for chunk in (*_entities(tables, unread, logged.notes), *sources):
            ranking.item(chunk)
        edges = list(_edges(tables, unread))
        ranking.beside(edges)
        logged.retrieved = ranking.chunks()
        if (searched or nothing) and "relationships" in tables:
            # Rows of which none can be read are no traversal of nothing.
            logged.symbols = True
            logged.traversal = [edges] if edges else None if _in_context(tables["relationships"]) else []


def _edges(tables: dict[str, list[Row]], unread: Counter[str]) -> Iterator[LoggedEdge]:
    """Yield each relationship once; two relations of a pair are two rows, which their descriptions distinguish."""
    seen = set()
    for row in _in_context(tables.get("relationships", [])):
        used = ("id", "source", "target", "in_context", "description")
        count_unread(row, used, unread, "context_data.relationships.")
        source, target = identifier(row.get("source")), identifier(row.get("target"))
        if source is None or target is None:
            unread["context_data.relationships without an end"] += 1
            continue
        description = text(row.get("description"))
        if (key := (_number(row), source, target, description)) not in seen:
            seen.add(key)
            yield LoggedEdge(source, None, target, description=description)


def _entities(tables: dict[str, list[Row]], unread: Counter[str], notes: list[str]) -> Iterator[LoggedChunk]:
    rows = tables.get("entities", [])
    used = _in_context(rows)
    if len(used) < len(rows):
        notes.append(_UNORDERED)
    if any("index_name" in row for row in used):
        notes.append(_CUT_AT_HYPHENS)
    for row in used:
        count_unread(row, ("id", "entity", "description", "in_context"), unread, "context_data.entities.")
        name = _entity(row)
        if name is not None:
            yield LoggedChunk(name, text(row.get("description")))


def _sources(tables: dict[str, list[Row]], unread: Counter[str], index: GraphragIndex | None) -> Iterator[LoggedChunk]:
    """Yield the texts by their documents if the index knows them, else by their numbers."""
    for row in _in_context(tables.get("sources", [])):
        count_unread(row, ("id", "source_id", "text", "in_context"), unread, "context_data.sources.")
        number_of_it, words = _number(row), text(row.get("text"))
        names = index.documents(number_of_it, words) if index is not None else []
        for name in names or ([f"Sources ({number_of_it})"] if number_of_it is not None else []):
            yield LoggedChunk(name, words)


def _in_context(rows: list[Row]) -> list[Row]:
    """Return the rows that the model saw: with candidates asked for, a table holds those that it didn't see too."""
    return [row for row in rows if row.get("in_context", True) in (True, "True", "true")]


def _number(row: Row) -> str | None:
    """Return a row's ``human_readable_id``; ``source_id`` is how graphrag 1 calls it in a basic search."""
    return identifier(row["id"] if "id" in row else row.get("source_id"))


def _entity(row: Row) -> str | None:
    number_of_it = _number(row)
    return identifier(row.get("entity")) or (f"Entities ({number_of_it})" if number_of_it is not None else None)


def _citations(answer: str, tables: dict[str, list[Row]], notes: list[str], index: GraphragIndex | None) -> list[str]:
    """Return the citations of ``[Data: Relationships (1, 2); Entities (5, +more)]``, edges by their ends."""
    cited: dict[str, None] = {}  # an ordered set
    numbered = {name: {_number(row): row for row in rows} for name, rows in tables.items()}
    unknown = False
    for reference in _CITED.findall(answer):
        for part in reference.split(")"):
            label, bracket, numbers = part.partition("(")
            table = label.strip(" ,;").lower()
            if not bracket or not table:
                continue
            for one in filter(str.isdecimal, map(str.strip, numbers.split(","))):
                row = numbered.get(table, {}).get(one)
                names = _cited_names(table, one, row, index)
                unknown |= row is None and not names
                cited.update(dict.fromkeys(names or [f"{table.capitalize()} ({one})"]))
    if unknown:
        notes.append(_UNKNOWN_ROWS)
    return list(cited)


def _cited_names(table: str, number_of_it: str, row: Row | None, index: GraphragIndex | None) -> list[str]:
    """Return the names that are cited; none if only the number is known."""
    if row is not None and table == "relationships":
        ends = identifier(row.get("source")), identifier(row.get("target"))
        return [end for end in ends if end is not None]
    if row is not None and table == "entities":
        return [_entity(row) or ""]
    if index is None:
        return []
    return index.cited(table, number_of_it) if row is None else index.documents(number_of_it, text(row.get("text")))
