"""The fields of a record and its parts that aren't used, in all forms: unknown ones, and second names of a field."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel

from graphkit.records.fields import Record, other_names
from graphkit.records.shapes import WRAPPERS


class Unknown(NamedTuple):
    """An unknown field: the path of its part (``"paths.steps."``), and its name."""

    within: str
    name: str


_Found = dict[Unknown, Mapping[str, str]]


class _Shape(NamedTuple):
    """The known contents of an object: each name with its field, and the fields that hold objects.

    ``maps`` are those of these fields that may be an object with the user's own keys.
    """

    names: Mapping[str, str]
    parts: Mapping[str, _Shape]
    maps: frozenset[str]


def unknown_fields(model: type[Record], given: Mapping[str, Any]) -> dict[Unknown, Mapping[str, str]]:
    """Return the unknown fields of a valid record, each with the names that are known there.

    Of a field with several names in the record, the first of its names counts; the others are unused as well, unless
    they say the same, and no name is near to them.

    >>> from graphkit.records.models import Answer
    >>> [*unknown_fields(Answer, {"run": "r", "query_id": "q", "size": 1, "chunks": ["c", {"id": "d", "page": 1}]})]
    [Unknown(within='', name='size'), Unknown(within='retrieved.', name='page')]
    >>> [*unknown_fields(Answer, {"run": "r", "question_id": "q", "query_id": "p", "id": "q"})]
    [Unknown(within='', name='query_id')]
    """
    found: _Found = {}
    _look(_shape(model), given, "", found)
    return found


@cache
def _shape(model: type[BaseModel]) -> _Shape:
    names = {field: field for field in model.model_fields}
    forms: Mapping[str, type[BaseModel]] = {}
    if issubclass(model, Record):
        names |= other_names(model)
        forms = model.forms
    annotations = {field: info.annotation for field, info in model.model_fields.items()}
    found = {field: forms.get(field) or _record_in(kind) for field, kind in annotations.items()}
    parts = {field: _shape(part) for field, part in found.items() if part is not None}
    maps = {field for field in parts if get_origin(annotations[field]) is dict or field == "seeds"}  # by their ids
    return _Shape(names, parts, frozenset(maps))


def _record_in(annotation: Any) -> type[Record] | None:
    """Return the record type of a field with one or many records."""
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return annotation if issubclass(annotation, Record) else None
    return next(filter(None, map(_record_in, get_args(annotation))), None)


def _second_names(names: Mapping[str, str], given: Mapping[str, Any]) -> list[str]:
    """Return the names in an object for fields that an earlier name gives another value."""
    there = [name for name in given if name in names]
    if len({names[name] for name in there}) == len(there):
        return []
    first: dict[str, Any] = {}
    for name in names:
        if name in given:
            first.setdefault(names[name], given[name])
    return [name for name in there if given[name] is not None and given[name] != first[names[name]]]


def _look(shape: _Shape, given: Mapping[str, Any], within: str, found: _Found) -> None:
    """Add the unknown fields of an object and its parts."""
    names, parts = shape.names, shape.parts
    if not given.keys() <= names.keys():
        found.update((Unknown(within, name), names) for name in given.keys() - names.keys())
    found.update((Unknown(within, name), {}) for name in _second_names(names, given))
    if not parts:
        return
    for name, value in given.items():
        if type(value) is list or type(value) is dict:
            field = names.get(name, "")
            if field in parts and (type(value) is list or field not in shape.maps):
                _look_into(parts[field], value, f"{within}{field}.", field == "traversal", found)


def _look_into(shape: _Shape, value: Any, within: str, wrapped: bool, found: _Found) -> None:
    """Add the unknown fields of a part or a list of parts. Those of a traversal may be wrapped in objects."""
    if type(value) is list:
        for item in value:
            if type(item) is dict:
                # Most objects have only known fields and no parts, which saves a call.
                if shape.parts or not item.keys() <= shape.names.keys() or _second_names(shape.names, item):
                    _look_into(shape, item, within, wrapped, found)
            elif type(item) is list:
                if "steps" in shape.parts:
                    # A path written as a list of steps.
                    _look_into(shape.parts["steps"], item, f"{within}steps.", wrapped, found)
                else:
                    _look_into(shape, item, within, wrapped, found)
    elif wrapped and not ("source" in value and "target" in value):
        inner, wrapper = next((one for one in WRAPPERS.items() if isinstance(value.get(one[0]), list)), ("", None))
        if wrapper is None:
            return
        known = {name: name for name in (inner, *wrapper.beside)}
        found.update((Unknown(within, name), known) for name in value.keys() - known.keys())
        of_steps = {**shape.names, **{name: name for name in wrapper.in_steps}}
        _look_into(shape._replace(names=of_steps), value[inner], within, wrapped, found)
    else:
        _look(shape, value, within, found)
