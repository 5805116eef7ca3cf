// title: Invented edges
// answers: Which edges did the run traverse that the question lists as absent, or that neither the knowledge graph nor gold holds, and did it decline?
// order: 36
// parameters: run, question = null, limit = 20
// columns: question, source, relation, target, listed, declined
MATCH (r:Run {id: $run})
CALL (r) {
  MATCH (q:Question {dataset: r.dataset, id: $question})
  RETURN q
  UNION ALL
  UNWIND CASE WHEN $question IS NULL THEN [r.dataset] ELSE [] END AS dataset
  MATCH (q:Question {dataset: dataset})
  RETURN q
}
WITH r, q WHERE coalesce(q.invalid, '') = ''
MATCH (d:Dataset {name: r.dataset})
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL
WITH q, a, d, d.name + '/' + coalesce(q.stack, '') AS own
// The graph of the question's stack, else all; none if the edges of one aren't given.
WITH q, a, d.name AS dataset, CASE WHEN own IN coalesce(d.graphs, []) THEN [own] WHEN size(coalesce(d.edgeless, [])) > 0 THEN []
  ELSE coalesce(d.graphs, []) END AS graphs, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  UNWIND range(0, size(p.sources) - 1) AS i
  WITH p.sources[i] AS source, p.relations[i] AS relation, p.targets[i] AS target,
    collect(coalesce(p.undirected[i], false)) AS undirected
  RETURN [source, relation, target, true IN undirected]
} AS steps, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND range(0, size(g.sources) - 1) AS i
  RETURN DISTINCT [g.sources[i], g.relations[i], g.targets[i]]
} AS gold, [n IN range(0, size(coalesce(q.absent_sources, [])) - 1) |
  [q.absent_sources[n], q.absent_relations[n], q.absent_targets[n]]] AS absent
WITH q, a, dataset, graphs, gold, steps, [w IN steps WHERE any(e IN absent
  WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))] AS listed
WITH q, a, dataset, graphs, listed, [w IN steps WHERE size(graphs) > 0 AND NOT w IN listed AND NOT any(e IN gold
  WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))] AS others
WITH q, a, listed, COLLECT {
  MATCH (a)-[:SCORED]->(s:Score {measure: 'Declined'}) WHERE a.abstained IS NULL AND a.declined IS NOT NULL AND s.value IS NOT NULL
  RETURN DISTINCT s.value <> 0 AS declined
} AS judged, COLLECT {
  UNWIND others AS w
  WITH w WHERE NOT EXISTS {
    MATCH (s:Artifact {dataset: dataset, id: w[0]})-[e:EDGE]->(t:Artifact {dataset: dataset, id: w[2]})
    WHERE e.graph IN graphs AND (w[1] = '' OR e.relation = w[1])
  } AND NOT EXISTS {
    MATCH (s:Artifact {dataset: dataset, id: w[0]})<-[e:EDGE]-(t:Artifact {dataset: dataset, id: w[2]})
    WHERE w[3] AND e.graph IN graphs AND (w[1] = '' OR e.relation = w[1])
  }
  RETURN w
} AS made_up
UNWIND [w IN listed | [w[0], w[1], w[2], true]] + [w IN made_up | [w[0], w[1], w[2], false]] AS w
RETURN q.id AS question, w[0] AS source, CASE WHEN w[1] = '' THEN null ELSE w[1] END AS relation, w[2] AS target,
  w[3] AS listed, CASE WHEN size(judged) = 1 THEN judged[0] ELSE a.declined END AS declined
ORDER BY question, source, relation, target
LIMIT $limit
