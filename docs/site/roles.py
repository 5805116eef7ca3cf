"""Turns the roles of reStructuredText in docstrings into what Markdown shows."""

from __future__ import annotations

import re
from typing import Any

import griffe


class Roles(griffe.Extension):  # type: ignore[misc]
    """Shows ``:func:`~graphkit.evaluate``` as ``evaluate``, and literals in one pair of backticks."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is not None:
            text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", obj.docstring.value)
            obj.docstring.value = text.replace("``", "`")
