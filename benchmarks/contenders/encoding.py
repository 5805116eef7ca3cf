"""The floor of a page: the same questions and answers decoded, and written as JSON; ``seconds`` is without imports."""

import json
import time

from benchmarks.contenders.common import finish, folder, records
from benchmarks.world import RUNS

if __name__ == "__main__":
    data = folder()
    written = data / "records.jsonl"
    started = time.perf_counter()
    with written.open("w", encoding="utf-8") as stream:
        for name in ("questions.jsonl", f"runs/{RUNS[0]}.jsonl"):
            for record in records(data / name):
                stream.write(json.dumps(record) + "\n")
    finish({}, seconds=time.perf_counter() - started, bytes=written.stat().st_size)
