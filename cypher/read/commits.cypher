// title: Commits
// answers: Which commits does the graph hold?
// parameters:
// columns: repo, sha, branch, committed_at
MATCH (c:Commit)
RETURN c.repo AS repo, c.sha AS sha, c.branch AS branch, toString(c.committed_at) AS committed_at
