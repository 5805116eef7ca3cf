// title: Commits
// answers: Which commits are known to a dataset: those that it lists, and those of its repositories whose history was read?
// parameters: dataset
// columns: repo, sha, branch, tags, committed_at, parents
MATCH (d:Dataset {name: $dataset})
MATCH (c:Commit)
WITH c, c.history AND c.repo IN coalesce(d.histories, []) AS read, COLLECT {
  MATCH (c)<-[l:LISTS]-(s:Dataset) WHERE s.name = $dataset
  RETURN {branch: l.branch, tags: l.tags, at: toString(l.committed_at)}
} AS listed
WHERE size(listed) > 0 OR read
RETURN c.repo AS repo, c.sha AS sha, CASE WHEN size(listed) > 0 THEN listed[0].branch ELSE c.branch END AS branch,
  coalesce(CASE WHEN size(listed) > 0 THEN listed[0].tags END, []) + coalesce(CASE WHEN read THEN c.tags END, []) AS tags,
  CASE WHEN size(listed) > 0 THEN listed[0].at ELSE toString(c.committed_at) END AS committed_at,
  CASE WHEN read THEN coalesce(c.parents, []) ELSE [] END AS parents
