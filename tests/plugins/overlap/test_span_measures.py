"""Recall, precision and IoU of lines and characters: cases worked by hand, and sets of lines as an independent peer."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from graphkit.measures.owners import Owner, owner_of
from graphkit.measures.unscored import NO_LINES, NO_RETRIEVAL, NO_TEXT
from graphkit.plugins.overlap.span_measures import LEAST, NO_GOLD_SPANS, NO_PLACE, TEXTS_ALONE, spans_in
from graphkit.records.commits import CommitGraph
from graphkit.records.ids import Places, StatedArtifact
from tests.helpers.cases import answer, ranking, reason, relevant, unlogged, value
from tests.helpers.properties import examples

ALL = ("SpanRecall@9", "SpanPrecision@9", "SpanIoU@9")

#: Lines 11 to 20 of one file and 1 to 10 of another: 20 lines.
GOLD = relevant(["x:a.py:11-20", "x:b.py#L1-L10"])


def test_worked_case() -> None:
    """Overlapping chunks count each of their lines once, in any cut."""
    # Lines 1-15 of a.py and 6-10 of b.py: 20 lines, of which 5 and 5 are gold; in either are 20 + 20 - 10.
    for cut in (
        ["x:a.py:1-15", "x:b.py:6-10"],
        ["x:a.py:1-12", "x:a.py:5-15", "x:b.py:6-9", "x:b.py:10", "x:b.py:6-9"],
    ):
        assert [value(one, GOLD, ranking(*cut)) for one in ALL] == [10 / 20, 10 / 20, 10 / 30]
    assert [value(one, GOLD, ranking("x:a.py:11-20", "x:b.py:1-10")) for one in ALL] == [1.0, 1.0, 1.0]
    assert [value(one, GOLD, ranking("x:c.py:1-9")) for one in ALL] == [0.0, 0.0, 0.0]
    assert [value(one, GOLD, ranking()) for one in ALL] == [0.0, 0.0, 0.0]
    # The first chunk alone has 5 of 20 lines.
    assert value("SpanRecall@1", GOLD, ranking("x:a.py:1-15", "x:b.py:6-10")) == 5 / 20


def test_a_whole_file_covers_its_lines() -> None:
    """Recall needs no number of lines of a file; precision takes that of its artifact."""
    run = ranking("x:a.py")
    assert value("SpanRecall@9", GOLD, run) == 10 / 20
    assert reason("SpanPrecision@9", GOLD, run) == reason("SpanIoU@9", GOLD, run) == NO_LINES
    # 100 lines, 10 of them gold.
    commits = CommitGraph(places=Places(stated=lambda: {"": {"x:a.py": StatedArtifact((1, 100))}}))
    assert [value(one, GOLD, run, commits) for one in ALL] == [10 / 20, 10 / 100, 10 / 110]


def test_gold_symbols_have_the_lines_of_the_graph() -> None:
    """A relevant symbol covers the lines that the knowledge graph states, and retrieved ones as well."""
    commits = CommitGraph(places=Places(stated=lambda: {"": {"x:a.py#f": StatedArtifact((1, 4))}}))
    asked = relevant(["x:a.py#f"])
    assert value("SpanRecall@9", asked, ranking("x:a.py:3-9"), commits) == 2 / 4
    assert value("SpanPrecision@9", asked, ranking("x:a.py#f", "x:b.py:1-4"), commits) == 4 / 8
    assert reason("SpanRecall@9", asked, ranking("x:a.py:3-9")) == NO_GOLD_SPANS


def test_what_has_no_place_is_unscored() -> None:
    """A chunk that could lie in the gold's files isn't taken for one elsewhere; a gate counts it as not logged."""
    assert (
        reason("SpanRecall@9", GOLD, ranking("0017")) == reason("SpanPrecision@9", GOLD, ranking("x:c.py")) == NO_PLACE
    )
    assert reason("SpanRecall@9", GOLD, ranking("x:a.py#f")) == NO_LINES
    assert value("SpanRecall@9", GOLD, ranking("x:c.py#f", "x:a.py:11-20")) == 10 / 20
    # A chunk with a name of its own is any part of its file.
    part = answer(retrieved=[{"id": "chunk-17", "repo": "x", "path": "a.py"}])
    assert reason("SpanRecall@9", GOLD, part) == NO_LINES
    # Bare names are compared with bare names.
    assert value("SpanRecall@9", relevant(["doc-1:1-4"]), ranking("doc-2", "doc-1:4-8")) == 1 / 4
    assert owner_of(NO_PLACE) is owner_of(NO_LINES) is Owner.NOT_LOGGED
    assert reason("SpanRecall@9", GOLD, unlogged()) == NO_RETRIEVAL
    assert reason("SpanRecall@9", relevant(["x:a.py"]), ranking("x:a.py")) == NO_GOLD_SPANS


#: 40 characters.
TEXT = "The lock is taken before the write ends."


def chunks(*texts: str | None) -> object:
    """Return a run's record whose chunks have these texts."""
    return answer(retrieved=[{"id": str(place), "text": text} for place, text in enumerate(texts)])


def test_texts_of_evidence_by_their_characters() -> None:
    """A chunk covers what it holds of a text of evidence, whatever its case and white space."""
    asked = relevant([], relevant_texts=[TEXT])
    assert len(TEXT) == 40
    for texts, covered in (
        ([f"So. {TEXT} And so on."], 40),
        (["THE LOCK  is taken befo", "lock is taken before the"], 28),  # "the lock is taken before the"
        (["THE LOCK  is", "lock is taken"], 0),  # 11 and 13 characters may be chance
        ([*"the locisanbfrwd."], 0),  # each of its characters alone
        (["First: the lock is taken before"], 24),  # "the lock is taken before", with which the chunk ends
        (["taken before the write ends. Then"], 28),  # "taken before the write ends."
        (["First: the lock", "ends. Then"], 0),  # 8 and 5 characters may be chance
        (["", None, "elsewhere"], 0),
    ):
        assert value("SpanRecall@9", asked, chunks(*texts)) == covered / 40, texts  # type: ignore[arg-type]
    assert reason("SpanRecall@9", asked, chunks(None)) == NO_TEXT  # type: ignore[arg-type]
    assert reason("SpanIoU@9", asked, chunks(TEXT)) == TEXTS_ALONE  # type: ignore[arg-type]


LINES = st.tuples(st.sampled_from("ab"), st.integers(1, 30), st.integers(0, 12))


def ids(ranges: Iterable[tuple[str, int, int]]) -> list[str]:
    """Return ids of ranges of lines."""
    return [f"x:{file}.py:{first}-{first + more}" for file, first, more in ranges]


def covered(ranges: Iterable[tuple[str, int, int]]) -> set[tuple[str, int]]:
    """Return the lines of ranges, one by one."""
    return {(file, line) for file, first, more in ranges for line in range(first, first + more + 1)}


@examples(1000)
@given(st.lists(LINES, min_size=1, max_size=5), st.lists(LINES, max_size=9), st.data())
def test_two_cuts_of_the_same_lines_are_equal(
    gold: list[tuple[str, int, int]], found: list[tuple[str, int, int]], data: st.DataObject
) -> None:
    """Values are those of sets of lines, and don't depend on how the same lines are cut."""
    asked = relevant(dict.fromkeys(ids(gold), 1.0))
    wanted, lines = covered(gold), covered(found)
    common = len(wanted & lines)
    expected = [common / len(wanted), common / len(lines) if lines else 0.0, common / len(wanted | lines)]
    names = ("SpanRecall@400", "SpanPrecision@400", "SpanIoU@400")
    assert [value(one, asked, ranking(*ids(found))) for one in names] == expected
    # Each line alone, in any order, with some of the former chunks.
    again = [*ids((file, line, 0) for file, line in lines), *ids(found[:2])]
    assert [value(one, asked, ranking(*data.draw(st.permutations(again)))) for one in names] == expected


@examples(1000)
@given(st.text("ab ", max_size=60), st.text("ab ", max_size=60))
def test_spans_in_a_text_hold_what_the_chunk_holds(wanted: str, text: str) -> None:
    """Each span is a part of both texts, and the longest common end is found, as trying each length does."""
    spans = [(start, end) for start, end in spans_in(wanted, text) if start < end]
    assert all(0 <= start < end <= len(wanted) and wanted[start:end] in text for start, end in spans)
    if wanted not in text and text not in wanted:
        ends = [n for n in range(LEAST, len(wanted)) if text.endswith(wanted[:n])]
        starts = [n for n in range(LEAST, len(wanted)) if text.startswith(wanted[-n:])]
        expected = {*((0, n) for n in ends[-1:]), *((len(wanted) - n, len(wanted)) for n in starts[-1:])}
        assert {*spans} == expected
