"""Records: every accepted name and form, and the refused values."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.files.reading import NUMBERS_ARE_IDS, RecordReader
from graphkit.records import models
from graphkit.records.fields import Record, other_names
from graphkit.records.models import (
    Answer,
    Chunk,
    Commit,
    Compatibility,
    Question,
)
from graphkit.records.schemas import RECORDS
from graphkit.records.structs import AnswerStruct, QuestionStruct, struct_of
from graphkit.records.three_texts import READ_AS_PATHS, READ_AS_TRIPLES, UNDECIDED
from tests.records.samples import ALIASES, ASKED, MINIMAL, RAN, STEPS, TRIPLES, answer, question

# Names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "field", "alias", "value"),
    [(model, field, alias, value) for model, field, aliases, value in ALIASES for alias in aliases],
)
def test_alias_stands_for_its_field(model: type[Record], field: str, alias: str, value: Any) -> None:
    """A record with another name of a field equals one with the field's own name."""
    others = {name: one for name, one in MINIMAL[model].items() if name != field}
    expected = model.model_validate({**others, field: value})
    assert model.model_validate({**others, alias: value}) == expected
    assert getattr(expected, field) is not None


@pytest.mark.parametrize("model", MINIMAL)
def test_alias_table_is_whole(model: type[Record]) -> None:
    """The table above holds every alias of the models."""
    listed = {alias: field for owner, field, aliases, _ in ALIASES if owner is model for alias in aliases}
    known = other_names(model)
    # A name that is a field of its own as well ("answer" of a question, "id" of an answer) is no other name.
    assert known.items() <= listed.items()
    accepted = {
        choice
        for info in model.model_fields.values()
        for choice in getattr(info.validation_alias, "choices", ())
        if isinstance(choice, str)
    }
    assert accepted - set(model.model_fields) <= set(listed)


def test_the_fields_own_name_wins() -> None:
    """If both names are present, the canonical one counts."""
    assert Question.model_validate({**ASKED, "query_id": "other"}).id == "q1"
    assert Answer.model_validate({**RAN, "id": "other"}).question_id == "q1"


@pytest.mark.parametrize("name", ["gold_answer", "ground_truth", "answer", "reference"])
def test_a_list_of_gold_answers(name: str) -> None:
    """A list under a name of the gold answer holds several; beside gold answers of their own it is a mistake."""
    made = question(**{name: ["a", "b"]})
    assert (made.gold_answer, made.gold_answers) == (None, ("a", "b"))
    with pytest.raises(ValidationError):
        question(**{name: ["a"], "gold_answers": ["b"]})


def test_unknown_fields_are_ignored() -> None:
    """An unknown field is ignored; the helpers of tests refuse it."""
    assert Question.model_validate({**ASKED, "colour": "blue"}) == question()
    with pytest.raises(AssertionError, match=r"Question has no paths\.steps\.colour"):
        question(paths=[{"steps": [{**STEPS[0], "colour": "blue"}]}])


# Forms of a traversal ----------------------------------------------------------------------------------------------

Walked = tuple[str, str | None, str, int, int | None]


def walked(traversal: Any) -> list[Walked]:
    """Return the steps of a traversal: source, relation, target, path and position."""
    steps = answer(traversal=traversal).traversal
    return [(one.source, one.relation, one.target, one.path, one.position) for one in steps or ()]


ONE_PATH: list[Walked] = [("x:a", "R", "x:b", 0, 0), ("x:b", "S", "x:c", 0, 1)]
NODES: list[Walked] = [("x:a", None, "x:b", 0, 0), ("x:b", None, "x:c", 0, 1)]


@pytest.mark.parametrize(
    ("traversal", "expected"),
    [
        ([], []),
        ({"paths": []}, []),
        (STEPS, [(*one[:4], None) for one in ONE_PATH]),
        (TRIPLES, ONE_PATH),
        ({"triples": TRIPLES}, ONE_PATH),
        ({"paths": [TRIPLES]}, ONE_PATH),
        ({"paths": [STEPS]}, ONE_PATH),
        ({"paths": [{"steps": STEPS}]}, ONE_PATH),
        ([{"steps": TRIPLES}], ONE_PATH),
        ([["x:a", "x:b", "x:c"]], NODES),
        ({"paths": [["x:a", "x:b", "x:c"]]}, NODES),
        ([["x:a", "x:b"], ["x:c", "x:d"]], [("x:a", None, "x:b", 0, 0), ("x:c", None, "x:d", 1, 0)]),
        ([["x:a"]], []),  # a path of one node walks nowhere
        ([["x:a", None, "x:b"]], [("x:a", None, "x:b", 0, 0)]),  # a triple without its relation
        # Three nodes of a repository each are a path, although a triple has three parts, too.
        (
            [["x:a", "x:b", "x:c"], ["x:a", "x:d", "x:e"]],
            [*NODES, ("x:a", None, "x:d", 1, 0), ("x:d", None, "x:e", 1, 1)],
        ),
        ({"nodes": [{"id": "x:a"}], "edges": STEPS}, ONE_PATH),
        ({"nodes": [], "links": STEPS, "directed": True, "multigraph": True, "graph": {}}, ONE_PATH),
        ({"nodes": [], "edges": [{"source": "x:a", "target": "x:b", "key": "R"}]}, ONE_PATH[:1]),
        ({"nodes": [], "edges": [{"source": "x:a", "target": "x:b", "key": 0}]}, [("x:a", None, "x:b", 0, 0)]),
        ({"nodes": [], "edges": [{"source": "x:a", "target": "x:b", "type": "R"}]}, ONE_PATH[:1]),
        # Text as gold has it, a path each.
        ("x:a -R-> x:b -S-> x:c", ONE_PATH),
        ("x:a -[R]-> x:b -> S -> x:c", [("x:a", "R", "x:b", 0, 0), ("x:b", None, "S", 0, 1), ("S", None, "x:c", 0, 2)]),
        (["x:b <-R- x:a", "x:b -S-> x:c"], [ONE_PATH[0], ("x:b", "S", "x:c", 1, 0)]),
        ("x:a/f -> R -> x:b/g", [("x:a/f", "R", "x:b/g", 0, 0)]),
        ("", []),
        # ~ before a relation: it was walked backwards.
        ([["x:b", "~R", "x:a"], ["x:b", "S", "x:c"]], ONE_PATH),
        ([{"source": "x:b", "type": "~R", "target": "x:a"}], [("x:a", "R", "x:b", 0, None)]),
        ("x:b -[~R]-> x:a", ONE_PATH[:1]),
    ],
)
def test_forms_of_a_traversal(traversal: Any, expected: list[Walked]) -> None:
    """Each form of a traversal gives its steps, paths and positions."""
    assert walked(traversal) == expected


@pytest.mark.parametrize("field", ["traversal", "retrieved", "tool_calls"])
def test_what_was_not_logged_is_not_nothing(field: str) -> None:
    """An absent or null traversal or ranking is unknown; an empty one means that there was nothing."""
    for kind in (Answer, AnswerStruct):
        for given, expected in (({}, None), ({field: None}, None), ({field: []}, [])):
            line = json.dumps({"run": "r", "question_id": "q", **given}).encode()
            reader = RecordReader(Path("r.jsonl"), AnswerStruct, Problems())
            record: Any = Answer.model_validate_json(line) if kind is Answer else reader.parse(1, line)
            found = getattr(record, field)
            assert (found if found is None else list(found)) == expected
            assert getattr(struct_of(AnswerStruct, record), field) == expected


def test_steps_keep_what_they_say() -> None:
    """Steps keep their paths, positions and commits."""
    step = {**STEPS[0], "path": 3, "position": 7, "source_commit": "c", "target_commit": "d"}
    (found,) = answer(traversal=[step]).traversal or ()
    assert (found.path, found.position, found.source_commit, found.target_commit) == (3, 7, "c", "d")


def test_an_edge_walked_backwards_has_the_direction_of_its_edge() -> None:
    """~ turns the ends and their commits, in a run and in gold, by either way of reading; ~ alone is a name."""
    step = {"source": "x:b", "relation": "~R", "target": "x:a", "source_commit": "b1", "target_commit": "a1"}
    alone = {"source": "x:b", "relation": "~", "target": "x:a"}
    line = json.dumps({"run": "r", "question_id": "q", "traversal": [step, alone]}).encode()
    decoded = RecordReader(Path("r.jsonl"), AnswerStruct, Problems()).parse(1, line)
    assert decoded is not None
    for record in (answer(traversal=[step, alone]), decoded):
        first, second = record.traversal or ()
        assert (first.source, first.relation, first.target) == ("x:a", "R", "x:b")
        assert (first.source_commit, first.target_commit) == ("a1", "b1")
        assert (second.source, second.relation) == ("x:b", "~")
    gold = {"id": "q", "question": "?", "paths": [{"steps": [{"source": "x:b", "relation": "~R", "target": "x:a"}]}]}
    read = RecordReader(Path("q.jsonl"), QuestionStruct, Problems()).parse(1, json.dumps(gold).encode())
    assert read is not None
    paths: tuple[Any, ...] = (*Question.model_validate(gold).paths, *read.paths)
    for path in paths:
        assert [(one.source, one.relation, one.target) for one in path.steps] == [("x:a", "R", "x:b")]


def test_node_link_data_of_networkx_is_read() -> None:
    """The output of networkx is read, by any of its names for edges."""
    import networkx

    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    graph.add_edge("x:a", "x:b", relation="R")
    graph.add_edge("x:b", "x:c", key="S")
    for edges in ("edges", "links"):
        assert walked(networkx.node_link_data(graph, edges=edges)) == ONE_PATH


@pytest.mark.parametrize(
    "traversal",
    [
        "x:a",
        3,
        {"walk": []},
        {"edges": STEPS},  # node-link JSON has nodes
        {"nodes": [], "edges": ["x"]},
        ["x:a", "x:b"],
        "Ann -> knows -> Bob",  # knows may be a relation or a node
        "x:a ->",
        ["x:a -R-> x:b", 3],
        [["x:a", "R"], "x"],
        [{"steps": "x"}],
        [{"source": "x:a"}],
        {"paths": [[["x:a", "R"]]]},
        {"triples": [["x:a", "R"]]},
        {"triples": [None]},
        {"triples": ["abc"]},
        {"triples": [["x:a", "", "x:b"]]},
        [{**STEPS[0], "position": -1}],
        [{**STEPS[0], "path": 0.5}],
    ],
)
def test_other_forms_are_refused(traversal: Any) -> None:
    """A traversal in none of the forms is refused, not read as empty."""
    with pytest.raises(ValidationError):
        answer(traversal=traversal)


# Other forms -------------------------------------------------------------------------------------------------------


def test_forms_of_gold_paths() -> None:
    """A gold path is an object, a list of steps, of triples or of nodes."""
    for path in ({"steps": STEPS}, {"steps": TRIPLES}, STEPS, TRIPLES):
        (found,) = question(paths=[path]).paths
        assert [(one.source, one.relation, one.target) for one in found.steps] == [tuple(one) for one in TRIPLES]
    (nodes,) = question(paths=[["x:a", "x:b", "x:c"]]).paths
    assert [(one.source, one.relation, one.target) for one in nodes.steps] == [
        ("x:a", None, "x:b"),
        ("x:b", None, "x:c"),
    ]
    assert question(paths=None).paths == ()


def test_forms_of_absent_edges() -> None:
    """An edge that doesn't exist is an object or a triple, and may be written backwards."""
    (first, second) = question(absent=[TRIPLES[0], {"source": "x:c", "relation": "~S", "target": "x:b"}]).absent
    assert [(one.source, one.relation, one.target) for one in (first, second)] == [tuple(one) for one in TRIPLES]
    assert question(absent=None).absent == ()


def test_forms_of_relevant_ids() -> None:
    """Relevant ids are a map of gains, a list of ids, or a list of objects."""
    assert question(relevant={"a": 2, "b": 0.5}).relevant == {"a": 2.0, "b": 0.5}
    assert question(relevant=["a", {"id": "b"}, {"id": "c", "gain": 3}]).relevant == {"a": 1.0, "b": 1.0, "c": 3.0}
    assert question(relevant=None).relevant == {}


def test_forms_of_chunks_facts_citations_and_errors() -> None:
    """A text stands for an object with this name; an error object becomes one line."""
    assert answer(retrieved=["a", {"id": "b"}]).retrieved == (Chunk(id="a"), Chunk(id="b"))
    assert [one.text for one in question(facts=["x", {"fact": "y"}, {"name": "z"}]).facts] == ["x", "y", "z"]
    assert answer(citations=["a", {"id": "b"}, {"chunk_id": "c"}, {"chunk": "d"}]).citations == ("a", "b", "c", "d")
    assert answer(error={"type": "Timeout", "message": "after 9 s"}).error == "Timeout: after 9 s"
    assert answer(error={"type": "Timeout"}).error == "Timeout"
    assert answer(error={"message": "m"}).error == "error: m"
    assert answer(error="boom").error == "boom"


def test_forms_of_tool_calls() -> None:
    """A call is an object, a tool's name, or a function of chat completions with its arguments as text."""
    function = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py"}'}}
    plain = {"name": "read", "args": {"path": "a.py"}, "output": "text", "failed": True, "seen": ["x:a", 7]}
    calls = answer(tool_calls=["list", function, plain, {"name": "read", "arguments": ""}]).tool_calls
    assert [(one.name, one.arguments, one.result, one.failed, one.seen) for one in calls or ()] == [
        ("list", {}, None, False, None),
        ("read", {"path": "a.py"}, None, False, None),
        ("read", {"path": "a.py"}, "text", True, ("x:a", "7")),
        ("read", {}, None, False, None),
    ]
    expected = question(expected_tools=["list", function, {"name": "read", "args": {}}]).expected_tool_calls
    assert [(one.name, one.arguments) for one in expected] == [
        ("list", None),
        ("read", {"path": "a.py"}),
        ("read", {}),
    ]
    assert question(expected_tool_calls=None).expected_tool_calls == ()


def nested(depth: int) -> Any:
    """Return lists within lists, this deep."""
    return [] if depth == 1 else [nested(depth - 1)]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        3,
        "x",
        "[1]",
        {"a": float("nan")},
        {"a": [float("inf")]},
        {"a": 2**63},
        {"a": {1}},
        {"a": {1: 2}},
        {"a": nested(32)},
    ],
    ids=repr,
)
def test_arguments_are_json_within_bounds(arguments: Any) -> None:
    """Arguments are a JSON object that files and databases can hold, nested at most 32 deep."""
    with pytest.raises(ValidationError):
        answer(tool_calls=[{"name": "t", "arguments": arguments}])
    with pytest.raises(ValidationError):
        question(expected_tool_calls=[{"name": "t", "arguments": arguments}])
    fits = {"a": nested(31), "b": 2**63 - 1}
    assert answer(tool_calls=[{"name": "t", "arguments": fits}]).tool_calls is not None


def test_commits_of_a_compatibility_row() -> None:
    """Commits are a map, a list of repo@sha, or a list of objects; a name may hold an @ of its own."""
    expected = {"x": "A", "@scope/y": "B"}
    for commits in (expected, ["x@A", "@scope/y@B"], [{"repo": "x", "sha": "A"}, {"repo": "@scope/y", "sha": "B"}]):
        assert Compatibility.model_validate({"id": "s", "commits": commits}).commits == expected


# Strictness --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"id": ""},
        {"id": True},
        {"id": None},
        {"question": ""},
        {"k": "3"},
        {"k": 0},
        {"k": 2.0},
        {"k": True},
        {"min_sources": -1},
        {"difficulty": "Easy"},
        {"relevant": {"a": "1"}},
        {"relevant": {"a": True}},
        {"relevant": {"": 1}},
        {"relevant": {1001 * "a": 1}},
        {"id": 1001 * "q"},
        {"commits": {"": "x"}},
        {"expected_files": [1001 * "a"]},
        {"relevant": {"a": float("nan")}},
        {"relevant": {"a": float("inf")}},
        {"relevant": {"a": 1.1e30}},
        {"relevant": {"a": -1.1e30}},
        {"relevant": [True]},
        {"relevant": "a"},
        {"paths": [{"steps": [{"source": "a", "target": "b", "optional": "yes"}]}]},
        {"paths": [{"steps": [{"source": "a", "target": "b", "optional": 1}]}]},
        {"paths": [{"steps": [{"source": "a", "target": ""}]}]},
        {"paths": "a"},
        {"expected_files": "a"},
        {"commits": {"x": 3}},
        {"facts": "x"},
        {"gold_answers": [1]},
        {"evidence_sets": [[]]},
        {"evidence_sets": ["a"]},
        {"answerable": "no"},
        {"why_not": "no path"},
        {"answerable": True, "why_not": "no path"},
        {"answerable": False, "why_not": "unknown"},
        {"answerable": False, "paths": [["a", "b"]]},
        {"absent": "a"},
        {"absent": [["a", "b"]]},
        {"paths": [{"steps": [], "commits": {"x": 3}}]},
    ],
    ids=str,
)
def test_question_is_strict(fields: dict[str, Any]) -> None:
    """No value is converted to the type of its field."""
    with pytest.raises(ValidationError):
        question(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"run": ""},
        {"question_id": 3.5},
        {"retrieved": "a"},
        {"retrieved": [True]},
        {"retrieved": [{"id": "a", "rank": "1"}]},
        {"retrieved": [{"id": "a", "rank": 0}]},
        {"retrieved": [{"id": "a", "score": "0.5"}]},
        {"retrieved": [{"id": "a", "score": float("nan")}]},
        {"latency_ms": -1.0},
        {"latency_ms": float("inf")},
        {"latency_ms": 1e308},
        {"cost": 1.1e30},
        {"confidence": 1e308},
        {"confidence": -1.1e30},
        {"retrieved": [{"id": "a", "score": float("-inf")}]},
        {"latency_ms": "5"},
        {"prompt_tokens": 1.5},
        {"model_calls": -1},
        {"answer": 3},
        {"abstained": "yes"},
        {"confidence": "0.5"},
        {"confidence": float("nan")},
        {"error": 3},
        {"tool_calls": "read"},
        {"tool_calls": [3]},
        {"tool_calls": [{"name": ""}]},
        {"tool_calls": [{"name": "t", "result": {}}]},
        {"tool_calls": [{"name": "t", "failed": 1}]},
        {"tool_calls": [{"name": "t", "seen": "x:a"}]},
        {"tool_calls": [{"name": "t", "seen": [1001 * "a"]}]},
        {"tool_calls": [{"name": "t", "seen": [""]}]},
        {"tool_calls": [{"function": {"arguments": "{}"}}]},
    ],
    ids=str,
)
def test_answer_is_strict(fields: dict[str, Any]) -> None:
    """No value is converted to the type of its field."""
    with pytest.raises(ValidationError):
        answer(**fields)


def test_a_value_of_no_form_is_one_mistake() -> None:
    """A field of several forms says which are wanted, and shows no form's own label.

    Each field of each record gets values that are empty, nested or of another type.
    """
    odd: tuple[Any, ...] = (
        0,
        -1,
        1.5,
        True,
        "",
        "x",
        [],
        {},
        [1],
        [""],
        [{}],
        {"a": 1},
        {"": 1},
        {"a": []},
        [[1, 2]],
        [{"a": {}}],
    )
    for model in (one for one in vars(models).values() if isinstance(one, type) and issubclass(one, Record)):
        for field, value in itertools.product(model.model_fields, odd):
            with contextlib.suppress(InputError):
                try:
                    model.model_validate({field: value})
                except ValidationError as error:
                    labels = {str(part) for one in error.errors() for part in one["loc"]} - {"[key]"}
                    assert not [one for one in labels if re.search(r"\[|constrained|function-", one)], (model, field)
    with pytest.raises(ValidationError) as refused:
        Question.model_validate(MINIMAL[Question] | {"criteria": [{"must": {"name": "x"}}]})
    assert [(one["loc"], one["msg"]) for one in refused.value.errors()] == [
        (
            ("criteria", 0, "must"),
            "Value error, a text, or an object that names one id, repository, relation or commit, is wanted",
        )
    ]


def test_commit_needs_a_time_zone() -> None:
    """A time without a zone is refused."""
    with pytest.raises(ValidationError):
        Commit.model_validate({"repo": "x", "sha": "A", "committed_at": "2025-01-01T00:00:00"})


@pytest.mark.parametrize("model", RECORDS.values(), ids=RECORDS)
def test_records_are_frozen(model: type[Record]) -> None:
    """A record can't be changed."""
    assert model.model_config.get("frozen") is True


# Numbers as identifiers ----------------------------------------------------------------------------------------------


def test_identifiers_may_be_whole_numbers() -> None:
    """Ids of questions, chunks and nodes may be integers, also written as 7.0; they become texts."""
    found = Answer.model_validate(
        {
            "run": "r",
            "question_id": 7,
            "retrieved": [1, {"id": 2.0}, "3"],
            "traversal": [{"source": 1, "relation": "R", "target": 2}, {"source": "2", "target": 3}],
            "citations": [1, {"id": 2}],
        }
    )
    assert found.question_id == "7"
    assert [chunk.id for chunk in found.retrieved or ()] == ["1", "2", "3"]
    assert [(step.source, step.target) for step in found.traversal or ()] == [("1", "2"), ("2", "3")]
    assert found.citations == ("1", "2")
    assert [(one[0], one[2]) for one in walked([[1, 2, 3, 4]])] == [("1", "2"), ("2", "3"), ("3", "4")]
    assert walked([[1, "R", 2]]) == [("1", "R", "2", 0, 0)]
    asked = question(id=7, relevant=[1, {"id": 2, "gain": 3}], paths=[[1, 2], [{"source": 1, "target": 2}]])
    assert (asked.id, dict(asked.relevant)) == ("7", {"1": 1.0, "2": 3.0})
    assert [(one.source, one.target) for path in asked.paths for one in path.steps] == [("1", "2")] * 2


@pytest.mark.parametrize("number", [True, 7.5, 1e300, 10**101, None])
def test_other_numbers_are_no_identifiers(number: Any) -> None:
    """A number that may not be the intended one is refused."""
    for fields in ({"question_id": number}, {"retrieved": [{"id": number}]}, {"traversal": [[number, "x:a"]]}):
        with pytest.raises(ValidationError):
            answer(**fields)


def test_numbers_are_reported_once_a_file(tmp_path: Path) -> None:
    """One note counts the records with numeric ids."""
    lines = [{"run": "r", "question_id": name} for name in (1, 2, "3")]
    file = tmp_path / "r.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    problems = Problems()
    assert [one.question_id for _, one in RecordReader(file, AnswerStruct, problems)] == ["1", "2", "3"]
    assert dict(problems.noted) == {f"r.jsonl: {NUMBERS_ARE_IDS}": 2}


# Lists of three texts ------------------------------------------------------------------------------------------------


def lists_of(folder: Path, *records: dict[str, Any], gold: Any = ()) -> tuple[list[list[tuple[Any, ...]]], list[str]]:
    """Return the edges of each record of a file, and the notes about it."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    file, asked = folder / "runs" / "r.jsonl", {"id": "q", "question": "?", "paths": list(gold)}
    file.write_text("".join(json.dumps({"run": "r", "question_id": "q", **one}) + "\n" for one in records))
    (folder / "questions.jsonl").write_text(json.dumps(asked))
    problems = Problems()
    answers = [one for _, one in RecordReader(file, AnswerStruct, problems)]
    assert not problems.skipped
    found = [[(step.source, step.relation, step.target) for step in one.traversal or ()] for one in answers]
    return found, list(problems.noted)


WORKS = [["Ann", "works at", "Acme"], ["Bob", "works at", "Acme"]]


def test_relations_repeat_and_are_no_nodes(tmp_path: Path) -> None:
    """Two people work at one company: "works at" repeats and isn't a node, in capitals and other scripts too."""
    edges = [tuple(one) for one in WORKS]
    assert lists_of(tmp_path, {"traversal": WORKS}) == ([edges], [READ_AS_TRIPLES])
    other = [["Анна", "работает в", "Акме"], ["Бob", "работает в", "Акме"]]
    assert lists_of(tmp_path, {"traversal": other})[0] == [[tuple(one) for one in other]]
    # By their spelling as before: nothing is to be reported.
    for spelled in ([["a", "CALLS", "b"]], [["x:a", "calls", "x:b"]]):
        assert lists_of(tmp_path, {"traversal": spelled}) == ([[tuple(spelled[0])]], [])


def test_the_whole_file_decides(tmp_path: Path) -> None:
    """The other records decide an ambiguous one: by repeated middles, or by the nodes that they name."""
    one, two = {"traversal": WORKS[:1]}, {"traversal": WORKS[1:]}
    assert lists_of(tmp_path, one, two)[0] == [[tuple(WORKS[0])], [tuple(WORKS[1])]]
    chunks = {"traversal": [], "retrieved": [{"id": "Ann"}]}
    assert lists_of(tmp_path, one, chunks)[0][0] == [tuple(WORKS[0])]
    assert lists_of(tmp_path, one, gold=[[["Ann", "r", "Acme"]]])[0][0] == [tuple(WORKS[0])]


def test_what_are_nodes_elsewhere_are_nodes_here(tmp_path: Path) -> None:
    """A middle that is a chunk, an end of an edge or a gold node is the second of three nodes."""
    path, nodes = {"traversal": [["web", "API", "db"]]}, [("web", None, "API"), ("API", None, "db")]
    for other in (
        {"retrieved": ["API"]},
        {"traversal": [{"source": "API", "target": "x"}]},
        {"traversal": [["API", "x"]]},
        {"traversal": {"triples": [["x", "R", "API"]]}},
        {"traversal": {"nodes": [], "edges": [{"source": "API", "target": "x"}]}},
    ):
        found, reported = lists_of(tmp_path, path, other)
        assert (found[0], reported) == (nodes, [READ_AS_PATHS])
    found, reported = lists_of(tmp_path, path, gold=[["web", "API", "db"]])
    assert (found[0], reported) == (nodes, [READ_AS_PATHS])


def test_nothing_tells(tmp_path: Path) -> None:
    """If nothing decides, they are paths, with a note that they may be triples."""
    found, reported = lists_of(tmp_path, {"traversal": WORKS[:1]})
    assert (found, reported) == ([[("Ann", None, "works at"), ("works at", None, "Acme")]], [UNDECIDED])
    for said, expected in (("triples", 1), ("paths", 2)):
        found, reported = lists_of(tmp_path, {"traversal": {said: WORKS[:1]}})
        assert (len(found[0]), reported) == (expected, [])
