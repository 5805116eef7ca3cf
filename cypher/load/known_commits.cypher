// title: Known commits
// answers: Which commits of a repository were read from its history, and with which branch and tag?
// parameters: repo
// columns: sha, branch, tag
MATCH (:Repository {name: $repo})<-[:IN]-(c:Commit {listed: true})
RETURN c.sha AS sha, c.branch AS branch, c.tag AS tag
