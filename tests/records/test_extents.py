"""Extents of ids: their forms, the lines that the knowledge graph states, and how two of them lie to each other."""

from __future__ import annotations

import pytest

from graphkit.records.extents import Extent, split_lines
from graphkit.records.ids import Places, RepositoryRules, StatedArtifact
from graphkit.records.structs import ChunkStruct


@pytest.mark.parametrize(
    ("node", "place", "lines"),
    [
        ("web:src/a.py:10-40", "web:src/a.py", (10, 40)),
        ("web:src/a.py#L10-L40", "web:src/a.py", (10, 40)),
        ("web:src/a.py#L10-40", "web:src/a.py", (10, 40)),
        ("src/a.py:7", "src/a.py", (7, 7)),
        ("web:Makefile:3-4", "web:Makefile", (3, 4)),
        # Names that end in numbers: of a chunk, a standard with its years backwards, line 0, too many digits.
        *((one, one, None) for one in ("chunk:10", "iso:9001-200", "a.py:0-4", "a.py:1234567890", ":10", "#L3", "")),
    ],
)
def test_lines_at_the_end_of_an_id(node: str, place: str, lines: tuple[int, int] | None) -> None:
    """An id may end with lines, which are numbers from 1 in order."""
    assert split_lines(node) == (place, lines)


def test_ids_of_bare_names() -> None:
    """A document's part is behind its ``#``, unless the id is a title."""
    places = Places()
    assert Extent.of("doc-7#3", places) == Extent("doc-7", "3", None, whole=False)
    assert Extent.of("C# in a nutshell", places) == Extent("C# in a nutshell", None, None, whole=True)
    assert Extent.of("doc-7:4-9", places) == Extent("doc-7", None, (4, 9), whole=False)


def test_a_chunk_states_its_place() -> None:
    """An id that a system made gets its file and symbol from the chunk's own fields."""
    chunk = ChunkStruct("0017", repo="web", path="src/a.py", symbol="f")
    assert Extent.of("0017", Places(), None, chunk) == Extent("web:src/a.py", "f", None, whole=False)


def test_lines_of_the_graph_of_the_stack() -> None:
    """Two graphs that read a symbol at other lines say them for their stacks only."""
    stated = {"v1": {"x:a.py#f": StatedArtifact((1, 5))}, "v2": {"x:a.py#f": StatedArtifact((3, 9))}}
    places = Places(stated=lambda: stated)
    assert [Extent.of("x:a.py#f", places, stack).lines for stack in ("v1", "v2", None)] == [(1, 5), (3, 9), None]


@pytest.mark.parametrize(
    ("first", "second", "how"),
    [
        ("a.py#Cart.add(int)", "a.py#Cart", "finer"),
        ("a.py#Cart", "a.py#Cart.add", "coarser"),
        ("a.py#Cart.add(int)", "a.py#Cart.add", "finer"),
        ("a.py#Cart.add(int)", "a.py#Cart.add(str)", None),
        ("a.py#Cart.add", "a.py#Cart.addAll", None),
        ("a.py:10-40", "a.py#L10-L40", "overlapping"),
        ("a.py:10-40", "a.py:40-50", "overlapping"),
        ("a.py:10-40", "a.py:41-50", None),
        ("a.py:10-40", "a.py:10-50", "finer"),
        ("a.py", "b.py:1-2", None),
        ("a.py#f", "a.py:1-2", "unknown"),
    ],
)
def test_two_extents(first: str, second: str, how: str | None) -> None:
    """Symbols contain each other by their components, and ranges by their lines; seen from the other side, too."""
    one, other = (Extent.of(f"x:{node}", Places()) for node in (first, second))
    turned = {"finer": "coarser", "coarser": "finer"}
    assert (one.against(other), other.against(one)) == (how, turned.get(how or "", how))


def test_numbers_of_lines_are_no_place_behind_a_repository() -> None:
    """A dataset whose ids are files with lines has no repositories, since the files would be those."""
    rules = RepositoryRules.inferred(["a.py:1-5", "a.py:6-9", "b.py:1-3"], {})
    assert rules.of("a.py:1-5") is None
    assert RepositoryRules.inferred(["web:a.py:1-5", "web:a.py:6-9"], {}).of("web:a.py:1-5") == "web"
