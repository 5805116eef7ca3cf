"""graphkit: the ranking family."""

from benchmarks.contenders.common import finish, folder
from graphkit.commits import CommitGraph
from graphkit.engines.python import score_file
from graphkit.measures.registry import resolve_measures

MEASURES = ("nDCG@10", "Recall@20", "RR", "Success@5")

if __name__ == "__main__":
    data = folder()
    found = score_file(data / "questions.jsonl", data / "runs/a.jsonl", resolve_measures(MEASURES), CommitGraph())
    finish({name: one.mean or 0.0 for name, one in found.measures.items()})
