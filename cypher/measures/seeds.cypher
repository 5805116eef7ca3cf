// title: Seeds
// answers: Which share of the gold seeds was the question linked to (recall), which share of what it was linked to is a gold seed (precision), or at which rank is the first one (reciprocal rank)?
// parameters: dataset, run, questions, compared, unscored, unlogged, unlinked
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, COLLECT {
  MATCH (a)-[s:SEEDED]->(n:Artifact)
  RETURN n.id AS id
  ORDER BY s.rank
} AS linked, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath) WHERE g.start IS NOT NULL
  RETURN {unit: g.unit, rank: g.rank, start: g.start} AS path
} AS paths
WITH q, a, linked, CASE WHEN q.seeds IS NULL THEN paths
  ELSE [i IN range(0, size(q.seeds) - 1) | {unit: 'seed ' + toString(i), rank: 0, start: q.seeds[i]}] END AS paths
WITH q, a, linked, [p IN paths | {unit: p.unit, rank: p.rank, start: p.start,
  place: coalesce([i IN range(0, size(linked) - 1) WHERE linked[i] = p.start][0], size(linked))}] AS paths
// Of alternatives the one counts that was linked at the best rank, of equals the one of the lowest rank.
WITH q, a, linked, [p IN paths WHERE NOT any(o IN paths
  WHERE o.unit = p.unit AND (o.place < p.place OR (o.place = p.place AND o.rank < p.rank)))] AS chosen
WITH q, a, linked, reduce(all = [], p IN chosen | CASE WHEN p.start IN all THEN all ELSE all + [p.start] END) AS gold,
  reduce(all = [], id IN linked | CASE WHEN id IN all THEN all ELSE all + [id] END) AS nodes
WITH q, a, linked, gold, nodes, size([id IN nodes WHERE id IN gold]) AS found,
  [i IN range(0, size(linked) - 1) WHERE linked[i] IN gold] AS places
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(gold) = 0 OR NOT coalesce(a.seeds_logged, false) THEN null
    WHEN $compared = 'recall' THEN toFloat(found) / size(gold)
    WHEN $compared = 'precision' THEN CASE WHEN size(nodes) = 0 THEN null ELSE toFloat(found) / size(nodes) END
    WHEN size(places) = 0 THEN 0.0 ELSE 1.0 / (places[0] + 1) END AS value,
  CASE WHEN size(gold) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT coalesce(a.seeds_logged, false) THEN $unlogged
    WHEN $compared = 'precision' AND size(nodes) = 0 THEN $unlinked END AS reason
