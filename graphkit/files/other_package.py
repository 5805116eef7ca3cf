"""Finds another package: the distribution ``graphkit`` is a library for computing graphs, and isn't this project.

Both install the folder ``graphkit``, so that each replaces files of the other.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path

#: The folder or file in which an installer records the other package; that of this one begins with graphkit_eval.
_RECORD = re.compile(r"graphkit-([^-]+?)(-py[^-]+)?\.(dist|egg)-info")


def unreported_package() -> str | None:
    """Return name and version of the other package if it is installed here and no command has reported it yet."""
    found = _other_package()
    if found is None or not _is_first(found):
        return None
    installed = _RECORD.fullmatch(found.name)
    return f"graphkit {installed[1]}" if installed else None


def _other_package() -> Path | None:
    """Return what an installer recorded of the other package, or None.

    Every command asks: listing the folders is much quicker than importing importlib.metadata.
    """
    for folder in dict.fromkeys(sys.path):
        with suppress(OSError):
            for name in os.listdir(folder or "."):  # noqa: PTH208 - names are enough
                if name.startswith("graphkit-") and _RECORD.fullmatch(name):
                    return Path(folder or ".", name).absolute()
    return None


def _is_first(found: Path) -> bool:
    """Return whether this installation is seen for the first time, and remember that it was.

    If the user's state folder isn't writable, every time is the first.
    """
    import hashlib

    with suppress(OSError, RuntimeError):  # a RuntimeError: the user has no home
        key = hashlib.sha256(f"{found}\n{found.stat().st_mtime_ns}".encode()).hexdigest()[:16]
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "graphkit"
        state.mkdir(parents=True, exist_ok=True)
        try:
            (state / f"other-package-{key}").touch(exist_ok=False)
        except FileExistsError:
            return False
    return True
