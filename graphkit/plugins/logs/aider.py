"""Chats with Aider: ``.aider.chat.history.md``, which holds what was said, and what Aider noted of files and commands.

Source: Aider-AI/aider, ``aider/io.py`` (a line of the user begins with ``####``, a note of Aider with ``>``, and each
chat with a heading), ``coders/base_coder.py`` and ``commands.py`` (the notes).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from graphkit.plugins.logs.agent_sessions import AgentSession
from graphkit.plugins.logs.conversations import Conversation
from graphkit.plugins.logs.model_messages import Call, Message, Result
from graphkit.plugins.logs.tool_calls import Trail
from graphkit.readers.json_values import number, whole
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, Values
from graphkit.records.words import shortened

CUT_FILE = "the history ends within a line: it was cut"
ROUNDED = "tokens are rounded in the notes: they have no sum"

_BEGIN = re.compile(r"^# aider chat started at [0-9][0-9: T.-]{9,30}[ \t]*$", re.MULTILINE)
_ADDED = re.compile(r"Added (?!\d+ lines? of output )(.{1,4096}?) to the chat(?: \(read-only\))?\.?")
_ASKED = re.compile(
    r"(?:Add file to the chat|Allow edits to file that has not been added to the chat)\? .*\]: ?([a-z])"
)
_EDITED = re.compile(r"Applied edit to (.{1,4096})")
_RUNNING = re.compile(r"Running (.{1,4096})")
_MODEL = re.compile(r"(?:Main model|Models?): (\S{1,200}) with .*")
_TOKENS = re.compile(
    r"Tokens: ([\d.,]{1,20}k?) sent,.{0,99}? ([\d.,]{1,20}k?) received\."
    r"(?: Cost: \$([\d.]{1,20}) \w{1,20}, \$[\d.]{1,20} session\.)?"
)
#: Notes of the program itself, and of what the user may type.
_SAYS_NOTHING = re.compile(
    r"\S{0,4096}aider( |$)|Aider v|Git repo:|Repo-map:|Use /help|Weak model:|Commit \w+ |You can use /undo"
)
_RUN = re.compile(r"(?:/run |/test |!)\s*(.+)")
_SAID = re.compile(r"/(?:ask|code|architect|context)\s+(.+)", re.DOTALL)


class AiderReader(Reader):
    """Reads chats, of which a file holds all that were begun in its folder."""

    name = "aider"
    priority = 95
    title = "Aider: chat histories (.aider.chat.history.md)"
    lacks = (
        "A file is opened when it is added to the chat, by the user or by consent, and when it is edited. The map of "
        "the repository, which the model sees too, isn't in a history.",
        "What commands printed isn't logged, so that it is unknown what they opened.",
        "Nothing is searched: there are no retrieved items. There are no times of replies.",
        "A chat knows no question's id: it is known by what was typed first, or by the file's name.",
    )

    def recognises(self, value: Any) -> bool:
        return isinstance(value, str) and _BEGIN.search(value) is not None

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        for where, value in values:
            place = where.rpartition(":")[0] or where
            starts = list(_BEGIN.finditer(value)) if isinstance(value, str) else []
            if starts and value[: starts[0].start()].strip():
                unread["text before the first chat"] += 1
            for start, after in zip(starts, [*starts[1:], None], strict=False):
                chat = value[start.end() : after.start() if after is not None else len(value)]
                answer = _answer(f"{place}:{value.count(chr(10), 0, start.start()) + 1}", chat, unread)
                if answer is not None:
                    answer.notes += [] if chat.endswith("\n") else [CUT_FILE]
                    yield answer


def _answer(where: str, chat: str, unread: Counter[str]) -> LoggedAnswer | None:
    """Return the answer of a chat; None of one in which nothing was asked."""
    session = AgentSession(Conversation(Trail(each_result=False)))
    answer, noted = LoggedAnswer(where), ""
    for role, words in _parts(chat):
        if role == "user":
            _typed(words, session, unread)
        elif role == "assistant":
            session.add(Message("assistant", [words.strip()]))
        else:
            _note(words.strip(), noted, session, unread)
            noted = words.strip()
    if session.model_calls == 0 and session.failure is None:
        unread["chats without a reply"] += 1
        return None
    session.into(answer)
    return answer


def _parts(chat: str) -> Iterator[tuple[str, str]]:
    """Yield what the user typed and what the model said, with all their lines, and each line of Aider's notes."""
    held: tuple[str, list[str]] = ("", [])
    for line in chat.splitlines():
        role = "user" if line.startswith("####") else "note" if line.startswith("> ") or line == ">" else "assistant"
        words = line.removeprefix("####").removeprefix(" ").rstrip() if role == "user" else line
        words = line[2:] if role == "note" else words
        if role == held[0] != "note":
            held[1].append(words)
            continue
        if "\n".join(held[1]).strip():
            yield held[0], "\n".join(held[1])
        held = (role, [words])
    if "\n".join(held[1]).strip():
        yield held[0], "\n".join(held[1])


def _typed(words: str, session: AgentSession, unread: Counter[str]) -> None:
    """Add what the user typed: a question, or a command of which some run a program."""
    words = words.strip()
    if run := _RUN.fullmatch(words):
        _ran(run[1], session)
    elif words.startswith("/") and (asked := _SAID.fullmatch(words)) is None:
        name = words.split()[0]
        if name not in ("/add", "/read-only", "/drop"):
            unread[f"commands {shortened(name)}"] += 1
    elif words != "<blank>":
        session.add(Message("user", [asked[1] if words.startswith("/") and asked is not None else words]))


def _note(line: str, former: str, session: AgentSession, unread: Counter[str]) -> None:
    """Add what a note says of files, commands, the model and tokens; a question's file is in the note before it."""
    if added := _ADDED.fullmatch(line):
        _opened("add", added[1], session)
    elif asked := _ASKED.fullmatch(line):
        if asked[1] in ("y", "a") and former:
            _opened("add", former, session)
    elif edited := _EDITED.fullmatch(line):
        _opened("edit", edited[1], session)
    elif running := _RUNNING.fullmatch(line):
        _ran(running[1], session)
    elif model := _MODEL.fullmatch(line):
        session.models[model[1]] = None
    elif used := _TOKENS.match(line):
        if "k" in used[1] + used[2]:
            session.notes[ROUNDED] = None
        else:
            session.add_usage(whole(used[1].replace(",", "")), whole(used[2].replace(",", "")))
        session.costs += [cost] if (cost := number(used[3])) is not None else []
    elif line.startswith("litellm."):
        session.fail(line, line.partition(":")[0].removeprefix("litellm."))
    elif line and not _SAYS_NOTHING.match(line):
        unread["other notes"] += 1


def _opened(name: str, path: str, session: AgentSession) -> None:
    """Add that a file was added to the chat, or edited."""
    _noted(Call(name, {"path": path}), [Result("")], session)


def _ran(command: str, session: AgentSession) -> None:
    """Add that a command ran."""
    _noted(Call("shell", {"command": command}, folder=""), [], session)


def _noted(call: Call, results: list[Result], session: AgentSession) -> None:
    """Add what Aider did around the replies of the model, which no reply waits for."""
    session.add(Message(None, [call.name], [call], results, ends_in_words=True))
