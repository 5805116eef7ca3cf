"""Outlines code, and recognises it: Python by its syntax tree, JavaScript by the beginnings of lines."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outline:
    """An outline of the top level of a block."""

    parsed: bool  # whether the block parses; always true for JavaScript, which only Node can parse
    empty: bool = False  # whether it has no statement
    #: The names that it defines (functions, classes and variables), imports, and uses.
    defined: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    mentioned: frozenset[str] = frozenset()
    builds: bool = True  # whether it defines a function or class, or imports something
    #: Statements that a source has to begin with: the first line, the last line, and the text.
    first: tuple[tuple[int, int, str], ...] = ()


# --- Python ---------------------------------------------------------------------------------------------------------

_PYTHON_DEFINITION = re.compile(r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*=(?!=)", re.MULTILINE)


def python_tree(source: str) -> ast.Module | None:
    """Return the syntax tree of a source, or None if Python can't parse it (or it is nested too deeply)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def python_outline(source: str) -> Outline:
    """Outline a block of Python."""
    tree = python_tree(source)
    if tree is None:
        return Outline(parsed=False, defined=frozenset(a or b for a, b in _PYTHON_DEFINITION.findall(source)))
    defined: set[str] = set()
    imported: set[str] = set()
    builds = False
    for node in _top_level(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                defined.add(name)
                builds = True
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                imported.update(alias.asname or alias.name.partition(".")[0] for alias in names)
                builds = True
            case ast.Assign(targets=targets):
                defined.update(name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                defined.add(name)
    mentioned = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return Outline(
        parsed=True,
        empty=not tree.body,
        defined=frozenset(defined),
        builds=builds,
        imported=frozenset(imported),
        mentioned=mentioned,
        first=tuple(
            (node.lineno, node.end_lineno or node.lineno, ast.unparse(node))
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        ),
    )


def _top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements at the top level, and those in an ``if`` or a ``try`` there."""
    waiting: list[ast.stmt] = tree.body[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            for part in ("finalbody", "orelse", "body"):
                waiting += getattr(node, part, [])[::-1]
            for handler in getattr(node, "handlers", []):
                waiting += handler.body[::-1]


def is_python(source: str, entry_point: str | None) -> bool:
    """Return whether a text without a fence is Python: read as a whole, and doing what no sentence does.

    A word, ``Answer: yes`` and ``pass`` are read as Python, too; a definition, an import, an assignment, a loop and a
    call such as ``print(1)`` are what makes a text code.
    """
    tree = python_tree(source)
    if tree is None:
        return False
    builds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign)
    runs = (ast.For, ast.While, ast.With, ast.Try, ast.If)
    for node in tree.body:
        if isinstance(node, builds) or (isinstance(node, ast.AnnAssign) and node.value is not None):
            return True
        if entry_point is None and (isinstance(node, runs) or _is_call(node)):
            return True
    return False


def _is_call(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


# --- JavaScript -----------------------------------------------------------------------------------------------------

_NAME = r"([A-Za-z_$][\w$]*)"
_JAVASCRIPT_DEFINITION = re.compile(
    rf"^(?:export[ \t]+(?:default[ \t]+)?)?(?:async[ \t]+)?(?:function[ \t]*\*?|class|const|let|var)[ \t]+{_NAME}"
    rf"|^(?:module\.)?exports\.{_NAME}[ \t]*=",
    re.MULTILINE,
)
_JAVASCRIPT_BUILDS = re.compile(
    r"^(?:export\b|import\b|module\.exports\b|exports\.|(?:async[ \t]+)?function\b|class[ \t]"
    r"|(?:const|let|var)[ \t][^\n]*(?:=>|\brequire\(|\bfunction\b))",
    re.MULTILINE,
)
_JAVASCRIPT_IMPORT = re.compile(
    r"^(?:import[ \t]+([^'\"\s][^'\"\n]{0,500}?)from\b"
    r"|(?:const|let|var)[ \t]+([^=\s][^=\n]{0,500}?)=[ \t]*(?:await[ \t]+import|require)\()",
    re.MULTILINE,
)
_JAVASCRIPT_BEGINS = re.compile(
    rf"(?:export[ \t]+(?:default|const|let|function|class|async|\{{)|import[ \t]*(?:[\w{{*$][^'\"\n]*from[ \t]*)?['\"]"
    rf"|(?:async[ \t]+)?function[ \t]*\*?[ \t]*(?:{_NAME})?[ \t]*\(|class[ \t]+{_NAME}[^\n{{]*\{{"
    rf"|(?:const|let|var)[ \t]+[\w$\[{{][^\n]*=|(?:module\.)?exports\b[^\n]*=|console\.\w+\(|['\"]use strict['\"])"
)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_COMMENT = re.compile(r"\s+|//[^\n]*|/\*.*?\*/", re.DOTALL)


def _after_comments(source: str) -> str:
    position = 0
    while found := _COMMENT.match(source, position):
        position = found.end()
    return source[position:]


def javascript_outline(source: str) -> Outline:
    """Outline a block of JavaScript by the beginnings of its lines."""
    imported = frozenset(
        name for parts in _JAVASCRIPT_IMPORT.findall(source) for part in parts for name in _WORD.findall(part)
    )
    return Outline(
        parsed=True,
        empty=not _after_comments(source),
        defined=frozenset(a or b for a, b in _JAVASCRIPT_DEFINITION.findall(source)) - imported,
        builds=_JAVASCRIPT_BUILDS.search(source) is not None,
        imported=imported,
        mentioned=frozenset(_WORD.findall(source)),
    )


def is_javascript(source: str, entry_point: str | None) -> bool:
    """Return whether a text without a fence is JavaScript: whether it begins like no sentence."""
    return _JAVASCRIPT_BEGINS.match(_after_comments(source)) is not None
