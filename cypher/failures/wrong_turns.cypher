// title: Wrong turns
// answers: Where did the traversal first leave each gold path: at which node, repository and commit, which step was expected, and which edge outside gold did it take instead? It never came to a node of the path if not entered; joined is the first step of the path that it took anywhere; elsewhere says that it took the expected step, but not behind the steps before it; stopped that it ended there; reached_end that it came to the last node of the path. Steps count from 0. For a set of edges (not ordered), only steps from nodes that it reaches are listed.
// order: 40
// parameters: run, question = null, limit = 20
// columns: question, path, position, node, repo, commit, expected_by, expected, went_by, went_to, entered, ordered, joined, elsewhere, stopped, reached_end
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
MATCH (a:Answer {run: $run, question: q.id}) WHERE a.error IS NULL AND a.walk_logged
WITH q, a, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  WITH p, coalesce(p.at_sources, p.sources) AS sources, coalesce(p.at_relations, p.relations) AS relations,
    coalesce(p.at_targets, p.targets) AS targets, size(p.sources) AS length, coalesce(p.at_starts, [0]) AS starts
  UNWIND starts AS start
  WITH p, sources, relations, targets, length, start
  ORDER BY p.index, start
  RETURN {index: [p.index, start], steps: [i IN range(start, start + length - 1) |
    [sources[i], relations[i], targets[i], p.source_commits[i % length], p.target_commits[i % length]]]} AS walk
} AS walks, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND range(0, size(g.sources) - 1) AS i
  RETURN DISTINCT [coalesce(g.at_sources, g.sources)[i], g.relations[i], coalesce(g.at_targets, g.targets)[i]]
} AS gold, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  RETURN {unit: g.unit, rank: g.rank, path: coalesce(g.id, toString(g.index)), ordered: coalesce(g.ordered, true),
    side_repos: coalesce(g.side_repos, []), side_shas: g.side_shas,
    steps: [i IN range(0, size(g.sources) - 1) | [coalesce(g.at_sources, g.sources)[i], g.relations[i], coalesce(g.at_targets, g.targets)[i], i]],
    wanted: [i IN range(0, size(g.sources) - 1) WHERE NOT g.optional[i]
      AND NOT (g.from_turn IS NOT NULL AND any(b IN range(0, size(coalesce(a.before_turns, [])) - 1)
      WHERE a.before_turns[b] >= g.from_turn AND a.before_sources[b] = g.sources[i] AND a.before_targets[b] = g.targets[i]
        AND (a.before_relations[b] = g.relations[i] OR g.relations[i] = '' OR a.before_relations[b] = ''))) |
      [coalesce(g.at_sources, g.sources)[i], g.relations[i], coalesce(g.at_targets, g.targets)[i], i, g.source_repos[i]]]}
} AS paths
UNWIND [p IN paths WHERE size(p.wanted) > 0] AS p
WITH q, a.ordered AND p.ordered AS ordered, gold, p, CASE WHEN a.ordered AND p.ordered THEN walks
  ELSE [{index: [0, 0], steps: reduce(all = [], w IN walks | all + w.steps)}] END AS walks
// The edges of the path that were taken anywhere, by their places.
WITH q, ordered, gold, walks, p, [e IN p.steps WHERE any(v IN walks WHERE any(w IN v.steps
  WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))) | e[3]] AS taken,
  any(v IN walks WHERE any(w IN v.steps WHERE any(e IN p.steps WHERE w[0] IN [e[0], e[2]] OR w[2] IN [e[0], e[2]]))) AS entered,
  any(v IN walks WHERE any(w IN v.steps WHERE w[2] = p.steps[size(p.steps) - 1][2])) AS reached_end
UNWIND CASE WHEN size(walks) = 0 THEN [{index: [0, 0], steps: []}] ELSE walks END AS walk
// [how many wanted steps were followed, the place behind the last of them, the place in the walk]
WITH q, ordered, gold, walks, p, taken, entered, reached_end, walk, reduce(s = [0, 0, 0], w IN walk.steps | CASE WHEN s[0] < size(p.wanted)
    AND p.wanted[s[0]][0] = w[0] AND p.wanted[s[0]][2] = w[2]
    AND (p.wanted[s[0]][1] = w[1] OR p.wanted[s[0]][1] = '' OR w[1] = '')
  THEN [s[0] + 1, s[2] + 1, s[2] + 1] ELSE [s[0], s[1], s[2] + 1] END) AS state
// Of a set of edges: those that it holds, and the first other one that begins where it came to.
WITH q, ordered, gold, walks, p, taken, entered, reached_end, walk, state, [e IN p.wanted WHERE NOT any(w IN walk.steps
  WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))] AS lacking
WITH q, ordered, walks, p, taken, entered, reached_end, walk, CASE WHEN ordered THEN state[0] ELSE size(p.wanted) - size(lacking) END AS followed,
  CASE WHEN ordered THEN p.wanted[state[0]]
    ELSE [e IN lacking WHERE any(w IN walk.steps WHERE e[0] IN [w[0], w[2]])][0] END AS e,
  [w IN walk.steps[(CASE WHEN ordered THEN state[1] ELSE 0 END)..size(walk.steps)] WHERE NOT any(e IN gold
    WHERE w[0] = e[0] AND w[2] = e[2] AND (w[1] = e[1] OR w[1] = '' OR e[1] = ''))] AS rest
WITH q, ordered, walks, p, taken, entered, reached_end, walk, followed, e, [w IN rest WHERE w[0] = e[0]][0] AS turn
// The alternative, and of its walks the one, of which the largest share was followed: as PathPrefix chooses. Only of equal
// shares one that went on from there comes first, then the alternative of the lowest rank, then the first walk.
ORDER BY q.id, p.unit, toFloat(followed) / size(p.wanted) DESC,
  CASE WHEN e IS NULL OR turn IS NOT NULL THEN 0 ELSE 1 END, p.rank, walk.index[0], walk.index[1]
WITH q, p.unit AS unit, head(collect({path: p.path, pins: [p.side_repos, p.side_shas], ordered: ordered, e: e, turn: turn, steps: walk.steps, walks: walks, taken: taken,
  entered: entered, reached_end: reached_end})) AS best
WITH q, best.ordered AS ordered, best.pins AS pins, best.walks AS walks, best.path AS path, best.e AS e, best.turn AS turn, best.steps AS steps, best.taken AS taken,
  best.entered AS entered, best.reached_end AS reached_end
WHERE e IS NOT NULL
WITH q, ordered, pins, path, e, turn, taken, entered, reached_end,
  [v IN walks WHERE any(w IN v.steps WHERE e[0] IN [w[0], w[2]])] AS there,
  CASE WHEN e[4] <> '' THEN e[4] END AS repo,
  [w IN steps WHERE (w[0] = e[0] AND w[3] <> '') OR (w[2] = e[0] AND w[4] <> '') |
    CASE WHEN w[0] = e[0] AND w[3] <> '' THEN w[3] ELSE w[4] END][0] AS seen
OPTIONAL MATCH (:Stack {key: q.stack_key})-[:PINS]->(c:Commit {repo: repo})
RETURN q.id AS question, path, e[3] AS position, e[0] AS node, repo,
  coalesce(seen, [i IN range(0, size(pins[0]) - 1) WHERE pins[0][i] = repo | pins[1][i]][0],
    [i IN range(0, size(q.pinned_shas) - 1) WHERE q.pinned_repositories[i] = repo | q.pinned_shas[i]][0], c.sha) AS commit,
  CASE WHEN e[1] = '' THEN null ELSE e[1] END AS expected_by, e[2] AS expected,
  CASE WHEN turn[1] = '' THEN null ELSE turn[1] END AS went_by, turn[2] AS went_to, entered, ordered,
  taken[0] AS joined, e[3] IN taken AS elsewhere, ordered AND size(there) > 0 AND NOT any(i IN taken WHERE i >= e[3])
    AND all(v IN there WHERE v.steps[size(v.steps) - 1][2] = e[0] AND NOT any(w IN v.steps WHERE w[0] = e[0])) AS stopped,
  reached_end
ORDER BY CASE WHEN turn IS NOT NULL THEN 0 WHEN entered THEN 1 ELSE 2 END, question, path
LIMIT $limit
