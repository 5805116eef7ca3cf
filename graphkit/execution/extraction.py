"""Extracts the code of an answer: joins the fenced blocks in the language of the question.

Which blocks count:

- blocks labelled with the language; if there are none, blocks without a label, and of several those that parse as the
  language, if any does;
- no blocks of an interactive session (``>>> ``);
- if the question names an entry point, no blocks that only use it: those that define and import nothing, and those that
  import it although another block defines it. If several define it, the last one counts.

An answer without a block is itself code if it parses as code and isn't prose.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from graphkit.execution.languages import Language
from graphkit.execution.outlines import Outline

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

#: The longest answer that is searched for code, in characters.
LONGEST_ANSWER = 1_000_000

# The first word of the info string: ``python``, ``python:app.py``, ``{.python .numbered}``, ``py title="x"``.
_LABEL = re.compile(r"[{.\s]*([\w+#-]+)")

# The first line that isn't a comment begins with the prompt.
_SESSION = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*>>>")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A contiguous piece of code in an answer; ``line`` is its first line there, counted from 1."""

    source: str
    line: int
    label: str | None = None


@dataclass(frozen=True, slots=True)
class ExtractedCode:
    """The code of an answer, as blocks in order."""

    blocks: tuple[CodeBlock, ...]

    @property
    def source(self) -> str:
        """The code: the blocks, with an empty line between them."""
        return "\n".join(block.source for block in self.blocks)

    def line_in_answer(self, line: int) -> int | None:
        """Return the line of the answer for a line of the code; both count from 1."""
        for block in self.blocks:
            length = block.source.count("\n")
            if 1 <= line <= length:
                return block.line + line - 1
            line -= length + 1
        return None


def extract(answer: str, language: Language, entry_point: str | None = None) -> ExtractedCode | None:
    """Return the code of an answer; None if it has none, or is longer than :data:`LONGEST_ANSWER`."""
    if len(answer) > LONGEST_ANSWER:
        return None
    blocks = list(_fenced(answer))
    if not blocks:
        source = textwrap.dedent(answer.replace("\r\n", "\n")).rstrip() + "\n"
        return ExtractedCode((CodeBlock(source, 1),)) if language.is_code(source, entry_point) else None
    chosen = [block for block in blocks if block.label in language.tags]
    labelled = bool(chosen)
    if not labelled:
        chosen = [block for block in blocks if block.label is None]
    outlined = [(block, language.outline(block.source)) for block in chosen if not _SESSION.match(block.source)]
    outlined = [(block, outline) for block, outline in outlined if not outline.empty]
    if not labelled and any(outline.parsed for _, outline in outlined):
        outlined = [(block, outline) for block, outline in outlined if outline.parsed]
    if entry_point is not None:
        outlined = _without_usage(outlined, entry_point.partition(".")[0])
    return ExtractedCode(tuple(_joined(outlined))) if outlined else None


def _joined(outlined: Sequence[tuple[CodeBlock, Outline]]) -> Iterator[CodeBlock]:
    """Yield the blocks, after the statements with which later blocks have to begin, such as ``__future__`` imports."""
    later = [(block, outline) for block, outline in outlined[1:] if outline.first]
    for block, outline in later:
        for line, _, text in outline.first:
            yield CodeBlock(text + "\n", block.line + line - 1)
    for number, (block, outline) in enumerate(outlined):
        lines = block.source.split("\n")
        for begin, end, _ in outline.first if number else ():
            lines[begin - 1 : end] = [""] * (end - begin + 1)
        yield CodeBlock("\n".join(lines), block.line, block.label)


def _without_usage(outlined: Sequence[tuple[CodeBlock, Outline]], name: str) -> list[tuple[CodeBlock, Outline]]:
    """Drop blocks that only use the entry point, and every definition of it except the last."""
    defining = [number for number, (_, outline) in enumerate(outlined) if name in outline.defined]
    kept = []
    for number, (block, outline) in enumerate(outlined):
        if name in outline.defined:
            wanted = number == defining[-1]
        elif name in outline.imported:
            wanted = not defining
        else:
            # A block of variables alone, such as a table of prices, belongs to the code unless it calls the function.
            wanted = outline.builds or (bool(outline.defined) and name not in outline.mentioned)
        if wanted:
            kept.append((block, outline))
    return kept


def _fenced(answer: str) -> Iterator[CodeBlock]:
    if "```" not in answer and "~~~" not in answer:
        return
    for token in _markdown().parse(answer):
        if token.type == "fence" and token.map is not None:
            label = _LABEL.match(token.info)
            yield CodeBlock(token.content, token.map[0] + 2, label[1].lower() if label else None)


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark")
    # Ignore the text within paragraphs, and see a fence right below an HTML tag, as in <details>.
    markdown.core.ruler.enableOnly(["normalize", "block"])
    markdown.block.ruler.disable("html_block")
    return markdown
