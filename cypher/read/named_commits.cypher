// title: Named commits
// answers: What are the branches and tags of some commits by their keys, as a dataset lists them, and as the read history of their repository has them?
// parameters: dataset, keys
// columns: repo, sha, branch, tags
UNWIND $keys AS key
MATCH (c:Commit {key: key})
MATCH (d:Dataset {name: $dataset})
WITH c, c.history AND c.repo IN coalesce(d.histories, []) AS read, COLLECT {
  MATCH (c)<-[l:LISTS]-(s:Dataset) WHERE s.name = $dataset
  RETURN {branch: l.branch, tags: l.tags}
} AS listed
WHERE size(listed) > 0 OR read
RETURN c.repo AS repo, c.sha AS sha, CASE WHEN size(listed) > 0 THEN listed[0].branch ELSE c.branch END AS branch,
  coalesce(CASE WHEN size(listed) > 0 THEN listed[0].tags END, []) + coalesce(CASE WHEN read THEN c.tags END, []) AS tags
