"""Attempts to get out of a sandbox. Each file in ``escapes/`` is one, and tries every way we know to one aim.

A file begins with lines of ``field: value``, up to a line ``---``. The fields are those of :class:`Attempt`. The rest
is a Python body that may use ``snippets/attempt_prelude.txt``; ``given`` describes what the witness laid out.

An attempt prints ``got through: WHAT`` as soon as something succeeds, and ``tried everything`` at its end. Its word is
only half of the proof: :mod:`graphkit.plugins.sandbox.witness` looks from outside. Without a wall, an attempt does no
harm: it touches only what the witness laid out for it, and uses at most a few times the limits of a test.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from graphkit.plugins.sandbox.snippets import fields_and_code, files_below, snippet

#: The lines that an attempt prints for each thing that succeeds, and at its end.
THROUGH, FINISHED = "got through: ", "tried everything"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way out of the sandbox."""

    name: str
    what: str  # a sentence on what it tries
    code: str
    ends: frozenset[str] = frozenset({"exited"})  # the ways in which it may end
    held: str | None = None  # why it fails even without a wall; None if it succeeds then
    seconds: float = 10.0  # its time limit

    @property
    def source(self) -> str:
        """The whole source, with a function ``attempt``."""
        body = "".join(f"    {line}\n" for line in self.code.strip().splitlines())
        prelude = snippet("attempt_prelude")
        return f"{prelude}\ndef attempt(given):\n    CALLS.update(given['calls'])\n{body}    say('{FINISHED}')\n"


@lru_cache(maxsize=1)
def attempts() -> tuple[Attempt, ...]:
    """Return all attempts, by the names of their files."""
    found = []
    for path in files_below("escapes", "*.txt"):
        pairs, code = fields_and_code(path)
        fields: dict[str, Any] = dict(pairs)
        if "ends" in fields:
            fields["ends"] = frozenset(fields["ends"].split(", "))
        if "seconds" in fields:
            fields["seconds"] = float(fields["seconds"])
        found.append(Attempt(**fields, code=code))
    return tuple(found)
