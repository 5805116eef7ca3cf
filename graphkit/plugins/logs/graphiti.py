"""Search results of graphiti: the edges of ``search()``, and what ``search_()`` finds beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from graphkit.plugins.logs.framework_logs import SearchReader
from graphkit.plugins.logs.logged_rankings import Ranking, distinct
from graphkit.plugins.logs.payloads import count_unread, objects_of
from graphkit.readers.json_values import identifier, number, text
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, LoggedEdge

#: The keys of a list of edges in a result, and in one of graphiti's MCP server.
_LISTS = ("edges", "facts", "results")
_RESULT = (
    *_LISTS,
    *("edge_reranker_scores", "nodes", "node_reranker_scores", "episodes", "episode_reranker_scores", "message"),
)
_EDGE = (
    *("uuid", "group_id", "source_node_uuid", "target_node_uuid", "created_at", "name", "fact", "fact_embedding"),
    *("episodes", "expired_at", "valid_at", "invalid_at", "reference_time"),
)
_NODE = ("uuid", "name", "group_id", "labels", "created_at", "name_embedding", "summary")
_EPISODE = (
    *("uuid", "name", "group_id", "labels", "created_at", "source", "source_description", "content", "valid_at"),
    *("entity_edges", "episode_metadata"),
)

#: The longest fact that is split at its relation.
_LONGEST_FACT = 1_000


class GraphitiReader(SearchReader):
    """Reads lists of edges, and results with edges, nodes and episodes."""

    name = "graphiti"
    priority = 123
    title = "graphiti: results of search() and search_(), with model_dump(mode='json') of each object"
    lacks = (
        "The ends of an edge are ids that graphiti drew. Their names are known from the nodes of search_(), from a "
        "fact such as `a.py calls b.py` whose relation is CALLS, or by a table of ids.",
        "Edges are a set. Edges, nodes and episodes are ranked apart: they follow each other in this order.",
        "Communities aren't read.",
        "There are no answer, latency, tokens, model and cost.",
    )

    def is_payload(self, value: Any) -> bool:
        if isinstance(value, dict):
            found = any(any(map(_is_edge, objects_of(value.get(key))[:3])) for key in _LISTS)
            return found or _is_result(value) or any(map(_is_node, objects_of(value.get("nodes"))[:3]))
        return isinstance(value, list) and any(map(_is_edge, value[:3]))

    def add(self, answer: LoggedAnswer, payload: Any, unread: Counter[str]) -> None:
        held = payload if isinstance(payload, dict) else {"edges": payload}
        count_unread(held, _RESULT, unread)
        listed = next((held[key] for key in _LISTS if isinstance(held.get(key), list)), None)
        edges = objects_of(listed)
        nodes, episodes = objects_of(held.get("nodes")), objects_of(held.get("episodes"))
        for kind, objects, known in (
            ("edges", edges, _EDGE),
            ("nodes", nodes, _NODE),
            ("episodes", episodes, _EPISODE),
        ):
            for one in objects:
                count_unread(one, known, unread, f"{kind}.")
        names = _names(nodes, edges)
        ranking, found = Ranking(), list[LoggedEdge]()
        for one, score in zip(edges, _scores(held.get("edge_reranker_scores"), edges), strict=True):
            source, target = (identifier(one.get(f"{end}_node_uuid")) for end in ("source", "target"))
            if source is None or target is None:
                unread["edges without ends"] += 1
                continue
            edge = LoggedEdge(names.get(source, source), text(one.get("name")), names.get(target, target))
            found.append(edge)
            ends = [LoggedChunk(edge.source, text(one.get("fact")), score), LoggedChunk(edge.target, None, score)]
            ranking.several(ends, score)
        for one, score in zip(nodes, _scores(held.get("node_reranker_scores"), nodes), strict=True):
            if (name := _name(one)) is not None:
                ranking.item(LoggedChunk(name, text(one.get("summary")), score))
        for one, score in zip(episodes, _scores(held.get("episode_reranker_scores"), episodes), strict=True):
            if (name := _name(one)) is not None:
                ranking.item(LoggedChunk(name, text(one.get("content")), score))
        answer.retrieved = ranking.chunks()
        answer.traversal = [distinct(found)] if found else [] if listed == [] else None
        answer.ordered, answer.drawn_ids, answer.symbols = False, True, True


def _is_edge(value: Any) -> bool:
    return isinstance(value, dict) and {"source_node_uuid", "target_node_uuid", "fact"} <= value.keys()


def _is_node(value: Any) -> bool:
    return isinstance(value, dict) and {"uuid", "name", "group_id", "summary"} <= value.keys()


def _is_result(value: dict[str, Any]) -> bool:
    """Return whether a value is a result by its lists, which may be empty."""
    return {"edge_reranker_scores", "node_reranker_scores"} <= value.keys() and isinstance(value.get("edges"), list)


def _name(node: dict[str, Any]) -> str | None:
    return text(node.get("name")) or identifier(node.get("uuid"))


def _scores(given: Any, objects: list[dict[str, Any]]) -> Iterable[float | None]:
    """Return a score for each object; none where the log hasn't as many."""
    fits = isinstance(given, list) and len(given) == len(objects)
    return [number(one) for one in given] if fits else [None] * len(objects)


def _names(nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> dict[str, str]:
    """Return the names of ids: those of nodes, and those in facts."""
    found: dict[str, str] = {}
    for one in nodes:
        key, name = identifier(one.get("uuid")), text(one.get("name"))
        if key is not None and name is not None:
            found[key] = name
    for one in edges:
        ends = _ends_of_fact(text(one.get("fact")) or "", text(one.get("name")) or "")
        for place, name in zip(("source_node_uuid", "target_node_uuid"), ends or (), strict=False):
            if (key := identifier(one.get(place))) is not None:
                found.setdefault(key, name)
    return found


def _ends_of_fact(fact: str, relation: str) -> tuple[str, str] | None:
    """Return the ends in a fact that consists of them and the relation between them; None for any other fact.

    An end is one word: where more words stand, nobody knows which of them are the name.

    >>> _ends_of_fact("Ann works at Acme.", "WORKS_AT"), _ends_of_fact("Ann has worked at Acme", "WORKS_AT")
    (('Ann', 'Acme'), None)
    """
    words = relation.replace("_", " ").strip().casefold().split()
    if not words or len(fact) > _LONGEST_FACT:
        return None
    given = fact.removesuffix(".").split()
    between = [word.casefold() for word in given[1:-1]]
    return (given[0], given[-1]) if len(given) == len(words) + 2 and between == words else None
