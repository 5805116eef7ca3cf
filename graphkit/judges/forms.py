"""What the forms of verdicts share: nothing but what is asked for, and no number out of a string."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.types import StrictInt

from graphkit.judges.contract import Finding, UnusableVerdictError
from graphkit.judges.materials import Materials
from graphkit.records.words import counted, shortened


class VerdictForm(BaseModel):
    """Base of the forms: what isn't asked for is refused, and a value has the type that it is asked for in."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


#: A share, a confidence, or a score from 0 to 1.
Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
#: 1 for yes and 0 for no.
Bit = Annotated[StrictInt, Field(ge=0, le=1)]
#: Words that have to be there.
Words = Annotated[str, Field(min_length=1)]

NO_GOLD_ANSWER = "no gold answer"
NEITHER = "neither a gold answer nor facts"


def needs_gold(materials: Materials) -> str | None:
    """Return that there is no gold answer, where there is none."""
    return None if materials.gold_answer is not None else NO_GOLD_ANSWER


def needs_gold_or_facts(materials: Materials) -> str | None:
    """Return that there is nothing to compare an answer with, where there is nothing."""
    return None if materials.gold_answer is not None or materials.facts else NEITHER


def unscored(measures: Iterable[str], reason: str) -> tuple[Finding, ...]:
    """Return for each measure that it has no value, and why."""
    return tuple(Finding(measure, None, reason) for measure in measures)


def unscored_if_unseen(finding: Finding, materials: Materials, best: float = 1.0) -> Finding:
    """Return a finding, or that there is none where chunks that the judge wasn't shown could have raised it."""
    if not materials.incomplete or finding.value is None or finding.value >= best:
        return finding
    return replace(finding, value=None, reason=materials.unseen)


def each_once(keys: Sequence[str], wanted: Sequence[str], noun: str) -> None:
    """Refuse a verdict that doesn't tell of each of these exactly once.

    Raises
    ------
    UnusableVerdictError
        One is missing, told of twice, or isn't there.
    """
    wrong = []
    if strange := sorted(set(keys) - set(wanted)):
        wrong.append(f"there is no {shortened(', '.join(strange))}")
    if missing := [key for key in wanted if key not in keys]:
        wrong.append(f"nothing is said of {', '.join(missing)}")
    if twice := sorted({key for key in keys if keys.count(key) > 1}):
        wrong.append(f"{shortened(', '.join(twice))} is told of twice")
    if wrong:
        raise UnusableVerdictError(f"{'; '.join(wrong)}: each of {counted(len(wanted), noun)} has to stand there once")
