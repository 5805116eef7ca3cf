"""The Cypher below a spine, as a reader pastes it: it finds both subgraphs on each database, whatever the names."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.graph.queries import schema_statements
from graphkit.report import write_report
from tests.helpers import cli
from tests.helpers.datasets import write_jsonl
from tests.helpers.pages import Page, spine_of


@pytest.mark.parametrize("name", ["r", 'it\'s "r" \\ é'])
def test_the_copied_cypher_finds_both_subgraphs(store: Store, tmp_path: Path, name: str) -> None:
    """Two gold edges and one walked one are three paths of one relationship; quotes in names end no string."""
    write_jsonl(tmp_path / "questions.jsonl", [{**cli.QUESTIONS[0], "id": name}])
    walked = cli.ANSWERS[0]["traversal"]
    run = write_jsonl(tmp_path / "runs" / "r.jsonl", [{"run": name, "question_id": name, "traversal": walked}])
    store.schema(schema_statements())
    graphkit.evaluate(run, store=store, measures=["EdgeRecall"])
    page = Page(write_report([run], tmp_path / "r.html").read_text("utf-8"))
    [text] = re.findall(r"<code>(MATCH .*?)</code>", spine_of(page, 0))
    rows: list[dict[str, Any]] = store.read(html.unescape(text))
    kinds = sorted(row["p"][1]["_type"] for row in rows)
    assert kinds == ["GOLD"] * 2 + ["TRAVERSED"] * len(walked)
