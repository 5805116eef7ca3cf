"""Corrects the questions of a dataset by a newer form of their file; runs, grades and graph stay."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from graphkit.errors import InputError
from graphkit.files.assets import refuse_bundled
from graphkit.files.atomic import written
from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import create_binary, find_file, read_lines, stem_of
from graphkit.files.problems import Problems
from graphkit.files.reading import parse_record
from graphkit.imports.names import id_sources
from graphkit.plugins.gold.datasets.given_questions import (
    GivenQuestions,
    GraphNames,
    free_ids,
    nodes_of_gold,
    note_stale,
    with_relevant,
)
from graphkit.plugins.gold.datasets.new_dataset import gate_command
from graphkit.plugins.gold.datasets.question_fields import gold_kinds
from graphkit.plugins.mapping.field_maps import FieldMap
from graphkit.records.aliases import QUESTION
from graphkit.records.gold import as_hash, gold_hash_of, gold_number
from graphkit.records.models import Question
from graphkit.records.path_texts import SecondNames
from graphkit.records.structs import QuestionStruct, struct_of
from graphkit.records.words import counted

#: How many questions and files a line names.
_NAMED = 8

#: The longest file in which results are looked for.
_SEARCHED = 64 << 20

_OWN_NAMES = {*Question.model_fields, *(name for names in QUESTION.values() for name in names)}


@dataclass(frozen=True, slots=True)
class QuestionUpdate:
    """The changes that a corrected file makes to the questions of a dataset.

    Attributes
    ----------
    changed
        The changed fields of each changed question.
    differing
        The questions of before whose gold is another now, or that are gone.
    before, after
        The hashes of the gold of all questions.
    runs
        The runs of the dataset.
    results
        The files with results by the former gold.
    """

    folder: Path
    questions: int
    gold: dict[str, int]
    added: tuple[str, ...]
    changed: Mapping[str, tuple[str, ...]]
    gone: tuple[str, ...]
    differing: tuple[str, ...]
    before: str | None
    after: str | None
    runs: tuple[str, ...]
    results: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return not (self.added or self.changed or self.gone)

    def lines(self) -> list[str]:
        """Return what changed, in words."""
        if self.is_empty:
            return [f"{self.folder}: nothing changes in {counted(self.questions, 'question')} (gold {self.after})"]
        lines = [f"{self.folder}: {counted(self.questions, 'question')}"]
        changed = [f"{name} ({', '.join(fields)})" for name, fields in self.changed.items()]
        for what, names in (("added", self.added), ("changed", changed), ("gone", self.gone)):
            if names:
                lines.append(f"{what} {len(names)}: {_first(names)}")
        same = self.before == self.after
        lines.append(f"gold: {self.after}, as before" if same else f"gold: {self.before} before, {self.after} after")
        if self.runs and self.added:
            has = "has" if len(self.runs) == 1 else "have"
            lines.append(f"{_first(self.runs)} {has} no record of the added questions: `graphkit run` asks only them")
        reworded = [name for name, fields in self.changed.items() if "question" in fields]
        if self.runs and reworded:
            lines.append(
                f"{_first(self.runs)} answered the former text of {_first(reworded)}: take these records out of the "
                "runs to ask again"
            )
        if self.runs and self.differing:
            files = f" (in {_first(self.results)})" if self.results else ""
            lines.append(
                f"earlier results of {_first(self.runs)}{files} don't compare with new ones on "
                f"{_first(self.differing)}, whose gold differs: evaluate the runs again"
            )
        return lines

    def commands(self) -> list[tuple[str, str]]:
        """Return the command to run next, with its purpose."""
        return [] if self.is_empty else [gate_command(self.folder, self.gold)]

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "dataset": str(self.folder),
            "questions": self.questions,
            "added": list(self.added),
            "changed": {name: list(fields) for name, fields in self.changed.items()},
            "gone": list(self.gone),
            "differing": list(self.differing),
            "gold_hash": {"before": self.before, "after": self.after},
            "runs": list(self.runs),
            "results": list(self.results),
            "next": [command for command, _ in self.commands()],
        }


def update_questions(
    folder: str | Path,
    questions: str | Path,
    *,
    second_names: SecondNames | None = None,
    problems: Problems | None = None,
    ids: str | Path | Mapping[str, str] | None = None,
    id_pattern: str | None = None,
    map: Sequence[str | Path] | Mapping[str, str] | None = None,  # noqa: A002 - the name of the option
) -> QuestionUpdate:
    """Replace the questions of a dataset by those of a file, all or none of them; write nothing if nothing changes.

    A question keeps the fields that the file has no column for. One without an id in the file keeps the id of the
    question with its text, else of the question in its row if their gold is the same: with another text and other gold
    it is another question, for which no run has an answer.

    Parameters
    ----------
    questions, second_names, problems, ids, id_pattern, map
        As in :func:`graphkit.plugins.gold.datasets.new_dataset.create_dataset`.

    Raises
    ------
    InputError
        The folder is no dataset, one of its questions or a row can't be used, or the file can't be written.
    """
    target, found = Path(folder), Problems() if problems is None else problems
    refuse_bundled(target)
    file = find_file(target, "questions")
    if file is None:
        remedy = "Leave out --update to make a dataset."
        raise InputError("there is no questions.jsonl to update", where=str(target), remedy=remedy)
    former, extra = _former(file)
    dataset = Dataset(target)
    names = GraphNames(target if dataset.graphs else None, *id_sources(ids, id_pattern))
    given = GivenQuestions(Path(questions), names, second_names, former, FieldMap(map) if map else None)
    placed = list(given.read(found))
    asked = [question for _, question in placed]
    if _is_derived(former):
        asked, derived = with_relevant(asked)
        given.fields.update(["relevant"] * derived)
    found.raise_if_refused(usable=len(asked))
    if not asked:
        raise InputError("the file holds no question", where=str(questions), remedy="Add a row for each question.")
    free = free_ids({*former, *(one.id for one in asked)})
    now = {}
    for one in asked:
        kept = _merged(former.get(one.id), one, given.fields)
        if one.id in given.by_row and _hash(kept) != _hash(former[one.id]):
            kept = one.model_copy(update={"id": next(free)})
        now[kept.id] = kept
    if dataset.graphs:
        note_stale(dataset, now.values(), {one.id: where for where, one in placed}, found)
    changes = {name: _changes(former[name], one) for name, one in now.items() if name in former}
    hashes, later = _hashes(former), _hashes(now)
    differing = tuple(name for name, gold in hashes.items() if later.get(name) != gold)
    before, after = gold_hash_of(hashes.items()), gold_hash_of(later.items())
    old = {hashes[name] for name in differing} | ({before} if before is not None and differing else set())
    update = QuestionUpdate(
        target,
        len(now),
        gold_kinds(now.values()),
        tuple(name for name in now if name not in former),
        {name: fields for name, fields in changes.items() if fields},
        tuple(name for name in former if name not in now),
        differing,
        before,
        after,
        tuple(sorted(stem_of(path) for path in (target / "runs").glob("*.jsonl*"))),
        tuple(_results(target, old)),
    )
    if not update.is_empty:
        lines = (msgspec.json.encode(_written(one) | extra.get(name, {})) for name, one in now.items())
        with written(file) as temporary, create_binary(temporary) as stream:
            for line in lines:
                stream.write(line + b"\n")
    return update


def _former(file: Path) -> tuple[dict[str, Question], dict[str, dict[str, Any]]]:
    """Return the questions of a dataset, and the user's own fields of each."""
    problems = Problems()
    questions: dict[str, Question] = {}
    extra: dict[str, dict[str, Any]] = {}
    for number, line in read_lines(file):
        question = parse_record(Question, line, f"{file}:{number}", problems)
        if question is not None:
            questions[question.id] = question
            extra[question.id] = {name: value for name, value in json.loads(line).items() if name not in _OWN_NAMES}
    problems.raise_if_refused()
    return questions, extra


def _is_derived(former: Mapping[str, Question]) -> bool:
    """Return whether the relevant ids of questions are the nodes of their steps, as graphkit writes them."""
    return all(question.relevant in ({}, nodes_of_gold(question)) for question in former.values())


def _merged(former: Question | None, given: Question, fields: set[str]) -> Question:
    """Return a question of the file, with the fields of the former one that the file doesn't have."""
    if former is None:
        return given
    return former.model_copy(update={name: getattr(given, name) for name in (*fields, "id")})


def _written(question: Question) -> dict[str, Any]:
    return question.model_dump(mode="json", exclude_defaults=True)


def _changes(former: Question, question: Question) -> tuple[str, ...]:
    old, new = _written(former), _written(question)
    return tuple(name for name in Question.model_fields if old.get(name) != new.get(name))


def _hashes(questions: Mapping[str, Question]) -> dict[str, str]:
    return {name: _hash(one) for name, one in questions.items()}


def _hash(question: Question) -> str:
    return as_hash(gold_number(struct_of(QuestionStruct, question)))


def _results(folder: Path, hashes: set[str]) -> Iterable[str]:
    """Yield the files in the dataset and in the working folder that hold one of the hashes."""
    needles = [one.encode() for one in hashes]
    found = {path.resolve(): path for place in (Path(), folder) for path in sorted(place.glob("*.json*"))}
    for path in found.values() if needles else ():
        if path.is_file() and path.stat().st_size <= _SEARCHED:
            content = path.read_bytes()
            if any(needle in content for needle in needles):
                yield str(path)


def _first(names: Iterable[str]) -> str:
    """Return the first of some names, and the number of the others."""
    every = list(names)
    more = f" and {len(every) - _NAMED} more" if len(every) > _NAMED else ""
    return f"{', '.join(every[:_NAMED])}{more}"
