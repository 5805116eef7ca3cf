"""Records read from logs of real libraries; ``python -m tests.plugins.logs.real_logs`` prints a table of them."""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.helpers.cli import inside
from tests.helpers.datasets import find_data

#: The measures that are shown: of the edges, of their order, and of what was retrieved.
MEASURES = ("EdgeRecall", "EdgePrecision", "PathExact", "Recall@5")

#: Each log with the format that it has, what the command needs besides the table of ids, and what it refuses.
LOGS: dict[str, tuple[str, tuple[str, ...]]] = {
    "neo4j-graphrag/vector_plain.jsonl.gz": ("neo4j-graphrag", ()),
    "neo4j-graphrag/vector_cypher_formatter.jsonl.gz": ("neo4j-graphrag", ()),
    "neo4j-graphrag/vector_cypher_default.jsonl.gz": ("neo4j-graphrag", ("--chunks-only",)),
    "neo4j-graphrag/hybrid_cypher_formatter.jsonl.gz": ("neo4j-graphrag", ()),
    "neo4j-graphrag/text2cypher.jsonl.gz": ("neo4j-graphrag", ()),
    "llama-index/vector_context_no_text.jsonl.gz": ("llama-index", ()),
    "llama-index/vector_context_with_text.jsonl.gz": ("llama-index", ()),
    "llama-index/query_engine.jsonl.gz": ("llama-index", ()),
    "llama-index/openinference_spans.jsonl.gz": ("openinference", ()),
    "llama-index/otlp.json.gz": ("openinference", ()),
    "lightrag/query_data_local.jsonl.gz": ("lightrag", ()),
    "lightrag/query_data_mix.jsonl.gz": ("lightrag", ()),
    "lightrag/only_need_context.txt": ("lightrag", ("--question", "n1")),
    "ms-graphrag/local_search.jsonl.gz": ("graphrag", ()),
    "ms-graphrag/api_local_search_n1.json": ("graphrag", ("--question", "n1")),
    "langchain/chain_output.jsonl.gz": ("langchain", ()),
    "langchain/astream_events_v2.jsonl.gz": ("langchain", ()),
    "langchain/graph_cypher_qa.jsonl.gz": ("langchain", ("--columns", "a,r,b")),
    "langchain/openinference_spans.jsonl.gz": ("openinference", ()),
}


@dataclass(frozen=True)
class Outcome:
    """The output of importing and evaluating a log."""

    told: dict[str, Any]
    scores: dict[str, dict[str, Any]]
    reasons: dict[str, str]

    def cells(self) -> list[str]:
        """Return the cells of its row."""
        ids, edges = self.told["ids"], self.told["edges"]
        given_back = f"{self.told['turned']}/{self.told['related']}"
        scores = [
            f"{score['mean']:.3f} ({score['scored']}/{score['total']})"
            if score["mean"] is not None
            else f"unscored: {self.reasons.get(name, '?')}"
            for name, score in self.scores.items()
        ]
        return [
            f"{ids['known']}/{ids['all']}",
            " ".join(str(edges[name]) for name in ("forward", "reversed", "other", "unknown")),
            given_back,
            *scores,
        ]


def looked_at(logs: Path, name: str, folder: Path, format: str | None = None) -> Outcome:  # noqa: A002
    """Import a log by one command, and evaluate it."""
    own, more = LOGS[name]
    out, scores = folder / f"{name.replace('/', '-').split('.')[0]}.jsonl", folder / "scores.jsonl"
    table = ("--dataset", str(logs), "--ids", str(logs / "ids.jsonl.gz"))
    told = inside(
        *("import", format or own, str(logs / name), *table, *more, "-o", str(out), "--force", "--json"),
        cwd=folder,
        code=0,
    )
    measures = [word for measure in MEASURES for word in ("-m", measure)]
    done = inside(
        *("evaluate", str(out), "--dataset", str(logs), "--no-store", *measures, "-o", str(scores), "--json"),
        cwd=folder,
        code=0,
    )
    found = done.object()["measures"]
    reasons: dict[str, Counter[str]] = {}
    for score in map(json.loads, scores.read_text().splitlines()):
        if score["value"] is None:
            reasons.setdefault(score["measure"], Counter())[score["reason"]] += 1
    return Outcome(told.object(), found, {name: counts.most_common(1)[0][0] for name, counts in reasons.items()})


def main() -> None:
    """Print the table."""
    logs = find_data("logs")
    if logs is None:
        sys.exit("the logs aren't there")
    columns = ["log", "ids known", "edges f r o u", "turned/related", *MEASURES]
    sys.stdout.write(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n")
    with tempfile.TemporaryDirectory() as folder:
        for name in LOGS:
            sys.stdout.write(f"| {' | '.join([name, *looked_at(logs, name, Path(folder)).cells()])} |\n")


if __name__ == "__main__":
    main()
