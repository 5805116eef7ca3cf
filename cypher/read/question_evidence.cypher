// title: Evidence on questions
// answers: What does a run know of each of some questions: its gold paths and the commits that it is about, what it was linked to, the retrieved paths and chunks with their commits, the expected files and those that were named, what is logged, and whether the answer is right?
// parameters: run, questions, decision
// columns: question, turn, before, invalid, relevant, gains, pins, stack_pins, gold, gold_seeds, answered, error, ordered, walk_logged, walks, seeds_logged, seeds, chunks_logged, chunks, expected_files, files, files_logged, answerable, why_not, listed_absent, abstained, declined, compared, right
MATCH (r:Run {id: $run})
UNWIND $questions AS id
WITH r, id
MATCH (q:Question {dataset: r.dataset, id: id})
OPTIONAL MATCH (a:Answer {run: $run, question: id})
WITH id, q, a, COLLECT {
  MATCH (s:Stack {key: q.stack_key})-[:PINS]->(c:Commit)
  RETURN [c.repo, c.sha]
} AS stack_pins, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  RETURN {id: g.id, group: g.group, from_turn: g.from_turn, ordered: coalesce(g.ordered, true), sources: g.sources, relations: g.relations,
    targets: g.targets, optional: g.optional, manual: g.manual, absent: g.absent, repos: coalesce(g.side_repos, []),
    names: coalesce(g.side_names, [])} AS path
  ORDER BY g.index
} AS gold, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  RETURN {sources: p.sources, relations: p.relations, targets: p.targets, source_commits: p.source_commits,
    target_commits: p.target_commits} AS walk
  ORDER BY p.index
} AS walks, COLLECT {
  MATCH (a)-[:SCORED]->(s:Score {measure: 'Declined'}) WHERE a.abstained IS NULL AND a.declined IS NOT NULL AND s.value IS NOT NULL
  RETURN DISTINCT s.value <> 0 AS declined
} AS judged, COLLECT {
  MATCH (a)-[x:RETRIEVED]->(c:Chunk)
  RETURN [c.id, c.repo, coalesce(x.commit, c.commit)] AS chunk
  ORDER BY x.rank
} AS chunks, COLLECT {
  MATCH (a)-[s:SEEDED]->(n:Artifact)
  RETURN [n.id, s.score, s.mention] AS seed
  ORDER BY s.rank
} AS seeds, coalesce(a.evidence_files, COLLECT {
  MATCH (a)-[:RETRIEVED]->(c:Chunk) WHERE c.file IS NOT NULL
  RETURN DISTINCT c.file
}) AS files
RETURN id AS question, coalesce(q.turn, 1) AS turn,
  [i IN range(0, size(coalesce(a.before_turns, [])) - 1) | [a.before_sources[i], a.before_relations[i], a.before_targets[i], a.before_turns[i]]] AS before,
  q.invalid AS invalid, q.relevant_ids AS relevant, q.gains AS gains,
  [i IN range(0, size(q.pinned_shas) - 1) | [q.pinned_repositories[i], q.pinned_shas[i]]] AS pins, stack_pins, gold,
  coalesce(q.seeds, []) AS gold_seeds, a IS NOT NULL AS answered, a.error AS error, coalesce(a.ordered, true) AS ordered, coalesce(a.walk_logged, false) AS walk_logged,
  walks, coalesce(a.seeds_logged, false) AS seeds_logged, seeds, coalesce(a.chunks_logged, false) AS chunks_logged, chunks, q.expected_files AS expected_files, files,
  a IS NOT NULL AND (a.chunks_logged OR a.evidence_files IS NOT NULL) AS files_logged,
  q.answerable AS answerable, q.why_not AS why_not,
  [i IN range(0, size(coalesce(q.absent_sources, [])) - 1) | [q.absent_sources[i], q.absent_relations[i], q.absent_targets[i]]] AS listed_absent,
  a.abstained AS abstained, CASE WHEN size(judged) = 1 THEN judged[0] ELSE a.declined END AS declined,
  CASE WHEN a.query_ran IS NOT NULL OR a.query_reason IS NOT NULL THEN
    {executable: a.query_ran, ran: a.query_share, same: a.same_result, reason: a.query_reason, cause: a.query_cause} END AS compared,
  head(COLLECT {
    MATCH (a)-[:SCORED]->(s:Score {measure: $decision}) WHERE s.value IS NOT NULL
    RETURN s.value = 1 AS right
  }) AS right
