// title: Stopping depth
// answers: How many edges were traversed after the last gold edge was first traversed?
// parameters: dataset, run, questions, relation, unstated, directed, unscored, unlogged, unordered, unwalked
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  WITH [p.sources[i], p.relations[i], p.targets[i]] AS w, collect([p.index, i]) AS places
  // What an earlier path has was traversed there.
  WITH w, places, reduce(first = places[0][0], one IN places | CASE WHEN one[0] < first THEN one[0] ELSE first END) AS path
  UNWIND [one IN places WHERE one[0] = path] AS place
  WITH w, place[0] AS path, place[1] AS i ORDER BY path, i
  RETURN [CASE WHEN $directed OR w[0] <= w[2] THEN w[0] ELSE w[2] END,
    CASE WHEN NOT $relation THEN '' WHEN w[1] = '' THEN $unstated ELSE w[1] END,
    CASE WHEN $directed OR w[0] <= w[2] THEN w[2] ELSE w[0] END]
} AS walked, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND range(0, size(g.sources) - 1) AS i
  RETURN DISTINCT [CASE WHEN $directed OR g.sources[i] <= g.targets[i] THEN g.sources[i] ELSE g.targets[i] END,
    CASE WHEN $relation THEN g.relations[i] ELSE '' END,
    CASE WHEN $directed OR g.sources[i] <= g.targets[i] THEN g.targets[i] ELSE g.sources[i] END]
} AS gold
WITH q, a, gold, walked, [e IN gold | head([i IN range(0, size(walked) - 1)
  WHERE walked[i][0] = e[0] AND walked[i][2] = e[2] AND (walked[i][1] = e[1] OR walked[i][1] = '' OR e[1] = '') | i])] AS firsts
WITH q, a, gold, walked, reduce(last = -1, first IN firsts | CASE WHEN first > last THEN first ELSE last END) AS last
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(gold) = 0 OR NOT a.walk_logged OR NOT a.ordered OR last < 0 THEN null
    ELSE toFloat(size(walked) - 1 - last) END AS value,
  CASE WHEN size(gold) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT a.walk_logged THEN $unlogged WHEN NOT a.ordered THEN $unordered WHEN last < 0 THEN $unwalked END AS reason
