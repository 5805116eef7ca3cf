"""Places of files: a path of this machine, or a URL, whose files a plug-in reaches (``graphkit.locations``)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Literal, cast

from graphkit.errors import InputError, missing_file
from graphkit.files.leftovers import held_folder
from graphkit.records.plugins import installed, load
from graphkit.records.secrets import masked_message

#: The entry points of plug-ins that reach the files behind URLs.
GROUP = "graphkit.locations"

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
#: A URL as a path writes it.
_ONE_SLASH = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):/(?!/)")
BLOCK = 1 << 20


@dataclass(frozen=True, repr=False)
class Location:
    """A file, a folder or a pattern of files on this machine; a subclass is one behind a URL.

    Every method raises an InputError if the file system refuses, and says what to do.
    """

    given: str

    def __repr__(self) -> str:
        return f"Location({str(self)!r})"

    def __str__(self) -> str:
        """Return the place as messages name it."""
        return self.given

    @classmethod
    def of(cls, given: str | Path | Location) -> Location:
        """Return a location as it is, or that of a path, or of a URL with ``://`` in it; ``file://`` names a path.

        Raises
        ------
        InputError
            The plug-in for URLs isn't there.
        """
        if isinstance(given, Location):
            return given
        text = str(given)
        if isinstance(given, Path):
            text = _ONE_SLASH.sub(r"\1://", text)
        if not _URL.match(text) or text.startswith("file://"):
            return cls(text.removeprefix("file://"))
        behind_url: type[Location] = load(next(iter(installed(GROUP).values())), InputError, "a URL")
        return behind_url(text)

    @property
    def path(self) -> Path | None:
        """The path, or None for a URL."""
        return Path(self.given)

    @property
    def _here(self) -> Path:
        return Path(self.given)

    @property
    def name(self) -> str:
        """The last part of the path or URL."""
        return self._here.name

    def child(self, name: str) -> Location:
        """Return the location of a name within this folder."""
        return Location(str(self._here / name))

    @property
    def parent(self) -> Location:
        """The folder that holds this."""
        return Location(str(self._here.parent if self._here.name else self._here))

    def is_folder(self) -> bool:
        """Return whether there is a folder here."""
        return self._here.is_dir()

    def exists(self) -> bool:
        """Return whether there is anything here."""
        return self._here.exists()

    def files(self) -> list[Location]:
        """Return the files directly in this folder in natural order, but no hidden ones; none if it isn't there."""
        return in_order(self.entries("file"))

    def folders(self) -> list[Location]:
        """Return the folders directly in this folder in natural order, but no hidden ones; none if it isn't there."""
        return in_order(self.entries("directory"))

    def entries(self, kind: Literal["file", "directory"]) -> list[Location]:
        """Return what is directly in this folder, hidden ones included, in any order."""
        with self.errors():
            every = [*self._here.iterdir()] if self._here.is_dir() else []
            return [Location(str(one)) for one in every if (one.is_file() if kind == "file" else one.is_dir())]

    def matches(self) -> list[Location]:
        """Return the files that this pattern (``*``, ``?``, ``**``) matches in natural order."""
        import glob

        found = [one for one in glob.glob(self.given, recursive=True) if Path(one).is_file()]  # noqa: PTH207
        return sorted(map(Location, found), key=natural)

    @property
    def is_pattern(self) -> bool:
        """Whether this is a pattern: it has a ``*``, ``?`` or ``[``, and is no file by that very name."""
        return any(sign in self.given for sign in "*?[") and not self.exists()

    def size(self) -> int:
        """Return the size of the file in bytes."""
        with self.errors():
            return self._here.stat().st_size

    def version(self) -> str:
        """Return a text that changes with the content of the file: its time, its tag, or else a hash of its bytes."""
        with self.errors():
            state = self._here.stat()
        return f"{state.st_size} {state.st_mtime_ns}"

    def digest(self) -> str:
        """Return a hash of the bytes of the file."""
        digest = blake2b(digest_size=20)
        for block in self.blocks():
            digest.update(block)
        return digest.hexdigest()

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the file in blocks."""
        with self.opened() as stream, self.errors():
            while block := stream.read(BLOCK):
                yield block

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Open the file for reading bytes; it can be sought."""
        with self.errors():
            stream = cast(IO[bytes], self._here.open("rb"))
        with stream:
            yield stream

    @contextmanager
    def local_copy(self) -> Iterator[Path]:
        """Yield the file as one of this machine: itself, or a copy that is removed at the end of the block."""
        yield self._here

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """Yield a temporary folder of this machine whose files :meth:`put` moves here, removed at the end."""
        with self.errors():
            self._here.mkdir(parents=True, exist_ok=True)
        with held_folder(self._here) as folder:
            yield folder

    def put(self, file: Path, name: str) -> None:
        """Move a file of :meth:`staging` into this folder: it appears there complete, or not at all."""
        with self.errors():
            file.replace(self._here / name)

    def remove(self) -> None:
        """Remove the file, if it is there."""
        with self.errors():
            self._here.unlink(missing_ok=True)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise what goes wrong at this place as an InputError that says what to do."""
        try:
            yield
        except InputError:
            raise
        except Exception as error:
            raise self.refused(error) from None

    def refused(self, error: Exception) -> InputError:
        """Return an error of the file system as one that says what to do."""
        where, text = str(self), masked_message(str(error)) or type(error).__name__
        if isinstance(error, FileNotFoundError):
            return missing_file(where)
        if isinstance(error, PermissionError):
            return InputError(f"access is refused: {text}", where=where, remedy="Check the permissions.")
        if isinstance(error, OSError):
            text = error.strerror or os.strerror(error.errno or 0)
        return InputError(f"the file system refuses: {text}", where=where, remedy="Check the path and the service.")


def in_order(locations: Iterable[Location]) -> list[Location]:
    """Return locations in natural order, without hidden ones."""
    return sorted((one for one in locations if not one.name.startswith(".")), key=natural)


def natural(location: Location) -> list[tuple[int, int, str]]:
    """Return the key of natural order, in which ``part-2`` comes before ``part-10``.

    >>> sorted(map(Location, ["part-10", "part-2"]), key=natural)
    [Location('part-2'), Location('part-10')]
    """
    # A number and a text at the same place compare by their kind; the whole text decides between 1 and 01.
    parts = re.split(r"(\d+)", location.given)
    return [
        *((0, int(part), "") if place % 2 else (1, 0, part) for place, part in enumerate(parts)),
        (2, 0, location.given),
    ]
