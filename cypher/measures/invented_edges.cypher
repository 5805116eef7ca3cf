// title: Invented edges
// answers: How many distinct edges were traversed that the question lists as absent, or that neither the knowledge graph nor gold holds?
// parameters: dataset, run, questions, none, unlogged
// columns: question, value, reason
UNWIND $questions AS question
MATCH (d:Dataset {name: $dataset})
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, d, $dataset + '/' + coalesce(q.stack, '') AS own
// The graph of the question's stack, else all; none if the edges of one aren't given.
WITH q, a, CASE WHEN own IN coalesce(d.graphs, []) THEN [own] WHEN size(coalesce(d.edgeless, [])) > 0 THEN []
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
WITH q, a, graphs, absent, gold, steps, [w IN steps WHERE any(e IN absent
  WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))] AS listed
WITH q, a, graphs, absent, listed, [w IN steps WHERE size(graphs) > 0 AND NOT w IN listed AND NOT any(e IN gold
  WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))] AS others
WITH q, a, graphs, absent, listed, COLLECT {
  UNWIND others AS w
  WITH w WHERE NOT EXISTS {
    MATCH (s:Artifact {dataset: $dataset, id: w[0]})-[e:EDGE]->(t:Artifact {dataset: $dataset, id: w[2]})
    WHERE e.graph IN graphs AND (w[1] = '' OR e.relation = w[1])
  } AND NOT EXISTS {
    MATCH (s:Artifact {dataset: $dataset, id: w[0]})<-[e:EDGE]-(t:Artifact {dataset: $dataset, id: w[2]})
    WHERE w[3] AND e.graph IN graphs AND (w[1] = '' OR e.relation = w[1])
  }
  RETURN w
} AS made_up
WITH q, a, size(listed) + size(made_up) AS invented, CASE WHEN size(absent) = 0 AND size(graphs) = 0 THEN $none
  WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
  WHEN NOT a.walk_logged THEN $unlogged END AS reason
RETURN q.id AS question, CASE WHEN reason IS NULL THEN toFloat(invented) END AS value, reason
