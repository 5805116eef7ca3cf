"""The citations in an answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FoundCitation:
    """A citation as it stands in an answer, from which to which character, and what it names."""

    text: str
    target: str
    start: int
    end: int


def find_citations(answer: str) -> list[FoundCitation]:
    raise NotImplementedError
