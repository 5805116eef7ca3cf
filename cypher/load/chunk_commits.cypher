// title: Load the commits of chunks
// answers: Tells which commits the retrieved chunks of answers are of, where these don't name them by their shas.
// parameters: rows
// columns:
UNWIND $rows AS row
MATCH (a:Answer {key: row.answer})-[r:RETRIEVED]->(:Chunk) WHERE r.rank = row.rank
SET r.commit = row.sha, r.commit_key = row.commit_key, r.ambiguous = row.ambiguous
