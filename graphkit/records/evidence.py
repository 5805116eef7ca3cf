"""How a gold step is known, and what follows from it."""

from __future__ import annotations

#: The evidence of a step that the static graph holds; a step that says nothing has it.
STATIC = "static"


def beyond_static(evidence: str | None) -> bool:
    """Tell whether a gold step is a real relation that no static graph has to hold.

    Any evidence but ``"static"`` says so: ``"manual"``, ``"trace"``, or a word of the data set's own.

    >>> [beyond_static(evidence) for evidence in ("manual", "trace", "static", "", None)]
    [True, True, False, False, False]
    """
    return bool(evidence) and evidence != STATIC
