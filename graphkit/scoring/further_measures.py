"""The first records of a run, and the measures that they call for beside the usual ones: of calls, seeds and texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import read_lines
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.measures.answer_matching import decides_by_words
from graphkit.records.doubts import OPENED_FILES
from graphkit.records.plugins import installed
from graphkit.records.structs import AnswerStruct, QuestionStruct

#: How many records of a run, and how many questions, are looked at.
RECORDS = 1000


@dataclass(frozen=True, slots=True)
class FirstRecords:
    """The first usable records of a run, which show the ids that it uses and whether it logs its tool calls.

    ``has_more`` says whether the run goes on after them.
    """

    answers: list[AnswerStruct]
    has_more: bool

    @classmethod
    def read(cls, dataset: Dataset, run_file: Path) -> FirstRecords | None:
        """Return the first records of a run; None for a pipe, which can't be read again."""
        if not (run_file.is_file() and dataset.questions_file.is_file()):
            return None
        reader = RecordReader(run_file, AnswerStruct, Problems("skip"), dataset.questions_file)
        answers = [answer for _, answer in islice(reader, RECORDS + 1)]
        return cls(answers[:RECORDS], len(answers) > RECORDS)

    def ids(self) -> set[str]:
        """Return the ids of the retrieved chunks and of the ends of the traversed edges."""
        found = {chunk.id for answer in self.answers for chunk in answer.retrieved or ()}
        for answer in self.answers:
            for step in answer.traversal or ():
                found |= {step.source, step.target}
        return found

    def questions(self) -> set[str]:
        """Return the ids of the questions."""
        return {answer.question_id for answer in self.answers}


#: Measures of a run that logs its calls, and those that also need expected calls in the questions.
OF_CALLS = ("StepsToGold", "Redundancy", "UsedShare")
OF_EXPECTED_CALLS = ("ToolRecall", "ToolPrecision", "ToolInOrder", "ArgumentMatch")

#: Measures of a run that logs its seeds, or of questions that state some.
OF_SEEDS = ("SeedRecall", "SeedPrecision", "SeedReciprocalRank")

#: Measures of files, for agents that opened whole files whose symbols gold names.
OF_FILES = ("EdgeRecall(files=True)",)

#: The measures of questions whose gold is text: answers that decide what is right, and evidence.
OF_ANSWERS, OF_EVIDENCE = "AnswerHit", "EvidenceRecall@5"

#: The measures of questions without an answer, and of those that list absent edges; a plug-in has them.
OF_UNANSWERABLE = ("RightDecision", "AbstentionRecall", "AbstentionPrecision", "OverRefusal")
OF_ABSENT = ("InventedEdges",)

#: The measures of records whose queries were run and compared; a plug-in has them.
OF_QUERIES = ("Executable", "ResultAccuracy", "PSJS")

#: Part of each name of the fields of tool calls: a line without it isn't decoded.
_NAMED = b"tool"

#: Parts of the names of the fields with gold that is text, and of others that call for measures.
_OF_TEXTS = (b"answer", b"ground_truth", b"reference", b"expected_output", b"relevant_texts", b"absent", b"seeds")


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

    return measures_that_apply(first, expected, measures_of_texts(dataset))


def measures_of_texts(dataset: Dataset) -> tuple[str, ...]:
    """Return the measures of gold that is text, by the first questions."""
    if not dataset.questions_file.is_file():
        return ()
    reader = RecordReader(dataset.questions_file, QuestionStruct, Problems("skip"))
    return of_texts(reader, read_lines(dataset.questions_file))


def of_texts(reader: RecordReader[QuestionStruct], lines: Iterable[tuple[int, bytes]]) -> tuple[str, ...]:
    """Return the measures that apply to some of the first questions, of which these are the lines, by texts of gold.

    Questions without an answer have measures of their own.

    Where gold has paths, the words of answers are no measure: a further one in the family of a comparison would double
    the p-values of a lost edge.
    """
    found = dict.fromkeys((OF_ANSWERS, OF_EVIDENCE, *OF_SEEDS), False)
    paths, apply = False, dict.fromkeys((*OF_UNANSWERABLE, *OF_ABSENT), False)
    for number, line in islice(lines, RECORDS):
        if not any(name in line for name in _OF_TEXTS):
            continue
        if (question := reader.parse(number, line)) is not None:
            paths = paths or bool(question.paths)
            found[OF_ANSWERS] = not paths and (found[OF_ANSWERS] or decides_by_words(question))
            found[OF_EVIDENCE] = found[OF_EVIDENCE] or bool(question.relevant_texts)
            found |= dict.fromkeys(OF_SEEDS if question.seeds else (), True)
            apply |= dict.fromkeys(OF_UNANSWERABLE if question.answerable is False else (), True)
            apply |= dict.fromkeys(OF_ABSENT if question.absent else (), True)
    known = installed("graphkit.measures") if any(apply.values()) else ()
    found |= {name: applies and name.casefold() in known for name, applies in apply.items()}
    return tuple(name for name, applies in found.items() if applies)


def in_order(names: Collection[str]) -> list[str]:
    """Return the measures that :func:`of_texts` found in several parts in the order in which it finds them in one."""
    return [name for name in (OF_ANSWERS, OF_EVIDENCE, *OF_SEEDS, *OF_UNANSWERABLE, *OF_ABSENT) if name in names]


def measures_that_apply(
    first: FirstRecords | None, expected: Callable[[], bool], texts: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the measures beside the usual ones.

    ``expected`` returns whether a question expects calls, and ``texts`` are the measures of gold that is text.
    """
    if first is None:
        return tuple(texts)
    if any(answer.compared_result is not None for answer in first.answers):
        known = installed("graphkit.measures")
        texts = (*texts, *(name for name in OF_QUERIES if name.casefold() in known))
    seeds = any(answer.seeds is not None for answer in first.answers)
    found = tuple(dict.fromkeys((*texts, *(OF_SEEDS if seeds else ()))))
    if all(answer.tool_calls is None for answer in first.answers):
        return found
    by_file = OF_FILES if any(OPENED_FILES in answer.doubts for answer in first.answers) else ()
    return (*found, *(OF_EXPECTED_CALLS if expected() else ()), *OF_CALLS, *by_file)
