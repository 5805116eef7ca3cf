"""Remove a run or a dataset from the graph. Its own node goes last, so that an interrupted removal can go on."""

from __future__ import annotations

from collections.abc import Iterable

from graphkit.database.store import Store
from graphkit.errors import InputError, did_you_mean
from graphkit.graph.datasets import clear_gold, reservation_of
from graphkit.graph.known_names import refuse_renaming
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import reserved
from graphkit.graph.runs import clear_run, reservation_of_run
from graphkit.graph.writing import CLEARED, batched, clear
from graphkit.records.progress import Progress, quiet

#: Questions that one transaction deletes.
QUESTIONS = 250

#: Chunks that no longer belong to anything, as many as are looked for at once.
LOOKED_FOR = 200_000


def remove_run(store: Store, run: str, progress: Progress = quiet) -> None:
    """Delete a run with its answers, traversals, scores, verdicts and executions; its file stays.

    Raise InputError if the graph holds no such run, not even an incomplete one, or its renaming isn't finished.
    """
    refuse_renaming(store, run)
    _require("run", run, (str(row["id"]) for row in store.read(cypher("read/runs"))))
    _remove_run(store, run, progress)
    _clear_unnamed(store, progress)


def remove_dataset(store: Store, dataset: str, progress: Progress = quiet) -> list[str]:
    """Delete a dataset with its questions, gold, compatibility, knowledge graphs and runs; return those runs.

    Commits, artifacts and chunks that another dataset or a history names stay, and so do all files.

    Raise InputError if the graph holds no such dataset, or the renaming of one of its runs isn't finished.
    """
    _require("dataset", dataset, (str(row["name"]) for row in store.read(cypher("read/datasets"))))
    runs = [str(row["id"]) for row in store.read(cypher("read/runs")) if row["dataset"] == dataset]
    refuse_renaming(store, *runs)
    for run in runs:
        _remove_run(store, run, progress)
    named = {"dataset": dataset}
    with reserved(store, reservation_of(dataset)) as held:
        store.write(cypher("load/dataset_changes"), {"name": dataset})
        clear(store, "load/clear_listed", named)
        store.write_many([(cypher(f"load/clear_{kind}"), named) for kind in ("stacks", "deployments", "pairs")])
        questions = [row["id"] for row in store.read(cypher("load/dataset_questions"), named)]
        for ids in batched(questions, QUESTIONS):
            store.write_many([*clear_gold(ids), (cypher("load/delete_questions"), {"ids": ids})])
            held.beat()
            progress("questions removed", len(ids))
        sources = [str(row["key"]) for row in store.read(cypher("load/sources"))]
        for graph in {key.removesuffix("/graph") for key in sources if _is_of(key, dataset) and key.endswith("/graph")}:
            for query in ("load/clear_artifact_commits", "load/clear_edges"):
                clear(store, query, {"graph": graph})
            held.beat()
        store.write(cypher("load/forget_sources"), {"keys": [key for key in sources if _is_of(key, dataset)]})
        held.complete("load/delete_dataset", {"name": dataset})
    _clear_unnamed(store, progress)
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
    with reserved(store, reservation_of_run(run)) as held:

        def done(count: int) -> None:
            progress("records removed", count)
            held.beat()  # another process would take a silent one for dead

        clear_run(store, run, done)
        held.complete("load/delete_run", {"id": run})


def _clear_unnamed(store: Store, progress: Progress) -> None:
    """Delete chunks, artifacts, commits and repositories that no longer belong to anything."""

    def done(count: int) -> None:
        progress("records removed", count)

    # Each look for chunks goes over all of them, so it finds more than one transaction deletes.
    while keys := [row["key"] for row in store.read(cypher("read/unnamed_chunks"), {"limit": LOOKED_FOR})]:
        for some in batched(keys, CLEARED):
            store.write(cypher("load/clear_unnamed_chunks"), {"keys": some})
            done(len(some))
        if len(keys) < LOOKED_FOR:
            break
    for kind in ("artifacts", "commits", "repositories"):
        clear(store, f"load/clear_unnamed_{kind}", {}, done)
