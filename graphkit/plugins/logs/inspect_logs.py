"""Logs of Inspect: one JSON document, or an ``.eval`` archive, of an evaluation with its samples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from graphkit.plugins.logs.archives import Archive
from graphkit.plugins.logs.conversations import ENDS_WITH_CALL, MANY_QUESTIONS, Conversation, conversation
from graphkit.plugins.logs.model_messages import CUT, cut_short, parse_message
from graphkit.plugins.logs.payloads import at, count_unread
from graphkit.plugins.logs.tool_calls import LACKS
from graphkit.readers.json_values import identifier, number, object_of, text, whole
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, UnreadableLogError, Values
from graphkit.records.usage import added

#: The depth in a message to which texts stored elsewhere are put back.
DEPTH = 16

OTHERS = "other models were asked too, such as a grader: tokens and cost are those of the model that was evaluated"
LIMITED = "a limit ended the sample before it was done"
INVALID = "the sample was marked as invalid"

_ATTACHED = ("attachment://", "tc://")
_USED = (
    *("id", "epoch", "input", "messages", "output", "model_usage", "role_usage", "total_time", "error", "limit"),
    *("invalidation", "attachments", "turn_count", "scores", "metadata", "message_refs", "events", "events_data"),
    *("uuid", "started_at", "completed_at", "working_time", "sandbox"),
)
#: The files that mark a folder as the parts of a sample.
_SHELL = "/sample.json"
_EPOCH = re.compile(r"_epoch_\d+/sample\.json$")

_QUESTION_IDS = ("question_id", "query_id", "qid")


class InspectReader(Reader):
    """Reads logs of Inspect, and their samples on their own."""

    name = "inspect"
    priority = 130
    title = "Inspect: .eval archives and .json logs"
    lacks = (
        *LACKS,
        "The finds of a search are read from results that are JSON or name their sources, not from plain text.",
        "Latency is the sample's total time: with the waits for other samples, and its scorers.",
        "Without a call of a tool, it is unknown whether there were any tools.",
    )

    def unpacked(self, path: Path) -> Values:
        return archived(path)

    def recognises(self, value: Any) -> bool:
        return _is_log(value) or _is_sample(value)

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        for where, value in values:
            if _is_sample(value):
                yield from _answers([(where, value)], None, options, unread)
            elif _is_log(value):
                samples = value.get("samples")
                if not isinstance(samples, list):
                    what = f"the log holds no samples (its status is {str(value['status'])[:40]})"
                    raise UnreadableLogError(
                        what, where=where, remedy="Write it with them: inspect log dump FILE.eval."
                    )
                places = [(f"{where} samples[{number}]", sample) for number, sample in enumerate(samples)]
                yield from _answers(places, text(value["eval"].get("model")), options, unread)
            else:
                what = "it is neither a log of Inspect nor a sample of one"
                raise UnreadableLogError(what, where=where, remedy="inspect log dump FILE.eval writes a log as JSON.")


def archived(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the samples of an ``.eval`` archive in the form of a log, for :meth:`InspectReader.read`.

    Raises
    ------
    InputError
        The archive is damaged, or no log of Inspect.
    """
    with Archive(path) as archive:
        names = archive.names()
        header = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        if header is None:
            remedy = "An .eval file holds a header.json; any other archive has to be unpacked first."
            raise UnreadableLogError("the archive is no log of Inspect", where=str(path), remedy=remedy)
        log = archive.document(header)
        evaluation = log.get("eval") if isinstance(log, dict) else None
        for name, lists in _parts(names).items():
            sample = _joined(archive, name, lists) if name.endswith(_SHELL) else archive.document(name)
            if isinstance(sample, dict) and isinstance(evaluation, dict):
                sample = {**sample, "model": evaluation.get("model")}
            yield archive.where(name), sample


def _parts(names: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """Return the parts of each sample: by its own document, the documents of its lists in order.

    A sample is one document, or a folder with one and with the documents of its lists, each named by its first item.
    """
    documents = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
    folders = {name.removesuffix(_SHELL) for name in documents if name.endswith(_SHELL) and _EPOCH.search(name)}
    found: dict[str, dict[str, list[str]]] = {}
    for name in documents:
        folder, _, last = name.rpartition("/")
        sample, _, kind = folder.rpartition("/")
        if folder in folders:
            lists = found.setdefault(f"{folder}{_SHELL}", {})
            if last == "metadata.json":
                lists["metadata"] = [name]
        elif sample in folders:
            if last.removesuffix(".json").isdecimal():
                found.setdefault(f"{sample}{_SHELL}", {}).setdefault(kind, []).append(name)
        else:
            found[name] = {}
    for lists in found.values():
        for many in lists.values():
            many.sort(key=lambda name: (len(name), name))
    return found


def _joined(archive: Archive, name: str, lists: dict[str, list[str]]) -> Any:
    """Return a sample that is kept in parts as if it were whole."""
    sample = archive.document(name)
    if not isinstance(sample, dict):
        return sample

    def items(kind: str) -> list[Any]:
        documents = [archive.document(one) for one in lists.get(kind, ())]
        return [item for document in documents if isinstance(document, list) for item in document]

    messages = items("messages")
    spans = [
        span
        for span in sample.get("message_refs") or ()
        if isinstance(span, list) and len(span) == 2 and all(isinstance(one, int) for one in span)
    ]
    # A conversation isn't longer than its messages, however often its spans name one.
    named = (message for first, end in spans for message in messages[max(first, 0) : max(end, 0)])
    spoken = list(islice(named, len(messages)))
    metadata = archive.document(lists["metadata"][0]) if "metadata" in lists else {}
    attached = {str(index): one for index, one in enumerate(items("attachments"))}
    return {**sample, "messages": spoken, "metadata": metadata, "attachments": attached}


def _is_sample(value: Any) -> bool:
    return isinstance(value, dict) and {"id", "epoch", "input", "output", "messages"} <= value.keys()


def _is_log(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("eval"), dict)
        and "task" in value["eval"]
        and {"version", "status"} <= value.keys()
    )


def _answers(
    samples: Iterable[tuple[str, Any]], model: str | None, options: ReadOptions, unread: Counter[str]
) -> Iterator[LoggedAnswer]:
    for where, sample in samples:
        if not isinstance(sample, dict):
            unread[f"samples.({type(sample).__name__})"] += 1
        else:
            answer = _answer(where, sample, model or text(sample.get("model")), options, unread)
            answer.trial = identifier(sample.get("epoch"))
            yield answer


def _answer(
    where: str, sample: dict[str, Any], model: str | None, options: ReadOptions, unread: Counter[str]
) -> LoggedAnswer:
    count_unread(sample, (*_USED, "model"), unread, "samples.")
    answer = LoggedAnswer(where)
    _ask(answer, sample, options, unread)
    attached = sample.get("attachments")
    messages = sample.get("messages")
    messages = messages if isinstance(messages, list) else []
    if isinstance(attached, dict) and attached:
        messages = _put_back(messages, attached, DEPTH)
    dialogue = conversation(messages, unread, "samples.messages.")
    dialogue.close()
    dialogue.trail.into(answer, tools=False)
    completed = _completion(sample.get("output"), attached)
    if completed is not None and dialogue.thought is not None and completed.strip() == dialogue.thought.strip():
        completed = None
    answer.answer = dialogue.trail.submitted or completed or dialogue.answer
    known = {MANY_QUESTIONS} | ({ENDS_WITH_CALL} if answer.answer is not None else set())
    answer.notes += [note for note in dialogue.notes if note not in known]  # the sample's input is the question
    _costs(answer, sample, model, dialogue, unread)
    error = sample.get("error")
    if isinstance(error, dict):
        answer.error = text(error.get("message")) or "the sample failed"
    if cut_short(sample.get("output")):
        answer.notes.append(CUT)
    if sample.get("limit") is not None:
        answer.notes.append(LIMITED)
    if sample.get("invalidation") is not None:
        answer.notes.append(INVALID)
    scores = sample.get("scores")
    unread.update(f"samples.scores.{name}" for name in (scores if isinstance(scores, dict) else ()))
    return answer


def _ask(answer: LoggedAnswer, sample: dict[str, Any], options: ReadOptions, unread: Counter[str]) -> None:
    """Add the question by the user's key, by metadata, else by the sample's own id."""
    metadata = sample.get("metadata")
    metadata = object_of(metadata)
    if options.question_key is not None:
        keys = [options.question_key]
    else:
        keys = [*(f"metadata.{name}" for name in _QUESTION_IDS), "id"]
    found = next(((key, given) for key in keys if (given := identifier(at(sample, key))) is not None), None)
    if found is None:
        what = f"the sample has no question's id at {keys[-1]!r}"
        raise UnreadableLogError(what, where=answer.where, remedy="Correct --question-key.")
    answer.taken["question id"], answer.question = found
    count_unread(metadata, [found[0].removeprefix("metadata.")], unread, "samples.metadata.")
    asked = sample.get("input")
    if isinstance(asked, list):
        # Examples may precede it: the question is the last message of the user.
        users = [message for message in map(parse_message, asked) if message.role == "user"]
        asked = users[-1].text if users else None
    answer.question_text = text(asked)


def _costs(
    answer: LoggedAnswer, sample: dict[str, Any], model: str | None, dialogue: Conversation, unread: Counter[str]
) -> None:
    """Add latency, tokens, cost and model."""
    seconds = number(sample.get("total_time"))
    answer.latency_ms = None if seconds is None or seconds < 0 else seconds * 1000
    turns = whole(sample.get("turn_count"))
    answer.model_calls = dialogue.model_calls or None if turns is None else turns
    output = sample.get("output")
    named = text(output.get("model")) if isinstance(output, dict) else None
    answer.model = model or named
    usage = sample.get("model_usage")
    used = {name: one for name, one in usage.items() if isinstance(one, dict)} if isinstance(usage, dict) else {}
    count_unread(object_of(usage), used, unread, "samples.model_usage.")
    if len(used) > 1 and answer.model in used:
        used = {answer.model: used[answer.model]}
        answer.notes.append(OTHERS)
    if not used:
        return
    # `input_tokens` excludes those that a cache had or keeps.
    names = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
    answer.prompt_tokens = sum(whole(one.get(name)) or 0 for one in used.values() for name in names)
    answer.output_tokens = sum(whole(one.get("output_tokens")) or 0 for one in used.values())
    costs = [cost for one in used.values() if (cost := number(one.get("total_cost"))) is not None]
    answer.cost = added(costs) if len(costs) == len(used) else None


def _completion(output: Any, attached: Any) -> str | None:
    """Return the last output of the model."""
    if not isinstance(output, dict):
        return None
    if isinstance(attached, dict):
        output = _put_back(output, attached, DEPTH)
    if text(output.get("completion")) is not None:
        return text(output["completion"])
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return parse_message(first.get("message")).text if isinstance(first, dict) else None


def _put_back(value: Any, attached: dict[str, Any], depth: int) -> Any:
    """Return a value with the texts that the sample keeps apart, in their places."""
    if isinstance(value, str):
        scheme = next((one for one in _ATTACHED if value.startswith(one)), None)
        return value if scheme is None else attached.get(value.removeprefix(scheme), value)
    if depth and isinstance(value, list):
        return [_put_back(one, attached, depth - 1) for one in value]
    if depth and isinstance(value, dict):
        return {name: _put_back(one, attached, depth - 1) for name, one in value.items()}
    return value
