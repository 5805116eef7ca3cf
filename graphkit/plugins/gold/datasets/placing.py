"""Puts a finished folder in its place, without replacing anything."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from graphkit.errors import InputError


def place_folder(made: Path, target: Path, names: Sequence[str]) -> None:
    """Move a folder to a new place, or those of its files to an existing folder, in order and all or none of them.

    Raises
    ------
    InputError
        A file is already there, or the place can't be written.
    """
    placed: list[Path] = []
    try:
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            made.rename(target)
            return
        for name in names:
            if (made / name).exists():
                # Unlike a rename, a link never replaces a file.
                os.link(made / name, target / name)
                placed.append(target / name)
    except OSError as error:
        for path in placed:
            path.unlink(missing_ok=True)
        what = f"the dataset can't be written: {error.strerror or error}"
        raise InputError(what, where=str(target), remedy="Choose another place.") from None
    except BaseException:
        for path in placed:
            path.unlink(missing_ok=True)
        raise
