// title: Commits
// answers: Which commits are known to a dataset: those that it lists, and those of repositories whose history was read?
// parameters: dataset
// columns: repo, sha, branch, committed_at
MATCH (c:Commit)
WITH c, COLLECT {
  MATCH (c)<-[l:LISTS]-(s:Dataset) WHERE s.name = $dataset
  RETURN {branch: l.branch, at: toString(l.committed_at)}
} AS listed
WHERE size(listed) > 0 OR c.history
RETURN c.repo AS repo, c.sha AS sha, CASE WHEN size(listed) > 0 THEN listed[0].branch ELSE c.branch END AS branch,
  CASE WHEN size(listed) > 0 THEN listed[0].at ELSE toString(c.committed_at) END AS committed_at
