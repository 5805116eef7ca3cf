"""Ids in another Unicode normalisation than the gold's are compared as the gold's, with a warning."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from unicodedata import normalize

import pytest

import graphkit
from graphkit.files.normal_forms import GoldSpelling
from graphkit.scoring.known_share import known_share
from tests.helpers.cli import Graph, Row, inside, tiny, write_lines

Form = Literal["NFC", "NFD"]
FORMS: tuple[Form, Form] = ("NFC", "NFD")

LOGIN, MENU = "web:caf\u00e9/login.py#sign_in", "web:caf\u00e9/menu.py"

#: One path of one edge, one relevant id, one expected file: all are found, in another spelling.
NAMES = ("EdgeRecall", "EdgePrecision", "RR", "PathPrefix", "FileRecall")


def dataset(folder: Path, gold: Form, log: Form) -> Path:
    """Return a run over one question, with the gold in one form of normalisation and the run in another."""
    login, menu = normalize(gold, LOGIN), normalize(gold, MENU)
    question: Row = {"id": "q1", "question": "?", "paths": [[[login, "CALLS", menu]]], "relevant": [menu]}
    question["expected_files"] = [normalize(gold, "web/caf\u00e9/login.py")]
    walked = [normalize(log, LOGIN), "CALLS", normalize(log, MENU)]
    answer = {"run": "r", "question_id": "q1", "retrieved": [walked[2], walked[0]], "traversal": [walked]}
    return tiny(folder, [question], [answer])


@pytest.mark.parametrize(("gold", "log"), [("NFC", "NFD"), ("NFD", "NFC"), ("NFC", "NFC"), ("NFD", "NFD")])
def test_ids_are_compared_in_one_form(any_graph: Graph, tmp_path: Path, gold: Form, log: Form) -> None:
    """Every measure is 1 by both engines, whichever side has which form; only another form is warned of."""
    run = dataset(tmp_path, gold, log)
    results = [
        graphkit.evaluate(run, measures=NAMES),
        graphkit.evaluate(run, measures=NAMES, store=any_graph.store),
        graphkit.evaluate(run, measures=NAMES, store=any_graph.store, engine="cypher"),
    ]
    assert [{name: one.mean for name, one in result.measures.items()} for result in results] == [
        dict.fromkeys(NAMES, 1.0)
    ] * 3
    done = inside("evaluate", "--full", run, "--no-store", "-m", "EdgeRecall", cwd=tmp_path, code=0)
    warned = "2 ids are in another Unicode normalisation than the gold's, and compared as the gold's"
    assert (warned in done.err) == (gold != log)
    assert ("the ids of 1 record differ from the gold's in Unicode normalisation alone" in done.err) == (gold != log)


def test_ids_that_the_gold_tells_apart_stay(tmp_path: Path) -> None:
    """Gold that holds both spellings as two ids keeps them apart: the run found one of the two."""
    both = [normalize(form, MENU) for form in FORMS]
    questions = [{"id": "q1", "question": "?", "relevant": both}]
    run = tiny(tmp_path, questions, [{"run": "r", "question_id": "q1", "retrieved": [both[1]]}])
    assert graphkit.evaluate(run, measures=["Recall@5"]).measures["Recall@5"].mean == 0.5


def test_nothing_is_asked_of_ascii(tmp_path: Path) -> None:
    """A dataset of ASCII names has no spelling of its own; a run's accents stay as they are."""
    run = tiny(tmp_path)
    accented = normalize("NFD", MENU)
    assert GoldSpelling(tmp_path / "questions.jsonl").of(accented) == accented
    share = known_share(graphkit.Dataset(tmp_path), run)
    assert share is not None
    assert "normalisation" not in share.line


def test_ids_inside_calls_and_citations(tmp_path: Path) -> None:
    """Ids that calls showed are compared as well: the first call saw the gold ids."""
    run = dataset(tmp_path, "NFC", "NFD")
    seen = [normalize("NFD", LOGIN), normalize("NFD", MENU)]
    write_lines(run, [{"run": "r", "question_id": "q1", "tool_calls": [{"name": "read", "seen": seen}]}])
    assert graphkit.evaluate(run, measures=["StepsToGold"]).measures["StepsToGold"].mean == 1.0
