"""Measures that workers import: one that kills its worker once, and one that counts the questions it sees."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from graphkit.measures.base import Measure
from graphkit.measures.case import Case


@dataclass(frozen=True)
class KillsOnce(Measure):
    """1 for every question; the worker that meets the question the first time is killed with -9."""

    question: str = ""
    mark: str = ""

    def value(self, case: Case) -> float:
        """Return 1, or don't return."""
        if case.question.id == self.question and not Path(self.mark).exists():
            Path(self.mark).write_text("killed")
            os.kill(os.getpid(), signal.SIGKILL)
        return 1.0


@dataclass(frozen=True)
class Slow(Measure):
    """1 for every question, after a while; each is noted in a file."""

    folder: str = ""

    def value(self, case: Case) -> float:
        """Return 1."""
        with (Path(self.folder) / case.question.id).open("a") as stream:
            stream.write("x")
        time.sleep(0.02)
        return 1.0
