"""Compact an embedded database: the client of ``embedded.compact_server``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphkit.errors import DatabaseError
from graphkit.plugins.embedded.folder import disk_is_full, os_errors, prepared
from graphkit.plugins.embedded.leases import work_error
from graphkit.plugins.embedded.place import Layout
from graphkit.plugins.embedded.starting import server_environment


@dataclass(frozen=True, slots=True)
class Compacted:
    """The bytes of a database's files before a compaction, and after it."""

    before: int
    after: int


def compact(directory: Path, schema: Sequence[str], done: Callable[[int], None]) -> Compacted:
    """Copy all records of the database in a folder into new files, which replace the former ones as a whole.

    ``schema`` holds the statements that make constraints and indexes; ``done`` is called with numbers of records.

    Raise DatabaseError if a server uses the database, the disk has no room for the copy, or the copy fails.
    """
    layout = Layout(prepared(directory))
    module = "graphkit.plugins.embedded.compact_server"
    reading, writing = os.pipe()
    with os_errors(layout.directory), os.fdopen(reading, "rb") as replies:
        layout.log_directory.mkdir(mode=0o700, exist_ok=True)
        try:
            with layout.compact_log.open("wb") as log:
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", module, str(layout.directory), str(writing), json.dumps(schema)],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=layout.directory,
                    env=server_environment(),
                    pass_fds=(writing,),
                    start_new_session=True,  # Ctrl-C in the terminal must reach only the client
                )
        finally:
            os.close(writing)
        with process:
            for line in replies:
                reply = json.loads(line)
                if "after" in reply:
                    return Compacted(reply["before"], reply["after"])
                if "records" not in reply:
                    raise _refused(layout, reply)
                done(reply["records"])
    raise _refused(layout, {"error": "its process ended"})


def _refused(layout: Layout, reply: Mapping[str, Any]) -> DatabaseError:
    remedy = f"The database is as it was. Run the command again. Its log: {layout.compact_log}"
    what = f"the embedded database couldn't be compacted: {reply.get('error')}"
    if isinstance(reply.get("held"), str):
        return work_error(layout, reply["held"])
    if reply.get("held"):
        what = "the embedded database is running, and a compaction needs it for itself"
        remedy = "Stop it (graphkit db stop), and run the command again."
    elif "free" in reply:
        what = f"the copy may need {reply['needed']} bytes, and the disk has {reply['free']} left"
        remedy = "The database is as it was. Make room, or remove more of it first (graphkit db remove)."
    elif disk_is_full(layout.directory):
        what = f"{what} (the disk is full)"
        remedy = "The database is as it was. Make room, and run the command again."
    return DatabaseError(what, where=str(layout.directory), remedy=remedy)
