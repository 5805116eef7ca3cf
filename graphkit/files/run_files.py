"""Runs as files: their records, their names, and the models that answered them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from graphkit.errors import InputError
from graphkit.files.assets import bundled, command_text
from graphkit.files.decoding import UNDECODED
from graphkit.files.intake import is_pipe
from graphkit.files.jsonl import is_file_name, raw_lines, stem_of
from graphkit.files.problems import Problem, Problems, of_no_question
from graphkit.files.reading import RecordReader
from graphkit.records.ids import id_of
from graphkit.records.repetition_names import TRIALS
from graphkit.records.structs import AnswerStruct
from graphkit.records.words import shortened

if TYPE_CHECKING:
    from graphkit.records.scores import Score


#: The bytes of the fields of trials, and how many records of a log are searched for them.
_TRIAL_KEYS = [f'"{name}"'.encode() for name in TRIALS]
_LOOKED_AT = 1000


class RunSource(NamedTuple):
    """A run to evaluate: the user's file, the run log itself, and the origin of the log (None for itself).

    ``scores`` are what the log scores its answers by, and ``options`` make ``evaluate`` read the file as this run: as
    one types them, a space before each.
    """

    file: Path
    run: Path
    origin: str | Path | None = None
    scores: tuple[Score, ...] = ()
    options: str = ""


def answering_model(run_file: Path, answered_by: str | None = None) -> str | None:
    """Return the model that answered a run: the user's statement, else the note of `graphkit run`; None if unknown."""
    if answered_by:
        return answered_by
    note = run_file.with_name(f"{stem_of(run_file)}.made-by")
    return note.read_text(encoding="utf-8", errors="replace").strip() or None if note.is_file() else None


def trial_of(value: Any) -> str | None:
    """Return which of several trials of its question a record is, by the usual fields, of which it may have several.

    >>> trial_of({"question_id": "q1", "attempt": 2}), trial_of({"question_id": "q1", "sample": {}})
    ('2', None)
    >>> trial_of({"question_id": "q1", "trial": 1, "attempt": 2})
    '1, 2'
    """
    found = (id_of(value.get(name)) for name in TRIALS) if isinstance(value, dict) else iter(())
    return ", ".join(one for one in found if one) or None


def trial_in(line: bytes) -> str | None:
    """Return which trial the record of a line is."""
    if not any(name in line for name in _TRIAL_KEYS):
        return None
    try:
        return trial_of(msgspec.json.decode(line))
    except UNDECODED:
        return None


def has_trials(path: Path) -> bool:
    """Return whether one of a log's first records says which trial it is; False for a pipe, which is read once."""
    if not path.is_file() or is_pipe(path):
        return False
    return any(trial_in(line) is not None for line in islice(raw_lines(path), _LOOKED_AT))


def trials_remedy(run_file: Path) -> str | None:
    """Return the remedy for a second record of a question in a log of trials; None for another log."""
    if not has_trials(run_file):
        return None
    command = command_text("import graphkit", run_file, options=" --dataset DIR -o DIR/runs/NAME.jsonl")
    return f"`{command}` makes each trial a run of its own."


def second_record(where: str, question: str, trial: str | None = None, remedy: str | None = None) -> Problem:
    """Return the problem of a second record of a question, or of one of its trials: which counts isn't ours to say."""
    if trial is None:
        return Problem(where, "the question already has a record", record=question, remedy=remedy)
    what = f"the question already has a record of trial {shortened(trial)}"
    return Problem(where, what, record=question, remedy=f"Number the trials of a question apart: {', '.join(TRIALS)}.")


def is_run_file(run: str | Path) -> bool:
    """Return whether a run is named by its file, and not by its name in the graph."""
    if isinstance(run, Path) or is_file_name(run) or bundled(run) is not None:
        return True
    return os.path.isfile(run)  # noqa: PTH113 - a name may be too long for a path


def records_of(
    run_file: Path, problems: Problems, run: str | None = None, questions: Path | None = None
) -> Iterator[tuple[int, AnswerStruct]]:
    """Yield (line number, record) of each usable line; ``run`` replaces the name in the records.

    ``questions`` is the file of the questions, which records may name by their texts.
    """
    for number, answer in RecordReader(run_file, AnswerStruct, problems, questions, run):
        if run is not None:
            answer.run = run
        yield number, answer


def first_run(run_file: Path) -> str | None:
    """Return the name of the run in a file by its first usable record; None for a pipe, or without such a record."""
    if not run_file.is_file():
        return None
    return next((answer.run for _, answer in records_of(run_file, Problems("skip"))), None)


def read_run(
    run_file: Path,
    problems: Problems,
    questions: Collection[str] | None = None,
    name: str | None = None,
    gold: Path | None = None,
) -> tuple[str, dict[str, AnswerStruct]]:
    """Return the name of the run in a file, and its records by question.

    A second record of a question is a problem, as is one of a question that isn't among ``questions``. A ``name``
    replaces the name in the records. ``gold`` is the file of the questions, which records may name by their texts.

    Raises
    ------
    InputError
        A record is unusable and not skipped, or the file doesn't hold exactly one run.
    """
    answers: dict[str, AnswerStruct] = {}
    refused = problems.refused(gold) if gold is not None else ()
    for number, answer in RecordReader(run_file, AnswerStruct, problems, gold, name):
        question, where = answer.question_id, f"{run_file}:{number}"
        if questions is not None and question not in questions:
            problems.add(of_no_question(where, question, refused))
        elif answers.setdefault(question, answer) is not answer:
            problems.add(second_record(where, question, remedy=trials_remedy(run_file)))
    problems.raise_if_refused(usable=len(answers))
    runs = sorted({answer.run for answer in answers.values()})
    if len(runs) != 1:
        what = (
            f"the file holds records of {len(runs)} runs: {', '.join(runs[:5])}" if runs else "the file holds no record"
        )
        raise InputError(what, where=str(run_file), remedy="Write each run into a file of its own.")
    if name is None:
        return runs[0], answers
    for answer in answers.values():
        answer.run = name
    return name, answers
