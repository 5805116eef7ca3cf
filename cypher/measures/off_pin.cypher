// title: Off pin
// answers: Does a commit that was retrieved or traversed differ from the question's pins?
// parameters: dataset, run, questions, unscored, unversioned, untouched, partly, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, COLLECT {
  MATCH (a)-[r:RETRIEVED]->(c:Chunk) WHERE (q.sided OR NOT r.repeat) AND r.commit_key IS NOT NULL
  RETURN DISTINCT r.commit_key AS commit
  UNION
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND p.commits AS commit
  RETURN DISTINCT commit
} AS touched, CASE WHEN q.sided THEN COLLECT {
  // Gold paths with commits of their own say what the question is about; a side fits all of a repository without a pin.
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  RETURN DISTINCT {repos: g.side_repos, keys: g.side_keys}
} ELSE [] END AS sides, q.pins + COLLECT {
  // The stack's pin holds where the question has none of its own for that repository.
  MATCH (s:Stack {key: q.stack_key})-[:PINS]->(c:Commit) WHERE NOT c.repo IN q.pinned_repositories
  RETURN c.key
} AS pins, EXISTS {
    MATCH (a)-[r:RETRIEVED]->(c:Chunk) WHERE (q.sided OR NOT r.repeat) AND coalesce(r.commit_key, c.commit) IS NULL
  } AS partly
WITH q, a, touched, partly, CASE WHEN q.sided THEN [commit IN touched WHERE any(s IN sides WHERE commit IN s.keys
    OR NOT left(commit, size(commit) - 1 - size(split(commit, '@')[size(split(commit, '@')) - 1])) IN s.repos)]
  ELSE pins END AS pins, size(sides) + size(pins) AS conditions
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR conditions = 0 OR size(touched) = 0 THEN null
    WHEN any(commit IN touched WHERE NOT commit IN pins) THEN 1.0 WHEN NOT partly THEN 0.0 END AS value,
  CASE WHEN conditions = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN size(touched) = 0 AND (EXISTS { MATCH (a)-[:RETRIEVED]->(:Chunk) } OR EXISTS { MATCH (a)-[:WALKED]->(:RetrievedPath) })
      THEN $unversioned
    WHEN size(touched) = 0 AND NOT (a.chunks_logged AND a.walk_logged) THEN $unlogged
    WHEN size(touched) = 0 THEN $untouched
    WHEN partly AND all(commit IN touched WHERE commit IN pins) THEN $partly END AS reason
