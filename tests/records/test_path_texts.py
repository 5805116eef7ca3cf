"""Paths written as text."""

from __future__ import annotations

import time
from collections.abc import Container

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.records.path_texts import SecondNamesOf, has_arrow, paths_of_text, steps_of_text, text_of_steps
from tests.helpers.properties import examples

NAMES = st.sampled_from(["web:src/my-page.ts#load", "api:h.py", "db:t.sql", "A", "b-c", "x.y::z"])
RELATIONS = st.sampled_from(["CALLS", "has-part", "depends on", "r", None])


@examples(200)
@given(st.lists(st.tuples(NAMES, RELATIONS, st.booleans()), min_size=1, max_size=6), NAMES)
def test_a_path_survives_its_text(hops: list[tuple[str, str | None, bool]], start: str) -> None:
    """The text of a path, forward and backward, is read as the same steps."""
    steps: list[tuple[str, str | None, str]] = []
    end = start
    for name, relation, forward in hops:
        if name == end:
            continue  # a loop has no direction in the text
        if len(steps) == 1 and {end, name} == {steps[0][0], steps[0][2]}:
            continue  # there and back: either end may be the first
        steps.append((end, relation, name) if forward else (name, relation, end))
        end = name
    if steps:
        found = [(one["source"], one.get("relation"), one["target"]) for one in steps_of_text(text_of_steps(steps))]
        assert found == steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a-CALLS->b", [("a", "CALLS", "b")]),
        ("my-page.ts -has-part-> b", [("my-page.ts", "has-part", "b")]),
        ("a -[:CALLS]-> b <-[ owns ]- c", [("a", "CALLS", "b"), ("c", "owns", "b")]),
        ("a --> b → c <-- d", [("a", None, "b"), ("b", None, "c"), ("d", None, "c")]),
        ("a -depends on-> b", [("a", "depends on", "b")]),
        ("[a/b.ts] --calls--> [c.py] ---has part---> [d]", [("a/b.ts", "calls", "c.py"), ("c.py", "has part", "d")]),
        ("[a]--x-->[b]->[c]", [("a", "x", "b"), ("b", None, "c")]),
        ("a => b ==> c", [("a", None, "b"), ("b", None, "c")]),
        # What spreadsheets and word processors make of hyphens, arrows and spaces; U+F0E0 is Wingdings.
        ("a:m.py —CALLS→ b", [("a:m.py", "CALLS", "b")]),
        ("a–CALLS→b", [("a", "CALLS", "b")]),
        ("a ←CALLS— b ⇒ c", [("b", "CALLS", "a"), ("b", None, "c")]),
        ("a\u00a0–calls→\u00a0b\u200b", [("a", "calls", "b")]),
        ("The\u00a0Lake \uf0e0 b", [("The Lake", None, "b")]),
        ("a → b ⟶ c", [("a", None, "b"), ("b", None, "c")]),
        ("web:my-PAGE→b", [("web:my-PAGE", None, "b")]),
        # A dash of a title is no arrow.
        ("War – Peace -WROTE-> b", [("War – Peace", "WROTE", "b")]),
        # Cypher, with variables, labels and properties; lower-case relations may have a prefix.
        ("(a)-[:CALLS]->(b)<-[r:OWNS {x: 1}]-(c)-->(d)", [("a", "CALLS", "b"), ("c", "OWNS", "b"), ("c", None, "d")]),
        ("(x:File {line: 3, id: 'web:a.ts'})-[:A]->({name: \"b\"})", [("web:a.ts", "A", "b")]),
        ("(web:a.ts)-[rdf:type]->(b)", [("web:a.ts", "rdf:type", "b")]),
        ("f() -CALLS-> (anonymous)", [("f()", "CALLS", "(anonymous)")]),
        # An id with a capital behind its colon would be a label.
        ("(a:x)-[:CALLS]->(b:y)", [("a:x", "CALLS", "b:y")]),
        ("({id: 'a:X'})-[:CALLS]->({id: 'b:Y'})", [("a:X", "CALLS", "b:Y")]),
        ("a:X-[:CALLS]->b:Y", [("a:X", "CALLS", "b:Y")]),
        # Spaces around the dash of a relation in capitals; each arrow of Unicode to the right, one drawn as an emoji.
        ("a:x - CALLS -> b:y – IMPORTS → c:z", [("a:x", "CALLS", "b:y"), ("b:y", "IMPORTS", "c:z")]),
        ("a:x <- CALLS - b:y", [("b:y", "CALLS", "a:x")]),
        ("a ⇒ b ➔ c ➜ d ↦ e", [("a", None, "b"), ("b", None, "c"), ("c", None, "d"), ("d", None, "e")]),
        ("a ➡\ufe0f b ↤ c 🡒 d", [("a", None, "b"), ("c", None, "b"), ("c", None, "d")]),
        # Brackets or quotes around names; a title with a dash needs them before an arrow.
        ("[a:x] -> b:y", [("a:x", None, "b:y")]),
        ("[War - Peace] -> b", [("War - Peace", None, "b")]),
        ('"a:x" -CALLS-> "b:y"', [("a:x", "CALLS", "b:y")]),
        # Steps in a list; a comma of a title separates none.
        ("a:x -CALLS-> b:y, b:y -READS-> c:z", [("a:x", "CALLS", "b:y"), ("b:y", "READS", "c:z")]),
        ("a -> b, and b -> c", [("a", None, "b"), ("b", None, "c")]),
        ("Smith, J. -> Paper, 2020 -> Oslo", [("Smith, J.", None, "Paper, 2020"), ("Paper, 2020", None, "Oslo")]),
        # Without spaces, where an id with a repository or a folder stands on both sides.
        ("a:x->b:y->web/c.ts", [("a:x", None, "b:y"), ("b:y", None, "web/c.ts")]),
        # Mermaid.
        ("a -- calls --> b", [("a", "calls", "b")]),
    ],
)
def test_forms_of_arrows(text: str, steps: list[tuple[str, str | None, str]]) -> None:
    """Arrows of Cypher, with words, without a relation, and without spaces."""
    assert [(one["source"], one.get("relation"), one["target"]) for one in steps_of_text(text)] == steps
    assert has_arrow(text)


@pytest.mark.parametrize(
    "text",
    [
        *("a", "a->b", "-X-> b", "a -X->", "a -X-> -Y-> b", "a::operator-> -X-> b", "a -[X] b", ""),
        # The dash of a title or of an arrow; an id or a variable; no id; several relations.
        *("a – calls → b", "(x:Label)-[:A]->(b)", "(:Label)-[:A]->(b)", "(a)-[:A|B]->(b)", "(a)-[:A*1..3]->(b)"),
        # Arrows that point both ways or nowhere, and dashes that may be theirs.
        *("a:x <-CALLS-> b:y", "a:x <-> b:y", "a:x ↔ b:y", "a <- CALLS -> b", "a -X-> b -READS- c", "a -X-> b ↛ c"),
        *("a - calls -> b", "a -----X----> b", "web:my-page->b:y", "a -X-> b > c", "a -X-> b » c"),
        # Half of the names in parentheses or quotes, and several ids at an end.
        *("(a:x) -X-> b:y", '"a:x" -X-> b:y', "a:x -X-> b:y, c:z", "a:x -X-> b:y, d:y -Y-> c:z", "[] -X-> b"),
    ],
)
def test_no_half_paths(text: str) -> None:
    """What isn't wholly understood is refused."""
    with pytest.raises(ValueError):
        steps_of_text(text)


@pytest.mark.slow("texts of hundreds of thousands of characters")
def test_long_texts_are_read_at_once() -> None:
    """The time grows with the length of the text, whatever it holds."""
    for text in (
        " -x" * 100_000,
        "-[" * 100_000,
        "-A" * 100_000,
        " " * 200_000 + "a",
        "<" * 200_000,
        " —a" * 100_000,
        ":," * 9**5,
    ):
        begin = time.process_time()
        with pytest.raises(ValueError):
            steps_of_text(text)
        assert time.process_time() - begin < 10


def _read(*texts: str, ids: Container[str] = ()) -> str | None:
    """Return what every second name of paths is."""
    return SecondNamesOf([path for text in texts for path in paths_of_text(text)], ids.__contains__).decided()


@pytest.mark.parametrize(
    ("texts", "ids", "decided"),
    [
        # Five names in one path, and no second name stands elsewhere.
        (["Norland -> official language -> Norse", "Ole -> parent -> Kari -> child -> Per"], (), "relations"),
        # Paths of three names may be either, unless the graph knows.
        (["Norland -> language -> Norse", "Ole -> parent -> Kari"], (), None),
        (["Ole -> parent -> Kari"], ("Ole", "Kari"), "relations"),
        (["Ole -> parent -> Kari"], ("Ole", "Kari", "parent"), "nodes"),
        # A second name that begins another path is a node, as is one that looks like a path as the others do.
        (["Ole -> Ida -> Kari", "Ida -> child -> Per -> child -> Jo"], (), "nodes"),
        (["web:a.ts -> api:b.py -> db:c.sql"], (), "nodes"),
        (["flask.app -> flask.ctx -> flask.globals -> flask.json -> flask.cli"], (), "nodes"),
        # Relations of Freebase look like paths where no name of a node does; words between paths are relations.
        (["Ole -> people.person.parents -> Kari -> people.person.spouse -> Per"], (), "relations"),
        (["web:a.ts -> calls -> api:b.py"], (), "relations"),
        # Other paths of the file have nodes only, or relations of their own.
        (["Ole -> Ida -> Kari", "Ole -> Per"], (), "nodes"),
        (["Ole -> Ida -> Kari", "Ole -likes-> Per"], (), "nodes"),
        (["Ole -likes-> Per"], (), "nodes"),
    ],
)
def test_every_second_name(texts: list[str], ids: tuple[str, ...], decided: str | None) -> None:
    """All paths of a file decide whether names and relations alternate; where nothing does, nothing is decided."""
    assert _read(*texts, ids=ids) == decided


def test_both_readings() -> None:
    """A path is read either way, and both readings can be shown."""
    [path] = paths_of_text("Ole -> parent -> Kari")
    assert path.steps("relations") == [{"source": "Ole", "target": "Kari", "relation": "parent"}]
    assert path.steps() == [{"source": "Ole", "target": "parent"}, {"source": "parent", "target": "Kari"}]
    assert SecondNamesOf([path]).examples() == ("Ole -parent-> Kari", "Ole -> parent -> Kari")
