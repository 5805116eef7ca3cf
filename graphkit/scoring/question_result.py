"""The result of one question of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphkit.errors import one_line
from graphkit.records.notebook_html import block
from graphkit.records.words import counted, shown
from graphkit.scoring.measured import COLUMNS, Measured, on_targets, own_thresholds

#: How many values the short text names.
SHOWN = 4


@dataclass(frozen=True)
class QuestionResult:
    """The values of one question of a run by measure: a number, or the reason why there is none.

    Attributes
    ----------
    failure
        Why the run gave no answer; None where it gave one.
    invalid
        Why the question isn't scored for its stale gold; None where it is scored.
    labels
        Its category, difficulty and group, as far as it has them.
    """

    run: str
    question: str
    values: Mapping[str, float | str]
    failure: str | None = None
    invalid: str | None = None
    labels: Mapping[str, str] | None = None

    @property
    def verdict(self) -> str:
        """A sentence: why the question isn't scored, or how it stands against the targets."""
        about = f"{self.question} in {self.run}"
        if self.failure is not None:
            return f"{about}: not answered ({self.failure})"
        if self.invalid is not None:
            return f"{about}: not scored ({self.invalid})"
        scored = [one for one in self._measured() if one.value is not None]
        against = on_targets(scored)
        return f"{about}: {against or counted(len(scored), 'measure') + ' scored'}"

    def _measured(self) -> list[Measured]:
        return [
            Measured(name, None, value, thresholds=own_thresholds(name))
            if isinstance(value, str)
            else Measured(name, value, thresholds=own_thresholds(name))
            for name, value in self.values.items()
        ]

    def __repr__(self) -> str:
        scored = [f"{name} {shown(value)}" for name, value in self.values.items() if not isinstance(value, str)]
        return f"<{one_line('; '.join([self.verdict, *scored[:SHOWN]]))}>"

    def _repr_html_(self) -> str:
        """Draw the question in a notebook: the verdict, and each value against its target."""
        labels = ", ".join(f"{name}: {value}" for name, value in (self.labels or {}).items())
        columns = (*COLUMNS[:-1], "not scored, since")
        return block(self.verdict, columns, [one.row() for one in self._measured()], [labels] if labels else ())
