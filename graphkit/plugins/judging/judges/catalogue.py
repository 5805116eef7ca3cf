"""The built-in graders by name."""

from __future__ import annotations

from collections.abc import Iterable

from graphkit.errors import InputError, did_you_mean
from graphkit.plugins.judging.judges.aggregation import AGGREGATION
from graphkit.plugins.judging.judges.claims import CLAIMS
from graphkit.plugins.judging.judges.context_graders import CONTEXT_RELEVANCE, FACTS_IN_CONTEXT
from graphkit.plugins.judging.judges.contract import Grader
from graphkit.plugins.judging.judges.criteria import CRITERIA
from graphkit.plugins.judging.judges.direct_scores import ABSTAINED, BINARY, GRADED, RELEVANCE, SCALE
from graphkit.plugins.judging.judges.key_terms import COMPLETENESS, CONFLICTS, INTEGRATION
from graphkit.plugins.judging.judges.own_rubric import rubric_of
from graphkit.plugins.judging.judges.prompts import form_of, prompt_names, text_of
from graphkit.plugins.judging.judges.rubric import RUBRIC
from graphkit.plugins.judging.judges.walk_graders import EDGE_RELEVANCE, TRAJECTORY

#: The graders whose verdicts Python code checks. Those that show the same parts stand together, so that a server of
#: models can cache the parts.
_CHECKED = (
    *(
        CLAIMS,
        RUBRIC,
        BINARY,
        GRADED,
        AGGREGATION,
        INTEGRATION,
        RELEVANCE,
        SCALE,
        ABSTAINED,
        COMPLETENESS,
        CONFLICTS,
        CRITERIA,
    ),
    *(CONTEXT_RELEVANCE, FACTS_IN_CONTEXT, EDGE_RELEVANCE, TRAJECTORY),
)


def known_graders() -> dict[str, Grader]:
    """Return the built-in graders by name; each file in ``prompts/`` that begins with a JSON Schema is one."""
    plain = ((name, form) for name in prompt_names() if (form := form_of(name)) is not None)
    graders = {one.name: one for one in _CHECKED}
    return graders | {name: rubric_of(name, text_of(name), form, f"prompts/{name}.txt") for name, form in plain}


#: Every built-in grader by its name.
GRADERS = known_graders()


def graders_named(names: Iterable[str]) -> tuple[Grader, ...]:
    """Return graders by name, each once, in the order of the registry.

    Of ``claims`` and ``graded`` together, the claims give three of the four scores, so ``relevance`` replaces
    ``graded``.

    Raise an InputError if a name is unknown.
    """
    wanted = set(names)
    for name in sorted(wanted):
        if name not in GRADERS:
            raise InputError(
                f"no grader is called {name!r}", remedy=f"{did_you_mean(name, GRADERS)}There are: {', '.join(GRADERS)}."
            )
    if {"claims", "graded"} <= wanted:
        wanted = wanted - {"graded"} | {"relevance"}
    if {"graded", "relevance"} <= wanted:
        wanted.discard("relevance")
    return tuple(grader for name, grader in GRADERS.items() if name in wanted)
