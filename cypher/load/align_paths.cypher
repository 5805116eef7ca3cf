// title: Align paths with gold
// answers: Turns the edges of retrieved paths whose log has lost their direction to that in which gold has them, and back to the logged one where gold has both directions or neither; the traversed edges turn with them.
// parameters: run, questions
// columns:
MATCH (r:Run {id: $run})
UNWIND $questions AS question
WITH r, question
MATCH (q:Question {dataset: r.dataset, id: question})
MATCH (a:Answer {run: $run, question: question})-[:WALKED]->(p:RetrievedPath) WHERE p.undirected IS NOT NULL
WITH r, p, COLLECT {
  MATCH (q)-[:EXPECTS]->(g:GoldPath)
  UNWIND range(0, size(g.sources) - 1) AS i
  RETURN DISTINCT [g.sources[i], g.targets[i]]
} AS gold, [i IN range(0, size(p.sources) - 1) |
  CASE WHEN p.sources[i] = p.logged_sources[i] THEN p.targets[i] ELSE p.sources[i] END] AS others
WITH r, p, [i IN range(0, size(p.sources) - 1) | p.undirected[i] AND (p.sources[i] <> p.logged_sources[i]) <>
  ([others[i], p.logged_sources[i]] IN gold AND NOT [p.logged_sources[i], others[i]] IN gold)] AS turns
WHERE any(turn IN turns WHERE turn)
WITH r, p, turns, [i IN range(0, size(turns) - 1) | CASE WHEN turns[i] THEN p.targets[i] ELSE p.sources[i] END] AS sources,
  [i IN range(0, size(turns) - 1) | CASE WHEN turns[i] THEN p.sources[i] ELSE p.targets[i] END] AS targets,
  [i IN range(0, size(turns) - 1) | CASE WHEN turns[i] THEN p.target_commits[i] ELSE p.source_commits[i] END] AS starts,
  [i IN range(0, size(turns) - 1) | CASE WHEN turns[i] THEN p.source_commits[i] ELSE p.target_commits[i] END] AS ends,
  [i IN range(0, size(turns) - 1) | CASE WHEN turns[i] THEN p.target_repos[i] ELSE p.source_repos[i] END] AS source_repos,
  [i IN range(0, size(turns) - 1) | CASE WHEN turns[i] THEN p.source_repos[i] ELSE p.target_repos[i] END] AS target_repos
SET p.sources = sources, p.targets = targets, p.source_commits = starts, p.target_commits = ends,
  p.source_repos = source_repos, p.target_repos = target_repos
WITH DISTINCT r, p.question AS question, [i IN range(0, size(turns) - 1) WHERE turns[i] | [sources[i], targets[i]]] AS edges
UNWIND edges AS edge
WITH DISTINCT r, question, edge[0] AS source, edge[1] AS target
MATCH (a:Artifact {dataset: r.dataset, id: source})
MATCH (b:Artifact {dataset: r.dataset, id: target})
MATCH (b)-[t:TRAVERSED]->(a) WHERE t.run = $run AND t.question = question AND t.directed = false
WITH DISTINCT t, a, b, properties(t) AS held
CREATE (a)-[turned:TRAVERSED]->(b)
SET turned = held, turned.source_commit = held.target_commit, turned.target_commit = held.source_commit
DELETE t
