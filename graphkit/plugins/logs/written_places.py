"""Places in code as LocAgent and similar data write them: ``path`` and ``path:Class.method``."""

from __future__ import annotations

import re

#: The id of an instance of SWE-bench and its kin: the owner, the repository and the number of the pull request.
_INSTANCE = re.compile(r"(?P<owner>[\w.\-]{1,100}?)__(?P<name>[\w.\-]{1,100})-\d{1,20}")


def location_id(location: str, repo: str | None = None) -> str:
    """Return the id of a location, without a repository if none is given.

    >>> location_id("pkg/m.py:Store.load", "o/r"), location_id("pkg/m.py", "o/r"), location_id("pkg/m.py:load")
    ('o/r:pkg/m.py#Store.load', 'o/r:pkg/m.py', 'pkg/m.py#load')
    """
    path, _, symbol = location.partition(":")
    node = f"{path}#{symbol}" if symbol else path
    return f"{repo}:{node}" if repo else node


def repository_of_instance(name: str) -> str | None:
    """Return the repository that the id of an instance of SWE-bench states, or None.

    >>> repository_of_instance("pallets__flask-4045"), repository_of_instance("q1")
    ('pallets/flask', None)
    """
    found = _INSTANCE.fullmatch(name)
    return f"{found['owner']}/{found['name']}" if found else None
