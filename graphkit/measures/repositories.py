"""Measures of repositories: whether retrieval and traversal stay in the relevant ones, and reach them all."""

from __future__ import annotations

from graphkit.measures.base import Measure
from graphkit.measures.case import Case, Gold
from graphkit.measures.matching import best_alternatives
from graphkit.measures.unscored import NEITHER_LOGGED, Unscored

NO_REPOSITORY = "gold names no repository"


class CrossRepoPrecision(Measure):
    """Retrieved repositories that are relevant / retrieved repositories.

    The retrieved repositories are those of the chunks and of the ends of the traversed edges, as far as the record logs
    them. It is not scored if no repository is known and chunks or traversal weren't logged.
    """

    source = "set precision over the repositories of both subgraphs"
    query = "cross_repo_precision"
    query_parameters = {"unscored": NO_REPOSITORY, "unlogged": NEITHER_LOGGED}
    target = 0.7
    severe = 0.5

    def value(self, case: Case) -> float | Unscored:
        # Optional and alternative steps are relevant too.
        relevant = case.relevant_repositories | case.places.named(
            node for source, _, target in case.gold_edges for node in (source, target)
        )
        if not relevant:
            return Unscored(NO_REPOSITORY, of_question=True)
        retrieved = case.repositories
        if not retrieved:
            return 0.0 if case.all_logged else Unscored(NEITHER_LOGGED)
        return len(retrieved & relevant) / len(retrieved)


class CrossRepoRecall(Measure):
    """Relevant repositories retrieved / relevant repositories.

    The relevant repositories are those of the relevant ids and of the required gold steps; of alternatives the best
    one counts. Retrieved repositories and unscored cases are those of ``CrossRepoPrecision``.
    """

    source = "set recall over the repositories of both subgraphs"
    query = "cross_repo_recall"
    query_parameters = {"unscored": NO_REPOSITORY, "unlogged": NEITHER_LOGGED}

    def value(self, case: Case) -> float | Unscored:
        retrieved = case.repositories

        def items(gold: Gold) -> set[str]:
            return case.places.named(node for edge in gold.required for node in (edge[0], edge[2]))

        required, _ = best_alternatives(case.units, items, lambda wanted: wanted & retrieved)
        required = required | case.relevant_repositories
        if not required:
            return Unscored(NO_REPOSITORY, of_question=True)
        if not retrieved and not case.all_logged:
            return Unscored(NEITHER_LOGGED)
        return len(required & retrieved) / len(required)
