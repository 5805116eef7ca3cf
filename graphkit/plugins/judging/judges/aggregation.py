"""The grader ``aggregation``: the components that an answer covers, and four kinds of errors about them."""

from __future__ import annotations

from typing import Literal

from graphkit.measures.completeness import NO_FACTS
from graphkit.plugins.judging.judges.contract import Finding, Grader, Reading, UnusableVerdictError
from graphkit.plugins.judging.judges.forms import VerdictForm, Words, each_once, unscored_if_unseen
from graphkit.plugins.judging.judges.materials import Materials
from graphkit.plugins.judging.judges.prompts import PARTS
from graphkit.records.words import counted, shortened

#: The accuracy that each error costs.
COST_OF_ERROR = 0.15


class ComponentVerdict(VerdictForm):
    """What the answer does with one component."""

    component: Words
    reason: Words
    addressed: bool
    attributed: bool
    role: bool


class AggregationError(VerdictForm):
    """An error, and the component that it concerns."""

    kind: Literal["INVENTED_STEP", "OMITTED_COMPONENT", "MISATTRIBUTION", "INCORRECT_ORDER"]
    component: str | None
    what: Words


class AggregationVerdict(VerdictForm):
    """Each component once, and the errors."""

    components: list[ComponentVerdict]
    errors: list[AggregationError]


def _read(verdict: AggregationVerdict, materials: Materials) -> Reading:
    keys = [f"f{number}" for number in range(1, len(materials.facts) + 1)]
    each_once([one.component for one in verdict.components], keys, "component")
    named = {one.component for one in verdict.errors} - {None}
    if strange := sorted(str(key) for key in named.difference(keys)):
        raise UnusableVerdictError(f"an error is about {shortened(', '.join(strange))}, and there is no such component")
    errors = _errors(verdict)
    completeness = sum(one.addressed for one in verdict.components) / len(keys)
    accuracy = max(0.0, 1 - COST_OF_ERROR * len(errors))
    listed = "; ".join(errors) or "no errors"
    grade = f"{sum(one.addressed for one in verdict.components)} of {counted(len(keys), 'component')} addressed"
    findings = [
        Finding("AggregationCompleteness", completeness, explanation=grade),
        Finding("AggregationAccuracy", accuracy, explanation=listed),
        Finding("AggregationScore", (completeness + accuracy) / 2, explanation=f"{grade}; {listed}"),
        Finding("FactualCorrectness", accuracy, explanation=listed),
    ]
    if any(one.kind == "INVENTED_STEP" for one in verdict.errors):  # an unseen chunk may hold the step
        findings[1:] = [unscored_if_unseen(one, materials) for one in findings[1:]]
    return Reading(findings)


def _errors(verdict: AggregationVerdict) -> list[str]:
    """Return each error once, with the omissions and misattributions that follow from the components."""
    errors: dict[tuple[str, str | None, str], None] = {}
    for error in verdict.errors:
        by_component = error.kind in ("OMITTED_COMPONENT", "MISATTRIBUTION") and error.component is not None
        errors[error.kind, error.component, "" if by_component else error.what] = None
    for one in verdict.components:
        omitted, misplaced = ("OMITTED_COMPONENT", one.component, ""), ("MISATTRIBUTION", one.component, "")
        if one.addressed and omitted in errors:
            raise UnusableVerdictError(f"{one.component} is called both addressed and omitted")
        if not one.addressed:
            errors[omitted] = None
        elif not one.attributed:
            errors[misplaced] = None
    return [f"{kind} {component or ''}{': ' if what else ''}{what}".strip() for kind, component, what in errors]


AGGREGATION = Grader(
    "aggregation",
    AggregationVerdict,
    PARTS,
    ("AggregationCompleteness", "AggregationAccuracy", "AggregationScore", "FactualCorrectness"),
    _read,
    lacks=lambda materials: None if materials.facts else NO_FACTS,
)
