"""The hash of gold: the changes that it shows, and those that it ignores."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

import pytest
from msgspec.structs import fields

from graphkit.files.problems import Problems
from graphkit.files.reading import parse_record
from graphkit.records.gold import GoldSum, as_number, different_gold, gold_hash, gold_hash_of
from graphkit.records.models import Question
from graphkit.records.structs import QuestionStruct, struct_of

STEP = {"source": "a:m#x", "relation": "CALLS", "target": "a:m#y"}
OTHER = {"source": "a:m#y", "relation": "CALLS", "target": "b:n#z"}

#: A question with a value in each field, and another value of each.
FIELDS: dict[str, tuple[Any, Any]] = {
    "id": ("q1", "q2"),
    "question": ("Who?", "What?"),
    "category": ("calls", "reads"),
    "difficulty": ("easy", "hard"),
    "group": ("g", "h"),
    "split": ("dev", "test"),
    "session": ("s", "t"),
    "turn": (1, 2),
    "stack": ("s1", "s2"),
    "gold_answer": ("x", "y"),
    "expected_output": ("x", "y"),
    "commits": ({"a": "1", "b": "2"}, {"a": "1", "b": "3"}),
    "paths": ([{"id": "p", "steps": [STEP, OTHER]}], [{"id": "p", "steps": [STEP]}]),
    "relevant": ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
    "expected_files": (["a", "b"], ["a"]),
    "expected_symbols": (["a", "b"], ["a"]),
    "symbol_match": ("last_component", None),
    "facts": ([{"text": "a"}, {"text": "b"}], [{"text": "a"}]),
    "conflicts": ([{"between": ["a", "b"]}], [{"between": ["a", "c"]}]),
    "expected_tool_calls": ([{"name": "read"}, {"name": "grep"}], [{"name": "grep"}, {"name": "read"}]),
    "min_sources": (1, 2),
    "k": (5, 10),
    "test_cases": ([{"name": "t", "inputs": [1], "expected": 2}], [{"name": "t", "inputs": [1], "expected": 3}]),
    "repository_context": ({"a.py": "x"}, {"a.py": "y"}),
    "entry_point": ("f", "g"),
    "gold_answers": (["a", "b"], ["a", "c"]),
    "relevant_texts": (["a", "b"], ["a", "c"]),
    "evidence_sets": ([["a", "b"], ["c"]], [["a"], ["b", "c"]]),
    "code_language": ("python", "javascript"),
    "criteria": ([{"must": "a"}, {"must_not": {"id": "x"}}], [{"must_not": "a"}, {"must_not": {"id": "x"}}]),
    "rubric": ("a", "b"),
    "absent": ([STEP], [OTHER]),
    "principal": ("web-team", "db-team"),
    "seeds": (["a", "b"], ["a"]),
    "withheld": ([{"id": "p", "steps": [STEP, OTHER]}], [{"id": "p", "steps": [STEP]}]),
    "stale": ("it finds nothing", None),
    "gold_cypher": (["MATCH (n) RETURN n.id", "MATCH (m) RETURN m.id"], ["MATCH (n) RETURN n.id"]),
}
#: The fields of a question without an answer, which has no gold path.
UNANSWERABLE = ("answerable", "why_not")
WHOLE = {name: value for name, (value, _) in FIELDS.items()}
SAID = ("id", "question", "category", "difficulty", "group", "split", "session", "turn")


def read(fields: dict[str, Any]) -> QuestionStruct:
    """Return a question as read from a line of a file."""
    record = parse_record(Question, json.dumps(fields).encode(), "q.jsonl:1", Problems())
    assert record is not None
    return struct_of(QuestionStruct, record)


@pytest.mark.parametrize("name", [one.name for one in fields(QuestionStruct) if one.name not in UNANSWERABLE])
def test_gold_is_all_but_what_a_question_says_and_is_called(name: str) -> None:
    """Each field of gold changes the hash, and so does its absence; other fields don't."""
    whole, changed = gold_hash(read(WHOLE)), gold_hash(read({**WHOLE, name: FIELDS[name][1]}))
    assert (changed == whole) == (name in SAID)
    if name not in ("id", "question"):
        gone = ("session", "turn") if name == "session" else (name,)  # a turn needs its session
        without = gold_hash(read({key: value for key, value in WHOLE.items() if key not in gone}))
        assert (without == whole) == (name in SAID)


def test_whether_there_is_an_answer_is_gold() -> None:
    """A question without an answer, and each reason for it, has a hash of its own; that there is one is the default."""
    plain = {"id": "q", "question": "?"}
    assert gold_hash(read({**plain, "answerable": True})) == gold_hash(read(plain))
    reasons = (None, "no path", "false premise")
    none = [gold_hash(read({**plain, "answerable": False, "why_not": reason})) for reason in reasons]
    assert len({gold_hash(read(plain)), *none}) == 4


def test_the_spelling_does_not_count() -> None:
    """The order of keys, paths and lists, other names, short forms and explicit defaults don't change the hash."""
    second = {"id": "r", "steps": [OTHER]}
    first = {"id": "p", "steps": [STEP, {**OTHER, "optional": True}]}
    question = {**WHOLE, "paths": [first, second]}
    same = {name: question[name] for name in reversed(question)}
    same["paths"] = [second, {"steps": [{**STEP, "optional": False, "evidence": None}, first["steps"][1]], "id": "p"}]
    same["commits"] = {"b": "2", "a": "1"}
    same["relevant"] = {"b": 2.0, "a": 1.0}
    for name in ("expected_files", "expected_symbols", "facts"):
        same[name] = question[name][::-1]
    same["ground_truth"] = same.pop("gold_answer")
    assert gold_hash(read(same)) == gold_hash(read(question))
    short = {"id": "q", "question": "?", "paths": [[["a:m#x", "CALLS", "a:m#y"]]], "relevant": ["a"]}
    long = {"id": "q", "question": "?", "paths": [{"steps": [STEP]}], "relevant": {"a": 1}}
    assert gold_hash(read(short)) == gold_hash(read(long))


def test_the_order_within_a_path_counts() -> None:
    """The same steps in another order are another path."""
    paths = [[{"steps": steps}] for steps in ([STEP, OTHER], [OTHER, STEP])]
    assert len({gold_hash(read({"id": "q", "question": "?", "paths": one})) for one in paths}) == 2


def test_fields_that_are_added_later_change_no_hash() -> None:
    """Absent fields aren't in the hash: a question without gold has that of an empty object."""
    assert gold_hash(QuestionStruct("q", "?")) == blake2b(b"{}", digest_size=8).hexdigest()
    gold = QuestionStruct("q", "?", gold_answer="x", k=3)
    assert gold_hash(gold) == blake2b(b'{"gold_answer":"x","k":3}', digest_size=8).hexdigest()


def test_the_hash_of_several_questions() -> None:
    """The sum ignores order and grouping but not whose gold it is; one unknown hash makes it unknown."""
    # One that graphkit gave, and what others may call so.
    pairs = [("q1", "00ff" * 4), ("q2", "v2"), ("q3", "c")]
    whole = gold_hash_of(pairs)
    assert whole == gold_hash_of(pairs[::-1])
    assert whole != gold_hash_of([("q1", "v2"), ("q2", "00ff" * 4), ("q3", "c")])
    assert whole != gold_hash_of(pairs[:2])
    first, rest = GoldSum(), GoldSum()
    first.add(pairs[0][0], as_number(pairs[0][1]))
    for question, gold in pairs[1:]:
        rest.add(question, as_number(gold))
    first.merge(rest)
    assert first.hexdigest() == whole
    assert len(whole or "") == 16
    assert gold_hash_of([*pairs, ("q4", None)]) is None


def test_gold_differs_where_both_know_it() -> None:
    """Questions that one side lacks, or whose gold is unknown there, aren't compared."""
    first = {"same": "a", "other": "a", "untold": None, "alone": "a"}
    assert different_gold(first, {"same": "a", "other": "b", "untold": "a"}) == ["other"]
