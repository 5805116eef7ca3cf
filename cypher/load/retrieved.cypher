// title: Load retrieved chunks
// answers: Links each answer to its chunks, with rank and score.
// parameters: rows
// columns:
UNWIND $rows AS row
MATCH (a:Answer {key: row.answer})
MATCH (c:Chunk {key: row.chunk})
CREATE (a)-[:RETRIEVED {rank: row.rank, score: row.score, repeat: row.repeat}]->(c)
