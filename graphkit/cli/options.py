"""Options with a set of values, read with a clear message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

from graphkit.analysis.compare import By
from graphkit.errors import InputError
from graphkit.files.problems import OnError
from graphkit.scoring.evaluate import Engine
from graphkit.scoring.results import LABELS, Label


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
    """Return what ``compare --by`` asks for."""
    return cast("By | None", _one_of(text, get_args(By)))


def label_value(text: str | None) -> Label | None:
    """Return what ``evaluate --by`` asks for."""
    return cast("Label | None", _one_of(text, LABELS))


def _one_of(text: str | None, known: Sequence[str]) -> str | None:
    if text is not None and text not in known:
        raise InputError(f"--by is {', '.join(known)}, not {text!r}")
    return text
