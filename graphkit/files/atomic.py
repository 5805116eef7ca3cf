"""Files that appear complete, or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from graphkit.errors import InputError
from graphkit.files.leftovers import held_file, sweep
from graphkit.records.secrets import holds_secret, masked

if TYPE_CHECKING:
    from graphkit.records.fields import Record


class _Whole(NamedTuple):
    """A file that is written, and waits for the others before it takes its place; its descriptor keeps it."""

    path: Path
    temporary: Path
    target: Path
    descriptor: int


_waiting: ContextVar[list[_Whole] | None] = ContextVar("waiting", default=None)


@contextmanager
def together() -> Iterator[None]:
    """Let all files that the block writes by :func:`written` appear at its end, in that order; after an error, none.

    Their places hold the former files until all new ones are whole, so a kill doesn't leave new beside old.

    Raises
    ------
    InputError
        The folder or the disk refuses.
    """
    waiting: list[_Whole] = []
    token = _waiting.set(waiting)
    try:
        yield
        for one in waiting:
            try:
                one.temporary.replace(one.target)
            except OSError as error:
                raise _refused(one.path, error) from None
    finally:
        _waiting.reset(token)
        for one in waiting:
            one.temporary.unlink(missing_ok=True)
            os.close(one.descriptor)


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file beside ``path``, and move it there when the block ends without an error.

    Within :func:`together` it moves later. A link stays a link to the written file. A pipe or a device is itself
    yielded: it is written, never replaced.

    Raises
    ------
    InputError
        The folder or the disk refuses; then the former file is still there.
    """
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            yield target
            return
        sweep(target.parent, f".{target.name}.", path.suffix)
        descriptor, temporary = held_file(target.parent, f".{target.name}.", path.suffix)
    except RuntimeError:  # what resolve() raises before Python 3.13
        raise _refused(path, OSError(errno.ELOOP, os.strerror(errno.ELOOP))) from None
    except OSError as error:
        raise _refused(path, error) from None
    waiting = _waiting.get()
    try:
        yield temporary
        _mask(temporary)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        if waiting is None:
            temporary.replace(target)
        else:
            waiting.append(_Whole(path, temporary, target, descriptor))
            descriptor = -1
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise _refused(path, error) from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _mask(path: Path) -> None:
    """Mask the known secrets in a file of text, whichever code wrote it."""
    before = b""
    found = False
    with path.open("rb") as stream:
        while not found and (block := stream.read(1 << 20)):
            found = holds_secret(before + block)
            before = block[-1024:]
    if found:
        try:
            path.write_text(masked(path.read_text(encoding="utf-8")), encoding="utf-8", newline="")
        except UnicodeDecodeError:
            return  # the bytes only look like a secret: the file isn't text


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write records without their empty fields, one per line; the file appears complete, or not at all.

    Raises
    ------
    InputError
        The file can't be written.
    """
    with written(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        for record in records:
            stream.write(record.model_dump_json(exclude_defaults=True) + "\n")


def _refused(path: Path, error: OSError) -> InputError:
    return InputError(
        f"the file can't be written: {error.strerror or error}", where=str(path), remedy="Choose another place."
    )
