"""Writes what every command prints and writes into a folder: ``python -m tests.helpers.results FOLDER``.

Runs under each Python, so that ``tests.versions`` can compare them byte for byte.
"""

from __future__ import annotations

import faulthandler
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.helpers.cli import inside
from tests.helpers.datasets import STOREFRONT, generate
from tests.helpers.invocations import COMMANDS, PLAIN, SERVING, commands, usual, write_world

#: Commands that serve until they are ended, that need a database or a service, or whose answer is the machine's.
LEFT_OUT = SERVING | {("demo",), ("sandbox", "check"), ("ci",), ("completion",), ("query",)}
#: The seconds after which a call that hasn't ended ends all, with its lines of code.
LIMIT = 600
#: The endings of the files that ``evaluate`` writes.
ENDINGS = (".jsonl", ".csv", ".json", ".xml", ".md")
#: What is no JSON, in ways that the versions of Python have words of their own for.
BROKEN = {
    "comma": '{"run": "r", "question_id": "sf-01",}',
    "list": '{"run": "r", "question_id": "sf-01", "retrieved": [1, ]}',
    "quotes": "{'run': 'r'}",
    "deep": "[" * 100_000,
    "digits": '{"run": "r", "question_id": ' + "1" * 5_000 + "}",
}


def calls(world: Path) -> Iterator[tuple[str, list[object]]]:
    """Yield calls with their names: each command as usual, its help, and runs of many questions scored and compared."""
    for words in commands():
        yield f"help {' '.join(words)}", [*words, "--help"]
        known = words in PLAIN or (words in COMMANDS and not COMMANDS[words].graph)
        if known and words not in LEFT_OUT and words[0] != "db":
            yield " ".join(words), list(usual(words))
    for dataset in (STOREFRONT, generate(world, 7)):
        runs = sorted((dataset / "runs").glob("*.jsonl"))
        for run in runs:
            outs = [option for ending in ENDINGS for option in ("--out", f"{run.stem}{ending}")]
            yield f"evaluate {run.stem}", ["evaluate", run, "--no-store", "--json", *outs]
            yield f"table {run.stem}", ["evaluate", run, "--no-store"]
            yield f"report {run.stem}", ["report", run, "--out", f"{run.stem}.html"]
            yield f"summarize {run.stem}", ["summarize", f"{run.stem}.jsonl"]
        for one, two in zip(runs, runs[1:], strict=False):
            yield f"compare {one.stem} {two.stem}", ["compare", one, two, "--json"]
            yield f"comparison {one.stem} {two.stem}", ["compare", one, two]
        yield f"check {dataset.name}", ["check", dataset, "--json"]
    for name, text in BROKEN.items():
        (world / f"{name}.jsonl").write_text(f"{text}\n")
        yield f"refused {name}", ["evaluate", f"{name}.jsonl", "--dataset", STOREFRONT, "--no-store"]
        yield f"refused import {name}", ["import", "auto", f"{name}.jsonl", "--dataset", STOREFRONT, "--out", "x.jsonl"]


def main(folder: Path) -> None:
    """Run every call in a world of small files."""
    world = write_world(folder / "world")
    for name, arguments in calls(world):
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        done = inside(*arguments, cwd=world, env={"COLUMNS": "100", "HOME": str(folder / "home")})
        written = f"{done.code}\n{done.out}\n--\n{done.err}"
        (folder / f"{name.replace('/', '_')}.txt").write_text(written, "utf-8", "backslashreplace")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
