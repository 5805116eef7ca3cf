"""Selects the rows of a parametrised test that the fast suite runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def one_fast(
    names: str | tuple[str, ...],
    rows: Iterable[Any],
    why: str,
    *fast: int,
    ids: Callable[[Any], str] | Iterable[str] | None = None,
) -> pytest.MarkDecorator:
    """Parametrise a test; all rows but those at some places, usually but the first, are ``slow``, and say why."""
    several, kept = not isinstance(names, str) or "," in names, fast or (0,)
    mark = pytest.mark.slow(why)
    marked: list[Any] = []
    for place, row in enumerate(rows):
        if place in kept:
            marked.append(row)
        elif hasattr(row, "marks"):  # of pytest.param
            marked.append(pytest.param(*row.values, marks=[*row.marks, mark], id=row.id))
        else:
            marked.append(pytest.param(*(row if several else (row,)), marks=mark))
    return pytest.mark.parametrize(names, marked, ids=ids)
