"""A run and its dataset as shards: found, paired, and surveyed before scoring."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import quote

import msgspec

from graphkit.errors import InputError
from graphkit.files.assets import located
from graphkit.files.dataset import Dataset
from graphkit.files.dataset_settings import extra_fields
from graphkit.files.file_locks import locked
from graphkit.files.jsonl import run_of_file
from graphkit.files.leftovers import held_folder
from graphkit.files.named_places import NamedPlaces
from graphkit.files.normal_forms import GoldSpelling, respell
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.measures.base import Measure
from graphkit.records.commits import CommitGraph, ReadAt
from graphkit.records.ids import Places
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.scoring.first_records import RECORDS, FirstRecords
from graphkit.scoring.further_measures import measures_that_apply
from graphkit.scoring.results import Evaluation, Row
from graphkit.scoring.results_folder import ResultsFolder, ResultsWriter, check_results_folder, digest_of, remove_folder
from graphkit.scoring.run_pass import known_from_files
from graphkit.scoring.scorer import Job
from graphkit.scoring.shard_parts import arrow
from graphkit.scoring.shard_scoring import ShardContext, Survey, survey, usable_records
from graphkit.shards.executors import InThisProcess, opened_executor
from graphkit.shards.inputs import ENDINGS, Shard, shard_lines, shards_of
from graphkit.shards.locations import Location
from graphkit.shards.work import ShardTask, finished_parts, key_of

#: The folder of a dataset with the shards of its questions.
QUESTIONS = "questions"

#: The files of a dataset that are read whole, or copied from another machine.
_SMALL = ("commits", "compatibility", "artifacts", "edges", "dataset.json")


class ShardedDataset(Dataset):
    """A dataset whose questions are shards.

    Parameters
    ----------
    folder
        The folder of this machine with its other files.
    shards
        The shards of its questions.
    remote
        The place of which the folder is a copy that workers don't see; None for a folder of this machine.
    """

    def __init__(self, folder: Path, shards: Sequence[Shard], remote: Location | None) -> None:
        super().__init__(folder.resolve(), questions=False)
        self.shards = tuple(shards)
        self._remote = remote
        self.expected: frozenset[str] = frozenset()
        if not self._has_questions:
            self.questions_file = self.folder / QUESTIONS

    @property
    def place(self) -> str:
        """The folder or the URL, by which it is found again."""
        return super().place if self._remote is None else str(self._remote)

    def question_blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the questions as they are stored, one shard after the other."""
        return blocks_of(self.shards)

    def question_places(self) -> list[str]:
        """Return the files of the questions, as problems name them."""
        return [*super().question_places(), *dict.fromkeys(str(shard.location) for shard in self.shards)]

    def annotated(self) -> Iterator[QuestionStruct]:
        """Yield the questions whose gold is checked, also those that repeat an id, which scoring reports."""
        return (question for _, _, question in self._read_questions(Problems("skip")))

    def _read_questions(self, problems: Problems) -> Iterator[tuple[str, int, QuestionStruct]]:
        own = extra_fields(self.folder)
        for shard in self.shards:
            file = str(shard.location)
            problems.allow(file, own)
            reader = RecordReader(Path(file), QuestionStruct, problems)
            reader.path = cast(Path, file)  # a Path would change a URL
            for number, line in shard_lines(shard):
                question = reader.parse(number, line)
                if question is not None:
                    yield file, number, question

    def named_places(self) -> NamedPlaces:
        """Return the reader of the files and repositories that the dataset names; the survey found expected files."""
        return dataclasses.replace(super().named_places(), expected=self.expected)

    def places(self) -> Places:
        """Return where the dataset's nodes lie."""
        # Read now: a worker may not see the files.
        return super().places().read()

    def artifact_commits(self, places: Places) -> ReadAt:
        """Return a lookup of the commits at which the knowledge graphs read an artifact."""
        found = super().artifact_commits(places)
        if self._remote is not None:
            found("", None)  # workers can't read the copy
        return found


@dataclass(frozen=True)
class ShardPlan:
    """The executor that scores runs in shards, and the folder of their results.

    Attributes
    ----------
    out
        The results folder.
    executor
        Runs a task per shard.
    say
        Receives a sentence for each task that is repeated.
    whole
        Whether results hold their rows, however many there are.
    """

    out: Location
    executor: Executor = field(default_factory=InThisProcess)
    say: Callable[[str], None] = lambda message: None
    whole: bool = False

    @property
    def work(self) -> Location:
        """The folder of the parts in progress, beside the results."""
        path = self.out.path
        if path is not None:
            return Location(str(path.resolve().with_name(f".{path.resolve().name}.parts")))
        return Location(f"{self.out.given.rstrip('/')}.parts")

    def held(self) -> AbstractContextManager[None]:
        """Keep other commands of this machine from the results folder; one behind a URL can't be held.

        Raises
        ------
        InputError
            Another command writes it.
        """
        path = self.out.path
        if path is None:
            return nullcontext()

        def refuse() -> None:
            raise InputError(
                "another command is writing this results folder",
                where=str(self.out),
                remedy="Wait until it has ended, or name another folder.",
            )

        return locked(path.resolve().with_name(f".{path.resolve().name}.lock"), refuse)

    def published(self, file: Path) -> Location:
        """Return the copy of a temporary file that is where all workers reach it: beside the parts in progress."""
        name = f"{digest_of(file)}-{file.name}"
        with self.work.staging() as staging:
            self.work.put(Path(shutil.copyfile(file, staging / name)), name)
        return self.work.child(name)


@contextmanager
def opened_plan(
    on: str | Executor | None,
    out: str | Path | None,
    *,
    resources: Mapping[str, float] | None = None,
    say: Callable[[str], None] = lambda message: None,
    whole: bool = False,
) -> Iterator[ShardPlan]:
    """Open an executor, and hold a results folder; without one, results lie in a temporary folder.

    At the end of the block the parts in progress are removed, unless it fails.

    Raises
    ------
    InputError
        The executor can't be opened, or another command writes the results folder.
    """
    with ExitStack() as stack:
        executor = stack.enter_context(opened_executor(on, resources=resources))
        place = Location.of(out) if out is not None else Location(str(stack.enter_context(held_folder()) / "results"))
        plan = ShardPlan(place, executor, say, whole)
        arrow()  # refused at once, and not after an hour
        stack.enter_context(plan.held())
        yield plan
        remove_folder(plan.work)


class Scored(NamedTuple):
    """The result of a run, its results folder, and what the manifest of that says."""

    result: Evaluation
    writer: ResultsWriter
    manifest: dict[str, Any]

    def rows(self) -> Iterator[Row]:
        """Yield the rows that the folder holds."""
        return ResultsFolder(self.writer.out, {**self.manifest, "parts": self.writer.parts}, {}).rows()


@dataclass
class RunShards:
    """A run in shards, beside its questions.

    Attributes
    ----------
    given
        The run as the user names it, without credentials.
    questions, answers
        The shards of both.
    beside
        The places of the records that are read beside each shard of questions.
    survey
        Facts about the gold of all questions that scoring needs.
    plan
        The executor that scores it.
    out
        The folder of its own results.
    scored
        The result, once it is scored.
    """

    given: str
    dataset: ShardedDataset
    questions: list[Shard]
    answers: list[Shard]
    survey: Survey
    plan: ShardPlan
    out: Location
    scored: Scored | None = None

    def finish(self, gates: Sequence[dict[str, Any]] = ()) -> None:
        """Make the folder of the scored run results, with the outcomes of gates in their summary."""
        assert self.scored is not None
        result, writer, manifest = self.scored
        listed = {"gates": [*gates], "groups": result.groups_as_json(), **result.outcomes_as_json()}
        writer.finish(manifest, {**result.as_json(), **listed})

    @cached_property
    def beside(self) -> list[list[int]]:
        """The places of the records that are read beside each shard of questions: those at the same part of the run."""
        beside: list[list[int]] = [[] for _ in self.questions]
        by_file = [_by_file(self.questions), _by_file(self.answers)]
        pairs = [(0, len(self.questions), 0, len(self.answers))]
        if len(by_file[0]) == len(by_file[1]):
            pairs = [(*first, *second) for first, second in zip(*by_file, strict=True)]
        for begin, end, first, last in pairs:
            for place in range(first, last):
                # The same number of shards: each beside its own. Otherwise each is beside the one at its share.
                wanted = begin + (place - first) * (end - begin) // max(last - first, 1)
                same = begin + place - first
                near = abs((end - begin) - (last - first)) <= 1 or len(pairs) > 1
                beside[min(same, end - 1) if near else wanted].append(place)
        return beside

    @property
    def run_file(self) -> Path:
        """The run as the path of a file, which it may not be."""
        return Path(self.given)

    @property
    def origin(self) -> str | None:
        """The place of the run; None if it is a single file of this machine, which can be loaded again by its path."""
        path = Location.of(self.given).path
        if path is None:
            return self.given
        return None if path.is_file() and path.suffix != ".parquet" else str(path.resolve())

    def records(self, name: str) -> Iterator[AnswerStruct]:
        """Yield the usable records in their order, as they are scored, under the name of the run."""
        job = Job(Path(), self.run_file, (), CommitGraph(), name=name, spelling=self.spelling)
        return usable_records(ShardContext(job, tuple(self.questions), tuple(self.answers), self.extra))

    def content(self) -> Iterator[bytes]:
        """Yield the bytes of the run as they are stored, one shard after the other."""
        return blocks_of(self.answers)

    @property
    def extra(self) -> frozenset[str]:
        """The dataset's own fields."""
        return extra_fields(self.dataset.folder)

    @cached_property
    def spelling(self) -> GoldSpelling:
        """The gold's spelling of ids that aren't ASCII."""
        return GoldSpelling(ids=self.survey.not_ascii)

    @cached_property
    def _first(self) -> tuple[FirstRecords, int]:
        def records() -> Iterator[AnswerStruct]:
            for shard in self.answers:
                reader = RecordReader(
                    Path(str(shard.location)), AnswerStruct, Problems("skip"), run=run_of_file(self.run_file)
                )
                for number, line in shard_lines(shard):
                    answer = reader.parse(number, line)
                    if answer is not None:
                        yield answer

        found = [*islice(records(), RECORDS + 1)]
        first = FirstRecords(found[:RECORDS], len(found) > RECORDS)
        return first, sum(respell(answer, self.spelling) > 0 for answer in first.answers)

    @property
    def first(self) -> FirstRecords:
        """The first records of the run, in the spelling of the gold."""
        return self._first[0]

    @property
    def respelled(self) -> int:
        """The number of the first records with ids in another spelling than the gold's."""
        return self._first[1]

    @property
    def name(self) -> str | None:
        """The name of the run by its first record; None without a usable one."""
        return self.first.answers[0].run if self.first.answers else None

    @property
    def further_measures(self) -> tuple[str, ...]:
        """The measures that score this run by default beside the usual ones."""
        return measures_that_apply(self.first, lambda: self.survey.tools, self.survey.texts)

    def known(self, measures: Sequence[Measure], problems: Problems) -> tuple[CommitGraph, dict[str, str]]:
        """Return the commits that a measure reads, and the reason of each question that isn't scored."""
        return known_from_files(self.dataset, measures, problems)

    @property
    def key(self) -> tuple[object, ...]:
        """The identity of the run and its dataset: each shard and file with its version."""
        small = [Location(str(path)) for path in self.dataset.files() if path.is_file()]
        return (
            *(shard.key for shard in (*self.questions, *self.answers)),
            *((file.name, file.version()) for file in small if not file.name.startswith("questions.")),
            *sorted(self.extra),
        )


def blocks_of(shards: Sequence[Shard]) -> Iterator[bytes]:
    """Yield the bytes of the files of some shards, one after the other.

    Raises
    ------
    InputError
        A file is no longer the one that was cut into shards.
    """
    for file, version in {shard.location: shard.version for shard in shards}.items():
        yield from file.blocks()
        if file.version() != version:
            what = "the file has changed since it was cut into shards"
            raise InputError(what, where=str(file), remedy="Run the command again when it is complete.")


def _by_file(shards: Sequence[Shard]) -> list[tuple[int, int]]:
    """Return where the shards of each file begin and end."""
    begins = [at for at, one in enumerate(shards) if at == 0 or one.location != shards[at - 1].location]
    return [*zip(begins, [*begins[1:], len(shards)], strict=True)]


@contextmanager
def opened_shards(
    run: str | Path | Location, dataset: str | Path | Dataset | None, plan: ShardPlan, *, within: bool = False
) -> Iterator[RunShards]:
    """Open a run and its dataset as shards, and ask all questions what scoring must know before.

    ``within`` gives the run a folder of its name in the results folder, which is then that of several runs.

    Raises
    ------
    InputError
        A file is missing or can't be read, there are no questions, or the results folder holds other files.
    """
    if not within:
        check_results_folder(plan.out)
    place = Location.of(run)
    answers = shards_of(place)
    with opened_dataset(place, dataset) as found:
        key = key_of("survey", *(shard.key for shard in found.shards))
        tasks = [ShardTask(f"{key_of(key, shard.key)}", shard, shard.name) for shard in found.shards]
        parts = finished_parts(plan.executor, survey, tasks, plan.work, suffix=".survey", say=plan.say)
        asked = surveyed(parts)
        found.expected = frozenset(asked.files)
        opened = RunShards(str(place), found, [*found.shards], answers, asked, plan, plan.out)
        if within:
            opened.out = plan.out.child(quote(opened.name or place.name, safe=" @+,=()"))
            check_results_folder(opened.out)
        yield opened


@contextmanager
def opened_dataset(run: Location, given: str | Path | Dataset | None) -> Iterator[ShardedDataset]:
    """Open the dataset of a run in shards: the given one, else the folder above it that holds questions.

    Raises
    ------
    InputError
        There are no questions.
    """
    with ExitStack() as stack:
        questions: Location | None
        if isinstance(given, Dataset):
            folder, questions = Location(str(given.folder)), Location(str(given.questions_file))
        else:
            folder = _given(given) if given is not None else _above(run)
            questions = _questions(folder)
        if questions is None:
            raise InputError(
                "the folder holds no questions.jsonl and no folder questions/ of shards",
                where=str(folder),
                remedy="A dataset needs one of them; name its folder by --dataset.",
            )
        shards = shards_of(questions)
        path = folder.path
        if path is None:
            path = stack.enter_context(held_folder()) / (folder.name or "dataset")
            path.mkdir()
            for file in folder.files():
                if file.name.startswith(_SMALL):
                    with file.opened() as stream:
                        (path / file.name).write_bytes(stream.read())
        found = ShardedDataset(path, shards, folder if folder.path is None else None)
        if isinstance(given, Dataset):
            found.questions_file = given.questions_file
        yield found


def _given(given: str | Path) -> Location:
    place = Location.of(given)
    return Location(str(located(given))) if place.path is not None else place


def _questions(folder: Location) -> Location | None:
    """Return the file or the folder of a dataset's questions."""
    for ending in ENDINGS:
        if (file := folder.child(f"questions{ending}")).exists():
            return file
    return shards if (shards := folder.child(QUESTIONS)).is_folder() else None


def _above(run: Location) -> Location:
    place = run
    for _ in range(3):
        place = place.parent
        if _questions(place) is not None:
            return place
    raise InputError("no questions are found beside this run", where=str(run), remedy="Name its dataset by --dataset.")


def surveyed(parts: Iterator[Path]) -> Survey:
    """Return the survey of all shards of questions."""
    every = Survey([], [], False, [])
    files: set[str] = set()
    strange: set[str] = set()
    texts: set[str] = set()
    for path in parts:
        one = msgspec.msgpack.decode(path.read_bytes(), type=Survey)
        files.update(one.files)
        strange.update(one.not_ascii)
        every.tools |= one.tools
        texts.update(one.texts)
    return Survey(sorted(files), sorted(strange), every.tools, sorted(texts))
