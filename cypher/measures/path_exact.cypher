// title: Path exact
// answers: Which share of the required paths does some retrieved path equal step by step, optional steps present or absent?
// parameters: dataset, run, questions, relation, unstated, directed, unscored, unlogged, unordered
// columns: question, value, reason
UNWIND $questions AS question
MATCH (q:Question {dataset: $dataset, id: question})
OPTIONAL MATCH (a:Answer {run: $run, question: q.id})
WITH q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  WITH p, coalesce(CASE WHEN $unstated <> '' THEN p.gate_sources END, p.at_sources, p.sources) AS sources,
    coalesce(CASE WHEN $unstated <> '' THEN p.gate_targets END, p.at_targets, p.targets) AS targets,
    coalesce(p.at_relations, p.relations) AS relations,
    size(p.sources) AS steps, coalesce(p.at_starts, [0]) AS starts
  UNWIND starts AS start
  RETURN [i IN range(start, start + steps - 1) |
    [CASE WHEN $directed OR sources[i] <= targets[i] THEN sources[i] ELSE targets[i] END,
    CASE WHEN NOT $relation THEN '' WHEN relations[i] = '' THEN $unstated ELSE relations[i] END,
    CASE WHEN $directed OR sources[i] <= targets[i] THEN targets[i] ELSE sources[i] END]]
} AS walks, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  WHERE any(i IN range(0, size(g.optional) - 1) WHERE NOT g.optional[i]
      AND NOT (g.from_turn IS NOT NULL AND any(b IN range(0, size(coalesce(a.before_turns, [])) - 1)
      WHERE a.before_turns[b] >= g.from_turn AND a.before_sources[b] = g.sources[i] AND a.before_targets[b] = g.targets[i]
        AND (a.before_relations[b] = g.relations[i] OR g.relations[i] = '' OR (a.before_relations[b] = '' AND $unstated = '')))))
  RETURN {unit: g.unit, rank: g.rank, ordered: coalesce(g.ordered, true), steps: [i IN range(0, size(g.sources) - 1) |
    [CASE WHEN $directed OR coalesce(g.at_sources, g.sources)[i] <= coalesce(g.at_targets, g.targets)[i]
      THEN coalesce(g.at_sources, g.sources)[i] ELSE coalesce(g.at_targets, g.targets)[i] END,
    CASE WHEN $relation THEN g.relations[i] ELSE '' END,
    CASE WHEN $directed OR coalesce(g.at_sources, g.sources)[i] <= coalesce(g.at_targets, g.targets)[i]
      THEN coalesce(g.at_targets, g.targets)[i] ELSE coalesce(g.at_sources, g.sources)[i] END,
    g.optional[i] OR (g.from_turn IS NOT NULL AND any(b IN range(0, size(coalesce(a.before_turns, [])) - 1)
      WHERE a.before_turns[b] >= g.from_turn AND a.before_sources[b] = g.sources[i] AND a.before_targets[b] = g.targets[i]
        AND (a.before_relations[b] = g.relations[i] OR g.relations[i] = '' OR (a.before_relations[b] = '' AND $unstated = ''))))]]}
} AS paths
// A gold path that isn't ordered has the edges of a walk, and it all required ones; a walk without an order is one path.
WITH q, a, paths, walks, any(p IN paths WHERE p.ordered) AS ordered,
  CASE WHEN a.ordered THEN walks ELSE [reduce(all = [], walk IN walks | all + walk)] END AS sets
WITH q, a, ordered, walks, [p IN paths | {unit: p.unit, rank: p.rank, steps: p.steps, ordered: p.ordered,
  same: NOT p.ordered AND any(walk IN sets
    WHERE all(s IN p.steps WHERE s[3] OR any(w IN walk
        WHERE s[0] = w[0] AND s[2] = w[2] AND (s[1] = w[1] OR s[1] = '' OR w[1] = '')))
      AND all(w IN walk WHERE any(s IN p.steps
        WHERE s[0] = w[0] AND s[2] = w[2] AND (s[1] = w[1] OR s[1] = '' OR w[1] = ''))))}] AS paths
// The places of the gold path that a walk can have reached: it takes a step, or skips optional ones.
WITH q, a, ordered, [p IN paths | {unit: p.unit, rank: p.rank, steps: p.steps, ordered: p.ordered, same: p.same, ends: [walk IN walks |
  reduce(reached = [0], w IN walk | [i IN range(0, size(p.steps) - 1)
    WHERE p.steps[i][0] = w[0] AND p.steps[i][2] = w[2]
      AND (p.steps[i][1] = w[1] OR p.steps[i][1] = '' OR w[1] = '')
      AND any(r IN reached WHERE r <= i AND all(s IN p.steps[r..i] WHERE s[3])) | i + 1])]}] AS paths
WITH q, a, ordered, [p IN paths | {unit: p.unit, rank: p.rank, share: CASE WHEN p.same OR (p.ordered AND
  any(reached IN p.ends WHERE any(r IN reached WHERE all(s IN p.steps[r..size(p.steps)] WHERE s[3]))))
  THEN 1.0 ELSE 0.0 END}] AS paths
// Of alternatives the best counts, of equals the one of the lowest rank.
WITH q, a, ordered, [p IN paths WHERE NOT any(o IN paths WHERE o.unit = p.unit
  AND (o.share > p.share OR (o.share = p.share AND o.rank < p.rank))) | p.share] AS scores
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(scores) = 0 OR NOT a.walk_logged OR (ordered AND NOT a.ordered) THEN null
    ELSE reduce(sum = 0.0, score IN scores | sum + score) / size(scores) END AS value,
  CASE WHEN size(scores) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT a.walk_logged THEN $unlogged
    WHEN ordered AND NOT a.ordered THEN $unordered END AS reason
