"""Forms of known programs that can't be read, each with the way to one that can."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from graphkit.readers.json_values import object_of
from graphkit.readers.logged import UnreadableLogError

_SQLITE = b"SQLite format 3\0"

#: How much of a database is looked at for the names of its tables.
_BEGINNING = 1 << 16

_CURSOR = "Run cursor-agent with --output-format stream-json, or import its agent transcripts."
_OPENCODE = "Export the session: opencode export SESSION > q1.json."

#: The tables by which the database of a program is known, the program, and the command or page that exports it.
_DATABASES = (
    (
        (b"cursorDiskKV",),
        "Cursor's",
        "Run cursor-agent with --output-format stream-json, or read its agent transcripts.",
    ),
    (
        (b"CREATE TABLE blobs", b"CREATE TABLE meta"),
        "Cursor's",
        "Run cursor-agent with --output-format stream-json, or read its agent transcripts.",
    ),
    ((b"schedule_id", b"extension_data"), "Goose's", "Export a session: goose session export --format json."),
    ((b"message_id", b"session_id", b"project"), "OpenCode's", _OPENCODE),
    ((b"trace_info", b"experiments"), "MLflow's", "Write traces by Trace.to_json(), a line each."),
)

_LLM_HISTORY = re.compile(r"\s*(?:TO LLM|LLM RESPONSE) \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\n")


def refuse_database(path: Path) -> None:
    """Refuse a database of SQLite, by the program that keeps it.

    Raises
    ------
    UnreadableLogError
        The file is one.
    """
    try:
        with path.open("rb") as file:
            begins = file.read(_BEGINNING)
    except OSError:
        return  # reading it will say so
    if not begins.startswith(_SQLITE):
        return
    plain = begins.replace(b'"', b"").replace(b"`", b"").replace(b"IF NOT EXISTS ", b"")
    for tables, program, remedy in _DATABASES:
        if all(table in plain for table in tables):
            raise UnreadableLogError(f"this is {program} database, which isn't read", where=str(path), remedy=remedy)
    raise UnreadableLogError(
        "this is a SQLite database, which isn't read",
        where=str(path),
        remedy="Export what it holds: as JSON Lines, or by the command of the program that keeps it.",
    )


def refuse_form(value: Any, where: str) -> None:
    """Refuse a value of a file that a known program wrote for itself.

    Raises
    ------
    UnreadableLogError
        The value is such.
    """
    if isinstance(value, str) and _LLM_HISTORY.match(value):
        what = "this is Aider's history of prompts, in which a prompt's text can't be told from the next one"
        raise UnreadableLogError(
            what, where=where, remedy="Import .aider.chat.history.md, which Aider writes beside it."
        )
    given = object_of(value)
    if {"sessionID", "messageID", "type"} <= given.keys():
        what = "this is a part of a message as OpenCode keeps it, without its message"
        raise UnreadableLogError(what, where=where, remedy=_OPENCODE)
    if isinstance(given.get("composerId"), str) or isinstance(given.get("bubbleId"), str):
        what = "this is a part of Cursor's own store of chats"
        raise UnreadableLogError(what, where=where, remedy=_CURSOR)
