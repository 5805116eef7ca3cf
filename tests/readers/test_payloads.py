"""The wrappers that users put around the output of a library, and the fields that are read from them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from graphkit.plugins.logs.payloads import ANSWER_ALONE, count_unread, each_unwrapped, holds, json_within, texts
from graphkit.readers.json_values import EMPTY, identifier, number, whole
from graphkit.readers.logged import ReadOptions, UnreadableLogError
from graphkit.records.doubts import NOTHING
from tests.plugins.logs.shared_logs import unwrapped

PLAIN = ReadOptions()


def is_payload(value: dict[str, Any]) -> bool:
    """Tell the output of a library that gives ``nodes``."""
    return "nodes" in value


@pytest.mark.parametrize(
    ("value", "question", "place"),
    [
        ({"question_id": "q1", "result": {"nodes": []}}, "q1", "question_id"),
        ({"question_id": "q1", "nodes": []}, "q1", "question_id"),
        ({"qid": 7, "output": {"deep": {"nodes": []}}}, "7", "qid"),
        ({"queryId": "q1", "result": {"nodes": []}}, "q1", "queryId"),
        ({"id": "q1", "result": {"nodes": []}}, "q1", "id"),
        ({"id": "q1", "nodes": []}, "q1", "id"),
        ({"metadata": {"question_id": "q1"}, "result": {"nodes": []}}, "q1", "metadata.question_id"),
        ({"nodes": [], "metadata": {"question_id": "q1"}}, "q1", "metadata.question_id"),
        ({"question": {"id": "q1", "text": "Who?"}, "nodes": []}, "q1", "question.id"),
        ({"results": [{"question_id": "q1", "out": {"nodes": []}}]}, "q1", "results[].question_id"),
        ({"custom_id": "q1", "output": {"nodes": []}}, "q1", "custom_id"),
        ({"run": {"nodes": []}, "example": {"metadata": {"qid": 1}}}, "1", "example.metadata.qid"),
        ({"response": '[{"query_id": "q1", "nodes": []}]'}, "q1", "response[].query_id"),
        ({"question_id": "q1", "result": '{"nodes": []}'}, "q1", "question_id"),
        (["q1", {"nodes": []}], "q1", "what stands before it in a pair"),
        ([["q1", {"out": {"nodes": []}}]], "q1", "what stands before it in a pair"),
        (["q1", '{"nodes": []}'], "q1", "what stands before it in a pair"),
    ],
)
def test_the_question_is_found(value: dict[str, Any], question: str, place: str) -> None:
    """The id beside the payload, within it or on the way to it is taken, and where from is said."""
    wrapped = unwrapped(value, is_payload, PLAIN)
    assert (wrapped.payload["nodes"], wrapped.question) == ([], question)
    assert wrapped.answer.taken["question id"] == place
    assert wrapped.rest == ()


def test_the_id_of_a_librarys_object_is_no_questions() -> None:
    """An ``id`` within a payload that stands inside something is the library's own; the wrapper's is the question's."""
    value: dict[str, Any] = {"run": {"id": "run-1", "nodes": []}, "note": "x"}
    assert unwrapped(value, is_payload, PLAIN).question is None
    assert unwrapped({"id": 3, **value}, is_payload, PLAIN).question == "3"


def test_the_key_that_the_user_names() -> None:
    """--question-key names it, within another by a dot; where it isn't there, nothing is guessed."""
    value = {"question_id": "no", "info": {"ticket": 12}, "result": {"nodes": []}}
    wrapped = unwrapped(value, is_payload, ReadOptions(question_key="info.ticket"))
    assert (wrapped.question, wrapped.answer.taken["question id"], wrapped.rest) == (
        "12",
        "info.ticket",
        ("question_id",),
    )
    with pytest.raises(UnreadableLogError, match=r"log:3: it has no question's id at 'ticket'"):
        unwrapped(value, is_payload, ReadOptions(question_key="ticket"), "log:3")


@pytest.mark.parametrize(
    ("key", "given", "milliseconds"),
    [
        ("seconds", 0.25, 250),
        ("latency", 12, 12),
        ("latency_ms", "12.5", 12.5),
        ("duration_ms", 3, 3),
        ("seconds", -1, None),
        ("seconds", True, None),
        ("seconds", "soon", None),
    ],
)
def test_times(key: str, given: Any, milliseconds: float | None) -> None:
    """A time is read by its name and unit; what is no time isn't taken."""
    wrapped = unwrapped({"question_id": "q", key: given, "result": {"nodes": []}}, is_payload, PLAIN)
    assert wrapped.answer.latency_ms == milliseconds
    assert ("latency" in wrapped.answer.taken) == (milliseconds is not None)


def test_what_stands_around_is_taken_or_counted() -> None:
    """Text and answer are taken, the keys of the payload that were are named, and the others are counted."""
    value = {
        "question_id": "q1",
        "query": "Who?",
        "session": "s",
        "empty": [],
        "result": {"answer": "Ann", "nodes": [1], "kind": "k", "metadata": {"query": "MATCH (n)"}},
    }
    wrapped = unwrapped(value, is_payload, PLAIN)
    unread: Counter[str] = Counter()
    logged = wrapped.logged(unread)
    assert (logged.question_text, logged.answer) == ("Who?", "Ann")
    assert logged.taken == {"question id": "question_id", "question text": "query", "answer": "result.answer"}
    assert wrapped.names == {"answer"}
    count_unread(wrapped.payload, {"nodes", *wrapped.names}, unread, "result.")
    # Of the wrapper only the session says something; of the payload nodes are used, the answer was taken.
    assert unread == {"session": 1, "result.kind": 1, "result.metadata": 1}


def test_a_question_that_failed() -> None:
    """An error in the place of the payload is an answer that failed."""
    failed = unwrapped({"question_id": "q1", "error": "timed out", "result": None}, is_payload, PLAIN)
    assert (failed.payload, failed.question, failed.answer.error, failed.answer.notes) == (None, "q1", "timed out", [])


def test_a_question_for_which_nothing_came() -> None:
    """A question's id alone gets a note, also with an answer; a value without one is refused with its line."""
    empty = unwrapped({"question_id": "q1"}, is_payload, PLAIN)
    assert (empty.payload, empty.question, empty.answer.notes) == (None, "q1", [NOTHING])
    (nothing,) = each_unwrapped({"question_id": "q1", "result": []}, is_payload, PLAIN, lists=True)
    assert (nothing.payload, nothing.empty, nothing.answer.notes) == (None, True, [EMPTY])
    failed = unwrapped({"question_id": "q1", "result": {"error": "timed out"}}, is_payload, PLAIN)
    assert (failed.answer.error, failed.answer.notes) == ("timed out", [])
    answered = unwrapped({"question_id": "q1", "answer": "Ann", "kind": "k"}, is_payload, PLAIN)
    unread: Counter[str] = Counter()
    logged = answered.logged(unread)
    assert (logged.answer, logged.notes, unread) == ("Ann", [NOTHING], {"kind": 1})
    with pytest.raises(UnreadableLogError, match="log:4: nothing in it is what this format writes"):
        unwrapped({"result": []}, is_payload, PLAIN, "log:4")


def test_texts_are_looked_into_last() -> None:
    """A payload in JSON within a text counts where there is no other, and not below many objects."""
    value: dict[str, Any] = {"qid": 1, "raw": '{"nodes": [1]}', "result": {"nodes": [2]}}
    assert unwrapped(value, is_payload, PLAIN).payload["nodes"] == [2]
    assert unwrapped({**value, "result": None}, is_payload, PLAIN).payload["nodes"] == [1]
    deep: Any = '{"nodes": [1]}'
    for _ in range(5):
        deep = {"deeper": deep}
    assert not holds(deep, is_payload)


def test_nothing_in_the_place_of_the_output() -> None:
    """A line whose output is null is a question that failed; a null elsewhere says nothing."""
    failed = unwrapped({"question_id": "q1", "result": None, "seconds": 2}, is_payload, PLAIN)
    assert (failed.payload, failed.question, failed.answer.error_type, failed.answer.latency_ms) == (
        None,
        "q1",
        "no_output",
        2000,
    )
    assert failed.answer.error == "there is no output: its result is null"
    assert unwrapped({"question_id": "q1", "result": None, "error": "Boom"}, is_payload, PLAIN).answer.error == "Boom"
    assert unwrapped({"question_id": "q1", "colour": None}, is_payload, PLAIN).answer.notes == [NOTHING]


def test_several_in_one_value() -> None:
    """Each payload of one document has its own question and place."""
    value = {"results": [{"qid": 1, "nodes": []}, {"qid": 2, "nodes": []}]}
    found = list(each_unwrapped(value, is_payload, PLAIN, "log:1"))
    assert [(one.question, one.answer.where) for one in found] == [("1", "log:1 results[0]"), ("2", "log:1 results[1]")]


def test_a_table_by_the_texts_of_questions() -> None:
    """The keys of a table may be the texts of the questions, by which they are looked up."""
    found = list(each_unwrapped({"Who?": {"nodes": [1]}, "Where?": {"nodes": [2]}}, is_payload, PLAIN))
    assert [(one.question, one.answer.question_text) for one in found] == [("Who?", "Who?"), ("Where?", "Where?")]


def test_tables_of_payloads() -> None:
    """If an object holds payloads under several keys, the key is the id; a key of only one is none."""
    value = {"q1": {"nodes": []}, "q2": {"out": {"nodes": []}}, "note": "x"}
    found = list(each_unwrapped(value, is_payload, PLAIN))
    assert [one.question for one in found] == ["q1", "q2"]
    assert found[0].answer.taken == {"question id": "the keys of the outer object"}
    assert found[0].rest == ("note",)
    assert unwrapped({"q1": {"nodes": []}}, is_payload, PLAIN).question is None


@pytest.mark.slow("documents of 25,000 payloads")
def test_many_in_one_document_are_all_read() -> None:
    """However many payloads a document holds, none is dropped, and the time is linear in them."""
    rows = [{"qid": number, "out": {"nodes": []}} for number in range(25_000)]
    assert sum(1 for _ in each_unwrapped({"results": rows}, is_payload, PLAIN)) == 25_000
    table: dict[str, Any] = {f"q{number}": {"out": {"nodes": []}} for number in range(25_000)}
    assert [one.question for one in each_unwrapped(table, is_payload, PLAIN)] == list(table)


def test_pairs_of_a_question_and_a_payload() -> None:
    """Each has its question, which is looked up by id and by text; an id beside the payload is nearer."""
    pairs = [["q1", {"nodes": [1]}], ["Who is it?", {"nodes": [2]}], ["x", {"question_id": "q3", "nodes": [3]}]]
    found = list(each_unwrapped(pairs, is_payload, PLAIN, "log:1"))
    assert [(one.question, one.answer.question_text, one.payload["nodes"]) for one in found] == [
        ("q1", "q1", [1]),
        ("Who is it?", "Who is it?", [2]),
        ("q3", None, [3]),
    ]


def test_an_answer_alone() -> None:
    """If a reader takes it, an answer without a payload is one, and reported as such; where not, as nothing."""
    value = {"qid": "q1", "answer": "Ann.", "colour": "red"}
    assert unwrapped(value, is_payload, PLAIN).answer.notes == [NOTHING]
    (reported,) = each_unwrapped(value, is_payload, PLAIN, answers=True)
    assert (reported.question, reported.answer.answer, reported.payload, reported.rest) == (
        "q1",
        "Ann.",
        None,
        ("colour",),
    )
    assert reported.logged(Counter()).notes == [ANSWER_ALONE]
    (reported,) = each_unwrapped({"qid": "q1", "result": "Ann."}, is_payload, PLAIN, answers=True)
    assert (reported.answer.answer, reported.answer.taken["answer"], reported.rest) == ("Ann.", "result", ())
    (reported,) = each_unwrapped({"qid": "q1", "colour": "red"}, is_payload, PLAIN, answers=True)
    assert reported.answer.notes == [NOTHING]
    printed = {"qid": "q1", "result": "SearchResult(response='At Acme.', context_data={})"}
    with pytest.raises(UnreadableLogError, match=r"an object's text as str\(\) gives it \(SearchResult\(response="):
        list(each_unwrapped(printed, is_payload, PLAIN, answers=True))


def test_lists_that_are_payloads() -> None:
    """A reader whose library gives a list is asked about lists too."""

    def documents(value: Any) -> bool:
        return isinstance(value, list) and bool(value) and "page_content" in value[0]

    wrapped = unwrapped({"question_id": "q", "context": [{"page_content": "x"}]}, documents, PLAIN, lists=True)
    assert (wrapped.payload, wrapped.question) == ([{"page_content": "x"}], "q")


def test_depth_is_bounded() -> None:
    """Nothing is looked for in endless nesting, which a hostile file may hold."""
    value: dict[str, Any] = {"nodes": []}
    for _ in range(5000):
        value = {"deeper": value}
    assert not holds(value, is_payload)


def test_values_are_read_without_trust() -> None:
    """Numbers, counts, ids, lists of texts and JSON in texts: what isn't one is None or stays as it was."""
    given: list[Any] = [1, "2.5", "inf", None, [], 10**400]
    assert list(map(number, given)) == [1, 2.5, None, None, None, None]
    assert [whole(value) for value in (3, "3", 3.0, 3.5, -1)] == [3, 3, 3, None, None]
    assert [identifier(value) for value in (3, 3.0, 3.5, "", "x", False)] == ["3", "3", None, None, "x", None]
    assert (texts(["a", 2, None, {}]), texts("a")) == (["a", "2"], None)
    assert (json_within('{"a": 1}'), json_within("{a"), json_within("[" * 100_000)) == ({"a": 1}, "{a", "[" * 100_000)
