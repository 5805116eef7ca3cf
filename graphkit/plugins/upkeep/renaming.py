"""Rename runs in the graph: all that carries a run's name, in batches.

The first transaction gives the run its new name and marks it as incomplete, the last one marks it as complete. What a
kill leaves between them is refused by every command, with the command that finishes it: the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.assets import command_text
from graphkit.files.dataset import given_run_name
from graphkit.graph.commit_names import commits_state, resolve_commits
from graphkit.graph.given_parts import judges_of_run, part_key, reservation_of_executions, reservation_of_verdicts
from graphkit.graph.known_names import refuse_renaming, require_run
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import reserved, unfinished_loads
from graphkit.graph.runs import reservation_of_run
from graphkit.graph.score_nodes import reservation_of_scores
from graphkit.graph.writing import CLEARED, clear
from graphkit.records.progress import Progress, quiet
from graphkit.records.repetition_names import repetition_name, repetition_of


@dataclass(frozen=True, slots=True)
class RenamedRuns:
    """The result of a renaming.

    Attributes
    ----------
    runs
        The new name of each run, by its former one.
    counts
        The number of their answers, scores, verdicts and executions.
    files
        The file of each run that was loaded from one, by its new name.
    """

    runs: Mapping[str, str]
    counts: Mapping[str, int]
    files: Mapping[str, Path]


def rename_run(store: Store, old: str, new: str, progress: Progress = quiet) -> RenamedRuns:
    """Give a run another name, with all that belongs to it; files stay.

    A name that only repetitions have (``old@1``, ``old@2``, ...) stands for all of them. An interrupted renaming is
    finished by the same call.

    Raise InputError if the graph doesn't hold the run completely, the new name can't be that of a run or is taken, or
    another process writes something of the run. Raise DatabaseError if the database fails.
    """
    given_run_name(new, "the new name")
    if new == old:
        raise InputError(f"the run is called {old!r} already", remedy="Give it another name.")
    names, _ = _planned(store, old, new)
    with ExitStack() as stack:
        # Two renamings that cross each other reserve in the same order, and neither waits for ever.
        both = sorted({reservation_of_run(name) for pair in names.items() for name in pair})
        held = [stack.enter_context(reserved(store, name)) for name in both]
        renamed, begun = _planned(store, old, new)
        if renamed != names:
            raise InputError("the runs in the graph have changed meanwhile", remedy="Run this again.")
        rows = [row for row in store.read(cypher("read/runs")) if row["id"] in (names.values() if begun else names)]
        # Commits are resolved run by run, and one that is renamed meanwhile is met only in part.
        states = {name: None if begun else commits_state(store, name) for name in {str(row["dataset"]) for row in rows}}
        if not begun:
            _begin(store, names, [old, new])

        def done(count: int) -> None:
            progress("records renamed", count)
            for one in held:
                one.beat()

        for former, name in names.items():
            _move(store, former, name, done)
        for dataset, state in states.items():
            if state is None or state != commits_state(store, dataset):
                for name in names.values():
                    resolve_commits(store, dataset, name)
        held[0].complete("load/rename_complete", {"ids": list(names.values())}, *held[1:])
    counts = {"answers": 0, "scores": 0, "verdicts": 0, "executions": 0}
    for row in store.read(cypher("read/run_counts"), {"runs": list(names.values())}):
        counts[str(row["kind"])] += int(str(row["count"]))
    files = {names.get(str(row["id"]), str(row["id"])): Path(str(row["file"])) for row in rows if row["file"]}
    return RenamedRuns(names, counts, files)


def _planned(store: Store, old: str, new: str) -> tuple[dict[str, str], bool]:
    """Return the new name of each run by its former one, and whether the renaming was begun before.

    Raise InputError if it can't be done.
    """
    rows = store.read(cypher("read/runs"))
    runs = [str(row["id"]) for row in rows]
    if begun := {str(row["renamed_from"]): str(row["id"]) for row in rows if row["renaming"] == [old, new]}:
        return begun, True
    numbers = _numbers(old, runs)
    if old in runs or not numbers:
        require_run(store, old)
        names, taken = {old: new}, [new]
    else:
        if (one := repetition_of(new)) is not None:
            raise InputError(
                f"{new!r} is the name of one repetition, and {old!r} stands for {', '.join(numbers)}",
                remedy=f"Rename them all to {one[0]!r}, or one of them, such as {next(iter(numbers))!r}.",
            )
        names = {run: given_run_name(repetition_name(new, number), "the new name") for run, number in numbers.items()}
        for run in names:
            require_run(store, run)
        # Other repetitions of the new name would count as repetitions of the same system.
        taken = [new, *_numbers(new, runs)]
    refuse_renaming(store, *names.values())
    if there := next((name for name in taken if name in runs), None):
        raise InputError(
            f"the graph holds a run {there!r} already",
            remedy=f"Give another name, or remove that run first (`{command_text('db remove run', there)}`).",
        )
    return names, False


def _numbers(system: str, runs: Iterable[str]) -> dict[str, int]:
    """Return the number of each repetition of a system among some runs, the lowest first."""
    found = ((run, repetition_of(run)) for run in runs)
    numbers = {run: one[1] for run, one in found if one is not None and one[0] == system}
    return dict(sorted(numbers.items(), key=lambda item: item[1]))


def _begin(store: Store, names: Mapping[str, str], command: Sequence[str]) -> None:
    """Give runs their new names, and mark them as incomplete.

    Raise InputError if another process writes scores, verdicts or executions of a run: it would miss the run.
    """
    loads = {former: name for pair in names.items() for former, name in _parts(store, *pair)}
    for load in unfinished_loads(store):
        if load.name in loads and not load.interrupted:
            raise InputError(str(load), remedy="Wait for it, and run this again.")
    rows = [{"old": former, "new": name} for former, name in names.items()]
    interrupted = [{"old": former, "new": name} for former, name in loads.items()]
    store.write_many(
        [
            (cypher("load/rename_runs"), {"rows": rows, "command": list(command)}),
            (cypher("load/rename_loads"), {"rows": interrupted}),
        ]
    )


def _parts(store: Store, old: str, new: str) -> list[tuple[str, str]]:
    """Return the names of the reservations of what belongs to a run, under both of its names."""
    parts = [reservation_of_scores, reservation_of_executions]
    parts += [partial(reservation_of_verdicts, judge=judge) for judge in judges_of_run(store, old)]
    return [(part(old), part(new)) for part in parts]


def _move(store: Store, old: str, new: str, done: Callable[[int], None]) -> None:
    """Give all that carries the former name of a run the new one."""
    names = {"old": old, "new": new}
    for part in ("answers", "traversed", "tool_calls", "scores", "gradings", "verdicts", "judgings", "executions"):
        clear(store, f"load/rename_{part}", names, done)
    while found := store.read(cypher("read/run_keys"), {"run": old, "limit": CLEARED}):
        rows: dict[str, list[dict[str, str]]] = {}
        for row in found:
            key = part_key(new, *(row[name] for name in ("question", "judge", "model", "grader", "position")))  # type: ignore[arg-type]
            rows.setdefault(str(row["kind"]), []).append({"old": str(row["key"]), "new": key})
        store.write_many([(cypher(f"load/rename_{kind}"), {"new": new, "rows": some}) for kind, some in rows.items()])
        done(len(found))
