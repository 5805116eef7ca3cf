"""Shared parts of the programs: the given folder, decoded lines, and means as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec


def folder() -> Path:
    """Return the dataset that the program was started with."""
    return Path(sys.argv[1])


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the decoded lines of a file: by Python's own decoder, or by msgspec where the program is told ``quick``."""
    decode = msgspec.json.decode if "quick" in sys.argv[2:] else json.loads
    with path.open("rb") as stream:
        for line in stream:
            yield decode(line)


def finish(means: Mapping[str, float], **more: float) -> None:
    """Print the means, and what else the program measured."""
    print(json.dumps({"means": dict(means), **more}))
