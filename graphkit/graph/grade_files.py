"""Files of scores, verdicts and executions, loaded beside the answers of the runs in the graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from graphkit.database.store import Store
from graphkit.files.execution_files import holds_executions, read_executions
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.files.verdict_files import holds_verdicts, read_verdicts
from graphkit.graph.execution_nodes import check_executions, load_executions
from graphkit.graph.score_nodes import load_scores
from graphkit.graph.verdict_nodes import check_verdicts, load_verdicts
from graphkit.records.executions import Execution
from graphkit.records.scores import Score
from graphkit.records.verdicts import Verdict


@dataclass(frozen=True)
class Grades:
    """The records in some files; None if no file holds records of the kind."""

    scores: list[Score]
    verdicts: list[Verdict] | None
    executions: list[Execution] | None

    @classmethod
    def read(cls, files: Iterable[Path], problems: Problems) -> Grades:
        """Read the files, each of one kind by its name.

        Raises
        ------
        InputError
            A file can't be used, or a record is unusable and not skipped.
        """
        files = list(files)
        judged = [file for file in files if holds_verdicts(file)]
        ran = [file for file in files if holds_executions(file)]
        scored = [file for file in files if file not in judged and file not in ran]
        return cls(
            read_scores(scored, problems) if scored else [],
            read_verdicts(judged, problems) if judged else None,
            read_executions(ran, problems) if ran else None,
        )

    def load(self, store: Store) -> dict[str, dict[str, int]]:
        """Load all records; return the number of loaded scores, verdicts and executions of each run, by their kind.

        Raises
        ------
        InputError
            The graph lacks a run or an answer, or an answer changed since. Then nothing is written.
        """
        # before a score is written, which may belong to the same outdated answers
        check_verdicts(store, self.verdicts or ())
        check_executions(store, self.executions or ())
        loaded = {"score": load_scores(store, self.scores)}
        if self.verdicts is not None:
            loaded["verdict"] = load_verdicts(store, self.verdicts)
        if self.executions is not None:
            loaded["execution"] = load_executions(store, self.executions)
        return loaded
