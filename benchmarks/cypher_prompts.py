"""Ask a model for a Cypher query per question, by one prompt or another, and count what is wrong with the queries.

    python -m benchmarks.cypher_prompts ask DATASET --stack NAME --url URL --prompt near -o RUN.jsonl
    python -m benchmarks.cypher_prompts causes WALKED/runs/RUN.jsonl

``--prompt schema`` tells the model the labels, properties and relations of the graph; ``near`` also the nodes whose
repository and symbol share the rarest words with the question. The model speaks OpenAI's protocol. ``causes`` counts
what `graphkit cypher` found in a run, as a table.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx2

SYSTEM = (
    "You translate questions about source code into one Cypher query over a Neo4j graph. "
    "Answer with the query alone, without an explanation."
)
EXAMPLE = (
    "Example. Question: Which functions does the function load of the repository acme call?\n"
    "MATCH (a {repo: 'acme', symbol: 'load'})-[:CALLS]->(b) RETURN b.id"
)

#: The number of nodes that the prompt ``near`` names.
NEAR = 8


def words(text: str) -> set[str]:
    """Return the words of a text, those of names too, without the ending of a plural.

    >>> sorted(words("the TestClient's send_requests()"))
    ['client', 'request', 'send', 'test', 'the']
    """
    parts = re.findall(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])", text)
    return {part.lower().removesuffix("s") for part in parts}


def near(question: str, artifacts: Iterable[dict[str, Any]], count: int = NEAR) -> list[dict[str, Any]]:
    """Return the nodes whose repository and symbol share the rarest words with a question, the likeliest first.

    A node counts the rarity (the inverse document frequency) of each shared word, over the square root of how many
    words its name has.
    """
    named = [(one, words(f"{one['repo']} {one['symbol']}")) for one in artifacts if one.get("symbol")]
    often = Counter(word for _, name in named for word in name)
    asked = words(question)

    def score(name: set[str]) -> float:
        return math.fsum(math.log(len(named) / often[word]) for word in name & asked) / math.sqrt(len(name) or 1)

    ranked = sorted(((-score(name), one["id"], one) for one, name in named), key=lambda rank: rank[:2])
    return [one for rank, _, one in ranked[:count] if rank < 0]


def prompt(question: str, schema: str, nodes: list[dict[str, Any]]) -> str:
    """Return what the model is asked."""
    known = "".join(f"\n{{repo: '{one['repo']}', symbol: '{one['symbol']}'}}" for one in nodes)
    names = f"Nodes whose names are near to the question; start from one of them:{known}\n\n" if nodes else ""
    return f"{schema}\n\n{EXAMPLE}\n\n{names}Question: {question}"  # what stays comes first: servers keep a prefix


def schema_of(artifacts: list[dict[str, Any]], edges: list[dict[str, Any]]) -> str:
    """Return the labels, properties and relations of a graph as text."""
    keys = sorted({key for one in artifacts for key in one if key not in ("text", "aliases")})
    kinds = sorted({one["kind"] for one in artifacts if one.get("kind")})
    repos = sorted({one["repo"] for one in artifacts if one.get("repo")})
    relations = sorted({one["relation"] for one in edges})
    return (
        f"Labels: {', '.join(kinds)}\nProperties of each node: {', '.join(keys)}\n"
        f"Repositories: {', '.join(repos)}\nRelationship types: {', '.join(relations)}"
    )


def reply(url: str, model: str, text: str) -> tuple[str, dict[str, Any]]:
    """Return what a model says at temperature 0, and its usage."""
    body = {
        "model": model,
        "temperature": 0,
        "max_tokens": 200,
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}],
    }
    answered = httpx2.post(f"{url.rstrip('/')}/chat/completions", json=body, timeout=600)
    answered.raise_for_status()
    found = answered.json()
    return found["choices"][0]["message"]["content"], found.get("usage") or {}


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def ask(given: argparse.Namespace) -> None:
    """Write the run; a query that stands in the file already isn't asked for again."""
    suffix = f"-{given.stack}" if given.stack else ""
    artifacts = lines(given.dataset / f"artifacts{suffix}.jsonl")
    schema = schema_of(artifacts, lines(given.dataset / f"edges{suffix}.jsonl"))
    done = {one["question_id"] for one in lines(given.out)} if given.out.exists() else set()
    with given.out.open("a", encoding="utf-8") as out:
        for question in lines(given.dataset / "questions.jsonl"):
            if question["id"] in done:
                continue
            nodes = near(question["question"], artifacts) if given.prompt == "near" else []
            began = time.monotonic()
            said, usage = reply(given.url, given.model, prompt(question["question"], schema, nodes))
            record = {
                "run": given.out.stem,
                "question_id": question["id"],
                "answer": None,
                "queries": [{"cypher": said}],
                "input_tokens": usage.get("prompt_tokens"),
                "output_tokens": usage.get("completion_tokens"),
                "latency_ms": round((time.monotonic() - began) * 1000),
            }
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            out.flush()


def causes(given: argparse.Namespace) -> None:
    """Print the table of causes of a run that `graphkit cypher` wrote."""
    found: dict[str, list[str]] = {}
    for record in lines(given.run):
        compared = record.get("compared_result") or {}
        cause = compared.get("cause_kind") or ("right" if compared else "not compared")
        found.setdefault(cause, []).append(f"{record['question_id']}: {compared.get('cause') or ''}")
    print("| cause | queries | for example |\n|---|---:|---|")
    for cause, examples in sorted(found.items(), key=lambda one: (-len(one[1]), one[0])):
        print(f"| {cause} | {len(examples)} | {examples[0].replace('|', chr(92) + '|')} |")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cypher_prompts", description=__doc__)
    parts = parser.add_subparsers(required=True)
    asked = parts.add_parser("ask", help="ask a model, and write a run")
    asked.add_argument("dataset", type=Path)
    asked.add_argument("--stack", help="the graph of a dataset with several")
    asked.add_argument("--url", default="http://127.0.0.1:8642/v1", help="the address of the model")
    asked.add_argument("--model", default="qwen")
    asked.add_argument("--prompt", choices=("schema", "near"), default="near")
    asked.add_argument("-o", "--out", type=Path, required=True)
    asked.set_defaults(do=ask)
    counted = parts.add_parser("causes", help="count the causes of a run that graphkit cypher wrote")
    counted.add_argument("run", type=Path)
    counted.set_defaults(do=causes)
    given = parser.parse_args()
    given.do(given)


if __name__ == "__main__":
    main()
