"""A process that has the database's files for itself, and answers to its client by lines of JSON."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, NoReturn

from graphkit.plugins.embedded.exchange import settle
from graphkit.plugins.embedded.locks import held_lock, running_work
from graphkit.plugins.embedded.place import Layout
from graphkit.plugins.embedded.server import GRACE_SECONDS, reason

#: Seconds to wait for a server that stops after its last client.
_PATIENCE = GRACE_SECONDS + 15.0


def work_alone(folder: Path, descriptor: int, what: str, work: Callable[[Layout, IO[bytes]], None]) -> NoReturn:
    """Work on the files of a folder with the server's lock, so that no server runs meanwhile, and end this process.

    ``work`` writes its replies to the descriptor's stream; processes that wait for the files are told ``what`` it is. A
    server that goes on is the reply ``held``, other work its sentence in it, an exception the reply ``error``.
    """
    os.umask(0o077)
    layout = Layout(folder)
    with os.fdopen(descriptor, "wb") as replies:
        try:
            if held_lock(layout.server_lock, _PATIENCE, what) is None:
                other = running_work(layout.server_lock)
                reply(replies, {"held": True if other is None else str(other)})
            else:
                settle(layout)
                work(layout, replies)
        except Exception as error:
            reply(replies, {"error": reason(error)})
            raise
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
    # The databases are closed, so the virtual machine needs no orderly shutdown.
    os._exit(0)


def reply(replies: IO[bytes], answer: dict[str, object]) -> None:
    """Send an answer."""
    replies.write(json.dumps(answer).encode() + b"\n")
    replies.flush()
