"""The start of a walk by hand: the gold seeds that count, what was linked, and why a path broke at its start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.measures.base import Unscored
from graphkit.measures.case import Case
from graphkit.measures.crossings import crossings
from graphkit.measures.outcome import stage_of
from graphkit.measures.registry import parse_measure
from graphkit.measures.seeds import NO_GOLD_SEED, NO_SEEDS, NOTHING_LINKED, not_linked
from graphkit.records.access_rules import AccessRules
from graphkit.records.models import AccessRule
from tests.helpers.cases import first_cause
from tests.helpers.datasets import write_jsonl
from tests.records.samples import answer, question

Fields = dict[str, Any]

A, B, C, D = "web:a.ts#login", "api:b.py#login", "api:c.py", "db:d.sql"


def path(*nodes: str, optional: int = 0, **fields: object) -> Fields:
    """Return a gold path through some nodes, of whose steps the first ones are optional."""
    pairs = enumerate(zip(nodes, nodes[1:], strict=False))
    steps = [{"source": one, "relation": "R", "target": two, "optional": at < optional} for at, (one, two) in pairs]
    return {"steps": steps, **fields}


def scores(gold: Fields, seeds: object, **fields: object) -> list[float | str]:
    """Return recall, precision and reciprocal rank."""
    case = Case(question(**gold), answer(**({} if seeds is None else {"seeds": seeds}), **fields))
    found = [parse_measure(name).score(case) for name in ("SeedRecall", "SeedPrecision", "SeedReciprocalRank")]
    return [one.reason if isinstance(one, Unscored) else one for one in found]


TWO = {"paths": [path(A, C), path(D, C)]}
EITHER = {"paths": [path(A, C, id="1", group="g"), path(B, C, D, id="2", group="g")]}


@pytest.mark.parametrize(
    ("gold", "seeds", "expected"),
    [
        # Both paths begin elsewhere; of three ids the second is one of the two starts.
        (TWO, [B, D, C], [1 / 2, 1 / 3, 1 / 2]),
        # A repeat counts once, and keeps its rank: the first start stands at rank 3.
        (TWO, [B, B, A], [1 / 2, 1 / 2, 1 / 3]),
        (TWO, [], [0, NOTHING_LINKED, 0]),
        (TWO, None, [NO_SEEDS] * 3),
        # Of alternatives the start counts that was linked first: B, so that A is no start here.
        (EITHER, [B, A], [1, 1 / 2, 1]),
        (EITHER, [C, A], [1, 1 / 2, 1 / 2]),
        (EITHER, [C], [0, 0, 0]),
        # An optional step may lead to the start: the path begins at B, whether or not A was linked.
        ({"paths": [path(A, B, C, optional=1)]}, [A], [0, 0, 0]),
        ({"paths": [path(A, B, C, optional=1)]}, [B], [1, 1, 1]),
        # The question's own seeds are all required, whatever its paths.
        ({**TWO, "seeds": [B, C]}, [A, C], [1 / 2, 1 / 2, 1 / 2]),
        ({"seeds": [B]}, [B], [1, 1, 1]),
        # Two paths with one start have one gold seed.
        ({"paths": [path(A, C), path(A, D)]}, [A], [1, 1, 1]),
        ({}, [A], [NO_GOLD_SEED] * 3),
        ({"paths": [path(A, B, optional=1)]}, [A], [NO_GOLD_SEED] * 3),
        # Paths that hold at commits of their own: a seed matches by id.
        ({"paths": [path(A, C, commits={"web": "1"}), path(A, D, commits={"web": "2"})]}, [A], [1, 1, 1]),
    ],
)
def test_seed_measures(gold: Fields, seeds: object, expected: list[float | str]) -> None:
    """The three measures, worked by hand."""
    assert scores(gold, seeds) == expected


def test_forms_of_seeds() -> None:
    """Seeds are ids, objects, or an object of ids with mentions or scores; a failed record is not scored."""
    for seeds in ([A], [{"id": A, "score": 0.5, "mention": "log in"}], {A: "log in"}, {A: 0.5}, {A: None}):
        assert scores({"paths": [path(A, C)]}, seeds) == [1, 1, 1]
    assert scores({"paths": [path(A, C)]}, [A], error="timeout") == ["failed: timeout"] * 3


def rows(gold: Fields, seeds: object, walk: list[list[str]]) -> list[tuple[object, ...]]:
    """Return position, start, seed and namesake of each path that broke at its start."""
    found = not_linked(Case(question(**gold), answer(seeds=seeds, traversal=walk)))
    return [tuple(row[name] for name in ("path", "position", "start", "seed", "namesake")) for row in found]


ONE = {"paths": [path(A, C, D, id="p")]}


@pytest.mark.parametrize(
    ("seeds", "walk", "expected"),
    [
        # B has A's symbol in another repository, and goes before the better seed.
        ([D, B], [], [("p", 0, A, B, True)]),
        ([D], [], [("p", 0, A, D, False)]),
        ([], [], [("p", 0, A, None, False)]),
        # Joined behind its start: the first step is missed since the walk began elsewhere.
        ([C], [[C, D]], [("p", 0, A, C, False)]),
        # Linked, or come to all the same: the step was missed for another reason.
        ([D, A], [], []),
        ([D], [[D, A]], []),
        ([D], [[A, C]], []),
        # Without seeds nothing is known; with every step nothing is missed.
        (None, [], []),
        ([D], [[A, C, D]], []),
    ],
)
def test_not_linked(seeds: object, walk: list[list[str]], expected: list[tuple[object, ...]]) -> None:
    """A path broke for its start only if the walk neither began there nor came to where it broke."""
    assert rows(ONE, seeds, walk) == expected


def test_linked_to_the_start_of_an_alternative() -> None:
    """Its seeds have the recall 1, so the question was linked: neither of two ways was walked for another reason."""
    either = {"paths": [path(A, C, D, id="p", group="g"), path(B, D, id="o", group="g")]}
    recall = parse_measure("SeedRecall")
    assert recall.score(Case(question(**either), answer(seeds=[D, B], traversal=[]))) == 1
    assert rows(either, [D, B], []) == []
    assert rows(either, [D], [["x", "R", B]]) == []
    # B -> D requires fewer edges, and goes first.
    assert rows(either, [C], []) == [("o", 0, B, C, False)]


def test_the_cause_names_a_namesake() -> None:
    """The sentence names both nodes so that they differ, and the remedy says to tell namesakes apart."""
    case = Case(question(**ONE), answer(seeds=[D, B], traversal=[[D, B]], retrieved=[]))
    found = first_cause(case)
    assert found is not None
    assert found.kind == "not linked"
    assert found.sentence == (
        "broke at step 1: linked the question to `b.py#login`, a namesake of `a.ts#login`; "
        "the walk came to a node of the path, but took no step of it"
    )
    assert found.remedy == (
        "For step 1, link the question to `a.ts#login`. Tell namesakes apart by their repository and path."
    )
    assert stage_of(case).name == "not linked"
    # Seeds that aren't logged, and a start to which an earlier turn came, leave both to the next one.
    before = [{"source": C, "relation": "R", "target": A, "path": 1}]
    for more in ({}, {"seeds": [D], "walked_before": before}):
        other = Case(question(**ONE), answer(traversal=[[D, B]], retrieved=[], **more))
        assert [first_cause(other).kind, stage_of(other).name] == ["not retrieved"] * 2  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("walk", "seeds", "expected"),
    [
        ([[D, B]], {}, (NO_SEEDS,)),
        # It was linked to the start, or the walk is whole: nothing to say.
        ([[D, B]], {"seeds": [A]}, ()),
        ([[A, "R", C], [C, "R", D]], {}, ()),
    ],
)
def test_why_says_that_seeds_are_not_logged(
    tmp_path: Path, walk: list[list[str]], seeds: Fields, expected: tuple[str, ...]
) -> None:
    """Where a path broke, ``why`` says whether it is unknown what the question was linked to."""
    write_jsonl(tmp_path / "questions.jsonl", [{"id": "q", "question": "?", **ONE}])
    record = {"run": "r", "question_id": "q", "traversal": walk, **seeds}
    found = graphkit.why(write_jsonl(tmp_path / "runs" / "r.jsonl", [record]), "q")
    assert found.unlinked == expected
    assert found.as_json().get("unlinked", ()) == expected
    assert "unlinked" not in found.as_json()["untrusted"]  # these are graphkit's own words, so they aren't quoted
    assert [line for line in found.lines() if "walk began" in line] == [
        f"where the walk began: {one}" for one in expected
    ]


def test_a_seed_is_seen() -> None:
    """A seed that the principal may not read crosses the line, behind the walk and before calls."""
    rights = AccessRules({"p": AccessRule(principal="p", allow=("web:*",))}).of("p")
    case = Case(question(principal="p"), answer(seeds=[A, D], traversal=[]))
    assert [(one.part, one.position, one.node) for one in crossings(case, rights)] == [("seed", 1, D)]
