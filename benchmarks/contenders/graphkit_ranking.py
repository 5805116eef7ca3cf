"""graphkit: the ranking family."""

from benchmarks.contenders.common import finish, folder
from graphkit.measures.registry import resolve_measures
from graphkit.records.commits import CommitGraph
from graphkit.scoring.file_scoring import score_file
from graphkit.scoring.scorer import Job

MEASURES = ("nDCG@10", "Recall@20", "RR", "Success@5")

if __name__ == "__main__":
    data = folder()
    job = Job(data / "questions.jsonl", data / "runs/a.jsonl", resolve_measures(MEASURES), CommitGraph())
    found = score_file(job)
    finish({name: one.mean or 0.0 for name, one in found.measures.items()})
