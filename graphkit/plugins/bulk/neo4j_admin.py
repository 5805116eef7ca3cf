"""Run the import of ``neo4j-admin``, the tool in Neo4j's folder, and see whether a server listens."""

from __future__ import annotations

import shlex
import socket
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from graphkit.errors import DatabaseError, InputError

_BOLT_PORT = 7687
_CONNECT_SECONDS = 3.0
#: The lines of the tool's output that a message quotes.
_QUOTED = 3

#: The option by which an import deletes what the database holds.
OVERWRITE = "--overwrite-destination=true"


def listens(uri: str) -> bool:
    """Return whether anybody listens at the address of a server."""
    parts = urlsplit(uri)
    try:
        socket.create_connection((parts.hostname or "", parts.port or _BOLT_PORT), _CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def import_command(arguments: str, database: str, *, overwrite: bool, program: str = "neo4j-admin") -> list[str]:
    """Return the command that imports what a file of arguments names; it runs in the folder of that file."""
    more = [OVERWRITE] if overwrite else []
    return [program, "database", "import", "full", database, f"@{arguments}", *more]


def run_import(home: Path, folder: Path, arguments: str, database: str, *, overwrite: bool) -> None:
    """Import the files of a folder into a database of the stopped server in a home folder.

    Raise InputError if the home folder holds no neo4j-admin. Raise DatabaseError if the server runs, the database
    exists and isn't to be overwritten, or the import fails.
    """
    program = (home / "bin" / "neo4j-admin").resolve()
    if not program.is_file():
        remedy = "Name the folder of Neo4j that holds bin and data."
        raise InputError("the folder holds no bin/neo4j-admin", where=str(home), remedy=remedy)
    log = folder / "import.log"
    command = import_command(arguments, database, overwrite=overwrite, program=str(program))
    with log.open("wb") as output:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False)
    if done.returncode == 0:
        return
    said = log.read_text("utf-8", "replace")
    if "is in use" in said:
        what, remedy = f"the server runs, and holds the database {database!r}", "Stop it and run this again."
    elif "already exist" in said:
        what = f"the database {database!r} exists already"
        remedy = (
            "If an import of these files ended, start the server and run this again without --neo4j-home. If nothing "
            "in it is needed, or an import was interrupted, run this again with --overwrite: it deletes the database."
        )
    else:
        lines = [line.strip() for line in said.splitlines() if line.strip()][-_QUOTED:]
        what = f"the import failed (exit code {done.returncode}): {' '.join(lines)}"
        again = shlex.join(["cd", str(folder)]) + " && " + shlex.join(command)
        remedy = f"Its output: {log}. The command: {again}"
    raise DatabaseError(what, where=str(home), remedy=remedy)
