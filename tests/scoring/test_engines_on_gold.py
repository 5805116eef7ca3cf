"""Gold that both engines must read alike, by the Python engine and by Cypher on both databases."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Literal

import pytest

import graphkit
from graphkit.database.store import Store
from tests.helpers import FAST
from tests.helpers.cli import tiny, write_lines
from tests.scoring.compared_runs import MEASURED

ENGINES: tuple[Literal["python", "cypher"], ...] = ("python", "cypher")

pytestmark = pytest.mark.newest


def drawn_paths(rng: random.Random) -> list[dict[str, Any]]:
    """Return some short gold paths over few nodes, most of them alternatives of one another."""

    def step() -> dict[str, Any]:
        ends = [rng.choice(("x:a", "x:b", "y:c", "y:d")) for _ in range(2)]
        return {"source": ends[0], "relation": rng.choice("RS"), "target": ends[1], "optional": rng.random() < 0.2}

    return [
        {"steps": [step() for _ in range(rng.randint(1, 4))], "group": rng.choice(("g", "g", "h", None))}
        for _ in range(rng.randint(2, 5))
    ]


#: How many questions are drawn.
DRAWN = 20 if FAST else 60


def test_order_of_alternatives_changes_no_figure(store: Store, tmp_path: Path) -> None:
    """Each of the questions stands there twice, its paths in another order: every measure gives both the same."""
    rng = random.Random(20)
    questions, answers = [], []
    for number in range(DRAWN):
        paths = drawn_paths(rng)
        turned = rng.sample(paths, len(paths))
        gold = [(step["source"], step["relation"], step["target"]) for path in paths for step in path["steps"]]
        walk = [list(edge) for edge in rng.sample(gold, rng.randint(0, len(gold)))]
        for name, listed in (("as-is", paths), ("turned", turned)):
            questions.append({"id": f"{number}-{name}", "question": "?", "paths": listed})
            answers.append({"run": "r", "question_id": f"{number}-{name}", "traversal": walk, "retrieved": ["x:a"]})
    run = tiny(tmp_path, questions, answers)
    found = {engine: graphkit.evaluate(run, measures=MEASURED, engine=engine, store=store) for engine in ENGINES}
    for engine, result in found.items():
        values = {row.question: row.values for row in result.rows}
        unequal = [n for n in range(DRAWN) if values[f"{n}-as-is"] != values[f"{n}-turned"]]
        assert unequal == [], engine
    assert [row.values for row in found["python"].rows] == [row.values for row in found["cypher"].rows]


#: A dataset of C# code: files with a ``#``, also without a symbol, with spaces, ``%23`` and anchors behind a ``#``.
HASHES = [
    # name, expected file, what was retrieved, and FileRecall
    ("symbol", "x:C#/a.cs", "x:C#/a.cs#Run", 1.0),
    ("file", "x:C#/a.cs", "x:C#/a.cs", 1.0),
    ("other-file", "x:C#/b.cs", "x:C#/a.cs#Run", 0.0),
    ("other-symbol", "x:C#/b.cs", "x:C#/a.cs", 0.0),
    ("slash-form", "x/C#/a.cs", "x:C#/a.cs#Run", 1.0),
    ("entry-with-symbol", "x:C#/a.cs#Run", "x:C#/a.cs#Stop", 1.0),
    ("plain-entry-with-symbol", "x:a.ts#f", "x:a.ts#g", 1.0),
    ("name", "x:docs/C#.md", "x:docs/C#.md", 1.0),
    ("anchor", "x:docs/my guide.md", "x:docs/my guide.md#Step #2", 1.0),
    ("anchor-of-name", "x:docs/C#.md", "x:docs/C#.md#Step #2", 1.0),
    ("percent", "x:C%23/a.cs", "x:C%23/a.cs#Run", 1.0),
    ("percent-is-no-hash", "x:C#/a.cs", "x:C%23/a.cs#Run", 0.0),
    ("artifact", "x:v1.0#/z.cs", "x:v1.0#/z.cs#Main", 1.0),
    ("artifact-file", "x:v1.0#/z.cs", "x:v1.0#/z.cs", 1.0),
]


def test_a_hash_in_a_path(store: Store, tmp_path: Path) -> None:
    """The dataset decides where an id is split, else the last ``#``: in both engines, for files, symbols and stages."""
    questions = [{"id": name, "question": "?", "expected_files": [file]} for name, file, _, _ in HASHES]
    answers = [{"run": "r", "question_id": name, "retrieved": [one]} for name, _, one, _ in HASHES]
    # ``v1.0`` ends as a file does, so only the artifact tells that the path goes on.
    artifacts = [{"id": "x:v1.0#/z.cs", "repo": "x", "path": "v1.0#/z.cs"}]
    run = tiny(tmp_path, questions, answers, artifacts=artifacts)
    for engine in ENGINES:
        result = graphkit.evaluate(run, measures=["FileRecall", "FilePrecision"], engine=engine, store=store)
        found = {row.question: row.values for row in result.rows}
        assert found == {name: (value, value) for name, _, _, value in HASHES}, engine
    rows = store.read("MATCH (c:Chunk) RETURN c.id AS id, c.path AS path, c.symbol AS symbol")
    places = {str(row["id"]): (row["path"], row["symbol"]) for row in rows}
    assert places["x:C#/a.cs"] == ("C#/a.cs", None)
    assert places["x:C#/a.cs#Run"] == ("C#/a.cs", "Run")
    assert places["x:docs/my guide.md#Step #2"] == ("docs/my guide.md", "Step #2")
    assert places["x:v1.0#/z.cs#Main"] == ("v1.0#/z.cs", "Main")
    [artifact] = store.read("MATCH (a:Artifact {id: 'x:v1.0#/z.cs'}) RETURN a.path AS path, a.symbol AS symbol")
    assert (artifact["path"], artifact["symbol"]) == ("v1.0#/z.cs", None)


def test_symbols_behind_a_path_with_a_hash(store: Store, tmp_path: Path) -> None:
    """A file of ``C#/`` is no symbol, and the symbol of one is what follows the last ``#``."""
    questions = [{"id": "q", "question": "?", "expected_symbols": ["Run", "/a.cs"], "expected_files": ["x:C#/a.cs"]}]
    answers = [{"run": "r", "question_id": "q", "retrieved": ["x:C#/a.cs", "x:C#/a.cs#Run"]}]
    run = tiny(tmp_path, questions, answers)
    for engine in ENGINES:
        [row] = graphkit.evaluate(run, measures=["SymbolRecall"], engine=engine, store=store).rows
        assert row.values == (0.5,), engine


def test_a_run_is_split_anew_when_the_dataset_names_other_files(store: Store, tmp_path: Path) -> None:
    """Once an artifact tells that ``v1#`` is a folder, the run that was loaded before scores by it."""
    questions = [{"id": "q", "question": "?", "expected_files": ["x:v1.0#/z.cs"]}]
    answers = [{"run": "r", "question_id": "q", "retrieved": ["x:v1.0#/z.cs"]}]
    run = tiny(tmp_path, questions, answers)
    # Before, both ids name the file ``v1.0`` (with a symbol); afterwards both name the whole path.
    assert graphkit.evaluate(run, measures=["FileRecall"], engine="cypher", store=store).rows[0].values == (1.0,)
    write_lines(tmp_path / "artifacts.jsonl", [{"id": "x:v1.0#/z.cs", "repo": "x", "path": "v1.0#/z.cs"}])
    assert graphkit.evaluate(run, measures=["FileRecall"], engine="cypher", store=store).rows[0].values == (1.0,)
    [row] = store.read("MATCH (:Answer {run: 'r'})-[:RETRIEVED]->(c:Chunk) RETURN c.file AS file")
    assert row["file"] == "x/v1.0#/z.cs"
