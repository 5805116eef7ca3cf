"""Converts a library's log to a run of a dataset."""

from __future__ import annotations

import json
import pickle
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from graphkit.errors import InputError
from graphkit.files.assets import command_text, option_text
from graphkit.files.dataset import Dataset, given_run_name
from graphkit.files.intake import LOG_PIPE_BYTES, pipes_up_to
from graphkit.files.jsonl import find_file, folders_around, is_array
from graphkit.files.known_ids import Known, gold_ids, read_known
from graphkit.files.outputs import check_output
from graphkit.files.problems import OnError, Problems
from graphkit.files.tables import columns_of, is_table
from graphkit.imports.import_report import ImportReport, listed
from graphkit.imports.mappings import MappedRows, is_log_table, mapping_file, mappings
from graphkit.imports.names import Names, id_sources
from graphkit.imports.recorder import NO_QUESTION, Questions, Recorder
from graphkit.imports.sources import is_json, is_lines, is_parquet, text_of, values_of, whole_text
from graphkit.imports.trials import TrialRecord, Trials
from graphkit.readers.accounting import Account
from graphkit.readers.json_values import EMPTY
from graphkit.readers.known_formats import reader_of, readers, recognised
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions, UnrecognisedLogError
from graphkit.readers.own_records import OwnRecordsReader, records_of_file
from graphkit.readers.refused_forms import refuse_database
from graphkit.readers.unrecognised import REMEDY
from graphkit.records.directions import KnowledgeEdges
from graphkit.records.doubts import NOTHING
from graphkit.records.scores import Score
from graphkit.records.sessions import walked_before
from graphkit.records.structs import QuestionStruct
from graphkit.records.words import shortened
from graphkit.shards.executors import opened_executor
from graphkit.shards.locations import Location
from graphkit.shards.work import in_order

#: Recognise the format of each file.
AUTO = "auto"

#: The number of values of a file that decide its format.
SAMPLE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """Options of :func:`import_log`.

    Attributes
    ----------
    run
        The name of the run. The default is the name of the run's file, or else of the first log.
    ids, id_pattern
        The ids of the names in the log: a table or its file, and a pattern
        (see :class:`graphkit.imports.names.IdPattern`).
    question, question_key
        The question that the whole log answers, or the key that holds a question's id if it is an uncommon one.
    columns
        The columns with an edge's source, relation and target, for the rows of a Cypher query.
    chunks_only
        Import what was retrieved even if the edges can't be read.
    parquet
        The folder with the Parquet files of a Microsoft GraphRAG index, which name the documents of its texts.
    commits
        By repository, the commit that the system read.
    map
        Fields of any JSON by hand, as ``--map`` takes them: texts ``FIELD=EXPRESSION`` and files of such lines, or the
        expression of each field.
    as_is
        Keep the ids of graphkit's own records as they are.
    replace
        Replace an existing run file.
    strict
        Refuse a log with fields that aren't read.
    on_error
        Whether lines that aren't JSON, and unusable records of graphkit's own, refuse the input or are skipped.
    executor, resources
        Workers that read the logs, one task a file: an executor, or its name as in ``--on``, and what each task needs
        of the cluster. They reach the files by the same names. Run and report are the same as without.
    """

    run: str | None = None
    ids: str | Path | Mapping[str, str] | None = None
    id_pattern: str | None = None
    question: str | None = None
    question_key: str | None = None
    columns: tuple[str, str, str] | None = None
    chunks_only: bool = False
    parquet: str | Path | None = None
    commits: Mapping[str, str] | None = None
    map: Sequence[str | Path] | Mapping[str, str] | None = None
    as_is: bool = False
    replace: bool = False
    strict: bool = False
    on_error: OnError = "fail"
    executor: str | Executor | None = None
    resources: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class ImportedLog:
    """A run that was made from a log.

    Attributes
    ----------
    records
        The records of the answers, if they weren't written to a file.
    runs
        The runs with their files: one, or a repetition ``NAME@1``, ``NAME@2``, ... for each trial.
    scores
        What the log scores its answers by, as ``map`` says.
    summary
        The report of the import as lines of text.
    figures
        The report for programs.
    problems
        The records that were skipped.
    """

    run: str
    answers: int
    file: Path | None
    records: list[dict[str, Any]] = field(repr=False)
    summary: list[str] = field(repr=False)
    figures: dict[str, Any] = field(repr=False)
    problems: Problems = field(default_factory=Problems, repr=False)
    runs: tuple[tuple[str, Path | None], ...] = ()
    scores: list[Score] = field(default_factory=list, repr=False)


@pipes_up_to(LOG_PIPE_BYTES)
def import_log(
    files: str | Path | Sequence[str | Path],
    format: str = AUTO,  # noqa: A002
    dataset: str | Path | Dataset = ".",
    *,
    out: str | Path | None = None,
    **options: Any,
) -> ImportedLog:
    """Make a run from the log of a library.

    Parameters
    ----------
    files
        The log, in one file or several.
    format
        The name of a reader, or ``auto``, which recognises the format of each file by its content.
    out
        The file of the run. Without it, the result holds the records.
    options
        The attributes of :class:`ImportOptions`.

    Raises
    ------
    InputError
        A file can't be read, has another format, or lacks too much to be scored; or no answer belongs to the dataset.
    """
    chosen = ImportOptions(**options)
    paths = paths_of(files)
    if not paths:
        raise InputError("there is no log to import", remedy="Name its file.")
    target = Path(out) if out is not None else None
    if target is not None:
        others = [Path(one) for one in (chosen.ids, chosen.parquet) if isinstance(one, str | Path)]
        check_output(target, "a run", [*paths, *others], force=True)
        if target.exists() and not chosen.replace:
            remedy = "Name another, or replace it by --force."
            raise InputError("there is a file already", where=str(target), remedy=remedy)
    name = given_run_name(chosen.run if chosen.run is not None else run_name_of(target or paths[0]))
    table, pattern = id_sources(chosen.ids, chosen.id_pattern)
    fields = mappings("--map").given(chosen.map) if chosen.map else None
    if fields is not None and format not in (AUTO, OwnRecordsReader.name):
        what = f"mapped fields are read from any JSON, and {format} reads its own"
        raise InputError(what, where="--map", remedy="Leave out --map, or the format.")
    own = reader_of(OwnRecordsReader.name)
    maps = [fields if fields is not None else _own_columns(path, format) for path in paths]
    chosen_readers = [
        _reader(path, format, chosen.on_error) if of is None else (own, f"{path.name}: {_as_mapped(fields)}")
        for path, of in zip(paths, maps, strict=True)
    ]
    _refuse_unused(chosen, paths, [reader for reader, _ in chosen_readers])
    source = Dataset.of(dataset)
    if target is not None:
        check_output(target, "a run", [source.folder], force=True)
    questions, known, edges = _read_dataset(source)
    if chosen.question is not None and chosen.question not in questions.ids:
        raise InputError(f"the dataset has no question {chosen.question!r}", where=str(source.folder))
    report = ImportReport(known)
    names = Names(known.all(), table, pattern, known.places)
    recorder = Recorder(name, questions, names, edges, chosen.commits or {}, report, chosen.question)
    recorder.renames = not chosen.as_is
    recorder.problems = problems = Problems(chosen.on_error)
    parquet = Path(chosen.parquet) if chosen.parquet is not None else None
    how_to_read = ReadOptions(chosen.question_key, chosen.columns, chosen.chunks_only, parquet)
    logs = [
        ReadingTask(path, reader.name, source.questions_file, how_to_read, chosen.on_error, of)
        for path, (reader, _), of in zip(paths, chosen_readers, maps, strict=True)
    ]
    with _read_logs(logs, chosen) as read:
        takes_key = any("question_key" in reader.options for reader, _ in chosen_readers)
        trials = Trials(name, target, replace=chosen.replace)
        records = _records(zip(paths, chosen_readers, read, strict=True), recorder, report, problems)
        records = _in_sessions(records, questions) if questions.turns else records

        def check() -> None:
            problems.raise_if_refused(usable=report.answers)
            _check(report, paths, chosen.strict, takes_key, problems if fields is not None else None)

        kept, runs = trials.write(records, check)
    report.how, report.several, report.trials = names.how, names.several, len(runs)
    figures = report.as_json() | ({"runs": [run for run, _ in runs]} if len(runs) > 1 else {})
    return ImportedLog(name, report.answers, target, kept, report.lines(), figures, problems, runs, trials.scores)


def _as_mapped(fields: MappedRows | None) -> str:
    """Return how a file is read whose fields are mapped, by hand or by the columns of a table."""
    return "fields read as --map says" if fields is not None else "a table of graphkit's own columns"


def _refuse_unused(chosen: ImportOptions, paths: Sequence[Path], used: Sequence[Reader]) -> None:
    """Raise an InputError for an option that the reader of no log uses."""
    for option in ("question_key", "columns", "chunks_only", "parquet"):
        if getattr(chosen, option) and not any(option in reader.options for reader in used):
            names = ", ".join(dict.fromkeys(reader.name for reader in used))
            others = ", ".join(reader.name for reader in readers()[0] if option in reader.options)
            what = f"the log is read as {names}, which has no use for --{option.replace('_', '-')}"
            raise InputError(what, where=str(paths[0]), remedy=f"Leave it out; these formats use it: {others}.")


def refuse_runs(paths: Sequence[Path], dataset: str | Path | None, on_error: OnError = "fail") -> None:
    """Raise an InputError if a file, recognised by its content, holds graphkit's own records: it is a run already."""
    for path in paths:
        if is_parquet(path):  # only an import reads it
            continue
        with suppress(UnrecognisedLogError):
            if _own_columns(path, AUTO) is not None or _reader(path, AUTO, on_error)[0].name != OwnRecordsReader.name:
                continue
            _, first = next(values_of(path, Problems(on_error)), ("", None))
            if OwnRecordsReader.names_run(first):
                beside = any(find_file(folder, "questions") for folder in folders_around(path))
                where = "" if beside else option_text("dataset", dataset or "DATASET")
                what = f"this is already a run: {command_text('evaluate', path, options=where)}"
                remedy = "`graphkit import graphkit` looks its names up in the dataset, if they aren't ids there."
                raise InputError(what, remedy=remedy)


def paths_of(files: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return one path or several as a list, with the files of a folder or a pattern in natural order.

    Raises
    ------
    InputError
        A folder or a pattern has no file.
    """
    found = []
    for file in [files] if isinstance(files, str | Path) else files:
        path = Path(file)
        location = Location.of(path)
        if not path.is_dir() and (path.exists() or not location.is_pattern):
            found.append(path)
            continue
        inside = location.files() if path.is_dir() else location.matches()
        if not inside:
            raise InputError("there is no log of this name", where=str(path), remedy="Check the folder or the pattern.")
        paths = [one.path for one in inside if one.path is not None]
        mappings = {mapping_file(one) for one in paths}
        found += [one for one in paths if one not in mappings]
    return found


def run_name_of(path: Path) -> str:
    """Return the name of the run of a log: the file's name up to its first dot."""
    return path.name.split(".", 1)[0] if not path.name.startswith(".") else path.name


def _reader(path: Path, format: str, on_error: OnError = "fail") -> tuple[Reader, str]:  # noqa: A002
    """Return the reader of a file, and a sentence that says how it was chosen."""
    refuse_database(path)
    for reader in readers()[0] if format == AUTO else [reader_of(format)]:
        reader.refuse(path)
    if format != AUTO:
        reader = reader_of(format)
        return reader, f"{path.name}: read as {reader.title}"
    if is_log_table(path) and is_table(path):
        if is_parquet(path):
            with suppress(UnrecognisedLogError):
                reader, how = recognised((row for _, row in islice(values_of(path), SAMPLE)), (), str(path))
                return reader, f"{path.name}: {how}, {reader.title}"
        columns = ", ".join(f"`{shortened(name)}`" for name in columns_of(path)[:20] if name)
        what = f"no format is recognised in it: it is a table with the columns {columns}"
        raise UnrecognisedLogError(what, where=str(path), remedy=REMEDY)
    if is_json(path):
        values = islice(values_of(path, Problems(on_error)), SAMPLE)
        reader, how = recognised((value for _, value in values), (), str(path))
    else:
        lines = (line for _, line in islice(text_of(path), SAMPLE))
        reader, how = recognised((text for _, text in whole_text(path)), lines, str(path))
    return reader, f"{path.name}: {how}, {reader.title}"


def _own_columns(path: Path, format: str) -> MappedRows | None:  # noqa: A002
    """Return how a table of a run is read by its columns; None for rows that hold lists, which a reader knows."""
    if format in (AUTO, OwnRecordsReader.name) and is_parquet(path) and path.is_file():
        rows = [row for _, row in islice(values_of(path), SAMPLE)]
        with suppress(UnrecognisedLogError):
            if any(isinstance(cell, list | dict) for row in rows for cell in row.values()):
                recognised(rows, (), str(path))
                return None
    if format not in (AUTO, OwnRecordsReader.name) or not path.is_file() or not is_log_table(path):
        return None
    return mappings("a table").of_table(path)


def _values(task: ReadingTask, reader: Reader, problems: Problems, unread: Counter[str]) -> Iterator[tuple[str, Any]]:
    """Yield the values of a file in the form that its reader expects."""
    path = task.path
    if task.map is not None:
        return task.map.records(path, task.questions, problems, unread)
    if reader.name == OwnRecordsReader.name and not is_parquet(path) and (is_lines(path) or is_array(path)):
        return records_of_file(path, task.questions, problems)
    if reader.lines:
        return text_of(path)
    return values_of(path, problems) if is_json(path) else whole_text(path)


def _read_dataset(dataset: Dataset) -> tuple[Questions, Known, KnowledgeEdges]:
    """Return the questions, the known ids, and the edges of the knowledge graph; skip unusable questions."""
    found = Questions(places=dataset.places())

    def questions() -> Iterator[QuestionStruct]:
        for _, question in dataset.questions(Problems("skip")):
            gold = (*gold_ids(question), *question.expected_files)
            found.add(question.id, question.question, gold, (question.session, question.turn))
            yield question

    return found, *read_known(dataset, questions())


class ReadingTask(NamedTuple):
    """A log to be read, by the name of its reader."""

    path: Path
    reader: str
    questions: Path
    options: ReadOptions
    on_error: OnError = "fail"
    map: MappedRows | None = None


class ReadLog(NamedTuple):
    """The answers in a log; its fields that aren't read and its problems are complete when all answers are taken."""

    answers: Iterator[LoggedAnswer]
    unread: Counter[str]
    problems: Problems


def _opened(task: ReadingTask) -> ReadLog:
    reader, unread, problems = reader_of(task.reader), Counter[str](), Problems(task.on_error)
    values, account = _values(task, reader, problems, unread), Account(reader, unread)
    answers = reader.read(account.given(values), task.options, unread)
    return ReadLog(account.read(answers), unread, problems)


def read_log(task: tuple[str, ReadingTask]) -> bytes:
    """Return the answers in a log and its unread fields, packed; called in a worker.

    The file has an absolute path here, and the name that the user gave it in answers and errors.
    """
    name, log = task
    path = str(log.path)
    try:
        answers, unread, problems = _opened(log)
        kept = list(answers)
    except InputError as error:
        where, remedy = (None if one is None else one.replace(path, name) for one in (error.where, error.remedy))
        details = [one.replace(path, name) for one in error.details]
        raise InputError(error.what.replace(path, name), where=where, remedy=remedy, details=details) from None
    for answer in kept:
        answer.where = answer.where.replace(path, name, 1)
    problems.skipped = [replace(one, where=one.where.replace(path, name, 1)) for one in problems.skipped]
    return zlib.compress(pickle.dumps((kept, unread, problems)), 1)


def _unpacked(data: bytes) -> ReadLog:
    found = pickle.loads(zlib.decompress(data))  # noqa: S301 - it comes from the executor, which pickles too
    answers, unread, problems = found
    return ReadLog(iter(answers), unread, problems)


@contextmanager
def _read_logs(tasks: Sequence[ReadingTask], chosen: ImportOptions) -> Iterator[Iterator[ReadLog]]:
    """Yield the content of each log: read while it is taken, or by workers."""
    if chosen.executor is None:
        yield map(_opened, tasks)
        return
    for task in tasks:
        if not task.path.is_file():
            raise InputError(
                "workers read files only, and this is none", where=str(task.path), remedy="Leave out --on."
            )
    named = ((str(task.path), (str(task.path), _absolute(task))) for task in tasks)
    with opened_executor(chosen.executor, resources=chosen.resources) as executor:
        yield map(_unpacked, in_order(executor, read_log, named))


def _absolute(task: ReadingTask) -> ReadingTask:
    """Return a task that a worker with another working folder finds."""
    parquet = task.options.parquet
    options = replace(task.options, parquet=None if parquet is None else parquet.absolute())
    return task._replace(path=task.path.absolute(), questions=task.questions.absolute(), options=options)


def _records(
    logs: Iterable[tuple[Path, tuple[Reader, str], ReadLog]],
    recorder: Recorder,
    report: ImportReport,
    problems: Problems,
) -> Iterator[TrialRecord]:
    """Yield the records from the path, reader, format sentence and content of each log.

    Of a question that was asked again, the answered attempt counts, so failed ones come last.
    """
    attempts: list[LoggedAnswer] = []
    for path, (reader, how), (answers, unread, of_log) in logs:
        report.readers.append(how)
        report.lacks.update(dict.fromkeys(reader.lacks))
        empty: list[LoggedAnswer] = []  # which wait for other records of their questions
        each = (one for answer in answers for one in recorder.each_question(answer))
        for logged in _named_by_file(each, path, recorder.questions):
            if NOTHING in logged.notes:
                empty.append(logged)
            elif logged.error is not None and logged.trial is None and logged.record is None:
                attempts.append(logged)
            elif (record := recorder.record(logged)) is not None:
                yield TrialRecord(logged.trial, *_encoded(record), logged.scores)
        for logged in empty:
            if (record := recorder.record(logged)) is not None:
                yield TrialRecord(logged.trial, *_encoded(record), logged.scores)
        report.unread.update(unread)
        problems.merge(of_log)
    for logged in attempts:
        if (record := recorder.record(logged)) is not None:
            yield TrialRecord(logged.trial, *_encoded(record), logged.scores)


def _in_sessions(records: Iterable[TrialRecord], questions: Questions) -> Iterator[TrialRecord]:
    """Yield records, those of sessions at the end, with what the turns before them walked."""
    held: dict[tuple[str, str | None], dict[int, TrialRecord]] = {}
    for one in records:
        if (place := questions.turns.get(one.record["question_id"])) is None:
            yield one
        else:
            held.setdefault((place[0], one.trial), {})[place[1]] = one
    for (session, _), turns in held.items():
        for turn, one in turns.items():
            earlier = [other for other in questions.sessions[session] if other < turn]
            made = ((other, turns[other].record.get("traversal") if other in turns else None) for other in earlier)
            if earlier and (found := walked_before(made)) is not None:
                steps = [step.model_dump(exclude_defaults=True) for step in found]
                one = TrialRecord(one.trial, *_encoded({**one.record, "walked_before": steps}), one.scores)
            yield one


def _named_by_file(answers: Iterator[LoggedAnswer], path: Path, questions: Questions) -> Iterator[LoggedAnswer]:
    """Yield the answers of a file. A single answer without a question gets the question that names the file."""
    first = list(islice(answers, 2))
    name = run_name_of(path)
    if len(first) == 1 and name in questions.ids and questions.of(first[0])[0] is None:
        first[0].question = name
        first[0].taken = {**first[0].taken, "question id": "the name of the file"}
    yield from first
    yield from answers


def _encoded(record: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Return a record with its JSON; lone surrogates, which JSON in strings may hold, become ``?``."""
    try:
        return record, msgspec.json.encode(record)
    except UnicodeEncodeError:
        text = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace")
        return json.loads(text), text


def _check(report: ImportReport, paths: Sequence[Path], strict: bool, takes_key: bool, mapped: Problems | None) -> None:
    """Refuse a log without answers to the dataset's questions, and if strict a log with unread fields."""
    where = str(paths[0])
    if strict and report.unread:
        what = f"the log has fields that aren't read, which strict reading refuses: {listed(report.unread)}"
        raise InputError(what, where=where, remedy="Remove them, or read without --strict.")
    if report.answers > report.notes[NOTHING] + report.notes[EMPTY]:
        return
    if report.answers:
        what = "the log holds only ids of questions, and nothing that this format writes"
        if mapped is not None:
            what = "the mapped fields hold only what names questions"
            raise InputError(what, where=where, remedy="Correct the expressions of --map.", details=[*mapped.notes])
        remedy = "Name the right format; `auto` recognises each by its content."
        raise UnrecognisedLogError(what, where=where, remedy=remedy)
    reasons = "; ".join(report.skipped.reasons())
    what = f"the log holds no answer to a question of the dataset{f' ({reasons})' if reasons else ''}"
    nameless = report.skipped.counts[NO_QUESTION]
    remedies = ["Check --dataset."] if report.skipped.counts.total() > nameless else []
    if takes_key:
        remedies.append("--question-key names the key of a question's id in the log.")
    if report.skipped.counts.total() == 1:
        remedies.append("--question names the question that the whole log answers.")
    elif (nameless and len(paths) > 1) or nameless == 1:
        remedies.append("A file with one answer may be named by its question, such as q1.jsonl.")
    remedy = " ".join(remedies) or "Write the question's id as question_id around each answer."
    raise InputError(what, where=where, remedy=remedy)
