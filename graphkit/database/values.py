"""Convert values of the driver to plain ones: text, numbers, lists and dictionaries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import neo4j

Row = dict[str, object]

_SCALARS = frozenset({str, int, float, bool, type(None)})


def rows(result: neo4j.Result) -> list[Row]:
    """Return the rows of a result as dictionaries of plain values."""
    return [
        {
            name: value if type(value) in _SCALARS else plain(value)
            for name, value in zip(record.keys(), record.values(), strict=True)
        }
        for record in result
    ]


def plain(value: object) -> Any:
    """Return a value of the driver as text, number, list or dictionary."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    from neo4j.graph import Node, Path, Relationship

    if isinstance(value, Node):
        return {"_labels": sorted(value.labels), **_properties(value)}
    if isinstance(value, Relationship):
        return {"_type": value.type, **_properties(value)}
    if isinstance(value, Path):
        first, *others = value.nodes
        steps = [plain(part) for pair in zip(value.relationships, others, strict=True) for part in pair]
        return [plain(first), *steps]
    return _plain_other(value)


def _properties(entity: Any) -> Row:
    return {str(name): plain(item) for name, item in entity.items()}


def _plain_other(value: object) -> object:
    for method in ("iso_format", "isoformat"):  # the driver's temporal types, and Python's
        if hasattr(value, method):
            return _iso(str(getattr(value, method)()))
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, tuple | set | frozenset):  # a point is a tuple of its coordinates
        return [plain(item) for item in value]
    return str(value)


def _iso(text: str) -> str:
    """Remove trailing zeros from the seconds, to which the driver always gives nine decimals."""
    return re.sub(r"(\.\d*?)0+(?=$|[Z+-])", lambda found: found.group(1) if len(found.group(1)) > 1 else "", text)
