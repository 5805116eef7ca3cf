"""Load a run: replace it as a whole, mark it as complete at the end, and resume an interrupted load of the same file.

A run is marked as incomplete before anything of it is deleted, so an interrupted load leaves a run that says so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.jsonl import find_file
from graphkit.files.problems import Problems
from graphkit.files.run_files import records_of
from graphkit.graph import rows as to_rows
from graphkit.graph import schema_version
from graphkit.graph.commit_names import CommitResolver, commits_state, resolve_commits
from graphkit.graph.digests import content_digest, run_digest
from graphkit.graph.edge_directions import align_paths, directing_gold
from graphkit.graph.given_parts import clear_given, links_of_given
from graphkit.graph.knowledge import known_places, question_ids
from graphkit.graph.known_names import kept_questions, refuse_renaming
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import Reservation, reserved
from graphkit.graph.schema_version import names_no_dataset
from graphkit.graph.score_nodes import clear_scores, gradings
from graphkit.graph.stream import TEXT, Artifacts, Joins, StreamWriter, Transaction
from graphkit.graph.walk_sides import align_sides
from graphkit.graph.writing import BATCH, batched, clear, clear_former, clear_unnamed
from graphkit.measures.outcome import RIGHT_ANSWER
from graphkit.records.collector import quiet_collector
from graphkit.records.progress import Progress, expect, quiet
from graphkit.records.structs import AnswerStruct

#: Answers whose commits are resolved together.
RECORDS = 250

#: The rows as which a question counts whose chunks are linked to artifacts.
LINKED = 10

#: The origin of a run without a file.
IN_MEMORY = "records in memory"


@dataclass(frozen=True, slots=True)
class RunLoad:
    """The result of loading a run: how many answers were written or already there, and whether it replaced a run."""

    run: str
    written: int
    unchanged: int
    replaced: bool = False


@dataclass(frozen=True, slots=True)
class RunPart:
    """The part of a run that the graph stores, and the numbers of the whole run.

    Attributes
    ----------
    rule
        The rule that selected its questions, as ``--keep`` takes it.
    questions
        The selected questions, those without a record too.
    of
        The number of all questions.
    records, failed
        The number of all records, and of those with an error.
    """

    rule: str
    questions: Set[str]
    of: int
    records: int
    failed: int


@dataclass(frozen=True, slots=True)
class RunRecords:
    """The records of a run file, collected while the file is read for another purpose, or still to be read.

    Attributes
    ----------
    questions
        The questions of the dataset in the graph, from before the file is read.
    content
        The digest of the file, from before it is read.
    part
        The part of the run that is stored; None for all of it.
    wanted
        Whether to collect the records: False if the graph already holds exactly these.
    """

    answers: Iterable[AnswerStruct]
    questions: set[str]
    content: str
    part: RunPart | None = None
    wanted: bool = True

    @classmethod
    def of_unread_file(cls, store: Store, dataset: str, run_file: Path, answers: Iterable[AnswerStruct]) -> RunRecords:
        """Return the records of a file that the caller is about to read; it adds them to ``answers`` if wanted."""
        found = cls(answers, question_ids(store, dataset), content_digest(run_file))
        held = any(row["complete"] and row["digest"] == found.digest for row in store.read(cypher("read/runs")))
        return dataclasses.replace(found, wanted=not held)

    @classmethod
    def of_file(cls, store: Store, dataset: str, run: str, run_file: Path) -> RunRecords:
        """Return the records of a checked file under the name of the run, without unusable lines."""
        answers = records_of(run_file, Problems("skip"), run, _questions_file(store, dataset))
        return cls((answer for _, answer in answers), question_ids(store, dataset), content_digest(run_file))

    def in_part(self, part: RunPart, run_file: Path, run: str, questions: Path | None = None) -> RunRecords:
        """Return the records of a part of the run; those that weren't collected are read again."""
        answers = self.answers
        if not self.wanted:
            answers = (answer for _, answer in records_of(run_file, Problems("skip"), run, questions))
        return dataclasses.replace(self, answers=answers, part=part, wanted=True)

    @property
    def digest(self) -> str:
        """The digest of the run, from the file and from the questions, which decide the records to load."""
        part = self.part
        return run_digest(self.content, self.questions if part is None else [part.rule, *part.questions])


def _questions_file(store: Store, dataset: str) -> Path | None:
    """Return the questions of a loaded dataset, by whose texts records may name them."""
    folders = [row["folder"] for row in store.read(cypher("read/datasets")) if row["name"] == dataset]
    return find_file(Path(str(folders[0])), "questions") if folders and folders[0] else None


@quiet_collector()
def load_run(
    store: Store,
    dataset: str,
    run: str,
    run_file: Path,
    progress: Progress = quiet,
    records: RunRecords | None = None,
    *,
    origin: str | None = None,
    replace: bool = False,
) -> RunLoad:
    """Load the records of a run whose file was checked before, without unusable lines and unknown questions.

    Raise InputError if the run's name belongs to another dataset, to a run with another source and other content, or to
    one whose renaming isn't finished. Raise DatabaseError if the database fails.

    Parameters
    ----------
    records
        The records that were collected while the file was checked; without them, the file is read.
    origin
        The source of a temporary file; by default the file is the run's log itself.
    replace
        Replace a run of this name from another source.
    """
    with reserved(store, reservation_of_run(run)) as held:
        refuse_renaming(store, run)
        if records is None:
            records = RunRecords.of_file(store, dataset, run, run_file)
        known = store.read(cypher("load/known_run"), {"id": run})
        source = _Source.of(run_file, origin)
        if known:
            source.refuse_other(known[0], run, dataset, records.content, replace)
        if known and known[0]["complete"] and known[0]["digest"] == records.digest:
            if (known[0]["file"], known[0]["origin"]) != (source.file, source.origin):
                store.write(cypher("load/run_file"), {"id": run, "file": source.file, "origin": source.origin})
            answers = store.read(cypher("load/run_answers"), {"run": run})
            return RunLoad(run, 0, len(answers))
        if not records.wanted:  # another process has replaced what the graph held, or another run has this content
            records = RunRecords.of_file(store, dataset, run, run_file)
        if known and known[0]["digest"] != records.digest:
            same = known[0]["content"] == records.content
            (clear_answers if same else clear_run)(store, run)
        if former := bool(known) and names_no_dataset(known[0]):
            store.write(cypher("load/former_gradings"), {"run": run})
        begun = {"id": run, "dataset": dataset, "digest": records.digest, "content": records.content}
        rule = records.part.rule if records.part is not None else None
        begun |= {"schema": schema_version.SCHEMA_VERSION}
        store.write(cypher("load/run"), {**begun, "kept": rule, "file": source.file, "origin": source.origin})
        for ids in batched(sorted(records.part.questions) if records.part is not None else (), BATCH):
            store.write(cypher("load/kept"), {"run": run, "ids": ids})
        written = _write_run(store, dataset, run, records, held, progress)
        if known:
            # Chunks and artifacts that only the former answers named.
            clear_unnamed(store, dataset, lambda _: held.beat())
        if former:
            clear_former(store, lambda _: held.beat())
    return dataclasses.replace(written, replaced=bool(known) and known[0]["content"] != records.content)


def refuse_other_run(
    store: Store, dataset: str, run: str, run_file: Path, content: str | None = None, origin: str | None = None
) -> None:
    """Raise early what :func:`load_run` would raise, if the name belongs to another run.

    ``content`` is the digest of the run, if it is known.
    """
    refuse_renaming(store, run)
    known = store.read(cypher("load/known_run"), {"id": run})
    if known:
        content = content_digest(run_file) if content is None else content
        _Source.of(run_file, origin).refuse_other(known[0], run, dataset, content, False)


@dataclass(frozen=True, slots=True)
class _Source:
    """The source of a run: the log that can be read again, if any, and its name in messages."""

    file: str | None
    origin: str

    @classmethod
    def of(cls, run_file: Path, origin: str | None) -> _Source:
        file = str(run_file.resolve())
        return cls(file, file) if origin is None else cls(None, origin)

    def refuse_other(self, known: Mapping[str, Any], run: str, dataset: str, content: str, replace: bool) -> None:
        """Raise InputError if the name belongs to another dataset, or to a run of other source and content."""
        if known["dataset"] != dataset:
            raise InputError(
                f"the run {run!r} already belongs to the dataset {known['dataset']!r}",
                where=self.origin,
                remedy="Give it another name (--run NAME).",
            )
        if replace or known["origin"] == self.origin or known["content"] == content:
            return
        raise InputError(
            f"the graph holds another run {run!r}, from {known['origin']}",
            where=self.origin,
            remedy="Give this one another name (--run NAME), or replace the other one (`graphkit evaluate --replace`).",
        )


def order_run(store: Store, run: str, unordered: bool) -> None:
    """Read the traversals of a run as sets of edges from now on, or in the order of its records again."""
    store.write(cypher("load/run_order"), {"id": run, "unordered": unordered})


def is_unordered(store: Store, run: str) -> bool:
    """Return whether a run is read as sets of edges, whatever its records say."""
    return bool(store.read(cypher("read/unordered"), {"run": run})[0]["unordered"])


def reservation_of_run(run: str) -> str:
    """Return the name of the reservation of a run."""
    return f"run {run}"


def clear_run(store: Store, run: str, done: Callable[[int], None] = lambda _: None) -> None:
    """Delete the answers, scores, verdicts and executions of a run."""
    # Killed on the way, it must not be taken for the same run: a part of what others gave may be left.
    store.write(cypher("load/run_changes"), {"id": run, "given": True})
    clear_scores(store, run, done)
    clear_given(store, run)
    _clear_answers(store, run, done)


def clear_answers(store: Store, run: str, done: Callable[[int], None] = lambda _: None) -> None:
    """Delete the answers of a run, but no score, verdict or execution, which only their authors could give again."""
    store.write(cypher("load/run_changes"), {"id": run, "given": False})
    _clear_answers(store, run, done)


def _clear_answers(store: Store, run: str, done: Callable[[int], None]) -> None:
    for part in _ANSWERS:
        clear(store, f"load/clear_{part}", {"run": run, "questions": None}, done)
    clear(store, "load/clear_kept", {"run": run}, done)


#: What belongs to the answers of a run, in the order in which it is deleted.
_ANSWERS = ("traversed", "tool_calls", "answers")


def forget_questions(store: Store, dataset: str, questions: Sequence[str]) -> dict[str, int]:
    """Delete all that the runs of a dataset hold of some questions; return the number of answers and of scores."""
    counts = {"answers": 0, "scores": 0}

    def counted(kind: str) -> Callable[[int], None]:
        def done(count: int) -> None:
            counts[kind] += count

        return done

    for run in _runs_of(store, dataset):
        few = {"run": run, "questions": list(questions)}
        # Decisions whether an answer is right are no scores that anybody counts.
        clear(store, "load/clear_scores", {**few, "measures": [RIGHT_ANSWER], "grader": None})
        clear(store, "load/clear_scores", {**few, "measures": None, "grader": None}, counted("scores"))
        clear_given(store, run, questions)
        for part in _ANSWERS[:-1]:
            clear(store, f"load/clear_{part}", few)
        clear(store, "load/clear_answers", few, counted("answers"))
    return counts


def recount_runs(store: Store, dataset: str) -> None:
    """Count the answers, verdicts and executions of a dataset's runs again, and delete the gradings without scores."""
    for run in _runs_of(store, dataset):
        measures = list(gradings(store, run))
        store.write(cypher("load/clear_empty_gradings"), {"run": run, "measures": measures, "full": [], "kept": []})
        store.write(cypher("load/recount_run"), {"run": run})


def _runs_of(store: Store, dataset: str) -> list[str]:
    return [str(row["id"]) for row in store.read(cypher("read/runs")) if row["dataset"] == dataset]


def _link_again(store: Store, run: str) -> None:
    """Link scores, verdicts and executions to the answers of a run, which were loaded again."""
    links = [("scores", name) for name in (*gradings(store, run), RIGHT_ANSWER)]
    links += links_of_given(store, run)
    for part, name in links:
        clear(store, f"load/relink_{part}", {"run": run, "name": name})


def is_whole(store: Store, run: str, records: RunRecords) -> bool:
    """Return whether the graph holds exactly these records of a run, and all of them."""
    known = store.read(cypher("load/known_run"), {"id": run})
    return bool(known and known[0]["complete"] and known[0]["digest"] == records.digest)


def stored_part(store: Store, run: str, run_file: Path) -> set[str] | None:
    """Return the questions of a run that the graph holds completely, but only in part.

    None if the graph holds it whole, not to its end, not by this file's content, or not at all.
    """
    known = store.read(cypher("load/known_run"), {"id": run})
    if not known or not known[0]["complete"] or known[0]["kept"] is None:
        return None
    return kept_questions(store, run) if known[0]["content"] == content_digest(run_file) else None


def _write_run(
    store: Store, dataset: str, run: str, records: RunRecords, held: Reservation, progress: Progress
) -> RunLoad:
    state = commits_state(store, dataset)
    wanted = records.questions if records.part is None else records.part.questions
    reader = _AnswerReader(store, dataset, run, records.answers, wanted)
    resumed, written = len(reader.there), 0
    expect(progress, "answers", len(wanted - reader.there))

    def mark_open(rows: list[dict[str, Any]]) -> None:
        if not reader.marked and any(row["open"] for row in rows):
            store.write(cypher("load/run_open"), {"id": run})
            reader.marked = True

    artifacts = Artifacts(store, dataset, reader.places)
    writer = StreamWriter(store, partial(_transaction, dataset, run), _weight, artifacts, before=mark_open)
    for rows in writer.write(reader.rows()):
        written += len(rows)
        progress("answers", len(rows))
        held.beat()
    # Only now are all artifacts there: what a batch of answers linked would depend on the batches' sizes.
    linker = StreamWriter(store, partial(_links, run), lambda _: LINKED)
    expect(progress, "answers linked", len(reader.there))
    for questions in linker.write(sorted(reader.there)):
        progress("answers linked", len(questions))
        held.beat()
    if resumed or state is None or state != commits_state(store, dataset):
        # Some names of commits were resolved with other commits than the dataset knows now.
        resolve_commits(store, dataset, run)
    if reader.directionless:
        align_paths(store, run, reader.there)
    align_sides(store, dataset, run)
    _link_again(store, run)
    counts = {"questions": len(reader.there), "failed": reader.failed, "kept_questions": None, "kept_of": None}
    counts["directionless"] = True if reader.directionless else None
    if (part := records.part) is not None:
        counts |= {"questions": part.records, "failed": part.failed}
        counts |= {"kept_questions": len(part.questions), "kept_of": part.of}
    held.complete("load/run_complete", {"id": run, **counts})
    return RunLoad(run, written, resumed)


class _AnswerReader:
    """Reads the answers of a run, and makes the rows of those that the graph doesn't hold.

    Attributes
    ----------
    there
        The questions whose answers the graph holds, or were read.
    failed
        How many of the answers that were read are errors.
    marked
        Whether the graph knows that an answer names a commit by something else than its sha.
    directionless
        Whether the log has lost the direction of some edge.
    """

    def __init__(self, store: Store, dataset: str, run: str, answers: Iterable[AnswerStruct], wanted: Set[str]) -> None:
        self._store = store
        self._dataset = dataset
        self._answers = answers
        self._wanted = wanted
        self.places = known_places(store, dataset)
        self.there = {str(row["question"]) for row in store.read(cypher("load/run_answers"), {"run": run})}
        self.failed = 0
        self.marked = self.directionless = False

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of new answers, with the commits that they mean."""
        resolver: CommitResolver | None = None
        for answers in batched(self._fresh(), RECORDS):
            lost = [answer.question_id for answer in answers if to_rows.has_directionless(answer)]
            gold = directing_gold(self._store, self._dataset, lost) if lost else {}
            rows = [
                to_rows.answer_row(answer, self._dataset, self.places, gold.get(answer.question_id))
                for answer in answers
            ]
            if any(row["open"] for row in rows):
                resolver = resolver or CommitResolver(self._store, self._dataset)
                resolver.complete(rows)
            yield from rows

    def _fresh(self) -> Iterator[AnswerStruct]:
        for answer in self._answers:
            if answer.question_id in self._wanted:
                self.failed += answer.error is not None
                self.directionless = self.directionless or to_rows.has_directionless(answer)
                if answer.question_id not in self.there:
                    self.there.add(answer.question_id)
                    yield answer


def _weight(row: Mapping[str, Any]) -> int:
    """Return how many rows an answer is, with its texts."""
    parts = sum(len(row[name]) for name in ("paths", "steps", "chunks", "retrieved", "calls", "seeds"))
    seen = sum(len(call["seen"]) for call in row["calls"])
    texts = [
        row["properties"]["answer"],
        *(chunk["properties"]["text"] for chunk in row["chunks"] if "text" in chunk["properties"]),
    ]
    return 1 + parts + seen + sum(len(text or "") for text in texts) // TEXT


def _transaction(dataset: str, run: str, rows: list[dict[str, Any]]) -> Transaction:
    """Return the transaction of answers with all their parts, so that each is there completely or not at all."""
    walked, shown, linked = Joins(), Joins(), Joins()
    steps = [walked.edge(step) for row in rows for step in row["steps"]]
    chunks = {chunk["digest"]: chunk for row in rows for chunk in row["chunks"]}
    calls = [{**call, "seen": [shown.place(node) for node in call["seen"]]} for row in rows for call in row["calls"]]
    seeds = [{**seed, "to": linked.place(seed["seed"])} for row in rows for seed in row["seeds"]]
    answers = [{"question": row["question"], "properties": row["properties"]} for row in rows]
    return Transaction.of(
        (cypher("load/answers"), {"run": run, "rows": answers}),
        (cypher("load/retrieved_paths"), {"run": run, "rows": [path for row in rows for path in row["paths"]]}),
        walked.statement("load/traversed", steps, dataset=dataset),
        (cypher("load/chunks"), {"rows": list(chunks.values())}),
        (cypher("load/retrieved"), {"run": run, "rows": [chunk for row in rows for chunk in row["retrieved"]]}),
        shown.statement("load/tool_calls", calls, dataset=dataset, run=run),
        linked.statement("load/seeds", seeds, dataset=dataset, run=run),
    )


def _links(run: str, questions: list[str]) -> Transaction:
    """Return the transaction that links the chunks of some questions to their artifacts."""
    return Transaction.of((cypher("load/chunk_artifacts"), {"run": run, "rows": questions}))
