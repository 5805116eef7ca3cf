// title: Violation of the walk
// answers: May the question's principal not read an end of a traversed edge, a seed, or a node that a tool call showed?
// parameters: dataset, run, questions, unscored, unlogged, unseen, unrelated
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
OPTIONAL MATCH (p:Principal {dataset: $dataset, name: q.principal})
WITH q, a, p, COLLECT {
  MATCH (a)-[:WALKED]->(path:RetrievedPath)
  UNWIND range(0, size(path.sources) - 1) AS i
  UNWIND [[path.sources[i], path.source_repos[i]], [path.targets[i], path.target_repos[i]]] AS node
  RETURN DISTINCT node
  UNION
  MATCH (a)-[:CALLED]->(:ToolCall)-[:SAW]->(seen:Artifact)
  RETURN DISTINCT [seen.id, coalesce(seen.repo, '')] AS node
  UNION
  MATCH (a)-[:SEEDED]->(seed:Artifact)
  RETURN DISTINCT [seed.id, coalesce(seed.repo, '')] AS node
} AS nodes, COLLECT {
  MATCH (a)-[:WALKED]->(path:RetrievedPath)
  UNWIND path.relations AS relation
  RETURN DISTINCT relation
} AS relations
// The patterns decide as MAY_READ does, without a look at all edges of popular artifacts.
WITH q, a, any(node IN nodes WHERE
    NOT (coalesce(node[0] =~ p.ids, false) OR coalesce(node[1] <> '' AND node[1] =~ p.repositories, false))
    OR coalesce(node[0] =~ p.denied_ids, false) OR coalesce(node[1] <> '' AND node[1] =~ p.denied_repositories, false))
  OR any(relation IN relations WHERE relation <> '' AND (NOT coalesce(relation =~ p.relations, true)
    OR coalesce(relation =~ p.denied_relations, false))) AS violated,
  coalesce(p.relations, p.denied_relations) IS NOT NULL AND '' IN relations AS unrelated,
  EXISTS { MATCH (a)-[:CALLED]->(call:ToolCall) WHERE NOT call.shown } AS unseen
RETURN q.id AS question,
  CASE WHEN q.principal IS NULL OR a IS NULL OR a.error IS NOT NULL THEN null WHEN violated THEN 1.0
    WHEN a.walk_logged AND NOT unseen AND NOT unrelated THEN 0.0 END AS value,
  CASE WHEN q.principal IS NULL THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN violated THEN null WHEN NOT a.walk_logged THEN $unlogged WHEN unseen THEN $unseen
    WHEN unrelated THEN $unrelated END AS reason
