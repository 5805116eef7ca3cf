"""The failures of a run from its files: the rows of the named queries, without a database."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from graphkit.analysis.broken_edges import QuestionEdges, absent_counts, missed_counts, question_edges
from graphkit.errors import InputError, did_you_mean
from graphkit.files.assets import command_text, dataset_option, located
from graphkit.files.dataset import Dataset
from graphkit.files.normal_forms import GoldSpelling, respell
from graphkit.files.problems import Problems
from graphkit.files.run_files import read_run
from graphkit.files.score_files import read_scores
from graphkit.graph.beside import GradeFiles, grade_files, kind_beside, kinds_beside
from graphkit.graph.queries import failure_queries, failure_query
from graphkit.graph.rows import commit_key
from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.coherence import Coherence, is_judged, version_pairs
from graphkit.measures.crossings import crossing_rows, leak_rows
from graphkit.measures.missed import counted_paths, missed_boundaries, missed_edges, missed_passages
from graphkit.measures.outcome import Decision, grade_of
from graphkit.measures.paths import first_divergences
from graphkit.measures.seeds import not_linked
from graphkit.measures.sided_case import sided
from graphkit.records.commits import UNKNOWN_COMMIT, Version
from graphkit.records.failed_rows import NO_RECORD, NOT_WALKED, Failures
from graphkit.records.scores import AboutAnswer, Score, answer_hash
from graphkit.records.words import counted
from graphkit.scoring.run_pass import judged_declines, known_from_files

Row = dict[str, Any]

#: What says something of one answer of a run.
_Grade = TypeVar("_Grade", bound=AboutAnswer)

#: The kind of traversed edges that don't exist.
INVENTED = "invented-edges"

#: What the rows of a kind are computed from, for the kinds that files suffice for.
_READS: tuple[Measure, ...] = (Coherence(),)


@dataclass(frozen=True)
class RunOnFiles:
    """A run with its dataset, read from files.

    Attributes
    ----------
    cases
        Each question of the dataset with the run's answer, by the question's id.
    invalid
        The questions with stale gold, and why.
    beside
        The records of each kind on these answers, by question, in the order of their authors. Those on earlier answers
        are left out, and ``outdated`` names their questions.
    scores
        The scores of these answers, by question: those of persons and judges that a page of the run shows, too.
    """

    run: str
    file: Path
    dataset: Dataset
    cases: Mapping[str, Case]
    invalid: Mapping[str, str]
    beside: Mapping[str, Mapping[str, list[Any]]] = field(default_factory=dict)
    outdated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    scores: Mapping[str, list[Score]] = field(default_factory=dict)

    @classmethod
    def read(
        cls, file: str | Path, dataset: str | Path | Dataset | None = None, problems: Problems | None = None
    ) -> RunOnFiles:
        """Read a run, its dataset, and the grades of its answers beside it.

        Parameters
        ----------
        dataset
            By default the folder whose ``runs/`` holds the file.

        Raises
        ------
        InputError
            A file or a record can't be used.
        """
        path, problems = located(file), problems if problems is not None else Problems()
        chosen = Dataset.of_run(path, dataset)
        commits, invalid = known_from_files(chosen, _READS, problems)
        questions = {question.id: question for _, question in chosen.questions(problems)}
        run, answers = read_run(path, problems, questions, gold=chosen.questions_file)
        spelling = GoldSpelling(chosen.questions_file)
        for answer in answers.values():
            respell(answer, spelling)
        cases = {name: Case(question, answers.get(name), commits) for name, question in questions.items()}
        grades = grade_files([path]) if path.is_file() else GradeFiles()
        beside: dict[str, dict[str, list[Any]]] = {}
        outdated: dict[str, tuple[str, ...]] = {}
        for name, files in grades.beside.items():
            kind = kind_beside(name)
            records = sorted(kind.read(files, problems), key=kind.author)
            beside[name], outdated[name] = _current(run, records, cases)
        # Each file is read by itself: a judge and a person may score an answer by the same measure.
        given = [one for file in grades.scores for one in read_scores([file], problems)]
        commits.declines = judged_declines(given)
        scores, _ = _current(run, given, cases)
        return cls(run, path, chosen, cases, invalid, beside, outdated, scores)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of failures that files suffice for, in the order of an overview."""
        return file_kinds()

    @cached_property
    def beside_nodes(self) -> Mapping[str, set[str]]:
        """The neighbours of each node in the knowledge graphs of the dataset, in any direction."""
        found: dict[str, set[str]] = defaultdict(set)
        for _, file in self.dataset.graphs.values():
            for edge in self.dataset.edges(file, Problems("skip")) if file is not None else ():
                found[edge.source].add(edge.target)
                found[edge.target].add(edge.source)
        return found

    @property
    def keeping(self) -> str:
        """A sentence on how to get the failures that only the graph gives."""
        keeping = command_text("evaluate", self.file, options=dataset_option(self.file, self.dataset.folder))
        return f"`{keeping}` keeps the run there; then name it: {self.run}"

    def ungraded(self, kind: str) -> str | None:
        """Return a sentence if a kind lists what a grade says of answers, and the run has no such grade; else None."""
        listing = [(name, one) for name, one in kinds_beside().items() if kind in (*one.failures, *one.counts)]
        unseen = [one.counted_as for name, one in listing if not self.beside.get(name)]
        return f"{kind} lists what was {unseen[0]}, and no answer of {self.run} was" if unseen else None

    def require_question(self, question: str) -> None:
        """Raise InputError unless the dataset holds a question with this id; the message suggests the closest."""
        if question not in self.cases:
            raise InputError(
                f"no question has the id {question!r}",
                where=str(self.dataset.questions_file),
                remedy=f"{did_you_mean(question, self.cases)}The dataset holds {counted(len(self.cases), 'question')}.",
            )

    def failures(self, kind: str, *, question: str | None = None, limit: int | None = None) -> Failures:
        """Return the failures of one kind, with the rows of the named query; see :func:`file_failures`."""
        name = failure_query(kind).name
        if name not in self.kinds:
            remedy = f"{self.keeping}. Files suffice for {', '.join(self.kinds)}."
            raise InputError(f"{name} needs the graph", where=str(self.file), remedy=remedy)
        if limit is not None and limit < 0:
            raise InputError(f"the limit is {limit}", where="limit", remedy="Give at least 0, or None for all rows.")
        if question is not None:
            self.require_question(question)
        if name == INVENTED:
            self._read_graph([*self.cases.values()] if question is None else [self.cases[question]])
        asked = [question] if question is not None else sorted(self.cases)
        if name in _COUNTS:
            cases = [case for one in asked if (case := self.answered(one)) is not None]
            counts = _COUNTS[name](map(question_edges, cases))
            return Failures(counts[:limit], len(counts), name, self.run)
        for beside, kind_of in kinds_beside().items():
            if name in kind_of.counts:
                answers = [(case, self.of(beside, one)) for one in asked if (case := self.answered(one)) is not None]
                counts = kind_of.counts[name](answers)
                return Failures(counts[:limit], len(counts), name, self.run)
        rows = [{"question": one, **row} for one in asked for row in self._rows(name, one)]
        if name == "questions-by-score":
            rows.sort(key=_worst_first)
        if name == "wrong-turns":
            rows.sort(key=lambda row: 0 if row["went_to"] is not None else 1 if row["entered"] else 2)
        return Failures(rows[:limit], len(rows), name, self.run)

    def _read_graph(self, cases: Iterable[Case]) -> None:
        """Read the edges of the knowledge graph if one of the cases walked an edge that nothing else decides."""
        for case in cases:
            if not case.commits.edges and any(edge not in case.gold_edges for edge in case.walked):
                case.commits.edges = self.dataset.knowledge_edges()

    def _rows(self, failures: str, question: str) -> Iterable[Row]:
        if failures in _ROWS:
            return _ROWS[failures](self, question)
        if (case := self.answered(question)) is None:
            return ()
        kinds = ((kind, self.of(name, question)) for name, kind in kinds_beside().items() if failures in kind.failures)
        return (row for kind, records in kinds for row in kind.rows(failures, case, records))

    def of(self, kind: str, question: str) -> Sequence[Any]:
        """Return the records of a kind on the answer to a question."""
        return self.beside.get(kind, {}).get(question, ())

    def messages(self) -> list[str]:
        """Return what the reader of the rows should know about what lies beside the run."""
        lines = []
        for name, questions in self.outdated.items():
            if questions:
                kind = kind_beside(name).kind
                some = f"{counted(len(questions), 'question')}, such as {questions[0]}"
                lines.append(f"{name} {kind.of} earlier answers to {some} don't count: have the run {kind.done} again")
        return lines

    def grades(self, question: str) -> list[Decision]:
        """Return what the grades of a question's answer say: those of judges, of the tests of its code, and scores."""
        found = [kind.decision(one) for name, kind in kinds_beside().items() for one in self.of(name, question)]
        found += [grade_of(one.measure, one.number, one.grader) for one in self.scores.get(question, ())]
        return [one for one in found if one.right is not None]

    def answered(self, question: str) -> Case | None:
        """Return the case of a question that is scored: its gold is valid, and the run answered it."""
        case = self.cases[question]
        return case if case.failure is None and question not in self.invalid else None


def file_failures(
    run: str | Path,
    kind: str,
    *,
    dataset: str | Path | Dataset | None = None,
    question: str | None = None,
    limit: int | None = None,
) -> Failures:
    """Return the failures of a run file of one kind, such as ``"wrong-turns"``, without a database.

    The rows are those of :func:`graphkit.failures` on the loaded run.

    Parameters
    ----------
    kind
        One of ``questions-by-score``, ``failed-questions``, ``stale-gold``, ``over-refusals``,
        ``answered-unanswerable``, ``invented-edges``, ``not-linked``, ``wrong-turns``, ``missed-edges``,
        ``missed-boundaries``, ``boundaries-missed``, ``relations-missed``, ``edges-missed``, ``nodes-missed``,
        ``edges-absent``, ``missed-passages``, ``incoherent-pairs``, ``mixed-edges``, ``access-violations``,
        ``leaks-through``, and of the
        verdicts beside the run ``unsupported-claims``, ``false-claims``, ``missing-claims``, ``claims-by-boundary``,
        ``claims-by-relation`` and ``relevance-lost``.
    dataset
        By default the folder whose ``runs/`` holds the file.
    limit
        The number of rows to return; all of them by default. ``.total`` of the result counts all rows.

    Raises
    ------
    InputError
        A file or a record can't be used, the kind or the question is unknown, the kind needs the graph, or the limit is
        negative.
    """
    return RunOnFiles.read(run, dataset).failures(kind, question=question, limit=limit)


def _current(
    run: str, grades: Iterable[_Grade], cases: Mapping[str, Case]
) -> tuple[dict[str, list[_Grade]], tuple[str, ...]]:
    """Return the grades of a run's present answers by question, and the questions of those on earlier answers."""
    found: dict[str, list[_Grade]] = {}
    outdated: dict[str, None] = {}
    for one in grades:
        case = cases.get(one.question)
        if one.run != run or case is None or case.answer is None:
            continue
        if one.answer_hash not in (None, answer_hash(case.answer.answer or "")):
            outdated[one.question] = None
        else:
            found.setdefault(one.question, []).append(one)
    return found, tuple(outdated)


def _scored(run: RunOnFiles, question: str) -> Iterator[Row]:
    case = run.cases[question]
    paths = counted_paths(case, boundaries=False)
    required = {edge for path in paths for edge in path.required}
    if not required or question in run.invalid:
        return
    found = len(required) - len({edge for path in paths for edge in path.required - path.walked})
    error = NO_RECORD if case.answer is None else case.answer.error
    if error is None and not case.walk_logged:
        error = NOT_WALKED
    yield {
        "difficulty": case.question.difficulty,
        "category": case.question.category,
        "edge_recall": math.floor(10_000 * found / len(required) + 0.5) / 10_000 if error is None else None,
        "found": found if error is None else None,
        "required": len(required),
        "error": error,
    }


def _worst_first(row: Row) -> tuple[float, int, str]:
    found = row["found"]
    return -1.0 if found is None else found / row["required"], -row["required"], row["question"]


def _failed(run: RunOnFiles, question: str) -> Iterator[Row]:
    case = run.cases[question]
    if case.failure is not None:
        error = case.answer.error if case.answer is not None else "no record in the run"
        yield {"difficulty": case.question.difficulty, "error": error}


def _stale(run: RunOnFiles, question: str) -> Iterator[Row]:
    if question in run.invalid:
        yield {"difficulty": run.cases[question].question.difficulty, "reason": run.invalid[question]}


def _turns(case: Case) -> Iterable[Row]:
    rows = (one.row() for one in first_divergences(case))
    columns = failure_query("wrong-turns").columns
    return sorted(({name: row[name] for name in columns if name in row} for row in rows), key=lambda row: row["path"])


def _mixed_edges(case: Case) -> Iterable[Row]:
    columns = ("source", "source_commit", "relation", "target", "target_commit")
    rows = [{name: getattr(step, name) for name in columns} for step in sided(case).mixed]
    return sorted(rows, key=lambda row: [row[name] or "" for name in ("source", "relation", "target", *columns[1::3])])


def _of_case(rows: Callable[[Case], Iterable[Row]]) -> Callable[[RunOnFiles, str], Iterable[Row]]:
    """Return a function that gives the rows of a question that is scored, and none of another one."""

    def found(run: RunOnFiles, question: str) -> Iterable[Row]:
        case = run.answered(question)
        return () if case is None else rows(case)

    return found


#: The rules that reject a pair, the worst first.
_REJECTING = ("incompatible", "no rule", UNKNOWN_COMMIT)


def incoherent_pairs(case: Case) -> list[dict[str, Any]]:
    """Return the commits that were retrieved together and don't fit, as the query ``incoherent-pairs`` does.

    All pairs with unknown commits are one row, the last one. A question on which ``Coherence`` isn't scored has none.
    """
    if not is_judged(case):
        return []
    found: dict[tuple[Any, ...], int] = defaultdict(int)
    for one, two, fit, pairs in version_pairs(case):
        if fit.compatible:
            continue
        first, second = sorted((one, two), key=_version_order)
        named = (None,) * 4
        if fit.rule != UNKNOWN_COMMIT:
            named = (_commit_name(first), first.branch, _commit_name(second), second.branch)  # type: ignore[assignment]
        stack = case.commits.clashing_row(first, second) if fit.rule == "incompatible" else None
        found[(*named, fit.rule, stack)] += pairs
    columns = ("first", "first_branch", "second", "second_branch", "rule", "stack")
    rows = [{**dict(zip(columns, key, strict=True)), "chunk_pairs": pairs} for key, pairs in found.items()]
    return sorted(rows, key=_pair_order)


def _version_order(version: Version) -> tuple[tuple[bool, str], ...]:
    """Return the sort key of a version: by its commit, its branch and its repository, with what is unknown last."""
    parts = (commit_key(version.repo, version.sha), version.branch, version.repo)
    return tuple((part is None, part or "") for part in parts)


def _commit_name(version: Version) -> str | None:
    return commit_key(version.repo, version.sha) or version.repo


def _pair_order(row: dict[str, Any]) -> tuple[Any, ...]:
    names = [row[name] for name in ("first", "second", "first_branch", "second_branch")]
    return (_REJECTING.index(row["rule"]), -row["chunk_pairs"], [(name is None, name or "") for name in names])


def _decisions(answerable: bool) -> Callable[[Case], Iterator[Row]]:
    """Return a function that gives the row of a question whose decision to answer was wrong."""

    def found(case: Case) -> Iterator[Row]:
        if case.declined is answerable and (case.question.answerable is not False) is answerable:
            why_not = {} if answerable else {"why_not": case.question.why_not}
            counts = {"walked": len(case.walked), "retrieved": len(case.ranks)}
            yield {**why_not, "said_by": case.decline_said_by, **counts}

    return found


def _invented(case: Case) -> Iterator[Row]:
    edges = {*case.invented, *(case.made_up or ())}
    for edge in sorted(edges, key=lambda edge: (edge[0], edge[1] or "\uffff", edge[2])):
        named = dict(zip(("source", "relation", "target"), edge, strict=True))
        yield {**named, "listed": edge in case.invented, "declined": case.declined}


#: The kinds with rows of questions, each with the rows of one, without its id.
_ROWS: Mapping[str, Callable[[RunOnFiles, str], Iterable[Row]]] = {
    "questions-by-score": _scored,
    "failed-questions": _failed,
    "stale-gold": _stale,
    "over-refusals": _of_case(_decisions(True)),
    "answered-unanswerable": _of_case(_decisions(False)),
    INVENTED: _of_case(_invented),
    "wrong-turns": _of_case(_turns),
    "not-linked": _of_case(not_linked),
    "missed-edges": _of_case(missed_edges),
    "missed-boundaries": _of_case(missed_boundaries),
    "missed-passages": _of_case(missed_passages),
    "incoherent-pairs": _of_case(incoherent_pairs),
    "mixed-edges": _of_case(_mixed_edges),
    "access-violations": _of_case(crossing_rows),
    "leaks-through": _of_case(leak_rows),
}

#: The kinds with a row for each boundary, relation, edge or node.
_COUNTS: Mapping[str, Callable[[Iterable[QuestionEdges]], list[Row]]] = {
    "boundaries-missed": partial(missed_counts, kind="boundary"),
    "relations-missed": partial(missed_counts, kind="relation"),
    "edges-missed": partial(missed_counts, kind="edge"),
    "nodes-missed": partial(missed_counts, kind="node"),
    "edges-absent": absent_counts,
}


def file_kinds() -> tuple[str, ...]:
    """Return the kinds that files suffice for, in the order of an overview."""
    found = {*_ROWS, *_COUNTS, *(name for kind in kinds_beside().values() for name in (*kind.failures, *kind.counts))}
    return tuple(query.name for query in failure_queries() if query.name in found)
