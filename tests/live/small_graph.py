"""The graph that every library searches, the stand-ins for its models, and what an import makes of its log."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from graphkit.imports.importer import ImportedLog, import_log
from tests.helpers.datasets import write_jsonl
from tests.helpers.engines import ENVIRONMENT

#: Sorted by name, the ends of the first two would be the other way round, and those of the third as they are.
EDGES = (("Ann", "WORKS_AT", "Acme"), ("Zed", "KNOWS", "Ann"), ("Acme", "IN", "Bern"))
NAMES = ("Zed", "Ann", "Acme", "Bern")

#: Two texts by their files; the first tells of the first two edges.
TEXTS = {"people.md": "Ann works at Acme. Zed knows Ann.", "places.md": "Acme is in Bern."}
QUESTION = "Where does Ann work?"
ANSWER = "Ann works at Acme."

#: The id of each name: that of an entity isn't its name, so that what isn't looked up is seen.
IDS = {name: f"town:people.md#{name}" for name in NAMES} | {file: f"town:{file}" for file in TEXTS}

SIZE = 64


def library(name: str) -> Any:
    """Return a library's module; skip where it isn't installed, and fail under GRAPHKIT_REQUIRE_LIVE=1."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):
            raise  # it is installed, and lacks something
        if ENVIRONMENT.get("GRAPHKIT_REQUIRE_LIVE") == "1":
            pytest.fail(f"GRAPHKIT_REQUIRE_LIVE=1, but {error}", pytrace=False)
        pytest.skip(f"{name} isn't installed; make test-live has it")


def vector(text: str) -> list[float]:
    """Return the embedding of a text: how often it has each word, by the word's hash."""
    counts = [0.01] * SIZE
    for word in re.findall("[a-z]+", text.lower()):
        counts[int(hashlib.sha256(word.encode()).hexdigest(), 16) % SIZE] += 1
    return counts


def imported(
    folder: Path, name: str, *values: Any, default: Callable[[Any], Any] | None = None, **options: Any
) -> ImportedLog:
    """Import a log whose format has to be recognised by itself, over the graph as a dataset."""
    data = folder / "town"
    relevant = {IDS["Ann"]: 1}
    write_jsonl(data / "questions.jsonl", [{"id": "q", "question": QUESTION, "relevant": relevant, "paths": []}])
    write_jsonl(data / "artifacts.jsonl", [{"id": one} for one in IDS.values()])
    edges = [{"source": IDS[source], "relation": relation, "target": IDS[end]} for source, relation, end in EDGES]
    write_jsonl(data / "edges.jsonl", edges)
    log = folder / "log.jsonl"
    log.write_text("".join(json.dumps(value, default=default) + "\n" for value in values), "utf-8")
    found = import_log(log, dataset=data, ids=IDS, run="live", **options)
    assert any(f"recognised as {name}" in line for line in found.summary)
    return found


def record(found: ImportedLog) -> dict[str, Any]:
    """Return the only record of an import."""
    (one,) = found.records
    return one


def walked(one: dict[str, Any]) -> list[tuple[str, str | None, str]]:
    """Return the edges of a record in their order, by the names of the graph."""
    return [(_name(step["source"]), step.get("relation"), _name(step["target"])) for step in one["traversal"]]


def retrieved(one: dict[str, Any]) -> list[str]:
    """Return what a record retrieved in its order, by the names of the graph."""
    return [_name(chunk["id"]) for chunk in one["retrieved"]]


def with_ends(found: Iterable[str], one: dict[str, Any]) -> list[str]:
    """Return what a search found, and behind it the ends of the edges that it walked: nothing ranks them."""
    return list(dict.fromkeys([*found, *(end for source, _, target in walked(one) for end in (source, target))]))


def _name(id_: str) -> str:
    return next((name for name, known in IDS.items() if known == id_), id_)
