"""The failures of a run of one kind, as rows."""

from __future__ import annotations

from collections.abc import Iterable


class Failures(list[dict[str, object]]):
    """The rows of one kind of failure; ``total`` counts them all, also those beyond a limit."""

    def __init__(self, rows: Iterable[dict[str, object]], total: int, kind: str = "", run: str = "") -> None:
        super().__init__(rows)
        self.total = total
        self.kind = kind
        self.run = run
