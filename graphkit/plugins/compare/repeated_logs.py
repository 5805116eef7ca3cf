"""The run logs that a pattern names, and the one system whose repetitions they are."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from graphkit.errors import InputError
from graphkit.files.jsonl import is_file_name
from graphkit.records.repetition_names import repetitions_by_name


def repeated_files(given: str | Path) -> list[Path]:
    """Return the run logs that a pattern names, such as ``runs/mine@*.jsonl``, sorted; anything else is a file itself.

    Raises
    ------
    InputError
        The pattern names no file.
    """
    if not glob.has_magic(str(given)) or os.path.exists(given):  # noqa: PTH110 - a name may be too long for a path
        return [Path(given)]
    found = [Path(one) for one in glob.glob(str(given)) if is_file_name(one)]  # noqa: PTH207 - it may be absolute
    if not found:
        what = "the pattern names no run log"
        raise InputError(what, where=str(given), remedy="Check it, and that the logs end in .jsonl.")
    return sorted(found, key=lambda one: (len(one.name), str(one)))


def repeated_name(names: Sequence[str], given: str) -> str:
    """Return the name of the one system that all runs repeat; ``given`` is the pattern that named them.

    Raises
    ------
    InputError
        They don't repeat one system.
    """
    systems = repetitions_by_name(names)
    if [len(some) for some in systems.values()] != [len(names)]:
        what = f"the pattern names runs that don't repeat one system: {', '.join(names[:5])}"
        remedy = "Repetitions are NAME@1, NAME@2 and so on: name those of one NAME."
        raise InputError(what, where=given, remedy=remedy)
    return next(iter(systems))
