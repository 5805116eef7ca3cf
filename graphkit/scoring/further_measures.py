"""Selects the measures that score a run beside the usual ones: those of tool calls, and of gold answers by words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import read_lines
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.measures.answer_matching import decides_by_words
from graphkit.records.doubts import OPENED_FILES
from graphkit.records.structs import QuestionStruct
from graphkit.scoring.first_records import RECORDS, FirstRecords

#: Measures of a run that logs its calls, and those that also need expected calls in the questions.
OF_CALLS = ("StepsToGold", "Redundancy", "UsedShare")
OF_EXPECTED_CALLS = ("ToolRecall", "ToolPrecision", "ToolInOrder", "ArgumentMatch")

#: Measures of files, for agents that opened whole files whose symbols gold names.
OF_FILES = ("EdgeRecall(files=True)",)

#: The measure of questions whose gold answers decide what is right, since nothing better does.
OF_GOLD_ANSWERS = ("AnswerHit",)

#: Part of each name of the fields of tool calls: a line without it isn't decoded.
_NAMED = b"tool"


def further_measures(dataset: Dataset, first: FirstRecords | None) -> tuple[str, ...]:
    """Return the measures that score a run by default beside the usual ones.

    A pipe has none of tool calls, since it can't be read twice. If an agent opened whole files and gold names symbols,
    its files are compared as well.
    """

    def expected() -> bool:
        reader = RecordReader(dataset.questions_file, QuestionStruct, Problems("skip"))
        lines = (each for each in read_lines(dataset.questions_file) if _NAMED in each[1])
        parsed = (reader.parse(number, line) for number, line in lines)
        return any(question is not None and question.expected_tool_calls for question in parsed)

    return measures_that_apply(first, expected, by_words=bool(measures_of_answers(dataset)))


def measures_of_answers(dataset: Dataset) -> tuple[str, ...]:
    """Return the measure by which gold answers decide; nothing if they decide none of the first questions."""
    if not dataset.questions_file.is_file():
        return ()
    reader = RecordReader(dataset.questions_file, QuestionStruct, Problems("skip"))
    lines = islice(read_lines(dataset.questions_file), RECORDS)
    return OF_GOLD_ANSWERS if any_by_words(reader.parse(number, line) for number, line in lines) else ()


def any_by_words(questions: Iterable[QuestionStruct | None]) -> bool:
    """Return whether the gold answers of some question decide what is right."""
    return any(question is not None and decides_by_words(question) for question in questions)


def measures_that_apply(
    first: FirstRecords | None, expected: Callable[[], bool], *, by_words: bool = False
) -> tuple[str, ...]:
    """Return the measures beside the usual ones.

    ``expected`` returns whether a question expects calls, and ``by_words`` says whether gold answers decide.
    """
    answers = OF_GOLD_ANSWERS if by_words else ()
    if first is None or all(answer.tool_calls is None for answer in first.answers):
        return answers
    by_file = OF_FILES if any(OPENED_FILES in answer.doubts for answer in first.answers) else ()
    return answers + (OF_EXPECTED_CALLS if expected() else ()) + OF_CALLS + by_file
