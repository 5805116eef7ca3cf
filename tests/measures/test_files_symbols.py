"""Measures of files and symbols: the expected ones against the evidence of the run."""

from __future__ import annotations

import pytest

from graphkit.records.models import Answer, Question
from tests.helpers.cases import answer, question, reason, value

ASKED = question(expected_files=["web/src/a.ts", "api/b.py"], expected_symbols=["f", "C.m"])


def chunks(*ids: str, **fields: object) -> Answer:
    """Return a record with these chunks."""
    return answer(retrieved=list(ids), **fields)


def test_files_of_the_chunks() -> None:
    """Without evidence files, the files of the chunks count, each once."""
    run = chunks("web:src/a.ts#f", "web:src/a.ts#g", "db:c.sql", "db:d.sql")
    # Three files, of which one of the two expected.
    assert value("FilePrecision", ASKED, run) == pytest.approx(1 / 3)
    assert value("FileRecall", ASKED, run) == 0.5


def test_files_that_the_run_names_come_first() -> None:
    """Evidence files replace those of the chunks, even if there are none."""
    run = chunks("web:src/a.ts", "api:b.py", evidence_files=["api/b.py", "x/y.py"])
    assert value("FilePrecision", ASKED, run) == 0.5
    assert value("FileRecall", ASKED, run) == 0.5
    none = chunks("web:src/a.ts", "api:b.py", evidence_files=[])
    assert value("FilePrecision", ASKED, none) == 0.0
    assert value("FileRecall", ASKED, none) == 0.0


@pytest.mark.parametrize("name", ["api/b.py", "api:b.py", "api:b.py#C.m"])
def test_one_file_has_many_names(name: str) -> None:
    """``repo/path``, ``repo:path`` and a symbol in it name the same file, on either side."""
    assert value("FileRecall", question(expected_files=[name]), chunks("api:b.py#C.m")) == 1.0
    assert value("FileRecall", question(expected_files=["api/b.py"]), chunks(evidence_files=[name])) == 1.0


def test_the_chunks_own_fields_come_first() -> None:
    """A chunk's repository, path and symbol count before those of its id."""
    run = answer(retrieved=[{"id": "x:y.py#z", "repo": "api", "path": "b.py", "symbol": "C.m"}])
    assert value("FileRecall", ASKED, run) == 0.5
    assert value("FilePrecision", ASKED, run) == 1.0
    assert value("SymbolRecall", ASKED, run) == 0.5


def test_expected_files_and_symbols_count_once() -> None:
    """A file or symbol that is expected twice, in any spelling, counts once."""
    asked = question(expected_files=["api/b.py", "api:b.py#f"], expected_symbols=["f", "f"])
    assert value("FileRecall", asked, chunks("api:b.py#f")) == 1.0
    assert value("SymbolRecall", asked, chunks("api:b.py#f")) == 1.0


def test_symbols_of_the_chunks() -> None:
    """A symbol is compared literally: neither its last part nor another case counts."""
    assert value("SymbolRecall", ASKED, chunks("api:b.py#C.m", "web:a.ts#F")) == 0.5
    assert value("SymbolRecall", ASKED, chunks("api:b.py#m", "api:b.py")) == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C.m calls f().", 1.0),
        ("C.m calls fun and half.", 0.5),  # "f" is no word of its own there
        ("f, and Cxm", 0.5),  # the dot is a dot
        ("f_2 and xC.m", 0.0),
        ("", 0.0),
    ],
)
def test_symbols_in_the_answer(text: str, expected: float) -> None:
    """With where="answer" a symbol counts if the text holds it as a whole word."""
    assert value('SymbolRecall(where="answer")', ASKED, chunks("api:b.py#f", answer=text)) == expected


@pytest.mark.parametrize(
    ("measure", "sentence"),
    [
        ("FilePrecision", "no expected files"),
        ("FileRecall", "no expected files"),
        ("SymbolRecall", "no expected symbols"),
        ('SymbolRecall(where="answer")', "no expected symbols"),
    ],
)
def test_edges_of_the_domain(measure: str, sentence: str) -> None:
    """Nothing retrieved is 0; nothing expected, no record and a failed one aren't scored."""
    asked: Question = ASKED
    assert value(measure, asked, chunks(answer="")) == 0.0
    assert reason(measure, question(), chunks("api:b.py#f")) == sentence
    assert reason(measure, asked, None) == "the run has no record for this question"
    assert reason(measure, asked, chunks(error="boom")) == "failed: boom"
