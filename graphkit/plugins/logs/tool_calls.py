"""Calls of tools in any format: the names that a call opened, and those that its result found.

The arguments of a tool name what it opens: a file, a symbol, a node of a graph. Every user has other tools, but the
names of arguments are alike everywhere, so the reading relies on them.
"""

from __future__ import annotations

import re
import shlex
from collections import deque
from dataclasses import replace
from itertools import islice
from typing import Any

from graphkit.plugins.logs.call_values import MOST_NAMES, are_errors, content_text, found_in, names_in, values_in
from graphkit.plugins.logs.documents import content_of_rows
from graphkit.plugins.logs.graph_results import graph_of_result
from graphkit.plugins.logs.graph_values import query_record
from graphkit.plugins.logs.logged_rankings import distinct, ends
from graphkit.plugins.logs.payloads import json_within, plain_key
from graphkit.plugins.logs.shell_commands import ShellReading, read_shell
from graphkit.readers.accounting import kept
from graphkit.readers.json_values import identifier, text
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, LoggedEdge, LoggedToolCall, ReadOptions
from graphkit.records.doubts import UNREAD_PARTS

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

_CYPHER = re.compile(r"\bMATCH\s{0,9}[\w=\s]{0,99}\(", re.IGNORECASE)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
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
        values = values_in(content)
        key = identifier(call)
        index = self._by_id.get(key) if key is not None else self._waiting.popleft() if self._waiting else None
        if content is found is None and not failed:
            self._silent |= {index} - {None}
            return
        if index is not None:
            self._returned.add(index)
            failed = failed or (index not in self._shells and found is None and are_errors(values))
            self.calls[index].result = content_text(content)
            self.calls[index].failed = failed
            if index in self._shells and self._read_shell(index, command_line(self.calls[index]) or "").certain:
                return  # the content of a printed file isn't the result of a search
        if failed:
            return
        graph = self._graph(values, index)
        if found is None:
            found = found_in(content, values)
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
        opened = list(islice(names_in(given), MOST_NAMES)) if query is None else []
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
            answer.queries = [query for call in self.calls if (query := _query_record(call)) is not None] or None
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
        names = list(islice(names_in(call.arguments), MOST_NAMES + 1))
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


def _query_record(call: LoggedToolCall) -> dict[str, Any] | None:
    """Return the query of a call of a tool for Cypher, such as those of servers of MCP; None of any other call."""
    query = _query_of(call)
    if query is None or "cypher" not in plain_key(call.name) + "".join(map(plain_key, call.arguments)):
        return None
    given = next((call.arguments[name] for name in ("params", "parameters") if name in call.arguments), None)
    rows = json_within(call.result) if call.result is not None and not call.failed else None
    return query_record(query, rows, call.result if call.failed else None, json_within(given))


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


def command_line(call: LoggedToolCall) -> str | None:
    """Return the command line that a call runs in a shell, or None.

    A tool that isn't called like a shell runs one by its ``command`` alone: with the name of a file, or of another
    thing, the command is a verb of the tool's own.

    >>> command_line(LoggedToolCall("exec", {"cmd": ["bash", "-lc", "cat a.py"]}))
    "bash -lc 'cat a.py'"
    >>> command_line(LoggedToolCall("edit", {"command": "view", "path": "a.py"}))
    """
    is_shell = any(word.lower() in _SHELLS for word in _WORDS.findall(call.name))
    if not is_shell and next(names_in(call.arguments), None) is not None:
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
