"""Places in code as LocAgent and similar data write them: ``path`` and ``path:Class.method``."""

from __future__ import annotations


def location_id(location: str, repo: str | None = None) -> str:
    """Return the id of a location, without a repository if none is given.

    >>> location_id("pkg/m.py:Store.load", "o/r"), location_id("pkg/m.py", "o/r"), location_id("pkg/m.py:load")
    ('o/r:pkg/m.py#Store.load', 'o/r:pkg/m.py', 'pkg/m.py#load')
    """
    path, _, symbol = location.partition(":")
    node = f"{path}#{symbol}" if symbol else path
    return f"{repo}:{node}" if repo else node
