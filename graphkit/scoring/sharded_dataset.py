"""A dataset whose questions are shards, on this machine or behind a URL."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import cast

from graphkit.errors import InputError
from graphkit.files.assets import located
from graphkit.files.dataset import Dataset, is_sharded
from graphkit.files.dataset_settings import extra_fields
from graphkit.files.jsonl import folders_around
from graphkit.files.leftovers import held_folder
from graphkit.files.named_places import NamedPlaces
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.records.commits import ReadAt
from graphkit.records.ids import Places
from graphkit.records.structs import QuestionStruct
from graphkit.shards.inputs import ENDINGS, Shard, shard_lines, shards_of
from graphkit.shards.locations import Location

#: The folder of a dataset with the shards of its questions.
QUESTIONS = "questions"

#: The files of a dataset that are read whole, or copied from another machine.
_SMALL = ("commits", "compatibility", "access", "artifacts", "edges", "dataset.json")


class ShardedDataset(Dataset):
    """A dataset whose questions are shards.

    Parameters
    ----------
    folder
        The folder of this machine with its other files.
    shards
        The shards of its questions.
    named
        The place as the user names it.
    remote
        The place of which the folder is a copy that workers don't see; None for a folder of this machine.
    """

    def __init__(self, folder: Path, shards: Sequence[Shard], named: Location, remote: Location | None) -> None:
        super().__init__(folder.resolve(), questions=False)
        self.shards = tuple(shards)
        self._named, self._remote = named, remote
        # Which files and sides the questions have isn't known before all shards are read.
        self.expected: frozenset[str] = frozenset()
        self.has_sides = True
        if not self._has_questions:
            self.questions_file = self.folder / QUESTIONS

    @property
    def given(self) -> str:
        """The folder or the URL as the user names it, without credentials."""
        return str(self._named)

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
        return self.every_question()

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
        return super().places().read(stated=self._remote is not None)

    def artifact_commits(self, places: Places) -> ReadAt:
        """Return a lookup of the commits at which the knowledge graphs read an artifact."""
        found = super().artifact_commits(places)
        if self._remote is not None:
            found("", None)  # workers can't read the copy
        return found


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
        found = ShardedDataset(path, shards, folder, folder if folder.path is None else None)
        if isinstance(given, Dataset):
            found.questions_file, found.principal = given.questions_file, given.principal
        yield found


@contextmanager
def dataset_for_logs(run: Path, given: Path | None) -> Iterator[Dataset | None]:
    """Open the dataset beside which the logs of a run are read, if its questions are shards; else yield None."""
    folders = folders_around(run) if given is None else (given,)
    found = next((one for one in folders if Location.of(one).path is None or is_sharded(located(one))), None)
    if found is None:
        yield None
        return
    with opened_dataset(Location.of(run), found) as opened:
        opened.expected = frozenset(file for one in opened.every_annotation() for file in one.expected_files)
        yield opened


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
