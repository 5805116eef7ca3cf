"""A page that is kept up to date: it is built again when its sources change, and the former one stays meanwhile."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from graphkit.errors import GraphkitError, InputError, one_line
from graphkit.files.leftovers import held_folder
from graphkit.records.secrets import masked
from graphkit.report.contents import PageContents

#: The interval between looks at the sources, in seconds. A source that changed in the last one may still be written.
LOOK = 0.5

#: The wait after the page was built again, as a multiple of the time it took.
REST = 1.0

#: How long a build that is under way is waited for at the end, in seconds; then it ends with the process.
ENDING = 1.0

#: The state of each source, by which a change is noticed without reading it; None for one that isn't there.
_State = tuple[tuple[Path, tuple[int, ...] | None], ...]


@dataclass(frozen=True)
class _Built:
    """A page in a file without a name, which the kernel removes with its last reader."""

    version: str
    file: BinaryIO
    contents: PageContents


class ServedPage:
    """A page in a temporary file, with the version of its sources.

    Parameters
    ----------
    sources
        Returns the files that the page is made from.
    write
        Writes the page to a file, with its version.

    Raises
    ------
    InputError
        A source can't be used, or the page can't be written.
    """

    def __init__(self, sources: Callable[[], Iterable[Path]], write: Callable[[Path, str], PageContents]) -> None:
        self._sources, self._write = sources, write
        self._lock = threading.Lock()
        self._tried = _state(sources())
        self._seen: _State | None = self._tried
        self._rest_until = 0.0
        self._failure: str | None = None  # of the last attempt to build
        self._error: str | None = None
        self._building: Path | None = None
        self._page = self._built(_version(self._tried))

    def close(self) -> None:
        """Remove the page, and what a build that is under way has written so far."""
        with self._lock:
            self._page.file.close()
        if self._building is not None:
            shutil.rmtree(self._building, ignore_errors=True)

    @property
    def contents(self) -> PageContents:
        """The content of the page."""
        return self._page.contents

    def status(self) -> dict[str, str]:
        """Return the version, and the error that keeps the page from being built again, if there is one."""
        with self._lock:
            error = {} if self._error is None else {"error": self._error}
            return {"version": self._page.version, **error}

    def current(self) -> tuple[str, PageContents]:
        """Return the version of the page, and what it contains."""
        page = self._page
        return page.version, page.contents

    @contextmanager
    def opened(self) -> Iterator[tuple[int, int]]:
        """Yield a descriptor of the page's file, to be read by position, and the number of its bytes."""
        with self._lock:
            descriptor = os.dup(self._page.file.fileno())
        try:
            yield descriptor, os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)

    def look(self) -> bool:
        """Build the page again if its sources have changed; return whether there is a new page or a new error."""
        before = self.status()
        try:
            state = _state(self._sources())
        except (GraphkitError, OSError) as error:
            self._seen = None
            self._set(_sentence(error))
        else:
            self._follow(state)
        return self.status() != before

    def _follow(self, state: _State) -> None:
        settled, self._seen = state == self._seen, state
        if state == self._tried:
            self._set(self._failure)  # no more than the sources' list may have been wrong meanwhile
            return
        if not settled or time.monotonic() < self._rest_until:
            return
        self._tried, self._failure = state, None
        version, begun = _version(state), time.monotonic()
        if version == self._page.version:
            self._set(None)
            return
        try:
            page = self._built(version)
        except Exception as error:  # also of a user's own measure: the former page stays
            self._failure = _sentence(error)
            self._set(self._failure)
        else:
            with self._lock:
                former, self._page, self._error = self._page, page, None
            former.file.close()
        self._rest_until = time.monotonic() + REST * (time.monotonic() - begun)

    def _set(self, error: str | None) -> None:
        with self._lock:
            self._error = error

    def _built(self, version: str) -> _Built:
        with held_folder() as self._building:
            out = self._building / "page.html"
            contents = self._write(out, version)
            return _Built(version, out.open("rb"), contents)


def follow(page: ServedPage, stop: threading.Event, changed: Callable[[dict[str, str]], None]) -> None:
    """Keep a page up to date until ``stop`` is set; call ``changed`` with its status after each change.

    A build that is under way then ends at once: the processes that score its runs are terminated, and those that it
    starts in their place too, until it gives up. On a busy machine that outlasts this function: the end of the process
    waits for the threads of its executors.
    """

    def look() -> None:
        while not stop.wait(LOOK):
            if page.look() and not stop.is_set():
                changed(page.status())

    def end() -> None:
        while looking.is_alive():
            for worker in multiprocessing.active_children():
                worker.terminate()
            looking.join(0.1)

    # the limits of the command's inputs are part of its context
    looking = threading.Thread(target=copy_context().run, args=(look,), daemon=True)
    looking.start()
    stop.wait()
    ending = threading.Thread(target=end, daemon=True)
    ending.start()
    ending.join(ENDING)


def _state(sources: Iterable[Path]) -> _State:
    """Return the state of some files.

    Raises
    ------
    InputError
        One of them is a pipe or a device, which can be read only once.
    """
    found: list[tuple[Path, tuple[int, ...] | None]] = []
    for path in dict.fromkeys(sources):
        try:
            status = path.stat()
        except OSError:
            found.append((path, None))
            continue
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            what = "this is a pipe or a device, but a page that follows its sources reads them more than once"
            raise InputError(what, where=str(path), remedy="Write it into a file first.")
        found.append((path, (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)))
    return tuple(found)


def _sentence(error: Exception) -> str:
    """Return what is wrong, and where, on one line."""
    text = error.sentence if isinstance(error, GraphkitError) else one_line(f"{type(error).__name__}: {error}")
    return masked(text)


def _version(state: _State) -> str:
    """Return a digest of the content of some files."""
    whole = blake2b(digest_size=12)
    for path, _ in state:
        hasher = blake2b(os.fsencode(path), digest_size=16)
        try:
            with path.open("rb") as stream:
                while block := stream.read(1 << 20):
                    hasher.update(block)
        except OSError:
            hasher.update(b"\0unreadable")
        whole.update(hasher.digest())
    return whole.hexdigest()
