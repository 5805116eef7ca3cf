// title: Paths to be told commits
// answers: Which retrieved paths of some questions name a commit by a tag or a prefix?
// parameters: run, questions
// columns: question, index, source_repos, target_repos, source_commits, target_commits, commits
UNWIND $questions AS question
MATCH (a:Answer {run: $run, question: question})-[:WALKED]->(p:RetrievedPath) WHERE p.named
RETURN question, p.index AS index, p.source_repos AS source_repos, p.target_repos AS target_repos,
  p.source_commits AS source_commits, p.target_commits AS target_commits, p.commits AS commits
