"""The mapping that is proposed for a log of a form that no reader knows: shown, kept beside the log, and accepted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import say
from graphkit.errors import InputError
from graphkit.files.assets import command_text, option_text

if TYPE_CHECKING:
    from graphkit.cli.options import AutoLogOptions, OnError
    from graphkit.plugins.mapping.proposed_fields import ProposedMap
    from graphkit.readers.logged import UnrecognisedLogError


def accepted_mapping(
    error: UnrecognisedLogError, files: Sequence[Path], dataset: Path, logs: AutoLogOptions, on_error: OnError
) -> list[str | Path]:
    """Return the mapping by which logs are read, which the user accepts by ``--yes`` or in the terminal.

    A mapping beside the log that somebody has edited is taken as it is.

    Raises
    ------
    InputError
        No mapping is found, it is accepted by nobody, or something in it is for a person to decide.
    """
    from graphkit.plugins.mapping.proposed_fields import mapping_beside, propose

    path = next((file for file in files if str(file) == error.where), files[0])
    edited = mapping_beside(path)
    if edited is not None:
        if logs.yes:
            say(f"{path.name}: read by {edited.name}, the mapping beside it")
            return [edited]
        remedy = f"`{_again(path, dataset, edited)}` reads the log by it; without it another mapping is proposed."
        raise InputError(error.what, where=str(path), remedy=remedy, details=[f"a mapping lies beside it: {edited}"])
    proposal = propose(path, dataset, ids=logs.ids, id_pattern=logs.id_pattern, on_error=on_error)
    for line in (f"{path.name}: no format is recognised in it; its fields, by their values:", *proposal.lines()):
        say(line)
    written = proposal.write()
    if not proposal.doubts and (logs.yes or _accepted(proposal)):
        say(written)
        return [*proposal.assignments]
    again = _again(path, dataset, proposal.file())
    what = "; ".join(proposal.doubts) or "the mapping of its fields isn't accepted yet"
    if proposal.choices:
        remedy = f"Complete the last line of the mapping by one of the choices, and run `{again}`."
    elif proposal.doubts:
        remedy = f"Correct the mapping, or the ids by --id-pattern or --ids, and run `{again}`."
    else:
        remedy = f"`{again}` reads the log by it, and --yes at once."
    raise InputError(what, where=str(path), remedy=remedy, details=[written])


def _again(path: Path, dataset: Path, mapping: Path) -> str:
    options = option_text("map", mapping) + option_text("dataset", dataset)
    return command_text("import auto", path, options=f"{options} -o RUN.jsonl")


def _accepted(proposal: ProposedMap) -> bool:
    if not sys.stdin.isatty():
        return False
    for assignment in proposal.assignments:
        say(f"  {assignment}")
    sys.stderr.write("Read the log by this mapping? (y/n): ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
