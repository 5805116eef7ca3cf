"""Graders made of a prompt and a JSON Schema: in a user's folder, or in one file of ``prompts/``.

Each number or boolean of the schema is a measure ``NAME.property``, or just ``NAME`` if there is only one. Texts are
kept in the verdict; one called ``reasoning``, ``reason`` or ``explanation`` explains the scores.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, create_model
from pydantic.types import StrictBool, StrictFloat, StrictInt, StrictStr

from graphkit.errors import InputError
from graphkit.files.texts import read_text
from graphkit.measures.registry import measure_class
from graphkit.plugins.judging.judges.contract import Finding, Grader, Reading, UnusableVerdictError
from graphkit.plugins.judging.judges.forms import VerdictForm
from graphkit.plugins.judging.judges.materials import Materials
from graphkit.plugins.judging.judges.prompts import PARTS, prompt_names
from graphkit.records.json_once import strict_json
from graphkit.records.scores import LARGEST

_EXPLAIN = ("reasoning", "reason", "explanation")
_TYPES: Mapping[str, Any] = {"number": StrictFloat, "integer": StrictInt, "boolean": StrictBool, "string": StrictStr}
_BOUNDS = {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt"}
#: The keywords of a property, by its type.
_KNOWN = {
    "number": {"type", "description", "title", *_BOUNDS},
    "integer": {"type", "description", "title", *_BOUNDS},
    "boolean": {"type", "description", "title"},
    "string": {"type", "description", "title", "enum"},
}
_NAME = re.compile(r"[^\W\d]\w*\Z")
_FORM = (
    'Write {"type": "object", "properties": {"reasoning": {"type": "string"}, '
    '"tone": {"type": "number", "minimum": 0, "maximum": 1}}}.'
)


def load_rubric(folder: Path) -> Grader:
    """Return the grader of a folder with ``prompt.txt`` and ``schema.json``.

    Raise an InputError if a file is missing or can't be used. The message says which, and what to write.
    """
    name = folder.resolve().name
    for wrong, what, remedy in (
        (not folder.is_dir(), "there is no such folder", "A rubric is a folder with prompt.txt and schema.json."),
        (not _NAME.match(name), f"{name!r} can't be the name of a measure", "Use a name of letters, digits and '_'."),
        (name in prompt_names(), f"{name!r} is the name of a built-in grader", "Rename the folder."),
        (measure_class(name) is not None, f"{name!r} is the name of a measure", "Rename the folder."),
    ):
        if wrong:
            raise InputError(what, where=str(folder), remedy=remedy)
    instruction = read_text(folder / "prompt.txt", "It holds the question to the judge, in plain words.").strip()
    if not instruction:
        raise InputError(
            "the file is empty", where=str(folder / "prompt.txt"), remedy="Write the question to the judge."
        )
    schema = folder / "schema.json"
    return rubric_of(name, instruction, read_text(schema, _FORM), str(schema))


def rubric_of(name: str, instruction: str, schema: str, where: str) -> Grader:
    """Return the grader that asks an instruction and reads verdicts by a JSON Schema.

    Raise an InputError if the schema can't be used.
    """
    form = _form(schema, where, name)
    scored = [key for key, field in form.model_fields.items() if field.annotation in (float, int, bool)]
    measures = {key: f"{name}.{key}" if len(scored) > 1 else name for key in scored}
    explained = next((key for key in _EXPLAIN if key in form.model_fields), None)

    def read(verdict: BaseModel, materials: Materials) -> Reading:
        for key in scored:
            if abs(getattr(verdict, key)) > LARGEST:
                raise UnusableVerdictError(f"{key} is beyond {LARGEST:g}")
        explanation = getattr(verdict, explained) if explained is not None else None
        return Reading(
            [
                Finding(measure, float(getattr(verdict, key)), explanation=explanation)
                for key, measure in measures.items()
            ]
        )

    of = (name, instruction, schema, where)
    return Grader(name, form, PARTS, tuple(measures.values()), read, instruction=instruction, rubric=of)


def _form(text: str, where: str, name: str) -> type[BaseModel]:
    """Return the form that a JSON Schema describes: an object of numbers, booleans and texts."""
    try:
        schema = strict_json(text)
    except (ValueError, RecursionError) as error:
        line = f"{where}:{error.lineno}" if isinstance(error, json.JSONDecodeError) else where
        raise InputError(f"the file isn't JSON: {error}", where=line, remedy=_FORM) from None
    try:
        json.dumps(schema, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError("the file holds half a character, such as \\ud83d alone", where=where) from None
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not properties or schema.get("type", "object") != "object":
        raise InputError("the schema describes no object with properties", where=where, remedy=_FORM)
    if strange := sorted(
        set(schema)
        - {"$schema", "$id", "title", "description", "type", "properties", "required", "additionalProperties"}
    ):
        raise InputError(f"the schema uses {', '.join(strange)}, which isn't supported", where=where, remedy=_FORM)
    fields: dict[str, Any] = {key: _property(key, value, where) for key, value in properties.items()}
    if not any(value.get("type") in ("number", "integer", "boolean") for value in properties.values()):
        what = "the schema has no number and no boolean, so nothing would be scored"
        remedy = 'Add one, such as "tone": {"type": "number", "minimum": 0, "maximum": 1}.'
        raise InputError(what, where=where, remedy=remedy)
    form: type[BaseModel] = create_model(name, __base__=VerdictForm, **fields)
    form.__doc__ = schema.get("description") if isinstance(schema.get("description"), str) else None
    return form


def _property(key: str, schema: Any, where: str) -> Any:
    """Return the type and the default of one property, for pydantic."""
    place = f"{where}: properties.{key}"
    if not _NAME.match(key) or key.startswith("_") or hasattr(BaseModel, key):
        raise InputError(f"a property can't be called {key!r}", where=place, remedy="Use letters, digits and '_'.")
    kind = schema.get("type") if isinstance(schema, dict) else None
    if not isinstance(kind, str) or kind not in _TYPES:
        raise InputError(
            f"a property must be of the type {', '.join(_TYPES)}", where=place, remedy='Write {"type": "number"}.'
        )
    if strange := sorted(set(schema) - _KNOWN[kind]):
        known = ", ".join(sorted(_KNOWN[kind]))
        raise InputError(f"{', '.join(strange)} isn't supported", where=place, remedy=f"A {kind} may have: {known}.")
    if "enum" in schema:
        choices = schema["enum"]
        if not isinstance(choices, list) or not choices or not all(isinstance(one, str) for one in choices):
            raise InputError("enum must be a list of texts", where=place)
        return (Literal[tuple(choices)], Field(description=_words(schema)))
    bounds = {_BOUNDS[word]: schema[word] for word in _BOUNDS if word in schema}
    if wrong := [one for one in bounds.values() if isinstance(one, bool) or not isinstance(one, int | float)]:
        raise InputError(f"a bound must be a number, not {wrong[0]!r}", where=place)
    for word, bound in bounds.items():
        if not abs(bound) <= LARGEST:  # NaN and Infinity neither
            raise InputError(f"a bound must be a number of at most {LARGEST:g}", where=place)
        if kind == "integer":
            if bound != int(bound):
                raise InputError(f"a bound of an integer must be a whole number, not {bound!r}", where=place)
            bounds[word] = int(bound)
    more: dict[str, Any] = {"allow_inf_nan": False} if kind == "number" else {}
    return (Annotated[_TYPES[kind], Field(**bounds, **more)], Field(description=_words(schema)))


def _words(schema: Mapping[str, Any]) -> str | None:
    description = schema.get("description")
    return description if isinstance(description, str) else None
