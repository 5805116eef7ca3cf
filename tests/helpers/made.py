"""Records from fields, each of which must be one of the record: a wrong name in a test would be ignored otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from graphkit.records.fields import Record
from graphkit.records.unknown import unknown_fields

R = TypeVar("R", bound=Record)


def made(model: type[R], fields: Mapping[str, Any]) -> R:
    """Return a record with these fields."""
    record = model.model_validate(fields)
    unknown = [f"{one.within}{one.name}" for one in unknown_fields(model, fields)]
    assert not unknown, f"{model.__name__} has no {', '.join(unknown)}"
    return record
