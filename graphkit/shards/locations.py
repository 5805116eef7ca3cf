"""Places of files: a path of this machine, or a URL of any file system that fsspec knows (``s3://``, ``memory://``).

fsspec finds credentials where each file system keeps them. A message shows a URL without them.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, cast
from urllib.parse import urlsplit, urlunsplit

from graphkit.errors import InputError, missing_file
from graphkit.files.leftovers import held_folder
from graphkit.records.secrets import masked_message

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
#: A URL as a path writes it.
_ONE_SLASH = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):/(?!/)")
_BLOCK = 1 << 20

#: What file systems call the fields that change with a file's content.
_VERSIONS = (
    *("ETag", "etag", "VersionId", "version_id", "generation", "md5Hash", "content_md5", "Content-MD5", "Digest"),
    *("LastModified", "last_modified", "Last-Modified", "updated", "mtime", "modified", "created"),
)


@dataclass(frozen=True, repr=False)
class Location:
    """A file, a folder or a pattern of files, on this machine or behind a URL.

    Parameters
    ----------
    given
        A path, or a URL with ``://`` in it. ``file://`` names a path.
    """

    given: str

    def __repr__(self) -> str:
        return f"Location({str(self)!r})"

    def __str__(self) -> str:
        """Return the place without credentials."""
        return shown(self.given)

    @classmethod
    def of(cls, given: str | Path | Location) -> Location:
        """Return a location as it is, or that of a path or URL."""
        if isinstance(given, Location):
            return given
        text = str(given)
        if isinstance(given, Path):
            text = _ONE_SLASH.sub(r"\1://", text)
        return cls(text.removeprefix("file://")) if text.startswith("file://") else cls(text)

    @property
    def path(self) -> Path | None:
        """The path, or None for a URL."""
        return None if _URL.match(self.given) else Path(self.given)

    @property
    def name(self) -> str:
        """The last part of the path or URL."""
        path = self.path
        return path.name if path is not None else urlsplit(self.given).path.rstrip("/").rpartition("/")[2]

    def child(self, name: str) -> Location:
        """Return the location of a name within this folder."""
        path = self.path
        if path is not None:
            return Location(str(path / name))
        parts = urlsplit(self.given)
        return Location(urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{name}")))

    @property
    def parent(self) -> Location:
        """The folder that holds this."""
        path = self.path
        if path is not None:
            return Location(str(path.parent if path.name else path))
        parts = urlsplit(self.given)
        return Location(urlunsplit(parts._replace(path=parts.path.rstrip("/").rpartition("/")[0])))

    def is_folder(self) -> bool:
        """Return whether there is a folder here."""
        path = self.path
        if path is not None:
            return path.is_dir()
        with self._errors():
            files, place = self._files()
            return bool(files.isdir(place))

    def exists(self) -> bool:
        """Return whether there is anything here."""
        path = self.path
        if path is not None:
            return path.exists()
        with self._errors():
            files, place = self._files()
            return bool(files.exists(place))

    def files(self) -> list[Location]:
        """Return the files directly in this folder in natural order, but no hidden ones; none if it isn't there."""
        return self._entries("file")

    def folders(self) -> list[Location]:
        """Return the folders directly in this folder in natural order, but no hidden ones; none if it isn't there."""
        return self._entries("directory")

    def _entries(self, kind: str) -> list[Location]:
        path = self.path
        if path is not None:
            with self._errors():
                every = [*path.iterdir()] if path.is_dir() else []
                found = [str(each) for each in every if (each.is_file() if kind == "file" else each.is_dir())]
        else:
            with self._errors():
                files, place = self._files()
                try:
                    entries = files.ls(place, detail=True, refresh=True)
                except FileNotFoundError:
                    entries = []
                found = [self._again(files, each["name"]) for each in entries if each["type"] == kind]
        kept = (Location(each) for each in found)
        return sorted((each for each in kept if not each.name.startswith(".")), key=natural)

    def matches(self) -> list[Location]:
        """Return the files that this pattern (``*``, ``?``, ``**``) matches in natural order."""
        path = self.path
        if path is not None:
            import glob

            found = [each for each in glob.glob(str(path), recursive=True) if Path(each).is_file()]  # noqa: PTH207
        else:
            with self._errors():
                files, place = self._files()
                listed = files.glob(place, detail=True)
                found = [self._again(files, name) for name, each in listed.items() if each["type"] == "file"]
        return sorted(map(Location, found), key=natural)

    @property
    def is_pattern(self) -> bool:
        """Whether this is a pattern: it has a ``*``, ``?`` or ``[``, and is no file by that very name."""
        path = self.path
        text = urlsplit(self.given).path if path is None else self.given
        if path is None and "?" in self.given and urlsplit(self.given).scheme not in ("http", "https"):
            text = self.given
        return any(sign in text for sign in "*?[") and (path is None or not path.exists())

    def size(self) -> int:
        """Return the size of the file in bytes."""
        path = self.path
        with self._errors():
            if path is not None:
                return path.stat().st_size
            files, place = self._files()
            return int(files.info(place)["size"] or 0)

    def version(self) -> str:
        """Return a text that changes with the content of the file: its time, its tag, or else a hash of its bytes."""
        path = self.path
        with self._errors():
            if path is not None:
                state = path.stat()
                return f"{state.st_size} {state.st_mtime_ns}"
            files, place = self._files()
            info = files.info(place)
        known = [f"{name}={info[name]}" for name in _VERSIONS if info.get(name) is not None]
        return f"{info.get('size')} {known[0]}" if known else self.digest()

    def digest(self) -> str:
        """Return a hash of the bytes of the file."""
        digest = blake2b(digest_size=20)
        for block in self.blocks():
            digest.update(block)
        return digest.hexdigest()

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the file in blocks."""
        with self.opened() as stream, self._errors():
            while block := stream.read(_BLOCK):
                yield block

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Open the file for reading bytes; it can be sought."""
        path = self.path
        with self._errors():
            if path is not None:
                stream = cast(IO[bytes], path.open("rb"))
            else:
                files, place = self._files()
                stream = cast(IO[bytes], files.open(place, "rb"))
        with stream:
            yield stream

    @contextmanager
    def local_copy(self) -> Iterator[Path]:
        """Yield the file as one of this machine: itself, or a copy that is removed at the end of the block."""
        path = self.path
        if path is not None:
            yield path
            return
        with held_folder() as folder:
            # The name decides how it is read: compressed, or Parquet.
            copy = folder / (re.sub(r"[^\w.-]", "_", self.name) or "file")
            with self.opened() as stream, self._errors(), copy.open("wb") as target:
                shutil.copyfileobj(stream, target, _BLOCK)
            yield copy

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """Yield a temporary folder of this machine whose files :meth:`put` moves here, removed at the end."""
        path = self.path
        with self._errors():
            if path is not None:
                path.mkdir(parents=True, exist_ok=True)
        with held_folder(path) as folder:
            yield folder

    def put(self, file: Path, name: str) -> None:
        """Move a file of :meth:`staging` into this folder: it appears there complete, or not at all."""
        path = self.path
        with self._errors():
            if path is not None:
                file.replace(path / name)
                return
            files, place = self._files()
            with contextlib.suppress(FileExistsError):
                files.makedirs(place, exist_ok=True)
            files.put_file(str(file), f"{place.rstrip('/')}/{name}")
        file.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the file, if it is there."""
        path = self.path
        with self._errors():
            if path is not None:
                path.unlink(missing_ok=True)
                return
            files, place = self._files()
            with contextlib.suppress(FileNotFoundError):
                files.rm_file(place)

    def _files(self) -> tuple[Any, str]:
        """Return the file system of the URL, and the place in it."""
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise InputError(
                "a URL needs fsspec, which isn't installed",
                where=str(self),
                remedy="pip install 'graphkit-eval[remote]', or give a path.",
            ) from None
        # A listing that is kept would hide what the workers write.
        files, place = url_to_fs(self.given, use_listings_cache=False)
        return files, place

    def _again(self, files: Any, name: str) -> str:
        """Return the URL of a name that the file system lists."""
        if name.startswith(("http://", "https://")):
            return name
        protocol = self.given.partition("://")[0]
        return f"{protocol}://{name.lstrip('/')}" if protocol != "memory" else f"memory://{name}"

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise what goes wrong at this place as an InputError that says what to do."""
        try:
            yield
        except InputError:
            raise
        except Exception as error:
            raise refused(self, error) from None


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


def shown(place: str) -> str:
    """Return a path or URL without credentials: neither user and password, nor the values of its query.

    >>> shown("https://me:hidden1@host/a.jsonl?X-Amz-Signature=abc&part=1")
    'https://host/a.jsonl?X-Amz-Signature=[secret]&part=[secret]'
    """
    if not _URL.match(place):
        return place
    head, _, query = place.partition("?")
    scheme, _, rest = head.partition("://")
    host, slash, path = rest.partition("/")
    known = "&".join(f"{each.partition('=')[0]}=[secret]" for each in query.split("&")) if query else ""
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}{'?' if query else ''}{known}"


def refused(location: Location, error: Exception) -> InputError:
    """Return an error of a file system as one that says what to do."""
    where = str(location)
    text = masked_message(str(error)).replace(location.given, where) or type(error).__name__
    if isinstance(error, ImportError):
        text = text.partition("\n")[0]
        extra = urlsplit(location.given).scheme in ("s3", "http", "https")
        remedy = "pip install 'graphkit-eval[remote]'" if extra else "Install it with pip."
        return InputError(f"this file system needs another package: {text}", where=where, remedy=remedy)
    if isinstance(error, FileNotFoundError):
        return missing_file(where)
    kind = type(error).__name__
    if isinstance(error, PermissionError) or "Credentials" in kind or "Token" in kind:
        remedy = (
            "Check the permissions."
            if location.path is not None
            else "Check the credentials: fsspec takes them from the environment and from each file system's own files."
        )
        return InputError(f"access is refused: {text}", where=where, remedy=remedy)
    if location.path is not None and isinstance(error, OSError):
        text = error.strerror or os.strerror(error.errno or 0)
    return InputError(f"the file system refuses: {text}", where=where, remedy="Check the path and the service.")
