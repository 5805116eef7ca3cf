// title: Cross-repository recall
// answers: Which share of the relevant repositories was retrieved?
// parameters: dataset, run, questions, unscored, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, COLLECT {
  MATCH (a)-[:RETRIEVED]->(c:Chunk) WHERE c.repo IS NOT NULL
  RETURN DISTINCT c.repo AS repo
  UNION
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND p.repositories AS repo
  RETURN DISTINCT repo
} AS retrieved, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND range(0, size(g.sources) - 1) AS i
  WITH g, i
  WHERE NOT g.optional[i]
      AND NOT (g.from_turn IS NOT NULL AND any(b IN range(0, size(coalesce(a.before_turns, [])) - 1)
      WHERE a.before_turns[b] >= g.from_turn AND a.before_sources[b] = g.sources[i] AND a.before_targets[b] = g.targets[i]
        AND (a.before_relations[b] = g.relations[i] OR g.relations[i] = '' OR a.before_relations[b] = '')))
  UNWIND [g.source_repos[i], g.target_repos[i]] AS repo
  WITH g, repo WHERE repo <> ''
  WITH g, collect(DISTINCT repo) AS wanted
  RETURN {unit: g.unit, rank: g.rank, wanted: wanted}
} AS paths
WITH q, a, retrieved, [p IN paths | {unit: p.unit, rank: p.rank, wanted: p.wanted,
  share: toFloat(size([repo IN p.wanted WHERE repo IN retrieved])) / size(p.wanted)}] AS paths
// Of alternatives the best counts, of equals the one of the lowest rank.
WITH q, a, retrieved, [p IN paths WHERE NOT any(o IN paths
  WHERE o.unit = p.unit AND (o.share > p.share OR (o.share = p.share AND o.rank < p.rank)))] AS chosen
WITH q, a, retrieved,
  reduce(all = q.relevant_repositories, p IN chosen | all + [repo IN p.wanted WHERE NOT repo IN all]) AS required
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(required) = 0
      OR (size(retrieved) = 0 AND NOT (a.chunks_logged AND a.walk_logged)) THEN null
    ELSE toFloat(size([repo IN required WHERE repo IN retrieved])) / size(required) END AS value,
  CASE WHEN size(required) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN size(retrieved) = 0 AND NOT (a.chunks_logged AND a.walk_logged) THEN $unlogged END AS reason
