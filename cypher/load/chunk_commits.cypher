// title: Load the commits of chunks
// answers: Stores the commits of retrieved chunks that don't name them by their shas.
// parameters: run, rows
// columns:
// A row is all that an answer is to be told: each of its chunks is met once.
UNWIND $rows AS row
MATCH (a:Answer {run: $run, question: row.question})-[r:RETRIEVED]->(:Chunk)
WITH r, [one IN row.chunks WHERE one.rank = r.rank] AS told WHERE size(told) > 0
SET r.commit = told[0].sha, r.commit_key = told[0].commit_key, r.ambiguous = told[0].ambiguous
