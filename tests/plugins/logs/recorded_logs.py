"""Logs that frameworks wrote of one small graph, and what a hand-made record of the same search scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphkit.imports.importer import ImportedLog
from graphkit.measures.base import Unscored
from graphkit.records.models import Answer
from tests.helpers.cases import question, score, unlogged
from tests.live.small_graph import IDS, imported

FOLDER = Path(__file__).parent / "recorded"

ANN, ACME, BERN, ZED = (IDS[name] for name in ("Ann", "Acme", "Bern", "Zed"))

#: The gold path has two edges.
GOLD = question([(ANN, "WORKS_AT", ACME), (ACME, "IN", BERN)], relevant=[ANN])

#: Who opened Ann and then Acme walked the one edge between them: half of the gold path.
BY_HAND = unlogged(traversal=[{"source": ANN, "relation": "WORKS_AT", "target": ACME}], retrieved=[ANN, ZED])


def recorded(name: str) -> list[Any]:
    """Return the values of a recorded log."""
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


def town(folder: Path, name: str, *values: Any) -> tuple[ImportedLog, dict[str, Any]]:
    """Import a log of one answer, whose format has to be recognised, and return the import and its record."""
    found = imported(folder, name, *values)
    (record,) = found.records
    return found, record


def scores(record: dict[str, Any], measure: str = "EdgeRecall") -> tuple[float | Unscored, float | Unscored]:
    """Return what a measure says of a record, and of the one that was made by hand."""
    return score(measure, GOLD, Answer.model_validate(record)), score(measure, GOLD, BY_HAND)
