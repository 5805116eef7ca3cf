"""Report pages as tests see them: their elements, scripts and text, and datasets to write them from."""

from __future__ import annotations

import base64
import gzip
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tests.helpers import cli
from tests.helpers.datasets import write_jsonl

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\"'`><img src=x onerror=alert(2)>",
    "{{ 7*7 }}{% raw %}${alert(3)}",
    "\x1b[31mred\x07",
    "\u202eright to left\u2066",
    "line\u2028and\u2029paragraph",
)


class Page(HTMLParser):
    """Every element with its attributes, and the text of the scripts and of the rest."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.styles: list[str] = []
        self.text = ""
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self._open == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self._open == "style":
            self.styles.append(data)
        else:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def json(self, name: str) -> Any:
        """Return the data of a script; that of a packed block is unpacked."""
        found = next(json.loads(text) for attributes, text in self.scripts if attributes.get("id") == name)
        return json.loads(gzip.decompress(base64.b64decode(found))) if isinstance(found, str) else found


def spine_of(page: Page, place: int) -> str:
    """Return the spine that a page holds for the question at a place, as HTML."""
    [per_block] = {int(one["data-questions"] or 0) for _, one in page.elements if "data-questions" in one}
    html: str = page.json(f"s-{place // per_block}")[str(place)]
    return html


def hostile_dataset(folder: Path) -> Path:
    """Write a dataset in which every text that a user can give is hostile, and return its run."""
    questions, answers = [], []
    for number, text in enumerate(HOSTILE):
        source, target = f"{text}:{text}#{text}", f"api:{text}.py#{text}{number}"
        questions.append(
            {
                "id": f"{number} {text}",
                "question": text,
                "category": text,
                "gold_answer": text,
                "expected_output": text,
                "facts": [{"text": text}],
                "commits": {"api": text},
                "paths": [{"id": text, "steps": [[source, text, target], [target, text, f"{target}2"]]}],
                "relevant": {source: 1, f"{text} lost": 2},
                "expected_tool_calls": [{"name": text, "arguments": {text: text}}],
                "gold_cypher": text,
            }
        )
        answers.append(
            {
                "run": HOSTILE[0],
                "question_id": f"{number} {text}",
                "retrieved": [{"id": source, "repo": text, "path": text, "commit": text, "text": text}],
                "traversal": [
                    {"source": source, "relation": text, "target": target, "source_commit": text},
                    {"source": target, "relation": text, "target": f"{text}:elsewhere"},
                ],
                "answer": text,
                "tool_calls": [{"name": text, "arguments": {text: [text]}, "result": text, "seen": [source, text]}],
                "queries": [{"cypher": text, "parameters": {text: text}, "error": text}],
                "compared_result": {"executable": False, "same": False, "reason": text, "cause": text},
                **({"error": text} if number == 1 else {}),
            }
        )
    write_jsonl(folder / "questions.jsonl", questions)
    write_jsonl(folder / "commits.jsonl", [{"repo": "api", "sha": text, "tag": text} for text in HOSTILE])
    return write_jsonl(folder / "runs" / "r.jsonl", answers)


def plain(folder: Path) -> Path:
    """Write the tiny dataset, and return its run."""
    write_jsonl(folder / "questions.jsonl", cli.QUESTIONS)
    return write_jsonl(folder / "runs" / "r.jsonl", cli.ANSWERS)


def edges_of(shown: dict[str, Any]) -> set[tuple[str, str, str, str]]:
    """Return the edges that a question shows: source, relation, target and status."""
    nodes = [node["id"] for node in shown["map"]["nodes"]]
    return {
        (nodes[edge["source"]], edge["relation"], nodes[edge["target"]], edge["status"])
        for edge in shown["map"]["edges"]
    }
