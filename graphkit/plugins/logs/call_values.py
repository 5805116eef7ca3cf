"""Names, texts and errors in the arguments and results of tool calls, in any format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from graphkit.plugins.logs.payloads import json_within, plain_key
from graphkit.plugins.logs.reprs import printed
from graphkit.readers.accounting import EMPTY_VALUES
from graphkit.readers.json_values import identifier, number, text
from graphkit.readers.logged import LoggedChunk
from graphkit.records.aliases import LONGEST_NAME

#: Limits of one call: its names, and the depth in its arguments or its result at which they are looked for.
MOST_NAMES = 100
_DEPTH = 4

#: The keys of an id, of a file, and of something within a file, without their case, ``_`` and ``-``.
_IDS = frozenset(
    (
        *("id", "ids", "nodeid", "nodeids", "entityid", "entityids", "documentid", "documentids", "docid", "docids"),
        *("chunkid", "chunkids", "artifactid", "artifactids", "sourceid"),
    )
)
_FILES = frozenset(
    (
        *("path", "paths", "file", "files", "filepath", "filepaths", "filename", "filenames", "targetfile"),
        *("targetfiles", "absolutepath", "relativepath", "relativeworkspacepath", "notebookpath", "uri"),
        *("uris", "url", "urls"),
    )
)
_WITHIN = frozenset(
    (
        *("symbol", "symbols", "symbolname", "symbolnames", "name", "names", "namepath", "qualifiedname"),
        *("fullname", "fqn", "identifier", "function", "functionname", "class", "classname", "method"),
        *("methodname", "module", "modulename", "node", "nodes", "nodename", "entity", "entities"),
        *("entityname", "title", "titles"),
    )
)

#: The keys under which a result lists what it found, and those of a text and of a score.
_LISTS = (
    *("results", "items", "matches", "hits", "documents", "docs", "chunks", "nodes", "entities", "files", "paths"),
    *("symbols", "references", "definitions", "neighbors", "neighbours", "records", "rows", "data", "result", "output"),
)
_TEXTS = ("text", "content", "snippet", "page_content", "code", "body")
_SCORES = ("score", "similarity", "relevance", "relevance_score")

#: The types of a content's blocks that name a source, and of any.
_SOURCES = ("resource", "resource_link", "search_result", "web_search_result")
_BLOCKS = (*_SOURCES, "text", "input_text", "output_text", "image", "image_url", "document", "audio")

#: The results that are errors: how their text begins, and the keys of an object that holds nothing else.
_ERROR_TEXT = re.compile(
    r"(?:<tool_use_error>|Traceback \(most recent call last\):|(?:[A-Za-z]*Error|Exception|ERROR|error|fatal)(?: \w+)?:"
    r"|ENOENT\b|EACCES\b|\[?(?:Tool|Request) (?:call )?(?:failed|cancelled|canceled|timed out))"
)
_LONGEST_ERROR = 2_000
_ERROR_KEYS = frozenset(("error", "errors", "errormessage", "exception"))
_BESIDE_ERRORS = frozenset(
    ("code", "status", "statuscode", "message", "type", "iserror", "details", "detail", "name", "stack", "traceback")
)
_NO_NAMES = frozenset(("", ".", "..", "*", "/", "./", "../"))


def is_error(content: Any) -> bool:
    """Return whether a result says that its call failed: a short text that begins so, or an object of an error alone.

    >>> is_error("Error: ENOENT: no such file or directory"), is_error({"error": "not found"}), is_error("errors = []")
    (True, True, False)
    >>> is_error({"error": None, "results": []}), is_error({"error": "partly", "results": ["a"]})
    (False, False)
    """
    return are_errors(values_in(content))


def are_errors(values: list[Any]) -> bool:
    """Return whether there are values, each of which says that its call failed."""
    return bool(values) and all(map(_is_error, values))


def _is_error(value: Any) -> bool:
    if isinstance(value, dict):
        rest = {plain_key(key): one for key, one in value.items() if one not in EMPTY_VALUES and one is not False}
        said = rest.keys() & _ERROR_KEYS
        return bool(said) and rest.keys() <= _ERROR_KEYS | _BESIDE_ERRORS
    return isinstance(value, str) and len(value) <= _LONGEST_ERROR and _ERROR_TEXT.match(value.strip()) is not None


def content_text(content: Any) -> str | None:
    """Return the text of a content: a text, blocks of which some have text, or an object as JSON."""
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [one if isinstance(one, str) else one.get("text") for one in content if isinstance(one, str | dict)]
        if any(isinstance(part, str) for part in parts) or not content:
            return "\n".join(part for part in parts if isinstance(part, str))
    try:
        return json.dumps(content, ensure_ascii=False)
    except RecursionError:
        return None


def found_in(content: Any, values: list[Any] | None = None) -> list[LoggedChunk] | None:
    """Return the chunks that a result names, or None if it has no structure that names any.

    A structure is JSON, or what Python prints of lists and objects. ``values`` are those in the result, if they are
    known.

    >>> [chunk.name for chunk in found_in('{"results": [{"path": "a.py", "symbol": "f"}, {"id": "n1"}]}')]
    ['a.py#f', 'n1']
    >>> [chunk.name for chunk in found_in("[{'id': 'n1', 'score': 0.5}]")]
    ['n1']
    >>> found_in("a.py:1: def f()")
    """
    if _is_blocks(content):
        found = [part for one in content if isinstance(one, dict) and (part := _found_in_block(one)) is not None]
        return [chunk for part in found for chunk in part] if found else None
    return _found_in_json((values or values_in(content))[0], _DEPTH)


def _is_blocks(content: Any) -> bool:
    return isinstance(content, list) and any(isinstance(one, dict) and one.get("type") in _BLOCKS for one in content)


def values_in(content: Any) -> list[Any]:
    """Return what a content holds: the value of each of its blocks with a text, or that of the whole."""
    if not _is_blocks(content):
        return [_within(content)]
    return [_within(one["text"]) for one in content if isinstance(one, dict) and isinstance(one.get("text"), str)]


def _within(content: Any) -> Any:
    """Return the value in a text that is JSON or that Python printed; any other value unchanged."""
    value = json_within(content)
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        given = printed(value)
        return value if given is None else given
    return value


def _found_in_block(block: dict[str, Any]) -> list[LoggedChunk] | None:
    """Return the names in a block of a content: JSON in a text, a resource, a search result."""
    kind = block.get("type")
    if kind == "resource" and isinstance(block.get("resource"), dict):
        block = block["resource"]
    if kind in _SOURCES:
        name = next((one for key in ("uri", "source", "url", "title") if (one := text(block.get(key)))), None)
        words = content_text(block["content"]) if "content" in block else text(block.get("text"))
        return None if name is None else [LoggedChunk(_without_scheme(name), words)]
    words = text(block.get("text"))
    return None if words is None else _found_in_json(_within(words), _DEPTH)


def _found_in_json(value: Any, depth: int) -> list[LoggedChunk] | None:
    if depth == 0:
        return None
    if isinstance(value, dict):
        for key in _LISTS:
            if isinstance(value.get(key), list | dict) and (found := _found_in_json(value[key], depth - 1)) is not None:
                return found
        chunk = _chunk(value)
        return None if chunk is None else [chunk]
    if not isinstance(value, list):
        return None
    if all(isinstance(one, str) for one in value):
        # A list of names has none with a blank in it, unlike one of lines.
        return [LoggedChunk(one) for one in value] if all(map(_is_name, value)) else None
    chunks = [_chunk(one) for one in value if isinstance(one, dict)]
    named = [one for one in chunks if one is not None]
    return named or None


def _chunk(item: dict[str, Any]) -> LoggedChunk | None:
    """Return a found item, also one within its own object, such as ``{"document": {...}}``."""
    for one in (item, *(item[key] for key in ("document", "node", "chunk", "metadata") if key in item)):
        if isinstance(one, dict) and (name := next(names_in(one, 1), None)) is not None:
            words = next((given for key in _TEXTS for held in (one, item) if (given := text(held.get(key)))), None)
            score = next((value for key in _SCORES for held in (item, one) if (value := number(held.get(key)))), None)
            return LoggedChunk(name, words, score)
    return None


def names_in(value: Any, depth: int = _DEPTH) -> Iterator[str]:
    """Yield the names in an object: its id, else symbols within a file, else files and symbols; then inner ones."""
    if depth == 0:
        return
    if isinstance(value, list):
        for one in value:
            yield from names_in(one, depth - 1)
        return
    if not isinstance(value, dict):
        return
    named: dict[str, list[str]] = {"ids": [], "files": [], "within": []}
    for key, held in dict.items(value):
        plain = plain_key(key)
        kind = "ids" if plain in _IDS else "files" if plain in _FILES else "within" if plain in _WITHIN else None
        if kind is not None:
            value.get(key)
            many = held if isinstance(held, list) else [held]
            for one in many:
                name = identifier(one) if kind == "ids" else text(one)
                name = None if name is None else _without_scheme(name.strip())
                if name is not None and _is_label(name):
                    named[kind].append(name)
    files, within = named["files"], named["within"]
    if named["ids"]:
        yield from named["ids"]
    elif len(files) == 1 and within:
        yield from (name if "#" in name else f"{files[0]}#{name}" for name in within)
    else:
        yield from files
        yield from within
    for key, held in dict.items(value):
        if isinstance(held, dict | list):
            value.get(key)
            yield from names_in(held, depth - 1)


def _is_label(name: str) -> bool:
    """Return whether a text can be a name; a directory isn't opened."""
    return name not in _NO_NAMES and len(name) <= LONGEST_NAME and "\n" not in name and not name.endswith("/")


def _is_name(name: str) -> bool:
    return _is_label(name) and not any(char.isspace() for char in name)


def _without_scheme(name: str) -> str:
    return name.removeprefix("file://").removeprefix("./")
