"""Runs the benchmarks: ``python -m benchmarks [NAME...] [--large] [--runs N] [--write]``."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from benchmarks.results import table

NAMES = (
    *("scoring", "comparing", "reporting", "running", "startup", "loading", "reading", "judging", "executing"),
    "deciding",
    "engines",
    "scaling",
    "false_alarms",
    "regression_gates",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Benchmarks of graphkit.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--large", action="store_true", help="also the sizes that take many minutes")
    parser.add_argument("--runs", type=int, default=3, help="how often each is measured; the median counts (default 3)")
    parser.add_argument("--write", action="store_true", help="write the tables into benchmarks/RESULTS.md")
    parser.add_argument("--files", type=Path, default=Path(".bench"), help="where generated files are kept (.bench)")
    given = parser.parse_args()
    unknown = set(given.names) - set(NAMES)
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    given.files.mkdir(parents=True, exist_ok=True)
    for name in given.names or NAMES:
        print(f"\n{name}", flush=True)
        module = importlib.import_module(f"benchmarks.{name}")
        print(table(module.main(given.files, given.runs, given.large, given.write)), flush=True)


if __name__ == "__main__":
    main()
