// title: Known commits
// answers: Which commits of a repository were read from its history, with which branch, tags and number of parents?
// parameters: repo
// columns: sha, branch, tags, parents
MATCH (:Repository {name: $repo})<-[:IN]-(c:Commit {history: true})
RETURN c.sha AS sha, c.branch AS branch, c.tags AS tags, COUNT { MATCH (c)-[:PARENT]->() } AS parents
