"""Score a run from its files, and keep dataset, run and scores in the graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from graphkit import __version__
from graphkit.database.store import Store
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.spool import Spool
from graphkit.files.stale_gold import AbsentGold
from graphkit.graph.datasets import add_questions, ensure_loaded
from graphkit.graph.digests import blocks_digest
from graphkit.graph.knowledge import absent_gold, commit_graph, history_changes, invalid_questions, question_ids
from graphkit.graph.right_answers import decision_row, grades_of_answers
from graphkit.graph.runs import (
    IN_MEMORY,
    RunPart,
    RunRecords,
    is_unordered,
    is_whole,
    load_run,
    order_run,
    refuse_other_run,
)
from graphkit.graph.score_nodes import Grading, clear_computed, gradings_of, keep_scores, rows_of
from graphkit.graph.writing import retried_writes
from graphkit.measures.base import Measure
from graphkit.records.commits import CommitGraph, Declines
from graphkit.records.progress import Progress, expect, quiet
from graphkit.records.scores import GRAPHKIT
from graphkit.records.structs import AnswerStruct
from graphkit.scoring.evaluate_shards import score_shards
from graphkit.scoring.options import EvaluationOptions
from graphkit.scoring.results import Evaluation, Kept, Row
from graphkit.scoring.run_pass import RunPass, invalid_by_files, reads_commits
from graphkit.scoring.run_shards import RunShards
from graphkit.scoring.selection import Selection

STAYS_WHOLE = "the graph holds this run whole, and it stays whole"

#: The known commits, and the reason of each question that isn't scored.
Known = tuple[CommitGraph, dict[str, str]]


@dataclass(frozen=True)
class GraphScoring:
    """Scores runs with a store, by one set of options.

    Attributes
    ----------
    judged
        Returns a result with what belongs to it beside the measures, such as scores that others gave; None for nothing.
    selection
        The rule by which questions are stored; None for all.
    declines
        What judges say of whether answers decline.
    """

    store: Store
    options: EvaluationOptions
    measures: tuple[Measure, ...]
    problems: Problems
    progress: Progress
    judged: Callable[[Evaluation], Evaluation] | None = None
    selection: Selection | None = None
    declines: Declines = field(default_factory=dict)

    def score(self, run: RunPass | RunShards) -> Evaluation:
        """Score a run, and keep dataset, run and scores in the graph.

        With Cypher, too, it first reads the files to their end: what can't be used is reported before anything is
        stored.
        """
        store, options, progress = self.store, self.options, self.progress
        dataset, history, conflicts = run.dataset.name, history_changes(store), store.conflicts
        known = self._known(run.dataset)
        with Spool(AnswerStruct) as answers:
            if isinstance(run, RunShards):
                origin = options.source or run.origin
                result, records = self._of_shards(run, known, origin)
            else:
                origin = options.source
                result, records = self._of_file(run, known, answers)
            whole = self.selection is not None and is_whole(store, result.run, records)
            if self.selection is not None and not whole:
                counts = result.questions, result.questions - result.missing, result.failed
                chosen = self.selection.chosen(result.measures, _rows(run, result), result.run, result.invalid)
                part = RunPart(str(self.selection), chosen, *counts)
                add_questions(store, run.dataset, part.questions, *known, progress)
                records = records.in_part(part, run.run_file, result.run, run.dataset.questions_file)
            was_unordered = is_unordered(store, result.run)
            loaded = load_run(
                store, dataset, result.run, run.run_file, progress, records, origin=origin, replace=options.replace
            )
            order_run(store, result.run, options.unordered)
            if is_unordered(store, result.run) != was_unordered:
                clear_computed(store, result.run)  # those by other measures than now would be of the other order
        if options.engine == "cypher":
            from graphkit.scoring.cypher_scoring import score_run

            in_graph = [measure for measure in self.measures if measure.query]
            if options.keep_rows and any(measure.reads_declined for measure in in_graph):
                # What answers are right, and what judges say, is read there.
                keep_results(
                    store, self._with_scores(result), {}, None if records.part is None else records.part.questions
                )
            found = score_run(store, dataset, result.run, in_graph, options.keep_rows)
            result = self._with_scores(_merged(self.measures, found, result))
        if whole:
            result = result.with_warning(STAYS_WHOLE)
        if records.part is not None:
            result = dataclasses.replace(result, kept=Kept(records.part.rule, len(records.part.questions)))
        if options.keep_rows:
            only = None if records.part is None else records.part.questions
            histories = {str(one): history for one in self.measures if reads_commits(run.dataset, [one])}
            grades = grades_of_answers(store, result.run, without=result.measures)
            result = result.with_grades(grades)
            rows = (row.graded(grades.get(row.question, ())) for row in _rows(run, result)) if not result.rows else None
            keep_results(store, result, histories, only, progress, rows)
        if retried := store.conflicts - conflicts:
            result = result.with_warning(retried_writes(retried))
        if loaded.replaced and not options.replace and origin == IN_MEMORY:
            result = result.with_warning(
                f"these records take the place of others that were the run {result.run!r}; name= gives another name"
            )
        return result

    def _known(self, dataset: Dataset) -> Known:
        """Load the dataset if needed, and return its commits if a measure reads them.

        The graph knows both since the dataset was loaded. If it holds only a part of the questions, as a selection
        allows, the files tell the reasons, with all commits of the graph.
        """
        store = self.store
        loading = Problems(self.problems.on_error, strict=self.problems.strict)
        partial = ensure_loaded(store, dataset, loading, self.progress, partial=self.selection is not None)
        self.problems.merge(loading.without(dataset.question_places()))
        needed = partial or reads_commits(dataset, self.measures)
        places = dataset.places()
        commits = commit_graph(store, dataset.name, dataset.artifact_commits(places)) if needed else CommitGraph()
        commits.places, commits.access, commits.declines = places, dataset.access, self.declines
        python = self.options.engine == "python"
        if any(one.needs_graph and (python or one.query is None) for one in self.measures):
            commits.edges = dataset.knowledge_edges()
        if partial:
            return commits, invalid_by_files(dataset, commits)
        commits.absent = AbsentGold.in_graphs(dataset, absent_gold(store, dataset.name)).of
        return commits, invalid_questions(store, dataset.name)

    def _of_file(self, run: RunPass, known: Known, answers: Spool[AnswerStruct]) -> tuple[Evaluation, RunRecords]:
        records = RunRecords.of_unread_file(self.store, run.dataset.name, run.run_file, answers)
        result = run.score_by(
            self.options,
            self.measures,
            known,
            self.problems,
            answers=answers,
            keep_answers=records.wanted,
            detailed=self.measures if self.options.keep_rows else None,
        )
        judged = self._with_scores(result)  # wrong scores are refused before anything is stored
        answers.flush()
        return result if self.options.engine == "cypher" else judged, records

    def _with_scores(self, result: Evaluation) -> Evaluation:
        result = dataclasses.replace(result, failed_as=self.options.failed_as)
        return result if self.judged is None else self.judged(result)

    def _of_shards(self, run: RunShards, known: Known, origin: str | None) -> tuple[Evaluation, RunRecords]:
        dataset, content = run.dataset.name, blocks_digest(run.content())  # before it is read
        if not self.options.replace and (name := self.options.name or run.name) is not None:
            refuse_other_run(self.store, dataset, name, run.run_file, content, origin)  # and not after an hour
        result = score_shards(
            run,
            self.options,
            self.measures,
            problems=self.problems,
            progress=self.progress,
            known=known,
            judged=self.judged,
            detailed=self.measures if self.options.keep_rows else None,
        )
        # The records are read again when they are written.
        return result, RunRecords(run.records(result.run), question_ids(self.store, dataset), content)


def _rows(run: RunPass | RunShards, result: Evaluation) -> Iterable[Row]:
    """Return the rows of a result; those of many questions are read from its folder."""
    if result.rows or isinstance(run, RunPass):
        return result.rows
    assert run.scored is not None
    return run.scored.rows()


def _merged(measures: Sequence[Measure], in_cypher: Evaluation, in_python: Evaluation) -> Evaluation:
    """Return one result with the measures in their requested order, from both engines."""
    names = [str(measure) for measure in measures]
    by_question = {row.question: row for row in in_cypher.rows}
    rows = []
    for row in in_python.rows:
        values = dict(zip(in_python.measures, row.values, strict=True))
        values |= dict(zip(in_cypher.measures, by_question[row.question].values, strict=True))
        strict = (*row.strict, *by_question[row.question].strict)
        rows.append(dataclasses.replace(row, values=tuple(values[name] for name in names), strict=strict))
    both = {**in_python.measures, **in_cypher.measures}
    unscored = {**in_python.unscored, **in_cypher.unscored}
    return dataclasses.replace(
        in_python,
        measures={name: both[name] for name in names},
        rows=tuple(rows),
        unscored={name: unscored[name] for name in names if name in unscored},
        relations=in_cypher.relations if in_cypher.relations.edges else in_python.relations,
    )


def keep_results(
    store: Store,
    result: Evaluation,
    histories: Mapping[str, int],
    only: Set[str] | None = None,
    progress: Progress = quiet,
    rows: Iterable[Row] | None = None,
) -> None:
    """Keep the scores of a result in the graph, computed and given ones.

    Parameters
    ----------
    histories
        For each measure that reads commits, how often the histories had changed before it was computed.
    only
        The questions of which scores are kept; by default all.
    rows
        The rows of the result, if it doesn't hold them itself.
    """
    graders = {score.measure: score.grader or None for score in result.given}
    given = set(graders)
    given_scores = [score for score in result.given if only is None or score.question in only]
    computed = [(place, name) for place, name in enumerate(result.measures) if name not in given]
    places = {name: place for place, name in enumerate(result.measures) if name in given}
    counts: dict[tuple[str, str], tuple[float | None, float | str]] = {}

    def every_row() -> Iterator[Mapping[str, object]]:
        for row, counted in result.counted_rows(rows):
            if only is not None and row.question not in only:
                continue
            score = {"question": row.question, "grader": GRAPHKIT, "gold_hash": row.gold_hash}
            details = row.details or {}
            for place, name in computed:
                value = row.values[place]
                kind = "reason" if isinstance(value, str) else "value"
                one: dict[str, object] = {**score, "measure": name, kind: value, "counted": counted[place]}
                one.update(details.get(name, {}))
                yield one
            if row.by_text is not None and row.decision is not None:
                yield decision_row(row.question, row.by_text, row.decision)
            for name, place in places.items():
                counts[row.question, name] = counted[place], row.values[place]
        for given_score, of_given in zip(given_scores, rows_of(given_scores), strict=True):
            number, _ = counts.pop((given_score.question, given_score.measure), (None, ""))
            yield {**of_given, "counted": number}
        # A question without a given score may count as the worst value, as one that the run failed on.
        for (question, name), (number, reason) in counts.items():
            if number is not None:
                of_none = {"question": question, "measure": name, "grader": graders[name], "reason": reason}
                yield {**of_none, "counted": number}

    gradings = [
        Grading(name, GRAPHKIT, __version__, True, histories.get(name), result.gold_hash, result.principal)
        for _, name in computed
    ]
    kept = result.questions if only is None else len(only)
    expect(progress, "scores", kept * len(result.measures))
    gradings += gradings_of(given_scores)
    keep_scores(store, result.run, gradings, every_row(), progress, decisions=True)
