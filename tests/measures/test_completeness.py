"""Completeness and ConflictResolution: which facts and resolutions the answer addresses, by key terms."""

from __future__ import annotations

import time

import pytest

from graphkit.errors import MeasureError
from graphkit.measures.completeness import NO_CONFLICTS, NO_FACTS, NO_RESOLUTION, addressed, identifiers_in
from graphkit.measures.integration import NO_ANSWER
from graphkit.measures.registry import parse_measure
from graphkit.records.models import Answer, Question
from tests.helpers.cases import answer, question, reason, value
from tests.helpers.datasets import STOREFRONT, read_jsonl


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("reserve_stock raises OutOfStock", {"reserve_stock", "OutOfStock"}),
        ("HTTPServer and getURL", {"HTTPServer", "getURL"}),
        ("MESSAGES has it; POST and the API don't", {"MESSAGES"}),  # POST and API have too few capitals
        ("products.price_cents, in api/auth.py.", {"products.price_cents", "api/auth.py"}),
        ("answers 409 (19%) on 1.x", {"409", "19%", "1.x"}),
        ("POST /orders and/or nothing", {"/orders"}),
        ('it says "sold out" and `read`', {"sold out", "read"}),
        ("Basket's e-mail. The End.", set()),
        ("orders_url's value", {"orders_url"}),
    ],
)
def test_identifiers_of_a_fact(text: str, expected: set[str]) -> None:
    """Names of code, paths and numbers are identifiers; plain words aren't."""
    assert identifiers_in(text) == expected


@pytest.mark.parametrize(
    ("fact", "text", "expected"),
    [
        # A word that folding takes apart in another way than its capitals.
        ("Μαΐου", "ΤΈΛΟΣ ΜΑ\u0399\u0308\u0301ΟΥ", True),
        # All identifiers, whatever the other words.
        ("charge raises PaymentDeclined", "PaymentDeclined ends it", True),
        ("create_order calls submit_order", "create_order ends it", False),
        # Whole words, same case; a dot in front is a border.
        ("find_order reads it", "find_orders reads it", False),
        ("ORDERS_URL is set", "orders_url is set", False),
        ("SESSION_MINUTES is set", "`api.SESSION_MINUTES` is set", True),
        # Numbers aren't found inside numbers, and the end of a sentence is no decimal point.
        ("it is 30", "it is 30.", True),
        ("it is 30", "it is 30.5", False),
        ("it is 30", "it is 1,30", False),
        ("it is 30", "it is 130", False),
        # Quoted text across a line.
        ('it says "sold out"', "it says: sold\n  out", True),
        # Without identifiers: table and payments are the content words, 1 of 2 is under 0.6.
        ("The table is payments", "payments it is", False),
        ("The table is payments", "The Payments TABLE", True),
        # stock, price, title: 2 of 3 are 0.667.
        ("stock and price and title", "price, stock", True),
        # Nothing but stop words: all of them count; 1 of 2 is under 0.6.
        ("it is", "it was", False),
        ("it is", "yes it is", True),
        # No word at all.
        ("++", "a ++ b", True),
        ("++", "a + b", False),
        # A compatibility form of the letters is the same text.
        ("ﬁnd_order", "find_order", True),
    ],
)
def test_addressed(fact: str, text: str, expected: bool) -> None:
    """The rule, case by case."""
    assert addressed(fact, text) is expected


def test_words_that_are_symbols_of_the_question() -> None:
    """A plain word is an identifier if it is a symbol of the question or of its gold steps."""
    # `stock` is a word that the answer lacks. As a mere word it isn't asked for beside get_product; as a symbol it is.
    fact, given = "get_product reads stock", answer(answer="get_product reads products")
    assert value("Completeness", question(facts=[fact]), given) == 1.0
    assert value("Completeness", question(facts=[fact], expected_symbols=["stock"]), given) == 0.0
    gold = [("api:catalog.py#get_product", "QUERIES", "schema:stock.sql#shop.stock")]
    assert value("Completeness", question(gold, facts=[fact]), given) == 0.0


def test_worked_case() -> None:
    """Three facts, of which the answer addresses the first and the last: 2/3."""
    asked = question(facts=["charge stores PaymentRecord", {"text": "status 409"}, "the table is payments"])
    assert value("Completeness", asked, answer(answer="PaymentRecord, table payments, 404")) == pytest.approx(2 / 3)


def test_threshold() -> None:
    """Half of the content words are enough at 0.5 and not at 0.6; 1 requires every word."""
    asked, given = question(facts=["the table is payments"]), answer(answer="payments")
    assert value("Completeness", asked, given) == 0.0
    assert value("Completeness(threshold=0.5)", asked, given) == 1.0
    assert value("Completeness(threshold=1.0)", asked, answer(answer="table payments")) == 1.0


@pytest.mark.parametrize("name", ["Completeness", "ConflictResolution"])
@pytest.mark.parametrize("threshold", ["0.0", "1.1", "-0.5"])
def test_threshold_is_a_share(name: str, threshold: str) -> None:
    """A threshold outside 0..1, or of 0, is refused."""
    with pytest.raises(MeasureError, match="threshold must be above 0"):
        parse_measure(f"{name}(threshold={threshold})")


def test_edges_of_completeness() -> None:
    """No facts and no answer are not scored; an empty answer is 0."""
    asked = question(facts=["status 409"])
    assert reason("Completeness", question(), answer(answer="409")) == NO_FACTS
    assert reason("Completeness", asked, answer()) == NO_ANSWER
    assert value("Completeness", asked, answer(answer="")) == 0.0


def test_conflicts() -> None:
    """The answer addresses one of two resolutions; conflicts without a resolution are ignored."""
    conflicts = [
        {"resolution": "14 days count, not 30"},
        {"resolution": "main has total_cents"},
        {"id": "open"},
        {"resolution": " "},
    ]
    # 14 and 30 occur; total_cents doesn't.
    given = answer(answer="14 days; the 30 of the contract are out of date")
    assert value("ConflictResolution", question(conflicts=conflicts), given) == 0.5


def test_edges_of_conflict_resolution() -> None:
    """No conflict, none with a resolution, and no answer are not scored."""
    given = answer(answer="14")
    assert reason("ConflictResolution", question(), given) == NO_CONFLICTS
    assert reason("ConflictResolution", question(conflicts=[{"id": "open"}]), given) == NO_RESOLUTION
    assert reason("ConflictResolution", question(conflicts=["it is 14"]), answer()) == NO_ANSWER


@pytest.mark.parametrize(
    ("run_name", "question_id", "expected"),
    [
        # login, find_customer and customers are all named.
        ("storefront-graph", "sf-02", 1.0),
        # order_total_cents, 19 and TAX_PERCENT; unit_price_cents and products.
        ("storefront-graph-v2", "sf-17", 1.0),
        # It tells of another branch, by order_total, TAX_RATE and unit_price: none of the identifiers of either fact.
        ("storefront-graph", "sf-17", 0.0),
        # products is named, stock isn't: one of two.
        ("storefront-graph-v2", "sf-08", 0.5),
        # session_minutes reads SESSION_MINUTES; not production.yaml, not open_session: one of three.
        ("storefront-graph", "sf-03", 1 / 3),
    ],
)
def test_storefront(run_name: str, question_id: str, expected: float) -> None:
    """Answers of real runs, read by hand."""
    questions = {one["id"]: one for one in read_jsonl(STOREFRONT / "questions.jsonl")}
    answers = {one["question_id"]: one for one in read_jsonl(STOREFRONT / "runs" / f"{run_name}.jsonl")}
    asked = Question.model_validate(questions[question_id])
    assert value("Completeness", asked, Answer.model_validate(answers[question_id])) == pytest.approx(expected)


def test_quotations_that_never_end_are_passed_over() -> None:
    """Each of 100,000 openers is examined once; of two nested quotations, the inner one counts.

    The bound is a thousand times what it takes.
    """
    start = time.process_time()
    assert identifiers_in("\u201c" * 100_000 + " price_cents") == {"price_cents"}
    assert time.process_time() - start < 30
    assert identifiers_in("it says \u201csold \u201cout\u201d today") == {"out"}
    assert identifiers_in("it says \u201csold out\u201d and \u201ccome back\u201d") == {"sold out", "come back"}
