// title: Edges without a relation
// answers: How many edges did a run traverse for questions whose gold names relations, and how many of these have none?
// parameters: run, questions
// columns: question, edges, without
UNWIND $questions AS question
MATCH (q:Question {id: question})
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL
WITH q, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath) WHERE any(relation IN g.relations WHERE relation <> '') RETURN g.rank
} AS typed, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  RETURN DISTINCT [p.sources[i], p.relations[i], p.targets[i]]
} AS walked
WHERE size(typed) > 0
RETURN q.id AS question, size(walked) AS edges, size([w IN walked WHERE w[1] = '']) AS without
