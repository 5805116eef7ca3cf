"""SWE-bench and similar data sets: the diff that solves an issue, and the commit before it."""

from __future__ import annotations

from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow, UnusableRowError
from graphkit.plugins.gold.qualified import Checkouts, qualified_symbols
from graphkit.plugins.logs.diffs import ChangedFile, changed_files


class SweBench(GoldFormat):
    """Reads the files and symbols of ``repo`` at ``base_commit`` that ``patch`` changes."""

    name = "swe-bench"
    title = "SWE-bench: the files and symbols that a patch changes"
    told_by = ("patch", "base_commit", "problem_statement")
    lacks = (
        "There are no paths and no relevant ids: only files and symbols are expected.",
        "Code that has to be read but not changed is unknown.",
        "A symbol is the last definition in the patch that encloses a change by its indentation; "
        "with --repo NAME=PATH it is qualified (Class.method) from the Python file at base_commit.",
        "Added code doesn't exist at base_commit, and isn't expected.",
    )
    repositories = True

    def __init__(self, checkouts: Checkouts | None = None) -> None:
        self.checkouts = checkouts

    def question(self, row: GoldRow) -> dict[str, Any]:
        repo, commit = row.text("repo"), row.text("base_commit")
        if ":" in repo:
            raise UnusableRowError(f"'repo' must be the name of a repository, such as owner/name, not {repo!r}")
        patch = row.text("patch")
        try:
            files = [file for file in changed_files(patch) if file.path is not None]
        except ValueError as error:
            raise UnusableRowError(str(error)) from None
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
        """Return the changed symbols, and whether all of them are qualified."""
        found: dict[str, None] = {}
        whole = True
        for file in files:
            source = self.checkouts.text(repo, commit, file.path or "") if self.checkouts is not None else None
            names = qualified_symbols(file, source)
            whole = whole and (names is not None or not file.symbols)
            found.update(dict.fromkeys(file.symbols if names is None else names))
        return list(found), whole
