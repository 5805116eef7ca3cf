"""Gold: which steps no static graph holds, and hashes, which show whether two results have the same gold.

The hash doesn't depend on the order of questions, keys, paths and file names, nor on other names of fields. A new field
of questions changes no hash of gold that doesn't use it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import compress
from typing import Any
from zlib import crc32

import msgspec
from msgspec.structs import astuple, fields

from graphkit.records.structs import QuestionStruct

#: The words of the longest gold answer that is looked for as it stands, as of a short answer in Natural Questions.
LONGEST_ANSWER = 5

#: The fields that aren't gold. All others are, such as commits, stack, k, and the tests with their context.
NOT_GOLD = frozenset(("id", "question", "category", "difficulty", "group", "split", "session", "turn"))

#: The fields whose items have no order.
UNORDERED = frozenset(
    (
        *("paths", "expected_files", "expected_symbols", "facts", "conflicts", "test_cases", "gold_answers"),
        *("evidence_sets", "relevant_texts", "criteria", "absent", "withheld", "seeds", "gold_cypher"),
    )
)

#: The evidence of a step that the static graph holds, and the default.
STATIC = "static"

_FIELDS = [field.name for field in fields(QuestionStruct)]
#: Where the fields of gold are among those of the struct: the first ones aren't gold.
_GOLD = range(len(NOT_GOLD), len(_FIELDS))
_SIZE = 8
_encode = msgspec.json.Encoder(order="deterministic").encode


def beyond_static(evidence: str | None) -> bool:
    """Return whether a gold step is a real relation that a static graph needn't hold.

    Any evidence but ``"static"`` means so: ``"manual"``, ``"trace"``, or a word of the data set.

    >>> [beyond_static(evidence) for evidence in ("manual", "trace", "static", "", None)]
    [True, True, False, False, False]
    """
    return bool(evidence) and evidence != STATIC


def gold_hash(question: QuestionStruct) -> str:
    """Return the hash of a question's gold.

    >>> gold_hash(QuestionStruct("q", "?", gold_answer="x")) == gold_hash(QuestionStruct("p", "!", gold_answer="x"))
    True
    """
    return as_hash(gold_number(question))


def gold_number(question: QuestionStruct) -> int:
    """Return the hash of a question's gold as a number."""
    # Some runs hash every question, so the fields are read at once. Empty values are ignored, but not 0.
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
    gold.pop("answerable", None)  # the same as nothing
    if question.answerable is False:
        gold["answerable"] = False
    return int.from_bytes(blake2b(_encode(gold), digest_size=_SIZE).digest(), "big")


def as_hash(number: int) -> str:
    """Return the text of a hash from its number."""
    return f"{number:0{2 * _SIZE}x}"


def as_number(gold: str) -> int:
    """Return the number of a hash; other programs may have written any text."""
    if re.fullmatch(f"[0-9a-f]{{{2 * _SIZE}}}", gold):
        return int(gold, 16)
    return int.from_bytes(blake2b(gold.encode("utf-8", "surrogatepass"), digest_size=_SIZE).digest(), "big")


class GoldSum:
    """The hash of several questions' gold in any order. Sums can be merged."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def add(self, question: str, gold: int) -> None:
        """Add a question's gold, weighted by its id, so that questions can't exchange their gold."""
        self.value += gold * (crc32(question.encode("utf-8", "surrogatepass")) | 1)

    def merge(self, other: GoldSum) -> None:
        """Add another sum."""
        self.value = (self.value + other.value) % (1 << 8 * _SIZE)

    def hexdigest(self) -> str:
        """Return the hash as text."""
        return as_hash(self.value % (1 << 8 * _SIZE))


def gold_hash_of(questions: Iterable[tuple[str, str | None]]) -> str | None:
    """Return the hash of several questions' gold from their ids and hashes, or None if a hash is unknown."""
    total = GoldSum()
    for question, gold in questions:
        if gold is None:
            return None
        total.add(question, as_number(gold))
    return total.hexdigest()


def different_gold(first: Mapping[str, str | None], second: Mapping[str, str | None]) -> list[str]:
    """Return the questions whose gold both sides know and that differs."""
    return [name for name, gold in first.items() if gold and (other := second.get(name)) and gold != other]
