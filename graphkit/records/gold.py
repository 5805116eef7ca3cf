"""What of a question is gold, as a hash: results of different gold can be told apart.

The same gold has the same hash whatever the order of questions, keys, paths and names of files, and in whatever
spelling a file has it; a field that is added to questions later changes no hash of gold that doesn't use it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import compress
from operator import mul
from typing import Any
from zlib import crc32

import msgspec
from msgspec.structs import astuple, fields

from graphkit.records.structs import QuestionStruct

#: What of a question isn't gold: by which name it goes, what is asked, and what it is grouped by. All else is: paths,
#: relevant, commits, stack, expected files, symbols and output, gold_answer, facts, conflicts, min_sources, k, and the
#: tests with what they run in.
NOT_GOLD = frozenset(("id", "question", "category", "difficulty", "group"))

#: Whose items have no order: those within a path, and all that isn't named here, have one.
UNORDERED = frozenset(("paths", "expected_files", "expected_symbols", "facts", "conflicts", "test_cases"))

_FIELDS = [field.name for field in fields(QuestionStruct)]
#: Where the fields of gold are among those of the struct: the first ones aren't gold.
_GOLD = range(len(NOT_GOLD), len(_FIELDS))
_SIZE = 8
_encode = msgspec.json.Encoder(order="deterministic").encode


def gold_hash(question: QuestionStruct) -> str:
    """Return the hash of the gold of a question.

    >>> gold_hash(QuestionStruct("q", "?", gold_answer="x")) == gold_hash(QuestionStruct("p", "!", gold_answer="x"))
    True
    """
    return as_hash(gold_number(question))


def gold_number(question: QuestionStruct) -> int:
    """Return the hash of the gold of a question as a number."""
    # Some runs hash every question, so the fields are read at once. An empty field says nothing; the number 0 does.
    values = astuple(question)
    gold: dict[str, Any] = {
        _FIELDS[place]: values[place] for place in compress(_GOLD, values[_GOLD.start : _GOLD.stop])
    }
    if not UNORDERED.isdisjoint(gold):
        for name in UNORDERED.intersection(gold):
            if len(gold[name]) > 1:
                gold[name] = sorted(map(_encode, gold[name]))
    if question.min_sources == 0:
        gold["min_sources"] = 0
    return int.from_bytes(blake2b(_encode(gold), digest_size=_SIZE).digest(), "big")


def as_hash(number: int) -> str:
    """Return a number as the hash that it is shown as."""
    return f"{number:0{2 * _SIZE}x}"


def as_number(gold: str) -> int:
    """Return the number that a hash shows; what others gave for one may be any text."""
    if re.fullmatch(f"[0-9a-f]{{{2 * _SIZE}}}", gold):
        return int(gold, 16)
    return int.from_bytes(blake2b(gold.encode("utf-8", "surrogatepass"), digest_size=_SIZE).digest(), "big")


class GoldSum:
    """The hash of the gold of several questions, whatever their order: each is added, and sums are added up."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def add(self, question: str, gold: int) -> None:
        """Add a question, by its id, with the hash of its gold: as often as its id says, so that none is another's."""
        self.value += gold * (crc32(question.encode("utf-8", "surrogatepass")) | 1)

    def add_all(self, questions: Iterable[str], golds: Iterable[int]) -> None:
        """Add many questions, as :meth:`add` adds one."""
        weights = [crc32(name.encode("utf-8", "surrogatepass")) | 1 for name in questions]
        self.value += sum(map(mul, golds, weights))

    def merge(self, other: GoldSum) -> None:
        """Add the sum of others."""
        self.value = (self.value + other.value) % (1 << 8 * _SIZE)

    def hexdigest(self) -> str:
        """Return the hash."""
        return as_hash(self.value % (1 << 8 * _SIZE))


def gold_hash_of(questions: Iterable[tuple[str, str | None]]) -> str | None:
    """Return the hash of the gold of some questions, by id and the hash of each; None where one isn't known."""
    total = GoldSum()
    for question, gold in questions:
        if gold is None:
            return None
        total.add(question, as_number(gold))
    return total.hexdigest()


def different_gold(first: Mapping[str, str | None], second: Mapping[str, str | None]) -> list[str]:
    """Return the questions of which both sides know the gold, and it isn't the same."""
    return [name for name, gold in first.items() if gold and (other := second.get(name)) and gold != other]
