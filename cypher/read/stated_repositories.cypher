// title: Stated repositories
// answers: Which artifacts lie in a repository that their ids don't begin with?
// parameters: dataset
// columns: id, repo
MATCH (a:Artifact {dataset: $dataset}) WHERE a.known AND a.repo IS NOT NULL AND NOT a.id STARTS WITH a.repo + ':'
RETURN a.id AS id, a.repo AS repo
