"""Every grader by its name."""

from __future__ import annotations

from collections.abc import Iterable

from graphkit.errors import InputError, did_you_mean
from graphkit.judges.base import Grader
from graphkit.judges.rubric import RUBRIC

#: Every grader of graphkit's by its name.
GRADERS: dict[str, Grader] = {one.name: one for one in (RUBRIC,)}


def graders_named(names: Iterable[str]) -> tuple[Grader, ...]:
    """Return graders by their names, each once, in the order of the registry.

    Raises
    ------
    InputError
        A name isn't known.
    """
    wanted = set(names)
    for name in sorted(wanted):
        if name not in GRADERS:
            raise InputError(
                f"no grader is called {name!r}",
                remedy=f"{did_you_mean(name, GRADERS)}There are: {', '.join(GRADERS)}.",
            )
    return tuple(grader for name, grader in GRADERS.items() if name in wanted)
