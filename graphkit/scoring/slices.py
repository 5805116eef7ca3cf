"""Slices of the questions by what their gold has in the graph: hops, boundaries, relations, repositories, commits.

Slices by hops, by the number of repositories and by session partition the questions: their counts and sums add up to
the whole. A question counts in each boundary, relation, repository and commit of its gold, so these may overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.measures.case import Case
from graphkit.measures.matching import Edge
from graphkit.records.commits import CommitGraph
from graphkit.records.option_values import By
from graphkit.records.words import NO_LABEL, counted
from graphkit.scoring.question_clusters import repositories_of

#: The slice of a question whose needed edges all stay within repositories.
WITHIN = "(no boundary)"


def needed_edges(case: Case) -> set[Edge]:
    """Return the edges that a question needs: the required ones of the shortest alternative of each unit of its gold.

    They are what EdgeRecall requires of a run that takes the shortest alternatives. An edge that two units share is
    needed once, and an alternative that requires nothing is ignored.
    """
    return {edge for unit in case.units for edge in next((path.needed for path in unit if path.needed), ())}


def slices_of(case: Case, by: By) -> list[str]:
    """Return the slices of a question, sorted; ``"(none)"`` if it or its gold has nothing of the kind.

    ``by`` is one of these:

    ``"hops"``
        The number of needed edges (:func:`needed_edges`).
    ``"boundary"``
        Each pair of repositories between which a needed edge leads, in its direction.
    ``"relation"``
        Each relation of a needed edge.
    ``"repo"``
        Each repository of a node in the gold paths, optional steps and all alternatives included.
    ``"repositories"``
        The number of repositories of the gold paths and of the relevant ids, as ``--cluster repo-set`` takes them.
    ``"session"``
        Its session.
    ``"commit"``
        Each commit that the question pins, itself or by its stack, behind its repository.

    Gold whose first unit is a -CALLS-> b -USES-> c or a -CALLS-> c, and whose second one is c -USES-> d, needs
    a -CALLS-> c and c -USES-> d:

    >>> from graphkit.records.structs import GoldPathStruct, QuestionStruct, StepStruct
    >>> short, last = StepStruct("x:a", "y:c", "CALLS"), StepStruct("y:c", "y:d", "USES")
    >>> long = [StepStruct("x:a", "x:b", "CALLS"), StepStruct("x:b", "y:c", "USES")]
    >>> units = GoldPathStruct(group="way", steps=long), GoldPathStruct(group="way", steps=[short])
    >>> case = Case(QuestionStruct("q", "?", paths=[*units, GoldPathStruct(steps=[last])]), None)
    >>> [slices_of(case, by) for by in ("hops", "boundary", "relation", "repositories")]
    [['2'], ['x -> y'], ['CALLS', 'USES'], ['2']]
    """
    places = case.places
    found: Iterable[str] = ()
    if by == "repo":
        found = places.named(node for path in case.gold for one, _, other in path.edges for node in (one, other))
    elif by == "repositories":
        found = [str(len(repos))] if (repos := repositories_of(case.question, places)) else []
    elif by == "session":
        found = filter(None, [case.question.session])
    elif by == "commit":
        found = {f"{repo}@{sha}" for repo, sha in case.pins.items()}
    elif needed := needed_edges(case):
        if by == "hops":
            found = [str(len(needed))]
        elif by == "relation":
            found = {relation for _, relation, _ in needed if relation}
        else:
            crossing = places.boundary(needed)
            found = {f"{places.repo(one)} -> {places.repo(other)}" for one, _, other in crossing} or {WITHIN}
    return sorted(found) or [NO_LABEL]


def overlap_in_words(by: By, slices: Mapping[str, int]) -> str:
    """Return a sentence on questions that are in several slices, by their number for each; an empty text if none is."""
    if not (several := sum(count > 1 for count in slices.values())):
        return ""
    some = f"{several} of {counted(len(slices), 'question')} {'is' if several == 1 else 'are'} in several"
    return f"slices by {by} overlap: {some}, so they add up to more than the whole"


@dataclass(frozen=True, slots=True)
class Slices:
    """The slices of questions by their gold.

    Attributes
    ----------
    of
        The slices of each question: one or more (:func:`slices_of`).
    """

    by: By
    of: Mapping[str, list[str]] = field(repr=False)

    @classmethod
    def of_cases(cls, by: By, cases: Iterable[Case]) -> Slices:
        """Return the slices of some questions, whatever they were answered."""
        return cls(by, {case.question.id: slices_of(case, by) for case in cases})

    @classmethod
    def of_dataset(cls, by: By, dataset: Dataset) -> Slices:
        """Return the slices of the questions of a dataset."""
        commits = dataset.commit_graph(Problems("skip")) if by == "commit" else CommitGraph()
        commits.places = dataset.places()
        return cls.of_cases(by, (Case(question, None, commits) for question in dataset.every_question()))

    def members(self) -> dict[str, set[str]]:
        """Return the questions of each slice; slices are sorted, numbers by their size."""
        found: dict[str, set[str]] = {}
        for question, names in self.of.items():
            for name in names:
                found.setdefault(name, set()).add(question)
        return dict(sorted(found.items(), key=lambda one: (len(one[0]) if one[0].isdecimal() else 0, one[0])))

    @property
    def overlap(self) -> int:
        """The number of questions in several slices."""
        return sum(len(names) > 1 for names in self.of.values())

    @property
    def note(self) -> str:
        """A sentence on slices that overlap; an empty text if they partition the questions."""
        return overlap_in_words(self.by, {question: len(names) for question, names in self.of.items()})

    def as_json(self) -> dict[str, Any]:
        """Return how the questions are sliced, as outputs show it."""
        sizes = {name: len(questions) for name, questions in self.members().items()}
        return {"by": self.by, "sizes": sizes, "overlap": self.overlap}
