"""Finds the queries and the fixtures: inside an installed package, or at the top of a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def _folder(name: str) -> Path:
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def cypher_folder() -> Path:
    """Return the folder of the Cypher queries."""
    return _folder("cypher")


def storefront_folder() -> Path:
    """Return the folder of the storefront dataset that the demo loads."""
    return _folder("fixtures") / "storefront"


def storefront_code_folder() -> Path:
    """Return the folder of the dataset whose questions ask for code, over the same platform."""
    return _folder("fixtures") / "storefront-code"
