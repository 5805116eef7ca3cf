"""Normalisation of the forms in which paths, rankings and traversals are written.

The functions work on decoded JSON and raise ``ValueError`` with a sentence for the user. They leave other values for
the models to check.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from graphkit.records.aliases import ANSWER, QUESTION
from graphkit.records.ids import id_of, id_of_text
from graphkit.records.three_texts import are_triples


class Wrapper(NamedTuple):
    """The further keys of an object that wraps the steps of a traversal, and of its steps."""

    beside: tuple[str, ...] = ()
    in_steps: tuple[str, ...] = ()


_NODE_LINK = Wrapper(("nodes", "directed", "multigraph", "graph"), ("key",))

#: The objects around steps or paths, by the key of the list in them.
WRAPPERS = {
    "steps": Wrapper(),
    "paths": Wrapper(),
    "triples": Wrapper(),
    "edges": _NODE_LINK,
    "links": _NODE_LINK,
}


#: The shape of JSON that a field takes, by the kind of a validation error, which speaks of tuples and dictionaries.
WANTED = {"tuple_type": "a list is wanted", "dict_type": "an object is wanted", "model_type": "an object is wanted"}

#: What stands before the relation of an edge that was walked backwards.
BACKWARDS = "~"


def forwards(relation: str | None) -> str | None:
    """Return the relation of an edge that was walked backwards, or None for one that wasn't.

    >>> forwards("~CALLS"), forwards("CALLS")
    ('CALLS', None)
    """
    if relation is None or not relation.startswith(BACKWARDS):
        return None
    return relation[1:].lstrip() or None


def in_direction(step: Any) -> Any:
    """Return a step as its edge points: one whose relation says that it was walked backwards is turned.

    >>> in_direction({"source": "b", "relation": "~CALLS", "target": "a"})
    {'target': 'b', 'relation': 'CALLS', 'source': 'a'}
    """
    name = next((name for name in ("relation", "type", "label") if isinstance(step, dict) and name in step), None)
    relation = forwards(step[name]) if name is not None and isinstance(step[name], str) else None
    if relation is None:
        return step
    return {_OTHER_END.get(key, key): relation if key == name else value for key, value in step.items()}


_OTHER_END = {
    "source": "target",
    "target": "source",
    "source_commit": "target_commit",
    "target_commit": "source_commit",
}


def traversal_steps(value: Any) -> Any:
    """Convert a traversal to a list of steps. Null, for an unknown traversal, stays null.

    Accepted: a list of steps (objects with ``source`` and ``target``); a list of node lists, each one path; a list of
    ``[source, relation, target]`` triples, together one path; a list of paths (objects with ``steps``); an object with
    ``paths`` or ``triples``; networkx node-link JSON, whose edges have no direction if the graph isn't ``directed``;
    paths as text, as gold has them (:func:`graphkit.records.path_texts.path_of_text`).
    """
    if value is None:
        return None
    if isinstance(value, dict):
        return _from_object(value)
    if isinstance(value, str):
        return _from_texts([value])
    if not isinstance(value, list | tuple):
        raise ValueError("a traversal must be a list of steps, node lists or triples, text, or node-link JSON")
    if value and all(isinstance(one, str) for one in value) and any("->" in one or "<-" in one for one in value):
        return _from_texts(value)
    if not value or not isinstance(value[0], list | tuple):
        return _from_paths(value) if value and isinstance(value[0], dict) and "steps" in value[0] else list(value)
    return _triples(value) if are_triples(value) else _from_paths(value)


def gold_paths(value: Any) -> Any:
    """Convert gold paths to a list of ``{"steps": [...]}``. A path may also be a list of steps, triples or nodes."""
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise ValueError("gold paths must be a list")
    return [_gold_path(path) for path in value]


def absent_edges(value: Any) -> Any:
    """Convert edges that don't exist to a list of steps; each may be written as a triple."""
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise ValueError("absent edges must be a list")
    return [_step(step) for step in value]


def _gold_path(path: Any) -> Any:
    if isinstance(path, dict):
        steps = path.get("steps")
        return {**path, "steps": [_step(step) for step in steps]} if isinstance(steps, list) else path
    if isinstance(path, list | tuple):
        if path and all(id_of(node) is not None for node in path):
            return {"steps": _node_steps(path)}
        return {"steps": [_step(step) for step in path]}
    return path


def _step(step: Any) -> Any:
    """Convert a ``[source, relation, target]`` triple to a step; leave other values for the model."""
    if isinstance(step, list | tuple):
        if len(step) != 3:
            raise ValueError("a step written as a list must be [source, relation, target]")
        return {"source": step[0], "relation": step[1], "target": step[2]}
    return step


def _from_texts(texts: Any) -> list[dict[str, Any]]:
    """Return the steps of paths that are written as text; an empty text is no path."""
    from graphkit.records.path_texts import SecondNamesOf, paths_of_text

    paths = [path for text in texts if text.strip() for path in paths_of_text(text)]
    second = SecondNamesOf(paths)
    decided = second.decided()
    if decided is None:
        relations, nodes = second.examples()
        raise ValueError(f"a path may be {relations} or {nodes}: write it as one of both")
    steps = (path.steps(decided) for path in paths)
    return [{**step, "path": place, "position": at} for place, its in enumerate(steps) for at, step in enumerate(its)]


def _node_steps(nodes: Any) -> list[dict[str, Any]]:
    return [{"source": source, "target": target} for source, target in zip(nodes, nodes[1:], strict=False)]


def _triples(rows: Any) -> list[dict[str, Any]]:
    steps = []
    for position, row in enumerate(rows):
        if not isinstance(row, list | tuple | dict):
            raise ValueError("each triple of the traversal must be [source, relation, target]")
        steps.append({**_step(row), "path": 0, "position": position})
    return steps


def _from_paths(paths: Any) -> list[Any]:
    steps: list[Any] = []
    for number, path in enumerate(paths):
        inner = path.get("steps") if isinstance(path, dict) else path
        if not isinstance(inner, list | tuple):
            raise ValueError(f"path {number} of the traversal must be a list of nodes or of steps")
        nodes = bool(inner) and all(id_of(node) is not None for node in inner)
        if nodes and len(inner) == 1 and inner[0] == "":
            raise ValueError(f"path {number} of the traversal is one node without a name")
        listed = _node_steps(inner) if nodes else [_step(step) for step in inner]
        for position, step in enumerate(listed):
            steps.append({"position": position, **step, "path": number} if isinstance(step, dict) else step)
    return steps


def _from_object(value: dict[str, Any]) -> Any:
    if isinstance(value.get("paths"), list):
        return _from_paths(value["paths"])
    if isinstance(value.get("triples"), list):
        return _triples(value["triples"])
    edges = value.get("edges", value.get("links"))
    if "nodes" not in value or not isinstance(edges, list):
        raise ValueError('a traversal object needs "paths", "triples", or the "nodes" and "edges" of node-link JSON')
    steps = []
    for position, edge in enumerate(edges):
        if not isinstance(edge, dict):
            raise ValueError("each edge of node-link JSON must be an object")
        relation = edge.get("relation", edge.get("type", edge.get("label", edge.get("key"))))
        step = {"position": position, **edge, "relation": relation if isinstance(relation, str) else None}
        steps.append({"directed": False, **step} if value.get("directed") is False else step)
    return steps


def gains(value: Any) -> Any:
    """Convert relevant ids to a map of gains; an id in a list has gain 1, and a text without an id that of its hash."""
    if value is None:
        return {}
    if not isinstance(value, list | tuple):
        return value
    result: dict[str, Any] = {}
    for item in value:
        if (name := id_of(item)) is not None:
            result[name] = 1.0
        elif isinstance(item, dict) and (name := id_of(item.get("id")) or _id_of_text(item)) is not None:
            result[name] = item.get("gain", 1.0)
        else:
            raise ValueError('a relevant id must be a string or {"id": ..., "gain": ...}')
    return result


def retrieved_chunks(value: Any) -> Any:
    """Convert retrieved chunks to objects; a string is the id of a chunk. Null, for unknown ones, stays null.

    A chunk without an id is known by the hash of its text.
    """
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise ValueError("retrieved chunks must be a list, best first")
    return [{"id": item} if id_of(item) is not None else _identified(item) for item in value]


def linked_seeds(value: Any) -> Any:
    """Convert seeds to objects; a string is the id of one. Null, for unknown ones, stays null.

    An object holds ids with their mentions or scores.

    >>> linked_seeds(["a"]), linked_seeds({"m.02": "Ann", "m.03": 0.5})
    ([{'id': 'a'}], [{'id': 'm.02', 'mention': 'Ann'}, {'id': 'm.03', 'score': 0.5}])
    """
    if value is None:
        return None
    if isinstance(value, dict):
        return [{"id": name, "mention" if isinstance(of, str) else "score": of} for name, of in value.items()]
    if not isinstance(value, list | tuple):
        raise ValueError("seeds must be a list of ids, best first, or an object of ids with their mentions or scores")
    return [{"id": item} if id_of(item) is not None else item for item in value]


#: The names of a chunk's id and of its text.
_IDS, _TEXTS = ("id", "chunk_id", "doc_id", "node_id"), ("text", "content", "page_content")


def _identified(chunk: Any) -> Any:
    """Return a chunk with an id, that of its text if it has none of its own."""
    if not isinstance(chunk, dict) or any(name in chunk for name in _IDS):
        return chunk
    name = _id_of_text(chunk)
    return chunk if name is None else {"id": name, **chunk}


def _id_of_text(item: dict[str, Any]) -> str | None:
    text = next((item[name] for name in _TEXTS if isinstance(item.get(name), str)), None)
    return id_of_text(text) if text else None


def citation_ids(value: Any) -> Any:
    """Convert citations to chunk ids; an object names its chunk as ``id``, ``chunk_id`` or ``chunk``."""
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise ValueError("citations must be a list of chunk ids")
    return [
        next((item[key] for key in ("id", "chunk_id", "chunk") if key in item), item)
        if isinstance(item, dict)
        else item
        for item in value
    ]


def tool_calls(value: Any) -> Any:
    """Convert tool calls to objects; a string is the name of a tool. Null, for unknown calls, stays null.

    ``{"function": {"name": N, "arguments": A}}``, the form of chat completions, is a call of N with A.
    """
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise ValueError("tool calls must be a list, in the order in which they were made")
    return [_tool_call(item) for item in value]


def _tool_call(item: Any) -> Any:
    if isinstance(item, str):
        return {"name": item}
    if isinstance(item, dict) and isinstance(item.get("function"), dict):
        return {
            **item,
            **{field: item["function"][field] for field in ("name", "arguments") if field in item["function"]},
        }
    return item


def error_text(value: Any) -> Any:
    """Convert an error to one line: ``{"type": T, "message": M}`` becomes ``T: M``."""
    if isinstance(value, dict):
        kind, message = value.get("type") or "error", value.get("message") or ""
        return f"{kind}: {message}" if message else str(kind)
    return value


#: The fields that name a record, which its output can't.
_NAMES_OF_A_RECORD = {one for field in ("run", "question_id") for one in (field, *ANSWER[field])}

#: The names of a question's relevant ids.
_RELEVANT = ("relevant", *QUESTION["relevant"])

#: Where harnesses keep what a system returned: words, a ranking, or an object with the fields of a record.
OUTPUTS = ("actual_output", "actualOutput")


def with_output(given: Any) -> Any:
    """Return a run's record whose output stands in the record's own fields, which precede it.

    Words are the answer and a list is what was retrieved, also as JSON in a text; an object holds fields of a record.

    >>> with_output({"id": "q1", "actualOutput": '["a", "b"]'}), with_output({"actual_output": "No."})
    ({'retrieved': ['a', 'b'], 'id': 'q1'}, {'answer': 'No.'})
    """
    name = next((one for one in OUTPUTS if one in given), None) if isinstance(given, dict) else None
    if name is None:
        return given
    output = _json_of(given[name])
    if isinstance(output, dict):
        held = {field: value for field, value in output.items() if field not in _NAMES_OF_A_RECORD}
    else:
        held = {"retrieved" if isinstance(output, list) else "answer": output}
    return {**held, **{field: value for field, value in given.items() if field != name}}


def _json_of(value: Any) -> Any:
    """Return the object, or the list of ids or objects, that a text is the JSON of; any other value as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return found if isinstance(found, dict) or all(isinstance(one, str | dict) for one in found) else value


def with_gold(given: Any) -> Any:
    """Return a question whose gold stands in the record's own fields, which precede it.

    An ``expected_output`` that isn't a text holds relevant ids or gains; ``metadata`` may hold ``k``; a list under a
    name of the gold answer holds gold answers.

    >>> with_gold({"id": "q1", "expected_output": ["a"], "metadata": {"k": 3, "by": "ann"}})
    {'id': 'q1', 'relevant': ['a'], 'k': 3, 'metadata': {'by': 'ann'}}
    """
    if not isinstance(given, dict):
        return given
    found = dict(given)
    for name in ("expected_output", *QUESTION["expected_output"]):
        if isinstance(found.get(name), list | dict) and not any(one in found for one in _RELEVANT):
            found["relevant"] = found.pop(name)
    for name in ("gold_answer", *QUESTION["gold_answer"]):
        if isinstance(found.get(name), list | tuple) and not found.get("gold_answers"):
            found["gold_answers"] = found.pop(name)
    metadata = found.get("metadata")
    if isinstance(metadata, dict) and type(metadata.get("k")) is int and metadata["k"] > 0 and "k" not in found:
        found["k"] = metadata["k"]
        rest = {name: value for name, value in metadata.items() if name != "k"}
        del found["metadata"]
        found |= {"metadata": rest} if rest else {}
    return found


def checked_question(question: Any) -> None:
    """Raise ValueError for fields that contradict each other.

    Refused are a turn without a session, a path from no earlier turn, a criterion of neither kind, gold paths of a
    question without an answer, and a reason why there is none for a question that has one.
    """
    if question.answerable is False:
        if question.paths:
            raise ValueError(
                "a question with answerable: false has no gold path; list edges that don't exist as absent"
            )
    elif question.why_not is not None:
        raise ValueError("why_not needs answerable: false")
    turn = question.turn
    if turn is not None and question.session is None:
        raise ValueError("a turn needs the session that it belongs to")
    for path in question.paths:
        if path.from_turn is not None and path.from_turn >= (turn or 1):
            of = "has no turn" if turn is None else f"is turn {turn}"
            raise ValueError(f"from_turn must name an earlier turn: it is {path.from_turn}, and the question {of}")
    if any((one.must is None) == (one.must_not is None) for one in question.criteria):
        raise ValueError('each of the criteria has either "must" or "must_not"')
