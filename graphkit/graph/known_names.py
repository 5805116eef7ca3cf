"""The names that a user may ask about: runs and questions that the graph holds, and the files of runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from graphkit.database.store import Store
from graphkit.errors import InputError, did_you_mean
from graphkit.files.assets import command_text
from graphkit.graph import schema_version
from graphkit.graph.digests import content_digest, run_digest
from graphkit.graph.knowledge import question_ids
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import renaming_command
from graphkit.records.words import counted


def kept_part(known: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the rule by which a run is stored in part, how many questions are stored, and of how many; else None."""
    if known["kept"] is None:
        return None
    return {"rule": known["kept"], "questions": known["kept_questions"], "of": known["kept_of"]}


def kept_in_words(known: Mapping[str, Any]) -> str | None:
    """Return a sentence on a run that is stored in part; None for a whole one."""
    if (part := kept_part(known)) is None:
        return None
    count = f"{part['questions']} of {counted(part['of'], 'question')}"
    return f"the graph stores {count} of the run {known['id']} ({part['rule']})"


def partial_runs(store: Store) -> dict[str, str]:
    """Return a sentence on each run that is stored in part, by its name."""
    found = ((str(row["id"]), kept_in_words(row)) for row in store.read(cypher("read/runs")) if row["complete"])
    return {name: words for name, words in found if words is not None}


def require_kept(store: Store, known: Mapping[str, Any], question: str) -> None:
    """Raise InputError if a run is stored in part, and without a question."""
    if known["kept"] is not None and question not in kept_questions(store, str(known["id"])):
        raise InputError(
            f"{kept_in_words(known)}, and {question!r} isn't among them",
            remedy="Name the run's file instead, which has them all, or `graphkit evaluate` it without --keep.",
        )


def kept_questions(store: Store, run: str) -> set[str]:
    """Return the questions of a run in part that are stored."""
    return {str(row["id"]) for row in store.read(cypher("load/kept_questions"), {"run": run})}


def known_runs(store: Store) -> set[str]:
    """Return the names of the runs that the graph holds, completely or in part."""
    return {str(row["id"]) for row in store.read(cypher("read/runs"))}


def refuse_renaming(store: Store, *names: str) -> None:
    """Raise InputError if one of these names is the former or the new one of a run whose renaming isn't finished."""
    for row in store.read(cypher("read/runs")):
        _refuse_renamed(row, names)


def _refuse_renamed(row: Mapping[str, Any], names: Collection[str]) -> None:
    if row["renaming"] is not None and not {row["id"], row["renamed_from"]}.isdisjoint(names):
        raise InputError(
            f"the renaming of the run {row['renamed_from']!r} to {row['id']!r} isn't finished",
            remedy=f"`{renaming_command(*row['renaming'])}` finishes it; nothing is lost.",
        )


def require_run(store: Store, run: str) -> Mapping[str, Any]:
    """Return the record of a run that the graph holds completely.

    Raise InputError if the graph doesn't hold the run, or only a part of it; the message lists the runs that it holds.
    """
    runs = {str(row["id"]): row for row in store.read(cypher("read/runs"))}
    for row in runs.values():
        _refuse_renamed(row, [run])
    if run in runs and runs[run]["complete"]:
        if runs[run]["schema"] != schema_version.SCHEMA_VERSION:
            newer = schema_version.is_newer(runs[run]["schema"])
            raise InputError(
                f"the run {run!r} is in the form of {'a later' if newer else 'another'} version of graphkit",
                remedy=f"{schema_version.UPGRADE}."
                if newer
                else "`graphkit db migrate` brings the graph into this form; scores, verdicts and executions stay.",
            )
        return runs[run]
    if run in runs:
        raise InputError(
            f"the run {run!r} was not loaded to its end",
            remedy="Run `graphkit evaluate` on its file again: the load continues where it stopped.",
        )
    hint = did_you_mean(run, runs)
    known = f"The graph holds: {', '.join(runs)}." if runs else "The graph holds no run yet."
    raise InputError(
        f"no run is called {run!r}", remedy=f"{hint}{known} `graphkit evaluate RUN.jsonl` scores a run and keeps it."
    )


def require_question(store: Store, question: str, dataset: str | None = None) -> None:
    """Raise InputError unless the graph holds a question with this id, of the dataset if one is named.

    Then the message suggests the closest id.
    """
    datasets = {row["dataset"] for row in store.read(cypher("read/question_datasets"), {"id": question})}
    if not datasets or dataset not in (None, *datasets):
        hint = did_you_mean(question, question_ids(store, dataset)) if dataset is not None else ""
        raise InputError(
            f"no question has the id {question!r}",
            remedy=f"{hint}`graphkit failures RUN --kind questions-by-score` lists the questions of a run.",
        )


def run_source(store: Store, run: str) -> tuple[Path, Path]:
    """Return the file that a run of the graph was loaded from, and the folder of its dataset.

    Raise InputError if the run is unknown, its file is gone, or the file or the questions of its dataset have changed
    since.
    """
    known = require_run(store, run)
    if not known["file"]:
        what = f"the graph doesn't know the file of the run {run!r}"
        remedy = "Name the file, or `graphkit evaluate` it again, which stores its path."
        if known["origin"]:
            what = f"the run {run!r} was loaded from {known['origin']}, which isn't the file of a run"
            remedy = "Name the file of a run: `graphkit import` makes one from a log; join shards into one."
        raise InputError(what, remedy=remedy)
    file, dataset = Path(known["file"]), str(known["dataset"])
    if not file.is_file():
        raise InputError(
            f"the file that the run {run!r} was loaded from is gone",
            where=str(file),
            remedy="Put it back, or name the file where it is now.",
        )
    asked = question_ids(store, dataset) if known["kept"] is None else [known["kept"], *kept_questions(store, run)]
    if run_digest(content_digest(file), asked) != known["digest"]:
        raise InputError(
            f"the run {run!r} is no longer what was loaded: this file, or which questions its dataset has, has changed",
            where=str(file),
            remedy=f"`{command_text('evaluate', file)}` loads it again; or name the file to read it as it is now.",
        )
    [folder] = [row["folder"] for row in store.read(cypher("read/datasets")) if row["name"] == dataset]
    return file, Path(str(folder))
