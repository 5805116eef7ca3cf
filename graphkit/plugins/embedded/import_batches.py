"""ArcadeDB's batch importer (``GraphBatch``) for databases of any size."""

from __future__ import annotations

from typing import Any

#: Relationships of one batch.
TOGETHER = 500_000


class ImportBatches:
    """Batches that follow each other: each keeps the ends of its relationships in memory until it is closed.

    Parameters
    ----------
    together
        The number of relationships after which a batch is closed, and the next one begins.

    Attributes
    ----------
    current
        The open batch.
    """

    def __init__(self, database: Any, together: int = TOGETHER) -> None:
        self._database = database
        self._together = together
        self._related = 0
        self.current = self._new()

    def related(self, count: int) -> None:
        """Count relationships that were added to the current batch, and close it if it is full."""
        self._related += count
        if self._related >= self._together:
            self.current.close()
            self.current, self._related = self._new(), 0

    def _new(self) -> Any:
        return self._database.batch().withWAL(False).build()
