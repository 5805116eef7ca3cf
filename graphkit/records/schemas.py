"""JSON Schemas of records, with each form and each name that the reader accepts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphkit.records.fields import Record
from graphkit.records.models import AccessRule, Answer, Artifact, Commit, Compatibility, Edge, Question
from graphkit.records.scores import Score

#: The records by their names in ``graphkit schema``.
RECORDS: Mapping[str, type[Record]] = {
    "question": Question,
    "answer": Answer,
    "commit": Commit,
    "compatibility": Compatibility,
    "access": AccessRule,
    "artifact": Artifact,
    "edge": Edge,
    "score": Score,
}


def json_schema(model: type[Record]) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a record.

    A field's own name precedes its other names, as for the reader; a name that isn't used may hold anything.
    """
    schema = model.model_json_schema(by_alias=False)
    models = {model.__name__: model for model in Record.__subclasses__()}
    _add_names(schema, model, "#")
    for name, definition in schema.get("$defs", {}).items():
        if name in models:
            _add_names(definition, models[name], f"#/$defs/{name}")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _add_names(schema: dict[str, Any], model: type[Record], place: str) -> None:
    """Add the other names of a model's fields to its schema."""
    properties: dict[str, Any] = schema["properties"]
    conditions: list[dict[str, Any]] = []
    for field, info in model.model_fields.items():
        names = [str(name) for name in getattr(info.validation_alias, "choices", ())]
        for number, name in enumerate(names[1:], 1):
            properties.setdefault(name, {"description": f"Another name of {field}."})
            counts = {"required": [name], "not": {"anyOf": [{"required": [earlier]} for earlier in names[:number]]}}
            same = {"properties": {name: {"$ref": f"{place}/properties/{field}"}}}
            conditions.append({"if": counts, "then": same})
        if names and info.is_required():
            schema["required"].remove(field)
            conditions.append({"anyOf": [{"required": [name]} for name in names]})
    if not schema.get("required"):
        schema.pop("required", None)
    if conditions:
        schema["allOf"] = conditions
