"""SWE-bench and what follows its form: the diff that solves an issue, at the commit before it."""

from __future__ import annotations

from typing import Any

from graphkit.gold.diffs import ChangedFile, changed_files
from graphkit.gold.formats import GoldFormat
from graphkit.gold.public_rows import GoldRow, UnusableRowError
from graphkit.gold.qualified import Checkouts, qualified_symbols


class SweBench(GoldFormat):
    """``patch`` changes files and symbols of ``repo`` at ``base_commit``: these are expected."""

    name = "swe-bench"
    title = "SWE-bench: the files and symbols that a patch changes"
    lacks = (
        "There are no paths and no relevant ids: only files and symbols are expected.",
        "What has to be read, but not changed, isn't known.",
        "A symbol is the last definition before a change that encloses it by its indentation, as the patch shows it; "
        "with --repo NAME=PATH it is qualified (Class.method) as the Python file at base_commit has it.",
        "What the patch adds isn't there at base_commit, and isn't expected.",
    )
    repositories = True

    def __init__(self, checkouts: Checkouts | None = None) -> None:
        self.checkouts = checkouts

    def question(self, row: GoldRow) -> dict[str, Any]:
        repo, commit = row.text("repo"), row.text("base_commit")
        if ":" in repo:
            raise UnusableRowError(f"'repo' must be the name of a repository, such as owner/name, not {repo!r}")
        files = [file for file in changed_files(row.text("patch")) if file.path is not None]
        symbols, qualified = self._symbols(files, repo, commit)
        if not files:
            row.notes.append("the patch only adds files: none is expected at base_commit")
        return {
            "id": row.name("instance_id"),
            "question": row.text("problem_statement"),
            "group": repo,
            "commits": {repo: commit},
            "expected_files": list(dict.fromkeys(f"{repo}:{file.path}" for file in files)),
            "expected_symbols": symbols,
            "symbol_match": None if qualified else "last_component",
        }

    def _symbols(self, files: list[ChangedFile], repo: str, commit: str) -> tuple[list[str], bool]:
        """Return the symbols that are changed, and whether all of them are qualified as the files at the commit are."""
        found: dict[str, None] = {}
        whole = True
        for file in files:
            source = self.checkouts.text(repo, commit, file.path or "") if self.checkouts is not None else None
            names = qualified_symbols(file, source)
            whole = whole and (names is not None or not file.symbols)
            found.update(dict.fromkeys(file.symbols if names is None else names))
        return list(found), whole
