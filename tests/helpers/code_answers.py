"""The results of the code in fixtures/storefront-code, as its README states them."""

from __future__ import annotations

from graphkit.files.assets import storefront_code_folder

STOREFRONT_CODE = storefront_code_folder()

BM25, GRAPH, GRAPH_V2 = CODE_RUNS = ("storefront-code-bm25", "storefront-code-graph", "storefront-code-graph-v2")

#: Status of the whole, tests passed, and tests of the question, by run and question. Which test fails and why follows
#: from the text of the answer and the tests of the question; the table in the README says what the fault is.
EXPECTED: dict[tuple[str, str], tuple[str, int, int]] = {
    (BM25, "sc-01"): ("runtime_error", 0, 4),
    (BM25, "sc-02"): ("runtime_error", 1, 4),
    (BM25, "sc-03"): ("test_failure", 0, 3),
    (BM25, "sc-04"): ("timeout", 1, 5),
    (BM25, "sc-05"): ("syntax_error", 0, 4),
    (BM25, "sc-06"): ("memory", 0, 5),
    (BM25, "sc-07"): ("refused", 0, 4),
    (BM25, "sc-08"): ("success", 4, 4),
    (BM25, "sc-09"): ("test_failure", 2, 4),
    (BM25, "sc-10"): ("no_code", 0, 5),
    (GRAPH, "sc-01"): ("success", 4, 4),
    (GRAPH, "sc-02"): ("refused", 0, 4),
    (GRAPH, "sc-03"): ("runtime_error", 0, 3),
    (GRAPH, "sc-04"): ("memory", 2, 5),
    (GRAPH, "sc-05"): ("test_failure", 1, 4),
    (GRAPH, "sc-06"): ("success", 5, 5),
    (GRAPH, "sc-07"): ("syntax_error", 0, 4),
    (GRAPH, "sc-08"): ("timeout", 1, 4),
    (GRAPH, "sc-09"): ("test_failure", 2, 4),
    (GRAPH, "sc-10"): ("test_failure", 4, 5),
    (GRAPH_V2, "sc-01"): ("test_failure", 3, 4),
    (GRAPH_V2, "sc-02"): ("success", 4, 4),
    (GRAPH_V2, "sc-03"): ("success", 3, 3),
    (GRAPH_V2, "sc-04"): ("success", 5, 5),
    (GRAPH_V2, "sc-05"): ("memory", 3, 4),
    (GRAPH_V2, "sc-06"): ("runtime_error", 4, 5),
    (GRAPH_V2, "sc-07"): ("timeout", 3, 4),
    (GRAPH_V2, "sc-08"): ("syntax_error", 0, 4),
    (GRAPH_V2, "sc-09"): ("test_failure", 3, 4),
    (GRAPH_V2, "sc-10"): ("refused", 2, 5),
}


def pass_rate(run: str) -> float:
    """Return the mean share of tests that the answers of a run pass."""
    shares = [passed / total for (name, _), (_, passed, total) in EXPECTED.items() if name == run]
    return sum(shares) / len(shares)
