"""Comparisons as ``graphkit compare`` makes them: of runs by name, by file or by scores, and what to note of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from graphkit.analysis.compare_runs import compare_runs
from graphkit.analysis.gates import ComparisonGates
from graphkit.analysis.run_pairs import By, RunComparison
from graphkit.analysis.score_file_pairs import compare_scores
from graphkit.analysis.shared_values import COMPARED, COMPARED_RANKING
from graphkit.files.jsonl import is_file_name
from graphkit.files.problems import Problems
from graphkit.records.unanswered import FailedAs
from graphkit.records.words import counted
from graphkit.scoring.evaluate import evaluate
from graphkit.scoring.intervals import RESAMPLES, SEED

if TYPE_CHECKING:
    from graphkit.database.store import Store


@dataclass(frozen=True)
class ComparisonPlan:
    """The runs to compare, the options of the comparison, and its gates; see :func:`graphkit.compare_runs`."""

    first: str
    second: str
    measures: Sequence[str] = ()
    by: By | None = None
    engine: Literal["cypher"] | None = None
    resamples: int = RESAMPLES
    seed: int = SEED
    failed_as: FailedAs = "worst"
    gates: ComparisonGates = field(default_factory=ComparisonGates)

    def of_files(self, scores: Sequence[Path], problems: Problems) -> RunComparison:
        """Compare the scores in files."""
        return compare_scores(
            list(scores),
            self.first,
            self.second,
            measures=self.measures,
            by=self.by,
            resamples=self.resamples,
            seed=self.seed,
            problems=problems,
            failed_as=self.failed_as,
        )

    def of_graph(self, store: Store, problems: Problems) -> RunComparison:
        """Compare runs in the graph; first score a run that is given as a file, and keep it there."""
        return compare_runs(
            store,
            self._kept(store, self.first, problems),
            self._kept(store, self.second, problems),
            measures=self.measures,
            by=self.by,
            engine=self.engine,
            resamples=self.resamples,
            seed=self.seed,
            strict=problems.strict,
            failed_as=self.failed_as,
        )

    def _kept(self, store: Store, name: str, problems: Problems) -> str:
        if not is_file_name(name):
            return name
        of_run = Problems(problems.on_error, strict=problems.strict)
        measures = self.measures or (*COMPARED, *COMPARED_RANKING)
        kept = evaluate(Path(name), store=store, measures=measures, problems=of_run)
        problems.merge(of_run)
        return kept.run

    def messages(self, compared: RunComparison) -> list[str]:
        """Return the warnings, which questions are not compared, and which measures can't show a regression."""
        found = [f"warning: {warning}" for warning in compared.warnings]
        for counts, where in ((compared.left_out_unfailed(), "one run only"), (compared.unscored, "neither run")):
            for count in dict.fromkeys(counts.values()):
                names = ", ".join(name for name, number in counts.items() if number == count)
                was, them = ("was", "is") if count == 1 else ("were", "are")
                questions = counted(count, "question")
                found.append(f"note: {names}: {questions} {was} scored in {where}, and {them} not compared")
        return [*found, *(f"note: {note}" for note in self.gates.notes(compared))]
