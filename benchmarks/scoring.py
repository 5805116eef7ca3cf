"""Scoring from the files: the bar, with graphkit, its peers and mere parsing on the same files in one run."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.files import dataset
from benchmarks.processes import Usage, measure
from benchmarks.results import Line, spaced, write


@dataclass(frozen=True)
class Contender:
    """A program of ``benchmarks.contenders``, how it is called, and how many times as fast graphkit is meant to be."""

    program: str
    title: str
    wanted: int | None = None
    arguments: tuple[str, ...] = ()


#: The contenders of each family, graphkit first and parsing second.
FAMILIES = {
    "ranking": (
        Contender("graphkit_ranking", "graphkit"),
        Contender("parsing", "parsing alone"),
        Contender("pytrec_eval_ranking", "pytrec_eval", 4),
        Contender("pytrec_eval_ranking", "pytrec_eval, lines decoded by msgspec", None, ("quick",)),
        Contender("ir_measures_ranking", "ir_measures", 8),
        Contender("duckdb_ranking", "DuckDB, 1 thread", None, ("1",)),
        Contender("duckdb_ranking", "DuckDB, 2 threads", None, ("2",)),
    ),
    "paths": (
        Contender("graphkit_paths", "graphkit"),
        Contender("parsing", "parsing alone"),
        Contender("networkx_paths", "networkx", 8),
        Contender("networkx_paths", "networkx, streamed", None, ("streamed",)),
        Contender("networkx_paths", "networkx, streamed, 3 measures of 8", None, ("streamed", "edges")),
        Contender("agentevals_paths", "agentevals, in memory, 1 measure of 8", 3, ("quick",)),
    ),
}
MEMORY = 150
PARSING = 4
#: Memory counts as flat where a question adds no more than this many bytes: its id is kept as a hash, to find repeats.
FLAT = 64


@dataclass
class Runs:
    """The runs of one contender over one dataset."""

    count: int
    usages: list[Usage] = field(default_factory=list)
    memory: float = 0.0

    @property
    def result(self) -> dict[str, Any]:
        """Return the output of the last run."""
        found: dict[str, Any] = json.loads(self.usages[-1].output)
        return found

    @property
    def seconds(self) -> float:
        """The median of the wall times, or of those that the program took itself."""
        own = [json.loads(usage.output).get("seconds") for usage in self.usages]
        return median(usage.wall if one is None else one for one, usage in zip(own, self.usages, strict=True))

    @property
    def speed(self) -> str:
        """Questions a second as text."""
        return f"{spaced(self.count / self.seconds)} q/s"


def run(contender: Contender, folder: Path, runs: Runs, watch: bool = False) -> None:
    """Run a contender once: for its time, or under watch for its memory, in MB at the peak."""
    program = f"benchmarks.contenders.{contender.program}"
    usage = measure(["-m", program, str(folder), *contender.arguments], watch)
    if watch:
        runs.memory = usage.memory
    else:
        runs.usages.append(usage)


def compared(folder: Path, family: str, count: int, repeats: int) -> list[tuple[Contender, Runs]]:
    """Run all contenders of a family in turns, and check that they agree."""
    data = dataset(folder, family, count)
    found = [(contender, Runs(count)) for contender in FAMILIES[family]]
    # To watch the memory takes time: that of the watched run, which warms the files up, doesn't count.
    for turn in range(1 + repeats):
        for contender, runs in found:
            run(contender, data, runs, watch=turn == 0)
    means = found[0][1].result["means"]
    for contender, runs in found:
        for name, mean in runs.result["means"].items():
            if not math.isclose(means[name], mean, abs_tol=1e-6):
                raise RuntimeError(f"{name}: graphkit says {means[name]}, {contender.title} says {mean}")
    return found


def lines_of(family: str, found: list[tuple[Contender, Runs]], held: bool) -> list[Line]:
    """Return a line for each contender; the bar is held to where the files are large enough."""
    (_, ours), (parsing, floor), *peers = found
    what = f"{family}, {spaced(ours.count)}"
    own = f"{ours.speed}, {ours.memory:.0f} MB"
    cost = ours.seconds / floor.seconds
    bar = f"at most {PARSING} times the cost"
    met = cost <= PARSING if held else None
    lines = [Line(what, own, parsing.title, floor.speed, f"{cost:.1f} times the cost", bar, met)]
    for peer, other in peers:
        ratio = other.seconds / ours.seconds
        measured = other.speed if "seconds" in other.result else f"{other.speed}, {other.memory:.0f} MB"
        bar = f"at least {peer.wanted} times as fast"
        met = ratio >= peer.wanted if held and peer.wanted is not None else None
        lines.append(Line(what, own, peer.title, measured, f"{ratio:.1f} times as fast", bar, met))
    return lines


def memory_line(folder: Path, family: str, few: int, many: int) -> Line:
    """Return the line that compares the memory of many questions with that of few."""
    found = []
    for count in (few, many):
        runs = Runs(count)
        run(FAMILIES[family][0], dataset(folder, family, count), runs, watch=True)
        found.append(runs)
    one, other = found
    added = 1e6 * (other.memory - one.memory) / (many - few)
    bar = f"under {MEMORY} MB, at most {FLAT} B/question added"
    met = other.memory < MEMORY and added <= FLAT
    title = f"{family}, memory at {spaced(many)}"
    return Line(
        title,
        f"{other.memory:.0f} MB",
        f"at {spaced(few)}",
        f"{one.memory:.0f} MB",
        f"{added:+.0f} B/question",
        bar,
        met,
    )


def main(folder: Path, repeats: int, large: bool, save: bool) -> list[Line]:
    """Measure every line of the bar."""
    lines = []
    for family in FAMILIES:
        for count in (10_000, 100_000):
            lines += lines_of(family, compared(folder, family, count, repeats), held=count == 100_000)
        # Both large enough for two processes.
        lines.append(memory_line(folder, family, 20_000, 1_000_000 if large else 300_000))
    if save:
        note = f"End to end from JSON Lines to means, whole processes, median of {repeats} in turns."
        write("Scoring", note, lines)
    return lines
