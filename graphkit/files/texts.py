"""Small files that a person writes, such as a configuration, read as a whole up to a limit."""

from __future__ import annotations

import os
import select
import stat
import time
import tomllib
from pathlib import Path
from typing import Any

from graphkit.errors import InputError, unreadable_file

#: The longest such file in bytes; a longer one, or one without an end, is something else.
LONGEST_TEXT = 1 << 20

#: The seconds in which a pipe must send everything; without a writer, reading it would never end.
PATIENCE = 10.0


def read_text(path: Path, remedy: str | None = None) -> str:
    """Return the text of a file in UTF-8, without a byte order mark.

    Raises
    ------
    InputError
        The file is missing, can't be read, has no end, is too long, or is no UTF-8.
    """
    try:
        data = _limited(path)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise unreadable_file(path, error, remedy) from None
    if data is None:
        what = f"nothing more came within {PATIENCE:g} seconds, and the pipe has no end yet"
        raise InputError(what, where=str(path), remedy=remedy)
    if len(data) > LONGEST_TEXT:
        what = f"the file is longer than {LONGEST_TEXT >> 20} MiB, or has no end"
        raise InputError(what, where=str(path), remedy=remedy)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("the file isn't text in UTF-8", where=f"{path}:{line}", remedy=remedy) from None


def _limited(path: Path) -> bytes | None:
    """Return the content of a file up to a byte beyond the limit; None for a pipe that doesn't end in time."""
    data = b""
    deadline = time.monotonic() + PATIENCE
    with open(path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as stream:
        regular = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
        while len(data) <= LONGEST_TEXT:
            if not regular and not select.select([stream], [], [], max(0.0, deadline - time.monotonic()))[0]:
                return None
            block = stream.read(LONGEST_TEXT + 1 - len(data))
            if not block:
                break
            data += block
    return data


def read_toml(path: Path, remedy: str | None = None) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises
    ------
    InputError
        The file can't be read, or isn't TOML.
    """
    text = read_text(path, remedy)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError("not valid TOML: nested too deeply", where=str(path), remedy=remedy) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not valid TOML: {error}", where=str(path), remedy=remedy) from None
    except ValueError:  # Python accepts no number with more than some thousand digits
        raise InputError("not valid TOML: a number has too many digits", where=str(path), remedy=remedy) from None
