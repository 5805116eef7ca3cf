"""Conversion of Python objects to plain JSON values: models, data classes, graphs, arrays and rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import msgspec
from pydantic import BaseModel


def plain_or_none(value: Any) -> Any:
    """Return an object as a JSON value, at its outermost level, or None if it has no such form."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, msgspec.Struct):
        return {name: part for name, part in msgspec.structs.asdict(value).items() if part is not None}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        # asdict would copy objects that are refused later because they are too large.
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "nodes") and hasattr(value, "edges") and hasattr(value, "is_directed"):
        import networkx

        return networkx.node_link_data(value, edges="edges")
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    return None


def plain_row(value: Any) -> dict[str, Any] | None:
    """Return a record or a row of a table as a mapping without empty cells, or None if it is neither."""
    if hasattr(value, "_asdict"):
        row = value._asdict()
    elif type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "to_dict"):
        row = value.to_dict()
    else:
        row = plain_or_none(value)
    if not isinstance(row, dict):
        return None
    return {name: cell for name, cell in row.items() if not _is_empty(cell)}


def _is_empty(cell: Any) -> bool:
    """Return whether a cell is NaN, or NaT or NA of pandas."""
    return (isinstance(cell, float) and cell != cell) or type(cell).__name__ in ("NAType", "NaTType")
