"""The commits that a run mixes though they don't fit: the rows of the query ``incoherent-pairs``, from a case."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from graphkit.graph.rows import commit_key
from graphkit.measures.case import Case
from graphkit.measures.coherence import is_judged, version_pairs
from graphkit.records.commits import UNKNOWN_COMMIT, Version

#: The rules that reject a pair, the worst first.
_REJECTING = ("incompatible", "no rule", UNKNOWN_COMMIT)


def incoherent_pairs(case: Case) -> list[dict[str, Any]]:
    """Return the commits that were retrieved together and don't fit, as the query ``incoherent-pairs`` does.

    All pairs with unknown commits are one row, the last one. A question on which ``Coherence`` isn't scored has none.
    """
    if not is_judged(case):
        return []
    found: dict[tuple[Any, ...], int] = defaultdict(int)
    for one, two, fit, pairs in version_pairs(case):
        if fit.compatible:
            continue
        first, second = sorted((one, two), key=_order)
        named = (None,) * 4
        if fit.rule != UNKNOWN_COMMIT:
            named = (_name(first), first.branch, _name(second), second.branch)  # type: ignore[assignment]
        stack = case.commits.clashing_row(first, second) if fit.rule == "incompatible" else None
        found[(*named, fit.rule, stack)] += pairs
    columns = ("first", "first_branch", "second", "second_branch", "rule", "stack")
    rows = [{**dict(zip(columns, key, strict=True)), "chunk_pairs": pairs} for key, pairs in found.items()]
    return sorted(rows, key=_place)


def _order(version: Version) -> tuple[tuple[bool, str], ...]:
    """Return the sort key of a version: by its commit, its branch and its repository, with what is unknown last."""
    parts = (commit_key(version.repo, version.sha), version.branch, version.repo)
    return tuple((part is None, part or "") for part in parts)


def _name(version: Version) -> str | None:
    return commit_key(version.repo, version.sha) or version.repo


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    names = [row[name] for name in ("first", "second", "first_branch", "second_branch")]
    return (_REJECTING.index(row["rule"]), -row["chunk_pairs"], [(name is None, name or "") for name in names])
