"""Sentences, citations and quotes: what stands where in an answer, and which chunks it means."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.errors import InputError
from graphkit.plugins.judging.judges.citations import Place, citation_pattern, find_citations, resolved
from graphkit.plugins.judging.judges.forms import occurs
from graphkit.plugins.judging.judges.sentences import sentences_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\n ", []),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        # No end inside names, numbers and files, nor after abbreviations and initials.
        ("It reads orders.total at 1.5, e.g. here.", ["It reads orders.total at 1.5, e.g. here."]),
        ("See api/auth.py vs. b.py. End", ["See api/auth.py vs. b.py.", "End"]),
        ("By J. Doe. End", ["By J. Doe.", "End"]),
        # Citations right after the full stop belong to the sentence; a link there begins the next.
        ("A ends. [1][2] B ends.", ["A ends. [1][2]", "B ends."]),
        ("A ends.[api/a.py:3] B", ["A ends.[api/a.py:3]", "B"]),
        ("A ends. [docs](http://x) say", ["A ends.", "[docs](http://x) say"]),
        ("A ends. [api/a.py?x. y] Bee. C", ["A ends. [api/a.py?x. y]", "Bee.", "C"]),  # no end within a citation
        ("A ends [1]. B", ["A ends [1].", "B"]),
        # Paragraphs, items, headings and rows end it; a wrapped line doesn't.
        ("# Title\nOne line\nwraps.\n\n- item a\n- item b", ["# Title", "One line\nwraps.", "- item a", "- item b"]),
        ("1. first\n2. second", ["1. first", "2. second"]),
        # Code is one, whatever is in it.
        ("So:\n```py\nx = 1. \n\ny. z\n```\nEnd.", ["So:", "```py\nx = 1. \n\ny. z\n```", "End."]),
        ("~~~\nnever closed. x", ["~~~\nnever closed. x"]),
        # Chinese needs no white space.
        ("它读取。第二句。", ["它读取。", "第二句。"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    """The rule, case by case."""
    assert [one.text for one in sentences_of(text)] == expected


@given(st.text(alphabet="ab. \n[]1/`-#!。*\t", max_size=200))
def test_sentences_lose_nothing(text: str) -> None:
    """Sentences are in order, numbered, and hold every character that isn't white space."""
    found = sentences_of(text)
    assert [one.key for one in found] == [f"s{number}" for number in range(1, len(found) + 1)]
    assert all(text[one.start : one.end] == one.text for one in found)
    assert all(one.end <= other.start for one, other in zip(found, found[1:], strict=False))
    assert "".join("".join(one.text.split()) for one in found) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a [api/auth.py]", ["api/auth.py"]),
        (
            "a [api/auth.py:12] b [api/auth.py:12-20] c [api/x.py#L3]",
            ["api/auth.py:12", "api/auth.py:12-20", "api/x.py#L3"],
        ),
        ("a [web:src/login.ts#submit] [web:src/login.ts]", ["web:src/login.ts#submit", "web:src/login.ts"]),
        ("a [api/a.py, web:b.ts#f]", ["api/a.py", "web:b.ts#f"]),
        ("a [infra/Dockerfile] [web/.env]", ["infra/Dockerfile", "web/.env"]),
        # In code, in fences.
        ("`[api/a.py]` and ``x ` [api/b.py]`` c", []),
        ("```\n[api/a.py]\n```\n[api/b.py]", ["api/b.py"]),
        ("~~~\n[api/a.py]", []),
        ("a ` lonely [api/a.py]\n\nb ` [api/b.py]", ["api/a.py", "api/b.py"]),  # a span doesn't cross paragraphs
        # Links, images, definitions, references.
        ("[api/a.py](http://x) ![api/b.py](y.png)", []),
        ("[text][web/c.md] x\n\n[web/c.md]: http://x/c.md", []),
        # Indexes, slices, types, task lists, addresses, alternatives.
        ("items[0] x[i] f(x)[a/b.py] m[1:2] [1:2] [x] [ ] [i:j]", []),
        ("Promise<Foo[]> Record<string, api.X>[api/a.py] string[]", []),
        ("[and/or] [he/she] [http://x/y.html] [a b/c.py] [1/2]", []),
        ("\\[api/a.py]", []),
        # After a citation, a bracket, or Chinese.
        ("x [api/a.py][api/b.py]", ["api/a.py", "api/b.py"]),
        ("(as is)[api/a.py] 函数[api/b.py]", ["api/a.py", "api/b.py"]),
        ("a[0][api/b.py]", []),  # what follows an index is one
        # Numbers are nothing where the record lists none.
        ("a [1] b [2019]", []),
    ],
)
def test_found_in_the_text(text: str, expected: list[str]) -> None:
    """Files, lines and symbols in brackets, and not in code, links or indexes."""
    found = find_citations(text)
    assert [one.target for one in found] == expected
    assert all(text[one.start : one.end] == one.text and not one.whole for one in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a [1]. b [2, 3] c [1-3]", ["x", "y", "z", "x", "y", "z"]),
        ("items[1] `[2]` [see](u) [3]", ["z"]),
        ("a [1][2] [1][i]", ["x", "y", "x"]),
        # 9 is listed nowhere: it cites nothing that there is. A list of such numbers, and 0, are no marks.
        ("a [1] [9] [10, 11] [0]", ["x", "[9]"]),
        ("a [1-500] [2]", ["y"]),
        # A definition that leads to an address is a link, one that leads to a file is a list of sources.
        ("a [1]\n\n[1]: http://x", []),
        ("a [1]\n\n[1]: api/a.py", ["x", "x"]),
    ],
)
def test_numbered_marks(text: str, expected: list[str]) -> None:
    """The n-th of the citations that the record lists."""
    assert [one.target for one in find_citations(text, ["x", "y", "z"]) if not one.whole] == expected


def test_listed_without_marks() -> None:
    """Citations that the record lists and the text doesn't mark stand for the whole answer; each once."""
    found = find_citations("It says so [api/b.py].", ["api/a.py", "api/b.py", "api/a.py"])
    assert [(one.target, one.whole) for one in found] == [("api/b.py", False), ("api/a.py", True)]
    assert (found[1].start, found[1].end) == (0, 22)
    assert not any(one.whole for one in find_citations("It says so [1].", ["x", "y"]))


def test_ids_of_retrieved_chunks() -> None:
    """An id in brackets is a citation whatever it looks like, where such a chunk was retrieved."""
    assert [one.target for one in find_citations("a [doc-3] b [doc-4]", known={"doc-3"})] == ["doc-3"]


def test_own_pattern() -> None:
    """A pattern of the user's finds more, not in code, and what it finds isn't found twice."""
    pattern = citation_pattern(r"\(source: (?P<target>[^()]+)\)|\[(?P<other>x/y\.py)\]")
    text = "a (source: api/a.py) `(source: api/b.py)` [api/c.py]"
    assert [one.target for one in find_citations(text, pattern=pattern)] == ["api/a.py", "api/c.py"]
    for wrong in ("(", "(source)"):
        with pytest.raises(InputError, match="pattern of citations"):
            citation_pattern(wrong)


RETRIEVED = [
    Place("api:auth.py#login", "api/auth.py", "auth.py", "login"),
    Place("api:auth.py#logout", "api/auth.py", "auth.py", "logout"),
    Place("web:a.ts", "web/a.ts", "a.ts", None),
    Place("doc-3", "web/b.ts", "b.ts", "Form.submit"),
]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("api:auth.py#login", ("api:auth.py#login",)),
        ("api:auth.py", ()),  # the file as a whole wasn't retrieved, only parts of it
        ("api/auth.py", ("api:auth.py#login", "api:auth.py#logout")),
        ("api/auth.py:12", ("api:auth.py#login", "api:auth.py#logout")),
        ("api/auth.py#L3-L9", ("api:auth.py#login", "api:auth.py#logout")),
        ("api/auth.py#logout", ("api:auth.py#logout",)),
        ("api:auth.py#other", ()),
        ("auth.py", ("api:auth.py#login", "api:auth.py#logout")),  # without its repository
        ("web:a.ts:7", ("web:a.ts",)),
        ("doc-3", ("doc-3",)),
        ("web:b.ts#Form.submit", ("doc-3",)),
        ("web:b.ts#submit", ("doc-3",)),
        ("web:c.ts", ()),
        ("[9]", ()),
    ],
)
def test_what_a_citation_means(target: str, expected: tuple[str, ...]) -> None:
    """By id, by symbol, and every chunk of a file."""
    [found] = resolved(find_citations("", [target]), RETRIEVED)
    assert found.chunks == expected


@pytest.mark.parametrize(
    ("quote", "text", "expected"),
    [
        ("total  cents", "the total\n\tcents", True),
        ("ﬁnd", "find", True),  # a ligature, NFKC
        ("Total", "total", False),
        ("", "x", False),
        ("...", "a ... b", False),
        ("total ... cents", "total of the cents", False),
        ("19", "TAX = 19", True),
    ],
)
def test_quotes(quote: str, text: str, expected: bool) -> None:
    """A quote occurs after Unicode and white space were normalised; case counts, and marks alone are no quote."""
    assert occurs(quote, text) is expected


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "`",
        "[a",
        ". [",
        ". [/",
        "`a``b```c",
        "[1]",
        ". ",
        ")[1]",
        "```\n",
        "[a]:",
        "a.",
        "[a/",
        "[a][",
        "'\"*",
        "[1,",
        "(a",
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    """Ten times the text takes not nearly a hundred times as long."""

    def seconds(count: int) -> float:
        text = piece * count
        times = []
        for _ in range(2):
            start = time.process_time()
            sentences_of(text)
            find_citations(text, ["a"])
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(16_000) < 35 * max(seconds(1_600), 0.005)
