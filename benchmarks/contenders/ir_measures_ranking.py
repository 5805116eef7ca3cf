"""ir_measures: the ranking family."""

import ir_measures
from ir_measures import RR, R, Success, nDCG

from benchmarks.contenders.common import finish, folder, records

NAMES = {nDCG @ 10: "nDCG@10", R @ 20: "Recall@20", RR: "RR", Success @ 5: "Success@5"}

if __name__ == "__main__":
    data = folder()
    judged = {one["id"]: one["relevant"] for one in records(data / "questions.jsonl")}
    run = {
        one["question_id"]: {chunk["id"]: chunk["score"] for chunk in one["retrieved"]}
        for one in records(data / "runs/a.jsonl")
    }
    means = ir_measures.calc_aggregate(list(NAMES), judged, run)
    finish({ours: means[theirs] for theirs, ours in NAMES.items()})
