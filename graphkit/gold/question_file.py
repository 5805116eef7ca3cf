"""Edits the questions of a dataset, without a change to other lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.atomic import written
from graphkit.files.jsonl import find_file, is_compressed, raw_lines, read_lines
from graphkit.files.problems import Problems
from graphkit.files.reading import parse_record
from graphkit.records.aliases import QUESTION
from graphkit.records.models import Question
from graphkit.records.structs import QuestionStruct, struct_of


class QuestionFile:
    """The file of questions of a dataset, and the one question to change.

    Parameters
    ----------
    asked
        The id or the text of a question. If there is none, it is the text of a new one.
    new_id
        The id of a new question; by default the first free ``qN``.

    Raises
    ------
    InputError
        The file is missing, unusable or compressed, or several questions have this text.
    """

    def __init__(self, folder: Path, asked: str, new_id: str | None = None) -> None:
        found = find_file(folder, "questions")
        if found is None:
            raise InputError(
                "the folder holds no questions.jsonl", where=str(folder), remedy="Name a dataset's folder."
            )
        refuse_compressed(found)
        self.path = found
        problems = Problems()
        ids: set[str] = set()
        matches: list[tuple[int, dict[str, Any], Question]] = []
        for number, line in read_lines(found):
            question = parse_record(Question, line, f"{found}:{number}", problems)
            if question is None:
                continue
            ids.add(question.id)
            if asked == question.id:
                matches = [(number, json.loads(line), question)]
            elif asked == question.question and asked not in ids:
                matches.append((number, json.loads(line), question))
        problems.raise_if_refused()
        if len(matches) > 1:
            names = ", ".join(repr(question.id) for *_, question in matches)
            raise InputError(
                f"several questions have this text: {names}", where=str(found), remedy="Name one by its id."
            )
        #: The line of the question, or None for a new one.
        self.number: int | None = None
        if matches:
            self.number, self._fields, self.question = matches[0]
            if new_id is not None and new_id != self.question.id:
                what = f"the question already has the id {self.question.id!r}"
                raise InputError(what, where=f"{found}:{self.number}", remedy="Remove --id.")
            return
        name = new_id or next(name for number in range(1, len(ids) + 2) if (name := f"q{number}") not in ids)
        if name in ids:
            raise InputError(f"the id {name!r} is already used", where="--id", remedy="Give another one.")
        self._fields = {"id": name, "question": asked}
        self.question = self._checked(self._fields)

    def write(self, paths: Iterable[Mapping[str, Any]], commits: Mapping[str, str]) -> Question:
        """Write the file with more paths and pinned commits for the question. On an error, leave the file unchanged.

        Raises
        ------
        InputError
            The question can't hold them, or the file can't be written.
        """
        key = next((name for name in QUESTION["paths"] if name in self._fields), "paths")
        fields = self._fields | {key: [*(self._fields.get(key) or ()), *paths]}
        if commits:
            fields["commits"] = {**(fields.get("commits") or {}), **commits}
        question = self._checked(fields)
        own = json.dumps(fields, ensure_ascii=False).encode()
        write_lines(self.path, {self.number: own} if self.number is not None else {}, [own] * (self.number is None))
        return question

    def _checked(self, fields: Mapping[str, Any]) -> Question:
        return checked(fields, str(self.path) if self.number is None else f"{self.path}:{self.number}")


class QuestionLines:
    """All questions of a file by line, for several changes at once. ``fields`` holds each question as written.

    Raises
    ------
    InputError
        The file is compressed, or a question in it is unusable.
    """

    def __init__(self, path: Path) -> None:
        refuse_compressed(path)
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

    def write(self, changed: Mapping[int, Mapping[str, Any]]) -> None:
        """Write the file with new fields of some questions. On an error, leave the file unchanged.

        Raises
        ------
        InputError
            A question can't hold its fields, the file was changed meanwhile, or it can't be written.
        """
        if not changed:
            return
        for number, fields in changed.items():
            checked(fields, f"{self.path}:{number}")
        there = dict(read_lines(self.path))
        if other := next((number for number in changed if there.get(number) != self._lines[number]), None):
            remedy = "Nothing was written; run it again."
            raise InputError("the question was changed meanwhile", where=f"{self.path}:{other}", remedy=remedy)
        own = {number: json.dumps(fields, ensure_ascii=False).encode() for number, fields in changed.items()}
        write_lines(self.path, own)


def refuse_compressed(path: Path) -> None:
    """Refuse to change a compressed file."""
    if is_compressed(path):
        raise InputError("a compressed file isn't changed", where=str(path), remedy="Unpack it first.")


def checked(fields: Mapping[str, Any], where: str) -> Question:
    """Return the question with some fields.

    Raises
    ------
    InputError
        They don't form a valid question.
    """
    problems = Problems()
    question = parse_record(Question, json.dumps(fields).encode(), where, problems)
    problems.raise_if_refused()
    assert question is not None
    return question


def write_lines(path: Path, changed: Mapping[int, bytes], more: Iterable[bytes] = ()) -> None:
    """Write a file with some lines replaced and others appended. On an error, leave the file unchanged.

    Raises
    ------
    InputError
        The file can't be written.
    """
    with written(path) as temporary, temporary.open("wb") as stream:
        for number, line in enumerate(raw_lines(path), 1):
            stream.write(changed.get(number, line) + b"\n")
        for line in more:
            stream.write(line + b"\n")
