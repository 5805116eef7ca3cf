"""The levels of a place in code: its file, its module (the class or function at the top of the file), its symbol."""

from __future__ import annotations

import re

from graphkit.records.ids import Places

#: From the coarsest to the finest.
LEVELS = ("file", "module", "symbol")

_SEPARATOR = re.compile(r"[.:#/]+")


def at_level(node: str, level: str, places: Places) -> str | None:
    """Return the id of a node's file, module or symbol; None if the node has none.

    >>> [at_level("web:src/shop.py#Basket.settle(int)", level, Places()) for level in LEVELS]
    ['web:src/shop.py', 'web:src/shop.py#Basket', 'web:src/shop.py#Basket.settle(int)']
    >>> at_level("web:src/shop.py", "module", Places()) is None
    True
    """
    return place_at_level(places.repo(node), *places.split(node), level)


def place_at_level(repo: str | None, path: str | None, symbol: str | None, level: str) -> str | None:
    """Return the id of a place's file, module or symbol; None if the place has none."""
    if path is None:
        return None
    file = f"{repo}:{path}" if repo is not None else path
    if level == "file":
        return file
    if symbol is not None and level == "module":
        symbol = next(filter(None, _SEPARATOR.split(symbol.partition("(")[0].strip())), None)
    return f"{file}#{symbol}" if symbol is not None else None
