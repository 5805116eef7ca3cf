"""Whether a judge still says what it said: recorded grades against those of today."""

from __future__ import annotations

from collections.abc import Sequence

from graphkit.records.scores import Score
from graphkit.trust.effects import Effect, effects
from graphkit.trust.rejudge_contract import Regrade


async def drift(recorded: Sequence[Score], regrade: Regrade) -> list[Effect]:
    """Have the recorded answers graded anew, and return how far each measure has moved since."""
    questions = list(dict.fromkeys(score.question for score in recorded))
    return effects("drift", recorded, await regrade(questions, variant="same"))
