"""The inputs of a page: the files of runs that are given by name, and the grades and executions beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.errors import InputError, did_you_mean
from graphkit.files.assets import command_text, is_bundled
from graphkit.files.dataset import Dataset
from graphkit.files.dataset_settings import FILE
from graphkit.files.grades_beside import SCORES, graded_files, is_by
from graphkit.files.jsonl import find_file, stem_of
from graphkit.files.problems import Problems
from graphkit.files.run_files import first_run, is_run_file
from graphkit.graph.beside import kinds_beside
from graphkit.graph.known_names import partial_runs, run_source
from graphkit.records.scores import PERSON

if TYPE_CHECKING:
    from graphkit.database.store import Store


@dataclass(frozen=True)
class RunFiles:
    """The files of runs, in order.

    Attributes
    ----------
    names
        The name of each run in the graph; None for a run that is given as a file.
    folders
        The dataset of each run in the graph, by its file.
    notes
        A sentence on each run that the graph stores in part; its file has the whole run.
    """

    files: Sequence[Path]
    names: Sequence[str | None] = ()
    folders: Mapping[Path, Path] = field(default_factory=dict)
    notes: Sequence[str] = ()


def files_of(runs: Iterable[str], named: Iterable[str], store: Store) -> RunFiles:
    """Return the files of runs, some of which are named as in the graph."""
    sources = {run: run_source(store, run) for run in named}
    partial = partial_runs(store) if sources else {}
    runs = list(runs)
    return RunFiles(
        [sources[run][0] if run in sources else Path(run) for run in runs],
        [run if run in sources else None for run in runs],
        dict(sources.values()),
        [f"{partial[run]}; the page reads its file, and covers all" for run in sources if run in partial],
    )


@dataclass(frozen=True)
class AskedRun:
    """A run as the user names it, and the question of it to open."""

    run: str
    question: str | None = None


def asked_run(text: str, named: Callable[[str], str | None]) -> AskedRun | None:
    """Return the run that a text names, alone or as the longest beginning before a slash and a question.

    ``named`` returns the run that a text means, or None.

    >>> asked_run("a/b/c", {"a": "a", "a/b": "a/b"}.get)
    AskedRun(run='a/b', question='c')
    """
    if (run := named(text)) is not None:
        return AskedRun(run)
    for place in range(len(text) - 2, 0, -1):
        if text[place] == "/" and (run := named(text[:place])) is not None:
            return AskedRun(run, text[place + 1 :])
    return None


def named_by_file(text: str) -> str | None:
    """Return the file of a run, or the folder of a dataset, that a text means; None if it may be a name."""
    path = Path(text)
    if is_run_file(text) or find_file(path, "questions") is not None:
        return text
    log = path.with_name(f"{path.name}.jsonl")
    return str(log) if is_bundled(path) and log.is_file() else None


def require_shown(found: RunFiles, place: int, question: str, dataset: Path | None) -> str | None:
    """Return the name of the run at a place, None if no record names it.

    Raises
    ------
    InputError
        The run's dataset has no question with this id, or can't be used.
    """
    file = found.files[place]
    source = Dataset.of_run(file, dataset or found.folders.get(file))
    known = {one.id for _, one in source.questions(Problems("skip"))}
    if question not in known:
        remedy = f"{did_you_mean(question, known)}`{command_text('view', file)}` lists the questions."
        raise InputError(f"no question has the id {question!r}", where=str(source.questions_file), remedy=remedy)
    return found.names[place] or first_run(file)


def page_sources(found: RunFiles, dataset: Path | None, given: Iterable[Path]) -> Iterator[Path]:
    """Yield the files that a page of some runs is made from: those of its datasets and runs, and the given ones.

    Those beside the runs are among them, except a person's grades: the page gives them itself.
    """
    datasets: dict[Path, Dataset] = {}
    for file in found.files:
        source = Dataset.of_run(file, dataset or found.folders.get(file))
        datasets[source.folder] = source
        yield file
        yield file.with_name(f"{stem_of(file)}.made-by")
        for kind in (SCORES, *(f".{name}" for name in kinds_beside())):
            yield from (path for path in graded_files(file, kind) if not is_by(PERSON, path))
    for source in datasets.values():
        yield from source.files()
        yield source.folder / FILE
    yield from given
