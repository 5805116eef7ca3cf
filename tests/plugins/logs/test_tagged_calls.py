"""Calls of tools in tags within a model's text, and their results within the user's."""

from __future__ import annotations

from collections import Counter
from typing import Any

from graphkit.plugins.logs.conversations import Conversation, conversation


def said(role: str, *texts: str) -> dict[str, Any]:
    """Return a message of some texts."""
    return {"role": role, "content": [{"type": "text", "text": one} for one in texts]}


TASK = said("user", "<task>\nWho calls f?\n</task>", "<environment_details>\n# Files\na.py\n</environment_details>")


def read(*messages: dict[str, Any]) -> Conversation:
    """Return a conversation, of which nothing is unread."""
    unread = Counter[str]()
    found = conversation(messages, unread)
    found.close()
    assert not unread
    return found


def test_calls_and_results_are_read() -> None:
    """A file of two is read, a search finds nothing, and the answer is handed in."""
    found = read(
        TASK,
        said("assistant", "I look.\n<read_file>\n<path>src/a.py</path>\n</read_file>"),
        said("user", "[read_file for 'src/a.py'] Result:", "1 | def f()"),
        said("assistant", "<search_files><path>.</path><regex>f\\(</regex></search_files>"),
        said(
            "user", "[search_files for 'f'] Result:\nFound 0 results.", "<environment_details>x</environment_details>"
        ),
        said("assistant", "<attempt_completion><result>Nobody.</result></attempt_completion>"),
    )
    calls = [(call.name, call.arguments, call.result) for call in found.trail.calls]
    assert calls == [
        ("read_file", {"path": "src/a.py"}, "1 | def f()"),
        ("search_files", {"path": ".", "regex": "f\\("}, "Found 0 results."),
        ("attempt_completion", {"result": "Nobody."}, None),
    ]
    assert (found.question, found.answer, found.notes) == ("Who calls f?", "Nobody.", [])


def test_fields_may_lie_within_each_other_and_repeat() -> None:
    """Roo's read_file names several files."""
    body = "<args><file><path>a.py</path></file><file><path>b.py</path></file></args>"
    found = read(TASK, said("assistant", f"<read_file>{body}</read_file>"))
    (call,) = found.trail.calls
    assert call.arguments == {"args": {"file": [{"path": "a.py"}, {"path": "b.py"}]}}


def test_a_failed_call() -> None:
    """The editor says so in the result."""
    found = read(
        TASK,
        said("assistant", "<read_file><path>x.py</path></read_file>"),
        said("user", "[read_file for 'x.py'] Result:", "The tool execution failed with the following error:\nno file"),
    )
    assert [call.failed for call in found.trail.calls] == [True]


def test_tags_in_other_conversations_are_words() -> None:
    """Without a task in tags, and unclosed, nothing is a call: an answer may quote one."""
    words = "Write <read_file><path>a.py</path></read_file>."
    found = read(said("user", "How does it read?"), said("assistant", words))
    assert (found.trail.calls, found.answer) == ([], words)
    assert read(TASK, said("assistant", "<read_file>" * 1000)).trail.calls == []
