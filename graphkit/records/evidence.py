"""The evidence of gold steps."""

from __future__ import annotations

#: The evidence of a step that the static graph holds, and the default.
STATIC = "static"


def beyond_static(evidence: str | None) -> bool:
    """Return whether a gold step is a real relation that a static graph needn't hold.

    Any evidence but ``"static"`` means so: ``"manual"``, ``"trace"``, or a word of the data set.

    >>> [beyond_static(evidence) for evidence in ("manual", "trace", "static", "", None)]
    [True, True, False, False, False]
    """
    return bool(evidence) and evidence != STATIC
