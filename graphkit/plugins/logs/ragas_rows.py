"""Rows of RAGAS data sets: a question with its retrieved contexts, and the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from graphkit.plugins.logs.conversations import Conversation, conversation
from graphkit.plugins.logs.model_messages import is_conversation
from graphkit.plugins.logs.payloads import at, count_unread, each_unwrapped, holds, json_within, texts
from graphkit.plugins.logs.reprs import printed
from graphkit.plugins.logs.text_contexts import UNNAMED
from graphkit.readers.json_values import identifier, text
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, Reader, ReadOptions, UnreadableLogError, Values
from graphkit.records.ids import id_of_text

#: The columns that are read, each with its former name.
ASKED = ("user_input", "question")
CONTEXTS = ("retrieved_contexts", "contexts")
CONTEXT_IDS = "retrieved_context_ids"
RESPONSE = ("response", "answer")

#: The columns of gold in test sets; one of them is of test sets alone, whose contexts are gold.
_REFERENCES = ("reference", "reference_contexts", "ground_truth", "ground_truths")
_GENERATED = "evolution_type"

TEST_SET = "this is a test set of RAGAS: questions with references, which are gold, and no answer of a system"
AS_GOLD = (
    "Make gold of it: graphkit init DATASET FILE (with --map relevant_texts=contexts, if its contexts are gold); or "
    "answer it first, and write the rows with response and retrieved_contexts."
)

_QUESTION_IDS = ("question_id", "query_id", "qid", "id")

#: The longest list that is read as Python prints it.
LONGEST_TEXT = 1_000_000

MISMATCH = "there are more or fewer ids than contexts: the ids are used, without texts"


class RagasReader(Reader):
    """Reads rows."""

    name = "ragas"
    priority = 40
    finds_edges = False
    title = "RAGAS: rows of a data set, or of results, as JSON"
    lacks = (
        "Rows have no traversal but that of a conversation with tools, and neither times nor tokens.",
        "A context without an id is recognised only if the gold has the same text.",
        "Values of metrics aren't read here (graphkit ragas scores does), nor is CSV (graphkit ragas import does).",
    )

    def recognises(self, value: Any) -> bool:
        return holds(value, _is_row) or any(map(_is_row, _rows(value)))

    def read(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        first, answered, references = "", False, Counter[str]()
        for answer in self._answers(values, options, references):
            first = first or answer.where
            said = (answer.answer, answer.retrieved, answer.tool_calls, answer.error)
            answered = answered or any(one is not None for one in said)
            yield answer
        unread.update(references)
        if first and not answered and any(references[name] for name in _REFERENCES):
            raise UnreadableLogError(TEST_SET, where=first, remedy=AS_GOLD)

    def _answers(self, values: Values, options: ReadOptions, unread: Counter[str]) -> Iterator[LoggedAnswer]:
        for where, value in values:
            if not isinstance(value, dict):
                remedy = "Each row is an object of columns, such as user_input and retrieved_contexts."
                raise UnreadableLogError("the row is no object", where=where, remedy=remedy)
            rows = _rows(value)
            for place, row in enumerate(rows):
                yield _answer(f"{where} row {place + 1}", row, options, unread)
            if rows or _is_row(value) or not holds(value, _is_row):
                if not rows:
                    yield _answer(where, value, options, unread)
                continue
            for wrapped in each_unwrapped(value, _is_row, ReadOptions(), where):
                unread.update(wrapped.rest)
                answer = _answer(wrapped.answer.where, wrapped.payload, ReadOptions(), unread)
                key = options.question_key
                question = wrapped.question if key is None else identifier(at(value, key))
                if question is not None:
                    answer.question, answer.taken["question id"] = question, key or wrapped.answer.taken["question id"]
                yield answer


def _is_row(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if "user_input" in value:
        if isinstance(value["user_input"], dict):
            return False
        return bool(value.keys() & {*CONTEXTS, CONTEXT_IDS, *RESPONSE, "reference"}) or is_conversation(
            value["user_input"]
        )
    contexts = value.get("contexts")
    if not isinstance(value.get("question"), str):
        return False
    if isinstance(contexts, list):
        return all(isinstance(one, str) for one in contexts)
    return isinstance(value.get("answer"), str) and bool(value.keys() & {"ground_truth", "ground_truths"})


def _rows(value: Any) -> list[dict[str, Any]]:
    """Return the rows of a table that was written by its columns or its index, as pandas and data sets do.

    >>> _rows({"question": ["a", "b"], "answer": ["c", "d"]})
    [{'question': 'a', 'answer': 'c'}, {'question': 'b', 'answer': 'd'}]
    >>> _rows({"question": {"0": "a"}, "answer": {"0": "c"}}), _rows({"columns": ["question"], "data": [["a"]]})
    ([{'question': 'a', 'answer': 'c'}], [{'question': 'a'}])
    """
    if not isinstance(value, dict):
        return []
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(name, str) for name in names):
        return [dict(zip(names, row, strict=False)) for row in data if isinstance(row, list)]
    asked = next((value[name] for name in ASKED if isinstance(value.get(name), list | dict)), None)
    if isinstance(asked, dict):
        columns = {name: column for name, column in value.items() if isinstance(column, dict)}
        return [{name: column.get(index) for name, column in columns.items()} for index in asked]
    if isinstance(asked, list) and not is_conversation(asked):
        lists = {name: column for name, column in value.items() if isinstance(column, list)}
        if all(len(column) == len(asked) for column in lists.values()):
            return [{name: column[place] for name, column in lists.items()} for place in range(len(asked))]
    return []


def answers_of_turns(where: str, row: dict[str, Any], unread: Counter[str]) -> list[LoggedAnswer]:
    """Return the answer to each text of the user in a row with a conversation, or the answer of a row without turns."""
    answer = _answer(where, row, ReadOptions(), unread)
    dialogue = answer.dialogue
    if not isinstance(dialogue, Conversation):  # it has one turn, or none
        return [answer]
    turns = range(1, len(dialogue.turns) + 1)
    return dialogue.each_question(answer, lambda *_: None, {turn: str(turn) for turn in turns})


def _answer(where: str, row: dict[str, Any], options: ReadOptions, unread: Counter[str]) -> LoggedAnswer:
    answer = LoggedAnswer(where, run=text(row.get("run")))
    keys = _QUESTION_IDS if options.question_key is None else (options.question_key,)
    found = next(((key, given) for key in keys if (given := identifier(at(row, key))) is not None), None)
    if found is not None:
        answer.taken["question id"], answer.question = found
    elif options.question_key is not None:
        what = f"the row has no question's id at {options.question_key!r}"
        raise UnreadableLogError(what, where=where, remedy="Correct --question-key.")
    asked = _first(row, ASKED)
    if is_conversation(asked):
        dialogue = conversation(asked, unread, "user_input.")
        dialogue.into(answer, tools=False)
        answer.answer = dialogue.trail.submitted or dialogue.answer
        answer.model_calls = dialogue.model_calls or None
        answer.notes += dialogue.notes
    else:
        answer.question_text = text(asked)
    answer.error, answer.trial = text(row.get("error")), identifier(row.get("trial"))
    response = _first(row, RESPONSE)
    if isinstance(response, str):
        answer.answer = response
    chunks = _retrieved(row, answer.notes)
    answer.retrieved = answer.retrieved if chunks is None else chunks
    used = (
        *ASKED,
        *CONTEXTS,
        CONTEXT_IDS,
        *RESPONSE,
        "run",
        "error",
        "trial",
        *([] if found is None else [found[0].partition(".")[0]]),
    )
    count_unread(row, used, unread)
    return answer


def _retrieved(row: dict[str, Any], notes: list[str]) -> list[LoggedChunk] | None:
    if row.get(_GENERATED) is not None and _first(row, RESPONSE) is None:
        return None
    contexts = _first(row, CONTEXTS)
    if isinstance(contexts, str):  # tables of text hold a list as JSON, or as Python prints it
        parsed = json_within(contexts)
        contexts = printed(contexts, LONGEST_TEXT) if isinstance(parsed, str) else parsed
    ids = texts(row.get(CONTEXT_IDS))
    words = None
    if isinstance(contexts, list):  # JSON within a text may hold halves of characters
        words = [one.encode(errors="replace").decode() for one in contexts if isinstance(one, str)]
    if ids is not None and (words is None or len(ids) != len(words)):
        if words is not None:
            notes.append(MISMATCH)
        return [LoggedChunk(name) for name in ids]
    if words is None:
        return None
    if ids is None and words:
        notes.append(UNNAMED)
    names = [id_of_text(one) for one in words] if ids is None else ids
    return [LoggedChunk(name, one) for name, one in zip(names, words, strict=True)]


def _first(row: dict[str, Any], names: Iterable[str]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)
