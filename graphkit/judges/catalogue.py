"""Every grader by its name."""

from __future__ import annotations

from collections.abc import Iterable

from graphkit.errors import InputError, did_you_mean
from graphkit.judges.aggregation import AGGREGATION
from graphkit.judges.binary import BINARY
from graphkit.judges.claims import CLAIMS
from graphkit.judges.completeness_form import COMPLETENESS
from graphkit.judges.conflicts_form import CONFLICTS
from graphkit.judges.contract import Grader
from graphkit.judges.four_shares import GRADED, RELEVANCE
from graphkit.judges.integration_form import INTEGRATION
from graphkit.judges.rubric import RUBRIC
from graphkit.judges.scale import SCALE

#: Every grader of graphkit's by its name: those that show the same parts stand together, so that a model's server may
#: keep what they share.
GRADERS: dict[str, Grader] = {
    one.name: one
    for one in (
        CLAIMS,
        RUBRIC,
        BINARY,
        GRADED,
        AGGREGATION,
        INTEGRATION,
        RELEVANCE,
        SCALE,
        COMPLETENESS,
        CONFLICTS,
    )
}


def graders_named(names: Iterable[str]) -> tuple[Grader, ...]:
    """Return graders by their names, each once, in the order of the registry.

    With both ``claims`` and ``graded``, the claims give three of the four measures, and only the relevance of the
    answer is asked for besides.

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
    if {"claims", "graded"} <= wanted:
        wanted = wanted - {"graded"} | {"relevance"}
    if {"graded", "relevance"} <= wanted:
        wanted.discard("relevance")
    return tuple(grader for name, grader in GRADERS.items() if name in wanted)
