"""The number of examples that Hypothesis draws for a property: the fast suite draws fewer, whatever a test asks for."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

from tests.helpers import FAST

FAST_EXAMPLES = 10

settings.register_profile("fast", max_examples=FAST_EXAMPLES, deadline=None)
settings.register_profile("full", deadline=None)
settings.load_profile("fast" if FAST else "full")


def examples(count: int, fast: int = FAST_EXAMPLES, **more: Any) -> settings:
    """Return settings with a number of examples of its own, which the fast suite cuts; ``more``: other settings."""
    return settings(max_examples=min(count, fast) if FAST else count, deadline=None, **more)
