"""Remove a run or a dataset from the graph. Its own node goes last, so that an interrupted removal can go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from graphkit.database.store import Store
from graphkit.errors import InputError, did_you_mean
from graphkit.graph.datasets import clear_gold, reservation_of
from graphkit.graph.known_names import refuse_renaming
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import reserved
from graphkit.graph.runs import clear_run, reservation_of_run
from graphkit.graph.schema_version import names_no_dataset
from graphkit.graph.writing import batched, clear, clear_former, clear_unnamed
from graphkit.records.progress import Progress, quiet

#: Questions that one transaction deletes.
QUESTIONS = 250


def remove_run(store: Store, run: str, progress: Progress = quiet) -> None:
    """Delete a run with its answers, traversals, scores, verdicts and executions; its file stays.

    Raise InputError if the graph holds no such run, not even an incomplete one, or its renaming isn't finished.
    """
    refuse_renaming(store, run)
    runs = {str(row["id"]): str(row["dataset"]) for row in store.read(cypher("read/runs"))}
    _require("run", run, runs)
    done = _reported(progress)
    _remove_run(store, run, progress)
    clear_unnamed(store, runs[run], done)
    _clear_shared(store, done)


def remove_dataset(store: Store, dataset: str, progress: Progress = quiet) -> list[str]:
    """Delete a dataset with its questions, gold, compatibility, knowledge graphs and runs; return those runs.

    Commits that another dataset or a history names stay, and so do all files.

    Raise InputError if the graph holds no such dataset, or the renaming of one of its runs isn't finished.
    """
    datasets = {str(row["name"]): row for row in store.read(cypher("read/datasets"))}
    _require("dataset", dataset, datasets)
    gold = ["load/clear_former_gold"] if names_no_dataset(datasets[dataset]) else []
    runs = [str(row["id"]) for row in store.read(cypher("read/runs")) if row["dataset"] == dataset]
    refuse_renaming(store, *runs)
    for run in runs:
        _remove_run(store, run, progress)
    named = {"dataset": dataset}
    done = _reported(progress)
    with reserved(store, reservation_of(dataset), removes=True) as held:
        store.write(cypher("load/dataset_changes"), {"name": dataset})
        clear(store, "load/clear_listed", named)
        clear(store, "load/clear_may_read", named, done)
        store.write_many(
            [(cypher(f"load/clear_{kind}"), named) for kind in ("stacks", "deployments", "pairs", "principals")]
        )
        questions = [row["id"] for row in store.read(cypher("load/dataset_questions"), named)]
        for ids in batched(questions, QUESTIONS):
            few = {**named, "ids": ids}
            former = [(cypher(query), few) for query in gold]
            store.write_many([*clear_gold(dataset, ids), *former, (cypher("load/delete_questions"), few)])
            held.beat()
            progress("questions removed", len(ids))
        sources = [str(row["key"]) for row in store.read(cypher("load/sources"))]
        for graph in {key.removesuffix("/graph") for key in sources if _is_of(key, dataset) and key.endswith("/graph")}:
            for query in ("load/clear_artifact_commits", "load/clear_edges"):
                clear(store, query, {"graph": graph})
            held.beat()
        store.write(cypher("load/forget_sources"), {"keys": [key for key in sources if _is_of(key, dataset)]})
        clear_unnamed(store, dataset, done)
        clear(store, "load/clear_artifacts", named, done)
        held.complete("load/delete_dataset", {"name": dataset})
    _clear_shared(store, done)
    return runs


def _is_of(source: str, dataset: str) -> bool:
    return source.startswith(f"{dataset}/")


def _require(kind: str, name: str, there: Iterable[str]) -> None:
    known = sorted(there)
    if name not in known:
        held = ", ".join(known) or "none"
        hint = did_you_mean(name, known)
        raise InputError(f"the graph holds no {kind} {name!r}", remedy=f"{hint}It holds: {held}.")


def _remove_run(store: Store, run: str, progress: Progress) -> None:
    with reserved(store, reservation_of_run(run), removes=True) as held:

        def done(count: int) -> None:
            progress("records removed", count)
            held.beat()  # another process would take a silent one for dead

        clear_run(store, run, done)
        held.complete("load/delete_run", {"id": run})


def _reported(progress: Progress) -> Callable[[int], None]:
    return lambda count: progress("records removed", count)


def _clear_shared(store: Store, done: Callable[[int], None]) -> None:
    """Delete commits and repositories that no longer belong to anything, and what an earlier form left."""
    clear_former(store, done)
    for kind in ("commits", "repositories"):
        clear(store, f"load/clear_unnamed_{kind}", {}, done)
