"""The exceptions that graphkit raises: each says what is wrong, where, and what to do."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Sequence


def one_line(text: str) -> str:
    r"""Return text of somebody else's on one line: what isn't printable, ends of lines too, is written out.

    >>> print(one_line("red \x1b[31m\nerror: forged"))
    red \u001b[31m\u000aerror: forged
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _code_point(ord(char)) for char in text)


def _code_point(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x1_0000 else f"\\U{code:08x}"


class GraphkitError(Exception):
    """Base of every error that graphkit raises on purpose.

    Parameters
    ----------
    what
        One sentence that says what is wrong.
    where
        The place: ``file:line``, a record id, an address. Shown before the sentence.
    remedy
        What the reader can do about it. Shown after the sentence.
    details
        The cases that the sentence sums up, each shown on a line of its own.
    """

    exit_code = 2

    def __init__(
        self, what: str, *, where: str | None = None, remedy: str | None = None, details: Sequence[str] = ()
    ) -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        self.details = tuple(details)
        super().__init__(str(self))

    def __str__(self) -> str:
        """Return the error as lines that nothing in its parts can break or add to."""
        place = f"{self.where}: " if self.where else ""
        below = [*self.details, *([self.remedy] if self.remedy else [])]
        return "\n  ".join(map(one_line, (f"{place}{self.what}", *below)))

    @property
    def sentence(self) -> str:
        """The error on one line, with the first of its details and without the remedy."""
        return " ".join(str(self).split("\n  ")[: 1 + bool(self.details)])


class InputError(GraphkitError):
    """A file, a record, an option or a name that graphkit can't use (exit code 2)."""


class MeasureError(InputError):
    """A measure name or parameter that isn't known (exit code 2)."""


class DatabaseError(GraphkitError):
    """The graph database is down, refuses, is of the wrong version, or holds what can't be used (exit code 3)."""

    exit_code = 3


class WriteRefusedError(DatabaseError):
    """The server refused a query because it would write, but this access may only read."""


class ServerLimitError(DatabaseError):
    """The server had too little memory or time for a query; a smaller one may succeed."""


class GateError(GraphkitError):
    """A threshold that the user set was not met (exit code 1)."""

    exit_code = 1


def missing_file(file: object, hint: str = "") -> InputError:
    """Return the error for a file that isn't there; a hint at another one ends with a space."""
    return InputError("there is no such file", where=str(file), remedy=f"{hint}Check the path and its spelling.")


def unreadable_file(file: object, error: OSError | ValueError, remedy: str | None = None) -> InputError:
    """Return the error for a file that can't be opened or read, with the remedy for what is wrong.

    A given remedy stands in the place of those for a missing file and for what isn't known.
    """
    code = getattr(error, "errno", None)
    what, known = f"the file can't be read: {getattr(error, 'strerror', None) or error}", None
    if code == errno.ENOENT:
        return InputError("there is no such file", where=str(file), remedy=remedy) if remedy else missing_file(file)
    if code == errno.ELOOP:
        what, known = "these links form a loop", "Name another path."
    elif code == errno.ENAMETOOLONG:
        what, known = "the name is too long for a file", "Name another path."
    elif code in (errno.EACCES, errno.EPERM):
        known = "Allow yourself to read it (chmod u+r), or name another file."
    elif code == errno.EISDIR:
        known = "Name a file in it."
    return InputError(what, where=str(file), remedy=known or remedy or "Check the path, and name a file.")


def did_you_mean(name: str, known: Iterable[str], show: Callable[[str], str] = str) -> str:
    """Return a hint at the known name that is closest to one that isn't known, or nothing where none is close.

    It ends with a space, for more advice to follow. ``show`` gives the text by which a known name is shown.

    >>> did_you_mean("wrong-turn", ["missed-edges", "wrong-turns"]), did_you_mean("x", ["wrong-turns"])
    ('Did you mean wrong-turns? ', '')
    """
    import difflib

    close = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {show(close[0])}? " if close else ""
