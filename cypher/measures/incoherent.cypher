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
  MATCH (a)-[r:RETRIEVED]->(c:Chunk) WHERE NOT r.repeat AND r.commit_key IS NOT NULL
  RETURN DISTINCT r.commit_key AS commit
  UNION
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND p.commits AS commit
  RETURN DISTINCT commit
} AS touched
OPTIONAL MATCH (:Commit {key: touched[0]})<-[:PINS]-(s:Stack {compatible: true, dataset: $dataset})
OPTIONAL MATCH (s)-[:PINS]->(c:Commit) WHERE c.key IN touched
WITH q, a, known, sets, touched, s, count(c) AS held
WITH q, a, known, sets, touched, sum(CASE WHEN held = size(touched) THEN 1 ELSE 0 END) AS stacks
// What the question itself pins belongs together, unless a row says that it clashes.
WITH q, a, known, sets, touched, stacks > 0 OR (all(commit IN touched WHERE commit IN q.pins) AND NOT EXISTS {
  MATCH (c:Commit)-[x:INCOMPATIBLE_WITH]->(d:Commit)
  WHERE c.key IN touched AND d.key IN touched AND x.dataset = $dataset
}) AS fits, EXISTS {
    MATCH (a)-[r:RETRIEVED]->(c:Chunk) WHERE NOT r.repeat AND coalesce(r.commit_key, c.commit) IS NULL
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
