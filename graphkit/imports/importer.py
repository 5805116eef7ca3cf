"""Somebody else's log as a run of a dataset."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from graphkit.errors import InputError
from graphkit.files.atomic import written
from graphkit.files.dataset import Dataset, given_run_name
from graphkit.files.intake import LOG_PIPE_BYTES, pipes_up_to
from graphkit.files.known_ids import Known, gold_ids, read_known
from graphkit.files.outputs import check_output
from graphkit.files.problems import Problems
from graphkit.imports.import_report import SHOWN, ImportReport, as_json
from graphkit.imports.names import IdPattern, Names, read_ids
from graphkit.imports.recorder import Questions, Recorder
from graphkit.imports.sources import is_json, is_lines, text_of, values_of, whole_text
from graphkit.readers.known_formats import reader_of, recognised
from graphkit.readers.logged import LoggedAnswer, Reader, ReadOptions
from graphkit.readers.own_records import OwnRecordsReader, records_of_file
from graphkit.readers.payloads import EMPTY, NOTHING
from graphkit.records.directions import KnowledgeEdges
from graphkit.records.structs import QuestionStruct

#: The format that asks each file for its own.
AUTO = "auto"

#: By how many values of a file its format is recognised.
SAMPLE = 50


@dataclass(frozen=True, slots=True)
class ImportedLog:
    """A run that was made of a log.

    Attributes
    ----------
    records
        The records of the answers, where they weren't written to a file.
    told
        What is worth knowing of it, a line each.
    figures
        The same for programs.
    """

    run: str
    answers: int
    file: Path | None
    records: list[dict[str, Any]] = field(repr=False)
    told: list[str] = field(repr=False)
    figures: dict[str, Any] = field(repr=False)


@pipes_up_to(LOG_PIPE_BYTES)
def import_log(
    files: str | Path | Sequence[str | Path],
    format: str = AUTO,  # noqa: A002
    dataset: str | Path | Dataset = ".",
    *,
    out: str | Path | None = None,
    run: str | None = None,
    ids: str | Path | Mapping[str, str] | None = None,
    id_pattern: str | None = None,
    question: str | None = None,
    question_key: str | None = None,
    columns: tuple[str, str, str] | None = None,
    chunks_only: bool = False,
    parquet: str | Path | None = None,
    commits: Mapping[str, str] | None = None,
    replace: bool = False,
    strict: bool = False,
) -> ImportedLog:
    """Make a run of what a library logged.

    Parameters
    ----------
    files
        The log, in one file or several.
    format
        The reader's name, or ``auto``, which recognises each file by its content.
    out
        The run's file; without it the records are in the result.
    run
        The run's name. By default that of ``out``, else of the first file.
    ids, id_pattern
        The ids of the log's names: a table, or the file of one; and a pattern (see :class:`IdPattern`).
    question, question_key
        The question of the whole log, or the key of the question's id in it, where that isn't a common one.
    columns
        Of rows of a Cypher query, those that hold an edge's source, relation and target.
    chunks_only
        Whether what was retrieved is enough, where the edges can't be read and the log would be refused for it.
    parquet
        The folder of the Parquet files of Microsoft GraphRAG's index, which know the documents of its texts.
    commits
        Of a repository, the commit at which the system read it.
    replace
        Whether a file at ``out`` is replaced.
    strict
        Whether a log with fields that aren't read is refused.

    Raises
    ------
    InputError
        A file can't be read, has another format, or could only mislead; nothing in it is of the dataset's questions.
    """
    paths = [Path(file) for file in ([files] if isinstance(files, str | Path) else files)]
    if not paths:
        raise InputError("there is no log to import", remedy="Name its file.")
    target = Path(out) if out is not None else None
    if target is not None:
        check_output(
            target, "a run", [*paths, *(Path(one) for one in (ids, parquet) if isinstance(one, str | Path))], force=True
        )
        if target.exists() and not replace:
            remedy = "Name another, or replace it by --force."
            raise InputError("there is a file already", where=str(target), remedy=remedy)
    name = given_run_name(run if run is not None else run_name_of(target or paths[0]))
    table = ids if isinstance(ids, Mapping) else read_ids(Path(ids)) if ids is not None else None
    pattern = IdPattern(id_pattern) if id_pattern is not None else None
    readers = [_reader(path, format) for path in paths]
    source = dataset if isinstance(dataset, Dataset) else Dataset(dataset)
    if target is not None:
        check_output(target, "a run", [source.folder], force=True)
    questions, known, edges = _read_dataset(source)
    if question is not None and question not in questions.ids:
        raise InputError(f"the dataset has no question {question!r}", where=str(source.folder))
    told = ImportReport(known)
    names = Names(known.all(), table, pattern)
    recorder = Recorder(name, questions, names, edges, commits or {}, told, question)
    if parquet is not None and all(reader.name != "graphrag" for reader, _ in readers):
        raise InputError("the log isn't Microsoft GraphRAG's, and only its index is in Parquet", where=str(paths[0]))
    options = ReadOptions(question_key, columns, chunks_only, Path(parquet) if parquet is not None else None)
    values = (
        (path, how, reader, _values(path, reader, source.questions_file))
        for path, (reader, how) in zip(paths, readers, strict=True)
    )
    records = _records(values, options, recorder, told)
    kept: list[dict[str, Any]] = []
    if target is None:
        kept.extend(record for record, _ in records)
        _refuse(told, paths, strict)
    else:
        target.parent.mkdir(exist_ok=True)  # the runs/ of a new dataset
        with written(target) as temporary, temporary.open("wb") as stream:
            for _, line in records:
                stream.write(line + b"\n")
            _refuse(told, paths, strict)
    told.how, told.several = names.how, names.several
    return ImportedLog(name, told.answers, target, kept, told.lines(), as_json(told))


def run_name_of(path: Path) -> str:
    """Return the name of the run that a log becomes: its file's, without what follows the first dot."""
    return path.name.split(".", 1)[0] if not path.name.startswith(".") else path.name


def _reader(path: Path, format: str) -> tuple[Reader, str]:  # noqa: A002
    """Return the reader of a file, and a sentence on how it was chosen."""
    if format != AUTO:
        reader = reader_of(format)
        return reader, f"{path.name}: read as {reader.title}"
    if is_json(path):
        reader, how = recognised((value for _, value in islice(values_of(path), SAMPLE)), (), str(path))
    else:
        lines = (line for _, line in islice(text_of(path), SAMPLE))
        reader, how = recognised((text for _, text in whole_text(path)), lines, str(path))
    return reader, f"{path.name}: {how}, {reader.title}"


def _values(path: Path, reader: Reader, questions: Path) -> Iterator[tuple[str, Any]]:
    """Yield what a file holds, in the form that its reader takes."""
    if reader.name == OwnRecordsReader.name and is_lines(path):
        return records_of_file(path, questions)
    if reader.lines:
        return text_of(path)
    return values_of(path) if is_json(path) else whole_text(path)


def _read_dataset(dataset: Dataset) -> tuple[Questions, Known, KnowledgeEdges]:
    """Return the questions, the ids that are known, and the knowledge graph's edges; what can't be used is left out."""
    found = Questions()

    def questions() -> Iterator[QuestionStruct]:
        for _, question in dataset.questions(Problems("skip")):
            found.add(question.id, question.question, gold_ids(question))
            yield question

    return found, *read_known(dataset, questions())


def _records(
    logs: Iterable[tuple[Path, str, Reader, Iterator[tuple[str, Any]]]],
    options: ReadOptions,
    recorder: Recorder,
    told: ImportReport,
) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield the records, each with its JSON, of logs that are a file, how its reader was chosen, it and the values."""
    for path, how, reader, values in logs:
        told.readers.append(how)
        told.lacks.update(dict.fromkeys(reader.lacks))
        empty: list[LoggedAnswer] = []  # which wait for what else is logged of their questions
        answers = reader.read(values, options, told.unread)
        for logged in _named_by_file(answers, path, recorder.questions):
            if NOTHING in logged.notes:
                empty.append(logged)
            elif (record := recorder.record(logged)) is not None:
                yield _encoded(record)
        for logged in empty:
            if (record := recorder.record(logged)) is not None:
                yield _encoded(record)


def _named_by_file(answers: Iterator[LoggedAnswer], path: Path, questions: Questions) -> Iterator[LoggedAnswer]:
    """Yield the answers of a file; the only one, which doesn't say its question, has the one that names the file."""
    first = list(islice(answers, 2))
    name = run_name_of(path)
    if len(first) == 1 and name in questions.ids and questions.of(first[0])[0] is None:
        first[0].question = name
        first[0].taken = {**first[0].taken, "question id": "the name of the file"}
    yield from first
    yield from answers


def _encoded(record: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Return a record with its JSON; halves of characters, which JSON within texts may hold, become ``?``."""
    try:
        return record, msgspec.json.encode(record)
    except UnicodeEncodeError:
        text = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace")
        return json.loads(text), text


def _refuse(told: ImportReport, paths: Sequence[Path], strict: bool) -> None:
    """Refuse a log of which nothing is left, with what became of it, and if strict one with fields that aren't read."""
    if strict and told.unread:
        fields = ", ".join(f"{name} ({count})" for name, count in told.unread.most_common(SHOWN))
        more = f", and {len(told.unread) - SHOWN} more" if len(told.unread) > SHOWN else ""
        raise InputError(
            f"the log has fields that aren't read, which strict reading refuses: {fields}{more}",
            where=str(paths[0]),
            remedy="Remove them, or read without --strict.",
        )
    if told.answers > told.notes[NOTHING] + told.notes[EMPTY]:
        return
    if told.answers:
        raise InputError(
            "nothing in it is what this format writes: it has ids of questions alone",
            where=str(paths[0]),
            remedy="Name the format that it has; `auto` recognises each by its content.",
        )
    found = "; ".join(f"{what}: {count}, such as {told.example[what]}" for what, count in told.left_out.items())
    raise InputError(
        f"no answer to a question of the dataset is found in it{f' ({found})' if found else ''}",
        where=str(paths[0]),
        remedy="Check --dataset; --question-key names the key of the question's id, --question the only question.",
    )
