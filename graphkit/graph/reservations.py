"""Reservations: only one process at a time loads a dataset or a run, and the next command sees an interrupted load."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Literal

from graphkit.database.store import Store
from graphkit.errors import DatabaseError, InputError
from graphkit.files.assets import command_text
from graphkit.graph.queries import cypher

#: A reservation without a beat for so many milliseconds belongs to a dead process.
STALE_MS = 60_000

#: Seconds that a process waits for the load of another one.
PATIENCE = 600.0


@dataclass(frozen=True, slots=True)
class UnfinishedLoad:
    """A load that has not ended: its process still runs, or was interrupted.

    Attributes
    ----------
    finish
        The command that finishes it, if it is an import into Neo4j.
    renaming
        The former and the new name, if it is a renaming.
    removes
        Whether it removes what it names.
    """

    name: str
    interrupted: bool
    finish: str | None = None
    renaming: tuple[str, str] | None = None
    removes: bool = False

    def __str__(self) -> str:
        if self.renaming is not None:
            what = f"the renaming of the run {self.renaming[0]} to {self.renaming[1]}"
            return (
                f"{what} was interrupted: `{renaming_command(*self.renaming)}` finishes it"
                if self.interrupted
                else f"{what} is under way in another process"
            )
        if self.finish is not None:
            return f"the import of the {self.name} isn't finished: {self.finish}"
        if self.interrupted:
            if self.removes:
                return f"the removal of {self.name} was interrupted: run it again to finish it"
            return f"the load of {self.name} was interrupted: run it again to repair it"
        return f"{self.name} is being {'removed' if self.removes else 'loaded'} by another process"


class Reservation:
    """A load that this process holds."""

    def __init__(self, store: Store, name: str, owner: str) -> None:
        self._store = store
        self._parameters = {"name": name, "owner": owner}
        self._last = time.monotonic()
        self.released = False

    def beat(self) -> None:
        """Show that the process is alive, at most once in some seconds."""
        if time.monotonic() - self._last > STALE_MS / 10_000:
            self._store.write(cypher("load/beat"), self._parameters)
            self._last = time.monotonic()

    def complete(self, mark: str, parameters: Mapping[str, object], *others: Reservation) -> None:
        """Mark the data as complete and release the load, with other reservations, all in one transaction."""
        held = (self, *others)
        releases = [(cypher("load/release"), one._parameters) for one in held]
        self._store.write_many([(cypher(mark), parameters), *releases])
        for one in held:
            one.released = True


@contextmanager
def reserved(store: Store, name: str, patience: float = PATIENCE, *, removes: bool = False) -> Iterator[Reservation]:
    """Reserve a load, or a removal, for this process; wait while another process holds it.

    The reservation is released when the block succeeds, or refuses its input before it writes anything. Otherwise it
    stays and marks the load as interrupted, until another process resumes the load.

    Raise DatabaseError if another process holds the load for longer than ``patience`` seconds.
    """
    owner = f"{socket.gethostname()}:{os.getpid()}:{token_hex(4)}"
    deadline = time.monotonic() + patience
    while True:
        loads = store.read(cypher("load/loads"))
        dead = [row["owner"] for row in loads if _is_dead(str(row["owner"]))]
        parameters = {"name": name, "owner": owner, "stale_ms": STALE_MS, "dead": dead, "removes": removes or None}
        if store.write(cypher("load/reserve"), parameters)[0]["owner"] == owner:
            break
        if time.monotonic() > deadline:
            doing = "removing" if any(row["name"] == name and row["removes"] for row in loads) else "loading"
            raise DatabaseError(
                f"another process has been {doing} {name} for longer than {patience:.0f} s",
                remedy="Wait for it, or end it and run this again.",
            )
        time.sleep(0.2)
    held = Reservation(store, name, owner)
    try:
        yield held
    except InputError:
        # Input is refused before anything is written; an earlier load stays interrupted.
        _end(store, "abandon" if any(row["name"] == name for row in loads) else "release", name, owner)
        raise
    except BaseException:
        _end(store, "abandon", name, owner)
        raise
    if not held.released:
        store.write(cypher("load/release"), {"name": name, "owner": owner})


def _end(store: Store, how: Literal["abandon", "release"], name: str, owner: str) -> None:
    """Mark a load as interrupted, or release it, if the database still answers."""
    try:
        store.write(cypher(f"load/{how}"), {"name": name, "owner": owner})
    except DatabaseError:
        return


def _is_dead(owner: str) -> bool:
    """Return whether the process of a reservation ran on this machine and is gone."""
    host, _, rest = owner.partition(":")
    pid = rest.partition(":")[0]
    if owner == "nobody":
        return True
    if host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return stat.rpartition(")")[2].split()[0] == "Z"  # it has ended, and nobody has asked how, as in many containers


def unfinished_loads(store: Store) -> list[UnfinishedLoad]:
    """Return the loads that have not ended; those of one renaming are one."""
    found: dict[object, UnfinishedLoad] = {}
    for row in store.read(cypher("load/loads")):
        command = row["renaming"]
        renaming = (str(command[0]), str(command[1])) if isinstance(command, list) else None
        found[renaming or row["name"]] = UnfinishedLoad(
            str(row["name"]),
            int(str(row["age_ms"])) > STALE_MS or _is_dead(str(row["owner"])),
            None if row["finish"] is None else str(row["finish"]),
            renaming,
            bool(row["removes"]),
        )
    return list(found.values())


def renaming_command(old: str, new: str) -> str:
    """Return the command that renames a run, or finishes that."""
    return command_text("db rename run", old, new)
