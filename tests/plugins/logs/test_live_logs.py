"""Logs of real libraries with a real model over the storefront: the right values that the READMEs beside them state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphkit.files.assets import storefront_folder
from graphkit.imports.importer import ImportedLog, import_log
from graphkit.measures.base import Unscored
from graphkit.plugins.mapping.proposed_fields import propose
from graphkit.records.doubts import ONLY_ELEMENT_IDS
from graphkit.records.models import Answer, Question
from graphkit.scoring.evaluate import evaluate
from tests.helpers.cases import score
from tests.helpers.datasets import read_jsonl

STOREFRONT = storefront_folder()

LOGIN, FIND_CUSTOMER = "api:api/auth.py#login", "api:api/auth.py#find_customer"
CUSTOMERS, CONNECT = "schema:tables/customers.sql#customers", "api:api/database.py#connect"
MINUTES, SESSION_MINUTES = "infra:production.yaml#api.SESSION_MINUTES", "api:api/settings.py#session_minutes"


def brought(live_logs: Path, name: str, **options: Any) -> ImportedLog:
    """Import a log, whose format has to be recognised."""
    return import_log(live_logs / f"{name}.jsonl.gz", "auto", STOREFRONT, **{"run": "live", **options})


def record(found: ImportedLog, question: str) -> dict[str, Any]:
    """Return the record of a question."""
    (one,) = [record for record in found.records if record["question_id"] == question]
    return one


def ids(found: ImportedLog, question: str) -> list[str] | None:
    """Return the ids that a question retrieved."""
    chunks = record(found, question).get("retrieved")
    return None if chunks is None else [chunk["id"] for chunk in chunks]


def walked(found: ImportedLog, question: str) -> set[tuple[str, str | None, str]] | None:
    """Return the edges that a question walked."""
    steps = record(found, question).get("traversal")
    return None if steps is None else {(step["source"], step.get("relation"), step["target"]) for step in steps}


SIGN_IN = "web:src/auth.ts#signIn"


@pytest.mark.parametrize("form", ["plain", "raw", "recorded", "formatter", "rag"])
def test_text_to_cypher(form: str, live_logs: Path) -> None:
    """sf-01 has two edges, sf-15 a row of two nodes, and the ten others found nothing."""
    found = brought(live_logs, f"neo4j-graphrag/t2c-{form}")
    ends = ["web:src/session.ts#rememberToken", "web:src/http.ts#send"]
    assert walked(found, "sf-01") == {(SIGN_IN, "CALLS", end) for end in ends}
    assert ids(found, "sf-01") == [SIGN_IN, *ends]
    assert ids(found, "sf-15") == ["infra:compose.yaml#orders.PAYMENT_URL", "orders:orders/settings.py#payment_url"]
    assert sum(one["retrieved"] == [] for one in found.records) == 10


@pytest.mark.parametrize("name", ["neo4j-graphrag/text2cypher", "neo4j-graphrag/searches"])
def test_searches_without_a_row(name: str, live_logs: Path) -> None:
    """Each of the twelve searches returned no row: nothing was retrieved, nothing traversed."""
    found = [(one["retrieved"], one.get("traversal")) for one in brought(live_logs, name).records]
    assert found == [([], [])] * 12


#: The edges of the queries that were written by hand, one form of row a question, and what the others retrieved.
SCRIPTED_EDGES = {
    "sf-01": {(SIGN_IN, "REQUESTS", LOGIN)},
    "sf-02": {(LOGIN, "CALLS", FIND_CUSTOMER), (FIND_CUSTOMER, "QUERIES", CUSTOMERS)},
    "sf-03": {
        (MINUTES, "CONFIGURES", SESSION_MINUTES),
        ("api:api/sessions.py#open_session", "CALLS", SESSION_MINUTES),
    },
    "sf-05": {("api:api/limits.py#check_attempts", "RAISES", "api:api/errors.py#TooManyAttempts")},
    "sf-06": {("api:api/sessions.py#require_customer", "RAISES", "api:api/errors.py#SessionExpired")},
    "sf-08": {
        ("api:api/catalog.py#get_product", "QUERIES", f"schema:tables/{name}.sql#{name}")
        for name in ("products", "stock")
    },
    "sf-16": {("infra:compose.yaml#api.ORDERS_URL", "CONFIGURES", "api:api/settings.py#orders_url")},
}
SCRIPTED_IDS = {
    "sf-11": {f"api:api/orders_client.py#{name}" for name in ("read", "refund", "submit")}
    | {f"orders:orders/handlers.py#{name}" for name in ("read_order", "refund_order", "create_order")},
    "sf-12": {"schema:tables/payments.sql#payments", "orders:orders/payments.py#charge"},
    "sf-15": {"infra:compose.yaml#orders.PAYMENT_URL", "orders:orders/settings.py#payment_url"},
    "sf-22": {"orders:orders/store.py#find_order", "schema:tables/orders.sql#orders"},
}


@pytest.mark.parametrize("name", ["neo4j-graphrag/scripted-recorded", "llama-index/t2c-scripted"])
def test_each_form_of_row(name: str, live_logs: Path) -> None:
    """The same queries give the same edges and ids in each library; an edge of elementIds alone is unknown."""
    found = brought(live_logs, name)
    assert {question: walked(found, question) for question in SCRIPTED_EDGES} == SCRIPTED_EDGES
    assert {question: set(ids(found, question) or ()) for question in SCRIPTED_IDS} == SCRIPTED_IDS
    assert (ids(found, "sf-09"), walked(found, "sf-09")) == (None, None)
    assert record(found, "sf-09")["doubts"]
    if name.startswith("neo4j"):
        assert ONLY_ELEMENT_IDS in record(found, "sf-09")["doubts"]


def test_rows_of_optional_match(live_logs: Path) -> None:
    """Nodes in the order of the search, each before its targets, with the score of the row; no doubt of the last one.

    api/__init__.py has no neighbour: its relation and target are null.
    """
    found = brought(live_logs, "neo4j-graphrag-vector/vc-cols")
    chunks = record(found, "sf-02")["retrieved"]
    assert [chunk["id"] for chunk in chunks[:4]] == [FIND_CUSTOMER, CUSTOMERS, CONNECT, "api:api/auth.py"]
    assert chunks[-1]["id"] == "api:api/__init__.py"
    scores = {chunk["id"]: round(chunk["score"], 4) for chunk in chunks}
    assert (scores[FIND_CUSTOMER], scores["api:api/auth.py"], scores["api:api/__init__.py"]) == (0.6985, 0.6366, 0.6366)
    assert "doubts" not in record(found, "sf-02")


@pytest.mark.parametrize("form", ["vc-paths-formatter", "vc-paths-recorded"])
def test_empty_lists_of_paths(form: str, live_logs: Path) -> None:
    """Three nodes, and a list of paths that is empty beside each: nothing was traversed."""
    found = brought(live_logs, f"neo4j-graphrag-vector/{form}")
    assert (len(ids(found, "sf-05") or ()), walked(found, "sf-05")) == (3, set())


@pytest.mark.parametrize("form", ["vc-readme", "vc-readme-recorded"])
def test_columns_with_aliases(form: str, live_logs: Path) -> None:
    """function_id names what was found, callers those beside it; sf-09 found nothing."""
    found = brought(live_logs, f"neo4j-graphrag-vector/{form}")
    assert ids(found, "sf-02") == [FIND_CUSTOMER, "api:api/passwords.py#matches", LOGIN]
    assert ids(found, "sf-09") == []
    assert all(one.get("retrieved") is not None for one in found.records)


@pytest.mark.parametrize(
    "name",
    [
        *(f"neo4j-graphrag-vector/vc-text{form}" for form in ("", "-recorded", "-formatter")),
        *(f"langchain/vector-{form}" for form in ("text", "triples", "triples-scores")),
    ],
)
def test_texts_of_facts(name: str, live_logs: Path) -> None:
    """sf-02's first node is find_customer, beside which are its four edges: as texts, and as maps in metadata."""
    found = brought(live_logs, name)
    edges = walked(found, "sf-02") or set()
    assert {edge for edge in edges if FIND_CUSTOMER in (edge[0], edge[2])} == {
        (FIND_CUSTOMER, "QUERIES", CUSTOMERS),
        (LOGIN, "CALLS", FIND_CUSTOMER),
        (FIND_CUSTOMER, "CALLS", CONNECT),
        ("api:api/auth.py", "DEFINES", FIND_CUSTOMER),
    }
    assert (ids(found, "sf-02") or [])[:1] == [FIND_CUSTOMER]
    assert found.figures["edges"]["unknown"] == found.figures["edges"]["reversed"] == 0


@pytest.mark.parametrize("form", ["vector-depth1", "vector-properties", "vector-depth1-text"])
def test_llama_index(form: str, live_logs: Path) -> None:
    """Eleven edges of sf-02 at depth 1, all in the direction of the database."""
    found = brought(live_logs, f"llama-index/{form}")
    assert len(walked(found, "sf-02") or ()) == 11
    assert found.figures["edges"]["forward"] == sum(len(one["traversal"]) for one in found.records)


@pytest.mark.parametrize("form", ["t2c", "t2c-raw", "t2c-text"])
def test_llama_index_cypher(form: str, live_logs: Path) -> None:
    """Five queries failed, six found nothing, and one (sf-11) found orders_url."""
    found = brought(live_logs, f"llama-index/{form}")
    assert sum("error" in one for one in found.records) == 5
    assert sum(one.get("retrieved") == [] for one in found.records) == 6
    assert ids(found, "sf-11") == ["api:api/settings.py#orders_url"]


@pytest.mark.parametrize("form", ["data-local", "data-mix", "context-local", "context-mix"])
def test_light_rag_needs_no_table(form: str, live_logs: Path) -> None:
    """Entities are found by the names of symbols as the table made by hand finds them; no pair has two known ends.

    A search that found nothing hasn't failed: sf-05, sf-06, sf-08 and sf-09 by local, the last two by mix.
    """
    found = brought(live_logs, f"lightrag/{form}")
    table = brought(live_logs, f"lightrag/{form}", ids=live_logs / "lightrag" / "ids.jsonl.gz")
    assert found.records == table.records
    assert any("by the name of a symbol" in line for line in found.summary)
    nothing = {one["question_id"] for one in found.records if one.get("retrieved") == []}
    assert nothing == ({"sf-08", "sf-09"} if form.endswith("mix") else {"sf-05", "sf-06", "sf-08", "sf-09"})
    assert not any("error" in one for one in found.records)
    pairs = {"data-local": 32, "context-local": 32}.get(form, 39)
    assert found.summary[-1].startswith(f"hardly an edge is known: both ends are known of 0 of {pairs} edges")


#: EdgeRecall of the walks, by hand: the gold edges that each took.
RECALL = {"sf-02": 0.5, "sf-03": 0.5, "sf-05": 0.75, "sf-08": 0.5, "sf-09": 1.0}


@pytest.mark.parametrize(
    ("name", "options", "turned"),
    [
        # Without a reader, the mapping is found by the values of fields; of 26 hops, 15 go against the edge.
        ("arrows", None, 0),
        ("triples", None, 15),
        ("walks", None, 15),
        ("signed", {}, 0),
        ("triples", {"map": {"traversal": "reasoning_path"}}, 15),
        *((f"{form}-run", {}, 15 if form == "triples" else 0) for form in ("arrows", "signed", "triples", "edges")),
    ],
)
def test_walks(name: str, options: dict[str, Any] | None, turned: int, live_logs: Path) -> None:
    """One walk in four forms: 26 edges, all in the direction of the graph, and the EdgeRecall that was worked out."""
    if options is None:
        proposal = propose(live_logs / "agent" / f"{name}.jsonl.gz", STOREFRONT)
        assert proposal.doubts == []
        options = {"map": proposal.assignments}
    found = brought(live_logs, f"agent/{name}", **options)
    assert (found.figures["edges"]["forward"], found.figures["turned"]) == (26, turned)
    asked = {one["id"]: one for one in read_jsonl(STOREFRONT / "questions.jsonl")}
    values: dict[str, float | Unscored] = {
        one["question_id"]: score(
            "EdgeRecall", Question.model_validate(asked[one["question_id"]]), Answer.model_validate(one)
        )
        for one in found.records
    }
    assert values == {question: RECALL.get(question, 0.0) for question in values}
    assert len(values) == 10


@pytest.mark.parametrize("form", ["arrows", "signed", "edges"])
def test_walks_that_are_runs(form: str, live_logs: Path) -> None:
    """As runs they are evaluated as they stand."""
    found = evaluate(live_logs / "agent" / f"{form}-run.jsonl.gz", STOREFRONT, measures=("EdgeRecall",))
    values = {row.question: row.values[0] for row in found.rows if isinstance(row.values[0], float)}
    assert {question: value for question, value in values.items() if value} == RECALL
