"""The JSON Schema of the records: one document, which accepts every name and form that the models accept."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from graphkit.records.fields import Record
from graphkit.records.models import (
    Answer,
    Compatibility,
    Question,
)
from graphkit.records.schemas import RECORDS, json_schema
from tests.records.samples import ALIASES, ASKED, MINIMAL, RAN, STEPS, TRIPLES, answer, question, validator

#: The keywords of JSON Schema 2020-12 that describe values: core, applicators, validation, and annotations.
VOCABULARIES = (
    ("$schema", "$id", "$ref", "$defs", "$comment"),
    ("prefixItems", "items", "contains", "additionalProperties", "properties", "patternProperties", "propertyNames"),
    ("dependentSchemas", "if", "then", "else", "allOf", "anyOf", "oneOf", "not"),
    ("type", "const", "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
    ("maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "required", "dependentRequired"),
    ("maxProperties", "minProperties"),
    ("title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples", "format"),
)


@pytest.mark.parametrize("model", RECORDS.values(), ids=RECORDS)
def test_schema_is_one(model: type[Record]) -> None:
    """Each schema is a JSON Schema with keywords of its vocabulary only."""
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
    # What a test expects may be anything.
    assert schema.is_valid({**others, alias: [[[0]]]}) == (field == "expected")
    assert schema.is_valid({**others, alias: [[[0]]], field: value})


@pytest.mark.parametrize("model", MINIMAL)
def test_schema_asks_for_required_fields(model: type[Record]) -> None:
    """A record without a required field under any name isn't valid."""
    assert validator(model).is_valid(MINIMAL[model])
    for name in MINIMAL[model]:
        assert not validator(model).is_valid({field: one for field, one in MINIMAL[model].items() if field != name})


FORMS: list[dict[str, Any]] = [
    {"paths": [{"steps": STEPS}, {"id": "p", "group": "g", "steps": TRIPLES}, STEPS, TRIPLES, ["x:a", "x:b"], []]},
    {"relevant": ["a", 3, {"id": "b"}, {"id": 4}, {"id": "c", "gain": -1}]},
    {"facts": ["x", {"fact": "y"}], "conflicts": ["z", {"resolution": "z"}]},
    {"paths": None, "relevant": None, "facts": None, "conflicts": None},
]


@pytest.mark.parametrize("fields", FORMS)
def test_schema_takes_the_forms_of_gold(fields: dict[str, Any]) -> None:
    """Each form of a question is valid."""
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
        [[1, 2, 3.0], [4, 5]],
        [[1, "R", 2]],
        [{"source": 1, "target": 2}],
        {"nodes": [{"id": "x:a"}], "edges": STEPS},
        {"nodes": [], "links": [{"source": "x:a", "target": "x:b", "key": 0}]},
    ],
)
def test_schema_takes_the_forms_of_a_traversal(traversal: Any) -> None:
    """Each form of a traversal is valid, and other values aren't."""
    answer(traversal=traversal)
    validator(Answer).validate({**RAN, "traversal": traversal})
    assert not validator(Answer).is_valid({**RAN, "traversal": {"walk": traversal}})


def test_schema_takes_other_forms() -> None:
    """Chunks and citations as texts, an error as an object, commits as a list, times as texts and numbers."""
    validator(Answer).validate(
        {
            **RAN,
            "question_id": 7,
            "retrieved": ["a", 1, {"id": 2}],
            "ordered": False,
            "citations": ["a", {"chunk": "b"}],
            "error": {"type": "T", "message": "m"},
            "tool_calls": [
                "read",
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"tool_name": "f", "args": '{"a": 1}', "output": "x"},
            ],
        }
    )
    validator(Question).validate({**ASKED, "expected_tools": ["read", {"function": {"name": "f"}}, {"name": "g"}]})
    for at in ("2026-01-01T00:00:00Z", "2026-01-01 00:00:00+02:00", 1_700_000_000):
        row = {"id": "s", "commits": ["x@A", {"repo": "y", "sha": "B"}], "at": at}
        Compatibility.model_validate(row)
        validator(Compatibility).validate(row)
