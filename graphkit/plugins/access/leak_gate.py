"""The gate on leaks: ``graphkit evaluate --fail-on-leak``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import option
from graphkit.errors import InputError
from graphkit.records.option_values import Bound

if TYPE_CHECKING:
    from graphkit.cli.evaluate import InputOptions

#: The measure of each place where something forbidden may be.
LEAKS = {"walk": "WalkViolation", "context": "ContextViolation", "answer": "AnswerViolation"}


@dataclass(frozen=True)
class Leaks:
    """The places that an option names."""

    places: tuple[str, ...]


def _leaks(text: str) -> Leaks:
    named = [*LEAKS] if text == "any" else [one.strip() for one in text.split(",")]
    if wrong := [one for one in named if one not in LEAKS]:
        what = f"--fail-on-leak takes any, or of {', '.join(LEAKS)} those that count, not {wrong[0]!r}"
        raise InputError(what, remedy="Write --fail-on-leak any, or --fail-on-leak walk,context.")
    return Leaks(tuple(named))


@dataclass(frozen=True)
class LeakOptions:
    """The gate on what a principal may not read."""

    leak: Leaks | None = option(
        "--fail-on-leak walk|context|answer|any",
        "Fail if a question's walk, context or answer holds anything that its principal may not read, or doesn't log "
        "it; several with commas.",
        parser=_leaks,
    )

    def inputs(self, given: InputOptions) -> InputOptions:
        """Return the runs as they are."""
        return given

    def files(self) -> dict[Path, str]:
        """Return no file."""
        return {}

    def each(self) -> Sequence[Bound]:
        """Return the bounds: one is too many, and what isn't logged counts as one."""
        return [Bound(LEAKS[one], 0.0) for one in (self.leak.places if self.leak is not None else ())]
