"""The lines of code of a module: those with a token that is neither a comment nor part of a docstring."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

_BESIDE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_DOCUMENTED = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def code_lines(path: Path) -> int:
    """Return the number of lines of code of a module."""
    text = path.read_text(encoding="utf-8")
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            documented.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _BESIDE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - documented)
