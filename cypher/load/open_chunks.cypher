// title: Chunks to be told a commit
// answers: Which retrieved chunks of some questions name no commit, or one by a tag or a prefix?
// parameters: run, questions, unnamed
// columns: question, rank, id, repo, commit, commit_key, ambiguous
UNWIND $questions AS question
MATCH (a:Answer {run: $run, question: question})-[r:RETRIEVED]->(c:Chunk)
WHERE c.named OR (c.commit IS NULL AND ($unnamed OR r.commit_key IS NOT NULL))
RETURN question, r.rank AS rank, c.id AS id, c.repo AS repo, c.commit AS commit,
  r.commit_key AS commit_key, r.ambiguous AS ambiguous
