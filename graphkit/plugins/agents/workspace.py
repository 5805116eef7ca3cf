"""The tools of an agent: runs, their comparison, their failures, and why one question failed.

They read files of one folder, and the graph if there is one; nothing is written.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.errors import DatabaseError, InputError
from graphkit.files.assets import as_typed, bundled, is_bundled
from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import find_file
from graphkit.files.run_files import first_run, is_run_file
from graphkit.graph.known_names import require_run
from graphkit.graph.queries import cypher, failure_queries, failure_query
from graphkit.plugins.agents.replies import reply

if TYPE_CHECKING:
    from graphkit.database.store import Store
    from graphkit.plugins.compare.run_comparisons import RunComparison
    from graphkit.records.failed_rows import Failures

#: The most rows that a tool reads of each kind.
_MOST = 50


@dataclass(frozen=True)
class Workspace:
    """A folder whose files may be read, and how the graph is opened.

    Attributes
    ----------
    folder
        The working folder, as an absolute path without links.
    opened
        Opens the graph so that the server refuses every write; None if there is no database.
    """

    folder: Path
    opened: Callable[[], AbstractContextManager[Store]] | None

    def runs(self, dataset: str | None = None) -> str:
        """Return the runs of a dataset, or of all datasets of the folder and of the graph."""
        if dataset is not None:
            rows = [*self._runs_of(self._dataset(dataset))]
        else:
            rows = [*self._runs_of_folder(), *self._runs_in_graph()]
        return reply({"runs": len(rows)}, rows, "name a dataset")

    def _runs_of_folder(self) -> Iterator[dict[str, Any]]:
        """Yield the runs of the folder's datasets: itself, and the folders in it; one that can't be used says why."""
        for folder in (self.folder, *sorted(path for path in self.folder.iterdir() if path.is_dir())):
            if find_file(folder, "questions") is None:
                continue
            try:
                yield from self._runs_of(self._check(Dataset(folder)))
            except InputError as error:
                yield {"dataset": folder.name, "unusable": error.what}

    def _runs_of(self, dataset: Dataset) -> Iterator[dict[str, Any]]:
        for file in sorted((dataset.folder / "runs").glob("*.jsonl*")):
            row: dict[str, Any] = {"run": self._shown(file), "dataset": dataset.name}
            try:
                name = first_run(self._inside(file))
            except InputError as error:
                yield {**row, "unusable": error.what}
            else:
                yield {**row, "name": name} if name is not None else {**row, "unusable": "it holds no record of a run"}

    def _runs_in_graph(self) -> Iterator[dict[str, Any]]:
        if self.opened is None:
            return
        names = ("dataset", "questions", "failed", "complete")
        with self.opened() as store:
            for row in store.read(cypher("read/runs")):
                yield {"run": row["id"], "in": "graph", **{name: row[name] for name in names}}

    def compare(self, first: str, second: str, measures: list[str] | None = None, dataset: str | None = None) -> str:
        """Compare two runs question by question; the rows are the questions that moved most."""
        from graphkit.files.problems import Problems
        from graphkit.plugins.compare.comparison_plan import ComparisonPlan

        both = [self._run(one) for one in (first, second)]
        plan = ComparisonPlan(both[0], both[1], self._dataset_path(dataset), measures=measures or ())
        if plan.of_folders:
            raise InputError("results folders aren't compared here", remedy="Name two runs.")
        if plan.of_run_files:
            for one in both:
                self._check(Dataset.of_run(Path(one), plan.dataset))
            compared = plan.compared(Problems())
        else:
            with self._graph(both) as store:
                compared = plan.compared(Problems(), store)
        head = {"first": compared.first, "second": compared.second, "questions": compared.questions}
        head |= {
            "verdict": compared.pair.sentence(),
            **({"unclear": why} if (why := compared.pair.why_unclear) is not None else {}),
            "failed": list(compared.failed),
            "worse": [one.measure for one in compared.regressions()],
            **({"lost": lost} if (lost := compared.lost_in_words()) else {}),
        }
        return reply(head, _differences(compared), "name fewer measures, or ask why(run, question) about a question")

    def failures(
        self,
        run: str,
        kind: str | None = None,
        question: str | None = None,
        dataset: str | None = None,
        offset: int = 0,
    ) -> str:
        """Return the failures of a run: the number of each kind, and the rows, without the first ``offset``.

        Of all kinds and questions, the rows begin with the places to mend first.
        """
        if offset < 0:
            raise InputError(f"the offset is {offset}", remedy="Give 0 or more.")
        given = self._run(run)
        found = list(self._failures(given, kind, question, dataset, offset + _MOST))
        counts = {one.kind: one.total for one in found}
        mending = self._mending(given, dataset) if kind is None and question is None else []
        rows: list[dict[str, Any]] = [{"mend": one} for one in mending]
        rows += [{"kind": one.kind, **row} for one in found for row in one]
        total = len(mending) + sum(counts.values())
        more = "ask for one kind or one question, or begin at an offset"
        return reply({"run": run, "counts": counts, "offset": offset}, rows[offset:], more, total - offset)

    def _failures(
        self, run: str, kind: str | None, question: str | None, dataset: str | None, limit: int
    ) -> Iterator[Failures]:
        from graphkit.analysis.file_failures import RunOnFiles
        from graphkit.graph.failures import failures

        if is_run_file(run):
            chosen = self._check(Dataset.of_run(Path(run), self._dataset_path(dataset)))
            on_files = RunOnFiles.read(run, chosen)
            kinds = on_files.kinds if kind is None else [failure_query(kind).name]
            yield from (on_files.failures(one, question=question, limit=limit) for one in kinds)
            return
        kinds = (
            [query.name for query in failure_queries() if not query.takes("other")]
            if kind is None
            else [failure_query(kind).name]
        )
        with self._graph([run]) as store:
            for one in kinds:
                yield failures(store, run, one, question=question, limit=limit)

    def _mending(self, run: str, dataset: str | None) -> list[str]:
        """Return a sentence for each of the first places to mend."""
        from graphkit.analysis.mending import mending_in_graph, to_mend
        from graphkit.scoring.evaluate import evaluate

        if is_run_file(run):
            chosen = self._check(Dataset.of_run(Path(run), self._dataset_path(dataset)))
            found = to_mend([evaluate(run, chosen, measures=["EdgeRecall"], outcomes=True)])
        else:
            with self._graph([run]) as store:
                found = mending_in_graph(store, run)
        return [one.sentence for one in found]

    def why(self, run: str, question: str, dataset: str | None = None) -> str:
        """Explain what a run did wrong with a question: which edge broke, and what follows from that."""
        import json

        from graphkit.analysis.explanations import why

        given = self._run(run)
        if is_run_file(given):
            chosen = self._check(Dataset.of_run(Path(given), self._dataset_path(dataset)))
            found = why(given, question, dataset=chosen)
        else:
            with self._graph([given]) as store:
                found = why(given, question, store=store)
        return json.dumps(found.as_json())

    def report(self, run: str) -> str:
        """Return the scorecard of a run file as JSON: layers, targets, alerts, the diagnosis, places to mend."""
        import json

        from graphkit.analysis.layers import score_layers
        from graphkit.analysis.mending import to_mend
        from graphkit.scoring.evaluate import evaluate

        given = self._run(run)
        if not is_run_file(given):
            raise InputError("the report reads a run file", where=run, remedy="The tool runs() lists them.")
        self._check(Dataset.of_run(Path(given)))
        result = evaluate(given, outcomes=True)
        warnings = {"warnings": list(result.warnings)} if result.warnings else {}
        mending = {"mend": [one.sentence for one in to_mend([result])]}
        return json.dumps(score_layers(result).as_json() | mending | warnings, indent=2)

    # Paths

    def _inside(self, path: str | Path) -> Path:
        """Return a path in the working folder, or in a bundled dataset.

        Raise InputError for any other path, whether something is there or not.
        """
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            found = Path(os.path.realpath(bundled(path) or self.folder / path))
            if found.is_relative_to(self.folder) or is_bundled(found):
                return found
        remedy = "Start `graphkit mcp` in the folder that holds it, or copy it there."
        raise InputError("the path leads out of the working folder", where=str(path), remedy=remedy)

    def _run(self, run: str) -> str:
        """Return a run as a path inside the folder, or as its name in the graph."""
        if bundled(run) is None and not (is_run_file(run) or os.sep in run or run.startswith("@")):
            return run
        return str(self._inside(run))

    def _dataset_path(self, dataset: str | None) -> Path | None:
        return None if dataset is None else self._dataset(dataset).folder

    def _dataset(self, dataset: str) -> Dataset:
        return self._check(Dataset(self._inside(dataset)))

    def _check(self, dataset: Dataset) -> Dataset:
        """Return a dataset whose files all lie inside."""
        for file in (dataset.folder, *dataset.files()):
            self._inside(file)
        return dataset

    def _shown(self, file: Path) -> str:
        return str(file.relative_to(self.folder)) if file.is_relative_to(self.folder) else as_typed(file)

    @contextlib.contextmanager
    def _graph(self, runs: list[str]) -> Iterator[Store]:
        """Open the graph for some runs in it."""
        if self.opened is None:
            names = ", ".join(map(repr, runs))
            raise DatabaseError(f"there is no graph, so it doesn't hold {names}", remedy="The tool runs() lists runs.")
        with self.opened() as store:
            for run in runs:
                require_run(store, run)
            yield store


def _differences(compared: RunComparison) -> list[dict[str, Any]]:
    """Return rows: the warnings, each measure with failed questions, and the questions that moved most."""
    from graphkit.analysis.pair_verdict import judged

    rows: list[dict[str, Any]] = [{"warning": warning} for warning in compared.warnings]
    for one in compared.with_failed:
        low, high = _rounded(one.low), _rounded(one.high)
        means = {"first": _rounded(one.first), "second": _rounded(one.second), "delta": _rounded(one.delta)}
        found = {"interval": [low, high], "scored": one.questions, "verdict": judged(one)}
        rows.append({"measure": one.measure, **means, **found})
    rows += [
        {"question": one.question, "measure": one.measure, "delta": _rounded(one.delta)} for one in compared.movers
    ]
    return rows


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
