"""The ranking where ids of another granularity than the gold's count: cases worked by hand, and its bounds."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.errors import MeasureError
from graphkit.measures.base import Unscored
from graphkit.measures.case import Case
from graphkit.measures.containment import by_containment
from graphkit.measures.registry import parse_measure
from graphkit.measures.unscored import NO_LINES, NO_RELEVANT, NO_RETRIEVAL
from graphkit.records.commits import CommitGraph
from graphkit.records.ids import Places, StatedArtifact
from tests.helpers.cases import answer, ranking, reason, relevant, unlogged, value
from tests.helpers.properties import examples

#: The measures of the ranking, and the cut-off of those that have one.
FAMILY = ("Success@3", "Acc@3", "Recall@3", "P@3", "Rprec", "RR", "AP", "nDCG@3", "RetrievedF1")


def contained(measure: str) -> str:
    """Return the text of a measure that counts containment."""
    name, at, k = measure.partition("@")
    return f"{name}(match='containment'){at}{k}"


def values(asked: object, run: object) -> dict[str, float]:
    """Return the values of all measures of the ranking."""
    return {one: value(contained(one), asked, run) for one in FAMILY}  # type: ignore[arg-type]


def test_a_coarse_id_brings_all_that_it_holds() -> None:
    """A file holds two relevant symbols, which recall counts both and precision once."""
    asked = relevant(["x:a.py#f", "x:a.py#g", "x:b.py#h"])
    # Rank 2 brings f and g. Of 3 symbols 2 are found; of 3 ids 1 is relevant. Up to rank 2 the precision is 1/2, for
    # each of the two. nDCG: one id with the gain 2 at rank 2, ideally at rank 1 with the missing 1 behind it.
    found = values(asked, ranking("x:c.py", "x:a.py", "x:a.py#f"))
    ndcg = (2 / math.log2(3)) / (2 + 1 / math.log2(3))
    # The harmonic mean of the precision 1/3 and the recall 2/3 is 4/9.
    expected = {"Success@3": 1.0, "Acc@3": 0.0, "Recall@3": 2 / 3, "P@3": 1 / 3, "Rprec": 2 / 3, "RR": 1 / 2}
    assert found == pytest.approx({**expected, "AP": (1 / 2 + 1 / 2) / 3, "nDCG@3": ndcg, "RetrievedF1": 4 / 9})


def test_fine_ids_bring_a_relevant_file_once() -> None:
    """Three chunks of one relevant file are that file at the first of their ranks; the others add nothing."""
    asked = relevant({"x:a.py": 2, "x:b.py": 1})
    found = values(asked, ranking("x:a.py:1-9", "x:a.py#f", "x:a.py#L10-L20"))
    # 1 of 2 files at rank 1; 1 of 3 ids is relevant. nDCG: 2 of the ideal 2 + 1/log2(3).
    expected = {"Success@3": 1.0, "Acc@3": 0.0, "Recall@3": 1 / 2, "P@3": 1 / 3, "Rprec": 1 / 2, "RR": 1.0}
    ndcg = 2 / (2 + 1 / math.log2(3))
    assert found == pytest.approx({**expected, "AP": 1 / 2, "nDCG@3": ndcg, "RetrievedF1": 2 * 1 / (3 + 2)})


def test_a_perfect_coarse_ranking_is_perfect() -> None:
    """One file that holds all relevant symbols has the value 1, but for P@3, which divides by 3."""
    found = values(relevant(["x:a.py#f", "x:a.py#g", "x:a.py#h"]), ranking("x:a.py"))
    assert {one for one, number in found.items() if number != 1.0} == {"P@3"}
    assert value("RetrievedF1(match='containment', exact=True)", relevant(["x:a.py#f"]), ranking("x:a.py")) == 1.0


def test_equal_ids_have_their_usual_values() -> None:
    """If no id holds another, both kinds of comparison agree; opaque ids are no places."""
    asked, run = relevant({"a": 1, "b": 3, "c": 0}), ranking("x", "b", "a", "c", "b")
    for one in FAMILY:
        assert value(contained(one), asked, run) == value(one, asked, run), one


def test_ranges_of_lines_overlap() -> None:
    """Chunks of lines bring the range that they overlap, and a repeat brings nothing."""
    asked = relevant(["x:a.py:10-20", "x:a.py:30-40"])
    assert value("Recall(match='containment')@5", asked, ranking("x:a.py:1-9", "x:a.py:20-25")) == 1 / 2
    assert value("P(match='containment')@2", asked, ranking("x:a.py:15-35", "x:a.py:31-50")) == 1 / 2


def stating(artifacts: dict[str, StatedArtifact]) -> Places:
    """Return the places of a dataset whose knowledge graph states artifacts."""
    return Places(stated=lambda: {"": artifacts})


def test_symbols_have_the_lines_of_the_graph() -> None:
    """A range overlaps a symbol at the lines that the knowledge graph states; without them nobody knows."""
    asked, run = relevant(["x:a.py#f"]), ranking("x:a.py:5-9")
    for lines, expected in ((8, 12), 1.0), ((10, 12), 0.0):
        commits = CommitGraph(places=stating({"x:a.py#f": StatedArtifact(lines)}))
        assert value("RR(match='containment')", asked, run, commits) == expected
    for one in FAMILY:
        assert reason(contained(one), asked, run) == NO_LINES
    # The symbol was found at rank 1 for certain, so that the range can't bring it any more.
    assert value("RR(match='containment')", asked, ranking("x:a.py#f.g", "x:a.py:5-9")) == 1.0


def test_a_chunk_with_a_name_of_its_own_is_a_part_of_its_file() -> None:
    """It brings the file that holds it; of what else is in the file nobody knows, so no run gains by such names."""
    for name in ("chunk-17", "a.py::3"):
        run = answer(retrieved=[{"id": name, "repo": "x", "path": "a.py"}])
        assert value("Recall(match='containment')@5", relevant(["x:a.py"]), run) == 1.0
        for one in FAMILY:
            assert reason(contained(one), relevant(["x:a.py#f", "x:a.py#g"]), run) == NO_LINES
    for name in ("x:a.py", "a.py"):  # the file itself
        run = answer(retrieved=[{"id": name, "repo": "x", "path": "a.py"}])
        assert value("Recall(match='containment')@5", relevant(["x:a.py#f", "x:a.py#g"]), run) == 1.0


def test_the_edges_of_the_domain() -> None:
    """Nothing relevant, nothing logged, and nothing retrieved are as in the usual comparison."""
    assert reason("RR(match='containment')", relevant([]), ranking("x:a.py")) == NO_RELEVANT
    assert reason("nDCG(match='containment')@5", relevant(["x:a.py"]), unlogged()) == NO_RETRIEVAL
    assert value("nDCG(match='containment')@5", relevant({"x:a.py": 0}), ranking("x:a.py#f")) == 0.0
    assert value("Recall(match='containment')@5", relevant(["x:a.py"]), ranking()) == 0.0


def test_evidence_sets_and_levels_by_containment() -> None:
    """The best of the evidence sets counts, and a level is compared by containment as well."""
    asked = relevant(["x:b.py#g"], evidence_sets=[["x:a.py#f", "x:a.py#g"], ["x:b.py#g", "x:c.py"]])
    run = ranking("x:a.py", "x:b.py")
    assert value("Recall(sets=True, match='containment')@5", asked, run) == 1.0
    # At the level of modules the file has none; the symbol Cart.add is in the module Cart.
    assert (
        value(
            "RR(level='module', match='containment')", relevant(["x:a.py#Cart"]), ranking("x:a.py", "x:a.py#Cart.add")
        )
        == 1.0
    )


def test_the_text_of_a_measure() -> None:
    """It prints to the text that names it, has no Cypher form and no target, and knows two kinds of comparison."""
    measure = parse_measure("ndcg(match='containment')@10")
    assert (str(measure), measure.query, measure.thresholds().target) == ("nDCG(match='containment')@10", None, None)
    with pytest.raises(MeasureError, match="match must be one of exact, containment, not 'prefix'"):
        parse_measure("nDCG(match='prefix')@10")


#: Ids of two files, their symbols and lines, so that many hold each other. Symbols and lines are of different files.
IDS = st.sampled_from(
    [
        *(f"x:a.py{one}" for one in ("", "#A", "#A.f", "#A.g", "#B", "#B.f")),
        *(f"x:b.py{one}" for one in ("", ":1-10", ":5-7", ":8-20", "#L1-L3", ":30-40")),
        *("doc-1", "doc-2"),
    ]
)


@examples(1000)
@given(
    st.dictionaries(IDS, st.sampled_from([0.5, 1.0, 3.0]), min_size=1, max_size=6), st.lists(IDS, max_size=8), st.data()
)
def test_containment_never_counts_an_id_twice(
    gold: dict[str, float], retrieved: list[str], data: st.DataObject
) -> None:
    """Neither an id nor a relevant one counts twice, nothing exceeds 1, and exact hits are hits."""
    asked, run = relevant(gold), ranking(*retrieved)
    case = by_containment(Case(asked, run))
    ranks = [rank for rank, _ in case.found]
    assert len(ranks) == len({*ranks}) <= len({*retrieved})
    assert len(case.hits) <= len(gold)
    assert math.isclose(math.fsum(gain for _, gain in case.hits), math.fsum(gain for _, gain in case.found))
    assert math.isclose(math.fsum(case.ideal), math.fsum(gold.values()))
    k = data.draw(st.integers(1, 9))
    for name in ("Success", "Acc", "Recall", "P", "Rprec", "RR", "AP", "nDCG", "RetrievedF1"):
        at = f"@{k}" if name in ("Success", "Acc", "Recall", "P", "nDCG") else ""
        found = value(f"{name}(match='containment'){at}", asked, run)
        assert 0.0 <= found <= 1.0 + 1e-12, name
        if name in ("Success", "Acc", "Recall", "Rprec", "RR"):
            assert found >= value(f"{name}{at}", asked, run), name
    # A chunk more at the end of the ranking takes nothing away.
    more = ranking(*retrieved, data.draw(IDS))
    assert value("Recall(match='containment')@20", asked, more) >= value("Recall(match='containment')@20", asked, run)
    assert not isinstance(parse_measure("RR(match='containment')").score(Case(asked, run)), Unscored)
