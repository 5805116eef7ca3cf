"""Files of scores and of what else lies beside a run, loaded beside the answers of the runs in the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphkit.database.store import Store
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.graph.beside import kind_beside, kind_of_file
from graphkit.graph.score_nodes import load_scores
from graphkit.records.scores import Score


@dataclass(frozen=True)
class Grades:
    """The records in some files: scores, and those of each other kind that a file holds."""

    scores: list[Score]
    beside: Mapping[str, list[Any]]

    @classmethod
    def read(cls, files: Iterable[Path], problems: Problems) -> Grades:
        """Read the files, each of one kind by its name.

        Raises
        ------
        InputError
            A file can't be used or its plug-in isn't there, or a record is unusable and not skipped.
        """
        held: dict[str | None, list[Path]] = {}
        for file in files:
            held.setdefault(kind_of_file(file), []).append(file)
        scored = held.pop(None, [])
        return cls(
            read_scores(scored, problems) if scored else [],
            {name: kind_beside(name).read(some, problems) for name, some in held.items() if name is not None},
        )

    def load(self, store: Store) -> dict[str, dict[str, int]]:
        """Load all records; return the number of loaded ones of each run, by what one of their kind is called.

        Raises
        ------
        InputError
            The graph lacks a run or an answer, or an answer changed since. Then nothing is written.
        """
        kinds = {name: kind_beside(name) for name in self.beside}
        # before a score is written, which may belong to the same outdated answers
        for name, kind in kinds.items():
            kind.check(store, self.beside[name])
        loaded = {"score": load_scores(store, self.scores)}
        return loaded | {kind.kind.noun: kind.load(store, self.beside[name]) for name, kind in kinds.items()}
