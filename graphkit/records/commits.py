"""The rules of version coherence: which commits fit together, by commits, compatibility rows and deployments."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from graphkit.records.access_rules import AccessRules
from graphkit.records.directions import EdgeHashes
from graphkit.records.ids import Places

if TYPE_CHECKING:
    from graphkit.records.models import Commit, Compatibility, Question
    from graphkit.records.structs import QuestionStruct

#: Branch names that count as a repository's default branch.
DEFAULT_BRANCHES = frozenset({"main", "master", "trunk"})

#: Two commits of default branches are compatible if they are less than this apart.
WINDOW = timedelta(hours=24)

#: A complete SHA-1 or SHA-256, and a prefix of one, which has at least four digits.
_WHOLE = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PREFIX = re.compile(r"[0-9a-fA-F]{4,63}")


def is_whole(sha: str) -> bool:
    """Return whether a name is a complete sha, and so neither a tag nor a prefix."""
    return _WHOLE.fullmatch(sha) is not None


class Version(NamedTuple):
    """The commit of a repository, and its branch, that a chunk was read from."""

    repo: str | None
    sha: str | None
    branch: str | None = None


class Meant(NamedTuple):
    """The sha that a commit's name stands for, or the name itself; and why the name is ambiguous, if it is."""

    sha: str
    ambiguous: str | None = None


#: Returns the (repository, commit) at which each knowledge graph, or the named one, read an artifact.
ReadAt = Callable[[str, str | None], Iterable[tuple[str, str]]]

#: A gold edge of a question: the place of its path among those that hold a step, then source, relation and target.
PlacedGold = tuple[int, tuple[str, str | None, str]]

#: Returns the gold edges of a question that its knowledge graph doesn't hold at the commits of their path; None if the
#: dataset has no knowledge graph with edges.
AbsentEdges = Callable[["QuestionStruct"], "frozenset[PlacedGold] | None"]


class Fit(NamedTuple):
    """Whether two versions fit, and the rule of ``RULES`` that decided it."""

    compatible: bool
    rule: str


#: The rule of a pair with a commit that nothing is known about.
UNKNOWN_COMMIT = "unknown commit"

#: The rules in order. For unknown commits only "pinned together" applies.
RULES = (
    UNKNOWN_COMMIT,
    "same commit",
    "incompatible",
    "compatible",
    "deployed together",
    "same branch",
    "same day",
    "pinned together",
    "no rule",
)

#: The rules that reject a pair because nothing is known about it.
UNDECIDED = frozenset({UNKNOWN_COMMIT, "no rule"})

NO_PINS: Mapping[str, str] = {}


def read_nothing(artifact: str, graph: str | None) -> Iterable[tuple[str, str]]:
    """Return no commits, for use without knowledge graphs."""
    return ()


def absent_unknown(question: QuestionStruct) -> None:
    """Return None, for use without knowledge graphs: which gold edges they lack isn't known."""


#: What judges say of answers, by run and question: whether one declines, and the hash of its text, if known.
Declines = Mapping[tuple[str, str], Sequence[tuple[bool, str | None]]]


def _pinned(version: Version, pins: Mapping[str, str]) -> bool:
    return version.repo is not None and version.sha is not None and pins.get(version.repo) == version.sha


@dataclass
class CommitGraph:
    """The known commits, and what is known about pairs of them.

    A commit is known if it is listed, or named by a compatibility row or a deployment. It may be named by its sha, by a
    tag of its repository, or by a unique prefix of its sha. ``places`` tell where the
    dataset's nodes lie, ``absent`` which gold edges its knowledge graphs lack, and ``access`` who may read what.
    ``edges`` are those of each knowledge graph, None for one without their file; they are read for measures that need
    the graph alone, and else empty. ``declines`` are what judges say of answers.
    """

    commits: dict[tuple[str, str], Commit | None] = field(default_factory=dict)
    stacks: dict[str, Mapping[str, str]] = field(default_factory=dict)
    read_at: ReadAt = read_nothing
    places: Places = field(default_factory=Places)
    absent: AbsentEdges = absent_unknown
    access: AccessRules = field(default_factory=AccessRules)
    edges: Mapping[str, EdgeHashes | None] = field(default_factory=dict)
    declines: Declines = field(default_factory=dict)
    _tags: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    _shas: dict[str, list[str]] = field(default_factory=dict)
    _meant: dict[tuple[str, str], Meant] = field(default_factory=dict)
    _sets: dict[str, frozenset[tuple[str, str]]] = field(default_factory=dict)
    _pairs: dict[frozenset[tuple[str, str]], dict[str, str]] = field(default_factory=dict)
    _verdicts: dict[tuple[Version, Version], Fit] = field(default_factory=dict)
    _lineages: dict[tuple[str, str], tuple[set[str], set[str]]] = field(default_factory=dict)

    @classmethod
    def build(
        cls,
        commits: Iterable[Commit] = (),
        compatibility: Iterable[Compatibility] = (),
        read_at: ReadAt = read_nothing,
    ) -> CommitGraph:
        """Index commits and compatibility rows; a later row of a commit replaces all but the parents of an earlier."""
        graph = cls(read_at=read_at)
        for commit in commits:
            former = graph.commits.get((commit.repo, commit.sha))
            if former is not None and not commit.parents:
                commit = commit.model_copy(update={"parents": former.parents})
            graph.commits[commit.repo, commit.sha] = commit
            for tag in commit.all_tags:
                graph._tags.setdefault((commit.repo, tag), set()).add(commit.sha)
        rows = list(compatibility)
        for row in rows:
            for repo, sha in row.commits.items():
                if is_whole(sha):
                    graph.commits.setdefault((repo, sha), None)
        graph._index()
        for row in rows:
            graph._add(row)
        graph._index()
        return graph

    def _index(self) -> None:
        """Index the shas, and drop outdated look-ups."""
        self._meant, self._shas = {}, {}
        for repo, sha in sorted(self.commits):
            self._shas.setdefault(repo, []).append(sha)

    def _add(self, row: Compatibility) -> None:
        meant = ((repo, self.meant(repo, name)) for repo, name in sorted(row.commits.items()))
        # A row says nothing about a commit with an ambiguous name.
        members = [(repo, one.sha) for repo, one in meant if one.ambiguous is None]
        self.stacks[row.id] = dict(members)
        for member in members:
            self.commits.setdefault(member, None)
        if row.compatible:
            self._sets[row.id] = frozenset(members)
        rule = "incompatible" if not row.compatible else "deployed together" if row.environment else "compatible"
        for pair in combinations(members, 2):
            rows = self._pairs.setdefault(frozenset(pair), {})
            rows[rule] = min(rows.get(rule, row.id), row.id)

    def meant(self, repo: str, name: str, pins: Mapping[str, str] = NO_PINS) -> Meant:
        """Return the sha for a commit's name: the name itself, else the tag's sha, else the only sha with this prefix.

        ``pins`` are the commits that the question pins; their prefixes count even if the dataset doesn't list them.
        """
        if (repo, name) in self.commits or is_whole(name):
            return Meant(name)
        found = self._meant.get((repo, name))
        if found is None:
            found = self._meant[repo, name] = self._look_up(repo, name)
        pin = pins.get(repo)
        if pin is None or found.sha == pin or not begins(pin, name) or (repo, name) in self._tags:
            return found
        # The pin and a known commit have the same prefix.
        others = self._beginning(repo, name) - {pin}
        return _ambiguous(name, "prefix", len(others) + 1) if others else Meant(pin)

    def _look_up(self, repo: str, name: str) -> Meant:
        for kind, shas in (("tag", self._tags.get((repo, name), ())), ("prefix", self._beginning(repo, name))):
            if len(shas) > 1:
                return _ambiguous(name, kind, len(shas))
            for sha in shas:
                return Meant(sha)
        return Meant(name)

    def _beginning(self, repo: str, name: str) -> set[str]:
        """Return the known shas of a repository with a prefix."""
        if not _PREFIX.fullmatch(name):
            return set()
        shas, prefix = self._shas.get(repo, []), name.lower()
        first = bisect_left(shas, prefix)
        last = bisect_left(shas, prefix[:-1] + chr(ord(prefix[-1]) + 1), first)
        return set(shas[first:last])

    def within(self, repo: str, sha: str, since: str | None, until: str | None) -> bool | None:
        """Return whether a commit lies between two others of its repository, which are both included.

        None if the known parents don't tell the order. Parents that a record doesn't list may exist: two commits count
        as branches only if they have a known ancestor in common and no commit before them is missing.
        """
        found = [
            True if name is None else self._follows(repo, sha, self.meant(repo, name, {repo: sha}).sha, turned)
            for name, turned in ((since, False), (until, True))
        ]
        return False if False in found else None if None in found else True

    def _follows(self, repo: str, sha: str, other: str, turned: bool) -> bool | None:
        """Return whether a commit is another one or descends from it, or if ``turned`` is an ancestor of it."""
        if sha == other:
            return True
        if (repo, sha) not in self._lineages:
            self._lineages[repo, sha] = (
                self._reached(self._parents(repo), sha),
                self._reached(self._children(repo), sha),
            )
        before, after = self._lineages[repo, sha]
        if other in before or other in after:
            return (other in after) == turned
        beside = self._reached(self._parents(repo), other)
        listed = all(self.commits.get((repo, one)) is not None for one in before | beside)
        return False if listed and not before.isdisjoint(beside) else None

    def _parents(self, repo: str) -> Callable[[str], Iterable[str]]:
        def parents(sha: str) -> Iterable[str]:
            commit = self.commits.get((repo, sha))
            return () if commit is None else commit.parents

        return parents

    def _children(self, repo: str) -> Callable[[str], Iterable[str]]:
        children: dict[str, list[str]] = {}
        for sha in self._shas.get(repo, ()):
            for parent in self._parents(repo)(sha):
                children.setdefault(parent, []).append(sha)
        return lambda sha: children.get(sha, ())

    @staticmethod
    def _reached(after: Callable[[str], Iterable[str]], start: str) -> set[str]:
        found, row = {start}, [start]
        while row:
            row = [one for one in {one for sha in row for one in after(sha)} if one not in found]
            found.update(row)
        return found

    def commit_of(self, artifact: str, graph: str | None) -> tuple[str, str] | None:
        """Return the (repository, sha) at which the graph read an artifact, or None if graphs disagree.

        Only the named knowledge graph counts if the dataset has it, otherwise all graphs do.
        """
        if self.read_at is read_nothing:
            return None
        found = {(repo, self.meant(repo, name).sha) for repo, name in self.read_at(artifact, graph)}
        return found.pop() if len(found) == 1 else None

    def __bool__(self) -> bool:
        return bool(self.commits)

    def knows(self, version: Version) -> bool:
        """Return whether the commit of a version is known."""
        return version.repo is not None and version.sha is not None and (version.repo, version.sha) in self.commits

    def verdict(self, first: Version, second: Version, pins: Mapping[str, str] = NO_PINS) -> Fit:
        """Return whether two versions fit, in either order, by the first rule that applies.

        Undecided versions fit if a question pins both, since its annotation covers these commits together.
        """
        key = (first, second)
        found = self._verdicts.get(key)
        if found is None:
            found = self._verdicts[key] = self._decide(first, second)
        if found.rule in UNDECIDED and _pinned(first, pins) and _pinned(second, pins):
            return Fit(True, "pinned together")
        return found

    def _decide(self, first: Version, second: Version) -> Fit:
        if not (self.knows(first) and self.knows(second)):
            return Fit(False, UNKNOWN_COMMIT)
        if (first.repo, first.sha) == (second.repo, second.sha):
            return Fit(True, "same commit")
        pair = self._pairs.get(frozenset({(first.repo, first.sha), (second.repo, second.sha)}), {})  # type: ignore[arg-type]
        for rule in ("incompatible", "compatible", "deployed together"):
            if rule in pair:
                return Fit(rule != "incompatible", rule)
        branches = self._branch(first), self._branch(second)
        if first.repo == second.repo and branches[0] is not None and branches[0] == branches[1]:
            return Fit(True, "same branch")
        times = self._time(first), self._time(second)
        on_default = all(branch in DEFAULT_BRANCHES for branch in branches)
        if on_default and times[0] is not None and times[1] is not None and abs(times[0] - times[1]) < WINDOW:
            return Fit(True, "same day")
        return Fit(False, "no rule")

    def _branch(self, version: Version) -> str | None:
        commit = self.commits[version.repo, version.sha]  # type: ignore[index]
        return version.branch or (commit.branch if commit else None)

    def _time(self, version: Version) -> datetime | None:
        commit = self.commits[version.repo, version.sha]  # type: ignore[index]
        return commit.committed_at if commit else None

    def own_pins(self, question: Question | QuestionStruct) -> dict[str, str]:
        """Return the commits that a question itself pins, by repository."""
        return {repo: self.meant(repo, name).sha for repo, name in question.commits.items()}

    def pins(self, question: Question | QuestionStruct) -> dict[str, str]:
        """Return the commits of a question by repository: those of its stack, overridden by its own."""
        stack = self.stacks.get(question.stack, {}) if question.stack else {}
        return {**stack, **self.own_pins(question)}

    def clashing_row(self, first: Version, second: Version) -> str | None:
        """Return the id of the row that declares two versions incompatible, of several the first by its id."""
        return self._pairs.get(frozenset({(first.repo, first.sha), (second.repo, second.sha)}), {}).get("incompatible")  # type: ignore[arg-type]

    def clash(self, versions: Iterable[tuple[str, str]]) -> bool:
        """Return whether a row declares two of these (repository, sha) pairs incompatible."""
        return any("incompatible" in self._pairs.get(frozenset(pair), ()) for pair in combinations(versions, 2))

    @property
    def knows_sets(self) -> bool:
        """Whether there is any compatible row or deployment."""
        return bool(self._sets)

    def fits_one_set(self, versions: Iterable[tuple[str, str]]) -> bool:
        """Return whether one compatible row or deployment holds all these (repository, sha) pairs."""
        wanted = frozenset(versions)
        return any(wanted <= members for members in self._sets.values())


def begins(sha: str, name: str) -> bool:
    """Return whether a name is a prefix of a sha, in either case; a tag or a branch is none.

    >>> begins("5c5bb23d", "5C5B"), begins("release-2", "release")
    (True, False)
    """
    return _PREFIX.fullmatch(name) is not None and sha.startswith(name.lower())


def _ambiguous(name: str, kind: str, count: int) -> Meant:
    return Meant(name, f"ambiguous {kind}: {count} commits")
