"""The failures of a run of one kind, as rows."""

from __future__ import annotations

from collections.abc import Iterable

from graphkit.errors import one_line
from graphkit.records.notebook_html import block
from graphkit.records.words import counted

#: The characters of the short text.
SHOWN = 240


#: Why a row of ``questions-by-score`` has no score: the run has no record, or one without a traversal.
NO_RECORD, NOT_WALKED = "no record", "no traversal (not logged)"


class Failures(list[dict[str, object]]):
    """The rows of one kind of failure; ``total`` counts them all, also those beyond a limit.

    ``kept`` is a sentence on a run that is stored in part, whose rows are those of the stored questions.
    """

    def __init__(
        self, rows: Iterable[dict[str, object]], total: int, kind: str = "", run: str = "", kept: str | None = None
    ) -> None:
        super().__init__(rows)
        self.total = total
        self.kind = kind
        self.run = run
        self.kept = kept

    @property
    def verdict(self) -> str:
        """A sentence: how many failures of which kind the run has."""
        if not self.total:
            return f"{self.run}: no {self.kind}{self._part}"
        cut = f", {len(self)} shown" if len(self) < self.total else ""
        return f"{self.run}: {counted(self.total, 'row')} of {self.kind}{cut}{self._part}"

    @property
    def _part(self) -> str:
        return f"; {self.kept}" if self.kept else ""

    def __repr__(self) -> str:
        first = f"; the first: {dict(self[0])}" if self else ""
        return f"<{one_line(self.verdict + first)[:SHOWN]}>"

    def _repr_html_(self) -> str:
        """Draw the rows as a table in a notebook, after their number."""
        rows = [["–" if value is None else value for value in row.values()] for row in self]
        return block(self.verdict, [*self[0]] if self else (), rows)
