// title: Repositories of datasets
// answers: Which repositories that a history was read of does a dataset name, how often have they changed, and how many whole shas of each does it list?
// parameters: dataset
// columns: repo, changes, listed, shared
MATCH (d:Dataset {name: $dataset})
UNWIND d.repositories AS repo
MATCH (r:Repository {name: repo}) WHERE r.changes > 0
OPTIONAL MATCH (d)-[:LISTS]->(c:Commit) WHERE c.repo = repo AND size(c.sha) IN [40, 64]
RETURN repo, r.changes AS changes, count(c) AS listed, sum(CASE WHEN c.history THEN 1 ELSE 0 END) AS shared
ORDER BY repo
