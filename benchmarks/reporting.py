"""The HTML report as the number of questions grows, beside the same records as JSON and beside evaluating them."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from pathlib import Path
from statistics import median

from benchmarks.processes import measure
from benchmarks.results import Line, spaced, write
from benchmarks.scoring import Contender, Runs, run
from benchmarks.world import RUNS, world

REPORT = Contender("graphkit_report", "report")
ENCODING = Contender("encoding", "json.loads and json.dumps of the records")
#: The page of two runs is meant to take at most so many times the processor's time of one command that evaluates both.
EVALUATIONS = 2
_SCRIPT = re.compile(r'<script type="application/json" id="(summary|d-[\d-]+)">(.*?)</script>', re.DOTALL)


def check(page: Path, count: int) -> None:
    """Raise where the page doesn't hold every question with its details and a score."""
    found = _SCRIPT.findall(page.read_text("utf-8"))
    parts = {name: json.loads(gzip.decompress(b64decode(json.loads(text)))) for name, text in found}
    summary = parts.pop("summary")
    place = [measure["name"] for measure in summary["measures"]].index("EdgeRecall")
    scored = [value for value in summary["runs"][0]["values"][place] if value is not None]
    shown = {"lists": len(summary["questions"]), "details": sum(map(len, parts.values())), "scores": len(scored)}
    for what, number in shown.items():
        if number != count:
            raise RuntimeError(f"the page {what} {number} of {count} questions")


def measured(folder: Path, count: int, repeats: int) -> tuple[Runs, Runs]:
    """Write the page and the records in turns, and check the page."""
    data = world(folder, count)
    ours, bare = Runs(count), Runs(count)
    # The watched turn warms the files up and doesn't count.
    for turn in range(1 + repeats):
        for contender, runs in ((REPORT, ours), (ENCODING, bare)):
            run(contender, data, runs, watch=turn == 0)
    check(data / "report.html", count)
    return ours, bare


def megabytes(runs: Runs) -> str:
    """Return the size of what was written."""
    return f"{runs.result['bytes'] / 1e6:.1f} MB"


def each(runs: Runs) -> str:
    """Return the time that one question takes, and the bytes that it adds."""
    return f"{1e6 * runs.seconds / runs.count:.0f} us/question, {runs.result['bytes'] / runs.count:.0f} B/question"


def lines_of(found: list[tuple[Runs, Runs]]) -> list[Line]:
    """Return a line for each size, and one about the growth."""
    lines = []
    for ours, bare in found:
        value = f"{ours.seconds:.2f} s, page of {megabytes(ours)}, memory {ours.memory:.0f} MB"
        other = f"{bare.seconds:.2f} s, {megabytes(bare)}"
        ratio = f"{ours.seconds / bare.seconds:.1f} times the cost"
        lines.append(Line(f"report, {spaced(ours.count)}", value, ENCODING.title, other, ratio))
    few, many = found[0][0], found[-1][0]
    ratio = f"{(many.seconds / many.count) / (few.seconds / few.count):.2f}"
    lines.append(Line(f"report, {spaced(many.count)}", each(many), f"at {spaced(few.count)}", each(few), ratio))
    return lines


def beside_evaluate(folder: Path, count: int, repeats: int) -> Line:
    """Write the page of both runs and evaluate both, in turns, as commands: the processor's time of all processes."""
    data = world(folder, count)
    runs = [str(data / f"runs/{name}.jsonl") for name in RUNS]
    commands = ["report", *runs, "--out", str(data / "report.html")], ["evaluate", "--no-store", *runs]
    turns = [[measure(["-m", "graphkit", *command]).cpu for command in commands] for _ in range(repeats)]
    page, scores = (median(turn[which] for turn in turns) for which in (0, 1))
    ratio = median(of_page / of_scores for of_page, of_scores in turns)
    return Line(
        f"report of two runs, {spaced(count)}",
        f"{page:.1f} s of the processor",
        "evaluate of both",
        f"{scores:.1f} s",
        f"{ratio:.1f} times the cost",
        f"at most {EVALUATIONS} times",
        ratio <= EVALUATIONS,
    )


def main(folder: Path, repeats: int, large: bool, save: bool) -> list[Line]:
    """Measure the report of small and large runs."""
    lines = lines_of([measured(folder, count, repeats) for count in (1_000, 10_000)])
    lines.append(beside_evaluate(folder, 10_000, repeats))
    if save:
        note = f"From files to the page of one run, in the last line of two; median of {repeats} in turns."
        write("Reporting", note, lines)
    return lines
