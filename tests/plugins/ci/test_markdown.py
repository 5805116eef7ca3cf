"""Text of others in Markdown: markdown-it, which reads CommonMark and GitHub's tables, finds nothing but code."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from graphkit.errors import one_line
from graphkit.plugins.ci.markdown import cell, code_span, fence, prose, row
from tests.helpers.properties import examples

READER = MarkdownIt("commonmark").enable("table")

#: Texts with whatever Markdown, HTML and GitHub read as more than text.
PIECES = (
    *("`", "``", "|", "\\", "<b>", "-->", "<!--", "@you", "#1", "![i](http://x.example/b)", "\n", "\n\n```\n", "*"),
    *("_", "~~~", "https://x.example", "$", "[a](b)", "&lt;", "\u202e", "word", " ", "1.", "- ", "> ", "---", "\t"),
    *("a-b", "GH-1"),
)
HOSTILE = st.lists(st.sampled_from(PIECES)).map("".join) | st.text(max_size=60)


def inlines(text: str) -> list[Token]:
    """Return the inline parts of a text that is one block."""
    return [part for token in READER.parse(text) for part in token.children or ()]


@examples(300)
@given(HOSTILE)
def test_code_span_is_one_piece_of_code(text: str) -> None:
    """Whatever the text, what is read is one code span whose content is the text on one line."""
    [part] = inlines(f"- {code_span(text, 10_000)}")
    if not text:
        assert (part.type, part.content) == ("text", "(empty)")
    elif one_line(text).strip(" "):
        # CommonMark takes one blank from each end; graphkit adds one to texts that begin or end with one.
        assert (part.type, part.content) == ("code_inline", one_line(text))


@examples(300)
@given(HOSTILE, HOSTILE)
def test_a_cell_stays_a_cell(first: str, second: str) -> None:
    """A table of two columns keeps two cells in each row, and all else is code."""
    table = "\n".join([row([cell(first), "b"]), row(["---", "---"]), row([cell(second), cell(first)])])
    tokens = READER.parse(table)
    assert [token.type for token in tokens].count("th_open") == 2
    assert [token.type for token in tokens].count("td_open") == 2
    assert {token.type for token in tokens} <= {
        *("table_open", "thead_open", "tr_open", "th_open", "inline", "th_close", "tr_close", "thead_close"),
        *("tbody_open", "td_open", "td_close", "tbody_close", "table_close"),
    }
    assert {part.type for part in inlines(table)} <= {"code_inline", "text"}


@examples(300)
@given(HOSTILE)
def test_prose_holds_plain_words_and_code(text: str) -> None:
    """Outside of code a sentence has only words and numbers: no mention, reference, address or markup."""
    parts = inlines(f"- see {prose(text, 10_000)}")
    assert {part.type for part in parts} <= {"code_inline", "text"}
    for part in parts:
        if part.type == "text":
            assert re.fullmatch(r"""[A-Za-z0-9 ("'),.;:%+-]*""", part.content)
            assert not re.search(r"[A-Za-z]\d|\d[A-Za-z]|[A-Za-z]-\d|\w\.[A-Za-z]|\w:\w|://", part.content)


@examples(300)
@given(st.lists(HOSTILE.map(one_line), max_size=4))
def test_a_fence_is_closed_at_its_end(lines: list[str]) -> None:
    """The block of code ends with its own fence, whatever its lines hold."""
    ticks = fence(lines)
    [token] = READER.parse("\n".join([f"{ticks}bash", *lines, ticks]))
    assert (token.type, token.info, token.content) == ("fence", "bash", "".join(f"{line}\n" for line in lines))


def test_a_text_is_cut_in_its_middle() -> None:
    """A long text keeps both of its ends, and secrets in addresses are masked before the cut."""
    assert code_span("a" * 50 + "b" * 50, 11) == f"`{'a' * 5}…{'b' * 5}`"
    assert "hunter2" not in code_span("see https://me:hunter2@x.example/")
    assert "hunter2" not in prose("see https://me:hunter2@x.example/")
