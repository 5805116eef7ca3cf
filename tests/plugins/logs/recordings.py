"""The repository that recorded agents read, as a dataset, and what an import and a record by hand score on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import graphkit
from graphkit.imports.importer import ImportedLog, import_log
from tests.helpers.datasets import write_jsonl

RECORDED = Path(__file__).parent / "recorded"

QUESTION = "Where does checkout take the items from?"

#: The cart imports the orders, and these the stock; a file that nobody reads imports the cart.
CART, ORDERS, STOCK, PAGE = (f"shop:src/{name}.py" for name in ("cart", "orders", "stock", "page"))
GOLD = [
    {"source": CART, "relation": "IMPORTS", "target": ORDERS},
    {"source": ORDERS, "relation": "IMPORTS", "target": STOCK},
]
EDGES = [*GOLD, {"source": PAGE, "relation": "IMPORTS", "target": CART}]

#: The record of an agent that opened the cart and the orders: one of the two gold edges.
BY_HAND = {"run": "by-hand", "question_id": "q1", "traversal": GOLD[:1]}


def shop(folder: Path) -> Path:
    """Write the dataset, and return its folder."""
    question = {"id": "q1", "question": QUESTION, "paths": [{"steps": GOLD}]}
    write_jsonl(folder / "shop" / "questions.jsonl", [question])
    write_jsonl(folder / "shop" / "edges.jsonl", EDGES)
    (folder / "shop" / "runs").mkdir()
    return folder / "shop"


def imported(folder: Path, log: Path, name: str, **options: Any) -> ImportedLog:
    """Import a log whose format has to be recognised by itself, as the run ``imported`` of the dataset."""
    out = folder / "runs" / "imported.jsonl"
    found = import_log(log, "auto", folder, out=out, replace=True, **options)
    assert any(f"recognised as {name}" in line for line in found.summary), found.summary
    return found


def scores(folder: Path, *records: dict[str, Any]) -> dict[str, float | None]:
    """Return the means of measures of a walk: of the imported run, or of records by hand."""
    run = folder / "runs" / ("by-hand.jsonl" if records else "imported.jsonl")
    if records:
        write_jsonl(run, records)
    measures = ["EdgeRecall", "EdgePrecision"]
    result = graphkit.evaluate(run, folder, measures=measures)
    return {name: result.measures[name].mean for name in measures}


def record_of(folder: Path) -> dict[str, Any]:
    """Return the only record of the imported run."""
    (line,) = (folder / "runs" / "imported.jsonl").read_text("utf-8").splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def lines_of(name: str) -> list[Any]:
    """Return the values of the lines of a recording."""
    return [json.loads(line) for line in (RECORDED / name).read_text("utf-8").splitlines()]
