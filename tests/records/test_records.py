"""Records: every name and form that is accepted, what is refused, and the lean decoder as the twin of the models."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from graphkit.errors import InputError
from graphkit.files.decoding import UNDECODED, LeanAnswer, LeanArtifact, LeanEdge, LeanQuestion, LeanReader
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader, parse_record, twin_of
from graphkit.files.spool import TOGETHER, Packer, Spool
from graphkit.records.models import (
    Answer,
    Artifact,
    Chunk,
    Commit,
    Compatibility,
    Edge,
    Question,
    Record,
    WalkStep,
    other_names,
)
from graphkit.records.schemas import RECORDS, json_schema
from tests.helpers.datasets import STOREFRONT, generate, pallets

#: The keywords of JSON Schema 2020-12 that describe values: core, applicators, validation, and annotations.
VOCABULARIES = (
    ("$schema", "$id", "$ref", "$defs", "$comment"),
    ("prefixItems", "items", "contains", "additionalProperties", "properties", "patternProperties", "propertyNames"),
    ("dependentSchemas", "if", "then", "else", "allOf", "anyOf", "oneOf", "not"),
    ("type", "const", "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
    ("maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "required", "dependentRequired"),
    ("title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples", "format"),
)
ASKED: dict[str, Any] = {"id": "q1", "question": "?"}
RAN: dict[str, Any] = {"run": "r", "question_id": "q1"}


def question(**fields: Any) -> Question:
    """Return a question with these fields."""
    return Question.model_validate({**ASKED, **fields})


def answer(**fields: Any) -> Answer:
    """Return a run's record with these fields."""
    return Answer.model_validate({**RAN, **fields})


# Names -------------------------------------------------------------------------------------------------------------

#: Every name that stands for a field, by record and field.
ALIASES = [
    (Question, "id", ("question_id", "query_id"), "q"),
    (Question, "question", ("query", "user_input"), "what?"),
    (Question, "group", ("domain",), "g"),
    (Question, "gold_answer", ("ground_truth", "answer", "reference"), "yes"),
    (Question, "expected_output", ("answer_span",), "yes"),
    (Question, "paths", ("gold_paths",), [{"steps": [{"source": "a", "target": "b"}]}]),
    (Question, "relevant", ("relevant_ids", "qrels"), {"a": 1.0}),
    (Question, "facts", ("required_facts", "components", "required_components"), ["x"]),
    (Question, "min_sources", ("minimum_sources",), 2),
    (Answer, "run", ("run_id",), "r"),
    (Answer, "question_id", ("query_id", "id"), "q"),
    (Answer, "retrieved", ("chunks", "retrieved_chunks"), ["a"]),
    (Answer, "traversal", ("retrieved_paths",), [["a", "b"]]),
    (Answer, "answer", ("response",), "yes"),
    (Answer, "latency_ms", ("latency",), 1.5),
    (Answer, "prompt_tokens", ("input_tokens",), 3),
    (Answer, "output_tokens", ("completion_tokens",), 3),
    (Chunk, "id", ("chunk_id", "doc_id", "node_id"), "a"),
    (Chunk, "repo", ("repository",), "x"),
    (Chunk, "path", ("file", "file_path"), "p"),
    (Chunk, "commit", ("sha",), "c"),
    (Chunk, "text", ("content", "page_content"), "t"),
    (WalkStep, "relation", ("type", "label"), "R"),
    (Compatibility, "at", ("deployed_at", "time"), "2025-01-01T00:00:00Z"),
    (Edge, "relation", ("type", "label"), "R"),
]
MINIMAL: dict[type[Record], dict[str, Any]] = {
    Question: ASKED,
    Answer: RAN,
    Chunk: {"id": "a"},
    WalkStep: {"source": "a", "target": "b"},
    Compatibility: {"id": "s", "commits": {}},
    Artifact: {"id": "a"},
    Edge: {"source": "a", "relation": "R", "target": "b"},
}


@pytest.mark.parametrize(
    ("model", "field", "alias", "value"),
    [(model, field, alias, value) for model, field, aliases, value in ALIASES for alias in aliases],
)
def test_alias_stands_for_its_field(model: type[Record], field: str, alias: str, value: Any) -> None:
    """A record with the other name is the record with the field's own."""
    others = {name: one for name, one in MINIMAL[model].items() if name != field}
    expected = model.model_validate({**others, field: value})
    assert model.model_validate({**others, alias: value}) == expected
    assert getattr(expected, field) is not None


@pytest.mark.parametrize("model", MINIMAL)
def test_alias_table_is_whole(model: type[Record]) -> None:
    """No alias of a model is missing in the table above."""
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
    """Where both are there, the canonical name counts."""
    assert question(query_id="other").id == "q1"
    assert answer(id="other").question_id == "q1"


def test_unknown_fields_are_ignored() -> None:
    """A field that graphkit doesn't know does no harm."""
    assert question(colour="blue") == question()


# Forms of a traversal ----------------------------------------------------------------------------------------------

STEPS = [{"source": "x:a", "relation": "R", "target": "x:b"}, {"source": "x:b", "relation": "S", "target": "x:c"}]
TRIPLES = [["x:a", "R", "x:b"], ["x:b", "S", "x:c"]]
Walked = tuple[str, str | None, str, int, int | None]


def walked(traversal: Any) -> list[Walked]:
    """Return the steps of a traversal: source, relation, target, path and position."""
    steps = answer(traversal=traversal).traversal
    return [(one.source, one.relation, one.target, one.path, one.position) for one in steps]


ONE_PATH: list[Walked] = [("x:a", "R", "x:b", 0, 0), ("x:b", "S", "x:c", 0, 1)]
NODES: list[Walked] = [("x:a", None, "x:b", 0, 0), ("x:b", None, "x:c", 0, 1)]


@pytest.mark.parametrize(
    ("traversal", "expected"),
    [
        (None, []),
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
    ],
)
def test_forms_of_a_traversal(traversal: Any, expected: list[Walked]) -> None:
    """Each way to write a traversal gives the steps, the paths and the positions that it means."""
    assert walked(traversal) == expected


def test_steps_keep_what_they_say() -> None:
    """Paths, positions and commits of steps are taken over."""
    step = {**STEPS[0], "path": 3, "position": 7, "source_commit": "c", "target_commit": "d"}
    (found,) = answer(traversal=[step]).traversal
    assert (found.path, found.position, found.source_commit, found.target_commit) == (3, 7, "c", "d")


def test_node_link_data_of_networkx_is_read() -> None:
    """What networkx writes is what is read, whatever it calls its edges."""
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
    """What none of the forms is, is refused, and not taken for an empty traversal."""
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


def test_forms_of_relevant_ids() -> None:
    """Relevant ids are a map of gains, a list of ids, or a list of objects."""
    assert question(relevant={"a": 2, "b": 0.5}).relevant == {"a": 2.0, "b": 0.5}
    assert question(relevant=["a", {"id": "b"}, {"id": "c", "gain": 3}]).relevant == {"a": 1.0, "b": 1.0, "c": 3.0}
    assert question(relevant=None).relevant == {}


def test_forms_of_chunks_facts_citations_and_errors() -> None:
    """A plain text stands for the object that has it as its name; an error object becomes one line."""
    assert answer(retrieved=["a", {"id": "b"}]).retrieved == (Chunk(id="a"), Chunk(id="b"))
    assert [one.text for one in question(facts=["x", {"fact": "y"}, {"name": "z"}]).facts] == ["x", "y", "z"]
    assert answer(citations=["a", {"id": "b"}, {"chunk_id": "c"}, {"chunk": "d"}]).citations == ("a", "b", "c", "d")
    assert answer(error={"type": "Timeout", "message": "after 9 s"}).error == "Timeout: after 9 s"
    assert answer(error={"type": "Timeout"}).error == "Timeout"
    assert answer(error={"message": "m"}).error == "error: m"
    assert answer(error="boom").error == "boom"


def test_commits_of_a_compatibility_row() -> None:
    """Commits are a map, a list of repo@sha, or a list of objects; a name may hold an @ of its own."""
    expected = {"x": "A", "@scope/y": "B"}
    for commits in (expected, ["x@A", "@scope/y@B"], [{"repo": "x", "sha": "A"}, {"repo": "@scope/y", "sha": "B"}]):
        assert Compatibility.model_validate({"id": "s", "commits": commits}).commits == expected


# The JSON Schema ---------------------------------------------------------------------------------------------------


@cache
def validator(model: type[Record]) -> Draft202012Validator:
    """Return what checks values by the printed schema of a record."""
    return Draft202012Validator(json_schema(model))


@pytest.mark.parametrize("model", RECORDS.values(), ids=RECORDS)
def test_schema_is_one(model: type[Record]) -> None:
    """Each schema is a JSON Schema, made of keywords of its vocabulary alone."""
    Draft202012Validator.check_schema(json_schema(model))
    known = {keyword for part in VOCABULARIES for keyword in part}

    def keywords(schema: Any) -> set[str]:
        """Return the keywords of a schema and of those within it."""
        if not isinstance(schema, dict):
            return set()
        inner = [one for name in ("properties", "$defs") for one in schema.get(name, {}).values()]
        inner += [one for name in ("anyOf", "allOf", "oneOf", "prefixItems") for one in schema.get(name, [])]
        inner += [schema.get(name) for name in ("items", "additionalProperties", "propertyNames", "if", "then", "not")]
        return set(schema).union(*map(keywords, inner))

    assert keywords(json_schema(model)) <= known


@pytest.mark.parametrize(
    ("model", "field", "alias", "value"),
    [(model, field, alias, value) for model, field, aliases, value in ALIASES for alias in aliases],
)
def test_schema_takes_other_names(model: type[Record], field: str, alias: str, value: Any) -> None:
    """A field may be called by each of its other names, and is then of the same type; its own name counts first."""
    others = {name: one for name, one in MINIMAL[model].items() if name != field}
    schema = validator(model)
    assert alias in json_schema(model)["properties"]
    assert schema.is_valid({**others, alias: value})
    assert not schema.is_valid({**others, alias: [[[0]]]})
    assert schema.is_valid({**others, alias: [[[0]]], field: value})


@pytest.mark.parametrize("model", MINIMAL)
def test_schema_asks_for_required_fields(model: type[Record]) -> None:
    """A record without a required field under any name isn't valid."""
    assert validator(model).is_valid(MINIMAL[model])
    for name in MINIMAL[model]:
        assert not validator(model).is_valid({field: one for field, one in MINIMAL[model].items() if field != name})


FORMS: list[dict[str, Any]] = [
    {"paths": [{"steps": STEPS}, {"id": "p", "group": "g", "steps": TRIPLES}, STEPS, TRIPLES, ["x:a", "x:b"], []]},
    {"relevant": ["a", {"id": "b"}, {"id": "c", "gain": -1}]},
    {"facts": ["x", {"fact": "y"}], "conflicts": ["z", {"resolution": "z"}]},
    {"paths": None, "relevant": None, "facts": None, "conflicts": None},
]


@pytest.mark.parametrize("fields", FORMS)
def test_schema_takes_the_forms_of_gold(fields: dict[str, Any]) -> None:
    """What a question may be written with is valid."""
    question(**fields)
    validator(Question).validate({**ASKED, **fields})


@pytest.mark.parametrize(
    "traversal",
    [
        None,
        [],
        STEPS,
        TRIPLES,
        {"triples": TRIPLES},
        {"paths": [TRIPLES, STEPS, {"steps": TRIPLES}, ["x:a", "x:b"]]},
        [{"steps": STEPS}],
        [["x:a", "x:b", "x:c"], ["x:a"]],
        [["x:a", None, "x:b"]],
        {"nodes": [{"id": "x:a"}], "edges": STEPS},
        {"nodes": [], "links": [{"source": "x:a", "target": "x:b", "key": 0}]},
    ],
)
def test_schema_takes_the_forms_of_a_traversal(traversal: Any) -> None:
    """What a traversal may be written as is valid, and other things aren't."""
    answer(traversal=traversal)
    validator(Answer).validate({**RAN, "traversal": traversal})
    assert not validator(Answer).is_valid({**RAN, "traversal": {"walk": traversal}})


def test_schema_takes_other_forms() -> None:
    """Chunks and citations as texts, an error as an object, commits as a list, times as texts and numbers."""
    validator(Answer).validate(
        {**RAN, "retrieved": ["a"], "citations": ["a", {"chunk": "b"}], "error": {"type": "T", "message": "m"}}
    )
    for at in ("2026-01-01T00:00:00Z", "2026-01-01 00:00:00+02:00", 1_700_000_000):
        row = {"id": "s", "commits": ["x@A", {"repo": "y", "sha": "B"}], "at": at}
        Compatibility.model_validate(row)
        validator(Compatibility).validate(row)


# Strictness --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"id": ""},
        {"id": 3},
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
        {"relevant": [3]},
        {"relevant": "a"},
        {"paths": [{"steps": [{"source": "a", "target": "b", "optional": "yes"}]}]},
        {"paths": [{"steps": [{"source": "a", "target": "b", "optional": 1}]}]},
        {"paths": [{"steps": [{"source": "a", "target": ""}]}]},
        {"paths": "a"},
        {"expected_files": "a"},
        {"commits": {"x": 3}},
        {"facts": "x"},
    ],
    ids=str,
)
def test_question_is_strict(fields: dict[str, Any]) -> None:
    """No value is bent into the type of its field."""
    with pytest.raises(ValidationError):
        question(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"run": ""},
        {"question_id": 3},
        {"retrieved": "a"},
        {"retrieved": [3]},
        {"retrieved": [{"id": "a", "rank": "1"}]},
        {"retrieved": [{"id": "a", "rank": 0}]},
        {"retrieved": [{"id": "a", "score": "0.5"}]},
        {"retrieved": [{"id": "a", "score": float("nan")}]},
        {"latency_ms": -1.0},
        {"latency_ms": float("inf")},
        {"latency_ms": 1e308},
        {"cost": 1.1e30},
        {"retrieved": [{"id": "a", "score": -1.1e30}]},
        {"latency_ms": "5"},
        {"prompt_tokens": 1.5},
        {"model_calls": -1},
        {"answer": 3},
        {"error": 3},
    ],
    ids=str,
)
def test_answer_is_strict(fields: dict[str, Any]) -> None:
    """No value is bent into the type of its field."""
    with pytest.raises(ValidationError):
        answer(**fields)


def test_commit_needs_a_time_zone() -> None:
    """A time without a zone can't be compared with another one."""
    with pytest.raises(ValidationError):
        Commit.model_validate({"repo": "x", "sha": "A", "committed_at": "2025-01-01T00:00:00"})


@pytest.mark.parametrize("model", RECORDS.values(), ids=RECORDS)
def test_records_are_frozen(model: type[Record]) -> None:
    """A record can't be changed."""
    assert model.model_config.get("frozen") is True


# The lean decoder --------------------------------------------------------------------------------------------------


def plain(record: Any) -> Any:
    """Return a record of either kind as plain values."""
    if isinstance(record, msgspec.Struct):
        # A field that stands for another spelling only is no part of the record.
        names = [name for name in record.__struct_fields__ if not name.startswith("trap_")]
        return {name: plain(getattr(record, name)) for name in names}
    if isinstance(record, Record):
        return {name: plain(getattr(record, name)) for name in type(record).model_fields}
    if isinstance(record, list | tuple):
        return [plain(one) for one in record]
    return {name: plain(one) for name, one in record.items()} if isinstance(record, dict) else record


@pytest.mark.parametrize(("lean", "model"), [
    (LeanQuestion, Question), (LeanAnswer, Answer), (LeanArtifact, Artifact), (LeanEdge, Edge),
])  # fmt: skip
def test_twins_have_the_same_fields(lean: type[msgspec.Struct], model: type[Record]) -> None:
    """The lean record has exactly the model's fields, with the same defaults."""
    assert lean.__struct_fields__ == tuple(model.model_fields)
    least = MINIMAL[model]
    assert plain(msgspec.convert(least, lean)) == plain(model.model_validate(least))


def compare_lines(lean: type[msgspec.Struct], file: Path) -> int:
    """Compare each line that the lean decoder takes with the model, and return how many it took."""
    reader, taken = LeanReader(lean), 0
    record: msgspec.Struct | None
    for line in file.read_bytes().splitlines():
        try:
            record = reader.decode(line)
        except UNDECODED:
            record = reader.learn(line)
        if record is not None:
            taken += 1
            assert repr(plain(record)) == repr(plain(twin_of(lean).model_validate_json(line))), line
    return taken


def test_lean_decoder_equals_the_models_on_storefront() -> None:
    """Each line of the fixture is decoded alike; the lean decoder takes them all but those that failed."""
    assert compare_lines(LeanQuestion, STOREFRONT / "questions.jsonl") == 30
    for file in (STOREFRONT / "runs").glob("*.jsonl"):
        failed = file.read_text().count('"error":{')
        assert compare_lines(LeanAnswer, file) == 30 - failed


def test_lean_decoder_equals_the_models_on_pallets() -> None:
    """Each line of the pallets data is decoded alike; the runs say query_id, which is learnt from their first line."""
    folder = pallets()
    # Steps with a field that graphkit doesn't know ("observed") are left to the model.
    lines = (folder / "questions.jsonl").read_text().splitlines()
    assert compare_lines(LeanQuestion, folder / "questions.jsonl") >= sum('"observed"' not in line for line in lines)
    for file in sorted((folder / "runs").glob("*.jsonl")):
        assert compare_lines(LeanAnswer, file) == 40


def test_lean_decoder_equals_the_models_on_generated_data(tmp_path: Path) -> None:
    """Odd characters, missing fields and errors are decoded alike."""
    dataset = generate(tmp_path, 4)
    assert compare_lines(LeanQuestion, dataset / "questions.jsonl") > 0
    for file in (dataset / "runs").glob("*.jsonl"):
        assert compare_lines(LeanAnswer, file) > 0


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4) | st.sampled_from([1000 * "ä", 1001 * "ä"])
LOOSE: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 3), st.floats(), TEXT, st.lists(TEXT, max_size=2), st.just({})
)


def records(model: type[Record], parts: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw objects that look like records of a model, under any of its names, right and wrong ones."""
    required = {name: parts.get(name, TEXT) | LOOSE for name, info in model.model_fields.items() if info.is_required()}
    every = {
        alias: parts.get(field, LOOSE) | LOOSE
        for field in model.model_fields
        for alias in (field, *(alias for alias, stands_for in other_names(model).items() if stands_for == field))
    }
    return st.fixed_dictionaries(
        {name: st.just("x") | one for name, one in required.items()},
        optional={**{name: one for name, one in every.items() if name not in required}, "unknown": LOOSE},
    ) | st.fixed_dictionaries({}, optional={**every, "unknown": LOOSE})


STEP = records(WalkStep, {"source": st.just("x:a"), "target": st.just("x:b"), "optional": st.booleans()})
CHUNK = records(Chunk, {"id": st.just("x:a"), "rank": st.integers(0, 2), "score": st.floats(0, 1)})
ANSWERS = records(Answer, {"retrieved": st.lists(CHUNK | TEXT, max_size=2), "traversal": st.lists(STEP, max_size=2)})
#: Traversals in every form, right and wrong ones.
NODE = st.sampled_from(["x:a", "x:b", "", "R"])
LISTED = st.lists(NODE | st.none() | STEP | st.lists(NODE | st.none(), min_size=2, max_size=3), max_size=3)
WALKED = LISTED | st.fixed_dictionaries({"steps": LISTED}) | STEP
WALKS = st.builds(
    lambda traversal: {**RAN, "traversal": traversal},
    st.lists(WALKED, max_size=2)
    | st.fixed_dictionaries({"paths": st.lists(WALKED, max_size=2) | LOOSE})
    | st.fixed_dictionaries({"triples": st.lists(WALKED, max_size=2)})
    | st.fixed_dictionaries({"nodes": LOOSE}, optional={"edges": st.lists(STEP) | LOOSE, "links": st.lists(STEP)}),
)
PATH = st.fixed_dictionaries({"steps": st.lists(STEP, max_size=2)}, optional={"id": TEXT, "x": TEXT})
GOLD = st.lists(PATH, max_size=2)
QUESTIONS = records(Question, {"paths": GOLD, "relevant": st.dictionaries(TEXT, st.floats() | st.integers(-1, 2))})


def agree(lean: type[msgspec.Struct], lines: list[dict[str, Any]]) -> None:
    """Check that reading lines takes and refuses what the model does, with the same values."""
    model = twin_of(lean)
    problems = Problems()
    reader = RecordReader(Path("f.jsonl"), lean, problems)
    for number, value in enumerate(lines, 1):
        line = json.dumps(value).encode()
        before = len(problems.left_out)
        found = reader.parse(number, line)
        told = Problems()
        expected = parse_record(model, line, f"f.jsonl:{number}", told)
        assert repr(plain(found)) == repr(plain(expected))
        assert problems.left_out[before:] == told.left_out
        assert (found is None) == bool(told.left_out)


@settings(max_examples=300, deadline=None)
@given(st.tuples(st.just(Question), QUESTIONS) | st.tuples(st.just(Answer), ANSWERS | WALKS))
def test_schema_takes_what_the_model_takes(drawn: tuple[type[Record], dict[str, Any]]) -> None:
    """No record that is read is refused by its printed schema, in whatever form and under whatever names."""
    model, value = drawn
    value = json.loads(json.dumps(value))
    try:
        model.model_validate(value)
    except ValidationError:
        return
    validator(model).validate(value)


@settings(max_examples=300, deadline=None)
@given(st.lists(QUESTIONS, min_size=1, max_size=3))
def test_lean_questions_equal_the_model_on_anything(lines: list[dict[str, Any]]) -> None:
    """A file of questions, in any spelling and with any mistake, reads as by the model alone."""
    agree(LeanQuestion, lines)


@settings(max_examples=300, deadline=None)
@given(st.lists(ANSWERS, min_size=1, max_size=3))
def test_lean_answers_equal_the_model_on_anything(lines: list[dict[str, Any]]) -> None:
    """A run log, in any spelling and with any mistake, reads as by the model alone."""
    agree(LeanAnswer, lines)


@settings(max_examples=300, deadline=None)
@given(st.lists(records(Artifact, {"id": st.just("x:a")}), min_size=1, max_size=3))
def test_lean_artifacts_equal_the_model_on_anything(lines: list[dict[str, Any]]) -> None:
    """A file of artifacts reads as by the model alone."""
    agree(LeanArtifact, lines)


@settings(max_examples=300, deadline=None)
@given(st.lists(records(Edge, {"source": st.just("x:a"), "target": st.just("x:b")}), min_size=1, max_size=3))
def test_lean_edges_equal_the_model_on_anything(lines: list[dict[str, Any]]) -> None:
    """A file of edges, in any spelling and with any mistake, reads as by the model alone."""
    agree(LeanEdge, lines)


def test_unused_fields_of_an_edge_are_told() -> None:
    """A field that graphkit doesn't know is counted, as where the model reads every line."""
    problems = Problems()
    line = b'{"source":"a:x","label":"CALLS","target":"a:y","weight":2}'
    edge = RecordReader(Path("edges.jsonl"), LeanEdge, problems).parse(1, line)
    assert edge == LeanEdge("a:x", "CALLS", "a:y")
    assert problems.ignored_fields == {("edges.jsonl", "weight"): 1}


@settings(max_examples=100, deadline=None)
@given(st.lists(QUESTIONS, min_size=1, max_size=3))
def test_records_are_the_same_after_the_spool(lines: list[dict[str, Any]]) -> None:
    """What is put aside comes back as it was, whichever spelling it was read in and whoever packed it, each time."""
    reader = RecordReader(Path("f.jsonl"), LeanQuestion, Problems())
    read = [one for number, line in enumerate(lines, 1) if (one := reader.parse(number, json.dumps(line).encode()))]
    with Spool(LeanQuestion) as spool:
        for record in read:
            spool.put(record)
        spool.put_packed(Packer(LeanQuestion).pack(read), len(read))
        assert [*map(plain, spool)] == [*map(plain, spool)] == [*map(plain, [*read, *read])]
        assert {type(one) for one in spool} <= {LeanQuestion}
        assert len(spool) == 2 * len(read)


def test_spool_that_can_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no room for the temporary file, the folder is named, and what chooses another one."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    # Some 60 bytes each, and a MiB is kept in memory.
    edges = (LeanEdge(f"a:{number:020}", "CALLS", f"b:{number:020}") for number in range(200 * TOGETHER))
    with Spool(LeanEdge) as spool, pytest.raises(InputError, match="can't be written: No such file") as raised:
        list(spool.keep(edges))
    assert raised.value.where == str(tmp_path / "gone")
    assert "TMPDIR" in str(raised.value.remedy)


@pytest.mark.parametrize("rest", [
    b'"relevant":{"a":1e999}',
    b'"relevant":{"a":NaN}',
    b'"relevant":{"a":Infinity}',
    b'"relevant":{"a":-0.0}',
    b'"relevant":{"a":123456789012345678901234567890}',
    b'"k":1.0',
    b'"k":1e0',
    b'"k":123456789012345678901234567890',
    b'"k":null',
    b'"k":2,"k":3',
    b'"category":"\\ud800"',
    b'"category":"\\u0000"',
    b'"category":"\xff"',
    b'"category":"\xed\xa0\x80"',
    b'"paths":null',
    b'"expected_files":null',
    b'"commits":null',
    b'"facts":null',
    b'"paths":[{"steps":[{"source":"a","target":"b","label":"R","relation":"S"}]}]',
    b'"paths":[{"steps":null}]',
    b'"query_id":"r"',
    b'"answer":"x","reference":"y"',
    b'"unknown":1e999',
    b'"unknown":' + b"[" * 2000 + b"]" * 2000,
])  # fmt: skip
def test_lean_decoder_equals_the_model_on_odd_json(rest: bytes) -> None:
    """What JSON texts may hold and Python's json reads in its own way is taken or refused alike."""
    line = b'{"id":"q","question":"?",' + rest + b"}"
    problems, told = Problems(), Problems()
    found = RecordReader(Path("f.jsonl"), LeanQuestion, problems).parse(1, line)
    expected = parse_record(Question, line, "f.jsonl:1", told)
    assert repr(plain(found)) == repr(plain(expected))
    assert problems.left_out == told.left_out
