"""The sentences of an answer, so that a claim and a citation can be placed."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: its ``key`` such as ``s1``, and from which to which character of the answer it goes."""

    key: str
    start: int
    end: int
    text: str


def sentences_of(text: str) -> list[Sentence]:
    raise NotImplementedError(_END)


_END = re.compile("")
