"""Which measures of tool calls are of use to a run: those of what its records log, and its questions expect."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import read_lines
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.records.doubts import OPENED_FILES
from graphkit.records.structs import AnswerStruct, QuestionStruct

#: Computed where a run logs its calls, and those for which the questions must say what is expected.
OF_CALLS = ("StepsToGold", "Redundancy", "UsedShare")
OF_EXPECTED_CALLS = ("ToolRecall", "ToolPrecision", "ToolInOrder", "ArgumentMatch")

#: Computed where agents opened whole files of which gold names symbols.
OF_FILES = ("EdgeRecall(files=True)",)

#: What every name of the fields has in it: a line without it isn't decoded.
_NAMED = b"tool"

#: What is in a line that says so: the beginning of the doubt.
_BY_FILE = OPENED_FILES[:24].encode()

#: How many lines of a run are looked at: a run logs its calls from the beginning, or doesn't.
LINES = 1000


def tool_measures(dataset: Dataset, run_file: Path) -> tuple[str, ...]:
    """Return the measures of tool calls that a run is scored by where none is named.

    They are none where its first records log no calls. A pipe can't be read twice: it has none. Where an agent opened
    whole files and gold names symbols, its files are compared as well.
    """
    if not (run_file.is_file() and dataset.questions_file.is_file()):
        return ()
    answers = RecordReader(run_file, AnswerStruct, Problems("skip"), dataset.questions_file)
    by_file: tuple[str, ...] = ()
    calls = False
    for number, line in islice(read_lines(run_file), LINES):
        if _NAMED in line and (not calls or _BY_FILE in line) and (answer := answers.parse(number, line)) is not None:
            calls = calls or answer.tool_calls is not None
            if OPENED_FILES in answer.doubts:
                by_file = OF_FILES
                break
    if not calls:
        return ()
    questions = RecordReader(dataset.questions_file, QuestionStruct, Problems("skip"))
    for number, line in read_lines(dataset.questions_file):
        if _NAMED in line and (asked := questions.parse(number, line)) is not None and asked.expected_tool_calls:
            return OF_EXPECTED_CALLS + OF_CALLS + by_file
    return OF_CALLS + by_file
