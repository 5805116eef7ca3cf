// title: Paths to be told commits
// answers: Which retrieved paths of some questions name a commit by a tag or a prefix?
// parameters: run, questions
// columns: answer, question, index, sources, targets, source_commits, target_commits, commits
UNWIND $questions AS question
MATCH (a:Answer {run: $run, question: question})-[:WALKED]->(p:RetrievedPath) WHERE p.named
RETURN a.key AS answer, question, p.index AS index, p.sources AS sources, p.targets AS targets,
  p.source_commits AS source_commits, p.target_commits AS target_commits, p.commits AS commits
