"""The renames that ``gold migrate`` wrote into gold, kept beside the questions in ``renames.jsonl``.

A baseline that was recorded before a rename knows the old names: by these its gold is read under the new ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from graphkit.errors import InputError
from graphkit.files.assets import refuse_bundled
from graphkit.files.atomic import written
from graphkit.files.jsonl import read_lines
from graphkit.records.structs import Name

FILE = "renames.jsonl"


class _Rename(msgspec.Struct, forbid_unknown_fields=True):
    old: Name
    new: Name


def recorded_renames(folder: Path) -> dict[str, str]:
    """Return the latest name of each earlier one; empty if no rename is recorded.

    Raises
    ------
    InputError
        A line isn't a rename.
    """
    path = folder / FILE
    found: dict[str, str] = {}
    for number, line in read_lines(path) if path.is_file() else ():
        try:
            one = msgspec.json.decode(line, type=_Rename)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            what = f"this isn't a rename: {error}"
            raise InputError(what, where=f"{path}:{number}", remedy='Write {"old": "...", "new": "..."}.') from None
        found = {name: one.new if later == one.old else later for name, later in found.items()}
        found[one.old] = one.new
    return {old: new for old, new in found.items() if old != new}


def record_renames(folder: Path, renames: Mapping[str, str]) -> None:
    """Add renames to those of a dataset; the file is written whole or not at all."""
    if not renames:
        return
    refuse_bundled(folder)
    path = folder / FILE
    held = path.read_bytes() if path.is_file() else b""
    added = b"".join(msgspec.json.encode(_Rename(old, new)) + b"\n" for old, new in renames.items())
    with written(path) as temporary:
        temporary.write_bytes(held + (b"\n" if held and not held.endswith(b"\n") else b"") + added)
