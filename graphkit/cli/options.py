"""Options with a set of values, read with a clear message."""

from __future__ import annotations

from typing import cast, get_args

from graphkit.comparing import By
from graphkit.errors import InputError
from graphkit.sources.report import OnError
from graphkit.workflow import Engine


def on_error_value(text: str) -> OnError:
    """Return what ``--on-error`` asks for."""
    if text == "fail":
        return "fail"
    if text == "skip":
        return "skip"
    raise InputError(f"--on-error is fail or skip, not {text!r}")


def engine_value(text: str) -> Engine:
    """Return what ``--engine`` asks for."""
    if text == "python":
        return "python"
    if text == "cypher":
        return "cypher"
    raise InputError(f"--engine is python or cypher, not {text!r}")


def assignment(option: str, text: str) -> tuple[str, str]:
    """Split ``NAME=VALUE``; a name may hold ``=`` inside brackets, as in ``EdgeRecall(relation=False)=0.8``."""
    name, equals, value = text.rpartition("=") if option != "-p" else text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"{option} takes NAME=VALUE, not {text!r}")
    return name.strip(), value.strip()


def by_value(text: str | None) -> By | None:
    """Return what ``--by`` asks for."""
    for known in get_args(By):
        if text == known:
            return cast(By, known)
    if text is None:
        return None
    raise InputError(f"--by is {', '.join(get_args(By))}, not {text!r}")
