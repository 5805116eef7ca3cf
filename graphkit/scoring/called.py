"""Which measures of tool calls are of use to a run: those of what its records log, and its questions expect."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import read_lines
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.records.structs import AnswerStruct, QuestionStruct

#: Computed where a run logs its calls, and those for which the questions must say what is expected.
OF_CALLS = ("StepsToGold", "Redundancy", "UsedShare")
OF_EXPECTED_CALLS = ("ToolRecall", "ToolPrecision", "ToolInOrder", "ArgumentMatch")

#: What every name of the fields has in it: a line without it isn't decoded.
_NAMED = b"tool"

#: How many lines of a run are looked at: a run logs its calls from the beginning, or doesn't.
LINES = 1000


def tool_measures(dataset: Dataset, run_file: Path) -> tuple[str, ...]:
    """Return the measures of tool calls that a run is scored by where none is named.

    They are none where its first records log no calls. A pipe can't be read twice: it has none.
    """
    if not (run_file.is_file() and dataset.questions_file.is_file()):
        return ()
    answers = RecordReader(run_file, AnswerStruct, Problems("skip"), dataset.questions_file)
    for number, line in islice(read_lines(run_file), LINES):
        if _NAMED in line and (answer := answers.parse(number, line)) is not None and answer.tool_calls is not None:
            break
    else:
        return ()
    questions = RecordReader(dataset.questions_file, QuestionStruct, Problems("skip"))
    for number, line in read_lines(dataset.questions_file):
        if _NAMED in line and (asked := questions.parse(number, line)) is not None and asked.expected_tool_calls:
            return OF_EXPECTED_CALLS + OF_CALLS
    return OF_CALLS
