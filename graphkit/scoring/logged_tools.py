"""Selects the measures of tool calls that apply to a run, from its records and the expectations of its questions."""

from __future__ import annotations

from collections.abc import Callable

from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import read_lines
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.records.doubts import OPENED_FILES
from graphkit.records.structs import QuestionStruct
from graphkit.scoring.first_records import FirstRecords

#: Measures of a run that logs its calls, and those that also need expected calls in the questions.
OF_CALLS = ("StepsToGold", "Redundancy", "UsedShare")
OF_EXPECTED_CALLS = ("ToolRecall", "ToolPrecision", "ToolInOrder", "ArgumentMatch")

#: Measures of files, for agents that opened whole files whose symbols gold names.
OF_FILES = ("EdgeRecall(files=True)",)

#: Part of each name of the fields of tool calls: a line without it isn't decoded.
_NAMED = b"tool"


def tool_measures(dataset: Dataset, first: FirstRecords | None) -> tuple[str, ...]:
    """Return the measures of tool calls that score a run by default; none if its first records log no calls.

    A pipe has none, since it can't be read twice. If an agent opened whole files and gold names symbols, its files are
    compared as well.
    """

    def expected() -> bool:
        reader = RecordReader(dataset.questions_file, QuestionStruct, Problems("skip"))
        lines = (each for each in read_lines(dataset.questions_file) if _NAMED in each[1])
        parsed = (reader.parse(number, line) for number, line in lines)
        return any(question is not None and question.expected_tool_calls for question in parsed)

    return measures_of_calls(first, expected)


def measures_of_calls(first: FirstRecords | None, expected: Callable[[], bool]) -> tuple[str, ...]:
    """Return the measures of tool calls; ``expected`` returns whether a question expects calls."""
    if first is None or all(answer.tool_calls is None for answer in first.answers):
        return ()
    by_file = OF_FILES if any(OPENED_FILES in answer.doubts for answer in first.answers) else ()
    return (OF_EXPECTED_CALLS if expected() else ()) + OF_CALLS + by_file
