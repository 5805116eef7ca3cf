"""Outputs of LangChain's chains and retrievers: documents, answers, the messages of agents, and rows of Cypher."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from graphkit.plugins.logs.conversations import conversation
from graphkit.plugins.logs.graph_columns import SCORES, TEXTS, chunk_of
from graphkit.plugins.logs.graph_values import Gathered, query_record
from graphkit.plugins.logs.model_messages import (
    CUT,
    Message,
    cut_short,
    is_conversation,
    parse_message,
    plain_message,
    tokens_of,
)
from graphkit.plugins.logs.payloads import at
from graphkit.plugins.logs.reprs import Described, ReprError, parse_repr
from graphkit.plugins.logs.tool_calls import Trail
from graphkit.plugins.logs.triples import JOINED_EDGES, edges_in, facts_in, relations_in, split_text
from graphkit.readers.graph_names import COMMITS, ELEMENT_IDS, NAMES, first_of, is_element_id, name_of, plain
from graphkit.readers.json_values import UUID, identifier, number, object_of, text
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, LoggedEdge

#: The keys of a chain's output that hold documents, the earlier one is believed; and, as plain keys, answers.
DOCUMENTS = (
    *("context", "documents", "source_documents", "docs", "retrieved_documents", "retrieved_docs"),
    *("sourceDocuments", "retrievedDocuments", "contexts", "sources"),
)
ANSWERS = ("answer", "result", "output", "response", "outputtext", "generation", "content", "text")

#: The keys that hold questions, the earlier one is believed.
_QUESTIONS = ("question", "query", "input", "question_text", "text")

#: The metadata with a document's file, which names the document if nothing else does.
FILES = ("source", "filepath", "path", "file", "filename", "url")

_STEPS = "intermediate_steps"
_LINE = re.compile(r"(\w+): (.*)")

PASSED_TEXT = "a context of text alone: what was retrieved is unknown; let the chain return its documents"


def is_output(value: Any) -> bool:
    """Return whether a value is a chain's output: documents, steps of Cypher or tools, or question and answer."""
    if isinstance(value, list):
        return bool(value) and (all(document_of(part) is not None for part in value) or _updated(value) is not None)
    if not isinstance(value, dict):
        return False
    steps = value.get(_STEPS)
    if isinstance(steps, list) and steps:
        return all(_is_query(step) for step in steps) or all(_is_action(step) for step in steps)
    if artifacts(value.get("messages")) or _rows(value) is not None or _state(value) is not value:
        return True
    lists = (value.get(key) for key in DOCUMENTS)
    return (
        any(isinstance(docs, list) and docs and all(_loose(doc) is not None for doc in docs) for docs in lists)
        # Nothing was retrieved: then the answer beside the empty list shows a chain's output.
        or (any(value.get(key) == [] for key in DOCUMENTS[:6]) and bool(value.keys() & set(ANSWERS)))
        or (value.keys() == {"query", "result"} and all(isinstance(given, str) for given in value.values()))
    )


def artifacts(messages: Any) -> list[Any]:
    """Return the documents that an agent's tools returned beside the texts of their messages."""
    given = (_fields_of(message).get("artifact") for message in (messages if isinstance(messages, list) else ()))
    lists = (found for found in given if isinstance(found, list) and found)
    return [doc for found in lists if all(document_of(doc) is not None for doc in found) for doc in found]


def document_of(value: Any) -> Mapping[str, Any] | None:
    """Return the fields of a document, in any written form, with ``score`` if there is one beside it."""
    if isinstance(value, list) and len(value) == 2:
        document, score = document_of(value[0]), number(value[1])
        return None if document is None or score is None else {**document, "score": score}
    if isinstance(value, str) and value.startswith("page_content="):
        try:
            return _fields(parse_repr(f"<Document {value}>"))
        except ReprError:
            return None
    if not isinstance(value, dict):
        return None
    if "document" in value and (beside := document_of(value["document"])) is not None:
        return {**beside, "score": value.get("score")}
    inner = _fields_of(value)
    if "page_content" in inner:
        return inner
    return {**inner, "page_content": inner["pageContent"]} if "pageContent" in inner else None


def _loose(value: Any) -> Mapping[str, Any] | None:
    """Return the fields of an item among documents, also in a user's form with text and metadata."""
    found = document_of(value)
    if found is not None or not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return found
    key = next((key for key in ("content", "text") if isinstance(value.get(key), str)), None)
    return None if key is None else {**value, "page_content": value[key]}


def _fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of an object as ``dumpd`` writes it, or as ``model_dump`` does."""
    return object_of(plain_message(value))


def _fields(value: Any) -> Mapping[str, Any] | None:
    return value.fields if isinstance(value, Described) else None


def add_output(answer: LoggedAnswer, output: Any, gathered: Gathered, unread: Counter[str]) -> None:
    """Add a chain's output to an answer, and its retrieved items to the gathered ones."""
    output = _state(output)
    if isinstance(output, list):
        add_documents(output, gathered, unread)
        return
    if not isinstance(output, dict):
        answer.answer = text(output) or answer.answer
        return
    if message := message_text(output):
        answer.answer = message
        return
    _add_tools(answer, output)
    answer.answer = answer_in(output) or answer.answer
    answer.question_text = answer.question_text or question_in(output)
    for key in DOCUMENTS:
        given = output.get(key)
        if isinstance(given, list) and (not given or any(_loose(doc) is not None for doc in given)):
            add_documents(given, gathered, unread)
            break
        if isinstance(given, str) and given:
            gathered.note(PASSED_TEXT)
    if not gathered.asked and (found := artifacts(output.get("messages"))):
        add_documents(found, gathered, unread)
    _add_rows(output, gathered)
    if gathered.query and not gathered.query_used:
        unread[f"{_STEPS}.query"] += 1


def answer_in(output: Any) -> str | None:
    """Return the answer in the output of a chain."""
    if not isinstance(output, dict):
        return text(output)
    key, _ = first_of(dict(dict.items(output)), ANSWERS)  # its other fields aren't taken by looking for it
    answer = None if key is None else output[key]
    return text(answer) or message_text(answer) or _last_message(output.get("messages"))


def message_text(value: Any) -> str | None:
    """Return the words of a model's message."""
    message = parse_message(value)
    return "".join(message.texts) or None if message.role == "assistant" else None


def _last_message(messages: Any) -> str | None:
    """Return the last words of a model."""
    return next(filter(None, map(message_text, reversed(messages))), None) if isinstance(messages, list) else None


def question_in(given: Any) -> str | None:
    """Return the question's text among a run's inputs."""
    if isinstance(given, str):
        return text(given)
    if isinstance(given, dict):
        for key in _QUESTIONS:
            if key in given and (found := question_in(given[key])):
                return found
        message = parse_message(given)
        return "".join(message.texts) or None if message.role == "user" else question_in(given.get("messages"))
    if isinstance(given, list):
        users = (question_in(part) for part in reversed(given) if isinstance(part, dict | list))
        return next(filter(None, users), None)
    return None


def sum_of_all(counts: Iterable[int | None]) -> int | None:
    """Return the sum if every call has its count: a part of the sum would be too small."""
    given = list(counts)
    return None if None in given else sum(count for count in given if count is not None)


def usage_of(output: Any) -> Message:
    """Return the message of a model's output, with its model and tokens, which may be beside the message."""
    fields = _fields_of(output)
    held = fields.get("generations")
    if isinstance(held, list):
        while isinstance(held, list) and held:
            held = held[0]
        message = parse_message(_fields_of(held).get("message"))
        message.cut = message.cut or cut_short(_fields_of(held).get("generation_info"))
        message.model = message.model or text(at(output, "llm_output.model_name"))
        if message.prompt_tokens is message.output_tokens is None:
            message.prompt_tokens, message.output_tokens = tokens_of(at(fields, "llm_output.token_usage"))
        return message
    messages = fields.get("messages")
    return parse_message(messages[-1] if isinstance(messages, list) and messages else output)


def add_documents(documents: list[Any], gathered: Gathered, unread: Counter[str]) -> None:
    """Gather documents, with the edges in their metadata."""
    gathered.asked = True
    for one in documents:
        document = _loose(one)
        if document is None:
            gathered.nameless()
            continue
        given = document.get("metadata")
        metadata: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        before = len(gathered.edges)
        read = gathered.metadata(metadata)
        content = text(document.get("page_content"))
        name, by_file = _name(document, metadata, content)
        triples, content = _triples(content, name, gathered)
        above: tuple[str, ...] = ()
        if not triples and (facts := facts_in(content or "")) is not None:
            above = tuple(facts[0])
            gathered.edges += facts[1]
            gathered.walked = True
            gathered.note(JOINED_EDGES)
        known = {*NAMES, *ELEMENT_IDS, *SCORES, *COMMITS, *TEXTS}
        for key, value in metadata.items():
            if key not in read and plain(key) not in known and not (plain(key) in FILES and identifier(value) == name):
                unread[f"metadata.{key}"] += 1
        if name is None:
            gathered.nameless(gathered.edges[before:], above)
            continue
        chunk = chunk_of(metadata, name)
        score = number(document.get("score"))
        score = chunk.score if score is None else score
        whole = LoggedChunk(name, content, score, chunk.commit, values=above, by_file=by_file)
        gathered.retrieved(whole, triples)


def _triples(content: str | None, name: str | None, gathered: Gathered) -> tuple[list[LoggedEdge], str | None]:
    """Add the triples that a document's text begins with, or is if nothing names it; return them and the rest."""
    notes: set[str] = set()
    split = split_text(content or "", notes)
    if not split.parts or (split.alone and name is not None):
        return [], content
    triples = edges_in(split, relations_in([split]), notes)
    gathered.walked = gathered.walked or bool(triples)
    gathered.edges += triples
    for words in sorted(notes):
        gathered.note(words)
    return triples, split.text


def _name(document: Mapping[str, Any], metadata: Mapping[str, Any], content: str | None) -> tuple[str | None, bool]:
    """Return the name of a document, and whether only its file names it.

    It is its metadata's name, its own id, its file, or last an id drawn at random.
    """
    named, own = name_of(metadata), identifier(document.get("id"))
    if named is not None and not is_element_id(named):
        return named, False
    chosen = own if own is not None and UUID.fullmatch(own) is None else None
    file = identifier(first_of(metadata, FILES)[1])
    better = _written_name(content) or named or chosen
    return better or file or own, better is None


def _written_name(content: str | None) -> str | None:
    """Return the name that Neo4jVector writes into a text of properties: a line of each, after an empty one."""
    if not content or not content.startswith("\n"):
        return None
    named: dict[str, str] = {}
    for line in content[1:].split("\n", 20)[:20]:
        found = _LINE.fullmatch(line)
        if found is None or plain(found[1]) in TEXTS:
            break  # the lines of a text look like those of properties
        named[found[1]] = found[2]
    return name_of(named)


def _state(value: Any) -> Any:
    """Return the output within the state of ``astream_log``, or of the updates of a graph's nodes; else the value."""
    if isinstance(value, dict) and {"final_output", "streamed_output", "logs"} <= value.keys():
        return value["final_output"]
    return (_updated(value) or value) if isinstance(value, list) else value


def _updated(updates: list[Any]) -> dict[str, Any] | None:
    """Return the state that a graph's updates make, each an object of one node and what it wrote, or None.

    Only one that holds documents is an output: messages alone are a conversation.
    """
    state: dict[str, Any] = {}
    for one in updates:
        if not isinstance(one, dict) or len(one) != 1:
            return None
        wrote = next(iter(one.values()))
        if not isinstance(wrote, dict | None):
            return None
        state |= wrote or {}
    return state if any(key in DOCUMENTS for key in state) and is_output(state) else None


def _is_query(step: Any) -> bool:
    return isinstance(step, dict) and bool(step.keys() & {"query", "context"})


def _is_action(step: Any) -> bool:
    """Return whether a value is a step of an agent: its action and the observation."""
    return isinstance(step, list) and len(step) == 2 and bool(_action(step[0]))


def _action(value: Any) -> dict[str, Any]:
    fields = _fields_of(value)
    return fields if isinstance(fields.get("tool"), str) and "tool_input" in fields else {}


def _rows(output: Mapping[str, Any]) -> list[Any] | None:
    """Return the rows that a Cypher chain returned instead of an answer, or None."""
    rows = output.get("result")
    if not isinstance(output.get("query"), str) or not isinstance(rows, list):
        return None
    if not rows and not output.keys() <= {"query", "result", _STEPS}:
        return None  # anybody's result may be empty
    return rows if all(isinstance(row, dict) and document_of(row) is None for row in rows) else None


def _add_rows(output: Mapping[str, Any], gathered: Gathered) -> None:
    """Add the rows of a Cypher chain: the rows of a query follow the query."""

    def take(rows: Any) -> None:
        if isinstance(rows, list):
            gathered.asked = True
            for row in rows:
                if isinstance(row, Mapping):
                    gathered.row(row)
                else:
                    gathered.nameless()

    given = output.get(_STEPS)
    steps = [step for step in given if isinstance(step, dict)] if isinstance(given, list) else []
    for step in steps:
        if (query := text(step.get("query"))) is not None:
            gathered.query = query
            gathered.queries.append(query_record(query))
        if gathered.queries and "context" in step:
            gathered.queries[-1] = query_record(gathered.queries[-1]["cypher"], step["context"])
        take(step.get("context"))
    take(_rows(output))


def _add_tools(answer: LoggedAnswer, output: Mapping[str, Any]) -> None:
    """Add the calls of tools and of models to an answer, from an agent's messages or its steps."""
    messages, steps = output.get("messages"), output.get(_STEPS)
    if isinstance(messages, list) and is_conversation(messages):
        dialogue = conversation(messages, Counter())
        answer.question_text = answer.question_text or question_in({"messages": messages})
        if dialogue.trail.calls or len(dialogue.turns) > 1:
            dialogue.into(answer, tools=False)
        calls = [usage_of(message) for message in messages if parse_message(message).role == "assistant"]
        if calls:
            answer.model_calls = len(calls)
            answer.prompt_tokens = sum_of_all(call.prompt_tokens for call in calls)
            answer.output_tokens = sum_of_all(call.output_tokens for call in calls)
            answer.model = next((call.model for call in calls if call.model), None)
            answer.notes += [CUT] if any(call.cut for call in calls) else []
    elif isinstance(steps, list) and steps and all(map(_is_action, steps)):
        trail = Trail()
        for step in steps:
            trail.called(_action(step[0])["tool"], _action(step[0])["tool_input"])
            trail.returned(step[1])
        trail.into(answer, tools=False)


def continues(former: Any, output: Any) -> bool:
    """Return whether an output is the same run's state a step later, as graphs stream them: it holds all of the former.

    >>> continues({"question": "Who?"}, {"question": "Who?", "documents": []})
    True
    >>> continues({"question": "Who?"}, {"question": "Where?", "documents": []})
    False
    """
    if not isinstance(former, dict) or not isinstance(output, dict):
        return False
    return former != output and all(key in output and _begins(given, output[key]) for key, given in former.items())


def _begins(former: Any, later: Any) -> bool:
    if isinstance(former, list) and isinstance(later, list):
        return later[: len(former)] == former
    return bool(former == later)
