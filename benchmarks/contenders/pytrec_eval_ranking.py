"""pytrec_eval: the ranking family."""

import pytrec_eval

from benchmarks.contenders.common import finish, folder, records

NAMES = {"ndcg_cut_10": "nDCG@10", "recall_20": "Recall@20", "recip_rank": "RR", "success_5": "Success@5"}

if __name__ == "__main__":
    data = folder()
    judged = {one["id"]: one["relevant"] for one in records(data / "questions.jsonl")}
    run = {
        one["question_id"]: {chunk["id"]: chunk["score"] for chunk in one["retrieved"]}
        for one in records(data / "runs/a.jsonl")
    }
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10", "recall.20", "recip_rank", "success.5"})
    rows = evaluator.evaluate(run).values()
    finish({ours: sum(row[theirs] for row in rows) / len(rows) for theirs, ours in NAMES.items()})
