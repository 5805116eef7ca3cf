"""The first records of a run, which show the ids that it uses and whether it logs its tool calls."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.records.structs import AnswerStruct

#: How many records of a run are read for this.
RECORDS = 1000


@dataclass(frozen=True, slots=True)
class FirstRecords:
    """The first usable records of a run; ``has_more`` says whether the run goes on after them."""

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
