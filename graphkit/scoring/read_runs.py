"""A run read as a whole, for what works on each of its answers: grading and execution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from graphkit.files.dataset import Dataset, given_run_name
from graphkit.files.problems import Problems
from graphkit.files.run_files import read_run
from graphkit.measures.case import Case
from graphkit.measures.integration import NO_ANSWER
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.scoring.run_pass import known_from_files


@dataclass(frozen=True)
class ReadRun:
    """A run with the questions of its dataset in their order, and its records.

    ``invalid`` maps questions with stale gold to the reason.
    """

    run: str
    questions: Mapping[str, QuestionStruct] = field(repr=False)
    answers: Mapping[str, AnswerStruct] = field(repr=False)
    invalid: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, run_file: Path, source: Dataset, problems: Problems, name: str | None = None) -> Self:
        """Read a run and its questions; ``name`` replaces the name in its records.

        Raises
        ------
        InputError
            A record can't be used, or the file holds records of several runs, or none.
        """
        if name is not None:
            given_run_name(name)
        _, invalid = known_from_files(source, (), problems)
        questions = {question.id: question for _, question in source.questions(problems)}
        run, answers = read_run(run_file, problems, questions, name, source.questions_file)
        return cls(run, questions, answers, invalid)

    def only(self, questions: Iterable[str]) -> Self:
        """Return the run with some of its questions."""
        chosen = set(questions)
        return replace(self, questions={name: one for name, one in self.questions.items() if name in chosen})

    def case(self, question: str) -> Case:
        """Return a question with the record of the run."""
        return Case(self.questions[question], self.answers.get(question))

    def lacking(self, question: str) -> str | None:
        """Return why an answer can't be judged or run: its gold is stale, or there is none; None if it can."""
        return self.invalid.get(question) or lacking_answer(self.case(question))


def lacking_answer(case: Case) -> str | None:
    """Return why there is no answer to judge or run: no record, an error, or no text; None if there is one."""
    if case.answer is None or case.failure is not None:
        return case.failure
    return NO_ANSWER if case.answer.answer is None else None
