"""Each log of a real library becomes a run by one command, and is scored as its own edges say."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphkit.readers.known_formats import formats
from tests.helpers.cli import inside
from tests.plugins.logs.real_logs import LOGS, Outcome, looked_at

#: Of each log: ids known and all; edges forward, reversed, by another relation, unknown; those to which the direction
#: was given back, and the relation; EdgeRecall and EdgePrecision with how many questions were scored, None
#: where nothing can be. Those of LightRAG, graphrag's local search, LangChain's chain, neo4j-graphrag's formatters and
#: LlamaIndex's contexts were also counted by joining the files with the dataset's, without graphkit:
#: of LightRAG's 140 edges 64 stand the other way round, as do 80 of 182, and of its 23 base names 17 and 18 are those
#: of one file; 29 triples are in the documents of LangChain
#: and of the formatter; a plain vector search and paths that were cut to their ends tell no edges.
NO_EDGES = ((0, 0, 0, 0), (0, 0), None, None)
FOUND = {
    "neo4j-graphrag/vector_plain.jsonl.gz": ((38, 38), *NO_EDGES),
    "neo4j-graphrag/vector_cypher_formatter.jsonl.gz": ((63, 63), (29, 0, 0, 0), (0, 0), (0.188, 8), (0.064, 7)),
    "neo4j-graphrag/vector_cypher_default.jsonl.gz": ((38, 38), *NO_EDGES),
    "neo4j-graphrag/hybrid_cypher_formatter.jsonl.gz": ((58, 58), (26, 0, 0, 0), (0, 0), (0.188, 8), (0.056, 8)),
    "neo4j-graphrag/text2cypher.jsonl.gz": ((2, 2), (8, 0, 0, 0), (0, 0), (0.125, 8), (0.125, 8)),
    "llama-index/vector_context_no_text.jsonl.gz": ((79, 79), (82, 0, 0, 0), (0, 0), (0.688, 8), (0.151, 8)),
    "llama-index/vector_context_with_text.jsonl.gz": ((146, 146), (163, 0, 0, 0), (0, 0), (0.688, 8), (0.104, 8)),
    "llama-index/query_engine.jsonl.gz": ((146, 146), (163, 0, 0, 0), (0, 0), (0.688, 8), (0.104, 8)),
    "llama-index/openinference_spans.jsonl.gz": ((146, 146), (163, 0, 0, 0), (0, 0), (0.688, 8), (0.104, 8)),
    "llama-index/otlp.json.gz": ((146, 146), (163, 0, 0, 0), (0, 0), (0.688, 8), (0.104, 8)),
    "lightrag/query_data_local.jsonl.gz": ((142, 148), (140, 0, 0, 0), (64, 129), (0.875, 8), (0.080, 8)),
    "lightrag/query_data_mix.jsonl.gz": ((188, 193), (182, 0, 0, 0), (80, 162), (0.875, 8), (0.057, 8)),
    "lightrag/only_need_context.txt": ((33, 34), (18, 0, 0, 0), (7, 13), (1.0, 1), (0.056, 1)),
    "ms-graphrag/local_search.jsonl.gz": ((122, 152), (84, 0, 0, 0), (0, 84), (0.625, 8), (0.106, 8)),
    "ms-graphrag/api_local_search_n1.json": ((18, 22), (10, 0, 0, 0), (0, 10), (1.0, 1), (0.1, 1)),
    "langchain/chain_output.jsonl.gz": ((63, 63), (29, 0, 0, 0), (0, 0), (0.188, 8), (0.064, 7)),
    "langchain/astream_events_v2.jsonl.gz": ((31, 31), (19, 0, 0, 0), (0, 0), (0.333, 3), (0.100, 2)),
    "langchain/graph_cypher_qa.jsonl.gz": ((2, 2), (2, 0, 0, 0), (0, 0), (0.5, 2), (0.5, 2)),
    "langchain/openinference_spans.jsonl.gz": ((63, 63), (29, 0, 0, 0), (0, 0), (0.188, 8), (0.064, 7)),
}


def imported(logs: Path, name: str, folder: Path, auto: bool = False) -> Outcome:
    """Import and evaluate a log."""
    return looked_at(logs, name, folder, "auto" if auto else None)


@pytest.mark.parametrize("name", LOGS)
def test_each_log_by_one_command(real_logs: Path, name: str, tmp_path: Path) -> None:
    """Its ids and edges are found, what it lost is given back, and what it doesn't tell isn't scored."""
    ids, edges, given_back, recall, precision = FOUND[name]
    outcome = imported(real_logs, name, tmp_path)
    told = outcome.told
    assert (told["ids"]["known"], told["ids"]["all"]) == ids
    untyped = told["edges"].pop("untyped", 0)
    assert tuple(told["edges"].values()) == edges
    assert 0 <= untyped <= edges[0]  # of the forward ones
    assert (told["turned"], told["related"]) == given_back
    for measure, expected in (("EdgeRecall", recall), ("EdgePrecision", precision)):
        score = outcome.scores[measure]
        found = None if score["mean"] is None else (round(score["mean"], 3), score["scored"])
        assert found == expected, measure
    # No log of these tells an order, so that no path can be compared.
    assert outcome.scores["PathExact"]["mean"] is None


@pytest.mark.parametrize("name", LOGS)
def test_each_log_is_recognised(real_logs: Path, name: str, tmp_path: Path) -> None:
    """``auto`` reads each log as its own format does."""
    assert imported(real_logs, name, tmp_path, auto=True).told == imported(real_logs, name, tmp_path).told


def test_what_can_only_mislead_is_refused(real_logs: Path, tmp_path: Path) -> None:
    """Paths that were cut to their ends are refused with the way to log them whole, and no file is left."""
    if "neo4j-graphrag" not in formats():
        pytest.skip("there is no reader of neo4j-graphrag")
    log = real_logs / "neo4j-graphrag" / "vector_cypher_default.jsonl.gz"
    done = inside("import", "auto", log, "--dataset", real_logs, "-o", tmp_path / "run.jsonl", cwd=tmp_path, code=2)
    assert "6 of 11 paths were cut" in done.err
    assert list(tmp_path.iterdir()) == []
