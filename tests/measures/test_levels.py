"""One question judged at the levels of files, modules and symbols: cases worked by hand."""

from __future__ import annotations

import pytest

from graphkit.errors import MeasureError
from graphkit.measures.ranking import AP, Acc, P, nDCG
from graphkit.measures.registry import parse_measure
from graphkit.measures.unscored import NO_RETRIEVAL
from tests.helpers.cases import answer, question, ranking, reason, relevant, unlogged, value

#: Two methods of one class, and a function of another file.
GOLD = relevant({"r:a.py#Store.load": 1, "r:a.py#Store.save": 3, "r:b.py#main": 1})
#: The file at rank 1 has no symbol; "other" is a module of its own.
RUN = ranking("r:a.py", "r:a.py#Store.load", "r:c.py#other", "r:a.py#Store", "r:b.py#main")


def test_one_run_is_judged_at_three_levels() -> None:
    """The same records give a value at each level."""
    # Files: a, c, b; relevant are a and b.
    files = {"Acc(level='file')@1": 0.0, "Acc(level='file')@3": 1.0, "Recall(level='file')@1": 1 / 2}
    # Modules: a#Store, c#other, b#main; relevant are a#Store and b#main.
    modules = {"Acc(level='module')@2": 0.0, "Acc(level='module')@3": 1.0, "AP(level='module')": (1 + 2 / 3) / 2}
    # Symbols: a#Store.load, c#other, a#Store, b#main; of three relevant ones the first and the fourth.
    symbols = {
        "Acc(level='symbol')@5": 0.0,
        "Recall(level='symbol')@5": 2 / 3,
        "RR(level='symbol')": 1.0,
        "Rprec(level='symbol')": 1 / 3,
        "AP(level='symbol')": (1 + 2 / 4) / 3,
        "P(level='symbol')@2": 1 / 2,
        "Success(level='symbol')@1": 1.0,
    }
    for measure, expected in (files | modules | symbols).items():
        assert value(measure, GOLD, RUN) == pytest.approx(expected), measure
    # Without a level the ids are compared as they are: load at rank 2 and main at rank 5.
    assert value("RR", GOLD, RUN) == 1 / 2


def test_an_item_has_the_largest_gain_of_its_ids() -> None:
    """The class Store has the gain of save, and not the sum of both methods."""
    # Relevant modules: a#Store with 3, b#main with 1. Ranked: a#Store, c#other, b#main.
    assert value("nDCG(level='module')@5", GOLD, RUN) == pytest.approx((3 + 1 / 2) / (3 + 1 / 1.584962500721156))


def test_repeats_take_no_rank() -> None:
    """Three symbols of one file are one item at the level of files, so the next file has rank 2."""
    run = ranking("r:c.py#x", "r:c.py#y", "r:c.py#z", "r:b.py#main")
    assert value("RR(level='file')", GOLD, run) == 1 / 2
    assert value("RR", GOLD, run) == 1 / 4


def test_fields_of_a_chunk_name_its_place() -> None:
    """An id that is no place has its level from its fields."""
    chunk = {"id": "c17", "repo": "r", "path": "b.py", "symbol": "main"}
    assert value("RR(level='symbol')", GOLD, answer(retrieved=["x", chunk])) == 1.0


def test_a_ranking_of_its_own_counts_at_its_level() -> None:
    """A ranking that the run made at a level counts there, and nowhere else; an empty one found nothing."""
    run = ranking("r:a.py#Store.load", rankings={"file": ["r:z.py", "r:b.py", "r:a.py"], "module": []})
    assert value("RR(level='file')", GOLD, run) == 1 / 2
    assert value("RR(level='module')", GOLD, run) == 0.0
    assert value("RR(level='symbol')", GOLD, run) == 1.0
    # It is logged even where nothing is said of the retrieved ids.
    assert value("RR(level='file')", GOLD, unlogged(rankings={"file": ["r:a.py"]})) == 1.0
    assert reason("RR(level='symbol')", GOLD, unlogged(rankings={"file": ["r:a.py"]})) == NO_RETRIEVAL


def test_gold_without_the_level_is_unscored() -> None:
    """A relevant file has no symbol."""
    asked = relevant(["r:a.py"])
    assert value("Acc(level='file')@5", asked, RUN) == 1.0
    assert reason("Acc(level='symbol')@5", asked, RUN) == "no relevant ids"
    assert reason("Acc(level='file')@5", question(), RUN) == "no relevant ids"
    assert reason("nDCG(level='file')@5", question(), RUN) == "no relevant ids"


def test_a_path_with_a_hash_is_split_as_the_question_says() -> None:
    """The expected files decide where an id is split."""
    asked = relevant(["r:C#/x.cs#F"], expected_files=["r:C#/x.cs"])
    assert value("RR(level='file')", asked, ranking("r:C#/x.cs#G")) == 1.0


def test_levels_are_read_and_printed() -> None:
    """The text form holds the level, which only Python computes."""
    assert str(Acc(level="module", k=5)) == "Acc(level='module')@5"
    assert parse_measure('acc(level="module")@5') == Acc(level="module", k=5)
    assert [one.query for one in (AP(level="file"), P(5, level="file"), nDCG(5, level="file"))] == [None] * 3
    assert AP().query == "average_precision"
    with pytest.raises(MeasureError, match=r"level must be one of file, module, symbol, not 'line'"):
        parse_measure("Acc(level='line')@5")
