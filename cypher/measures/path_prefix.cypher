// title: Path prefix
// answers: How much of each gold path was followed from its start without a miss, on the best retrieved path?
// parameters: dataset, run, questions, relation, unstated, directed, complete, unscored, unlogged, unordered
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
  WITH g, [i IN range(0, size(g.sources) - 1) WHERE NOT g.optional[i]
      AND NOT (g.from_turn IS NOT NULL AND any(b IN range(0, size(coalesce(a.before_turns, [])) - 1)
      WHERE a.before_turns[b] >= g.from_turn AND a.before_sources[b] = g.sources[i] AND a.before_targets[b] = g.targets[i]
        AND (a.before_relations[b] = g.relations[i] OR g.relations[i] = '' OR (a.before_relations[b] = '' AND $unstated = '')))) |
    [CASE WHEN $directed OR coalesce(g.at_sources, g.sources)[i] <= coalesce(g.at_targets, g.targets)[i]
      THEN coalesce(g.at_sources, g.sources)[i] ELSE coalesce(g.at_targets, g.targets)[i] END,
    CASE WHEN $relation THEN g.relations[i] ELSE '' END,
    CASE WHEN $directed OR coalesce(g.at_sources, g.sources)[i] <= coalesce(g.at_targets, g.targets)[i]
      THEN coalesce(g.at_targets, g.targets)[i] ELSE coalesce(g.at_sources, g.sources)[i] END]] AS required
  WHERE size(required) > 0
  RETURN {unit: g.unit, rank: g.rank, ordered: coalesce(g.ordered, true), required: required}
} AS paths
WITH q, a, paths, walks, any(p IN paths WHERE p.ordered) AS ordered,
  CASE WHEN a.ordered THEN walks ELSE [reduce(all = [], walk IN walks | all + walk)] END AS sets
// How many required steps each walk holds in order, from the first on; in any order if the gold path isn't ordered.
WITH q, a, ordered, [p IN paths | {unit: p.unit, rank: p.rank, length: size(p.required), counts: CASE WHEN NOT p.ordered
  THEN [walk IN sets | size([e IN p.required WHERE any(w IN walk
    WHERE e[0] = w[0] AND e[2] = w[2] AND (e[1] = w[1] OR e[1] = '' OR w[1] = ''))])] ELSE [walk IN walks |
  reduce(count = 0, w IN walk | CASE WHEN count < size(p.required)
    AND p.required[count][0] = w[0] AND p.required[count][2] = w[2]
    AND (p.required[count][1] = w[1] OR p.required[count][1] = '' OR w[1] = '') THEN count + 1 ELSE count END)] END}] AS paths
WITH q, a, ordered, [p IN paths | {unit: p.unit, rank: p.rank, length: p.length, done: reduce(best = 0, count IN p.counts |
  CASE WHEN count > best THEN count ELSE best END)}] AS paths
// $complete asks for whole paths only: that is PathInOrder.
WITH q, a, ordered, [p IN paths | {unit: p.unit, rank: p.rank, length: p.length,
  done: CASE WHEN $complete AND p.done < p.length THEN 0 ELSE p.done END}] AS paths
WITH q, a, ordered, [p IN paths | {unit: p.unit, rank: p.rank, length: p.length, done: p.done,
  share: toFloat(p.done) / p.length}] AS paths
// Of alternatives the best counts, of equals the one of the lowest rank.
WITH q, a, ordered, [p IN paths WHERE NOT any(o IN paths WHERE o.unit = p.unit
  AND (o.share > p.share OR (o.share = p.share AND o.rank < p.rank)))] AS chosen
// Over the least common multiple of the lengths, so that only one division rounds. It is a float: that can't overflow.
WITH q, a, ordered, chosen, reduce(common = 1.0, p IN chosen | common * p.length / reduce(shared = 1, d IN range(2, p.length) |
  CASE WHEN common % d = 0 AND p.length % d = 0 THEN d ELSE shared END)) AS common
RETURN q.id AS question,
  CASE WHEN a IS NULL OR a.error IS NOT NULL OR size(chosen) = 0 OR NOT a.walk_logged OR (ordered AND NOT a.ordered) THEN null
    ELSE reduce(sum = 0.0, p IN chosen | sum + p.done * (common / p.length)) / (common * size(chosen)) END AS value,
  CASE WHEN size(chosen) = 0 THEN $unscored WHEN a IS NULL THEN $missing WHEN a.error IS NOT NULL THEN 'failed: ' + a.error
    WHEN NOT a.walk_logged THEN $unlogged
    WHEN ordered AND NOT a.ordered THEN $unordered END AS reason
