"""Ids of a run that differ from those of its dataset in Unicode normalisation alone: no eye sees it, and no id matches.

An accented letter is one code point or two (NFC and NFD), and file systems and tools write either. An id of a run is
compared as the dataset's gold spells it. Ids that the gold itself tells apart by nothing else stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from unicodedata import is_normalized, normalize

from graphkit.files.jsonl import open_binary
from graphkit.files.known_ids import gold_ids
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.records.words import counted


@dataclass(frozen=True, slots=True)
class GoldSpelling:
    """How the gold of a dataset spells what isn't ASCII.

    Attributes
    ----------
    ids
        The gold's spelling of each id, by its form NFC.
    form
        The form that all of them have; None where they differ in it.
    """

    ids: Mapping[str, str] = field(default_factory=dict)
    form: Literal["NFC", "NFD"] | None = None

    @classmethod
    def read(cls, questions_file: Path) -> GoldSpelling:
        """Return that of a dataset's questions; nothing is known of a pipe, which can't be read again.

        The file is decoded only where it holds anything but ASCII.
        """
        if not questions_file.is_file() or _is_ascii(questions_file):
            return cls()
        found: dict[str, set[str]] = {}
        for _, question in RecordReader(questions_file, QuestionStruct, Problems("skip")):
            for one in _gold_ids(question):
                if not one.isascii():
                    found.setdefault(normalize("NFC", one), set()).add(one)
        every = set().union(*found.values())
        forms: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")
        form = next((form for form in forms if all(is_normalized(form, one) for one in every)), None)
        return cls({nfc: min(some) for nfc, some in found.items() if len(some) == 1}, form)

    def __bool__(self) -> bool:
        return bool(self.ids)

    def of(self, name: str) -> str:
        """Return a name as the gold spells it."""
        if name.isascii():
            return name
        return self.ids.get(normalize("NFC", name)) or (name if self.form is None else normalize(self.form, name))


def _is_ascii(file: Path) -> bool:
    with open_binary(file) as stream:
        return all(not may_differ(block) for block in iter(lambda: stream.read(1 << 20), b""))


def _gold_ids(question: QuestionStruct) -> Iterator[str]:
    yield from gold_ids(question)
    yield from question.expected_files


def may_differ(data: bytes) -> bool:
    """Tell whether JSON may hold a character that isn't ASCII."""
    return not data.isascii() or b"\\u" in data


def respell(answer: AnswerStruct, gold: GoldSpelling) -> int:
    """Write the ids and paths of a record as the gold spells them; return how many distinct ones that changed."""
    changed: set[str] = set()

    def of(name: str) -> str:
        known = gold.of(name)
        if known != name:
            changed.add(name)
        return known

    for chunk in answer.retrieved or ():
        chunk.id = of(chunk.id)
        chunk.path = chunk.path and of(chunk.path)
    for step in answer.traversal or ():
        step.source, step.target = of(step.source), of(step.target)
    for call in answer.tool_calls or ():
        call.seen = call.seen and list(map(of, call.seen))
    answer.citations = list(map(of, answer.citations))
    answer.evidence_files = answer.evidence_files and list(map(of, answer.evidence_files))
    return len(changed)


def respelled_in_words(count: int) -> str:
    """Return the warning for a record of which so many ids were respelled."""
    verb = "is" if count == 1 else "are"
    return f"{counted(count, 'id')} {verb} in another Unicode normalisation than the gold's, and compared as the gold's"
