"""Names of the runs that repeat a system: ``NAME@1``, ``NAME@2``, and so on."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: The fields by which a log numbers several answers to one question.
TRIALS = ("trial", "sample", "epoch", "attempt", "repeat")

_REPETITION = re.compile(r"(?P<name>.+)@(?P<number>[1-9][0-9]{0,8})", re.DOTALL)


def repetition_name(name: str, number: int) -> str:
    """Return the name of a repetition, counted from 1.

    >>> repetition_name("mine", 2)
    'mine@2'
    """
    return f"{name}@{number}"


def repetition_of(run: str) -> tuple[str, int] | None:
    """Return the name of the system that a run repeats, and which repetition it is; None for any other name.

    >>> repetition_of("mine@2"), repetition_of("mine")
    (('mine', 2), None)
    """
    match = _REPETITION.fullmatch(run)
    return (match["name"], int(match["number"])) if match else None


def repetitions_by_name(runs: Iterable[str]) -> dict[str, list[str]]:
    """Return the runs that repeat one system, by the name of the system, in the order of their numbers.

    A single run is no repetition.

    >>> repetitions_by_name(["mine@2", "other", "mine@1", "alone@1"])
    {'mine': ['mine@1', 'mine@2']}
    """
    found: dict[str, dict[int, str]] = {}
    for run in runs:
        if (repetition := repetition_of(run)) is not None:
            name, number = repetition
            found.setdefault(name, {})[number] = run
    return {name: [of[number] for number in sorted(of)] for name, of in found.items() if len(of) > 1}


def system_of(run: str) -> str | None:
    """Return the name of the system that a run may repeat, by its own name.

    >>> system_of("mine@2"), system_of("mine")
    ('mine', None)
    """
    found = repetition_of(run)
    return None if found is None else found[0]
