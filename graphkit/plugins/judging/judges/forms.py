"""The base of verdict forms, and the checks that graders share."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.types import StrictInt

from graphkit.measures.owners import NEITHER
from graphkit.plugins.judging.judges.contract import Finding, UnusableVerdictError
from graphkit.plugins.judging.judges.materials import Materials
from graphkit.records.words import shortened


class VerdictForm(BaseModel):
    """Base of the forms: it refuses unknown fields and values of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


#: A share, a confidence, or a score from 0 to 1.
Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
#: 1 for yes and 0 for no.
Bit = Annotated[StrictInt, Field(ge=0, le=1)]
#: A text that isn't empty.
Words = Annotated[str, Field(min_length=1)]

NO_GOLD_ANSWER = "no gold answer"


def needs_gold(materials: Materials) -> str | None:
    """Return the reason if there is no gold answer."""
    return None if materials.gold_answer is not None else NO_GOLD_ANSWER


def needs_gold_or_facts(materials: Materials) -> str | None:
    """Return the reason if there is neither a gold answer nor a fact to compare an answer with."""
    return None if materials.gold_answer is not None or materials.facts else NEITHER


def unscored(measures: Iterable[str], reason: str) -> tuple[Finding, ...]:
    """Return a finding without a value for each measure."""
    return tuple(Finding(measure, None, reason) for measure in measures)


def unscored_if_unseen(finding: Finding, materials: Materials) -> Finding:
    """Return the finding, without its value if chunks that the judge didn't see could have raised it."""
    if not materials.incomplete or finding.value is None or finding.value >= 1.0:
        return finding
    return replace(finding, value=None, reason=materials.unseen)


def each_once(keys: Sequence[str], wanted: Sequence[str], noun: str) -> None:
    """Refuse a verdict that doesn't list each wanted key exactly once.

    Raise an UnusableVerdictError if a key is missing, listed twice, or unknown.
    """
    wrong = []
    if unknown := sorted(set(keys) - set(wanted)):
        wrong.append(f"there is no {shortened(', '.join(unknown))}")
    if missing := [key for key in wanted if key not in keys]:
        wrong.append(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    if twice := sorted({key for key in keys if keys.count(key) > 1}):
        wrong.append(f"{shortened(', '.join(twice))} {'is' if len(twice) == 1 else 'are'} listed twice")
    if wrong:
        raise UnusableVerdictError(f"{'; '.join(wrong)}: list each {noun} once")


@lru_cache(maxsize=256)
def plain(text: str) -> str:
    """Return a text in NFKC with each run of white space as one space; case is kept."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def occurs(quote: str, text: str) -> bool:
    """Return whether a quote occurs in a text, after normalising Unicode and white space; case counts.

    A quote without a letter or digit never occurs.

    >>> occurs("total  cents", "the total\\ncents"), occurs("Total", "the total"), occurs(" ", "a b")
    (True, False, False)
    """
    wanted = plain(quote)
    return any(map(str.isalnum, wanted)) and wanted in plain(text)
