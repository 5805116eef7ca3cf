"""Qualifies the symbols of a diff by the file at the old commit: ``Command.handle`` instead of ``handle``."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.errors import InputError
from graphkit.plugins.gold.renames import Between
from graphkit.plugins.logs.diffs import ChangedFile

if TYPE_CHECKING:
    from dulwich.repo import Repo


@dataclass(frozen=True)
class SourceSpan:
    """A function or class of a file, from the first line of its decorators to its last line."""

    qualified: str
    first: int
    last: int

    @property
    def name(self) -> str:
        """The last component."""
        return self.qualified.rpartition(".")[2]


class Checkouts:
    """Local clones of repositories by their names in the gold."""

    def __init__(self, repositories: Mapping[str, Path]) -> None:
        self.repositories = {name: (str(path), _opened(path)) for name, path in repositories.items()}

    def text(self, repo: str, commit: str, path: str) -> str | None:
        """Return the text of a file at a commit; None if there is no clone or no such file.

        Raise InputError if the clone lacks the commit or is damaged.
        """
        if repo not in self.repositories:
            return None
        where, repository = self.repositories[repo]
        return Between(repository, commit, commit, where).text(path, new=False)


def _opened(path: Path) -> Repo:
    from dulwich.errors import NotGitRepository
    from dulwich.repo import Repo

    try:
        return Repo(str(path))
    except (NotGitRepository, OSError):
        remedy = "Name a local clone: --repo NAME=PATH."
        raise InputError("this isn't a git repository", where=str(path), remedy=remedy) from None


def qualified_symbols(file: ChangedFile, source: str | None) -> list[str] | None:
    """Return the qualified symbols that a diff changes in a file, or None if the file can't be parsed.

    The symbol of a removed line is the innermost definition around it. That of an added line is the nearest definition
    before it with the name that the diff shows.
    """
    definitions = _definitions(file.path, source)
    if definitions is None:
        return None
    found: dict[str, None] = {}
    for line, shown, removed in file.places:
        around = [one for one in definitions if one.first <= line and (line <= one.last if removed else True)]
        if not removed:
            around = [one for one in around if one.name == shown]
        if around:
            found.setdefault(max(around, key=lambda one: one.first).qualified)
    return list(found)


def _definitions(path: str | None, source: str | None) -> list[SourceSpan] | None:
    if path is None or source is None or not path.endswith((".py", ".pyi")):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return list(_within(tree, ""))


def _within(node: ast.AST, prefix: str) -> Iterator[SourceSpan]:
    pending: list[tuple[ast.AST, str]] = [(node, prefix)]
    while pending:
        parent, before = pending.pop()
        for child in ast.iter_child_nodes(parent):
            inside = before
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inside = f"{before}{child.name}."
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                yield SourceSpan(inside[:-1], first, child.end_lineno or child.lineno)
            pending.append((child, inside))
