// title: Load retrieved chunks
// answers: Links each answer to its chunks, with rank and score, and the commit that was read; its sha is stored where the chunk doesn't name that.
// parameters: run, rows
// columns:
UNWIND $rows AS row
MATCH (a:Answer {run: $run, question: row.question})
MATCH (c:Chunk {digest: row.chunk})
CREATE (a)-[:RETRIEVED {rank: row.rank, score: row.score, repeat: row.repeat, commit: row.commit,
  commit_key: row.commit_key, ambiguous: row.ambiguous}]->(c)
