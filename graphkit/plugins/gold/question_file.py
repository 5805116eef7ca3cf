"""Edits the questions of a dataset, without a change to other lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from graphkit.errors import InputError, did_you_mean
from graphkit.files.assets import refuse_bundled
from graphkit.files.atomic import written
from graphkit.files.jsonl import find_file, is_compressed, raw_lines, read_lines
from graphkit.files.problems import Problems
from graphkit.files.reading import parse_record
from graphkit.records.aliases import QUESTION
from graphkit.records.models import Question
from graphkit.records.structs import QuestionStruct, struct_of


class QuestionLines:
    """All questions of a file by line, to change some of them. ``fields`` holds each question as written.

    Raise InputError if the file is compressed, or a question in it is unusable.
    """

    def __init__(self, path: Path) -> None:
        if is_compressed(path):
            raise InputError("a compressed file isn't changed", where=str(path), remedy="Unpack it first.")
        self.path = path
        self.questions: dict[int, QuestionStruct] = {}
        self.fields: dict[int, dict[str, Any]] = {}
        self._lines: dict[int, bytes] = {}
        problems = Problems()
        for number, line in read_lines(path):
            question = parse_record(Question, line, f"{path}:{number}", problems)
            if question is not None:
                self.questions[number] = struct_of(QuestionStruct, question)
                self.fields[number] = json.loads(line)
                self._lines[number] = line
        problems.raise_if_refused()

    def write(self, changed: Mapping[int, Mapping[str, Any]], new: Mapping[str, Any] | None = None) -> None:
        """Write the file with new fields of some questions, and a new one. On an error, leave the file unchanged.

        Raise InputError if a question can't hold its fields, the file was changed meanwhile, or it can't be written.
        """
        for number, fields in changed.items():
            checked(fields, f"{self.path}:{number}")
        if new is not None:
            checked(new, str(self.path))
        refuse_bundled(self.path.parent)
        there = dict(read_lines(self.path)) if changed else {}
        if other := next((number for number in changed if there.get(number) != self._lines[number]), None):
            remedy = "Nothing was written; run it again."
            raise InputError("the question was changed meanwhile", where=f"{self.path}:{other}", remedy=remedy)
        texts = {number: json.dumps(fields, ensure_ascii=False).encode() for number, fields in changed.items()}
        if not texts and new is None:
            return
        with written(self.path) as temporary, temporary.open("wb") as stream:
            for number, line in enumerate(raw_lines(self.path), 1):
                stream.write(texts.get(number, line) + b"\n")
            if new is not None:
                stream.write(json.dumps(new, ensure_ascii=False).encode() + b"\n")


class EditedQuestion(NamedTuple):
    """A question to change: its line (None for a new one), its fields as written, and the question."""

    number: int | None
    fields: dict[str, Any]
    question: Question

    def parameters(self) -> dict[str, Any]:
        """Return the fields that have a value, by their own names and as the user wrote them."""
        given = self.question.model_dump(exclude_defaults=True, mode="json")
        if relevant := self.question.relevant:
            given["relevant"] = sorted(relevant, key=lambda one: -relevant[one])
        own = {name: value for name, value in self.fields.items() if value not in (None, "", [], {})}
        return own | given

    def with_gold(self, paths: Iterable[Mapping[str, Any]], commits: Mapping[str, str]) -> dict[str, Any]:
        """Return the fields with more paths and pinned commits."""
        key = next((name for name in QUESTION["paths"] if name in self.fields), "paths")
        fields = self.fields | {key: [*(self.fields.get(key) or ()), *paths]}
        if commits:
            fields["commits"] = {**(fields.get("commits") or {}), **commits}
        return fields


class QuestionFile:
    """The file of questions of a dataset, and those of them to change: one, or all.

    Raise InputError if the file is missing, unusable or compressed, or several questions have this text.

    ``asked`` is the id or the text of a question, or else the text of a new one; None stands for all questions.
    ``new_id`` is the id of a new one, by default the first free ``qN``.
    """

    def __init__(self, folder: Path, asked: str | None = None, new_id: str | None = None) -> None:
        found = find_file(folder, "questions")
        if found is None:
            remedy = "Name a dataset's folder."
            raise InputError("the folder holds no questions.jsonl", where=str(folder), remedy=remedy)
        self.path = found
        self._lines = QuestionLines(found)
        numbers = list(self._lines.questions) if asked is None else [self._find(asked, new_id)]
        each = [self._new(str(asked), new_id) if number is None else self._at(number) for number in numbers]
        #: The questions to change, by id.
        self.asked = {one.question.id: one for one in each}

    @property
    def question(self) -> Question:
        """The question to change, if there is only one."""
        [one] = self.asked.values()
        return one.question

    @property
    def number(self) -> int | None:
        """The line of the only question to change, or None for a new one."""
        [one] = self.asked.values()
        return one.number

    def _at(self, number: int) -> EditedQuestion:
        fields = self._lines.fields[number]
        return EditedQuestion(number, fields, checked(fields, f"{self.path}:{number}"))

    def _find(self, asked: str, new_id: str | None) -> int | None:
        """Return the line of the question with this id or text, or None for a new question."""
        matches = [number for number, one in self._lines.questions.items() if one.id == asked]
        matches = matches or [number for number, one in self._lines.questions.items() if one.question == asked]
        if len(matches) > 1:
            names = ", ".join(repr(self._lines.questions[number].id) for number in matches)
            what = f"several questions have this text: {names}"
            raise InputError(what, where=str(self.path), remedy="Name one by its id.")
        if matches and new_id not in (None, known := self._lines.questions[matches[0]].id):
            what = f"the question already has the id {known!r}"
            raise InputError(what, where=f"{self.path}:{matches[0]}", remedy="Remove --id.")
        return matches[0] if matches else None

    def _new(self, asked: str, new_id: str | None) -> EditedQuestion:
        taken = {one.id for one in self._lines.questions.values()}
        name = new_id or next(name for number in range(1, len(taken) + 2) if (name := f"q{number}") not in taken)
        if name in taken:
            raise InputError(f"the id {name!r} is already used", where="--id", remedy="Give another one.")
        fields = {"id": name, "question": asked}
        return EditedQuestion(None, fields, checked(fields, str(self.path)))

    def with_parameters(self, names: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return by question the values of some parameters: its fields, those of the user's own too.

        ``relevant`` is the list of relevant ids, best first. Questions without a value for a name are left out.

        Raise InputError if no question has a field of a name.
        """
        wanted = list(names)
        values = {name: one.parameters() for name, one in self.asked.items()}
        for name in wanted:
            if not any(name in each for each in values.values()):
                known = sorted({key for each in values.values() for key in each})
                what = f"no question has a field {name!r}, which the pattern uses as ${name}"
                remedy = f"{did_you_mean(name, known)}There are: {', '.join(known)}."
                raise InputError(what, where="--pattern", remedy=remedy)
        found = {name: {key: each.get(key) for key in wanted} for name, each in values.items()}
        return {name: each for name, each in found.items() if None not in each.values()}

    def write(self, paths: Iterable[Mapping[str, Any]], commits: Mapping[str, str]) -> Question:
        """Write the file with more paths and pinned commits for the only question, and return it.

        Raises what :meth:`write_all` raises.
        """
        self.write_all({self.question.id: (paths, commits)})
        return checked(self.asked[self.question.id].with_gold(paths, commits), str(self.path))

    def write_all(self, accepted: Mapping[str, tuple[Iterable[Mapping[str, Any]], Mapping[str, str]]]) -> None:
        """Write the file with more paths and pinned commits by question. On an error, leave the file unchanged.

        Raise InputError if a question can't hold them, or the file can't be written or was changed meanwhile.
        """
        changed: dict[int, Mapping[str, Any]] = {}
        new: Mapping[str, Any] | None = None
        for name, (paths, commits) in accepted.items():
            one = self.asked[name]
            fields = one.with_gold(paths, commits)
            if one.number is None:
                new = fields
            else:
                changed[one.number] = fields
        self._lines.write(changed, new)


def checked(fields: Mapping[str, Any], where: str) -> Question:
    """Return the question with some fields.

    Raise InputError if they don't form a valid question.
    """
    problems = Problems()
    question = parse_record(Question, json.dumps(fields).encode(), where, problems)
    problems.raise_if_refused()
    assert question is not None
    return question
