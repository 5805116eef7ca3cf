// title: Edges traversed again
// answers: How many edges did a path traverse again, or with $across 'turns' also those that an earlier turn of the session traversed?
// parameters: dataset, run, questions, across, unlogged, first, unknown
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  WITH [p.sources[i], p.relations[i], p.targets[i]] AS edge, p.index AS path, count(*) AS times
  WITH edge, collect([path, times]) AS there
  // What an earlier path has was traversed there.
  RETURN [edge, reduce(first = there[0], one IN there | CASE WHEN one[0] < first[0] THEN one ELSE first END)[1]] AS walked
} AS edges
WITH q, a, edges, $across = 'turns' AND coalesce(q.turn, 1) = 1 AS begins, $across = 'turns' AND a.before_sources IS NULL AS unknown,
  CASE WHEN $across = 'turns' THEN [i IN range(0, size(coalesce(a.before_sources, [])) - 1) |
    [a.before_sources[i], a.before_relations[i], a.before_targets[i]]] ELSE [] END AS before
WITH q, a, begins, unknown, reduce(steps = 0, one IN edges | steps + one[1]) AS steps,
  size([one IN edges WHERE NOT one[0] IN before]) AS fresh
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR begins OR NOT a.walk_logged OR unknown THEN null
    ELSE toFloat(steps - fresh) END AS value,
  CASE WHEN begins THEN $first WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT a.walk_logged THEN $unlogged WHEN unknown THEN $unknown END AS reason
