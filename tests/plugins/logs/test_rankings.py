"""Rankings and rows: TREC runs, results of BEIR, rows of RAGAS."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

import pytest
import pytrec_eval

from graphkit.plugins.logs import ragas_rows, trec
from graphkit.plugins.logs.beir import BeirReader
from graphkit.plugins.logs.ragas_rows import RagasReader
from graphkit.plugins.logs.text_contexts import UNNAMED
from graphkit.plugins.logs.trec import TrecReader
from graphkit.readers.logged import LoggedAnswer, ReadOptions, UnreadableLogError


def read(reader: Any, *values: Any, key: str | None = None, unread: Counter[str] | None = None) -> list[LoggedAnswer]:
    """Return the answers that a reader finds in the values of a file."""
    places = [(f"log:{number}", value) for number, value in enumerate(values, 1)]
    return list(reader.read(places, ReadOptions(question_key=key), Counter() if unread is None else unread))


def ranked(answer: LoggedAnswer) -> list[tuple[str, float | None]]:
    """Return the retrieved items with their scores."""
    assert answer.retrieved is not None
    return [(chunk.name, chunk.score) for chunk in answer.retrieved]


RUN = ("q1 Q0 d1 1 9.5 bm25", "q1 Q0 d2 2 8 bm25", "q2\tQ0\td3\t1\t-1e-3\tbm25")


def test_lines_of_a_run_are_an_answer_a_question() -> None:
    """Two questions; blanks or tabs between the fields."""
    first, second = read(TrecReader(), *RUN)
    assert (first.where, first.question, first.run, first.notes) == ("log:1", "q1", "bm25", [])
    assert ranked(first) == [("d1", 9.5), ("d2", 8.0)]
    assert (second.where, second.question, ranked(second)) == ("log:3", "q2", [("d3", -0.001)])
    # A run says nothing of walks and answers.
    assert (first.traversal, first.opened, first.answer) == (None, None, None)
    assert all(map(TrecReader().recognises, RUN))


def test_scores_decide_before_ranks() -> None:
    """The rank of a line isn't used where the score says another order, and it is noted."""
    (answer,) = read(TrecReader(), "q Q0 low 1 1.0 t", "q Q0 high 2 2.0 t")
    assert (ranked(answer), answer.notes) == ([("high", 2.0), ("low", 1.0)], [trec.RANKS])


@pytest.mark.parametrize(
    ("scores", "order"),
    [
        ({"a": 1.0, "b": 1.0}, "ba"),  # equal: the greater name first
        ({"a": 1.0, "B": 1.0}, "aB"),  # by bytes: capitals are less
        ({"a": 1.00000001, "b": 1.0}, "ba"),  # equal in single precision
        ({"a": 1.0001, "b": 1.0}, "ab"),
        ({"a": 1e300, "b": 1e200}, "ba"),  # both beyond it
        ({"a": -1e300, "b": 0.0}, "ba"),
        ({"é": 1.0, "z": 1.0}, "éz"),
    ],
)
def test_ties_are_broken_as_trec_eval_breaks_them(scores: dict[str, float], order: str) -> None:
    """The order that pytrec_eval uses: the first document is the one whose reciprocal rank is 1."""
    assert "".join(name for name, _ in trec.ranking(scores)) == order
    for place, name in enumerate(order, 1):
        peer = pytrec_eval.RelevanceEvaluator({"q": {name: 1}}, {"recip_rank"}).evaluate({"q": scores})
        assert peer["q"]["recip_rank"] == 1 / place


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("q Q0 d 1 1.0",), r"log:1: this isn't `qid Q0 docno rank score tag`"),
        (("q Q0 d 1 high t",), "this isn't"),
        (("q Q0 d 1 nan t",), "this isn't"),
        (("q Q0 d 1 1 t", "q Q0 d 2 0 t"), "log:2: the document 'd' stands twice for the question 'q'"),
        (("q Q0 d 1 1 t", "q Q0 e 2 0 u"), "log:2: the lines are of several runs: 't' and 'u'"),
    ],
)
def test_what_would_mislead_is_refused(lines: tuple[str, ...], message: str) -> None:
    """With the line, and why."""
    with pytest.raises(UnreadableLogError, match=message):
        read(TrecReader(), *lines)


@pytest.mark.parametrize("line", ["", "a b c d e f", "q 0 d 1", "q Q0 d one 1.0 t", {"q": {"d": 1}}])
def test_other_lines_are_no_run(line: Any) -> None:
    """Judgements have four fields, and prose has no numbers where a run has."""
    assert not TrecReader().recognises(line)


def test_a_rank_of_any_length_is_survived() -> None:
    """More digits than Python makes a number of."""
    (answer,) = read(TrecReader(), f"q Q0 d {'9' * 5000} 1 t", "q Q0 e x 0.5 t")
    assert (ranked(answer), answer.notes) == ([("d", 1.0), ("e", 0.5)], [])


def test_results_of_beir_are_ranked_as_runs_are() -> None:
    """One object, with the ties of trec_eval; a question that retrieved nothing retrieved nothing."""
    first, second = read(BeirReader(), {"q1": {"a": 1, "b": 1.0, "c": 3}, "q2": {}})
    assert (first.where, first.question, ranked(first)) == ("log:1 q1", "q1", [("c", 3.0), ("b", 1.0), ("a", 1.0)])
    assert (second.question, second.retrieved) == ("q2", [])
    assert BeirReader().recognises({"q1": {"a": 1}, "q2": {}})


@pytest.mark.parametrize(
    "value", [{"q": [1]}, {"q": {"d": "high"}}, {"q": {"d": True}}, {"q": {"d": float("nan")}}, [1]]
)
def test_results_with_anything_but_finite_numbers_are_refused(value: Any) -> None:
    """A score that isn't there can't be ranked."""
    with pytest.raises(UnreadableLogError):
        read(BeirReader(), value)


@pytest.mark.parametrize("value", [{}, {"q": {}}, {"q": {"d": "1"}}, {"question_id": "q", "result": {"d": 1}}, [], "x"])
def test_other_objects_are_no_results(value: Any) -> None:
    """Every value of every question is a number, and there is one at least."""
    assert not BeirReader().recognises(value)


def test_rows_of_ragas_are_read_by_either_name_of_a_column() -> None:
    """The columns of today and the former ones; what isn't used is counted."""
    unread: Counter[str] = Counter()
    today = {
        "user_input": "Who?",
        "retrieved_contexts": ["x", "y"],
        "retrieved_context_ids": ["c1", 2],
        "response": "I",
    }
    former = {"question_id": 7, "question": "Who?", "contexts": ["x"], "answer": "I", "ground_truth": "I", "run": "r"}
    first, second = read(RagasReader(), today | {"faithfulness": 0.5}, former, unread=unread)
    assert first.retrieved is not None
    assert [(chunk.name, chunk.text) for chunk in first.retrieved] == [("c1", "x"), ("2", "y")]
    assert (first.question, first.question_text, first.answer, first.run, first.notes) == (None, "Who?", "I", None, [])
    assert second.retrieved is not None
    # Sixteen digits of SHA-256, as graphkit ragas import names a context without an id.
    name = f"text-{hashlib.sha256(b'x').hexdigest()[:16]}"
    assert [(chunk.name, chunk.text) for chunk in second.retrieved] == [(name, "x")]
    assert (second.question, second.answer, second.run, second.notes) == ("7", "I", "r", [UNNAMED])
    assert unread == Counter({"faithfulness": 1, "ground_truth": 1})
    assert all(map(RagasReader().recognises, (today, former)))


def test_ids_and_contexts_that_do_not_pair_are_reported() -> None:
    """The texts can't be assigned to ids, so only the ids are kept."""
    (answer,) = read(
        RagasReader(), {"user_input": "?", "retrieved_contexts": ["x"], "retrieved_context_ids": ["a", "b"]}
    )
    assert (ranked(answer), answer.notes) == ([("a", None), ("b", None)], [ragas_rows.MISMATCH])


def test_nothing_retrieved_is_not_nothing_said() -> None:
    """An empty list is one, and an absent or empty column isn't."""
    assert read(RagasReader(), {"user_input": "?", "retrieved_contexts": []})[0].retrieved == []
    assert read(RagasReader(), {"user_input": "?", "retrieved_contexts": None, "response": ""})[0].retrieved is None


def test_a_conversation_as_input_is_a_walk() -> None:
    """Samples of several turns have messages, whose calls have no ids: results are theirs in order."""
    talk = [
        {"type": "human", "content": "Who calls f?"},
        {
            "type": "ai",
            "content": "I read.",
            "tool_calls": [{"name": "read", "args": {"path": "a.py"}}, {"name": "read", "args": {"path": "b.py"}}],
        },
        {"type": "tool", "content": "def g(): f()"},
        {"type": "tool", "content": '{"path": "b.py", "text": "def f()"}'},
        {"type": "ai", "content": "g."},
    ]
    (answer,) = read(RagasReader(), {"user_input": talk, "reference": "g"})
    assert (answer.question_text, answer.answer, answer.opened) == ("Who calls f?", "g.", ["a.py", "b.py"])
    assert answer.tool_calls is not None
    assert [one.result for one in answer.tool_calls] == ["def g(): f()", '{"path": "b.py", "text": "def f()"}']
    # No column says what was retrieved: what a tool found is.
    assert ranked(answer) == [("b.py", None)]


def test_the_users_key_has_to_be_there() -> None:
    """The question's id by a column of the user's own."""
    assert read(RagasReader(), {"user_input": "?", "response": "!", "key": 3}, key="key")[0].question == "3"
    with pytest.raises(UnreadableLogError, match="no question's id at 'key'"):
        read(RagasReader(), {"user_input": "?", "response": "!"}, key="key")


@pytest.mark.parametrize(
    "value", [{}, [], "x", {"question": "?", "answer": "!"}, {"user_input": "?"}, {"question": "?", "contexts": [{}]}]
)
def test_other_objects_are_no_rows(value: Any) -> None:
    """A question with an answer alone may be anybody's."""
    assert not RagasReader().recognises(value)


def test_trec_lines_may_lie_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of a question are put together, as far apart as are held; comments, a header and tabs are no matter."""
    lines = [
        "# a run",
        "qid Q0 docno rank score tag",
        "q\tQ0\td\t1\t1\tmy run",
        "p Q0 d 1 1 my run",
        "q Q0 e 2 2 my run",
    ]
    unread: Counter[str] = Counter()
    numbered = [(f"log:{number}", line) for number, line in enumerate(lines, 1)]
    answers = list(TrecReader().read(numbered, ReadOptions(), unread))
    assert [(one.question, one.run, [chunk.name for chunk in one.retrieved or ()]) for one in answers] == [
        ("q", "my run", ["e", "d"]),
        ("p", "my run", ["d"]),
    ]
    assert unread == {"lines that are comments or a header": 2}
    monkeypatch.setattr(trec, "HELD", 1)
    with pytest.raises(UnreadableLogError, match="log:5: the lines of the question 'q' lie more than 1 lines apart"):
        list(TrecReader().read(numbered, ReadOptions(), unread))


@pytest.mark.parametrize(
    "values",
    [
        [{"results": {"q": {"a": 1.0, "b": 2.0}}}],
        [{"query_id": "q", "results": {"a": 1.0, "b": 2.0}}],
        [{"qid": "q", "docno": "a", "score": 1.0, "rank": 1}, {"qid": "q", "docno": "b", "score": 2.0, "rank": 0}],
    ],
)
def test_tables_and_rows_of_results(values: list[Any]) -> None:
    """A table under a key, a row a question and a row a document are the same ranking, and nothing is left."""
    assert all(map(BeirReader().recognises, values))
    unread: Counter[str] = Counter()
    (answer,) = BeirReader().read([("log:1", value) for value in values], ReadOptions(), unread)
    assert (answer.question, [(chunk.name, chunk.score) for chunk in answer.retrieved or ()], unread) == (
        "q",
        [("b", 2.0), ("a", 1.0)],
        {},
    )


def test_scores_of_metrics_are_no_ranking() -> None:
    """Scores that other tools gave a question aren't retrieved items."""
    assert not BeirReader().recognises({"question_id": "q", "scores": {"faithfulness": 1.0}})


def test_tables_of_ragas() -> None:
    """Rows that were written by columns, by an index or as a table, with lists as text, and rows within something."""
    row = {"user_input": "Who?", "retrieved_contexts": ["x"], "response": "Ann"}
    tables: list[Any] = [
        {name: [value] for name, value in row.items()},
        {name: {"0": value} for name, value in row.items()},
        {"columns": list(row), "index": [0], "data": [list(row.values())]},
        {**row, "retrieved_contexts": '["x"]'},
        {**row, "retrieved_contexts": "['x']"},
        {"samples": [row]},
    ]
    for table in tables:
        assert RagasReader().recognises(table)
        (answer,) = RagasReader().read([("log:1", table)], ReadOptions(), Counter())
        assert (answer.question_text, answer.answer) == ("Who?", "Ann")
        assert [chunk.text for chunk in answer.retrieved or ()] == ["x"]
    (answer,) = RagasReader().read([("log:1", {"question_id": "q", "sample": row})], ReadOptions(), Counter())
    assert (answer.question, answer.taken) == ("q", {"question id": "question_id"})
    answered = {"question": "Who?", "answer": "Ann", "ground_truth": "Ann"}
    (answer,) = RagasReader().read([("log:1", answered)], ReadOptions(), Counter())
    assert (answer.answer, answer.retrieved) == ("Ann", None)
