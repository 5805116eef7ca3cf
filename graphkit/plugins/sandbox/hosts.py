"""The files of the machine that an interpreter needs. The code of an answer sees no others."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

#: The folder of the scripts that run behind the wall.
INSIDE = Path(__file__).resolve().parent / "inside"

#: Folders of a Python installation that no answer needs: installed packages, tests and tools.
_NOT_SHOWN = ("site-packages", "dist-packages", "test", "idlelib", "ensurepip", "turtledemo")

#: The files of the loader and of the time zones.
_SHARED = ("/etc/ld.so.cache", "/usr/share/zoneinfo")


def interpreter() -> Path:
    """Return the interpreter itself, not the link in a virtual environment."""
    return Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()


def host_files(programs: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Return the files and folders that this interpreter and some programs need; a sandbox shows no others."""
    library = Path(os.__file__).resolve().parent
    modules = [
        path
        for path in sorted(library.iterdir())
        if path.name not in _NOT_SHOWN and not path.name.startswith("config-")
    ]
    found = [interpreter(), *modules, *_libraries(), *(Path(program).resolve() for program in programs)]
    found += [path for path in map(Path, _SHARED) if path.exists()]
    return tuple(dict.fromkeys(found))


def _libraries() -> Iterator[Path]:
    """Yield the folders and files of shared libraries."""
    # Look beside the interpreter: its build settings may name another place.
    for name in dict.fromkeys(("lib", sys.platlibdir)):
        yield from sorted(Path(sys.base_prefix, name).glob("libpython*.so*"))
    triplet = sysconfig.get_config_var("MULTIARCH")
    folders = [Path(f"{place}/{triplet}") for place in ("/lib", "/usr/lib")] if triplet else []
    if not any(path.is_dir() for path in folders):
        folders = [Path("/lib"), Path("/usr/lib"), Path("/usr/lib64")]
    for path in (*folders, Path("/lib64"), *sorted(Path("/lib").glob("ld-*.so*"))):
        if path.exists():
            yield path
