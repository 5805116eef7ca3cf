"""Sampled questions without an answer, and the checks of absent edges: against a closure that the test computes."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.plugins.gold.datasets.dataset_checks import check_dataset
from graphkit.plugins.gold.unanswerable import AbsenceCandidate, Sampler
from tests.helpers.cli import inside
from tests.helpers.datasets import STOREFRONT, read_jsonl, write_jsonl

KINDS = ["unreached", "turned", "unrelated", "other version"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the storefront, with the graphs of two stacks."""
    copy = tmp_path_factory.mktemp("sampled") / "shop"
    shutil.copytree(STOREFRONT, copy, ignore=shutil.ignore_patterns("*.py", "history", "runs"))
    return copy


@pytest.fixture(scope="module")
def sampler(shop: Path) -> Sampler:
    """What draws from the storefront."""
    return Sampler.of(Dataset(shop), Problems())


def edges_of(shop: Path, stack: str | None) -> list[tuple[str, str, str]]:
    """Return the edges of a stack's graph as its file has them."""
    return [(one["source"], one["relation"], one["target"]) for one in read_jsonl(shop / f"edges-{stack}.jsonl")]


def reached(edges: list[tuple[str, str, str]], start: str) -> set[str]:
    """Return what is reached from a node: all edges over and over, until nothing is new."""
    found, before = {start}, 0
    while len(found) > before:
        before = len(found)
        found |= {target for source, _, target in edges if source in found}
    return found


def test_each_candidate_is_proved(shop: Path, sampler: Sampler) -> None:
    """Of all kinds, what a candidate says is absent is absent, by the files and a closure that the test computes."""
    drawn = sampler.candidates(40, seed=7)
    assert {one.kind for one in drawn} == set(KINDS)
    assert [one.kind for one in drawn[:4]] == KINDS
    assert len({one.question for one in drawn}) == len(drawn) == 40
    for one in drawn:
        edges = edges_of(shop, one.stack)
        if one.absent is not None:
            source, _, target = one.absent
            assert one.absent not in edges
        if one.kind == "unreached":
            assert target not in reached(edges, source)
            assert f"{len(edges)} edges" in one.proof
        elif one.kind == "turned":
            assert not [edge for edge in edges if edge[::2] == (source, target)]
            assert [edge for edge in edges if edge[::2] == (target, source)]
        elif one.kind == "unrelated":
            _check_kinds(shop, one, edges)
        else:
            node = one.question.removeprefix("What does ").removesuffix(" do?")
            holds = {
                name: node in {row["id"] for row in read_jsonl(shop / f"artifacts-{name}.jsonl")} for name in STACKS
            }
            assert [name for name, there in holds.items() if not there] == [one.stack]


STACKS = ("stack-1", "stack-2")


def _check_kinds(shop: Path, one: AbsenceCandidate, edges: list[tuple[str, str, str]]) -> None:
    assert one.absent is not None
    kinds = {row["id"]: row.get("kind") for row in read_jsonl(shop / f"artifacts-{one.stack}.jsonl")}
    pair = kinds[one.absent[0]], kinds[one.absent[2]]
    assert one.absent[1] not in {edge[1] for edge in edges if (kinds[edge[0]], kinds[edge[2]]) == pair}


def test_a_seed_gives_the_same_sample(sampler: Sampler) -> None:
    """The same seed draws the same candidates, another one others."""
    assert sampler.candidates(12, seed=3) == sampler.candidates(12, seed=3) != sampler.candidates(12, seed=4)


def test_a_person_decides_in_a_sheet(shop: Path, tmp_path: Path) -> None:
    """Accepted candidates become questions that check finds sound, a sheet may be read twice, and a typo is refused."""
    copy, sheet = tmp_path / "shop", tmp_path / "sheet.csv"
    shutil.copytree(shop, copy)
    words = ("gold", "sample", copy, "--unanswerable", "--count", "4", "--decisions", sheet)
    assert "4 candidates (1 unreached, 1 turned, 1 unrelated, 1 other version)" in inside(*words, cwd=tmp_path).out
    with sheet.open(newline="") as stream:
        rows = list(csv.DictReader(stream))

    def decide(*decisions: str) -> None:
        with sheet.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, rows[0].keys())
            writer.writeheader()
            writer.writerows(row | {"decision": one} for row, one in zip(rows, decisions, strict=True))

    decide("accept", "a", "reject", "")
    done = json.loads(inside(*words, "--json", cwd=tmp_path).out)
    assert done == {"added": ["unanswerable-1", "unanswerable-2"], "rejected": 1, "undecided": 1}
    added = read_jsonl(copy / "questions.jsonl")[-2:]
    assert [(one["answerable"], one["why_not"]) for one in added] == [(False, "no path"), (False, "false premise")]
    assert json.loads(inside(*words, "--json", cwd=tmp_path).out)["added"] == []
    found = [one for one in check_dataset(copy).findings if one.question in done["added"]]
    assert [one for one in found if one.level == "invalid"] == []
    decide("accept", "perhaps", "", "")
    assert "'perhaps' is no decision" in inside(*words, cwd=tmp_path, code=2).err


def _set(folder: Path, *questions: dict[str, Any]) -> list[tuple[str, str | None, str]]:
    """Return what check says of the absence of questions over a -R-> b -R-> c."""
    write_jsonl(
        folder / "questions.jsonl", [{"question": f"{one['id']}?", "answerable": False} | one for one in questions]
    )
    edges = [{"source": source, "relation": "R", "target": target} for source, target in ("ab", "bc")]
    write_jsonl(folder / "edges.jsonl", edges)
    return [(one.level, one.question, one.what) for one in check_dataset(folder).findings if one.kind == "absence"]


def test_check_verifies_by_the_graph(tmp_path: Path) -> None:
    """An edge that is there, and a path where none should be, make a question invalid; what isn't known is said."""
    path = "a -R-> c: it is absent, but another path joins its ends: a -R-> b -R-> c"
    assert _set(
        tmp_path,
        {"id": "there", "why_not": "false premise", "absent": [["a", "R", "b"]]},
        {"id": "joined", "why_not": "no path", "absent": [["a", "R", "c"]]},
        {"id": "premise", "why_not": "false premise", "absent": [["a", "R", "c"]]},
        {"id": "sound", "why_not": "no path", "absent": [["c", "R", "a"]]},
        {"id": "unknown", "why_not": "no path", "absent": [["a", "R", "z"]]},
        {"id": "bare", "why_not": "not in the set"},
    ) == [
        (
            "note",
            None,
            "1 question without an answer, and without absent edges: no graph can verify that there is none",
        ),
        ("invalid", "there", "a -R-> b: it is listed as absent, and the knowledge graph holds it"),
        ("invalid", "joined", path),
        ("note", "premise", path),
        ("note", "unknown", "a -R-> z: absent, since the knowledge graph doesn't know z"),
    ]
    (tmp_path / "edges.jsonl").unlink()
    said = [one.what for one in check_dataset(tmp_path).findings if one.kind == "absence"]
    assert said[1] == "absent edges of 5 questions aren't verified: the dataset has no knowledge graph with edges"


def test_an_edge_of_another_version_is_absent(tmp_path: Path) -> None:
    """x:a reads x:b until v1 and x:c since v2, and x:d until v3, whose order isn't known.

    At v2 the edge to x:b is absent, and no path leads there; at v1 it is there, and so it is without a commit. At v2
    the graph can't tell of x:d. An edge that one line dates and another doesn't always exists.
    """
    folder = tmp_path / "sets"
    commits = [{"repo": "x", "sha": str(number) * 40, "tags": [f"v{number}"]} for number in (1, 2, 3)]
    commits[1]["parents"] = ["1" * 40]
    spans: list[tuple[str, dict[str, str]]]
    spans = [("b", {"until": "v1"}), ("c", {"since": "v2"}), ("d", {"until": "v3"}), ("e", {"until": "v1"}), ("e", {})]
    edges = [{"source": "x:a", "relation": "R", "target": f"x:{end}", **span} for end, span in spans]
    asked = {
        "at-2": ("b", "v2"),
        "at-1": ("b", "v1"),
        "any": ("b", None),
        "unknown": ("d", "v2"),
        "always": ("e", "v2"),
    }
    questions = [
        {
            "id": name,
            "question": f"{name}?",
            "answerable": False,
            "why_not": "no path",
            "absent": [["x:a", "R", f"x:{end}"]],
        }
        | ({"commits": {"x": at}} if at else {})
        for name, (end, at) in asked.items()
    ]
    for name, rows in (("questions", questions), ("edges", edges), ("commits", commits)):
        write_jsonl(folder / f"{name}.jsonl", rows)
    found = [one for one in check_dataset(folder).findings if one.kind == "absence"]
    assert [(one.level, one.question) for one in found] == [
        *(("invalid", "at-1"), ("invalid", "any"), ("note", "unknown"), ("invalid", "always"))
    ]
    assert found[2].what.endswith("if it exists at its commits, which the known parents don't tell")


def test_gold_of_others_is_a_witness(tmp_path: Path) -> None:
    """Gold that holds an absent edge contradicts it, even without a graph; a trace and another version only say so."""
    absent: dict[str, Any] = {"answerable": False, "why_not": "false premise"}
    trace = {"source": "d", "relation": "R", "target": "e", "evidence": "trace"}
    questions: list[dict[str, Any]] = [
        {"id": "gold", "paths": [{"steps": [["a", "R", "b"]]}, {"steps": [trace]}]},
        {"id": "old", "commits": {"r": "v1"}, "paths": [{"steps": [["g", "R", "h"]]}]},
        {"id": "new", "commits": {"r": "v2"}, "paths": [{"steps": [["g", "R", "h"]]}]},
        {"id": "same", **absent, "absent": [["a", None, "b"]]},
        # That of the same version counts, although the gold of "old" comes first.
        {"id": "later", **absent, "commits": {"r": "v2"}, "absent": [["g", "R", "h"]]},
        {"id": "other-relation", **absent, "absent": [["a", "S", "b"], ["b", "R", "a"]]},
        {"id": "seen", **absent, "absent": [["d", "R", "e"]]},
        {"id": "version", **absent, "absent": [["g", "R", "h"]]},
        {"id": "same-version", **absent, "commits": {"r": "v1"}, "absent": [["g", "R", "h"]]},
        # The sha that the tag names.
        {"id": "same-sha", **absent, "commits": {"r": "1" * 40}, "absent": [["g", "R", "h"]]},
    ]
    write_jsonl(tmp_path / "commits.jsonl", [{"repo": "r", "sha": "1" * 40, "tags": ["v1"]}])
    write_jsonl(tmp_path / "questions.jsonl", [{"question": f"{one['id']}?"} | one for one in questions])
    found = [one for one in check_dataset(tmp_path).findings if one.kind == "absence" and "the gold of" in one.what]
    assert [(one.level, one.question, one.what.partition("absent, and ")[2]) for one in found] == [
        ("invalid", "same", "the gold of 'gold' holds it"),
        ("invalid", "later", "the gold of 'new' holds it"),
        ("note", "seen", "the gold of 'gold' holds it by a trace"),
        ("note", "version", "the gold of 'old' holds it, at another version perhaps"),
        ("invalid", "same-version", "the gold of 'old' holds it"),
        ("invalid", "same-sha", "the gold of 'old' holds it"),
    ]


def test_without_a_graph_nothing_is_sampled(tmp_path: Path) -> None:
    """A dataset without edges proves nothing."""
    write_jsonl(tmp_path / "questions.jsonl", [{"id": "q", "question": "?"}])
    words = ("gold", "sample", tmp_path, "--unanswerable", "--decisions", tmp_path / "sheet.csv")
    assert "no knowledge graph with edges" in inside(*words, cwd=tmp_path, code=2).err
