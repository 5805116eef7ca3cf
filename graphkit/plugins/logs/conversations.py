"""Conversations with a model: the messages of each side, and the tools that it used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from graphkit.plugins.logs.model_messages import (
    CUT,
    KNOWN,
    Message,
    is_conversation,
    parse_message,
    plain_message,
    unread_blocks,
)
from graphkit.plugins.logs.payloads import QUESTION_IDS, TASK_IDS, at, count_unread, plain_key
from graphkit.plugins.logs.tagged_calls import has_tagged_calls, with_tagged_calls
from graphkit.plugins.logs.tool_calls import Trail
from graphkit.readers.accounting import without
from graphkit.readers.json_values import identifier
from graphkit.readers.logged import IdOf, LoggedAnswer, UnreadableLogError
from graphkit.records.aliases import QUESTION
from graphkit.records.doubts import UNREAD_PARTS
from graphkit.records.words import shortened

_FIGURES = ("latency_ms", "cost", "model_calls", "prompt_tokens", "output_tokens")

#: AutoGen's word by which an agent says that it is done, after a sentence or on a line of its own.
_STOP = re.compile(r"(?:^|\n|(?<=[.!?)\]\"'`])[ \t])[ \t*_`]{0,9}TERMINATE[*_`.!]{0,9}$")

ENDS_WITH_CALL = (
    "the conversation ends with a call of a tool and hands nothing in: what was said before it was a thought, and the "
    "answer isn't known"
)
MANY_QUESTIONS = "the user speaks more than once: the first text is used as the question"
OF_THE_WHOLE = "tokens, costs or times are logged of a whole conversation: those of one of its questions are unknown"
OTHER_QUESTIONS = "the conversation asks other questions of the dataset, too: only the turns of its own question count"


@dataclass(slots=True)
class Conversation:
    """The content of a conversation.

    Attributes
    ----------
    thought
        The last text, if that isn't the answer.
    stop_word
        The word by which agents say that they are done, if the log names it.
    """

    trail: Trail = field(default_factory=Trail)
    stop_word: str | None = None
    question: str | None = None
    answer: str | None = None
    thought: str | None = None
    models: list[str] = field(default_factory=list)
    model_calls: int = 0
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    notes: list[str] = field(default_factory=list)
    #: What the model's interface said instead of the last reply.
    error: str | None = None
    #: The messages from each text of the user on, up to the next; what precedes the first belongs to it.
    turns: list[list[Message]] = field(default_factory=list)
    _questions: int = 0
    #: The last of text, call, and text with a call behind it in one message.
    _last: str = ""
    _reply: str | None = None
    _turns_by_call: dict[str, int] = field(default_factory=dict)

    def add(self, message: Message) -> None:
        """Add a message."""
        self._keep(message)
        self.trail.found(message.found)
        for call in message.calls:
            self.trail.called(call.name, call.arguments, call.id, call.folder)
        for result in message.results:
            self.trail.returned(result.content, result.call, result.failed, result.found)
        self.trail.submitted = message.submission or self.trail.submitted
        if message.cut and CUT not in self.notes:
            self.notes.append(CUT)
        words = message.text
        self.error = message.error or self.error
        if message.role == "assistant":
            self.error = None
            self.model_calls += message.reply is None or message.reply != self._reply
            self._reply = message.reply
            self.prompt_tokens = added(self.prompt_tokens, message.prompt_tokens)
            self.output_tokens = added(self.output_tokens, message.output_tokens)
            if message.model is not None and message.model not in self.models:
                self.models.append(message.model)
            if words is not None:
                self.answer, self._last = self._said(words), "text"
        elif message.role == "user" and words is not None:
            self._questions += 1
            self.question = self.question or words
        if message.calls and not (words is not None and message.ends_in_words):
            self._last = "call" if words is None else "text and call"

    def _said(self, words: str) -> str:
        """Return the words of a reply without the stop word at its end; a stop word alone repeats the last answer."""
        own = words.rstrip()
        if self.stop_word and own.endswith(self.stop_word):
            own = own.removesuffix(self.stop_word).rstrip()
        else:
            own = _STOP.sub("", own).rstrip()
        if len(own) == len(words.rstrip()):
            return words
        return own or self.answer or words

    def _keep(self, message: Message) -> None:
        """Keep a message in its turn; a result belongs to the turn of its call, however late it comes."""
        speaks = message.role == "user" and message.text is not None
        if not self.turns or (speaks and self._questions):
            self.turns.append([])
        last = len(self.turns) - 1
        late = {
            index: turn
            for index, result in enumerate(message.results)
            if (turn := self._turns_by_call.get(identifier(result.call) or "", last)) < last
        }
        for index, turn in late.items():
            self.turns[turn].append(Message(results=[message.results[index]]))
        for call in message.calls:
            if (key := identifier(call.id)) is not None:
                self._turns_by_call[key] = last
        if late:
            own = [result for index, result in enumerate(message.results) if index not in late]
            message = replace(message, results=own)
        self.turns[-1].append(message)

    def into(self, answer: LoggedAnswer, tools: bool) -> None:
        """Close the conversation, and add its calls and its question to an answer.

        Parameters
        ----------
        tools
            Whether the log says that there were tools: then no call is a walk of nothing, else it is not known.
        """
        self.close()
        self.trail.into(answer, tools)
        answer.question_text = answer.question_text or self.question
        answer.dialogue = self if len(self.turns) > 1 else None

    def close(self) -> None:
        """Decide whether the last text is the answer, after the last message."""
        if self.trail.submitted is not None:
            self.answer = self.trail.submitted
        elif self.answer is not None and (self._last == "call" or (self._last != "text" and not self.trail.handed_in)):
            self.answer, self.thought = None, self.answer
            self.notes.append(ENDS_WITH_CALL)
        if self._questions > 1:
            self.notes.append(MANY_QUESTIONS)

    def each_question(
        self, answer: LoggedAnswer, id_of: IdOf, session: Mapping[int, str] | None = None
    ) -> list[LoggedAnswer]:
        """Return an answer for each question of the dataset that a conversation asks, or the answer of the whole.

        A turn whose text is no question belongs to the question before it. Of a conversation that is named by one of
        its questions, only the turns of this one count: the others are what came before, or examples. In one that is
        named by a session of the dataset, each text of the user is the next turn.

        Parameters
        ----------
        id_of
            Finds the questions.
        session
            The question of each turn of the session that names the conversation.
        """
        if answer.traversal is not None or answer.retrieved != self.trail.retrieved():
            return [answer]  # what stands beside the messages belongs to all of them
        words = [asked_in(turn) for turn in self.turns]
        if session is not None:
            parts = self._by_question(answer, [session.get(turn) for turn in range(1, len(words) + 1)])
            for part, question in parts:
                part.question, part.taken = question, answer.taken
            return [part for part, _ in parts]
        asked: list[str | None] = []
        for text in words:
            before = next(filter(None, reversed(asked)), None)
            asked.append(id_of(text, before) if text else None)
        known = {one for one in asked if one}
        beside = [answer.question, None if answer.question_text in words else answer.question_text]
        named = next((one for text in beside if text and (one := id_of(text))), None)
        own = named or (id_of(answer.question_text) if answer.question_text else None)
        if (own and own not in known) or len(known) < (2 if own else 1):
            return [answer]
        parts = self._by_question(answer, asked)
        if named is None:
            for part, question in parts:
                if question is not None and id_of(part.question_text or "") is None:  # the session decides
                    part.question, part.taken = question, answer.taken
            return [part for part, _ in parts]
        own_parts = [part for part, question in parts if question == named]
        for part in own_parts:
            part.question, part.taken = answer.question, answer.taken
            part.notes.append(OTHER_QUESTIONS)
        return own_parts

    def _by_question(self, answer: LoggedAnswer, asked: Iterable[str | None]) -> list[tuple[LoggedAnswer, str | None]]:
        """Return the answer to each question that the turns ask; a turn that asks none belongs to the one before."""
        groups: list[tuple[str | None, list[Message]]] = []
        for question, turn in zip(asked, self.turns, strict=True):
            if not groups or question not in (None, groups[-1][0]):
                groups.append((question, []))
            groups[-1][1].extend(turn)
        parts = _parts(answer, self, [messages for _, messages in groups])
        return [(part, question) for part, (question, _) in zip(parts, groups, strict=True)]


def conversation(messages: Iterable[Any], unread: Counter[str], prefix: str = "messages.") -> Conversation:
    """Return the content of a conversation."""
    found = Conversation()
    messages = list(messages)
    tagged = has_tagged_calls(messages)
    for value in messages:
        if isinstance(value, dict):
            plain = plain_message(value)
            count_unread(plain, KNOWN, unread, prefix)
            if kinds := unread_blocks(plain):
                unread.update(f"{prefix}content of the type {shortened(kind)}" for kind in kinds)
                found.trail.unread_part()
            message = parse_message(value)
            found.add(with_tagged_calls(message) if tagged else message)
        else:
            unread[f"{prefix}({type(value).__name__})"] += 1
    return found


#: Where rows hold a conversation, and the columns that are about the whole of it.
_DIALOGUES, _WHOLE = ("user_input", "turns", "messages"), ("reference_tool_calls", "expected_tools")


def each_turn(row: dict[str, Any], unnamed: str) -> list[dict[str, Any]]:
    """Return a row for each text of the user in a row with a conversation, or the row alone.

    They are the turns of a session that the row names, else ``unnamed``. Its gold is that of the last turn, except tool
    calls, which don't say to which turn they belong.
    """
    key = next((one for one in _DIALOGUES if is_conversation(row.get(one))), None)
    if key is None or (key != "user_input" and any(isinstance(row.get(one), str) for one in ("question", "input"))):
        return [row]
    asked = [text for turn in conversation(row[key], Counter()).turns if (text := asked_in(turn)) is not None]
    names = ("session", *QUESTION["session"], "id", *QUESTION["id"], "name")
    session = next((name for one in names if (name := identifier(row.get(one)))), unnamed)
    gold = {
        f"{name} of the whole conversation" if name in _WHOLE else name: value
        for name, value in row.items()
        if name not in (key, *names)
    }
    found = [
        {"id": f"{session}-{turn}", "question": text, "session": session, "turn": turn}
        for turn, text in enumerate(asked, 1)
    ]
    return [*found[:-1], {**found[-1], **gold}] if found else [row]


def asked_in(turn: list[Message]) -> str | None:
    """Return the text of the user that begins a turn."""
    return next((message.text for message in turn if message.role == "user" and message.text is not None), None)


def _parts(answer: LoggedAnswer, whole: Conversation, groups: list[list[Message]]) -> list[LoggedAnswer]:
    """Return the answer of each group of messages; a figure is known if those of all groups add up to the whole's."""
    of_whole = {*whole.notes, *whole.trail.notes}
    beside = [note for note in answer.notes if note not in of_whole or note == UNREAD_PARTS]
    unknown = answer.unknown_calls - sum(call.seen is None for call in whole.trail.calls)
    read, parts, moved = list[Conversation](), list[LoggedAnswer](), False
    for messages in groups:
        one = Conversation(Trail(each_result=whole.trail.each_result, moved=moved), whole.stop_word)
        for message in messages:
            one.add(message)
        part = LoggedAnswer(answer.where, run=answer.run, trial=answer.trial, drawn_ids=answer.drawn_ids)
        one.into(part, tools=answer.tool_calls is not None)
        moved = one.trail.moved
        part.folders = list(dict.fromkeys([*answer.folders, *part.folders]))
        part.unknown_calls += unknown
        part.answer, part.dialogue = one.answer, None
        part.model = one.models[0] if len(one.models) == 1 else answer.model
        if one.error is not None and (part.answer is None or one.error == answer.error):
            part.answer, part.error, part.error_type = None, one.error, answer.error_type or "api_error"
        notes = [note for note in one.notes if note not in of_whole or note in answer.notes]
        part.notes = [note for note in (*part.notes, *notes, *beside) if note not in of_whole or note in answer.notes]
        part.latency_ms = _taken(messages) if one.question is not None and len(one.turns) == 1 else None
        read.append(one)
        parts.append(part)
    last = parts[-1]
    if answer.error is not None and all(part.error is None for part in parts):
        last.answer, last.error, last.error_type = answer.answer, answer.error, answer.error_type
    elif answer.answer not in (None, whole.answer):
        last.answer = answer.answer  # handed in, or written beside the messages
        last.notes = [note for note in last.notes if note != ENDS_WITH_CALL]
    for name in ("model_calls", "prompt_tokens", "output_tokens"):
        figures = [getattr(one, name) for one in read]
        if sum(one or 0 for one in figures) == getattr(answer, name):
            for part, figure in zip(parts, figures, strict=True):
                setattr(part, name, figure)
    for part in parts:
        if any(getattr(answer, name) is not None and getattr(part, name) is None for name in _FIGURES):
            part.notes.append(OF_THE_WHOLE)
    return parts


def _taken(messages: list[Message]) -> float | None:
    """Return the milliseconds from the question to the last message, or None if the times run backwards."""
    times = [message.time for message in messages if message.time is not None]
    return (times[-1] - times[0]) / 1000 if len(times) > 1 and times[-1] >= times[0] else None


def thread_of(
    value: dict[str, Any], keys: Iterable[str] = (*QUESTION_IDS, *TASK_IDS), named: str | None = None
) -> tuple[str | None, str | None, dict[str, Any]]:
    """Return the question and the session in the line of a message, and the rest of the line.

    Parameters
    ----------
    keys
        Those of the question's id.
    named
        The key that the user names instead, as ``metadata.ticket``.
    """
    if named is not None:
        keys = ()
    names = {plain_key(name): name for name in value.keys()}  # noqa: SIM118 - no field is taken by its name
    key = next((names[name] for name in keys if name in names), None)
    rest = without(value, (key, "session_id", "sessionId"))
    session = identifier(value.get("session_id", value.get("sessionId")))
    if named is not None:
        return identifier(at(value, named)), session, rest
    return None if key is None else identifier(value[key]), session, rest


def refuse_unnamed(questions: Iterable[str | None], named: str | None, where: str) -> None:
    """Refuse messages, a line each, none of which has a question's id at the key that the user names."""
    found = list(questions)
    if named is not None and found and not any(found):
        what = f"no message has a question's id at {named!r}"
        remedy = "Correct --question-key; a key within another is written with a dot, such as metadata.question_id."
        raise UnreadableLogError(what, where=where or None, remedy=remedy)


def added(first: int | None, second: int | None) -> int | None:
    """Return the sum of two counts of which some may be unknown; None if neither is known.

    >>> added(1, None), added(1, 2), added(None, None)
    (1, 3, None)
    """
    return second if first is None else first if second is None else first + second
