"""Places behind a URL of any file system that fsspec knows (``s3://``, ``memory://``).

fsspec finds credentials where each file system keeps them. A message shows a URL without them.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, cast
from urllib.parse import urlsplit, urlunsplit

from graphkit.errors import InputError, missing_file
from graphkit.files.leftovers import held_folder
from graphkit.records.secrets import masked_message
from graphkit.shards.locations import BLOCK, Location, natural

#: What file systems call the fields that change with a file's content.
_VERSIONS = (
    *("ETag", "etag", "VersionId", "version_id", "generation", "md5Hash", "content_md5", "Content-MD5", "Digest"),
    *("LastModified", "last_modified", "Last-Modified", "updated", "mtime", "modified", "created"),
)


class UrlLocation(Location):
    """A file, a folder or a pattern of files behind a URL."""

    def __str__(self) -> str:
        """Return the URL without credentials."""
        return shown(self.given)

    @property
    def path(self) -> None:
        """None: it is no path of this machine."""
        return

    @property
    def name(self) -> str:
        """The last part of the URL."""
        return urlsplit(self.given).path.rstrip("/").rpartition("/")[2]

    def child(self, name: str) -> Location:
        """Return the location of a name within this folder."""
        parts = urlsplit(self.given)
        return UrlLocation(urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{name}")))

    @property
    def parent(self) -> Location:
        """The folder that holds this."""
        parts = urlsplit(self.given)
        return UrlLocation(urlunsplit(parts._replace(path=parts.path.rstrip("/").rpartition("/")[0])))

    def is_folder(self) -> bool:
        """Return whether there is a folder here."""
        with self.errors():
            files, place = self._files()
            return bool(files.isdir(place))

    def exists(self) -> bool:
        """Return whether there is anything here."""
        with self.errors():
            files, place = self._files()
            return bool(files.exists(place))

    def entries(self, kind: Literal["file", "directory"]) -> list[Location]:
        """Return what is directly in this folder, hidden ones included, in any order."""
        with self.errors():
            files, place = self._files()
            try:
                entries = files.ls(place, detail=True, refresh=True)
            except FileNotFoundError:
                entries = []
            return [self._again(files, one["name"]) for one in entries if one["type"] == kind]

    def matches(self) -> list[Location]:
        """Return the files that this pattern (``*``, ``?``, ``**``) matches in natural order."""
        with self.errors():
            files, place = self._files()
            listed = files.glob(place, detail=True)
            found = [self._again(files, name) for name, one in listed.items() if one["type"] == "file"]
        return sorted(found, key=natural)

    @property
    def is_pattern(self) -> bool:
        """Whether this is a pattern: it has a ``*``, ``?`` or ``[``; the query of a web address is none."""
        parts = urlsplit(self.given)
        text = self.given if "?" in self.given and parts.scheme not in ("http", "https") else parts.path
        return any(sign in text for sign in "*?[")

    def size(self) -> int:
        """Return the size of the file in bytes."""
        with self.errors():
            files, place = self._files()
            return int(files.info(place)["size"] or 0)

    def version(self) -> str:
        """Return a text that changes with the content of the file: its time, its tag, or else a hash of its bytes."""
        with self.errors():
            files, place = self._files()
            info = files.info(place)
        known = [f"{name}={info[name]}" for name in _VERSIONS if info.get(name) is not None]
        return f"{info.get('size')} {known[0]}" if known else self.digest()

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Open the file for reading bytes; it can be sought."""
        with self.errors():
            files, place = self._files()
            stream = cast(IO[bytes], files.open(place, "rb"))
        with stream:
            yield stream

    @contextmanager
    def local_copy(self) -> Iterator[Path]:
        """Yield a copy on this machine, which is removed at the end of the block."""
        with held_folder() as folder:
            # The name decides how it is read: compressed, or Parquet.
            copy = folder / (re.sub(r"[^\w.-]", "_", self.name) or "file")
            with self.opened() as stream, self.errors(), copy.open("wb") as target:
                shutil.copyfileobj(stream, target, BLOCK)
            yield copy

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """Yield a temporary folder of this machine whose files :meth:`put` moves here, removed at the end."""
        with held_folder() as folder:
            yield folder

    def put(self, file: Path, name: str) -> None:
        """Move a file of :meth:`staging` into this folder: it appears there complete, or not at all."""
        with self.errors():
            files, place = self._files()
            with contextlib.suppress(FileExistsError):
                files.makedirs(place, exist_ok=True)
            files.put_file(str(file), f"{place.rstrip('/')}/{name}")
        file.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the file, if it is there."""
        with self.errors():
            files, place = self._files()
            with contextlib.suppress(FileNotFoundError):
                files.rm_file(place)

    def refused(self, error: Exception) -> InputError:
        """Return an error of the file system as one that says what to do."""
        where = str(self)
        text = masked_message(str(error)).replace(self.given, where) or type(error).__name__
        if isinstance(error, ImportError):
            text = text.partition("\n")[0]
            extra = urlsplit(self.given).scheme in ("s3", "http", "https")
            remedy = "pip install 'graphkit-eval[remote]'" if extra else "Install it with pip."
            return InputError(f"this file system needs another package: {text}", where=where, remedy=remedy)
        if isinstance(error, FileNotFoundError):
            return missing_file(where)
        kind = type(error).__name__
        if isinstance(error, PermissionError) or "Credentials" in kind or "Token" in kind:
            from_where = "fsspec takes them from the environment and from each file system's own files"
            remedy = f"Check the credentials: {from_where}."
            return InputError(f"access is refused: {text}", where=where, remedy=remedy)
        return InputError(f"the file system refuses: {text}", where=where, remedy="Check the path and the service.")

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

    def _again(self, files: Any, name: str) -> Location:
        """Return the location of a name that the file system lists."""
        if name.startswith(("http://", "https://")):
            return UrlLocation(name)
        protocol = self.given.partition("://")[0]
        return UrlLocation(f"{protocol}://{name.lstrip('/')}" if protocol != "memory" else f"memory://{name}")


def shown(place: str) -> str:
    """Return a URL without credentials: neither user and password, nor the values of its query.

    >>> shown("https://me:hidden1@host/a.jsonl?X-Amz-Signature=abc&part=1")
    'https://host/a.jsonl?X-Amz-Signature=[secret]&part=[secret]'
    """
    head, _, query = place.partition("?")
    scheme, _, rest = head.partition("://")
    host, slash, path = rest.partition("/")
    known = "&".join(f"{each.partition('=')[0]}=[secret]" for each in query.split("&")) if query else ""
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}{'?' if query else ''}{known}"
