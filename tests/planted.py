"""Plants defects in a copy of the checkout, one at a time, and shows which tests catch each.

    python -m tests.planted               # all of them, about a quarter of an hour
    python -m tests.planted --only ndcg   # one of them
    python -m tests.planted --check       # only whether each line is still there

Each defect replaces one line. The tests of its part run over it, first as the fast suite selects them, and all of them
if those pass: what the fast suite catches the full one catches as well. The exit code is 1 if a defect escapes both, or
if its line is gone and the list below has to follow the code.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.helpers import ROOT
from tests.helpers.engines import ENVIRONMENT

#: The longest that the tests of one defect may take: ten times what the slowest of them take on two busy cores.
SECONDS = 3600


@dataclass(frozen=True)
class Defect:
    """A line of a file that is replaced, and the tests that are asked about it."""

    name: str
    file: str
    line: str
    planted: str
    tests: tuple[str, ...]


DEFECTS = (
    Defect(
        "ndcg",
        "graphkit/measures/ranking.py",
        "return len(hits) if not hits or hits[-1][0] <= k else bisect_right(hits, k, key=_rank_of)",
        "return len(hits) if not hits or hits[-1][0] < k else bisect_right(hits, k - 1, key=_rank_of)",
        ("tests/measures/test_ranking.py",),
    ),
    Defect(
        "first divergence",
        "graphkit/measures/paths.py",
        "if edge[0] == required[count][0] and edge not in right), None)",
        "if edge[2] == required[count][0] and edge not in right), None)",
        ("tests/measures/test_paths.py",),
    ),
    Defect(
        "query of a measure",
        "cypher/measures/edge_recall.cypher",
        "o.share > p.share OR (o.share = p.share AND o.rank < p.rank)",
        "o.share < p.share OR (o.share = p.share AND o.rank < p.rank)",
        ("tests/scoring/test_engines.py",),
    ),
    Defect(
        "named query",
        "cypher/failures/missed_edges.cypher",
        "WHERE NOT g.optional[i]",
        "WHERE true",
        ("tests/scoring/test_named_queries.py", "tests/graph/test_failure_queries.py"),
    ),
    Defect(
        "exit code of a gate",
        "graphkit/errors.py",
        "    exit_code = 1",
        "    exit_code = 2",
        ("tests/cli/test_evaluate_gates.py", "tests/plugins/compare/test_regression_gates.py"),
    ),
    Defect(
        "gate without failed questions",
        "graphkit/analysis/gates.py",
        "and not beyond(held, bound) else held",
        "and not beyond(held, bound) else summary.mean",
        ("tests/cli/test_evaluate_gates.py", "tests/analysis"),
    ),
    Defect(
        "field of a reader",
        "graphkit/plugins/logs/lightrag.py",
        'name = identifier(row.get("file_path"))',
        'name = identifier(row.get("chunk_id"))',
        ("tests/plugins/logs/test_lightrag.py",),
    ),
    Defect(
        "escape in the page",
        "graphkit/report/rendering.py",
        "        autoescape=True,",
        "        autoescape=False,",
        ("tests/report/test_page.py",),
    ),
    Defect(
        "lock of a file",
        "graphkit/files/file_locks.py",
        "fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)",
        ("tests/files", "tests/plugins/judging/test_grade.py", "tests/plugins/judging/test_gradings_of_models.py"),
    ),
    Defect(
        "lock of a run",
        "graphkit/plugins/systems/runfile.py",
        "fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)",
        ("tests/plugins/systems/test_run_resuming.py", "tests/plugins/systems"),
    ),
    Defect(
        "digest of a file",
        "graphkit/graph/digests.py",
        "        hasher.update(block)",
        "        hasher.update(block[:1])",
        ("tests/graph/test_loading.py", "tests/cli/test_evaluate_graph.py"),
    ),
    Defect(
        "wall of the sandbox",
        "graphkit/plugins/sandbox/refused_calls.toml",
        '"unshare", "setns", "chroot"',
        '"setns", "chroot"',
        ("tests/plugins/sandbox/test_attempts.py", "tests/plugins/sandbox/test_jobs.py"),
    ),
    Defect(
        "value that a test expects",
        "graphkit/plugins/sandbox/value_equality.py",
        "tolerance: float = 1e-6) -> bool:",
        "tolerance: float = 1e-1) -> bool:",
        ("tests/plugins/sandbox/test_returned_values.py", "tests/plugins/sandbox/test_jobs.py"),
    ),
    Defect(
        "seed of the bootstrap",
        "graphkit/scoring/intervals.py",
        "    size, rng = values.size, numpy.random.default_rng(seed)",
        "    size, rng = values.size, numpy.random.default_rng()",
        ("tests/analysis", "tests/plugins/compare"),
    ),
    Defect(
        "kappa",
        "graphkit/plugins/judging/trust/agreement.py",
        "float((agreeing * shares).sum()), float(rows @ agreeing @ columns)",
        "float((agreeing * shares).sum()), float(rows @ agreeing @ rows)",
        ("tests/plugins/judging/trust/test_agreement.py",),
    ),
    Defect(
        "repository of a node",
        "graphkit/records/ids.py",
        'if not colon or not repo or rest.startswith((":", "//")):',
        'if not colon or rest.startswith((":", "//")):',
        ("tests/records", "tests/measures", "tests/scoring/test_engines.py"),
    ),
    Defect(
        "price of a batch",
        "graphkit/plugins/judging/llm/prices.py",
        "return cost * (prices.batch if batch else 1.0)",
        "return cost",
        ("tests/plugins/judging/llm/test_prices.py", "tests/plugins/judging/llm/test_batches.py"),
    ),
    Defect(
        "retries of a system",
        "graphkit/plugins/systems/runner.py",
        "for attempt in range(self.limits.retries + 1):",
        "for attempt in range(max(1, self.limits.retries)):",
        ("tests/plugins/systems/test_runner.py",),
    ),
    Defect(
        "gold of a public data set",
        "graphkit/plugins/gold/musique.py",
        "dict.fromkeys([*order, *supporting])",
        "dict.fromkeys(order)",
        ("tests/plugins/gold/test_text_formats.py",),
    ),
    Defect(
        "judge of rules",
        "graphkit/plugins/judging/judges/lexical.py",
        "return [one for one in self.statements if not one.hedged]",
        "return self.statements",
        ("tests/plugins/judging/judges",),
    ),
    Defect(
        "padded answer",
        "graphkit/plugins/judging/trust/bias.py",
        "if answer.strip() else answer",
        "if not answer.strip() else answer",
        (
            "graphkit/plugins/judging/trust/bias.py",
            "tests/plugins/judging/trust",
            "tests/plugins/judging/test_judge_command.py",
        ),
    ),
    Defect(
        "account that only reads",
        "graphkit/database/store.py",
        "                self._reader = connected(self._access, self._access.reader)",
        "                self._reader = self._driver",
        ("tests/database/test_connection.py", "tests/cli/test_query.py"),
    ),
    Defect(
        "sample of RAGAS",
        "graphkit/plugins/ragas/ragas_samples.py",
        "gold = [name for name, gain in question.relevant.items() if gain > 0]",
        "gold = [name for name, gain in question.relevant.items() if gain >= 0]",
        ("tests/plugins/ragas/test_ragas.py",),
    ),
    Defect(
        "direction of an imported edge",
        "graphkit/records/directions.py",
        'turned = held == "reversed" or',
        'turned = held == "forward" or',
        ("tests/records/test_directions.py", "tests/imports/test_importer.py"),
    ),
)


def missing(defect: Defect) -> str | None:
    """Return why a defect can't be planted: its file or its line is gone, or the line stands there more than once."""
    path = ROOT / defect.file
    if not path.is_file():
        return f"{defect.file} is gone"
    count = path.read_text("utf-8").count(defect.line)
    return None if count == 1 else f"{defect.file} has the line {count} times: {defect.line.strip()}"


def copied(folder: Path) -> Path:
    """Copy the files that git knows, as they are now, and return the copy."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def failing(checkout: Path, tests: tuple[str, ...], fast: bool) -> list[str]:
    """Run tests in a copy of the checkout, up to the third that fails, and return those that fail."""
    env = {**ENVIRONMENT, "PYTHONPATH": str(checkout), "GRAPHKIT_TESTS": "fast" if fast else ""}
    env["PYTHONDONTWRITEBYTECODE"] = ""
    env.setdefault("GRAPHKIT_DATA", str(ROOT.parent / "shared" / "data"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--maxfail=3", *tests],
        cwd=checkout,
        env=env,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode not in (0, 1, 5):  # 5: the fast suite runs none of them
        sys.exit(f"the tests don't run:\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
    return re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE) or ["?"] * (done.returncode == 1)


def caught(defect: Defect, checkout: Path) -> tuple[str, list[str]]:
    """Plant a defect in a copy of the checkout, and return the suites that catch it and the tests that do."""
    path = checkout / defect.file
    text, stat = path.read_text("utf-8"), path.stat()
    path.write_text(text.replace(defect.line, defect.planted), "utf-8")
    # Python takes a module of the same second and size for unchanged: the copy's time is another one.
    os.utime(path, (stat.st_atime, stat.st_mtime + 10))
    try:
        if found := failing(checkout, defect.tests, fast=True):
            return "fast and full", found
        found = failing(checkout, defect.tests, fast=False)
        return ("full only", found) if found else ("ESCAPES", [])
    finally:
        path.write_text(text, "utf-8")
        os.utime(path, (stat.st_atime, stat.st_mtime))


def main() -> None:
    """Plant the defects, and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.planted", description=__doc__)
    parser.add_argument("--only", choices=[one.name for one in DEFECTS], action="append")
    parser.add_argument("--check", action="store_true", help="Only look whether each line is there.")
    given = parser.parse_args()
    chosen = [one for one in DEFECTS if given.only is None or one.name in given.only]
    gone = {one.name: why for one in chosen if (why := missing(one))}
    counts = dict.fromkeys(("fast and full", "full only", "ESCAPES"), 0)
    with tempfile.TemporaryDirectory(prefix="graphkit-planted-", ignore_cleanup_errors=True) as folder:
        checkout = copied(Path(folder)) if not given.check else ROOT
        for defect in chosen:
            if defect.name in gone:
                sys.stdout.write(f"{defect.name:32} NOT PLANTED    {gone[defect.name]}\n")
            elif not given.check:
                suites, tests = caught(defect, checkout)
                counts[suites] += 1
                sys.stdout.write(f"{defect.name:32} {suites:14} {', '.join(tests)}\n")
            sys.stdout.flush()
    reported = ", ".join(f"{count} {suites}" for suites, count in counts.items())
    sys.stdout.write(f"{len(chosen)} defects: {len(gone)} not planted{'' if given.check else f', {reported}'}\n")
    sys.exit(bool(gone or counts["ESCAPES"]))


if __name__ == "__main__":
    main()
