"""A dataset: a folder with questions, commits, compatibility, knowledge graphs and runs."""

from __future__ import annotations

import graphlib
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from graphkit.errors import InputError, did_you_mean, missing_file
from graphkit.files.assets import asked_as, command_text, located
from graphkit.files.dataset_settings import FILE, extra_fields, repository_setting
from graphkit.files.jsonl import SUFFIXES, find_file, folders_around, is_file_name, raw_lines, stem_of, stored_blocks
from graphkit.files.named_places import NamedPlaces, has_sides
from graphkit.files.problems import Problem, Problems, offering
from graphkit.files.reading import RecordReader, read_records
from graphkit.records.access_rules import AccessRules
from graphkit.records.aliases import LONGEST_NAME
from graphkit.records.code_tests import wrong_tests
from graphkit.records.commits import CommitGraph, ReadAt
from graphkit.records.directions import EdgeHashes
from graphkit.records.ids import Places
from graphkit.records.sessions import turn_taken
from graphkit.records.structs import ArtifactStruct, EdgeStruct, QuestionStruct

# The models are imported when a file of commits needs them: they cost more than scoring a small run.
if TYPE_CHECKING:
    from graphkit.records.fields import Record
    from graphkit.records.models import AccessRule, Commit, Compatibility

R = TypeVar("R", bound="Record")

_SHARDED = "Its folder questions/ holds shards, which `graphkit evaluate` scores with --on processes."

#: A note about an edge of some versions; commits that no parents join can't be put in order.
ORDER_UNKNOWN = "the known parents of commits don't tell whether the edge's `until` follows its `since`"


class Dataset:
    """The files of one folder, read as streams.

    Parameters
    ----------
    folder
        Its path, or ``@storefront`` or ``@storefront-code`` for a bundled dataset. It contains ``questions.jsonl``, and
        optionally ``commits.jsonl``, ``compatibility.jsonl``, ``access.jsonl``, ``artifacts.jsonl`` and
        ``edges.jsonl`` (or ``artifacts-NAME.jsonl`` and ``edges-NAME.jsonl`` for several knowledge graphs over the same
        ids), and ``runs/*.jsonl``. Each may end in ``.gz`` or ``.zst``. A ``dataset.json`` may list the data set's own
        fields (``extra_fields``) and the rule for repositories (``repositories``).
    questions
        Whether the folder must hold questions; a dataset without them has none.
    principal
        Who asks the questions that name nobody.

    Raises
    ------
    InputError
        The folder is missing, is a file, holds no questions, or has a name that isn't text, or its ``dataset.json``
        can't be used.
    """

    def __init__(self, folder: str | Path, *, questions: bool = True, principal: str | None = None) -> None:
        self.principal = principal if principal is not None else next(iter(asked_as), None)
        asked_as.update(dict.fromkeys(asked_as, True))
        self.folder = located(folder)
        if not self.folder.is_dir():
            what = "this is a file where a dataset folder is expected" if self.folder.exists() else "no such folder"
            raise InputError(
                what, where=str(folder), remedy="A dataset is a folder that holds questions.jsonl; name that folder."
            )
        found = find_file(self.folder, "questions")
        if found is None and questions:
            remedy = _SHARDED if is_sharded(self.folder) else "A dataset needs at least that file."
            raise InputError("the folder holds no questions.jsonl", where=str(folder), remedy=remedy)
        self.questions_file: Path = found or self.folder / "questions.jsonl"
        self._has_questions = found is not None
        extra_fields(self.folder)  # a mistake in them is refused even if nothing needs them
        self._repositories = repository_setting(self.folder)
        for part in self.folder.resolve().parts:
            storable_name(part, str(folder))

    @classmethod
    def of(cls, given: str | Path | Dataset, *, questions: bool = True) -> Dataset:
        """Return a dataset that is given as such or by its folder; raise InputError as the class does."""
        return given if isinstance(given, Dataset) else cls(given, questions=questions)

    @classmethod
    def of_questions(cls, file: Path) -> Dataset:
        """Return the dataset of a file of questions under any name, with the other files of its folder.

        Raises
        ------
        InputError
            It is a table or YAML, not JSON.
        """
        if not is_file_name(file.name) and file.suffix != ".json":
            remedy = f"`{command_text('init', 'my-eval', file)}` makes a dataset of a table."
            raise InputError("questions of a dataset are JSON Lines", where=str(file), remedy=remedy)
        found = cls(file.parent, questions=False)
        found.questions_file, found._has_questions = file, True
        return found

    @classmethod
    def of_run(cls, run_file: Path, given: str | Path | Dataset | None = None) -> Dataset:
        """Return the dataset of a run: the given one, else the folder above the run's folder, or the run's folder.

        Raises
        ------
        InputError
            There is no such file, or neither folder holds questions.
        """
        if isinstance(given, Dataset):
            return given
        if not run_file.exists():
            beside = {path.name: path for path in run_file.parent.glob("*.jsonl*")}
            hint = did_you_mean(run_file.name, beside, lambda name: str(beside[name]))
            raise missing_file(run_file, hint)
        if given is not None:
            return cls(given)
        for folder in folders_around(run_file):
            if find_file(folder, "questions"):
                return cls(folder)
        sharded = any(map(is_sharded, folders_around(run_file)))
        remedy = _SHARDED if sharded else "Name its dataset by --dataset."
        raise InputError("no questions.jsonl is found beside this run", where=str(run_file), remedy=remedy)

    @classmethod
    def of_runs(cls, run_files: Iterable[Path]) -> Dataset:
        """Return the dataset that contains all runs.

        Raises
        ------
        InputError
            A run is in no dataset, or they are in several.
        """
        found = {(one := cls.of_run(run)).folder: one for run in run_files}
        if len(found) > 1:
            raise InputError(
                f"the runs lie in several datasets: {', '.join(map(str, found))}",
                remedy="Evaluate those of one dataset, or name it by --dataset.",
            )
        return next(iter(found.values()))

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.resolve().name

    def files(self) -> list[Path]:
        """Return the files that hold its records, without its runs."""
        graphs = [path for pair in self.graphs.values() for path in pair]
        single = [find_file(self.folder, kind) for kind in ("commits", "compatibility", "access")]
        # The setting decides what is read of the other files.
        settings = self.folder / FILE if self._repositories is not None else None
        return [path for path in (self.questions_file, *single, settings, *graphs) if path is not None]

    @property
    def given(self) -> str:
        """The folder as the user names it."""
        return str(self.folder)

    @property
    def place(self) -> str:
        """The folder, by which it is found again."""
        return str(self.folder.resolve())

    def question_blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the questions as they are stored, in blocks."""
        return stored_blocks(self.questions_file)

    def question_places(self) -> list[str]:
        """Return the files of the questions, as problems name them."""
        return [str(self.questions_file)]

    def runs(self) -> list[Path]:
        """Return the files of its runs, in the order of their names; of sharded questions also the folders of runs.

        Raises
        ------
        InputError
            There is none.
        """
        paths = [path for suffix in SUFFIXES for path in (self.folder / "runs").glob(f"*.jsonl{suffix}")]
        if is_sharded(self.folder):
            paths += (one for one in (self.folder / "runs").glob("*") if one.is_dir() and one.suffix != ".grades")
        found = sorted(paths, key=lambda path: (stem_of(path), path.name))
        if not found:
            running = command_text("run", self.folder, options=" --system NAME=MODULE:CALLABLE")
            remedy = f"`{running}` makes one, `graphkit import` too."
            raise InputError("the dataset has no run yet", where=str(self.folder / "runs"), remedy=remedy)
        return found

    def questions(self, problems: Problems) -> Iterator[tuple[int, QuestionStruct]]:
        """Yield (line number, question) of each usable one; a repeated id or turn, or wrong tests, is a problem."""
        seen: set[object] = set()
        for file, number, question in self._read_questions(problems):
            turn = None if question.turn is None else (question.session, question.turn)
            if question.id in seen or turn in seen:
                what = "the id is already taken" if question.id in seen else turn_taken(question.session, question.turn)
                problems.add(Problem(f"{file}:{number}", what, record=question.id))
                continue
            seen |= {question.id} if turn is None else {question.id, turn}
            if question.test_cases and (wrong := wrong_tests(question)):
                where, more = f"{file}:{number}", len(wrong) - 1
                problems.add(Problem(where, wrong[0], question.id, "See docs/execution.md.", more))
                continue
            yield number, self.access.gold_for(question)

    def _read_questions(self, problems: Problems) -> Iterator[tuple[str, int, QuestionStruct]]:
        """Yield the file, the line and the question of each that can be read."""
        file = str(self.questions_file)
        for number, question in (
            RecordReader(self.questions_file, QuestionStruct, problems) if self._has_questions else ()
        ):
            yield file, number, question

    def annotated(self) -> Iterator[QuestionStruct]:
        """Yield the questions whose gold is checked; what is wrong with the others is reported elsewhere."""
        return (question for _, question in self.questions(Problems("skip")))

    def every_question(self) -> Iterator[QuestionStruct]:
        """Yield each usable question; what is wrong with the others is reported elsewhere."""
        return map(self.access.gold_for, self.every_annotation())

    def every_annotation(self) -> Iterator[QuestionStruct]:
        """Yield each usable question as it is annotated, whoever asks it."""
        return (question for _, _, question in self._read_questions(Problems("skip")))

    @cached_property
    def access(self) -> AccessRules:
        """The rules of ``access.jsonl``, which decide the gold of questions.

        Raises
        ------
        InputError
            A rule can't be used, or none names the principal that asks.
        """
        path = find_file(self.folder, "access")
        rules: dict[str, AccessRule] = {}
        if path is not None:
            from graphkit.records.models import AccessRule

            problems = Problems()
            rules = {one.principal: one for _, one in _unique(path, AccessRule, lambda one: one.principal, problems)}
            with offering(skips=False, maps=False):  # what is skipped may have denied something
                problems.raise_if_refused()
        if self.principal is not None and self.principal not in rules:
            where = str(path or self.folder / "access.jsonl")
            remedy = f"{did_you_mean(self.principal, rules)}It names: {', '.join(sorted(rules))}."
            remedy = remedy if rules else "Write a rule into that file: see docs/limits.md."
            raise InputError(f"no rule names the principal {self.principal!r}", where=where, remedy=remedy)
        return AccessRules(rules, self.principal, self.places())

    def commits(self, problems: Problems) -> list[Commit]:
        """Return the commits; a second record of a commit, and a cycle of parents, is a problem."""
        path = find_file(self.folder, "commits")
        if path is None:
            return []
        from graphkit.records.models import Commit

        placed = list(_unique(path, Commit, lambda commit: (commit.repo, commit.sha), problems))
        while cycle := parent_cycle([commit for _, commit in placed]):
            chain = " -> ".join(sha[:12] for sha in cycle)
            where = next(where for where, commit in placed if commit.sha == cycle[0])
            what = f"the parents form a cycle: {chain}"
            problems.add(Problem(where, what, record=cycle[0], remedy="Correct the parents."))
            placed = [(where, commit) for where, commit in placed if commit.sha not in cycle]
        return [commit for _, commit in placed]

    def compatibility(self, problems: Problems) -> list[Compatibility]:
        """Return the rows about commits that did or did not work together; a second row with an id is a problem."""
        path = find_file(self.folder, "compatibility")
        if path is None:
            return []
        from graphkit.records.models import Compatibility

        return [row for _, row in _unique(path, Compatibility, lambda row: row.id, problems)]

    def commit_graph(self, problems: Problems) -> CommitGraph:
        """Return the known commits of the dataset, with their histories and compatibility."""
        places = self.places()
        found = CommitGraph.build(self.commits(problems), self.compatibility(problems), self.artifact_commits(places))
        found.places, found.access = places, self.access
        return found

    @cached_property
    def has_sides(self) -> bool:
        """Whether gold paths have commits of their own."""
        return self._has_questions and has_sides(raw_lines(self.questions_file))

    def places(self) -> Places:
        """Return the places of the dataset's nodes: their repositories, files and symbols."""
        return self._places

    @cached_property
    def _places(self) -> Places:
        return self.named_places().places()

    def named_places(self) -> NamedPlaces:
        """Return the reader of the files and the repositories that the dataset names."""
        return NamedPlaces(
            questions_file=self.questions_file,
            artifact_files=tuple(path for path, _ in self.graphs.values() if path is not None),
            commit_files=tuple(
                path for kind in ("commits", "compatibility") if (path := find_file(self.folder, kind)) is not None
            ),
            questions=self.every_annotation,
            setting=self._repositories,
            expected=None if self._has_questions else (),
        )

    def artifact_commits(self, places: Places) -> ReadAt:
        """Return a lookup of the commits at which the knowledge graphs read an artifact."""
        return ArtifactCommits(tuple((name, path) for name, (path, _) in self.graphs.items()), places).of

    @cached_property
    def graphs(self) -> dict[str, tuple[Path | None, Path | None]]:
        """The knowledge graphs: the files of artifacts and of edges by name ("" for the graph without one)."""
        found: dict[str, tuple[Path | None, Path | None]] = {}
        for number, kind in enumerate(("artifacts", "edges")):
            for suffix in SUFFIXES:
                for path in sorted(self.folder.glob(f"{kind}*.jsonl{suffix}")):
                    name = storable_name(stem_of(path), str(path)).removeprefix(kind)
                    if name == "" or name.startswith("-"):
                        both = list(found.get(name[1:], (None, None)))
                        both[number] = path
                        found[name[1:]] = (both[0], both[1])
        return found

    def artifacts(self, path: Path, problems: Problems) -> Iterator[ArtifactStruct]:
        """Yield the artifacts of one knowledge graph; a second record of an id is a problem."""
        seen: dict[str, int] = {}
        for number, artifact in RecordReader(path, ArtifactStruct, problems):
            if (first := seen.setdefault(artifact.id, number)) != number:
                what = f"the record is a repeat of {path}:{first}"
                problems.add(Problem(f"{path}:{number}", what, record=artifact.id))
                continue
            yield artifact

    def knowledge_edges(self) -> dict[str, EdgeHashes | None]:
        """Return the edges of each knowledge graph, None for one without their file; unusable ones are skipped."""
        return {
            name: None if path is None else EdgeHashes(self.edges(path, Problems("skip")))
            for name, (_, path) in self.graphs.items()
        }

    def edges(self, path: Path, problems: Problems) -> Iterator[EdgeStruct]:
        """Yield the edges of one knowledge graph; one that ends before it begins is a problem.

        If the known parents don't tell whether ``until`` follows ``since``, that is a note.
        """
        commits: CommitGraph | None = None
        for number, edge in RecordReader(path, EdgeStruct, problems):
            if edge.since and edge.until and edge.since != edge.until:
                commits = self.commit_graph(Problems("skip")) if commits is None else commits
                repo = self.places().repo(edge.source) or ""
                follows = commits.within(repo, commits.meant(repo, edge.until).sha, edge.since, None)
                if follows is False:
                    what = f"the edge exists since {edge.since} until {edge.until}, which doesn't follow it in {repo!r}"
                    remedy = "Name its first commit as since and its last one as until."
                    problems.add(Problem(f"{path}:{number}", what, edge.source, remedy))
                    continue
                if follows is None:
                    problems.note(Problem(f"{path}:{number}", ORDER_UNKNOWN, edge.source))
            yield edge


@contextmanager
def asking(principal: str) -> Iterator[Mapping[str, bool]]:
    """Let a principal ask the questions that name nobody, of each dataset that is opened in this block.

    The yielded map says whether one was opened.
    """
    asked_as[principal] = False
    try:
        yield asked_as
    finally:
        asked_as.clear()


@dataclass
class ArtifactCommits:
    """The commits at which knowledge graphs read their artifacts; all are read when the first one is needed.

    It skips unusable records, which loading and checking the dataset report.
    """

    files: tuple[tuple[str, Path | None], ...]
    places: Places

    def of(self, artifact: str, graph: str | None) -> list[tuple[str, str]]:
        """Return the (repository, commit) of an artifact: in the graph of that name, else in each that has it."""
        read = self._read
        chosen = [read[graph]] if graph is not None and graph in read else read.values()
        return [found for commits in chosen if (found := commits.get(artifact)) is not None]

    @cached_property
    def _read(self) -> dict[str, dict[str, tuple[str, str]]]:
        shared: dict[tuple[str, str], tuple[str, str]] = {}
        read: dict[str, dict[str, tuple[str, str]]] = {}
        for name, path in self.files:
            commits = read[name] = {}
            for _, one in RecordReader(path, ArtifactStruct, Problems("skip")) if path is not None else ():
                if one.commit and (repo := one.repo or self.places.repo(one.id)):
                    at = (repo, one.commit)
                    commits.setdefault(one.id, shared.setdefault(at, at))
        return read


def storable_name(name: str, where: str) -> str:
    """Return a name from a path or an option, checked for the database.

    Raises
    ------
    InputError
        It is too long, or isn't UTF-8, as the name of a file may be.
    """
    if len(name) > LONGEST_NAME:
        what, remedy = f"the name has {len(name)} characters, and may have {LONGEST_NAME}", "Give a shorter name."
        raise InputError(what, where=where, remedy=remedy)
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError("the name isn't UTF-8", where=where, remedy="Give it another name.") from None
    return name


def given_run_name(name: str, where: str = "the run's name") -> str:
    """Return a run's name from the user, checked as the one in a record.

    Raises
    ------
    InputError
        It is empty or blank, too long, or no UTF-8.
    """
    if not name.strip():
        raise InputError("the name of a run can't be blank", where=where, remedy="Give the run a name.")
    return storable_name(name, where)


def _unique(path: Path, model: type[R], key: Any, problems: Problems) -> Iterator[tuple[str, R]]:
    seen: dict[Hashable, str] = {}
    for where, record in read_records(path, model, problems):
        name = key(record)
        if name in seen:
            shown = name if isinstance(name, str) else "@".join(name)
            problems.add(Problem(where, f"the record is a repeat of {seen[name]}", record=shown))
            continue
        seen[name] = where
        yield where, record


def parent_cycle(commits: list[Commit]) -> list[str]:
    """Return the shas of a cycle of parents, with the first again at the end, or an empty list."""
    parents = {commit.sha: commit.parents for commit in commits}
    try:
        graphlib.TopologicalSorter(parents).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def run_files(given: Iterable[str | Path]) -> list[Path]:
    """Return the files of runs: a dataset folder stands for all of its runs, and nothing for those of this folder.

    Raises
    ------
    InputError
        A dataset has no run, or nothing is given and the working folder is no dataset.
    """
    paths = list(given)
    if not paths:
        if not _is_dataset(Path()):
            what = "no run is named, and this folder is no dataset: it holds no questions.jsonl"
            remedy = "Name runs or a dataset, such as @storefront, or change to the folder of a dataset."
            raise InputError(what, where=str(Path.cwd()), remedy=remedy)
        return Dataset(Path(), questions=False).runs()
    found: list[Path] = []
    for path in map(located, paths):
        found += Dataset(path, questions=False).runs() if _is_dataset(path) else [path]
    return found


def is_sharded(folder: Path) -> bool:
    """Return whether the questions of a dataset are shards in ``questions/``, which only work in shards takes."""
    return find_file(folder, "questions") is None and (folder / "questions").is_dir()


def _is_dataset(folder: Path) -> bool:
    return find_file(folder, "questions") is not None or is_sharded(folder)
