"""Writes a run whenever traces are complete, and at the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from graphkit.errors import InputError
from graphkit.imports.importer import ImportedLog
from graphkit.imports.receiver import TraceReceiver

#: The interval between checks for new spans, in seconds.
LOOK = 0.2

#: The wait after a run was written, as a multiple of the time it took, which grows with the number of traces.
REST = 10.0


def listen(
    receiver: TraceReceiver,
    stop: threading.Event,
    make: Callable[[], ImportedLog],
    written: Callable[[ImportedLog], None],
    failed: Callable[[InputError], None],
) -> ImportedLog | None:
    """Write the run whenever traces have ended, and once more at the end.

    Parameters
    ----------
    stop
        Ends the loop when set. Unlike an interrupt, it never comes amid the writing of a run.
    make
        Makes the run from the receiver's file.
    written, failed
        Called with each run, or with the reason why there is none yet.

    Returns
    -------
    ImportedLog | None
        The last run; None if no span came.

    Raises
    ------
    InputError
        No span belongs to an answer to the dataset's questions.
    """
    done = 0
    rest_until = 0.0
    with receiver:
        while not stop.wait(LOOK):
            ended = receiver.ended()
            if ended is None or ended == done or time.monotonic() < rest_until:
                continue
            started = time.monotonic()
            try:
                written(make())
            except InputError as error:
                failed(error)
            done, rest_until = ended, time.monotonic() + REST * (time.monotonic() - started)
    return make() if receiver.spans else None
