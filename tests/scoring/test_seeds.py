"""Seeds in random worlds: both engines, the failures and the distances, against a count of the test's own."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import graphkit
from graphkit.analysis.broken_edges import NOT_LINKED
from graphkit.analysis.file_failures import RunOnFiles
from graphkit.analysis.mending import mending_in_graph, to_mend
from graphkit.database.store import Store
from graphkit.graph.queries import named_query
from graphkit.measures.registry import resolve_measures
from graphkit.measures.seeds import FARTHEST, NO_GOLD_SEED, NO_SEEDS, NOTHING_LINKED
from graphkit.report.page import write_report
from graphkit.scoring import evaluate_shards
from graphkit.scoring.cypher_scoring import score_run
from graphkit.scoring.results import Evaluation
from graphkit.scoring.results_folder import read_results
from graphkit.scoring.row_tables import rows_of
from tests.helpers import FAST
from tests.helpers.cli import inside, tiny
from tests.helpers.datasets import write_jsonl
from tests.helpers.pages import Page

Row = dict[str, Any]

COUNT = 36 if FAST else 1000
MEASURES = resolve_measures(["SeedRecall", "SeedPrecision", "SeedReciprocalRank"])

#: Nodes of three repositories, with namesakes in other repositories and at other paths, and one without a repository.
NODES = [f"{repo}:{name}" for repo in ("web", "api", "db") for name in ("a.py#f", "b.py#f", "b.py", "c.py#G", "d/b.py")]
NODES += ["Ann"]
NAME = {node: node.partition("#")[2] or node.rpartition("/")[2].rpartition(":")[2] for node in NODES}


@dataclass(frozen=True)
class World:
    """A dataset with a run: its questions, its records by question, and the edges of its knowledge graph."""

    file: Path
    questions: list[Row]
    answers: dict[str, Row]
    edges: list[list[str]]


def drawn(folder: Path, seed: int, count: int) -> World:
    """Write a dataset of so many questions, each with a record, that is drawn from a seed."""
    draw = random.Random(seed)
    edges = [[draw.choice(NODES), "R", draw.choice(NODES)] for _ in range(14)]
    questions: list[Row] = []
    answers: dict[str, Row] = {}
    for number in range(count):
        lengths = draw.sample(range(1, 6), 3)
        paths: list[Row] = [
            {
                "id": f"p{place}",
                "group": draw.choice((None, "g")),
                "steps": [
                    dict(zip(("source", "relation", "target"), draw.choice(edges), strict=True))
                    | {"optional": draw.random() < 0.2}
                    for _ in range(lengths[place])
                ],
            }
            for place in range(draw.choice((0, 1, 1, 2, 3)))
        ]
        name = f"q{number:04d}"
        seeds = [draw.choice(NODES) for _ in range(draw.randint(1, 2))] if draw.random() < 0.2 else []
        questions.append({"id": name, "question": "?", "paths": paths, "seeds": seeds})
        steps = [step for path in paths for step in path["steps"]]
        walk = [[step["source"], "R", step["target"]] for step in steps if draw.random() < 0.3]
        answers[name] = {"run": "r", "question_id": name, "traversal": walk}
        if draw.random() < 0.9:
            starts = [path["steps"][0]["source"] for path in paths]
            linked = [
                draw.choice(starts if starts and draw.random() < 0.3 else NODES) for _ in range(draw.randint(0, 4))
            ]
            answers[name]["seeds"] = [{"id": node, "score": draw.random(), "mention": "m"} for node in linked]
    write_jsonl(folder / "artifacts.jsonl", [{"id": node} for node in NODES])
    write_jsonl(
        folder / "edges.jsonl", [dict(zip(("source", "relation", "target"), one, strict=True)) for one in edges]
    )
    write_jsonl(folder / "questions.jsonl", questions)
    return World(write_jsonl(folder / "runs" / "r.jsonl", answers.values()), questions, answers, edges)


def needed(path: Row) -> list[Row]:
    """Return the required steps of a path."""
    return [step for step in path["steps"] if not step["optional"]]


def units(question: Row) -> list[list[Row]]:
    """Return the paths that require a step: the alternatives of a group together, in the order of ties.

    The one with fewer required edges goes first, of equals the one whose edges come first as texts.
    """

    def order(path: Row) -> tuple[Any, ...]:
        edges = [[step["source"], "R", step["target"]] for step in path["steps"]]
        return len({json.dumps(step) for step in needed(path)}), edges, [step["optional"] for step in path["steps"]]

    found: dict[object, list[Row]] = {}
    for path in filter(needed, question["paths"]):
        found.setdefault(path["group"] or path["id"], []).append(path)
    return [sorted(unit, key=order) for unit in found.values()]


def counted(question: Row, answer: Row) -> tuple[float | str, ...]:
    """Return recall, precision and reciprocal rank, counted by hand."""
    seeds = None if "seeds" not in answer else [seed["id"] for seed in answer["seeds"]]
    gold = set(question["seeds"])
    for unit in units(question) if not gold else ():
        starts = [needed(path)[0]["source"] for path in unit]
        gold.add(next((seed for seed in seeds or () if seed in starts), starts[0]))
    if not gold:
        return (NO_GOLD_SEED,) * 3
    if seeds is None:
        return (NO_SEEDS,) * 3
    right = [rank for rank, seed in enumerate(seeds, 1) if seed in gold]
    found = len(gold & {*seeds})
    return found / len(gold), found / len({*seeds}) if seeds else NOTHING_LINKED, 1 / right[0] if right else 0.0


def walked_by(answer: Row) -> set[tuple[str, str]]:
    """Return the edges of a walk."""
    return {(source, target) for source, _, target in answer["traversal"]}


def required(path: Row) -> set[tuple[str, str]]:
    """Return the edges that a path requires."""
    return {(step["source"], step["target"]) for step in needed(path)}


def best(wanted: list[set[tuple[str, str]]], walked: set[tuple[str, str]]) -> int:
    """Return which alternative counts: the first of those that miss the smallest share."""
    share = [len(edges - walked) / len(edges) for edges in wanted]
    return share.index(min(share))


def lost_boundaries(question: Row, answer: Row, rows: list[Row]) -> dict[str, bool]:
    """Return the boundaries that the broken paths of a question miss, and whether one was linked to a namesake.

    Only an edge counts that an alternative misses of which BoundaryRecall counts the boundaries.
    """
    walked, missed = walked_by(answer), set[tuple[str, str]]()
    for unit in units(question):
        wanted = [{(a, b) for a, b in required(path) if across(a, b)} for path in unit]
        if wanted := [*filter(None, wanted)]:
            missed |= wanted[best(wanted, walked)] - walked
    found: dict[str, bool] = {}
    for row in rows:
        [path] = [one for one in question["paths"] if one["id"] == row["path"]]
        for source, target in required(path) & missed:
            name = across(source, target)
            found[name] = found.get(name, False) or row["namesake"]
    return found


def across(source: str, target: str) -> str:
    """Return the boundary of an edge as results name it; empty within a repository, or if a node has none."""
    one, other = source.rpartition(":")[0], target.rpartition(":")[0]
    return f"{one} -> {other}" if one and other and one != other else ""


def broken(question: Row, answer: Row) -> list[Row]:
    """Return the paths that broke since the question was linked elsewhere, counted by hand."""
    walked = walked_by(answer)
    reached = {end for edge in walked for end in edge}
    rows = []
    for unit in units(question) if "seeds" in answer else ():
        path = unit[best([*map(required, unit)], walked)]
        missed = [at for at, step in enumerate(path["steps"]) if step in needed(path)]
        missed = [at for at in missed if (path["steps"][at]["source"], path["steps"][at]["target"]) not in walked]
        start, seeds = needed(path)[0]["source"], [*dict.fromkeys(seed["id"] for seed in answer["seeds"])]
        alternatives = [needed(path)[0]["source"] for path in unit]
        own = question["seeds"] and start not in question["seeds"]
        starts = question["seeds"] if own else [start, *alternatives]
        if not missed or {*starts} & {*seeds} or reached & {*starts, path["steps"][missed[0]]["source"]}:
            continue
        same = [seed for seed in seeds if NAME[seed].lower() == NAME[starts[0]].lower()]
        row = {"question": question["id"], "path": path["id"], "position": missed[0], "start": starts[0]}
        rows.append({**row, "seed": (same or seeds or [None])[0], "namesake": bool(same), "seeds": len(seeds)})
    return sorted(rows, key=lambda row: row["path"])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One world for all tests."""
    return drawn(tmp_path_factory.mktemp("seeds") / "drawn", 47, COUNT)


def test_engines_score_as_counted(empty_store: Store, world: World) -> None:
    """Of each question both engines give the three counted values or reasons, and every kind of them occurs."""
    expected = {one["id"]: counted(one, world.answers[one["id"]]) for one in world.questions}
    by_python = graphkit.evaluate(world.file, measures=MEASURES, store=empty_store)
    for found in (by_python, score_run(empty_store, "drawn", "r", MEASURES)):
        assert {row.question: row.values for row in found.rows} == expected
    kinds = {one if isinstance(one, str) else 0 < one < 1 for some in expected.values() for one in some}
    assert kinds >= {NO_GOLD_SEED, NO_SEEDS, NOTHING_LINKED, True, False}


def test_failures_and_distances_are_as_counted(empty_store: Store, world: World) -> None:
    """Files and graph list the counted paths that broke at their start; a named query and ``why`` tell how far."""
    graphkit.evaluate(world.file, measures=MEASURES, store=empty_store)
    expected = [row for one in world.questions for row in broken(one, world.answers[one["id"]])]
    run = RunOnFiles.read(world.file)
    assert [dict(row) for row in run.failures("not-linked")] == expected
    assert [dict(row) for row in graphkit.failures(empty_store, "r", "not-linked")] == expected
    assert {row["namesake"] for row in expected} == {True, False}
    assert None in {row["seed"] for row in expected}
    known = nx.Graph((source, target) for source, _, target in world.edges)
    query = named_query("seed-distances")
    told: list[Row] = empty_store.read(query.text, query.bind({"run": "r", "question": None, "limit": 10**6}))
    farthest = 0
    for row in told:
        [question] = [one for one in world.questions if one["id"] == row["question"]]
        [path] = [one for one in question["paths"] if one["id"] == row["path"]]
        ends = {end for step in path["steps"] for end in (step["source"], step["target"])}
        hops = [
            0 if seed["id"] in ends else nx.shortest_path_length(known, seed["id"], end)
            for seed in world.answers[row["question"]]["seeds"]
            for end in ends
            if seed["id"] in ends or (seed["id"] in known and nx.has_path(known, seed["id"], end))
        ]
        near = min((one for one in hops if one <= FARTHEST), default=None)
        assert row["distance"] == near, row
        farthest = max(farthest, near or 0)
    assert farthest > 1
    for name in [row["question"] for row in expected][:10]:
        in_file, in_graph = graphkit.why(world.file, name), graphkit.why("r", name, store=empty_store)
        assert in_file.unlinked == in_graph.unlinked != ()
        assert in_file.cause == in_graph.cause


def test_boundaries_are_counted_alike_everywhere(
    empty_store: Store, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand, by both engines and in shards, as many questions missed a boundary for the start, or for a namesake."""
    counts: dict[str, Counter[str]] = {"not_linked": Counter(), "linked_to_namesake": Counter()}
    for one in world.questions:
        answer = world.answers[one["id"]]
        lost = lost_boundaries(one, answer, broken(one, answer))
        counts["not_linked"].update([*lost])
        counts["linked_to_namesake"].update(name for name, namesake in lost.items() if namesake)
    assert all(counts.values())
    assert counts["not_linked"] != counts["linked_to_namesake"]

    def counted_by(result: Evaluation) -> dict[str, Any]:
        found = result.outcomes_as_json()
        return {name: found.get(name) for name in counts}

    alone = graphkit.evaluate(world.file, measures=MEASURES, outcomes=True)
    assert counted_by(alone) == counts
    by_cypher = graphkit.evaluate(world.file, measures=MEASURES, outcomes=True, store=empty_store, engine="cypher")
    assert counted_by(by_cypher) == counts
    in_shards = graphkit.evaluate(world.file, measures=MEASURES, outcomes=True, out=tmp_path / "one")
    assert counted_by(in_shards) == counts
    places = to_mend([alone])
    assert [one.sentence for one in places if NOT_LINKED in one.sentence]
    folder = read_results(tmp_path / "one").evaluation()
    assert counted_by(folder) == counts
    for again in (to_mend([folder]), mending_in_graph(empty_store, "r")):
        assert [one.counts for one in again] == [one.counts for one in places]
    parquet = pytest.importorskip("pyarrow.parquet")
    part = parquet.read_table(tmp_path / "one" / "part-00000.parquet").drop_columns(["unlinked"])
    earlier = [row for batch in part.to_batches() for row in rows_of(batch, [str(one) for one in MEASURES])]
    assert [row.question for row in earlier] == [row.question for row in alone.rows]
    assert not any(row.unlinked for row in earlier)  # folders of earlier versions say nothing of it
    monkeypatch.setattr(evaluate_shards, "ROWS", 10)
    large = graphkit.evaluate(world.file, measures=MEASURES, outcomes=True, out=tmp_path / "two")
    assert large.rows == ()
    assert counted_by(large) == counts


def test_a_log_without_seeds_counts_no_boundaries(tmp_path: Path) -> None:
    """Results have what they had before, and no sentence on the start of a path."""
    run = tiny(tmp_path)
    assert graphkit.evaluate(run, outcomes=True).outcomes_as_json().keys() == {"two_by_two", "stages"}
    for options in ((), ("--full",), ("--json",)):
        out = inside("evaluate", "--no-store", run, *options, cwd=tmp_path, code=0).out
        assert NOT_LINKED not in out
        assert "not_linked" not in out


def test_a_page_counts_boundaries_as_evaluate_does(world: World, tmp_path: Path) -> None:
    """The page's sentences on boundaries and places to mend are those of the terminal."""
    printed = inside("evaluate", "--no-store", world.file, cwd=tmp_path, code=0).out.splitlines()
    [where] = [line for line in printed if NOT_LINKED in line and line.startswith("where")]
    page = " ".join(Page(write_report([world.file], tmp_path / "page.html").read_text("utf-8")).text.split())
    assert f"{where.removeprefix('where').strip()[1:]}." in page
    for line in printed:
        if line.startswith("mend"):
            assert line.removeprefix("mend").strip() in page
    full = inside("evaluate", "--no-store", "--full", world.file, cwd=tmp_path, code=0).out
    assert where.removeprefix("where").strip().removesuffix(", …") in full
    for edges in ("--undirected", "--untyped"):
        again = inside("evaluate", "--no-store", edges, world.file, cwd=tmp_path, code=0).out
        assert f"missed since {NOT_LINKED}" in again
