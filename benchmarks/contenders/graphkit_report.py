"""graphkit: the HTML report of one run; ``seconds`` is without imports."""

import time

from benchmarks.contenders.common import finish, folder
from benchmarks.world import RUNS
from graphkit.report import write_report

if __name__ == "__main__":
    data = folder()
    started = time.perf_counter()
    page = write_report([data / f"runs/{RUNS[0]}.jsonl"], data / "report.html")
    finish({}, seconds=time.perf_counter() - started, bytes=page.stat().st_size)
