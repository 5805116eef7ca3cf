"""Measures of versions: whether the retrieved commits belong together, and whether they are the annotated ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations

from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.sided_case import sided
from graphkit.measures.unscored import NEITHER_LOGGED, NO_CHUNK, NO_RETRIEVAL, Unscored
from graphkit.records.commits import UNKNOWN_COMMIT, Fit, Version

NO_COMMIT = "no retrieved chunk carries a commit (not logged)"
NO_COMMITS_KNOWN = "nothing is known about commits: the dataset has no commits, compatibility rows or deployments"
NO_SETS = "nothing says which commits belong together: the dataset has no compatible rows or deployments"
NO_PAIR = "no two retrieved chunks belong to one of the versions that the question is about"
NO_PIN = "the question pins no commit"
NOTHING_TOUCHED = "nothing was retrieved or traversed"
NOTHING_VERSIONED = "nothing retrieved or traversed carries a commit (not logged)"
PARTLY_VERSIONED = "a retrieved chunk carries no commit, and the others fit (not logged)"


class Coherence(Measure):
    """Compatible pairs / all unordered pairs of retrieved chunks.

    A pair fits by the first rule that applies: the same commit (yes), an explicit incompatibility (no), an explicit
    compatibility or a common deployment (yes), the same repository and branch (yes), both on default branches and
    committed less than 24 h apart (yes), both pinned by the question itself (yes), otherwise no. The question's own
    pins fit each other even if the graph doesn't know them; other pairs with an unknown commit don't fit.

    In all measures of commits, a commit may be named by its sha, by a tag of its repository, or by at least four digits
    with which no other known sha begins. A chunk without a commit has that of its artifact in the dataset's graph.

    If gold paths have commits of their own, only pairs of chunks count that belong to one side (the commits of a path),
    and a side's commits fit each other. A chunk that was retrieved at two commits is two.
    """

    source = "version coherence over commit nodes"
    layer = "reasoning"
    query = "coherence"
    query_parameters = {
        "no_chunk": NO_CHUNK,
        "no_commit": NO_COMMIT,
        "no_commits_known": NO_COMMITS_KNOWN,
        "no_pair": NO_PAIR,
        "unlogged": NO_RETRIEVAL,
    }
    target = 0.9
    severe = 0.7
    needs_commits = True

    def details(self, case: Case) -> Mapping[str, list[str]]:
        if not is_judged(case):
            return {}
        # All pairs with unknown commits are one, as in incoherent-pairs.
        rules = [fit.rule for _, _, fit, _ in version_pairs(case) if not fit.compatible]
        known = sorted(rule for rule in rules if rule != UNKNOWN_COMMIT)
        return {"mixed": [*known, UNKNOWN_COMMIT] if len(known) < len(rules) else known}

    def value(self, case: Case) -> float | Unscored:
        case = sided(case)
        unscored = _unscored(case)
        if unscored is not None:
            return unscored
        if len(case.versions) == 1:
            return 1.0
        found = version_pairs(case)
        pairs = sum(number for _, _, _, number in found)
        if not pairs:
            return Unscored(NO_PAIR)
        return sum(number for _, _, verdict, number in found if verdict.compatible) / pairs


def _unscored(case: Case) -> Unscored | None:
    if not case.versions:
        return Unscored(NO_CHUNK if case.chunks_logged else NO_RETRIEVAL)
    if all(version.sha is None for version in case.versions):
        return Unscored(NO_COMMIT)
    return None if case.commits else Unscored(NO_COMMITS_KNOWN)


def is_judged(case: Case) -> bool:
    """Return whether the commits of a question's chunks can be judged: ``Coherence`` is scored on it."""
    return _unscored(sided(case)) is None


def _unversioned(case: Case) -> Unscored:
    if case.chunks or case.walked:
        return Unscored(NOTHING_VERSIONED)
    return Unscored(NOTHING_TOUCHED if case.all_logged else NEITHER_LOGGED)


def _if_all_known(case: Case) -> float | Unscored:
    """Return 0, unless the commit of a retrieved chunk is unknown: leaving one out must not look like a right one."""
    return Unscored(PARTLY_VERSIONED) if any(version.sha is None for version in case.versions) else 0.0


def version_pairs(case: Case) -> list[tuple[Version, Version, Fit, int]]:
    """Return each pair of versions among the chunks, its verdict, and the number of chunk pairs it stands for.

    If gold paths have commits of their own, the two share a side.
    """
    found = []
    case = sided(case)
    counts = Counter(case.versions)
    for version, count in counts.items():
        if count > 1 and (fit := case.fit(version, version)) is not None:
            found.append((version, version, fit, count * (count - 1) // 2))
    for (first, first_count), (second, second_count) in combinations(counts.items(), 2):
        if (fit := case.fit(first, second)) is not None:
            found.append((first, second, fit, first_count * second_count))
    return found


class Incoherent(Measure):
    """1 if no compatible row or deployment holds all commits retrieved and traversed, else 0.

    The question's own pins belong together unless a row says that two of them clash. Other questions are not scored if
    the dataset has no compatible row or deployment at all, or if all known commits fit and a retrieved chunk has none.
    If gold paths have commits of their own, it is judged for each side (the commits of a path) by the commits that fit
    it, and one that fits no side belongs with nothing.
    """

    source = "version coherence over commit nodes"
    layer = "reasoning"
    query = "incoherent"
    query_parameters = {
        "unversioned": NOTHING_VERSIONED,
        "untouched": NOTHING_TOUCHED,
        "partly": PARTLY_VERSIONED,
        "no_commits_known": NO_COMMITS_KNOWN,
        "no_sets": NO_SETS,
        "unlogged": NEITHER_LOGGED,
    }
    higher_is_better = False
    needs_commits = True

    def value(self, case: Case) -> float | Unscored:
        case = sided(case)
        if not case.touched:
            return _unversioned(case)
        if not case.commits:
            return Unscored(NO_COMMITS_KNOWN)
        if case.belong_together(case.touched):
            return _if_all_known(case)
        return 1.0 if case.commits.knows_sets else Unscored(NO_SETS)


class OffPin(Measure):
    """1 if a commit retrieved or traversed differs from the question's pins, else 0.

    Pins are the commits of the question's stack and the question's own. A repository without a pin counts as off pin.
    If gold paths have commits of their own, it is 1 for a commit that fits no side (the commits of a path, else those
    of the question), and a side fits each commit of a repository that it doesn't pin.
    Where all known commits are right and a retrieved chunk has none, the question is not scored.
    """

    source = "version coherence over commit nodes"
    layer = "reasoning"
    query = "off_pin"
    query_parameters = {
        "unscored": NO_PIN,
        "unversioned": NOTHING_VERSIONED,
        "untouched": NOTHING_TOUCHED,
        "partly": PARTLY_VERSIONED,
        "unlogged": NEITHER_LOGGED,
    }
    higher_is_better = False
    needs_commits = True

    def value(self, case: Case) -> float | Unscored:
        case = sided(case)
        if not case.pinned:
            return Unscored(NO_PIN, of_question=True)
        if not case.touched:
            return _unversioned(case)
        return 1.0 if case.off_pin else _if_all_known(case)
