"""Questions over two versions: gold paths with commits of their own, and what of a run fits which of these sides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TypeVar

from graphkit.measures.matching import NOT_STATED
from graphkit.records.commits import is_whole
from graphkit.records.ids import NodeCache, Places
from graphkit.records.structs import QuestionStruct, StepStruct, TraversalStepStruct

#: A step of gold or of a traversal.
S = TypeVar("S", StepStruct, TraversalStepStruct)


class Side:
    """A version of the system that a question is about: the commits of gold paths, by repository.

    Attributes
    ----------
    commits
        The commits of the question, overridden by those of the path. A repository that is missing sets no condition.
    label
        What tells it from the other sides: the name of its commit. If several repositories differ, a name that most of
        them have stands alone, and any other beside its repository.
    names
        How gold spells the commits.
    joined
        The pairs of nodes that gold joins on this side, in whatever direction.
    """

    __slots__ = ("commits", "joined", "label", "names")

    def __init__(self, commits: Mapping[str, str]) -> None:
        self.commits = commits
        self.names: dict[str, str] = {}
        self.label = ""
        self.joined: set[frozenset[str]] = set()

    def fits(self, repo: str | None, sha: str | None) -> bool:
        """Return whether a commit is that of this side; nothing is asked of an unknown one, or without a pin."""
        return repo is None or sha is None or self.commits.get(repo, sha) == sha

    def named(self, node: str) -> str:
        """Return the name of a node on this side.

        >>> side = Side({"api": "1" * 40})
        >>> side.label = "v1.0.0"
        >>> side.named("api:auth.py")
        'api:auth.py@v1.0.0'
        """
        return f"{node}@{self.label}"


#: The repository and the commit of each end of an edge; None for one that isn't stated.
Ends = list[tuple[str | None, str | None]]


def ends_of(step: TraversalStepStruct, places: Places, sha: Callable[[str | None, str], str]) -> Ends:
    """Return where the ends of a traversed edge lie, and at which commits; ``sha`` returns what a name means there."""
    found: Ends = []
    for node, name in ((step.source, step.source_commit), (step.target, step.target_commit)):
        repo = places.repo(node)
        found.append((repo, sha(repo, name) if name and name != NOT_STATED else None))
    return found


def is_bare(ends: Ends, sides: Iterable[Side]) -> bool:
    """Return whether an edge doesn't show which version was read.

    It names the commit of no end whose repository a side pins, or the sides that it fits differ at an unnamed end.
    """
    pinned = [(repo, sha) for repo, sha in ends if any(repo in side.commits for side in sides)]
    if not any(sha for _, sha in pinned):
        return bool(pinned)
    fitting = [side for side in sides if all(side.fits(*end) for end in ends)]
    return any(not sha and len({side.commits.get(repo or "") for side in fitting}) > 1 for repo, sha in pinned)


def picked_side(side: Side, own: list[Side], fitting: list[Side]) -> Side | None:
    """Return the side by which a retrieved path that is compared on a side names one of its edges."""
    for sides in (own, fitting):
        if side in sides:
            return side
        if sides:
            return sides[0]
    return None


def sides_of(question: QuestionStruct, pins: Mapping[str, str], sha: Callable[[str, str], str]) -> list[Side]:
    """Return the side of each gold path that holds a step; paths of the same commits share theirs.

    ``pins`` are the commits of the question, and ``sha`` returns what a name means in a repository.
    """
    found: dict[frozenset[tuple[str, str]], Side] = {}
    of_path = []
    for path in (one for one in question.paths if one.steps):
        own = {**question.commits, **path.commits}
        commits = {**pins, **{repo: sha(repo, name) for repo, name in path.commits.items()}}
        key = frozenset(commits.items())
        side = found.setdefault(key, Side(commits))
        of_path.append(side)
        for repo, whole in commits.items():
            side.names[repo] = min(filter(None, (side.names.get(repo), own.get(repo, whole))))
    repos = sorted({repo for side in found.values() for repo in side.commits})
    telling = [repo for repo in repos if len({side.commits.get(repo) for side in found.values()}) > 1] or repos
    for short, once in ((True, True), (True, False), (False, False)):
        most = len(telling) / 2 if once or len(telling) == 1 else len(telling)
        for side in found.values():
            names = [(repo, side.names[repo]) for repo in telling if repo in side.names]
            shown = {repo: name[:7] if short and is_whole(name) else name for repo, name in names}
            bare = {name for name in shown.values() if [*shown.values()].count(name) > most}
            others = (f"{repo} {name}" for repo, name in shown.items() if name not in bare)
            side.label = ", ".join([*bare, *others]) or "any commit"
        if len({side.label for side in found.values()}) == len(found):
            break
    return of_path


class SidedPlaces(Places):
    """The places of nodes that may carry a side: those of the nodes without it, and names that end with it."""

    def __init__(self, places: Places, plain: Mapping[str, str]) -> None:
        super().__init__(lambda _: (), lambda: places.repositories, lambda: places.stated)
        self._places, self._plain, self.given = places, plain, places.given

    @cached_property
    def _found(self) -> NodeCache[str | None]:
        return NodeCache(lambda node: self._places.repo(self._plain.get(node, node)))

    def split(self, node: str) -> tuple[str | None, str | None]:
        return self._places.split(self._plain.get(node, node))

    def file(self, name: str) -> str:
        return self._places.file(self._plain.get(name, name))

    def names(self, node: str) -> tuple[str, ...]:
        plain = self._plain.get(node, node)
        return (*(f"{name}{node[len(plain) :]}" for name in self._places.names(plain)),)
