"""When runs and results were made, and at which commit: what a history needs.

The time is that of ``SOURCE_DATE_EPOCH`` if it is set, so that the same input gives the same bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.git import commit_around
from graphkit.files.jsonl import stem_of

EPOCH_VARIABLE = "SOURCE_DATE_EPOCH"


def now() -> str:
    """Return the time in UTC to the second, as ISO text.

    Raises
    ------
    InputError
        ``SOURCE_DATE_EPOCH`` holds no number of seconds.
    """
    given = os.environ.get(EPOCH_VARIABLE)
    try:
        moment = datetime.now(UTC) if not given else datetime.fromtimestamp(int(given), UTC)
    except (ValueError, OverflowError, OSError):
        raise InputError(f"{EPOCH_VARIABLE} must be a number of seconds, not {given!r}") from None
    return moment.isoformat(timespec="seconds")


def note_of_run(run_file: Path) -> Path:
    """Return the file beside a run that says when it ran, and at which commit of the system."""
    return run_file.with_name(f"{stem_of(run_file)}.ran-at")


def ran_at(run_file: Path) -> dict[str, Any]:
    """Return what the note of `graphkit run` says of a run: ``at`` and ``commit``; nothing without one."""
    try:
        found = json.loads(note_of_run(run_file).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    named = found if isinstance(found, dict) else {}
    return {name: value for name in ("at", "commit") if isinstance(value := named.get(name), str)}


def stamp(run_files: Mapping[str, Path] | None = None) -> dict[str, Any]:
    """Return when and by which graphkit results are made, at which commit of the working folder, and when runs ran."""
    from graphkit import __version__

    noted = {run: found for run, path in (run_files or {}).items() if (found := ran_at(path))}
    about = {"evaluated_at": now(), "graphkit": __version__, "commit": commit_around(Path())}
    return about | ({"ran": noted} if noted else {})
