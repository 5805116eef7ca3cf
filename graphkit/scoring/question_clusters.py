"""Clusters of questions: those about one repository, or of one session, category or group, aren't independent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.records.ids import Places
from graphkit.records.structs import QuestionStruct
from graphkit.records.words import NO_LABEL, counted, shortened

ClusterBy = Literal["repo", "repo-set", "session", "category", "group"]

OVERLAPPING = "sets that share a repository count as independent, which they aren't (--cluster repo joins them)"


@dataclass(frozen=True, slots=True)
class QuestionClusters:
    """The clusters of questions, which are independent of one another.

    Attributes
    ----------
    by
        ``"repo"``: questions that share a repository of their gold, directly or through others. ``"repo-set"``: those
        whose gold has the same repositories. Else those of one session, category or group.
    of
        The name of each question's cluster. Questions without a repository or label are one cluster; one without a
        session is a cluster of its own.
    overlap
        Whether clusters share a repository.
    """

    by: ClusterBy
    of: Mapping[str, str] = field(repr=False)
    overlap: bool = False

    @classmethod
    def by_label(cls, by: ClusterBy, labels: Mapping[str, str | None]) -> QuestionClusters:
        """Return the clusters of questions that are given with their session, category or group.

        Raises
        ------
        InputError
            No question has one.
        """
        if not any(labels.values()):
            raise InputError(f"--cluster {by}: no question has a {by}", remedy=f"Give the questions a {by}.")
        alone = "{} alone" if by == "session" else NO_LABEL
        return cls(by, {question: label or alone.format(question) for question, label in labels.items()})

    @classmethod
    def by_repositories(cls, by: ClusterBy, repositories: Mapping[str, Collection[str]]) -> QuestionClusters:
        """Return the clusters of questions that are given with the repositories of their gold.

        Raises
        ------
        InputError
            The gold of no question names a repository.
        """
        if not any(repositories.values()):
            raise InputError(
                f"--cluster {by}: the gold of no question names a repository",
                remedy="Begin the ids of gold with the repository (repo:path#symbol), or cluster by category or group.",
            )
        if by == "repo":
            return cls(by, _connected(repositories))
        counts = Counter(repo for repos in {*map(frozenset, repositories.values())} for repo in repos)
        overlap = any(count > 1 for count in counts.values())
        return cls(by, {question: _listed(repos) for question, repos in repositories.items()}, overlap)

    @classmethod
    def of_questions(cls, by: ClusterBy, questions: Iterable[QuestionStruct], places: Places) -> QuestionClusters:
        """Return the clusters of the questions of a dataset; raise InputError as the other ways do."""
        if by in ("repo", "repo-set"):
            return cls.by_repositories(by, {one.id: repositories_of(one, places) for one in questions})
        return cls.by_label(by, {one.id: getattr(one, by) for one in questions})

    @classmethod
    def of_dataset(cls, by: ClusterBy, dataset: Dataset) -> QuestionClusters:
        """Return the clusters of a dataset; raise InputError as the other ways do."""
        return cls.of_questions(by, dataset.every_question(), dataset.places())

    def codes(self, questions: Sequence[str]) -> list[int]:
        """Return the number of the cluster of each question, in the same order."""
        numbers: dict[str, int] = {}
        return [numbers.setdefault(self.of.get(question, NO_LABEL), len(numbers)) for question in questions]

    @property
    def sizes(self) -> Counter[str]:
        """The number of questions of each cluster."""
        return Counter(self.of.values())

    @property
    def sentence(self) -> str:
        """The number of clusters and the largest one, in words, with what limits them."""
        sizes = self.sizes
        [(name, largest)] = sizes.most_common(1)
        asked = counted(len(self.of), "question")
        if len(sizes) == 1:
            shared = "repositories connect them all" if self.by == "repo" else f"they are all of {name}"
            return f"clustered by {self.by}: {asked}, 1 cluster, since {shared}: no interval and no test can be given"
        parts = f"{counted(len(sizes), 'cluster')} of {asked}, the largest of {largest} ({shortened(name, _SHOWN)})"
        without = sizes.get(NO_LABEL, 0)
        notes = [f"; {without} without a {self.by} are one cluster"] if without else []
        notes += [f"; {OVERLAPPING}"] if self.overlap else []
        return f"clustered by {self.by}: {parts}{''.join(notes)}"

    def as_json(self) -> dict[str, Any]:
        """Return the clustering as outputs show it."""
        sizes = self.sizes
        return {
            "by": self.by,
            "clusters": len(sizes),
            "largest": max(sizes.values()),
            "sizes": dict(sizes.most_common()),
            "note": self.sentence,
        }


#: How many characters of a cluster's name a sentence shows.
_SHOWN = 60


def repositories_of(question: QuestionStruct, places: Places) -> set[str]:
    """Return the repositories of the nodes in the gold paths and of the relevant ids of a question."""
    steps = [step for path in question.paths for step in path.steps]
    relevant = [node for node, gain in question.relevant.items() if gain > 0]
    return places.named([*(node for step in steps for node in (step.source, step.target)), *relevant])


def _listed(repositories: Collection[str]) -> str:
    return ", ".join(sorted(repositories)) or NO_LABEL


def _connected(repositories: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Return the cluster of each question: the repositories that it is connected with, directly or not."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    names = sorted(set().union(*repositories.values()))
    places = {name: place for place, name in enumerate(names)}
    # A question connects its first repository with each of its repositories.
    edges = [(places[min(some)], places[repo]) for some in repositories.values() if some for repo in some]
    rows, columns = zip(*edges, strict=True)
    graph = coo_array(([1] * len(edges), (rows, columns)), shape=(len(names), len(names)))
    _, labels = connected_components(graph, directed=False)
    members: dict[int, list[str]] = {}
    for name, label in zip(names, labels, strict=True):
        members.setdefault(int(label), []).append(name)
    return {
        question: _listed(members[int(labels[places[min(some)]])]) if some else NO_LABEL
        for question, some in repositories.items()
    }
