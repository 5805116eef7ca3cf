"""The trajectories of mini-SWE-agent (``.traj.json``) and SWE-agent (``.traj``): a document is a run of an agent."""

from __future__ import annotations

import posixpath
import re
from abc import abstractmethod
from collections import Counter, deque
from collections.abc import Iterator
from itertools import islice
from typing import Any

from graphkit.plugins.logs.call_values import content_text
from graphkit.plugins.logs.conversations import ENDS_WITH_CALL, Conversation
from graphkit.plugins.logs.model_messages import ROLES, Call, Message, Result, cut_short, parse_message, tokens_of
from graphkit.plugins.logs.payloads import at, count_unread, each_unwrapped, holds, json_within, objects_of
from graphkit.plugins.logs.tool_calls import LACKS, Trail
from graphkit.readers.accounting import joined
from graphkit.readers.json_values import identifier, number, object_of, text, whole
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, Reader, ReadOptions, Values
from graphkit.records.words import shortened

NO_PATCH = "the agent submitted no patch: its answer isn't known"
ATTEMPTS = "the agent made several attempts: only the chosen one is read"

#: How many actions of the history are looked at for that of a step: some are repeated after an error of their form.
AHEAD = 50

#: The command within the text of a model that calls no tool; there has to be one.
_FENCED = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*\n(.*?)\n?```", re.DOTALL)
#: Longer texts of a model are not searched for a command.
_LONGEST_TEXT = 1_000_000

#: The line above the file in SWE-agent's window, and the tools that move or change what it shows.
_WINDOW = re.compile(r"^\[File: (.{1,4096}?) \(\d{1,9} lines? total\)\]", re.MULTILINE)
_WINDOW_TOOLS = ("create", "edit", "insert", "goto", "scroll_up", "scroll_down")
#: The files that SWE-agent's searches list: with their matches, or as lines.
_MATCHED = re.compile(r"^(\S.{0,4095}) \(\d{1,9} matches?\)\r?$", re.MULTILINE)
_LISTED = re.compile(r"^(/.{1,4095}?)\r?$", re.MULTILINE)
_SEARCHES = {"search_dir": _MATCHED, "find_file": _LISTED}


class _TrajectoryReader(Reader):
    """A reader of documents that each hold one trajectory."""

    lacks = (
        *LACKS,
        "What a search found is known only if a tool lists it, not from what a command printed.",
        "Latency isn't logged. A cost of 0 counts as unknown, since models without a known price have it.",
        "The answer is the submission, which is a patch for tasks of editing.",
    )

    @staticmethod
    @abstractmethod
    def is_payload(value: dict[str, Any]) -> bool:
        """Return whether an object is a trajectory."""

    @staticmethod
    @abstractmethod
    def fill(answer: LoggedAnswer, payload: dict[str, Any], unread: Counter[str]) -> None:
        """Add the content of a trajectory to an answer."""

    #: The keys of the payload that are read.
    keys: tuple[str, ...] = ()

    def recognises(self, value: Any) -> bool:
        return holds(value, self.is_payload)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        for where, value in values:
            for one in each_unwrapped(value, self.is_payload, options, where):
                answer = one.logged(unread)
                if one.payload is not None:
                    count_unread(one.payload, (*self.keys, *one.names), unread)
                    self.fill(answer, one.payload, unread)
                yield answer


def _conclude(answer: LoggedAnswer, dialogue: Conversation, info: dict[str, Any]) -> None:
    """Add the calls, the answer and how the agent ended."""
    dialogue.trail.submitted = text(info.get("submission")) or dialogue.trail.submitted
    dialogue.close()
    dialogue.trail.into(answer, tools=dialogue.model_calls > 0)
    answer.question_text = answer.question_text or dialogue.question
    known = answer.answer is not None
    answer.answer = answer.answer if known else dialogue.answer
    answer.notes += [note for note in dialogue.notes if not (known and note == ENDS_WITH_CALL)]
    status = text(info.get("exit_status"))
    if status is not None and not status.lower().startswith("submitted"):
        answer.notes.append(f"the agent ended with {shortened(status)!r}")
    stats = object_of(info.get("model_stats"))
    answer.cost = number(stats.get("instance_cost")) or None
    answer.model_calls = whole(stats.get("api_calls")) or None
    answer.prompt_tokens, answer.output_tokens = dialogue.prompt_tokens, dialogue.output_tokens
    if stats.get("tokens_sent"):
        answer.prompt_tokens, answer.output_tokens = (
            whole(stats.get("tokens_sent")),
            whole(stats.get("tokens_received")),
        )


def task_within(message: str | None, template: Any, variable: str) -> str | None:
    """Return the task in a first message, between the literal texts that its template has around the variable.

    >>> task_within("Please answer: Who calls f? Then submit.", "Please answer: {{task}} Then submit.", "task")
    'Who calls f?'
    >>> task_within("Who calls f?", None, "task")
    'Who calls f?'
    """
    if message is None or not isinstance(template, str):
        return message
    before, found, after = template.partition("{{" + variable + "}}")
    if not found:
        return message
    before, after = re.split(r"[}%]}", before)[-1], re.split(r"{[{%]", after)[0]
    begin = message.find(before)
    end = message.rfind(after) if after.strip() else len(message)
    inner = message[begin + len(before) : end].strip() if 0 <= begin <= end else ""
    return inner or message


# mini-SWE-agent ------------------------------------------------------------------------------------------------------


class MiniSweAgentReader(_TrajectoryReader):
    """Reads trajectories of mini-SWE-agent."""

    name = "mini-swe-agent"
    priority = 125
    beside = (
        *("agent", "agent_type", "model_type", "environment_type", "outputs", "cost_per_call"),
        *("observation_template", "timeout", "exit_status", "cost", "config"),
    )
    title = "mini-SWE-agent: trajectories (.traj.json), with tool calls, items of responses, or commands within texts"
    keys = ("messages", "info", "trajectory_format")

    @staticmethod
    def is_payload(value: dict[str, Any]) -> bool:
        written = value.get("trajectory_format")
        return (
            isinstance(written, str)
            and written.startswith("mini-swe-agent")
            and isinstance(value.get("messages"), list)
        )

    @staticmethod
    def fill(answer: LoggedAnswer, payload: dict[str, Any], unread: Counter[str]) -> None:
        info = object_of(payload.get("info"))
        known = ("model_stats", "config", "mini_version", "exit_status", "submission")
        count_unread(info, known, unread, "info.")
        folder = text(at(info, "config.environment.cwd")) or ""
        folder = posixpath.normpath(folder) if folder.startswith("/") else ""
        dialogue = Conversation(Trail(each_result=False))
        waiting = False
        for value in payload["messages"]:
            if not isinstance(value, dict):
                unread[f"messages.({type(value).__name__})"] += 1
                continue
            count_unread(value, _MINI, unread, "messages.")
            message = _message_of_mini(value, folder, waiting, dialogue.question is None)
            waiting = bool(message.calls) or (waiting and not message.results)
            dialogue.add(message)
        _conclude(answer, dialogue, info)
        template = at(info, "config.agent.instance_template")
        if answer.question_text == dialogue.question:
            answer.question_text = task_within(dialogue.question, template, "task")
        if folder and folder not in answer.folders:
            answer.folders.insert(0, folder)
        answer.model = text(at(info, "config.model.model_name")) or next(iter(dialogue.models), None)
        answer.model_calls = answer.model_calls or dialogue.model_calls or None


#: The keys of mini-SWE-agent's messages that are read, or that say nothing of a question.
_MINI = (
    *("role", "content", "extra", "tool_calls", "tool_call_id", "type", "object", "output", "call_id", "function_call"),
    *("id", "status", "refusal", "annotations", "audio", "provider_specific_fields", "reasoning_content", "usage"),
    *("thinking_blocks", "model", "created_at", "timestamp", "cache_control"),
)


def _message_of_mini(value: dict[str, Any], folder: str, waiting: bool, first: bool) -> Message:
    """Return a message, in whichever of the agent's three dialects.

    Parameters
    ----------
    waiting
        Whether a command waits for its output, which the next message of the user may be.
    first
        Whether the user hasn't spoken yet.
    """
    extra = object_of(value.get("extra"))
    if "raw_output" in extra or "returncode" in extra:
        key = value.get("tool_call_id", value.get("call_id"))
        return Message(results=[Result(_output_of_mini(value, extra), key)])
    if value.get("role") == "assistant" or value.get("object") == "response":
        return _reply_of_mini(value, extra, folder)
    message = parse_message(value)
    if message.role == "user" and not first:
        if waiting and "interrupt_type" not in extra:  # version 1 has no more of an output than its text
            return Message(results=[Result(content_text(value.get("content")))])
        if "interrupt_type" in extra or not waiting:
            message.role = None  # a complaint about the last reply
    return message


def _reply_of_mini(value: dict[str, Any], extra: dict[str, Any], folder: str) -> Message:
    items = objects_of(value.get("output"))
    words = content_text(value.get("content"))
    if items:
        words = (
            "\n".join(one for item in items for one in parse_message(joined(item, {"role": "assistant"})).texts) or None
        )
    message = Message("assistant", [words] if words else [])
    actions = objects_of(extra.get("actions"))
    if "actions" not in extra and words is not None and len(words) <= _LONGEST_TEXT:
        fenced = _FENCED.findall(words)
        actions = [{"command": fenced[0].strip()}] if len(fenced) == 1 else []
    if "actions" not in extra and value.get("tool_calls"):
        message.calls = parse_message(value).calls
        for call in message.calls:
            call.folder = folder
        actions = []
    for action in actions:
        given = {key: one for key, one in action.items() if key != "tool_call_id"}
        message.calls.append(Call("bash", given, action.get("tool_call_id"), folder))
    response = object_of(extra.get("response")) or value
    message.model = text(response.get("model"))
    message.cut = cut_short(response, value)
    message.prompt_tokens, message.output_tokens = tokens_of(response.get("usage"))
    return message


def _output_of_mini(value: dict[str, Any], extra: dict[str, Any]) -> str | None:
    """Return what a command printed, with its code as the agent's own template shows both."""
    raw, code = text(extra.get("raw_output")) or "", extra.get("returncode")
    if isinstance(code, int) and not isinstance(code, bool):
        return f"<returncode>{code}</returncode>\n<output>\n{raw}\n</output>"
    return content_text(value.get("content", value.get("output")))


# SWE-agent -----------------------------------------------------------------------------------------------------------


class SweAgentReader(_TrajectoryReader):
    """Reads trajectories of SWE-agent."""

    name = "swe-agent"
    priority = 125
    beside = ("query", "agent", "message_type", "thought", "open_file", "extra_info")
    title = "SWE-agent: trajectories (.traj), with tool calls or commands within texts"
    keys = ("trajectory", "history", "info", "environment", "replay_config", "attempts", "problem_statement")

    @staticmethod
    def is_payload(value: dict[str, Any]) -> bool:
        steps = value.get("trajectory")
        if not isinstance(steps, list) or not value.keys() & {"info", "history"}:
            return False
        return all(isinstance(one, dict) and one.keys() >= {"action", "observation"} for one in steps[:3])

    @staticmethod
    def fill(answer: LoggedAnswer, payload: dict[str, Any], unread: Counter[str]) -> None:
        info = object_of(payload.get("info"))
        count_unread(info, _INFO, unread, "info.")
        config = object_of(json_within(payload.get("replay_config")))
        dialogue = Conversation(Trail(each_result=False))
        folder = None
        history = [one for one in objects_of(payload.get("history")) if one.get("is_demo") is not True]
        asked = next((one for one in history if one.get("role") == "user"), {})
        for one in history:  # the steps hold what they tell
            if text(one.get("role")) in ROLES:
                _ = one.get("content"), one.get("tool_call_ids")
        dialogue.add(Message("user", parse_message(asked).texts))
        said = (one for one in history if one.get("role") == "assistant")
        actions = deque(one for one in said if one.get("message_type") == "action")
        for step in objects_of(payload["trajectory"]):
            count_unread(step, _STEP, unread, "trajectory.")
            for message in _messages_of_step(step, _calls_of(step, actions), folder):
                dialogue.add(message)
            folder = _folder_of(step) or folder
        _conclude(answer, dialogue, info)
        statement = object_of(config.get("problem_statement"))
        if answer.question is None and (name := identifier(statement.get("id"))) is not None:
            answer.question, answer.taken["question id"] = name, "replay_config.problem_statement.id"
        if answer.question_text == dialogue.question:
            template = at(config, "agent.templates.instance_template")
            asked_for = task_within(dialogue.question, template, "problem_statement")
            answer.question_text = text(statement.get("text")) or asked_for
        if not text(info.get("submission")) and answer.answer == dialogue.answer:
            answer.answer = None  # what it said while it submitted is a thought
            answer.notes.append(NO_PATCH)
        answer.model = text(at(config, "agent.model.name"))
        if len(objects_of(payload.get("attempts"))) > 1:
            answer.notes.append(ATTEMPTS)


#: The keys of SWE-agent's steps and of its info that are read, or that say nothing of a question.
_STEP = (
    *("action", "observation", "response", "thought", "execution_time", "state", "query", "extra_info", "messages"),
    *("tool_calls", "tool_call_ids", "thinking_blocks"),
)
_INFO = (
    *("exit_status", "submission", "model_stats", "swe_agent_hash", "swe_agent_version", "swe_rex_version"),
    *("swe_rex_hash", "edited_files30", "edited_files50", "edited_files70"),
)


def _calls_of(step: dict[str, Any], actions: deque[dict[str, Any]]) -> list[Call]:
    """Return the calls of tools that a step's action is, which the history holds in the same order, if it does."""
    near = islice(actions, AHEAD)
    place = next((place for place, one in enumerate(near) if one.get("action") == step.get("action")), None)
    if place is None:
        return []
    for _ in range(place):
        actions.popleft()
    return parse_message({"role": "assistant", "content": "", "tool_calls": actions.popleft().get("tool_calls")}).calls


def _messages_of_step(step: dict[str, Any], calls: list[Call], folder: str | None) -> Iterator[Message]:
    """Yield the model's message of a step, with its calls, and their output.

    An action without calls is a command, whose first word may be one of the agent's own tools.
    """
    words, action = text(step.get("thought")), text(step.get("action")) or ""
    shown = content_text(step.get("observation"))
    found: list[LoggedChunk] | None = None
    failed = False
    for call in calls:
        call.folder = folder
        if call.name in _SEARCHES:
            found = _found_by(call.name, shown or "")
    verb = action.strip().partition(" ")[0].partition("\n")[0]
    if not calls and verb:
        calls = [Call("bash", {"command": action.strip()}, None, folder)]
        if verb == "submit":
            calls = [Call("submit", {})]
        elif verb in _WINDOW_TOOLS:
            window = _WINDOW.search(shown or "")
            failed = window is None  # an edit that was refused shows no file
            path = {} if window is None else {"path": _placed(window[1], _folder_of(step))}
            calls = [Call(verb, {**path, "input": action})]
        elif verb in _SEARCHES:
            found = _found_by(verb, shown or "")
            calls = [Call(verb, {"input": action})]
    yield Message("assistant", [words] if words else [], calls)
    if len(calls) == 1:
        yield Message(results=[Result(shown, calls[0].id, failed, found)])


def _found_by(verb: str, shown: str) -> list[LoggedChunk] | None:
    """Return the files that a search of the agent's own lists; None for any other text, such as a refusal."""
    listed = _SEARCHES[verb].findall(shown)
    return [LoggedChunk(name) for name in listed] if listed or shown.lstrip().startswith("No matches found") else None


def _folder_of(step: dict[str, Any]) -> str | None:
    """Return the absolute folder in which a step ended; earlier versions wrote that of its beginning, as JSON."""
    folder = text(object_of(step.get("state")).get("working_dir"))
    return posixpath.normpath(folder) if folder is not None and folder.startswith("/") else None


def _placed(name: str, folder: str | None) -> str:
    return posixpath.normpath(posixpath.join(folder or "", name))
