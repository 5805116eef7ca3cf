"""Measures of files and symbols: the expected ones against the evidence of the run."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.integration import NO_ANSWER
from graphkit.measures.text import last_component
from graphkit.measures.unscored import NO_RETRIEVAL, Unscored

NO_FILES = "no expected files"
NO_SYMBOLS = "no expected symbols"


class FilePrecision(Measure):
    """Expected files among the evidence files / evidence files.

    Evidence files are those the run names, else the files of the retrieved chunks.
    """

    source = "file localisation of code retrieval benchmarks"
    query = "file_precision"
    query_parameters = {"unscored": NO_FILES, "unlogged": NO_RETRIEVAL}

    def value(self, case: Case) -> float | Unscored:
        expected = case.expected_files
        if not expected:
            return Unscored(NO_FILES, of_question=True)
        if not case.evidence_logged:
            return Unscored(NO_RETRIEVAL)
        return len(expected & case.files) / len(case.files) if case.files else 0.0


class FileRecall(Measure):
    """Expected files among the evidence files / expected files."""

    source = "file localisation of code retrieval benchmarks"
    query = "file_recall"
    query_parameters = {"unscored": NO_FILES, "unlogged": NO_RETRIEVAL}

    def value(self, case: Case) -> float | Unscored:
        expected = case.expected_files
        if not expected:
            return Unscored(NO_FILES, of_question=True)
        return len(expected & case.files) / len(expected) if case.evidence_logged else Unscored(NO_RETRIEVAL)


@dataclass(frozen=True)
class SymbolRecall(Measure):
    """Expected symbols among the retrieved symbols / expected symbols.

    Symbols are compared literally. If the question's ``symbol_match`` is ``"last_component"`` (gold imported from a
    diff without a checkout), the last component of a retrieved symbol is compared: ``handle`` matches ``Api.handle``.

    With ``where="answer"`` a symbol counts if the answer contains it as a whole word; a record without an answer is not
    scored.
    """

    where: str = "retrieved"

    source = "symbol localisation of code retrieval benchmarks"
    query = "symbol_recall"
    query_parameters = {"unscored": NO_SYMBOLS, "unlogged": NO_RETRIEVAL}

    def __post_init__(self) -> None:
        if self.where not in {"retrieved", "answer"}:
            raise ValueError(f'where must be "retrieved" or "answer", not {self.where!r}')
        if self.where == "answer":
            object.__setattr__(self, "query", None)

    def value(self, case: Case) -> float | Unscored:
        expected = set(case.question.expected_symbols)
        if not expected:
            return Unscored(NO_SYMBOLS, of_question=True)
        if self.where == "retrieved":
            retrieved = case.symbols
            if case.question.symbol_match is not None:
                retrieved = retrieved.union(map(last_component, retrieved))
            return len(expected & retrieved) / len(expected) if case.chunks_logged else Unscored(NO_RETRIEVAL)
        answer = case.answer.answer if case.answer is not None else None
        if answer is None:
            return Unscored(NO_ANSWER)
        found = [name for name in expected if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", answer)]
        return len(found) / len(expected)
