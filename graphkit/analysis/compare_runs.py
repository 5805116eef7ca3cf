"""Two runs that the graph holds, compared on the questions that both were scored on."""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from graphkit.analysis.paired import RESAMPLES, SEED
from graphkit.analysis.run_pairs import (
    By,
    GoldComparison,
    RunComparison,
    groups_of,
    judged_results,
    left_out,
    movers_of,
    refuse_itself,
    unscored,
)
from graphkit.analysis.scales import scale_of
from graphkit.analysis.shared_values import values_of
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.graph.digests import dataset_digest
from graphkit.graph.failures import failures
from graphkit.graph.knowledge import invalid_questions
from graphkit.graph.known_names import require_run
from graphkit.graph.queries import cypher
from graphkit.measures.base import Measure
from graphkit.records.unanswered import FailedAs
from graphkit.records.words import counted
from graphkit.scoring.results import NO_LABEL


def compare_runs(
    store: Store,
    first: str,
    second: str,
    *,
    measures: Sequence[str | Measure] = (),
    by: By | None = None,
    engine: Literal["cypher"] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    movers: int = 5,
    strict: bool = False,
    failed_as: FailedAs = "worst",
) -> RunComparison:
    """Compare two runs that the graph holds, on the questions that both were scored on.

    Parameters
    ----------
    measures
        Names of any scores that the graph holds of both runs, whoever gave them, and of any measure that is computed in
        the graph; by default graphkit's usual ones.
    by
        Also compare within each category, difficulty, gold repository or gold relation; a question may be in several.
    engine
        ``"cypher"`` computes every measure in the graph now; by default the scores are read that it holds.
    movers
        How many of the questions that moved most are shown, by the first measure.
    strict
        Refuse scores that others gave by different gold; by default such questions aren't compared, and told.
    failed_as
        How ``with_failed``, on which verdict and gates rest, counts a question that one run failed on and the other was
        scored on: as the worst value of its measure, or not at all.

    Raises
    ------
    InputError
        A run isn't known or compared with itself, the runs are of different datasets, or a measure can't be compared:
        it is scored by different versions of a grader, or neither held of both nor computed in the graph.
    """
    dataset = _common_dataset(store, first, second)
    values, gold = values_of(store, dataset, (first, second), measures, engine)
    check = GoldComparison.hold((first, second), values, gold, strict)
    before, after = values
    answers = {run: store.read(cypher("read/answers"), {"dataset": dataset, "run": run}) for run in (first, second)}
    stale = invalid_questions(store, dataset)
    failed = _failed(answers[first], stale), _failed(answers[second], stale)
    questions = {str(row["question"]) for row in answers[first]}
    members = _members(store, dataset, by) if by is not None else {}
    scales = {name: scale_of(name, [*before[name].values(), *after[name].values()]) for name in before}
    groups = groups_of(before, after, scales, members, resamples, seed)
    if not groups[0].results:
        raise InputError("no question was scored in both runs", remedy=f"`graphkit failures {first}` tells why.")
    return RunComparison(
        first=first,
        second=second,
        dataset=dataset,
        groups=groups,
        movers=movers_of(first, second, before, after, movers, partial(_edges, store)),
        questions=len(questions),
        left_out=left_out(before, after),
        unscored=unscored(before, after, check.left(dict.fromkeys(before, questions))),
        warnings=(*check.warnings((first, second)), *_warnings(store, dataset, answers, stale, failed_as)),
        different_gold=check.different,
        with_failed=judged_results(before, after, failed, failed_as, scales, resamples, seed),
        failed=(len(failed[0]), len(failed[1])),
        failed_as=failed_as,
    )


def _failed(answers: Iterable[Mapping[str, Any]], stale: Container[str]) -> set[str]:
    """Return the questions with valid gold that a run failed on, or has no record for."""
    return {
        str(row["question"]) for row in answers if (row["missing"] or row["failed"]) and row["question"] not in stale
    }


def _common_dataset(store: Store, first: str, second: str) -> str:
    require_run(store, first)
    require_run(store, second)
    refuse_itself(first, second)
    datasets = {str(row["id"]): str(row["dataset"]) for row in store.read(cypher("read/runs"))}
    if datasets[first] != datasets[second]:
        raise InputError(
            f"the runs answer different questions: {first} is of the dataset {datasets[first]!r}, "
            f"{second} of {datasets[second]!r}",
            remedy="Compare runs over the same dataset.",
        )
    return datasets[first]


def _warnings(
    store: Store,
    dataset: str,
    answers: Mapping[str, Sequence[Mapping[str, Any]]],
    stale: Mapping[str, str],
    failed_as: FailedAs,
) -> Iterator[str]:
    """Yield what the comparison lacks: records of either run, questions without valid gold, changes of the dataset."""
    counts = "unscored" if failed_as == "unscored" else "the worst value of its measure, where the other run was scored"
    for run, rows in answers.items():
        missing, failed = (sum(bool(row[kind]) for row in rows) for kind in ("missing", "failed"))
        whole = f" of {counted(len(rows), 'question')}"
        told = [f"has no record for {missing}{whole}"] if missing else []
        told += [f"failed on {failed}{'' if missing else whole}"] if failed else []
        if told:
            yield f"{run} {' and '.join(told)}: each counts as {counts}"
    if stale:
        yield f"the gold of {counted(len(stale), 'question')} is stale: not compared"
    for row in store.read(cypher("read/datasets")):
        with contextlib.suppress(InputError, OSError):  # the folder may be gone, or on another machine
            if row["name"] == dataset and row["digest"] != dataset_digest(Dataset(str(row["folder"]))):
                yield (
                    f"{row['folder']} has changed since it was loaded: both runs are scored by what the graph holds "
                    "(`graphkit load` brings it up to date)"
                )


def _members(store: Store, dataset: str, by: By) -> dict[str, set[str]]:
    """Return the questions of each group, in the order of the groups' names."""
    members: dict[str, set[str]] = {}
    for row in store.read(cypher("read/question_groups"), {"dataset": dataset}):
        value: Any = row[{"repo": "repositories", "relation": "relations"}.get(by, by)]
        for name in (value or [None]) if isinstance(value, list) else [value]:
            members.setdefault(str(name) if name else NO_LABEL, set()).add(str(row["question"]))
    return dict(sorted(members.items()))


def _edges(store: Store, run: str, other: str, question: str) -> tuple[str, ...]:
    """Return the gold edges of a question that one run walked and the other did not, each once."""
    rows = failures(store, run, "found-and-lost", question=question, other=other)
    return tuple(dict.fromkeys(f"{row['source']} -{row['relation'] or ''}-> {row['target']}" for row in rows))
