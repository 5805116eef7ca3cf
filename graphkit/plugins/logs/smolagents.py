"""The memory of smolagents: ``agent.memory.get_full_steps()``, and results of ``run(return_full_result=True)``."""

from __future__ import annotations

from collections import Counter
from typing import Any

from graphkit.plugins.logs.call_values import content_text
from graphkit.plugins.logs.conversations import Conversation
from graphkit.plugins.logs.framework_logs import FRAMEWORK_LACKS, FrameworkReader, add_conversation, add_latency
from graphkit.plugins.logs.model_messages import Call, Message, Result, cut_short, tokens_of
from graphkit.plugins.logs.payloads import count_unread, objects_of
from graphkit.plugins.logs.tool_calls import SHELL, UNREAD_ARGUMENTS, Trail
from graphkit.readers.json_values import object_of, text
from graphkit.readers.logged import LoggedAnswer

#: The tool of agents that write code.
_INTERPRETER = "python_interpreter"

CODE = "the agent called its tools in code, which isn't read: what it opened isn't known"
JOINED = "the results of several calls of one step are one text: what they found isn't known"
LOST = "a step with several calls failed: which of them ran isn't known"
STOPPED = "the agent reached its limit of steps"

_STEP = (
    *("step_number", "timing", "tool_calls", "error", "observations", "action_output", "token_usage", "code_action"),
    *("is_final_answer", "model_input_messages", "model_output_message", "model_output", "task", "system_prompt"),
    *("plan", "output"),
)


class SmolagentsReader(FrameworkReader):
    """Reads the steps of runs: task, plans, and actions with their observations."""

    name = "smolagents"
    priority = 117
    beside = ("timing", "model_input_messages", "model_output_message")
    title = "smolagents: steps of an agent's memory, and results of a run with its steps"
    lacks = (
        *FRAMEWORK_LACKS,
        "What a CodeAgent calls in its code isn't read, so that it isn't scored as a traversal; a ToolCallingAgent's "
        "calls are.",
        "Models aren't named.",
    )

    def is_payload(self, value: Any) -> bool:
        steps = value.get("steps") if isinstance(value, dict) else value
        return isinstance(steps, list) and any(map(_is_action, steps[:5]))

    def add(self, answer: LoggedAnswer, payload: Any, unread: Counter[str]) -> None:
        whole = object_of(payload)
        if whole:
            count_unread(whole, ("steps", "output", "state", "token_usage", "timing"), unread)
        steps = objects_of(whole.get("steps") if whole else payload)
        dialogue, notes = Conversation(Trail(each_result=False)), dict[str, None]()
        for step in steps:
            count_unread(step, _STEP, unread, "steps.")
            for message in _messages(step, notes):
                dialogue.add(message)
        if answer.answer is None:
            answer.answer = text(whole.get("output"))
        if answer.prompt_tokens is answer.output_tokens is None:
            answer.prompt_tokens, answer.output_tokens = tokens_of(whole.get("token_usage"))
        add_conversation(answer, dialogue)
        if CODE in notes:
            answer.notes = [note for note in answer.notes if note not in (SHELL, UNREAD_ARGUMENTS)]
        answer.notes += notes
        answer.unknown_calls += LOST in notes
        timing = object_of(whole.get("timing"))
        spans = [timing] if timing else [object_of(step.get("timing")) for step in steps if "timing" in step]
        if spans:
            add_latency(answer, (spans[0].get("start_time"), spans[-1].get("end_time")))


def _is_action(value: Any) -> bool:
    return isinstance(value, dict) and "step_number" in value and bool(value.keys() & {"observations", "timing"})


def _messages(step: dict[str, Any], notes: dict[str, None]) -> list[Message]:
    """Return the messages of a step: the task, or the model's calls and their results."""
    task = text(step.get("task"))
    if task is not None:
        return [Message("user", [task])]
    if not _is_action(step):
        planned = Message("assistant")
        planned.prompt_tokens, planned.output_tokens = tokens_of(step.get("token_usage"))
        return [planned] if "plan" in step else []
    error = object_of(step.get("error"))
    stopped = error.get("type") == "AgentMaxStepsError"
    # A step that failed keeps its calls in the model's message alone.
    asked = object_of(step.get("model_output_message")).get("tool_calls") if error and not stopped else None
    calls = [_call(one) for one in objects_of(step.get("tool_calls") or asked)]
    if any(call.name == _INTERPRETER for call in calls):
        notes[CODE] = None
    if stopped:
        notes[STOPPED] = None
    acted = Message("assistant", calls=calls)
    acted.prompt_tokens, acted.output_tokens = tokens_of(step.get("token_usage"))
    acted.cut = cut_short(object_of(step.get("model_output_message")).get("raw"))
    final = content_text(step.get("action_output")) or text(step.get("observations"))
    if step.get("is_final_answer") is True:
        acted.submission = final
    elif stopped and (words := content_text(step.get("action_output"))):
        acted.texts = [words]
    if len(calls) > 1:
        if error or step.get("observations"):
            notes[LOST if error else JOINED] = None
        return [acted, Message("tool", results=[Result(None, call.id, bool(error)) for call in calls if error])]
    content = step.get("observations") if not error else error.get("message")
    read = [] if not calls else [Result(_printed(content, calls[0]), calls[0].id, bool(error))]
    return [acted, Message("tool", results=read)]


def _call(value: dict[str, Any]) -> Call:
    function = object_of(value.get("function")) or value
    return Call(function.get("name"), function.get("arguments"), value.get("id"))


def _printed(content: Any, call: Call) -> Any:
    """Return what a call gave; of code, what it printed is the result of no tool."""
    return None if call.name == _INTERPRETER else content
