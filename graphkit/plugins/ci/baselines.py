"""Baselines: a run that later ones are compared with, kept with the dataset that it was asked and scored by.

A baseline is a folder with ``baseline.json`` (:class:`SavedBaseline`), the run log and a copy of the dataset without
its other runs. Several lie side by side, each under its name, in a folder or on a branch of a git repository.
"""

from __future__ import annotations

import glob
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Annotated

import msgspec

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.git import commit_around
from graphkit.files.jsonl import stem_of
from graphkit.files.leftovers import held_folder

#: The file that makes a folder a baseline.
FILE = "baseline.json"

FIRST = "`graphkit baseline save RUN.jsonl` saves the first one."

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class SavedBaseline(msgspec.Struct, frozen=True):
    """What ``baseline.json`` says of a baseline.

    Attributes
    ----------
    run, questions, answered
        The name of the run or of the system that several runs repeat, how many questions it was asked, and how many
        of these it answered in the repetition that answered fewest.
    saved, commit
        When it was saved (UTC), and the commit of the repository around the run, if there is one.
    graphkit
        The version of graphkit that saved it.
    files
        The SHA-256 of each file, by its path in the folder; those of the runs come first.
    """

    run: str
    questions: int
    answered: int
    saved: str
    files: dict[str, str]
    commit: str | None = None
    graphkit: str = ""
    format: Annotated[int, msgspec.Meta(ge=1, le=1)] = 1

    @property
    def sentence(self) -> str:
        """What was saved, when and where, in words."""
        at = "" if self.commit is None else f" at commit {self.commit[:12]}"
        return f"{self.run}: {self.answered} of {self.questions} questions answered, saved {self.saved}{at}"


class HeldBaseline(msgspec.Struct, frozen=True):
    """A baseline in a folder: what is known of it, its run logs (several repeat one system) and its dataset."""

    about: SavedBaseline
    run_files: tuple[Path, ...]
    dataset: Path

    @property
    def run(self) -> str:
        """Its run log as `graphkit compare` takes it: a path, or a pattern of the repetitions."""
        if len(self.run_files) == 1:
            return str(self.run_files[0])
        return str(Path(glob.escape(str(self.run_files[0].parent)), f"*{ending_of(self.run_files[0])}"))


def is_baseline(folder: str | Path) -> bool:
    """Return whether a folder holds a baseline."""
    return Path(folder, FILE).is_file()


def checked_name(name: str) -> str:
    """Return the name of a baseline; raise InputError for one that is no plain name of a folder."""
    if not _NAME.fullmatch(name):
        what = f"a baseline's name has letters, digits, dots, hyphens and underscores, not {name!r}"
        raise InputError(what, where="--name", remedy="Give it another name, such as main.")
    return name


def read_baseline(folder: str | Path) -> HeldBaseline:
    """Return the baseline in a folder.

    Raises
    ------
    InputError
        The folder holds none, or a file of it is missing or was changed.
    """
    place = Path(folder)
    about = _parsed(place / FILE)
    for name, digest in about.files.items():
        path = place / name
        inside = not path.is_symlink() and path.is_file() and path.resolve().is_relative_to(place.resolve())
        if not inside or _digest(path) != digest:
            raise InputError(
                "the baseline isn't whole: this file is missing or was changed", where=str(path), remedy=_AGAIN
            )
    run_files = tuple(place / name for name in about.files if name.startswith("run/"))
    if len(run_files) > 1 and {*run_files} != {*(place / "run").iterdir()}:
        raise InputError("the baseline holds a run that it doesn't name", where=str(place / "run"), remedy=_AGAIN)
    return HeldBaseline(about, run_files, place / "dataset")


_AGAIN = "Get it again, or save a run anew by `graphkit baseline save`."


def _parsed(path: Path) -> SavedBaseline:
    try:
        about = msgspec.json.decode(path.read_bytes(), type=SavedBaseline)
    except FileNotFoundError:
        raise InputError("there is no baseline", where=str(path.parent), remedy=_AGAIN) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the baseline can't be read: {error}", where=str(path), remedy=_AGAIN) from None
    for name in about.files:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or "\\" in name or parts[0] not in ("run", "dataset"):
            raise InputError(f"the baseline names a file {name!r} outside of it", where=str(path), remedy=_AGAIN)
    if not about.files or not next(iter(about.files)).startswith("run/"):
        raise InputError("the baseline names no run", where=str(path), remedy=_AGAIN)
    return about


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        found = sha256()
        while block := stream.read(1 << 20):
            found.update(block)
    return found.hexdigest()


@contextmanager
def packed(run_files: Sequence[Path], dataset: Dataset, *, run: str, questions: int, answered: int) -> Iterator[Path]:
    """Yield a temporary folder that holds a run, or those that repeat one system, as a baseline.

    Raises
    ------
    InputError
        Logs of one system have different endings.
    """
    from graphkit import __version__

    if len({ending_of(file) for file in run_files}) > 1:
        what = "the run logs of one system have different endings"
        raise InputError(what, where=str(run_files[0].parent), remedy="Compress all of them alike, or none.")
    with held_folder() as folder:
        copies = {f"run/{file.name}": file for file in run_files}
        copies |= {f"dataset/{path.name}": path for path in dataset.files()}
        for name in ("dataset.json", "renames.jsonl"):
            if (path := dataset.folder / name).is_file():
                copies[f"dataset/{name}"] = path
        for name, path in copies.items():
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(path, folder / name)
        about = SavedBaseline(
            run,
            questions,
            answered,
            datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            {name: _digest(folder / name) for name in copies},
            commit_around(run_files[0]),
            __version__,
        )
        (folder / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(about), indent=2) + b"\n")
        yield folder


def ending_of(run_file: Path) -> str:
    """Return the ending of a run log.

    >>> ending_of(Path("runs/mine@1.jsonl.gz"))
    '.jsonl.gz'
    """
    return run_file.name[len(stem_of(run_file)) :]


def save_in_folder(packed_folder: Path, place: Path, name: str) -> Path:
    """Put a packed baseline under its name in a folder, in place of the former one; return its place."""
    target = place / checked_name(name)
    if target.exists() and not is_baseline(target):
        raise InputError("this isn't a baseline, and isn't replaced", where=str(target), remedy="Give another --name.")
    place.mkdir(parents=True, exist_ok=True)
    with held_folder(place) as made:
        fresh, former = made / "fresh", made / "former"
        shutil.copytree(packed_folder, fresh)
        if target.exists():
            target.rename(former)
        try:
            fresh.rename(target)
        except OSError:
            if former.exists():
                former.rename(target)
            raise
    return target


def write_out(source: Path, out: Path) -> HeldBaseline:
    """Copy a baseline to a folder that is new, empty or a baseline; raise InputError otherwise."""
    held = read_baseline(source)
    if out.exists() and not is_baseline(out) and (not out.is_dir() or any(out.iterdir())):
        raise InputError("this isn't a baseline, and isn't replaced", where=str(out), remedy="Name another --out.")
    with held_folder() as folder:
        for name in (FILE, *held.about.files):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, folder / name)
        if out.exists():
            shutil.rmtree(out)
        shutil.copytree(folder, out, ignore=shutil.ignore_patterns())
    return read_baseline(out)


class NoBaselineError(InputError):
    """There is no baseline of a name at a place."""


def in_folder(place: Path, name: str) -> Path:
    """Return the folder of a baseline: that of its name, or the place itself if it is a baseline.

    Raises
    ------
    NoBaselineError
        There is none.
    """
    if is_baseline(place / checked_name(name)):
        return place / name
    if is_baseline(place):
        return place
    raise NoBaselineError(f"the folder holds no baseline {name!r}", where=str(place), remedy=FIRST)
