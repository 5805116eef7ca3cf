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
from functools import lru_cache
from typing import TYPE_CHECKING

from graphkit.plugins.sandbox.languages import Language
from graphkit.plugins.sandbox.outlines import Outline

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

#: The longest answer that is searched for code, in characters.
LONGEST_ANSWER = 1_000_000

# The first word of the info string: ``python``, ``python:app.py``, ``{.python .numbered}``, ``py title="x"``.
_LABEL = re.compile(r"[{.\s]*([\w+#-]+)")

# The first line that isn't a comment begins with the prompt.
_SESSION = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*>>>")


def extract(answer: str, language: Language, entry_point: str | None = None) -> str | None:
    """Return the code of an answer, with an empty line between its blocks.

    Return None if it has none, or is longer than :data:`LONGEST_ANSWER`.
    """
    if len(answer) > LONGEST_ANSWER:
        return None
    blocks = list(_fenced(answer))
    if not blocks:
        source = textwrap.dedent(answer.replace("\r\n", "\n")).rstrip() + "\n"
        return source if language.is_code(source, entry_point) else None
    chosen = [source for source, label in blocks if label in language.tags]
    labelled = bool(chosen)
    if not labelled:
        chosen = [source for source, label in blocks if label is None]
    outlined = [(source, language.outline(source)) for source in chosen if not _SESSION.match(source)]
    outlined = [(source, outline) for source, outline in outlined if not outline.empty]
    if not labelled and any(outline.parsed for _, outline in outlined):
        outlined = [(source, outline) for source, outline in outlined if outline.parsed]
    if entry_point is not None:
        outlined = _without_usage(outlined, entry_point.partition(".")[0])
    return "\n".join(_joined(outlined)) if outlined else None


def _joined(outlined: Sequence[tuple[str, Outline]]) -> Iterator[str]:
    """Yield the blocks, after the statements with which later blocks have to begin, such as ``__future__`` imports."""
    for _, outline in outlined[1:]:
        yield from (f"{text}\n" for _, _, text in outline.first)
    for number, (source, outline) in enumerate(outlined):
        lines = source.split("\n")
        for begin, end, _ in outline.first if number else ():
            lines[begin - 1 : end] = [""] * (end - begin + 1)
        yield "\n".join(lines)


def _without_usage(outlined: Sequence[tuple[str, Outline]], name: str) -> list[tuple[str, Outline]]:
    """Drop blocks that only use the entry point, and every definition of it except the last."""
    defining = [number for number, (_, outline) in enumerate(outlined) if name in outline.defined]
    kept = []
    for number, (source, outline) in enumerate(outlined):
        if name in outline.defined:
            wanted = number == defining[-1]
        elif name in outline.imported:
            wanted = not defining
        else:
            # A block of variables alone, such as a table of prices, belongs to the code unless it calls the function.
            wanted = outline.builds or (bool(outline.defined) and name not in outline.mentioned)
        if wanted:
            kept.append((source, outline))
    return kept


def _fenced(answer: str) -> Iterator[tuple[str, str | None]]:
    """Yield the source of each fenced block, with its label."""
    if "```" not in answer and "~~~" not in answer:
        return
    for token in _markdown().parse(answer):
        if token.type == "fence":
            label = _LABEL.match(token.info)
            yield token.content, label[1].lower() if label else None


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark")
    # Ignore the text within paragraphs, and see a fence right below an HTML tag, as in <details>.
    markdown.core.ruler.enableOnly(["normalize", "block"])
    markdown.block.ruler.disable("html_block")
    return markdown
