"""A run and its dataset as shards: found, paired, and surveyed before scoring."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.dataset_settings import extra_fields
from graphkit.files.file_locks import locked
from graphkit.files.jsonl import run_of_file
from graphkit.files.leftovers import held_folder
from graphkit.files.normal_forms import GoldSpelling, respell
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.files.run_files import RunSource
from graphkit.records.commits import CommitGraph
from graphkit.records.structs import AnswerStruct
from graphkit.scoring.further_measures import RECORDS, FirstRecords, in_order, measures_that_apply
from graphkit.scoring.results import Evaluation, Row
from graphkit.scoring.results_folder import (
    ResultsFolder,
    ResultsWriter,
    check_folder_of_several,
    check_results_folder,
    digest_of,
    remove_folder,
)
from graphkit.scoring.row_tables import arrow
from graphkit.scoring.scorer import Job
from graphkit.scoring.shard_scoring import ShardContext, Survey, survey, usable_records
from graphkit.scoring.sharded_dataset import ShardedDataset, blocks_of, opened_dataset
from graphkit.shards.executors import InThisProcess, opened_executor
from graphkit.shards.inputs import Shard, shard_lines, shards_of
from graphkit.shards.locations import Location
from graphkit.shards.work import SCORED, ShardTask, finished_parts, key_of

NO_SURVEY = Survey([], [], False, False, False, [])


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
        return Location.of(f"{self.out.given.rstrip('/')}.parts")

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

    At the end of the block the parts in progress are removed. If it fails, finished parts stay for another attempt.

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
        if (path := place.path) is not None:  # one behind a URL can't be held
            stack.enter_context(
                locked(path.resolve().with_name(f".{path.resolve().name}.lock"), partial(_refuse, place))
            )
        try:
            yield plan
        except InputError:
            if any(file.name.endswith(SCORED) for file in plan.work.files()):
                raise
            remove_folder(plan.work)
            raise
        remove_folder(plan.work)


def _refuse(out: Location) -> None:
    raise InputError(
        "another command is writing this results folder",
        where=str(out),
        remedy="Wait until it has ended, or name another folder.",
    )


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
        Facts about the gold of all questions that scoring needs; those of none before they are asked.
    plan
        The executor that scores it.
    out
        The folder of its own results.
    source
        The user's file, if the run isn't it.
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
    source: RunSource | None = None
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
        return usable_records(self.context(job))

    def context(self, job: Job) -> ShardContext:
        """Return what the tasks of a job share."""
        return ShardContext(job, tuple(self.questions), tuple(self.answers), self.extra, self.survey.turns)

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
    def _read(self) -> FirstRecords:
        """The first records of the run, until :attr:`first` respells them in place."""

        def records() -> Iterator[AnswerStruct]:
            for shard in self.answers:
                file, name = Path(str(shard.location)), run_of_file(self.run_file)
                reader = RecordReader(file, AnswerStruct, Problems("skip"), run=name, sessions=False)
                for number, line in shard_lines(shard):
                    answer = reader.parse(number, line)
                    if answer is not None:
                        yield answer

        found = [*islice(records(), RECORDS + 1)]
        return FirstRecords(found[:RECORDS], len(found) > RECORDS)

    @cached_property
    def respelled(self) -> int:
        """The number of the first records with ids in another spelling than the gold's, which they get."""
        return sum(respell(answer, self.spelling) > 0 for answer in self._read.answers)

    @property
    def first(self) -> FirstRecords:
        """The first records of the run, in the spelling of the gold."""
        _ = self.respelled
        return self._read

    @property
    def name(self) -> str | None:
        """The name of the run by its first record; None without a usable one."""
        return self._read.answers[0].run if self._read.answers else None

    @property
    def further_measures(self) -> tuple[str, ...]:
        """The measures that score this run by default beside the usual ones."""
        return measures_that_apply(self.first, lambda: self.survey.tools, self.survey.texts)

    @property
    def key(self) -> tuple[object, ...]:
        """The identity of the run and its dataset: each shard and file with its version."""
        small = [Location(str(path)) for path in self.dataset.files() if path.is_file()]
        return (
            *(shard.key for shard in (*self.questions, *self.answers)),
            *((file.name, file.version()) for file in small if not file.name.startswith("questions.")),
            *sorted(self.extra),
        )


def _by_file(shards: Sequence[Shard]) -> list[tuple[int, int]]:
    """Return where the shards of each file begin and end."""
    begins = [at for at, one in enumerate(shards) if at == 0 or one.location != shards[at - 1].location]
    return [*zip(begins, [*begins[1:], len(shards)], strict=True)]


@contextmanager
def opened_shards(
    run: str | Path | Location,
    dataset: str | Path | Dataset | None,
    plan: ShardPlan,
    *,
    within: bool = False,
    source: RunSource | None = None,
) -> Iterator[RunShards]:
    """Open a run and its dataset as shards, and ask all questions what scoring must know before.

    ``within`` gives the run a folder of its name in the results folder, which is then that of several runs.
    ``source`` names the user's file, if the run isn't it.

    Raises
    ------
    InputError
        A file is missing or can't be read, there are no questions, or the results folder holds other files.
    """
    (check_folder_of_several if within else check_results_folder)(plan.out)
    place = Location.of(run)
    answers = shards_of(place)
    with opened_dataset(place, dataset) as found:
        opened = RunShards(str(place), found, [*found.shards], answers, NO_SURVEY, plan, plan.out, source)
        if within:
            opened.out = plan.out.child(quote(opened.name or place.name, safe=" @+,=()"))
            check_results_folder(opened.out)
        key = key_of("survey 2", *(shard.key for shard in found.shards))
        tasks = [ShardTask(f"{key_of(key, shard.key)}", shard, shard.name) for shard in found.shards]
        parts = finished_parts(plan.executor, survey, tasks, plan.work, suffix=".survey", say=plan.say)
        opened.survey = surveyed(parts)
        found.expected, found.has_sides = frozenset(opened.survey.files), opened.survey.sides
        yield opened


def surveyed(parts: Iterator[Path]) -> Survey:
    """Return the survey of all shards of questions."""
    every = Survey([], [], False, False, False, [])
    files: set[str] = set()
    strange: set[str] = set()
    texts: set[str] = set()
    for path in parts:
        one = msgspec.msgpack.decode(path.read_bytes(), type=Survey)
        files.update(one.files)
        strange.update(one.not_ascii)
        every.tools |= one.tools
        every.sides |= one.sides
        every.turns |= one.turns
        texts.update(one.texts)
    return Survey(sorted(files), sorted(strange), every.tools, every.sides, every.turns, in_order(texts))
