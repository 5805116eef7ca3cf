"""Edits the questions of a dataset, without a change to other lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
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


class QuestionFile:
    """The file of questions of a dataset, and the one question to change.

    Raise InputError if the file is missing, unusable or compressed, or several questions have this text.

    ``asked`` is the id or the text of a question, or else the text of a new one. ``new_id`` is the id of a new one, by
    default the first free ``qN``.
    """

    def __init__(self, folder: Path, asked: str, new_id: str | None = None) -> None:
        found = find_file(folder, "questions")
        if found is None:
            remedy = "Name a dataset's folder."
            raise InputError("the folder holds no questions.jsonl", where=str(folder), remedy=remedy)
        self.path = found
        self._lines = QuestionLines(found)
        by_id = {question.id: number for number, question in self._lines.questions.items()}
        matches = [number for number, question in self._lines.questions.items() if question.question == asked]
        if asked in by_id:
            matches = [by_id[asked]]
        if len(matches) > 1:
            names = ", ".join(repr(self._lines.questions[number].id) for number in matches)
            what = f"several questions have this text: {names}"
            raise InputError(what, where=str(found), remedy="Name one by its id.")
        #: The line of the question, or None for a new one.
        self.number = matches[0] if matches else None
        if self.number is not None:
            self._fields = self._lines.fields[self.number]
            self.question = checked(self._fields, f"{found}:{self.number}")
            if new_id is not None and new_id != self.question.id:
                what = f"the question already has the id {self.question.id!r}"
                raise InputError(what, where=f"{found}:{self.number}", remedy="Remove --id.")
            return
        name = new_id or next(name for number in range(1, len(by_id) + 2) if (name := f"q{number}") not in by_id)
        if name in by_id:
            raise InputError(f"the id {name!r} is already used", where="--id", remedy="Give another one.")
        self._fields = {"id": name, "question": asked}
        self.question = checked(self._fields, str(found))

    def write(self, paths: Iterable[Mapping[str, Any]], commits: Mapping[str, str]) -> Question:
        """Write the file with more paths and pinned commits for the question. On an error, leave the file unchanged.

        Raise InputError if the question can't hold them, or the file can't be written or was changed meanwhile.
        """
        key = next((name for name in QUESTION["paths"] if name in self._fields), "paths")
        fields = self._fields | {key: [*(self._fields.get(key) or ()), *paths]}
        if commits:
            fields["commits"] = {**(fields.get("commits") or {}), **commits}
        if self.number is None:
            self._lines.write({}, fields)
            return checked(fields, str(self.path))
        self._lines.write({self.number: fields})
        return checked(fields, f"{self.path}:{self.number}")


def checked(fields: Mapping[str, Any], where: str) -> Question:
    """Return the question with some fields.

    Raise InputError if they don't form a valid question.
    """
    problems = Problems()
    question = parse_record(Question, json.dumps(fields).encode(), where, problems)
    problems.raise_if_refused()
    assert question is not None
    return question
