"""Integration: how many of the retrieved sources the answer uses."""

from __future__ import annotations

from typing import Any

import pytest

from graphkit.measures.case import Case
from graphkit.measures.integration import NO_ANSWER, NO_IDENTIFIER, NO_SOURCE, identifiers_of, used_sources
from graphkit.measures.unscored import NO_TEXT
from graphkit.records.ids import Places
from graphkit.records.models import Answer, Chunk, Question
from graphkit.records.structs import ChunkStruct, struct_of
from tests.helpers.cases import answer, question, reason, value
from tests.helpers.datasets import STOREFRONT, read_jsonl

API = {"id": "api:auth.py", "text": "def find_customer(email):\n    pass\n"}
API_SYMBOL = {"id": "api:auth.py#login_user", "text": "def login_user():\n    find_customer()\n"}
SCHEMA = {"id": "schema:customers.sql", "text": "CREATE TABLE customers (email_address TEXT);"}
WEB = {"id": "web:auth.ts#signIn"}


def run(text: str | None, *chunks: dict[str, Any]) -> Answer:
    """Return a record with an answer and chunks."""
    return answer(answer=text, retrieved=list(chunks))


def test_worked_case() -> None:
    """The answer uses two of three retrieved sources, and the question has two facts.

    The answer names find_customer (api/auth.py), email_address (schema/customers.sql) and nothing of web/auth.ts, whose
    symbol signIn it lacks: 2 used. Expected are 3 by min_sources, so 2/3; 2 by the facts, so 1.
    """
    given = run("find_customer compares email_address.", API, SCHEMA, WEB)
    assert value("Integration", question(min_sources=3, facts=["a", "b"]), given) == pytest.approx(2 / 3)
    assert value("Integration", question(facts=["a", "b"]), given) == 1.0


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"min_sources": 4, "facts": ["a"]}, 1 / 4),  # the question's own number first
        ({"facts": ["a", "b"]}, 1 / 2),  # else one source a fact
        ({}, 1 / 3),  # else 3
        ({"min_sources": 1}, 1.0),
    ],
)
def test_sources_expected(fields: dict[str, Any], expected: float) -> None:
    """The expected number is min_sources, else the number of facts, else 3; here, one source is used."""
    assert value("Integration", question(**fields), run("It calls find_customer.", API)) == pytest.approx(expected)


def test_at_most_one() -> None:
    """More sources than expected still give 1."""
    assert value("Integration", question(min_sources=1), run("find_customer, customers", API, SCHEMA)) == 1.0


def test_two_chunks_of_one_file_are_one_source() -> None:
    """A source counts once, however many of its chunks are named."""
    given = run("login_user calls find_customer", API, API_SYMBOL)
    assert value("Integration", question(min_sources=2), given) == 0.5


def test_commits_of_one_file_are_one_source() -> None:
    """A file at two commits is one source: repository and path identify a source."""
    old = {"id": "old", "repo": "api", "path": "auth.py", "commit": "1", "text": API["text"]}
    new = {"id": "new", "repo": "api", "path": "auth.py", "commit": "2", "text": API["text"]}
    assert used_sources(Case(question(), run("find_customer", old, new))) == {"api/auth.py"}


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("see find_customer.", True),
        ("see `api.find_customer(x)`", True),
        ("see find_customers", False),  # part of a longer word
        ("see pre_find_customer", False),
        ("see Find_Customer", False),  # another name in most languages
        ("see auth.py", False),  # its path isn't an identifier that it defines
    ],
)
def test_whole_words_in_the_same_case(text: str, used: bool) -> None:
    """An identifier counts as a whole word only."""
    assert bool(used_sources(Case(question(), run(text, API)))) is used


@pytest.mark.parametrize(
    ("symbol", "text", "used"),
    [
        ("orders.total_cents", "total_cents is a number", True),  # the last component
        ("orders.total_cents", "orders are many", False),  # not the first
        ("Basket::settle", "it will settle", True),
        ("login", "the login", True),  # five characters
        ("send", "they send it", False),  # four
    ],
)
def test_symbol_of_a_chunk_without_text(symbol: str, text: str, used: bool) -> None:
    """The last component of the chunk's symbol counts if it is longer than 4 characters."""
    given = {"id": "chunk-1", "repo": "x", "path": "a.py", "symbol": symbol}
    assert bool(used_sources(Case(question(), run(text, given)))) is used


def test_chunks_without_path_are_sources_of_their_own() -> None:
    """Chunks without a file are distinct sources, by their ids."""
    first, second = ({"id": f"doc-{number}", "symbol": "settle"} for number in (1, 2))
    assert used_sources(Case(question(), run("settle", first, second))) == {"doc-1", "doc-2"}


def test_names_that_are_no_words() -> None:
    """A name that contains a sign is found between other signs."""
    given = {"id": "x:a.ts", "text": "export const cart$ = 1;"}
    assert identifiers_of(struct_of(ChunkStruct, Chunk.model_validate(given)), Places()) == {"cart$"}
    assert used_sources(Case(question(), run("cart$ holds it", given))) == {"x/a.ts"}
    assert used_sources(Case(question(), run("mycart$ holds it", given))) == set()


def test_edges_of_the_domain() -> None:
    """Nothing retrieved, nothing used and an empty answer give 0; no answer and nothing expected aren't scored.

    Nor are chunks without a text, even if the answer names their symbols; one text among them is enough: of API and
    WEB, whose symbol is signIn, both are used. Prose defines no identifier that an answer could name.
    """
    asked = question(min_sources=2)
    assert value("Integration", asked, run("find_customer")) == 0.0
    assert value("Integration", asked, run("something else", API)) == 0.0
    assert value("Integration", asked, run("", API)) == 0.0
    for bare in ({"id": "x:a.py"}, WEB, {**WEB, "text": ""}, {**WEB, "text": " "}):
        assert reason("Integration", asked, run("signIn", bare)) == NO_TEXT
    assert value("Integration", asked, run("signIn, find_customer", WEB, API)) == 1.0
    prose = {"id": "doc-1", "text": "Customers are found by their address."}
    assert reason("Integration", asked, run("By their address.", prose)) == NO_IDENTIFIER
    assert value("Integration", asked, run("By their address.", prose, API)) == 0.0
    assert reason("Integration", asked, run(None, API)) == NO_ANSWER
    assert reason("Integration", question(min_sources=0), run("find_customer", API)) == NO_SOURCE
    assert reason("Integration", asked, answer(error="timeout")) == "failed: timeout"


@pytest.mark.parametrize(
    ("run_name", "question_id", "expected"),
    [
        # find_customer and check_attempts are api's, customers is schema's; two are expected.
        ("storefront-graph", "sf-02", 1.0),
        # onBuy, submitCheckout, createCheckout: two files of web and the contract, of eight sources.
        ("storefront-graph-v2", "sf-10", 3 / 8),
        # charge and call_provider of payments.py, PaymentDeclined of errors.py; payment_url was walked to, and its file
        # not retrieved; five are expected.
        ("storefront-graph-v2", "sf-14", 2 / 5),
    ],
)
def test_storefront(run_name: str, question_id: str, expected: float) -> None:
    """Answers of real runs, read by hand."""
    questions = {one["id"]: one for one in read_jsonl(STOREFRONT / "questions.jsonl")}
    answers = {one["question_id"]: one for one in read_jsonl(STOREFRONT / "runs" / f"{run_name}.jsonl")}
    asked = Question.model_validate(questions[question_id])
    assert value("Integration", asked, Answer.model_validate(answers[question_id])) == pytest.approx(expected)
