"""A driver that a test kills: ``python -m tests.shards.driver FOLDER`` makes forty parts on two processes."""

from __future__ import annotations

import sys
from pathlib import Path

from graphkit.shards.executors import opened_executor
from graphkit.shards.locations import Location
from graphkit.shards.work import ShardTask, finished_parts, key_of
from tests.shards import working

COUNT = 40


def main(folder: Path) -> None:
    """Make the parts, and print each as soon as it comes."""
    tasks = [ShardTask(key_of(number), (number, folder / "marks"), f"shard {number}") for number in range(COUNT)]
    with opened_executor("processes=2") as executor:
        for path in finished_parts(executor, working.slowly, tasks, Location.of(folder / "parts")):
            sys.stdout.write(path.read_text())
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
