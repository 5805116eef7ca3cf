"""agentevals: strict graph match, one measure; ``seconds`` is the matching alone, with everything in memory."""

import time
from typing import Any

from agentevals.graph_trajectory.strict import graph_trajectory_strict_match

from benchmarks.contenders.common import finish, folder, records


def trajectory(steps: list[dict[str, Any]]) -> dict[str, Any]:
    """Return steps in the form of the library: a list of names for each path."""
    paths: dict[int, list[str]] = {}
    for step in steps:
        paths.setdefault(step.get("path", 0), []).append(f"{step['source']} {step['relation']} {step['target']}")
    return {"inputs": None, "results": [], "steps": list(paths.values())}


if __name__ == "__main__":
    data = folder()
    gold = {one["id"]: trajectory(one["paths"][0]["steps"]) for one in records(data / "questions.jsonl")}
    pairs = [(trajectory(one["traversal"]), gold[one["question_id"]]) for one in records(data / "runs/a.jsonl")]
    started = time.perf_counter()
    matched = sum(
        bool(graph_trajectory_strict_match(outputs=walked, reference_outputs=wanted)["score"])
        for walked, wanted in pairs
    )
    finish({"PathExact": matched / len(pairs)}, seconds=time.perf_counter() - started)
