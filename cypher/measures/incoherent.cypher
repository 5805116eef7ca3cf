// title: Incoherent commits
// answers: Is there no compatible row or deployment that holds every commit retrieved and traversed?
// parameters: dataset, run, questions, unversioned, untouched, partly, no_commits_known, no_sets, unlogged
// columns: question, value, reason
// Known to a dataset are the commits that it lists or pins, and those of its repositories whose history was read.
WITH EXISTS { MATCH (:Dataset {name: $dataset})-[:LISTS]->(:Commit) }
  OR EXISTS { MATCH (d:Dataset {name: $dataset}) WHERE size(d.histories) > 0 }
  OR EXISTS { MATCH (:Stack {dataset: $dataset})-[:PINS]->(:Commit) } AS known,
  EXISTS { MATCH (:Stack {dataset: $dataset, compatible: true}) } AS sets
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, known, sets, COLLECT {
  MATCH (a)-[r:RETRIEVED]->(c:Chunk) WHERE (q.sided OR NOT r.repeat) AND r.commit_key IS NOT NULL
  RETURN DISTINCT r.commit_key AS commit
  UNION
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND p.commits AS commit
  RETURN DISTINCT commit
} AS touched
// Of a question about several sides the commits of each are judged: those that fit it.
WITH q, a, known, sets, touched, CASE WHEN q.sided THEN COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  RETURN DISTINCT {repos: g.side_repos, keys: g.side_keys}
} ELSE [] END AS sides
WITH q, a, known, sets, touched, CASE WHEN size(sides) = 0 THEN [{own: touched, pins: q.pins}]
  ELSE [s IN sides | {pins: s.keys, own: [t IN touched WHERE t IN s.keys
    OR NOT left(t, size(t) - 1 - size(split(t, '@')[size(split(t, '@')) - 1])) IN s.repos]}] END AS groups
UNWIND range(0, size(groups) - 1) AS i
WITH q, a, known, sets, touched, groups[i].own AS own, groups[i].pins AS pins, i
OPTIONAL MATCH (:Commit {key: own[0]})<-[:PINS]-(s:Stack {compatible: true, dataset: $dataset})
OPTIONAL MATCH (s)-[:PINS]->(c:Commit) WHERE c.key IN own
WITH q, a, known, sets, touched, i, own, pins, s, count(c) AS held
WITH q, a, known, sets, touched, i, own, pins, sum(CASE WHEN held = size(own) THEN 1 ELSE 0 END) AS stacks
// What the question itself pins belongs together, unless a row says that it clashes.
WITH q, a, known, sets, touched, own, stacks > 0 OR (all(commit IN own WHERE commit IN pins) AND NOT EXISTS {
  MATCH (c:Commit)-[x:INCOMPATIBLE_WITH]->(d:Commit)
  WHERE c.key IN own AND d.key IN own AND x.dataset = $dataset
}) AS belong
WITH q, a, known, sets, touched, collect(own) AS held, min(CASE WHEN belong THEN 1 ELSE 0 END) AS belong
WITH q, a, known, sets, touched, belong = 1 AND all(commit IN touched WHERE any(own IN held WHERE commit IN own)) AS fits, EXISTS {
    MATCH (a)-[r:RETRIEVED]->(c:Chunk) WHERE (q.sided OR NOT r.repeat) AND coalesce(r.commit_key, c.commit) IS NULL
  } AS partly
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(touched) = 0 OR NOT known THEN null
    WHEN fits AND NOT partly THEN 0.0 WHEN NOT fits AND sets THEN 1.0 END AS value,
  CASE WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN size(touched) = 0 AND (EXISTS { MATCH (a)-[:RETRIEVED]->(:Chunk) } OR EXISTS { MATCH (a)-[:WALKED]->(:RetrievedPath) })
      THEN $unversioned
    WHEN size(touched) = 0 AND NOT (a.chunks_logged AND a.walk_logged) THEN $unlogged
    WHEN size(touched) = 0 THEN $untouched WHEN NOT known THEN $no_commits_known
    WHEN fits AND partly THEN $partly WHEN NOT fits AND NOT sets THEN $no_sets END AS reason
