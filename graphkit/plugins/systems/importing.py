"""Imports systems by name, ``package.module:callable``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from graphkit.errors import InputError
from graphkit.records.references import imported_callable, is_async
from graphkit.records.repetition_names import repetition_name

_RUN_NAME = re.compile(r"[^\W_][\w.@+-]*\Z")
_NOTATION = "A system is written package.module:callable, or name=package.module:callable."


@dataclass(frozen=True)
class System:
    """A callable under evaluation."""

    name: str  # the name of its run
    #: Gets the question, and the context if ``takes_context``; returns the answer or an awaitable of it.
    call: Callable[..., Any]
    source: str  # the origin, which distinguishes two systems of one name
    takes_context: bool = False
    is_async: bool = False
    #: The ``package.module:callable`` by which a worker imports it; None if it is sent as it is.
    reference: str | None = None


def run_name(name: str) -> str:
    """Check and return the name of a run, which becomes the name of a file.

    Raise an InputError if it contains a character that a file name should not.
    """
    if not _RUN_NAME.match(name) or ".jsonl" in name:
        raise InputError(
            f"{name!r} can't be the name of a run", remedy="Use letters, digits, '_', '-', '.', '@' and '+'."
        )
    return name


def load_system(text: str) -> System:
    """Import the system ``[name=]package.module:callable``, also from the working folder.

    Raise an InputError if the text has another form, the module can't be imported, or it has no such callable.
    """
    name, equals, target = text.rpartition("=")
    if equals and not name:
        raise InputError(f"{text!r} names no system", remedy=_NOTATION)
    found = imported_callable(target, "system", _NOTATION)
    attribute = target.partition(":")[2]
    chosen = name or getattr(found, "__name__", None) or attribute.rpartition(".")[2]
    system = system_of(run_name(chosen if chosen != "<lambda>" else attribute), found, target)
    return replace(system, reference=target)


def system_of(name: str, call: Callable[..., Any], source: str) -> System:
    """Return the system of a callable, after a check of its signature.

    Raise an InputError if it can't be called with a question, or with a question and a context.
    """
    return System(name, call, source, _takes_context(call, source), is_async(call))


def repeated(systems: Iterable[System], times: int | None) -> list[System]:
    """Return each system so many times, as the runs ``NAME@1`` to ``NAME@times``; None leaves systems as they are."""
    if times is None:
        return list(systems)
    return [replace(one, name=repetition_name(one.name, number)) for one in systems for number in range(1, times + 1)]


def unique(systems: Iterable[System]) -> list[System]:
    """Return systems, whose names must differ; raise an InputError if two systems have the same name."""
    found: dict[str, System] = {}
    for system in systems:
        if system.name in found:
            what = f"two systems are called {system.name!r}: {found[system.name].source} and {system.source}"
            raise InputError(what, remedy="Name one of them: --system other=package.module:callable.")
        found[system.name] = system
    return list(found.values())


def _takes_context(call: Callable[..., Any], source: str) -> bool:
    """Return whether a callable accepts a second positional argument; False if it can't be inspected."""
    try:
        signature = inspect.signature(call)
    except (TypeError, ValueError):
        return False
    own = signature.parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    # A second parameter with a default is the system's own, unless it is called context.
    positional = [parameter for parameter in own if parameter.kind in kinds]
    wanted = len(positional) > 1 and (
        positional[1].default is inspect.Parameter.empty or positional[1].name == "context"
    )
    try:
        signature.bind(*(("question", "context") if wanted else ("question",)))
    except TypeError:
        remedy = "A system takes (question) or (question, context)."
        raise InputError(f"{source} can't be called with a question: it takes {signature}", remedy=remedy) from None
    return wanted
