"""Comparisons as ``graphkit compare`` makes them: of runs by name, by file or by scores, and what to note of them."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graphkit.analysis.config import BY_TEXT, COMPARED
from graphkit.analysis.gate_outcomes import GateOutcome
from graphkit.errors import InputError
from graphkit.files.assets import located
from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import is_file_name
from graphkit.files.problems import Problems
from graphkit.graph.known_names import partial_runs
from graphkit.measures.registry import known_measure
from graphkit.plugins.compare.compare_runs import compare_runs, runs_of
from graphkit.plugins.compare.comparison_gates import ComparisonGates
from graphkit.plugins.compare.log_pairs import ScoredOnce, compare_files
from graphkit.plugins.compare.repeated_logs import repeated_files, repeated_name
from graphkit.plugins.compare.result_pairs import compare_folders
from graphkit.plugins.compare.run_comparisons import RunComparison
from graphkit.plugins.compare.run_pairs import PairingOptions, draws_of
from graphkit.plugins.compare.sample_plans import require_difference
from graphkit.plugins.compare.score_file_pairs import compare_scores
from graphkit.records.progress import Progress, quiet
from graphkit.records.words import counted
from graphkit.scoring.chosen_questions import ChosenQuestions
from graphkit.scoring.evaluate import evaluate
from graphkit.scoring.further_measures import measures_of_texts
from graphkit.scoring.results_folder import holds_results

if TYPE_CHECKING:
    from graphkit.database.store import Store


@dataclass(frozen=True)
class ComparisonPlan:
    """The runs to compare, the options of the comparison, and its gates; see :func:`graphkit.compare_runs`."""

    first: str
    second: str
    dataset: Path | None = None
    baseline_dataset: Path | None = None
    gold_changed: bool = False
    measures: Sequence[str] = ()
    pairing: PairingOptions = field(default_factory=PairingOptions)
    difference: float | None = None
    cost: bool = False
    engine: Literal["cypher"] | None = None
    untyped: bool = False
    gates: ComparisonGates = field(default_factory=ComparisonGates)
    scores: Sequence[Path] = ()
    known: ScoredOnce = field(default_factory=ScoredOnce, repr=False, compare=False)
    where: str | ChosenQuestions | None = None

    def __post_init__(self) -> None:
        """Refuse what can't be planned or compared."""
        if self.where is not None and (self.scores or self.of_folders or not self.of_run_files):
            what = "--where picks questions of run files, which are scored anew"
            raise InputError(what, remedy="Name two files of runs, without --scores and --engine.")
        if self.difference is not None:
            require_difference(self.difference)
        files = [file for name in (self.first, self.second) for file in repeated_files(located(name))]
        for file in files if self.cost and self.of_run_files else ():
            if file.exists() and not file.is_file():
                raise InputError("--cost reads each run a second time, and this is no file", where=str(file))

    def _measures(self, default: Sequence[str] = ()) -> Sequence[str]:
        """Return the measures by which runs are scored and compared."""
        names = self.measures or default
        if not self.untyped:
            return names
        found = [(name, known_measure(name)) for name in names or COMPARED]
        return [name if measure is None else str(measure.untyped()) for name, measure in found]

    def _by_text(self) -> tuple[str, ...]:
        """Return what is compared of gold that is text, and of questions without an answer, if there are any.

        What is wrong with files is reported later.
        """
        with contextlib.suppress(InputError):
            for name in filter(is_file_name, (self.second, self.first)):
                for file in repeated_files(located(name)):
                    applying = measures_of_texts(Dataset.of_run(file, self.dataset))
                    return tuple(name for name in applying if name in BY_TEXT)
        return ()

    def _refuse_without_records(self, what: str) -> None:
        """Refuse to compare the cost, or edges without their relations, of what holds values alone."""
        if self.cost:
            raise InputError(
                f"--cost needs the records of both runs, and {what} hold none",
                remedy="Compare the run files, or the runs in the graph.",
            )
        if self.untyped:
            raise InputError(
                f"--untyped compares edges anew, and {what} hold none",
                remedy="Compare the run files, or what `graphkit evaluate --untyped` gives.",
            )

    @cached_property
    def chosen(self) -> ChosenQuestions | None:
        """The questions to compare on, by the dataset of the second run; None for all."""
        if self.where is None:
            return None
        file = next(iter(repeated_files(located(self.second))))
        return ChosenQuestions.of(Dataset.of_run(file, self.dataset), self.where)

    def part_as_json(self) -> dict[str, Any]:
        """Return what JSON says of the picked questions; nothing for all."""
        return {} if self.chosen is None else {"where": self.chosen.as_json()}

    def stated(self, outcomes: Sequence[GateOutcome]) -> list[GateOutcome]:
        """Return the outcomes of gates with the part of the questions that they hold for."""
        part = "" if self.chosen is None else f"; {self.chosen}"
        return [dataclasses.replace(one, what=f"{one.what}{part}") for one in outcomes]

    @property
    def of_run_files(self) -> bool:
        """Whether both runs are given as files, whose comparison needs no database."""
        return self.engine is None and is_file_name(self.first) and is_file_name(self.second)

    @property
    def of_folders(self) -> bool:
        """Whether both are results folders.

        Raises
        ------
        InputError
            One of them is, and the other isn't; or an option is given that folders have no use for.
        """
        if self.scores:
            return False
        given = [self.first, self.second]
        others = [name for name in given if not holds_results(name)]
        if len(others) == len(given):
            return False
        if others:
            folder = next(name for name in given if name not in others)
            raise InputError(
                f"{folder} is a results folder, and {others[0]!r} isn't",
                remedy="`graphkit evaluate RUN --no-store --out FOLDER` makes one; or name two runs.",
            )
        if self.dataset is not None or self.engine is not None:
            raise InputError(
                f"results folders are compared without {'--engine' if self.dataset is None else '--dataset'}",
                remedy="Leave it out: they hold the values of each question.",
            )
        return True

    @property
    def of_graph_runs(self) -> bool:
        """Whether the database is needed."""
        return not self.scores and not self.of_folders and not self.of_run_files

    def compared(self, problems: Problems, store: Store | None = None, progress: Progress = quiet) -> RunComparison:
        """Compare the runs, with what else the options ask for: the questions that a difference needs, and the cost.

        A run in the graph needs the ``store``; one that is given as a file beside it is scored first, and kept there.

        Raises
        ------
        InputError
            A run or option can't be used, or there is nothing to compare.
        """
        if store is not None:
            found = self._of_graph(store, problems, progress)
        elif self.scores:
            self._refuse_without_records("scores")
            found = compare_scores(
                self.scores, self.first, self.second, measures=self.measures, problems=problems, **self.pairing
            )
        elif self.of_folders:
            self._refuse_without_records("results folders")
            found = compare_folders(self.first, self.second, measures=self.measures, problems=problems, **self.pairing)
        else:
            found = compare_files(
                self.first,
                self.second,
                self.dataset,
                measures=self._measures([*COMPARED, *self._by_text()]),
                problems=problems,
                baseline_dataset=self.baseline_dataset,
                gold_changed=self.gold_changed,
                progress=progress,
                known=self.known,
                where=self.chosen,
                **self.pairing,
            )
        if self.difference is not None:
            found = found.with_plan(self.difference)
        return found.with_cost(draws_of(self.pairing)) if self.cost else found

    def _of_graph(self, store: Store, problems: Problems, progress: Progress) -> RunComparison:
        first, second = (self.kept(store, name, problems, progress) for name in (self.first, self.second))
        partial = partial_runs(store)
        for run in (*runs_of(store, first), *runs_of(store, second)) if self.gates.asked else ():
            if run in partial:
                raise InputError(
                    f"a gate holds for whole runs, and {partial[run]}",
                    remedy="Compare the files of both runs, or `graphkit evaluate` this one without --keep.",
                )
        return compare_runs(
            store,
            first,
            second,
            measures=self._measures(),
            engine=self.engine,
            strict=problems.strict,
            **self.pairing,
        )

    def kept(self, store: Store, name: str, problems: Problems, progress: Progress) -> str:
        """Return the name of a run in the graph; one that is given as a file is scored and kept there first."""
        if not is_file_name(name):
            return name
        measures, kept = self._measures([*COMPARED, *self._by_text()]), []
        for file in repeated_files(name):
            of_run = Problems(problems.on_error, strict=problems.strict)
            one = evaluate(file, self.dataset, store=store, measures=measures, problems=of_run, progress=progress)
            problems.merge(of_run)
            kept.append(one.run)
        return kept[0] if len(kept) == 1 else repeated_name(kept, name)

    def brief_messages(self, compared: RunComparison) -> list[str]:
        """Return the warnings that :func:`~graphkit.plugins.compare.comparison_findings.comparison_brief` leaves."""
        warnings = [f"warning: {warning}" for warning in self.limits(compared)]
        warnings += [f"warning: {one}" for one in compared.lost_in_words()]
        return [*self._part(), *warnings, *(f"note: {note}" for note in self.gates.notes(compared))]

    def _part(self) -> list[str]:
        return [] if self.chosen is None else [f"note: {self.chosen}"]

    @staticmethod
    def limits(compared: RunComparison) -> list[str]:
        """Return the warnings of a comparison, except those on failed questions."""
        told = {
            warning
            for run, failed in zip((compared.first, compared.second), compared.failed, strict=True)
            for warning in compared.warnings
            if failed and warning.startswith(f"{run} ") and warning.partition(": ")[2].startswith("each counts as")
        }
        return [warning for warning in compared.warnings if warning not in told]

    def messages(self, compared: RunComparison) -> list[str]:
        """Return the warnings, which questions are not compared, and which measures can't show a regression."""
        found = [f"warning: {warning}" for warning in (*compared.warnings, *compared.lost_in_words())]
        for counts, where in ((compared.left_out_unfailed(), "one run only"), (compared.unscored, "neither run")):
            for count in dict.fromkeys(counts.values()):
                names = ", ".join(name for name, number in counts.items() if number == count)
                was, them = ("was", "is") if count == 1 else ("were", "are")
                questions = counted(count, "question")
                found.append(f"note: {names}: {questions} {was} scored in {where}, and {them} not compared")
        return [*self._part(), *found, *(f"note: {note}" for note in self.gates.notes(compared))]
