"""The line decoder and the structs as the twins of the models, and the spool that keeps records."""

from __future__ import annotations

import json
import pickle
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from graphkit.errors import InputError
from graphkit.files.decoding import UNDECODED, LineDecoder
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader, parse_record
from graphkit.files.spool import TOGETHER, Packer, Spool
from graphkit.records import structs
from graphkit.records.fields import Record, other_names
from graphkit.records.models import (
    Answer,
    Artifact,
    Chunk,
    CodeTest,
    ComparedResult,
    Compatibility,
    Component,
    Conflict,
    Criterion,
    Edge,
    ExpectedToolCall,
    GoldPath,
    GraphQuery,
    Question,
    Seed,
    Step,
    ToolCall,
    TraversalStep,
)
from graphkit.records.structs import (
    AnswerStruct,
    ArtifactStruct,
    EdgeStruct,
    QuestionStruct,
    StepStruct,
    model_of,
    struct_of,
)
from tests.helpers.datasets import SHOP_QUESTIONS, STOREFRONT, generate
from tests.helpers.properties import examples
from tests.records.samples import ASKED, MINIMAL, RAN, question, validator


def plain(record: Any) -> Any:
    """Return a record of either kind as plain values."""
    if isinstance(record, msgspec.Struct):
        return {name: plain(getattr(record, name)) for name in structs.declared_fields(record)}
    if isinstance(record, Record):
        return {name: plain(getattr(record, name)) for name in type(record).model_fields}
    if isinstance(record, list | tuple):
        return [plain(one) for one in record]
    return {name: plain(one) for name, one in record.items()} if isinstance(record, dict) else record


#: Every struct of the package, those of the parts of a record included.
STRUCTS = [kind for kind in vars(structs).values() if isinstance(kind, type) and kind.__module__ == structs.__name__]


def bounds(schema: dict[str, Any], defined: dict[str, Any]) -> dict[str, Any]:
    """Return what a JSON Schema says of types, bounds, defaults and required fields, with its references followed."""
    if "$ref" in schema:
        return bounds(defined[schema["$ref"].removeprefix("#/$defs/")], defined)
    said = {key: value for key, value in schema.items() if key not in {"$defs", "title", "description"}}
    for key in ("items", "propertyNames", "additionalProperties"):
        if isinstance(said.get(key), dict):
            said[key] = bounds(said[key], defined)
    if "anyOf" in said:
        said["anyOf"] = [bounds(one, defined) for one in said["anyOf"]]
    if "properties" in said:
        said["properties"] = [(name, bounds(one, defined)) for name, one in said["properties"].items()]
    # What only one of the two libraries writes: that nothing is required, no further field, an empty map as default,
    # and that a list or a map may hold anything.
    anything: tuple[tuple[str, Any], ...] = (
        ("items", {}),
        ("additionalProperties", {}),
        ("additionalProperties", True),
        # msgspec checks the names of a map, but doesn't write which there are: see the test of such names below.
        ("propertyNames", {"enum": ["file", "module", "symbol"]}),
        ("propertyNames", {"enum": ["commit", "id", "relation", "repository"]}),
    )
    for key, value in (("required", []), ("additionalProperties", False), ("default", {}), *anything):
        if key in said and said[key] == value and type(said[key]) is type(value):
            del said[key]
    if "const" in said:  # as pydantic writes one of one
        return {"enum": [said["const"]]}
    return {"enum": sorted(said["enum"])} if "enum" in said else said


def test_twins_know_the_names_of_maps() -> None:
    """Rankings are by file, module and symbol, criteria by what they name; another name is refused by both."""
    record = b'{"run": "r", "question_id": "q", "rankings": {"%s": ["a"]}}'
    assert msgspec.json.decode(record % b"module", type=AnswerStruct).rankings == {"module": ["a"]}
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(record % b"line", type=AnswerStruct)
    with pytest.raises(ValidationError):
        Answer.model_validate_json(record % b"line")
    record = b'{"id": "q", "question": "?", "criteria": [{"must": {"%s": "a"}}]}'
    assert msgspec.json.decode(record % b"relation", type=QuestionStruct).criteria[0].must == {"relation": "a"}
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(record % b"line", type=QuestionStruct)
    with pytest.raises(ValidationError):
        Question.model_validate_json(record % b"line")


@pytest.mark.parametrize("kind", STRUCTS)
def test_twins_have_the_same_fields_and_bounds(kind: type[msgspec.Struct]) -> None:
    """A struct has exactly its model's fields in their order, of the same types, with the same bounds and defaults."""
    of_struct = msgspec.json.schema(kind)
    of_model = model_of(kind).model_json_schema(by_alias=False, mode="serialization")
    said = bounds(of_struct, of_struct["$defs"])
    assert said == bounds(of_model, of_model.get("$defs", {}))


@pytest.mark.parametrize("kind", [QuestionStruct, AnswerStruct, ArtifactStruct, EdgeStruct])
def test_twins_have_the_same_defaults(kind: type[msgspec.Struct]) -> None:
    """A record of the least that it needs has the same values in all its fields, as struct and as model."""
    model = model_of(kind)
    least = MINIMAL[model]
    assert plain(msgspec.convert(least, kind)) == plain(model.model_validate(least))


def test_every_struct_is_held() -> None:
    """The structs of both large files and of the knowledge graph, and of their parts, are those that are compared."""
    assert {model_of(kind) for kind in STRUCTS} == {
        *(Question, GoldPath, Step, Component, Conflict, Criterion, CodeTest, ExpectedToolCall),
        *(Answer, Chunk, TraversalStep, ToolCall, Seed, GraphQuery, ComparedResult),
        *(Artifact, Edge),
    }


def test_struct_of() -> None:
    """A model is converted, part by part; what is a struct already is handed back, and a mapping is no record."""
    asked = question(paths=[["a:x", "b:y"]], relevant=["a:x"])
    made = struct_of(QuestionStruct, asked)
    assert plain(made) == plain(asked)
    assert [type(step) for path in made.paths for step in path.steps] == [StepStruct]
    assert struct_of(QuestionStruct, made) is made
    with pytest.raises(InputError, match=r"a graphkit\.Question is needed, not dict\n.*model_validate"):
        struct_of(QuestionStruct, ASKED)
    with pytest.raises(InputError, match="needed, not Question"):
        struct_of(AnswerStruct, asked)


def test_struct_of_a_model_that_was_not_validated() -> None:
    """A model that was copied past its validation is refused with the record and the field."""
    broken = question(id="q7").model_copy(update={"k": 0})
    with pytest.raises(InputError, match=r"refuses: expected `int` >= 1 - at `\$\.k`") as raised:
        struct_of(QuestionStruct, broken)
    assert str(raised.value).startswith("Question(id='q7', ")


def compare_lines(kind: type[msgspec.Struct], file: Path) -> int:
    """Compare each line that the line decoder takes with the model, and return how many it took."""
    reader, taken = LineDecoder(kind), 0
    record: msgspec.Struct | None
    for line in file.read_bytes().splitlines():
        try:
            record = reader.decode(line)
        except UNDECODED as refusal:
            record = reader.learn(line, refusal)
        if record is not None:
            taken += 1
            assert repr(plain(record)) == repr(plain(model_of(kind).model_validate_json(line))), line
    return taken


def test_line_decoder_equals_the_models_on_storefront() -> None:
    """Each line of the fixture is decoded alike; the line decoder takes them all but those that failed."""
    # Absent edges of three are lists, which are left to the model.
    assert compare_lines(QuestionStruct, STOREFRONT / "questions.jsonl") == SHOP_QUESTIONS - 3
    for file in (STOREFRONT / "runs").glob("*.jsonl"):
        failed = file.read_text().count('"error":{')
        assert compare_lines(AnswerStruct, file) == SHOP_QUESTIONS - failed


def test_line_decoder_equals_the_models_on_pallets(pallets: Path) -> None:
    """Each line of the pallets data is decoded alike; the runs say query_id, which is learnt from their first line."""
    # Steps with a field that graphkit doesn't know ("observed") are left to the model.
    lines = (pallets / "questions.jsonl").read_text().splitlines()
    assert compare_lines(QuestionStruct, pallets / "questions.jsonl") >= sum('"observed"' not in line for line in lines)
    for file in sorted((pallets / "runs").glob("*.jsonl")):
        assert compare_lines(AnswerStruct, file) == 40


def test_line_decoder_equals_the_models_on_generated_data(tmp_path: Path) -> None:
    """Odd characters, missing fields and errors are decoded alike."""
    dataset = generate(tmp_path, 4)
    assert compare_lines(QuestionStruct, dataset / "questions.jsonl") > 0
    for file in (dataset / "runs").glob("*.jsonl"):
        assert compare_lines(AnswerStruct, file) > 0


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


STEP = records(TraversalStep, {"source": st.just("x:a"), "target": st.just("x:b"), "optional": st.booleans()})
CHUNK = records(Chunk, {"id": st.just("x:a"), "rank": st.integers(0, 2), "score": st.floats(0, 1)})
ARGUMENTS = st.dictionaries(TEXT, LOOSE, max_size=2)
CALL = records(ToolCall, {"arguments": ARGUMENTS, "seen": st.lists(TEXT, max_size=2)}) | st.fixed_dictionaries(
    {"function": st.fixed_dictionaries({}, optional={"name": TEXT, "arguments": ARGUMENTS | TEXT, "x": TEXT})},
    optional={"id": TEXT, "x": TEXT, "name": TEXT},
)
EXPECTED_CALL = records(ExpectedToolCall, {"arguments": ARGUMENTS | st.just('{"a": 1}')})
ANSWERS = records(
    Answer,
    {
        "retrieved": st.lists(CHUNK | TEXT, max_size=2),
        "traversal": st.lists(STEP, max_size=2),
        "tool_calls": st.lists(CALL | TEXT, max_size=2),
    },
)
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
QUESTIONS = records(
    Question,
    {
        "paths": GOLD,
        "relevant": st.dictionaries(TEXT, st.floats() | st.integers(-1, 2)),
        "expected_tool_calls": st.lists(EXPECTED_CALL | TEXT, max_size=2),
    },
)


def agree(kind: type[msgspec.Struct], lines: list[dict[str, Any]]) -> None:
    """Check that reading lines takes and refuses what the model does, with the same values."""
    model = model_of(kind)
    problems = Problems()
    reader = RecordReader(Path("f.jsonl"), kind, problems)
    for number, value in enumerate(lines, 1):
        line = json.dumps(value).encode()
        before, before_counted = len(problems.skipped), Counter(problems.ignored_fields)
        found = reader.parse(number, line)
        reported = Problems()
        more: dict[str, Any] = {}
        if kind is AnswerStruct:  # the name of the run, by its file
            more["complete"] = reader.complete
        expected = parse_record(model, line, f"f.jsonl:{number}", reported, **more)
        assert repr(plain(found)) == repr(plain(expected))
        assert problems.skipped[before:] == reported.skipped
        assert (found is None) == bool(reported.skipped)
        counted = problems.ignored_fields - before_counted
        assert counted == reported.ignored_fields


@examples(300)
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


@examples(300)
@given(st.lists(QUESTIONS, min_size=1, max_size=3))
def test_questions_equal_the_model_on_anything(lines: list[dict[str, Any]]) -> None:
    """A file of questions, in any spelling and with any mistake, reads as by the model alone."""
    agree(QuestionStruct, lines)


@examples(300)
@given(st.lists(ANSWERS, min_size=1, max_size=3))
def test_answers_equal_the_model_on_anything(lines: list[dict[str, Any]]) -> None:
    """A run log, in any spelling and with any mistake, reads as by the model alone."""
    agree(AnswerStruct, lines)


@examples(300)
@given(st.lists(records(Artifact, {"id": st.just("x:a")}), min_size=1, max_size=3))
def test_artifacts_equal_the_model_on_anything(lines: list[dict[str, Any]]) -> None:
    """A file of artifacts reads as by the model alone."""
    agree(ArtifactStruct, lines)


@examples(300)
@given(st.lists(records(Edge, {"source": st.just("x:a"), "target": st.just("x:b")}), min_size=1, max_size=3))
def test_edges_equal_the_model_on_anything(lines: list[dict[str, Any]]) -> None:
    """A file of edges, in any spelling and with any mistake, reads as by the model alone."""
    agree(EdgeStruct, lines)


def reported(kind: type[msgspec.Struct], *lines: dict[str, Any]) -> dict[str, int]:
    """Return the unknown fields that reading some lines counts, which must all be usable."""
    problems = Problems()
    reader = RecordReader(Path("f.jsonl"), kind, problems)
    for number, line in enumerate(lines, 1):
        assert reader.parse(number, json.dumps(line).encode()) is not None
    assert problems.skipped == []
    assert {file for file, _ in problems.ignored_fields} <= {"f.jsonl"}
    return {name: count for (_, name), count in problems.ignored_fields.items()}


def test_unused_fields_of_an_edge_are_reported() -> None:
    """A field that graphkit doesn't know is counted, as where the model reads every line."""
    problems = Problems()
    line = b'{"source":"a:x","label":"CALLS","target":"a:y","weight":2}'
    edge = RecordReader(Path("edges.jsonl"), EdgeStruct, problems).parse(1, line)
    assert plain(edge) == plain(EdgeStruct("a:x", "CALLS", "a:y"))
    assert problems.ignored_fields == {("edges.jsonl", "weight"): 1}


@pytest.mark.parametrize(
    ("kind", "least"),
    [
        (QuestionStruct, {"id": "q", "question": "?"}),
        (QuestionStruct, {"query_id": "q", "question": "?"}),
        (AnswerStruct, {"run": "r", "question_id": "q"}),
        (ArtifactStruct, {"id": "a:x"}),
        (EdgeStruct, {"source": "a:x", "relation": "CALLS", "target": "a:y"}),
        (EdgeStruct, {"source": "a:x", "label": "CALLS", "target": "a:y"}),
    ],
)
def test_unknown_fields_are_counted_without_the_models(
    kind: type[msgspec.Struct], least: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines with unknown fields stay with the line decoder, whatever the fields hold, and each is counted a line.

    ``colour`` is in lines 1, 3 and 4, also where it is null; ``size`` in lines 2 and 4.
    """
    monkeypatch.setattr("graphkit.files.reading.parse_record", None)  # calling it would raise
    lines = [{**least, **more} for more in ({"colour": "red"}, {"size": [{"x": 1}]}, {"colour": None})]
    lines += [{**least, "colour": {}, "size": 1}, least]
    assert reported(kind, *lines) == {"colour": 3, "size": 2}


def test_unknown_fields_of_calls_are_reported() -> None:
    """A call may have what chat completions write; any other field of it is reported, and arguments have any names."""
    call = {"name": "t", "arguments": {"anything": 1}, "seen": []}
    written = {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}
    assert reported(AnswerStruct, {**RAN, "tool_calls": [call, written]}) == {}
    counted = {"tool_calls.sene": 1, "tool_calls.took": 1}
    assert reported(AnswerStruct, {**RAN, "tool_calls": [{**call, "sene": []}, {**written, "took": 3}]}) == counted
    asked = {**ASKED, "expected_tools": [{"name": "t", "arguements": {}}]}
    assert reported(QuestionStruct, asked) == {"expected_tool_calls.arguements": 1}


def test_unknown_values_are_let_go() -> None:
    """A record doesn't keep what an unknown field held, and with it the bytes of its line."""
    line = b'{"source":"a:x","relation":"CALLS","target":"a:y","weight":2}'
    edge = RecordReader(Path("edges.jsonl"), EdgeStruct, Problems()).parse(1, line)
    assert edge is not None
    kept = {*msgspec.structs.astuple(edge)} - {msgspec.UNSET, None}  # it exists at every commit
    assert kept == {"a:x", "CALLS", "a:y"}


def test_many_unknown_names_are_counted() -> None:
    """A file that has another unknown name in each line is counted like any other."""
    edge = {"source": "a:x", "relation": "CALLS", "target": "a:y"}
    lines = [{**edge, f"x{number}": 1} for number in range(200)]
    assert reported(EdgeStruct, *lines, lines[0], lines[199]) == {
        f"x{n}": 2 if n in (0, 199) else 1 for n in range(200)
    }


STEPS = {"source": "a:x", "target": "a:y"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"retrieved": [{"id": "c", "metadata": {"page": 1}}, {"id": "d", "metadata": {}}]}, {"retrieved.metadata"}),
        ({"chunks": ["c", {"id": "d", "metadata": 1}]}, {"retrieved.metadata"}),
        ({"traversal": [{**STEPS, "weight": 2}], "colour": 1}, {"traversal.weight", "colour"}),
        ({"traversal": [[{**STEPS, "weight": 2}]]}, {"traversal.weight"}),
        ({"traversal": [{"steps": [{**STEPS, "weight": 2}], "score": 1}]}, {"traversal.weight", "traversal.score"}),
        ({"traversal": {"paths": [[STEPS, {**STEPS, "x": 1}]], "note": 1}}, {"traversal.x", "traversal.note"}),
        ({"traversal": {"triples": [["a:x", "R", "a:y"], {**STEPS, "x": 1}]}}, {"traversal.x"}),
        # What networkx writes itself is no unknown field.
        (
            {
                "traversal": {
                    "directed": True,
                    "multigraph": True,
                    "graph": {},
                    "nodes": [{"id": "a:x"}],
                    "links": [{**STEPS, "key": 0, "weight": 1}],
                }
            },
            {"traversal.weight"},
        ),
        ({"traversal": [{**STEPS, "key": 0}]}, {"traversal.key"}),
        ({"citations": [{"chunk_id": "c", "score": 1}, "d"]}, {"citations.score"}),
        ({"error": {"type": "T", "message": "m", "code": 7}}, {"error.code"}),
        ({"traversal": [["a:x", "a:y"]], "retrieved": ["c"], "citations": ["c"]}, set()),
    ],
)
def test_unknown_fields_of_the_parts_of_an_answer(given: dict[str, Any], expected: set[str]) -> None:
    """Fields of its parts are counted under the field that holds them, in every form, once a record."""
    assert reported(AnswerStruct, {**RAN, **given}) == dict.fromkeys(expected, 1)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"paths": [{"steps": [{**STEPS, "x": 1}], "y": 2}]}, {"paths.steps.x", "paths.y"}),
        ({"gold_paths": [[{**STEPS, "x": 1}, ["a:x", "R", "a:y"]]]}, {"paths.steps.x"}),
        ({"relevant": [{"id": "c", "gain": 2, "grade": 3}, "d"]}, {"relevant.grade"}),
        ({"relevant": {"c": 1}, "commits": {"a": "1"}, "repository_context": {"m": ""}}, set()),
        ({"facts": ["f", {"text": "g", "x": 1}], "conflicts": [{"y": 1}, "c"]}, {"facts.x", "conflicts.y"}),
        ({"test_cases": [{"name": "t", "inputs": {"z": 1}, "assert": "True", "x": 1}]}, {"test_cases.x"}),
    ],
)
def test_unknown_fields_of_the_parts_of_a_question(given: dict[str, Any], expected: set[str]) -> None:
    """Fields of its parts are counted under the field that holds them; names of the user's own are no fields."""
    assert reported(QuestionStruct, {**ASKED, **given}) == dict.fromkeys(expected, 1)


def test_unknown_fields_of_compatibility() -> None:
    """A commit written as an object has fields, and one in a map has a name of the user's own."""
    problems = Problems()
    lines = [
        {"id": "a", "commits": [{"repo": "x", "sha": "1", "tag": "v1"}], "enviroment": "live"},
        {"id": "b", "commits": {"anything": "1"}},
    ]
    for number, line in enumerate(lines, 1):
        assert parse_record(Compatibility, json.dumps(line).encode(), f"c.jsonl:{number}", problems) is not None
    assert problems.ignored_fields == {("c.jsonl", "commits.tag"): 1, ("c.jsonl", "enviroment"): 1}
    assert problems.unknown_fields() == [
        "c.jsonl: the field 'commits.tag' isn't used (1 record)",
        "c.jsonl: the field 'enviroment' isn't used (1 record; did you mean environment?)",
    ]


def test_the_closest_known_name_is_reported() -> None:
    """On either path, of the record or of the part that has the field, other names that are accepted among them."""
    problems = Problems()
    reader = RecordReader(Path("runs/r.jsonl"), AnswerStruct, problems)
    fast = {**RAN, "retreived": [], "responce": "x"}
    for number, line in enumerate((fast, fast, {**RAN, "traversal": [{**STEPS, "relaton": "R"}]}), 1):
        reader.parse(number, json.dumps(line).encode())
    assert problems.unknown_fields() == [
        "r.jsonl: the field 'responce' isn't used (2 records; did you mean response?)",
        "r.jsonl: the field 'retreived' isn't used (2 records; did you mean retrieved?)",
        "r.jsonl: the field 'traversal.relaton' isn't used (1 record; did you mean traversal.relation?)",
    ]


@examples(100)
@given(st.lists(QUESTIONS, min_size=1, max_size=3))
def test_records_are_the_same_after_the_spool(lines: list[dict[str, Any]]) -> None:
    """A record comes out of the spool unchanged each time, in whatever spelling it was read."""
    reader = RecordReader(Path("f.jsonl"), QuestionStruct, Problems())
    read = [one for number, line in enumerate(lines, 1) if (one := reader.parse(number, json.dumps(line).encode()))]
    with Spool(QuestionStruct) as spool:
        for record in read:
            spool.put(record)
        spool.put_packed(Packer(QuestionStruct).pack(read), len(read))
        assert [*map(plain, spool)] == [*map(plain, spool)] == [*map(plain, [*read, *read])]
        assert {type(one) for one in spool} <= {QuestionStruct}
        assert len(spool) == 2 * len(read)


def test_spool_that_can_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If there is no room for the temporary file, the folder is named, and what chooses another one."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    # Some 60 bytes each, and a MiB is kept in memory.
    edges = (EdgeStruct(f"a:{number:020}", "CALLS", f"b:{number:020}") for number in range(200 * TOGETHER))
    with Spool(EdgeStruct) as spool, pytest.raises(InputError, match="can't be written: No such file") as raised:
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
def test_line_decoder_equals_the_model_on_odd_json(rest: bytes) -> None:
    """Decoder and model agree on odd JSON that Python's json reads in its own way."""
    line = b'{"id":"q","question":"?",' + rest + b"}"
    problems, reported = Problems(), Problems()
    found = RecordReader(Path("f.jsonl"), QuestionStruct, problems).parse(1, line)
    expected = parse_record(Question, line, "f.jsonl:1", reported)
    assert repr(plain(found)) == repr(plain(expected))
    assert problems.skipped == reported.skipped


#: The fields of a chunk and of a step that stand in some records of a file, also with the value that is their default.
IN_CHUNKS: dict[str, st.SearchStrategy[Any]] = {
    "rank": st.none() | st.integers(1, 3),
    "score": st.just(0.5),
    "repo": st.none() | st.just("a:b"),
}
IN_STEPS: dict[str, st.SearchStrategy[Any]] = {
    "relation": st.sampled_from(["CALLS", "~CALLS", "\\u007eCALLS", ": :"]),
    "path": st.integers(0, 1),
    "directed": st.booleans(),
    "position": st.none() | st.just(0),
}
IN_CALLS: dict[str, st.SearchStrategy[Any]] = {
    "arguments": st.just({"q": "x"}) | st.just({}),
    "result": st.none() | st.just("r"),
    "failed": st.booleans(),
}


def parts(fixed: dict[str, str], fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return a strategy of parts with some of the fields, in any order."""
    chosen = st.fixed_dictionaries({name: st.just(value) for name, value in fixed.items()}, optional=fields)
    return st.lists(chosen.flatmap(lambda one: st.permutations(list(one.items())).map(dict)), max_size=3)


def written(value: Any, left: list[int], space: str) -> str:
    """Return a value as JSON; the object before which so many are ``left`` has its last pair twice."""
    if isinstance(value, list):
        return f"[{f',{space}'.join(written(one, left, space) for one in value)}]"
    if not isinstance(value, dict):
        return json.dumps(value)
    left[0] -= 1
    twice = left[0] == 0
    pairs = [f"{json.dumps(name)}:{space}{written(one, left, space)}" for name, one in value.items()]
    return f"{{{f',{space}'.join([*pairs, *pairs[-1:]] if twice else pairs)}}}"


@examples(200)
@given(
    st.lists(
        st.tuples(
            parts({"id": "c"}, IN_CHUNKS),
            parts({"source": "a", "target": "b"}, IN_STEPS),
            parts({"name": "find"}, IN_CALLS),
            st.dictionaries(st.sampled_from(["answer", "ordered", "beside", "latency_ms"]), st.none() | st.just(1.0)),
            st.integers(0, 9),
            st.booleans(),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_what_a_file_begins_with_changes_no_record(drawn: list[tuple[Any, ...]]) -> None:
    """A record is read, or refused for a key that stands twice, as if its line stood alone in its file.

    The decoder requires what the first line has; here each line has other fields, in another order, and in some a key
    stands twice, at a random place. Alone, a line is read by the model, whose JSON decoder looks at every key.
    """
    together, noted = RecordReader(Path("r.jsonl"), AnswerStruct, Problems("skip")), 0
    for number, (chunks, steps, calls, more, place, compact) in enumerate(drawn, 1):
        parts_of = {"retrieved": chunks, "traversal": steps, "tool_calls": calls}
        value = {"question_id": f"q{number}", **{name: some for name, some in parts_of.items() if some}, **more}
        value = {**value, "ordered": bool(value["ordered"])} if "ordered" in value else value
        text = written(value, [place], "" if compact else " ").replace("\\\\u007e", "\\u007e")
        alone = Problems("skip")
        model = parse_record(Answer, text.encode(), f"r.jsonl:{number}", alone, complete=together.complete)
        found = together.parse(number, text.encode())
        noted += len(alone.skipped)
        assert (found is None) == (model is None)
        assert len(together.problems.skipped) == noted
        if found is not None:
            assert plain(found) == plain(model)
            assert pickle.loads(pickle.dumps(found)) == struct_of(AnswerStruct, model)  # as another process gets it


def test_what_is_encoded_again_has_no_field_that_its_line_lacks() -> None:
    """A field that isn't stated would hide a key that stands twice: all structs of lines leave defaults out.

    But for expected calls, since the hash of gold is made of them: a question that has one is looked at each time.
    """
    lines: dict[Any, bytes] = {AnswerStruct: b'{"question_id":"q"}', QuestionStruct: b'{"id":"q","question":"?"}'}
    found: set[type[msgspec.Struct]] = set()

    def structs_in(kind: Any) -> None:
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind not in found:
            found.add(kind)
            for field in msgspec.structs.fields(kind):
                structs_in(field.type)
        for one in get_args(kind):
            structs_in(one)

    for kind, line in lines.items():
        decoder: LineDecoder[Any] = LineDecoder(kind, kind is AnswerStruct)
        structs_in(type(decoder.decode(line)))
    assert len(found) >= 11
    adding = {one.__name__ for one in found if not one.__struct_config__.omit_defaults}
    assert adding == {"ExpectedToolCallStruct"}
    asked = b'{"id":"q","question":"?","category":"a","category":"b","expected_tool_calls":[{"name":"find"}]}'
    problems = Problems("skip")
    assert RecordReader(Path("questions.jsonl"), QuestionStruct, problems).parse(1, asked) is None
    assert "stands twice" in problems.skipped[0].what


#: Lines of a run, some of which need a look: blank ones, mistakes, keys that stand twice, unknown and other names,
#: blank names of runs, steps walked backwards, escapes.
RUN_LINES = [
    b'{"run": "r", "question_id": "q1", "retrieved": [{"id": "a:m.py#x", "score": 0.5}]}',
    b'{"run": "r", "question_id": "q2", "retrieved": [{"id": "a:m.py#x"}]}',
    b'{"run": "r", "question_id": "q3", "traversal": [{"source": "a:x", "relation": "~CALLS", "target": "a:y"}]}',
    b'{"run": "r", "question_id": "q4", "traversal": [{"source": "a:x", "relation": "\\u007eCALLS", "target": "a:y"}]}',
    b'{"run": "r", "question_id": "q5", "answer": "a\\u003ab: \\"c\\": d"}',
    b'{"run": "r", "question_id": "q6", "answer": "x", "answer": "\\u003a"}',
    b'{"run": "r", "question_id": "q7", "answer": "x", "answer": "y"}',
    b'{"run": "r", "query_id": "q8"}',
    b'{"question_id": "q9", "answer": null}',
    b'{"run": " ", "question_id": "q10"}',
    b'{"run": "r", "question_id": "q11", "mine": {"a": 1, "a": 2}}',
    b'{"run": "r", "question_id": "q12", "tool_calls": [{"name": "f", "arguments": {"a": 1}}]}',
    b'{"run": "r", "question_id": ""}',
    b"{",
    b"",
    b"  ",
]


#: Lines of questions, of which those with expected calls are encoded with what they don't state.
QUESTION_LINES = [
    b'{"id": "q1", "question": "?", "relevant": {"a:m.py#x": 2}}',
    b'{"id": "q2", "question": "?", "paths": [{"steps": [{"source": "a:x", "relation": "~CALLS", "target": "a:y"}]}]}',
    b'{"id": "q3", "question": "?", "category": "a", "category": "b"}',
    b'{"id": "q4", "question": "?", "expected_tool_calls": [{"name": "find"}]}',
    b'{"id": "q5", "question": "?", "mine": 1}',
    b'{"id": "q6", "question": "x", "question": "\\u003a"}',
    b'{"id": "q7"}',
    b"",
]


def read(kind: type[msgspec.Struct], parts: list[list[bytes]], together: bool) -> tuple[list[Any], Problems]:
    """Return lines with their records, and the problems, by a reader that reads lines together or each alone."""
    lines = [*enumerate((line for part in parts for line in part), 1)]
    problems = Problems("skip")
    reader = RecordReader(Path("lines.jsonl"), kind, problems)
    if together:
        return [(number, line, plain(found)) for number, line, found in reader.parsed(lines)], problems
    return [(number, line, plain(reader.parse(number, line))) for number, line in lines], problems


def several(lines: list[bytes]) -> st.SearchStrategy[list[list[bytes]]]:
    """Draw some of the lines, now and then one of them many times."""
    drawn = st.tuples(st.sampled_from(lines), st.sampled_from([1, 1, 1, 70]))
    return st.lists(drawn.map(lambda one: [one[0]] * one[1]), max_size=12)


@examples(200)
@given(several(RUN_LINES))
@example([[RUN_LINES[0]] * 70, [RUN_LINES[2]] * 70])  # steps that are turned
@example([[RUN_LINES[0]] * 70, [RUN_LINES[10]] * 200])  # a field that isn't used
@example([[RUN_LINES[0]] * 70, [RUN_LINES[5]], [RUN_LINES[0]] * 70])  # a key twice, behind an escaped colon
def test_lines_together_are_read_as_each_alone(parts: list[list[bytes]]) -> None:
    """Lines that are decoded together give the records and problems of each line, whatever stands among them."""
    assert read(AnswerStruct, parts, together=True) == read(AnswerStruct, parts, together=False)


@examples(200)
@given(several(QUESTION_LINES))
@example([[QUESTION_LINES[0]] * 70, [QUESTION_LINES[2]], [QUESTION_LINES[3]] * 9])  # a key twice beside a call
@example([[QUESTION_LINES[0]] * 70, [QUESTION_LINES[5]], [QUESTION_LINES[0]] * 9])
@example([[QUESTION_LINES[0]] * 70, [QUESTION_LINES[4]] * 200])
def test_questions_together_are_read_as_each_alone(parts: list[list[bytes]]) -> None:
    """So do questions."""
    assert read(QuestionStruct, parts, together=True) == read(QuestionStruct, parts, together=False)


def test_large_lines_are_not_decoded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many lines are decoded together as have a million bytes, so memory doesn't grow with the size of a line."""
    groups: list[int] = []
    decode_all = LineDecoder.decode_all

    def counting(decoder: LineDecoder[Any], lines: Any) -> Any:
        groups.append(len(lines))
        return decode_all(decoder, lines)

    monkeypatch.setattr(LineDecoder, "decode_all", counting)
    line = b'{"run":"r","question_id":"q","answer":"%s"}'
    small, large = line % b"", line % (b"x" * (1 << 19))
    reader = RecordReader(Path("r.jsonl"), AnswerStruct, Problems())
    assert len([*reader.parsed(enumerate([small] * 65 + [large] * 5 + [small] * 65))]) == 135
    # One, 64, and with the small ones after them the large ones, as the lines before were small. Then at most 25.
    assert groups == [1, 64, 64, 6]
    groups.clear()
    assert len([*reader.parsed(enumerate([large] * 5))]) == 5
    assert groups == [1, 1, 1, 1, 1]
