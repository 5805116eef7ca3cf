"""Starting the program: processor time of commands that do next to nothing, beside an empty Python."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from benchmarks.processes import measure
from benchmarks.results import Line, write

COMMANDS = {
    "graphkit --help": ("-m", "graphkit", "--help"),
    "graphkit measures": ("-m", "graphkit", "measures"),
}
EMPTY = ("-c", "pass")


def main(folder: Path, repeats: int, large: bool, save: bool) -> list[Line]:
    """Measure the commands, in turns with an empty Python."""
    repeats = max(repeats, 5)
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    empty = []
    for _ in range(repeats):
        empty.append(measure(EMPTY).cpu)
        for name, arguments in COMMANDS.items():
            taken[name].append(measure(arguments).cpu)
    floor = median(empty)
    lines = [
        Line(name, f"{median(one):.2f} s", "python -c pass", f"{floor:.2f} s", f"{median(one) - floor:+.2f} s")
        for name, one in taken.items()
    ]
    if save:
        write("Start", f"Processor time (user and system), median of {repeats}.", lines)
    return lines
