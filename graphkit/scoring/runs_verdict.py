"""The verdict over several runs, as the outputs of an evaluation hold it."""

from __future__ import annotations

from typing import Any, NamedTuple


class RunsVerdict(NamedTuple):
    """The verdict over several runs: a sentence, the run that beats the next best one, and by which measure.

    ``winner`` is None if no run clearly does, and ``reason`` says why although the interval excludes 0.
    """

    sentence: str
    winner: str | None = None
    measure: str | None = None
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return self._asdict()

    def lines(self) -> list[str]:
        """Return the sentence, and the reason."""
        return [one for one in (self.sentence, self.reason) if one is not None]
