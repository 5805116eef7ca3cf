"""Ids of a run that differ from those of its dataset only in Unicode normalisation, which nobody sees.

An accented letter is one code point or two (NFC and NFD), and file systems and tools write either. Ids of a run are
compared in the spelling of the dataset's gold. Ids of the gold that differ only so from each other stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Literal
from unicodedata import is_normalized, normalize

from graphkit.files.known_ids import gold_ids
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.records.words import counted

Form = Literal["NFC", "NFD"]


class GoldSpelling:
    """The gold's spelling of ids that aren't ASCII. The questions are read when a run has such an id.

    A pipe can't be read again: its spelling is unknown. ``ids`` are the ids of the gold that aren't ASCII, if they were
    read before.
    """

    def __init__(self, questions_file: Path | None = None, ids: Collection[str] | None = None) -> None:
        self._questions_file = questions_file if questions_file is not None and questions_file.is_file() else None
        self._ids = () if ids is None and self._questions_file is None else ids

    def of(self, name: str) -> str:
        """Return a name in the spelling of the gold."""
        if name.isascii() or not self._read[0]:
            return name
        ids, form = self._read
        return ids.get(normalize("NFC", name)) or (name if form is None else normalize(form, name))

    @cached_property
    def _read(self) -> tuple[dict[str, str], Form | None]:
        """The gold's spelling of each id by its form NFC, and the form of all ids; None if their forms differ."""
        found: dict[str, set[str]] = {}
        for one in self._ids if self._ids is not None else self._of_file():
            found.setdefault(normalize("NFC", one), set()).add(one)
        every = set().union(*found.values())
        forms: tuple[Form, ...] = ("NFC", "NFD")
        form = next((form for form in forms if all(is_normalized(form, one) for one in every)), None)
        return {nfc: min(some) for nfc, some in found.items() if len(some) == 1}, form

    def _of_file(self) -> Iterator[str]:
        assert self._questions_file is not None
        for _, question in RecordReader(self._questions_file, QuestionStruct, Problems("skip")):
            yield from not_ascii(question)


def not_ascii(question: QuestionStruct) -> Iterator[str]:
    """Yield the ids and the expected files of a question's gold that aren't ASCII."""
    return (one for one in chain(gold_ids(question), question.expected_files) if not one.isascii())


#: A line of only ASCII without this byte has only ids in ASCII. Searching a number is ten times as fast as a text.
BACKSLASH = ord("\\")


def respell(answer: AnswerStruct, gold: GoldSpelling) -> int:
    """Write the ids and paths of a record in the spelling of the gold; return the number of changed distinct ones."""
    changed: set[str] = set()

    def of(name: str) -> str:
        known = gold.of(name)
        if known != name:
            changed.add(name)
        return known

    for chunk in answer.retrieved or ():
        chunk.id = of(chunk.id)
        chunk.path = chunk.path and of(chunk.path)
    for step in (*(answer.traversal or ()), *(answer.walked_before or ())):
        step.source, step.target = of(step.source), of(step.target)
    for call in answer.tool_calls or ():
        call.seen = call.seen and list(map(of, call.seen))
    for seed in answer.seeds or ():
        seed.id = of(seed.id)
    answer.citations = list(map(of, answer.citations))
    answer.evidence_files = answer.evidence_files and list(map(of, answer.evidence_files))
    answer.rankings = {level: list(map(of, names)) for level, names in answer.rankings.items()}
    return len(changed)


def respelled_in_words(count: int) -> str:
    """Return the warning for a record with this number of respelled ids."""
    verb = "is" if count == 1 else "are"
    return f"{counted(count, 'id')} {verb} in another Unicode normalisation than the gold's, and compared as the gold's"
