"""Commits as the page shows them: their numbers and names, where they were read, and which don't belong together."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from graphkit.measures.case import Case
from graphkit.measures.coherence import version_pairs
from graphkit.measures.sided_case import sided
from graphkit.records.commits import UNKNOWN_COMMIT, Version
from graphkit.report.escaping import visible

NO_REPOSITORY = "(no repository)"


class Commits:
    """The commits that the details of a question name, numbered in the order in which they first occur."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._numbers: dict[tuple[str | None, str | None], int] = {}
        self._read: set[int] = set()

    def number(self, repo: str | None, sha: str | None, read: bool = True) -> int:
        """Return the number of a commit; ``read`` says whether the run read it, or the question is about it alone."""
        number = self._numbers.setdefault((repo, sha), len(self._numbers))
        if read:
            self._read.add(number)
        return number

    def shown(self) -> list[dict[str, Any]]:
        """Return the commits, each with its tag or branch; those that the run didn't read say so."""
        return [
            {
                "repo": visible(repo or NO_REPOSITORY),
                "sha": visible(sha or "no commit"),
                "name": self._name(repo, sha),
                **({} if number in self._read else {"unread": True}),
            }
            for (repo, sha), number in self._numbers.items()
        ]

    def _name(self, repo: str | None, sha: str | None) -> str:
        """Return the tag or branch of a commit, or why its name is ambiguous; empty if its sha is its only name."""
        if not (repo and sha):
            return ""
        known = self._case.commits.commits.get((repo, sha))
        if known is not None:
            name = known.tag or next(iter(known.tags), known.branch or "")
            return visible(name, 40) if name != sha else ""
        return visible(self._case.commits.meant(repo, sha, self._case.pins).ambiguous or "", 40)


@lru_cache(1)  # the spine and the details of a question ask one after the other
def incoherent_pairs(case: Case) -> list[tuple[list[Version], str, int]]:
    """Return the pairs of retrieved versions that don't belong together, with the rule and the number of chunk pairs.

    The pairs with unknown commits are one entry, with all these commits, before the others.
    """
    case = sided(case)
    if not case.commits or all(version.sha is None for version in case.versions):
        return []
    found: list[tuple[list[Version], str, int]] = []
    unknown: list[Version] = []
    unknown_pairs = 0
    for first, second, verdict, count in version_pairs(case):
        if verdict.rule == UNKNOWN_COMMIT:
            unknown += [version for version in (first, second) if not case.commits.knows(version)]
            unknown_pairs += count
        elif not verdict.compatible:
            found.append(([first, second], verdict.rule, count))
    if unknown:
        found.insert(0, (list(dict.fromkeys(unknown)), UNKNOWN_COMMIT, unknown_pairs))
    return found
