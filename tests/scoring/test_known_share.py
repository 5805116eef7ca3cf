"""The share of a run that its dataset knows, and the usual cause of a low share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.files.dataset import Dataset
from graphkit.scoring.known_share import KnownShare, known_share
from tests.helpers import ROOT
from tests.helpers.cli import QUESTIONS, tiny
from tests.helpers.datasets import SHOP_QUESTIONS, read_jsonl, write_jsonl

STOREFRONT = ROOT / "fixtures" / "storefront"

Change = Callable[[dict[str, Any]], None]


def share(run: Path) -> KnownShare:
    """Return what the storefront knows of a run."""
    return present(known_share(Dataset(STOREFRONT), run))


def present(found: KnownShare | None) -> KnownShare:
    """Return what is known of a run that can be read again."""
    assert found is not None
    return found


def of_tiny(folder: Path, **records: Any) -> KnownShare:
    """Return what a tiny dataset of some records knows of its run."""
    run = tiny(folder, **records)
    return present(known_share(Dataset(folder), run))


def changed(folder: Path, change: Change) -> KnownShare:
    """Return what the storefront knows of a run of it in which each record is changed."""
    answers = read_jsonl(STOREFRONT / "runs" / "storefront-graph-v2.jsonl")
    for answer in answers:
        change(answer)
    return share(write_jsonl(folder / "changed.jsonl", answers))


def renamed(name: Callable[[str], str]) -> Change:
    """Return a change that gives each node another name."""

    def change(answer: dict[str, Any]) -> None:
        for chunk in answer["retrieved"]:
            chunk["id"] = name(chunk["id"])
        for step in answer["traversal"]:
            step |= {"source": name(step["source"]), "target": name(step["target"])}

    return change


def swapped(answer: dict[str, Any]) -> None:
    """Turn each edge."""
    for step in answer["traversal"]:
        step |= {"source": step["target"], "target": step["source"]}


def related(answer: dict[str, Any]) -> None:
    """Give each edge a relation that the storefront has nowhere."""
    for step in answer["traversal"]:
        step["relation"] = "USES"


@pytest.mark.parametrize(
    ("run", "ids", "edges"),
    [
        # Distinct ids, and edges with repeats, counted by a script of its own that reads nothing but the JSON.
        ("bm25", (137, 135, 58, 135, 132), (0, 0, 0, 0)),
        ("graph", (136, 133, 66, 133, 131), (1547, 0, 0, 23)),
        ("graph-v2", (141, 141, 86, 141, 140), (864, 0, 0, 0)),
    ],
)
def test_runs_of_the_storefront(run: str, ids: tuple[int, ...], edges: tuple[int, ...]) -> None:
    """Nearly every id is known and nearly every edge held forward, and so nothing is made of it."""
    found = share(STOREFRONT / "runs" / f"storefront-{run}.jsonl")
    assert tuple(found.ids.values()) == ids
    assert found.edges is not None
    assert tuple(found.edges.values()) == edges
    assert (found.records, found.all_records, found.meaning) == (SHOP_QUESTIONS, True, None)


@pytest.mark.parametrize(
    ("change", "known", "edges", "of", "words"),
    [
        (
            renamed(str.upper),
            0,
            (0, 0, 0, 864),
            "ids",
            # The first id of the run, in sf-01.
            "they differ in letter case, as 'WEB:SRC/CATALOG.TS#LISTPRODUCTS', where the dataset has such as "
            "'web:src/catalog.ts#listProducts'",
        ),
        (
            renamed(lambda name: f"4:8718b093-462d-48a1-90a9-c49cd235a8be:{len(name)}"),
            0,
            (0, 0, 0, 864),
            "ids",
            "these are elementIds of Neo4j",
        ),
        (
            renamed(lambda name: name.replace("/", ".").replace(":", "::")),
            0,
            (0, 0, 0, 864),
            "ids",
            "they have another form, as 'web::src.catalog.ts#listProducts', where the dataset has such as "
            "'web:src/catalog.ts#listProducts'",
        ),
        (swapped, 141, (0, 864, 0, 0), "edges", "most edges point the other way"),
        (related, 141, (0, 0, 864, 0), "edges", "most edges have another relation in the knowledge graph"),
    ],
)
def test_what_hardly_known_means(
    change: Change, known: int, edges: tuple[int, ...], of: str, words: str, tmp_path: Path
) -> None:
    """Unknown ids and edges are reported with the likely reason, an example and the closest id."""
    found = changed(tmp_path, change)
    assert found.ids["known"] == known
    assert found.edges is not None
    assert tuple(found.edges.values()) == edges
    assert found.meaning is not None
    assert found.meaning.of == of
    assert words in str(found.meaning)
    # Edges that lie otherwise say nothing about ranks, and no id about what the answer says.
    explained = [name for name in ("EdgeRecall", "nDCG@10", "Completeness") if found.explains(name)]
    assert explained == (["EdgeRecall", "nDCG@10"] if of == "ids" else ["EdgeRecall"])


def numbered(answer: dict[str, Any]) -> None:
    """Give the retrieved chunks numbers as ids, and leave the walk as it is."""
    first = 100 * int(answer["question_id"].removeprefix("sf-"))
    answer["retrieved"] = [{**chunk, "id": first + rank} for rank, chunk in enumerate(answer["retrieved"])]


def by_last_name(answer: dict[str, Any]) -> None:
    """Name the ends of each edge without file and repository, and leave the chunks as they are."""
    for step in answer["traversal"]:
        step |= {end: "::" + step[end].rpartition("#")[2] for end in ("source", "target")}


def linked_by_number(answer: dict[str, Any]) -> None:
    """Link the question to a node by an elementId of Neo4j."""
    answer["seeds"] = [f"4:6e1d2f0c-1c5d-4c39-9c7e-0b1f6d9d8a77:{answer['question_id'].removeprefix('sf-')}"]


@pytest.mark.parametrize(
    ("change", "of", "words", "explained"),
    [
        (numbered, "chunks", "hardly an id that was retrieved is known: they have another form, as '100'", ["nDCG@10"]),
        (
            by_last_name,
            "edges",
            "hardly an end of the traversed edges is known: they have another form, as '::",
            ["EdgeRecall", "PathPrefix"],
        ),
        (linked_by_number, "seeds", "hardly an id that questions were linked to is known: ", ["SeedRecall"]),
    ],
)
def test_one_of_chunks_and_edges_has_other_ids(
    change: Change, of: str, words: str, explained: list[str], tmp_path: Path
) -> None:
    """Known ids of the walk don't hide that no chunk's is known, nor the other way round."""
    found = changed(tmp_path, change)
    assert found.ids["known"] > found.ids["all"] / 10
    assert found.meaning is not None
    assert found.meaning.of == of
    assert str(found.meaning).startswith(words)
    assert [name for name in ("EdgeRecall", "PathPrefix", "nDCG@10", "SeedRecall") if found.explains(name)] == explained


def test_few_ids_mean_nothing(tmp_path: Path) -> None:
    """Three to nine ids give a warning if none is known; of ten, one known id prevents it."""
    artifacts = [{"id": "n0"}]

    def meaning(names: range) -> str | None:
        answers = [{"run": "r", "question_id": "q1", "retrieved": [f"n{number}" for number in names]}]
        found = of_tiny(tmp_path, answers=answers, artifacts=artifacts).meaning
        return found.what if found is not None else None

    assert meaning(range(1, 3)) is None  # two, none known
    assert meaning(range(1, 4)) == "hardly an id is known"  # three, none known
    assert meaning(range(9)) is None  # one of nine
    assert meaning(range(1, 11)) == "hardly an id is known"
    assert meaning(range(10)) is None  # one of ten is 10 %
    assert meaning(range(11)) == "hardly an id is known"


def test_gold_alone(tmp_path: Path) -> None:
    """If only gold says which ids there are, a system may rightly find many others: one that is gold is enough."""
    answers = [{"run": "r", "question_id": "q1", "retrieved": ["a:m.py#x", *(f"n{number}" for number in range(50))]}]
    found = of_tiny(tmp_path, answers=answers)
    assert found.line == "1 of 51 ids are known (gold 1, artifacts 0, edges 0); the dataset lists its gold alone"
    assert found.meaning is None
    answers[0]["retrieved"] = [f"n{number}" for number in range(50)]
    assert of_tiny(tmp_path, answers=answers).meaning is not None


def test_relations_are_compared_as_they_are_scored(tmp_path: Path) -> None:
    """Another spelling of a relation is another relation, and none fits any: so it is when edges are scored."""
    edges = [{"source": "a", "relation": "CALLS", "target": "b"}]
    walk = [{"source": "a", "relation": relation, "target": "b"} for relation in ("CALLS", "calls", None)]
    answers = [{"run": "r", "question_id": "q1", "traversal": walk}]
    found = of_tiny(tmp_path, answers=answers, edges=edges)
    assert found.edges == {"forward": 2, "reversed": 0, "other": 1, "unknown": 0, "untyped": 1}
    assert "edges: 2 forward (1 untyped: compared without their relation), 0 reversed" in found.line
    assert found.line.endswith("0 not in the knowledge graph; the dataset lists no artifacts")


def test_the_first_records_are_looked_at(tmp_path: Path) -> None:
    """Only the first thousand records of a long run are examined, and the message says so."""
    asked = [{**QUESTIONS[1], "id": f"q{number}"} for number in range(1001)]
    answers = [{"run": "r", "question_id": f"q{number}", "retrieved": [f"n{number}"]} for number in range(1001)]
    answers[0]["retrieved"] = ["a:m.py#w"]
    found = of_tiny(tmp_path, questions=asked, answers=answers)
    assert (found.records, found.all_records, found.ids["all"]) == (1000, False, 1000)
    assert found.line.endswith(" (of the first 1,000 records)")


def test_a_pipe(tmp_path: Path) -> None:
    """A run that comes by a pipe was read when it was scored: nobody waits for it to come again."""
    tiny(tmp_path)
    pipe = tmp_path / "runs" / "pipe.jsonl"
    os.mkfifo(pipe)
    assert known_share(Dataset(tmp_path), pipe) is None


def test_no_ids(tmp_path: Path) -> None:
    """A run that holds none says so, in words and in the result of the library."""
    run = tiny(tmp_path, answers=[{"run": "r", "question_id": "q1", "answer": "x"}])
    known = graphkit.evaluate(run, on_error="skip").known
    assert known is not None
    assert (known.line, known.meaning) == ("no record holds an id", None)


def test_an_edge_is_known_at_some_commits(tmp_path: Path) -> None:
    """An edge until v1 is in the graph for a walk at v1, and for one that says no commit, but not for one at v2."""
    held = {"source": "a:x", "relation": "R", "target": "a:y"}
    commits = [{"repo": "a", "sha": "v1"}, {"repo": "a", "sha": "v2", "parents": ["v1"]}]
    walks: list[dict[str, Any]] = [{"source_commit": "v1"}, {}, {"source_commit": "v2"}]
    questions = [{"id": f"q{number}", "question": "Q?", "paths": [[[*held.values()]]]} for number in range(3)]
    answers = [
        {"run": "r", "question_id": f"q{number}", "traversal": [held | commit]} for number, commit in enumerate(walks)
    ]
    write_jsonl(tmp_path / "edges.jsonl", [held | {"until": "v1"}])
    found = of_tiny(tmp_path, questions=questions, answers=answers, commits=commits)
    assert found.edges == {"forward": 2, "reversed": 0, "other": 0, "unknown": 1}
    assert found.line.endswith("; held only at other commits than they were walked at: 1")
