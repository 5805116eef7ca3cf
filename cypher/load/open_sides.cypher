// title: Paths to be told sides
// answers: Which paths did a run retrieve for some questions, and at which commits?
// parameters: run, questions
// columns: question, ordered, walks
UNWIND $questions AS question
MATCH (a:Answer {run: $run, question: question})
RETURN question, coalesce(a.ordered_logged, true) AS ordered, COLLECT {
  MATCH (a)-[:WALKED]->(p:RetrievedPath)
  RETURN {index: p.index, sources: p.sources, relations: p.relations, targets: p.targets,
    source_commits: p.source_commits, target_commits: p.target_commits, undirected: p.undirected} AS walk
  ORDER BY p.index
} AS walks
