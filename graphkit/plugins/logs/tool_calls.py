"""Calls of tools in any format: the names that a call opened, and those that its result found.

The arguments of a tool name what it opens: a file, a symbol, a node of a graph. Every user has other tools, but the
names of arguments are alike everywhere, so the reading relies on them.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from graphkit.plugins.logs.documents import content_of_rows
from graphkit.plugins.logs.graph_results import graph_of_result
from graphkit.plugins.logs.logged_rankings import distinct, ends
from graphkit.plugins.logs.payloads import json_within, plain_key
from graphkit.plugins.logs.reprs import printed
from graphkit.plugins.logs.shell_commands import ShellReading, read_shell
from graphkit.readers.accounting import EMPTY_VALUES, kept
from graphkit.readers.json_values import identifier, number, text
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, LoggedEdge, LoggedToolCall, ReadOptions
from graphkit.records.aliases import LONGEST_NAME
from graphkit.records.doubts import UNREAD_PARTS

#: Limits of one call: its names, and the depth in its arguments or its result at which they are looked for.
MOST_NAMES = 100
DEPTH = 4

#: The keys of an id, of a file, and of something within a file, without their case, ``_`` and ``-``.
IDS = frozenset(
    (
        *("id", "ids", "nodeid", "nodeids", "entityid", "entityids", "documentid", "documentids", "docid", "docids"),
        *("chunkid", "chunkids", "artifactid", "artifactids", "sourceid"),
    )
)
FILES = frozenset(
    (
        *("path", "paths", "file", "files", "filepath", "filepaths", "filename", "filenames", "targetfile"),
        *("targetfiles", "absolutepath", "relativepath", "relativeworkspacepath", "notebookpath", "uri"),
        *("uris", "url", "urls"),
    )
)
WITHIN = frozenset(
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

#: Tools that search: their arguments name the place of the search, which isn't opened.
_SEARCH = frozenset(("search", "grep", "glob", "rg", "ripgrep", "ls", "tree"))
_LISTING = frozenset(("find", "list"))
_OF_FILES = frozenset(("file", "files", "dir", "dirs", "directory", "directories", "folder", "folders"))

#: Tools that hand in the answer, and the arguments that hold it.
_SUBMIT = frozenset(
    (
        *("submit", "finish", "finalanswer", "submitanswer", "submitfinalanswer", "taskcomplete", "marktaskcomplete"),
        *("attemptcompletion", "done"),
    )
)
_STRUCTURED = "finalresult"
_ANSWERS = ("answer", "final_answer", "message", "result", "output", "text", "submission")

#: Tools that keep an agent's thoughts and plans: they open nothing, and their results show nothing.
_SHOW_NOTHING = frozenset(
    (
        *("think", "todowrite", "todoread", "updateplan", "tasktracker", "updatetodos", "updatetodolist"),
        *("reportintent",),
    )
)

#: Tools that run a command line, by the words of their names, and the arguments that hold it.
_SHELLS = frozenset(("bash", "shell", "sh", "zsh", "terminal", "console"))
_COMMANDS = ("command", "cmd", "keystrokes")
_SCRIPTS = ("script", "code", "input")

#: The types of a content's blocks that name a source, and of any.
_SOURCES = ("resource", "resource_link", "search_result", "web_search_result")
_BLOCKS = (*_SOURCES, "text", "input_text", "output_text", "image", "image_url", "document", "audio")

_CYPHER = re.compile(r"\bMATCH\s{0,9}[\w=\s]{0,99}\(", re.IGNORECASE)
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
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NO_NAMES = frozenset(("", ".", "..", "*", "/", "./", "../"))

#: The things that no format of conversations logs.
LACKS = (
    "A tool opens what its arguments name (path, symbol, node, id, ...); a search opens nothing. Only those shell "
    "commands are read that certainly print a file or name the files that match (cat, sed -n, head, tail, nl, less, "
    "grep, rg, git show).",
    "An edge in a result is walked. Those that a result lists around what its call opened are seen only: one is walked "
    "when its other end is opened later, as any edge is that the knowledge graph holds between two opened things.",
)

MANY = f"a call names more than {MOST_NAMES} things: what follows isn't read"
SHELL = "some shell commands can't be read for certain: what else they opened isn't known"
UNREAD_ARGUMENTS = "the arguments of a call are no JSON object: what it opened isn't known"
FAILED = "a call that failed opened nothing"
WITHOUT_RESULT = "calls without a result, where other calls have one, count as failed"
UNLOGGED_RESULT = "calls without a result, where other calls have one: what they gave isn't known"
PLAIN = "what a search gave back is plain text: what it found doesn't count as retrieved"


class Trail:
    """The calls of one question in order, with what they opened and found.

    Parameters
    ----------
    each_result
        Whether the log holds the result of each call that has one, so that one without a result failed.
    moved
        Whether an earlier command may have left the shell in another folder.
    """

    def __init__(self, *, each_result: bool = True, moved: bool = False) -> None:
        self.each_result = each_result
        self.moved = moved
        self.calls: list[LoggedToolCall] = []
        self.notes: dict[str, None] = {}
        self.submitted: str | None = None
        self._by_id: dict[str, int] = {}
        self._waiting: deque[int] = deque()
        self._found: list[list[LoggedChunk]] = []
        self._shown: dict[int, list[LoggedChunk]] = {}
        self._edges: list[list[LoggedEdge]] = []
        self._listed: list[LoggedEdge] = []
        self._unread: set[int] = set()
        self._shells: dict[int, ShellReading] = {}
        self._returned: set[int] = set()
        self._silent: set[int | None] = set()  # the calls whose result has no content
        self._lost = False
        self._folders: dict[int, str] = {}

    def called(self, name: Any, arguments: Any, call: Any = None, folder: str | None = None) -> None:
        """Add a call, with the id by which its result is known, and the folder in which a shell runs it."""
        given = json_within(arguments)
        if not isinstance(given, dict):
            if given not in (None, ""):
                self.notes[UNREAD_ARGUMENTS] = None
                self._unread.add(len(self.calls))
            given = {}
        if text(name) is None:
            self.unread_part()
        one = LoggedToolCall(text(name) or "unnamed", kept(given))
        key = identifier(call)
        if key is None:
            self._waiting.append(len(self.calls))
        else:
            self._by_id[key] = len(self.calls)
        if folder is not None:
            self._folders[len(self.calls)] = folder
        self.calls.append(one)
        line = command_line(one)
        if line is not None:
            self._read_shell(len(self.calls) - 1, line)
        if hands_in(one.name):
            self.submitted = next((words for key in _ANSWERS if (words := text(given.get(key)))), self.submitted)
            if self.submitted is None and _is_structured(one.name) and given:
                self.submitted = content_text(given)

    def returned(
        self, content: Any, call: Any = None, failed: bool = False, found: list[LoggedChunk] | None = None
    ) -> None:
        """Add the result of a call: of the one with the id, else of the first one without an id and a result.

        Parameters
        ----------
        found
            The things that it found, if the log names them apart from the content.
        """
        values = _values_in(content)
        key = identifier(call)
        index = self._by_id.get(key) if key is not None else self._waiting.popleft() if self._waiting else None
        if content is found is None and not failed:
            self._silent |= {index} - {None}
            return
        if index is not None:
            self._returned.add(index)
            failed = failed or (index not in self._shells and found is None and _are_errors(values))
            self.calls[index].result = content_text(content)
            self.calls[index].failed = failed
            if index in self._shells and self._read_shell(index, command_line(self.calls[index]) or "").certain:
                return  # the content of a printed file isn't the result of a search
        if failed:
            return
        graph = self._graph(values, index)
        if found is None:
            found = found_in(content) if _is_blocks(content) else _found_in_json(values[0], DEPTH)
        if found is None and index is not None and (query := _query_of(self.calls[index])) is not None:
            found = self._found_in_rows(values, query, index)
        if graph:
            own = found or []
            named = {chunk.name for chunk in own}
            found = [*own, *(chunk for chunk in ends(graph) if chunk.name not in named)]
        if found is not None:
            self._found.append(found)
            if index is not None:
                self._shown.setdefault(index, []).extend(found)
        elif index is not None and searches(self.calls[index].name):
            self.notes[PLAIN] = None

    def _graph(self, values: list[Any], index: int | None) -> list[LoggedEdge]:
        """Keep the edges of a result, and return those that are walked.

        Edges that all touch what the call opened are the ways on from there: which one was taken, later calls show.
        """
        given = self.calls[index].arguments if index is not None else {}
        query = _query_of(self.calls[index]) if index is not None else None
        opened = list(islice(_names(given, DEPTH), MOST_NAMES)) if query is None else []
        center = opened[0] if len(opened) == 1 else None
        found: list[LoggedEdge] = []
        for value in values:
            graph = graph_of_result(value, query, center)
            self.notes |= graph.notes
            if graph.unread and index is not None:
                self._unread.add(index)
            edges = [*(edge for path in graph.paths for edge in path), *graph.edges]
            if any(all(_touches(edge, name) for edge in edges) for name in opened):
                self._listed += edges
            else:
                self._edges += [*graph.paths, *([graph.edges] if graph.edges else [])]
                found += edges
        return distinct(found)

    def _found_in_rows(self, values: list[Any], query: str, index: int) -> list[LoggedChunk] | None:
        """Return what the rows of a query hold whose columns say nothing: the import looks for ids among the values."""
        lists = (part for value in values for part in (value.values() if isinstance(value, dict) else (value,)))
        rows = [row for one in lists if isinstance(one, list) for row in one if isinstance(row, dict)]
        rows = rows or [value for value in values if isinstance(value, dict)]
        if not rows:
            return None
        read = content_of_rows(rows, query, ReadOptions())
        chunks = read.retrieved or []
        self.calls[index].values = [one for chunk in chunks for one in chunk.values]
        for chunk in chunks:
            if not chunk.is_named:
                chunk.name = f"{chunk.name} of call {index + 1}"
        return read.retrieved

    def _read_shell(self, index: int, line: str) -> ShellReading:
        """Read the command line of a call, with its result if there is one."""
        call = self.calls[index]
        reading = self._shells[index] = read_shell(line, call.result, call.failed, self._folders.get(index))
        self.submitted = reading.submitted or self.submitted
        return reading

    def unread_part(self) -> None:
        """Note that a part of the log isn't read, which may be a call or a result."""
        self._lost = True
        self.notes[UNREAD_PARTS] = None

    @property
    def handed_in(self) -> bool:
        """Whether the last call hands in the answer, be its text known or not."""
        last = len(self.calls) - 1
        return last >= 0 and (hands_in(self.calls[last].name) or (last in self._shells and self._shells[last].submits))

    def found(self, chunks: list[LoggedChunk]) -> None:
        """Add chunks that a format itself names as found."""
        if chunks:
            self._found.append(chunks)

    def into(self, answer: LoggedAnswer, tools: bool) -> None:
        """Add the calls to an answer.

        Parameters
        ----------
        tools
            Whether the log says that there were tools: then no call is a walk of nothing, else it is not known.
        """
        answer.retrieved = self.retrieved()
        if self.calls or tools:
            answer.tool_calls = self.calls
            self._fail_without_result()
            self._place_shells()
            opened = [self._opened(index) for index in range(len(self.calls))]
            for index, names in enumerate(opened):
                self.calls[index].seen = self._seen(index, names)
            answer.opened = [name for names in opened for name in names]
            answer.shown, answer.listed = self._edges, self._listed
            answer.unknown_calls = sum(call.seen is None for call in self.calls) + self._lost
            gone = (one for each in self._shells.values() for one in each.folders)
            answer.folders = list(dict.fromkeys([*answer.folders, *gone]))
            answer.ordered = True
        answer.notes += self.notes

    def _fail_without_result(self) -> None:
        """Mark calls without a result as failed where the log holds results; what hands in the answer has none."""
        named = {*self._by_id.values()}  # others may have their results joined into one
        without = self._silent | (named if self._returned & named else set())
        for index, call in enumerate(self.calls):
            if not self._returned or index not in without - self._returned or hands_in(call.name):
                continue
            if index in self._shells and (self._shells[index].submits or not self.each_result):
                continue
            if not self.each_result:
                self.notes[UNLOGGED_RESULT] = None
                continue
            call.failed = True
            self.notes[WITHOUT_RESULT] = None
            if index in self._shells:
                self._read_shell(index, command_line(call) or "")

    def _place_shells(self) -> None:
        """Drop names that depend on the folder in which an earlier command may have left the shell."""
        for index in sorted(self._shells):
            reading = self._shells[index]
            if self.moved and not reading.entered and any(not name.startswith("/") for name in reading.opened):
                reading.opened = [name for name in reading.opened if name.startswith("/")]
                reading.certain = False
            self.moved = self.moved or reading.moved

    def _opened(self, index: int) -> list[str]:
        call = self.calls[index]
        if index in self._shells:
            reading = self._shells[index]
            reading.certain = reading.certain and len(reading.opened) <= MOST_NAMES
            applies = {SHELL: not reading.certain, FAILED: reading.failed, MANY: len(reading.opened) > MOST_NAMES}
            self.notes |= dict.fromkeys(note for note, holds in applies.items() if holds)
            return reading.opened[:MOST_NAMES]
        if searches(call.name) or _is_structured(call.name) or plain_key(call.name) in _SHOW_NOTHING:
            return []
        names = list(islice(_names(call.arguments, DEPTH), MOST_NAMES + 1))
        if call.failed:
            if names:
                self.notes[FAILED] = None
            return []
        if not names and any(isinstance(call.arguments.get(key), str) for key in (*_COMMANDS, *_SCRIPTS)):
            self.notes[SHELL] = None
        if len(names) > MOST_NAMES:
            self.notes[MANY] = None
        return list(dict.fromkeys(names[:MOST_NAMES]))

    def _seen(self, index: int, opened: list[str]) -> list[str] | None:
        """Return the names that a call showed, by its arguments and its result; None if they are unknown."""
        call, found = self.calls[index], self._shown.get(index)
        if index in self._shells:
            if not self._shells[index].certain and found is None:
                return None
        elif call.failed or hands_in(call.name) or plain_key(call.name) in _SHOW_NOTHING:
            return []
        elif found is None and not opened:
            # An empty result shows nothing; any other text may show something.
            return [] if index not in self._unread and call.result is not None and not call.result.strip() else None
        elif not all(chunk.is_named for chunk in found or ()):
            return None  # the import knows which of its values name something
        return list(dict.fromkeys([*opened, *(chunk.name for chunk in found or ())]))

    def retrieved(self) -> list[LoggedChunk] | None:
        """Return the found chunks, each at its first place. Scores of several searches can't be compared."""
        if not self._found:
            return None
        first: dict[str, LoggedChunk] = {}
        for found in self._found:
            for chunk in found:
                first.setdefault(chunk.name, chunk)
        several = len(self._found) > 1
        return [replace(chunk, score=None) if several else chunk for chunk in first.values()]


def _query_of(call: LoggedToolCall) -> str | None:
    """Return the Cypher among a call's arguments."""
    return next((one for one in call.arguments.values() if isinstance(one, str) and _CYPHER.search(one)), None)


def _touches(edge: LoggedEdge, name: str) -> bool:
    """Return whether an edge begins or ends at a thing, whose name may lack its repository or have its folder."""
    return any(_ends_with(end, name) or _ends_with(name, end) for end in (edge.source, edge.target))


def _ends_with(long: str, short: str) -> bool:
    """Return whether a name is another one, or ends with it as a whole part.

    >>> _ends_with("web:src/a.ts", "src/a.ts"), _ends_with("schema", "a"), _ends_with("a", "a")
    (True, False, True)
    """
    return long.endswith(short) and (len(long) == len(short) or long[-len(short) - 1] in "/:#.")


def hands_in(name: str) -> bool:
    """Return whether a tool hands in the answer, by its name."""
    return plain_key(name) in _SUBMIT or _is_structured(name)


def _is_structured(name: str) -> bool:
    """Return whether a tool hands in an answer with fields of its own, as Pydantic AI's output tools do."""
    return plain_key(name).startswith(_STRUCTURED)


def is_error(content: Any) -> bool:
    """Return whether a result says that its call failed: a short text that begins so, or an object of an error alone.

    >>> is_error("Error: ENOENT: no such file or directory"), is_error({"error": "not found"}), is_error("errors = []")
    (True, True, False)
    >>> is_error({"error": None, "results": []}), is_error({"error": "partly", "results": ["a"]})
    (False, False)
    """
    return _are_errors(_values_in(content))


def _are_errors(values: list[Any]) -> bool:
    return bool(values) and all(map(_is_error, values))


def _is_error(value: Any) -> bool:
    if isinstance(value, dict):
        rest = {plain_key(key): one for key, one in value.items() if one not in EMPTY_VALUES and one is not False}
        said = rest.keys() & _ERROR_KEYS
        return bool(said) and rest.keys() <= _ERROR_KEYS | _BESIDE_ERRORS
    return isinstance(value, str) and len(value) <= _LONGEST_ERROR and _ERROR_TEXT.match(value.strip()) is not None


def command_line(call: LoggedToolCall) -> str | None:
    """Return the command line that a call runs in a shell, or None.

    A tool that isn't called like a shell runs one by its ``command`` alone: with the name of a file, or of another
    thing, the command is a verb of the tool's own.

    >>> command_line(LoggedToolCall("exec", {"cmd": ["bash", "-lc", "cat a.py"]}))
    "bash -lc 'cat a.py'"
    >>> command_line(LoggedToolCall("edit", {"command": "view", "path": "a.py"}))
    """
    is_shell = any(word.lower() in _SHELLS for word in _WORDS.findall(call.name))
    if not is_shell and next(_names(call.arguments, DEPTH), None) is not None:
        return None
    for key in (*_COMMANDS, *(_SCRIPTS if is_shell else ())):
        given = call.arguments.get(key)
        if isinstance(given, str):
            return given
        if isinstance(given, list) and given and all(isinstance(one, str) for one in given):
            return shlex.join(given)
    return None


def searches(name: str) -> bool:
    """Return whether a tool looks for things, by its name.

    >>> searches("Grep"), searches("list_dir"), searches("find_file"), searches("find_symbol"), searches("read_file")
    (True, True, True, False, False)
    """
    words = frozenset(word.lower() for word in _WORDS.findall(name))
    listing = words & _LISTING
    return bool(words & _SEARCH) or bool(listing and (words & _OF_FILES or words == listing))


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


def found_in(content: Any) -> list[LoggedChunk] | None:
    """Return the chunks that a result names, or None if it has no structure that names any.

    A structure is JSON, or what Python prints of lists and objects.

    >>> [chunk.name for chunk in found_in('{"results": [{"path": "a.py", "symbol": "f"}, {"id": "n1"}]}')]
    ['a.py#f', 'n1']
    >>> [chunk.name for chunk in found_in("[{'id': 'n1', 'score': 0.5}]")]
    ['n1']
    >>> found_in("a.py:1: def f()")
    """
    if _is_blocks(content):
        found = [part for one in content if isinstance(one, dict) and (part := _found_in_block(one)) is not None]
        return [chunk for part in found for chunk in part] if found else None
    return _found_in_json(_within(content), DEPTH)


def _is_blocks(content: Any) -> bool:
    return isinstance(content, list) and any(isinstance(one, dict) and one.get("type") in _BLOCKS for one in content)


def _values_in(content: Any) -> list[Any]:
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
    return None if words is None else _found_in_json(_within(words), DEPTH)


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
        if isinstance(one, dict) and (name := next(_names(one, 1), None)) is not None:
            words = next((given for key in _TEXTS for held in (one, item) if (given := text(held.get(key)))), None)
            score = next((value for key in _SCORES for held in (item, one) if (value := number(held.get(key)))), None)
            return LoggedChunk(name, words, score)
    return None


def _names(value: Any, depth: int) -> Iterator[str]:
    """Yield the names in an object: its id, else symbols within a file, else files and symbols; then inner ones."""
    if depth == 0:
        return
    if isinstance(value, list):
        for one in value:
            yield from _names(one, depth - 1)
        return
    if not isinstance(value, dict):
        return
    named: dict[str, list[str]] = {"ids": [], "files": [], "within": []}
    for key, held in dict.items(value):
        plain = plain_key(key)
        kind = "ids" if plain in IDS else "files" if plain in FILES else "within" if plain in WITHIN else None
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
            yield from _names(held, depth - 1)


def _is_label(name: str) -> bool:
    """Return whether a text can be a name; a directory isn't opened."""
    return name not in _NO_NAMES and len(name) <= LONGEST_NAME and "\n" not in name and not name.endswith("/")


def _is_name(name: str) -> bool:
    return _is_label(name) and not any(char.isspace() for char in name)


def _without_scheme(name: str) -> str:
    return name.removeprefix("file://").removeprefix("./")
