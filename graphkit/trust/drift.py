"""Measures whether a judge has changed: recorded grades against new ones."""

from __future__ import annotations

from collections.abc import Sequence

from graphkit.records.scores import Score
from graphkit.trust.effects import Effect, effects
from graphkit.trust.rejudge_contract import Rejudge


async def drift(recorded: Sequence[Score], rejudge: Rejudge) -> list[Effect]:
    """Grade the recorded answers again, and return how far each measure has moved."""
    questions = list(dict.fromkeys(score.question for score in recorded))
    return effects("drift", recorded, await rejudge(questions, variant="same"))
