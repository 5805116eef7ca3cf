// title: Edges without a relation, a direction or a commit
// answers: How many edges did a run traverse for questions whose gold names relations, how many of these have none, how many of all have no direction, and how many name no commit although gold has several sides?
// parameters: run, questions
// columns: question, edges, without, directionless, unversioned
MATCH (r:Run {id: $run})
// Without the WITH, ArcadeDB finds no node by a property of r and question together.
UNWIND $questions AS question
WITH r, question
MATCH (q:Question {dataset: r.dataset, id: question})
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL
WITH q, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath) WHERE any(relation IN g.relations WHERE relation <> '') RETURN g.rank
} AS typed, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  RETURN DISTINCT [p.sources[i], p.relations[i], p.targets[i]]
} AS walked, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath) WHERE p.undirected IS NOT NULL
  UNWIND [i IN range(0, size(p.sources) - 1) WHERE p.undirected[i]] AS i
  RETURN DISTINCT CASE WHEN p.sources[i] < p.targets[i] THEN [p.sources[i], p.targets[i]]
    ELSE [p.targets[i], p.sources[i]] END
} AS undirected, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath) WHERE p.bare IS NOT NULL
  UNWIND [i IN range(0, size(p.sources) - 1) WHERE p.bare[i]] AS i
  RETURN DISTINCT [p.sources[i], p.relations[i], p.targets[i]]
} AS bare
WHERE size(typed) > 0 OR size(undirected) > 0 OR size(bare) > 0
RETURN q.id AS question, CASE WHEN size(typed) > 0 THEN size(walked) ELSE 0 END AS edges,
  CASE WHEN size(typed) > 0 THEN size([w IN walked WHERE w[1] = '']) ELSE 0 END AS without,
  size(undirected) AS directionless, size(bare) AS unversioned
