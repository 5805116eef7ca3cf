// title: Known commits
// answers: Which commits of a repository were read from its history, with which branch, tag and number of parents?
// parameters: repo
// columns: sha, branch, tag, parents
MATCH (:Repository {name: $repo})<-[:IN]-(c:Commit {history: true})
RETURN c.sha AS sha, c.branch AS branch, c.tag AS tag, COUNT { MATCH (c)-[:PARENT]->() } AS parents
