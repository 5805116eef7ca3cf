"""Two runs compared on the same questions: each measure with its interval and test, by group, and what moved most."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from graphkit.engines.cypher import measure_values
from graphkit.errors import InputError
from graphkit.graph.catalog import cypher
from graphkit.graph.connection import Store
from graphkit.measures.base import Measure
from graphkit.measures.registry import resolve_measures
from graphkit.statistics import RESAMPLES, SEED, PairedResult, compare_pairs, holm
from graphkit.workflow import failures, require_run

By = Literal["category", "difficulty", "repo", "relation"]

#: Compared where no measure is named: one of each question that a team asks, so that Holm's correction stays mild.
COMPARED = ("EdgeRecall", "EdgePrecision", "EdgeF1", "BoundaryRecall", "PathPrefix", "CrossRepoPrecision", "Coherence")
COMPARED_RANKING = ("nDCG@10", "Recall@20", "RR", "Success@5")

#: A difference is called significant below this corrected p-value.
LEVEL = 0.05

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Group:
    """The measures of both runs over the questions of one group; ``name`` is None for all questions."""

    name: str | None
    results: tuple[PairedResult, ...]


@dataclass(frozen=True, slots=True)
class Mover:
    """A question that moved, with the gold edges that only the second run walked, and those that only the first did."""

    question: str
    measure: str
    first: float
    second: float
    found: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def delta(self) -> float:
        """How far it moved, second minus first."""
        return self.second - self.first


@dataclass(frozen=True)
class RunComparison:
    """Two runs over the same questions; every difference is second minus first.

    ``left_out`` tells for each measure how many questions only one of the runs was scored on: they are not compared.
    """

    first: str
    second: str
    dataset: str
    groups: tuple[Group, ...]
    movers: tuple[Mover, ...]
    left_out: Mapping[str, int]

    @property
    def overall(self) -> tuple[PairedResult, ...]:
        """The measures over all questions."""
        return self.groups[0].results

    def regressions(self) -> list[PairedResult]:
        """Return the measures on which the second run is significantly worse, over all questions."""
        worse = []
        for result in self.overall:
            sign = 1 if resolve_measures([result.measure])[0].higher_is_better else -1
            if result.p_holm < LEVEL and result.delta * sign < 0:
                worse.append(result)
        return worse

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``graphkit compare --json`` prints."""
        return {
            "first": self.first,
            "second": self.second,
            "dataset": self.dataset,
            "groups": [
                {"name": group.name, "measures": [dataclasses.asdict(one) for one in group.results]}
                for group in self.groups
            ],
            "movers": [{**dataclasses.asdict(one), "delta": one.delta} for one in self.movers],
            "left_out": dict(self.left_out),
            "regressions": [one.measure for one in self.regressions()],
        }


def compare_runs(
    store: Store,
    first: str,
    second: str,
    *,
    measures: Sequence[str | Measure] = (),
    by: By | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    movers: int = 5,
) -> RunComparison:
    """Compare two runs that the graph holds, on the questions that both were scored on.

    Parameters
    ----------
    by
        Also compare within each category, difficulty, gold repository or gold relation; a question may be in several.
    movers
        How many of the questions that moved most are shown, by the first measure.

    Raises
    ------
    InputError
        A run isn't known or compared with itself, the runs are of different datasets, or a measure can't be compared.
    """
    chosen = resolve_measures(measures or (*COMPARED, *COMPARED_RANKING))
    dataset = _common_dataset(store, first, second)
    text_only = [str(measure) for measure in chosen if measure.query is None]
    if text_only:
        raise InputError(f"not computed in the graph, so not compared: {', '.join(text_only)}")
    values = {run: {str(one): _scored(store, dataset, run, one) for one in chosen} for run in (first, second)}
    before, after = values[first], values[second]
    groups = [Group(None, _results(before, after, None, resamples, seed))]
    if by is not None:
        for name, members in _members(store, dataset, by).items():
            groups.append(Group(name, _results(before, after, members, resamples, seed)))
    if not groups[0].results:
        raise InputError("no question was scored in both runs", remedy=f"`graphkit failures {first}` tells why.")
    return RunComparison(
        first=first,
        second=second,
        dataset=dataset,
        groups=tuple(group for group in groups if group.results),
        movers=_movers(store, first, second, before, after, movers),
        left_out={name: count for name in before if (count := len(before[name].keys() ^ after[name].keys()))},
    )


def _common_dataset(store: Store, first: str, second: str) -> str:
    require_run(store, first)
    require_run(store, second)
    if first == second:
        raise InputError(f"{first!r} is compared with itself: every difference would be 0", remedy="Name two runs.")
    datasets = {str(row["id"]): str(row["dataset"]) for row in store.read(cypher("read/runs"))}
    if datasets[first] != datasets[second]:
        raise InputError(
            f"the runs answer different questions: {first} is of the dataset {datasets[first]!r}, "
            f"{second} of {datasets[second]!r}",
            remedy="Compare runs over the same dataset.",
        )
    return datasets[first]


def _scored(store: Store, dataset: str, run: str, measure: Measure) -> dict[str, float]:
    found = measure_values(store, dataset, run, measure)
    return {question: value for question, value in found.items() if isinstance(value, float)}


def _results(
    before: Mapping[str, Values], after: Mapping[str, Values], members: set[str] | None, resamples: int, seed: int
) -> tuple[PairedResult, ...]:
    """Compare each measure over the questions that both runs were scored on; Holm's correction is over the measures."""
    results = []
    for name, values in before.items():
        both = sorted(values.keys() & after[name].keys() & (members if members is not None else values.keys()))
        if both:
            pairs = [values[question] for question in both], [after[name][question] for question in both]
            results.append(compare_pairs(name, *pairs, resamples=resamples, seed=seed))
    corrected = holm([result.p_value for result in results])
    return tuple(
        dataclasses.replace(result, p_holm=p_value) for result, p_value in zip(results, corrected, strict=True)
    )


def _members(store: Store, dataset: str, by: By) -> dict[str, set[str]]:
    """Return the questions of each group, in the order of the groups' names."""
    members: dict[str, set[str]] = {}
    for row in store.read(cypher("read/question_groups"), {"dataset": dataset}):
        value: Any = row[{"repo": "repositories", "relation": "relations"}.get(by, by)]
        for name in value if isinstance(value, list) else [value]:
            members.setdefault(str(name) if name else "(none)", set()).add(str(row["question"]))
    return dict(sorted(members.items()))


def _movers(
    store: Store,
    first: str,
    second: str,
    before: Mapping[str, Values],
    after: Mapping[str, Values],
    count: int,
) -> tuple[Mover, ...]:
    name = next(iter(before))
    both = before[name].keys() & after[name].keys()
    moved = [question for question in both if before[name][question] != after[name][question]]
    moved.sort(key=lambda question: (-abs(after[name][question] - before[name][question]), question))
    return tuple(
        Mover(
            question,
            name,
            before[name][question],
            after[name][question],
            found=_edges(store, second, first, question),
            lost=_edges(store, first, second, question),
        )
        for question in moved[:count]
    )


def _edges(store: Store, run: str, other: str, question: str) -> tuple[str, ...]:
    """Return the gold edges of a question that one run walked and the other did not."""
    rows = failures(store, run, "found-and-lost", question=question, other=other, limit=100)
    return tuple(f"{row['source']} -{row['relation'] or ''}-> {row['target']}" for row in rows)


def reading(points: float) -> str:
    """Return how a difference of accuracy, in percentage points, reads."""
    if points >= 5:
        return "strong"
    if points >= 1:
        return "moderate"
    if points > -1:
        return "neutral"
    return "slight regression" if points > -5 else "significant regression"
