"""A dataset with its runs, written again with the walks of its queries."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.database.settings import DATABASE, Settings, checked_uri
from graphkit.errors import DatabaseError, InputError
from graphkit.files.atomic import together, write_records
from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import stem_of
from graphkit.files.problems import Problems
from graphkit.files.reading import read_records
from graphkit.plugins.cypher.dataset_graph import TIMEOUT
from graphkit.plugins.cypher.query_runs import MOST_ROWS, QueryRunner, query_runner
from graphkit.plugins.cypher.query_walks import FindsCause, GoldFound, WalkedRun, gold_found, with_gold, with_walk
from graphkit.records.models import Answer, Question
from graphkit.records.secrets import remember

if TYPE_CHECKING:
    from graphkit.database.access import Waiting

#: What `--graph` calls the dataset's own graph.
OWN_GRAPH = "dataset"


@dataclass(frozen=True)
class GraphChoice:
    """The graph over which queries run: the dataset's own, or that of a server.

    Attributes
    ----------
    graph
        ``dataset``, or the address of a server that speaks Bolt.
    stack
        Which graph of a dataset with several.
    username, password, database
        The account. Without any, it is that of ``NEO4J_URI``, if that is the server's address.
    id_property
        The property of a node that is its id.
    """

    graph: str = OWN_GRAPH
    stack: str | None = None
    username: str | None = None
    password: str | None = None
    database: str | None = None
    id_property: str = "id"
    timeout: float = TIMEOUT
    max_rows: int = MOST_ROWS

    def settings(self) -> Settings:
        """Return how to reach the server.

        Raises
        ------
        InputError
            The address isn't that of a Bolt server.
        """
        clean, in_uri = checked_uri(self.graph, f"or {OWN_GRAPH!r} for the dataset's own graph")
        remember(self.password)
        remember(in_uri[1])
        own = Settings.resolve()
        username, password = self.username or in_uri[0], self.password or in_uri[1]
        if own.uri == clean and username is None and password is None:
            return replace(own, database=self.database or own.database)
        return Settings(clean, username or "neo4j", password, self.database or DATABASE, own.data)

    @contextmanager
    def runner(self, dataset: Path | Dataset, waiting: Waiting | None = None) -> Iterator[QueryRunner]:
        """Open the graph, which is only read.

        Raises
        ------
        InputError
            The dataset has no graph, or the options don't fit.
        DatabaseError
            The server can't be reached.
        """
        from graphkit.plugins.cypher.dataset_graph import kept_graph

        limits: dict[str, Any] = {name: getattr(self, name) for name in ("timeout", "max_rows", "id_property")}
        if self.graph != OWN_GRAPH:
            if self.stack is not None:
                raise InputError("--stack names a graph of the dataset, and --graph a server", remedy="Leave out one.")
            with _given_here(), query_runner(self.settings(), **limits) as runner:
                yield runner
            return
        own = Settings.resolve()
        more = {} if waiting is None else {"waiting": waiting}
        stacks = () if self.stack is None else (self.stack,)
        with (
            kept_graph(dataset, own.data, stacks=stacks, timeout=self.timeout, **more) as graph,
            query_runner(graph, own.data, **limits) as runner,
        ):
            yield runner


@contextmanager
def _given_here() -> Iterator[None]:
    """Let no remedy name the variable NEO4J_URI: the address was given by an option."""
    try:
        yield
    except DatabaseError as error:
        if "NEO4J_URI" in (error.remedy or ""):
            error.remedy = (
                f"Check the address and that the server runs, or give {OWN_GRAPH!r} for the dataset's own graph."
            )
        raise


@dataclass(frozen=True)
class WalkedDataset:
    """The dataset that was written, with counts.

    Attributes
    ----------
    gold
        What the gold queries of each question find.
    """

    folder: Path
    run_files: tuple[Path, ...]
    gold: dict[str, GoldFound]
    runs: tuple[WalkedRun, ...]

    @property
    def stale(self) -> dict[str, str]:
        """The reasons why the gold of questions is stale, by question."""
        return {name: found.stale for name, found in self.gold.items() if found.stale is not None}

    @property
    def with_paths(self) -> int:
        """The number of questions whose gold queries find edges."""
        return sum(any(one.outcome.edges for one in found.queries) for found in self.gold.values())

    @property
    def figures(self) -> dict[str, Any]:
        """The counts, for JSON."""
        return {
            "folder": str(self.folder),
            "questions": len(self.gold),
            "with_gold_query": sum(bool(one.queries or one.stale) for one in self.gold.values()),
            "with_paths": self.with_paths,
            "stale": self.stale,
            "left_out": {name: list(one.failed) for name, one in self.gold.items() if one.failed and not one.stale},
            "runs": {one.name: one.figures for one in self.runs},
        }


@dataclass(frozen=True)
class GivenDataset:
    """The records to walk, all of them usable, and the folder for the result."""

    source: Dataset | None
    questions: Sequence[Question]
    runs: Sequence[tuple[Path, Path]]
    answers: Sequence[Sequence[Answer]]
    out: Path


def given_dataset(
    dataset: Path | Dataset | None,
    runs: Sequence[Path],
    out: Path,
    *,
    questions: Sequence[Question] | None = None,
    problems: Problems | None = None,
    replace_folder: bool = False,
) -> GivenDataset:
    """Read a dataset and runs, before any graph is opened.

    Parameters
    ----------
    dataset
        The dataset whose files are copied; None if there is none, and only ``questions``.
    questions
        Other questions than those of the dataset.
    out
        The folder of the new dataset; an empty one, or a new one, unless ``replace_folder``.

    Raises
    ------
    InputError
        A record can't be used, or the folder is in use.
    """
    source = None if dataset is None else Dataset.of(dataset, questions=questions is None)
    problems = problems if problems is not None else Problems()
    files = [(run, out / "runs" / f"{stem_of(run)}.jsonl") for run in runs]
    check_folder(source, [run for run, _ in files], out, replace_folder=replace_folder)
    given = [*(questions or ())]
    if questions is None and source is not None:
        given = [one for _, one in read_records(source.questions_file, Question, problems)]
    read = [[one for _, one in read_records(run, Answer, problems)] for run, _ in files]
    problems.raise_if_refused()
    return GivenDataset(source, given, files, read, out)


def walk_dataset(
    given: GivenDataset,
    runner: QueryRunner,
    *,
    cause: FindsCause | None = None,
    progress: Callable[[str, int], None] = lambda _kind, _count: None,
) -> WalkedDataset:
    """Write a dataset and runs again: gold queries as gold paths, a run's queries as its walk.

    All fields of the records stay; each query runs once. The other files of the dataset are copied. Everything appears
    at the end, or nothing.

    Raises
    ------
    DatabaseError
        The server can't be reached.
    """
    source, out, files = given.source, given.out, given.runs
    gold: dict[str, GoldFound] = {}
    asked: dict[str, Question] = {}
    for one in given.questions:
        gold[one.id] = gold_found(one, runner)
        asked[one.id] = with_gold(one, gold[one.id])
        progress("questions", 1)
    by_text = {one.question: one.id for one in given.questions}
    walked = []
    for answers, (run, _) in zip(given.answers, files, strict=True):
        made = WalkedRun(answers[0].run if answers else stem_of(run))
        for answer in answers:
            name = answer.question_id if answer.question_id in gold else by_text.get(answer.question_id, "")
            found = gold.get(name, GoldFound())
            if name in gold:
                answer = with_walk(answer, asked[name], found, runner, cause, partial(made.otherwise.setdefault, name))
            made.add(answer)
            progress("records", 1)
        walked.append(made)
    with together():
        out.mkdir(parents=True, exist_ok=True)
        if files:
            (out / "runs").mkdir(exist_ok=True)
        for path in source.files() if source is not None else ():
            if source is not None and path != source.questions_file:
                shutil.copyfile(path, out / path.name)
        write_records(out / "questions.jsonl", asked.values())
        for (_, target), run_made in zip(files, walked, strict=True):
            write_records(target, run_made.answers)
    return WalkedDataset(out, tuple(target for _, target in files), gold, tuple(walked))


def check_folder(source: Dataset | None, runs: Sequence[Path], out: Path, *, replace_folder: bool = False) -> None:
    """Refuse a folder that holds something, or is the dataset's own."""
    if out.exists() and not out.is_dir():
        raise InputError("it is a file, and a folder is written", where=str(out), remedy="Name another folder.")
    inputs = [*(() if source is None else (source.folder,)), *(run.parent for run in runs)]
    if out.is_dir() and any(out.samefile(one) for one in inputs if one.exists()):
        what = "the new dataset would replace the one that is read"
        raise InputError(what, where=str(out), remedy="Name another folder by --out.")
    if out.is_dir() and any(out.iterdir()) and not replace_folder:
        remedy = "Name a new folder, or replace what was written there before by --replace."
        raise InputError("the folder isn't empty", where=str(out), remedy=remedy)
    names = [stem_of(run) for run in runs]
    if twice := [name for name in names if names.count(name) > 1]:
        what = f"two runs have the file name {twice[0]}, and would be one file"
        raise InputError(what, where=str(out), remedy="Rename one of them.")
