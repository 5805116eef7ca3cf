"""Calls of tools that a model writes as tags within its text, as Cline and Roo Code have them.

Their results come as texts of the user: ``[read_file for 'a.py'] Result:``, and then what the tool gave.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from graphkit.plugins.logs.model_messages import Call, Message, Result, parse_message

#: The tools, of which the last two hand in the answer.
_TOOLS = (
    *("read_file", "list_files", "search_files", "codebase_search", "list_code_definition_names", "execute_command"),
    *("write_to_file", "replace_in_file", "apply_diff", "insert_content", "search_and_replace", "browser_action"),
    *("use_mcp_tool", "access_mcp_resource", "ask_followup_question", "web_fetch", "fetch_instructions", "new_task"),
    *("switch_mode", "update_todo_list", "plan_mode_respond", "attempt_completion"),
)
_HANDS_IN = ("plan_mode_respond", "attempt_completion")

_OPENING = re.compile(rf"<({'|'.join(_TOOLS)})>")
_FIELD = re.compile(r"<(\w{1,99})>")
_TASK = re.compile(r"\s*<(?:task|feedback|user_message)>(.*?)</(?:task|feedback|user_message)>", re.DOTALL)
_RESULT = re.compile(rf"\s*\[({'|'.join(_TOOLS)})(?: for [^\n]*)?\] Result:[ \t]*\n?")
_FAILED = ("The tool execution failed", "The user denied", "Error", "<error")

#: How deep tags may lie within each other.
_DEPTH = 4


def has_tagged_calls(messages: Iterable[Any]) -> bool:
    """Return whether a conversation is one of these: a task in tags is followed by a call of a tool in tags."""
    began = False
    for message in map(parse_message, messages):
        if not began and message.role == "user" and message.texts:
            began = _TASK.match(message.texts[0]) is not None
            if not began:
                return False
        elif began and message.role == "assistant" and any(map(_OPENING.search, message.texts)):
            return True
    return False


def with_tagged_calls(message: Message) -> Message:
    """Return a message with the calls and the results that its texts hold.

    >>> found = with_tagged_calls(Message("assistant", ["I look. <read_file><path>a.py</path></read_file>"]))
    >>> found.texts, found.calls[0].name, found.calls[0].arguments
    (['I look. '], 'read_file', {'path': 'a.py'})
    """
    if message.role == "assistant":
        return _asked("\n".join(message.texts), message)
    return _gave(message) if message.role == "user" else message


def _asked(words: str, message: Message) -> Message:
    calls, said, at = list(message.calls), [], 0
    submission = message.submission
    for name, start, body, end in _tags(words, _OPENING):
        said.append(words[at:start])
        at = end
        given = _arguments(body, _DEPTH)
        if name in _HANDS_IN and isinstance(given, dict):
            submission = next((one for one in given.values() if isinstance(one, str)), submission)
        calls.append(Call(name, given if isinstance(given, dict) else {}))
    texts = [one for one in (*said, words[at:]) if one.strip()]
    return replace(message, texts=texts, calls=calls, submission=submission)


def _gave(message: Message) -> Message:
    """Return a message of the user: the task, and results; what the editor adds of its state is skipped."""
    texts, results = [], list(message.results)
    for words in message.texts:
        if (task := _TASK.match(words)) is not None:
            texts.append(task[1].strip())
        elif (result := _RESULT.match(words)) is not None:
            rest = words[result.end() :]
            results.append(Result(rest, None, rest.startswith(_FAILED)))
        elif results and not words.lstrip().startswith("<environment_details>"):
            held = results[-1]
            content = f"{held.content}\n{words}" if held.content else words
            results[-1] = Result(content, None, held.failed or words.startswith(_FAILED))
    return replace(message, texts=texts, results=results)


def _tags(words: str, opening: re.Pattern[str]) -> Iterator[tuple[str, int, str, int]]:
    """Yield the name of each closed tag, where it begins, what it holds, and where it ends."""
    at, unclosed = 0, set[str]()
    while (found := opening.search(words, at)) is not None:
        name = found[1]
        closing = -1 if name in unclosed else words.find(f"</{name}>", found.end())
        if closing < 0:
            unclosed.add(name)
            at = found.end()
            continue
        at = closing + len(name) + 3
        yield name, found.start(), words[found.end() : closing], at


def _arguments(body: str, depth: int) -> dict[str, Any] | str:
    """Return the fields in a text, or the text if it has none."""
    found: dict[str, Any] = {}
    for name, _, inner, _ in _tags(body, _FIELD) if depth else ():
        value = _arguments(inner, depth - 1)
        found[name] = value if name not in found else [*_as_list(found[name]), value]
    return found or body.strip()


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
